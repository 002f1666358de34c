"""Whether a game is sound: what must hold of every game of every ruleset, whatever its rules say.

In goes a game at a decision and a choice, out come troubles: rules that fail, decisions without a choice, phases that
do not end, totals that are broken, options that are refused, what is told though it is hidden, copies and forms that
differ. Which games are looked at is left to others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from interpreter.base.plain_data import Json
from interpreter.base.source import Span
from interpreter.compiler.constants import RuleFailure
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

__all__ = ["KINDS", "Examiner", "Trouble", "drawing", "some_option", "trouble_of"]

KINDS = {
    "failure": "a rule fails",
    "dead end": "somebody must choose, and can not",
    "endless": "a choice, a phase or the game goes on for ever",
    "leak": "a player is told what is hidden",
    "totals": "cards, tokens or pieces are lost or made",
    "options": "what is offered is refused, or what is not offered is accepted",
    "copies": "a clone, a save or an undone choice is not the same game",
    "forms": "the plain form of the rules and the module differ",
}
"""The kinds of trouble. All but the first four are faults of the interpreter, not of a ruleset."""

PHASE = 1_000
"""So many choices make a phase endless."""
ROUNDS = 500
"""So many rounds make a game endless."""
READ = 400
"""So many options of a decision are read."""
TRIED = 6
"""So many of them are tried."""
OFTEN = 12
"""After so many looks at moments of one kind every look is as much rarer as it was before all looks."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that is wrong with a game. ``choice`` is the one that shows it, where it was not made."""

    kind: str
    message: str
    span: Span | None = None
    notes: tuple[str, ...] = ()
    choice: Mapping[str, Json] | None = field(default=None, compare=False)

    @property
    def key(self) -> tuple[str, object]:
        """Return the identity of a trouble: its kind, with the position or the words without numbers."""
        place = (self.span.file.name, self.span.start) if self.span is not None else None
        return self.kind, place or re.sub(r"\d+", "#", self.message)

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


def drawing(seed: int, name: str) -> Draw:
    """Numbers by chance that follow from a seed and a name, apart from the chance of games."""
    return Draws(seed, f"examine {name}").below


@dataclass
class Examiner:
    """Looks at one game from decision to decision. ``draw`` decides what is tried, and, where it is not ``thorough``,
    how often what takes long is done: at once where a moment is the first of its kind, and the more seldom the more
    often moments of its kind were ``looked`` at, in this game and those before. ``compares``: choices are made in the
    other form of the rules too."""

    game: Game
    draw: Draw
    thorough: bool = False
    compares: bool = True
    looked: Counter[tuple[object, ...]] = field(default_factory=Counter)
    """For each way to look and kind of moment the number of looks. A kind is what was chosen and what that led to."""
    phases: int = 0
    """So many phases began while it looked on."""
    closely: int = 0
    """So many choices were looked at in some way that takes long."""
    _kind: tuple[object, ...] = ()
    _close: bool = False
    _phase: int = 0
    _memories: dict[int, Memory] = field(default_factory=dict)

    def look(self) -> Iterator[Trouble]:
        """Check the state of the game."""
        game = self.game
        yield from (Trouble("totals", line, _asking(game)) for line in game.check())
        if self._now("shows", 6):
            for _ in self._times():
                yield from self._shows()
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
        """Makes a choice, and tells what is wrong with that. The game goes on where no trouble was a failure."""
        game = self.game
        before, start = game.clone(), len(game.state.log)
        decision = game.decision
        assert decision is not None
        asked = decision.site.ask.span
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
        yield from self._goes_on(start, asked, option)
        if self.compares and self._now("forms", 4):
            yield from self._other_form(before, option, start)
        if self._now("undo", 6):
            yield from self._undone(before, option)
        if not game.is_over and self._now("told", 2):
            for _ in self._times():
                yield from self._told(before, option, start)

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

    def _now(self, way: str, seldom: int) -> bool:
        """Return whether to look in a way now."""
        if self.thorough:
            return True
        looked = self.looked[(way, *self._kind)]
        if looked and self.draw(seldom * (1 + looked // OFTEN)):
            return False
        self.looked[(way, *self._kind)] = looked + 1
        self.closely += not self._close
        self._close = True
        return True

    # --- as it stands

    def _shows(self) -> Iterator[Trouble]:
        """Check that the view of every player works, and does not depend on hidden things."""
        game = self.game
        try:
            for player in self._players():
                shown(game, player)
                other = otherwise(game, player, self.draw, memory=self._memory(player))
                apart = known_apart(game, other, player)
                if apart is not None:
                    what, mine, theirs = apart
                    message = f"what player {player + 1} knows depends on what is hidden: {_what(what)}"
                    yield Trouble("leak", message, _asking(game), _apart(mine, theirs))
        except RuleFailure as failure:
            yield trouble_of(failure)

    def _copies(self) -> Iterator[Trouble]:
        game = self.game
        if game.clone().digest() != game.digest():
            yield Trouble("copies", "a clone is another game", _asking(game))
        if self.thorough or not self._now("saves", 8) or "given" in game.ruleset.program.reach.procedures:
            return
        try:
            same = load_game(game.ruleset, game.to_json()).digest() == game.digest()
            if not same:
                yield Trouble("copies", "a saved game that is loaded is another one", _asking(game))
        except ValueError as error:
            yield Trouble("copies", f"a saved game cannot be loaded: {error}", _asking(game))

    def _options(self, decision: Decision) -> Iterator[Trouble]:
        """Check that every offered option is accepted and works, and that others are refused."""
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
        """The first and the last option of each alternative, and some by chance."""
        if len(options) <= TRIED or self.thorough:
            return options[:READ]
        ends: dict[str, list[Option]] = {}
        for option in options:
            ends.setdefault(option.do, []).append(option)
        found = [each for same in ends.values() for each in (same[0], same[-1])]
        return [*found, *(options[self.draw(len(options))] for _ in range(TRIED))][: 2 * TRIED]

    def _offered(self, option: Option) -> Iterator[Trouble]:
        game, choice = self.game, option.as_dict()
        try:
            game.offered(choice)
        except IllegalMove as error:
            yield Trouble("options", f"`{option}` is offered, but {error}", _asking(game), choice=choice)
            return
        except RuleFailure as failure:
            yield trouble_of(failure, choice)
            return
        try:
            game.clone().apply(option)
        except RuleFailure as failure:
            yield trouble_of(failure, choice)

    def _mixed(self, options: list[Option]) -> Iterator[dict[str, Json]]:
        """Choices with values that other options have, and with numbers beside those that are offered."""
        for _ in range(TRIED):
            one = options[self.draw(len(options))]
            choice = one.as_dict()
            names = [name for name, _ in one.values]
            if not names:
                continue
            name = names[self.draw(len(names))]
            others = [option[name] for option in options if option.do == one.do]
            value = others[self.draw(len(others))]
            if isinstance(value, int) and not isinstance(value, bool):
                value += self.draw(3) - 1
            try:
                self.game.accepts({**choice, name: value})
            except RuleFailure:  # a value that no rule foresees may not be worked out; it is refused all the same
                continue
            yield {**choice, name: value}

    # --- after a choice

    def _goes_on(self, start: int, asked: Span, option: Option) -> Iterator[Trouble]:
        game = self.game
        marks = (mark for record in game.state.log[start:] if isinstance(mark := read(record), Mark))
        started = any(mark.begins for mark in marks)
        self.phases += started
        self._phase = 0 if started else self._phase + 1
        if self._phase >= PHASE:
            phase = game.ruleset.model.phases[game.state.cells[game.machine.constants.layout.base["phase"]]]
            yield Trouble("endless", f"the phase `{phase}` goes on after {PHASE:,} choices", asked)
        if game.state.cells[game.machine.constants.layout.base["round"]] > ROUNDS:
            yield Trouble("endless", f"the game goes on after {ROUNDS} rounds")

    def _other_form(self, before: Game, option: Option, start: int) -> Iterator[Trouble]:
        """The choice leads to the same state and the same records in the other form."""
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
            yield Trouble("forms", "the two forms of the rules do not lead to the same", option_span(option))

    def _undone(self, before: Game, option: Option) -> Iterator[Trouble]:
        game = before.clone()
        game.apply(option.as_dict())
        game.undo()
        if game.digest() != before.digest():
            yield Trouble("copies", f"`{option}` undone is another game", option_span(option))

    def _told(self, before: Game, option: Option, start: int) -> Iterator[Trouble]:
        """Check that what a choice reveals does not depend on hidden things, except for cards that moved, nor on sealed
        choices. What the course of the game gives away (who is asked next) is not judged."""
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
            mine, theirs = (
                list(lines_since(game.table, game.state, since, player))
                for game, since in ((self.game, start), (other, 0))
            )
        except (IllegalMove, RuleFailure):  # what is hidden may decide what can be done: it gives nothing away in words
            return
        if [(a.kind, a.name) for a in mine] != [(b.kind, b.name) for b in theirs]:
            return
        for a, b in zip(mine, theirs, strict=True):
            if (a.text, a.values) != (b.text, b.values):
                message = f"`{a.name}` tells player {player + 1} what is hidden"
                notes = (f"told: {a.text or a.values}", f"if it were otherwise: {b.text or b.values}")
                events = (event for r in self.game.state.log[start:] if isinstance(event := read(r), Event))
                span = next((event.site for event in events if event.name == a.name), None)
                yield Trouble("leak", message, span or option_span(made), notes)
                return
        apart = shown_apart(self.game, other, player)
        if apart is not None:
            what, seen, would = apart
            message = f"what player {player + 1} sees depends on what is hidden: {_what(what)}"
            yield Trouble("leak", message, option_span(made), _apart(seen, would))

    @staticmethod
    def _asks(game: Game) -> tuple[str, int] | None:
        return None if game.decision is None else (game.decision.name, game.decision.actor)


def some_option(decision: Decision, draw: Draw) -> Option:
    """One of the options by chance, alternatives with few options as likely as those with many."""
    found: dict[str, list[Option]] = {}
    for option in islice(decision.options, READ):
        found.setdefault(option.do, []).append(option)
    names = list(found)
    options = found[names[draw(len(names))]]
    return options[draw(len(options))]


def option_span(option: Option) -> Span | None:
    """Return the position that offers an option."""
    return option.site.core.span if option.site is not None else None


def trouble_of(failure: RuleFailure, choice: Mapping[str, Json] | None = None) -> Trouble:
    """Return the name of a rule failure as a kind of trouble."""
    kind = "failure"
    if failure.message.endswith("leaves no choice"):
        kind = "dead end"
    elif failure.code == "R002":
        kind = "endless"
    chain = tuple(f"{caller} ({caller.span})" for caller in failure.chain)
    return Trouble(kind, failure.message, failure.span, chain, choice)


def _asking(game: Game) -> Span | None:
    return game.decision.site.ask.span if game.decision is not None else None


def _records(game: Game, start: int) -> list[Record]:
    """The log from a record on; each form has sites of its own."""
    return [
        (choice.option.core, *choice[2:]) if isinstance(choice := read(record), Choice) else record
        for record in game.state.log[start:]
    ]


def _words(choice: Mapping[str, Json]) -> str:
    return repr(sorted(choice.items(), key=lambda pair: pair[0]))


def _what(what: str) -> str:
    return {"view": "the view", "boards": "a board"}.get(what, f"the {what}")


def _apart(one: object, other: object) -> tuple[str, ...]:
    """The first place at which two values differ."""
    while True:
        if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
            key = next(key for key in one if one[key] != other[key])
            one, other = one[key], other[key]
        elif isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
            one, other = next((a, b) for a, b in zip(one, other, strict=True) if a != b)
        else:
            return (f"seen: {one}", f"if it were otherwise: {other}")
