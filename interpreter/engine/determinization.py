"""The game as it may be, for all that a seat knows: hidden cards and tokens dealt anew.

What a seat has seen of a hidden card is told by the log: where a card went from an open zone to a hidden one, it is
known there until the zone is shuffled or a card goes on from it unseen. All other hidden cards are dealt anew, among
the zones between which cards went unseen. Hidden tokens are known where all that moved was told
(:mod:`interpreter.engine.inferable_pools`), and shared out anew elsewhere. Where the log does not reach back to the
beginning, nothing is known.

A procedure under way can have a local that the seat may not know (:mod:`interpreter.engine.secrecy`): a sealed choice
of another seat, a number read from hidden cards, a draw that was not told. Then a world is dealt as of the last
decision at which there was no such local, and play goes on from there: with the choices that the seat knows, others by
lot, chance that was told as it was, and other chance anew. After each choice the seat must be told and asked the same
as it was, and see the same in the end; what it came to see on the way lies where it lay. Who looks at a game without
its log cannot go back: then no world is found.

No world depends on what is hidden: of two games that look alike to a seat, it deals the same worlds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, islice
from typing import NamedTuple

from interpreter.base.plain_data import Json
from interpreter.compiler.constants import RuleFailure
from interpreter.engine.decision import Option
from interpreter.engine.game import Game
from interpreter.engine.log_records import Choice, is_choice, read, reveals
from interpreter.engine.observation import Draw, shuffled
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.sight import may_see, reads_secrets
from interpreter.engine.views import lines_since
from interpreter.kernel.chance import ChanceSource, Seeded
from interpreter.kernel.effects import changes
from interpreter.kernel.state import Record, Value
from interpreter.language import core
from interpreter.language.model import Group
from interpreter.language.types import (
    BoolType,
    CardHolderType,
    CardType,
    HolderType,
    IntType,
    KindType,
    ListType,
    NodeType,
    PilesType,
    PlaceType,
    PoolType,
    RecordType,
    SeatType,
    SetType,
    Type,
    cards_in,
    has_cards,
    renamed,
)

__all__ = ["Memory", "Undealt", "Worlds", "otherwise", "uppermost"]

DEALS = 8
"""So often is dealt anew where a deal does not come out."""
REPLAYS = 50
"""So often is a world dealt anew from which play does not go on as it did."""
TRIES = 4
"""So often is one choice made anew, with other chance and, where it is not known, by another lot."""
OPTIONS = 2_000
"""So many options of a choice are read."""


class Undealt(Exception):
    """No world was found in which secrets are others and the game goes on as it did."""


class _Made(NamedTuple):
    """A choice that was made, as a seat knows it."""

    actor: int
    decision: str
    alternative: str | None
    """Nothing where the choice is sealed."""
    values: tuple[tuple[str, Json], ...]
    """Those that the seat knows."""
    seen: object
    """What the seat was told of it and asked then; nothing where that does not matter."""


@dataclass(frozen=True, slots=True)
class _Told:
    """Chance that was told is as it was, all else is new."""

    names: frozenset[str]
    old: ChanceSource
    new: ChanceSource

    def _of(self, name: str) -> ChanceSource:
        return self.old if name in self.names else self.new

    def shuffle(self, name: str, counter: int, items: tuple[int, ...]) -> tuple[int, ...]:
        return self._of(name).shuffle(name, counter, items)

    def draw(self, name: str, counter: int, options: tuple[object, ...]) -> int:
        return self._of(name).draw(name, counter, options)


@dataclass(frozen=True, slots=True)
class _Place:
    """A place of a hidden zone whose card is not known. ``shows``: the back that is seen there, if one is."""

    cell: int
    number: int
    kind: str
    shows: tuple[Value, ...]


class Memory:
    """Knowledge of a seat about hidden cards, from the log of a game.

    ``known`` are hidden cards that the seat knows all the same. It goes on with the game: see :meth:`learn`.
    """

    def __init__(self, game: Game, seat: int) -> None:
        constants = game.machine.constants
        self.zones = constants.effects.zones
        self.hidden = {cell for cell, seats in constants.seen_by.items() if seat not in seats and cell in self.zones}
        self.pools = list(_cells(game, sorted(game.ruleset.counted)))
        """Pools whose tokens were counted, where the log reaches back to the beginning."""
        self.known: set[int] = set()
        self._parts: dict[int, int] | None = None
        self._left: dict[int, int] = {}
        self._holds: dict[int, tuple[int, ...]] = {}
        self._read: list[Record] = []
        """The last record of the log that was read, and their number."""
        self._until = 0
        self.learn(game)

    @property
    def counted(self) -> Collection[int]:
        """Hidden pools of which the seat knows what they hold."""
        return self.pools if self._parts is not None else ()

    def part(self, cell: int) -> int:
        """To which part of what is hidden a zone belongs: cards went unseen between the zones of one."""
        if self._parts is None:
            return 0
        while self._parts[cell] != cell:
            cell = self._parts[cell]
        return cell

    def learn(self, game: Game) -> None:
        """Reads on in the log. Where it does not reach back to the beginning, nothing is known."""
        log, first = game.state.log, game.table.first.cells
        if self._until > len(log) or (self._read and log[self._until - 1] is not self._read[0]):
            self._until = 0  # choices were taken back
        cells = {cell: game.state.cells[cell] for cell in (*self.zones, *self.pools)}
        found = []
        for record in islice(reversed(log), len(log) - self._until):
            for cell, old in changes(record):
                if cell in self.zones:
                    found.append((cell, _flat(cells[cell])))
                if cell in cells:
                    cells[cell] = old
        if self._until == 0:
            self._parts = {cell: cell for cell in self.hidden}
            self._left.clear()
            self._holds = {cell: _flat(first[cell]) for cell in self.zones}
            self.known = {card for cell in self.hidden for card in self._holds[cell]}
            if any(value != first[cell] for cell, value in cells.items()):
                self._parts, self.known = None, set()
        self._until, self._read = len(log), log[-1:]
        if self._parts is not None:
            for cell, new in reversed(found):
                self._change(self._parts, cell, new)

    def _change(self, parts: dict[int, int], cell: int, new: tuple[int, ...]) -> None:
        """A zone holds other cards, or the same in another order."""
        old, self._holds[cell] = self._holds[cell], new
        came = set(new) - set(old)
        self._left.update((card, cell) for card in set(old) - set(new))
        if cell not in self.hidden:
            return
        if not came and [card for card in old if card in set(new)] != list(new):
            self.known -= set(new)
        for card in came:
            source = self._left.get(card)
            if source in self.hidden:
                self.known -= {card, *self._holds[source]}
                parts[self.part(cell)] = self.part(source)
            else:
                self.known.add(card)


class Worlds:
    """Deals games like one that stands at a decision, as a seat knows it. ``fixed`` cards stay where they are; where a
    card of ``backs`` lies, comes one with the same back. Where it does not ``replay``, what was chosen sealed is left
    where it lies, if it does not lie hidden."""

    def __init__(
        self,
        game: Game,
        seat: int,
        fixed: Collection[int] = (),
        *,
        replay: bool = True,
        memory: Memory | None = None,
        backs: Collection[int] = (),
    ) -> None:
        self.seat, self.fixed, self.backs = seat, set(fixed), backs
        self.again: list[_Made] = []
        self.now, self.game = game, game
        if replay:
            self._go_back()
            if not self.again:
                self._without_open_choices()
        machine = game.machine
        self.layout, self.zones = machine.constants.layout, machine.constants.effects.zones
        self.cards = game.ruleset.model.cards
        seen = machine.constants.seen_by
        self.hidden = [cell for cell, seats in seen.items() if seat not in seats]
        memory = memory or Memory(self.game, seat)
        self._places = list(self._unknown(memory))
        self._pools = self._hidden_pools(memory)
        self._values = [cell for cell in self.hidden if not isinstance(self._group(cell).type, HolderType)]
        self._laid_out: Game | None = None
        """The game without its log, in lists of cells: what worlds are copied from."""

    def _go_back(self) -> None:
        """To the last decision at which no procedure has a local that the seat may not know."""
        game, seat, revealed = self.now, self.seat, False
        if not reads_secrets(game.table, game.state, seat):
            return
        self.fixed |= Memory(game, seat).known
        game = game.clone(log=True)
        while reads_secrets(game.table, game.state, seat):
            log = game.state.log
            start = next((place for place in range(len(log) - 1, -1, -1) if is_choice(log[place])), None)
            if start is None:
                raise Undealt
            revealed = revealed or reveals(log[start:])
            self.again.insert(0, self._made(game, start, revealed=revealed))
            game.undo()
        self.game = game

    def _made(self, game: Game, start: int, *, revealed: bool) -> _Made:
        """The last choice, as the seat knows it; with all that the seat came to see by it."""
        record = game.state.log[start]
        choice = read(record)
        assert isinstance(choice, Choice)
        site, _, actor, values, context, masks = choice
        self._see(game)
        sealed = (site.ask.sealed or site.ask.kept) and actor != self.seat and not revealed
        known = []
        for part, value, mask, public in zip(
            site.core.choices, values, masks[len(context) :], game.option_of(record).values, strict=True
        ):
            if not sealed and (revealed or actor == self.seat or may_see(mask, self.seat)):
                known.append(public)
                self.fixed.update(cards_in(value, part.type, game.ruleset.model.records))
        name = None if sealed else site.core.name
        return _Made(actor, site.ask.name, name, tuple(known), self._noticed(game, start))

    def _see(self, game: Game) -> None:
        """Cards that the seat sees, or is asked about, lay where they lay."""
        machine, records = game.machine, game.ruleset.model.records
        for card in range(len(game.ruleset.model.cards)):
            if may_see(machine.constants.visible(game.state, card), self.seat):
                self.fixed.add(card)
        asked = game.decision_of(self.seat)
        if asked is None:
            return
        for number, values in islice(machine.options(game.state, asked.env, asked.site), OPTIONS):
            for choice, value in zip(asked.site.options[number].core.choices, values, strict=True):
                self.fixed.update(cards_in(value, choice.type, records))

    def _noticed(self, game: Game, start: int) -> tuple[object, ...]:
        """Return what the seat was told since a record of the log, and asked now."""
        told = [
            (line.kind, line.name, line.text, line.values)
            for line in lines_since(game.table, game.state, start, self.seat)
        ]
        asked, mine = game.decision, game.decision_of(self.seat)
        options = None
        if mine is not None:
            options = mine.context, list(islice(game.machine.options(game.state, mine.env, mine.site), OPTIONS))
        return told, None if asked is None else (asked.actor, asked.name, asked.frame[0]), options

    def _without_open_choices(self) -> None:
        """Undo open simultaneous choices of other seats: they are in locals only, so they choose again."""
        asked = self.game.decision
        if asked is None or not asked.site.ask.kept:
            return
        ask, env = asked.site.ask, list(asked.frame[1])
        assert isinstance(ask.seat, core.Local)
        assert isinstance(ask.at_once, core.Local)
        listed, order, *lists = ask.kept
        chosen = env[order]
        mine = [place for place, seat in enumerate(chosen) if seat == self.seat]
        for each in (order, *lists):
            env[each] = tuple(env[each][place] for place in mine)
        env[ask.at_once.index] = tuple(seat for seat in env[listed] if seat not in env[order])
        self.again = [_Made(seat, ask.name, None, (), None) for seat in chosen if seat != self.seat]
        if self.again:
            env[ask.seat.index] = env[ask.at_once.index][0]
            self.game = self.game.stood_at((asked.frame[0], tuple(env), asked.frame[2], asked.frame[3]))

    def _group(self, cell: int) -> Group:
        return self.game.ruleset.model.groups[self.layout.owner_of(cell)[0]]

    # --- what is not known

    def _unknown(self, memory: Memory) -> Iterator[tuple[list[_Place], list[int]]]:
        """The places whose cards are not known, and these cards in order: together what is dealt among each other."""
        known = memory.known
        parts: dict[int, tuple[list[_Place], list[int]]] = {}
        for cell in self.hidden:
            if cell not in self.zones:
                continue
            places, cards = parts.setdefault(memory.part(cell), ([], []))
            type_, tops, held = self._group(cell).type, self._tops(cell), _flat(self.game.state.cells[cell])
            kind = type_.name if isinstance(type_, CardHolderType) else ""
            for number, card in enumerate(held):
                if card not in known and card not in self.fixed:
                    back = self._back(cell) if card in self.backs else None
                    shows = tops.get(number, ()) if back is None else (back(card),)
                    places.append(_Place(cell, number, kind, shows))
                    cards.append(card)
        for places, cards in parts.values():
            if len(cards) > 1:
                yield sorted(places, key=lambda place: (not place.shows, not place.kind)), sorted(cards)

    def _tops(self, cell: int) -> dict[int, tuple[Value, ...]]:
        """For places of top cards whose backs are open, the back."""
        back, held = self._back(cell), self.game.state.cells[cell]
        if back is None or not held:
            return {}
        piles = held if isinstance(held[0], tuple) else (held,)
        starts = accumulate((len(pile) for pile in piles[:-1]), initial=0)
        return {start: (back(pile[0]),) for start, pile in zip(starts, piles, strict=True)}

    def _back(self, cell: int) -> Callable[[int], Value] | None:
        shows = self._group(cell).top_shows
        if shows is None:
            return None
        back = self.game.machine.expressions.compile(shows)
        return lambda card: back(self.game.state, [card])

    def _hidden_pools(self, memory: Memory) -> list[list[int]]:
        """Pools whose tokens are not known, those of a token together."""
        found: dict[str, list[int]] = {}
        for cell in self.hidden:
            group = self._group(cell)
            if isinstance(group.type, PoolType) and cell not in memory.counted:
                found.setdefault(group.type.name, []).append(cell)
        return [cells for cells in found.values() if len(cells) > 1]

    # --- dealing

    def deal(self, seed: int, draw: Draw) -> Game:
        """A world, with chance of its own from then on. :class:`Undealt` where none is found."""
        for _ in range(REPLAYS):
            world = self._gone_on(self.dealt(draw), draw)
            if world is not None:
                world.chance = Seeded(seed)
                return world
        raise Undealt

    def _gone_on(self, world: Game, draw: Draw) -> Game | None:
        """The game with the same choices made again as far as the seat knows them; nothing where it notices that all is
        not as it was."""
        told = self.now.ruleset.secrecy.told_draws if self.again else frozenset()
        for made in self.again:
            for _ in range(TRIES):
                other = world.clone()
                other.chance = _Told(told, self.now.chance, Seeded(draw(1 << 31)))
                if self._is_repeated(other, made, draw):
                    break
            else:
                return None
            world = other
        if self.again and (
            _place(world) != _place(self.now)
            or (self.again[-1].seen is not None and world.view(self.seat) != self.now.view(self.seat))
        ):
            return None
        return world

    def _is_repeated(self, world: Game, made: _Made, draw: Draw) -> bool:
        """Makes a choice again; false where it cannot be made, or the seat notices a difference."""
        asked = world.decision_of(made.actor)
        if asked is None or asked.name != made.decision:
            return False
        try:
            options = [option for option in islice(asked.options, OPTIONS) if _fits(option, made)]
            if not options:
                return False
            world.apply(options[draw(len(options)) if len(options) > 1 else 0], made.actor)
            return made.seen is None or self._noticed(world, 0) == made.seen
        except (IllegalMove, RuleFailure):
            return False

    def dealt(self, draw: Draw) -> Game:
        """The game with what is hidden dealt anew, without its log."""
        if self._laid_out is None:
            self._laid_out = self.game.clone()
            self._laid_out.state.leave()
        world = self._laid_out.clone()
        cells, location = world.state.cells, self.layout.base.get("location", 0)
        swapped: dict[int, int] = {}
        for places, cards in self._places:
            for place, card in zip(places, self._cards_for(places, cards, draw), strict=True):
                flat = list(_flat(cells[place.cell]))
                swapped[flat[place.number]] = card
                flat[place.number] = card
                cells[place.cell] = _shaped(flat, cells[place.cell])
                cells[location + card] = place.cell
        for cell in self.hidden:
            shape = self.zones.get(cell)
            if shape is not None and shape.rank is not None and not shape.piles:
                cells[cell] = tuple(sorted(cells[cell], key=partial(shape.rank, world.state)))
        for pools in self._pools:
            self._share(cells, pools, draw)
        self._rename(cells, swapped)
        self._guess(cells, draw)
        return world

    def _guess(self, cells: list[Value], draw: Draw) -> None:
        """Hidden values, each as likely as another that it can have; a number without an end is what it was first."""
        for cell in self._values:
            group, start = self._group(cell), self.game.table.first.cells[cell]
            if cells[cell] is not None:
                cells[cell] = self._value(group, group.type, cells[cell], start, draw)

    def _value(self, group: Group, type_: Type, held: Value, start: Value, draw: Draw) -> Value:
        """A value by chance, of a list as long as the one that is ``held``."""
        model, constants = self.game.ruleset.model, self.game.machine.constants
        match type_:
            case ListType():
                return tuple(self._value(group, type_.of, item, 0, draw) for item in held)
            case SetType() if (many := self._many(type_.of)) is not None:
                return tuple(sorted(shuffled(range(many), draw)[: len(held)]))
            case IntType() if group.range is not None:
                return group.range[0] + draw(group.range[1] - group.range[0] + 1)
            case BoolType():
                return bool(draw(2))
            case CardType():
                cards = [card for card, row in enumerate(model.cards) if type_.name in ("", row.kind)]
                return cards[draw(len(cards))]
            case SeatType():
                return draw(len(constants.seats))
            case RecordType():
                fields = zip(model.records[type_.name].values(), held, strict=True)
                return tuple(None if item is None else self._value(group, of, item, 0, draw) for of, item in fields)
            case _:
                many = self._many(type_)
                return start if many is None else draw(many)

    def _many(self, type_: Type | None) -> int | None:
        """Return the number of values of a kind, or of nodes and places."""
        model = self.game.ruleset.model
        match type_:
            case KindType() if type_.name in model.kinds:
                return len(model.kinds[type_.name].members)
            case NodeType() if model.graph is not None:
                return len(model.graph.nodes)
            case PlaceType() if model.graph is not None:
                return len(model.graph.places)
            case _:
                return None

    def _rename(self, cells: list[Value], swapped: dict[int, int]) -> None:
        """Exchange two hidden cards: values name the other one, and it carries the same tokens."""
        model, held = self.game.ruleset.model, self.game.state.cells
        for name, group in model.groups.items() if swapped else ():
            first = self.layout.base[name]
            if group.owner == "card":
                for old, new in swapped.items():
                    cells[first + new] = held[first + old]
            elif not isinstance(group.type, HolderType) and has_cards(group.type, model.records):
                for cell in range(first, first + self.layout.count(name)):
                    cells[cell] = renamed(cells[cell], group.type, model.records, swapped)

    def _cards_for(self, places: Sequence[_Place], cards: Sequence[int], draw: Draw) -> list[int]:
        """A card for each place, with the back that is seen there and of the kind that lies there."""
        for attempt in range(DEALS + 1):
            left, found = shuffled(cards, draw), []
            for place in places:
                fits = (card for card in left if self._fits(place, card, backs=attempt < DEALS))
                card = next(fits, None)
                if card is None:
                    break
                left.remove(card)
                found.append(card)
            else:
                return found
        return list(cards)

    def _fits(self, place: _Place, card: int, *, backs: bool) -> bool:
        if place.kind not in ("", self.cards[card].kind):
            return False
        back = self._back(place.cell) if place.shows and backs else None
        return back is None or (back(card),) == place.shows

    def _share(self, cells: list[Value], pools: list[int], draw: Draw) -> None:
        """All that lies in hidden pools, shared out by lot: nobody is likely to have much more than another."""
        held = [cells[cell] for cell in pools]
        kinds = list(zip(*held, strict=True)) if isinstance(held[0], tuple) else [tuple(held)]
        shares = []
        for amounts in kinds:
            parts = [3 + draw(3) for _ in pools]
            ends = [sum(amounts) * end // sum(parts) for end in accumulate(parts)]
            shares.append([end - start for start, end in zip([0, *ends], ends, strict=False)])
        for number, cell in enumerate(pools):
            mine = tuple(share[number] for share in shares)
            cells[cell] = mine if isinstance(cells[cell], tuple) else mine[0]


def uppermost(game: Game) -> Iterator[int]:
    """The top cards whose backs are open."""
    layout = game.machine.constants.layout
    for name, group in game.ruleset.model.groups.items():
        if group.top_shows is not None:
            for cell in range(layout.base[name], layout.base[name] + layout.count(name)):
                held = game.state.cells[cell]
                yield from (pile[0] for pile in held) if isinstance(group.type, PilesType) else held[:1]


def otherwise(
    game: Game,
    player: int,
    draw: Draw,
    fixed: Collection[int] = (),
    memory: Memory | None = None,
    backs: Collection[int] = (),
) -> Game:
    """The same game, without its log, with everything changed that the player may not see: hidden cards lie otherwise,
    except those that are ``fixed``, with ``backs`` that show as they do, and there are more hidden tokens."""
    worlds = Worlds(game, player, fixed, replay=False, memory=memory, backs=backs)
    other = worlds.dealt(draw)
    cells = other.state.cells
    for cell in worlds.hidden:
        group = game.ruleset.model.groups[worlds.layout.owner_of(cell)[0]]
        if isinstance(group.type, PoolType):
            more = draw(500) + 1
            old = cells[cell]
            cells[cell] = tuple(number + more for number in old) if isinstance(old, tuple) else old + more
        elif isinstance(group.type, IntType) and group.range is None and cells[cell] is not None:
            cells[cell] = game.state.cells[cell] + draw(9) + 1
    return other


def _cells(game: Game, groups: Collection[str]) -> Iterator[int]:
    """The cells of such groups."""
    layout = game.machine.constants.layout
    for name in groups:
        yield from range(layout.base[name], layout.base[name] + layout.count(name))


def _fits(option: Option, made: _Made) -> bool:
    """Return whether an option is the choice that was made, for all that is known of it."""
    return made.alternative is None or (option.do == made.alternative and set(made.values) <= set(option.values))


def _place(game: Game) -> tuple[int, str, int] | None:
    """Return the seat that is asked, its decision and position."""
    asked = game.decision
    return None if asked is None else (asked.actor, asked.name, asked.frame[0])


def _flat(held: Value) -> tuple[int, ...]:
    """The cards of a zone, pile by pile."""
    return tuple(card for pile in held for card in pile) if held and isinstance(held[0], tuple) else tuple(held)


def _shaped(cards: list[int], like: Value) -> Value:
    if not like or not isinstance(like[0], tuple):
        return tuple(cards)
    ends = list(accumulate(len(pile) for pile in like))
    return tuple(tuple(cards[end - len(pile) : end]) for pile, end in zip(like, ends, strict=True))
