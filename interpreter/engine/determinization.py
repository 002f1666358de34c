"""Determinization: deals hidden cards and tokens anew, consistently with what a seat knows.

**Cards.** The log tells what a seat has seen. A card that moved from an open to a hidden zone stays known until the
zone is shuffled or a card leaves it unseen. All other hidden cards are dealt anew, among the zones between which cards
moved unseen. **Tokens** in hidden pools are known if every move was announced
(:mod:`interpreter.engine.inferable_pools`), and are shared out anew otherwise, together with those on hidden cards. If
the log does not reach back to the beginning, nothing is known. **Values** are drawn anew if they are hidden or name a
hidden card.

**Secret locals.** An active procedure or a delayed block can have a local that the seat may not know
(:mod:`interpreter.engine.secrecy`): a sealed choice of another seat, a number read from hidden cards, an unannounced
draw. Then the world is dealt at the last decision without such a local and replayed from there: known choices are
repeated, unknown ones are random, announced outcomes of chance are repeated, others are random. After each choice the
seat must observe and be asked the same as in the game, and the final view must be equal; cards that the seat saw on the
way stay where they are. Without a log, a game cannot go back, so no world is found. A delayed block of which the seat
may not know that it waits is in no world, unless the replay leads to it.

Worlds do not depend on hidden information: two games that look alike to a seat deal the same worlds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, chain, islice
from typing import NamedTuple

from msgspec import Struct

from interpreter.base.plain_data import Json
from interpreter.engine.decision import Code, Decision, Option
from interpreter.engine.game import Game
from interpreter.engine.log_records import Choice, is_choice, read, reveals
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.sight import may_see
from interpreter.engine.views import lines_since
from interpreter.kernel.chance import ChanceSource, Seeded
from interpreter.kernel.effects import changes
from interpreter.kernel.state import Record, Value, as_bag
from interpreter.language import core, types
from interpreter.language.model import Group
from interpreter.lowering.constants import RuleFailure

__all__ = ["Draw", "Memory", "Undealt", "Worlds", "otherwise", "shuffled", "uppermost"]

Draw = Callable[[int], int]
"""Draws a number from 0 up to, but not including, another."""

DEALS = 8
"""Attempts to deal cards so that they fit."""
REPLAYS = 50
"""Attempts to deal a world from which the replay succeeds."""
TRIES = 4
"""Attempts to replay one choice, each with other random outcomes and, for an unknown choice, another option."""
LENGTH = 4
"""Maximum length of a list that is drawn with its length."""
OPTIONS = 2_000
"""Maximum number of options of a choice that are considered."""


class Undealt(Exception):
    """Raised if no world with other secrets leads to the same observations."""


class _Made(NamedTuple):
    """A past choice as a seat knows it."""

    actor: int
    decision: str
    alternative: str | None
    """None for a sealed choice."""
    values: tuple[tuple[str, Json], ...]
    """Values that the seat knows."""
    seen: object
    """What the seat observed and was asked after the choice; None if it does not matter."""


class _ReplayedChance(Struct, frozen=True):
    """Chance source for replays: announced outcomes are repeated, others are new."""

    names: frozenset[str]
    old: ChanceSource
    new: ChanceSource

    def _of(self, name: str) -> ChanceSource:
        return self.old if name in self.names else self.new

    def shuffle(self, name: str, counter: int, items: tuple[int, ...]) -> tuple[int, ...]:
        return self._of(name).shuffle(name, counter, items)

    def draw(self, name: str, counter: int, options: tuple[object, ...]) -> int:
        return self._of(name).draw(name, counter, options)


class _Place(Struct, frozen=True):
    """Position in a hidden zone whose card is unknown; ``shows`` is its visible back, if any."""

    cell: int
    number: int
    kind: str
    shows: tuple[Value, ...]


class Memory:
    """Knowledge of a seat about hidden cards, from the log of a game: the cards that are ``known``. :meth:`learn`
    updates it as the game goes on."""

    def __init__(self, game: Game, seat: int) -> None:
        constants = game.machine.constants
        self.zones = constants.effects.zones
        self.hidden = {cell for cell, seats in constants.seen_by.items() if seat not in seats and cell in self.zones}
        self.pools = [
            cell for name in sorted(game.table.sight.secrecy.inferable) for cell in constants.layout.cells(name)
        ]
        """Pools whose tokens can be counted if the log reaches back to the beginning."""
        self.known: set[int] = set()
        self._parts: dict[int, int] | None = None
        self._left: dict[int, int] = {}
        self._holds: dict[int, tuple[int, ...]] = {}
        self._read: list[Record] = []
        """Last record read from the log, if any."""
        self._until = 0
        """Number of records read from the log."""
        self.learn(game)

    @property
    def counted(self) -> Collection[int]:
        """Hidden pools whose content the seat knows."""
        return self.pools if self._parts is not None else ()

    def part(self, cell: int) -> int:
        """Return the group of hidden zones that a zone belongs to; cards moved unseen between the zones of a group."""
        if self._parts is None:
            return 0
        while self._parts[cell] != cell:
            cell = self._parts[cell]
        return cell

    def learn(self, game: Game) -> None:
        """Read new log records. If the log does not reach back to the beginning, nothing is known."""
        log, first = game.state.log, game.table.first.cells
        if self._until > len(log) or (self._read and log[self._until - 1] is not self._read[0]):
            self._until = 0  # choices were undone
        cells = {cell: game.state.cells[cell] for cell in (*self.zones, *self.pools)}
        changed_zones = []
        for record in islice(reversed(log), len(log) - self._until):
            for cell, old in changes(record):
                if cell in self.zones:
                    changed_zones.append((cell, _flat(cells[cell])))
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
            for cell, new in reversed(changed_zones):
                self._change(self._parts, cell, new)

    def _change(self, parts: dict[int, int], cell: int, new: tuple[int, ...]) -> None:
        """Record that a zone has new cards or a new order."""
        old, self._holds[cell] = self._holds[cell], new
        arrived = set(new) - set(old)
        self._left.update((card, cell) for card in set(old) - set(new))
        if cell not in self.hidden:
            return
        if not arrived and [card for card in old if card in set(new)] != list(new):
            self.known -= set(new)
        for card in arrived:
            source = self._left.get(card)
            if source in self.hidden:
                self.known -= {card, *self._holds[source]}
                parts[self.part(cell)] = self.part(source)
            else:
                self.known.add(card)


class Worlds:
    """Deals games like a given one at a decision, consistently with what a seat knows.

    ``fixed`` cards stay where they are, with what is on them and names them; a card in ``backs`` is replaced by one
    with the same back. Without ``replay``, sealed choices are kept, unless their cards are in hidden zones, and so are
    delayed blocks.
    """

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
        self.seat, self.fixed, self.backs, self.replay = seat, set(fixed), backs, replay
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
        state = self.game.state
        self._unseen = frozenset(game.table.sight.hidden_cards(state, seat))
        veiled_cells, kept = game.table.sight.veils(state, seat), set(fixed)
        veiled = [cell for cell in veiled_cells if cell in seen or kept.isdisjoint(self._cards_of(cell))]
        self.pools = [cell for cell in veiled if isinstance(self._group(cell).type, types.PoolType)]
        """Pools with hidden content."""
        self._places = list(self._unknown(memory))
        self._pools = self._hidden_pools(memory)
        self._values = [cell for cell in veiled if not isinstance(self._group(cell).type, types.HolderType)]
        self._laid_out: Game | None = None
        """The game without its log, with its state in lists of cells: worlds are copied from it."""

    def _go_back(self) -> None:
        """Go back to the last decision at which no active procedure has a secret local."""
        game, seat = self.now, self.seat
        if game.table.sight.reads_secrets(game.state, seat):
            self.fixed |= Memory(game, seat).known
            game = game.clone(log=True)
        while game.table.sight.reads_secrets(game.state, seat):
            log = game.state.log
            start = next((number for number in reversed(range(len(log))) if is_choice(log[number])), None)
            if start is None:
                raise Undealt
            self.again.insert(0, self._made(game, start))
            game.undo()
        self.game = game

    def _made(self, game: Game, start: int) -> _Made:
        """Return the last choice as the seat knows it, and fix the cards that the seat saw because of it."""
        record = game.state.log[start]
        choice = read(record)
        assert isinstance(choice, Choice)
        site, _, actor, values, context, masks = choice
        self._see(game)
        revealed = reveals(self.now.state.log[start:], choice)
        sealed = (site.ask.sealed or site.ask.kept) and actor != self.seat and not revealed
        known_values = []
        for part, value, mask, public in zip(
            site.core.choices, values, masks[len(context) :], game.option_of(record).values, strict=True
        ):
            if not sealed and (revealed or actor == self.seat or may_see(mask, self.seat)):
                known_values.append(public)
                self.fixed.update(types.cards_in(value, part.type, game.ruleset.model.records))
        name = None if sealed else site.core.name
        return _Made(actor, site.ask.name, name, tuple(known_values), self._noticed(game, start))

    def _see(self, game: Game) -> None:
        """Fix the cards that the seat sees now, or can choose."""
        visible, model = game.machine.constants.visible, game.ruleset.model
        self.fixed |= {card for card in range(len(model.cards)) if may_see(visible(game.state, card), self.seat)}
        decision = game.decision_of(self.seat)
        if decision is not None:
            for number, values in _codes(game, decision):
                for choice, value in zip(decision.site.options[number].core.choices, values, strict=True):
                    self.fixed.update(types.cards_in(value, choice.type, model.records))

    def _noticed(self, game: Game, start: int) -> tuple[object, ...]:
        """Return what the seat observed since a log record, and what it is asked now."""
        lines = lines_since(game.table, game.state, start, self.seat)
        told = [(line.kind, line.name, line.text, line.values) for line in lines]
        own = game.decision_of(self.seat)
        return told, _place(game), None if own is None else (own.context, list(_codes(game, own)))

    def _without_open_choices(self) -> None:
        """Undo waiting simultaneous choices of other seats: only locals hold them, so these seats choose again."""
        decision = self.game.decision
        if decision is None or not decision.site.ask.kept:
            return
        ask, env = decision.site.ask, list(decision.frame[1])
        assert isinstance(ask.seat, core.Local)
        assert isinstance(ask.at_once, core.Local)
        listed, order, *lists = ask.kept
        chosen = env[order]
        mine = [place for place, seat in enumerate(chosen) if seat == self.seat]
        for local in (order, *lists):
            env[local] = tuple(env[local][place] for place in mine)
        env[ask.at_once.index] = tuple(seat for seat in env[listed] if seat not in env[order])
        self.again = [_Made(seat, ask.name, None, (), None) for seat in chosen if seat != self.seat]
        if self.again:
            env[ask.seat.index] = env[ask.at_once.index][0]
            self.game = self.game.stood_at((decision.frame[0], tuple(env), decision.frame[2], decision.frame[3]))

    def _cards_of(self, cell: int) -> Iterable[int]:
        """Return the card that a cell belongs to, or the cards that its value names."""
        group, model = self._group(cell), self.game.ruleset.model
        if group.owner == "card":
            return (cell - self.layout.base[group.name],)
        return types.cards_in(self.game.state.cells[cell], group.type, model.records)

    def _group(self, cell: int) -> Group:
        return self.game.ruleset.model.groups[self.layout.owner_of(cell)[0]]

    # --- hidden things

    def _unknown(self, memory: Memory) -> Iterator[tuple[list[_Place], list[int]]]:
        """Yield groups of places with unknown cards, and these cards in order; each group is dealt separately."""
        known_cards = memory.known
        parts: dict[int, tuple[list[_Place], list[int]]] = {}
        for cell in self.hidden:
            if cell not in self.zones:
                continue
            places, cards = parts.setdefault(memory.part(cell), ([], []))
            type_, tops, held = self._group(cell).type, self._tops(cell), _flat(self.game.state.cells[cell])
            kind = type_.name if isinstance(type_, types.CardHolderType) else ""
            for number, card in enumerate(held):
                if card not in known_cards and card not in self.fixed:
                    back = self._back(cell) if card in self.backs else None
                    shows = tops.get(number, ()) if back is None else (back(card),)
                    places.append(_Place(cell, number, kind, shows))
                    cards.append(card)
        for places, cards in parts.values():
            if len(cards) > 1:
                yield sorted(places, key=lambda place: (not place.shows, not place.kind)), sorted(cards)

    def _tops(self, cell: int) -> dict[int, tuple[Value, ...]]:
        """Return the open backs of top cards, by place."""
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

    def _hidden_pools(self, memory: Memory) -> list[tuple[list[int], list[int]]]:
        """Return the pools with unknown content, grouped by token, and what lies in them together: all tokens that the
        seat does not see elsewhere."""
        unknown = set(self.pools) - set(memory.counted)
        cells, pools = self.game.state.cells, []
        for token in self.game.table.census.tokens:
            if hidden := [cell for cell in token.cells if cell in unknown]:
                elsewhere = [as_bag(cells[cell]) for cell in token.cells if cell not in unknown]
                counts = zip(token.totals, *elsewhere, strict=True)
                pools.append((hidden, [total - sum(seen) for total, *seen in counts]))
        return pools

    # --- dealing

    def deal(self, seed: int, draw: Draw) -> Game:
        """Deal a world, whose further random outcomes come from ``seed``. Raises :class:`Undealt` if none is found."""
        for _ in range(REPLAYS):
            world = self._replayed(self.dealt(draw), draw)
            if world is not None:
                world.chance = Seeded(seed)
                return world
        raise Undealt

    def _replayed(self, world: Game, draw: Draw) -> Game | None:
        """Replay the choices as far as the seat knows them; return None if it would observe a difference."""
        announced = self.now.ruleset.secrecy.announced_draws if self.again else frozenset()
        for made in self.again:
            for _ in range(TRIES):
                attempt = world.clone()
                attempt.chance = _ReplayedChance(announced, self.now.chance, Seeded(draw(1 << 31)))
                if self._is_repeated(attempt, made, draw):
                    break
            else:
                return None
            world = attempt
        if self.again and (
            _place(world) != _place(self.now)
            or (self.again[-1].seen is not None and world.view(self.seat) != self.now.view(self.seat))
        ):
            return None
        return world

    def _is_repeated(self, world: Game, past: _Made, draw: Draw) -> bool:
        """Replay a choice; return False if it is not possible or the seat would observe a difference."""
        decision = world.decision_of(past.actor)
        if decision is None or decision.name != past.decision:
            return False
        try:
            options = [option for option in islice(decision.options, OPTIONS) if _fits(option, past)]
            if not options:
                return False
            world.apply(options[draw(len(options)) if len(options) > 1 else 0], past.actor)
            return past.seen is None or self._noticed(world, 0) == past.seen
        except (IllegalMove, RuleFailure):
            return False

    def dealt(self, draw: Draw) -> Game:
        """Return a copy of the game without log, with hidden things dealt anew."""
        if self._laid_out is None:
            self._laid_out = self.game.clone()
            self._laid_out.state.leave()
            if self.replay:
                kept, blocks = self.layout.base["kept"], self.game.state.cells[self.layout.base["kept"]]
                known = (block for block in blocks if self.game.table.sight.is_known(block, self.seat))
                self._laid_out.state.cells[kept] = tuple(known)
        world = self._laid_out.clone()
        cells, location = world.state.cells, self.layout.base["location"]
        for places, cards in self._places:
            for place, card in zip(places, self._cards_for(places, cards, draw), strict=True):
                flat = list(_flat(cells[place.cell]))
                flat[place.number] = card
                cells[place.cell] = _shaped(flat, cells[place.cell])
                cells[location + card] = place.cell
        for cell in self.hidden:
            shape = self.zones.get(cell)
            if shape is not None and shape.rank is not None and not shape.piles:
                cells[cell] = tuple(sorted(cells[cell], key=partial(shape.rank, world.state)))
        for pools, amounts in self._pools:
            self._share(cells, pools, amounts, draw)
        for cell in self._values:
            type_ = self._group(cell).type
            many = len(cells[cell]) if cell in self.hidden and isinstance(type_, types.CollectionType) else None
            cells[cell] = self._value(cell, type_, many, self.game.table.first.cells[cell], draw)
        return world

    def _value(self, cell: int, type_: types.Type, many: int | None, start: Value, draw: Draw) -> Value:
        """Draw a value of a type uniformly; a number without a range is ``start``. A list gets ``many`` items; None:
        their number is hidden too."""
        records, limits = self.game.ruleset.model.records, self._group(cell).range
        item = types.item_type(type_)
        things = self._things(cell, item or type_)
        match type_:
            case types.CollectionType() | types.PileType():
                names = types.has_cards(type_, records)
                number = names + draw(LENGTH) if many is None else many
                if things and (isinstance(type_, types.SetType) or (names and number <= len(things))):
                    chosen = shuffled(things, draw)[:number]
                    return tuple(sorted(chosen) if isinstance(type_, types.SetType) else chosen)
                if item is None or isinstance(type_, types.SetType):
                    return start or ()
                return tuple(self._value(cell, item, None, 0, draw) for _ in range(number))
            case types.IntType() if limits is not None:
                return limits[0] + draw(limits[1] - limits[0] + 1)
            case types.BoolType():
                return bool(draw(2))
            case types.RecordType():
                return tuple(
                    None
                    if of.optional and not types.has_cards(of, records) and draw(2)
                    else self._value(cell, of, None, 0, draw)
                    for of in records[type_.name].values()
                )
            case _:
                return things[draw(len(things))] if things else start

    def _things(self, cell: int, type_: types.Type) -> Sequence[int]:
        """Return the things of a type that a hidden value can name. If it is hidden only because it names a hidden
        card, these are the hidden cards."""
        things = self.game.ruleset.model.values(type_, len(self.game.machine.constants.seats))
        if cell in self.hidden or not isinstance(type_, types.CardType):
            return things
        return [card for card in things if card in self._unseen] or things

    def _cards_for(self, places: Sequence[_Place], cards: Sequence[int], draw: Draw) -> list[int]:
        """Deal a card to each place, matching the visible back and the kind of the zone."""
        for attempt in range(DEALS + 1):
            remaining, dealt = shuffled(cards, draw), []
            for place in places:
                fitting = (card for card in remaining if self._fits(place, card, backs=attempt < DEALS))
                if (card := next(fitting, None)) is None:
                    break
                remaining.remove(card)
                dealt.append(card)
            else:
                return dealt
        return list(cards)

    def _fits(self, place: _Place, card: int, *, backs: bool) -> bool:
        if place.kind not in ("", self.cards[card].kind):
            return False
        back = self._back(place.cell) if place.shows and backs else None
        return back is None or (back(card),) == place.shows

    def _share(self, cells: list[Value], pools: list[int], amounts: list[int], draw: Draw) -> None:
        """Share tokens among hidden pools at random, in parts of similar size."""
        shares = []
        for amount in amounts:
            parts = [3 + draw(3) for _ in pools]
            ends = [amount * end // sum(parts) for end in accumulate(parts)]
            shares.append([end - start for start, end in zip([0, *ends], ends, strict=False)])
        for cell, *held in zip(pools, *shares, strict=True):
            cells[cell] = tuple(held) if isinstance(cells[cell], tuple) else held[0]


def shuffled(items: Sequence[Value], draw: Draw) -> list[Value]:
    """Return the items in random order."""
    result = list(items)
    for last in range(len(result) - 1, 0, -1):
        other = draw(last + 1)
        result[last], result[other] = result[other], result[last]
    return result


def uppermost(game: Game) -> Iterator[int]:
    """Yield the top cards whose backs are open."""
    layout = game.machine.constants.layout
    for name, group in game.ruleset.model.groups.items():
        if group.top_shows is not None:
            for cell in layout.cells(name):
                held = game.state.cells[cell]
                yield from (pile[0] for pile in held) if isinstance(group.type, types.PilesType) else held[:1]


def otherwise(
    game: Game,
    player: int,
    draw: Draw,
    fixed: Collection[int] = (),
    memory: Memory | None = None,
    backs: Collection[int] = (),
) -> Game:
    """Return a copy of the game without log, in which everything hidden from the player differs.

    Other cards lie in hidden zones, except those that are ``fixed``; cards in ``backs`` are replaced by ones with the
    same back; hidden pools and cards hold more tokens.
    """
    worlds = Worlds(game, player, fixed, replay=False, memory=memory, backs=backs)
    other = worlds.dealt(draw)
    cells = other.state.cells
    for cell in worlds.pools:
        more, old = draw(500) + 1, cells[cell]
        cells[cell] = tuple(number + more for number in old) if isinstance(old, tuple) else old + more
    for cell in worlds.hidden:
        group = game.ruleset.model.groups[worlds.layout.owner_of(cell)[0]]
        if isinstance(group.type, types.IntType) and group.range is None and cells[cell] is not None:
            cells[cell] = game.state.cells[cell] + draw(9) + 1
    return other


def _fits(option: Option, past: _Made) -> bool:
    return past.alternative is None or (option.do == past.alternative and set(past.values) <= set(option.values))


def _codes(game: Game, decision: Decision) -> Iterator[Code]:
    return islice(game.machine.options(game.state, decision.env, decision.site), OPTIONS)


def _place(game: Game) -> tuple[int, str, int] | None:
    """Return the pending decision as (seat, name, stretch)."""
    decision = game.decision
    return None if decision is None else (decision.actor, decision.name, decision.frame[0])


def _flat(content: Value) -> tuple[int, ...]:
    """Return the cards of a zone, pile by pile."""
    return tuple(chain.from_iterable(content)) if content and isinstance(content[0], tuple) else tuple(content)


def _shaped(cards: Iterable[int], like: Value) -> Value:
    """Return cards in piles like these, or as a zone without piles."""
    rest = iter(cards)
    return tuple(tuple(islice(rest, len(pile))) if isinstance(pile, tuple) else next(rest) for pile in like)
