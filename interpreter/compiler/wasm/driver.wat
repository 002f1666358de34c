;; Run stretches until one stops.
(func $run (param $next i32)
  (loop $again
    (if (i32.lt_s (local.get $next) (i32.const 0)) (then (return)))
    (global.set $arena (global.get $arena_start))
    (local.set $next (call_indirect $stretches (type $stretch) (global.get $frame) (local.get $next)))
    (br $again)))

;; Start a game with a seed and run to the first decision.
(func $begin (export "start") (param $seed i64)
  (memory.copy (i32.const {state}) (i32.const {first}) (i32.const {size}))
  (i64.store (i32.const {seed}) (local.get $seed))
  (call $forget)
  (global.set $frame (i32.const 0))
  (global.set $top (i32.const {frames}))
  (global.set $fuel (i32.const {fuel}))
  (call $run (i32.const {start})))

;; List the legal options of the current decision and return the end of the list.
(func $list (export "list") (result i32)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (call_indirect $options_of (type $listing) (i32.load (i32.const {state})) (i32.load (i32.const {asked})))
  (global.get $options_end))

;; Apply the option at an address and run to the next decision.
(func $choose (param $option i32)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (global.set $frame (i32.load (i32.const {state})))
  (global.set $top (i32.load (i32.const {top})))
  (call $run (call_indirect $take_of (type $taking) (global.get $frame) (local.get $option)
    (i32.load (i32.const {asked})))))

;; Report the current decision: the stretch that asks (-1: the game is over) and the seat that decides. If a bot of that
;; seat is asked ahead, also report that it has chosen, how many random numbers it drew, and its option.
(func $tell (export "tell")
  (local $asked i32) (local $seat i32) (local $bot i32) (local $stream i32) (local $used i64) (local $option i32)
  (local $size i32)
{clear}
  (i32.store (i32.const {turn}) (local.tee $asked (i32.load (i32.const {asked}))))
  (if (i32.lt_s (local.get $asked) (i32.const 0)) (then (return)))
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (local.set $seat (call_indirect $actor_of (type $stretch) (i32.load (i32.const {state})) (local.get $asked)))
  (i32.store offset=4 (i32.const {turn}) (local.get $seat))
  (if (i32.ge_u (local.get $seat) (i32.const {seats})) (then (return)))
  (local.set $bot (i32.load (i32.add (i32.const {ahead}) (i32.shl (local.get $seat) (i32.const 2)))))
  (if (i32.eqz (local.get $bot)) (then (return)))
  (local.set $stream (i32.add (i32.const {streams}) (i32.shl (local.get $seat) (i32.const 4))))
  (local.set $used (i64.load offset=8 (local.get $stream)))
  (local.set $option (call_indirect $bots (type $stretch) (i32.load (i32.const {state}))
    (i32.sub (i32.add (local.get $asked) (local.get $bot)) (i32.const 1))))
  (local.set $size (i32.load (i32.add (i32.shl (i32.load (local.get $option)) (i32.const 2))
    (i32.load (i32.add (i32.const {sizes}) (i32.shl (local.get $asked) (i32.const 2)))))))
  (if (i32.gt_u (local.get $size) (i32.const {room}))
    (then (i64.store offset=8 (local.get $stream) (local.get $used)) (return)))
  (i32.store offset=8 (i32.const {turn}) (i32.const 1))
  (i32.store offset=12 (i32.const {turn})
    (i32.wrap_i64 (i64.sub (i64.load offset=8 (local.get $stream)) (local.get $used))))
  (call $copy_words (i32.const {told}) (local.get $option) (i32.shr_u (local.get $size) (i32.const 2))))

;; Address of an undo slot.
(func $slot (param $number i32) (result i32)
  (i32.add (i32.const {undo}) (i32.mul (local.get $number) (i32.const {slot}))))

;; Save the state for undo. If it has too many frames, drop all saved states instead.
(func $keep
  (local $bytes i32) (local $next i32)
  (local.set $bytes (i32.sub (i32.load (i32.const {top})) (i32.const {state})))
  (if (i32.gt_u (local.get $bytes) (i32.const {slot}))
    (then (i32.store (i32.const {undone}) (i32.const 0)) (return)))
  (local.set $next (i32.load offset=4 (i32.const {undone})))
  (memory.copy (call $slot (local.get $next)) (i32.const {state}) (local.get $bytes))
  (i32.store offset=4 (i32.const {undone})
    (i32.rem_u (i32.add (local.get $next) (i32.const 1)) (i32.const {undo_slots})))
  (if (i32.lt_u (i32.load (i32.const {undone})) (i32.const {undo_slots}))
    (then (i32.store (i32.const {undone}) (i32.add (i32.load (i32.const {undone})) (i32.const 1))))))

;; Restore the last saved state; 0 if there is none.
(func $take_back (result i32)
  (local $slot i32) (local $next i32)
  (if (i32.eqz (i32.load (i32.const {undone}))) (then (return (i32.const 0))))
  (i32.store (i32.const {undone}) (i32.sub (i32.load (i32.const {undone})) (i32.const 1)))
  (local.set $next (i32.rem_u (i32.add (i32.load offset=4 (i32.const {undone})) (i32.const {before}))
    (i32.const {undo_slots})))
  (i32.store offset=4 (i32.const {undone}) (local.get $next))
  (local.set $slot (call $slot (local.get $next)))
  (memory.copy (i32.const {state}) (local.get $slot)
    (i32.sub (i32.load offset=8 (local.get $slot)) (i32.const {state})))
  (call $forget)
  (i32.const 1))

;; The same, with a report of the decision.
(func (export "take_back") (result i32)
  (if (i32.eqz (call $take_back)) (then (return (i32.const 0))))
  (call $tell)
  (i32.const 1))

;; Save the state, apply the option at an address, run to the next decision and report it. Then go on with the choices
;; that bots have made ahead, as long as they can be undone, until `most` choices are made. All reports are copied to
;; `reports`; `made` counts them, so that it is known after a trap, too. Return the count.
(func (export "step") (param $option i32) (result i32)
  (local $made i32)
  (i32.store (i32.const {made}) (i32.const 0))
  (loop $next
    (call $keep)
    (call $choose (local.get $option))
    (call $tell)
    (memory.copy (i32.add (i32.const {reports}) (i32.mul (local.get $made) (i32.const {turn_size})))
      (i32.const {turn}) (i32.const {turn_size}))
    (local.set $made (i32.add (local.get $made) (i32.const 1)))
    (i32.store (i32.const {made}) (local.get $made))
    (local.set $option (i32.const {told}))
    (br_if $next (i32.and
      (i32.and (i32.load offset=8 (i32.const {turn})) (i32.lt_u (local.get $made) (i32.load (i32.const {most}))))
      (i32.le_u (i32.load (i32.const {top})) (i32.const {last_top})))))
  (local.get $made))

;; Ask the bot of a seat ahead from now on. It continues the seat's stream.
(func (export "ask_ahead") (param $seat i32) (param $kind i32)
  (i32.store (i32.add (i32.const {ahead}) (i32.shl (local.get $seat) (i32.const 2)))
    (i32.add (i32.mul (local.get $kind) (i32.const {stretches})) (i32.const 1))))

;; Random number below n from the stream of the bot on a seat.
(func $draw (param $seat i32) (param $n i32) (result i32)
  (local $at i32) (local $used i64)
  (local.set $at (i32.add (i32.const {streams}) (i32.shl (local.get $seat) (i32.const 4))))
  (local.set $used (i64.load offset=8 (local.get $at)))
  (i64.store offset=8 (local.get $at) (i64.add (local.get $used) (i64.const 1)))
  (call $below (i64.load (local.get $at)) (local.get $used) (local.get $n)))

;; True if an option equals one of those between `at` and its own address.
(func $is_listed (param $at i32) (param $option i32) (param $size i32) (param $words i32) (result i32)
  (block $done
    (loop $next
      (br_if $done (i32.ge_u (local.get $at) (local.get $option)))
      (if (call $equal_words (local.get $at) (local.get $option) (local.get $words)) (then (return (i32.const 1))))
      (local.set $at (i32.add (local.get $at) (local.get $size)))
      (br $next)))
  (i32.const 0))

;; Put a kind of bot on a seat, with a stream that begins at a state of the generator.
(func $seat (export "seat") (param $seat i32) (param $kind i32) (param $start i64)
  (local $at i32)
  (i32.store (i32.add (i32.const {kinds}) (i32.shl (local.get $seat) (i32.const 2)))
    (i32.mul (local.get $kind) (i32.const {stretches})))
  (local.set $at (i32.add (i32.const {streams}) (i32.shl (local.get $seat) (i32.const 4))))
  (i64.store (local.get $at) (local.get $start))
  (i64.store offset=8 (local.get $at) (i64.const 0)))

;; True if the current decision has more than one option.
(func (export "free") (result i32)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (call_indirect $free_of (type $stretch) (i32.load (i32.const {state})) (i32.load (i32.const {asked}))))

;; Let a kind of bot choose at the current decision, with numbers from the separate stream; return the address of its
;; option.
(func (export "decide") (param $kind i32) (result i32)
  (local $at i32) (local $option i32)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (local.set $at (i32.add (i32.const {streams}) (i32.shl (call_indirect $actor_of (type $stretch)
    (i32.load (i32.const {state})) (i32.load (i32.const {asked}))) (i32.const 4))))
  (memory.copy (local.get $at) (i32.const {stream}) (i32.const 16))
  (local.set $option (call_indirect $bots (type $stretch) (i32.load (i32.const {state}))
    (i32.add (i32.load (i32.const {asked})) (i32.mul (local.get $kind) (i32.const {stretches})))))
  (memory.copy (i32.const {stream}) (local.get $at) (i32.const 16))
  (local.get $option))
