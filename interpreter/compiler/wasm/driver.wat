;; Runs stretch after stretch until one stops.
(func $run (param $next i32)
  (loop $again
    (if (i32.lt_s (local.get $next) (i32.const 0)) (then (return)))
    (global.set $arena (global.get $arena_start))
    (local.set $next (call_indirect $stretches (type $stretch) (global.get $frame) (local.get $next)))
    (br $again)))

;; Begins a game with a seed and goes to the first decision.
(func $begin (export "start") (param $seed i64)
  (memory.copy (i32.const {state}) (i32.const {first}) (i32.const {size}))
  (i64.store (i32.const {seed}) (local.get $seed))
  (call $forget)
  (global.set $frame (i32.const 0))
  (global.set $top (i32.const {frames}))
  (global.set $fuel (i32.const {fuel}))
  (call $run (i32.const {start})))

;; Lists the options of the decision at hand and gives the address behind the last.
(func $list (export "list") (result i32)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (call_indirect $options_of (type $listing) (i32.load (i32.const {state})) (i32.load (i32.const {asked})))
  (global.get $options_end))

;; Goes on with the option at an address, to the next decision.
(func $choose (param $option i32)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (global.set $frame (i32.load (i32.const {state})))
  (global.set $top (i32.load (i32.const {top})))
  (call $run (call_indirect $take_of (type $taking) (global.get $frame) (local.get $option)
    (i32.load (i32.const {asked})))))

;; Tells of the decision at hand: the stretch that asks (-1: the game is over), the seat that decides and, where a bot
;; of that seat is asked ahead, that it chose, how many numbers it drew for that, and the option.
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

;; The address of a slot for a state that can be gone back to.
(func $slot (param $number i32) (result i32)
  (i32.add (i32.const {undo}) (i32.mul (local.get $number) (i32.const {slot}))))

;; Keeps the state; where it has too many frames nothing is kept, and nothing from before.
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

;; Goes back to the state that was kept last; 0: there is none.
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

;; The same, and tells of the decision there.
(func (export "take_back") (result i32)
  (if (i32.eqz (call $take_back)) (then (return (i32.const 0))))
  (call $tell)
  (i32.const 1))

;; Keeps the state, goes on with the option at an address to the next decision, and tells of that.
(func (export "step") (param $option i32)
  (call $keep)
  (call $choose (local.get $option))
  (call $tell))

;; Puts the bot of a seat among those that are asked ahead. Its stream stands where the seat's bot drew last.
(func (export "ask_ahead") (param $seat i32) (param $kind i32)
  (i32.store (i32.add (i32.const {ahead}) (i32.shl (local.get $seat) (i32.const 2)))
    (i32.add (i32.mul (local.get $kind) (i32.const {stretches})) (i32.const 1))))

;; A number below n from the stream of the bot on a seat.
(func $draw (param $seat i32) (param $n i32) (result i32)
  (local $at i32) (local $used i64)
  (local.set $at (i32.add (i32.const {streams}) (i32.shl (local.get $seat) (i32.const 4))))
  (local.set $used (i64.load offset=8 (local.get $at)))
  (i64.store offset=8 (local.get $at) (i64.add (local.get $used) (i64.const 1)))
  (call $below (i64.load (local.get $at)) (local.get $used) (local.get $n)))

;; Whether an option stands among those from a place up to another one, which it stands at.
(func $is_listed (param $at i32) (param $option i32) (param $size i32) (param $words i32) (result i32)
  (block $done
    (loop $next
      (br_if $done (i32.ge_u (local.get $at) (local.get $option)))
      (if (call $equal_words (local.get $at) (local.get $option) (local.get $words)) (then (return (i32.const 1))))
      (local.set $at (i32.add (local.get $at) (local.get $size)))
      (br $next)))
  (i32.const 0))

;; Puts a kind of bot on a seat, with a stream that begins at a state of the generator.
(func $seat (export "seat") (param $seat i32) (param $kind i32) (param $start i64)
  (local $at i32)
  (i32.store (i32.add (i32.const {kinds}) (i32.shl (local.get $seat) (i32.const 2)))
    (i32.mul (local.get $kind) (i32.const {stretches})))
  (local.set $at (i32.add (i32.const {streams}) (i32.shl (local.get $seat) (i32.const 4))))
  (i64.store (local.get $at) (local.get $start))
  (i64.store offset=8 (local.get $at) (i64.const 0)))

;; Whether the decision at hand has more than one option.
(func (export "free") (result i32)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (call_indirect $free_of (type $stretch) (i32.load (i32.const {state})) (i32.load (i32.const {asked}))))

;; Lets one kind of bot choose at the decision at hand, with the numbers of the stream that stands apart; gives the
;; address of the option.
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
