;; Effects on the state: cards, tokens and pieces move, zones are shuffled, cells are set. They do what
;; `interpreter/kernel/effects.py` does. The module around them defines
;;
;;   $memory         memory of 32-bit words, little endian
;;   $holders        address of the table of cells, 8 words a cell
;;   $location       address of one word a card: cell of the zone where it lies; $location_cell: cell of the first word
;;   $piece          address of one word a place: the piece there, -1 for none; $piece_cell: cell of the first word
;;   $pending        address of two words: pending watches
;;   $seed           address of two words: seed of the game
;;   $arena          mutable global: address of the first free word of the arena
;;   $alloc, $copy_list, $drawn, $end_of, $equal_lists, $find, $shuffled, $word: functions of the runtime
;;   $rank           key of a card in a zone ordered by a rule; it leaves nothing in the arena
;;   $touched        hook for each cell that changed: invalidates memoised results
;;   $touched_piece  the same for the cell of a place, with the piece that entered or left
;;
;; The words of a cell in the table:
;;
;;   0     address of the contents of the cell
;;   1     zone: order, 0 kept, 1 free, 2 by rank
;;   2     zone: 1 if it holds piles
;;   3     zone: capacity, in cards or piles
;;   4, 5  watches that a change wakes
;;   6     zone of piles: words of one pile; pool or track: 1 if unlimited
;;   7     track: address of a bag, its capacity for each kind; 0 for others
;;
;; A list is a word n and n items of one word. A zone is a list of cards. A zone of piles is a word n and n piles, each
;; a list of cards, the top one first, in a fixed number of words (word 6). A pool, track or stock is one word, or one
;; for each kind.
;;
;; A function traps where the plain form refuses, and if something does not fit. The state is then half changed: the
;; caller returns to the last choice and runs the plain form. Functions release their scratch memory.


;; Cells.

;; Address of a cell's row in the table.
(func $holder (param $cell i32) (result i32)
  (i32.add (global.get $holders) (i32.shl (local.get $cell) (i32.const 5))))

;; Wake the watches that read a cell, which has changed.
(func $wake (param $cell i32)
  (i64.store align=4 (global.get $pending)
    (i64.or (i64.load align=4 (global.get $pending))
            (i64.load offset=16 align=4 (i32.add (global.get $holders) (i32.shl (local.get $cell) (i32.const 5))))))
  (call $touched (local.get $cell)))

;; Wake the watches that read the cell of a place, which a piece entered or left.
(func $wake_place (param $cell i32) (param $piece i32)
  (i64.store align=4 (global.get $pending)
    (i64.or (i64.load align=4 (global.get $pending))
            (i64.load offset=16 align=4 (call $holder (local.get $cell)))))
  (call $touched_piece (local.get $cell) (local.get $piece)))

;; Set a cell of one word.
(func $put (param $cell i32) (param $word i32)
  (local $at i32)
  (local.set $at (i32.load (call $holder (local.get $cell))))
  (if (i32.eq (i32.load (local.get $at)) (local.get $word)) (then (return)))
  (i32.store (local.get $at) (local.get $word))
  (call $wake (local.get $cell)))


;; Lists of cards, in the state or in the arena.

;; Remove a card from a list; traps if it is missing.
(func $remove_card (param $list i32) (param $card i32)
  (local $at i32)
  (local.set $at (call $find (local.get $list) (local.get $card)))
  (if (i32.eqz (local.get $at)) (then (unreachable)))
  (memory.copy (local.get $at) (i32.add (local.get $at) (i32.const 4))
               (i32.sub (i32.sub (call $end_of (local.get $list)) (local.get $at)) (i32.const 4)))
  (i32.store (local.get $list) (i32.sub (i32.load (local.get $list)) (i32.const 1))))

;; Insert a card into the list of a zone according to the zone's order.
(func $add_card (param $zone i32) (param $list i32) (param $card i32) (param $where i32)
  (local $holder i32) (local $order i32) (local $at i32) (local $end i32)
  (local.set $holder (call $holder (local.get $zone)))
  (local.set $order (i32.load offset=4 (local.get $holder)))
  (if (i32.ge_u (i32.load (local.get $list)) (i32.load offset=12 (local.get $holder))) (then (unreachable)))
  (local.set $end (call $end_of (local.get $list)))
  (local.set $at (local.get $end))
  (if (i32.eq (local.get $order) (i32.const 2))
    (then (local.set $at (call $ranked_place (local.get $zone) (local.get $list) (local.get $card))))
    (else
      (if (i32.and (i32.eqz (local.get $order)) (i32.eq (local.get $where) (i32.const 1)))
        (then (local.set $at (i32.add (local.get $list) (i32.const 4)))))))
  (memory.copy (i32.add (local.get $at) (i32.const 4)) (local.get $at) (i32.sub (local.get $end) (local.get $at)))
  (i32.store (local.get $at) (local.get $card))
  (i32.store (local.get $list) (i32.add (i32.load (local.get $list)) (i32.const 1)))
  (if (i32.eq (local.get $order) (i32.const 1)) (then (call $sort_cards (local.get $list)))))

;; Sort a list by card number: insertion sort, one pass if only the last card is out of order.
(func $sort_cards (param $list i32)
  (local $at i32) (local $end i32) (local $to i32) (local $card i32) (local $last i32)
  (local.set $at (i32.add (local.get $list) (i32.const 4)))
  (local.set $end (call $end_of (local.get $list)))
  (local.set $last (i32.const -1))
  (until $done (i32.eq (local.get $at) (local.get $end))
    (local.set $card (i32.load (local.get $at)))
    (if (i32.lt_s (local.get $card) (local.get $last))
      (then
        (local.set $to (local.get $at))
        (block $found
          (loop $back
            (i32.store (local.get $to) (i32.load (i32.sub (local.get $to) (i32.const 4))))
            (local.set $to (i32.sub (local.get $to) (i32.const 4)))
            (br_if $found (i32.eq (local.get $to) (i32.add (local.get $list) (i32.const 4))))
            (br_if $back (i32.gt_s (i32.load (i32.sub (local.get $to) (i32.const 4))) (local.get $card)))))
        (i32.store (local.get $to) (local.get $card)))
      (else (local.set $last (local.get $card))))
    (local.set $at (i32.add (local.get $at) (i32.const 4)))))

;; True if a card precedes another by rank.
(func $precedes (param $rank i64) (param $card i32) (param $other_rank i64) (param $other i32) (result i32)
  (i32.or (i64.lt_s (local.get $rank) (local.get $other_rank))
          (i32.and (i64.eq (local.get $rank) (local.get $other_rank))
                   (i32.lt_s (local.get $card) (local.get $other)))))

;; Insertion point of a card in a list sorted by rank: binary search, behind equal ranks.
(func $ranked_place (param $zone i32) (param $list i32) (param $card i32) (result i32)
  (local $low i32) (local $high i32) (local $middle i32) (local $other i32) (local $rank i64)
  (local.set $rank (call $rank (local.get $zone) (local.get $card)))
  (local.set $list (i32.add (local.get $list) (i32.const 4)))
  (local.set $high (i32.load (i32.sub (local.get $list) (i32.const 4))))
  (until $done (i32.ge_u (local.get $low) (local.get $high))
    (local.set $middle (i32.shr_u (i32.add (local.get $low) (local.get $high)) (i32.const 1)))
    (local.set $other (i32.load (i32.add (local.get $list) (i32.shl (local.get $middle) (i32.const 2)))))
    (if (call $precedes (local.get $rank) (local.get $card)
                        (call $rank (local.get $zone) (local.get $other)) (local.get $other))
      (then (local.set $high (local.get $middle)))
      (else (local.set $low (i32.add (local.get $middle) (i32.const 1))))))
  (i32.add (local.get $list) (i32.shl (local.get $low) (i32.const 2))))

;; Sort n items by rank: insertion sort. An item has `bytes` bytes, and its card is at offset `top`.
(func $sort_by_rank (param $zone i32) (param $list i32) (param $bytes i32) (param $top i32)
  (local $n i32) (local $ranks i32) (local $spare i32) (local $i i32) (local $j i32)
  (local $item i32) (local $to i32) (local $at i32) (local $rank i64)
  (local.set $n (i32.load (local.get $list)))
  (local.set $list (i32.add (local.get $list) (i32.const 4)))
  (local.set $ranks (call $alloc (i32.add (i32.shl (local.get $n) (i32.const 1))
                                          (i32.shr_u (local.get $bytes) (i32.const 2)))))
  (local.set $spare (i32.add (local.get $ranks) (i32.shl (local.get $n) (i32.const 3))))
  (until $done (i32.eq (local.get $i) (local.get $n))
    (local.set $item (i32.add (local.get $list) (i32.mul (local.get $i) (local.get $bytes))))
    (local.set $rank (call $rank (local.get $zone) (i32.load (i32.add (local.get $item) (local.get $top)))))
    ;; The items before this one are sorted: go back to its insertion point.
    (local.set $j (local.get $i))
    (local.set $to (local.get $item))
    (local.set $at (i32.add (local.get $ranks) (i32.shl (local.get $i) (i32.const 3))))
    (until $found (i32.eqz (local.get $j))
      (br_if $found
        (i32.eqz (call $precedes
          (local.get $rank) (i32.load (i32.add (local.get $item) (local.get $top)))
          (i64.load align=4 (i32.sub (local.get $at) (i32.const 8)))
          (i32.load (i32.add (i32.sub (local.get $to) (local.get $bytes)) (local.get $top))))))
      (local.set $j (i32.sub (local.get $j) (i32.const 1)))
      (local.set $to (i32.sub (local.get $to) (local.get $bytes)))
      (local.set $at (i32.sub (local.get $at) (i32.const 8)))
      (i64.store offset=8 align=4 (local.get $at) (i64.load align=4 (local.get $at))))
    (i64.store align=4 (local.get $at) (local.get $rank))
    (if (i32.ne (local.get $to) (local.get $item))
      (then
        (memory.copy (local.get $spare) (local.get $item) (local.get $bytes))
        (memory.copy (i32.add (local.get $to) (local.get $bytes)) (local.get $to)
                     (i32.sub (local.get $item) (local.get $to)))
        (memory.copy (local.get $to) (local.get $spare) (local.get $bytes))))
    (local.set $i (i32.add (local.get $i) (i32.const 1)))))


;; Moves of cards. A zone is given by its cell; `where` is 0 in, 1 top, 2 bottom, 3 new pile.

;; Address of the word with the zone of a card.
(func $location_of (param $card i32) (result i32)
  (i32.add (global.get $location) (i32.shl (local.get $card) (i32.const 2))))

;; Move cards to a zone in their order. In a zone of piles each card becomes a pile, unless they form a new one.
(func $move_cards (param $cards i32) (param $zone i32) (param $where i32)
  (local $n i32) (local $i i32) (local $scratch i32)
  (local.set $n (i32.load (local.get $cards)))
  (if (i32.and (i32.eq (local.get $n) (i32.const 1)) (i32.ne (local.get $where) (i32.const 3)))
    (then (call $move_card (i32.load offset=4 (local.get $cards)) (local.get $zone) (local.get $where))
          (return)))
  (if (i32.eqz (local.get $n)) (then (return)))
  (local.set $scratch (global.get $arena))
  (local.set $cards (call $copy_list (local.get $cards)))
  (block $moved
    (if (i32.eq (local.get $where) (i32.const 3))
      (then (call $lay_pile (local.get $cards) (local.get $zone))
            (br $moved)))
    (br_if $moved (call $move_together (local.get $cards) (local.get $zone) (local.get $where)))
    (loop $next
      (call $move_card
        (i32.load offset=4 (i32.add (local.get $cards)
          (i32.shl (select (i32.sub (i32.sub (local.get $n) (local.get $i)) (i32.const 1)) (local.get $i)
                           (i32.eq (local.get $where) (i32.const 1)))
                   (i32.const 2))))
        (local.get $zone) (local.get $where))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.ne (local.get $i) (local.get $n)))))
  (global.set $arena (local.get $scratch)))

;; Move one card to a zone.
(func $move_card (param $card i32) (param $zone i32) (param $where i32)
  (local $source i32) (local $holder i32) (local $from i32) (local $scratch i32) (local $cards i32) (local $drafts i32)
  (local.set $source (i32.load (call $location_of (local.get $card))))
  (local.set $holder (call $holder (local.get $zone)))
  (local.set $from (call $holder (local.get $source)))
  (if (i32.eqz (i32.or (i32.eq (local.get $source) (local.get $zone))
                       (i32.or (i32.load offset=8 (local.get $holder)) (i32.load offset=8 (local.get $from)))))
    (then
      ;; Ranks are evaluated before the move, so the card is inserted first and then removed from its old zone.
      (call $add_card (local.get $zone) (i32.load (local.get $holder)) (local.get $card) (local.get $where))
      (call $remove_card (i32.load (local.get $from)) (local.get $card))
      (i32.store (call $location_of (local.get $card)) (local.get $zone))
      (call $wake (local.get $source))
      (call $wake (local.get $zone))
      (call $wake (i32.add (global.get $location_cell) (local.get $card)))
      (return)))
  (local.set $scratch (global.get $arena))
  (local.set $cards (call $alloc (i32.const 2)))
  (i32.store (local.get $cards) (i32.const 1))
  (i32.store offset=4 (local.get $cards) (local.get $card))
  (if (i32.load offset=8 (local.get $holder))
    (then (call $lay_pile (local.get $cards) (local.get $zone)))
    (else
      (local.set $drafts (call $drafts_without (local.get $cards)))
      (call $add_card (local.get $zone) (call $draft (local.get $drafts) (local.get $zone)) (local.get $card)
                      (local.get $where))
      (call $lie (local.get $drafts) (local.get $cards) (local.get $zone))))
  (global.set $arena (local.get $scratch)))

;; Move different cards of one zone to another at once, and return 1. Return 0 without a move if cards repeat, are in
;; different zones or in the target, or if a zone has piles.
(func $move_together (param $cards i32) (param $zone i32) (param $where i32) (result i32)
  (local $source i32) (local $n i32) (local $holder i32) (local $from i32) (local $there i32) (local $many i32)
  (local $fresh i32) (local $at i32) (local $end i32) (local $to i32) (local $first i32)
  (local.set $source (i32.load (call $location_of (i32.load offset=4 (local.get $cards)))))
  (local.set $holder (call $holder (local.get $zone)))
  (local.set $from (call $holder (local.get $source)))
  (if (i32.or (i32.eq (local.get $source) (local.get $zone))
              (i32.or (i32.load offset=8 (local.get $holder)) (i32.load offset=8 (local.get $from))))
    (then (return (i32.const 0))))
  (if (i32.eqz (call $come_from (local.get $cards) (local.get $source))) (then (return (i32.const 0))))
  ;; Build the new list in the arena: ranks are evaluated before the move.
  (local.set $n (i32.load (local.get $cards)))
  (local.set $there (i32.load (local.get $holder)))
  (local.set $many (i32.add (local.get $n) (i32.load (local.get $there))))
  (if (i32.gt_u (local.get $many) (i32.load offset=12 (local.get $holder))) (then (unreachable)))
  (local.set $fresh (call $alloc (i32.add (local.get $many) (i32.const 1))))
  (i32.store (local.get $fresh) (local.get $many))
  (local.set $first (i32.and (i32.eqz (i32.load offset=4 (local.get $holder)))
                             (i32.eq (local.get $where) (i32.const 1))))
  (local.set $to (i32.add (local.get $fresh) (i32.const 4)))
  (local.set $to (call $append (local.get $to) (select (local.get $cards) (local.get $there) (local.get $first))))
  (drop (call $append (local.get $to) (select (local.get $there) (local.get $cards) (local.get $first))))
  (if (i32.eq (i32.load offset=4 (local.get $holder)) (i32.const 1)) (then (call $sort_cards (local.get $fresh))))
  (if (i32.eq (i32.load offset=4 (local.get $holder)) (i32.const 2))
    (then (call $sort_by_rank (local.get $zone) (local.get $fresh) (i32.const 4) (i32.const 0))))
  (memory.copy (local.get $there) (local.get $fresh) (i32.shl (i32.add (local.get $many) (i32.const 1)) (i32.const 2)))
  (local.set $at (i32.add (local.get $cards) (i32.const 4)))
  (local.set $end (call $end_of (local.get $cards)))
  (loop $next
    (i32.store (call $location_of (i32.load (local.get $at))) (local.get $zone))
    (call $wake (i32.add (global.get $location_cell) (i32.load (local.get $at))))
    (local.set $at (i32.add (local.get $at) (i32.const 4)))
    (br_if $next (i32.ne (local.get $at) (local.get $end))))
  (call $keep_own (local.get $source) (i32.load (local.get $from)))
  (call $wake (local.get $source))
  (call $wake (local.get $zone))
  (i32.const 1))

;; True if all cards are different and in one zone.
(func $come_from (param $cards i32) (param $zone i32) (result i32)
  (local $at i32) (local $end i32) (local $place i32)
  (local.set $at (i32.add (local.get $cards) (i32.const 4)))
  (local.set $end (call $end_of (local.get $cards)))
  (until $other (i32.eq (local.get $at) (local.get $end))
    (local.set $place (call $location_of (i32.load (local.get $at))))
    (br_if $other (i32.ne (i32.load (local.get $place)) (local.get $zone)))
    (i32.store (local.get $place) (i32.const -1))  ;; seen
    (local.set $at (i32.add (local.get $at) (i32.const 4))))
  (local.set $place (i32.eq (local.get $at) (local.get $end)))
  (block $done
    (loop $back
      (local.set $at (i32.sub (local.get $at) (i32.const 4)))
      (br_if $done (i32.eq (local.get $at) (local.get $cards)))
      (i32.store (call $location_of (i32.load (local.get $at))) (local.get $zone))
      (br $back)))
  (local.get $place))

;; Remove the cards from a zone's list that are now in another zone.
(func $keep_own (param $zone i32) (param $list i32)
  (local $at i32) (local $end i32) (local $to i32)
  (local.set $at (i32.add (local.get $list) (i32.const 4)))
  (local.set $to (local.get $at))
  (local.set $end (call $end_of (local.get $list)))
  (loop $next
    (i32.store (local.get $to) (i32.load (local.get $at)))
    (if (i32.eq (i32.load (call $location_of (i32.load (local.get $at)))) (local.get $zone))
      (then (local.set $to (i32.add (local.get $to) (i32.const 4)))))
    (local.set $at (i32.add (local.get $at) (i32.const 4)))
    (br_if $next (i32.ne (local.get $at) (local.get $end))))
  (i32.store (local.get $list)
             (i32.sub (i32.shr_u (i32.sub (local.get $to) (local.get $list)) (i32.const 2)) (i32.const 1))))

;; Copy the items of a list to an address; return the address after them.
(func $append (param $to i32) (param $list i32) (result i32)
  (memory.copy (local.get $to) (i32.add (local.get $list) (i32.const 4))
               (i32.shl (i32.load (local.get $list)) (i32.const 2)))
  (i32.add (local.get $to) (i32.shl (i32.load (local.get $list)) (i32.const 2))))

;; Add cards to a zone as a new last pile.
(func $lay_pile (param $cards i32) (param $zone i32)
  (local $drafts i32) (local $holder i32) (local $piles i32) (local $pile i32)
  (local.set $holder (call $holder (local.get $zone)))
  (if (i32.eqz (i32.load offset=8 (local.get $holder))) (then (unreachable)))
  (local.set $drafts (call $drafts_without (local.get $cards)))
  (local.set $piles (call $draft (local.get $drafts) (local.get $zone)))
  (if (i32.ge_u (i32.load (local.get $piles)) (i32.load offset=12 (local.get $holder))) (then (unreachable)))
  (local.set $pile (i32.add (local.get $piles) (call $zone_bytes (local.get $holder) (local.get $piles))))
  (i32.store (local.get $pile) (i32.const 0))
  (i32.store (local.get $piles) (i32.add (i32.load (local.get $piles)) (i32.const 1)))
  (call $add_to_pile (local.get $cards) (local.get $pile) (i32.load offset=24 (local.get $holder)) (i32.const 2))
  (call $lie (local.get $drafts) (local.get $cards) (local.get $zone)))

;; Move cards to the top or bottom of a pile in their order. Nothing moves if no other card of the pile remains.
(func $move_to_pile (param $cards i32) (param $pile i32) (param $where i32)
  (local $zone i32) (local $holder i32) (local $at i32) (local $end i32) (local $drafts i32) (local $scratch i32)
  (if (i32.eqz (i32.load (local.get $pile))) (then (unreachable)))
  (local.set $zone (i32.load (call $location_of (i32.load offset=4 (local.get $pile)))))
  (local.set $holder (call $holder (local.get $zone)))
  (if (i32.eqz (i32.load offset=8 (local.get $holder))) (then (unreachable)))
  (local.set $scratch (global.get $arena))
  (local.set $cards (call $copy_list (local.get $cards)))
  (local.set $at (local.get $pile))
  (local.set $end (i32.sub (call $end_of (local.get $pile)) (i32.const 4)))
  (block $none
    (loop $next
      (br_if $none (i32.eq (local.get $at) (local.get $end)))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $next (call $find (local.get $cards) (i32.load (local.get $at)))))
    (local.set $drafts (call $drafts_without (local.get $cards)))
    (call $add_to_pile
      (local.get $cards)
      (call $list_with (local.get $holder) (call $draft (local.get $drafts) (local.get $zone))
                       (i32.load (local.get $at)))
      (i32.load offset=24 (local.get $holder)) (local.get $where))
    (call $lie (local.get $drafts) (local.get $cards) (local.get $zone)))
  (global.set $arena (local.get $scratch)))

;; Add cards to a pile with room for `words` words: at the bottom if `where` is 2, else at the top.
(func $add_to_pile (param $cards i32) (param $pile i32) (param $words i32) (param $where i32)
  (local $n i32) (local $held i32)
  (local.set $n (i32.load (local.get $cards)))
  (local.set $held (i32.load (local.get $pile)))
  (if (i32.ge_u (i32.add (local.get $n) (local.get $held)) (local.get $words)) (then (unreachable)))
  (if (i32.eq (local.get $where) (i32.const 2))
    (then (drop (call $append (call $end_of (local.get $pile)) (local.get $cards))))
    (else
      (memory.copy
        (i32.add (i32.add (local.get $pile) (i32.const 4)) (i32.shl (local.get $n) (i32.const 2)))
        (i32.add (local.get $pile) (i32.const 4)) (i32.shl (local.get $held) (i32.const 2)))
      (drop (call $append (i32.add (local.get $pile) (i32.const 4)) (local.get $cards)))))
  (i32.store (local.get $pile) (i32.add (local.get $n) (local.get $held))))

;; Address of the list that has a card among the contents of a zone: the whole, or a pile. Traps if there is none.
(func $list_with (param $holder i32) (param $held i32) (param $card i32) (result i32)
  (local $at i32) (local $left i32)
  (if (i32.eqz (i32.load offset=8 (local.get $holder))) (then (return (local.get $held))))
  (local.set $left (i32.load (local.get $held)))
  (local.set $at (i32.add (local.get $held) (i32.const 4)))
  (loop $next
    (if (i32.eqz (local.get $left)) (then (unreachable)))
    (if (call $find (local.get $at) (local.get $card)) (then (return (local.get $at))))
    (local.set $at (i32.add (local.get $at) (call $item_bytes (local.get $holder))))
    (local.set $left (i32.sub (local.get $left) (i32.const 1)))
    (br $next))
  (unreachable))


;; Drafts: new contents of zones, built in the arena before the state changes. A draft is the address of the next one,
;; or 0, the cell of its zone, and the new contents, with room for one more card or pile. The chain starts with one
;; word: the address of the first draft.

;; Size of a card, or of a pile, of a zone in bytes.
(func $item_bytes (param $holder i32) (result i32)
  (select (i32.shl (i32.load offset=24 (local.get $holder)) (i32.const 2)) (i32.const 4)
          (i32.load offset=8 (local.get $holder))))

;; Size of a zone's contents in bytes, at its own address or in a draft.
(func $zone_bytes (param $holder i32) (param $held i32) (result i32)
  (i32.add (i32.const 4) (i32.mul (i32.load (local.get $held)) (call $item_bytes (local.get $holder)))))

;; Address of a zone's contents in its draft, which is made if there is none.
(func $draft (param $draft i32) (param $zone i32) (result i32)
  (local $next i32) (local $holder i32) (local $held i32) (local $bytes i32)
  (loop $further
    (local.set $next (i32.load (local.get $draft)))
    (if (local.get $next)
      (then
        (local.set $draft (local.get $next))
        (br_if $further (i32.ne (i32.load offset=4 (local.get $draft)) (local.get $zone)))
        (return (i32.add (local.get $draft) (i32.const 8))))))
  (local.set $holder (call $holder (local.get $zone)))
  (local.set $held (i32.load (local.get $holder)))
  (local.set $bytes (call $zone_bytes (local.get $holder) (local.get $held)))
  (local.set $next
    (call $alloc (i32.shr_u (i32.add (i32.add (local.get $bytes) (call $item_bytes (local.get $holder))) (i32.const 8))
                            (i32.const 2))))
  (i32.store (local.get $draft) (local.get $next))
  (i32.store (local.get $next) (i32.const 0))
  (i32.store offset=4 (local.get $next) (local.get $zone))
  (local.set $next (i32.add (local.get $next) (i32.const 8)))
  (memory.copy (local.get $next) (local.get $held) (local.get $bytes))
  (local.get $next))

;; Drafts of the zones of the cards, without these cards. Empty piles are removed.
(func $drafts_without (param $cards i32) (result i32)
  (local $drafts i32) (local $at i32) (local $end i32) (local $held i32) (local $holder i32) (local $list i32)
  (local $next i32) (local $zone i32)
  (local.set $drafts (call $alloc (i32.const 1)))
  (i32.store (local.get $drafts) (i32.const 0))
  (each $at $end (local.get $cards)
    (local.set $zone (i32.load (call $location_of (i32.load (local.get $at)))))
    (local.set $holder (call $holder (local.get $zone)))
    (local.set $held (call $draft (local.get $drafts) (local.get $zone)))
    (local.set $list (call $list_with (local.get $holder) (local.get $held) (i32.load (local.get $at))))
    (call $remove_card (local.get $list) (i32.load (local.get $at)))
    (if (i32.eqz (i32.or (i32.eq (local.get $list) (local.get $held)) (i32.load (local.get $list))))
      (then  ;; the last card of a pile
        (local.set $next (i32.add (local.get $list) (call $item_bytes (local.get $holder))))
        (memory.copy (local.get $list) (local.get $next)
                     (i32.sub (i32.add (local.get $held) (call $zone_bytes (local.get $holder) (local.get $held)))
                              (local.get $next)))
        (i32.store (local.get $held) (i32.sub (i32.load (local.get $held)) (i32.const 1))))))
  (local.get $drafts))

;; Commit drafts, and move cards to a zone. Piles are sorted by their top cards if the zone is ordered by rank.
;; Unchanged zones wake nothing.
(func $lie (param $drafts i32) (param $cards i32) (param $zone i32)
  (local $draft i32) (local $holder i32) (local $at i32) (local $end i32) (local $place i32)
  (local.set $draft (local.get $drafts))
  (until $sorted (i32.eqz (local.tee $draft (i32.load (local.get $draft))))
    (local.set $holder (call $holder (i32.load offset=4 (local.get $draft))))
    (if (i32.and (i32.load offset=8 (local.get $holder))
                 (i32.eq (i32.load offset=4 (local.get $holder)) (i32.const 2)))
      (then (call $sort_by_rank
        (i32.load offset=4 (local.get $draft)) (i32.add (local.get $draft) (i32.const 8))
        (call $item_bytes (local.get $holder)) (i32.const 4)))))
  (local.set $draft (local.get $drafts))
  (until $held (i32.eqz (local.tee $draft (i32.load (local.get $draft))))
    (call $hold (i32.load offset=4 (local.get $draft)) (i32.add (local.get $draft) (i32.const 8))))
  (each $at $end (local.get $cards)
    (local.set $place (call $location_of (i32.load (local.get $at))))
    (if (i32.ne (i32.load (local.get $place)) (local.get $zone))
      (then (i32.store (local.get $place) (local.get $zone))
            (call $wake (i32.add (global.get $location_cell) (i32.load (local.get $at))))))))

;; Copy a draft to its zone and wake watches, unless the contents are equal.
(func $hold (param $zone i32) (param $fresh i32)
  (local $holder i32)
  (local.set $holder (call $holder (local.get $zone)))
  (if (call $same_held (local.get $holder) (local.get $fresh)) (then (return)))
  (memory.copy (i32.load (local.get $holder)) (local.get $fresh)
               (call $zone_bytes (local.get $holder) (local.get $fresh)))
  (call $wake (local.get $zone)))

;; True if a zone has these contents already. Words behind the last card of a pile are ignored.
(func $same_held (param $holder i32) (param $fresh i32) (result i32)
  (local $held i32) (local $left i32) (local $bytes i32)
  (local.set $held (i32.load (local.get $holder)))
  (if (i32.eqz (i32.load offset=8 (local.get $holder)))
    (then (return (call $equal_lists (local.get $held) (local.get $fresh)))))
  (local.set $left (i32.load (local.get $held)))
  (if (i32.ne (local.get $left) (i32.load (local.get $fresh))) (then (return (i32.const 0))))
  (local.set $held (i32.add (local.get $held) (i32.const 4)))
  (local.set $fresh (i32.add (local.get $fresh) (i32.const 4)))
  (local.set $bytes (call $item_bytes (local.get $holder)))
  (until $done (i32.eqz (local.get $left))
    (if (i32.eqz (call $equal_lists (local.get $held) (local.get $fresh))) (then (return (i32.const 0))))
    (local.set $held (i32.add (local.get $held) (local.get $bytes)))
    (local.set $fresh (i32.add (local.get $fresh) (local.get $bytes)))
    (local.set $left (i32.sub (local.get $left) (i32.const 1))))
  (i32.const 1))


;; Tokens and pieces.

;; Move an amount of one kind from one word to another. `room` is the address of the target's capacity, or 0.
(func $transfer (param $amount i64) (param $from i32) (param $to i32) (param $unlimited i32) (param $room i32)
  (local $left i64) (local $more i64)
  (local.set $left (i64.sub (i64.load32_s (local.get $from)) (local.get $amount)))
  (local.set $more (i64.add (i64.load32_s (local.get $to)) (local.get $amount)))
  (if (i64.lt_s (local.get $amount) (i64.const 0)) (then (unreachable)))
  (if (i32.and (i64.lt_s (local.get $left) (i64.const 0)) (i32.eqz (local.get $unlimited))) (then (unreachable)))
  (if (local.get $room)
    (then (if (i64.gt_s (local.get $more) (i64.load32_s (local.get $room))) (then (unreachable)))))
  (i32.store (local.get $from) (call $word (local.get $left)))
  (i32.store (local.get $to) (call $word (local.get $more))))

;; Move an amount of tokens without kinds, or of pieces between stocks.
(func $move_units (param $amount i64) (param $source i32) (param $target i32)
  (local $from i32) (local $to i32)
  (if (i32.eq (local.get $source) (local.get $target)) (then (return)))
  (local.set $from (call $holder (local.get $source)))
  (local.set $to (call $holder (local.get $target)))
  (call $transfer (local.get $amount) (i32.load (local.get $from)) (i32.load (local.get $to))
                  (i32.load offset=24 (local.get $from)) (i32.load offset=28 (local.get $to)))
  (if (i64.eqz (local.get $amount)) (then (return)))
  (call $wake (local.get $source))
  (call $wake (local.get $target)))

;; Move a bag of a token with k kinds. The bag may be the contents of the source or target: each count is read before it
;; changes.
(func $move_bag (param $amount i32) (param $source i32) (param $target i32) (param $k i32)
  (local $from i32) (local $to i32) (local $room i32) (local $step i32) (local $unlimited i32) (local $end i32)
  (local $count i64) (local $any i64)
  (if (i32.eq (local.get $source) (local.get $target)) (then (return)))
  (local.set $unlimited (i32.load offset=24 (call $holder (local.get $source))))
  (local.set $room (i32.load offset=28 (call $holder (local.get $target))))
  (local.set $step (select (i32.const 4) (i32.const 0) (local.get $room)))
  (local.set $from (i32.load (call $holder (local.get $source))))
  (local.set $to (i32.load (call $holder (local.get $target))))
  (local.set $end (i32.add (local.get $amount) (i32.shl (local.get $k) (i32.const 2))))
  (until $done (i32.eq (local.get $amount) (local.get $end))
    (local.set $count (i64.load32_s (local.get $amount)))
    (local.set $any (i64.or (local.get $any) (local.get $count)))
    (if (i64.ne (local.get $count) (i64.const 0))
      (then (call $transfer (local.get $count) (local.get $from) (local.get $to) (local.get $unlimited)
                            (local.get $room))))
    (local.set $amount (i32.add (local.get $amount) (i32.const 4)))
    (local.set $from (i32.add (local.get $from) (i32.const 4)))
    (local.set $to (i32.add (local.get $to) (i32.const 4)))
    (local.set $room (i32.add (local.get $room) (local.get $step))))
  (if (i64.eqz (local.get $any)) (then (return)))
  (call $wake (local.get $source))
  (call $wake (local.get $target)))

;; Move a number of tokens of one kind between pools or tracks with k kinds.
(func $move_kind (param $count i64) (param $kind i32) (param $source i32) (param $target i32) (param $k i32)
  (local $room i32)
  (if (i32.ge_u (local.get $kind) (local.get $k)) (then (unreachable)))
  (if (i32.or (i32.eq (local.get $source) (local.get $target)) (i64.eqz (local.get $count))) (then (return)))
  (local.set $kind (i32.shl (local.get $kind) (i32.const 2)))
  (local.set $room (i32.load offset=28 (call $holder (local.get $target))))
  (if (local.get $room) (then (local.set $room (i32.add (local.get $room) (local.get $kind)))))
  (call $transfer (i64.extend_i32_s (call $word (local.get $count)))
                  (i32.add (i32.load (call $holder (local.get $source))) (local.get $kind))
                  (i32.add (i32.load (call $holder (local.get $target))) (local.get $kind))
                  (i32.load offset=24 (call $holder (local.get $source)))
                  (local.get $room))
  (call $wake (local.get $source))
  (call $wake (local.get $target)))

;; Move all units of a pool, track or stock.
(func $move_all_units (param $source i32) (param $target i32)
  (call $move_units (i64.load32_s (i32.load (call $holder (local.get $source)))) (local.get $source)
                    (local.get $target)))

;; Move all tokens of a pool or track with k kinds.
(func $move_all_bag (param $source i32) (param $target i32) (param $k i32)
  (call $move_bag (i32.load (call $holder (local.get $source))) (local.get $source) (local.get $target) (local.get $k)))

;; Place a piece of a stock on an empty place.
(func $place_piece (param $stock i32) (param $place i32) (param $piece i32)
  (local $at i32) (local $held i32)
  (local.set $at (i32.add (global.get $piece) (i32.shl (local.get $place) (i32.const 2))))
  (if (i32.ne (i32.load (local.get $at)) (i32.const -1)) (then (unreachable)))
  (local.set $held (i32.load (call $holder (local.get $stock))))
  (if (i32.lt_s (i32.load (local.get $held)) (i32.const 1)) (then (unreachable)))
  (i32.store (local.get $held) (i32.sub (i32.load (local.get $held)) (i32.const 1)))
  (i32.store (local.get $at) (local.get $piece))
  (call $wake (local.get $stock))
  (call $wake_place (i32.add (global.get $piece_cell) (local.get $place)) (local.get $piece)))

;; Return a piece from its place to its stock.
(func $take_piece (param $place i32) (param $stock i32) (param $piece i32)
  (local $at i32) (local $held i32)
  (local.set $at (i32.add (global.get $piece) (i32.shl (local.get $place) (i32.const 2))))
  (if (i32.ne (i32.load (local.get $at)) (local.get $piece)) (then (unreachable)))
  (local.set $held (i32.load (call $holder (local.get $stock))))
  (i32.store (local.get $at) (i32.const -1))
  (i32.store (local.get $held) (call $word (i64.add (i64.load32_s (local.get $held)) (i64.const 1))))
  (call $wake_place (i32.add (global.get $piece_cell) (local.get $place)) (local.get $piece))
  (call $wake (local.get $stock)))


;; Random numbers. `hash` is the hash of the stream's name; `counter` is the address of its counter, `cell` the
;; counter's cell.

;; Increment the counter of a stream; return its old value.
(func $use (param $counter i32) (param $cell i32) (result i64)
  (local $count i64)
  (local.set $count (i64.load32_s (local.get $counter)))
  (i32.store (local.get $counter) (call $word (i64.add (local.get $count) (i64.const 1))))
  (call $wake (local.get $cell))
  (local.get $count))

;; Shuffle the cards, or piles, of a zone.
(func $shuffle_zone (param $zone i32) (param $hash i64) (param $counter i32) (param $cell i32)
  (local $holder i32) (local $held i32) (local $count i64) (local $fresh i32) (local $scratch i32)
  (local.set $scratch (global.get $arena))
  (local.set $holder (call $holder (local.get $zone)))
  (local.set $held (i32.load (local.get $holder)))
  (local.set $count (call $use (local.get $counter) (local.get $cell)))
  (if (i32.load offset=8 (local.get $holder)) (then (local.set $held (call $pile_addresses (local.get $holder)))))
  (local.set $fresh
    (call $shuffled (local.get $held) (i64.load align=4 (global.get $seed)) (local.get $hash) (local.get $count)))
  (if (i32.load offset=8 (local.get $holder))
    (then (local.set $fresh (call $piles_at (local.get $holder) (local.get $fresh)))))
  (call $hold (local.get $zone) (local.get $fresh))
  (global.set $arena (local.get $scratch)))

;; New list of the addresses of a zone's piles.
(func $pile_addresses (param $holder i32) (result i32)
  (local $fresh i32) (local $at i32) (local $end i32) (local $pile i32)
  (local.set $pile (i32.load (local.get $holder)))
  (local.set $fresh (call $alloc (i32.add (i32.load (local.get $pile)) (i32.const 1))))
  (i32.store (local.get $fresh) (i32.load (local.get $pile)))
  (local.set $pile (i32.add (local.get $pile) (i32.const 4)))
  (each $at $end (local.get $fresh)
    (i32.store (local.get $at) (local.get $pile))
    (local.set $pile (i32.add (local.get $pile) (call $item_bytes (local.get $holder)))))
  (local.get $fresh))

;; New copy of a zone's contents with the piles in the order of a list of addresses.
(func $piles_at (param $holder i32) (param $list i32) (result i32)
  (local $fresh i32) (local $at i32) (local $end i32) (local $bytes i32) (local $to i32)
  (local.set $fresh (call $alloc (i32.shr_u (call $zone_bytes (local.get $holder) (local.get $list)) (i32.const 2))))
  (i32.store (local.get $fresh) (i32.load (local.get $list)))
  (local.set $to (i32.add (local.get $fresh) (i32.const 4)))
  (local.set $bytes (call $item_bytes (local.get $holder)))
  (each $at $end (local.get $list)
    (memory.copy (local.get $to) (i32.load (local.get $at)) (local.get $bytes))
    (local.set $to (i32.add (local.get $to) (local.get $bytes))))
  (local.get $fresh))

;; Random index of one of n items; traps if n is 0.
(func $pick (param $n i32) (param $hash i64) (param $counter i32) (param $cell i32) (result i32)
  (if (i32.eqz (local.get $n)) (then (unreachable)))
  (call $drawn (local.get $n) (i64.load align=4 (global.get $seed)) (local.get $hash)
               (call $use (local.get $counter) (local.get $cell))))
