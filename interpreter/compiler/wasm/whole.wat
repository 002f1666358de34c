;; Whole games: bots on all seats, numbers that are measured, and what they come to.
;;
;; A number is a key and a value, 16 bytes in `records`. Once a game is over, `$sum_up` makes facts of them for the
;; summary of many games, 8 bytes each: the same fact in several games is the same number, so that they can be counted.

(global $measuring (mut i32) (i32.const 0))
(global $records_end (mut i32) (i32.const {records}))
(global $ranked_end (mut i32) (i32.const {ranked}))
(global $facts_end (mut i32) (i32.const {facts}))
(global $epoch (mut i32) (i32.const 0))
(global $known (mut i32) (i32.const 0))

(func $record (param $key i64) (param $value i64)
  (if (i32.ge_u (global.get $records_end) (i32.const {records_limit})) (then (unreachable)))
  (i64.store (global.get $records_end) (local.get $key))
  (i64.store offset=8 (global.get $records_end) (local.get $value))
  (global.set $records_end (i32.add (global.get $records_end) (i32.const 16))))

(func $ranks_anew (global.set $ranked_end (i32.const {ranked})))

(func $ranked (param $value i64)
  (i64.store (global.get $ranked_end) (local.get $value))
  (global.set $ranked_end (i32.add (global.get $ranked_end) (i32.const 8))))

;; Adds a fact; where something has no room in it there are none of this game.
(func $fact (param $key i64) (param $value i64)
  (if (i32.eqz (global.get $facts_end)) (then (return)))
  (if (i32.or (i64.ne (i64.const 0) (i64.and (local.get $key) (i64.const {no_fact})))
        (i32.or (i32.ge_u (global.get $facts_end) (i32.const {facts_limit}))
          (i32.and (i64.ne (local.get $value) (i64.const {none}))
            (i64.gt_u (i64.add (local.get $value) (i64.const {bias})) (i64.const {most})))))
    (then (global.set $facts_end (i32.const 0)) (return)))
  (i64.store (global.get $facts_end)
    (i64.or
      (i64.or (i64.and (local.get $key) (i64.const {kind_and_measure}))
        (i64.shl (i64.and (i64.shr_u (local.get $key) (i64.const {round})) (i64.const {rounds}))
          (i64.const {fact_round})))
      (i64.or (i64.shl (i64.and (local.get $key) (i64.const {of})) (i64.const {fact_of}))
        (if (result i64) (i64.eq (local.get $value) (i64.const {none})) (then (i64.const {no_value}))
          (else (i64.add (local.get $value) (i64.const {bias})))))))
  (global.set $facts_end (i32.add (global.get $facts_end) (i32.const 8))))

;; Remembers the last value under a key, or all together: none adds nothing.
(func $tally (param $key i64) (param $value i64) (param $sums i32)
  (local $place i32) (local $slot i32)
  (local.set $place (i32.wrap_i64 (i64.shr_u (i64.mul (local.get $key) (i64.const 0x9E3779B97F4A7C15))
    (i64.const {hash_shift}))))
  (block $found
    (loop $next
      (local.set $slot (i32.add (i32.const {slots}) (i32.mul (local.get $place) (i32.const 24))))
      (if (i32.ne (i32.load offset=16 (local.get $slot)) (global.get $epoch))
        (then
          (if (i32.ge_u (global.get $known) (i32.const {most_known}))
            (then (global.set $facts_end (i32.const 0)) (return)))
          (i32.store offset=16 (local.get $slot) (global.get $epoch))
          (i64.store (local.get $slot) (local.get $key))
          (i64.store offset=8 (local.get $slot) (local.get $value))
          (i32.store (i32.add (i32.const {order}) (i32.shl (global.get $known) (i32.const 2))) (local.get $slot))
          (global.set $known (i32.add (global.get $known) (i32.const 1)))
          (return)))
      (br_if $found (i64.eq (i64.load (local.get $slot)) (local.get $key)))
      (local.set $place (i32.and (i32.add (local.get $place) (i32.const 1)) (i32.const {hash_mask})))
      (br $next)))
  (if (i32.and (local.get $sums) (i64.ne (i64.load offset=8 (local.get $slot)) (i64.const {none})))
    (then
      (if (i64.eq (local.get $value) (i64.const {none})) (then (return)))
      (local.set $value (i64.add (local.get $value) (i64.load offset=8 (local.get $slot))))))
  (i64.store offset=8 (local.get $slot) (local.get $value)))

;; Makes the facts of the records.
(func $sum_up
  (local $at i32) (local $key i64) (local $value i64) (local $plan i32) (local $flags i32) (local $thing i64)
  (global.set $facts_end (i32.const {facts}))
  (global.set $epoch (i32.add (global.get $epoch) (i32.const 1)))
  (global.set $known (i32.const 0))
  (local.set $at (i32.const {records}))
  (block $done
    (loop $next
      (br_if $done (i32.ge_u (local.get $at) (global.get $records_end)))
      (local.set $key (i64.load (local.get $at)))
      (local.set $value (i64.load offset=8 (local.get $at)))
      (local.set $plan (i32.add (i32.const {plans})
        (i32.shl (i32.wrap_i64 (i64.shr_u (local.get $key) (i64.const {measure}))) (i32.const 4))))
      (local.set $flags (i32.load (local.get $plan)))
      (local.set $thing (i64.and (local.get $key) (i64.const {no_round})))
      (if (i32.and (local.get $flags) (i32.const {curve}))
        (then (call $tally (local.get $key) (local.get $value) (i32.and (local.get $flags) (i32.const {sums})))))
      (if (i32.and (local.get $flags) (i32.const {final}))
        (then (call $tally (i64.or (local.get $thing) (i64.const {kind_1})) (local.get $value)
          (i32.and (local.get $flags) (i32.const {sums})))))
      (if (i32.and (local.get $flags) (i32.const {table}))
        (then
          (if (i32.and (local.get $flags) (i32.const {sums}))
            (then (call $tally (i64.or (local.get $thing) (i64.const {kind_2})) (local.get $value) (i32.const 1)))
            (else (call $fact (i64.or (local.get $thing) (i64.const {kind_2})) (local.get $value))))
          (call $tally
            (i64.or (i64.and (local.get $thing) (i64.load offset=8 (local.get $plan))) (i64.const {kind_3}))
            (i64.const 0) (i32.const 0))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br $next)))
  (local.set $at (i32.const 0))
  (block $told
    (loop $next
      (br_if $told (i32.ge_u (local.get $at) (global.get $known)))
      (local.set $plan (i32.load (i32.add (i32.const {order}) (i32.shl (local.get $at) (i32.const 2)))))
      (call $fact (i64.load (local.get $plan)) (i64.load offset=8 (local.get $plan)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $next))))

;; Nothing is measured any more: the last game did not come to its end here.
(func (export "calm") (global.set $measuring (i32.const 0)))

;; Goes on to the end of the game by the bots on the seats; gives how many decisions there were. `counted`: decisions
;; with more than one option are counted.
(func $go_on (param $limit i32) (param $counted i32) (result i32)
  (local $asked i32) (local $count i32) (local $seat i32) (local $free i32)
  (block $over
    (loop $next
      (local.set $asked (i32.load (i32.const {asked})))
      (br_if $over (i32.lt_s (local.get $asked) (i32.const 0)))
      (if (i32.ge_s (local.get $count) (local.get $limit)) (then (unreachable)))
      (global.set $arena (global.get $arena_start))
      (global.set $fuel (i32.const {fuel}))
      (if (local.get $counted)
        (then
          (local.set $free (i32.add (local.get $free)
            (call_indirect $free_of (type $stretch) (i32.load (i32.const {state})) (local.get $asked))))
          (global.set $arena (global.get $arena_start))))
      (local.set $seat (call_indirect $actor_of (type $stretch) (i32.load (i32.const {state})) (local.get $asked)))
      (if (i32.ge_s (local.get $seat) (i32.load (i32.const {players}))) (then (unreachable)))
      (call $choose (call_indirect $bots (type $stretch) (i32.load (i32.const {state}))
        (i32.add (local.get $asked)
          (i32.load (i32.add (i32.const {kinds}) (i32.shl (local.get $seat) (i32.const 2)))))))
      (local.set $count (i32.add (local.get $count) (i32.const 1)))
      (br $next)))
  (i32.store offset=4 (i32.const {players}) (local.get $free))
  (local.get $count))

(func $measure_anew
  (global.set $records_end (i32.const {records}))
  (global.set $measuring (i32.const 1)))

(func $measured
  (global.set $measuring (i32.const 0))
  (call $sum_up)
  (i32.store offset=8 (i32.const {players}) (global.get $records_end))
  (i32.store offset=12 (i32.const {players}) (global.get $facts_end)))

;; Each seat draws numbers from the beginning of its stream.
(func $streams_of (param $seed i64)
  (local $seat i32) (local $at i32)
  (block $done
    (loop $next
      (br_if $done (i32.ge_s (local.get $seat) (i32.const {seats})))
      (local.set $at (i32.add (i32.const {streams}) (i32.shl (local.get $seat) (i32.const 4))))
      (i64.store (local.get $at) (call $start (local.get $seed)
        (i64.load (i32.add (i32.const {hashes}) (i32.shl (local.get $seat) (i32.const 3))))))
      (i64.store offset=8 (local.get $at) (i64.const 0))
      (local.set $seat (i32.add (local.get $seat) (i32.const 1)))
      (br $next))))

;; A whole game, measured.
(func (export "game") (param $seed i64) (param $limit i32) (result i32)
  (local $count i32)
  (call $measure_anew)
  (call $streams_of (local.get $seed))
  (call $begin (local.get $seed))
  (local.set $count (call $go_on (local.get $limit) (i32.const 1)))
  (call $measured)
  (local.get $count))

;; The rest of a game, measured, with the bots' streams from the beginning.
(func (export "rest") (param $seed i64) (param $limit i32) (result i32)
  (local $count i32)
  (call $measure_anew)
  (call $streams_of (local.get $seed))
  (local.set $count (call $go_on (local.get $limit) (i32.const 0)))
  (call $measured)
  (local.get $count))

;; A playout: an option is chosen, and bots play on to the end of the game. All draw from one stream, which they hand on.
(func (export "playout") (param $first i32) (param $start i64) (param $used i64) (param $limit i32) (result i32)
  (local $count i32) (local $asked i32) (local $seat i32) (local $at i32)
  (global.set $measuring (i32.const 0))
  (call $choose (local.get $first))
  (block $over
    (loop $next
      (local.set $asked (i32.load (i32.const {asked})))
      (br_if $over (i32.lt_s (local.get $asked) (i32.const 0)))
      (br_if $over (i32.ge_s (local.get $count) (local.get $limit)))
      (global.set $arena (global.get $arena_start))
      (global.set $fuel (i32.const {fuel}))
      (local.set $seat (call_indirect $actor_of (type $stretch) (i32.load (i32.const {state})) (local.get $asked)))
      (if (i32.ge_s (local.get $seat) (i32.load (i32.const {players}))) (then (unreachable)))
      (local.set $at (i32.add (i32.const {streams}) (i32.shl (local.get $seat) (i32.const 4))))
      (i64.store (local.get $at) (local.get $start))
      (i64.store offset=8 (local.get $at) (local.get $used))
      (call $choose (call_indirect $bots (type $stretch) (i32.load (i32.const {state}))
        (i32.add (local.get $asked)
          (i32.load (i32.add (i32.const {kinds}) (i32.shl (local.get $seat) (i32.const 2)))))))
      (local.set $used (i64.load offset=8 (local.get $at)))
      (local.set $count (i32.add (local.get $count) (i32.const 1)))
      (br $next)))
  (local.get $count))
