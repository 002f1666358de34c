"""View of a table from a seat, as plain data for the page: panels, board and status.

No hidden information gets into the data: every value is evaluated on the state as :mod:`interpreter.engine.sight`
veils it for the seat.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace

from interpreter.drawing.board import Drawn, drawn_on, piece_at
from interpreter.drawing.colours import SEATS, colours_for, darker, ink_on
from interpreter.drawing.picture import Picture, picture_of
from interpreter.drawing.plan import Plan, arranged
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.sight import Unseen, Veil, compiled, may_see, seen_by
from interpreter.engine.views import Spoken, question_of
from interpreter.kernel.state import State, Value
from interpreter.language import core
from interpreter.language.model import Model, Panel
from interpreter.language.types import CardType, KindType, Type, has_cards, item_type, name_of
from interpreter.language.walk import is_printed
from interpreter.lowering.constants import RuleFailure
from interpreter.serve.derived import panels_of
from interpreter.serve.live import PUBLIC, Live
from interpreter.serve.pointing import Thing

__all__ = ["Data", "Maps", "Scene"]

Data = Mapping[str, object]
"""Data for a template."""
_PLAIN = "#8f9296"
HIDDEN: Data = {"k": "text", "text": "…", "hidden": True}


class Maps:
    """Cache of board drawings: the layout is computed once for a ruleset, the drawing again when its look changes."""

    def __init__(self) -> None:
        self._plans: dict[Hashable, Plan] = {}
        self._drawn: dict[Hashable, Drawn] = {}

    def drawn(self, picture: Picture) -> Drawn:
        """Return the board without pieces, in full colour."""
        spots = tuple(
            (spot.name, spot.label, spot.colour, spot.at, spot.shape, len(spot.slots)) for spot in picture.spots
        )
        labels = tuple(tuple((slot.label, slot.colour) for slot in spot.slots) for spot in picture.spots)
        place = spots, picture.ties, picture.grid
        key = place, labels, picture.legend
        if key not in self._drawn:
            bare = _without_pieces(picture)
            if place not in self._plans:
                _forget_some(self._plans)
                self._plans[place] = arranged(bare)
            plan = self._plans[place]
            _forget_some(self._drawn)
            self._drawn[key] = drawn_on(bare, replace(plan, picture=bare), titled=False)
        return self._drawn[key]


def _forget_some(cache: dict[Hashable, Plan] | dict[Hashable, Drawn]) -> None:
    while len(cache) >= 60:
        cache.pop(next(iter(cache)))


def _without_pieces(picture: Picture) -> Picture:
    spots = tuple(
        replace(spot, pale=False, slots=tuple(replace(slot, piece=None) for slot in spot.slots))
        for spot in picture.spots
    )
    return replace(picture, spots=spots, owners=())


class Scene:
    """A game from the view of a seat. ``seat`` is :data:`PUBLIC` for spectators."""

    def __init__(self, live: Live, game: Game, seat: int, language: str, maps: Maps) -> None:
        self.live, self.game, self.seat, self.language, self.maps = live, game, seat, language, maps
        self.model = game.ruleset.model
        self.player: int | None = None if game.is_over else seat
        self.spoken = Spoken(game.table, game.state, language, self.player)
        self.state = self.spoken.state
        self.can: set[Thing] = set()
        self.picked: set[Thing] = set()
        self.burning: tuple[int, str, tuple[int, ...]] | None = None
        """The picked card, the kind of its tokens, and the number of each that is marked."""

    @property
    def me(self) -> int:
        """The seat that expressions call `me`: the viewer's; for spectators, that of the current decision."""
        if self.seat != PUBLIC:
            return self.seat
        return self.game.decision.actor if self.game.decision is not None else 0

    # --- values

    def value(self, tree: core.Expression, env: list[Value], state: State | None = None) -> Value:
        """Return the value of an expression, or a :class:`Veil`. Raises :class:`Unseen` or :class:`RuleFailure`."""
        self.game.machine.meter.refill()
        value = compiled(self.game.table, self.game.state, tree, self.player)(state or self.state, env)
        if isinstance(value, range):
            value = tuple(value)
        if not isinstance(value, Veil):
            hash(value)
            if has_cards(tree.type, self.model.records):
                seen = self.game.machine.constants.visible_in(self.game.state, value, tree.type)
                if not may_see(seen, self.player):
                    raise Unseen
        return value

    def env(self, panel_locals: int) -> list[Value]:
        return [self.me, *[None] * (panel_locals + 8)]

    def shown(self, tree: core.Expression, env: list[Value]) -> Data:
        """Return the data of an expression's value for the page."""
        try:
            return self.cell(self.value(tree, env), tree.type)
        except Unseen:
            return HIDDEN
        except RuleFailure:
            return {"k": "text", "text": "–"}

    def cell(self, value: Value, type_: Type) -> Data:
        if isinstance(value, Veil):
            return HIDDEN if value.many is None else {"k": "backs", "n": value.many}
        if value is None:
            return {"k": "text", "text": "–"}
        of = item_type(type_)
        match type_.word:
            case "card":
                return {"k": "cards", "items": [self.card(value)]}
            case "pile":
                return {"k": "cards", "items": [self.card(card) for card in value]}
            case "list" | "set" if of is not None and of.word == "card":
                return {"k": "cards", "items": [self.card(card) for card in value]}
            case "list" if of is not None and of.word == "pile":
                return {"k": "piles", "items": [[self.card(card) for card in pile] for pile in value]}
            case "bag":
                return {"k": "tokens", "items": list(self.tokens(value, name_of(type_)))}
            case "seat":
                return {"k": "seats", "items": [self.seat_data(value)]}
            case "list" if of is not None and of.word == "seat":
                return {"k": "seats", "items": [self.seat_data(each) for each in value]}
            case "kind":
                return {"k": "chip", **self.member(name_of(type_), value)}
            case "list" | "set" if of is not None and of.word == "node" and len(value) > 8:
                return {"k": "text", "text": str(len(value)), "note": self.spoken.text(value, type_)}
            case "int":
                return {"k": "number", "text": str(value)}
        return {"k": "text", "text": self.spoken.text(value, type_)}

    def _mark(self, thing: Thing) -> Data:
        return {"thing": str(thing), "can": thing in self.can, "picked": thing in self.picked}

    def member(self, kind: str, number: int) -> Data:
        """Return the name and colour of a member of a kind."""
        return {
            "text": self.spoken.text(number, KindType(kind)),
            "colour": self.colour(kind, number),
            "ink": ink_on(self.colour(kind, number)),
            **self._mark(Thing("kind", number, kind)),
        }

    def colour(self, kind: str, number: int) -> str:
        members = self.model.members(kind)
        named = self.model.colours.get(kind, {})
        words = [named.get(member, member) for member in members]
        return colours_for(words)[words[number]]

    def tokens(self, bag: Sequence[int], kind: str) -> Iterator[Data]:
        for number, count in enumerate(bag):
            if count:
                yield {"n": count, **self.member(kind, number)}

    def seat_data(self, seat: int) -> Data:
        colour = SEATS[seat % len(SEATS)]
        decisions = {decision.actor for decision in self.game.decisions}
        return {
            "text": self.live.seat_name(seat, self.language),
            "number": seat + 1,
            "colour": colour,
            "ink": ink_on(colour),
            "mine": seat == self.seat,
            "acts": seat in decisions,
            **self._mark(Thing("seat", seat)),
        }

    def is_own(self, card: int) -> bool:
        """Return whether a card is in a zone of the viewing seat."""
        layout, cells = self.game.machine.constants.layout, self.game.state.cells
        where = cells[layout.base["location"] + card]
        owned = (layout.base[group.name] for group in self.model.groups.values() if group.owner == "seat")
        return any(where == first + self.me for first in owned)

    # --- cards

    def card(self, card: int) -> Data:
        row = self.model.cards[card]
        face, kind = self.model.faces.get(row.kind), self.model.card_kinds[row.kind]
        thing = self._mark(Thing("card", card))
        if face is None:
            return {**self._plain_face(card), **thing}

        def part(name: str) -> tuple[Value, Type] | None:
            look = face.get(name)
            if look is None or look.value is None:
                return None
            try:
                return self.value(look.value, [card, *[None] * (look.local_count + 8)]), look.value.type
            except (Unseen, RuleFailure):
                return None

        def words(name: str) -> str:
            look = face.get(name)
            if look is None:
                return ""
            known = _printed(self.model, self.language).get((row.kind, name))
            if known is not None and card in known:
                return known[card]
            env: list[Value] = [card, *[None] * (look.local_count + 8)]
            try:
                text = "".join(
                    each if isinstance(each, str) else self._spoken(self.value(each, env), each.type)
                    for each in look.parts
                )
            except (Unseen, RuleFailure):
                return "…"
            if known is not None:
                known[card] = text
            return text

        texts = {name: words(name) for name in ("title", "left", "right", "note")}
        coloured = part("colour")
        colours = (list(self._colours(*coloured)) if coloured is not None else []) or [_PLAIN]
        held, room = part("holds"), part("room")
        data: dict[str, object] = {
            "kind": row.kind,
            **texts,
            "title": texts["title"] or self.spoken.text(card, CardType(row.kind)),
            "colours": colours,
            "fill": _fill(colours),
            "ink": ink_on(colours[0]),
            "room": None if room is None else room[0],
            "held": [],
            "name": self.spoken.text(card, CardType(kind.name)),
        }
        if held is not None and held[1].word == "bag" and not isinstance(held[0], Veil):
            data["held"] = list(self._held(card, held[0], name_of(held[1])))
            data["stored"] = sum(held[0])
        return {**data, **thing}

    def _spoken(self, value: Value, type_: Type) -> str:
        if isinstance(value, Veil):
            raise Unseen
        return "" if value is None else self.spoken.text(value, type_)

    def _held(self, card: int, bag: Sequence[int], kind: str) -> Iterator[Data]:
        marked = self.burning[2] if self.burning is not None and self.burning[:2] == (card, kind) else ()
        for number, count in enumerate(bag):
            for place in range(count):
                burns = bool(marked) and place < marked[number]
                # a picked kind is marked only once, among the tokens of a seat
                yield {**self.member(kind, number), "burns": burns, "on": card, "picked": False}
            for _ in range(max(0, (marked[number] if marked else 0) - count)):
                yield {"burns": True, "on": card, "lent": True, **self.member(kind, number)}

    def _plain_face(self, card: int) -> Data:
        """Return the default face of a card: its key, its attributes, and the colour of the first kind among them."""
        row = self.model.cards[card]
        kind = self.model.card_kinds[row.kind]
        notes: list[tuple[str, str]] = []
        colours: list[str] = []
        for name, type_ in kind.attributes.items():
            value = row.values.get(name)
            if name == kind.key or value is None:
                continue
            of = item_type(type_)
            if not colours and (type_.word == "kind" or (of is not None and of.word == "kind")):
                colours = list(self._colours(value, type_.sure))
            notes.append((name.replace("_", " "), self.spoken.text(value, type_)))
        colours = colours or [_PLAIN]
        return {
            "kind": row.kind,
            "title": self.spoken.text(card, CardType(row.kind)),
            "name": self.spoken.text(card, CardType(row.kind)),
            "rows": notes,
            "note": ", ".join(f"{name} {text}" for name, text in notes),
            "colours": colours,
            "fill": _fill(colours),
            "ink": ink_on(colours[0]),
            "held": [],
            "room": None,
        }

    def _colours(self, value: Value, type_: Type) -> Iterator[str]:
        if isinstance(value, Veil) or value is None:
            return
        if type_.sure.word == "kind":
            yield self.colour(name_of(type_), value)
        elif (of := item_type(type_)) is not None and of.word == "kind":
            yield from (self.colour(name_of(of), each) for each in value)

    # --- panels

    def heading(self, name: str) -> str:
        said = self.spoken.word(f"table.{name}")
        if said:
            return said
        words = name.removeprefix("board_").removeprefix("own_").replace("_", " ")
        return words[:1].upper() + words[1:]

    def panels(self, is_open: Callable[[Panel], bool]) -> list[tuple[Panel, Data]]:
        """Return the visible panels in order."""
        visible = []
        for panel in panels_of(self.model):
            if not is_open(panel):
                continue
            if panel.test is not None and not self._holds(panel):
                continue
            data = self.panel(panel)
            if self.model.panels or not _is_empty(data.get("value")):
                visible.append((panel, data))
        return visible

    def _holds(self, panel: Panel) -> bool:
        assert panel.test is not None
        try:
            return bool(self.value(panel.test, self.env(panel.local_count)))
        except (Unseen, RuleFailure):
            return False

    def panel(self, panel: Panel) -> Data:
        """Return the data of a panel. :meth:`board` and :meth:`sums` add those of graphs and calculators."""
        data: Data = {"name": panel.name, "form": panel.form, "heading": self.heading(panel.name), "cites": panel.cites}
        match panel.form:
            case "cards" | "tokens":
                assert panel.shown is not None
                return {**data, "value": self.shown(panel.shown, self.env(panel.local_count))}
            case "track":
                assert panel.shown is not None
                return {**data, "value": self._track(panel)}
            case "columns":
                return {**data, **self._columns(panel)}
            case "printed":
                return {**data, **self._printed(panel)}
        return data

    def _columns(self, panel: Panel) -> Data:
        env = self.env(panel.local_count)
        heads = [
            self.spoken.word(f"table.{panel.name}.{name}")
            or self.spoken.word(f"boards.{panel.name.removeprefix('board_')}.{name}")
            or name.replace("_", " ")
            for name, _ in panel.columns
        ]
        try:
            items = self.value(panel.rows, env) if panel.rows is not None else (None,)
            if isinstance(items, Veil):
                raise Unseen
        except (Unseen, RuleFailure):
            return {"columns": heads, "rows": [[HIDDEN] * len(heads)], "seats": [None]}
        rows, seats = [], []
        of = item_type(panel.rows.type) if panel.rows is not None else None
        for item in items:
            if panel.rows is not None:
                env[panel.row_local] = item
            rows.append([self.shown(value, env) for _, value in panel.columns])
            seats.append(
                self.seat_data(item) if of is not None and of.word == "seat" and isinstance(item, int) else None
            )
        return {"columns": heads, "rows": rows, "seats": seats}

    def _track(self, panel: Panel) -> Data:
        """Return the data of a track: prices and tokens of its spaces, the cheapest first."""
        node = panel.shown
        assert isinstance(node, core.Read)
        cell = node.cell
        assert isinstance(cell, core.Cell)
        track = self.game.machine.constants.tracks.get(self.game.machine.constants.layout.base[cell.group])
        try:
            held = self.value(node, self.env(panel.local_count))
        except (Unseen, RuleFailure):
            return HIDDEN
        if track is None or isinstance(held, Veil):
            return self.cell(held, node.type)
        kind = name_of(node.type) if node.type.word == "bag" else ""
        counts = held if isinstance(held, tuple) else (held,)
        lanes = []
        prices: dict[int, None] = {}
        for number, count in enumerate(counts):
            spaces = [space for space in track.spaces_filled(number, count) if space[2]]
            prices.update((price, None) for price, _, _ in spaces)
            name = self.member(kind, number) if kind else {"text": "", "colour": _PLAIN, "ink": "#fff"}
            lanes.append({**name, "count": count, "spaces": {price: (full, size) for price, full, size in spaces}})
        return {"k": "track", "prices": sorted(prices), "lanes": lanes}

    def _printed(self, panel: Panel) -> Data:
        """Return the data of a printed table. Keys before the last two are fixed to their marks."""
        table = self.model.tables[panel.printed]
        env, marks = self.env(panel.local_count), {}
        for key, tree in panel.marks:
            try:
                marks[key] = self.value(tree, env)
            except (Unseen, RuleFailure):
                continue
        fixed = []
        for place, key in enumerate(table.keys[:-2]):
            fixed.append(marks.get(key, table.axes[place][0]))
        keys, axes, types = table.keys[len(fixed) :], table.axes[len(fixed) :], table.key_types[len(fixed) :]

        def head(at: int, value: Value) -> Data:
            cell = self.cell(value, types[at])
            return {**cell, "here": marks.get(keys[at]) == value and keys[at] in marks}

        def body(*at: Value) -> Data:
            here = all(marks.get(key) == value for key, value in zip(keys, at, strict=True) if key in marks)
            cell = self.cell(table.cells[(*fixed, *at)], table.gives)
            return {**cell, "here": bool(marks) and here}

        if len(keys) == 1:
            rows = [(head(0, value), [body(value)]) for value in axes[0]]
            return {"keys": keys, "heads": [], "body": rows, "fixed": [], "long": len(rows) > 8}
        heads = [head(1, value) for value in axes[1]]
        rows = [(head(0, first), [body(first, second) for second in axes[1]]) for first in axes[0]]
        named = [
            f"{key} {self.spoken.text(v, t)}" for key, v, t in zip(table.keys, fixed, table.key_types, strict=False)
        ]
        return {"keys": keys, "heads": heads, "body": rows, "fixed": named, "long": False}

    # --- sums

    def sums(self, panel: Panel, picks: Iterable[Thing]) -> Data:
        """Return the costs of things bought one after another, computed on a copy of the game."""
        copy = self.game.clone()
        state = seen_by(copy.table, copy.state, self.player)
        known = {(each.type.word, name_of(each.type) if each.type.word == "kind" else ""): each for each in panel.sums}
        rows, total = [], 0
        for number, thing in enumerate(picks):
            each = known.get((thing.form, thing.name))
            if each is None:
                continue
            env: list[Value] = [self.me, thing.value, *[None] * 8]
            try:
                text = self.spoken.text(thing.value, each.type)
            except IndexError:  # no page offers it
                continue
            try:
                costs = self.value(each.costs, env, state)
                if each.then:
                    called = self.game.machine.functions.called[self.model.rules[each.then].top.id]
                    called(state, (self.me, thing.value))
                    state.forget()
                total += costs
                rows.append({"n": number, "thing": str(thing), "text": text, "costs": costs})
            except (Unseen, RuleFailure, TypeError):
                rows.append({"n": number, "thing": str(thing), "text": text, "costs": None})
        return {"rows": rows, "total": total}

    # --- the board

    def board(self) -> Data | None:
        """Return the data of the graph: the drawing without pieces, and nodes with pieces and marks to draw over it."""
        graph = self.model.graph
        if graph is None or not graph.nodes:
            return None
        try:
            picture = picture_of(self.game, self.player)
        except RuleFailure:
            from interpreter.drawing.picture import unplayed

            picture = picture_of(unplayed(self.game.ruleset))
        drawn = self.maps.drawn(picture)
        x, y = drawn.shift
        nodes = []
        for number, spot in enumerate(picture.spots):
            (cx, cy), plan = drawn.plan.centres[number], drawn.plan
            pieces = "".join(
                piece_at(slot.piece, at) for slot, at in zip(spot.slots, plan.slots[number], strict=True) if slot.piece
            )
            owners = [int(slot.piece.number) - 1 for slot in spot.slots if slot.piece]
            label = ", ".join(
                [
                    spot.name,
                    *(self.live.seat_name(owner, self.language) for owner in owners),
                    *(["out of play"] * spot.pale),
                ]
            )
            nodes.append(
                {
                    "x": round(cx, 1),
                    "y": round(cy, 1),
                    "r": round(plan.radii[number], 1),
                    "pale": spot.pale,
                    "pieces": pieces,
                    "name": spot.name,
                    "label": label,
                    **self._mark(Thing("node", number)),
                }
            )
        key = str(id(drawn))
        width, height = round(drawn.width, 1), round(drawn.height, 1)
        return {
            "base": drawn.svg,
            "key": key,
            "width": width,
            "height": height,
            "wide": width > 2 * height,
            "x": round(x, 2),
            "y": round(y, 2),
            "nodes": nodes,
            "node": graph.node,
        }

    # --- status

    def status(self) -> Data:
        """Return the data of the status line: round, phase, and the current decision with its seat."""
        cells, base = self.game.state.cells, self.game.machine.constants.layout.base
        number = cells[base["phase"]]
        phase = self.model.phases[number] if 0 <= number < len(self.model.phases) else ""
        decision = self.game.decision
        mine = self.game.decision_of(self.seat) if self.seat != PUBLIC else None
        current = mine or decision
        return {
            "round": cells[base["round"]],
            "phase": self.phase_name(phase),
            "phases": [(self.phase_name(each), each == phase) for each in self.model.phases],
            "actors": [self.seat_data(each.actor) for each in self.game.decisions],
            "asks": self._asks(current) if current is not None else "",
            "mine": mine is not None,
            "over": self.game.is_over,
            "result": self._result(),
        }

    def phase_name(self, phase: str) -> str:
        said = self.spoken.word(f"phase.{phase}") or self.spoken.word(phase).strip("— ")
        return said or phase.replace("_", " ").capitalize()

    def _asks(self, decision: Decision) -> str:
        return question_of(self.game.table, self.game.state, decision, self.language, self.player)

    def _result(self) -> list[Data]:
        result = self.game.result
        if result is None:
            return []
        ranked = sorted((place, seat) for seat, place in enumerate(result.places) if place)
        return [
            {
                "place": place,
                "seat": self.seat_data(seat),
                "keys": [
                    (self.spoken.word(f"result.{name}") or name.replace("_", " "), str(key))
                    for name, key in self.model.keys_by_name(result.keys[seat]).items()
                ],
            }
            for place, seat in ranked
        ]


@lru_cache(maxsize=64)
def _printed(model: Model, language: str) -> dict[tuple[str, str], dict[int, str]]:
    """Return empty caches of texts by card, for the parts of faces that do not depend on a game."""
    return {
        (kind, name): {}
        for kind, face in model.faces.items()
        for name, look in face.items()
        if all(map(is_printed, look.trees))
    }


def _is_empty(value: object) -> bool:
    """Return whether a derived panel would be empty."""
    match value:
        case {"k": "cards" | "piles" | "tokens", "items": [*items]}:
            return not any(items)
    return False


def _fill(colours: Sequence[str]) -> list[tuple[str, str]]:
    """Return the colours of stripes, each with a darker one for its edge."""
    return [(colour, darker(colour, 0.35)) for colour in colours]
