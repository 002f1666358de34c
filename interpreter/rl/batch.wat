;; Batches of games. Each game has a row of its own; to step it, its state is copied to where the rules expect it.
;;
;; Tables number the actions: a decision has a word with the address of its alternatives. An alternative is its first
;; action, its ranks, its number of digits, whether all its choices are digits, and then for each digit its offset in an
;; option, the smallest value, the number of digits, and the kind of value (0: an index; 1: a number; 2: a number or
;; none).

(global $unnumbered (mut i32) (i32.const 0))

;; Address of the word of a game.
(func $of (param $words $game i32) (result i32)
  (i32.add $words (i32.shl $game 2)))

(func $row_of (param $game i32) (result i32)
  (i32.add {rows} (i32.mul $game {row_bytes})))

;; Address of the rewards of a game.
(func $rewards_of (param $game i32) (result i32)
  (i32.add {rewards} (i32.mul $game (i32.shl {seats} 2))))

;; End of the delayed blocks; the cells after them follow at `kept_limit`.
(func $kept_end (param $shift i32) (result i32)
  (i32.add {kept_start} (i32.shl (i32.load offset=4 (i32.add {kept} $shift)) 2)))

;; Distance from the state to that of the row.
(func $shift (result i32)
  (i32.sub (i32.add (global.get $row) {held}) {state}))

(func $bring (param $row i32)
  (local $shift i32)
  (global.set $row $row)
  (local.set $shift (call $shift))
  (memory.copy {state} (i32.add {state} $shift) (i32.sub (call $kept_end $shift) {state}))
  (memory.copy {kept_limit} (i32.add {kept_limit} $shift) (i32.sub (i32.load (i32.add {top} $shift)) {kept_limit}))
  (call $bring_streams)
  (call $forget))

(func $bring_streams
  (memory.copy {streams} (i32.add (global.get $row) {head}) {streams_bytes}))

(func $take_away
  (local $shift i32)
  (if (call $is_over) (then (i32.store {top} {frames})))
  (local.set $shift (call $shift))
  (if (i32.gt_u (i32.add (i32.load {top}) $shift) (i32.add (global.get $row) {row_bytes})) (then (unreachable)))
  (memory.copy (i32.add {kept_limit} $shift) {kept_limit} (i32.sub (i32.load {top}) {kept_limit}))
  (memory.copy (i32.add {state} $shift) {state} (i32.sub (call $kept_end 0) {state}))
  (memory.copy (i32.add (global.get $row) {head}) {streams} {streams_bytes}))

;; --- actions

(func $digit (param $word $size $kind i32) (result i32)
  (if (i32.eqz $kind) (then (return $word)))
  (if (i32.eq $kind 2)
    (then
      (if (i32.eq $word {none}) (then (return 0)))
      (local.set $word (i32.add $word 1))))
  (if (i32.lt_s $word 0) (then (return 0)))
  (if (i32.ge_s $word $size) (then (return (i32.sub $size 1))))
  $word)

;; Number the listed options up to `end`: set their bytes in the mask of a game and append their actions to its list.
;; Return the address of the option with the wanted action; 0 if there is none.
(func $mark (param $game $end $wanted i32) (result i32)
  (local $at $mask $legal $count $block $digits $number $place $left $stride $blocks $rank i32)
  (local.set $mask (i32.add {mask} (i32.mul $game {mask_bytes})))
  (local.set $legal (i32.add {legal} (i32.mul $game {legal_bytes})))
  (local.set $stride (i32.load (i32.add {strides} (i32.shl (i32.load {asked}) 2))))
  (local.set $blocks (i32.load (i32.add {alternatives} (i32.shl (i32.load {asked}) 2))))
  (walk $at {options} $end $stride
    (local.set $block (i32.load (i32.add $blocks (i32.shl (i32.load $at) 2))))
    (local.set $left (i32.load offset=8 $block))
    (local.set $place (i32.add $block 16))
    (local.set $number 0)
    (until $counted (i32.eqz $left)
      (local.set $number (i32.add
        (i32.mul $number (i32.load offset=8 $place))
        (call $digit
          (i32.sub (i32.load (i32.add $at (i32.load $place))) (i32.load offset=4 $place))
          (i32.load offset=8 $place)
          (i32.load offset=12 $place))))
      (local.set $place (i32.add $place 16))
      (local.set $left (i32.sub $left 1)))
    (local.set $rank (i32.load offset=4 $block))
    (local.set $number (i32.add (i32.load $block) (i32.mul $number $rank)))
    (block $given
      (loop $ranks
        (if (i32.eqz $rank)
          (then
            (global.set $unnumbered (i32.add (global.get $unnumbered) 1))
            (br $given)))
        (local.set $place (i32.add $mask $number))
        (if (i32.load8_u $place)
          (then
            (local.set $number (i32.add $number 1))
            (local.set $rank (i32.sub $rank 1))
            (br $ranks))))
      (i32.store8 $place 1)
      (if (i32.lt_s $count {most_legal}) (then (i32.store (i32.add $legal (i32.shl $count 2)) $number)))
      (local.set $count (i32.add $count 1))
      (if (i32.eq $number $wanted)
        (then
          (i32.store (call $of {counts} $game) $count)
          (return $at)))))
  (i32.store (call $of {counts} $game) $count)
  0)

;; Clear the mask of a game.
(func $clear (param $game i32)
  (local $mask $at $end $count i32)
  (local.set $mask (i32.add {mask} (i32.mul $game {mask_bytes})))
  (local.set $count (i32.load (call $of {counts} $game)))
  (i32.store (call $of {counts} $game) 0)
  (if (i32.gt_s $count {most_legal})
    (then (memory.fill $mask 0 {mask_bytes}) (return)))
  (local.set $at (i32.add {legal} (i32.mul $game {legal_bytes})))
  (local.set $end (i32.add $at (i32.shl $count 2)))
  (walk $at $at $end 4
    (i32.store8 (i32.add $mask (i32.load $at)) 0)))

;; Decode an action into an option at `options`; 0 if its digits do not determine the option.
(func $spelt (param $action i32) (result i32)
  (local $blocks $count $alternative $block $number $place $left $size $digit $kind i32)
  (local.set $blocks (i32.load (i32.add {alternatives} (i32.shl (i32.load {asked}) 2))))
  (local.set $count (i32.load (i32.sub $blocks 4)))
  (loop $next
    (if (i32.ge_s $alternative $count) (then (return 0)))
    (local.set $block (i32.load (i32.add $blocks (i32.shl $alternative 2))))
    (local.set $number (i32.sub $action (i32.load $block)))
    (local.set $alternative (i32.add $alternative 1))
    (br_if $next (i32.ge_u $number (i32.load (i32.sub $block 4)))))
  (if (i32.eqz (i32.load offset=12 $block)) (then (return 0)))
  (i32.store {options} (i32.sub $alternative 1))
  (local.set $left (i32.load offset=8 $block))
  (local.set $place (i32.add $block (i32.shl $left 4)))
  (until $done (i32.eqz $left)
    (local.set $size (i32.load offset=8 $place))
    (local.set $kind (i32.load offset=12 $place))
    (local.set $digit (i32.rem_u $number $size))
    (local.set $number (i32.div_u $number $size))
    (if $kind
      (then
        (if (i32.eqz $digit) (then (return 0)))
        (if (i32.eq $digit (i32.sub $size 1)) (then (return 0)))
        (if (i32.eq $kind 2)
          (then
            (if (i32.eq $digit 1) (then (return 0)))
            (local.set $digit (i32.sub $digit 1))))))
    (i32.store (i32.add {options} (i32.load $place)) (i32.add $digit (i32.load offset=4 $place)))
    (local.set $place (i32.sub $place 16))
    (local.set $left (i32.sub $left 1)))
  {options})

;; --- games

;; Let bots choose until an outside player decides; trap if there are too many choices.
(func $bots_go_on
  (if (call $go_on (i32.load {limit}) 0x7FFFFFFF) (then (unreachable))))

;; Start the game of a row and run to the first decision of an outside player.
(func $fresh (param $row i32)
  (call $on_row $row)
  (call $begin (i64.load $row))
  (call $bots_go_on)
  (if (call $is_over) (then (drop (call $finish)))))

;; Write the observation of a game: the seat, the decision, legal actions, the vector.
(func $look (param $game i32)
  (local $actor i32)
  (call $clear $game)
  (local.set $actor -1)
  (if (i32.eqz (call $is_over))
    (then
      (local.set $actor (call $actor))
      (drop (call $mark $game (call $list) -1))))
  (i32.store (call $of {actors} $game) $actor)
  (call $refill)
  (call $observe (select 0 $actor (call $is_over)) $actor (i32.add {vectors} (i32.mul $game {vector_bytes}))))

;; Write the rewards of a finished game: by place, from 1 for the first to -1 for the last.
(func $reward (param $game i32)
  (local $seat $other $sum $mine $place $counting i32)
  (walk $seat 0 {seats} 1
    (local.set $sum 0)
    (local.set $counting 0)
    (local.set $other {seats})
    (local.set $mine (call $place_of $seat))
    (loop $others
      (local.set $other (i32.sub $other 1))
      (local.set $place (call $place_of $other))
      (if (i32.and (i32.ne $place 0) (i32.ne $seat $other))
        (then
          (local.set $counting (i32.add $counting 1))
          (local.set $sum (i32.add $sum (i32.sub (i32.lt_s $mine $place) (i32.gt_s $mine $place))))))
      (br_if $others $other))
    (f32.store (call $of (call $rewards_of $game) $seat)
      (f32.div (f32.convert_i32_s (select $sum 0 $mine)) (f32.convert_i32_s (select $counting 1 $counting))))))

;; Place of a seat in the row; 0 if it does not count.
(func $place_of (param $seat i32) (result i32)
  (i32.load (call $of (i32.add (global.get $row) {places}) $seat)))

;; Finish a step: rewards and a new game if the game is over, then the observation.
(func $after (param $game i32)
  (if (call $is_over)
    (then
      (drop (call $finish))
      (call $reward $game)
      (i32.store8 (i32.add {dones} $game) 1)
      (if (i32.load {again})
        (then
          (i64.store (global.get $row) (i64.add (i64.load (global.get $row)) (i64.const {stepped})))
          (call $fresh (global.get $row))))))
  (call $take_away)
  (call $look $game))

;; Apply the actions of these games, or start them with the seeds in their rows. The current game's number is stored at
;; `cursor` in case the module traps.
(func $batch_step (export "batch_step") (param $game $end $anew i32)
  (memory.fill (i32.add {dones} $game) 0 (i32.sub $end $game))
  (memory.fill (call $rewards_of $game) 0 (i32.sub (call $rewards_of $end) (call $rewards_of $game)))
  (walk $game $game $end 1
    (i32.store {cursor} $game)
    (if $anew
      (then
        (call $fresh (call $row_of $game))
        (call $take_away)
        (call $look $game))
      (else (if (i32.eqz (i32.load offset=20 (call $row_of $game))) (then (call $act $game)))))))

;; Apply the action of a game.
(func $act (param $game i32)
  (local $option $action i32)
  (call $bring (call $row_of $game))
  (local.set $action (i32.load (call $of {actions} $game)))
  (local.set $option (call $spelt $action))
  (if (i32.eqz $option)
    (then
      (call $clear $game)
      (local.set $option (call $mark $game (call $list) $action))
      (if (i32.eqz $option) (then (unreachable)))))
  (if (i32.ge_s (i32.load offset=8 (global.get $row)) (i32.load {limit})) (then (unreachable)))
  (i32.store offset=8 (global.get $row) (i32.add (i32.load offset=8 (global.get $row)) 1))
  (call $choose $option)
  (call $bots_go_on)
  (call $after $game))

;; Continue a game whose state has been written to memory after a choice in the plain form.
(func $batch_resume (export "batch_resume") (param $game i32)
  (i32.store {cursor} $game)
  (global.set $row (call $row_of $game))
  (call $forget)
  (call $bring_streams)
  (call $bots_go_on)
  (call $after $game))

;; Write the observation of a seat to an address.
(func $batch_observe (export "batch_observe") (param $game $seat $into i32)
  (call $bring (call $row_of $game))
  (call $refill)
  (call $observe $seat (i32.load (call $of {actors} $game)) $into))
