"""Documented limits, each tried at the limit and one beyond it, in both forms of a game.

A limit that is passed is a diagnostic or a rule failure with its position, never a traceback.
"""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent

import pytest

from interpreter.engine.flow_checks import MAXIMUM_CALLS, MAXIMUM_LEVELS
from interpreter.engine.game import Game
from interpreter.lowering.constants import RuleFailure
from interpreter.plain.machine import MAXIMUM_DEPTH
from tests.small import examined, loaded, outcome, write

pytestmark = pytest.mark.usefixtures("at_once")


def located(path: Path, wanted: str, seed: int = 0) -> None:
    """A ruleset is refused with a position, or fails with one while it is played in either form."""
    assert re.match(wanted, outcome(path)), outcome(path)
    found = [d for d in examined(path).diagnostics if d.severity == "error"]
    if found:
        assert all(d.span is not None for d in found)
        return
    for plain in (False, True):
        ruleset = loaded(path)
        ruleset.table(2, ruleset.settings({})).machine.plain = plain
        with pytest.raises(RuleFailure) as failed:
            whole(ruleset.new_game(2))
        assert failed.value.span is not None


def whole(game: Game) -> None:
    """Play a game by the first options."""
    while game.decision is not None:
        game.apply(game.decision.options[0])


# --- calls -----------------------------------------------------------------------------------------------------------

ASKS = "\n  if n < 0:\n    choose a by seats[0]:\n      b"


def body(text: str, *parameters: str) -> str:
    """Rule text with parameters."""
    head = f"({', '.join(parameters)}):" if parameters else ""
    lines = [head, *(f"  {line}" for line in text.splitlines())] if head else text.splitlines()
    return "does: |\n" + "".join(f"    {line}\n" for line in lines)


def recursive(n: int) -> tuple[str, str, str]:
    return f"again({n - 2})", "again:\n  " + body("if n > 0:\n  again(n - 1)\namount = n", "n: int"), ""


def recursive_and_asking(n: int) -> tuple[str, str, str]:
    text = "if n > 0:\n  again(n - 1)\nelse:\n  choose a by seats[0]:\n    b:\n      amount = 3"
    return f"again({n - 2})", "again:\n  " + body(text, "n: int"), ""


def recursive_with_a_result(n: int) -> tuple[str, str, str]:
    text = "if n > 0:\n  let m = again(n - 1)\n  return m + 1\nreturn 0"
    rule = body(text, "n: int").replace("(n: int):", "(n: int) -> int:")
    return f"let m = again({n - 2})\namount = m", f"again:\n  {rule}", ""


def recursive_in_deep_blocks(n: int) -> tuple[str, str, str]:
    deep = "".join(f"{'  ' * i}if n > 0:\n" for i in range(20)) + "  " * 20 + "again(n - 1)"
    return f"again({n - 2})", "again:\n  " + body(deep + "\namount = n", "n: int"), ""


def by_turns(n: int) -> tuple[str, str, str]:
    there = "there:\n  " + body("if n > 0:\n  back(n - 1)", "n: int")
    back = "back:\n  " + body("if n > 0:\n  there(n - 1)\namount = n", "n: int")
    return f"there({n - 2})", there + back, ""


def chain_that_asks(n: int) -> tuple[str, str, str]:
    last = "c0:\n  " + body("choose a by seats[0]:\n  b", "n: int")
    rules = "".join(f"c{i}:\n  " + body(f"c{i - 1}(n)\namount = n", "n: int") for i in range(1, n - 1))
    return f"c{n - 2}(1)", last + rules, ""


def trigger(n: int) -> tuple[str, str, str]:
    text = "  if n > 0:\n    note ping(n - 1)\n  amount = n"
    return f"note ping({n - 2})", "", f"triggers:\n  echo:\n    on: ping(n)\n    does: |\n{indent(text, '    ')}\n"


def standing(n: int) -> tuple[str, str, str]:
    rules = "again:\n  " + body("if n > 0:\n  again(n - 1)\namount = 1", "n: int")
    return "amount = 5\nsettle", rules, f"standing:\n  large:\n    whenever: amount > 3\n    does: again({n - 3})\n"


def delayed(n: int) -> tuple[str, str, str]:
    rules = "again:\n  " + body("if n > 0:\n  again(n - 1)\namount = 1", "n: int")
    return f"at end of phase:\n  again({n - 2})\n  end game\nsettle", rules, ""


FRAMES = [
    recursive, recursive_and_asking, recursive_with_a_result, recursive_in_deep_blocks, by_turns, chain_that_asks,
    trigger, delayed,
]  # fmt: skip


def with_event(folder: Path, act: str, rules: str, sections: str) -> Path:
    path = write(folder, act if "end game" in act else f"{act}\nend game", rules, sections)
    family = path.parent / "family.yaml"
    text = family.read_text(encoding="utf-8").replace("events:\n", "events:\n  ping: {with: {n: int}}\n")
    family.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", FRAMES)
def test_procedures_nest_equally_deep_in_both_forms(tmp_path: Path, kind: object) -> None:
    assert callable(kind)
    assert outcome(with_event(tmp_path, *kind(MAXIMUM_DEPTH))) == "plays"
    located(with_event(tmp_path, *kind(MAXIMUM_DEPTH + 1)), "R002 rules call each other too deeply")


def test_a_standing_rule_may_nest_as_deep_as_a_phase_that_settles(tmp_path: Path) -> None:
    assert outcome(with_event(tmp_path, *standing(MAXIMUM_DEPTH))) == "plays"
    located(with_event(tmp_path, *standing(MAXIMUM_DEPTH + 1)), "R002 rules call each other too deeply")


def functions(n: int) -> tuple[str, str, str]:
    rules = "".join(f"f{i}:\n  is: '(n: int) -> int: f{i - 1}(n)'\n" for i in range(1, n))
    return f"amount = f{n - 1}(1)", f"f0:\n  is: '(n: int) -> int: n'\n{rules}", ""


def verdicts(n: int) -> tuple[str, str, str]:
    rules = "".join(f"f{i}:\n  permits: |\n    (n: int):\n      require f{i - 1}(n)\n" for i in range(1, n))
    return f"if f{n - 1}(1):\n  amount = 2", f"f0:\n  permits: |\n    (n: int):\n      require n > 0\n{rules}", ""


def procedures(n: int) -> tuple[str, str, str]:
    rules = "".join(f"f{i}:\n  " + body(f"f{i - 1}(n)\namount = n", "n: int") for i in range(1, n))
    return f"f{n - 1}(1)", "f0:\n  " + body("amount = n", "n: int") + rules, ""


def triggers(n: int) -> tuple[str, str, str]:
    """A chain of events, each of which triggers the next."""
    names = [f"e{i}" for i in range(n)]
    events = "".join(f"  {name}: {{with: {{n: int}}}}\n" for name in names)
    rules = "".join(
        f"  t{name}:\n    on: {name}(n)\n    does: |\n      " + (f"note {after}(n)\n" if after else "amount = n\n")
        for name, after in zip(names, [*names[1:], ""], strict=True)
    )
    return "note e0(1)", "", f"#events\n{events}#\ntriggers:\n{rules}"


def wide(n: int) -> tuple[str, str, str]:
    """Forty functions; each calls the next inside of other expressions, so that they nest n levels with those around
    the call of the first."""
    rules = "f0:\n  is: '(n: int) -> int: n'\n"  # a level for the layer, one for the text
    rules += "".join(f"f{i}:\n  is: '(n: int) -> int: max(0, n + f{i - 1}(n))'\n" for i in range(1, 40))
    return f"amount = {'(amount + ' * (n - 2 - 39 * 4 - 3)}f39(1){')' * (n - 2 - 39 * 4 - 3)}", rules, ""


CALLS = [functions, verdicts, procedures, triggers]


def with_events(folder: Path, act: str, rules: str, sections: str) -> Path:
    events, _, sections = sections.removeprefix("#events\n").rpartition("#\n")
    path = with_event(folder, act, rules, sections)
    family = path.parent / "family.yaml"
    family.write_text(family.read_text(encoding="utf-8").replace("events:\n", f"events:\n{events}"), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", CALLS)
def test_calls_without_a_frame_nest_so_deep(tmp_path: Path, kind: object) -> None:
    assert callable(kind)
    assert outcome(with_events(tmp_path, *kind(MAXIMUM_CALLS))) == "plays"
    located(with_events(tmp_path, *kind(MAXIMUM_CALLS + 1)), r"E711 `act` starts a chain of more than 60 calls")


def test_calls_and_the_expressions_around_them_nest_so_deep(tmp_path: Path) -> None:
    assert outcome(with_events(tmp_path, *wide(MAXIMUM_LEVELS))) == "plays"
    located(with_events(tmp_path, *wide(MAXIMUM_LEVELS + 1)), "E711 .*`act` starts.* 201 levels deep, want at most 200")


def layered(folder: Path, number: int, header: str, text: str) -> Path:
    """A rule with so many layers above the lowest, each by an overlay, which call `base`."""
    path = write(folder, "work(1)\nend game" if "->" not in header else "amount = work(1)\nend game")
    (path.parent / "overlays").mkdir()
    rule = f"does: |\n      {header}\n        amount = 1\n" if "->" not in header else f"is: '{header} 1'\n"
    family = path.parent / "family.yaml"
    family.write_text(family.read_text(encoding="utf-8") + f"  work:\n    {rule}", encoding="utf-8")
    for i in range(number):
        after = f"after: [small/o{i - 1}]\n" if i else ""
        below = f"small/o{i - 1}" if i else "small"
        (path.parent / "overlays" / f"o{i}.yaml").write_text(
            f"language: 1\noverlay: small/o{i}\ntitle: O\nover: [small]\n{after}"
            f"rules:\n  work:\n    wraps: {below}\n    {text}\n",
            encoding="utf-8",
        )
    overlays = ", ".join(f"small/o{i}" for i in range(number))
    path.write_text(path.read_text(encoding="utf-8") + f"overlays: [{overlays}]\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("header", "text"),
    [("(n: int):", "does: base(n)"), ("(n: int) -> int:", "is: base(n) + 1")],
)
def test_layers_that_call_their_base_nest_so_deep(tmp_path: Path, header: str, text: str) -> None:
    assert outcome(layered(tmp_path / "a", MAXIMUM_CALLS - 1, header, text)) == "plays"
    located(layered(tmp_path / "b", MAXIMUM_CALLS, header, text), "E711 .* more than 60 calls")
