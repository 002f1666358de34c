;; Invalidate the memoised results that depend on a cell, which has changed: a table tells which.
(func $touched (param $cell i32)
  (local $at i32) (local $mask i64)
  (local.set $at (i32.add {table} (i32.mul $cell 36)))
  (i64.store {alone} (i64.or (i64.load {alone}) (i64.load align=4 $at)))
  (local.set $mask (i64.load offset=16 align=4 $at))
  (if (i64.ne $mask (i64.const 0)) (then (call $touch_all (i32.load offset=32 $at) 0 $mask)))
  (local.set $mask (i64.load offset=24 align=4 $at))
  (if (i64.ne $mask (i64.const 0)) (then (call $touch_all {parts} {parts_end} $mask)))
  (local.set $mask (i64.load offset=8 align=4 $at))
  (if (i64.ne $mask (i64.const 0)) (then (call $touch_all {dirty} {alone} $mask))))

;; Set bits in the word at an address, and in those after it up to an end.
(func $touch_all (param $at $end i32) (param $mask i64)
  (loop $each
    (i64.store $at (i64.or (i64.load $at) $mask))
    (br_if $each (i32.lt_u (local.tee $at (i32.add $at 8)) $end))))

;; Invalidate the memoised results that depend on the cell of a place, which a piece entered or left.
(func $touched_piece (param $cell $piece i32)
  (call $touched $cell)
  (call $touch_all (i32.add {dirty} (i32.shl (i32.load (i32.add {owners} (i32.shl $piece 2))) 3)) 0
    (i64.const {own_piece})))

;; Invalidate all memoised results that depend on cells, after the state was replaced.
(func $forget (export "forget")
  (global.set $seat -1)
  (memory.fill {dirty} 255 {bytes}))
