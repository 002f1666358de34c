;; Driver: plays games from decision to decision, with bots on some seats.
;;
;; One game is at the address of the state. `bots` has a word for each seat: 0 if somebody outside decides, else 1 plus
;; the number of the bot's kind times the number of stretches. `streams` has the random stream of each seat's bot: where
;; it begins, and how many numbers were drawn.
;;
;; `$row` is the row of the game: its seed (8 bytes); the number of choices, that of decisions with more than one option
;; (counted while measuring), the round, and whether the game is over (4 bytes each); the place of each seat (4), and
;; the keys that rank the seats (8 each). A row of a game that goes on also holds its streams and its state.

(global $measuring (mut i32) (i32.const 0))
(global $row (mut i32) (i32.const {rows}))
(global $ranked_end (mut i32) (i32.const {rows}))
(global $apart (mut i32) (i32.const -1))

;; --- one decision

;; Prepare a call of rules: an empty arena, and the whole budget of steps.
(func $refill
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel})))

;; Run stretches until one stops.
(func $run (param $next i32)
  (loop $again
    (if (i32.lt_s (local.get $next) (i32.const 0)) (then (return)))
    (global.set $arena (global.get $arena_start))
    (local.set $next (call_indirect $stretches (type $stretch) (global.get $frame) (local.get $next)))
    (br $again)))

;; Start a game with a seed, and the streams of its bots; run to the first decision.
(func $begin (export "start") (param $seed i64)
  (local $seat i32) (local $at i32)
  (local.set $at (i32.const {streams}))
  (loop $next
    (i64.store (local.get $at) (call $start (local.get $seed)
      (i64.load (i32.add (i32.const {hashes}) (i32.shl (local.get $seat) (i32.const 3))))))
    (i64.store offset=8 (local.get $at) (i64.const 0))
    (local.set $at (i32.add (local.get $at) (i32.const 16)))
    (br_if $next (i32.lt_s (local.tee $seat (i32.add (local.get $seat) (i32.const 1))) (i32.const {seats}))))
  (memory.copy (i32.const {state}) (i32.const {first}) (i32.const {size}))
  (i64.store (i32.const {seed}) (local.get $seed))
  (call $forget)
  (global.set $frame (i32.const 0))
  (global.set $top (i32.const {frames}))
  (global.set $fuel (i32.const {fuel}))
  (call $run (i32.const {start})))

;; True if the game is over.
(func $is_over (export "over") (result i32)
  (i32.lt_s (i32.load (i32.const {asked})) (i32.const 0)))

;; Seat that decides.
(func $actor (export "actor") (result i32)
  (call $refill)
  (call_indirect $actor_of (type $stretch) (i32.load (i32.const {state})) (i32.load (i32.const {asked}))))

;; True if the current decision has more than one option.
(func $is_free (export "free") (result i32)
  (call $refill)
  (call_indirect $free_of (type $stretch) (i32.load (i32.const {state})) (i32.load (i32.const {asked}))))

;; List the legal options of the current decision and return the end of the list.
(func $list (export "list") (result i32)
  (call $refill)
  (call_indirect $options_of (type $listing) (i32.load (i32.const {state})) (i32.load (i32.const {asked})))
  (global.get $options_end))

;; Apply the option at an address and run to the next decision.
(func $choose (param $option i32)
  (call $refill)
  (global.set $frame (i32.load (i32.const {state})))
  (global.set $top (i32.load (i32.const {top})))
  (call $run (call_indirect $take_of (type $taking) (global.get $frame) (local.get $option)
    (i32.load (i32.const {asked})))))

;; --- bots

;; Bot of a seat; 0 if somebody outside decides.
(func $bot_of (param $seat i32) (result i32)
  (if (i32.ge_u (local.get $seat) (i32.const {seats})) (then (return (i32.const 0))))
  (i32.load (i32.add (i32.const {bots}) (i32.shl (local.get $seat) (i32.const 2)))))

;; Address of the stream of a seat. In a playout all bots draw from the first one.
(func $stream (param $seat i32) (result i32)
  (i32.add (i32.const {streams}) (i32.shl (i32.and (local.get $seat) (global.get $apart)) (i32.const 4))))

;; Random number below n from the stream of the bot on a seat.
(func $draw (param $seat i32) (param $n i32) (result i32)
  (local $at i32) (local $used i64)
  (local.set $at (call $stream (local.get $seat)))
  (local.set $used (i64.load offset=8 (local.get $at)))
  (i64.store offset=8 (local.get $at) (i64.add (local.get $used) (i64.const 1)))
  (call $below (i64.load (local.get $at)) (local.get $used) (local.get $n)))

;; True if an option equals one of those between `at` and its own address.
(func $is_listed (param $at i32) (param $option i32) (param $size i32) (param $words i32) (result i32)
  (until $done (i32.ge_u (local.get $at) (local.get $option))
    (if (call $equal_words (local.get $at) (local.get $option) (local.get $words)) (then (return (i32.const 1))))
    (local.set $at (i32.add (local.get $at) (local.get $size))))
  (i32.const 0))

;; Address of the option that a bot chooses at the current decision.
(func $chosen (param $bot i32) (result i32)
  (call $refill)
  (call_indirect $bots (type $stretch) (i32.load (i32.const {state}))
    (i32.sub (i32.add (i32.load (i32.const {asked})) (local.get $bot)) (i32.const 1))))

;; The same for a kind of bot.
(func $bot (export "bot") (param $kind i32) (result i32)
  (if (call $is_over) (then (unreachable)))
  (call $chosen (i32.add (i32.mul (local.get $kind) (i32.const {stretches})) (i32.const 1))))

;; Let bots choose until the game is over, somebody outside decides, or `limit` choices are made; return 1 if they are.
;; Traps in a round after `rounds`.
(func $go_on (param $limit i32) (param $rounds i32) (result i32)
  (local $bot i32)
  (loop $next
    (if (call $is_over) (then (return (i32.const 0))))
    (local.set $bot (call $bot_of (call $actor)))
    (if (i32.eqz (local.get $bot)) (then (return (i32.const 0))))
    (if (i32.ge_s (i32.load offset=8 (global.get $row)) (local.get $limit)) (then (return (i32.const 1))))
    (if (i32.gt_s (i32.load (i32.const {round_cell})) (local.get $rounds)) (then (unreachable)))
    (if (global.get $measuring)
      (then (i32.store offset=12 (global.get $row)
        (i32.add (i32.load offset=12 (global.get $row)) (call $is_free)))))
    (call $choose (call $chosen (local.get $bot)))
    (i32.store offset=8 (global.get $row) (i32.add (i32.load offset=8 (global.get $row)) (i32.const 1)))
    (br $next))
  (unreachable))

;; --- rows

;; Use a row for a game without choices.
(func $on_row (param $row i32)
  (global.set $row (local.get $row))
  (memory.fill (i32.add (local.get $row) (i32.const 8)) (i32.const 0) (i32.const 16)))

;; Add a key of a seat to the row.
(func $ranked (param $value i64)
  (i64.store (global.get $ranked_end) (local.get $value))
  (global.set $ranked_end (i32.add (global.get $ranked_end) (i32.const 8))))

;; Address of the keys of a seat.
(func $keys_of (param $seat i32) (result i32)
  (i32.add (global.get $row) (i32.add (i32.const {ranks}) (i32.mul (local.get $seat) (i32.const {rank_bytes})))))

;; Write the keys of all seats, and the place of each that counts, 0 for others; return the first ones as bits.
(func $rank_seats (result i64)
  (local $seat i32) (local $other i32) (local $place i32) (local $first i64)
  (call $refill)
  (global.set $ranked_end (call $keys_of (i32.const 0)))
  (call $ranking)
  (loop $seats
    (local.set $place (call $counts (local.get $seat)))
    (local.set $other (i32.const {seats}))
    (loop $others
      (local.set $other (i32.sub (local.get $other) (i32.const 1)))
      (local.set $place (i32.add (local.get $place) (i32.and
        (i32.and (call $counts (local.get $seat)) (call $counts (local.get $other)))
        (i32.lt_s (call $compare_keys (call $keys_of (local.get $seat)) (call $keys_of (local.get $other))
          (i32.shr_u (i32.const {rank_bytes}) (i32.const 3))) (i32.const 0)))))
      (br_if $others (local.get $other)))
    (local.set $first (i64.or (local.get $first) (i64.shl
      (i64.extend_i32_u (i32.eq (local.get $place) (i32.const 1))) (i64.extend_i32_u (local.get $seat)))))
    (i32.store (i32.add (global.get $row) (i32.add (i32.const {places}) (i32.shl (local.get $seat) (i32.const 2))))
      (local.get $place))
    (br_if $seats (i32.lt_s (local.tee $seat (i32.add (local.get $seat) (i32.const 1))) (i32.const {seats}))))
  (local.get $first))

;; 1 if a seat counts.
(func $counts (param $seat i32) (result i32)
  (i32.load (i32.add (i32.const {counting}) (i32.shl (local.get $seat) (i32.const 2)))))

;; Finish the row of a game that is over; return the winners. Traps if it is not over.
(func $finish (result i64)
  (if (i32.eqz (call $is_over)) (then (unreachable)))
  (global.set $measuring (i32.const 0))
  (i32.store offset=16 (global.get $row) (i32.load (i32.const {round_cell})))
  (i32.store offset=20 (global.get $row) (i32.const 1))
  (call $rank_seats))

;; --- one game, step by step

;; Report the current decision: the stretch that asks (-1: the game is over) and the seat that decides. If a bot of that
;; seat is asked ahead, also report that it has chosen, how many random numbers it drew, and its option.
(func $tell (export "tell")
  (local $seat i32) (local $bot i32) (local $stream i32) (local $used i64) (local $option i32) (local $size i32)
  (call $clear_words (i32.const {turn}) (i32.const {turn_words}))
  (i32.store (i32.const {turn}) (i32.load (i32.const {asked})))
  (if (call $is_over) (then (return)))
  (local.set $seat (call $actor))
  (i32.store offset=4 (i32.const {turn}) (local.get $seat))
  (local.set $bot (call $bot_of (local.get $seat)))
  (if (i32.eqz (local.get $bot)) (then (return)))
  (local.set $stream (call $stream (local.get $seat)))
  (local.set $used (i64.load offset=8 (local.get $stream)))
  (local.set $option (call $chosen (local.get $bot)))
  (local.set $size (i32.load (i32.add (i32.shl (i32.load (local.get $option)) (i32.const 2))
    (i32.load (i32.add (i32.const {sizes}) (i32.shl (i32.load (i32.const {asked})) (i32.const 2)))))))
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
(func $take_back_outside (export "take_back") (result i32)
  (if (i32.eqz (call $take_back)) (then (return (i32.const 0))))
  (call $tell)
  (i32.const 1))

;; Save the state, apply the option at an address, run to the next decision and report it. Then go on with the choices
;; that bots have made ahead, as long as they can be undone, until `most` choices are made. All reports are copied to
;; `reports`; `made` counts them, so that it is known after a trap, too. Return the count.
(func $step (export "step") (param $option i32) (result i32)
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

;; --- whole games

;; Play whole games with the seeds in the rows. `mode`: 0 plays only, 1 also measures, 2 also sums. `finished` counts
;; the games. Return 0 if there was no room for the sums of a game, which is then the last. A game of so many rounds that
;; it may be endless traps: others look whether anything changes in it.
(func $games (export "games") (param $games i32) (param $limit i32) (param $mode i32) (result i32)
  (local $winners i64)
  (if (i32.eq (local.get $mode) (i32.const 2)) (then (call $no_sums)))
  (global.set $row (i32.const {rows}))
  (loop $next
    (call $on_row (global.get $row))
    (call $measure (local.get $mode))
    (call $begin (i64.load (global.get $row)))
    (drop (call $go_on (local.get $limit) (i32.const {most_still})))
    (local.set $winners (call $finish))
    (i32.store (i32.const {finished}) (i32.add (i32.load (i32.const {finished})) (i32.const 1)))
    (if (i32.eq (local.get $mode) (i32.const 2))
      (then (if (i32.eqz (call $sum_up (local.get $winners))) (then (return (i32.const 0))))))
    (global.set $row (i32.add (global.get $row) (i32.const {row_bytes})))
    (br_if $next (i32.lt_s (i32.load (i32.const {finished})) (local.get $games))))
  (i32.const 1))

;; Play on from the state in memory, after the option at an address unless that is 0. Either measure, or let all bots
;; draw from one stream. `finished` tells whether the game is over within `limit` choices.
(func $play_out (export "play_out") (param $option i32) (param $limit i32) (param $rounds i32) (param $measured i32)
  (call $on_row (i32.const {rows}))
  (call $measure (local.get $measured))
  (global.set $apart (i32.sub (i32.const 0) (local.get $measured)))
  (if (local.get $option) (then (call $choose (local.get $option))))
  (drop (call $go_on (local.get $limit) (local.get $rounds)))
  (if (call $is_over)
    (then
      (drop (call $finish))
      (i32.store (i32.const {finished}) (i32.const 1))))
  (call $calm))

;; Stop measuring, and let each bot draw from a stream of its own: also after a trap.
(func $calm (export "calm")
  (global.set $measuring (i32.const 0))
  (global.set $apart (i32.const -1)))
