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
  (i32.add (global.get $holders) (i32.shl $cell 5)))

;; Note the watches that read a cell as pending.
(func $wake_watches (param $cell i32)
  (i64.store align=4 (global.get $pending)
    (i64.or (i64.load align=4 (global.get $pending)) (i64.load offset=16 align=4 (call $holder $cell)))))

;; Wake the watches that read a cell, which has changed.
(func $wake (param $cell i32)
  (call $wake_watches $cell)
  (call $touched $cell))

;; Wake the watches that read the cell of a place, which a piece entered or left.
(func $wake_place (param $cell $piece i32)
  (call $wake_watches $cell)
  (call $touched_piece $cell $piece))

;; Set a cell of one word.
(func $put (param $cell $word i32)
  (local $at i32)
  (local.set $at (i32.load (call $holder $cell)))
  (if (i32.eq (i32.load $at) $word) (then (return)))
  (i32.store $at $word)
  (call $wake $cell))


;; Lists of cards, in the state or in the arena.

;; Remove a card from a list; traps if it is missing.
(func $remove_card (param $list $card i32)
  (local $at i32)
  (local.set $at (call $find $list $card))
  (if (i32.eqz $at) (then (unreachable)))
  (memory.copy $at (i32.add $at 4) (i32.sub (i32.sub (call $end_of $list) $at) 4))
  (i32.store $list (i32.sub (i32.load $list) 1)))

;; Insert a card into the list of a zone according to the zone's order.
(func $add_card (param $zone $list $card $where i32)
  (local $holder $order $at $end i32)
  (local.set $holder (call $holder $zone))
  (local.set $order (i32.load offset=4 $holder))
  (if (i32.ge_u (i32.load $list) (i32.load offset=12 $holder)) (then (unreachable)))
  (local.set $end (call $end_of $list))
  (local.set $at $end)
  (if (i32.eq $order 2)
    (then (local.set $at (call $ranked_place $zone $list $card)))
    (else
      (if (i32.and (i32.eqz $order) (i32.eq $where 1)) (then (local.set $at (i32.add $list 4))))))
  (memory.copy (i32.add $at 4) $at (i32.sub $end $at))
  (i32.store $at $card)
  (i32.store $list (i32.add (i32.load $list) 1))
  (if (i32.eq $order 1) (then (call $sort_cards $list))))

;; Sort a list by card number: insertion sort, one pass if only the last card is out of order.
(func $sort_cards (param $list i32)
  (local $at $end $to $card $last i32)
  (local.set $last -1)
  (each $at $end $list
    (local.set $card (i32.load $at))
    (if (i32.lt_s $card $last)
      (then
        (local.set $to $at)
        (block $found
          (loop $back
            (i32.store $to (i32.load (i32.sub $to 4)))
            (local.set $to (i32.sub $to 4))
            (br_if $found (i32.eq $to (i32.add $list 4)))
            (br_if $back (i32.gt_s (i32.load (i32.sub $to 4)) $card))))
        (i32.store $to $card))
      (else (local.set $last $card)))))

;; True if a card precedes another by rank.
(func $precedes (param $rank i64) (param $card i32) (param $other_rank i64) (param $other i32) (result i32)
  (i32.or (i64.lt_s $rank $other_rank) (i32.and (i64.eq $rank $other_rank) (i32.lt_s $card $other))))

;; Insertion point of a card in a list sorted by rank: binary search, behind equal ranks.
(func $ranked_place (param $zone $list $card i32) (result i32)
  (local $low $high $middle $other i32) (local $rank i64)
  (local.set $rank (call $rank $zone $card))
  (local.set $list (i32.add $list 4))
  (local.set $high (i32.load (i32.sub $list 4)))
  (until $done (i32.ge_u $low $high)
    (local.set $middle (i32.shr_u (i32.add $low $high) 1))
    (local.set $other (i32.load (i32.add $list (i32.shl $middle 2))))
    (if (call $precedes $rank $card
                        (call $rank $zone $other) $other)
      (then (local.set $high $middle))
      (else (local.set $low (i32.add $middle 1)))))
  (i32.add $list (i32.shl $low 2)))

;; Sort n items by rank: insertion sort. An item has `bytes` bytes, and its card is at offset `top`.
(func $sort_by_rank (param $zone $list $bytes $top i32)
  (local $n $ranks $spare $i $j $item $to $at i32) (local $rank i64)
  (local.set $n (i32.load $list))
  (local.set $list (i32.add $list 4))
  (local.set $ranks (call $alloc (i32.add (i32.shl $n 1) (i32.shr_u $bytes 2))))
  (local.set $spare (i32.add $ranks (i32.shl $n 3)))
  (walk $i 0 $n 1
    (local.set $item (i32.add $list (i32.mul $i $bytes)))
    (local.set $rank (call $rank $zone (i32.load (i32.add $item $top))))
    ;; The items before this one are sorted: go back to its insertion point.
    (local.set $j $i)
    (local.set $to $item)
    (local.set $at (i32.add $ranks (i32.shl $i 3)))
    (until $found (i32.eqz $j)
      (br_if $found
        (i32.eqz (call $precedes
          $rank (i32.load (i32.add $item $top))
          (i64.load align=4 (i32.sub $at 8))
          (i32.load (i32.add (i32.sub $to $bytes) $top)))))
      (local.set $j (i32.sub $j 1))
      (local.set $to (i32.sub $to $bytes))
      (local.set $at (i32.sub $at 8))
      (i64.store offset=8 align=4 $at (i64.load align=4 $at)))
    (i64.store align=4 $at $rank)
    (if (i32.ne $to $item)
      (then
        (memory.copy $spare $item $bytes)
        (memory.copy (i32.add $to $bytes) $to (i32.sub $item $to))
        (memory.copy $to $spare $bytes)))))


;; Moves of cards. A zone is given by its cell; `where` is 0 in, 1 top, 2 bottom, 3 new pile.

;; Address of the word with the zone of a card.
(func $location_of (param $card i32) (result i32)
  (i32.add (global.get $location) (i32.shl $card 2)))

;; Move cards to a zone in their order. In a zone of piles each card becomes a pile, unless they form a new one.
(func $move_cards (param $cards $zone $where i32)
  (local $n $i $scratch i32)
  (local.set $n (i32.load $cards))
  (if (i32.and (i32.eq $n 1) (i32.ne $where 3))
    (then (call $move_card (i32.load offset=4 $cards) $zone $where)
          (return)))
  (if (i32.eqz $n) (then (return)))
  (local.set $scratch (global.get $arena))
  (local.set $cards (call $copy_list $cards))
  (block $moved
    (if (i32.eq $where 3)
      (then (call $lay_pile $cards $zone)
            (br $moved)))
    (br_if $moved (call $move_together $cards $zone $where))
    (walk $i 0 $n 1
      (call $move_card
        (i32.load offset=4 (i32.add $cards (i32.shl (select (i32.sub (i32.sub $n $i) 1) $i (i32.eq $where 1)) 2)))
        $zone $where)))
  (global.set $arena $scratch))

;; Move one card to a zone.
(func $move_card (param $card $zone $where i32)
  (local $source $holder $from $scratch $cards $drafts i32)
  (local.set $source (i32.load (call $location_of $card)))
  (local.set $holder (call $holder $zone))
  (local.set $from (call $holder $source))
  (if (i32.eqz (i32.or (i32.eq $source $zone)
                       (i32.or (i32.load offset=8 $holder) (i32.load offset=8 $from))))
    (then
      ;; Ranks are evaluated before the move, so the card is inserted first and then removed from its old zone.
      (call $add_card $zone (i32.load $holder) $card $where)
      (call $remove_card (i32.load $from) $card)
      (i32.store (call $location_of $card) $zone)
      (call $wake $source)
      (call $wake $zone)
      (call $wake (i32.add (global.get $location_cell) $card))
      (return)))
  (local.set $scratch (global.get $arena))
  (local.set $cards (call $alloc 2))
  (i32.store $cards 1)
  (i32.store offset=4 $cards $card)
  (if (i32.load offset=8 $holder)
    (then (call $lay_pile $cards $zone))
    (else
      (local.set $drafts (call $drafts_without $cards))
      (call $add_card $zone (call $draft $drafts $zone) $card $where)
      (call $lie $drafts $cards $zone)))
  (global.set $arena $scratch))

;; Move different cards of one zone to another at once, and return 1. Return 0 without a move if cards repeat, are in
;; different zones or in the target, or if a zone has piles.
(func $move_together (param $cards $zone $where i32) (result i32)
  (local $source $n $holder $from $there $many $fresh $at $end $to $first i32)
  (local.set $source (i32.load (call $location_of (i32.load offset=4 $cards))))
  (local.set $holder (call $holder $zone))
  (local.set $from (call $holder $source))
  (if (i32.or (i32.eq $source $zone) (i32.or (i32.load offset=8 $holder) (i32.load offset=8 $from))) (then (return 0)))
  (if (i32.eqz (call $come_from $cards $source)) (then (return 0)))
  ;; Build the new list in the arena: ranks are evaluated before the move.
  (local.set $n (i32.load $cards))
  (local.set $there (i32.load $holder))
  (local.set $many (i32.add $n (i32.load $there)))
  (if (i32.gt_u $many (i32.load offset=12 $holder)) (then (unreachable)))
  (local.set $fresh (call $alloc (i32.add $many 1)))
  (i32.store $fresh $many)
  (local.set $first (i32.and (i32.eqz (i32.load offset=4 $holder)) (i32.eq $where 1)))
  (local.set $to (i32.add $fresh 4))
  (local.set $to (call $append $to (select $cards $there $first)))
  (drop (call $append $to (select $there $cards $first)))
  (if (i32.eq (i32.load offset=4 $holder) 1) (then (call $sort_cards $fresh)))
  (if (i32.eq (i32.load offset=4 $holder) 2) (then (call $sort_by_rank $zone $fresh 4 0)))
  (memory.copy $there $fresh (i32.shl (i32.add $many 1) 2))
  (each $at $end $cards
    (i32.store (call $location_of (i32.load $at)) $zone)
    (call $wake (i32.add (global.get $location_cell) (i32.load $at))))
  (call $keep_own $source (i32.load $from))
  (call $wake $source)
  (call $wake $zone)
  1)

;; True if all cards are different and in one zone.
(func $come_from (param $cards $zone i32) (result i32)
  (local $at $end $place i32)
  (each $at $end $cards
    (local.set $place (call $location_of (i32.load $at)))
    (br_if $at.done (i32.ne (i32.load $place) $zone))
    (i32.store $place -1))  ;; seen
  (local.set $place (i32.eq $at $end))
  (until $done (i32.eq (local.tee $at (i32.sub $at 4)) $cards)
    (i32.store (call $location_of (i32.load $at)) $zone))
  $place)

;; Remove the cards from a zone's list that are now in another zone.
(func $keep_own (param $zone $list i32)
  (local $at $end $to i32)
  (local.set $to (i32.add $list 4))
  (each $at $end $list
    (i32.store $to (i32.load $at))
    (if (i32.eq (i32.load (call $location_of (i32.load $at))) $zone) (then (local.set $to (i32.add $to 4)))))
  (i32.store $list (i32.sub (i32.shr_u (i32.sub $to $list) 2) 1)))

;; Copy the items of a list to an address; return the address after them.
(func $append (param $to $list i32) (result i32)
  (memory.copy $to (i32.add $list 4) (i32.shl (i32.load $list) 2))
  (i32.add $to (i32.shl (i32.load $list) 2)))

;; Add cards to a zone as a new last pile.
(func $lay_pile (param $cards $zone i32)
  (local $drafts $holder $piles $pile i32)
  (local.set $holder (call $holder $zone))
  (if (i32.eqz (i32.load offset=8 $holder)) (then (unreachable)))
  (if (call $lay_last $cards $zone) (then (return)))
  (local.set $drafts (call $drafts_without $cards))
  (local.set $piles (call $draft $drafts $zone))
  (if (i32.ge_u (i32.load $piles) (i32.load offset=12 $holder)) (then (unreachable)))
  (local.set $pile (i32.add $piles (call $zone_bytes $holder $piles)))
  (i32.store $pile 0)
  (i32.store $piles (i32.add (i32.load $piles) 1))
  (call $add_to_pile $cards $pile (i32.load offset=24 $holder) 2)
  (call $lie $drafts $cards $zone))

;; Lay a whole pile behind the others of its zone, and return 1. Return 0 without a move if the cards are none, or if
;; piles are sorted.
(func $lay_last (param $cards $zone i32) (result i32)
  (local $holder $pile $next $end i32)
  (local.set $holder (call $holder $zone))
  (if (i32.eq (i32.load offset=4 $holder) 2) (then (return 0)))
  (if (i32.ne (i32.load (call $location_of (i32.load offset=4 $cards))) $zone) (then (return 0)))
  (local.set $pile (call $list_with $holder (i32.load $holder) (i32.load offset=4 $cards)))
  (if (i32.eqz (call $equal_lists $pile $cards)) (then (return 0)))
  (local.set $next (i32.add $pile (call $item_bytes $holder)))
  (local.set $end (i32.add (i32.load $holder) (call $zone_bytes $holder (i32.load $holder))))
  (if (i32.eq $next $end) (then (return 1)))
  (memory.copy $pile $next (i32.sub $end $next))
  (drop (call $append (i32.sub $end (i32.sub (call $item_bytes $holder) 4)) $cards))
  (i32.store (i32.sub $end (call $item_bytes $holder)) (i32.load $cards))
  (call $wake $zone)
  1)

;; Move cards to the top or bottom of a pile in their order. Nothing moves if no other card of the pile remains.
(func $move_to_pile (param $cards $pile $where i32)
  (local $zone $holder $at $end $drafts $scratch i32)
  (if (i32.eqz (i32.load $pile)) (then (unreachable)))
  (local.set $zone (i32.load (call $location_of (i32.load offset=4 $pile))))
  (local.set $holder (call $holder $zone))
  (if (i32.eqz (i32.load offset=8 $holder)) (then (unreachable)))
  (local.set $scratch (global.get $arena))
  (local.set $cards (call $copy_list $cards))
  (local.set $at $pile)
  (local.set $end (i32.sub (call $end_of $pile) 4))
  (block $none
    (loop $next
      (br_if $none (i32.eq $at $end))
      (local.set $at (i32.add $at 4))
      (br_if $next (call $find $cards (i32.load $at))))
    (local.set $drafts (call $drafts_without $cards))
    (call $add_to_pile
      $cards
      (call $list_with $holder (call $draft $drafts $zone) (i32.load $at))
      (i32.load offset=24 $holder) $where)
    (call $lie $drafts $cards $zone))
  (global.set $arena $scratch))

;; Add cards to a pile with room for `words` words: at the bottom if `where` is 2, else at the top.
(func $add_to_pile (param $cards $pile $words $where i32)
  (local $n $held i32)
  (local.set $n (i32.load $cards))
  (local.set $held (i32.load $pile))
  (if (i32.ge_u (i32.add $n $held) $words) (then (unreachable)))
  (if (i32.eq $where 2)
    (then (drop (call $append (call $end_of $pile) $cards)))
    (else
      (memory.copy (i32.add (i32.add $pile 4) (i32.shl $n 2)) (i32.add $pile 4) (i32.shl $held 2))
      (drop (call $append (i32.add $pile 4) $cards))))
  (i32.store $pile (i32.add $n $held)))

;; Address of the list that has a card among the contents of a zone: the whole, or a pile. Traps if there is none.
(func $list_with (param $holder $held $card i32) (result i32)
  (local $at $end i32)
  (if (i32.eqz (i32.load offset=8 $holder)) (then (return $held)))
  (local.set $end (i32.add $held (call $zone_bytes $holder $held)))
  (walk $at (i32.add $held 4) $end (call $item_bytes $holder)
    (if (call $find $at $card) (then (return $at))))
  (unreachable))


;; Drafts: new contents of zones, built in the arena before the state changes. A draft is the address of the next one,
;; or 0, the cell of its zone, and the new contents, with room for one more card or pile. The chain starts with one
;; word: the address of the first draft.

;; Size of a card, or of a pile, of a zone in bytes.
(func $item_bytes (param $holder i32) (result i32)
  (select (i32.shl (i32.load offset=24 $holder) 2) 4 (i32.load offset=8 $holder)))

;; Size of a zone's contents in bytes, at its own address or in a draft.
(func $zone_bytes (param $holder $held i32) (result i32)
  (i32.add 4 (i32.mul (i32.load $held) (call $item_bytes $holder))))

;; Address of a zone's contents in its draft, which is made if there is none.
(func $draft (param $draft $zone i32) (result i32)
  (local $next $holder $held $bytes i32)
  (loop $further
    (local.set $next (i32.load $draft))
    (if $next
      (then
        (local.set $draft $next)
        (br_if $further (i32.ne (i32.load offset=4 $draft) $zone))
        (return (i32.add $draft 8)))))
  (local.set $holder (call $holder $zone))
  (local.set $held (i32.load $holder))
  (local.set $bytes (call $zone_bytes $holder $held))
  (local.set $next (call $alloc (i32.shr_u (i32.add (i32.add $bytes (call $item_bytes $holder)) 8) 2)))
  (i32.store $draft $next)
  (i32.store $next 0)
  (i32.store offset=4 $next $zone)
  (local.set $next (i32.add $next 8))
  (memory.copy $next $held $bytes)
  $next)

;; Drafts of the zones of the cards, without these cards. Empty piles are removed.
(func $drafts_without (param $cards i32) (result i32)
  (local $drafts $at $end $held $holder $list $next $zone i32)
  (local.set $drafts (call $alloc 1))
  (i32.store $drafts 0)
  (each $at $end $cards
    (local.set $zone (i32.load (call $location_of (i32.load $at))))
    (local.set $holder (call $holder $zone))
    (local.set $held (call $draft $drafts $zone))
    (local.set $list (call $list_with $holder $held (i32.load $at)))
    (call $remove_card $list (i32.load $at))
    (if (i32.eqz (i32.or (i32.eq $list $held) (i32.load $list)))
      (then  ;; the last card of a pile
        (local.set $next (i32.add $list (call $item_bytes $holder)))
        (memory.copy $list $next (i32.sub (i32.add $held (call $zone_bytes $holder $held)) $next))
        (i32.store $held (i32.sub (i32.load $held) 1)))))
  $drafts)

;; Commit drafts, and move cards to a zone. Piles are sorted by their top cards if the zone is ordered by rank.
;; Unchanged zones wake nothing.
(func $lie (param $drafts $cards $zone i32)
  (local $draft $holder $at $end $place i32)
  (local.set $draft $drafts)
  (until $sorted (i32.eqz (local.tee $draft (i32.load $draft)))
    (local.set $holder (call $holder (i32.load offset=4 $draft)))
    (if (i32.and (i32.load offset=8 $holder)
                 (i32.eq (i32.load offset=4 $holder) 2))
      (then (call $sort_by_rank
        (i32.load offset=4 $draft) (i32.add $draft 8)
        (call $item_bytes $holder) 4))))
  (local.set $draft $drafts)
  (until $held (i32.eqz (local.tee $draft (i32.load $draft)))
    (call $hold (i32.load offset=4 $draft) (i32.add $draft 8)))
  (each $at $end $cards
    (local.set $place (call $location_of (i32.load $at)))
    (if (i32.ne (i32.load $place) $zone)
      (then (i32.store $place $zone)
            (call $wake (i32.add (global.get $location_cell) (i32.load $at)))))))

;; Copy a draft to its zone and wake watches, unless the contents are equal.
(func $hold (param $zone $fresh i32)
  (local $holder i32)
  (local.set $holder (call $holder $zone))
  (if (call $same_held $holder $fresh) (then (return)))
  (memory.copy (i32.load $holder) $fresh (call $zone_bytes $holder $fresh))
  (call $wake $zone))

;; True if a zone has these contents already. Words behind the last card of a pile are ignored.
(func $same_held (param $holder $fresh i32) (result i32)
  (local $held $end $bytes i32)
  (local.set $held (i32.load $holder))
  (if (i32.eqz (i32.load offset=8 $holder)) (then (return (call $equal_lists $held $fresh))))
  (if (i32.ne (i32.load $held) (i32.load $fresh)) (then (return 0)))
  (local.set $held (i32.add $held 4))
  (local.set $end (i32.add $fresh (call $zone_bytes $holder $fresh)))
  (local.set $bytes (call $item_bytes $holder))
  (walk $fresh (i32.add $fresh 4) $end $bytes
    (if (i32.eqz (call $equal_lists $held $fresh)) (then (return 0)))
    (local.set $held (i32.add $held $bytes)))
  1)


;; Tokens and pieces.

;; Move an amount of one kind from one word to another. `room` is the address of the target's capacity, or 0.
(func $transfer (param $amount i64) (param $from $to $unlimited $room i32)
  (local $left $more i64)
  (local.set $left (i64.sub (i64.load32_s $from) $amount))
  (local.set $more (i64.add (i64.load32_s $to) $amount))
  (if (i64.lt_s $amount (i64.const 0)) (then (unreachable)))
  (if (i32.and (i64.lt_s $left (i64.const 0)) (i32.eqz $unlimited)) (then (unreachable)))
  (if $room
    (then (if (i64.gt_s $more (i64.load32_s $room)) (then (unreachable)))))
  (i32.store $from (call $word $left))
  (i32.store $to (call $word $more)))

;; Move an amount of tokens without kinds, or of pieces between stocks.
(func $move_units (param $amount i64) (param $source $target i32)
  (local $from $to i32)
  (if (i32.eq $source $target) (then (return)))
  (local.set $from (call $holder $source))
  (local.set $to (call $holder $target))
  (call $transfer $amount (i32.load $from) (i32.load $to) (i32.load offset=24 $from) (i32.load offset=28 $to))
  (if (i64.eqz $amount) (then (return)))
  (call $wake $source)
  (call $wake $target))

;; Move a bag of a token with k kinds. The bag may be the contents of the source or target: each count is read before it
;; changes.
(func $move_bag (param $amount $source $target $k i32)
  (local $from $to $room $step $unlimited $end i32) (local $count $any i64)
  (if (i32.eq $source $target) (then (return)))
  (local.set $unlimited (i32.load offset=24 (call $holder $source)))
  (local.set $room (i32.load offset=28 (call $holder $target)))
  (local.set $step (select 4 0 $room))
  (local.set $from (i32.load (call $holder $source)))
  (local.set $to (i32.load (call $holder $target)))
  (local.set $end (i32.add $amount (i32.shl $k 2)))
  (until $done (i32.eq $amount $end)
    (local.set $count (i64.load32_s $amount))
    (local.set $any (i64.or $any $count))
    (if (i64.ne $count (i64.const 0)) (then (call $transfer $count $from $to $unlimited $room)))
    (local.set $amount (i32.add $amount 4))
    (local.set $from (i32.add $from 4))
    (local.set $to (i32.add $to 4))
    (local.set $room (i32.add $room $step)))
  (if (i64.eqz $any) (then (return)))
  (call $wake $source)
  (call $wake $target))

;; Move a number of tokens of one kind between pools or tracks with k kinds.
(func $move_kind (param $count i64) (param $kind $source $target $k i32)
  (local $room i32)
  (if (i32.ge_u $kind $k) (then (unreachable)))
  (if (i32.or (i32.eq $source $target) (i64.eqz $count)) (then (return)))
  (local.set $kind (i32.shl $kind 2))
  (local.set $room (i32.load offset=28 (call $holder $target)))
  (if $room (then (local.set $room (i32.add $room $kind))))
  (call $transfer (i64.extend_i32_s (call $word $count))
                  (i32.add (i32.load (call $holder $source)) $kind)
                  (i32.add (i32.load (call $holder $target)) $kind)
                  (i32.load offset=24 (call $holder $source))
                  $room)
  (call $wake $source)
  (call $wake $target))

;; Move all units of a pool, track or stock.
(func $move_all_units (param $source $target i32)
  (call $move_units (i64.load32_s (i32.load (call $holder $source))) $source $target))

;; Move all tokens of a pool or track with k kinds.
(func $move_all_bag (param $source $target $k i32)
  (call $move_bag (i32.load (call $holder $source)) $source $target $k))

;; Place a piece of a stock on an empty place.
(func $place_piece (param $stock $place $piece i32)
  (local $at $held i32)
  (local.set $at (i32.add (global.get $piece) (i32.shl $place 2)))
  (if (i32.ne (i32.load $at) -1) (then (unreachable)))
  (local.set $held (i32.load (call $holder $stock)))
  (if (i32.lt_s (i32.load $held) 1) (then (unreachable)))
  (i32.store $held (i32.sub (i32.load $held) 1))
  (i32.store $at $piece)
  (call $wake $stock)
  (call $wake_place (i32.add (global.get $piece_cell) $place) $piece))

;; Return a piece from its place to its stock.
(func $take_piece (param $place $stock $piece i32)
  (local $at $held i32)
  (local.set $at (i32.add (global.get $piece) (i32.shl $place 2)))
  (if (i32.ne (i32.load $at) $piece) (then (unreachable)))
  (local.set $held (i32.load (call $holder $stock)))
  (i32.store $at -1)
  (i32.store $held (call $word (i64.add (i64.load32_s $held) (i64.const 1))))
  (call $wake_place (i32.add (global.get $piece_cell) $place) $piece)
  (call $wake $stock))


;; Random numbers. `hash` is the hash of the stream's name; `counter` is the address of its counter, `cell` the
;; counter's cell.

;; Increment the counter of a stream; return its old value.
(func $use (param $counter $cell i32) (result i64)
  (local $count i64)
  (local.set $count (i64.load32_s $counter))
  (i32.store $counter (call $word (i64.add $count (i64.const 1))))
  (call $wake $cell)
  $count)

;; Shuffle the cards, or piles, of a zone.
(func $shuffle_zone (param $zone i32) (param $hash i64) (param $counter $cell i32)
  (local $holder $held $fresh $scratch i32) (local $count i64)
  (local.set $scratch (global.get $arena))
  (local.set $holder (call $holder $zone))
  (local.set $held (i32.load $holder))
  (local.set $count (call $use $counter $cell))
  (if (i32.load offset=8 $holder) (then (local.set $held (call $pile_addresses $holder))))
  (local.set $fresh (call $shuffled $held (i64.load align=4 (global.get $seed)) $hash $count))
  (if (i32.load offset=8 $holder) (then (local.set $fresh (call $piles_at $holder $fresh))))
  (call $hold $zone $fresh)
  (global.set $arena $scratch))

;; New list of the addresses of a zone's piles.
(func $pile_addresses (param $holder i32) (result i32)
  (local $fresh $at $end $pile i32)
  (local.set $pile (i32.load $holder))
  (local.set $fresh (call $alloc (i32.add (i32.load $pile) 1)))
  (i32.store $fresh (i32.load $pile))
  (local.set $pile (i32.add $pile 4))
  (each $at $end $fresh
    (i32.store $at $pile)
    (local.set $pile (i32.add $pile (call $item_bytes $holder))))
  $fresh)

;; New copy of a zone's contents with the piles in the order of a list of addresses.
(func $piles_at (param $holder $list i32) (result i32)
  (local $fresh $at $end $bytes $to i32)
  (local.set $fresh (call $alloc (i32.shr_u (call $zone_bytes $holder $list) 2)))
  (i32.store $fresh (i32.load $list))
  (local.set $to (i32.add $fresh 4))
  (local.set $bytes (call $item_bytes $holder))
  (each $at $end $list
    (memory.copy $to (i32.load $at) $bytes)
    (local.set $to (i32.add $to $bytes)))
  $fresh)

;; Random index of one of n items; traps if n is 0.
(func $pick (param $n i32) (param $hash i64) (param $counter $cell i32) (result i32)
  (if (i32.eqz $n) (then (unreachable)))
  (call $drawn $n (i64.load align=4 (global.get $seed)) $hash (call $use $counter $cell)))
