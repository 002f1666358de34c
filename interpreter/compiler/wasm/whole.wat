;; Whole games: bots on all seats, measurements and their sums.
;;
;; The result of a game is a row in `rows`. A record is a key and a value, 16 bytes; `records` has those of the last
;; game. A sum aggregates many games: an entry of 72 bytes for each key, with the key, the value in the game that
;; updated it last and that game's number, the number of additions, the number of values other than none, their total,
;; minimum and maximum, and the sum of their squares. A hash table finds entries.

(global $measuring (mut i32) (i32.const 0))
(global $records_end (mut i32) (i32.const {records}))
(global $row (mut i32) (i32.const {rows}))
(global $ranked_end (mut i32) (i32.const {rows}))
(global $game (mut i64) (i64.const 0))
(global $known (mut i32) (i32.const 0))
(global $here (mut i32) (i32.const 0))

(func $record (param $key i64) (param $value i64)
  (if (i32.ge_u (global.get $records_end) (i32.const {records_limit})) (then (unreachable)))
  (i64.store (global.get $records_end) (local.get $key))
  (i64.store offset=8 (global.get $records_end) (local.get $value))
  (global.set $records_end (i32.add (global.get $records_end) (i32.const 16))))

(func $ranks_anew (global.set $ranked_end (i32.add (global.get $row) (i32.const {ranks}))))

(func $ranked (param $value i64)
  (i64.store (global.get $ranked_end) (local.get $value))
  (global.set $ranked_end (i32.add (global.get $ranked_end) (i32.const 8))))

;; True if the ranking keys of a seat are greater than those of another.
(func $ranks_above (param $seat i32) (param $other i32) (result i32)
  (local $left i32)
  (local.set $seat (i32.add (global.get $row)
    (i32.add (i32.const {ranks}) (i32.mul (local.get $seat) (i32.const {rank_bytes})))))
  (local.set $other (i32.add (global.get $row)
    (i32.add (i32.const {ranks}) (i32.mul (local.get $other) (i32.const {rank_bytes})))))
  (local.set $left (i32.const {rank_bytes}))
  (block $equal
    (loop $next
      (br_if $equal (i32.eqz (local.get $left)))
      (if (i64.ne (i64.load (local.get $seat)) (i64.load (local.get $other)))
        (then (return (i64.gt_s (i64.load (local.get $seat)) (i64.load (local.get $other))))))
      (local.set $seat (i32.add (local.get $seat) (i32.const 8)))
      (local.set $other (i32.add (local.get $other) (i32.const 8)))
      (local.set $left (i32.sub (local.get $left) (i32.const 8)))
      (br $next)))
  (i32.const 0))

;; Write the place of each seat that counts, 0 for others; return the winners as bits.
(func $place (result i64)
  (local $seat i32) (local $other i32) (local $place i32) (local $winners i64)
  (loop $seats
    (local.set $place (i32.const 0))
    (if (i64.ne (i64.const 0) (i64.and (i64.const {counting}) (i64.shl (i64.const 1) (i64.extend_i32_u (local.get $seat)))))
      (then
        (local.set $place (i32.const 1))
        (local.set $other (i32.const 0))
        (loop $others
          (if (i64.ne (i64.const 0)
                (i64.and (i64.const {counting}) (i64.shl (i64.const 1) (i64.extend_i32_u (local.get $other)))))
            (then (local.set $place
              (i32.add (local.get $place) (call $ranks_above (local.get $other) (local.get $seat))))))
          (local.set $other (i32.add (local.get $other) (i32.const 1)))
          (br_if $others (i32.lt_s (local.get $other) (i32.const {seats}))))
        (if (i32.eq (local.get $place) (i32.const 1))
          (then (local.set $winners (i64.or (local.get $winners)
            (i64.shl (i64.const 1) (i64.extend_i32_u (local.get $seat)))))))))
    (i32.store (i32.add (global.get $row) (i32.add (i32.const {places}) (i32.shl (local.get $seat) (i32.const 2))))
      (local.get $place))
    (local.set $seat (i32.add (local.get $seat) (i32.const 1)))
    (br_if $seats (i32.lt_s (local.get $seat) (i32.const {seats}))))
  (local.get $winners))

(func $no_sums
  (memory.fill (i32.const {slots}) (i32.const 0) (i32.const {slots_bytes}))
  (global.set $known (i32.const 0)))

;; Entry of a key, added if it is new. There must be room.
(func $entry (param $key i64) (result i32)
  (local $place i32) (local $slot i32) (local $entry i32)
  (local.set $place (i32.wrap_i64 (i64.shr_u (i64.mul (local.get $key) (i64.const 0x9E3779B97F4A7C15))
    (i64.const {hash_shift}))))
  (loop $next
    (local.set $slot (i32.add (i32.const {slots}) (i32.shl (local.get $place) (i32.const 2))))
    (local.set $entry (i32.load (local.get $slot)))
    (if (i32.eqz (local.get $entry))
      (then
        (local.set $entry (i32.add (i32.const {entries}) (i32.mul (global.get $known) (i32.const {entry_bytes}))))
        (global.set $known (i32.add (global.get $known) (i32.const 1)))
        (i32.store (local.get $slot) (local.get $entry))
        (i64.store (local.get $entry) (local.get $key))
        (memory.fill (i32.add (local.get $entry) (i32.const 8)) (i32.const 0) (i32.const 40))
        (i64.store offset=48 (local.get $entry) (i64.const {greatest}))
        (i64.store offset=56 (local.get $entry) (i64.const {smallest}))
        (f64.store offset=64 (local.get $entry) (f64.const 0))
        (return (local.get $entry))))
    (if (i64.eq (i64.load (local.get $entry)) (local.get $key)) (then (return (local.get $entry))))
    (local.set $place (i32.and (i32.add (local.get $place) (i32.const 1)) (i32.const {hash_mask})))
    (br $next))
  (unreachable))

;; Add a value to an entry; none is counted, but is not a number.
(func $add (param $entry i32) (param $value i64)
  (i64.store offset=24 (local.get $entry) (i64.add (i64.load offset=24 (local.get $entry)) (i64.const 1)))
  (if (i64.eq (local.get $value) (i64.const {none})) (then (return)))
  (i64.store offset=32 (local.get $entry) (i64.add (i64.load offset=32 (local.get $entry)) (i64.const 1)))
  (i64.store offset=40 (local.get $entry) (i64.add (i64.load offset=40 (local.get $entry)) (local.get $value)))
  (if (i64.lt_s (local.get $value) (i64.load offset=48 (local.get $entry)))
    (then (i64.store offset=48 (local.get $entry) (local.get $value))))
  (if (i64.gt_s (local.get $value) (i64.load offset=56 (local.get $entry)))
    (then (i64.store offset=56 (local.get $entry) (local.get $value))))
  (f64.store offset=64 (local.get $entry) (f64.add (f64.load offset=64 (local.get $entry))
    (f64.mul (f64.convert_i64_s (local.get $value)) (f64.convert_i64_s (local.get $value))))))

;; Store the last value of this game in an entry, or the total if the measure sums; none adds nothing to a total.
(func $tally (param $entry i32) (param $value i64) (param $sums i32)
  (if (i64.ne (i64.load offset=16 (local.get $entry)) (global.get $game))
    (then
      (i64.store offset=16 (local.get $entry) (global.get $game))
      (i64.store offset=8 (local.get $entry) (local.get $value))
      (i32.store (i32.add (i32.const {met}) (i32.shl (global.get $here) (i32.const 2))) (local.get $entry))
      (global.set $here (i32.add (global.get $here) (i32.const 1)))
      (return)))
  (if (i32.and (local.get $sums) (i64.ne (i64.load offset=8 (local.get $entry)) (i64.const {none})))
    (then
      (if (i64.eq (local.get $value) (i64.const {none})) (then (return)))
      (local.set $value (i64.add (local.get $value) (i64.load offset=8 (local.get $entry))))))
  (i64.store offset=8 (local.get $entry) (local.get $value)))

;; Add the records of a game to the sums; return 0 if there may be no room for them.
(func $sum_up (param $winners i64) (result i32)
  (local $at i32) (local $key i64) (local $value i64) (local $plan i32) (local $flags i32) (local $thing i64)
  (local $others i64) (local $lost i64) (local $won i64) (local $entry i32) (local $games i32)
  (if (i32.gt_s (i32.add (global.get $known)
        (i32.shr_u (i32.sub (global.get $records_end) (i32.const {records})) (i32.const 2)))  ;; 4 new entries a record
      (i32.const {most_known}))
    (then (return (i32.const 0))))
  (global.set $game (i64.add (global.get $game) (i64.const 1)))
  (global.set $here (i32.const 0))
  (local.set $lost (i64.shl (i64.extend_i32_u (i64.ne (local.get $winners) (i64.const 0))) (i64.const {round})))
  (local.set $won (i64.shl (i64.add (i64.popcnt (local.get $winners)) (i64.const 1)) (i64.const {round})))
  (local.set $winners (i64.shl (local.get $winners) (i64.const 1)))  ;; a seat is one more in a key, where 0 is none
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
        (then (call $tally (call $entry (local.get $key)) (local.get $value)
          (i32.and (local.get $flags) (i32.const {sums})))))
      (if (i32.and (local.get $flags) (i32.const {final}))
        (then (call $tally (call $entry (i64.or (local.get $thing) (i64.const {kind_1}))) (local.get $value)
          (i32.and (local.get $flags) (i32.const {sums})))))
      (if (i32.and (local.get $flags) (i32.const {table}))
        (then
          (local.set $others (i64.and (local.get $thing) (i64.load offset=8 (local.get $plan))))
          (local.set $key (i64.or (i64.const {kind_2})
            (select (local.get $thing) (local.get $others) (i32.and (local.get $flags) (i32.const {sums})))))
          (if (i32.and (local.get $flags) (i32.const {owned}))
            (then (local.set $key (i64.or (local.get $key)
              (select (local.get $won) (local.get $lost) (i32.wrap_i64 (i64.and (i64.const 1) (i64.shr_u
                (local.get $winners)
                (i64.shr_u (i64.xor (local.get $thing) (local.get $others))
                  (i64.extend_i32_u (i32.load offset=4 (local.get $plan))))))))))))
          (local.set $entry (call $entry (local.get $key)))
          (if (i32.and (local.get $flags) (i32.const {sums}))
            (then
              (call $tally (local.get $entry) (local.get $value) (i32.const 1))
              (local.set $games (call $entry (i64.or (local.get $others) (i64.const {kind_3})))))
            (else
              (call $add (local.get $entry) (local.get $value))
              (local.set $games (i32.load offset=8 (local.get $entry)))  ;; $add leaves it free: found before
              (if (i32.eqz (local.get $games))
                (then
                  (local.set $games (call $entry (i64.or (local.get $others) (i64.const {kind_3}))))
                  (i32.store offset=8 (local.get $entry) (local.get $games))))))
          (call $tally (local.get $games) (i64.const {none}) (i32.const 0))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br $next)))
  (local.set $at (i32.const {met}))
  (block $told
    (loop $next
      (br_if $told (i32.eqz (global.get $here)))
      (call $add (i32.load (local.get $at)) (i64.load offset=8 (i32.load (local.get $at))))
      (global.set $here (i32.sub (global.get $here) (i32.const 1)))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br $next)))
  (i32.const 1))

;; Stop measuring, after a game that trapped.
(func (export "calm") (global.set $measuring (i32.const 0)))

;; Let the bots play to the end of the game; return the number of decisions. `counted`: count those with more than one
;; option. A game of so many rounds that it may be endless traps: others look whether anything changes in it.
(func $go_on (param $limit i32) (param $counted i32) (result i32)
  (local $asked i32) (local $count i32) (local $seat i32) (local $free i32)
  (block $over
    (loop $next
      (local.set $asked (i32.load (i32.const {asked})))
      (br_if $over (i32.lt_s (local.get $asked) (i32.const 0)))
      (if (i32.ge_s (local.get $count) (local.get $limit)) (then (unreachable)))
      (if (i32.gt_s (i32.load (i32.const {round_cell})) (i32.const {most_still})) (then (unreachable)))
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
  (i32.store offset=12 (global.get $row) (local.get $free))
  (local.get $count))

;; Write the row of a finished game; return the winners.
(func $told (param $decisions i32) (result i64)
  (global.set $measuring (i32.const 0))
  (i32.store offset=8 (i32.const {players}) (global.get $records_end))
  (i32.store offset=8 (global.get $row) (local.get $decisions))
  (i32.store offset=16 (global.get $row) (i32.load (i32.const {round_cell})))
  (call $place))

;; Start the streams of all seats.
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

;; Play whole games with the seeds in the rows. `mode`: 0 plays only, 1 also measures, 2 also sums. The number of
;; finished games is stored behind the number of bots. Return 0 if there was no room for the sums of a game, which is
;; then the last.
(func (export "games") (param $games i32) (param $limit i32) (param $mode i32) (result i32)
  (local $seed i64) (local $done i32) (local $winners i64)
  (if (i32.eq (local.get $mode) (i32.const 2)) (then (call $no_sums)))
  (global.set $row (i32.const {rows}))
  (loop $next
    (local.set $seed (i64.load (global.get $row)))
    (global.set $records_end (i32.const {records}))
    (global.set $measuring (local.get $mode))
    (call $streams_of (local.get $seed))
    (call $begin (local.get $seed))
    (local.set $winners (call $told (call $go_on (local.get $limit) (local.get $mode))))
    (local.set $done (i32.add (local.get $done) (i32.const 1)))
    (i32.store offset=4 (i32.const {players}) (local.get $done))
    (if (i32.eq (local.get $mode) (i32.const 2))
      (then
        (if (i32.eqz (call $sum_up (local.get $winners))) (then (return (i32.const 0))))
        (i32.store offset=12 (i32.const {players}) (global.get $known))))
    (global.set $row (i32.add (global.get $row) (i32.const {row_bytes})))
    (br_if $next (i32.lt_s (local.get $done) (local.get $games))))
  (i32.const 1))

;; Play the rest of a game, with measurements and fresh streams.
(func (export "rest") (param $seed i64) (param $limit i32) (result i32)
  (global.set $row (i32.const {rows}))
  (global.set $records_end (i32.const {records}))
  (global.set $measuring (i32.const 1))
  (call $streams_of (local.get $seed))
  (drop (call $told (call $go_on (local.get $limit) (i32.const 0))))
  (i32.store offset=4 (i32.const {players}) (i32.const 1))
  (i32.const 1))

;; Playout: apply an option, then let bots play to the end of the game. All share one stream.
(func (export "playout") (param $first i32) (param $start i64) (param $used i64) (param $limit i32) (result i32)
  (local $count i32) (local $asked i32) (local $seat i32) (local $at i32)
  (global.set $measuring (i32.const 0))
  (global.set $row (i32.const {rows}))
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
