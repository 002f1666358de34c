;; Measurements of whole games, and their sums.
;;
;; A record is a key and a value, 16 bytes; `records` has those of the last game. A sum aggregates many games: an entry
;; of 72 bytes for each key, with the key, the value in the game that updated it last and that game's number, the number
;; of additions, the number of values other than none, their total, minimum and maximum, and the sum of their squares. A
;; hash table finds entries.

(global $game (mut i64) (i64.const 0))
(global $here (mut i32) (i32.const 0))

;; Switch measuring on or off, without records.
(func $measure (param $measuring i32)
  (global.set $measuring (local.get $measuring))
  (i32.store (i32.const {records_end}) (i32.const {records})))

(func $record (param $key i64) (param $value i64)
  (local $at i32)
  (local.set $at (i32.load (i32.const {records_end})))
  (if (i32.ge_u (local.get $at) (i32.const {records_limit})) (then (unreachable)))
  (i64.store (local.get $at) (local.get $key))
  (i64.store offset=8 (local.get $at) (local.get $value))
  (i32.store (i32.const {records_end}) (i32.add (local.get $at) (i32.const 16))))

(func $no_sums
  (memory.fill (i32.const {buckets}) (i32.const 0) (i32.const {buckets_bytes}))
  (i32.store (i32.const {known}) (i32.const 0)))

;; Entry of a key, added if it is new. There must be room.
(func $entry (param $key i64) (result i32)
  (local $place i32) (local $slot i32) (local $entry i32)
  (local.set $place (i32.wrap_i64 (i64.shr_u (i64.mul (local.get $key) (i64.const 0x9E3779B97F4A7C15))
    (i64.const {hash_shift}))))
  (loop $next
    (local.set $slot (i32.add (i32.const {buckets}) (i32.shl (local.get $place) (i32.const 2))))
    (local.set $entry (i32.load (local.get $slot)))
    (if (i32.eqz (local.get $entry))
      (then
        (local.set $entry (i32.add (i32.const {entries}) (i32.mul (i32.load (i32.const {known})) (i32.const {entry_bytes}))))
        (i32.store (i32.const {known}) (i32.add (i32.load (i32.const {known})) (i32.const 1)))
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
  (if (i32.gt_s (i32.add (i32.load (i32.const {known}))
        (i32.shr_u (i32.sub (i32.load (i32.const {records_end})) (i32.const {records})) (i32.const 2)))  ;; 4 new entries a record
      (i32.const {most_known}))
    (then (return (i32.const 0))))
  (global.set $game (i64.add (global.get $game) (i64.const 1)))
  (global.set $here (i32.const 0))
  (local.set $lost (i64.shl (i64.extend_i32_u (i64.ne (local.get $winners) (i64.const 0))) (i64.const {round})))
  (local.set $won (i64.shl (i64.add (i64.popcnt (local.get $winners)) (i64.const 1)) (i64.const {round})))
  (local.set $winners (i64.shl (local.get $winners) (i64.const 1)))  ;; a seat is one more in a key, where 0 is none
  (local.set $at (i32.const {records}))
  (until $done (i32.ge_u (local.get $at) (i32.load (i32.const {records_end})))
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
    (local.set $at (i32.add (local.get $at) (i32.const 16))))
  (local.set $at (i32.const {met}))
  (until $told (i32.eqz (global.get $here))
    (call $add (i32.load (local.get $at)) (i64.load offset=8 (i32.load (local.get $at))))
    (global.set $here (i32.sub (global.get $here) (i32.const 1)))
    (local.set $at (i32.add (local.get $at) (i32.const 4))))
  (i32.const 1))
