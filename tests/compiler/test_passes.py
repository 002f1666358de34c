"""Passes over the intermediate form: rule text, functions before and after, as WebAssembly text.

Locals are not printed; addresses behind the state count from its end.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from interpreter.compiler.codegen.module_builder import ModuleBuilder
from interpreter.compiler.passes import PASSES
from interpreter.compiler.wasm.assemble import built
from interpreter.compiler.wasm.emit import text_of
from tests.small import FAMILY, loaded, write

BEFORE = "before"


class Functions:
    """The functions of a small game before and after each pass."""

    def __init__(self, folder: Path, act: str, rules: str, family: str = FAMILY) -> None:
        ruleset = loaded(write(folder, act, textwrap.dedent(rules), family=family))
        machine = ruleset.table(2, ruleset.settings({})).machine
        builder = ModuleBuilder(machine)
        self.first = builder.memory.end
        """The first address that is free when functions are built."""
        _, self.context = built(builder)
        now = builder.functions
        self.found = {BEFORE: dict(now)}
        for each in PASSES:
            now = dict(each(now, self.context))
            self.found[each.__name__] = dict(now)

    def text(self, after: str, name: str) -> str:
        lines = re.sub(r"\b\d{6,7}\b", self._behind, text_of(self.found[after][name])).splitlines()
        kept = (line for line in lines if not re.match(r"\s*(;;|\(local )", line))
        return "\n".join(part for line in kept for part in _broken(line))

    def _behind(self, number: re.Match[str]) -> str:
        """An address behind the state as one that does not depend on the size of the state."""
        after = int(number[0]) - self.first
        return f"end+{after}" if after >= 0 else number[0]


def _broken(line: str) -> list[str]:
    """A line in lines that are not too long: what is in the outermost parentheses stands below, further in."""
    if len(line) < 100:
        return [line]
    pad = " " * (len(line) - len(line.lstrip()))
    found, depth, start = [], 0, 0
    for at, letter in enumerate(line):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == " " and at > len(pad) and depth <= 1:
            found.append(line[start:at])
            start = at + 1
    found.append(line[start:])
    if len(found) == 1:
        return found
    return [found[0], *(part for each in found[1:] for part in _broken(f"{pad}  {each}"))]


def shown(text: str) -> str:
    return textwrap.dedent(text).strip()


def test_a_function_of_one_hand_has_a_row_for_each_seat(tmp_path: Path) -> None:
    it = Functions(
        tmp_path,
        """
        for each who in seats:
          who.score = wealth(who)
        end game
        """,
        """
        wealth(who) -> int: count([p in who.hand where p.number > 1])
        """,
    )
    assert it.text(BEFORE, "f.wealth_0") == shown("""
        (func $f.wealth_0 (param $p0 i32) (result i64)
          (global.set $fuel (i32.sub (global.get $fuel) (i32.const 4)))
          (if (i32.lt_s (global.get $fuel) (i32.const 0)) (then (unreachable)))
          (local.set $list1 (i32.add (i32.mul (local.get $p0) (i32.const 84)) (i32.const 292)))
          (local.set $n2 (i32.load (local.get $list1)))
          (local.set $count3 (i64.const 0))
          (global.set $fuel (i32.sub (global.get $fuel) (i32.add (local.get $n2) (i32.const 1))))
          (if (i32.lt_s (global.get $fuel) (i32.const 0)) (then (unreachable)))
          (local.set $at4 (local.get $list1))
          (local.set $end5 (i32.add (local.get $list1) (i32.shl (local.get $n2) (i32.const 2))))
          (block $each6
          (loop $each6.again
            (br_if $each6 (i32.eqz (i32.ne (local.get $at4) (local.get $end5))))
            (local.set $x7 (i32.load offset=4 (local.get $at4)))
            (if
              (i64.gt_s
                (i64.load32_s offset=end+108 (i32.shl (local.get $x7) (i32.const 2)))
                (i64.const 1))
              (then
                (local.set $count3 (i64.add (local.get $count3) (i64.const 1)))
              )
            )
            (local.set $at4 (i32.add (local.get $at4) (i32.const 4)))
            (br $each6.again)))
          (return (local.get $count3))
          unreachable
        )
    """)
    assert it.text("memoise", "f.wealth_0") == shown("""
        (func $f.wealth_0 (param $p0 i32) (result i64)
          (local.set $entry (i32.shl (local.get $p0) (i32.const 3)))
          (return
            (if
              (result i64)
              (i64.eqz
                (i64.and (i64.load offset=end+136 (i32.shl (local.get $p0) (i32.const 3))) (i64.const 1)))
              (then (i64.load32_s offset=end+196 (local.get $entry)))
              (else (call $f.wealth_0.fill (local.get $p0) (local.get $entry)))))
          unreachable
        )
    """)
    assert it.text("memoise", "f.wealth_0.fill") == shown("""
        (func $f.wealth_0.fill (param $p0 i32) (param $entry i32) (result i64)
          (global.set $fuel (i32.sub (global.get $fuel) (i32.const 4)))
          (if (i32.lt_s (global.get $fuel) (i32.const 0)) (then (unreachable)))
          (local.set $answer (call $f.wealth_0.work (local.get $p0)))
          (if (i64.ne (i64.extend_i32_s (i32.wrap_i64 (local.get $answer))) (local.get $answer))
            (then
              (return (local.get $answer))
            )
          )
          (i32.store offset=end+196 (local.get $entry) (i32.wrap_i64 (local.get $answer)))
          (i64.store
            offset=end+136
            (i32.shl (local.get $p0) (i32.const 3))
            (i64.and (i64.load offset=end+136 (i32.shl (local.get $p0) (i32.const 3))) (i64.const -2)))
          (return (local.get $answer))
          unreachable
        )
    """)


def test_a_change_marks_what_is_not_known_any_more(tmp_path: Path) -> None:
    it = Functions(
        tmp_path,
        """
        for each who in seats:
          who.score = best()
        end game
        """,
        """
        best() -> int: max(s.score for s in seats)
        """,
    )
    assert it.text("memoise", "s.act_0_2") == shown("""
        (func $s.act_0_2 (param $frame i32) (result i32)
          (global.set $fuel (i32.sub (global.get $fuel) (i32.const 2)))
          (if (i32.lt_s (global.get $fuel) (i32.const 0)) (then (unreachable)))
          (global.set $fuel (i32.sub (global.get $fuel) (i32.const 3)))
          (if (i32.lt_s (global.get $fuel) (i32.const 0)) (then (unreachable)))
          (local.set $at1 (i32.const 0))
          (block $each2
          (loop $each2.again
            (br_if $each2 (i32.eqz (i32.lt_s (local.get $at1) (i32.const 2))))
            (local.set $x3 (local.get $at1))
            (i32.store offset=104 (local.get $frame) (local.get $x3))
            (local.set $t4 (i32.load offset=104 (local.get $frame)))
            (local.set $new5 (call $f.best_0))
            (if
              (i64.ne (local.get $new5) (i64.load32_s offset=468 (i32.shl (local.get $t4) (i32.const 2))))
              (then
                (i32.store
                  offset=468
                  (i32.shl (local.get $t4) (i32.const 2))
                  (if
                    (result i32)
                    (i64.le_u
                      (i64.add (local.tee $number (local.get $new5)) (i64.const 2147483647))
                      (i64.const 4294967294))
                    (then (i32.wrap_i64 (local.get $number)))
                    (else (unreachable))))
                (i64.store
                  offset=end+152
                  (i32.const 0)
                  (i64.or (i64.load offset=end+152 (i32.const 0)) (i64.const 1)))
              )
            )
            (local.set $at1 (i32.add (local.get $at1) (i32.const 1)))
            (br $each2.again)))
          (return (i32.const 1))
          unreachable
        )
    """)


def test_what_is_known_of_a_node_stays_when_places_of_others_change(tmp_path: Path) -> None:
    it = Functions(
        tmp_path,
        """
        for each t in town:
          amount = free(t)
        end game
        """,
        """
        free(t) -> int: count(p in t.places where p.piece == none and p.price > 0 and p.price < 9) + amount
        """,
    )
    assert it.text("memoise", "f.free_0") == shown("""
        (func $f.free_0 (param $p0 i32) (result i64)
          (local.set $entry (i32.shl (local.get $p0) (i32.const 3)))
          (return
            (if
              (result i64)
              (i64.eqz
                (i64.and (i64.load offset=end+192 (i32.shl (local.get $p0) (i32.const 3))) (i64.const 1)))
              (then (i64.load32_s offset=end+236 (local.get $entry)))
              (else (call $f.free_0.fill (local.get $p0) (local.get $entry)))))
          unreachable
        )
    """)
    assert "(call $touch_all" in it.text("memoise", "s.act_0_2"), "a change of the amount concerns all"


def test_what_is_known_of_a_node_that_may_be_none_has_no_row_by_node(tmp_path: Path) -> None:
    act = """
    choose act by seats[0]:
      grow number in 1 .. 3:
        amount = number
        row = take(9, row + [free(none)])
    """
    rules = """
    free(spot) -> int: (count(p in spot.places where p.price > 0 and p.piece == none) if spot != none else 0) + amount
    """
    ruleset = loaded(write(tmp_path, act, rules, family=FAMILY.replace("t: town,", 't: town, spot: "town?",')))
    runner = ruleset.table(2, ruleset.settings({})).runner
    assert runner.compile() is not None
    game = ruleset.new_game(2)
    for number in (0, 2, 1):
        assert game.decision is not None
        game.apply(game.decision.options[number])
    assert game.state.cells[game.machine.constants.layout.base["row"]] == (1, 3, 2)
    assert (runner.bailouts, game.table.runner) == (0, runner)


def test_searches_within_searches_do_not_multiply(tmp_path: Path) -> None:
    family = FAMILY.replace("price\n      1\n", "price\n      1\n      2\n      3\n")

    def size(depth: int) -> int:
        test = "t.colour == red"
        for number in range(depth):
            test = f"any(p{number} in t.places where p{number}.price > {number} or {test})"
        it = Functions(tmp_path, "amount = count(t in town where free(t))", f"free(t) -> bool: {test}", family)
        return len(it.text(BEFORE, "f.free_0").split())

    assert size(8) < 3 * size(4)


def test_a_function_without_loops_is_not_charged(tmp_path: Path) -> None:
    it = Functions(
        tmp_path,
        """
        amount = twice(amount)
        end game
        """,
        """
        twice(number) -> int: number + number
        """,
    )
    assert it.text(BEFORE, "f.twice_0") == shown("""
        (func $f.twice_0 (param $p0 i64) (result i64)
          (global.set $fuel (i32.sub (global.get $fuel) (i32.const 4)))
          (if (i32.lt_s (global.get $fuel) (i32.const 0)) (then (unreachable)))
          (return (i64.add (local.get $p0) (local.get $p0)))
          unreachable
        )
    """)
    assert it.text("fuel", "f.twice_0") == shown("""
        (func $f.twice_0 (param $p0 i64) (result i64)
          (return (i64.add (local.get $p0) (local.get $p0)))
          unreachable
        )
    """)


def test_a_small_function_is_inlined(tmp_path: Path) -> None:
    it = Functions(
        tmp_path,
        """
        amount = twice(amount)
        end game
        """,
        """
        twice(number) -> int: number + number
        """,
    )
    assert it.text("fuel", "s.act_0_2") == shown("""
        (func $s.act_0_2 (param $frame i32) (result i32)
          (global.set $fuel (i32.sub (global.get $fuel) (i32.const 2)))
          (if (i32.lt_s (global.get $fuel) (i32.const 0)) (then (unreachable)))
          (local.set $new1 (call $f.twice_0 (i64.load32_s offset=476 (i32.const 0))))
          (if (i64.ne (local.get $new1) (i64.load32_s offset=476 (i32.const 0)))
            (then
              (i32.store
                offset=476
                (i32.const 0)
                (if
                  (result i32)
                  (i64.le_u
                    (i64.add (local.tee $number (local.get $new1)) (i64.const 2147483647))
                    (i64.const 4294967294))
                  (then (i32.wrap_i64 (local.get $number)))
                  (else (unreachable))))
            )
          )
          (return (i32.const 1))
          unreachable
        )
    """)
    assert it.text("inline", "s.act_0_2") == shown("""
        (func $s.act_0_2 (param $frame i32) (result i32)
          (global.set $fuel (i32.sub (global.get $fuel) (i32.const 2)))
          (if (i32.lt_s (global.get $fuel) (i32.const 0)) (then (unreachable)))
          (local.set $new1 (block (result i64)
          (local.set $f.twice_0.p0.1 (i64.load32_s offset=476 (i32.const 0)))
          (i64.add (local.get $f.twice_0.p0.1) (local.get $f.twice_0.p0.1))))
          (if (i64.ne (local.get $new1) (i64.load32_s offset=476 (i32.const 0)))
            (then
              (i32.store
                offset=476
                (i32.const 0)
                (if
                  (result i32)
                  (i64.le_u
                    (i64.add (local.tee $number (local.get $new1)) (i64.const 2147483647))
                    (i64.const 4294967294))
                  (then (i32.wrap_i64 (local.get $number)))
                  (else (unreachable))))
            )
          )
          (return (i32.const 1))
          unreachable
        )
    """)


def test_a_test_jumps_where_its_lines_lead(tmp_path: Path) -> None:
    it = Functions(
        tmp_path,
        """
        for each who in seats where may_act(who):
          who.score = 1
        end game
        """,
        """
        may_act(who):
          permits: |
            require who.score == 0
            require amount > 1 or amount == who.number
        """,
    )
    assert "$f.may_act_0.answer" in it.text("inline", "s.act_0_2")
    assert it.text("jump_threading", "s.act_0_2") == shown("""
        (func $s.act_0_2 (param $frame i32) (result i32)
          (global.set $fuel (i32.sub (global.get $fuel) (i32.const 2)))
          (if (i32.lt_s (global.get $fuel) (i32.const 0)) (then (unreachable)))
          (local.set $at1 (i32.const 0))
          (block $each2
          (loop $each2.again
            (br_if $each2 (i32.eqz (i32.lt_s (local.get $at1) (i32.const 2))))
            (local.set $x3 (local.get $at1))
            (i32.store offset=104 (local.get $frame) (local.get $x3))
            (block $out.2
              (block $f.may_act_0.end.1
                (local.set $f.may_act_0.p0.1 (i32.load offset=104 (local.get $frame)))
                (if
                  (i64.ne
                    (i64.load32_s offset=468 (i32.shl (local.get $f.may_act_0.p0.1) (i32.const 2)))
                    (i64.const 0))
                  (then
                    (br $out.2)
                  )
                )
                (block $out.1
                  (if (i64.gt_s (i64.load32_s offset=476 (i32.const 0)) (i64.const 1))
                    (then
                      (br $out.1)
                    )
                    (else
                      (if
                        (i64.eq
                          (i64.load32_s offset=476 (i32.const 0))
                          (i64.load32_s
                            offset=end+124
                            (i32.shl (local.get $f.may_act_0.p0.1) (i32.const 2))))
                        (then
                          (br $out.1)
                        )
                      )
                    )
                  )
                  (br $out.2)
                )
                (br $f.may_act_0.end.1)
              )
              (local.set $t4 (i32.load offset=104 (local.get $frame)))
              (if (i64.ne (i64.const 1) (i64.load32_s offset=468 (i32.shl (local.get $t4) (i32.const 2))))
                (then
                  (i32.store
                    offset=468
                    (i32.shl (local.get $t4) (i32.const 2))
                    (i32.wrap_i64 (i64.const 1)))
                )
              )
            )
            (local.set $at1 (i32.add (local.get $at1) (i32.const 1)))
            (br $each2.again)))
          (return (i32.const 1))
          unreachable
        )
    """)


def test_a_stretch_calls_the_next_one(tmp_path: Path) -> None:
    it = Functions(
        tmp_path,
        """
        for each who in seats:
          choose a by who:
            b:
              amount = 2
        end game
        """,
        "",
    )
    assert it.text("inline", "s.act_0_4") == shown("""
        (func $s.act_0_4 (param $frame i32) (result i32)
          (global.set $fuel (i32.sub (global.get $fuel) (i32.const 2)))
          (if (i32.lt_s (global.get $fuel) (i32.const 0)) (then (unreachable)))
          (if (i64.ne (i64.const 2) (i64.load32_s offset=476 (i32.const 0)))
            (then
              (i32.store offset=476 (i32.const 0) (i32.wrap_i64 (i64.const 2)))
            )
          )
          (return (i32.const 2))
          unreachable
        )
    """)
    assert it.text("tail_calls", "s.act_0_4") == shown("""
        (func $s.act_0_4 (param $frame i32) (result i32)
          (global.set $fuel (i32.sub (global.get $fuel) (i32.const 2)))
          (if (i32.lt_s (global.get $fuel) (i32.const 0)) (then (unreachable)))
          (if (i64.ne (i64.const 2) (i64.load32_s offset=476 (i32.const 0)))
            (then
              (i32.store offset=476 (i32.const 0) (i32.wrap_i64 (i64.const 2)))
            )
          )
          (return_call $s.act_0_2 (global.get $frame))
          unreachable
        )
    """)


def test_a_loop_that_nothing_ends_stays_charged(tmp_path: Path) -> None:
    it = Functions(
        tmp_path,
        """
        while amount == 1 at most 1000000000 times:
          for each who in seats:
            who.score = 2
        end game
        """,
        "",
    )
    charges = [it.text(each, "s.act_0_2").count("global.set $fuel") for each in (BEFORE, "fuel")]
    assert charges == [3, 2]  # the stretch, the `while`, and at first the `for each` in it
