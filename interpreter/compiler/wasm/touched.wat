;; Invalidate the memoised results that depend on a cell, which has changed.
(func $touched (param $cell i32)
  (local $at i32) (local $mask i64)
  (local.set $at (i32.add (i32.const {table}) (i32.shl (local.get $cell) (i32.const 5))))
  (i64.store (i32.const {alone}) (i64.or (i64.load (i32.const {alone})) (i64.load align=4 (local.get $at))))
  (local.set $mask (i64.load offset=16 align=4 (local.get $at)))
  (if (i64.ne (local.get $mask) (i64.const 0))
    (then (i64.store (i32.load offset=24 (local.get $at))
      (i64.or (i64.load (i32.load offset=24 (local.get $at))) (local.get $mask)))))
  (local.set $mask (i64.load offset=8 align=4 (local.get $at)))
  (if (i64.eqz (local.get $mask)) (then (return)))
{rows})

;; Invalidate the memoised results that depend on the cell of a place, which a piece entered or left.
(func $touched_piece (param $cell i32) (param $piece i32)
  (local $at i32)
  (call $touched (local.get $cell))
  (local.set $at (i32.add (i32.const {dirty}) (i32.shl
    (i32.load (i32.add (i32.const {owners}) (i32.shl (local.get $piece) (i32.const 2)))) (i32.const 3))))
  (i64.store (local.get $at) (i64.or (i64.load (local.get $at)) (i64.const {own_piece}))))

;; Invalidate all memoised results that depend on cells, after the state was replaced.
(func $forget (export "forget")
  (global.set $seat (i32.const -1))
  (memory.fill (i32.const {dirty}) (i32.const 255) (i32.const {bytes}))
  (memory.fill (i32.const {parts}) (i32.const 255) (i32.const {parts_bytes})))
