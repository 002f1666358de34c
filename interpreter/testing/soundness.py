"""Soundness: invariants of every game of every ruleset, whatever its rules say.

Takes a game at a decision and a choice; returns troubles: failing rules, decisions without options, endless phases,
broken totals, refused options, leaks of hidden information, copies and compiled forms that differ. Callers choose the
games (:mod:`interpreter.testing.verify`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, zip_longest
from typing import TypeAlias

from interpreter.base.plain_data import Json, grouped
from interpreter.base.plurals import joined
from interpreter.base.source import Span
from interpreter.engine.decision import Code, Decision, Option, choice_text
from interpreter.engine.determinization import otherwise
from interpreter.engine.game import Game, Result
from interpreter.engine.log_records import Event, is_choice, read
from interpreter.engine.refusal import IllegalMove
from interpreter.hidden.dealing import Draw, Memory
from interpreter.kernel.chance import Draws
from interpreter.kernel.effects import changes
from interpreter.lowering.constants import RuleFailure
from interpreter.testing.channels import CHANNELS, Channel
from interpreter.testing.twins import Told, Twin

__all__ = ["KINDS", "Examiner", "Trouble", "drawing", "some_option", "trouble_of"]

KINDS = {
    "failure": "a rule fails",
    "dead end": "a player must choose, but has no option",
    "endless": "a choice, a phase or the game never ends",
    "told": "the rules tell a player hidden information that no rule discloses",
    "leak": "a channel tells a player hidden information that the rules do not tell",
    "totals": "cards, tokens or pieces are lost or created",
    "options": "an offered choice is refused, or one that is not offered is accepted",
    "copies": "a clone, a loaded save or an undone choice differs from the original game",
    "forms": "the plain form of the rules and the module differ",
}
"""The kinds of trouble. The first three are faults of a ruleset, the last five of the interpreter; what is told is
none."""

PHASE = 1_000
"""Number of choices after which a phase counts as endless."""
ROUNDS = 500
"""Number of rounds after which a game counts as endless."""
READ = 400
"""Largest number of options of a decision that are examined."""
TRIED = 6
"""Number of random options that are tried, and of twins that tell whether something is told."""
READ_AT_ONCE = 2
"""Number of channels that a sampled check compares."""
FOLLOWED = 2
"""Most twins that follow a game; the oldest one is dropped first."""
OFTEN, MANY = 12, 25
"""Number of checks of one kind of moment, and of all kinds, after which the interval between checks grows by its
initial length."""


Deal: TypeAlias = Callable[[Collection[str]], Twin | None]
"""Deals a twin with some hidden things as they are; None if nothing is another, or it cannot follow."""


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
    were ``looked`` at, in this and earlier games. With ``compares``, choices are also made in the other form of the
    rules (plain or module).

    Between slow checks nothing but the contents of the state is read, so that the game can stay in the module. A kind
    of moment is the choice made and the groups of cells that it changed."""

    game: Game
    draw: Draw
    thorough: bool = False
    compares: bool = True
    channels: Mapping[str, Channel] = field(default_factory=lambda: CHANNELS)
    """Channels that are compared between the game and its twins."""
    looked: Counter[tuple[object, ...]] = field(default_factory=Counter)
    """Number of checks by check and kind of moment."""
    phases: int = 0
    """Number of phases that have started."""
    closely: int = 0
    """Number of choices that had at least one slow check."""
    pairs: int = 0
    """Number of comparisons with a game that differs in hidden information only."""
    _contents: Sequence[object] = ()
    """Contents of the groups of cells at the last look."""
    _changed: frozenset[str] = frozenset()
    """Groups of cells that the last choice changed; at first all of them."""
    _kind: tuple[object, ...] = ()
    _close: bool = False
    _phase: int = 0
    _memories: dict[int, Memory] = field(default_factory=dict)
    _followed: list[Twin] = field(default_factory=list)

    def look(self) -> Iterator[Trouble]:
        """Check the current state of the game."""
        game = self.game
        if not self._contents:
            self._changed = self._noticed()
        yield from (Trouble("totals", line, _ask_span(game)) for line in game.check(self._changed))
        if self._now("shows", 6):
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
        before, bailouts = game.clone(), game.runner.bailouts
        decision = game.decision
        assert decision is not None
        ask_span = decision.site.ask.span
        try:
            game.apply(option)
        except RuleFailure as failure:
            yield trouble_of(failure, option.as_dict())
            return
        self._changed = self._noticed()
        self._kind, self._close = (decision.name, option.do, self._changed), False
        yield from self._endless(ask_span)
        if game.runner.bailouts != bailouts and not game.runner.lacks_room:
            yield Trouble("forms", "the module cannot make a choice that the plain form makes", option_span(option))
        if self.compares and self._now("forms", 4):
            yield from self._other_form(before, option)
        if self._now("undo", 6):
            yield from self._undo(before, option)
        by = decision.actor
        self._followed = [twin for twin in self._followed if not game.is_over and twin.follow(option, by)]
        for twin in list(self._followed) if self._followed and self._now("followed", 4) else ():
            self._followed.remove(twin)
            yield from self._leaks(twin, option)
        if not game.is_over and self._now("told", 2):
            yield from self._twins(before, option)

    def _noticed(self) -> frozenset[str]:
        """Return the groups of cells that have changed since the last time."""
        game, before = self.game, self._contents
        groups = game.machine.constants.layout.groups
        self._contents = now = game.runner.contents(game.state, game.chance)
        return frozenset([name for (name, _), old, new in zip_longest(groups, before, now) if old != new])

    def _memory(self, player: int) -> Memory:
        """Return a player's knowledge of hidden cards."""
        if player not in self._memories:
            table = self.game.table
            self._memories[player] = Memory(table.sight, table.first, self.game.state, player)
        self._memories[player].learn(self.game.state)
        return self._memories[player]

    def _players(self) -> list[int]:
        """Return the players whose knowledge is checked. Thorough checks, which depend on random deals, run three times
        for each."""
        seats = self.game.machine.constants.seats
        return [*seats] * 3 if self.thorough else [self.draw(len(seats))]

    def _now(self, check: str, seldom: int) -> bool:
        """Return whether to run a slow check now. ``seldom`` is its initial average interval."""
        if self.thorough:
            return True
        kind = (check, *self._kind)
        count = self.looked[kind]
        if count and self.draw(seldom * (1 + count // OFTEN) * (1 + self.looked["all", check] // MANY)):
            return False
        self.looked[kind] += 1
        self.looked["all", check] += 1
        self.closely += not self._close
        self._close = True
        return True

    # --- current state

    def _views(self) -> Iterator[Trouble]:
        """Check that what players are told does not depend on hidden information."""
        game = self.game
        if game.is_over:
            return
        try:
            for player in self._players():
                yield from self._compared(partial(self._twin, game, player, len(game.state.log), ((), ())))
        except RuleFailure as failure:
            yield trouble_of(failure)

    def _copies(self) -> Iterator[Trouble]:
        game = self.game
        if game.clone().digest() != game.digest():
            yield Trouble("copies", "a clone differs from its game", _ask_span(game))
        if self.thorough or not self._now("saves", 8) or "given" in game.ruleset.program.reach.procedures:
            return
        try:
            if game.ruleset.load_game(game.to_json()).digest() != game.digest():
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
        known = {_words(option.as_dict()) for option in options}
        for choice in self._mixed(options) if len(options) < READ else ():
            if _words(choice) not in known and game.accepts(choice):
                message = f"`{choice_text(choice)}` is accepted, but not offered"
                yield Trouble("options", message, decision.site.ask.span, choice=choice)

    def _some(self, options: list[Option]) -> list[Option]:
        """Return the first and last option of each alternative, and some random ones."""
        if len(options) <= TRIED or self.thorough:
            return options[:READ]
        outer = [option for same in _by_alternative(options).values() for option in (same[0], same[-1])]
        return [*outer, *(options[self.draw(len(options))] for _ in range(TRIED))][: 2 * TRIED]

    def _offered(self, option: Option) -> Iterator[Trouble]:
        game, choice = self.game, option.as_dict()
        try:
            game.offered(choice)
            game.clone().apply(option)
        except IllegalMove as error:
            yield Trouble("options", f"`{option}` is offered, but {error}", _ask_span(game), choice=choice)
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

    def _endless(self, ask_span: Span) -> Iterator[Trouble]:
        game = self.game
        started = not self._changed.isdisjoint(("round", "phase", "turn"))
        self.phases += started
        self._phase = 0 if started else self._phase + 1
        if self._phase >= PHASE:
            phase = game.ruleset.model.phases[game.state.cells[game.machine.constants.layout.base["phase"]]]
            yield Trouble("endless", f"the phase `{phase}` goes on after {PHASE:,} choices", ask_span)
        if "round" in self._changed and game.round > ROUNDS:
            yield Trouble("endless", f"the game goes on after {ROUNDS} rounds")

    def _other_form(self, before: Game, option: Option) -> Iterator[Trouble]:
        """Check that the choice leads to the same state, with the same options, in the other form."""
        runner, other = self.game.runner, before.clone()
        was, is_plain = runner.plain, self.game.state.home is None
        if is_plain and runner.ready() is None:
            return
        runner.plain = not is_plain
        try:
            other.apply(option.as_dict())
            there = _asked(other)
        except (RuleFailure, IllegalMove):
            there = None
        finally:
            runner.plain = was
        if there != _asked(self.game) and not runner.lacks_room:
            yield Trouble("forms", "the plain form and the module give different results", option_span(option))

    def _undo(self, before: Game, option: Option) -> Iterator[Trouble]:
        game = before.clone()
        game.apply(option.as_dict())
        game.undo()
        if game.digest() != before.digest():
            yield Trouble("copies", f"undoing `{option}` does not restore the game", option_span(option))

    def _twins(self, before: Game, option: Option) -> Iterator[Trouble]:
        """Make the choice in twins of the game before it. The cards that it moves are the same there."""
        game, log = self.game, self.game.state.log
        start = next(number for number in reversed(range(len(log))) if is_choice(log[number]))
        layout = game.machine.constants.layout
        chance, location = layout.cells("chance"), layout.cells("location")
        changed = {cell for record in log[start:] for cell, _ in changes(record)}
        mixed = not changed.isdisjoint(chance)
        moved = {card for card, cell in enumerate(location) if cell in changed}
        backs = {card for _, card in game.table.sight.uppermost(game.state)}
        decision = before.decision
        assert decision is not None
        actor = decision.actor

        def redealt(player: int, same: Collection[str]) -> Twin | None:
            twin = self._twin(before, player, start, (moved, backs), same)
            return twin if twin is not None and twin.follow(option, actor) else None

        def resealed(player: int, same: Collection[str]) -> Twin | None:
            alternatives = list(islice(decision.options, READ))
            twin = Twin(player, before.clone(), start, frozenset({decision.name}))
            other = alternatives[self.draw(len(alternatives))]
            return twin if decision.name not in same and twin.follow(other, actor) else None

        for player in self._players():
            if not mixed:
                yield from self._compared(partial(redealt, player), option)
            if decision.site.ask.is_closed and player != actor:
                yield from self._compared(partial(resealed, player), option)

    def _twin(
        self, game: Game, player: int, since: int, cards: tuple[Collection[int], Collection[int]], same: Collection[str]
    ) -> Twin | None:
        """Return a twin in which everything is another that is hidden from the player, but for the ``same`` things and
        some ``cards``, or their backs; None if nothing differs, or if the player sees by a rule that it does."""
        layout, model, cells = game.machine.constants.layout, game.ruleset.model, game.state.cells
        kept = {
            cell for name, g in model.groups.items() if model.spoken_group(g) in same for cell in layout.cells(name)
        }
        lying = (card for card, place in enumerate(layout.cells("location")) if cells[place] in kept)
        other = otherwise(game, player, self.draw, {*cards[0], *lying}, self._memory(player), cards[1])
        for cell in kept:
            other.state.cells[cell] = cells[cell]
        names = {layout.owner_of(cell)[0] for cell in other.state.difference(game.state)}
        differs = frozenset(model.spoken_group(group) for name, group in model.groups.items() if name in names)
        sight = game.table.sight
        shows_same = sight.hidden_cells(game.state, player) == sight.hidden_cells(other.state, player)
        return Twin(player, other, since, differs) if differs and shows_same else None

    def _compared(self, deal: Deal, made: Option | None = None, *, reports: bool = True) -> Iterator[Trouble]:
        """Check that no channel tells the player more than the rules do. What these tell is reported, or ends it."""
        twin = deal(())
        if twin is None:
            return
        self.pairs += 1
        apart = twin.told_apart(self.game, sought=reports)
        if apart is not None:
            if reports and self._asks(twin.other) == self._asks(self.game) and apart[0].is_like(apart[1]):
                yield from self._told(deal, twin, made, *apart)
            return
        leak = twin.leak(self.game, self._some_channels())
        if leak is None:
            self._followed = [*self._followed, twin][-FOLLOWED:]
            return
        channel, here, there = leak
        message = f"player {twin.player + 1} learns hidden information from the {channel}"
        place = option_span(made) if made is not None else _ask_span(self.game)
        yield Trouble("leak", message, place, _apart(here, there))

    def _some_channels(self) -> Mapping[str, Channel]:
        """Return all channels or, for checks that are sampled, a few."""
        if self.thorough:
            return self.channels
        read, names = self.looked["channels",], list(self.channels)
        self.looked["channels",] += READ_AT_ONCE
        turn = (names[(read + number) % len(names)] for number in range(READ_AT_ONCE))
        return {name: self.channels[name] for name in turn}

    def _told(self, deal: Deal, twin: Twin, made: Option | None, here: Told, there: Told) -> Iterator[Trouble]:
        place = _ask_span(self.game) if here.sort in ("asked", "offered") or made is None else option_span(made)
        if here.sort == "event":
            noted = (read(record) for record in reversed(self.game.state.log))
            place = next((e.site for e in noted if isinstance(e, Event) and e.name == here.name), place)
        layer = self.game.ruleset.program.layer_at(place) if place is not None else None
        declared = layer.discloses if layer is not None else ()
        if here.sort == "judged" or (declared and not self._tells(deal, declared)):
            return
        left = twin.differs.difference(declared) or twin.differs
        names = {name for name in left if self._tells(deal, twin.differs - {name})} or left
        words = {"event": f"`{here.name}` tells", "offered": f"the options of `{here.name}` tell"}
        of = joined([f"`{name}`" for name in sorted(names)])
        message = f"{words.get(here.sort, f'`{here.name}` shows')} player {twin.player + 1} something hidden: {of}"
        yield Trouble("told", message, place, _apart(here.values, there.values))

    def _leaks(self, twin: Twin, option: Option) -> Iterator[Trouble]:
        return self._compared(lambda _: twin, option, reports=False)

    def _tells(self, deal: Deal, same: Collection[str]) -> bool:
        """Return whether the rules still tell a twin apart in which these hidden things are the same."""
        twins = (deal(same) for _ in range(TRIED))
        return any(twin is not None and twin.told_apart(self.game, sought=False) is not None for twin in twins)

    @staticmethod
    def _asks(game: Game) -> tuple[str, int] | None:
        return None if game.decision is None else (game.decision.name, game.decision.actor)


def some_option(decision: Decision, draw: Draw) -> Option:
    """Return a random option. Every alternative is equally likely, however many options it has."""
    alternatives = list(_by_alternative(islice(decision.options, READ)).values())
    options = alternatives[draw(len(alternatives))]
    return options[draw(len(options))]


def _by_alternative(options: Iterable[Option]) -> dict[str, list[Option]]:
    return grouped((option.do, option) for option in options)


def option_span(option: Option) -> Span | None:
    """Return the position in the rules that offers an option."""
    return option.site.core.span if option.site is not None else None


def trouble_of(failure: RuleFailure, choice: Mapping[str, Json] | None = None) -> Trouble:
    """Return the trouble that describes a rule failure."""
    kind = "endless" if failure.code == "R002" else "failure"
    if failure.message.endswith("leaves no choice"):
        kind = "dead end"
    chain = tuple(f"{caller} ({caller.span})" for caller in failure.chain)
    return Trouble(kind, failure.message, failure.span, chain, choice)


def _ask_span(game: Game) -> Span | None:
    return game.decision.site.ask.span if game.decision is not None else None


def _asked(game: Game) -> tuple[str, Result | None, list[Code] | None]:
    """Return the position of a game in the form that it is played in: its state, result and options."""
    options = list(islice(game.runner.listed(game.state), READ)) if game.decision is not None else None
    return game.digest(), game.result, options


def _words(choice: Mapping[str, Json]) -> str:
    return repr(sorted(choice.items()))


def _apart(left: object, right: object) -> tuple[str, ...]:
    """Return notes on the first difference of two nested values."""
    while left != right:
        if isinstance(left, dict) and isinstance(right, dict) and left.keys() == right.keys():
            key = next(key for key in left if left[key] != right[key])
            left, right = left[key], right[key]
        elif isinstance(left, list | tuple) and isinstance(right, list | tuple) and len(left) == len(right):
            left, right = next((a, b) for a, b in zip(left, right, strict=True) if a != b)
        else:
            break
    return (f"seen: {left}", f"with other hidden information: {right}")
