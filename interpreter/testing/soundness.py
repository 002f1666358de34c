"""Soundness: invariants of every game of every ruleset, whatever its rules say.

Takes a game at a decision and a choice; returns troubles: failing rules, decisions without options, endless phases,
broken totals, refused options, leaks of hidden information, copies and compiled forms that differ. Callers choose the
games (:mod:`interpreter.testing.verify`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from interpreter.base.plain_data import Json
from interpreter.base.source import Span
from interpreter.engine.decision import Decision, Option, choice_text
from interpreter.engine.determinization import Memory, otherwise, uppermost
from interpreter.engine.game import Game
from interpreter.engine.log_records import Choice, Event, Mark, read, reveals
from interpreter.engine.observation import Draw, known_apart, shown, shown_apart
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.restore import load_game
from interpreter.engine.views import lines_since
from interpreter.kernel.chance import Draws
from interpreter.kernel.effects import changes
from interpreter.kernel.state import Record
from interpreter.lowering.constants import RuleFailure

__all__ = ["KINDS", "Examiner", "Trouble", "drawing", "some_option", "trouble_of"]

KINDS = {
    "failure": "a rule fails",
    "dead end": "a player must choose, but has no option",
    "endless": "a choice, a phase or the game never ends",
    "leak": "a player learns hidden information",
    "totals": "cards, tokens or pieces are lost or created",
    "options": "an offered choice is refused, or one that is not offered is accepted",
    "copies": "a clone, a loaded save or an undone choice differs from the original game",
    "forms": "the plain form of the rules and the module differ",
}
"""The kinds of trouble. All but the first four are faults of the interpreter, not of a ruleset."""

PHASE = 1_000
"""Number of choices after which a phase counts as endless."""
ROUNDS = 500
"""Number of rounds after which a game counts as endless."""
READ = 400
"""Largest number of options of a decision that are examined."""
TRIED = 6
"""Number of random options tried."""
OFTEN = 12
"""Number of checks of one kind of moment after which the interval between checks grows by its initial length."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A fault of a game. ``choice`` is the one that shows it, unless it was applied."""

    kind: str
    message: str
    span: Span | None = None
    notes: tuple[str, ...] = ()
    choice: Mapping[str, Json] | None = field(default=None, compare=False)

    @property
    def key(self) -> tuple[str, object]:
        """Return the identity of a trouble: its kind, with the position or else the message without its numbers."""
        place = (self.span.file.name, self.span.start) if self.span is not None else None
        return self.kind, place or re.sub(r"\d+", "#", self.message)

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


def drawing(seed: int, name: str) -> Draw:
    """Return a random number generator for a seed and a name, independent of the games' randomness."""
    return Draws(seed, f"examine {name}").below


@dataclass
class Examiner:
    """Examines one game, decision by decision. ``draw`` picks what is tried. Unless ``thorough``, it also spaces out
    the slow checks: the first moment of each kind is always checked, later ones the less often the more of that kind
    were ``looked`` at, in this and earlier games. With ``compares``, each choice is also applied in the other form of
    the rules (plain or module)."""

    game: Game
    draw: Draw
    thorough: bool = False
    compares: bool = True
    looked: Counter[tuple[object, ...]] = field(default_factory=Counter)
    """Number of checks by check and kind of moment. A kind is the choice made and the events it led to."""
    phases: int = 0
    """Number of phases that have started."""
    closely: int = 0
    """Number of choices that had at least one slow check."""
    _kind: tuple[object, ...] = ()
    _close: bool = False
    _phase: int = 0
    _memories: dict[int, Memory] = field(default_factory=dict)

    def look(self) -> Iterator[Trouble]:
        """Check the current state of the game."""
        game = self.game
        yield from (Trouble("totals", line, _ask_span(game)) for line in game.check())
        if self._now("shows", 6):
            for _ in self._times():
                yield from self._views()
        if self._now("copies", 16):
            yield from self._copies()
        decision = game.decision
        if decision is None:
            if game.result is None:
                yield Trouble("dead end", "the game is over, but it has no result")
            return
        if self._now("options", 3):
            yield from self._options(decision)

    def make(self, option: Option) -> Iterator[Trouble]:
        """Apply a choice and check its effects. The game can continue unless a trouble is a failure."""
        game = self.game
        before, start = game.clone(), len(game.state.log)
        decision = game.decision
        assert decision is not None
        ask_span = decision.site.ask.span
        try:
            game.apply(option)
        except RuleFailure as failure:
            yield trouble_of(failure, option.as_dict())
            return
        happened = set()
        for record in game.state.log[start:]:
            match read(record):
                case Event(name=word) | Mark(word=word):
                    happened.add(word)
        self._kind, self._close = (decision.name, option.do, frozenset(happened)), False
        yield from self._endless(start, ask_span, option)
        if self.compares and self._now("forms", 4):
            yield from self._other_form(before, option, start)
        if self._now("undo", 6):
            yield from self._undo(before, option)
        if not game.is_over and self._now("told", 2):
            for _ in self._times():
                yield from self._reveals(before, option, start)

    def _memory(self, player: int) -> Memory:
        """Return a player's knowledge of hidden cards."""
        memory = self._memories.get(player)
        if memory is None:
            memory = self._memories[player] = Memory(self.game, player)
        else:
            memory.learn(self.game)
        return memory

    def _players(self) -> list[int]:
        seats = self.game.machine.constants.seats
        return list(seats) if self.thorough else [self.draw(len(seats))]

    def _times(self) -> range:
        """Return the number of repetitions: checks that depend on random deals run more than once."""
        return range(3 if self.thorough else 1)

    def _now(self, check: str, seldom: int) -> bool:
        """Return whether to run a slow check now. ``seldom`` is its initial average interval."""
        if self.thorough:
            return True
        count = self.looked[(check, *self._kind)]
        if count and self.draw(seldom * (1 + count // OFTEN)):
            return False
        self.looked[(check, *self._kind)] = count + 1
        self.closely += not self._close
        self._close = True
        return True

    # --- current state

    def _views(self) -> Iterator[Trouble]:
        """Check that every player's view can be built and does not depend on hidden information."""
        game = self.game
        try:
            for player in self._players():
                shown(game, player)
                other = otherwise(game, player, self.draw, memory=self._memory(player))
                apart = known_apart(game, other, player)
                if apart is not None:
                    what, actual, alternative = apart
                    message = f"what player {player + 1} knows depends on hidden information: {_what(what)}"
                    yield Trouble("leak", message, _ask_span(game), _apart(actual, alternative))
        except RuleFailure as failure:
            yield trouble_of(failure)

    def _copies(self) -> Iterator[Trouble]:
        game = self.game
        if game.clone().digest() != game.digest():
            yield Trouble("copies", "a clone differs from its game", _ask_span(game))
        if self.thorough or not self._now("saves", 8) or "given" in game.ruleset.program.reach.procedures:
            return
        try:
            same = load_game(game.ruleset, game.to_json()).digest() == game.digest()
            if not same:
                yield Trouble("copies", "a loaded save differs from its game", _ask_span(game))
        except ValueError as error:
            yield Trouble("copies", f"a saved game cannot be loaded: {error}", _ask_span(game))

    def _options(self, decision: Decision) -> Iterator[Trouble]:
        """Check that every offered option is accepted and can be applied, and that others are refused."""
        game = self.game
        try:
            options = list(islice(decision.options, READ))
        except RuleFailure as failure:
            yield trouble_of(failure)
            return
        if not options:
            yield Trouble("dead end", f"`{decision.name}` leaves no choice", decision.site.ask.span)
            return
        for option in self._some(options):
            yield from self._offered(option)
        if len(options) < READ:
            known = {_words(option.as_dict()) for option in options}
            for choice in self._mixed(options):
                if _words(choice) not in known and game.accepts(choice):
                    message = f"`{choice_text(choice)}` is accepted, but not offered"
                    yield Trouble("options", message, decision.site.ask.span, choice=choice)

    def _some(self, options: list[Option]) -> list[Option]:
        """Return the first and last option of each alternative, and some random ones."""
        if len(options) <= TRIED or self.thorough:
            return options[:READ]
        ends: dict[str, list[Option]] = {}
        for option in options:
            ends.setdefault(option.do, []).append(option)
        outer = [option for same in ends.values() for option in (same[0], same[-1])]
        return [*outer, *(options[self.draw(len(options))] for _ in range(TRIED))][: 2 * TRIED]

    def _offered(self, option: Option) -> Iterator[Trouble]:
        game, choice = self.game, option.as_dict()
        try:
            game.offered(choice)
        except IllegalMove as error:
            yield Trouble("options", f"`{option}` is offered, but {error}", _ask_span(game), choice=choice)
            return
        except RuleFailure as failure:
            yield trouble_of(failure, choice)
            return
        try:
            game.clone().apply(option)
        except RuleFailure as failure:
            yield trouble_of(failure, choice)

    def _mixed(self, options: list[Option]) -> Iterator[dict[str, Json]]:
        """Yield choices with a value of another option, or with a number next to an offered one."""
        for _ in range(TRIED):
            base = options[self.draw(len(options))]
            choice = base.as_dict()
            names = [name for name, _ in base.values]
            if not names:
                continue
            name = names[self.draw(len(names))]
            others = [option[name] for option in options if option.do == base.do]
            value = others[self.draw(len(others))]
            if isinstance(value, int) and not isinstance(value, bool):
                value += self.draw(3) - 1
            try:
                self.game.accepts({**choice, name: value})
            except RuleFailure:  # a rule cannot cope with the value: it counts as refused
                continue
            yield {**choice, name: value}

    # --- after a choice

    def _endless(self, start: int, ask_span: Span, option: Option) -> Iterator[Trouble]:
        game = self.game
        marks = (mark for record in game.state.log[start:] if isinstance(mark := read(record), Mark))
        started = any(mark.begins for mark in marks)
        self.phases += started
        self._phase = 0 if started else self._phase + 1
        if self._phase >= PHASE:
            phase = game.ruleset.model.phases[game.state.cells[game.machine.constants.layout.base["phase"]]]
            yield Trouble("endless", f"the phase `{phase}` goes on after {PHASE:,} choices", ask_span)
        if game.state.cells[game.machine.constants.layout.base["round"]] > ROUNDS:
            yield Trouble("endless", f"the game goes on after {ROUNDS} rounds")

    def _other_form(self, before: Game, option: Option, start: int) -> Iterator[Trouble]:
        """Check that the choice leads to the same state and log records in the other form."""
        machine, other = self.game.machine, before.clone()
        was = machine.plain
        if not was and machine.ready() is None:
            return
        bailouts = machine.bailouts
        machine.plain = not was
        try:
            other.apply(option.as_dict())
            same = other.digest() == self.game.digest() and _records(other, 0) == _records(self.game, start)
        except (RuleFailure, IllegalMove):
            same = False
        finally:
            machine.plain = was
        if not same or machine.bailouts != bailouts:
            yield Trouble("forms", "the plain form and the module give different results", option_span(option))

    def _undo(self, before: Game, option: Option) -> Iterator[Trouble]:
        game = before.clone()
        game.apply(option.as_dict())
        game.undo()
        if game.digest() != before.digest():
            yield Trouble("copies", f"undoing `{option}` does not restore the game", option_span(option))

    def _reveals(self, before: Game, option: Option, start: int) -> Iterator[Trouble]:
        """Check that what a choice reveals depends neither on hidden information (cards that moved excepted) nor on
        sealed choices. What the course of the game gives away, such as the next player to decide, is not checked."""
        game = self.game
        log = game.state.log[start:]
        if reveals(log):
            return
        layout = game.machine.constants.layout
        first, count = layout.base.get("location", 0), layout.count("location") if "location" in layout.base else 0
        chance = layout.base["chance"]
        changed = [cell for record in log for cell, _ in changes(record)]
        mixed = any(chance <= cell < chance + layout.count("chance") for cell in changed)
        moved = {cell - first for cell in changed if first <= cell < first + count}
        backs = set(uppermost(game))
        decision = before.decision
        assert decision is not None
        for player in self._players():
            others = []
            if not mixed:
                other = otherwise(before, player, self.draw, moved, self._memory(player), backs)
                if other.state.cells != before.state.cells:
                    others.append((other, option))
            if decision.site.ask.sealed and player != decision.actor:
                alternatives = list(islice(decision.options, READ))
                others.append((before.clone(), alternatives[self.draw(len(alternatives))]))
            for other, choice in others:
                yield from self._tells_alike(player, other, choice, option, start)

    def _tells_alike(self, player: int, other: Game, choice: Option, made: Option, start: int) -> Iterator[Trouble]:
        try:
            other.apply(choice.as_dict())
            if self._asks(other) != self._asks(self.game):
                return
            actual, alternative = (
                list(lines_since(game.table, game.state, since, player))
                for game, since in ((self.game, start), (other, 0))
            )
        except (IllegalMove, RuleFailure):  # hidden information may decide legality: no message leaks it
            return
        if [(a.kind, a.name) for a in actual] != [(b.kind, b.name) for b in alternative]:
            return
        for a, b in zip(actual, alternative, strict=True):
            if (a.text, a.values) != (b.text, b.values):
                message = f"`{a.name}` tells player {player + 1} hidden information"
                notes = (f"shown: {a.text or a.values}", f"with other hidden information: {b.text or b.values}")
                events = (event for r in self.game.state.log[start:] if isinstance(event := read(r), Event))
                span = next((event.site for event in events if event.name == a.name), None)
                yield Trouble("leak", message, span or option_span(made), notes)
                return
        apart = shown_apart(self.game, other, player)
        if apart is not None:
            what, seen, would = apart
            message = f"what player {player + 1} sees depends on hidden information: {_what(what)}"
            yield Trouble("leak", message, option_span(made), _apart(seen, would))

    @staticmethod
    def _asks(game: Game) -> tuple[str, int] | None:
        return None if game.decision is None else (game.decision.name, game.decision.actor)


def some_option(decision: Decision, draw: Draw) -> Option:
    """Return a random option. Every alternative is equally likely, however many options it has."""
    alternatives: dict[str, list[Option]] = {}
    for option in islice(decision.options, READ):
        alternatives.setdefault(option.do, []).append(option)
    names = list(alternatives)
    options = alternatives[names[draw(len(names))]]
    return options[draw(len(options))]


def option_span(option: Option) -> Span | None:
    """Return the position in the rules that offers an option."""
    return option.site.core.span if option.site is not None else None


def trouble_of(failure: RuleFailure, choice: Mapping[str, Json] | None = None) -> Trouble:
    """Return the trouble that describes a rule failure."""
    kind = "failure"
    if failure.message.endswith("leaves no choice"):
        kind = "dead end"
    elif failure.code == "R002":
        kind = "endless"
    chain = tuple(f"{caller} ({caller.span})" for caller in failure.chain)
    return Trouble(kind, failure.message, failure.span, chain, choice)


def _ask_span(game: Game) -> Span | None:
    return game.decision.site.ask.span if game.decision is not None else None


def _records(game: Game, start: int) -> list[Record]:
    """Return the log from a record on, with comparable choices: each form has its own sites."""
    return [
        (choice.option.core, *choice[2:]) if isinstance(choice := read(record), Choice) else record
        for record in game.state.log[start:]
    ]


def _words(choice: Mapping[str, Json]) -> str:
    return repr(sorted(choice.items(), key=lambda pair: pair[0]))


def _what(what: str) -> str:
    return {"view": "the view", "boards": "a board"}.get(what, f"the {what}")


def _apart(left: object, right: object) -> tuple[str, ...]:
    """Return notes on the first difference of two nested values."""
    while True:
        if isinstance(left, dict) and isinstance(right, dict) and left.keys() == right.keys():
            key = next(key for key in left if left[key] != right[key])
            left, right = left[key], right[key]
        elif isinstance(left, list | tuple) and isinstance(right, list | tuple) and len(left) == len(right):
            left, right = next((a, b) for a, b in zip(left, right, strict=True) if a != b)
        else:
            return (f"seen: {left}", f"with other hidden information: {right}")
