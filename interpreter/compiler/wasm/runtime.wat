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
;; `until` is a loop that ends when its test is true; `each` walks over the addresses of the items of a list, up to the
;; end. Both are written out before the text is compiled (`runtime_inliner.py`).
;;
;; No function changes its arguments. A new list or bag is at the end of the arena. A function releases the scratch
;; memory that it takes from the arena, unless it traps; `$subsets` and `$mixes` keep theirs, which is short. A function
;; traps where the plain form raises an error, if a number does not fit into a word, and if the arena is full. The
;; caller then returns to the last choice and runs the plain form, which explains the error.


;; Random numbers: SplitMix64. The seed, the name of a stream and its counter determine a 64-bit number; `hash` is the
;; FNV-1a hash of the name.

;; Output function of SplitMix64: a bijection that spreads every bit over all.
(func $finalise (param $z i64) (result i64)
  (local.set $z (i64.mul (i64.xor (local.get $z) (i64.shr_u (local.get $z) (i64.const 30)))
                         (i64.const 0xBF58476D1CE4E5B9)))
  (local.set $z (i64.mul (i64.xor (local.get $z) (i64.shr_u (local.get $z) (i64.const 27)))
                         (i64.const 0x94D049BB133111EB)))
  (i64.xor (local.get $z) (i64.shr_u (local.get $z) (i64.const 31))))

;; Output number `index`, counted from 0, of the generator in state `start`.
(func $output (param $start i64) (param $index i64) (result i64)
  (call $finalise (i64.add (local.get $start)
                           (i64.mul (i64.add (local.get $index) (i64.const 1)) (i64.const 0x9E3779B97F4A7C15)))))

;; Initial state of the generator for a name.
(func $start (param $seed i64) (param $hash i64) (result i64)
  (call $finalise (i64.xor (call $finalise (i64.add (local.get $seed) (i64.const 0x9E3779B97F4A7C15)))
                           (local.get $hash))))

;; 64-bit number `counter` of a stream.
(func $mix (param $seed i64) (param $hash i64) (param $counter i64) (result i64)
  (call $output (call $start (local.get $seed) (local.get $hash)) (local.get $counter)))

;; Uniform number from 0 to n - 1, by rejection: outputs in the incomplete last run of n numbers below 2**64 are
;; skipped.
(func $bounded (param $start i64) (param $n i64) (result i64)
  (local $number i64) (local $attempt i64)
  (block $found
    (loop $again
      (local.set $number (call $output (local.get $start) (local.get $attempt)))
      (br_if $found (i64.le_u (local.get $number) (i64.sub (i64.const -1) (local.get $n))))
      ;; The last run has 2**64 mod n numbers, which is -n mod n.
      (br_if $found (i64.le_u (local.get $number)
                              (i64.sub (i64.const -1)
                                       (i64.rem_u (i64.sub (i64.const 0) (local.get $n)) (local.get $n)))))
      (local.set $attempt (i64.add (local.get $attempt) (i64.const 1)))
      (br $again)))
  (i64.rem_u (local.get $number) (local.get $n)))

;; Random index below n; traps if n is below 1.
(func $drawn (param $n i32) (param $seed i64) (param $hash i64) (param $counter i64) (result i32)
  (if (i32.lt_s (local.get $n) (i32.const 1)) (then (unreachable)))
  (i32.wrap_i64 (call $bounded (call $mix (local.get $seed) (local.get $hash) (local.get $counter))
                               (i64.extend_i32_u (local.get $n)))))

;; Shuffle a list: Fisher-Yates from the front, each swap with a stream of its own.
(func $shuffled (param $list i32) (param $seed i64) (param $hash i64) (param $counter i64) (result i32)
  (local $start i64) (local $fresh i32) (local $at i32) (local $other i32) (local $left i64) (local $i i64)
  (local $item i32)
  (local.set $start (call $mix (local.get $seed) (local.get $hash) (local.get $counter)))
  (local.set $fresh (call $copy_list (local.get $list)))
  (local.set $at (i32.add (local.get $fresh) (i32.const 4)))
  (local.set $left (i64.load32_u (local.get $fresh)))
  (until $done (i64.le_u (local.get $left) (i64.const 1))
    (local.set $other
      (i32.add (local.get $at)
               (i32.shl (i32.wrap_i64 (call $bounded (call $output (local.get $start) (local.get $i))
                                                     (local.get $left)))
                        (i32.const 2))))
    (local.set $item (i32.load (local.get $at)))
    (i32.store (local.get $at) (i32.load (local.get $other)))
    (i32.store (local.get $other) (local.get $item))
    (local.set $at (i32.add (local.get $at) (i32.const 4)))
    (local.set $i (i64.add (local.get $i) (i64.const 1)))
    (local.set $left (i64.sub (local.get $left) (i64.const 1))))
  (local.get $fresh))

;; Draw of a bot: the number below n that follows `used` others from the state `start`; traps if n is below 1.
(func $below (param $start i64) (param $used i64) (param $n i32) (result i32)
  (local $number i64) (local $stream i64)
  (if (i32.lt_s (local.get $n) (i32.const 1)) (then (unreachable)))
  (local.set $stream (call $output (local.get $start) (local.get $used)))
  (if (i32.ge_u (local.get $n) (i32.const 0x40000000))
    (then (return (i32.wrap_i64 (call $bounded (local.get $stream) (i64.extend_i32_u (local.get $n)))))))
  (local.set $number (call $output (local.get $stream) (i64.const 0)))
  (block $common  ;; the last 2**30 - 1 numbers would be biased
    (loop $again
      (br_if $common (i64.lt_u (local.get $number) (i64.const 0xFFFFFFFFC0000001)))
      (local.set $number (call $finalise (local.get $number)))
      (br $again)))
  (i32.wrap_i64 (i64.rem_u (local.get $number) (i64.extend_i32_u (local.get $n)))))


;; Arithmetic.

;; Multiply two numbers; traps if later additions to the product could overflow.
(func $mul (param $a i64) (param $b i64) (result i64)
  (local $found i64)
  (if (i64.gt_u (i64.add (local.get $a) (i64.const 2147483648)) (i64.const 4294967296)) (then (unreachable)))
  (if (i64.gt_u (i64.add (local.get $b) (i64.const 2147483648)) (i64.const 4294967296)) (then (unreachable)))
  (local.set $found (i64.mul (local.get $a) (local.get $b)))
  (if (i64.gt_u (i64.add (local.get $found) (i64.const 1099511627776)) (i64.const 2199023255552))
    (then (unreachable)))
  (local.get $found))

;; Division, rounded down.
(func $div (param $a i64) (param $b i64) (result i64)
  (local $rest i64)
  (if (i64.eqz (local.get $b)) (then (unreachable)))
  (local.set $rest (i64.rem_s (local.get $a) (local.get $b)))
  (i64.sub (i64.div_s (local.get $a) (local.get $b))
    (i64.extend_i32_u (i32.and (i64.ne (local.get $rest) (i64.const 0))
      (i64.lt_s (i64.xor (local.get $rest) (local.get $b)) (i64.const 0))))))

;; Remainder of a division that is rounded down.
(func $mod (param $a i64) (param $b i64) (result i64)
  (local $rest i64)
  (if (i64.eqz (local.get $b)) (then (unreachable)))
  (local.set $rest (i64.rem_s (local.get $a) (local.get $b)))
  (if (result i64) (i32.and (i64.ne (local.get $rest) (i64.const 0))
      (i64.lt_s (i64.xor (local.get $rest) (local.get $b)) (i64.const 0)))
    (then (i64.add (local.get $rest) (local.get $b)))
    (else (local.get $rest))))


;; Arena and words.

;; Allocate words in the arena, without clearing them.
(func $alloc (param $words i32) (result i32)
  (local $fresh i32)
  (local.set $fresh (global.get $arena))
  (if (i32.gt_u (local.get $words)
                (i32.shr_u (i32.sub (global.get $arena_end) (local.get $fresh)) (i32.const 2)))
    (then (unreachable)))
  (global.set $arena (i32.add (local.get $fresh) (i32.shl (local.get $words) (i32.const 2))))
  (local.get $fresh))

;; New list of n items, not yet stored; traps if n is above 20,000.
(func $new_list (param $n i32) (result i32)
  (local $fresh i32)
  (if (i32.gt_u (local.get $n) (i32.const 20000)) (then (unreachable)))
  (local.set $fresh (call $alloc (i32.add (local.get $n) (i32.const 1))))
  (i32.store (local.get $fresh) (local.get $n))
  (local.get $fresh))

;; Address after the last item of a list.
(func $end_of (param $list i32) (result i32)
  (i32.add (i32.add (local.get $list) (i32.const 4)) (i32.shl (i32.load (local.get $list)) (i32.const 2))))

;; Convert a number to a word; traps if it does not fit or equals none.
(func $word (param $number i64) (result i32)
  (if (i64.gt_u (i64.add (local.get $number) (i64.const 0x7FFFFFFF)) (i64.const 0xFFFFFFFE)) (then (unreachable)))
  (i32.wrap_i64 (local.get $number)))

;; Copy n words to another place, four at a time.
(func $copy_words (param $into i32) (param $from i32) (param $n i32)
  (if (i32.gt_u (local.get $n) (i32.const 64))
    (then (memory.copy (local.get $into) (local.get $from) (i32.shl (local.get $n) (i32.const 2)))
          (return)))
  (until $few (i32.lt_u (local.get $n) (i32.const 4))
    (v128.store align=4 (local.get $into) (v128.load align=4 (local.get $from)))
    (local.set $into (i32.add (local.get $into) (i32.const 16)))
    (local.set $from (i32.add (local.get $from) (i32.const 16)))
    (local.set $n (i32.sub (local.get $n) (i32.const 4))))
  (until $done (i32.eqz (local.get $n))
    (i32.store (local.get $into) (i32.load (local.get $from)))
    (local.set $into (i32.add (local.get $into) (i32.const 4)))
    (local.set $from (i32.add (local.get $from) (i32.const 4)))
    (local.set $n (i32.sub (local.get $n) (i32.const 1)))))

;; Clear n words, four at a time.
(func $clear_words (param $into i32) (param $n i32)
  (until $few (i32.lt_u (local.get $n) (i32.const 4))
    (v128.store align=4 (local.get $into) (v128.const i32x4 0 0 0 0))
    (local.set $into (i32.add (local.get $into) (i32.const 16)))
    (local.set $n (i32.sub (local.get $n) (i32.const 4))))
  (until $done (i32.eqz (local.get $n))
    (i32.store (local.get $into) (i32.const 0))
    (local.set $into (i32.add (local.get $into) (i32.const 4)))
    (local.set $n (i32.sub (local.get $n) (i32.const 1)))))

;; True if n words are equal, four at a time.
(func $equal_words (param $p i32) (param $q i32) (param $n i32) (result i32)
  (if (i32.eq (local.get $p) (local.get $q)) (then (return (i32.const 1))))
  (until $few (i32.lt_u (local.get $n) (i32.const 4))
    (if (v128.any_true (v128.xor (v128.load align=4 (local.get $p)) (v128.load align=4 (local.get $q))))
      (then (return (i32.const 0))))
    (local.set $p (i32.add (local.get $p) (i32.const 16)))
    (local.set $q (i32.add (local.get $q) (i32.const 16)))
    (local.set $n (i32.sub (local.get $n) (i32.const 4))))
  (until $done (i32.eqz (local.get $n))
    (if (i32.ne (i32.load (local.get $p)) (i32.load (local.get $q))) (then (return (i32.const 0))))
    (local.set $p (i32.add (local.get $p) (i32.const 4)))
    (local.set $q (i32.add (local.get $q) (i32.const 4)))
    (local.set $n (i32.sub (local.get $n) (i32.const 1))))
  (i32.const 1))


;; Lists of words.

;; True if two lists have the same items in the same order.
(func $equal_lists (param $p i32) (param $q i32) (result i32)
  (if (i32.ne (i32.load (local.get $p)) (i32.load (local.get $q))) (then (return (i32.const 0))))
  (call $equal_words (i32.add (local.get $p) (i32.const 4)) (i32.add (local.get $q) (i32.const 4))
                     (i32.load (local.get $p))))

;; Address of the first item equal to a word, or 0. Compares four items at a time.
(func $find (param $list i32) (param $word i32) (result i32)
  (local $at i32) (local $left i32) (local $found i32) (local $words v128)
  (local.set $at (i32.add (local.get $list) (i32.const 4)))
  (local.set $left (i32.load (local.get $list)))
  (local.set $words (i32x4.splat (local.get $word)))
  (until $few (i32.lt_u (local.get $left) (i32.const 4))
    (local.set $found
      (i32x4.bitmask (i32x4.eq (v128.load align=4 (local.get $at)) (local.get $words))))
    (if (local.get $found)
      (then (return (i32.add (local.get $at) (i32.shl (i32.ctz (local.get $found)) (i32.const 2))))))
    (local.set $at (i32.add (local.get $at) (i32.const 16)))
    (local.set $left (i32.sub (local.get $left) (i32.const 4))))
  (until $absent (i32.eqz (local.get $left))
    (if (i32.eq (i32.load (local.get $at)) (local.get $word)) (then (return (local.get $at))))
    (local.set $at (i32.add (local.get $at) (i32.const 4)))
    (local.set $left (i32.sub (local.get $left) (i32.const 1))))
  (i32.const 0))

;; List of n words: 1 at each index that is an item of a list, else 0. Traps if an item is not an index below n.
(func $flags (param $list i32) (param $n i32) (result i32)
  (local $fresh i32) (local $at i32) (local $end i32)
  (local.set $fresh (call $new_list (local.get $n)))
  (call $clear_words (i32.add (local.get $fresh) (i32.const 4)) (local.get $n))
  (each $at $end (local.get $list)
    (if (i32.ge_u (i32.load (local.get $at)) (local.get $n)) (then (unreachable)))
    (i32.store offset=4 (i32.add (local.get $fresh) (i32.shl (i32.load (local.get $at)) (i32.const 2))) (i32.const 1)))
  (local.get $fresh))

;; True if a word is an item of a list.
(func $contains (param $list i32) (param $word i32) (result i32)
  (i32.ne (call $find (local.get $list) (local.get $word)) (i32.const 0)))

;; Position, from 0, of the first item equal to a word, or none.
(func $position (param $list i32) (param $word i32) (result i64)
  (local $at i32)
  (local.set $at (call $find (local.get $list) (local.get $word)))
  (if (i32.eqz (local.get $at)) (then (return (i64.const -2147483648))))
  (i64.extend_i32_u (i32.sub (i32.shr_u (i32.sub (local.get $at) (local.get $list)) (i32.const 2)) (i32.const 1))))

;; New list of n consecutive words.
(func $list_of (param $from i32) (param $n i32) (result i32)
  (local $fresh i32)
  (local.set $fresh (call $new_list (local.get $n)))
  (call $copy_words (i32.add (local.get $fresh) (i32.const 4)) (local.get $from) (local.get $n))
  (local.get $fresh))

;; New list with the same items.
(func $copy_list (param $list i32) (result i32)
  (call $list_of (i32.add (local.get $list) (i32.const 4)) (i32.load (local.get $list))))

;; Items of one list, then those of another.
(func $concat (param $a i32) (param $b i32) (result i32)
  (local $fresh i32) (local $n i32)
  (local.set $n (i32.load (local.get $a)))
  (local.set $fresh (call $new_list (i32.add (local.get $n) (i32.load (local.get $b)))))
  (call $copy_words (i32.add (local.get $fresh) (i32.const 4)) (i32.add (local.get $a) (i32.const 4))
                    (local.get $n))
  (call $copy_words (i32.add (i32.add (local.get $fresh) (i32.const 4)) (i32.shl (local.get $n) (i32.const 2)))
                    (i32.add (local.get $b) (i32.const 4)) (i32.load (local.get $b)))
  (local.get $fresh))

;; List without its first item.
(func $rest (param $list i32) (result i32)
  (local $n i32)
  (local.set $n (i32.load (local.get $list)))
  (call $list_of (i32.add (local.get $list) (i32.const 8))
                 (i32.sub (local.get $n) (i32.ne (local.get $n) (i32.const 0)))))

;; First n items of a list, or all if it has fewer.
(func $take (param $n i64) (param $list i32) (result i32)
  (local $all i64)
  (local.set $all (i64.load32_u (local.get $list)))
  (if (i64.gt_s (local.get $n) (local.get $all)) (then (local.set $n (local.get $all))))
  (if (i64.lt_s (local.get $n) (i64.const 0)) (then (local.set $n (i64.const 0))))
  (call $list_of (i32.add (local.get $list) (i32.const 4)) (i32.wrap_i64 (local.get $n))))

;; Reversed list.
(func $reversed (param $list i32) (result i32)
  (local $fresh i32) (local $at i32) (local $into i32)
  (local.set $fresh (call $new_list (i32.load (local.get $list))))
  (local.set $at (i32.add (local.get $list) (i32.const 4)))
  (local.set $into (call $end_of (local.get $fresh)))
  (block $done
    (loop $next
      (local.set $into (i32.sub (local.get $into) (i32.const 4)))
      (br_if $done (i32.eq (local.get $into) (local.get $fresh)))
      (i32.store (local.get $into) (i32.load (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br $next)))
  (local.get $fresh))

;; List without the first item equal to a word; traps if there is none.
(func $without (param $list i32) (param $word i32) (result i32)
  (local $at i32) (local $fresh i32) (local $before i32)
  (local.set $at (call $find (local.get $list) (local.get $word)))
  (if (i32.eqz (local.get $at)) (then (unreachable)))
  (local.set $fresh (call $new_list (i32.sub (i32.load (local.get $list)) (i32.const 1))))
  (local.set $before (i32.sub (local.get $at) (local.get $list)))  ;; bytes, with the word n
  (call $copy_words (i32.add (local.get $fresh) (i32.const 4)) (i32.add (local.get $list) (i32.const 4))
                    (i32.sub (i32.shr_u (local.get $before) (i32.const 2)) (i32.const 1)))
  (call $copy_words (i32.add (local.get $fresh) (local.get $before)) (i32.add (local.get $at) (i32.const 4))
                    (i32.sub (i32.shr_u (i32.sub (call $end_of (local.get $list)) (local.get $at)) (i32.const 2))
                             (i32.const 1)))
  (local.get $fresh))

;; List without the item at a position.
(func $without_place (param $list i32) (param $place i32) (result i32)
  (local $made i32) (local $bytes i32) (local $left i32)
  (local.set $left (i32.sub (i32.load (local.get $list)) (i32.const 1)))
  (local.set $made (call $alloc (i32.add (local.get $left) (i32.const 1))))
  (i32.store (local.get $made) (local.get $left))
  (local.set $bytes (i32.shl (local.get $place) (i32.const 2)))
  (memory.copy (i32.add (local.get $made) (i32.const 4)) (i32.add (local.get $list) (i32.const 4)) (local.get $bytes))
  (memory.copy (i32.add (i32.add (local.get $made) (i32.const 4)) (local.get $bytes))
    (i32.add (i32.add (local.get $list) (i32.const 8)) (local.get $bytes))
    (i32.shl (i32.sub (local.get $left) (local.get $place)) (i32.const 2)))
  (local.get $made))

;; Sum of n consecutive words; traps if it equals none.
(func $sum_of_words (param $at i32) (param $n i32) (result i64)
  (local $sum i64) (local $end i32)
  (local.set $end (i32.add (local.get $at) (i32.shl (local.get $n) (i32.const 2))))
  (until $done (i32.eq (local.get $at) (local.get $end))
    (local.set $sum (i64.add (local.get $sum) (i64.load32_s (local.get $at))))
    (local.set $at (i32.add (local.get $at) (i32.const 4))))
  (if (i64.eq (local.get $sum) (i64.const -2147483648)) (then (unreachable)))
  (local.get $sum))

;; Number of choices of n items among a number of items; traps if there are more than 20,000.
(func $choices (param $n i64) (param $among i64) (result i32)
  (local $found i64) (local $i i64)
  (if (i64.gt_u (local.get $n) (local.get $among)) (then (return (i32.const 0))))  ;; n below 0 too
  (if (i64.gt_u (local.get $n) (i64.sub (local.get $among) (local.get $n)))
    (then (local.set $n (i64.sub (local.get $among) (local.get $n)))))
  (local.set $found (i64.const 1))
  (until $done (i64.eq (local.get $i) (local.get $n))
    (local.set $found (i64.mul (local.get $found) (i64.sub (local.get $among) (local.get $i))))
    (local.set $i (i64.add (local.get $i) (i64.const 1)))
    (local.set $found (i64.div_u (local.get $found) (local.get $i)))
    (if (i64.gt_u (local.get $found) (i64.const 20000)) (then (unreachable))))
  (i32.wrap_i64 (local.get $found)))

;; All choices of n items, in the order of the list; traps if there are more than 20,000.
(func $subsets (param $n i64) (param $list i32) (result i32)
  (local $fresh i32) (local $into i32) (local $end i32) (local $size i32) (local $places i32) (local $place i32)
  (local $i i32) (local $subset i32) (local $most i32)
  (local.set $fresh
    (call $new_list (call $choices (local.get $n) (i64.load32_u (local.get $list)))))
  (local.set $into (i32.add (local.get $fresh) (i32.const 4)))
  (local.set $end (call $end_of (local.get $fresh)))
  (if (i32.eq (local.get $into) (local.get $end)) (then (return (local.get $fresh))))
  ;; `places` has the positions of the current choice. It is allocated first so that the choices end the arena.
  (local.set $size (i32.wrap_i64 (local.get $n)))
  (local.set $places (call $alloc (local.get $size)))
  (until $filled (i32.eq (local.get $i) (local.get $size))
    (i32.store (i32.add (local.get $places) (i32.shl (local.get $i) (i32.const 2))) (local.get $i))
    (local.set $i (i32.add (local.get $i) (i32.const 1))))
  (block $done
    (loop $next
      (local.set $subset (call $gathered (local.get $list) (local.get $places) (local.get $size)))
      (i32.store (local.get $into) (local.get $subset))
      (local.set $into (i32.add (local.get $into) (i32.const 4)))
      (br_if $done (i32.eq (local.get $into) (local.get $end)))
      ;; Advance the last position that is not at its maximum, and let the others follow it.
      (local.set $i (local.get $size))
      (local.set $most (i32.load (local.get $list)))
      (loop $back
        (local.set $i (i32.sub (local.get $i) (i32.const 1)))
        (local.set $most (i32.sub (local.get $most) (i32.const 1)))
        (local.set $place (i32.load (i32.add (local.get $places) (i32.shl (local.get $i) (i32.const 2)))))
        (br_if $back (i32.eq (local.get $place) (local.get $most))))
      (loop $follow
        (local.set $place (i32.add (local.get $place) (i32.const 1)))
        (i32.store (i32.add (local.get $places) (i32.shl (local.get $i) (i32.const 2))) (local.get $place))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br_if $follow (i32.ne (local.get $i) (local.get $size))))
      (br $next)))
  (local.get $fresh))

;; New list of the items at n positions.
(func $gathered (param $list i32) (param $places i32) (param $n i32) (result i32)
  (local $fresh i32) (local $into i32) (local $end i32)
  (local.set $fresh (call $new_list (local.get $n)))
  (local.set $into (i32.add (local.get $fresh) (i32.const 4)))
  (local.set $end (call $end_of (local.get $fresh)))
  (until $done (i32.eq (local.get $into) (local.get $end))
    (i32.store (local.get $into)
      (i32.load offset=4 (i32.add (local.get $list)
                                  (i32.shl (i32.load (local.get $places)) (i32.const 2)))))
    (local.set $into (i32.add (local.get $into) (i32.const 4)))
    (local.set $places (i32.add (local.get $places) (i32.const 4))))
  (local.get $fresh))


;; Sorting. An item has `width` keys of 64 bits; the keys of consecutive items are consecutive.

;; Lexicographic comparison of n 64-bit numbers: -1, 0 or 1.
(func $compare_keys (param $p i32) (param $q i32) (param $n i32) (result i32)
  (local $a i64) (local $b i64)
  (until $equal (i32.eqz (local.get $n))
    (local.set $a (i64.load align=4 (local.get $p)))
    (local.set $b (i64.load align=4 (local.get $q)))
    (if (i64.ne (local.get $a) (local.get $b))
      (then (return (select (i32.const -1) (i32.const 1) (i64.lt_s (local.get $a) (local.get $b))))))
    (local.set $p (i32.add (local.get $p) (i32.const 8)))
    (local.set $q (i32.add (local.get $q) (i32.const 8)))
    (local.set $n (i32.sub (local.get $n) (i32.const 1))))
  (i32.const 0))

;; Insertion sort of the positions between two addresses by their keys.
(func $insertion (param $from i32) (param $end i32) (param $keys i32) (param $width i32)
  (local $at i32) (local $into i32) (local $place i32) (local $before i32) (local $bytes i32) (local $key i32)
  (local.set $bytes (i32.shl (local.get $width) (i32.const 3)))
  (local.set $at (i32.add (local.get $from) (i32.const 4)))
  (until $done (i32.ge_u (local.get $at) (local.get $end))
    (local.set $place (i32.load (local.get $at)))
    (local.set $key (i32.add (local.get $keys) (i32.mul (local.get $place) (local.get $bytes))))
    (local.set $into (local.get $at))
    (until $found (i32.eq (local.get $into) (local.get $from))
      (local.set $before (i32.load (i32.sub (local.get $into) (i32.const 4))))
      (br_if $found
        (i32.le_s (call $compare_keys (i32.add (local.get $keys) (i32.mul (local.get $before) (local.get $bytes)))
                                      (local.get $key) (local.get $width))
                  (i32.const 0)))
      (i32.store (local.get $into) (local.get $before))
      (local.set $into (i32.sub (local.get $into) (i32.const 4))))
    (i32.store (local.get $into) (local.get $place))
    (local.set $at (i32.add (local.get $at) (i32.const 4)))))

;; Merge two adjacent sorted runs of positions: from `a` to `middle`, and from there to `end`.
(func $merge (param $into i32) (param $a i32) (param $middle i32) (param $end i32) (param $keys i32) (param $width i32)
  (local $b i32) (local $bytes i32)
  (local.set $bytes (i32.shl (local.get $width) (i32.const 3)))
  (local.set $b (local.get $middle))
  (until $done (i32.or (i32.eq (local.get $a) (local.get $middle)) (i32.eq (local.get $b) (local.get $end)))
    (if (i32.le_s
          (call $compare_keys
            (i32.add (local.get $keys) (i32.mul (i32.load (local.get $a)) (local.get $bytes)))
            (i32.add (local.get $keys) (i32.mul (i32.load (local.get $b)) (local.get $bytes)))
            (local.get $width))
          (i32.const 0))
      (then (i32.store (local.get $into) (i32.load (local.get $a)))
            (local.set $a (i32.add (local.get $a) (i32.const 4))))
      (else (i32.store (local.get $into) (i32.load (local.get $b)))
            (local.set $b (i32.add (local.get $b) (i32.const 4)))))
    (local.set $into (i32.add (local.get $into) (i32.const 4))))
  (memory.copy (local.get $into) (local.get $a) (i32.sub (local.get $middle) (local.get $a)))
  (memory.copy (i32.add (local.get $into) (i32.sub (local.get $middle) (local.get $a)))
               (local.get $b) (i32.sub (local.get $end) (local.get $b))))

;; Address of the positions 0 to n - 1, stably sorted by their keys. The caller releases the arena.
(func $order (param $n i32) (param $keys i32) (param $width i32) (result i32)
  (local $from i32) (local $into i32) (local $swap i32) (local $i i32) (local $run i32) (local $bytes i32)
  (local.set $bytes (i32.shl (local.get $n) (i32.const 2)))
  (local.set $from (call $alloc (local.get $n)))
  (until $filled (i32.eq (local.get $i) (local.get $n))
    (i32.store (i32.add (local.get $from) (i32.shl (local.get $i) (i32.const 2))) (local.get $i))
    (local.set $i (i32.add (local.get $i) (i32.const 1))))
  (local.set $run (i32.const 64))  ;; bytes of 16 positions
  (if (i32.le_u (local.get $bytes) (local.get $run))
    (then (call $insertion (local.get $from) (i32.add (local.get $from) (local.get $bytes))
                           (local.get $keys) (local.get $width))
          (return (local.get $from))))
  (local.set $into (call $alloc (local.get $n)))
  (local.set $i (i32.const 0))
  (loop $next
    (call $insertion (i32.add (local.get $from) (local.get $i))
                     (i32.add (local.get $from)
                              (call $smaller (i32.add (local.get $i) (local.get $run)) (local.get $bytes)))
                     (local.get $keys) (local.get $width))
    (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (local.get $run))) (local.get $bytes))))
  (loop $longer
    (local.set $i (i32.const 0))
    (loop $next
      (call $merge
        (i32.add (local.get $into) (local.get $i))
        (i32.add (local.get $from) (local.get $i))
        (i32.add (local.get $from) (call $smaller (i32.add (local.get $i) (local.get $run)) (local.get $bytes)))
        (i32.add (local.get $from)
                 (call $smaller (i32.add (local.get $i) (i32.shl (local.get $run) (i32.const 1))) (local.get $bytes)))
        (local.get $keys) (local.get $width))
      (local.set $i (i32.add (local.get $i) (i32.shl (local.get $run) (i32.const 1))))
      (br_if $next (i32.lt_u (local.get $i) (local.get $bytes))))
    (local.set $swap (local.get $from))
    (local.set $from (local.get $into))
    (local.set $into (local.get $swap))
    (br_if $longer (i32.lt_u (local.tee $run (i32.shl (local.get $run) (i32.const 1))) (local.get $bytes))))
  (local.get $from))

;; Minimum of two unsigned numbers.
(func $smaller (param $a i32) (param $b i32) (result i32)
  (select (local.get $a) (local.get $b) (i32.lt_u (local.get $a) (local.get $b))))

;; Stable sort of a list by the keys of its items.
(func $sort (param $list i32) (param $keys i32) (param $width i32) (result i32)
  (local $fresh i32) (local $n i32)
  (local.set $n (i32.load (local.get $list)))
  (local.set $fresh (global.get $arena))
  (call $to_front (call $gathered (local.get $list)
                                  (call $order (local.get $n) (local.get $keys) (local.get $width)) (local.get $n))
                  (local.get $fresh)))

;; Move the last list of the arena to an earlier address, which releases the scratch memory between.
(func $to_front (param $list i32) (param $into i32) (result i32)
  (memory.copy (local.get $into) (local.get $list)
               (i32.sub (call $end_of (local.get $list)) (local.get $list)))
  (global.set $arena (call $end_of (local.get $into)))
  (local.get $into))

;; Address of the items of a list as keys of width 1. The caller releases the arena.
(func $own_keys (param $list i32) (result i32)
  (local $keys i32) (local $into i32) (local $at i32) (local $end i32)
  (local.set $keys (call $alloc (i32.shl (i32.load (local.get $list)) (i32.const 1))))
  (local.set $into (local.get $keys))
  (each $at $end (local.get $list)
    (i64.store align=4 (local.get $into) (i64.load32_s (local.get $at)))
    (local.set $into (i32.add (local.get $into) (i32.const 8))))
  (local.get $keys))

;; Items of a list in ascending order, without duplicates.
(func $set_of (param $list i32) (result i32)
  (local $start i32) (local $fresh i32) (local $n i32) (local $at i32) (local $into i32) (local $end i32)
  (if (call $is_ascending (local.get $list)) (then (return (call $copy_list (local.get $list)))))
  (local.set $start (global.get $arena))
  (local.set $n (i32.load (local.get $list)))
  (local.set $fresh
    (call $gathered (local.get $list)
                    (call $order (local.get $n) (call $own_keys (local.get $list)) (i32.const 1)) (local.get $n)))
  (local.set $into (i32.add (local.get $fresh) (i32.const 4)))  ;; the last unique item
  (local.set $at (local.get $into))
  (local.set $end (call $end_of (local.get $fresh)))
  (loop $next
    (if (i32.ne (i32.load (local.get $at)) (i32.load (local.get $into)))
      (then (local.set $into (i32.add (local.get $into) (i32.const 4)))
            (i32.store (local.get $into) (i32.load (local.get $at)))))
    (br_if $next (i32.ne (local.tee $at (i32.add (local.get $at) (i32.const 4))) (local.get $end))))
  (i32.store (local.get $fresh) (i32.shr_u (i32.sub (local.get $into) (local.get $fresh)) (i32.const 2)))
  (call $to_front (local.get $fresh) (local.get $start)))

;; True if a list is strictly ascending.
(func $is_ascending (param $list i32) (result i32)
  (local $at i32) (local $end i32)
  (local.set $at (i32.add (local.get $list) (i32.const 8)))
  (local.set $end (call $end_of (local.get $list)))
  (until $done (i32.ge_u (local.get $at) (local.get $end))
    (if (i32.ge_s (i32.load (i32.sub (local.get $at) (i32.const 4))) (i32.load (local.get $at)))
      (then (return (i32.const 0))))
    (local.set $at (i32.add (local.get $at) (i32.const 4))))
  (i32.const 1))

;; Items of a list without duplicates, in the order of their first occurrence.
(func $distinct (param $list i32) (result i32)
  (local $fresh i32) (local $at i32) (local $end i32) (local $n i32) (local $item i32)
  (if (i32.gt_u (i32.load (local.get $list)) (i32.const 64))
    (then (return (call $distinct_of_many (local.get $list)))))
  (local.set $fresh (call $new_list (i32.load (local.get $list))))
  (i32.store (local.get $fresh) (i32.const 0))
  (each $at $end (local.get $list)
    (local.set $item (i32.load (local.get $at)))
    (if (i32.eqz (call $find (local.get $fresh) (local.get $item)))
      (then (i32.store (call $end_of (local.get $fresh)) (local.get $item))
            (i32.store (local.get $fresh) (local.tee $n (i32.add (local.get $n) (i32.const 1)))))))
  (global.set $arena (call $end_of (local.get $fresh)))
  (local.get $fresh))

;; `$distinct` of a long list, by sorting: an item equal to its predecessor is a duplicate.
(func $distinct_of_many (param $list i32) (result i32)
  (local $fresh i32) (local $into i32) (local $repeats i32) (local $places i32) (local $n i32) (local $i i32)
  (local $place i32) (local $item i32) (local $before i32)
  (local.set $n (i32.load (local.get $list)))
  (local.set $fresh (call $new_list (local.get $n)))
  (local.set $repeats (call $alloc (local.get $n)))  ;; by position, 1 for a duplicate
  (local.set $places (call $order (local.get $n) (call $own_keys (local.get $list)) (i32.const 1)))
  (loop $next
    (local.set $place (i32.shl (i32.load (i32.add (local.get $places) (i32.shl (local.get $i) (i32.const 2))))
                               (i32.const 2)))
    (local.set $item (i32.load offset=4 (i32.add (local.get $list) (local.get $place))))
    (i32.store (i32.add (local.get $repeats) (local.get $place))
               (i32.and (i32.ne (local.get $i) (i32.const 0)) (i32.eq (local.get $item) (local.get $before))))
    (local.set $before (local.get $item))
    (br_if $next (i32.ne (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
  (local.set $into (i32.add (local.get $fresh) (i32.const 4)))
  (local.set $i (i32.const 0))
  (loop $next
    (if (i32.eqz (i32.load (i32.add (local.get $repeats) (i32.shl (local.get $i) (i32.const 2)))))
      (then (i32.store (local.get $into)
                       (i32.load offset=4 (i32.add (local.get $list) (i32.shl (local.get $i) (i32.const 2)))))
            (local.set $into (i32.add (local.get $into) (i32.const 4)))))
    (br_if $next (i32.ne (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
  (i32.store (local.get $fresh)
             (i32.sub (i32.shr_u (i32.sub (local.get $into) (local.get $fresh)) (i32.const 2)) (i32.const 1)))
  (global.set $arena (local.get $into))
  (local.get $fresh))


;; Bags over a kind with k members.

;; Sum of two bags.
(func $bag_add (param $a i32) (param $b i32) (param $k i32) (result i32)
  (call $bag_sum (local.get $a) (local.get $b) (i64.const 1) (local.get $k)))

;; Difference of two bags; a count can be negative.
(func $bag_subtract (param $a i32) (param $b i32) (param $k i32) (result i32)
  (call $bag_sum (local.get $a) (local.get $b) (i64.const -1) (local.get $k)))

;; Bag with each count negated.
(func $bag_negate (param $a i32) (param $k i32) (result i32)
  (call $bag_sum (local.get $a) (local.get $a) (i64.const -2) (local.get $k)))

;; Sum of a bag and a multiple of another.
(func $bag_sum (param $a i32) (param $b i32) (param $times i64) (param $k i32) (result i32)
  (local $fresh i32) (local $at i32) (local $number i64)
  (local.set $fresh (call $alloc (local.get $k)))
  (local.set $at (local.get $fresh))
  (until $done (i32.eqz (local.get $k))
    (local.set $number (i64.add (i64.load32_s (local.get $a))
                                (i64.mul (i64.load32_s (local.get $b)) (local.get $times))))
    (i32.store (local.get $at) (call $word (local.get $number)))
    (local.set $a (i32.add (local.get $a) (i32.const 4)))
    (local.set $b (i32.add (local.get $b) (i32.const 4)))
    (local.set $at (i32.add (local.get $at) (i32.const 4)))
    (local.set $k (i32.sub (local.get $k) (i32.const 1))))
  (local.get $fresh))

;; Empty bag.
(func $no_tokens (param $k i32) (result i32)
  (local $fresh i32)
  (local.set $fresh (call $alloc (local.get $k)))
  (call $clear_words (local.get $fresh) (local.get $k))
  (local.get $fresh))

;; Bag with a number added to the count of one kind.
(func $bag_with (param $bag i32) (param $number i64) (param $kind i32) (param $k i32) (result i32)
  (local $fresh i32)
  (if (i32.ge_u (local.get $kind) (local.get $k)) (then (unreachable)))
  (local.set $fresh (call $alloc (local.get $k)))
  (call $copy_words (local.get $fresh) (local.get $bag) (local.get $k))
  (local.set $kind (i32.add (local.get $fresh) (i32.shl (local.get $kind) (i32.const 2))))
  (i32.store (local.get $kind)
    (call $word (i64.add (i64.extend_i32_s (call $word (local.get $number))) (i64.load32_s (local.get $kind)))))
  (local.get $fresh))

;; Bag with tokens of one kind only.
(func $bag_single (param $number i64) (param $kind i32) (param $k i32) (result i32)
  (local $fresh i32)
  (if (i32.ge_u (local.get $kind) (local.get $k)) (then (unreachable)))
  (local.set $fresh (call $no_tokens (local.get $k)))
  (i32.store (i32.add (local.get $fresh) (i32.shl (local.get $kind) (i32.const 2))) (call $word (local.get $number)))
  (local.get $fresh))

;; Number of tokens in a bag.
(func $bag_total (param $bag i32) (param $k i32) (result i64)
  (call $sum_of_words (local.get $bag) (local.get $k)))

;; Sum of a list of bags.
(func $sum_of_bags (param $list i32) (param $k i32) (result i32)
  (local $fresh i32) (local $kind i32) (local $end i32) (local $at i32) (local $number i64)
  (local.set $fresh (call $alloc (local.get $k)))
  (local.set $end (i32.shl (local.get $k) (i32.const 2)))
  (until $done (i32.eq (local.get $kind) (local.get $end))
    (local.set $number (i64.const 0))
    (local.set $at (call $end_of (local.get $list)))
    (block $summed
      (loop $bag
        (local.set $at (i32.sub (local.get $at) (i32.const 4)))
        (br_if $summed (i32.eq (local.get $at) (local.get $list)))
        (local.set $number (i64.add (local.get $number)
                                    (i64.load32_s (i32.add (i32.load (local.get $at)) (local.get $kind)))))
        (br $bag)))
    (i32.store (i32.add (local.get $fresh) (local.get $kind)) (call $word (local.get $number)))
    (local.set $kind (i32.add (local.get $kind) (i32.const 4))))
  (local.get $fresh))

;; Rooms. A set of rooms is 64 bits. Kinds that fit into the same rooms form a group: its set of rooms and its number of
;; tokens, 8 bytes each. The maximum number of tokens that fit is a minimum cut: tokens overflow if a set of groups has
;; more tokens than the total capacity of all rooms for any of these groups.

;; End of the groups; traps above 10 groups, as the kernel does, above 64 rooms and for a negative capacity. The groups
;; begin at the old end of the arena, followed after 160 bytes by the set of rooms of each kind. The caller releases the
;; arena.
(func $groups (param $bag i32) (param $rooms i32) (param $k i32) (result i32)
  (local $first i32) (local $end i32) (local $sets i32) (local $room i32) (local $bit i64) (local $at i32)
  (local $list_end i32) (local $kind i32) (local $set i64) (local $group i32)
  (local.set $first (call $alloc (i32.add (i32.const 40) (i32.shl (local.get $k) (i32.const 1)))))
  (local.set $end (local.get $first))
  (local.set $sets (i32.add (local.get $first) (i32.const 160)))
  (memory.fill (local.get $sets) (i32.const 0) (i32.shl (local.get $k) (i32.const 3)))
  (if (i32.gt_u (i32.load (local.get $rooms)) (i32.const 64)) (then (unreachable)))
  (local.set $rooms (i32.add (local.get $rooms) (i32.const 4)))
  (local.set $list_end (call $end_of (i32.sub (local.get $rooms) (i32.const 4))))
  (local.set $bit (i64.const 1))
  (until $done (i32.eq (local.get $rooms) (local.get $list_end))
    (local.set $room (i32.load (local.get $rooms)))
    (if (i32.lt_s (i32.load offset=4 (local.get $room)) (i32.const 0)) (then (unreachable)))
    (local.set $room (i32.load (local.get $room)))
    (local.set $at (call $end_of (local.get $room)))
    (until $taken (i32.eq (local.tee $at (i32.sub (local.get $at) (i32.const 4))) (local.get $room))
      (local.set $kind (i32.load (local.get $at)))
      (if (i32.ge_u (local.get $kind) (local.get $k)) (then (unreachable)))
      (local.set $kind (i32.add (local.get $sets) (i32.shl (local.get $kind) (i32.const 3))))
      (i64.store align=4 (local.get $kind) (i64.or (i64.load align=4 (local.get $kind)) (local.get $bit))))
    (local.set $bit (i64.shl (local.get $bit) (i64.const 1)))
    (local.set $rooms (i32.add (local.get $rooms) (i32.const 4))))
  (local.set $kind (i32.const 0))
  (until $done (i32.eq (local.get $kind) (local.get $k))
    (local.set $set (i64.load align=4 (i32.add (local.get $sets) (i32.shl (local.get $kind) (i32.const 3)))))
    (local.set $group (call $group_of (local.get $set) (local.get $first) (local.get $end)))
    (if (i32.eq (local.get $group) (local.get $end))
      (then (local.set $end (i32.add (local.get $end) (i32.const 16)))
            (if (i32.gt_u (local.get $end) (local.get $sets)) (then (unreachable)))
            (i64.store align=4 (local.get $group) (local.get $set))
            (i64.store offset=8 align=4 (local.get $group) (i64.const 0))))
    (i64.store offset=8 align=4 (local.get $group)
      (i64.add (i64.load offset=8 align=4 (local.get $group))
               (i64.load32_s (i32.add (local.get $bag) (i32.shl (local.get $kind) (i32.const 2))))))
    (local.set $kind (i32.add (local.get $kind) (i32.const 1))))
  (local.get $end))

;; Address of the group with a set of rooms, or the end if there is none.
(func $group_of (param $set i64) (param $group i32) (param $end i32) (result i32)
  (until $found (i32.eq (local.get $group) (local.get $end))
    (br_if $found (i64.eq (i64.load align=4 (local.get $group)) (local.get $set)))
    (local.set $group (i32.add (local.get $group) (i32.const 16))))
  (local.get $group))

;; Capacity of a set of rooms.
(func $capacity (param $rooms i32) (param $set i64) (result i64)
  (local $capacity i64) (local $room i32)
  (until $done (i64.eqz (local.get $set))
    (local.set $room (i32.shl (i32.wrap_i64 (i64.ctz (local.get $set))) (i32.const 2)))
    (local.set $capacity
      (i64.add (local.get $capacity)
               (i64.load32_s offset=4 (i32.load offset=4 (i32.add (local.get $rooms) (local.get $room))))))
    (local.set $set (i64.and (local.get $set) (i64.sub (local.get $set) (i64.const 1)))))
  (local.get $capacity))

;; Minimum of the remaining capacity over all sets of groups: those chosen so far, with the rooms `set` and `left`
;; remaining in these, and any of the groups up to `end`. Groups without tokens are skipped.
(func $least_left (param $rooms i32) (param $group i32) (param $end i32) (param $set i64) (param $left i64) (result i64)
  (local $without i64) (local $with i64) (local $more i64)
  (block $last
    (loop $next
      (br_if $last (i32.eq (local.get $group) (local.get $end)))
      (if (i64.le_s (i64.load offset=8 align=4 (local.get $group)) (i64.const 0))
        (then (local.set $group (i32.add (local.get $group) (i32.const 16)))
              (br $next))))
    (local.set $without (call $least_left (local.get $rooms) (i32.add (local.get $group) (i32.const 16))
                                          (local.get $end) (local.get $set) (local.get $left)))
    (local.set $more (i64.and (i64.load align=4 (local.get $group)) (i64.xor (local.get $set) (i64.const -1))))
    (local.set $with (call $least_left
      (local.get $rooms) (i32.add (local.get $group) (i32.const 16)) (local.get $end)
      (i64.or (local.get $set) (local.get $more))
      (i64.sub (i64.add (local.get $left) (call $capacity (local.get $rooms) (local.get $more)))
               (i64.load offset=8 align=4 (local.get $group)))))
    (return (select (local.get $with) (local.get $without) (i64.lt_s (local.get $with) (local.get $without)))))
  (local.get $left))

;; `$overflow` in the general case.
(func $overflow_of_many (param $bag i32) (param $rooms i32) (param $k i32) (result i64)
  (local $first i32) (local $end i32)
  (local.set $first (global.get $arena))
  (local.set $end (call $groups (local.get $bag) (local.get $rooms) (local.get $k)))
  (global.set $arena (local.get $first))
  (i64.sub (i64.const 0)
           (call $least_left (local.get $rooms) (local.get $first) (local.get $end) (i64.const 0) (i64.const 0))))

;; `$space` in the general case.
(func $space_of_many (param $bag i32) (param $rooms i32) (param $kind i32) (param $k i32) (result i64)
  (local $first i32) (local $end i32) (local $set i64) (local $group i32) (local $tokens i64)
  (if (i32.ge_u (local.get $kind) (local.get $k)) (then (unreachable)))
  (local.set $first (global.get $arena))
  (local.set $end (call $groups (local.get $bag) (local.get $rooms) (local.get $k)))
  (global.set $arena (local.get $first))
  (local.set $set (i64.load offset=160 align=4 (i32.add (local.get $first) (i32.shl (local.get $kind) (i32.const 3)))))
  (local.set $group (call $group_of (local.get $set) (local.get $first) (local.get $end)))
  (local.set $tokens (i64.load offset=8 align=4 (local.get $group)))
  (i64.store offset=8 align=4 (local.get $group) (i64.const 0))  ;; from here on, tokens of the other groups only
  (if (i64.lt_s (call $least_left (local.get $rooms) (local.get $first) (local.get $end) (i64.const 0) (i64.const 0))
                (i64.const 0))
    (then (return (i64.const 0))))
  (local.set $tokens
    (call $least_left (local.get $rooms) (local.get $first) (local.get $end) (local.get $set)
                      (i64.sub (call $capacity (local.get $rooms) (local.get $set)) (local.get $tokens))))
  (select (local.get $tokens) (i64.const 0) (i64.gt_s (local.get $tokens) (i64.const 0))))

;; Number of tokens that do not fit when the rooms are filled optimally.
(func $overflow (param $bag i32) (param $rooms i32) (param $k i32) (result i64)
  (local $first i32) (local $over i64)
  (if (i32.gt_u (local.get $k) (i32.const 6))
    (then (return (call $overflow_of_many (local.get $bag) (local.get $rooms) (local.get $k)))))
  (local.set $first (global.get $arena))
  (local.set $over (call $overflow_within
    (local.get $bag) (call $capacities (local.get $rooms) (local.get $k)) (local.get $k)))
  (global.set $arena (local.get $first))
  (if (i64.lt_s (local.get $over) (i64.const 0))
    (then (return (call $overflow_of_many (local.get $bag) (local.get $rooms) (local.get $k)))))
  (local.get $over))

;; Number of tokens of a kind that fit in addition to the bag; 0 if the bag itself does not fit.
(func $space (param $bag i32) (param $rooms i32) (param $kind i32) (param $k i32) (result i64)
  (local $first i32) (local $left i64)
  (if (i32.gt_u (local.get $k) (i32.const 6))
    (then (return (call $space_of_many (local.get $bag) (local.get $rooms) (local.get $kind) (local.get $k)))))
  (local.set $first (global.get $arena))
  (local.set $left (call $space_within
    (local.get $bag) (call $capacities (local.get $rooms) (local.get $k)) (local.get $kind) (local.get $k)))
  (global.set $arena (local.get $first))
  (if (i64.lt_s (local.get $left) (i64.const 0))
    (then (return (call $space_of_many (local.get $bag) (local.get $rooms) (local.get $kind) (local.get $k)))))
  (local.get $left))

;; Up to 6 kinds: a list has the capacity of rooms for each set of kinds.

;; List of the total capacity of rooms that take any kind of a set, by set; traps above 64 rooms, for a negative
;; capacity, and if the total does not fit into a word.
(func $capacities (param $rooms i32) (param $k i32) (result i32)
  (local $list i32) (local $end i32) (local $room i32) (local $at i32) (local $kinds i32) (local $kind i32)
  (local $set i32) (local $capacity i64) (local $all i64)
  (if (i32.gt_u (local.get $k) (i32.const 6)) (then (unreachable)))
  (if (i32.gt_u (i32.load (local.get $rooms)) (i32.const 64)) (then (unreachable)))
  (local.set $list (call $new_list (i32.shl (i32.const 1) (local.get $k))))
  (call $clear_words (i32.add (local.get $list) (i32.const 4)) (i32.load (local.get $list)))
  (local.set $end (call $end_of (local.get $rooms)))
  (block $done
    (loop $next
      (local.set $rooms (i32.add (local.get $rooms) (i32.const 4)))
      (br_if $done (i32.eq (local.get $rooms) (local.get $end)))
      (local.set $room (i32.load (local.get $rooms)))
      (local.set $capacity (i64.load32_s offset=4 (local.get $room)))
      (local.set $all (i64.add (local.get $all) (local.get $capacity)))
      (if (i64.lt_s (local.get $capacity) (i64.const 0)) (then (unreachable)))
      (if (i64.gt_s (local.get $all) (i64.const 0x7FFFFFFF)) (then (unreachable)))
      (local.set $room (i32.load (local.get $room)))
      (local.set $at (call $end_of (local.get $room)))
      (local.set $kinds (i32.const 0))
      (until $taken (i32.eq (local.tee $at (i32.sub (local.get $at) (i32.const 4))) (local.get $room))
        (local.set $kind (i32.load (local.get $at)))
        (if (i32.ge_u (local.get $kind) (local.get $k)) (then (unreachable)))
        (local.set $kinds (i32.or (local.get $kinds) (i32.shl (i32.const 1) (local.get $kind)))))
      (local.set $set (i32.load (local.get $list)))
      (local.set $at (i32.add (local.get $list) (i32.shl (local.get $set) (i32.const 2))))
      (loop $sets
        (local.set $set (i32.sub (local.get $set) (i32.const 1)))
        (i32.store (local.get $at) (i32.add (i32.load (local.get $at))
          (select (i32.wrap_i64 (local.get $capacity)) (i32.const 0) (i32.and (local.get $set) (local.get $kinds)))))
        (local.set $at (i32.sub (local.get $at) (i32.const 4)))
        (br_if $sets (local.get $set)))
      (br $next)))
  (local.get $list))

;; Set of the kinds of which a bag has tokens; -1 if a count is negative.
(func $kinds_in (param $bag i32) (param $k i32) (result i32)
  (local $set i32) (local $count i32)
  (until $done (i32.eqz (local.get $k))
    (local.set $k (i32.sub (local.get $k) (i32.const 1)))
    (local.set $count (i32.load (i32.add (local.get $bag) (i32.shl (local.get $k) (i32.const 2)))))
    (if (i32.lt_s (local.get $count) (i32.const 0)) (then (return (i32.const -1))))
    (local.set $set (i32.add (i32.shl (local.get $set) (i32.const 1)) (i32.ne (local.get $count) (i32.const 0)))))
  (local.get $set))

;; Number of tokens of a set of kinds in a bag.
(func $tokens_of (param $bag i32) (param $set i32) (result i64)
  (local $tokens i64)
  (until $done (i32.eqz (local.get $set))
    (local.set $tokens (i64.add (local.get $tokens)
      (i64.load32_s (i32.add (local.get $bag) (i32.shl (i32.ctz (local.get $set)) (i32.const 2))))))
    (local.set $set (i32.and (local.get $set) (i32.sub (local.get $set) (i32.const 1)))))
  (local.get $tokens))

;; `$overflow` with the list of `$capacities`; -1 if a count is negative.
(func $overflow_within (param $bag i32) (param $list i32) (param $k i32) (result i64)
  (local $some i32) (local $set i32) (local $most i64) (local $over i64)
  (local.set $some (call $kinds_in (local.get $bag) (local.get $k)))
  (if (i32.lt_s (local.get $some) (i32.const 0)) (then (return (i64.const -1))))
  (local.set $set (local.get $some))
  (until $done (i32.eqz (local.get $set))
    (local.set $over
      (i64.sub (call $tokens_of (local.get $bag) (local.get $set))
               (i64.load32_u offset=4 (i32.add (local.get $list) (i32.shl (local.get $set) (i32.const 2))))))
    (local.set $most (select (local.get $over) (local.get $most) (i64.gt_s (local.get $over) (local.get $most))))
    (local.set $set (i32.and (i32.sub (local.get $set) (i32.const 1)) (local.get $some))))
  (local.get $most))

;; `$space` with the list of `$capacities`; -1 if a count is negative.
(func $space_within (param $bag i32) (param $list i32) (param $kind i32) (param $k i32) (result i64)
  (local $some i32) (local $set i32) (local $with i32) (local $tokens i64) (local $left i64) (local $best i64)
  (if (i32.ge_u (local.get $kind) (local.get $k)) (then (unreachable)))
  (local.set $some (call $kinds_in (local.get $bag) (local.get $k)))
  (if (i32.lt_s (local.get $some) (i32.const 0)) (then (return (i64.const -1))))
  (local.set $with (i32.shl (i32.const 1) (local.get $kind)))
  (local.set $some (i32.and (local.get $some) (i32.xor (local.get $with) (i32.const -1))))
  (local.set $best (i64.const 0x7FFFFFFFFFFFFFFF))
  (local.set $set (local.get $some))
  (loop $next
    (local.set $tokens (call $tokens_of (local.get $bag) (local.get $set)))
    (if (i64.lt_u (i64.load32_u offset=4 (i32.add (local.get $list) (i32.shl (local.get $set) (i32.const 2))))
                  (local.get $tokens))
      (then (return (i64.const 0))))
    (local.set $left
      (i64.sub (i64.load32_u offset=4 (i32.add (local.get $list)
                 (i32.shl (i32.or (local.get $set) (local.get $with)) (i32.const 2))))
               (local.get $tokens)))
    (local.set $best (select (local.get $left) (local.get $best) (i64.lt_s (local.get $left) (local.get $best))))
    (if (local.get $set)
      (then (local.set $set (i32.and (i32.sub (local.get $set) (i32.const 1)) (local.get $some)))
            (br $next))))
  (local.set $best
    (i64.sub (local.get $best) (i64.load32_s (i32.add (local.get $bag) (i32.shl (local.get $kind) (i32.const 2))))))
  (select (local.get $best) (i64.const 0) (i64.gt_s (local.get $best) (i64.const 0))))

;; All bags of `number` tokens of the given kinds that are part of a bag, in the order of the count of the first kind,
;; then of the second. Traps above 64 kinds and above 100,000 words, as the kernel does.
(func $mixes (param $number i64) (param $kinds i32) (param $bag i32) (param $k i32) (result i32)
  (local $some i32) (local $n i32) (local $left i32) (local $mix i32) (local $i i32) (local $first i32)
  (local $fresh i32) (local $tokens i64)
  ;; `some` lists the kinds in the bag; `left` has, by position, the number of tokens of that kind and later ones.
  (local.set $some (call $held (call $distinct (local.get $kinds)) (local.get $bag) (local.get $k)))
  (local.set $n (i32.load (local.get $some)))
  (if (i32.gt_u (local.get $n) (i32.const 64)) (then (unreachable)))
  (local.set $left (call $alloc (i32.add (i32.shl (local.get $n) (i32.const 1)) (i32.const 2))))
  (local.set $i (local.get $n))
  (block $summed
    (loop $next
      (i64.store align=4 (i32.add (local.get $left) (i32.shl (local.get $i) (i32.const 3))) (local.get $tokens))
      (br_if $summed (i32.eqz (local.get $i)))
      (local.set $tokens
        (i64.add (local.get $tokens)
                 (i64.load32_s (i32.add (local.get $bag)
                   (i32.shl (i32.load (i32.add (local.get $some) (i32.shl (local.get $i) (i32.const 2))))
                            (i32.const 2))))))
      (local.set $i (i32.sub (local.get $i) (i32.const 1)))
      (br $next)))
  (if (i64.gt_u (local.get $number) (local.get $tokens)) (then (return (call $new_list (i32.const 0)))))
  (local.set $mix (call $no_tokens (local.get $k)))
  (local.set $first (global.get $arena))
  (call $mixes_from (local.get $number) (i32.add (local.get $some) (i32.const 4)) (call $end_of (local.get $some))
                    (local.get $left) (local.get $bag) (local.get $mix) (local.get $k) (local.get $first))
  ;; List of the addresses of all bags between `first` and the end of the arena.
  (local.set $n (i32.div_u (i32.sub (global.get $arena) (local.get $first)) (i32.shl (local.get $k) (i32.const 2))))
  (local.set $fresh (call $alloc (i32.add (local.get $n) (i32.const 1))))
  (i32.store (local.get $fresh) (local.get $n))
  (local.set $i (i32.add (local.get $fresh) (i32.const 4)))
  (loop $next
    (i32.store (local.get $i) (local.get $first))
    (local.set $first (i32.add (local.get $first) (i32.shl (local.get $k) (i32.const 2))))
    (local.set $i (i32.add (local.get $i) (i32.const 4)))
    (br_if $next (i32.ne (local.get $first) (local.get $fresh))))
  (local.get $fresh))

;; Kinds of a list that are in a bag.
(func $held (param $kinds i32) (param $bag i32) (param $k i32) (result i32)
  (local $fresh i32) (local $at i32) (local $end i32) (local $into i32) (local $kind i32)
  (local.set $fresh (call $new_list (i32.load (local.get $kinds))))
  (local.set $into (i32.add (local.get $fresh) (i32.const 4)))
  (each $at $end (local.get $kinds)
    (local.set $kind (i32.load (local.get $at)))
    (if (i32.ge_u (local.get $kind) (local.get $k)) (then (unreachable)))
    (if (i32.gt_s (i32.load (i32.add (local.get $bag) (i32.shl (local.get $kind) (i32.const 2)))) (i32.const 0))
      (then (i32.store (local.get $into) (local.get $kind))
            (local.set $into (i32.add (local.get $into) (i32.const 4))))))
  (i32.store (local.get $fresh)
             (i32.sub (i32.shr_u (i32.sub (local.get $into) (local.get $fresh)) (i32.const 2)) (i32.const 1)))
  (local.get $fresh))

;; Append all mixes of `rest` tokens of the kinds from `kinds` to `end`, combined with the tokens of earlier kinds in
;; `mix`.
(func $mixes_from (param $rest i64) (param $kinds i32) (param $end i32) (param $left i32) (param $bag i32)
                  (param $mix i32) (param $k i32) (param $first i32)
  (local $kind i32) (local $count i64) (local $most i64)
  (if (i32.eq (local.get $kinds) (local.get $end))
    (then (call $copy_words (call $alloc (local.get $k)) (local.get $mix) (local.get $k))
          (if (i32.gt_u (i32.sub (global.get $arena) (local.get $first)) (i32.const 400000)) (then (unreachable)))
          (return)))
  (local.set $kind (i32.shl (i32.load (local.get $kinds)) (i32.const 2)))
  (local.set $most (i64.load32_s (i32.add (local.get $bag) (local.get $kind))))
  (if (i64.gt_s (local.get $most) (local.get $rest)) (then (local.set $most (local.get $rest))))
  (local.set $count (i64.sub (local.get $rest) (i64.load offset=8 align=4 (local.get $left))))
  (if (i64.lt_s (local.get $count) (i64.const 0)) (then (local.set $count (i64.const 0))))
  (loop $next
    (i32.store (i32.add (local.get $mix) (local.get $kind)) (i32.wrap_i64 (local.get $count)))
    (call $mixes_from (i64.sub (local.get $rest) (local.get $count))
                      (i32.add (local.get $kinds) (i32.const 4)) (local.get $end)
                      (i32.add (local.get $left) (i32.const 8)) (local.get $bag) (local.get $mix) (local.get $k)
                      (local.get $first))
    (local.set $count (i64.add (local.get $count) (i64.const 1)))
    (br_if $next (i64.le_s (local.get $count) (local.get $most)))))


;; Tracks. A track is k addresses of rows. A row is its capacity c, then c + 1 sums of its first prices, then c prices.

;; Number of free positions next to `count` tokens of a kind; traps if the row has fewer positions than tokens.
(func $track_vacancy (param $track i32) (param $kind i32) (param $count i64) (result i64)
  (local $capacity i64)
  (if (i32.lt_s (local.get $kind) (i32.const 0)) (then (unreachable)))
  (local.set $capacity
    (i64.load32_u (i32.load (i32.add (local.get $track) (i32.shl (local.get $kind) (i32.const 2))))))
  (if (i64.gt_u (local.get $count) (local.get $capacity)) (then (unreachable)))
  (i64.sub (local.get $capacity) (local.get $count)))

;; Price of tokens, the cheapest of each kind first; traps if there are too few.
(func $track_price (param $track i32) (param $present i32) (param $wanted i32) (param $k i32) (result i64)
  (local $price i64) (local $row i32) (local $count i32) (local $number i32)
  (until $done (i32.eqz (local.get $k))
    (local.set $row (i32.load (local.get $track)))
    (local.set $count (i32.load (local.get $present)))
    (local.set $number (i32.load (local.get $wanted)))
    (if (i32.or (i32.gt_u (local.get $count) (i32.load (local.get $row)))
                (i32.gt_u (local.get $number) (local.get $count)))
      (then (unreachable)))
    ;; Sum of the prices before the first token.
    (local.set $row
      (i32.add (local.get $row) (i32.shl (i32.sub (i32.load (local.get $row)) (local.get $count)) (i32.const 2))))
    (local.set $price
      (i64.add (local.get $price)
               (i64.sub (i64.load32_s offset=4 (i32.add (local.get $row)
                                                        (i32.shl (local.get $number) (i32.const 2))))
                        (i64.load32_s offset=4 (local.get $row)))))
    (local.set $track (i32.add (local.get $track) (i32.const 4)))
    (local.set $present (i32.add (local.get $present) (i32.const 4)))
    (local.set $wanted (i32.add (local.get $wanted) (i32.const 4)))
    (local.set $k (i32.sub (local.get $k) (i32.const 1))))
  (local.get $price))

;; Price of each position of a row, ascending.
(func $track_prices (param $track i32) (param $kind i32) (result i32)
  (local $row i32)
  (if (i32.lt_s (local.get $kind) (i32.const 0)) (then (unreachable)))
  (local.set $row (i32.load (i32.add (local.get $track) (i32.shl (local.get $kind) (i32.const 2)))))
  (call $list_of (i32.add (i32.add (local.get $row) (i32.const 8)) (i32.shl (i32.load (local.get $row)) (i32.const 2)))
                 (i32.load (local.get $row))))


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

;; Trap if the graph is too large for a search or a link has a negative length.
(func $check_lengths (param $lengths i32)
  (local $at i32) (local $end i32)
  (if (i32.gt_u (global.get $graph_nodes) (i32.const 65535)) (then (unreachable)))
  (local.set $at (call $entries (global.get $graph_adjacent) (i32.const 0)))
  (local.set $end (call $entries (global.get $graph_adjacent) (global.get $graph_nodes)))
  (until $done (i32.eq (local.get $at) (local.get $end))
    (if (i32.lt_s (call $length (local.get $lengths) (local.get $at)) (i32.const 0)) (then (unreachable)))
    (local.set $at (i32.add (local.get $at) (i32.const 8)))))

;; Length of the link of an entry.
(func $length (param $lengths i32) (param $entry i32) (result i32)
  (i32.load (i32.add (local.get $lengths) (i32.shl (i32.load offset=4 (local.get $entry)) (i32.const 2)))))

;; Address of the first entry of a node; for node n, the end.
(func $entries (param $links i32) (param $node i32) (result i32)
  (i32.add
    (i32.add (local.get $links) (i32.shl (i32.add (global.get $graph_nodes) (i32.const 1)) (i32.const 2)))
    (i32.shl (i32.load (i32.add (local.get $links) (i32.shl (local.get $node) (i32.const 2)))) (i32.const 3))))

;; Trap if a word is not a node.
(func $check_node (param $node i32)
  (if (i32.ge_u (local.get $node) (global.get $graph_nodes)) (then (unreachable))))

;; Push a key onto a heap of `count` keys, with the smallest on top.
(func $heap_push (param $heap i32) (param $count i32) (param $key i64)
  (local $above i32) (local $other i64)
  (until $done (i32.eqz (local.get $count))
    (local.set $above (i32.shr_u (i32.sub (local.get $count) (i32.const 1)) (i32.const 1)))
    (local.set $other
      (i64.load align=4 (i32.add (local.get $heap) (i32.shl (local.get $above) (i32.const 3)))))
    (br_if $done (i64.ge_u (local.get $key) (local.get $other)))
    (i64.store align=4 (i32.add (local.get $heap) (i32.shl (local.get $count) (i32.const 3))) (local.get $other))
    (local.set $count (local.get $above)))
  (i64.store align=4 (i32.add (local.get $heap) (i32.shl (local.get $count) (i32.const 3))) (local.get $key)))

;; Replace the top of a heap by its last key, which is removed; `count` is the new number of keys.
(func $heap_pop (param $heap i32) (param $count i32)
  (local $key i64) (local $other i64) (local $next i64) (local $place i32) (local $below i32)
  (local.set $key (i64.load align=4 (i32.add (local.get $heap) (i32.shl (local.get $count) (i32.const 3)))))
  (block $done
    (loop $down
      (local.set $below (i32.add (i32.shl (local.get $place) (i32.const 1)) (i32.const 1)))
      (br_if $done (i32.ge_u (local.get $below) (local.get $count)))
      (local.set $other
        (i64.load align=4 (i32.add (local.get $heap) (i32.shl (local.get $below) (i32.const 3)))))
      (if (i32.lt_u (i32.add (local.get $below) (i32.const 1)) (local.get $count))
        (then
          (local.set $next
            (i64.load offset=8 align=4 (i32.add (local.get $heap) (i32.shl (local.get $below) (i32.const 3)))))
          (if (i64.lt_u (local.get $next) (local.get $other))
            (then (local.set $other (local.get $next))
                  (local.set $below (i32.add (local.get $below) (i32.const 1)))))))
      (br_if $done (i64.le_u (local.get $key) (local.get $other)))
      (i64.store align=4 (i32.add (local.get $heap) (i32.shl (local.get $place) (i32.const 3))) (local.get $other))
      (local.set $place (local.get $below))
      (br $down)))
  (i64.store align=4 (i32.add (local.get $heap) (i32.shl (local.get $place) (i32.const 3))) (local.get $key)))

;; Dijkstra's algorithm from one node. A path is encoded in 64 bits: its length plus 1, then 16 bits with its number of
;; links, so that the better of two paths is the smaller number. `ways` gets the best path to each node: 0 if the node
;; is not allowed, -1 if it is unreachable. Traps if a length does not fit into a word.
(func $search (param $origin i32) (param $within i32) (param $links i32) (param $lengths i32) (param $ways i32)
  (local $heap i32) (local $count i32) (local $key i64) (local $way i64) (local $next i64) (local $node i32)
  (local $other i32) (local $at i32) (local $end i32)
  (call $allow (local.get $within) (local.get $ways))
  (local.set $other (i32.add (local.get $ways) (i32.shl (local.get $origin) (i32.const 3))))
  (if (i64.eqz (i64.load align=4 (local.get $other))) (then (return)))
  (i64.store align=4 (local.get $other) (i64.const 0x10000))
  ;; An entry pushes at most one key onto the heap: a path, then 16 bits with its last node.
  (local.set $heap
    (call $alloc (i32.add (i32.const 4)
                          (i32.shl (i32.load (i32.add (local.get $links)
                                                      (i32.shl (global.get $graph_nodes) (i32.const 2))))
                                   (i32.const 1)))))
  (local.set $key (i64.or (i64.const 0x100000000) (i64.extend_i32_u (local.get $origin))))
  (block $done
    (loop $settle
      (local.set $way (i64.shr_u (local.get $key) (i64.const 16)))
      (local.set $node (i32.wrap_i64 (i64.and (local.get $key) (i64.const 0xFFFF))))
      (if (i64.eq (local.get $way)
                  (i64.load align=4 (i32.add (local.get $ways) (i32.shl (local.get $node) (i32.const 3)))))
        (then
          (local.set $at (call $entries (local.get $links) (local.get $node)))
          (local.set $end (call $entries (local.get $links) (i32.add (local.get $node) (i32.const 1))))
          (until $entered (i32.eq (local.get $at) (local.get $end))
            (local.set $other (i32.load (local.get $at)))
            (local.set $next
              (i64.add (i64.add (local.get $way) (i64.const 1))
                       (i64.shl (i64.extend_i32_u (call $length (local.get $lengths) (local.get $at)))
                                (i64.const 16))))
            (local.set $node (i32.add (local.get $ways) (i32.shl (local.get $other) (i32.const 3))))
            (if (i64.lt_u (local.get $next) (i64.load align=4 (local.get $node)))
              (then
                (if (i64.ge_u (local.get $next) (i64.const 0x800000000000)) (then (unreachable)))
                (i64.store align=4 (local.get $node) (local.get $next))
                (call $heap_push (local.get $heap) (local.get $count)
                                 (i64.or (i64.shl (local.get $next) (i64.const 16))
                                         (i64.extend_i32_u (local.get $other))))
                (local.set $count (i32.add (local.get $count) (i32.const 1)))))
            (local.set $at (i32.add (local.get $at) (i32.const 8))))))
      (br_if $done (i32.eqz (local.get $count)))
      (local.set $key (i64.load align=4 (local.get $heap)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (call $heap_pop (local.get $heap) (local.get $count))
      (br $settle)))
  (global.set $arena (local.get $heap)))

;; Fill `ways` with -1 for allowed nodes, 0 for others.
(func $allow (param $within i32) (param $ways i32)
  (local $at i32) (local $end i32)
  (memory.fill (local.get $ways) (select (i32.const 0) (i32.const 255) (local.get $within))
               (i32.shl (global.get $graph_nodes) (i32.const 3)))
  (if (i32.eqz (local.get $within)) (then (return)))
  (each $at $end (local.get $within)
    (call $check_node (i32.load (local.get $at)))
    (i64.store align=4 (i32.add (local.get $ways) (i32.shl (i32.load (local.get $at)) (i32.const 3))) (i64.const -1))))

;; Nodes of the cheapest path from a start to the goal; 0 if there is none. Ties are broken by the number of links, then
;; by the number of the first node, the second, and so on.
(func $path (param $starts i32) (param $goal i32) (param $within i32) (param $lengths i32) (result i32)
  (local $fresh i32) (local $into i32) (local $ways i32) (local $at i32) (local $end i32) (local $node i32)
  (local $way i64) (local $best i64) (local $key i64)
  (call $check_node (local.get $goal))
  (local.set $fresh (call $alloc (i32.add (global.get $graph_nodes) (i32.const 1))))
  (if (i32.eq (global.get $graph_leading) (global.get $graph_adjacent))
    (then (local.set $ways (call $ways_from (local.get $goal) (local.get $within) (local.get $lengths))))
    (else
      (call $check_lengths (local.get $lengths))
      (local.set $ways (call $alloc (i32.shl (global.get $graph_nodes) (i32.const 1))))
      (call $search (local.get $goal) (local.get $within) (global.get $graph_leading) (local.get $lengths)
                    (local.get $ways))))
  (local.set $best (i64.const -1))
  (each $at $end (local.get $starts)
    (local.set $node (i32.load (local.get $at)))
    (call $check_node (local.get $node))
    (local.set $way (i64.load align=4 (i32.add (local.get $ways) (i32.shl (local.get $node) (i32.const 3)))))
    (local.set $key (i64.or (i64.shl (local.get $way) (i64.const 16)) (i64.extend_i32_u (local.get $node))))
    (if (i32.and (i64.gt_s (local.get $way) (i64.const 0)) (i64.lt_u (local.get $key) (local.get $best)))
      (then (local.set $best (local.get $key)))))
  (global.set $arena (local.get $fresh))
  (if (i64.eq (local.get $best) (i64.const -1)) (then (return (i32.const 0))))
  (local.set $way (i64.shr_u (local.get $best) (i64.const 16)))
  (local.set $node (i32.wrap_i64 (i64.and (local.get $best) (i64.const 0xFFFF))))
  (local.set $into (local.get $fresh))
  (block $there
    (loop $walk
      (local.set $into (i32.add (local.get $into) (i32.const 4)))
      (i32.store (local.get $into) (local.get $node))
      (br_if $there (i64.eqz (i64.and (local.get $way) (i64.const 0xFFFF))))
      ;; First entry that continues along a best path.
      (local.set $at (call $entries (global.get $graph_adjacent) (local.get $node)))
      (loop $look
        (local.set $node (i32.load (local.get $at)))
        (local.set $key
          (i64.sub (i64.sub (local.get $way) (i64.const 1))
                   (i64.shl (i64.extend_i32_u (call $length (local.get $lengths) (local.get $at))) (i64.const 16))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br_if $look (i64.eqz (local.get $key)))  ;; the encoding of a node that is not allowed
        (br_if $look
          (i64.ne (local.get $key)
                  (i64.load align=4 (i32.add (local.get $ways) (i32.shl (local.get $node) (i32.const 3)))))))
      (local.set $way (local.get $key))
      (br $walk)))
  (i32.store (local.get $fresh) (i32.shr_u (i32.sub (local.get $into) (local.get $fresh)) (i32.const 2)))
  (global.set $arena (i32.add (local.get $into) (i32.const 4)))
  (local.get $fresh))

;; Cache of distances, initially zero. A slot is for one `lengths` and the nodes of one `within`. The key is the address
;; of the lengths: words there must not change unless the cache is cleared. `graph_cache_words` in runtime.py returns
;; the size of a slot. The words of a slot:
;;
;;   0           in the first slot: address of the last used slot, or 0
;;   1           in the first slot: number of the slot to overwrite next
;;   2           address of the lengths, or 0 if the slot is free
;;   3           number of nodes of `within`, or -1 if that is 0
;;   4           n words: the nodes of `within`, in their order there
;;   4 + n       n words: address of the row of each start, or 0 if it has not been computed
;;   4 + 2 n     n rows of n paths, two words each, as `$search` encodes them

;; Minimum length of a path from any start to the goal, or none. Starts outside `within` are ignored.
(func $distance (param $starts i32) (param $goal i32) (param $within i32) (param $lengths i32) (result i64)
  (local $rows i32) (local $at i32) (local $end i32) (local $start i32) (local $way i32)
  (local $far i64) (local $nearest i64)
  (call $check_node (local.get $goal))
  (local.set $rows (call $rows_of (local.get $within) (local.get $lengths)))
  (local.set $nearest (i64.const -1))
  (each $at $end (local.get $starts)
    (local.set $start (i32.load (local.get $at)))
    (call $check_node (local.get $start))
    (local.set $way (i32.load (i32.add (local.get $rows) (i32.shl (local.get $start) (i32.const 2)))))
    (if (local.get $way)
      (then (local.set $way (i32.add (local.get $way) (i32.shl (local.get $goal) (i32.const 3)))))
      ;; If the graph is undirected, the row of the goal is enough for all starts.
      (else (if (i32.eq (global.get $graph_leading) (global.get $graph_adjacent))
        (then (local.set $way (i32.add
          (call $ways_of (local.get $rows) (local.get $goal) (local.get $within) (local.get $lengths))
          (i32.shl (local.get $start) (i32.const 3)))))
        (else (local.set $way (i32.add
          (call $ways_of (local.get $rows) (local.get $start) (local.get $within) (local.get $lengths))
          (i32.shl (local.get $goal) (i32.const 3))))))))
    ;; 0 becomes the largest unsigned number.
    (local.set $far (i64.sub (i64.load align=4 (local.get $way)) (i64.const 1)))
    (local.set $nearest (select (local.get $far) (local.get $nearest)
                                (i64.lt_u (local.get $far) (local.get $nearest)))))
  (select (i64.const -2147483648)
          (i64.sub (i64.shr_u (i64.add (local.get $nearest) (i64.const 1)) (i64.const 16)) (i64.const 1))
          (i64.lt_s (local.get $nearest) (i64.const 0))))

;; List of `$distance` to every node.
(func $nearest (param $starts i32) (param $within i32) (param $lengths i32) (result i32)
  (local $list i32) (local $at i32) (local $end i32) (local $start i32) (local $rows i32) (local $row i32)
  (local $into i32) (local $last i32) (local $nodes i32)
  (local.set $nodes (global.get $graph_nodes))
  (local.set $rows (call $rows_of (local.get $within) (local.get $lengths)))
  ;; Four nodes at a time: the list is followed by room for three more.
  (local.set $list (call $alloc (i32.add (local.get $nodes) (i32.const 5))))
  (i32.store (local.get $list) (local.get $nodes))
  (local.set $last (i32.add (local.get $list) (i32.shl (local.get $nodes) (i32.const 2))))
  (local.set $into (local.get $list))
  (until $none (i32.ge_u (local.get $into) (local.get $last))
    (v128.store offset=4 align=4 (local.get $into) (v128.const i32x4 0x80000000 0x80000000 0x80000000 0x80000000))
    (local.set $into (i32.add (local.get $into) (i32.const 16))))
  (each $at $end (local.get $starts)
    (local.set $start (i32.load (local.get $at)))
    (if (i32.ge_u (local.get $start) (local.get $nodes)) (then (unreachable)))
    (local.set $row (call $ways_of (local.get $rows) (local.get $start) (local.get $within) (local.get $lengths)))
    (local.set $into (local.get $list))
    (until $merged (i32.ge_u (local.get $into) (local.get $last))
      ;; Bits 16 to 47 of a path are its length plus 1; no path becomes the largest unsigned number.
      (v128.store offset=4 align=4 (local.get $into)
        (i32x4.min_u (v128.load offset=4 align=4 (local.get $into))
          (i32x4.sub (i8x16.shuffle 2 3 4 5 10 11 12 13 18 19 20 21 26 27 28 29
                       (v128.load align=4 (local.get $row)) (v128.load offset=16 align=4 (local.get $row)))
                     (v128.const i32x4 1 1 1 1))))
      (local.set $into (i32.add (local.get $into) (i32.const 16)))
      (local.set $row (i32.add (local.get $row) (i32.const 32)))))
  (local.get $list))

;; Address of the rows of the slot for these nodes and lengths.
(func $rows_of (param $within i32) (param $lengths i32) (result i32)
  (local $slot i32)
  (local.set $slot (i32.load (global.get $graph_cache)))
  (if (i32.eqz (call $is_slot_of (local.get $slot) (local.get $within) (local.get $lengths)))
    (then (local.set $slot (call $slot_of (local.get $within) (local.get $lengths)))))
  (i32.add (i32.add (local.get $slot) (i32.const 16)) (i32.shl (global.get $graph_nodes) (i32.const 2))))

;; Address of the best paths from a node to every other.
(func $ways_from (param $start i32) (param $within i32) (param $lengths i32) (result i32)
  (call $ways_of (call $rows_of (local.get $within) (local.get $lengths))
                (local.get $start) (local.get $within) (local.get $lengths)))

;; True if a slot is for these nodes and lengths.
(func $is_slot_of (param $slot i32) (param $within i32) (param $lengths i32) (result i32)
  (local $n i32)
  (if (i32.eqz (local.get $slot)) (then (return (i32.const 0))))
  (if (i32.ne (i32.load offset=8 (local.get $slot)) (local.get $lengths)) (then (return (i32.const 0))))
  (local.set $n (i32.load offset=12 (local.get $slot)))
  (if (i32.eqz (local.get $within)) (then (return (i32.eq (local.get $n) (i32.const -1)))))
  (if (i32.ne (local.get $n) (i32.load (local.get $within))) (then (return (i32.const 0))))
  (call $equal_words (i32.add (local.get $slot) (i32.const 16)) (i32.add (local.get $within) (i32.const 4))
                     (local.get $n)))

;; Find the slot for these nodes and lengths, or overwrite one; it becomes the last used slot.
(func $slot_of (param $within i32) (param $lengths i32) (result i32)
  (local $slot i32) (local $end i32) (local $bytes i32) (local $n i32) (local $cache i32)
  (local.set $cache (global.get $graph_cache))
  (local.set $n (global.get $graph_nodes))
  (local.set $bytes
    (i32.shl (i32.add (i32.const 2) (i32.mul (local.get $n) (i32.add (local.get $n) (i32.const 1)))) (i32.const 3)))
  (local.set $slot (local.get $cache))
  (local.set $end (i32.add (local.get $slot) (i32.mul (global.get $graph_slots) (local.get $bytes))))
  (until $absent (i32.eq (local.get $slot) (local.get $end))
    (if (call $is_slot_of (local.get $slot) (local.get $within) (local.get $lengths))
      (then (i32.store (local.get $cache) (local.get $slot))
            (return (local.get $slot))))
    (local.set $slot (i32.add (local.get $slot) (local.get $bytes))))
  (call $check_lengths (local.get $lengths))
  (local.set $n (i32.load offset=4 (local.get $cache)))
  (local.set $slot (i32.add (local.get $cache) (i32.mul (local.get $n) (local.get $bytes))))
  (call $clear_slot (local.get $slot) (local.get $within) (local.get $lengths))
  (i32.store (local.get $cache) (local.get $slot))
  (i32.store offset=4 (local.get $cache)
             (i32.rem_u (i32.add (local.get $n) (i32.const 1)) (global.get $graph_slots)))
  (local.get $slot))

;; Initialise a slot for these nodes and lengths, without rows. Traps if duplicate nodes make the list too long.
(func $clear_slot (param $slot i32) (param $within i32) (param $lengths i32)
  (local $n i32) (local $nodes i32)
  (local.set $nodes (global.get $graph_nodes))
  (local.set $n (i32.const -1))
  (if (local.get $within)
    (then
      (local.set $n (i32.load (local.get $within)))
      (if (i32.gt_u (local.get $n) (local.get $nodes)) (then (unreachable)))
      (call $copy_words (i32.add (local.get $slot) (i32.const 16)) (i32.add (local.get $within) (i32.const 4))
                        (local.get $n))))
  (memory.fill (i32.add (i32.add (local.get $slot) (i32.const 16)) (i32.shl (local.get $nodes) (i32.const 2)))
               (i32.const 0) (i32.shl (local.get $nodes) (i32.const 2)))
  (i32.store offset=12 (local.get $slot) (local.get $n))
  (i32.store offset=8 (local.get $slot) (local.get $lengths)))

;; Address of the row of a start, given the addresses of the slot's rows; it is computed if there is none.
(func $ways_of (param $rows i32) (param $start i32) (param $within i32) (param $lengths i32) (result i32)
  (local $row i32) (local $nodes i32)
  (local.set $nodes (global.get $graph_nodes))
  (local.set $row (i32.load (i32.add (local.get $rows) (i32.shl (local.get $start) (i32.const 2)))))
  (if (local.get $row) (then (return (local.get $row))))
  (local.set $row
    (i32.add (i32.add (local.get $rows) (i32.shl (local.get $nodes) (i32.const 2)))
             (i32.shl (i32.mul (local.get $nodes) (local.get $start)) (i32.const 3))))
  (call $search (local.get $start) (local.get $within) (global.get $graph_adjacent) (local.get $lengths)
                (local.get $row))
  (i32.store (i32.add (local.get $rows) (i32.shl (local.get $start) (i32.const 2))) (local.get $row))
  (local.get $row))

;; True if the nodes are connected by links among themselves, in either direction.
(func $connected (param $nodes i32) (result i32)
  (local $marks i32) (local $queue i32) (local $head i32) (local $tail i32) (local $at i32) (local $end i32)
  (local $left i32) (local $mark i32)
  (if (i32.eqz (i32.load (local.get $nodes))) (then (return (i32.const 1))))
  (local.set $marks (call $alloc (i32.shl (global.get $graph_nodes) (i32.const 1))))
  (local.set $queue (i32.add (local.get $marks) (i32.shl (global.get $graph_nodes) (i32.const 2))))
  (global.set $arena (local.get $marks))
  (memory.fill (local.get $marks) (i32.const 0) (i32.shl (global.get $graph_nodes) (i32.const 2)))
  (local.set $at (i32.add (local.get $nodes) (i32.const 4)))
  (local.set $end (call $end_of (local.get $nodes)))
  (loop $next  ;; mark and count the nodes to reach
    (call $check_node (i32.load (local.get $at)))
    (local.set $mark (i32.add (local.get $marks) (i32.shl (i32.load (local.get $at)) (i32.const 2))))
    (local.set $left (i32.add (local.get $left) (i32.eqz (i32.load (local.get $mark)))))
    (i32.store (local.get $mark) (i32.const 1))
    (br_if $next (i32.ne (local.tee $at (i32.add (local.get $at) (i32.const 4))) (local.get $end))))
  (local.set $head (local.get $queue))
  (i32.store (local.get $head) (i32.load offset=4 (local.get $nodes)))
  (i32.store (i32.add (local.get $marks) (i32.shl (i32.load (local.get $head)) (i32.const 2))) (i32.const 0))
  (local.set $tail (i32.add (local.get $head) (i32.const 4)))
  (loop $next
    (local.set $tail (call $spread (global.get $graph_adjacent) (i32.load (local.get $head)) (local.get $marks)
                                   (local.get $tail)))
    (if (i32.ne (global.get $graph_leading) (global.get $graph_adjacent))
      (then (local.set $tail (call $spread (global.get $graph_leading) (i32.load (local.get $head))
                                           (local.get $marks) (local.get $tail)))))
    (br_if $next (i32.ne (local.tee $head (i32.add (local.get $head) (i32.const 4))) (local.get $tail))))
  (i32.eq (i32.shr_u (i32.sub (local.get $tail) (local.get $queue)) (i32.const 2)) (local.get $left)))

;; Append the marked neighbours of a node to a queue and clear their marks; return the new end of the queue.
(func $spread (param $links i32) (param $node i32) (param $marks i32) (param $tail i32) (result i32)
  (local $at i32) (local $end i32) (local $mark i32)
  (local.set $at (call $entries (local.get $links) (local.get $node)))
  (local.set $end (call $entries (local.get $links) (i32.add (local.get $node) (i32.const 1))))
  (until $done (i32.eq (local.get $at) (local.get $end))
    (local.set $mark (i32.add (local.get $marks) (i32.shl (i32.load (local.get $at)) (i32.const 2))))
    (if (i32.load (local.get $mark))
      (then (i32.store (local.get $mark) (i32.const 0))
            (i32.store (local.get $tail) (i32.load (local.get $at)))
            (local.set $tail (i32.add (local.get $tail) (i32.const 4)))))
    (local.set $at (i32.add (local.get $at) (i32.const 8))))
  (local.get $tail))

;; Clear the cache of distances.
(func $forget_ways
  (local $slot i32) (local $left i32)
  (local.set $slot (global.get $graph_cache))
  (local.set $left (global.get $graph_slots))
  (i32.store (local.get $slot) (i32.const 0))
  (until $done (i32.eqz (local.get $left))
    (i32.store offset=8 (local.get $slot) (i32.const 0))
    (local.set $slot (i32.add (local.get $slot) (i32.shl (i32.add (i32.const 2) (i32.mul (global.get $graph_nodes)
      (i32.add (global.get $graph_nodes) (i32.const 1)))) (i32.const 3))))
    (local.set $left (i32.sub (local.get $left) (i32.const 1)))))
