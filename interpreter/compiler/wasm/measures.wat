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
  (global.set $measuring $measuring)
  (i32.store {records_end} {records}))

(func $record (param $key $value i64)
  (local $at i32)
  (local.set $at (i32.load {records_end}))
  (if (i32.ge_u $at {records_limit}) (then (unreachable)))
  (i64.store $at $key)
  (i64.store offset=8 $at $value)
  (i32.store {records_end} (i32.add $at 16)))

(func $no_sums
  (memory.fill {buckets} 0 {buckets_bytes})
  (i32.store {known} 0))

;; Entry of a key, added if it is new. There must be room.
(func $entry (param $key i64) (result i32)
  (local $place $slot $entry i32)
  (local.set $place (i32.wrap_i64 (i64.shr_u (i64.mul $key (i64.const 0x9E3779B97F4A7C15)) (i64.const {hash_shift}))))
  (loop $next
    (local.set $slot (i32.add {buckets} (i32.shl $place 2)))
    (local.set $entry (i32.load $slot))
    (if (i32.eqz $entry)
      (then
        (local.set $entry (i32.add {entries} (i32.mul (i32.load {known}) {entry_bytes})))
        (i32.store {known} (i32.add (i32.load {known}) 1))
        (i32.store $slot $entry)
        (i64.store $entry $key)
        (memory.fill (i32.add $entry 8) 0 40)
        (i64.store offset=48 $entry (i64.const {greatest}))
        (i64.store offset=56 $entry (i64.const {smallest}))
        (f64.store offset=64 $entry (f64.const 0))
        (return $entry)))
    (if (i64.eq (i64.load $entry) $key) (then (return $entry)))
    (local.set $place (i32.and (i32.add $place 1) {hash_mask}))
    (br $next))
  (unreachable))

;; Add a value to an entry; none is counted, but is not a number.
(func $add (param $entry i32) (param $value i64)
  (i64.store offset=24 $entry (i64.add (i64.load offset=24 $entry) (i64.const 1)))
  (if (i64.eq $value (i64.const {none})) (then (return)))
  (i64.store offset=32 $entry (i64.add (i64.load offset=32 $entry) (i64.const 1)))
  (i64.store offset=40 $entry (i64.add (i64.load offset=40 $entry) $value))
  (if (i64.lt_s $value (i64.load offset=48 $entry)) (then (i64.store offset=48 $entry $value)))
  (if (i64.gt_s $value (i64.load offset=56 $entry)) (then (i64.store offset=56 $entry $value)))
  (f64.store offset=64 $entry (f64.add (f64.load offset=64 $entry)
    (f64.mul (f64.convert_i64_s $value) (f64.convert_i64_s $value)))))

;; Store the last value of this game in an entry, or the total if the measure sums; none adds nothing to a total.
(func $tally (param $entry i32) (param $value i64) (param $sums i32)
  (if (i64.ne (i64.load offset=16 $entry) (global.get $game))
    (then
      (i64.store offset=16 $entry (global.get $game))
      (i64.store offset=8 $entry $value)
      (i32.store (i32.add {met} (i32.shl (global.get $here) 2)) $entry)
      (global.set $here (i32.add (global.get $here) 1))
      (return)))
  (if (i32.and $sums (i64.ne (i64.load offset=8 $entry) (i64.const {none})))
    (then
      (if (i64.eq $value (i64.const {none})) (then (return)))
      (local.set $value (i64.add $value (i64.load offset=8 $entry)))))
  (i64.store offset=8 $entry $value))

;; Add the records of a game to the sums; return 0 if there may be no room for them.
(func $sum_up (param $winners i64) (result i32)
  (local $at $plan $flags $entry $games i32) (local $key $value $thing $others $lost $won i64)
  (if (i32.gt_s (i32.add (i32.load {known})
        (i32.shr_u (i32.sub (i32.load {records_end}) {records}) 2))  ;; 4 new entries a record
      {most_known})
    (then (return 0)))
  (global.set $game (i64.add (global.get $game) (i64.const 1)))
  (global.set $here 0)
  (local.set $lost (i64.shl (i64.extend_i32_u (i64.ne $winners (i64.const 0))) (i64.const {round})))
  (local.set $won (i64.shl (i64.add (i64.popcnt $winners) (i64.const 1)) (i64.const {round})))
  (local.set $winners (i64.shl $winners (i64.const 1)))  ;; a seat is one more in a key, where 0 is none
  (walk $at {records} (i32.load {records_end}) 16
    (local.set $key (i64.load $at))
    (local.set $value (i64.load offset=8 $at))
    (local.set $plan (i32.add {plans} (i32.shl (i32.wrap_i64 (i64.shr_u $key (i64.const {measure}))) 4)))
    (local.set $flags (i32.load $plan))
    (local.set $thing (i64.and $key (i64.const {no_round})))
    (if (i32.and $flags {curve}) (then (call $tally (call $entry $key) $value (i32.and $flags {sums}))))
    (if (i32.and $flags {final})
      (then (call $tally (call $entry (i64.or $thing (i64.const {kind_1}))) $value
        (i32.and $flags {sums}))))
    (if (i32.and $flags {table})
      (then
        (local.set $others (i64.and $thing (i64.load offset=8 $plan)))
        (local.set $key (i64.or (i64.const {kind_2}) (select $thing $others (i32.and $flags {sums}))))
        (if (i32.and $flags {owned})
          (then (local.set $key (i64.or $key
            (select $won $lost (i32.wrap_i64 (i64.and (i64.const 1) (i64.shr_u
              $winners
              (i64.shr_u (i64.xor $thing $others) (i64.extend_i32_u (i32.load offset=4 $plan)))))))))))
        (local.set $entry (call $entry $key))
        (if (i32.and $flags {sums})
          (then
            (call $tally $entry $value 1)
            (local.set $games (call $entry (i64.or $others (i64.const {kind_3})))))
          (else
            (call $add $entry $value)
            (local.set $games (i32.load offset=8 $entry))  ;; $add leaves it free: found before
            (if (i32.eqz $games)
              (then
                (local.set $games (call $entry (i64.or $others (i64.const {kind_3}))))
                (i32.store offset=8 $entry $games)))))
        (call $tally $games (i64.const {none}) 0))))
  (local.set $at {met})
  (until $told (i32.eqz (global.get $here))
    (call $add (i32.load $at) (i64.load offset=8 (i32.load $at)))
    (global.set $here (i32.sub (global.get $here) 1))
    (local.set $at (i32.add $at 4)))
  1)
