;; Start a game: the seed, the streams of the bots, no undo states.
(func (export "new_game") (param $seed i64)
  (i32.store (i32.const {undone}) (i32.const 0))
{seated}
  (call $begin (local.get $seed)))

;; Put a kind of bot on a seat, with the stream of a seed and the hash of a name.
(func $seat_bot (export "seat_bot") (param $seat i32) (param $kind i32) (param $seed i64) (param $hash i64)
  (call $seat (local.get $seat) (local.get $kind) (call $start (local.get $seed) (local.get $hash))))

;; Current decision; -1 if the game is over.
(func (export "decision") (result i32)
  (i32.load (i32.const {asked})))

;; Seat that decides.
(func (export "actor") (result i32)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (call_indirect $actor_of (type $stretch) (i32.load (i32.const {state})) (i32.load (i32.const {asked}))))

;; List and count the legal options.
(func (export "count") (result i32)
  (if (i32.lt_s (i32.load (i32.const {asked})) (i32.const 0)) (then (return (i32.const 0))))
  (i32.div_u (i32.sub (call $list) (global.get $options))
    (i32.load (i32.add (i32.const {strides}) (i32.shl (i32.load (i32.const {asked})) (i32.const 2))))))

;; Save the state and apply an option.
(func (export "choose") (param $option i32)
  (if (i32.lt_s (i32.load (i32.const {asked})) (i32.const 0)) (then (unreachable)))
  (call $keep)
  (call $choose (local.get $option)))

;; Undo the last choice.
(func (export "undo") (result i32)
  (call $take_back))

;; Option that a policy chooses.
(func (export "bot") (param $policy i32) (result i32)
  (if (i32.lt_s (i32.load (i32.const {asked})) (i32.const 0)) (then (unreachable)))
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (call_indirect $bots (type $stretch) (i32.load (i32.const {state}))
    (i32.add (i32.load (i32.const {asked})) (i32.mul (local.get $policy) (i32.const {stretches})))))

;; Let the bots play up to `limit` decisions, or to the end of the game; return the number of decisions.
(func (export "play") (param $limit i32) (result i32)
  (local $asked i32) (local $count i32)
  (block $over
    (loop $next
      (br_if $over (i32.ge_s (local.get $count) (local.get $limit)))
      (local.set $asked (i32.load (i32.const {asked})))
      (br_if $over (i32.lt_s (local.get $asked) (i32.const 0)))
      (global.set $arena (global.get $arena_start))
      (global.set $fuel (i32.const {fuel}))
      (call $choose (call_indirect $bots (type $stretch) (i32.load (i32.const {state}))
        (i32.add (local.get $asked)
          (i32.load (i32.add (i32.const {kinds}) (i32.shl (call_indirect $actor_of (type $stretch)
            (i32.load (i32.const {state})) (local.get $asked)) (i32.const 2)))))))
      (local.set $count (i32.add (local.get $count) (i32.const 1)))
      (br $next)))
  (local.get $count))

;; View of a seat: the cells that it may see.
(func (export "view") (param $seat i32) (result i32)
  (global.set $arena (global.get $arena_start))
  (memory.fill (i32.const {buffer}) (i32.const 0) (i32.const {cells}))
  (memory.fill (i32.const {mask}) (i32.const 0) (i32.const {masks}))
  (call $seen (local.get $seat))
  (i32.const {buffer}))

;; FNV-1a hash of the live words of the state.
(func (export "digest") (result i64)
  (local $hash i64) (local $at i32) (local $end i32)
  (global.set $arena (global.get $arena_start))
  (memory.fill (i32.const {buffer}) (i32.const 0)
    (i32.sub (i32.load (i32.const {top})) (i32.const {state})))
  (local.set $at (i32.const {buffer}))
  (local.set $end (i32.add (local.get $at) (i32.shl (call $copied) (i32.const 2))))
  (local.set $hash (i64.const 0xcbf29ce484222325))
  (block $done
    (loop $next
      (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
      (local.set $hash (i64.mul (i64.xor (local.get $hash) (i64.load32_u (local.get $at))) (i64.const 0x100000001b3)))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br $next)))
  (local.get $hash))

(func (export "over") (result i32)
  (call $is_over))

(func (export "place") (param $seat i32) (result i32)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (call $place_of (local.get $seat)))

(func (export "key") (param $seat i32) (param $key i32) (result i64)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (call $key_of (local.get $seat) (local.get $key)))
