"""Twins: a second game that differs from the examined one only in what a player may not see.

A twin follows the choices of the game until the rules tell the player something that differs: an event, a visible
value, the next decision, an option. Until then every channel must give the player the same in both games.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from interpreter.base.plain_data import Json
from interpreter.engine.decision import Option
from interpreter.engine.game import Game
from interpreter.engine.log_records import Choice, Event, Mark, Seats, read
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.views import context_of
from interpreter.hidden.sight import may_see
from interpreter.kernel.state import Record, Value
from interpreter.lowering.constants import RuleFailure
from interpreter.testing.channels import MOST_OPTIONS, Channel

__all__ = ["Told", "Twin"]


class Told(NamedTuple):
    """Something that the rules tell: a ``choice``, ``event`` or ``mark`` of the log, what was sealed and is ``opened``,
    what is ``asked`` and ``offered`` now, or a value that is ``shown`` (``judged``: by the rule
    that says who sees it)."""

    sort: str
    name: str
    values: tuple[object, ...] = ()
    course: tuple[object, ...] = ()
    """What the course of the game gives away: the decision, and who decides."""

    def is_like(self, other: Told) -> bool:
        """Return whether two things differ in their values alone."""
        return self._replace(values=()) == other._replace(values=())


_END = Told("end", "")


@dataclass(eq=False)
class Twin:
    """A twin for a player. ``since`` is the record of the game's log at which it began; its own log begins there.
    ``differs`` names the hidden things that are other ones there."""

    player: int
    other: Game
    since: int
    differs: frozenset[str] = frozenset()

    def follow(self, choice: Option | Mapping[str, Json], by: int) -> bool:
        """Make a choice of the game; return False if it is not possible here."""
        try:
            self.other.apply(choice, by)
        except (IllegalMove, RuleFailure):  # hidden information decides what is legal
            return False
        return True

    def told_apart(self, game: Game, *, sought: bool = True) -> tuple[Told, Told] | None:
        """Return the first thing that the rules tell the player and that differs, as it is here and there; None if the
        rules do not tell the two games apart. If it is not ``sought``, a visible value is enough: no log is read."""
        shown, model = game.table.sight.shown_apart(game.state, self.other.state, self.player), game.ruleset.model
        if shown is not None and not sought:
            return _END, _END
        here = [*_told(game, game.state.log[self.since :], self.player), _END]
        there = [*_told(self.other, self.other.state.log, self.player), _END]
        if here != there or shown is None:
            return next(((a, b) for a, b in zip(here, there, strict=False) if a != b), None)
        groups = sorted(
            (g for name in shown if (g := model.groups.get(name))), key=lambda g: (g.sees is not None, g.name)
        )
        sort = "judged" if groups and groups[0].sees is not None else "shown"
        name = model.spoken_group(groups[0]) if groups else ""  # such as the number of cards of a hidden pile
        values: list[object] = [side.view(self.player) for side in (game, self.other)]
        if groups and values[0] == values[1]:  # of a card that lies where no view lists cards
            cells = game.table.sight.layout.cells(groups[0].name)
            values = [[side.state.cells[cell] for cell in cells] for side in (game, self.other)]
        return Told(sort, name, (values[0],)), Told(sort, name, (values[1],))

    def leak(self, game: Game, channels: Mapping[str, Channel]) -> tuple[str, object, object] | None:
        """Return the first channel that tells the two games apart, with what the player gets here and there."""
        here = game.clone(log=True)
        here.state.log = here.state.log[self.since :]
        for name, channel in channels.items():
            mine, others = channel(here, self.player), channel(self.other, self.player)
            if mine != others:
                return name, mine, others
        return None


def _told(game: Game, log: Iterable[Record], player: int) -> Iterator[Told]:
    """Yield what the rules tell a player."""
    sealed: list[Choice] = []
    for record in filter(None, map(read, log)):
        match record:
            case Choice(option, frame, actor, values, context, seen) as choice:
                ask, hides = option.ask, option.ask.is_closed and actor != player
                yield Told("choice", ask.name, _masked(context, seen, player), (frame[0], actor))
                if hides:
                    sealed.append(choice)
                else:
                    yield Told("opened", option.name, _masked(values, seen[len(context) :], player))
            case Event(_, name, seen, values):
                yield Told("event", name, _masked(values, seen, player))
            case Mark(word, number) as mark:
                yield Told("mark", word, (), (number,))
                yield from (Told("opened", each.option.name, (), each.values) for each in sealed if mark.reveals(each))
                sealed = [each for each in sealed if not mark.reveals(each)]
    for decision in game.decisions:
        held = context_of(game.table, game.state, decision, player)
        shown = tuple(each.value if each.seen else None for each in held)
        yield Told("asked", decision.name, shown, (decision.frame[0], decision.actor))
    own = game.decision_of(player)
    if own is not None:
        yield Told("offered", own.name, tuple(option.code for option in islice(own.options, MOST_OPTIONS)))


def _masked(values: Iterable[Value], seen: Iterable[Seats], player: int) -> tuple[Value, ...]:
    return tuple([value if may_see(seats, player) else None for value, seats in zip(values, seen, strict=False)])
