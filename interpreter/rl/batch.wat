;; Batches of games. Each game has a row; to step it, its state is copied to where the rules expect it.
;;
;; A row begins with its seed (8 bytes), the number of choices (4), whether the game is over (4), and the streams of the
;; bots; the state follows in its usual layout. Tables number the actions: a decision has a word with the address of its
;; alternatives. An alternative is its first action, its ranks, its number of digits, whether all its choices are
;; digits, and then for each digit its offset in an option, the smallest value, the number of digits, and the kind of
;; value (0: an index; 1: a number; 2: a number or none).

(global $unnumbered (mut i32) (i32.const 0))

(func $row_of (param $game i32) (result i32)
  (i32.add (i32.const {games}) (i32.mul (local.get $game) (i32.const {game_bytes}))))

;; End of the delayed blocks; the cells after them follow at `kept_limit`.
(func $kept_end (param $shift i32) (result i32)
  (i32.add (i32.const {kept_start})
    (i32.shl (i32.load offset=4 (i32.add (i32.const {kept}) (local.get $shift))) (i32.const 2))))

(func $bring (param $row i32)
  (local $shift i32) (local $end i32)
  (local.set $shift (i32.sub (i32.add (local.get $row) (i32.const {held})) (i32.const {state})))
  (local.set $end (call $kept_end (local.get $shift)))
  (memory.copy (i32.const {state}) (i32.add (i32.const {state}) (local.get $shift))
    (i32.sub (local.get $end) (i32.const {state})))
  (local.set $end (i32.load (i32.add (i32.const {top}) (local.get $shift))))
  (memory.copy (i32.const {kept_limit}) (i32.add (i32.const {kept_limit}) (local.get $shift))
    (i32.sub (local.get $end) (i32.const {kept_limit})))
  (memory.copy (i32.const {streams}) (i32.add (local.get $row) (i32.const {head})) (i32.const {streams_bytes}))
  (call $forget))

(func $take_away (param $row i32)
  (local $shift i32) (local $end i32)
  (if (i32.lt_s (i32.load (i32.const {asked})) (i32.const 0))
    (then (i32.store (i32.const {top}) (i32.const {frames}))))
  (local.set $shift (i32.sub (i32.add (local.get $row) (i32.const {held})) (i32.const {state})))
  (local.set $end (i32.load (i32.const {top})))
  (if (i32.gt_u (i32.add (local.get $end) (local.get $shift)) (i32.add (local.get $row) (i32.const {game_bytes})))
    (then (unreachable)))
  (memory.copy (i32.add (i32.const {kept_limit}) (local.get $shift)) (i32.const {kept_limit})
    (i32.sub (local.get $end) (i32.const {kept_limit})))
  (local.set $end (call $kept_end (i32.const 0)))
  (memory.copy (i32.add (i32.const {state}) (local.get $shift)) (i32.const {state})
    (i32.sub (local.get $end) (i32.const {state})))
  (memory.copy (i32.add (local.get $row) (i32.const {head})) (i32.const {streams}) (i32.const {streams_bytes})))

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
  (block $done
    (loop $next
      (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
      (local.set $block (i32.load (i32.add (local.get $blocks)
        (i32.shl (i32.load (local.get $at)) (i32.const 2)))))
      (local.set $left (i32.load offset=8 (local.get $block)))
      (local.set $place (i32.add (local.get $block) (i32.const 16)))
      (local.set $number (i32.const 0))
      (block $counted
        (loop $digits
          (br_if $counted (i32.eqz (local.get $left)))
          (local.set $number (i32.add
            (i32.mul (local.get $number) (i32.load offset=8 (local.get $place)))
            (call $digit
              (i32.sub (i32.load (i32.add (local.get $at) (i32.load (local.get $place))))
                (i32.load offset=4 (local.get $place)))
              (i32.load offset=8 (local.get $place))
              (i32.load offset=12 (local.get $place)))))
          (local.set $place (i32.add (local.get $place) (i32.const 16)))
          (local.set $left (i32.sub (local.get $left) (i32.const 1)))
          (br $digits)))
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
            (i32.store (i32.add (i32.const {counts}) (i32.shl (local.get $game) (i32.const 2))) (local.get $count))
            (return (local.get $at)))))
      (local.set $at (i32.add (local.get $at) (local.get $stride)))
      (br $next)))
  (i32.store (i32.add (i32.const {counts}) (i32.shl (local.get $game) (i32.const 2))) (local.get $count))
  (i32.const 0))

;; Clear the mask of a game.
(func $clear (param $game i32)
  (local $mask i32) (local $at i32) (local $end i32) (local $count i32)
  (local.set $mask (i32.add (i32.const {mask}) (i32.mul (local.get $game) (i32.const {mask_bytes}))))
  (local.set $count (i32.load (i32.add (i32.const {counts}) (i32.shl (local.get $game) (i32.const 2)))))
  (i32.store (i32.add (i32.const {counts}) (i32.shl (local.get $game) (i32.const 2))) (i32.const 0))
  (if (i32.gt_s (local.get $count) (i32.const {most_legal}))
    (then (memory.fill (local.get $mask) (i32.const 0) (i32.const {mask_bytes})) (return)))
  (local.set $at (i32.add (i32.const {legal}) (i32.mul (local.get $game) (i32.const {legal_bytes}))))
  (local.set $end (i32.add (local.get $at) (i32.shl (local.get $count) (i32.const 2))))
  (block $done
    (loop $next
      (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
      (i32.store8 (i32.add (local.get $mask) (i32.load (local.get $at))) (i32.const 0))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br $next))))

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
  (block $done
    (loop $digits
      (br_if $done (i32.eqz (local.get $left)))
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
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br $digits)))
  (i32.const {options}))

;; --- games

;; Let bots choose until an outside player decides.
(func $bots_go_on (param $row i32)
  (local $seat i32) (local $asked i32)
  (block $done
    (loop $next
      (local.set $asked (i32.load (i32.const {asked})))
      (br_if $done (i32.lt_s (local.get $asked) (i32.const 0)))
      (global.set $arena (global.get $arena_start))
      (global.set $fuel (i32.const {fuel}))
      (local.set $seat (call_indirect $actor_of (type $stretch) (i32.load (i32.const {state})) (local.get $asked)))
      (if (i32.ge_u (local.get $seat) (i32.const {people})) (then (unreachable)))
      (br_if $done (i32.lt_s (i32.load (i32.add (i32.const {seated}) (i32.shl (local.get $seat) (i32.const 2))))
        (i32.const 0)))
      (call $count_choice (local.get $row))
      (call $choose (call_indirect $bots (type $stretch) (i32.load (i32.const {state}))
        (i32.add (local.get $asked)
          (i32.mul (i32.const {stretches})
            (i32.load (i32.add (i32.const {seated}) (i32.shl (local.get $seat) (i32.const 2))))))))
      (br $next))))

;; Count a choice; trap if there are too many.
(func $count_choice (param $row i32)
  (i32.store offset=8 (local.get $row) (i32.add (i32.load offset=8 (local.get $row)) (i32.const 1)))
  (if (i32.gt_s (i32.load offset=8 (local.get $row)) (i32.load (i32.const {limit}))) (then (unreachable))))

;; Start a game with the seed of a row and run to the first decision of an outside player.
(func $fresh (param $game i32) (param $row i32)
  (i32.store offset=8 (local.get $row) (i32.const 0))
  (i32.store offset=12 (local.get $row) (i32.const 0))
  (call $streams_of (i64.load (local.get $row)))
  (call $begin (i64.load (local.get $row)))
  (call $bots_go_on (local.get $row))
  (if (i32.lt_s (i32.load (i32.const {asked})) (i32.const 0))
    (then (i32.store offset=12 (local.get $row) (i32.const 1)))))

;; Write the observation of a game: the seat, the decision, legal actions, the vector.
(func $look (param $game i32)
  (local $seat i32) (local $asked i32) (local $at i32)
  (local.set $at (i32.shl (local.get $game) (i32.const 2)))
  (call $clear (local.get $game))
  (local.set $asked (i32.load (i32.const {asked})))
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (if (i32.ge_s (local.get $asked) (i32.const 0))
    (then
      (local.set $seat (call_indirect $actor_of (type $stretch) (i32.load (i32.const {state})) (local.get $asked)))
      (i32.store (i32.add (i32.const {actors}) (local.get $at)) (local.get $seat))
      (drop (call $mark (local.get $game) (call $list) (i32.const -1))))
    (else
      (i32.store (i32.add (i32.const {actors}) (local.get $at)) (i32.const -1))
      (local.set $seat (i32.const 0))))
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (call $observe (local.get $seat) (i32.load (i32.add (i32.const {actors}) (local.get $at)))
    (i32.add (i32.const {vectors}) (i32.mul (local.get $game) (i32.const {vector_bytes})))))

;; Write the rewards of a finished game: by place, from 1 for the first to -1 for the last.
(func $reward (param $game i32)
  (local $seat i32) (local $other i32) (local $at i32) (local $sum i32) (local $mine i32) (local $place i32)
  (local $counting i32)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (loop $placed
    (i32.store (i32.add (i32.const {places}) (i32.shl (local.get $seat) (i32.const 2)))
      (call $place_of (local.get $seat)))
    (local.set $seat (i32.add (local.get $seat) (i32.const 1)))
    (br_if $placed (i32.lt_s (local.get $seat) (i32.const {seats}))))
  (local.set $seat (i32.const 0))
  (local.set $at (i32.add (i32.const {rewards})
    (i32.mul (local.get $game) (i32.shl (i32.const {seats}) (i32.const 2)))))
  (loop $seats
    (local.set $sum (i32.const 0))
    (local.set $counting (i32.const 0))
    (local.set $other (i32.const 0))
    (local.set $mine (i32.load (i32.add (i32.const {places}) (i32.shl (local.get $seat) (i32.const 2)))))
    (if (local.get $mine)
      (then
        (loop $others
          (local.set $place
            (i32.load (i32.add (i32.const {places}) (i32.shl (local.get $other) (i32.const 2)))))
          (if (i32.and (i32.ne (local.get $place) (i32.const 0)) (i32.ne (local.get $seat) (local.get $other)))
            (then
              (local.set $counting (i32.add (local.get $counting) (i32.const 1)))
              (local.set $sum (i32.add (local.get $sum)
                (i32.sub (i32.lt_s (local.get $mine) (local.get $place))
                  (i32.gt_s (local.get $mine) (local.get $place)))))))
          (local.set $other (i32.add (local.get $other) (i32.const 1)))
          (br_if $others (i32.lt_s (local.get $other) (i32.const {seats}))))))
    (f32.store (local.get $at) (f32.div (f32.convert_i32_s (local.get $sum))
      (f32.convert_i32_s (select (local.get $counting) (i32.const 1) (local.get $counting)))))
    (local.set $at (i32.add (local.get $at) (i32.const 4)))
    (local.set $seat (i32.add (local.get $seat) (i32.const 1)))
    (br_if $seats (i32.lt_s (local.get $seat) (i32.const {seats})))))

;; Finish a step: rewards and a new game if the game is over, then the observation.
(func $after (param $game i32) (param $row i32)
  (if (i32.lt_s (i32.load (i32.const {asked})) (i32.const 0))
    (then
      (call $reward (local.get $game))
      (i32.store8 (i32.add (i32.const {dones}) (local.get $game)) (i32.const 1))
      (if (i32.load (i32.const {again}))
        (then
          (i64.store (local.get $row) (i64.add (i64.load (local.get $row)) (i64.const {stepped})))
          (call $fresh (local.get $game) (local.get $row)))
        (else (i32.store offset=12 (local.get $row) (i32.const 1))))))
  (call $take_away (local.get $row))
  (call $look (local.get $game)))

;; First game whose action is illegal; -1 if there is none.
(func (export "batch_refused") (param $game i32) (param $end i32) (result i32)
  (local $action i32)
  (block $done
    (loop $next
      (br_if $done (i32.ge_s (local.get $game) (local.get $end)))
      (if (i32.eqz (i32.load offset=12 (call $row_of (local.get $game))))
        (then
          (local.set $action (i32.load (i32.add (i32.const {actions}) (i32.shl (local.get $game) (i32.const 2)))))
          (if (i32.ge_u (local.get $action) (i32.const {mask_bytes})) (then (return (local.get $game))))
          (if (i32.eqz (i32.load8_u (i32.add (i32.const {mask})
                (i32.add (i32.mul (local.get $game) (i32.const {mask_bytes})) (local.get $action)))))
            (then (return (local.get $game))))))
      (local.set $game (i32.add (local.get $game) (i32.const 1)))
      (br $next)))
  (i32.const -1))

;; Apply the actions of these games. The current game's number is stored at `cursor` in case the module traps.
(func (export "batch_step") (param $game i32) (param $end i32)
  (local $row i32) (local $option i32)
  (block $done
    (loop $next
      (br_if $done (i32.ge_s (local.get $game) (local.get $end)))
      (i32.store (i32.const {cursor}) (local.get $game))
      (local.set $row (call $row_of (local.get $game)))
      (call $no_reward (local.get $game))
      (if (i32.eqz (i32.load offset=12 (local.get $row)))
        (then
          (call $bring (local.get $row))
          (local.set $option (call $spelt
            (i32.load (i32.add (i32.const {actions}) (i32.shl (local.get $game) (i32.const 2))))))
          (if (i32.eqz (local.get $option))
            (then
              (call $clear (local.get $game))
              (local.set $option (call $mark (local.get $game) (call $list)
                (i32.load (i32.add (i32.const {actions}) (i32.shl (local.get $game) (i32.const 2))))))
              (if (i32.eqz (local.get $option)) (then (unreachable)))))
          (call $count_choice (local.get $row))
          (call $choose (local.get $option))
          (call $bots_go_on (local.get $row))
          (call $after (local.get $game) (local.get $row))))
      (local.set $game (i32.add (local.get $game) (i32.const 1)))
      (br $next))))

(func $no_reward (param $game i32)
  (i32.store8 (i32.add (i32.const {dones}) (local.get $game)) (i32.const 0))
  (memory.fill (i32.add (i32.const {rewards}) (i32.mul (local.get $game) (i32.shl (i32.const {seats}) (i32.const 2))))
    (i32.const 0) (i32.shl (i32.const {seats}) (i32.const 2))))

;; Start games with the seeds in the rows.
(func (export "batch_begin") (param $game i32) (param $end i32)
  (block $done
    (loop $next
      (br_if $done (i32.ge_s (local.get $game) (local.get $end)))
      (i32.store (i32.const {cursor}) (local.get $game))
      (call $no_reward (local.get $game))
      (call $fresh (local.get $game) (call $row_of (local.get $game)))
      (call $take_away (call $row_of (local.get $game)))
      (call $look (local.get $game))
      (local.set $game (i32.add (local.get $game) (i32.const 1)))
      (br $next))))

;; Continue a game whose state has been written to memory after a choice in the plain form.
(func (export "batch_resume") (param $game i32)
  (i32.store (i32.const {cursor}) (local.get $game))
  (call $forget)
  (memory.copy (i32.const {streams}) (i32.add (call $row_of (local.get $game)) (i32.const {head}))
    (i32.const {streams_bytes}))
  (call $bots_go_on (call $row_of (local.get $game)))
  (call $after (local.get $game) (call $row_of (local.get $game))))

;; Write the observation of a seat to an address.
(func (export "batch_observe") (param $game i32) (param $seat i32) (param $into i32)
  (call $bring (call $row_of (local.get $game)))
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (call $observe (local.get $seat) (i32.load (i32.add (i32.const {actors}) (i32.shl (local.get $game) (i32.const 2))))
    (local.get $into)))
