;; Runtime of compiled rules: functions that every module contains. The module around them defines
;;
;;   $memory        memory of 32-bit words, little endian
;;   $arena         mutable global: address of the first free word of the arena
;;   $arena_end     address after the last word of the arena
;;   $graph_nodes, $graph_adjacent, $graph_leading, $graph_cache, $graph_slots: see "Graph" below
;;
;; Values:
;;
;;   number         i64 in locals, one word in memory; none is -2147483648
;;   index, truth   i32: card, seat, node, member of a kind, 0 or 1; no index is -1
;;   list           address of a word n, followed by n items of one word; no list is 0
;;   bag            address of k words, one count for each member of its kind
;;   room           address of two words: the list of the kinds that it takes, its capacity
;;
;; The name of a local stands for its value, and a number for a constant of 32 bits; names before a type have this
;; type. `until` is a loop that ends when its test is true; `(walk $at start end step …)` increments a local up to an
;; end, which is evaluated each time; `each` walks over the addresses of the items of a list. A branch to `$at.done`
;; leaves such a loop. All this is written out before the text is compiled (`runtime_inliner.py`).
;;
;; No function changes its arguments. A new list or bag is at the end of the arena. A function releases the scratch
;; memory that it takes from the arena, unless it traps; `$subsets` and `$mixes` keep theirs, which is short. A function
;; traps where the plain form raises an error, if a number does not fit into a word, and if the arena is full. The
;; caller then returns to the last choice and runs the plain form, which explains the error.


;; Random numbers: SplitMix64. The seed, the name of a stream and its counter determine a 64-bit number; `hash` is the
;; FNV-1a hash of the name.

;; Output function of SplitMix64: a bijection that spreads every bit over all.
(func $finalise (param $z i64) (result i64)
  (local.set $z (i64.mul (i64.xor $z (i64.shr_u $z (i64.const 30))) (i64.const 0xBF58476D1CE4E5B9)))
  (local.set $z (i64.mul (i64.xor $z (i64.shr_u $z (i64.const 27))) (i64.const 0x94D049BB133111EB)))
  (i64.xor $z (i64.shr_u $z (i64.const 31))))

;; Output number `index`, counted from 0, of the generator in state `start`.
(func $output (param $start $index i64) (result i64)
  (call $finalise (i64.add $start (i64.mul (i64.add $index (i64.const 1)) (i64.const 0x9E3779B97F4A7C15)))))

;; Initial state of the generator for a name.
(func $start (param $seed $hash i64) (result i64)
  (call $finalise (i64.xor (call $finalise (i64.add $seed (i64.const 0x9E3779B97F4A7C15))) $hash)))

;; 64-bit number `counter` of a stream.
(func $mix (param $seed $hash $counter i64) (result i64)
  (call $output (call $start $seed $hash) $counter))

;; Uniform number from 0 to n - 1, by rejection: outputs in the incomplete last run of n numbers below 2**64 are
;; skipped.
(func $bounded (param $start $n i64) (result i64)
  (local $number $attempt i64)
  (block $found
    (loop $again
      (local.set $number (call $output $start $attempt))
      (br_if $found (i64.le_u $number (i64.sub (i64.const -1) $n)))
      ;; The last run has 2**64 mod n numbers, which is -n mod n.
      (br_if $found (i64.le_u $number (i64.sub (i64.const -1) (i64.rem_u (i64.sub (i64.const 0) $n) $n))))
      (local.set $attempt (i64.add $attempt (i64.const 1)))
      (br $again)))
  (i64.rem_u $number $n))

;; Random index below n; traps if n is below 1.
(func $drawn (param $n i32) (param $seed $hash $counter i64) (result i32)
  (if (i32.lt_s $n 1) (then (unreachable)))
  (i32.wrap_i64 (call $bounded (call $mix $seed $hash $counter) (i64.extend_i32_u $n))))

;; Shuffle a list: Fisher-Yates from the front, each swap with a stream of its own.
(func $shuffled (param $list i32) (param $seed $hash $counter i64) (result i32)
  (local $start $left $i i64) (local $fresh $at $other $item i32)
  (local.set $start (call $mix $seed $hash $counter))
  (local.set $fresh (call $copy_list $list))
  (local.set $at (i32.add $fresh 4))
  (local.set $left (i64.load32_u $fresh))
  (until $done (i64.le_u $left (i64.const 1))
    (local.set $other (i32.add $at (i32.shl (i32.wrap_i64 (call $bounded (call $output $start $i) $left)) 2)))
    (local.set $item (i32.load $at))
    (i32.store $at (i32.load $other))
    (i32.store $other $item)
    (local.set $at (i32.add $at 4))
    (local.set $i (i64.add $i (i64.const 1)))
    (local.set $left (i64.sub $left (i64.const 1))))
  $fresh)

;; Draw of a bot: the number below n that follows `used` others from the state `start`; traps if n is below 1.
(func $below (param $start $used i64) (param $n i32) (result i32)
  (local $number $stream i64)
  (if (i32.lt_s $n 1) (then (unreachable)))
  (local.set $stream (call $output $start $used))
  (if (i32.ge_u $n 0x40000000) (then (return (i32.wrap_i64 (call $bounded $stream (i64.extend_i32_u $n))))))
  (local.set $number (call $output $stream (i64.const 0)))
  (until $common (i64.lt_u $number (i64.const 0xFFFFFFFFC0000001))  ;; the last 2**30 - 1 numbers would be biased
    (local.set $number (call $finalise $number)))
  (i32.wrap_i64 (i64.rem_u $number (i64.extend_i32_u $n))))


;; Arithmetic.

;; Multiply two numbers; traps if later additions to the product could overflow.
(func $mul (param $a $b i64) (result i64)
  (local $found i64)
  (if (i64.gt_u (i64.add $a (i64.const 2147483648)) (i64.const 4294967296)) (then (unreachable)))
  (if (i64.gt_u (i64.add $b (i64.const 2147483648)) (i64.const 4294967296)) (then (unreachable)))
  (local.set $found (i64.mul $a $b))
  (if (i64.gt_u (i64.add $found (i64.const 1099511627776)) (i64.const 2199023255552)) (then (unreachable)))
  $found)

;; Division, rounded down.
(func $div (param $a $b i64) (result i64)
  (local $rest i64)
  (if (i64.eqz $b) (then (unreachable)))
  (local.set $rest (i64.rem_s $a $b))
  (i64.sub (i64.div_s $a $b)
    (i64.extend_i32_u (i32.and (i64.ne $rest (i64.const 0)) (i64.lt_s (i64.xor $rest $b) (i64.const 0))))))

;; Remainder of a division that is rounded down.
(func $mod (param $a $b i64) (result i64)
  (local $rest i64)
  (if (i64.eqz $b) (then (unreachable)))
  (local.set $rest (i64.rem_s $a $b))
  (if (result i64) (i32.and (i64.ne $rest (i64.const 0))
      (i64.lt_s (i64.xor $rest $b) (i64.const 0)))
    (then (i64.add $rest $b))
    (else $rest)))


;; Arena and words.

;; Allocate words in the arena, without clearing them.
(func $alloc (param $words i32) (result i32)
  (local $fresh i32)
  (local.set $fresh (global.get $arena))
  (if (i32.gt_u $words (i32.shr_u (i32.sub (global.get $arena_end) $fresh) 2)) (then (unreachable)))
  (global.set $arena (i32.add $fresh (i32.shl $words 2)))
  $fresh)

;; New list of n items, not yet stored; traps if n is above 20,000.
(func $new_list (param $n i32) (result i32)
  (local $fresh i32)
  (if (i32.gt_u $n 20000) (then (unreachable)))
  (local.set $fresh (call $alloc (i32.add $n 1)))
  (i32.store $fresh $n)
  $fresh)

;; Address after the last item of a list.
(func $end_of (param $list i32) (result i32)
  (i32.add (i32.add $list 4) (i32.shl (i32.load $list) 2)))

;; Convert a number to a word; traps if it does not fit or equals none.
(func $word (param $number i64) (result i32)
  (if (i64.gt_u (i64.add $number (i64.const 0x7FFFFFFF)) (i64.const 0xFFFFFFFE)) (then (unreachable)))
  (i32.wrap_i64 $number))

;; Copy n words to another place, four at a time; the last four words may be copied twice. The source may begin four
;; words or more behind the target, and must not overlap it otherwise.
(func $copy_words (param $into $from $n i32)
  (local $last i32)
  (if (i32.gt_u $n 64)
    (then (memory.copy $into $from (i32.shl $n 2))
          (return)))
  (if (i32.ge_u $n 4)
    (then
      (local.set $last (i32.add $from (i32.shl (i32.sub $n 4) 2)))
      (local.set $into (i32.sub $into $from))
      (walk $from $from $last 16
        (v128.store align=4 (i32.add $into $from) (v128.load align=4 $from)))
      (v128.store align=4 (i32.add $into $last) (v128.load align=4 $last))
      (return)))
  (if (i32.eqz $n) (then (return)))
  (i32.store $into (i32.load $from))
  (if (i32.eq $n 1) (then (return)))
  (i32.store offset=4 $into (i32.load offset=4 $from))
  (if (i32.eq $n 2) (then (return)))
  (i32.store offset=8 $into (i32.load offset=8 $from)))

;; Fill n words, four at a time.
(func $fill_words (param $into $n $word i32)
  (until $few (i32.lt_u $n 4)
    (v128.store align=4 $into (i32x4.splat $word))
    (local.set $into (i32.add $into 16))
    (local.set $n (i32.sub $n 4)))
  (until $done (i32.eqz $n)
    (i32.store $into $word)
    (local.set $into (i32.add $into 4))
    (local.set $n (i32.sub $n 1))))

;; True if n words are equal, four at a time; words behind them are read, but do not count.
(func $equal_words (param $p $q $n i32) (result i32)
  (if (i32.eq $p $q) (then (return 1)))
  (until $few (i32.le_u $n 4)
    (if (v128.any_true (v128.xor (v128.load align=4 $p) (v128.load align=4 $q))) (then (return 0)))
    (local.set $p (i32.add $p 16))
    (local.set $q (i32.add $q 16))
    (local.set $n (i32.sub $n 4)))
  (i32.eqz (i32.and
    (i32x4.bitmask (i32x4.ne (v128.load align=4 $p) (v128.load align=4 $q)))
    (i32.sub (i32.shl 1 $n) 1))))


;; Lists of words.

;; True if two lists have the same items in the same order.
(func $equal_lists (param $p $q i32) (result i32)
  (if (i32.ne (i32.load $p) (i32.load $q)) (then (return 0)))
  (call $equal_words (i32.add $p 4) (i32.add $q 4) (i32.load $p)))

;; Address of the first item equal to a word, or 0. Compares four items at a time; words behind the list do not count.
(func $find (param $list $word i32) (result i32)
  (local $at $end $found i32) (local $words v128)
  (local.set $end (call $end_of $list))
  (local.set $words (i32x4.splat $word))
  (walk $at (i32.add $list 4) $end 16
    (local.set $found (i32x4.bitmask (i32x4.eq (v128.load align=4 $at) $words)))
    (if $found
      (then (local.set $at (i32.add $at (i32.shl (i32.ctz $found) 2)))
            (return (select $at 0 (i32.lt_u $at $end))))))
  0)

;; List of n words: 1 at each index that is an item of a list, else 0. Traps if an item is not an index below n.
(func $flags (param $list $n i32) (result i32)
  (local $fresh $at $end i32)
  (local.set $fresh (call $new_list $n))
  (call $fill_words (i32.add $fresh 4) $n 0)
  (each $at $end $list
    (if (i32.ge_u (i32.load $at) $n) (then (unreachable)))
    (i32.store offset=4 (i32.add $fresh (i32.shl (i32.load $at) 2)) 1))
  $fresh)

;; Number of the first of `count` things, from one on, whose words are not all 0, or `count`.
(func $next_filled (param $number $at $words $count i32) (result i32)
  (local $here $end i32)
  (local.set $here (i32.add $at (i32.shl (i32.mul $number $words) 2)))
  (local.set $end (i32.add $at (i32.shl (i32.mul $count $words) 2)))
  (until $few (i32.gt_u (i32.add $here 64) $end)
    (br_if $few (v128.any_true (v128.or
      (v128.or (v128.load align=4 $here) (v128.load offset=16 align=4 $here))
      (v128.or (v128.load offset=32 align=4 $here) (v128.load offset=48 align=4 $here)))))
    (local.set $here (i32.add $here 64)))
  (walk $here $here $end 4
    (br_if $here.done (i32.load $here)))
  (i32.div_u (i32.shr_u (i32.sub $here $at) 2) $words))

;; True if a word is an item of a list.
(func $contains (param $list $word i32) (result i32)
  (i32.ne (call $find $list $word) 0))

;; Position, from 0, of the first item equal to a word, or none.
(func $position (param $list $word i32) (result i64)
  (local $at i32)
  (local.set $at (call $find $list $word))
  (if (i32.eqz $at) (then (return (i64.const -2147483648))))
  (i64.extend_i32_u (i32.sub (i32.shr_u (i32.sub $at $list) 2) 1)))

;; New list of n consecutive words.
(func $list_of (param $from $n i32) (result i32)
  (local $fresh i32)
  (local.set $fresh (call $new_list $n))
  (call $copy_words (i32.add $fresh 4) $from $n)
  $fresh)

;; New list with the same items.
(func $copy_list (param $list i32) (result i32)
  (call $list_of (i32.add $list 4) (i32.load $list)))

;; Items of one list, then those of another.
(func $concat (param $a $b i32) (result i32)
  (local $fresh $n i32)
  (local.set $n (i32.load $a))
  (local.set $fresh (call $new_list (i32.add $n (i32.load $b))))
  (call $copy_words (i32.add $fresh 4) (i32.add $a 4) $n)
  (call $copy_words (i32.add (i32.add $fresh 4) (i32.shl $n 2)) (i32.add $b 4) (i32.load $b))
  $fresh)

;; List without its first item.
(func $rest (param $list i32) (result i32)
  (local $n i32)
  (local.set $n (i32.load $list))
  (call $list_of (i32.add $list 8) (i32.sub $n (i32.ne $n 0))))

;; First n items of a list, or all if it has fewer.
(func $take (param $n i64) (param $list i32) (result i32)
  (local $all i64)
  (local.set $all (i64.load32_u $list))
  (if (i64.gt_s $n $all) (then (local.set $n $all)))
  (if (i64.lt_s $n (i64.const 0)) (then (local.set $n (i64.const 0))))
  (call $list_of (i32.add $list 4) (i32.wrap_i64 $n)))

;; Reversed list.
(func $reversed (param $list i32) (result i32)
  (local $fresh $at $into i32)
  (local.set $fresh (call $new_list (i32.load $list)))
  (local.set $at (i32.add $list 4))
  (local.set $into (call $end_of $fresh))
  (until $done (i32.eq (local.tee $into (i32.sub $into 4)) $fresh)
    (i32.store $into (i32.load $at))
    (local.set $at (i32.add $at 4)))
  $fresh)

;; List without the first item equal to a word; traps if there is none.
(func $without (param $list $word i32) (result i32)
  (local $at i32)
  (local.set $at (call $find $list $word))
  (if (i32.eqz $at) (then (unreachable)))
  (call $without_place $list (i32.sub (i32.shr_u (i32.sub $at $list) 2) 1)))

;; List without the item at a position.
(func $without_place (param $list $place i32) (result i32)
  (local $made $bytes $left i32)
  (local.set $left (i32.sub (i32.load $list) 1))
  (local.set $made (call $alloc (i32.add $left 1)))
  (i32.store $made $left)
  (local.set $bytes (i32.shl $place 2))
  (call $copy_words (i32.add $made 4) (i32.add $list 4) $place)
  (call $copy_words (i32.add (i32.add $made 4) $bytes) (i32.add (i32.add $list 8) $bytes) (i32.sub $left $place))
  $made)

;; Sum of n consecutive words; traps if it equals none.
(func $sum_of_words (param $at $n i32) (result i64)
  (local $sum i64) (local $end i32)
  (local.set $end (i32.add $at (i32.shl $n 2)))
  (walk $at $at $end 4
    (local.set $sum (i64.add $sum (i64.load32_s $at))))
  (if (i64.eq $sum (i64.const -2147483648)) (then (unreachable)))
  $sum)

;; Number of choices of n items among a number of items; traps if there are more than 20,000.
(func $choices (param $n $among i64) (result i32)
  (local $found $i i64)
  (if (i64.gt_u $n $among) (then (return 0)))  ;; n below 0 too
  (if (i64.gt_u $n (i64.sub $among $n)) (then (local.set $n (i64.sub $among $n))))
  (local.set $found (i64.const 1))
  (until $done (i64.eq $i $n)
    (local.set $found (i64.mul $found (i64.sub $among $i)))
    (local.set $i (i64.add $i (i64.const 1)))
    (local.set $found (i64.div_u $found $i))
    (if (i64.gt_u $found (i64.const 20000)) (then (unreachable))))
  (i32.wrap_i64 $found))

;; All choices of n items, in the order of the list; traps if there are more than 20,000.
(func $subsets (param $n i64) (param $list i32) (result i32)
  (local $fresh $into $end $size $places $place $i $subset $most i32)
  (local.set $fresh (call $new_list (call $choices $n (i64.load32_u $list))))
  (local.set $into (i32.add $fresh 4))
  (local.set $end (call $end_of $fresh))
  (if (i32.eq $into $end) (then (return $fresh)))
  ;; `places` has the positions of the current choice. It is allocated first so that the choices end the arena.
  (local.set $size (i32.wrap_i64 $n))
  (local.set $places (call $alloc $size))
  (walk $i 0 $size 1
    (i32.store (i32.add $places (i32.shl $i 2)) $i))
  (block $done
    (loop $next
      (local.set $subset (call $gathered $list $places $size))
      (i32.store $into $subset)
      (local.set $into (i32.add $into 4))
      (br_if $done (i32.eq $into $end))
      ;; Advance the last position that is not at its maximum, and let the others follow it.
      (local.set $i $size)
      (local.set $most (i32.load $list))
      (loop $back
        (local.set $i (i32.sub $i 1))
        (local.set $most (i32.sub $most 1))
        (local.set $place (i32.load (i32.add $places (i32.shl $i 2))))
        (br_if $back (i32.eq $place $most)))
      (loop $follow
        (local.set $place (i32.add $place 1))
        (i32.store (i32.add $places (i32.shl $i 2)) $place)
        (local.set $i (i32.add $i 1))
        (br_if $follow (i32.ne $i $size)))
      (br $next)))
  $fresh)

;; New list of the items at n positions.
(func $gathered (param $list $places $n i32) (result i32)
  (local $fresh $into $end i32)
  (local.set $fresh (call $new_list $n))
  (local.set $into (i32.add $fresh 4))
  (local.set $end (call $end_of $fresh))
  (until $done (i32.eq $into $end)
    (i32.store $into (i32.load offset=4 (i32.add $list (i32.shl (i32.load $places) 2))))
    (local.set $into (i32.add $into 4))
    (local.set $places (i32.add $places 4)))
  $fresh)


;; Sorting. An item has `width` keys of 64 bits; the keys of consecutive items are consecutive.

;; Lexicographic comparison of n 64-bit numbers: -1, 0 or 1.
(func $compare_keys (param $p $q $n i32) (result i32)
  (local $a $b i64)
  (until $equal (i32.eqz $n)
    (local.set $a (i64.load align=4 $p))
    (local.set $b (i64.load align=4 $q))
    (if (i64.ne $a $b) (then (return (select -1 1 (i64.lt_s $a $b)))))
    (local.set $p (i32.add $p 8))
    (local.set $q (i32.add $q 8))
    (local.set $n (i32.sub $n 1)))
  0)

;; Insertion sort of the positions between two addresses by their keys.
(func $insertion (param $from $end $keys $width i32)
  (local $at $into $place $before $bytes $key i32)
  (local.set $bytes (i32.shl $width 3))
  (walk $at (i32.add $from 4) $end 4
    (local.set $place (i32.load $at))
    (local.set $key (i32.add $keys (i32.mul $place $bytes)))
    (local.set $into $at)
    (until $found (i32.eq $into $from)
      (local.set $before (i32.load (i32.sub $into 4)))
      (br_if $found (i32.le_s (call $compare_keys (i32.add $keys (i32.mul $before $bytes)) $key $width) 0))
      (i32.store $into $before)
      (local.set $into (i32.sub $into 4)))
    (i32.store $into $place)))

;; Merge two adjacent sorted runs of positions: from `a` to `middle`, and from there to `end`.
(func $merge (param $into $a $middle $end $keys $width i32)
  (local $b $bytes i32)
  (local.set $bytes (i32.shl $width 3))
  (local.set $b $middle)
  (until $done (i32.or (i32.eq $a $middle) (i32.eq $b $end))
    (if (i32.le_s
          (call $compare_keys
            (i32.add $keys (i32.mul (i32.load $a) $bytes))
            (i32.add $keys (i32.mul (i32.load $b) $bytes))
            $width)
          0)
      (then (i32.store $into (i32.load $a))
            (local.set $a (i32.add $a 4)))
      (else (i32.store $into (i32.load $b))
            (local.set $b (i32.add $b 4))))
    (local.set $into (i32.add $into 4)))
  (memory.copy $into $a (i32.sub $middle $a))
  (memory.copy (i32.add $into (i32.sub $middle $a)) $b (i32.sub $end $b)))

;; Address of the positions 0 to n - 1, stably sorted by their keys. The caller releases the arena.
(func $order (param $n $keys $width i32) (result i32)
  (local $from $into $swap $i $run $bytes i32)
  (local.set $bytes (i32.shl $n 2))
  (local.set $from (call $alloc $n))
  (walk $i 0 $n 1
    (i32.store (i32.add $from (i32.shl $i 2)) $i))
  (local.set $run 64)  ;; bytes of 16 positions
  (if (i32.le_u $bytes $run)
    (then (call $insertion $from (i32.add $from $bytes)
                           $keys $width)
          (return $from)))
  (local.set $into (call $alloc $n))
  (walk $i 0 $bytes $run
    (call $insertion (i32.add $from $i) (i32.add $from (call $smaller (i32.add $i $run) $bytes)) $keys $width))
  (loop $longer
    (local.set $i 0)
    (loop $next
      (call $merge
        (i32.add $into $i)
        (i32.add $from $i)
        (i32.add $from (call $smaller (i32.add $i $run) $bytes))
        (i32.add $from (call $smaller (i32.add $i (i32.shl $run 1)) $bytes))
        $keys $width)
      (local.set $i (i32.add $i (i32.shl $run 1)))
      (br_if $next (i32.lt_u $i $bytes)))
    (local.set $swap $from)
    (local.set $from $into)
    (local.set $into $swap)
    (br_if $longer (i32.lt_u (local.tee $run (i32.shl $run 1)) $bytes)))
  $from)

;; Minimum of two unsigned numbers.
(func $smaller (param $a $b i32) (result i32)
  (select $a $b (i32.lt_u $a $b)))

;; Stable sort of a list by the keys of its items.
(func $sort (param $list $keys $width i32) (result i32)
  (local $fresh $n i32)
  (local.set $n (i32.load $list))
  (local.set $fresh (global.get $arena))
  (call $to_front (call $gathered $list (call $order $n $keys $width) $n) $fresh))

;; Move the last list of the arena to an earlier address, which releases the scratch memory between.
(func $to_front (param $list $into i32) (result i32)
  (memory.copy $into $list (i32.sub (call $end_of $list) $list))
  (global.set $arena (call $end_of $into))
  $into)

;; Address of the items of a list as keys of width 1. The caller releases the arena.
(func $own_keys (param $list i32) (result i32)
  (local $keys $into $at $end i32)
  (local.set $keys (call $alloc (i32.shl (i32.load $list) 1)))
  (local.set $into $keys)
  (each $at $end $list
    (i64.store align=4 $into (i64.load32_s $at))
    (local.set $into (i32.add $into 8)))
  $keys)

;; Items of a list in ascending order, without duplicates.
(func $set_of (param $list i32) (result i32)
  (local $start $fresh $n $at $into $end i32)
  (if (call $is_ascending $list) (then (return (call $copy_list $list))))
  (local.set $start (global.get $arena))
  (local.set $n (i32.load $list))
  (local.set $fresh (call $gathered $list (call $order $n (call $own_keys $list) 1) $n))
  (local.set $into (i32.add $fresh 4))  ;; the last unique item
  (local.set $end (call $end_of $fresh))
  (walk $at $into $end 4
    (if (i32.ne (i32.load $at) (i32.load $into))
      (then (local.set $into (i32.add $into 4))
            (i32.store $into (i32.load $at)))))
  (i32.store $fresh (i32.shr_u (i32.sub $into $fresh) 2))
  (call $to_front $fresh $start))

;; True if a list is strictly ascending.
(func $is_ascending (param $list i32) (result i32)
  (local $at $end i32)
  (local.set $end (call $end_of $list))
  (walk $at (i32.add $list 8) $end 4
    (if (i32.ge_s (i32.load (i32.sub $at 4)) (i32.load $at)) (then (return 0))))
  1)

;; Items of a list without duplicates, in the order of their first occurrence.
(func $distinct (param $list i32) (result i32)
  (local $fresh $at $end $n $item i32)
  (if (i32.gt_u (i32.load $list) 64) (then (return (call $distinct_of_many $list))))
  (local.set $fresh (call $new_list (i32.load $list)))
  (i32.store $fresh 0)
  (each $at $end $list
    (local.set $item (i32.load $at))
    (if (i32.eqz (call $find $fresh $item))
      (then (i32.store (call $end_of $fresh) $item)
            (i32.store $fresh (local.tee $n (i32.add $n 1))))))
  (global.set $arena (call $end_of $fresh))
  $fresh)

;; `$distinct` of a long list, by sorting: an item equal to its predecessor is a duplicate.
(func $distinct_of_many (param $list i32) (result i32)
  (local $fresh $into $repeats $places $n $i $place $item $before i32)
  (local.set $n (i32.load $list))
  (local.set $fresh (call $new_list $n))
  (local.set $repeats (call $alloc $n))  ;; by position, 1 for a duplicate
  (local.set $places (call $order $n (call $own_keys $list) 1))
  (walk $i 0 $n 1
    (local.set $place (i32.shl (i32.load (i32.add $places (i32.shl $i 2))) 2))
    (local.set $item (i32.load offset=4 (i32.add $list $place)))
    (i32.store (i32.add $repeats $place) (i32.and (i32.ne $i 0) (i32.eq $item $before)))
    (local.set $before $item))
  (local.set $into (i32.add $fresh 4))
  (walk $i 0 $n 1
    (i32.store $into (i32.load offset=4 (i32.add $list (i32.shl $i 2))))
    (if (i32.eqz (i32.load (i32.add $repeats (i32.shl $i 2)))) (then (local.set $into (i32.add $into 4)))))
  (i32.store $fresh (i32.sub (i32.shr_u (i32.sub $into $fresh) 2) 1))
  (global.set $arena $into)
  $fresh)


;; Bags over a kind with k members.

;; Sum of a bag and a multiple of another; a count can be negative.
(func $bag_sum (param $a $b i32) (param $times i64) (param $k i32) (result i32)
  (local $fresh $at $end i32) (local $number i64)
  (local.set $fresh (call $alloc $k))
  (local.set $end (i32.add $fresh (i32.shl $k 2)))
  (walk $at $fresh $end 4
    (local.set $number (i64.add (i64.load32_s $a) (i64.mul (i64.load32_s $b) $times)))
    (i32.store $at (call $word $number))
    (local.set $a (i32.add $a 4))
    (local.set $b (i32.add $b 4)))
  $fresh)

;; Empty bag.
(func $no_tokens (param $k i32) (result i32)
  (local $fresh i32)
  (local.set $fresh (call $alloc $k))
  (call $fill_words $fresh $k 0)
  $fresh)

;; Bag with a number added to the count of one kind.
(func $bag_with (param $bag i32) (param $number i64) (param $kind $k i32) (result i32)
  (local $fresh i32)
  (if (i32.ge_u $kind $k) (then (unreachable)))
  (local.set $fresh (call $alloc $k))
  (call $copy_words $fresh $bag $k)
  (local.set $kind (i32.add $fresh (i32.shl $kind 2)))
  (i32.store $kind (call $word (i64.add (i64.extend_i32_s (call $word $number)) (i64.load32_s $kind))))
  $fresh)

;; Bag with tokens of one kind only.
(func $bag_single (param $number i64) (param $kind $k i32) (result i32)
  (local $fresh i32)
  (if (i32.ge_u $kind $k) (then (unreachable)))
  (local.set $fresh (call $no_tokens $k))
  (i32.store (i32.add $fresh (i32.shl $kind 2)) (call $word $number))
  $fresh)

;; Sum of a list of bags.
(func $sum_of_bags (param $list $k i32) (result i32)
  (local $fresh $kind $end $at i32) (local $number i64)
  (local.set $fresh (call $alloc $k))
  (local.set $end (i32.shl $k 2))
  (walk $kind 0 $end 4
    (local.set $number (i64.const 0))
    (local.set $at (call $end_of $list))
    (until $summed (i32.eq (local.tee $at (i32.sub $at 4)) $list)
      (local.set $number (i64.add $number (i64.load32_s (i32.add (i32.load $at) $kind)))))
    (i32.store (i32.add $fresh $kind) (call $word $number)))
  $fresh)

;; Rooms. A set of rooms is 64 bits. Kinds that fit into the same rooms form a group: its set of rooms and its number of
;; tokens, 8 bytes each. The maximum number of tokens that fit is a minimum cut: tokens overflow if a set of groups has
;; more tokens than the total capacity of all rooms for any of these groups.

;; End of the groups; traps above 10 groups, as the kernel does, above 64 rooms and for a negative capacity. The groups
;; begin at the old end of the arena, followed after 160 bytes by the set of rooms of each kind. The caller releases the
;; arena.
(func $groups (param $bag $rooms $k i32) (result i32)
  (local $first $end $sets $room $at $list_end $kind $group i32) (local $bit $set i64)
  (local.set $first (call $alloc (i32.add 40 (i32.shl $k 1))))
  (local.set $end $first)
  (local.set $sets (i32.add $first 160))
  (memory.fill $sets 0 (i32.shl $k 3))
  (if (i32.gt_u (i32.load $rooms) 64) (then (unreachable)))
  (local.set $bit (i64.const 1))
  (each $rooms $list_end $rooms
    (local.set $room (i32.load $rooms))
    (if (i32.lt_s (i32.load offset=4 $room) 0) (then (unreachable)))
    (local.set $room (i32.load $room))
    (local.set $at (call $end_of $room))
    (until $taken (i32.eq (local.tee $at (i32.sub $at 4)) $room)
      (local.set $kind (i32.load $at))
      (if (i32.ge_u $kind $k) (then (unreachable)))
      (local.set $kind (i32.add $sets (i32.shl $kind 3)))
      (i64.store align=4 $kind (i64.or (i64.load align=4 $kind) $bit)))
    (local.set $bit (i64.shl $bit (i64.const 1))))
  (walk $kind 0 $k 1
    (local.set $set (i64.load align=4 (i32.add $sets (i32.shl $kind 3))))
    (local.set $group (call $group_of $set $first $end))
    (if (i32.eq $group $end)
      (then (local.set $end (i32.add $end 16))
            (if (i32.gt_u $end $sets) (then (unreachable)))
            (i64.store align=4 $group $set)
            (i64.store offset=8 align=4 $group (i64.const 0))))
    (i64.store offset=8 align=4 $group
      (i64.add (i64.load offset=8 align=4 $group) (i64.load32_s (i32.add $bag (i32.shl $kind 2))))))
  $end)

;; Address of the group with a set of rooms, or the end if there is none.
(func $group_of (param $set i64) (param $group $end i32) (result i32)
  (walk $group $group $end 16
    (br_if $group.done (i64.eq (i64.load align=4 $group) $set)))
  $group)

;; Capacity of a set of rooms.
(func $capacity (param $rooms i32) (param $set i64) (result i64)
  (local $capacity i64) (local $room i32)
  (until $done (i64.eqz $set)
    (local.set $room (i32.shl (i32.wrap_i64 (i64.ctz $set)) 2))
    (local.set $capacity (i64.add $capacity (i64.load32_s offset=4 (i32.load offset=4 (i32.add $rooms $room)))))
    (local.set $set (i64.and $set (i64.sub $set (i64.const 1)))))
  $capacity)

;; Minimum of the remaining capacity over all sets of groups: those chosen so far, with the rooms `set` and `left`
;; remaining in these, and any of the groups up to `end`. Groups without tokens are skipped.
(func $least_left (param $rooms $group $end i32) (param $set $left i64) (result i64)
  (local $without $with $more i64)
  (if (i32.eq $group $end) (then (return $left)))
  (local.set $without (call $least_left $rooms (i32.add $group 16) $end $set $left))
  (if (i64.le_s (i64.load offset=8 align=4 $group) (i64.const 0)) (then (return $without)))
  (local.set $more (i64.and (i64.load align=4 $group) (i64.xor $set (i64.const -1))))
  (local.set $with (call $least_left
    $rooms (i32.add $group 16) $end
    (i64.or $set $more)
    (i64.sub (i64.add $left (call $capacity $rooms $more)) (i64.load offset=8 align=4 $group))))
  (select $with $without (i64.lt_s $with $without)))

;; `$overflow` in the general case.
(func $overflow_of_many (param $bag $rooms $k i32) (result i64)
  (local $first $end i32)
  (local.set $first (global.get $arena))
  (local.set $end (call $groups $bag $rooms $k))
  (global.set $arena $first)
  (i64.sub (i64.const 0) (call $least_left $rooms $first $end (i64.const 0) (i64.const 0))))

;; `$space` in the general case.
(func $space_of_many (param $bag $rooms $kind $k i32) (result i64)
  (local $first $end $group i32) (local $set $tokens i64)
  (if (i32.ge_u $kind $k) (then (unreachable)))
  (local.set $first (global.get $arena))
  (local.set $end (call $groups $bag $rooms $k))
  (global.set $arena $first)
  (local.set $set (i64.load offset=160 align=4 (i32.add $first (i32.shl $kind 3))))
  (local.set $group (call $group_of $set $first $end))
  (local.set $tokens (i64.load offset=8 align=4 $group))
  (i64.store offset=8 align=4 $group (i64.const 0))  ;; from here on, tokens of the other groups only
  (if (i64.lt_s (call $least_left $rooms $first $end (i64.const 0) (i64.const 0))
                (i64.const 0))
    (then (return (i64.const 0))))
  (local.set $tokens (call $least_left $rooms $first $end $set (i64.sub (call $capacity $rooms $set) $tokens)))
  (select $tokens (i64.const 0) (i64.gt_s $tokens (i64.const 0))))

;; Number of tokens that do not fit when the rooms are filled optimally.
(func $overflow (param $bag $rooms $k i32) (result i64)
  (local $first i32) (local $over i64)
  (if (i32.gt_u $k 6) (then (return (call $overflow_of_many $bag $rooms $k))))
  (local.set $first (global.get $arena))
  (local.set $over
    (call $overflow_within $bag (call $capacities (call $kinds_in $bag $k) $rooms $k) $k))
  (global.set $arena $first)
  (if (i64.lt_s $over (i64.const 0)) (then (return (call $overflow_of_many $bag $rooms $k))))
  $over)

;; Number of tokens of a kind that fit in addition to the bag; 0 if the bag itself does not fit.
(func $space (param $bag $rooms $kind $k i32) (result i64)
  (local $first i32) (local $left i64)
  (if (i32.gt_u $k 6) (then (return (call $space_of_many $bag $rooms $kind $k))))
  (local.set $first (global.get $arena))
  (if (i32.ge_u $kind $k) (then (unreachable)))
  (local.set $left (i64.load32_s offset=4 (i32.add (i32.shl $kind 2)
    (call $spaces $bag (call $capacities (i32.or (call $kinds_in $bag $k) (i32.shl 1 $kind)) $rooms $k) $k))))
  (global.set $arena $first)
  (if (i64.lt_s $left (i64.const 0)) (then (return (call $space_of_many $bag $rooms $kind $k))))
  $left)

;; Up to 6 kinds: a list has the capacity of rooms for each set of kinds.

;; List of the total capacity of rooms that take any kind of a set, by set, for the subsets of a set; 0 for other sets.
;; Traps above 64 rooms, for a negative capacity, and if the total does not fit into a word.
(func $capacities (param $all_kinds $rooms $k i32) (result i32)
  (local $list $end $room $at $kinds $kind $set i32) (local $capacity $all i64)
  (if (i32.gt_u $k 6) (then (unreachable)))
  (if (i32.gt_u (i32.load $rooms) 64) (then (unreachable)))
  (local.set $list (call $new_list (i32.shl 1 $k)))
  (call $fill_words (i32.add $list 4) (i32.load $list) 0)
  (each $rooms $end $rooms
    (local.set $room (i32.load $rooms))
    (local.set $capacity (i64.load32_s offset=4 $room))
    (local.set $all (i64.add $all $capacity))
    (if (i64.lt_s $capacity (i64.const 0)) (then (unreachable)))
    (if (i64.gt_s $all (i64.const 0x7FFFFFFF)) (then (unreachable)))
    (local.set $room (i32.load $room))
    (local.set $at (call $end_of $room))
    (local.set $kinds 0)
    (until $taken (i32.eq (local.tee $at (i32.sub $at 4)) $room)
      (local.set $kind (i32.load $at))
      (if (i32.ge_u $kind $k) (then (unreachable)))
      (local.set $kinds (i32.or $kinds (i32.shl 1 $kind))))
    (local.set $set (i32.and (i32.sub (i32.load $list) 1) $all_kinds))
    (loop $sets
      (local.set $at (i32.add $list (i32.shl $set 2)))
      (i32.store offset=4 $at
        (i32.add (i32.load offset=4 $at) (select (i32.wrap_i64 $capacity) 0 (i32.and $set $kinds))))
      (br_if $sets (local.tee $set (i32.and (i32.sub $set 1) $all_kinds)))))
  $list)

;; Set of the kinds, up to 8, of which a bag has tokens; -1 if a count is negative.
(func $kinds_in (param $bag $k i32) (result i32)
  (local $words v128) (local $negative $some i32)
  (local.set $words (v128.load align=4 $bag))
  (local.set $negative (i32x4.bitmask $words))
  (local.set $some (i32x4.bitmask (i32x4.ne $words (v128.const i32x4 0 0 0 0))))
  (if (i32.gt_u $k 4)
    (then
      (local.set $words (v128.load offset=16 align=4 $bag))
      (local.set $negative (i32.or $negative (i32.shl (i32x4.bitmask $words) 4)))
      (local.set $some
        (i32.or $some (i32.shl (i32x4.bitmask (i32x4.ne $words (v128.const i32x4 0 0 0 0))) 4)))))
  (local.set $k (i32.sub (i32.shl 1 $k) 1))
  (select -1 (i32.and $some $k) (i32.and $negative $k)))

;; Number of tokens of a set of kinds in a bag.
(func $tokens_of (param $bag $set i32) (result i64)
  (local $tokens i64)
  (until $done (i32.eqz $set)
    (local.set $tokens (i64.add $tokens (i64.load32_s (i32.add $bag (i32.shl (i32.ctz $set) 2)))))
    (local.set $set (i32.and $set (i32.sub $set 1))))
  $tokens)

;; `$overflow` with the list of `$capacities`; -1 if a count is negative.
(func $overflow_within (param $bag $list $k i32) (result i64)
  (local $some $set i32) (local $most $over i64)
  (local.set $some (call $kinds_in $bag $k))
  (if (i32.lt_s $some 0) (then (return (i64.const -1))))
  (local.set $set $some)
  (until $done (i32.eqz $set)
    (local.set $over (i64.sub (call $tokens_of $bag $set) (i64.load32_u offset=4 (i32.add $list (i32.shl $set 2)))))
    (local.set $most (select $over $most (i64.gt_s $over $most)))
    (local.set $set (i32.and (i32.sub $set 1) $some)))
  $most)

;; List of the number of tokens of each kind that fit in addition to the bag, with the list of `$capacities`: the least
;; that a set of kinds in the bag leaves of the rooms that take it or that kind. Only 0 if the bag does not fit, only -1
;; if a count is negative.
(func $spaces (param $bag $list $k i32) (result i32)
  (local $fresh $at $bit $some $set $rooms i32) (local $tokens i64) (local $least v128)
  (local.set $fresh (call $new_list (i32.add $k 3)))  ;; four kinds at a time
  (i32.store $fresh $k)
  (local.set $at (i32.add $fresh 4))
  (global.set $arena (i32.add $at (i32.shl $k 2)))
  (local.set $some (call $kinds_in $bag $k))
  (local.set $bit 1)
  (until $done (i32.ge_u $bit (i32.shl 1 $k))
    (local.set $least (v128.const i32x4 -1 -1 -1 -1))
    (local.set $set $some)
    (until $negative (i32.lt_s $set 0)
      (local.set $tokens (call $tokens_of $bag $set))
      (local.set $rooms (i32.add $list (i32.shl $set 2)))
      (if (i64.lt_u (i64.load32_u offset=4 $rooms) $tokens) (then
        (call $fill_words (i32.add $fresh 4) $k 0)
        (return $fresh)))
      (local.set $least (i32x4.min_u $least (i32x4.sub
        (call $four $list $set $bit)
        (i32x4.splat (i32.wrap_i64 $tokens)))))
      (local.set $set (select (i32.and (i32.sub $set 1) $some) -1 $set)))
    (v128.store align=4 $at $least)
    (local.set $at (i32.add $at 16))
    (local.set $bit (i32.shl $bit 4)))
  $fresh)

;; Words of a list at the places of a set with each of four kinds.
(func $four (param $list $set $bit i32) (result v128)
  (v128.load32_lane offset=4 3 (i32.add $list (i32.shl (i32.or $set (i32.shl $bit 3)) 2))
    (v128.load32_lane offset=4 2 (i32.add $list (i32.shl (i32.or $set (i32.shl $bit 2)) 2))
      (v128.load32_lane offset=4 1 (i32.add $list (i32.shl (i32.or $set (i32.shl $bit 1)) 2))
        (i32x4.splat (i32.load offset=4 (i32.add $list (i32.shl (i32.or $set $bit) 2))))))))

;; All bags of `number` tokens of the given kinds that are part of a bag, in the order of the count of the first kind,
;; then of the second. Traps above 64 kinds and above 100,000 words, as the kernel does.
(func $mixes (param $number i64) (param $kinds $bag $k i32) (result i32)
  (local $some $n $left $mix $i $first $fresh $end i32) (local $tokens i64)
  ;; `some` lists the kinds in the bag; `left` has, by position, the number of tokens of that kind and later ones.
  (local.set $some (call $held (call $distinct $kinds) $bag $k))
  (local.set $n (i32.load $some))
  (if (i32.gt_u $n 64) (then (unreachable)))
  (local.set $left (call $alloc (i32.add (i32.shl $n 1) 2)))
  (local.set $i $n)
  (block $summed
    (loop $next
      (i64.store align=4 (i32.add $left (i32.shl $i 3)) $tokens)
      (br_if $summed (i32.eqz $i))
      (local.set $tokens
        (i64.add $tokens (i64.load32_s (i32.add $bag (i32.shl (i32.load (i32.add $some (i32.shl $i 2))) 2)))))
      (local.set $i (i32.sub $i 1))
      (br $next)))
  (if (i64.gt_u $number $tokens) (then (return (call $new_list 0))))
  (local.set $mix (call $no_tokens $k))
  (local.set $first (global.get $arena))
  (call $mixes_from $number (i32.add $some 4) (call $end_of $some) $left $bag $mix $k $first)
  ;; List of the addresses of all bags between `first` and the end of the arena.
  (local.set $n (i32.div_u (i32.sub (global.get $arena) $first) (i32.shl $k 2)))
  (local.set $fresh (call $alloc (i32.add $n 1)))
  (i32.store $fresh $n)
  (each $i $end $fresh
    (i32.store $i $first)
    (local.set $first (i32.add $first (i32.shl $k 2))))
  $fresh)

;; Kinds of a list that are in a bag.
(func $held (param $kinds $bag $k i32) (result i32)
  (local $fresh $at $end $into $kind i32)
  (local.set $fresh (call $new_list (i32.load $kinds)))
  (local.set $into (i32.add $fresh 4))
  (each $at $end $kinds
    (local.set $kind (i32.load $at))
    (if (i32.ge_u $kind $k) (then (unreachable)))
    (if (i32.gt_s (i32.load (i32.add $bag (i32.shl $kind 2))) 0)
      (then (i32.store $into $kind)
            (local.set $into (i32.add $into 4)))))
  (i32.store $fresh (i32.sub (i32.shr_u (i32.sub $into $fresh) 2) 1))
  $fresh)

;; Append all mixes of `rest` tokens of the kinds from `kinds` to `end`, combined with the tokens of earlier kinds in
;; `mix`.
(func $mixes_from (param $rest i64) (param $kinds $end $left $bag $mix $k $first i32)
  (local $kind i32) (local $count $most i64)
  (if (i32.eq $kinds $end)
    (then (call $copy_words (call $alloc $k) $mix $k)
          (if (i32.gt_u (i32.sub (global.get $arena) $first) 400000) (then (unreachable)))
          (return)))
  (local.set $kind (i32.shl (i32.load $kinds) 2))
  (local.set $most (i64.load32_s (i32.add $bag $kind)))
  (if (i64.gt_s $most $rest) (then (local.set $most $rest)))
  (local.set $count (i64.sub $rest (i64.load offset=8 align=4 $left)))
  (if (i64.lt_s $count (i64.const 0)) (then (local.set $count (i64.const 0))))
  (loop $next
    (i32.store (i32.add $mix $kind) (i32.wrap_i64 $count))
    (call $mixes_from (i64.sub $rest $count) (i32.add $kinds 4) $end (i32.add $left 8) $bag $mix $k $first)
    (local.set $count (i64.add $count (i64.const 1)))
    (br_if $next (i64.le_s $count $most))))


;; Tracks. A track is k addresses of rows. A row is its capacity c, then c + 1 sums of its first prices, then c prices.

;; Number of free positions next to `count` tokens of a kind; traps if the row has fewer positions than tokens.
(func $track_vacancy (param $track $kind i32) (param $count i64) (result i64)
  (local $capacity i64)
  (if (i32.lt_s $kind 0) (then (unreachable)))
  (local.set $capacity (i64.load32_u (i32.load (i32.add $track (i32.shl $kind 2)))))
  (if (i64.gt_u $count $capacity) (then (unreachable)))
  (i64.sub $capacity $count))

;; Price of tokens, the cheapest of each kind first; traps if there are too few.
(func $track_price (param $track $present $wanted $k i32) (result i64)
  (local $price i64)
  (until $done (i32.eqz $k)
    (local.set $price
      (i64.add $price (call $row_price (i32.load $track) (i32.load $present) (i32.load $wanted))))
    (local.set $track (i32.add $track 4))
    (local.set $present (i32.add $present 4))
    (local.set $wanted (i32.add $wanted 4))
    (local.set $k (i32.sub $k 1)))
  $price)

;; Price of a number of tokens of one kind, of which `count` are on the row: the sum up to the last, less that before
;; the first.
(func $row_price (param $row $count $number i32) (result i64)
  (if (i32.or (i32.gt_u $count (i32.load $row)) (i32.gt_u $number $count)) (then (unreachable)))
  (local.set $row (i32.add $row (i32.shl (i32.sub (i32.load $row) $count) 2)))
  (i64.sub (i64.load32_s offset=4 (i32.add $row (i32.shl $number 2))) (i64.load32_s offset=4 $row)))

;; Price of each position of a row, ascending.
(func $track_prices (param $track $kind i32) (result i32)
  (local $row i32)
  (if (i32.lt_s $kind 0) (then (unreachable)))
  (local.set $row (i32.load (i32.add $track (i32.shl $kind 2))))
  (call $list_of (i32.add (i32.add $row 8) (i32.shl (i32.load $row) 2)) (i32.load $row)))


;; Graph.
;;
;;   $graph_nodes      n, the number of nodes, up to 65,535
;;   $graph_adjacent   address of the links from each node
;;   $graph_leading    address of the links to each node; the same address where links lead both ways
;;   $graph_cache      address of the cache of distances, described at `$distance`
;;   $graph_slots      number of slots of the cache, 1 or more
;;
;; Links are n + 1 words, the index of the first entry of each node and the number of entries, followed by the entries.
;; An entry is two words: the other node, and the index of the length. The entries of a node are ascending. `lengths` is
;; the address of a word for each index. `within` lists the nodes that a path may use, including its ends; 0 allows all.

;; Length of the link of an entry.
(func $length (param $lengths $entry i32) (result i32)
  (i32.load (i32.add $lengths (i32.shl (i32.load offset=4 $entry) 2))))

;; Address of the first entry of a node; for node n, the end.
(func $entries (param $links $node i32) (result i32)
  (i32.add
    (i32.add $links (i32.shl (i32.add (global.get $graph_nodes) 1) 2))
    (i32.shl (i32.load (i32.add $links (i32.shl $node 2))) 3)))

;; Trap if a word is not a node.
(func $check_node (param $node i32)
  (if (i32.ge_u $node (global.get $graph_nodes)) (then (unreachable))))

;; Push a key onto a heap of `count` keys, with the smallest on top.
(func $heap_push (param $heap $count i32) (param $key i64)
  (local $above i32) (local $other i64)
  (until $done (i32.eqz $count)
    (local.set $above (i32.shr_u (i32.sub $count 1) 1))
    (local.set $other (i64.load align=4 (i32.add $heap (i32.shl $above 3))))
    (br_if $done (i64.ge_u $key $other))
    (i64.store align=4 (i32.add $heap (i32.shl $count 3)) $other)
    (local.set $count $above))
  (i64.store align=4 (i32.add $heap (i32.shl $count 3)) $key))

;; Replace the top of a heap by its last key, which is removed; `count` is the new number of keys.
(func $heap_pop (param $heap $count i32)
  (local $key $other $next i64) (local $place $below i32)
  (local.set $key (i64.load align=4 (i32.add $heap (i32.shl $count 3))))
  (until $done (i32.ge_u (local.tee $below (i32.add (i32.shl $place 1) 1)) $count)
    (local.set $other (i64.load align=4 (i32.add $heap (i32.shl $below 3))))
    (if (i32.lt_u (i32.add $below 1) $count)
      (then
        (local.set $next (i64.load offset=8 align=4 (i32.add $heap (i32.shl $below 3))))
        (if (i64.lt_u $next $other)
          (then (local.set $other $next)
                (local.set $below (i32.add $below 1))))))
    (br_if $done (i64.le_u $key $other))
    (i64.store align=4 (i32.add $heap (i32.shl $place 3)) $other)
    (local.set $place $below))
  (i64.store align=4 (i32.add $heap (i32.shl $place 3)) $key))

;; Dijkstra's algorithm from one node. A path is encoded in 64 bits: its length plus 1, then 16 bits with its number of
;; links, so that the better of two paths is the smaller number. `ways` gets the best path to each node: 0 if the node
;; is not allowed, -1 if it is unreachable. Traps if a length does not fit into a word.
(func $search (param $origin $within $links $lengths $ways i32)
  (local $heap $count $node $other $at $end i32) (local $key $way $next i64)
  (call $allow $within $ways)
  (local.set $other (i32.add $ways (i32.shl $origin 3)))
  (if (i64.eqz (i64.load align=4 $other)) (then (return)))
  (i64.store align=4 $other (i64.const 0x10000))
  ;; An entry pushes at most one key onto the heap: a path, then 16 bits with its last node.
  (local.set $heap
    (call $alloc (i32.add 4 (i32.shl (i32.load (i32.add $links (i32.shl (global.get $graph_nodes) 2))) 1))))
  (local.set $key (i64.or (i64.const 0x100000000) (i64.extend_i32_u $origin)))
  (block $done
    (loop $settle
      (local.set $way (i64.shr_u $key (i64.const 16)))
      (local.set $node (i32.wrap_i64 (i64.and $key (i64.const 0xFFFF))))
      (if (i64.eq $way
                  (i64.load align=4 (i32.add $ways (i32.shl $node 3))))
        (then
          (local.set $end (call $entries $links (i32.add $node 1)))
          (walk $at (call $entries $links $node) $end 8
            (local.set $other (i32.load $at))
            (local.set $next
              (i64.add (i64.add $way (i64.const 1))
                       (i64.shl (i64.extend_i32_u (call $length $lengths $at)) (i64.const 16))))
            (local.set $node (i32.add $ways (i32.shl $other 3)))
            (if (i64.lt_u $next (i64.load align=4 $node))
              (then
                (if (i64.ge_u $next (i64.const 0x800000000000)) (then (unreachable)))
                (i64.store align=4 $node $next)
                (call $heap_push $heap $count (i64.or (i64.shl $next (i64.const 16)) (i64.extend_i32_u $other)))
                (local.set $count (i32.add $count 1)))))))
      (br_if $done (i32.eqz $count))
      (local.set $key (i64.load align=4 $heap))
      (local.set $count (i32.sub $count 1))
      (call $heap_pop $heap $count)
      (br $settle)))
  (global.set $arena $heap))

;; Fill `ways` with -1 for allowed nodes, 0 for others.
(func $allow (param $within $ways i32)
  (local $at $end i32)
  (memory.fill $ways (select 0 255 $within) (i32.shl (global.get $graph_nodes) 3))
  (if (i32.eqz $within) (then (return)))
  (each $at $end $within
    (call $check_node (i32.load $at))
    (i64.store align=4 (i32.add $ways (i32.shl (i32.load $at) 3)) (i64.const -1))))

;; Nodes of the cheapest path from a start to the goal; 0 if there is none. Ties are broken by the number of links, then
;; by the number of the first node, the second, and so on.
(func $path (param $starts $goal $within $lengths i32) (result i32)
  (local $fresh $into $ways $at $end $node i32) (local $way $best $key i64)
  (call $check_node $goal)
  (local.set $fresh (call $alloc (i32.add (global.get $graph_nodes) 1)))
  (local.set $ways (call $ways_to $goal $within $lengths))
  (local.set $best (i64.const -1))
  (each $at $end $starts
    (local.set $node (i32.load $at))
    (call $check_node $node)
    (local.set $way (i64.load align=4 (i32.add $ways (i32.shl $node 3))))
    (local.set $key (i64.or (i64.shl $way (i64.const 16)) (i64.extend_i32_u $node)))
    (if (i32.and (i64.gt_s $way (i64.const 0)) (i64.lt_u $key $best)) (then (local.set $best $key))))
  (global.set $arena $fresh)
  (if (i64.eq $best (i64.const -1)) (then (return 0)))
  (local.set $way (i64.shr_u $best (i64.const 16)))
  (local.set $node (i32.wrap_i64 (i64.and $best (i64.const 0xFFFF))))
  (local.set $into $fresh)
  (block $there
    (loop $walk
      (local.set $into (i32.add $into 4))
      (i32.store $into $node)
      (br_if $there (i64.eqz (i64.and $way (i64.const 0xFFFF))))
      ;; First entry that continues along a best path.
      (local.set $at (call $entries (global.get $graph_adjacent) $node))
      (loop $look
        (local.set $node (i32.load $at))
        (local.set $key
          (i64.sub (i64.sub $way (i64.const 1))
                   (i64.shl (i64.extend_i32_u (call $length $lengths $at)) (i64.const 16))))
        (local.set $at (i32.add $at 8))
        (br_if $look (i64.eqz $key))  ;; the encoding of a node that is not allowed
        (br_if $look (i64.ne $key (i64.load align=4 (i32.add $ways (i32.shl $node 3))))))
      (local.set $way $key)
      (br $walk)))
  (i32.store $fresh (i32.shr_u (i32.sub $into $fresh) 2))
  (global.set $arena (i32.add $into 4))
  $fresh)

;; Cache of distances, initially zero. A slot is for one `lengths` and the nodes of one `within`. The key is the address
;; of the lengths, plus 1 if its rows are the paths to a node and links lead one way: words there must not change unless
;; the cache is cleared. `graph_cache_words` in runtime.py returns the size of a slot. The words of a slot:
;;
;;   0           in the first slot: address of the last used slot, or 0
;;   1           in the first slot: number of the slot to overwrite next; those behind are free until all were used
;;   2           the key, or 0 if the slot is free
;;   3           number of nodes of `within`, or -1 if that is 0
;;   4           n words: the nodes of `within`, in their order there
;;   4 + n       n words: address of the row of each start, or 0 if it has not been computed
;;   4 + 2 n     n rows of n paths, two words each, as `$search` encodes them, and n lengths, one word each

;; Minimum length of a path from any start to the goal, or none. Starts outside `within` are ignored. Paths within few
;; nodes are found anew, all from the goal backwards, and need no slot.
(func $distance (param $starts $goal $within $lengths i32) (result i64)
  (local $rows $at $end $start $way $scratch i32) (local $far $nearest i64)
  (call $check_node $goal)
  (local.set $scratch (call $alloc (i32.shl (global.get $graph_nodes) 1)))
  (if (i32.and (i32.ne $within 0) (i32.le_u (i32.load $within) 4))
    (then (call $search $goal $within (global.get $graph_leading) $lengths $scratch))
    (else (local.set $rows (call $rows_of $within $lengths))))
  (local.set $nearest (i64.const -1))
  (each $at $end $starts
    (local.set $start (i32.load $at))
    (call $check_node $start)
    (local.set $way (i32.add $scratch (i32.shl $start 3)))
    (if $rows (then
      (local.set $way (i32.load (i32.add $rows (i32.shl $start 2))))
      (if $way
        (then (local.set $way (i32.add $way (i32.shl $goal 3))))
        ;; If the graph is undirected, the row of the goal is enough for all starts.
        (else (local.set $way (if (result i32) (i32.eq (global.get $graph_leading) (global.get $graph_adjacent))
          (then (i32.add (call $ways_of $rows $goal $within $lengths) (i32.shl $start 3)))
          (else (i32.add (call $ways_of $rows $start $within $lengths) (i32.shl $goal 3)))))))))
    ;; 0 becomes the largest unsigned number.
    (local.set $far (i64.sub (i64.load align=4 $way) (i64.const 1)))
    (local.set $nearest (select $far $nearest (i64.lt_u $far $nearest))))
  (global.set $arena $scratch)
  (select (i64.const -2147483648)
          (i64.sub (i64.shr_u (i64.add $nearest (i64.const 1)) (i64.const 16)) (i64.const 1))
          (i64.lt_s $nearest (i64.const 0))))

;; List of `$distance` to every node.
(func $nearest (param $starts $within $lengths i32) (result i32)
  (local $list $at $end $rows $row $into $last $shift i32) (local $a $b $c $d v128)
  (local.set $rows (call $rows_of $within $lengths))
  (each $at $end $starts
    (call $check_node (i32.load $at))
    (drop (call $ways_of $rows (i32.load $at) $within $lengths)))
  ;; Sixteen nodes at a time: the list is followed by room for more.
  (local.set $list (call $alloc (i32.add (global.get $graph_nodes) 16)))
  (i32.store $list (global.get $graph_nodes))
  (local.set $last (i32.add $list (i32.shl (global.get $graph_nodes) 2)))
  (local.set $shift (i32.shl (global.get $graph_nodes) 3))
  (walk $into $list $last 64
    (local.set $a (v128.const i32x4 0x80000000 0x80000000 0x80000000 0x80000000))
    (local.set $b $a)
    (local.set $c $a)
    (local.set $d $a)
    (each $at $end $starts
      (local.set $row (i32.add (i32.load (i32.add $rows (i32.shl (i32.load $at) 2))) $shift))
      (local.set $a (i32x4.min_u $a (v128.load align=4 $row)))
      (local.set $b (i32x4.min_u $b (v128.load offset=16 align=4 $row)))
      (local.set $c (i32x4.min_u $c (v128.load offset=32 align=4 $row)))
      (local.set $d (i32x4.min_u $d (v128.load offset=48 align=4 $row))))
    (v128.store offset=4 align=4 $into $a)
    (v128.store offset=20 align=4 $into $b)
    (v128.store offset=36 align=4 $into $c)
    (v128.store offset=52 align=4 $into $d)
    (local.set $shift (i32.add $shift 64)))
  $list)

;; Address of the rows of the slot for these nodes and lengths.
(func $rows_of (param $within $lengths i32) (result i32)
  (local $slot i32)
  (local.set $slot (i32.load (global.get $graph_cache)))
  (if (i32.eqz (call $is_slot_of $slot $within $lengths)) (then (local.set $slot (call $slot_of $within $lengths))))
  (i32.add (i32.add $slot 16) (i32.shl (global.get $graph_nodes) 2)))

;; Address of the best paths to a node from every other.
(func $ways_to (param $goal $within $lengths i32) (result i32)
  (local.set $lengths (i32.or $lengths (i32.ne (global.get $graph_leading) (global.get $graph_adjacent))))
  (call $ways_of (call $rows_of $within $lengths) $goal $within $lengths))

;; True if a slot is for these nodes and lengths.
(func $is_slot_of (param $slot $within $lengths i32) (result i32)
  (local $n i32)
  (if (i32.eqz $slot) (then (return 0)))
  (if (i32.ne (i32.load offset=8 $slot) $lengths) (then (return 0)))
  (local.set $n (i32.load offset=12 $slot))
  (if (i32.eqz $within) (then (return (i32.eq $n -1))))
  (if (i32.ne $n (i32.load $within)) (then (return 0)))
  (call $equal_words (i32.add $slot 16) (i32.add $within 4) $n))

;; Find the slot for these nodes and lengths, or overwrite one; it becomes the last used slot.
(func $slot_of (param $within $lengths i32) (result i32)
  (local $slot $end $bytes $n $cache i32)
  (local.set $cache (global.get $graph_cache))
  (local.set $bytes (call $slot_bytes))
  (local.set $end (i32.add $cache (i32.mul (global.get $graph_slots) $bytes)))
  (walk $slot $cache $end $bytes
    (br_if $slot.done (i32.eqz (i32.load offset=8 $slot)))
    (if (call $is_slot_of $slot $within $lengths)
      (then (i32.store $cache $slot)
            (return $slot))))
  (local.set $n (i32.load offset=4 $cache))
  (local.set $slot (i32.add $cache (i32.mul $n $bytes)))
  (call $clear_slot $slot $within $lengths)
  (i32.store $cache $slot)
  (i32.store offset=4 $cache (i32.rem_u (i32.add $n 1) (global.get $graph_slots)))
  $slot)

;; Size of a slot.
(func $slot_bytes (result i32)
  (i32.shl (i32.add 4 (i32.mul (global.get $graph_nodes) (i32.add 2 (i32.mul (global.get $graph_nodes) 3)))) 2))

;; Initialise a slot for these nodes and lengths, without rows. Traps if duplicate nodes make the list too long.
(func $clear_slot (param $slot $within $lengths i32)
  (local $n $nodes i32)
  (local.set $nodes (global.get $graph_nodes))
  (local.set $n -1)
  (if $within
    (then
      (local.set $n (i32.load $within))
      (if (i32.gt_u $n $nodes) (then (unreachable)))
      (call $copy_words (i32.add $slot 16) (i32.add $within 4) $n)))
  (memory.fill (i32.add (i32.add $slot 16) (i32.shl $nodes 2)) 0 (i32.shl $nodes 2))
  (i32.store offset=12 $slot $n)
  (i32.store offset=8 $slot $lengths))

;; Address of the row of a start, given the addresses of the slot's rows; it is computed if there is none.
(func $ways_of (param $rows $start $within $lengths i32) (result i32)
  (local $row i32)
  (local.set $row (i32.load (i32.add $rows (i32.shl $start 2))))
  (if $row (then (return $row)))
  (call $find_ways $rows $start $within $lengths))

;; Compute the row of a start or goal, and behind it the lengths alone; none is above all.
(func $find_ways (param $rows $start $within $lengths i32) (result i32)
  (local $row $bytes $at $into $end i32)
  (local.set $bytes (i32.shl (global.get $graph_nodes) 2))
  (local.set $row (i32.add (i32.add $rows $bytes) (i32.mul (i32.mul $bytes 3) $start)))
  (call $search $start $within
    (select (global.get $graph_leading) (global.get $graph_adjacent) (i32.and $lengths 1))
    (i32.and $lengths -2)
    $row)
  (i32.store (i32.add $rows (i32.shl $start 2)) $row)
  (local.set $end (i32.add $row (i32.mul $bytes 3)))
  (local.set $at $row)
  (walk $into (i32.add $row (i32.shl $bytes 1)) $end 4
    ;; Bits 16 to 47 of a path are its length plus 1; no path becomes the largest unsigned number.
    (i32.store $into (i32.sub (i32.wrap_i64 (i64.shr_u (i64.load align=4 $at) (i64.const 16))) 1))
    (local.set $at (i32.add $at 8)))
  $row)

;; True if the nodes are connected by links among themselves, in either direction.
(func $connected (param $nodes i32) (result i32)
  (local $marks $queue $head $tail $at $end $left $mark i32)
  (if (i32.eqz (i32.load $nodes)) (then (return 1)))
  (local.set $marks (call $alloc (i32.shl (global.get $graph_nodes) 1)))
  (local.set $queue (i32.add $marks (i32.shl (global.get $graph_nodes) 2)))
  (global.set $arena $marks)
  (memory.fill $marks 0 (i32.shl (global.get $graph_nodes) 2))
  (each $at $end $nodes  ;; mark and count the nodes to reach
    (call $check_node (i32.load $at))
    (local.set $mark (i32.add $marks (i32.shl (i32.load $at) 2)))
    (local.set $left (i32.add $left (i32.eqz (i32.load $mark))))
    (i32.store $mark 1))
  (i32.store $queue (i32.load offset=4 $nodes))
  (i32.store (i32.add $marks (i32.shl (i32.load $queue) 2)) 0)
  (local.set $tail (i32.add $queue 4))
  (walk $head $queue $tail 4
    (local.set $tail (call $spread (global.get $graph_adjacent) (i32.load $head) $marks $tail))
    (if (i32.ne (global.get $graph_leading) (global.get $graph_adjacent))
      (then (local.set $tail (call $spread (global.get $graph_leading) (i32.load $head)
                                           $marks $tail)))))
  (i32.eq (i32.shr_u (i32.sub $tail $queue) 2) $left))

;; Append the marked neighbours of a node to a queue and clear their marks; return the new end of the queue.
(func $spread (param $links $node $marks $tail i32) (result i32)
  (local $at $end $mark i32)
  (local.set $end (call $entries $links (i32.add $node 1)))
  (walk $at (call $entries $links $node) $end 8
    (local.set $mark (i32.add $marks (i32.shl (i32.load $at) 2)))
    (if (i32.load $mark)
      (then (i32.store $mark 0)
            (i32.store $tail (i32.load $at))
            (local.set $tail (i32.add $tail 4)))))
  $tail)

;; Clear the cache of distances.
(func $forget_ways
  (local $slot $left i32)
  (local.set $slot (global.get $graph_cache))
  (local.set $left (global.get $graph_slots))
  (i64.store align=4 $slot (i64.const 0))
  (until $done (i32.or (i32.eqz $left) (i32.eqz (i32.load offset=8 $slot)))
    (i32.store offset=8 $slot 0)
    (local.set $slot (i32.add $slot (call $slot_bytes)))
    (local.set $left (i32.sub $left 1))))
