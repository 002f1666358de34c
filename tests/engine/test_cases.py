"""The hard rules as small rulesets of their own: what they must accept, refuse, change and show.

`tests/cases` is a folder of rulesets. Beside each family stands its `cases.yaml`: each case names a ruleset, what
chance brings, and a list of steps, of which each makes a choice or says what is true by then. `refused.yaml` has texts
that the checker must refuse. Below stand properties that hold for every game, tried on random plays of all these
rulesets and of the shipped ones.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import yaml

from interpreter.base.diagnostics import RulesetError, render
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.views import board_of
from interpreter.hidden.sight import may_see
from interpreter.kernel.state import State
from interpreter.language.check_expressions import Expressions
from interpreter.language.parse import parse_condition
from interpreter.language.resolve import Names
from interpreter.language.scope import Frame
from interpreter.loading.load import find, load
from interpreter.loading.pipeline import examine
from interpreter.lowering.constants import RuleFailure
from interpreter.reading.compose import compose
from tests.compiler.pair import FOLDER, SHELF
from tests.support import rule_text

pytestmark = pytest.mark.usefixtures("at_once")

Case = dict[str, Any]


def all_cases() -> list[Any]:
    found = []
    for path in sorted(FOLDER.glob("*/cases.yaml")):
        for case in yaml.safe_load(path.read_text(encoding="utf-8")):
            found.append(pytest.param(case, id=f"{path.parent.name}: {case['name']}"))
    return found


@pytest.mark.parametrize("case", all_cases())
def test_case(case: Case) -> None:
    overlays = case.get("overlays", [])
    if "errors" in case:
        with pytest.raises(RulesetError) as wrong:
            load(case["ruleset"], overlays, SHELF)
        assert [d.code for d in wrong.value.diagnostics] == case["errors"], str(wrong.value)
        assert case.get("says", "") in str(wrong.value)
        return
    ruleset = load(case["ruleset"], overlays, SHELF)
    for rule, files in case.get("layers", {}).items():
        assert [layer.file for layer in ruleset.model.rules[rule].layers] == files
    if "no_game" in case:
        with pytest.raises(ValueError, match=".") as refused:
            ruleset.new_game(case["players"], 0, case.get("set"), case.get("chance"))
        assert str(refused.value) == case["no_game"]
        return
    if "fails" in case:
        with pytest.raises(RuleFailure) as failed:
            ruleset.new_game(case["players"], 0, case.get("set"), case.get("chance"))
        assert case["fails"] in str(failed.value)
        return
    game = ruleset.new_game(case["players"], case.get("seed", 0), case.get("set"), case.get("chance"))
    for number, step in enumerate(case.get("play", ())):
        try:
            take(game, step)
            assert game.check() == []
        except Exception as error:
            error.add_note(f"step {number + 1} of `{case['name']}`: {step}")
            raise


def take(game: Game, step: dict[str, Any]) -> None:
    """One step of a case: a choice, or what must be true."""
    step = dict(step)
    match next(iter(step)):
        case "by":
            assert game.decision is not None
            assert game.decision.actor == step.pop("by"), game.decision
            game.apply(step)
        case "refused":
            refused(game, **step)
        case "stops":
            stopped(game, step["stops"], step["says"])
        case "asked":
            asked(game, **step)
        case "holds":
            for text in step["holds"].splitlines():
                assert holds(game, text), f"`{text}` does not hold"
        case "log":
            said(game, **step)
        case "view":
            shown = game.view(step.get("player"))
            for key in step["view"]:
                assert shown[key] == step["view"][key], shown
        case "board":
            board = next(board for board in game.ruleset.model.boards if board.name == step["board"])
            table = board_of(game.table, game.state, board, player=step.get("player"))
            assert (table.text, [list(row) for row in table.rows]) == (step.get("says", ""), step.get("rows", []))
        case "marks":
            rest = iter([line.name for line in game.log() if line.kind == "mark"])
            assert all(mark in rest for mark in step["marks"]), [line.name for line in game.log()]
        case "undo":
            for _ in range(step["undo"]):
                assert game.undo()
        case "places":
            assert game.result is not None
            assert list(game.result.places) == step["places"], game.result
        case other:
            raise AssertionError(other)


def refused(
    game: Game, refused: dict[str, Any], rule: str | None = None, cites: list[str] | None = None, says: str = ""
) -> None:
    before = game.digest()
    with pytest.raises(IllegalMove) as found:
        game.apply(refused)
    assert rule is None or found.value.rule == rule, found.value
    assert cites is None or list(found.value.cites) == cites, found.value
    assert says in str(found.value)
    assert not game.accepts(refused)
    assert game.digest() == before


def stopped(game: Game, choice: dict[str, Any], says: str) -> None:
    """A choice that is legal, and after which a rule cannot go on."""
    before = game.digest()
    with pytest.raises(RuleFailure) as found:
        game.apply(choice)
    assert says in str(found.value)
    assert game.digest() == before


def asked(
    game: Game,
    asked: str | None,
    by: int | None = None,
    context: dict[str, Any] | None = None,
    options: list[str] | None = None,
) -> None:
    decision = game.decision
    if asked is None:
        assert decision is None
        return
    assert decision is not None
    assert decision.name == asked
    assert by is None or decision.actor == by
    assert context is None or decision.context == context, decision.context
    assert options is None or [str(option) for option in decision.options] == options, list(map(str, decision.options))


def holds(game: Game, text: str) -> Any:
    """Whether a condition in the rule language holds in the present state."""
    tree, wrong = parse_condition(rule_text(text))
    assert tree is not None, wrong
    frame, model = Frame(), game.ruleset.model
    checked = Expressions(Names(model), frame, wrong.append).condition(tree)
    assert not wrong, wrong
    return game.machine.expressions.compile(checked)(game.state, [None] * frame.size)


def said(
    game: Game,
    log: list[str],
    player: int | None = None,
    language: str = "en",
    never: list[str] | None = None,
) -> None:
    """These lines stand in the log, in this order; no line has any of the other texts in it."""
    lines = [line.text for line in game.log(player, language)]
    rest = iter(lines)
    for text in log:
        assert any(line == text for line in rest), (text, lines)
    for text in never or ():
        assert not any(text in line for line in lines), (text, lines)


BARE = {
    "cards": """cards:
  thing:
    key: number
    has: {number: int, next: int?}
    is: |
      number | next
      1      | -
  blank: 2
""",
    "zones": "zones: {heap: {of: card, order: free, start: all}}\n",
    "seats": "seats: {roles: {person: {counts: yes}}}\n",
    "state": "state: {n: {value: int, start: 0}}\n",
    "round": "round: [playing]\n",
    "setup": "setup: act\n",
    "result": "result: {rank: [n]}\n",
}
RULES = """rules:
  act: {does: n = 1}
  acting: {does: act()}
  grand() -> bool: n == 1
  playing:
    does: |
"""
TEXTS = yaml.safe_load((FOLDER / "refused.yaml").read_text(encoding="utf-8"))


def bare(text: dict[str, Any], folder: Path) -> Path:
    """A family of hardly anything, with what a text declares and its procedure `playing`."""
    declared = text["declares"]
    sections = [section for name, section in BARE.items() if f"\n{name}:" not in f"\n{declared}"]
    path = folder / "bare" / "bare.yaml"
    path.parent.mkdir()
    family = "".join(["language: 2\nfamily: bare\n", *sections, declared, RULES, indent(text["playing"], "      ")])
    (path.parent / "family.yaml").write_text(family, encoding="utf-8")
    path.write_text("language: 2\nruleset: bare\ntitle: Bare\nfamily: bare\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("text", TEXTS, ids=[text["name"] for text in TEXTS])
def test_what_the_checker_says(text: dict[str, Any], tmp_path: Path) -> None:
    shelf, document, _ = find(bare(text, tmp_path))
    assert document is not None
    found = [d for d in examine(shelf, document).diagnostics if d.severity == "error"]
    assert [d.code for d in found] == text["errors"], "\n".join(map(render, found))


# --- what holds for every game ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """A ruleset with its overlays, and who sits there."""

    ruleset: str
    overlays: tuple[str, ...]
    players: int

    def load(self) -> Ruleset:
        """The ruleset, with tables and modules of its own."""
        return load(self.ruleset, self.overlays, SHELF)

    @cached_property
    def loaded(self) -> Ruleset:
        """The ruleset that most tests share."""
        return self.load()

    def __str__(self) -> str:
        return "+".join([self.ruleset, *(o.partition("/")[2] for o in self.overlays)]) + f"-{self.players}"


def is_large(ruleset: str) -> bool:
    """Games of it take long."""
    return ruleset == "germany-2018"


def all_tables() -> Iterator[Table]:
    pairs: dict[tuple[str, tuple[str, ...]], None] = {}
    for path in sorted(FOLDER.glob("*/cases.yaml")):
        for case in yaml.safe_load(path.read_text(encoding="utf-8")):
            stops = any("stops" in step for step in case.get("play", ()))
            if "errors" not in case and "fails" not in case and not stops:
                pairs[case["ruleset"], tuple(case.get("overlays", ()))] = None
    pairs["germany-2018", ()] = None
    if "goofspiel" in SHELF.ids("ruleset"):
        pairs["goofspiel", ()] = None
    for ruleset, overlays in pairs:
        _, document, _ = find(ruleset, SHELF)
        assert document is not None
        composition, _ = compose(SHELF, document, overlays)  # every process does it, so nothing is loaded
        assert composition is not None
        allowed = composition.players
        for players in sorted({allowed.low, min(allowed.high, allowed.low + 3)}):
            yield Table(ruleset, overlays, players)


@pytest.fixture(scope="module", params=list(all_tables()), ids=str)
def table(request: pytest.FixtureRequest) -> Table:
    """Each table in turn, for all the tests below, so that it is set once."""
    taken: Table = request.param
    return replace(taken)


def seeds(table: Table) -> range:
    return range(1 if is_large(table.ruleset) else 3)


def random_play(game: Game, rng: random.Random, most: int = 5_000) -> Iterator[Game]:
    """The game before each random choice, until it is over."""
    made = 0
    while (decision := game.decision) is not None:
        assert made < most, "this game does not end"
        yield game
        assert game.decision is decision
        options = decision.options
        game.apply(options[rng.randrange(len(options))])
        made += 1


@pytest.mark.slow
def test_random_plays_end_with_a_result_and_lose_nothing(table: Table) -> None:
    for seed in seeds(table):
        game = table.loaded.new_game(table.players, seed)
        assert game.check() == []
        for _ in random_play(game, random.Random(seed)):
            assert game.check() == []
        assert game.check() == []
        assert game.result is not None
        assert game.result.winners


def test_every_option_offered_is_accepted_and_can_be_applied(table: Table) -> None:
    rng = random.Random(1)
    for game in random_play(table.loaded.new_game(table.players, 1), rng):
        assert game.decision is not None
        options = list(game.decision.options)
        assert options
        for option in rng.sample(options, min(4, len(options))):
            assert game.accepts(option)
            assert game.accepts(option.as_dict())
            assert game.accepts(json.loads(json.dumps(option.as_dict())))
            copy = game.clone()
            copy.apply(option.as_dict())
            assert copy.check() == []


def test_a_clone_plays_on_identically_and_undo_restores_the_state(table: Table) -> None:
    rng = random.Random(2)
    for game in random_play(table.loaded.new_game(table.players, 2), rng):
        assert game.decision is not None
        before = game.digest()
        copy = game.clone()
        assert copy.digest() == before
        assert copy.decision is not None
        assert copy.decision.name == game.decision.name
        option = rng.choice(game.decision.options)
        copy.apply(option)
        after = copy.digest()
        assert copy.undo()
        assert copy.digest() == before
        assert not copy.undo()
        copy.apply(option)
        assert copy.digest() == after
        assert game.digest() == before


def test_undo_leads_back_to_the_start(table: Table) -> None:
    game = table.loaded.new_game(table.players, 3)
    digests = [game.digest() for _ in random_play(game, random.Random(3))]
    for digest in reversed(digests):
        assert game.undo()
        assert game.digest() == digest
    assert not game.undo()


def test_a_save_is_the_same_game_and_plays_on_identically(table: Table) -> None:
    ruleset = table.loaded
    rng = random.Random(4)
    for number, game in enumerate(random_play(ruleset.new_game(table.players, 4), rng)):
        if rng.random() > 8 / (8 + number):  # a long game is costly to load
            continue
        loaded = ruleset.load_game(game.to_json())
        assert loaded.digest() == game.digest()
        assert loaded.choices == game.choices
        assert loaded.to_json() == game.to_json()
        assert game.decision is not None
        assert loaded.decision is not None
        assert list(loaded.decision.options) == list(game.decision.options)
        option = rng.choice(game.decision.options)
        copy = game.clone()
        copy.apply(option)
        loaded.apply(option)
        assert loaded.digest() == copy.digest()


def test_the_same_seed_and_choices_are_the_same_game(table: Table) -> None:
    games = [ruleset.new_game(table.players, 5) for ruleset in (table.loaded, table.load())]
    plays = [random_play(game, random.Random(5)) for game in games]
    for one, other in zip(*plays, strict=True):
        assert one.digest() == other.digest()
    assert games[0].digest() == games[1].digest()
    assert [line.text for line in games[0].log()] == [line.text for line in games[1].log()]
    again = table.loaded.new_game(table.players, 5)
    for _, choice in games[0].choices:
        again.apply(choice)
    assert again.digest() == games[0].digest()


def test_what_a_player_sees_does_not_depend_on_hidden_cards(table: Table) -> None:
    rng = random.Random(6)
    for game in random_play(table.loaded.new_game(table.players, 6), rng):
        for player in range(table.players):
            swapped = with_hidden_cards_swapped(game, player, rng)
            if swapped is not None:
                assert swapped.view(player) == game.view(player)


def with_hidden_cards_swapped(game: Game, player: int, rng: random.Random) -> Game | None:
    """The game with two cards of a kind in each other's place, where the player may see neither."""
    constants = game.machine.constants
    layout, shapes = constants.layout, constants.effects.zones
    groups = game.ruleset.model.groups

    def is_hidden(zone: int) -> bool:
        group = groups[layout.owner_of(zone)[0]]
        return not may_see(constants.seats_of(game.state, zone), player) and group.top_shows is None

    state = game.state
    zones = [zone for zone, shape in shapes.items() if not shape.piles and is_hidden(zone)]
    hidden = [card for zone in zones for card in state.cells[zone]]
    if len(hidden) < 2:
        return None
    one, other = rng.sample(hidden, 2)
    if constants.card_kind[one] != constants.card_kind[other]:
        return None
    copy = game.clone()
    swap(copy.state, zones, layout.base["location"], one, other)
    assert copy.check() == []
    return copy


def swap(state: State, zones: list[int], location: int, one: int, other: int) -> None:
    names = {one: other, other: one}
    for zone in zones:
        state.cells[zone] = tuple(names.get(card, card) for card in state.cells[zone])
    places = state.cells[location + one], state.cells[location + other]
    state.cells[location + other], state.cells[location + one] = places


def test_the_check_tells_what_is_wrong() -> None:
    game = load("auction", shelf=SHELF).new_game(3)
    base = game.machine.constants.layout.base
    game.state.cells[base["bank"]] += 1
    game.state.cells[base["purse"]] = -1
    game.state.cells[base["yard"]] += game.state.cells[base["shed"]][:1]
    card = game.state.cells[base["shed"]][0]
    assert game.check() == [
        "`purse` of player 1 holds -1 of a kind of coin",
        "there are [45] coin, not [60]",
        f"card {card} lies in `shed`, `yard`",
    ]
