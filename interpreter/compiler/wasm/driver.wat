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
(global $noting (mut i32) (i32.const 0))

;; --- one decision

;; Prepare a call of rules: an empty arena, and the whole budget of steps.
(func $refill
  (global.set $arena (global.get $arena_start))
  (global.set $fuel {fuel}))

;; Run stretches until one stops.
(func $run (param $next i32)
  (loop $again
    (if (i32.lt_s $next 0) (then (return)))
    (global.set $arena (global.get $arena_start))
    (local.set $next (call_indirect $stretches (type $stretch) (global.get $frame) $next))
    (br $again)))

;; Start a game with a seed, and the streams of its bots; run to the first decision.
(func $begin (param $seed i64)
  (local $seat $at i32)
  (local.set $at {streams})
  (walk $seat 0 {seats} 1
    (i64.store $at (call $start $seed (i64.load (i32.add {hashes} (i32.shl $seat 3)))))
    (i64.store offset=8 $at (i64.const 0))
    (local.set $at (i32.add $at 16)))
  (memory.copy {state} {first} {size})
  (i64.store {seed} $seed)
  (call $forget)
  (global.set $frame 0)
  (global.set $top {frames})
  (global.set $fuel {fuel})
  (call $run {start}))

;; The same with the seed in the first row.
(func $begin_row (export "start")
  (call $begin (i64.load {rows})))

;; True if the game is over.
(func $is_over (export "over") (result i32)
  (i32.lt_s (i32.load {asked}) 0))

;; Seat that decides. It is known where the game has just asked, and not after another state was brought.
(func $actor (export "actor") (result i32)
  (if (i32.lt_s (global.get $seat) 0)
    (then
      (call $refill)
      (global.set $seat (call_indirect $actor_of (type $stretch) (i32.load {state}) (i32.load {asked})))))
  (global.get $seat))

;; True if the current decision has more than one option.
(func $is_free (export "free") (result i32)
  (call $refill)
  (call_indirect $free_of (type $stretch) (i32.load {state}) (i32.load {asked})))

;; List the legal options of the current decision and return the end of the list.
(func $list (export "list") (result i32)
  (call $refill)
  (call_indirect $options_of (type $listing) (i32.load {state}) (i32.load {asked}))
  (global.get $options_end))

;; Apply the option at an address and run to the next decision.
(func $choose (param $option i32)
  (call $refill)
  (global.set $frame (i32.load {state}))
  (global.set $top (i32.load {top}))
  (call $run (call_indirect $take_of (type $taking) (global.get $frame) $option (i32.load {asked}))))

;; --- bots

;; Bot of a seat; 0 if somebody outside decides.
(func $bot_of (param $seat i32) (result i32)
  (if (i32.ge_u $seat {seats}) (then (return 0)))
  (i32.load (i32.add {bots} (i32.shl $seat 2))))

;; Address of the stream of a seat. In a playout all bots draw from the first one.
(func $stream (param $seat i32) (result i32)
  (i32.add {streams} (i32.shl (i32.and $seat (global.get $apart)) 4)))

;; Random number below n from the stream of the bot on a seat.
(func $draw (param $seat $n i32) (result i32)
  (local $at i32) (local $used i64)
  (local.set $at (call $stream $seat))
  (local.set $used (i64.load offset=8 $at))
  (i64.store offset=8 $at (i64.add $used (i64.const 1)))
  (call $below (i64.load $at) $used $n))

;; True if an option equals one of those between `at` and its own address. Most differ in the last word.
(func $is_listed (param $at $option $size $words i32) (result i32)
  (local $last $word i32)
  (local.set $last (i32.shl (i32.sub $words 1) 2))
  (local.set $word (i32.load (i32.add $option $last)))
  (walk $at $at $option $size
    (if (i32.eq (i32.load (i32.add $at $last)) $word)
      (then (if (call $equal_words $at $option $words) (then (return 1))))))
  0)

;; Address of the option that a bot chooses at the current decision.
(func $chosen (param $bot i32) (result i32)
  (call $refill)
  (call_indirect $bots (type $stretch) (i32.load {state}) (i32.sub (i32.add (i32.load {asked}) $bot) 1)))

;; The same for a kind of bot.
(func $bot (export "bot") (param $kind i32) (result i32)
  (if (call $is_over) (then (unreachable)))
  (call $chosen (i32.add (i32.mul $kind {stretches}) 1)))

;; Let bots choose until the game is over, somebody outside decides, or `limit` choices are made; return 1 if they are.
;; Traps in a round after `rounds`.
(func $go_on (param $limit $rounds i32) (result i32)
  (local $bot $row $count $option i32)
  (local.set $row (global.get $row))
  (local.set $count (i32.load offset=8 $row))
  (until $over (call $is_over)
    (local.set $bot (call $bot_of (call $actor)))
    (br_if $over (i32.eqz $bot))
    (if (i32.ge_s $count $limit) (then (return 1)))
    (if (i32.gt_s (i32.load {round_cell}) $rounds) (then (unreachable)))
    (if (global.get $measuring)
      (then (i32.store offset=12 $row (i32.add (i32.load offset=12 $row) (call $is_free)))))
    (local.set $option (call $chosen $bot))
    (if (global.get $noting) (then (local.set $option (call $noted $option))))
    (call $choose $option)
    (local.set $count (i32.add $count 1))
    (i32.store offset=8 $row $count))
  0)

;; --- notes

;; Size of an option of the current decision.
(func $size_of (param $option i32) (result i32)
  (i32.load (i32.add (i32.shl (i32.load $option) 2) (i32.load (i32.add {sizes} (i32.shl (i32.load {asked}) 2))))))

;; Hash of words, and of what was hashed before.
(func $hashed (param $hash i64) (param $at $end i32) (result i64)
  (walk $at $at $end 4
    (local.set $hash (i64.mul (i64.xor $hash (i64.load32_u $at)) (i64.const 0x9E3779B97F4A7C15))))
  $hash)

;; List the options of the current decision. Return a hash of how the decision is called, of the seat that decides, and
;; of the options and the values shown with them.
(func $hash_asked (result i64)
  (local $at $end i32) (local $hash i64)
  (local.set $hash (i64.load (i32.add {called} (i32.shl (i32.load {asked}) 3))))
  (local.set $hash (i64.add $hash (i64.extend_i32_u (call $actor))))
  (local.set $end (call $list))
  (walk $at {options} $end (i32.load (i32.add {strides} (i32.shl (i32.load {asked}) 2)))
    (local.set $hash (call $hashed $hash $at (i32.add $at (call $size_of $at)))))
  (call_indirect $shown_of (type $listing) (i32.load {state}) (i32.load {asked}))
  (call $hashed $hash $end (global.get $options_end)))

;; Note a decision: its hash (8 bytes), and a copy of the chosen option, which is returned. Traps if it is too long.
(func $noted (param $option i32) (result i32)
  (local $note i32)
  (local.set $note (global.get $noting))
  (if (i32.gt_u (call $size_of $option) {room}) (then (unreachable)))
  (call $copy_words (i32.add $note 8) $option (i32.shr_u (call $size_of $option) 2))
  (i64.store $note (call $hash_asked))
  (global.set $noting (i32.add $note {note}))
  (i32.add $note 8))

;; Let bots play up to a number of choices, with a note of each at `records`.
(func $note (export "note") (param $limit i32)
  (call $on_row {rows})
  (global.set $noting {records})
  (drop (call $go_on $limit {most_still}))
  (call $calm))

;; Make the noted choices as long as the decisions are as noted; `made` counts them.
(func $follow (export "follow") (param $count i32)
  (local $at i32)
  (walk $at {records} (i32.add {records} (i32.mul $count {note})) {note}
    (if (call $is_over) (then (return)))
    (if (i64.ne (i64.load $at) (call $hash_asked)) (then (return)))
    (call $choose (i32.add $at 8))
    (i32.store {made} (i32.add (i32.load {made}) 1))))

;; --- rows

;; Use a row for a game without choices.
(func $on_row (param $row i32)
  (global.set $row $row)
  (memory.fill (i32.add $row 8) 0 16))

;; Add a key of a seat to the row.
(func $ranked (param $value i64)
  (i64.store (global.get $ranked_end) $value)
  (global.set $ranked_end (i32.add (global.get $ranked_end) 8)))

;; Address of the keys of a seat.
(func $keys_of (param $seat i32) (result i32)
  (i32.add (global.get $row) (i32.add {ranks} (i32.mul $seat {rank_bytes}))))

;; Write the keys of all seats, and the place of each that counts, 0 for others; return the first ones as bits.
(func $rank_seats (result i64)
  (local $seat $other $place i32) (local $first i64)
  (call $refill)
  (global.set $ranked_end (call $keys_of 0))
  (call $ranking)
  (walk $seat 0 {seats} 1
    (local.set $place (call $counts $seat))
    (local.set $other {seats})
    (loop $others
      (local.set $other (i32.sub $other 1))
      (local.set $place (i32.add $place (i32.and
        (i32.and (call $counts $seat) (call $counts $other))
        (i32.lt_s (call $compare_keys (call $keys_of $seat) (call $keys_of $other) (i32.shr_u {rank_bytes} 3)) 0))))
      (br_if $others $other))
    (local.set $first (i64.or $first (i64.shl (i64.extend_i32_u (i32.eq $place 1)) (i64.extend_i32_u $seat))))
    (i32.store (i32.add (global.get $row) (i32.add {places} (i32.shl $seat 2))) $place))
  $first)

;; 1 if a seat counts.
(func $counts (param $seat i32) (result i32)
  (i32.load (i32.add {counting} (i32.shl $seat 2))))

;; Finish the row of a game that is over; return the winners. Traps if it is not over.
(func $finish (result i64)
  (if (i32.eqz (call $is_over)) (then (unreachable)))
  (global.set $measuring 0)
  (i32.store offset=16 (global.get $row) (i32.load {round_cell}))
  (i32.store offset=20 (global.get $row) 1)
  (call $rank_seats))

;; --- one game, step by step

;; Report the current decision: the stretch that asks (-1: the game is over) and the seat that decides. If a bot of that
;; seat is asked ahead, also report that it has chosen, how many random numbers it drew, and its option.
(func $tell (export "tell")
  (local $seat $bot $stream $option $size i32) (local $used i64)
  (call $fill_words {turn} {turn_words} 0)
  (i32.store {turn} (i32.load {asked}))
  (if (call $is_over) (then (return)))
  (local.set $seat (call $actor))
  (i32.store offset=4 {turn} $seat)
  (local.set $bot (call $bot_of $seat))
  (if (i32.eqz $bot) (then (return)))
  (local.set $stream (call $stream $seat))
  (local.set $used (i64.load offset=8 $stream))
  (local.set $option (call $chosen $bot))
  (local.set $size (call $size_of $option))
  (if (i32.gt_u $size {room})
    (then (i64.store offset=8 $stream $used) (return)))
  (i32.store offset=8 {turn} 1)
  (i32.store offset=12 {turn} (i32.wrap_i64 (i64.sub (i64.load offset=8 $stream) $used)))
  (call $copy_words {told} $option (i32.shr_u $size 2)))

;; Address of an undo slot.
(func $slot (param $number i32) (result i32)
  (i32.add {undo} (i32.mul $number {slot})))

;; Save the state for undo. If it has too many frames, drop all saved states instead.
(func $keep
  (local $bytes $next i32)
  (local.set $bytes (i32.sub (i32.load {top}) {state}))
  (if (i32.gt_u $bytes {slot})
    (then (i32.store {undone} 0) (return)))
  (local.set $next (i32.load offset=4 {undone}))
  (memory.copy (call $slot $next) {state} $bytes)
  (i32.store offset=4 {undone} (i32.rem_u (i32.add $next 1) {undo_slots}))
  (if (i32.lt_u (i32.load {undone}) {undo_slots}) (then (i32.store {undone} (i32.add (i32.load {undone}) 1)))))

;; Restore the last saved state; 0 if there is none.
(func $take_back (result i32)
  (local $slot $next i32)
  (if (i32.eqz (i32.load {undone})) (then (return 0)))
  (i32.store {undone} (i32.sub (i32.load {undone}) 1))
  (local.set $next (i32.rem_u (i32.add (i32.load offset=4 {undone}) {before}) {undo_slots}))
  (i32.store offset=4 {undone} $next)
  (local.set $slot (call $slot $next))
  (memory.copy {state} $slot (i32.sub (i32.load offset=8 $slot) {state}))
  (call $forget)
  1)

;; The same, with a report of the decision.
(func $take_back_outside (export "take_back") (result i32)
  (if (i32.eqz (call $take_back)) (then (return 0)))
  (call $tell)
  1)

;; Save the state, apply the option at an address, run to the next decision and report it. Then go on with the choices
;; that bots have made ahead, as long as they can be undone, until `most` choices are made. All reports are copied to
;; `reports`; `made` counts them, so that it is known after a trap, too. Return the count.
(func $step (export "step") (param $option i32) (result i32)
  (local $made i32)
  (i32.store {made} 0)
  (loop $next
    (call $keep)
    (call $choose $option)
    (call $tell)
    (memory.copy (i32.add {reports} (i32.mul $made {turn_size})) {turn} {turn_size})
    (local.set $made (i32.add $made 1))
    (i32.store {made} $made)
    (local.set $option {told})
    (br_if $next (i32.and
      (i32.and (i32.load offset=8 {turn}) (i32.lt_u $made (i32.load {most})))
      (i32.le_u (i32.load {top}) {last_top}))))
  $made)

;; --- whole games

;; Play whole games with the seeds in the rows. `mode`: 0 plays only, 1 also measures, 2 also sums. `finished` counts
;; the games. Return 0 if there was no room for the sums of a game, which is then the last. A game of so many rounds
;; that it may be endless traps: others look whether anything changes in it.
(func $games (export "games") (param $games $limit $mode i32) (result i32)
  (local $winners i64)
  (if (i32.eq $mode 2) (then (call $no_sums)))
  (global.set $row {rows})
  (loop $next
    (call $on_row (global.get $row))
    (call $measure $mode)
    (call $begin (i64.load (global.get $row)))
    (drop (call $go_on $limit {most_still}))
    (local.set $winners (call $finish))
    (i32.store {finished} (i32.add (i32.load {finished}) 1))
    (if (i32.eq $mode 2)
      (then (if (i32.eqz (call $sum_up $winners)) (then (return 0)))))
    (global.set $row (i32.add (global.get $row) {row_bytes}))
    (br_if $next (i32.lt_s (i32.load {finished}) $games)))
  1)

;; Play on from the state in memory, after the option at an address unless that is 0. Either measure, or let all bots
;; draw from one stream. `finished` tells whether the game is over within `limit` choices.
(func $play_out (export "play_out") (param $option $limit $rounds $measured i32)
  (call $on_row {rows})
  (call $measure $measured)
  (global.set $apart (i32.sub 0 $measured))
  (if $option (then (call $choose $option)))
  (drop (call $go_on $limit $rounds))
  (if (call $is_over)
    (then
      (drop (call $finish))
      (i32.store {finished} 1)))
  (call $calm))

;; Stop measuring and taking notes, and let each bot draw from a stream of its own: also after a trap.
(func $calm (export "calm")
  (global.set $measuring 0)
  (global.set $noting 0)
  (global.set $apart -1))
