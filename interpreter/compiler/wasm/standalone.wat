;; Start a game: the seed, a bot of the first kind on each seat, no undo states.
(func $new_game (export "new_game") (param $seed i64)
  (local $seat i32)
  (i32.store (i32.const {undone}) (i32.const 0))
  (loop $next
    (call $sit (local.get $seat) (i32.const 0))
    (br_if $next (i32.lt_s (local.tee $seat (i32.add (local.get $seat) (i32.const 1))) (i32.const {seats}))))
  (call $begin (local.get $seed)))

;; Put a kind of bot on a seat.
(func $sit (param $seat i32) (param $kind i32)
  (i32.store (i32.add (i32.const {bots}) (i32.shl (local.get $seat) (i32.const 2)))
    (i32.add (i32.mul (local.get $kind) (i32.const {stretches})) (i32.const 1))))

;; The same, with the stream of a seed and the hash of a name.
(func $seat_bot (export "seat_bot") (param $seat i32) (param $kind i32) (param $seed i64) (param $hash i64)
  (call $sit (local.get $seat) (local.get $kind))
  (i64.store (call $stream (local.get $seat)) (call $start (local.get $seed) (local.get $hash)))
  (i64.store offset=8 (call $stream (local.get $seat)) (i64.const 0)))

;; Current decision; -1 if the game is over.
(func $decision (export "decision") (result i32)
  (i32.load (i32.const {asked})))

;; List and count the legal options.
(func $count (export "count") (result i32)
  (if (call $is_over) (then (return (i32.const 0))))
  (i32.div_u (i32.sub (call $list) (global.get $options))
    (i32.load (i32.add (i32.const {strides}) (i32.shl (i32.load (i32.const {asked})) (i32.const 2))))))

;; Save the state and apply an option.
(func $choose_outside (export "choose") (param $option i32)
  (if (call $is_over) (then (unreachable)))
  (call $keep)
  (call $choose (local.get $option)))

;; Undo the last choice.
(func $undo (export "undo") (result i32)
  (call $take_back))

;; Let the bots play up to `limit` decisions, or to the end of the game; return the number of decisions.
(func $play (export "play") (param $limit i32) (result i32)
  (call $on_row (i32.const {rows}))
  (drop (call $go_on (local.get $limit) (i32.const 0x7FFFFFFF)))
  (i32.load offset=8 (i32.const {rows})))

;; View of a seat: the cells that it may see.
(func $view (export "view") (param $seat i32) (result i32)
  (call $refill)
  (memory.fill (i32.const {buffer}) (i32.const 0) (i32.const {cells}))
  (memory.fill (i32.const {mask}) (i32.const 0) (i32.const {masks}))
  (call $seen (local.get $seat))
  (i32.const {buffer}))

;; FNV-1a hash of the live words of the state.
(func $digest (export "digest") (result i64)
  (local $hash i64) (local $at i32) (local $end i32)
  (call $refill)
  (memory.fill (i32.const {buffer}) (i32.const 0)
    (i32.sub (i32.load (i32.const {top})) (i32.const {state})))
  (local.set $at (i32.const {buffer}))
  (local.set $end (i32.add (local.get $at) (i32.shl (call $copied) (i32.const 2))))
  (local.set $hash (i64.const 0xcbf29ce484222325))
  (until $done (i32.ge_u (local.get $at) (local.get $end))
    (local.set $hash (i64.mul (i64.xor (local.get $hash) (i64.load32_u (local.get $at))) (i64.const 0x100000001b3)))
    (local.set $at (i32.add (local.get $at) (i32.const 4))))
  (local.get $hash))

(func $place_outside (export "place") (param $seat i32) (result i32)
  (drop (call $rank_seats))
  (i32.load (i32.add (i32.const {rows}) (i32.add (i32.const {places}) (i32.shl (local.get $seat) (i32.const 2))))))

(func $key (export "key") (param $seat i32) (param $key i32) (result i64)
  (if (i32.ge_u (local.get $key) (i32.shr_u (i32.const {rank_bytes}) (i32.const 3))) (then (unreachable)))
  (drop (call $rank_seats))
  (i64.load (i32.add (call $keys_of (local.get $seat)) (i32.shl (local.get $key) (i32.const 3)))))
