"""Rooms of a module: what a ruleset needs is there from the start, grows while games are played, or is told to be
missing. Games are the same as in the plain form in each case."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from interpreter.authoring.validation import validate
from interpreter.base.diagnostics import RulesetError
from interpreter.bots.planless import RandomBot
from interpreter.cli.main import cli
from interpreter.compiler.wasm import runner as compiled
from interpreter.engine.game import Ruleset
from interpreter.lowering.watches import MOST_WATCHES
from interpreter.play.module_export import standalone
from interpreter.simulate.simulation import Row, WholeGames
from tests.small import loaded, outcome, write

pytestmark = pytest.mark.usefixtures("at_once")

RECORDS = "records: {pair: {a: int, b: int}}\n"


def made(folder: Path, act: str, sections: str = "", state: str = "", seats: str = "") -> Path:
    """Write a small game with further state and belongings of seats."""
    path = write(folder, act, sections=sections)
    family = path.parent / "family.yaml"
    text = family.read_text(encoding="utf-8").replace("  amount: {value", f"{state}  amount: {{value")
    family.write_text(text.replace("    score: {value", f"{seats}    score: {{value"), encoding="utf-8")
    return path


def rows(ruleset: Ruleset, number: int, *, plain: bool = False) -> list[tuple[object, ...]]:
    """Let random bots play some games as simulations do, and return what they were like."""
    ruleset.table(2, ruleset.settings({})).runner.plain = plain
    games = WholeGames(ruleset, [RandomBot(), RandomBot()])
    found: list[tuple[object, ...]] = []
    for seed in range(number):
        row = games.row(seed) or games.plain_row(seed, None, bool)
        assert isinstance(row, Row)
        found.append((row.decisions, row.free, row.rounds, row.places, row.keys))
    return found


def playing(change: str, end: str = "round > 8") -> str:
    """Rules by which each seat may change something each turn."""
    lines = "".join(f"      {line}\n" for line in change.splitlines())
    return f"""\
for each turn who in seats:
  choose go by who:
    some x in 1 .. 4:
{lines}    none_of_it:
      who.score += 1
if {end}:
  end game
"""


GROWING: dict[str, tuple[str, str, str]] = {
    "a list": (
        playing("for each y in 1 .. 25:\n  add x to thing\nwho.score += count(thing)"),
        "",
        "list of int, start: []",
    ),
    "a list that is long between two decisions": (
        playing("thing = 1 .. 100 * x\nwho.score += sum(thing)\nthing = []"),
        "",
        "list of int, start: []",
    ),
    "a list in a frame": (
        "let long = 1 .. 100\n" + playing("long = long + [x]\nwho.score += count(long)"),
        "",
        "int, start: 0",
    ),
    "records": (
        playing("for each y in 1 .. 40:\n  add pair(x, y) to thing\nwho.score += count(thing)"),
        RECORDS,
        "list of pair, start: []",
    ),
    "lists of lists": (
        playing("for each y in 1 .. 20:\n  add [x, y] to thing\nwho.score += count(thing)"),
        "",
        "list of list of int, start: []",
    ),
    "long lists in a list": (
        playing("add 1 .. 40 * x to thing\nwho.score += count(last(thing))"),
        "",
        "list of list of int, start: []",
    ),
    "bags in a list": (
        playing("for each y in 1 .. 20:\n  add y of ruby to thing\nwho.score += count(thing)"),
        "",
        "list of bag of gem, start: []",
    ),
    "delayed blocks": (
        playing("for each y in 1 .. 230:\n  at start of next round:\n    thing += y\nwho.score += thing"),
        "",
        "int, start: 0",
    ),
    "long lists to choose from": (
        "choose pick by seats[0]:\n  one y in [1 .. 70, 1 .. 80]:\n    thing = y\n"
        + playing("who.score += count(thing)"),
        "",
        "list of int, start: []",
    ),
}
"""Rules that need more room the longer a game is, with further sections and the type of ``thing``."""


@pytest.mark.parametrize("name", GROWING)
def test_a_room_that_is_too_small_grows(tmp_path: Path, name: str) -> None:
    act, sections, state = GROWING[name]
    path = made(tmp_path, act, sections, f"  thing: {{value: {state}}}\n")
    ruleset = loaded(path)
    runner = ruleset.table(2, {}).runner
    found = rows(ruleset, 12)
    assert found == rows(loaded(path), 12, plain=True)
    assert runner.rooms
    assert not runner.reasons
    given_up = runner.bailouts
    assert rows(ruleset, 12) == found
    assert runner.bailouts == given_up  # from now on everything has room
    assert outcome(path) == "plays"


def test_a_module_that_has_grown_is_kept(tmp_path: Path) -> None:
    path = made(tmp_path, *GROWING["a list"][:2], "  thing: {value: list of int, start: []}\n")
    first, again = loaded(path), loaded(path)
    rows(first, 6)
    runner = again.table(2, {}).runner
    assert rows(again, 6) == rows(loaded(path), 6, plain=True)
    assert runner.rooms == first.table(2, {}).runner.rooms
    assert not runner.bailouts


def test_a_game_that_was_begun_goes_on_where_another_has_made_the_module_grow(tmp_path: Path) -> None:
    """States of the smaller module are moved, and taking back leads through them."""
    path = made(tmp_path, *GROWING["a list"][:2], "  thing: {value: list of int, start: [7]}\n")
    ruleset = loaded(path)
    game = ruleset.new_game(2, seed=3)
    digests = []
    for _ in range(3):
        digests.append(game.digest())
        assert game.decision is not None
        game.apply({"do": "some", "x": 2})
    copy = game.clone()
    rows(ruleset, 4)
    assert ruleset.table(2, {}).runner.rooms
    assert game.digest() == copy.digest()
    for each in (game, copy):
        each.apply({"do": "some", "x": 1})
    assert game.digest() == copy.digest()
    assert game.undo()
    for digest in reversed(digests):
        assert game.undo()
        assert game.digest() == digest


@pytest.mark.parametrize(
    "start",
    [
        'list of int, start: "1 .. 65"',
        'list of int, start: "1 .. 20000"',
        'list of pair, start: "[pair(x, x) for x in 1 .. 500]"',
        'list of list of int, start: "[[x] for x in 1 .. 500]"',
        'list of list of int, start: "[1 .. 500]"',
        'list of bag of gem, start: "[x of ruby for x in 1 .. 200]"',
        "list of int, start: [" + ", ".join(["1"] * 65) + "]",
    ],
)
@pytest.mark.parametrize("where", ["state", "seats"])
def test_what_a_game_starts_with_has_room(tmp_path: Path, start: str, where: str) -> None:
    thing = f"{'    ' if where == 'seats' else '  '}thing: {{value: {start}}}\n"
    path = made(tmp_path, playing("who.score += x"), RECORDS, **{where: thing})
    ruleset = loaded(path)
    runner = ruleset.table(2, {}).runner
    assert rows(ruleset, 3) == rows(loaded(path), 3, plain=True)
    assert (runner.bailouts, runner.reasons) == (0, {})
    assert standalone(loaded(path), 2, {}, ["random"]).manifest["left_out"] == {}


def test_many_options_are_listed_by_the_module(tmp_path: Path) -> None:
    act = "choose go by seats[0]:\n  pair_of x in 1 .. 366, y in 1 .. 366:\n    amount = x + y\nend game"
    path = made(tmp_path, act)
    ruleset = loaded(path)
    assert 366 * 366 > 131_072
    assert rows(ruleset, 2) == rows(loaded(path), 2, plain=True)
    assert not ruleset.table(2, {}).runner.bailouts


def with_seats(folder: Path, number: int) -> Path:
    """A game with so many further seats, whose hands are hidden."""
    act = "for each who in seats:\n  if deck != []:\n    move first(deck) to who.hand\n"
    path = made(folder, act + playing("who.score += x").replace("turn who in seats", "who in [seats[0], seats[1]]"))
    family = path.parent / "family.yaml"
    text = family.read_text(encoding="utf-8").replace("coin: 90", "coin: 900")
    roles = ", ".join(f"r{i}: {{counts: yes, seats: s{i}}}" for i in range(4))
    each = [number // 4 + (i < number % 4) for i in range(4)]
    settings = ", ".join(
        f"s{i}: {{value: list of colour, default: [{', '.join(['red'] * n)}], about: seats}}"
        for i, n in enumerate(each)
    )
    text = text.replace("person: {counts: yes}", f"person: {{counts: yes}}, {roles}") + f"settings: {{{settings}}}\n"
    family.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("number", [28, 29, 30, 31, 32, 40, 62])
def test_many_seats_have_room(tmp_path: Path, number: int) -> None:
    path = with_seats(tmp_path, number)
    ruleset = loaded(path)
    settings = ruleset.settings({})
    assert ruleset.table(2, settings).runner.compile() is not None
    assert rows(ruleset, 2) == rows(loaded(path), 2, plain=True)
    built = standalone(ruleset, 2, settings, ["random"])
    assert len(built.manifest["seats"]) == number + 2


@pytest.mark.parametrize("number", [20, 40])
def test_many_seats_see_what_they_may(tmp_path: Path, number: int) -> None:
    rl = pytest.importorskip("interpreter.rl", reason="needs NumPy", exc_type=ImportError)
    path = str(with_seats(tmp_path, number))
    module, plain = rl.make(path, 2, 2, seed=1), rl.make(path, 2, 2, seed=1, plain=True)
    assert module.is_compiled
    for seat in (0, 1, 5, 31, 32, 33, number + 1):
        if seat < number + 2:
            assert module.observe(0, seat) == plain.observe(0, seat)


def rules_of_seats(number: int) -> str:
    """So many standing rules for each seat."""
    rule = "  r{}:\n    for: 'who in seats where who.score == {}'\n    does: who.score += 2\n"
    return "standing:\n" + "".join(rule.format(i, i + 3) for i in range(number))


def test_standing_rules_of_many_seats_share_a_watch(tmp_path: Path) -> None:
    """Forty rules for each of two seats: as many as there is room for have a watch for each seat."""
    path = made(tmp_path, playing("who.score += x"), rules_of_seats(40))
    ruleset = loaded(path)
    runner = ruleset.table(2, {}).runner
    assert len(runner.machine.constants.watches) == MOST_WATCHES
    assert rows(ruleset, 6) == rows(loaded(path), 6, plain=True)
    assert (runner.bailouts, runner.reasons) == (0, {})
    few = loaded(made(tmp_path / "few", playing("who.score += x"), rules_of_seats(8)))
    assert len(few.table(2, {}).machine.constants.watches) == 16


def called(folder: Path, *arguments: str) -> Result:
    """Call the program, which finds the rulesets of a folder."""
    result = CliRunner(env={"REGELWERK_PATH": str(folder)}).invoke(cli, arguments, prog_name="regelwerk")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


# --- what has no room -------------------------------------------------------------------------------------------------

GAMES = ("--players", "2", "--seed", "1", "-n", "9", "--bots", "random")
TOO_LARGE: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a number": (
        lambda folder: made(folder, playing("thing += x"), state="  thing: {value: int, start: 5000000000}\n"),
        r"the number 5000000000, where a module has room for 31 bits",
    ),
    "a number in a list": (
        lambda folder: made(
            folder, playing("who.score += x"), state="  thing: {value: list of int, start: [1, 5000000000]}\n"
        ),
        r"the number 5000000000, where a module has room for 31 bits",
    ),
    "standing rules": (
        lambda folder: made(folder, playing("who.score += x"), rules_of_seats(MOST_WATCHES + 1)),
        r"65 standing rules, where a module has room for 64",
    ),
    "seats": (lambda folder: with_seats(folder, 63), r"\d\d seats, where a module has room for 64"),
    "a long list of long lists": (
        lambda folder: made(
            folder,
            playing("who.score += x"),
            state='  thing: {value: list of list of int, start: "[1 .. 9999] + [[y] for y in 1 .. 50]"}\n',
        ),
        r"a `list of list of int` of 51 items, where a module has room for \d",
    ),
}
"""Rulesets that no module has room for, and the reason."""


@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_has_no_room_is_told(tmp_path: Path, name: str) -> None:
    making, reason = TOO_LARGE[name]
    path = making(tmp_path)
    found = [d for d in validate([str(path)]).diagnostics if d.code == "W705"]
    (warning,) = found
    assert warning.severity == "warning"
    assert warning.span is not None
    assert re.search(reason, warning.message)
    with pytest.raises(RulesetError) as refused:
        standalone(loaded(path), 2, loaded(path).settings({}), ["random"])
    (error,) = refused.value.diagnostics
    assert (error.code, error.severity, error.span is not None) == ("W705", "error", True)
    for arguments in (  # `run` tells a game, which the plain form plays anyway
        ("simulate", str(path), "--players", "2", "--seed", "1", "-n", "5", "--bots", "random", "--jobs", "1"),
        ("bench", str(path), "--players", "2", "--seconds", "0.05", "--rounds", "1", "--bots", "random"),
        ("verify", str(path), "--players", "2", "--games", "1"),
    ):
        result = called(tmp_path, *arguments)
        assert result.exit_code == 0, result.output
        lines = [line for line in result.stderr.splitlines() if "the slower plain form has played" in line]
        assert len(lines) == 1, (arguments, result.stderr)
        assert "where a module has room for" in lines[0]
        assert "slower" not in result.stdout
    result = called(tmp_path, "build", str(path), str(tmp_path / "game.wasm"), "--players", "2")
    assert result.exit_code == 1
    assert "small/family.yaml:" in result.stderr
    assert "W705 no module can be built: " in result.stderr
    assert not (tmp_path / "game.wasm").exists()


def test_numbers_that_become_too_large_are_told(tmp_path: Path) -> None:
    path = made(tmp_path, playing("amount = amount * 16\nwho.score += amount mod 7", "round > 5"))
    assert rows(loaded(path), 8) == rows(loaded(path), 8, plain=True)
    assert not [d for d in validate([str(path)]).diagnostics if d.code == "W705"]
    result = called(
        tmp_path, "simulate", str(path), "--players", "2", "--seed", "1", "-n", "9", "--bots", "random", "--jobs", "1"
    )
    assert "tiny: the slower plain form has played: small/family.yaml:" in result.stderr
    assert "31 bits" in result.stderr


def test_what_other_processes_play_slowly_is_told(tmp_path: Path) -> None:
    path = TOO_LARGE["a number"][0](tmp_path)
    result = called(tmp_path, "simulate", str(path), *GAMES, "--jobs", "2")
    assert result.stderr.count("the slower plain form has played") == 1


def test_nothing_is_told_where_a_module_plays(tmp_path: Path) -> None:
    path = made(tmp_path, playing("who.score += x"))
    assert not [d for d in validate([str(path)]).diagnostics if d.code == "W705"]
    result = called(
        tmp_path, "simulate", str(path), "--players", "2", "--seed", "1", "-n", "5", "--bots", "random", "--jobs", "1"
    )
    assert result.stderr == ""


def test_a_module_grows_once_the_plain_form_has_played_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiling costs more than a few choices of the plain form."""
    path = made(tmp_path, *GROWING["a list"][:2], "  thing: {value: list of int, start: []}\n")
    ruleset = loaded(path)
    runner = ruleset.table(2, {}).runner
    monkeypatch.setattr(compiled, "PATIENCE", 100)  # from the first compilation on
    found = rows(ruleset, 3)
    assert (runner.rooms, runner.reasons) == ({}, {})
    assert runner.bailouts
    runner.patience = 0
    assert rows(ruleset, 3) == found
    assert len(runner.rooms) == 1  # it has grown once, and waits again
