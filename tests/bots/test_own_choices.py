"""What a policy chooses in the machine's own form goes a short way: it leads where any other way leads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from interpreter.bots.player import Stream
from interpreter.bots.policy import PolicyBot
from interpreter.bots.registry import policies_for
from interpreter.compiler.wasm.instance import Trap
from interpreter.engine.game import Game, Ruleset
from interpreter.kernel.effects import CHOICE
from interpreter.kernel.listeners import listen
from interpreter.lowering import constants
from interpreter.lowering.constants import RuleFailure
from tests.small import FAMILY, loaded, write

pytestmark = pytest.mark.usefixtures("at_once")

SCORED = FAMILY.replace("state:\n", "state:\n  score_all: {value: int, start: 0}\n")
GO = "policies:\n  p: {act: {prefer: go}}\n"
FORMS = pytest.mark.parametrize("plain", [True, False])


class Played:
    """A game in one of the forms, with a bot for each policy."""

    def __init__(self, ruleset: Ruleset, *, plain: bool) -> None:
        self.game: Game = ruleset.new_game(2, 1)
        self.game.runner.plain = plain
        self.bots = {name: PolicyBot(policy) for name, policy in policies_for(ruleset).items()}
        self.stream = Stream(1, "seat 0")

    def choose(self, name: str = "p") -> Any:
        assert self.game.decision is not None
        return self.bots[name].choose(self.game, self.game.decision, self.stream)

    def __getitem__(self, cell: str) -> Any:
        return self.game.state.cells[self.game.machine.constants.layout.base[cell]]

    def records(self) -> list[tuple[str, ...]]:
        return [tuple(map(str, record)) for record in self.game.state.log]

    def made(self) -> int:
        return sum(record[0] == CHOICE for record in self.game.state.log)


@contextmanager
def gives_up(game: Game) -> Iterator[None]:
    """Inside, each step of the module gives up when it has made its first choice."""
    module: Any = game.runner.module
    works = module._step

    def fails(place: int) -> int:
        module._words[module._most] = 0
        works(place)
        module._words[module._made] = 0
        raise Trap("step")

    module._step = fails
    try:
        yield
    finally:
        module._step = works


@FORMS
def test_what_fails_changes_nothing_however_often(plain: bool, tmp_path: Path) -> None:
    act = "choose act by seats[0]:\n  go:\n    amount += 1\n    if amount > 6:\n      row = [row[9]]\n"
    played = Played(loaded(write(tmp_path, act, sections=GO)), plain=plain)
    for _ in range(5):
        played.game.apply(played.choose())
    before = played.game.state.cells[:], played.records()
    for _ in range(5):
        with pytest.raises(RuleFailure, match="no item 9"):
            played.game.apply(played.choose())
        assert (played.game.state.cells, played.records()) == before
        assert len(played.game.choices) == played.made() == 5


@FORMS
def test_a_failure_names_the_line_of_the_policy(plain: bool, tmp_path: Path) -> None:
    act, policies = "choose act by seats[0]:\n  go", "policies:\n  p: {act: {prefer: 'go where row[9] == 1'}}\n"
    played = Played(loaded(write(tmp_path, act, sections=policies)), plain=plain)
    with pytest.raises(RuleFailure, match="no item 9") as failure:
        played.choose()
    (caller,) = failure.value.chain
    assert (str(caller), caller.span.text[:8]) == ("in the policy `p`", "go where")


def test_what_is_abandoned_after_a_failure_is_done_once(tmp_path: Path) -> None:
    act = """\
        choose act by seats[0]:
          go:
            score_all += 1
            if any(a in 1 .. score_all * 100 where a > 99999):
              score_all += 5
          bad:
            row = [row[9]]
    """
    policies = "policies:\n  p: {act: {prefer: go}}\n  q: {act: {prefer: bad}}\n"
    played = Played(loaded(write(tmp_path, act, sections=policies, family=SCORED)), plain=False)
    for _ in range(3):
        played.game.apply(played.choose())
    with pytest.raises(RuleFailure):
        played.game.apply(played.choose("q"))
    option = played.choose()
    before = played.game.runner.bailouts
    with gives_up(played.game):
        played.game.apply(option)
    assert played.game.runner.bailouts == before + 1
    assert played["score_all"] == len(played.game.choices) == 4
    played.game.apply(played.choose())
    assert played.game.runner.bailouts == before + 1, "the module goes on"
    assert played["score_all"] == 5


def ended(folder: Path, *, plain: bool) -> Played:
    """A game that ends while a standing rule waits."""
    act = "choose act by seats[0]:\n  go:\n    amount += 1\n    if amount > 6:\n      score_all += 1\n      end game\n"
    rule = "  odd:\n    whenever: score_all > 0 and score_all < 50\n    does: |\n      score_all += 100\n"
    played = Played(loaded(write(folder, act, sections=f"standing:\n{rule}{GO}", family=SCORED)), plain=plain)
    while played.game.decision is not None:
        before = played.game.state.cells[:]
        played.game.apply(played.choose())
    log = played.records()
    assert played.game.undo()
    assert played.game.state.cells == before
    played.game.apply(played.choose())
    assert played.records() == log
    return played


def test_the_game_may_end_while_a_rule_waits(tmp_path: Path) -> None:
    one, other = (ended(tmp_path, plain=plain) for plain in (True, False))
    assert one.records() == other.records()
    assert one.game.digest() == other.game.digest()


def test_cards_leave_a_zone_whose_order_changes_in_one_record(tmp_path: Path) -> None:
    zones = "zones: {aside: {of: plan, order: by rank_of, start: all}, deck: {of: plan, order: kept, seen: no one}"
    family = FAMILY.replace("zones: {deck: {of: plan, order: kept, seen: no one, start: all}", zones)
    assert zones in family
    rules = "rank_of(it) -> int: it.number * amount\n"
    act = "choose act by seats[0]:\n  go:\n    move take(2, aside) to deck\n"
    ruleset = loaded(write(tmp_path, act, rules, GO, family))
    forms = [Played(ruleset, plain=True), Played(loaded(ruleset.document.path), plain=False)]
    for played in forms:
        played.game.apply(played.choose())
        played.game.apply(played.choose())
    assert forms[0].records() == forms[1].records()


def test_a_policy_that_is_too_much_fails_as_in_the_plain_form(tmp_path: Path) -> None:
    act = "choose act by seats[0]:\n  go:\n    amount += 1\n  other:\n    amount += 2\n"
    sums = "count(a in n - 400 .. n where any(b in 1 .. n where a + b > n)) > 0"
    heavy = f"heavy(n) -> bool:\n  is: |\n    {sums}\n"
    policy = "policies:\n  p:\n    act:\n      prefer: |\n        go where heavy(amount + 15000)\n        other\n"
    played = Played(loaded(write(tmp_path, act, heavy, policy)), plain=False)
    with pytest.raises(RuleFailure, match="steps"):
        played.choose()


@FORMS
def test_who_listens_may_ask_for_choices_that_fail_then(plain: bool, tmp_path: Path) -> None:
    act = "if amount > 4:\n  row = [row[9]]\nchoose act by seats[0]:\n  go:\n    amount += 1\n"
    played = Played(loaded(write(tmp_path, act)), plain=plain)
    asked = []
    listen(played.game.state, lambda state, word: asked.append(played.game.last_choice))
    for _ in range(7):
        try:
            played.game.apply({"do": "go"})
        except RuleFailure:
            assert len(played.game.choices) == played.made()
    assert played.game.undo()
    assert len(played.game.choices) == played.made()


def test_choices_are_told_once_by_clones_and_their_clones(tmp_path: Path) -> None:
    act = "choose act by seats[0]:\n  go:\n    amount += 1\n"
    played = Played(loaded(write(tmp_path, act, sections=GO)), plain=False)
    game = played.game
    for expected in range(1, 5):
        game.apply(played.choose())
        for copy in (game.clone(), game.clone(log=True), game.clone().clone(), game.clone(log=True).clone()):
            assert len(copy.choices) == expected
            copy.apply({"do": "go"})
            assert len(copy.choices) == expected + 1
            assert copy.undo()
            assert len(copy.choices) == expected
    whole = game.clone(log=True)
    assert [whole.undo() for _ in range(5)] == [True] * 4 + [False]
    assert not whole.choices
    assert not game.clone().undo()


@FORMS
def test_a_log_ends_at_the_same_choice(plain: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "MAXIMUM_RECORDS", 50)
    act = "choose act by seats[0]:\n  go:\n    amount += 1\n"
    played = Played(loaded(write(tmp_path, act, sections=GO)), plain=plain)
    while len(played.game.state.log) <= 50:
        played.game.apply(played.choose())
    with pytest.raises(RuleFailure, match="records in the log"):
        played.game.apply(played.choose())


def test_a_game_in_the_module_ends_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks at its log, which has a record for each choice at least; whoever looks is told."""
    monkeypatch.setattr(constants, "MAXIMUM_RECORDS", 50)
    act = "choose act by seats[0]:\n  go:\n    amount += 1\n"
    played = Played(loaded(write(tmp_path, act, sections=GO)), plain=False)
    while (home := played.game.state.home) is not None and home.records <= 50:
        played.game.apply(played.choose())
    with pytest.raises(RuleFailure, match="records in the log"):
        played.game.apply(played.choose())
    assert 40 < played["amount"] <= 52
    with pytest.raises(RuleFailure, match="records in the log"):
        played.records()


def test_a_copy_of_a_bot_chooses_as_the_bot_does(tmp_path: Path) -> None:
    act = "choose act by seats[0]:\n  go:\n    amount += 1\n"
    played = Played(loaded(write(tmp_path, act, sections=GO)), plain=False)
    played.game.apply(played.choose())
    played.bots["p"] = deepcopy(played.bots["p"])
    played.game.apply(played.choose())
    assert played["amount"] == 3


def test_loops_of_what_is_asked_leave_nothing_for_what_is_asked_next(tmp_path: Path) -> None:
    act = """\
        choose act(richest = count(a in seats where a.score > 0)) by max(s in seats by s.score, as listed), repeatedly:
          go:
            amount += 1
          stop
    """
    path = write(tmp_path, act)
    digests = []
    for plain in (True, False):
        game = Played(loaded(path), plain=plain).game
        assert plain or game.runner.module is not None
        for _ in range(3):
            game.apply({"do": "go"})
        digests.append(game.digest())
    assert digests[0] == digests[1]
