;; Batches of games. Each game has a row of its own; to step it, its state is copied to where the rules expect it.
;;
;; Tables number the actions: a decision has a word with the address of its alternatives. An alternative is its first
;; action, its ranks, its number of digits, whether all its choices are digits, and then for each digit its offset in an
;; option, the smallest value, the number of digits, and the kind of value (0: an index; 1: a number; 2: a number or
;; none).

(global $unnumbered (mut i32) (i32.const 0))

;; Address of the word of a game.
(func $of (param $words i32) (param $game i32) (result i32)
  (i32.add (local.get $words) (i32.shl (local.get $game) (i32.const 2))))

(func $row_of (param $game i32) (result i32)
  (i32.add (i32.const {rows}) (i32.mul (local.get $game) (i32.const {row_bytes}))))

;; Address of the rewards of a game.
(func $rewards_of (param $game i32) (result i32)
  (i32.add (i32.const {rewards}) (i32.mul (local.get $game) (i32.shl (i32.const {seats}) (i32.const 2)))))

;; End of the delayed blocks; the cells after them follow at `kept_limit`.
(func $kept_end (param $shift i32) (result i32)
  (i32.add (i32.const {kept_start})
    (i32.shl (i32.load offset=4 (i32.add (i32.const {kept}) (local.get $shift))) (i32.const 2))))

;; Distance from the state to that of the row.
(func $shift (result i32)
  (i32.sub (i32.add (global.get $row) (i32.const {held})) (i32.const {state})))

(func $bring (param $row i32)
  (local $shift i32)
  (global.set $row (local.get $row))
  (local.set $shift (call $shift))
  (memory.copy (i32.const {state}) (i32.add (i32.const {state}) (local.get $shift))
    (i32.sub (call $kept_end (local.get $shift)) (i32.const {state})))
  (memory.copy (i32.const {kept_limit}) (i32.add (i32.const {kept_limit}) (local.get $shift))
    (i32.sub (i32.load (i32.add (i32.const {top}) (local.get $shift))) (i32.const {kept_limit})))
  (call $bring_streams)
  (call $forget))

(func $bring_streams
  (memory.copy (i32.const {streams}) (i32.add (global.get $row) (i32.const {head})) (i32.const {streams_bytes})))

(func $take_away
  (local $shift i32)
  (if (call $is_over) (then (i32.store (i32.const {top}) (i32.const {frames}))))
  (local.set $shift (call $shift))
  (if (i32.gt_u (i32.add (i32.load (i32.const {top})) (local.get $shift))
        (i32.add (global.get $row) (i32.const {row_bytes})))
    (then (unreachable)))
  (memory.copy (i32.add (i32.const {kept_limit}) (local.get $shift)) (i32.const {kept_limit})
    (i32.sub (i32.load (i32.const {top})) (i32.const {kept_limit})))
  (memory.copy (i32.add (i32.const {state}) (local.get $shift)) (i32.const {state})
    (i32.sub (call $kept_end (i32.const 0)) (i32.const {state})))
  (memory.copy (i32.add (global.get $row) (i32.const {head})) (i32.const {streams}) (i32.const {streams_bytes})))

;; --- actions

(func $digit (param $word i32) (param $size i32) (param $kind i32) (result i32)
  (if (i32.eqz (local.get $kind)) (then (return (local.get $word))))
  (if (i32.eq (local.get $kind) (i32.const 2))
    (then
      (if (i32.eq (local.get $word) (i32.const {none})) (then (return (i32.const 0))))
      (local.set $word (i32.add (local.get $word) (i32.const 1)))))
  (if (i32.lt_s (local.get $word) (i32.const 0)) (then (return (i32.const 0))))
  (if (i32.ge_s (local.get $word) (local.get $size)) (then (return (i32.sub (local.get $size) (i32.const 1)))))
  (local.get $word))

;; Number the listed options up to `end`: set their bytes in the mask of a game and append their actions to its list.
;; Return the address of the option with the wanted action; 0 if there is none.
(func $mark (param $game i32) (param $end i32) (param $wanted i32) (result i32)
  (local $at i32) (local $mask i32) (local $legal i32) (local $count i32) (local $block i32) (local $digits i32)
  (local $number i32) (local $place i32) (local $left i32) (local $stride i32) (local $blocks i32) (local $rank i32)
  (local.set $mask (i32.add (i32.const {mask}) (i32.mul (local.get $game) (i32.const {mask_bytes}))))
  (local.set $legal (i32.add (i32.const {legal}) (i32.mul (local.get $game) (i32.const {legal_bytes}))))
  (local.set $stride (i32.load (i32.add (i32.const {strides})
    (i32.shl (i32.load (i32.const {asked})) (i32.const 2)))))
  (local.set $blocks (i32.load (i32.add (i32.const {alternatives})
    (i32.shl (i32.load (i32.const {asked})) (i32.const 2)))))
  (local.set $at (i32.const {options}))
  (until $done (i32.ge_u (local.get $at) (local.get $end))
    (local.set $block (i32.load (i32.add (local.get $blocks)
      (i32.shl (i32.load (local.get $at)) (i32.const 2)))))
    (local.set $left (i32.load offset=8 (local.get $block)))
    (local.set $place (i32.add (local.get $block) (i32.const 16)))
    (local.set $number (i32.const 0))
    (until $counted (i32.eqz (local.get $left))
      (local.set $number (i32.add
        (i32.mul (local.get $number) (i32.load offset=8 (local.get $place)))
        (call $digit
          (i32.sub (i32.load (i32.add (local.get $at) (i32.load (local.get $place))))
            (i32.load offset=4 (local.get $place)))
          (i32.load offset=8 (local.get $place))
          (i32.load offset=12 (local.get $place)))))
      (local.set $place (i32.add (local.get $place) (i32.const 16)))
      (local.set $left (i32.sub (local.get $left) (i32.const 1))))
    (local.set $rank (i32.load offset=4 (local.get $block)))
    (local.set $number (i32.add (i32.load (local.get $block)) (i32.mul (local.get $number) (local.get $rank))))
    (block $given
      (loop $ranks
        (if (i32.eqz (local.get $rank))
          (then
            (global.set $unnumbered (i32.add (global.get $unnumbered) (i32.const 1)))
            (br $given)))
        (local.set $place (i32.add (local.get $mask) (local.get $number)))
        (if (i32.load8_u (local.get $place))
          (then
            (local.set $number (i32.add (local.get $number) (i32.const 1)))
            (local.set $rank (i32.sub (local.get $rank) (i32.const 1)))
            (br $ranks))))
      (i32.store8 (local.get $place) (i32.const 1))
      (if (i32.lt_s (local.get $count) (i32.const {most_legal}))
        (then (i32.store (i32.add (local.get $legal) (i32.shl (local.get $count) (i32.const 2)))
          (local.get $number))))
      (local.set $count (i32.add (local.get $count) (i32.const 1)))
      (if (i32.eq (local.get $number) (local.get $wanted))
        (then
          (i32.store (call $of (i32.const {counts}) (local.get $game)) (local.get $count))
          (return (local.get $at)))))
    (local.set $at (i32.add (local.get $at) (local.get $stride))))
  (i32.store (call $of (i32.const {counts}) (local.get $game)) (local.get $count))
  (i32.const 0))

;; Clear the mask of a game.
(func $clear (param $game i32)
  (local $mask i32) (local $at i32) (local $end i32) (local $count i32)
  (local.set $mask (i32.add (i32.const {mask}) (i32.mul (local.get $game) (i32.const {mask_bytes}))))
  (local.set $count (i32.load (call $of (i32.const {counts}) (local.get $game))))
  (i32.store (call $of (i32.const {counts}) (local.get $game)) (i32.const 0))
  (if (i32.gt_s (local.get $count) (i32.const {most_legal}))
    (then (memory.fill (local.get $mask) (i32.const 0) (i32.const {mask_bytes})) (return)))
  (local.set $at (i32.add (i32.const {legal}) (i32.mul (local.get $game) (i32.const {legal_bytes}))))
  (local.set $end (i32.add (local.get $at) (i32.shl (local.get $count) (i32.const 2))))
  (until $done (i32.ge_u (local.get $at) (local.get $end))
    (i32.store8 (i32.add (local.get $mask) (i32.load (local.get $at))) (i32.const 0))
    (local.set $at (i32.add (local.get $at) (i32.const 4)))))

;; Decode an action into an option at `options`; 0 if its digits do not determine the option.
(func $spelt (param $action i32) (result i32)
  (local $blocks i32) (local $count i32) (local $alternative i32) (local $block i32) (local $number i32)
  (local $place i32) (local $left i32) (local $size i32) (local $digit i32) (local $kind i32)
  (local.set $blocks (i32.load (i32.add (i32.const {alternatives})
    (i32.shl (i32.load (i32.const {asked})) (i32.const 2)))))
  (local.set $count (i32.load (i32.sub (local.get $blocks) (i32.const 4))))
  (loop $next
    (if (i32.ge_s (local.get $alternative) (local.get $count)) (then (return (i32.const 0))))
    (local.set $block (i32.load (i32.add (local.get $blocks) (i32.shl (local.get $alternative) (i32.const 2)))))
    (local.set $number (i32.sub (local.get $action) (i32.load (local.get $block))))
    (local.set $alternative (i32.add (local.get $alternative) (i32.const 1)))
    (br_if $next (i32.ge_u (local.get $number) (i32.load (i32.sub (local.get $block) (i32.const 4))))))
  (if (i32.eqz (i32.load offset=12 (local.get $block))) (then (return (i32.const 0))))
  (i32.store (i32.const {options}) (i32.sub (local.get $alternative) (i32.const 1)))
  (local.set $left (i32.load offset=8 (local.get $block)))
  (local.set $place (i32.add (local.get $block) (i32.shl (local.get $left) (i32.const 4))))
  (until $done (i32.eqz (local.get $left))
    (local.set $size (i32.load offset=8 (local.get $place)))
    (local.set $kind (i32.load offset=12 (local.get $place)))
    (local.set $digit (i32.rem_u (local.get $number) (local.get $size)))
    (local.set $number (i32.div_u (local.get $number) (local.get $size)))
    (if (local.get $kind)
      (then
        (if (i32.eqz (local.get $digit)) (then (return (i32.const 0))))
        (if (i32.eq (local.get $digit) (i32.sub (local.get $size) (i32.const 1))) (then (return (i32.const 0))))
        (if (i32.eq (local.get $kind) (i32.const 2))
          (then
            (if (i32.eq (local.get $digit) (i32.const 1)) (then (return (i32.const 0))))
            (local.set $digit (i32.sub (local.get $digit) (i32.const 1)))))))
    (i32.store (i32.add (i32.const {options}) (i32.load (local.get $place)))
      (i32.add (local.get $digit) (i32.load offset=4 (local.get $place))))
    (local.set $place (i32.sub (local.get $place) (i32.const 16)))
    (local.set $left (i32.sub (local.get $left) (i32.const 1))))
  (i32.const {options}))

;; --- games

;; Let bots choose until an outside player decides; trap if there are too many choices.
(func $bots_go_on
  (if (call $go_on (i32.load (i32.const {limit})) (i32.const 0x7FFFFFFF)) (then (unreachable))))

;; Start the game of a row and run to the first decision of an outside player.
(func $fresh (param $row i32)
  (call $on_row (local.get $row))
  (call $begin (i64.load (local.get $row)))
  (call $bots_go_on)
  (if (call $is_over) (then (drop (call $finish)))))

;; Write the observation of a game: the seat, the decision, legal actions, the vector.
(func $look (param $game i32)
  (local $actor i32)
  (call $clear (local.get $game))
  (local.set $actor (i32.const -1))
  (if (i32.eqz (call $is_over))
    (then
      (local.set $actor (call $actor))
      (drop (call $mark (local.get $game) (call $list) (i32.const -1)))))
  (i32.store (call $of (i32.const {actors}) (local.get $game)) (local.get $actor))
  (call $refill)
  (call $observe (select (i32.const 0) (local.get $actor) (call $is_over)) (local.get $actor)
    (i32.add (i32.const {vectors}) (i32.mul (local.get $game) (i32.const {vector_bytes})))))

;; Write the rewards of a finished game: by place, from 1 for the first to -1 for the last.
(func $reward (param $game i32)
  (local $seat i32) (local $other i32) (local $sum i32) (local $mine i32) (local $place i32) (local $counting i32)
  (loop $seats
    (local.set $sum (i32.const 0))
    (local.set $counting (i32.const 0))
    (local.set $other (i32.const {seats}))
    (local.set $mine (call $place_of (local.get $seat)))
    (loop $others
      (local.set $other (i32.sub (local.get $other) (i32.const 1)))
      (local.set $place (call $place_of (local.get $other)))
      (if (i32.and (i32.ne (local.get $place) (i32.const 0)) (i32.ne (local.get $seat) (local.get $other)))
        (then
          (local.set $counting (i32.add (local.get $counting) (i32.const 1)))
          (local.set $sum (i32.add (local.get $sum)
            (i32.sub (i32.lt_s (local.get $mine) (local.get $place)) (i32.gt_s (local.get $mine) (local.get $place)))))))
      (br_if $others (local.get $other)))
    (f32.store (call $of (call $rewards_of (local.get $game)) (local.get $seat))
      (f32.div (f32.convert_i32_s (select (local.get $sum) (i32.const 0) (local.get $mine)))
        (f32.convert_i32_s (select (local.get $counting) (i32.const 1) (local.get $counting)))))
    (br_if $seats (i32.lt_s (local.tee $seat (i32.add (local.get $seat) (i32.const 1))) (i32.const {seats})))))

;; Place of a seat in the row; 0 if it does not count.
(func $place_of (param $seat i32) (result i32)
  (i32.load (call $of (i32.add (global.get $row) (i32.const {places})) (local.get $seat))))

;; Finish a step: rewards and a new game if the game is over, then the observation.
(func $after (param $game i32)
  (if (call $is_over)
    (then
      (drop (call $finish))
      (call $reward (local.get $game))
      (i32.store8 (i32.add (i32.const {dones}) (local.get $game)) (i32.const 1))
      (if (i32.load (i32.const {again}))
        (then
          (i64.store (global.get $row) (i64.add (i64.load (global.get $row)) (i64.const {stepped})))
          (call $fresh (global.get $row))))))
  (call $take_away)
  (call $look (local.get $game)))

;; Apply the actions of these games, or start them with the seeds in their rows. The current game's number is stored at
;; `cursor` in case the module traps.
(func $batch_step (export "batch_step") (param $game i32) (param $end i32) (param $anew i32)
  (until $done (i32.ge_s (local.get $game) (local.get $end))
    (i32.store (i32.const {cursor}) (local.get $game))
    (i32.store8 (i32.add (i32.const {dones}) (local.get $game)) (i32.const 0))
    (memory.fill (call $rewards_of (local.get $game)) (i32.const 0) (i32.shl (i32.const {seats}) (i32.const 2)))
    (if (local.get $anew)
      (then
        (call $fresh (call $row_of (local.get $game)))
        (call $take_away)
        (call $look (local.get $game)))
      (else (if (i32.eqz (i32.load offset=20 (call $row_of (local.get $game)))) (then (call $act (local.get $game))))))
    (local.set $game (i32.add (local.get $game) (i32.const 1)))))

;; Apply the action of a game.
(func $act (param $game i32)
  (local $option i32) (local $action i32)
  (call $bring (call $row_of (local.get $game)))
  (local.set $action (i32.load (call $of (i32.const {actions}) (local.get $game))))
  (local.set $option (call $spelt (local.get $action)))
  (if (i32.eqz (local.get $option))
    (then
      (call $clear (local.get $game))
      (local.set $option (call $mark (local.get $game) (call $list) (local.get $action)))
      (if (i32.eqz (local.get $option)) (then (unreachable)))))
  (if (i32.ge_s (i32.load offset=8 (global.get $row)) (i32.load (i32.const {limit}))) (then (unreachable)))
  (i32.store offset=8 (global.get $row) (i32.add (i32.load offset=8 (global.get $row)) (i32.const 1)))
  (call $choose (local.get $option))
  (call $bots_go_on)
  (call $after (local.get $game)))

;; Continue a game whose state has been written to memory after a choice in the plain form.
(func $batch_resume (export "batch_resume") (param $game i32)
  (i32.store (i32.const {cursor}) (local.get $game))
  (global.set $row (call $row_of (local.get $game)))
  (call $forget)
  (call $bring_streams)
  (call $bots_go_on)
  (call $after (local.get $game)))

;; Write the observation of a seat to an address.
(func $batch_observe (export "batch_observe") (param $game i32) (param $seat i32) (param $into i32)
  (call $bring (call $row_of (local.get $game)))
  (call $refill)
  (call $observe (local.get $seat) (i32.load (call $of (i32.const {actors}) (local.get $game))) (local.get $into)))
