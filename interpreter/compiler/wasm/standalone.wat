;; Start a game: the seed, a bot of the first kind on each seat, no undo states.
(func $new_game (export "new_game") (param $seed i64)
  (local $seat i32)
  (i32.store {undone} 0)
  (walk $seat 0 {seats} 1
    (call $sit $seat 0))
  (call $begin $seed))

;; Put a kind of bot on a seat.
(func $sit (param $seat $kind i32)
  (i32.store (i32.add {bots} (i32.shl $seat 2)) (i32.add (i32.mul $kind {stretches}) 1)))

;; The same, with the stream of a seed and the hash of a name.
(func $seat_bot (export "seat_bot") (param $seat $kind i32) (param $seed $hash i64)
  (call $sit $seat $kind)
  (i64.store (call $stream $seat) (call $start $seed $hash))
  (i64.store offset=8 (call $stream $seat) (i64.const 0)))

;; Current decision; -1 if the game is over.
(func $decision (export "decision") (result i32)
  (i32.load {asked}))

;; List and count the legal options.
(func $count (export "count") (result i32)
  (if (call $is_over) (then (return 0)))
  (i32.div_u (i32.sub (call $list) (global.get $options))
    (i32.load (i32.add {strides} (i32.shl (i32.load {asked}) 2)))))

;; Save the state and apply an option.
(func $choose_outside (export "choose") (param $option i32)
  (if (call $is_over) (then (unreachable)))
  (call $keep)
  (call $choose $option))

;; Undo the last choice.
(func $undo (export "undo") (result i32)
  (call $take_back))

;; Let the bots play up to `limit` decisions, or to the end of the game; return the number of decisions.
(func $play (export "play") (param $limit i32) (result i32)
  (call $on_row {rows})
  (drop (call $go_on $limit 0x7FFFFFFF))
  (i32.load offset=8 {rows}))

;; View of a seat: the cells that it may see.
(func $view (export "view") (param $seat i32) (result i32)
  (call $refill)
  (memory.fill {buffer} 0 {cells})
  (memory.fill {mask} 0 {masks})
  (call $seen $seat)
  {buffer})

;; FNV-1a hash of the live words of the state.
(func $digest (export "digest") (result i64)
  (local $hash i64) (local $at $end i32)
  (call $refill)
  (memory.fill {buffer} 0 (i32.sub (i32.load {top}) {state}))
  (local.set $end (i32.add {buffer} (i32.shl (call $copied) 2)))
  (local.set $hash (i64.const 0xcbf29ce484222325))
  (walk $at {buffer} $end 4
    (local.set $hash (i64.mul (i64.xor $hash (i64.load32_u $at)) (i64.const 0x100000001b3))))
  $hash)

(func $place_outside (export "place") (param $seat i32) (result i32)
  (drop (call $rank_seats))
  (i32.load (i32.add {rows} (i32.add {places} (i32.shl $seat 2)))))

(func $key (export "key") (param $seat $key i32) (result i64)
  (if (i32.ge_u $key (i32.shr_u {rank_bytes} 3)) (then (unreachable)))
  (drop (call $rank_seats))
  (i64.load (i32.add (call $keys_of $seat) (i32.shl $key 3))))
