"""What a ruleset cannot do: every attack of `docs/security.md` is tried here, and ends in words within a few seconds.

An attack is a small ruleset that is written into a folder, examined and played. It must end in diagnostics or in a
:class:`RuleFailure`; where nothing is wrong with it, it must do nothing that it may not.
"""

from __future__ import annotations

import re
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from interpreter.base.diagnostics import Diagnostic, render
from interpreter.compiler.wasm.module import Resident
from interpreter.language import parse
from interpreter.language import transformer as build
from interpreter.simulate.throughput import calibration
from tests.small import RULESET, examined, loaded, outcome, write
from tests.support import rule_text

pytestmark = pytest.mark.usefixtures("at_once")

SECONDS, TURNS_A_SECOND = 8, 1_468_300
"""An attack takes a second or two, where the calibration loop makes so many turns a second; a busy machine may need
longer. On one that is slower, or while it is, they are the seconds of that machine."""

MEGABYTES = 700


def memory() -> float:
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)


@contextmanager
def soon() -> Iterator[None]:
    """What is done inside ends in time, and takes no more than the stated memory."""
    began, before = time.process_time(), memory()
    yield
    spent = time.process_time() - began
    assert spent < SECONDS or spent * calibration() < SECONDS * TURNS_A_SECOND
    assert memory() - before < MEGABYTES


def tried(folder: Path, wanted: str, act: str = "end game", rules: str = "", sections: str = "") -> None:
    """An attack ends soon, as wanted."""
    with soon():
        found = outcome(write(folder, act, rules, sections))
    assert re.search(wanted, found), found[:2_000]


def test_the_small_game_plays(tmp_path: Path) -> None:
    act = """\
        choose act by seats[0]:
          add number in 1 .. 3:
            amount += number
            note said(number)
          stop:
            end game
    """
    assert outcome(write(tmp_path, act)) == "plays"


# --- Python, attributes, globals -------------------------------------------------------------------------------------

PYTHON = [
    '__import__("os").system("true")',
    'eval("1")',
    'exec("1")',
    'open("/etc/passwd")',
    'getattr(seats, "x")',
    "let x = seats.__class__",
    "let x = seats[0].__class__.__mro__",
    "let x = (1).real",
    "let x = amount.__add__",
    "let x = __builtins__",
    "let x = state",
    "let x = cells",
    "let x = self",
    "let x = L",
    "let x = S[0]",
    "let x = [s for s in seats].__class__",
    "let x = lambda: 1",
    "import os",
    "let x = `id`",
    'let x = "{0.__class__}"',
    'let x = f"{seats}"',
    "let x = base.__globals__",
    "amount = prepare.__globals__",
    "let x = count.__self__",
    "note said(__import__)",
]


@pytest.mark.parametrize("act", PYTHON)
def test_rules_reach_nothing_of_python(tmp_path: Path, act: str) -> None:
    tried(tmp_path, r"^E(20|30|40|50)\d ", act)


TEMPLATES = [
    "{number.__class__}",
    "{number.__class__.__mro__[1].__subclasses__()}",
    "{number!r}",
    "{number:>99999999}",
    "{0}",
    "{}",
    "{{number}}",
    "{number",
    "{__import__}",
    "{game}",
    "{self.state}",
    "{number.real}",
]


@pytest.mark.parametrize("says", TEMPLATES)
def test_templates_are_no_format_strings(tmp_path: Path, says: str) -> None:
    sections = f'says:\n  act.go: "{says}"\n'
    found = outcome(write(tmp_path, "choose act by seats[0]:\n  go number in 1 .. 2:\n    end game", sections=sections))
    assert re.match(r"E\d{3} ", found) or says in ("{0}",), found
    assert "class" not in found.replace("`__class__`", "")


def test_percent_signs_mean_nothing(tmp_path: Path) -> None:
    sections = 'says: {act.go: "%s %(number)s %n $HOME $(id) `id` {number} \\u0041"}\n'
    assert outcome(write(tmp_path, sections=sections)).startswith("E")
    act = "choose act by seats[0]:\n  go number in 1 .. 2:\n    end game"
    game = loaded(
        write(tmp_path, act, sections='says: {act.go: "%s %(number)s $HOME $(id) `id` {number}"}\n')
    ).new_game(2)
    game.apply({"do": "go", "number": 2})
    assert "%s %(number)s $HOME $(id) `id` 2" in [line.text for line in game.log()]


# --- names that would be something else ------------------------------------------------------------------------------

NAMES = [
    "kinds: {int: [a]}",
    "kinds: {seat: [a]}",
    "kinds: {list: [a]}",
    "kinds: {hue: ['yes', no]}",
    "kinds: {hue: [__class__, _a]}",
    "kinds: {hue: [L, S, M]}",
    "kinds: {hue: ['a b', 'c\\nd']}",
    'kinds: {"a\'b": [c]}',
    "kinds: {__import__: [c]}",
    "records: {count: {a: int}}",
    "records: {base: {a: int}}",
    "state: {phase: {value: int, start: 0}}",
    "state: {location: {value: int, start: 0}}",
    "state: {players: {value: int, start: 0}}",
    "zones: {overflow: {of: seats}}",
    "settings: {seats: {value: int, default: 1}}",
]


@pytest.mark.parametrize("sections", NAMES)
def test_names_cannot_be_forged(tmp_path: Path, sections: str) -> None:
    path = write(tmp_path, "end game")
    text = path.parent.joinpath("family.yaml").read_text(encoding="utf-8")
    section = sections.partition(":")[0]
    kept = "\n".join(line for line in text.splitlines() if not line.startswith((f"{section}:",)))
    if section == "state":
        kept = text.replace("state:\n", "").replace("  amount: {value", "# ").replace("  row: {value", "# ")
    path.parent.joinpath("family.yaml").write_text(f"{kept}\n{sections}\n", encoding="utf-8")
    with soon():
        assert re.match(r"[ER]\d{3} ", outcome(path))


@pytest.mark.parametrize("name", ["base", "count", "first", "min", "mixes", "total"])
def test_rules_cannot_take_the_names_of_functions(tmp_path: Path, name: str) -> None:
    tried(tmp_path, "E312", rules=f"{name}() -> int: 1\n")


LOCALS = [
    "count",
    "state",
    "self",
    "env",
    "up",
    "values",
    "L",
    "S",
    "M",
    "print",
    "none_",
    "exec",
    "int",
    "class_",
    "lambda",
]


@pytest.mark.parametrize(
    "name", [*LOCALS, "def", "import", "is_of", "give_up", "numbers", "frozenset", "_0", "__class__"]
)
def test_locals_with_names_of_python_are_only_names(tmp_path: Path, name: str) -> None:
    act = f"""\
        let {name} = 3
        for each seat_ in seats:
          seat_.score += {name}
        choose act by seats[0]:
          go a in [x for x in 1 .. 3 where x != {name}] where a < {name}:
            amount = a + {name}
            end game
    """
    found = outcome(write(tmp_path, act))
    assert found == "plays" or found.startswith("E201"), found


ESCAPES = [r"\e[2J", r"\x1b]0;x\a", r"\x9b31m", r"a\nb\rc", r"\u202egpj.exe", r"\b\b\b", r"\0", r"\u2066x"]


@pytest.mark.parametrize("escape", ESCAPES)
def test_no_escape_reaches_the_terminal(tmp_path: Path, escape: str) -> None:
    path = write(tmp_path)
    path.write_text(
        f'language: 2\nruleset: tiny\ntitle: "a{escape}b"\nabout: "{escape}"\nfamily: small\n', encoding="utf-8"
    )
    found = examined(path)
    assert "E003" in {d.code for d in found.errors} or escape == r"a\nb\rc"
    for diagnostic in found.diagnostics:
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2066]", render(diagnostic))


def test_a_control_character_in_a_file_is_not_shown(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.write_text("language: 2\nruleset: tiny\ntitle: \x1b[31mred\x07\nfamily: small\n", encoding="utf-8")
    found = examined(path).diagnostics
    assert [d.code for d in found] == ["E003"]
    assert "\x1b" not in render(found[0])


def test_statements_are_freed_of_control_characters(tmp_path: Path) -> None:
    path = write(tmp_path)
    folder = path.parent / "statements"
    folder.mkdir()
    folder.joinpath("book.csv").write_text("id,kind,statement\nGU-1,rule,\x1b[2Jboo\n", encoding="utf-8")
    assert [s.text for s in loaded(path).statements.values()] == ["�[2Jboo"]


# --- files -----------------------------------------------------------------------------------------------------------

IDS = [
    "../../etc/passwd",
    "/etc/passwd",
    "a/../../b",
    "..",
    ".",
    "small/..",
    "~",
    "small\\x",
    "c:/x",
    "a//b",
    "%2e%2e/x",
    "$HOME",
]


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("key", ["family", "edition", "map", "deck"])
def test_no_id_leaves_the_folder(tmp_path: Path, id: str, key: str) -> None:
    path = write(tmp_path)
    lines = [line for line in RULESET.splitlines() if not line.startswith(f"{key}:")]
    path.write_text("\n".join([*lines, f"{key}: '{id}'", ""]), encoding="utf-8")
    assert re.match(r"E(03|10)\d ", outcome(path))


def test_no_link_leaves_the_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_text("language: 2\nmap: small/secret\nnodes: secret\n", encoding="utf-8")
    root = tmp_path / "root"
    path = write(root)
    (path.parent / "maps" / "secret.yaml").symlink_to(outside)
    path.write_text("language: 2\nruleset: tiny\ntitle: T\nfamily: small\nmap: small/secret\n", encoding="utf-8")
    found = outcome(path)
    assert found.startswith("E033")
    assert "secret\n" not in found


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
def test_devices_and_pipes_are_not_read(tmp_path: Path) -> None:
    import os

    path = write(tmp_path)
    os.mkfifo(path.parent / "maps" / "pipe.yaml")
    os.mkfifo(path.parent / "other.yaml")
    (path.parent / "maps" / "zero.yaml").symlink_to("/dev/zero")
    for name in ("pipe", "zero"):
        path.write_text(f"language: 2\nruleset: tiny\ntitle: T\nfamily: small\nmap: small/{name}\n", encoding="utf-8")
        with soon():
            assert re.match(r"E03\d ", outcome(path))


def test_playing_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "choose act by seats[0]:\n  stop:\n    end game")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.chdir(tmp_path)
    assert outcome(path) == "plays"
    assert sorted(tmp_path.rglob("*")) == before


# --- without end -----------------------------------------------------------------------------------------------------

ENDLESS = {
    "a while that asks nobody": ("E706", "while yes:\n  amount = 1"),
    "a while that only seems to ask": ("R002|E704|never", "while yes:\n  if no:\n    choose a by seats[0]:\n      b"),
    "a huge bound": ("R002", "while amount > 0 at most 1000000000 times:\n  amount = 1"),
    "a bound in a bound": (
        "R001|R002",
        """\
        while amount > 0 at most 100000 times:
          while amount > 0 at most 100000 times:
            amount = 1
        """,
    ),
    "loops in loops": (
        "R002",
        """\
        for each a in 1 .. 20000:
          for each b in 1 .. 20000:
            amount = a + b
        """,
    ),
    "sums in sums": (
        "R002",
        "amount = count(a in 1 .. 9999 where any(b in 1 .. 9999 where any(c in 1 .. 9999 where a + b + c < 0)))",
    ),
    "maps in maps": ("R002|R001", "row = [count([b for b in 1 .. 9999 where b > a]) for a in 1 .. 9999]"),
    "options without number": (
        "R002",
        "choose act by seats[0]:\n  go a in 1 .. 9999, b in 1 .. 9999, c in 1 .. 9999 where a + b + c < 0:\n    end game",  # noqa: E501
    ),
    "a list in a long loop": ("R002", "for each a in 1 .. 20000:\n  if a in [b for b in 1 .. 20000]:\n    amount = a"),
    "a procedure that calls itself": ("R002", "again()"),
    "two procedures that call each other": ("R002", "there()"),
    "a procedure that calls itself and asks": ("R002", "ask_again()"),
    "a procedure that calls itself twice": ("R002", "twice(40)"),
    "rounds without a decision": ("R002", "amount = 2"),
}
RECURSIVE = """\
again:
  does: again()
there:
  does: back()
back:
  does: there()
ask_again:
  does: |
    ask_again()
    choose a by seats[0]:
      b
twice(n):
  does: |
    if n > 0:
      twice(n - 1)
      twice(n - 1)
    amount = 1
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDLESS)
def test_nothing_goes_on_without_end(tmp_path: Path, name: str) -> None:
    wanted, act = ENDLESS[name]
    used = RECURSIVE if "procedure" in name else ""
    tried(tmp_path, wanted, act, used)


def test_functions_cannot_call_themselves(tmp_path: Path) -> None:
    tried(tmp_path, "E705", "amount = f(1)", "f(n) -> int: f(n + 1)\n")
    both = "f(n) -> int: g(n)\ng(n) -> int: f(n)\n"
    tried(tmp_path, "E705", "amount = f(1)", both)


def test_functions_cannot_call_functions_without_end(tmp_path: Path) -> None:
    """Each calls the one below it twice, with other values: memory of what was worked out does not help."""
    rules = "".join(
        f"f{i}(n) -> int: f{i - 1}(n * 2 mod 100003) + f{i - 1}(n * 2 mod 100003 + 1)\n" for i in range(1, 50)
    )
    rules += "f0(n) -> int: n\n"
    tried(tmp_path, "R002", "amount = f49(1)", rules)
    rules += "".join(f"f{i}(n) -> int: f{i - 1}(n)\n" for i in range(50, 80))
    tried(tmp_path, "E711", "amount = f79(1)", rules)


def test_standing_rules_that_never_settle(tmp_path: Path) -> None:
    sections = """\
        standing:
          up: {whenever: amount < 10, does: amount = 20}
          down: {whenever: amount > 10, does: amount = 1}
    """
    tried(tmp_path, "R002", "choose act by seats[0]:\n  stop:\n    end game", sections=sections)
    cubed = "standing:\n  look: {for: 'a in 1 .. 9999, b in 1 .. 9999 where a + b < amount - 9', does: amount = 1}\n"
    tried(tmp_path, "R002", "choose act by seats[0]:\n  stop:\n    end game", sections=cubed)


def test_triggers_that_feed_each_other(tmp_path: Path) -> None:
    sections = """\
        events: {ping: {with: {n: int}}, pong: {with: {n: int}}}
        triggers:
          a: {on: ping(n), does: note pong(n + 1)}
          b: {on: pong(n), does: note ping(n + 1)}
    """
    path = write(tmp_path, "note ping(1)")
    family = path.parent / "family.yaml"
    text = family.read_text(encoding="utf-8").replace('events:\n  said: {with: {number: int}, says: "{number}"}\n', "")
    family.write_text(text + textwrap.dedent(sections), encoding="utf-8")
    with soon():
        assert "R002" in outcome(path)


def test_blocks_that_keep_blocks(tmp_path: Path) -> None:
    for when in ("end of phase", "end of round"):
        tried(tmp_path, "R001|R002", "keep_on()", f"keep_on:\n  does: |\n    at {when}:\n      keep_on()\n")
    doubled = "keep_on:\n  does: |\n    at start of next round:\n      keep_on()\n      keep_on()\n"
    tried(tmp_path, "R001|R002", "keep_on()", doubled)


# --- against the module: what it does not count while it is done ------------------------------------------------------

FOREVER = "for each x in 1 .. 19999:\n  for each y in 1 .. 19999:\n    "


def doubling(name: str, form: str, call: str, last: str, number: int) -> str:
    """Rules that each call the one below them twice."""
    rules = "".join(
        f"{name}{i}{form.replace('CALL', call.replace('BELOW', f'{name}{i - 1}'))}\n" for i in range(1, number)
    )
    return f"{name}0{last}\n{rules}"


MAYBE = "maybe(n):\n  does: |\n    if n < 0:\n      choose a by seats[0]:\n        b\n"
TWICE = "twice(n, m):\n  does: |\n    if m > 0:\n      twice(n + n, m - 1)\n    amount = n\n"
FRAMES = "deep(n):\n  does: |\n    if n < 190:\n      deep(n + 1)\n    choose a by seats[0]:\n      b\n"
CHAIN = "c0(n):\n  does: |\n    choose a by seats[0]:\n      b\n" + "".join(
    f"c{i}(n):\n  does: |\n    c{i - 1}(n)\n    amount = n\n" for i in range(1, 260)
)
LOOPS = {
    "a list in a list": (
        "let a = [x for x in 1 .. 9999]\namount = count(x in a where count(y in a where y == x) > 1)",
        "",
    ),
    "three times the same list": (
        "let a = [x for x in 1 .. 200]\namount = count(x in a where any(y in a where any(z in a where x + y + z < 0)))",
        "",
    ),
    "ranges in ranges": (
        "amount = count(x in 1 .. 3000 where any(y in 1 .. x where any(z in 1 .. y where z < 0)))",
        "",
    ),
    "functions that are written in place": (
        "amount = f49(1)",
        doubling("f", "(n) -> int: CALL", "BELOW(n) + BELOW(n)", "(n) -> int: n + amount", 50),
    ),
    "functions that look through something": (
        "amount = f49(1)",
        doubling(
            "f",
            "(n) -> int: CALL",
            "BELOW(n * 2 mod 100003) + BELOW(n * 2 mod 100003 + amount)",
            "(n) -> int: count(x in 1 .. n mod 20000 where x > 3)",
            50,
        ),
    ),
    "procedures that each call the next one twice": (
        "w29(1)",
        doubling(
            "w",
            "(n):\n  does: |\n    CALL",
            "BELOW(n)\n    BELOW(n)",
            "(n):\n  does: |\n    amount = n",
            30,
        ),
    ),
    "loops over seats that are written out": (
        f"if {''.join(f'any(a{i} in seats where ' for i in range(25))}amount < 0{')' * 25}:\n  amount = 2",
        "",
    ),
    "a key that looks through the list": (
        "let a = [x for x in 1 .. 2000]\nrow = sorted(x in a by count(y in a where y < x), as listed)",
        "",
    ),
    "a test of a while that is long": (
        "while count(x in 1 .. 9999 where x > amount) > 5 at most 199999 times:\n  amount = 1",
        "",
    ),
    "long lists that are compared": (
        "let a = [x for x in 1 .. 19999]\nlet b = [x for x in 1 .. 19999]\namount = count(x in a where a == b)",
        "",
    ),
    "lists of lists that are compared": (
        "let a = [[x for x in 1 .. 19999] for y in 1 .. 2]\nlet b = [[x for x in 1 .. 19999] for y in 1 .. 2]\n"
        "amount = count(x in 1 .. 19999 where a == b)",
        "",
    ),
    "a list that is looked for among lists": (
        "let a = [[x for x in 1 .. 19999] for y in 1 .. 2]\nlet b = [[x for x in 1 .. 19998] + [y] for y in 1 .. 3]\n"
        "amount = count(x in 1 .. 19999 where b[0] in a)",
        "",
    ),
    "an item at the end of a list": (
        "let a = [x for x in 1 .. 19999]\namount = count(x in 1 .. 19999 where position(19999, a) > 99999)",
        "",
    ),
    "a function that is remembered by a long list": (
        "let a = [x for x in 1 .. 19999]\namount = count(x in a where f(a) > 3)",
        "f(a) -> int:\n  is: |\n    return first(a)\n",
    ),
    "a function that is remembered by lists of lists": (
        f"let a = [[x for x in 1 .. 19999] for y in 1 .. 2]\n{FOREVER}amount = f(a)",
        "f(rows) -> int: count(x in rows where count(x) > 3)\n",
    ),
    "a function that is remembered by large numbers": (
        "for each x in 1 .. 19999:\n  amount = f(x * 99999999999 + amount * 7) mod 1000",
        "f(n) -> int: count(y in 1 .. 3 where y < n) + n\n",
    ),
    "options that take long": (
        "choose act by seats[0]:\n  go a in 1 .. 9999, b in 1 .. 9999 where any(c in 1 .. 9999 where a + b + c < 0):\n"
        "    end game\n  stop:\n    end game",
        "",
    ),
    "too many frames": ("c259(1)\nend game", CHAIN),
    "calls in loops that may ask": (
        """\
        let n = 0
        while n >= 0 at most 199999 times:
          for each x in 1 .. 400:
            maybe(x)
          let k = 0
          while k < 1 at most 3 times:
            k = k + 1
            maybe(1)
        """,
        MAYBE,
    ),
    "turns without number": ("for each x in 1 .. 19999:\n  for each turn s in seats:\n    amount = x\nend game", ""),
    "numbers of a list of one": ("for each a in 1 .. 9999:\n  row = [amount + amount]\n  amount = row[0]", ""),
    "an argument that doubles": ("twice(amount, 100)\nend game", TWICE),
    "a list that a function makes of a number": (
        "for each a in 1 .. 999:\n  row = f(amount + amount)\n  amount = row[0]",
        "f(n) -> list of int: {is: '[n]'}\n",
    ),
    "a range of numbers that no list has": (
        f"amount = 99999999999 * 9999999\nrow = 1 .. ({' + '.join(['amount'] * 15)})",
        "",
    ),
    "many rooms many times": (
        "amount = count(x in 1 .. 9999 where overflow(gems, [room(gem, a) for a in 1 .. 200]) > 0)",
        "",
    ),
    "picks among many": (f"{FOREVER}let z = pick from 1 .. 9999 as roll", ""),
    "shuffles": (f"{FOREVER}shuffle deck", ""),
    "cards to and fro": (f"{FOREVER}move all of deck to pile\n    move all of pile to deck", ""),
    "tokens to and fro": (
        f"{FOREVER}move 1 from bank to seats[1].money\n    move 1 from seats[1].money to bank",
        "",
    ),
    "ways on the map": (f"{FOREVER}if distance([first(town)], last(town), town) > 50:\n      amount = x", ""),
    "the same list in another order": (
        f"let a = [250 - x for x in 1 .. 250]\n{FOREVER}a = sorted(z in a by z mod 10, as listed)",
        "",
    ),
    "a long list in short loops": (
        "amount = f(amount)",
        """\
        f(n) -> int:
          is: |
            let a = [x for x in 1 .. 19999]
            let k = n
            for each x in 1 .. 19999:
              for each y in 1 .. 19999:
                if any(z in 1 .. 250 where 0 - z in a):
                  k = k + 1
            return k
        """,
    ),
    "parts of a list": (
        f"let a = [x for x in 1 .. 250]\n{FOREVER}if count(rest(rest(a))) < 0:\n      amount = x",
        "",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_the_module_does_no_more_than_the_plain_form(tmp_path: Path, name: str) -> None:
    act, rules = LOOPS[name]
    tried(tmp_path, "R00", act, rules)


def test_many_frames_can_be_kept(tmp_path: Path) -> None:
    tried(tmp_path, "plays", "deep(amount)\nend game", FRAMES)


def test_the_module_holds_no_more_the_longer_a_game_is(tmp_path: Path) -> None:
    """Of the choices that can be undone at once only the last are kept as bytes; any can be undone."""
    rules = "f(n) -> int: count(s in seats where s.score < n) + n\n"
    act = "choose act by seats[0]:\n  go a in 1 .. 300 where f(a + amount * 1000) > 0:\n    amount += 1"
    game = loaded(write(tmp_path, act, rules)).new_game(2)
    with soon():
        digests = []
        for _ in range(2_000):
            digests.append(game.digest())
            assert game.decision is not None
            game.apply(game.decision.options[-1])
    home = game.state.home
    assert isinstance(home, Resident)
    assert len(home.past) <= 600
    assert not game.runner.bailouts
    for digest in reversed(digests):
        assert game.undo()
        assert game.digest() == digest
    assert not game.undo()


TAKEN = ["memory", "frame", "options", "top", "fuel", "arena", "run", "begin", "choose", "draw", "mul", "div", "func"]


@pytest.mark.parametrize("name", [*TAKEN, "local", "module", "i32", "data", "type", "unreachable", "none", "lambda"])
def test_rules_and_choices_with_names_of_the_module_are_only_names(tmp_path: Path, name: str) -> None:
    rules = f"{name}(n) -> int: count(s in seats where s.score < n) + n\n"
    act = f"""\
        let {name}_0 = [{name}(x) for x in 1 .. 3]
        choose {name} by seats[0]:
          {name} {name}_1 in {name}_0 where {name}({name}_1) > 0:
            amount = {name}({name}_1)
            end game
    """
    found = outcome(write(tmp_path, act, rules))
    assert found == "plays" or re.match(r"E\d{3}", found), found


@pytest.mark.parametrize("text", ["(func $run)", ";;", "(;", "'''", '\\"\\"\\"', "{}", "%s", "\\\\n", "$(id)", "#"])
def test_quotes_in_titles_are_only_text(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, "choose act by seats[0]:\n  go number in 1 .. 2:\n    end game")
    path.write_text(path.read_text(encoding="utf-8").replace("title: Tiny", f'title: "{text}"'), encoding="utf-8")
    assert outcome(path) == "plays"


# --- size ------------------------------------------------------------------------------------------------------------

LARGE = {
    "a huge range": ("R001|R002", "for each a in 1 .. 100000000000:\n  amount = a"),
    "a huge range looked through": ("R001", "amount = count(a in 1 .. 100000000000 where a > 3)"),
    "a huge list": ("R001", "row = 1 .. 100000000000"),
    "a list that doubles": ("R00", "row = [1]\nfor each a in 1 .. 60:\n  row = row + row"),
    "a list of lists": (
        "R00|E204",
        "let all_of_it = [[b for b in 1 .. 9999] for a in 1 .. 9999]\namount = count(all_of_it)",
    ),
    "a list of the same list": (
        "R00",
        """\
        let a = [x for x in 1 .. 19999]
        let b = [a for x in 1 .. 19999]
        let c = [b for x in 1 .. 19999]
        if b == c[0]:
          amount = count(c)
        """,
    ),
    "a list of rests": (
        "R00",
        "let a = [x for x in 1 .. 19999]\nlet b = [rest(a) for x in 1 .. 19999]\namount = count(b)",
    ),
    "pairs of pairs": (
        "R00|E204|E401",
        "\n".join(
            [
                "let a0 = [1]",
                *(f"let a{i} = [a{i - 1}, a{i - 1}]" for i in range(1, 60)),
                "if a59 == a59:\n  amount = 2",
            ]
        ),
    ),
    "a list that grows by one": ("R00", "for each a in 1 .. 19999:\n  for each b in 1 .. 50:\n    add b to row"),
    "a number that doubles": ("R00", "for each a in 1 .. 9999:\n  amount = amount + amount"),
    "a number that is squared": ("R001", "amount = 3\nfor each a in 1 .. 99:\n  amount = amount * amount"),
    "a local that is squared": ("R001", "let x = 3\nfor each a in 1 .. 99:\n  x = x * x\namount = x mod 7"),
    "numbers of a list that double": ("R00", "row = [1]\nfor each a in 1 .. 9999:\n  row = [x + x for x in row]"),
    "a sum of large numbers": (
        "R00",
        "row = [99999999999 * 1000000 for a in 1 .. 999]\nfor each a in 1 .. 99:\n  row = [sum(row) for b in 1 .. 999]",
    ),
    "a number of many digits": ("E202", f"amount = {'9' * 40}"),
    "a bag that doubles": ("R00", "for each a in 1 .. 9999:\n  gems = gems + gems"),
    "a bag of many": (
        "R00",
        "for each a in 1 .. 99:\n  gems = gems + (amount * 99999999999 * 1000000) of ruby\n  amount += 1",
    ),
    "mixes without number": ("R00", "amount = count(mixes(5000, gem, 9999 of ruby + 9999 of onyx + 9999 of opal))"),
    "mixes of very many": (
        "R00",
        "amount = count(mixes(999999999999, gem, 999999999999 of ruby + 999999999999 of onyx))",
    ),
    "rooms of every kind": ("R00|plays", "amount = overflow(gems, [room(gem, a) for a in 1 .. 9999])\nend game"),
    "a long log": ("R002", "for each a in 1 .. 9999:\n  for each b in 1 .. 9999:\n    note said(b)"),
    "blocks kept in a loop": (
        "R00",
        "for each a in 1 .. 9999:\n  for each b in 1 .. 999:\n    at end of round:\n      amount = b",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_nothing_grows_without_end(tmp_path: Path, name: str) -> None:
    wanted, act = LARGE[name]
    tried(tmp_path, wanted, act)


def test_records_cannot_hold_themselves(tmp_path: Path) -> None:
    tried(tmp_path, "E313", sections="records: {pair: {left: pair?, right: pair?}}\n")
    tried(tmp_path, "E313", sections="records: {a: {of: list of b}, b: {of: list of a}}\n")
    chain = ", ".join(f"r{i}: {{a: r{i + 1}, b: r{i + 1}}}" for i in range(40))
    tried(tmp_path, "E313", sections=f"records: {{{chain}, r40: {{a: int}}}}\n")


def test_what_is_laid_out_is_limited(tmp_path: Path) -> None:
    for wanted, sections in (
        ("E313", "kinds: {number: 1..999999999}"),
        ("E010|E313", f"kinds: {{many: [{', '.join(f'a{i}' for i in range(2_000))}]}}"),
        ("E313", f"tokens: {{many: {{{', '.join(f'a{i}: 1' for i in range(200))}}}}}"),
    ):
        path = write(tmp_path)
        family = path.parent / "family.yaml"
        section = sections.partition(":")[0]
        lines = [line for line in family.read_text(encoding="utf-8").splitlines() if not line.startswith(f"{section}:")]
        family.write_text("\n".join([*lines, sections, ""]), encoding="utf-8")
        with soon():
            assert re.search(wanted, outcome(path))


def replaced(folder: Path, old: str, new: str) -> Path:
    path = write(folder)
    for file in (path.parent / "family.yaml", path.parent / "maps" / "isles.yaml"):
        text = file.read_text(encoding="utf-8")
        if old in text:
            file.write_text(text.replace(old, new), encoding="utf-8")
            return path
    raise AssertionError(old)


def test_decks_maps_and_tables_are_limited(tmp_path: Path) -> None:
    rows = "".join(f"      {i}\n" for i in range(5, 5_200))
    for old, new, wanted in (
        ("      4\n", f"      4\n{rows}", "E023"),
        ("cards:\n", "cards:\n  blank: 10000000\n", "E10|E30|E313"),
        ("person: {counts: yes}", "person: {counts: yes}, robot: {counts: no, seats: 100000000}", "E104|E313"),
        ("  Coll | red\n", "  Coll | red\n" + "".join(f"  T{i} | red\n" for i in range(4_998)), "E023"),
        ("      price\n      1\n", "      price\n" + "".join(f"      {i}\n" for i in range(4_000)), "E313"),
        ("  Coll | red\n", "  Coll | red\n" + "".join(f"  T{i} | red\n" for i in range(100_000)), "E023"),
    ):
        with soon():
            found = outcome(replaced(tmp_path, old, new))
        assert re.search(wanted, found), (new[:60], found[:300])


@pytest.mark.parametrize(
    "test", ["distance([a], b, town) > amount", "distance(town, a, [a, first(town), last(town)]) > amount"]
)
def test_many_cards_and_a_large_map_can_be_played_within_the_limits(test: str, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        f"""\
        move all of deck to pile
        for each a in town:
          for each b in town:
            if {test}:
              amount = distance([a], b, town)
        end game
        """,
    )
    family = path.parent / "family.yaml"
    text = family.read_text(encoding="utf-8")
    family.write_text(
        text.replace("      4\nzones", "".join(f"      {i}\n" for i in range(4, 4_900)) + "zones"), encoding="utf-8"
    )
    isles = path.parent / "maps" / "isles.yaml"
    text = isles.read_text(encoding="utf-8")
    towns = "".join(f"  T{i} | red\n" for i in range(900))
    links = "".join(f"  T{i} | T{j % 900} | {i % 7}\n" for i in range(900) for j in (i + 1, i + 31, i + 77, i + 210))
    text = text.replace("  Coll | red\n", f"  Coll | red\n{towns}").replace(
        "  Bute | Coll | 2\n", f"  Bute | Coll | 2\n  Coll | T0 | 1\n{links}"
    )
    isles.write_text(text, encoding="utf-8")
    with soon():
        assert outcome(path).startswith("R002")


def test_a_track_has_so_many_spaces(tmp_path: Path) -> None:
    sections = """\
        tables:
          spaces:
            keys: [gem, price]
            gives: int
            is: |
              gem  | 1
              ruby | 999999999999
              onyx | 1
              opal | 1
        tracks: {market: {of: gem, spaces: spaces}}
    """
    tried(tmp_path, "E311", sections=sections)


def test_a_table_with_many_keys_is_not_laid_out(tmp_path: Path) -> None:
    sections = """\
        kinds: {many: 1..1000}
        tables:
          wide:
            keys: [many, many, many, many, many, many]
            gives: int
            is: |
              a | b | c | d | e | 1
              1 | 1 | 1 | 1 | 1 | 7
    """
    path = write(tmp_path, sections=sections)
    family = path.parent / "family.yaml"
    text = family.read_text(encoding="utf-8").replace("kinds: {colour: [red, blue], step: 1..3}\n", "")
    family.write_text(
        text.replace("kinds: {many: 1..1000}", "kinds: {many: 1..1000, colour: [red, blue]}"), encoding="utf-8"
    )
    with soon():
        assert "E308" in outcome(path)


def test_many_rules_are_refused(tmp_path: Path) -> None:
    rules = "".join(f"f{i}() -> int: {i}\n" for i in range(3_000))
    tried(tmp_path, "E010", rules=rules)


def test_a_large_ruleset_is_examined_in_time(tmp_path: Path) -> None:
    """Many names that nothing knows, each with its nearest to be looked for."""
    kinds = ", ".join(f"member_{i}" for i in range(900))
    path = write(tmp_path, "\n".join(f"amount = membre_{i}" for i in range(300)))
    family = path.parent / "family.yaml"
    text = family.read_text(encoding="utf-8").replace("kinds: {", f"kinds: {{many: [{kinds}], ")
    family.write_text(text, encoding="utf-8")
    with soon():
        assert "E301" in outcome(path)


# --- YAML and rule text ----------------------------------------------------------------------------------------------

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(12)
)
FILES = {
    "aliases": (BOMB, "E010"),
    "depth": ("a: " + "[" * 5_000, "E0(01|11)"),
    "keys": ("".join(f"k{i}: 1\n" for i in range(120_000)), "E010"),
    "a tag": ("a: !!python/object/apply:os.system ['true']\n", "E007"),
    "a tag of our own": ("a: !include /etc/passwd\n", "E007"),
    "a merge": ("a: &a {b: 1}\n<<: *a\n", "E"),
    "size": ("a: " + "x" * 5_000_000, "E012"),
    "a long line of rule text": ("rules: {f: {is: '" + "1 + " * 5_000 + "1'}}\n", "E"),
    "brackets": ("rules:\n  f:\n    is: |\n      " + "(" * 900 + "1" + ")" * 900 + "\n", "E"),
    "nots": ("rules:\n  f:\n    is: |\n      " + "not " * 400 + "yes\n", "E"),
    "minus": ("rules:\n  f:\n    is: |\n      " + "-" * 1_900 + "1\n", "E"),
    "attributes": ("rules:\n  f:\n    is: |\n      a" + ".b" * 900 + "\n", "E"),
    "spaces": ("rules:\n  f:\n    is: |\n      a" + " " * 1_900 + "!\n", "E"),
    "quotes": ("rules:\n  f:\n    is: |\n      " + '"' * 1_901 + "\n", "E"),
    "dots": ("rules:\n  f:\n    is: |\n      " + "1.." * 600 + "1\n", "E"),
}


@pytest.mark.parametrize("name", FILES)
def test_files_that_explode_are_refused(tmp_path: Path, name: str) -> None:
    text, wanted = FILES[name]
    path = write(tmp_path)
    family = path.parent / "family.yaml"
    family.write_text(f"language: 2\nfamily: small\n{text}", encoding="utf-8")
    with soon():
        assert re.search(wanted, outcome(path))


DEEP = {
    "sums": lambda n: "(1 + " * n + "1" + ")" * n,
    "nots": lambda n: "not (" * n + "yes" + ")" * n,
    "lists": lambda n: "[" * n + "1" + "]" * n,
    "counts": lambda n: "count([x in " * n + "1 .. 2" + "])" * n,
    "conditions": lambda n: "1 if yes else (" * n + "1" + ")" * n,
    "comparisons": lambda n: "(" * n + "yes" + " == yes)" * n,
    "defaults": lambda n: "(none otherwise " * n + "1" + ")" * n,
    "calls": lambda n: "max(1, " * n + "1" + ")" * n,
    "indexes": lambda n: "row[" * n + "0" + "]" * n,
    "ands": lambda n: "(yes and " * n + "yes" + ")" * n,
}


@pytest.mark.parametrize("name", DEEP)
@pytest.mark.parametrize("depth", [20, 40, 60, 70, 100, 140, 160])
def test_deep_texts_are_checked_run_or_refused(tmp_path: Path, name: str, depth: int) -> None:
    text = DEEP[name](depth)
    act = f"if amount == 1 and amount > 0:\n  let x = {text}\nend game"
    with soon():
        found = outcome(write(tmp_path, act))
    assert re.match(r"[ER]\d{3} |plays", found), found


def test_deep_blocks_are_checked_run_or_refused(tmp_path: Path) -> None:
    for depth in (5, 10, 30, 45, 60, 90):
        act = "".join(f"{'  ' * i}if amount == 1:\n" for i in range(depth)) + "  " * depth + "end game"
        with soon():
            assert re.match(r"E204|plays", outcome(write(tmp_path, act)))


def test_patterns_of_our_own_take_no_time() -> None:
    """The regular expressions that look at rule text have nothing that goes back and forth."""
    for text in ("a" * 1_990, " " * 1_990 + "x", "1" * 1_990, "a." * 990, "(" * 1_990, "'" * 1_990, "a_" * 990 + "!"):
        began = time.perf_counter()
        for start in (parse.parse_expression, parse.parse_procedure, parse.parse_preferences, parse.parse_type):
            start(rule_text(text))
        assert time.perf_counter() - began < 3
    assert build.MAXIMUM_DIGITS == 12


def test_diagnostics_are_plain_data(tmp_path: Path) -> None:
    found = examined(write(tmp_path, "amount = nothing_like_it"))
    assert all(isinstance(d, Diagnostic) for d in found.diagnostics)
    assert all(isinstance(d.as_data()["message"], str) for d in found.diagnostics)
