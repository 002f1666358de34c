"""Documented limits, each tried at the limit and one beyond it, in both forms of a game.

A limit that is passed is a diagnostic or a rule failure with its position, never a traceback.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from textwrap import indent
from typing import NamedTuple

import pytest

from interpreter.bots.planless import RandomBot
from interpreter.engine.game import Game
from interpreter.loading.flow_checks import MAXIMUM_CALLS, MAXIMUM_LEVELS
from interpreter.lowering.constants import RuleFailure
from interpreter.plain.closures import MAXIMUM_PASSES
from interpreter.plain.machine import MAXIMUM_DEPTH
from interpreter.reading.yaml import MAX_BYTES, MAX_DEPTH, MAX_VALUES, decode, read_yaml
from interpreter.simulate.simulation import simulate
from interpreter.simulate.summary import summary
from tests.small import examined, loaded, outcome, write

pytestmark = pytest.mark.usefixtures("at_once")


def located(path: Path, wanted: str) -> None:
    """A ruleset is refused with a position, or fails with one while it is played in either form."""
    assert re.match(wanted, outcome(path)), outcome(path)
    found = [d for d in examined(path).diagnostics if d.severity == "error"]
    if found:
        assert all(d.span is not None for d in found)
        return
    for plain in (False, True):
        ruleset = loaded(path)
        ruleset.table(2, ruleset.settings({})).runner.plain = plain
        with pytest.raises(RuleFailure) as failed:
            whole(ruleset.new_game(2))
        assert failed.value.span is not None


def whole(game: Game) -> None:
    """Play a game by the first options."""
    while game.decision is not None:
        game.apply(game.decision.options[0])


# --- calls -----------------------------------------------------------------------------------------------------------

ASKS = "\n  if n < 0:\n    choose a by seats[0]:\n      b"


def body(text: str) -> str:
    """Rule text of a procedure."""
    return "does: |\n" + "".join(f"    {line}\n" for line in text.splitlines())


def recursive(n: int) -> tuple[str, str, str]:
    return f"again({n - 2})", "again(n):\n  " + body("if n > 0:\n  again(n - 1)\namount = n"), ""


def recursive_and_asking(n: int) -> tuple[str, str, str]:
    text = "if n > 0:\n  again(n - 1)\nelse:\n  choose a by seats[0]:\n    b:\n      amount = 3"
    return f"again({n - 2})", "again(n):\n  " + body(text), ""


def recursive_with_a_result(n: int) -> tuple[str, str, str]:
    text = "if n > 0:\n  let m = again(n - 1)\n  return m + 1\nreturn 0"
    return f"let m = again({n - 2})\namount = m", f"again(n) -> int:\n  {body(text)}", ""


def recursive_in_deep_blocks(n: int) -> tuple[str, str, str]:
    deep = "".join(f"{'  ' * i}if n > 0:\n" for i in range(20)) + "  " * 20 + "again(n - 1)"
    return f"again({n - 2})", "again(n):\n  " + body(deep + "\namount = n"), ""


def by_turns(n: int) -> tuple[str, str, str]:
    there = "there(n):\n  " + body("if n > 0:\n  back(n - 1)")
    back = "back(n):\n  " + body("if n > 0:\n  there(n - 1)\namount = n")
    return f"there({n - 2})", there + back, ""


def chain_that_asks(n: int) -> tuple[str, str, str]:
    last = "c0(n):\n  " + body("choose a by seats[0]:\n  b")
    rules = "".join(f"c{i}(n):\n  " + body(f"c{i - 1}(n)\namount = n") for i in range(1, n - 1))
    return f"c{n - 2}(1)", last + rules, ""


def trigger(n: int) -> tuple[str, str, str]:
    text = "  if n > 0:\n    note ping(n - 1)\n  amount = n"
    return f"note ping({n - 2})", "", f"triggers:\n  echo:\n    on: ping(n)\n    does: |\n{indent(text, '    ')}\n"


def standing(n: int) -> tuple[str, str, str]:
    rules = "again(n):\n  " + body("if n > 0:\n  again(n - 1)\namount = 1")
    return "amount = 5\nsettle", rules, f"standing:\n  large:\n    whenever: amount > 3\n    does: again({n - 3})\n"


def delayed(n: int) -> tuple[str, str, str]:
    rules = "again(n):\n  " + body("if n > 0:\n  again(n - 1)\namount = 1")
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
    rules = "".join(f"f{i}(n) -> int: f{i - 1}(n)\n" for i in range(1, n))
    return f"amount = f{n - 1}(1)", f"f0(n) -> int: n\n{rules}", ""


def verdicts(n: int) -> tuple[str, str, str]:
    rules = "".join(f"f{i}(n):\n  permits: |\n    require f{i - 1}(n)\n" for i in range(1, n))
    return f"if f{n - 1}(1):\n  amount = 2", f"f0(n):\n  permits: |\n    require n > 0\n{rules}", ""


def procedures(n: int) -> tuple[str, str, str]:
    rules = "".join(f"f{i}(n):\n  " + body(f"f{i - 1}(n)\namount = n") for i in range(1, n))
    return f"f{n - 1}(1)", "f0(n):\n  " + body("amount = n") + rules, ""


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
    rules = "f0(n) -> int: n\n"  # a level for the layer, one for the text
    rules += "".join(f"f{i}(n) -> int: max(0, n + f{i - 1}(n))\n" for i in range(1, 40))
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
    rule = "does: amount = 1" if "->" not in header else "is: 1"
    family = path.parent / "family.yaml"
    family.write_text(family.read_text(encoding="utf-8") + f"  work{header}\n    {rule}\n", encoding="utf-8")
    for i in range(number):
        after = f"after: [small/o{i - 1}]\n" if i else ""
        below = f"small/o{i - 1}" if i else "small"
        (path.parent / "overlays" / f"o{i}.yaml").write_text(
            f"language: 2\noverlay: small/o{i}\ntitle: O\nover: [small]\n{after}"
            f"rules:\n  work:\n    wraps: {below}\n    {text}\n",
            encoding="utf-8",
        )
    overlays = ", ".join(f"small/o{i}" for i in range(number))
    path.write_text(path.read_text(encoding="utf-8") + f"overlays: [{overlays}]\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("header", "text"),
    [("(n):", "does: base(n)"), ("(n) -> int:", "is: base(n) + 1")],
)
def test_layers_that_call_their_base_nest_so_deep(tmp_path: Path, header: str, text: str) -> None:
    assert outcome(layered(tmp_path / "a", MAXIMUM_CALLS - 1, header, text)) == "plays"
    located(layered(tmp_path / "b", MAXIMUM_CALLS, header, text), "E711 .* more than 60 calls")


# --- sizes -----------------------------------------------------------------------------------------------------------


class Limit(NamedTuple):
    """A documented limit: what is built for a number, and the error for the next number that can be built."""

    most: int
    made: Callable[[Path, int], Path]
    wanted: str
    beyond: int = 0


def acting(act: Callable[[int], str]) -> Callable[[Path, int], Path]:
    return lambda folder, n: write(folder, f"{act(n)}\nend game")


def replacing(old: str, new: Callable[[int], str], act: str = "end game") -> Callable[[Path, int], Path]:
    """The small game with a part of its family or map replaced."""

    def made(folder: Path, n: int) -> Path:
        path = write(folder, act)
        for file in (path.parent / "family.yaml", path.parent / "maps" / "isles.yaml"):
            text = file.read_text(encoding="utf-8")
            if old in text:
                file.write_text(text.replace(old, new(n)), encoding="utf-8")
                return path
        raise AssertionError(old)

    return made


def adding(sections: Callable[[int], str]) -> Callable[[Path, int], Path]:
    return lambda folder, n: write(folder, sections=sections(n))


def towns(n: int) -> str:
    rows = "".join(f"  T{i} | red\n" for i in range(n - 3))
    links = "".join(f"  T{i} | {'Coll' if not i else f'T{i - 1}'} | 1\n" for i in range(n - 3))
    return f"  Coll | red\n{rows}links: |\n  from | to   | cost\n{links}"


def cells(n: int) -> str:
    """Cards whose table has so many cells, in 5,000 rows if they divide it."""
    columns = -(-n // 5_000)
    names = [f"a{i}" for i in range(columns - 1)]
    rows = "".join(f"      {' | '.join([str(i), *['1'] * (columns - 1)])}\n" for i in range(n // columns))
    has = ", ".join(["number: int", *(f"{name}: int" for name in names)])
    return f"    has: {{{has}}}\n    is: |\n      {' | '.join(['number', *names])}\n{rows}zones"


def rules(folder: Path, n: int) -> Path:
    return write(folder, rules="".join(f"f{i}: {{is: '1'}}\n" for i in range(n - 2)))


def phases(folder: Path, n: int) -> Path:
    names = [f"p{i}" for i in range(n - 1)]
    path = write(folder, "amount = 2", "".join(f"{name}: {{does: amount = 2}}\n" for name in names[:-1]))
    family = path.parent / "family.yaml"
    text = family.read_text(encoding="utf-8").replace("round: [act]", f"round: [act, {', '.join(names)}]")
    family.write_text(f"{text}  {names[-1]}: {{does: end game}}\n", encoding="utf-8")
    return path


def declarations(folder: Path, n: int) -> Path:
    sections = loaded(write(folder)).composition.sections.values()
    others = sum(len(layers) for names in sections for layers in names.values())
    more = "".join(f"  c{i}: {{count: 1}}\n" for i in range(n - others))
    return write(folder, sections=f"components:\n{more}")


def many_gems(n: int) -> str:
    return f"tokens: {{gem: {{ruby: 9, onyx: 9, opal: 9, {', '.join(f'g{i}: 0' for i in range(n - 3))}}}"


def rooms(folder: Path, n: int) -> Path:
    """Rooms that divide so many kinds of tokens into as many groups."""
    kinds = ["ruby", "onyx", "opal", *(f"g{i}" for i in range(n - 3))]
    act = f"amount = overflow(gems, [{', '.join(f'room([{kind}], {i})' for i, kind in enumerate(kinds))}])\nend game"
    return replacing("tokens: {gem: {ruby: 9, onyx: 9, opal: 9}", many_gems, act)(folder, n)


def track(n: int) -> str:
    rows = "".join(f"      {row}\n" for row in ("gem  | 1", f"ruby | {n}", "onyx | 1", "opal | 1"))
    table = f"tables:\n  spaces:\n    keys: [gem, price]\n    gives: int\n    is: |\n{rows}"
    return f"{table}tracks: {{market: {{of: gem, spaces: spaces}}}}\n"


def role(n: int) -> str:
    return f"settings: {{birds: {{value: list of colour, default: [{', '.join(['red'] * n)}], about: birds}}}}\n"


def birds(folder: Path, n: int) -> Path:
    made = replacing("person: {counts: yes}", lambda n: "person: {counts: yes}, bird: {counts: yes, seats: birds}")
    path = made(folder, n)
    family = path.parent / "family.yaml"
    family.write_text(family.read_text(encoding="utf-8").replace("coin: 90", "coin: 900") + role(n), encoding="utf-8")
    return path


def nested_records(n: int) -> str:
    """Records in each other; the number in the innermost is a level."""
    parts = (f"r{i}: {{a: {f'r{i - 1}' if i else 'int'}}}" for i in range(n - 1))
    return f"records: {{{', '.join(parts)}}}\n"


SIZES = {
    "characters of a rule": Limit(50_000, acting(lambda n: "#\n" * 24_500 + "#" + "x" * (n - 49_011)), "E204"),
    "characters of a line": Limit(2_000, acting(lambda n: "amount = 1 #" + "x" * (n - 12)), "E204"),
    "digits": Limit(12, acting(lambda n: f"let x = {'9' * n}\nif x > 1:\n  amount = 2"), "E202"),
    "rules and tables": Limit(2_000, rules, "E010"),
    "declarations": Limit(10_000, declarations, "E010"),
    "phases": Limit(50, phases, "E010"),
    "cards": Limit(
        5_000,
        replacing("      4\nzones", lambda n: "".join(f"      {i}\n" for i in range(4, n + 1)) + "zones"),
        "E023|E313",
    ),
    "nodes": Limit(5_000, replacing("  Coll | red\nlinks: |\n  from | to   | cost\n", towns), "E023|E313"),
    "places": Limit(
        9_999, replacing("      price\n      1\n", lambda n: "      price\n" + "      1\n" * (n // 3)), "E313", 10_002
    ),
    "cells of a table": Limit(
        100_000,
        replacing("    has: {number: int}\n    is: |\n      number\n      1\n      2\n      3\n      4\nzones", cells),
        "E023",
        100_002,
    ),
    "members of a kind": Limit(
        1_000,
        replacing("step: 1..3", lambda n: f"step: 1..3, many: [{', '.join(f'a{i}' for i in range(n))}]"),
        "E313",
    ),
    "numbers of a kind": Limit(1_000, replacing("step: 1..3", lambda n: f"step: 1..{n}"), "E313"),
    "kinds of token": Limit(64, replacing("tokens: {gem: {ruby: 9, onyx: 9, opal: 9}", many_gems), "E313"),
    "a range": Limit(20_000, acting(lambda n: f"row = 1 .. {n}"), "R001"),
    "a joined list": Limit(20_000, acting(lambda n: f"row = (1 .. 10000) + (1 .. {n - 10_000})"), "R001"),
    "numbers of a value": Limit(
        100_000,
        acting(
            lambda n: f"let a = [x for x in 1 .. 9999]\nlet b = [a for x in 1 .. 9] + [1 .. {n - 90_001}]\nrow = b[0]"
        ),
        "R001",
    ),
    "digits of a stored number": Limit(
        18, acting(lambda n: f"amount = 999999999 * 1000000000 + 999999999 + {n - 18}"), "R001"
    ),
    "levels of lists": Limit(
        6, acting(lambda n: f"let x = {'[' * n}1{']' * n}\nif count(x) > 1:\n  amount = 2"), "E204"
    ),
    "levels of records": Limit(8, adding(nested_records), "E313"),
    "values of a record": Limit(
        200, adding(lambda n: f"records: {{r: {{{', '.join(f'a{i}: int' for i in range(n))}}}}}\n"), "E313"
    ),
    "spaces of a track": Limit(500, adding(track), "E311"),
    "seats of a role": Limit(20, birds, "E313"),
    "people": Limit(12, replacing("players: 2..3", lambda n: f"players: 2..{n}"), "E313"),
    "delayed blocks": Limit(
        1_000, acting(lambda n: f"for each x in 1 .. {n}:\n  at end of round:\n    amount = x"), "R001"
    ),
    "numbers of mixes": Limit(
        256,  # 33,153 mixes of three kinds
        acting(lambda n: f"amount = count(mixes({n}, gem, 999 of ruby + 999 of onyx + 999 of opal))"),
        "R001",
    ),
    "groups of kinds": Limit(10, rooms, "R001"),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_limited_where_the_documents_say(tmp_path: Path, name: str) -> None:
    limit = SIZES[name]
    assert outcome(limit.made(tmp_path / "a", limit.most)) == "plays"
    located(limit.made(tmp_path / "b", limit.beyond or limit.most + 1), limit.wanted)


NESTED: dict[str, Callable[[int], str]] = {
    "sums": lambda n: f"let x = {'(amount + ' * n}1{')' * n}\nrow = [x]",
    "nots": lambda n: f"if {'not (' * n}yes{')' * n}:\n  amount = 2",
    "calls": lambda n: f"let x = {'max(amount, ' * n}1{')' * n}\nrow = [x]",
    "lists": lambda n: f"let x = {'first([amount, ' * n}1{'])' * n}\nrow = [x]",
    "conditions": lambda n: f"let x = {'1 if amount == 1 else (' * n}1{')' * n}\nrow = [x]",
    "sorted lists": lambda n: f"let x = {'first(sorted(x in [3] by ' * n}amount{', as listed))' * n}\nrow = [x]",
    "sums over one item": lambda n: f"let x = {'sum(' * n}amount{' for x in [1])' * n}\nrow = [x]",
    "tests": lambda n: f"if {'any(x in [1] where ' * n}amount == 1{')' * n}:\n  amount = 2",
    "blocks": lambda n: "".join(f"{'  ' * i}if amount == 1:\n" for i in range(n)) + "  " * n + "amount = 2",
}
"""Texts that nest n levels of something."""


@pytest.mark.parametrize("name", NESTED)
def test_text_that_nests_as_deep_as_may_be_is_played(tmp_path: Path, name: str) -> None:
    """The deepest text of a kind that is read is also checked, compiled and played; one level more is refused."""
    text, low, high = NESTED[name], 1, 160
    while high - low > 1:
        middle = (low + high) // 2
        deep = any(d.code == "E204" for d in examined(write(tmp_path, f"{text(middle)}\nend game")).diagnostics)
        low, high = (low, middle) if deep else (middle, high)
    assert outcome(write(tmp_path, f"{text(low)}\nend game")) == "plays"
    located(write(tmp_path, f"{text(high)}\nend game"), "E204")


# --- starts, defaults and keys of every form ------------------------------------------------------------------------

TYPES = {
    "int": ("1", {"[1]": "E401", "none": "E401", "red": "E401", "all": "E301", "rest": "E301"}),
    "int?": ("none", {"[1]": "E401", "[none]": "E401"}),
    "bool": ("yes", {"1": "E401", "[yes]": "E401"}),
    "colour": ("red", {"[red]": "E401", "green": "E301", "all": "E301"}),
    "seat?": ("none", {"[none]": "E401", "0": "E401"}),
    "plan?": ("none", {"[1]": "E401"}),
    "town?": ("none", {"[Ayr]": "E201"}),
    "bag of gem": ("1 of ruby", {"[ruby]": "E401", "[1, 2]": "E401", "1": "E401", "none": "E401"}),
    "pair": ('"pair(1, 2)"', {"[1, 2]": "E401", "none": "E401"}),
    "list of int": ("[1, 2]", {"[[1]]": "E401", "1": "E401", "[red]": "E401", "none": "E401"}),
    "list of colour": ("[red, blue]", {"red": "E401", "[green]": "E301"}),
    "list of colour?": ("none", {"[[red]]": "E401"}),
    "list of seat": ('["seats[0]"]', {"[1]": "E401"}),
    "list of plan": ("[1, 2]", {"[red]": "E401"}),
    "list of bag of gem": ("[1 of ruby, 2 of onyx]", {"[1]": "E401"}),
    "list of list of int": ("[[1, 2], []]", {"[1]": "E401"}),
    "list of pair": ('["pair(1, 2)"]', {"[[1, 2]]": "E401"}),
    "set of int": ("[1, 2]", {"1": "E401"}),
    "set of colour": ("[blue]", {"blue": "E401"}),
}
"""Types of values, each with a start that suits and some that do not, and their errors."""
STARTS = [(type_, start, "plays") for type_, (start, _) in TYPES.items()] + [
    (type_, start, code) for type_, (_, wrong) in TYPES.items() for start, code in wrong.items()
]


@pytest.mark.parametrize("where", ["  amount: {value", "    score: {value"])
@pytest.mark.parametrize(("type_", "start", "wanted"), STARTS)
def test_values_start_as_declared_or_are_refused(
    tmp_path: Path, type_: str, start: str, wanted: str, where: str
) -> None:
    path = write(tmp_path, sections="records: {pair: {a: int, b: int}}\n")
    family = path.parent / "family.yaml"
    indent_ = where[: -len(where.lstrip())]
    text = family.read_text(encoding="utf-8").replace(
        where, f"{indent_}thing: {{value: {type_}, start: {start}}}\n{where}"
    )
    family.write_text(text, encoding="utf-8")
    if wanted != "plays":
        located(path, wanted)
        return
    assert outcome(path) == "plays"
    group = loaded(path).table(2, {}).first
    assert (None in group.cells) >= (start == "none")


DEFAULTS = {
    "int": "[1]",
    "colour": "[red]",
    "bool": "[yes]",
    "list of int": "[[1]]",
    "list of colour": "[[red]]",
    "bag of gem": "[1, 2, 3]",
    "list of list of int": "[1]",
}


@pytest.mark.parametrize("type_", DEFAULTS)
def test_settings_have_defaults_of_their_type(tmp_path: Path, type_: str) -> None:
    setting = f"settings: {{thing: {{value: {type_}, default: {DEFAULTS[type_]}, about: a thing}}}}\n"
    located(write(tmp_path, sections=setting), "E401 got ")


def test_a_set_that_a_setting_starts_with_has_each_item_once(tmp_path: Path) -> None:
    setting = "settings: {hues: {value: set of colour, default: [blue, red, blue], about: hues}}\n"
    assert loaded(write(tmp_path, sections=setting)).settings({})["hues"] == (0, 1)


@pytest.mark.parametrize(("type_", "default"), [("int", "3"), ("list of colour?", "[red]"), ("colour", "red")])
def test_a_role_takes_its_seats_from_a_list(tmp_path: Path, type_: str, default: str) -> None:
    path = replacing("person: {counts: yes}", lambda n: "person: {counts: yes}, bird: {counts: yes, seats: birds}")(
        tmp_path, 1
    )
    family = path.parent / "family.yaml"
    setting = f"settings: {{birds: {{value: {type_}, default: {default}, about: birds}}}}\n"
    family.write_text(family.read_text(encoding="utf-8") + setting, encoding="utf-8")
    located(path, "E401 got .*, want a list")


@pytest.mark.parametrize("start", ["-1", "all", "rest"])
def test_stocks_start_with_a_number(tmp_path: Path, start: str) -> None:
    located(replacing("{stock: hut, start: 2}", lambda n: f"{{stock: hut, start: {start}}}")(tmp_path, 1), "E3[01]1")


KEYS = {
    "int": ("amount", "plays"),
    "text": ('"a"', "plays"),
    "bool": ("yes", "plays"),
    "seat?": ("none", "plays"),
    "plan?": ("first(deck)", "plays"),
    "town": ("first(town)", "plays"),
    "colour": ("red", "plays"),
    "list of int": ("row", "E401"),
    "set of colour": ("colour", "E401"),
    "bag of gem": ("gems", "E401"),
    "pair": ("pair(1, 2)", "E401"),
    "place": ("first(town).places[0]", "E401"),
}


@pytest.mark.parametrize("type_", KEYS)
def test_measures_add_up_by_what_has_a_name(tmp_path: Path, type_: str) -> None:
    value, wanted = KEYS[type_]
    sections = (
        "records: {pair: {a: int, b: int}}\nmeasures:\n  many:\n    on: ping(thing)\n    by: [thing]\n    value: 1\n"
    )
    path = with_event(tmp_path, f"note ping({value})\nend game", "", sections)
    family = path.parent / "family.yaml"
    family.write_text(
        family.read_text(encoding="utf-8").replace("ping: {with: {n: int}}", f"ping: {{with: {{thing: {type_}}}}}"),
        encoding="utf-8",
    )
    if wanted != "plays":
        located(path, wanted)
        return
    ruleset = loaded(path)
    assert summary(ruleset, ["random", "random"], simulate(ruleset, [RandomBot(), RandomBot()], 3))["games"] == 3


def test_a_loop_has_so_many_passes_in_both_forms(tmp_path: Path) -> None:
    act = "let x = 0\nwhile x < {} at most 900000 times:\n  x = x + 1\nend game"
    assert outcome(write(tmp_path, act.format(MAXIMUM_PASSES))) == "plays"
    located(write(tmp_path, act.format(MAXIMUM_PASSES + 1)), "R002 this never reaches a decision")


@pytest.mark.parametrize("kind", FRAMES)
def test_games_that_nobody_watches_nest_as_deep(tmp_path: Path, kind: object) -> None:
    """A simulation plays whole games in the module."""
    assert callable(kind)
    bots = [RandomBot(), RandomBot()]
    (row,) = simulate(loaded(with_event(tmp_path, *kind(MAXIMUM_DEPTH))), bots, 1)
    assert row.rounds
    with pytest.raises(RuleFailure, match="too deeply"):
        list(simulate(loaded(with_event(tmp_path, *kind(MAXIMUM_DEPTH + 1))), bots, 1))


FILES: dict[str, tuple[int, Callable[[int], str], str]] = {
    "bytes": (MAX_BYTES, lambda n: "a: b #" + "x" * (n - 7) + "\n", "E012"),
    "values": (MAX_VALUES, lambda n: "a: [" + "1, " * (n - 4) + "1]\n", "E010"),
    "levels": (MAX_DEPTH, lambda n: "a: " + "[" * (n - 1) + "]" * (n - 1) + "\n", "E011"),
}


@pytest.mark.parametrize("name", FILES)
def test_files_are_limited_where_the_documents_say(name: str) -> None:
    most, text, code = FILES[name]
    for number, wanted in ((most, []), (most + 1, [code])):
        file, found = decode("a.yaml", text(number).encode())
        root, further = read_yaml(file) if not found else (None, [])
        assert [d.code for d in (*found, *further)] == wanted
        assert all(d.span is not None for d in (*found, *further))
        assert (root is None) == bool(wanted)
