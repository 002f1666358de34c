"""View of a table from a seat, as plain data for the page: panels, board and status.

No hidden information gets into the data: every value is evaluated on the state as :mod:`interpreter.hidden.sight`
veils it for the seat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace

from interpreter.base.plurals import titled
from interpreter.drawing.board import Drawn, drawn_on, piece_at
from interpreter.drawing.colours import SEATS, colours_for, darker, ink_on
from interpreter.drawing.picture import Picture, picture_of, unplayed, without_pieces
from interpreter.engine.game import Game
from interpreter.engine.views import Spoken, question_of
from interpreter.hidden.sight import Unseen, Veil
from interpreter.kernel.state import State, Value
from interpreter.language import core
from interpreter.language.model import Model, Panel
from interpreter.language.types import NONE, CardType, KindType, Type, item_type, name_of
from interpreter.language.walk import is_printed
from interpreter.lowering.constants import RuleFailure
from interpreter.serve.derived import panels_of
from interpreter.serve.live import PUBLIC, Live
from interpreter.serve.pointing import Thing

__all__ = ["Data", "Scene", "phase_of"]

Data = Mapping[str, object]
"""Data for a template."""
_PLAIN = "#8f9296"
HIDDEN: Data = {"k": "text", "text": "…"}
NOTHING: Data = {"k": "text", "text": "–"}


@lru_cache(60)
def _drawn(board: Picture) -> Drawn:
    """Draw a board without pieces, in full colour."""
    spots = tuple(replace(spot, pale=False) for spot in board.spots)
    return drawn_on(replace(board, spots=spots), titled=False)


class Scene:
    """A game from the view of a seat. ``seat`` is :data:`PUBLIC` for spectators."""

    def __init__(self, live: Live, game: Game, seat: int, language: str) -> None:
        self.live, self.game, self.seat, self.language = live, game, seat, language
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
        value = self.game.table.sight.compiled(self.game.state, tree, self.player)(state or self.state, env)
        if isinstance(value, range):
            value = tuple(value)
        if not isinstance(value, Veil):
            hash(value)  # reads every part, so that a veil raises
            if not self.game.table.sight.shows(self.game.state, value, tree.type, self.player):
                raise Unseen
        return value

    def _known(self, tree: core.Expression, env: list[Value]) -> Value:
        """Return the value of an expression, or a :class:`Veil` if it is hidden or has none."""
        try:
            return self.value(tree, env)
        except (Unseen, RuleFailure):
            return Veil()

    def env(self, panel: Panel) -> list[Value]:
        return _locals(panel.local_count, self.me)

    def shown(self, tree: core.Expression, env: list[Value]) -> Data:
        """Return the data of an expression's value for the page."""
        try:
            return self.cell(self.value(tree, env), tree.type)
        except Unseen:
            return HIDDEN
        except RuleFailure:
            return NOTHING

    def cell(self, value: Value, type_: Type) -> Data:
        if isinstance(value, Veil):
            return HIDDEN if value.many is None else {"k": "backs", "n": value.many}
        if value is None:
            return NOTHING
        of = item_type(type_)
        form, items = (type_.word, (value,)) if of is None else (f"{type_.word} of {of.word}", value)
        match form:
            case "card" | "pile of card" | "list of card" | "set of card":
                return {"k": "cards", "items": [self.card(card) for card in items]}
            case "list of pile":
                return {"k": "piles", "items": [[self.card(card) for card in pile] for pile in items]}
            case "bag":
                held = [(number, count) for number, count in enumerate(value) if count]
                return {"k": "tokens", "items": [{"n": n, **self.member(name_of(type_), token)} for token, n in held]}
            case "seat" | "list of seat":
                return {"k": "seats", "items": [self.seat_data(each) for each in items]}
            case "kind":
                return {"k": "chip", **self.member(name_of(type_), value)}
            case "list of node" | "set of node" if len(value) > 8:
                return {"k": "text", "text": str(len(value)), "note": self.spoken.text(value, type_)}
            case "int":
                return {"k": "number", "text": str(value)}
        return {"k": "text", "text": self.spoken.text(value, type_)}

    def _mark(self, thing: Thing) -> Data:
        return {"thing": str(thing), "can": thing in self.can, "picked": thing in self.picked}

    def member(self, kind: str, number: int) -> Data:
        text, colour = self.spoken.text(number, KindType(kind)), self.colour(kind, number)
        return {"text": text, "colour": colour, "ink": ink_on(colour), **self._mark(Thing("kind", number, kind))}

    def colour(self, kind: str, number: int) -> str:
        named = self.model.colours.get(kind, {})
        words = [named.get(member, member) for member in self.model.members(kind)]
        return colours_for(words)[words[number]]

    def seat_data(self, seat: int) -> Data:
        colour = SEATS[seat % len(SEATS)]
        return {
            "text": self.live.seat_name(seat, self.language),
            "number": seat + 1,
            "colour": colour,
            "ink": ink_on(colour),
            "mine": seat == self.seat,
            "acts": any(decision.actor == seat for decision in self.game.decisions),
            **self._mark(Thing("seat", seat)),
        }

    def is_own(self, card: int) -> bool:
        layout, cells = self.game.machine.constants.layout, self.game.state.cells
        where = cells[layout.base["location"] + card]
        owned = (layout.base[group.name] for group in self.model.groups.values() if group.owner == "seat")
        return any(where == first + self.me for first in owned)

    # --- cards

    def card(self, card: int) -> Data:
        kind = self.model.cards[card].kind
        name = self.spoken.text(card, CardType(kind))
        face, colours = (self._face if kind in self.model.faces else self._plain_face)(card)
        fill = [(colour, darker(colour, 0.35)) for colour in colours or [_PLAIN]]  # stripes, and their edges
        title = face.get("title") or name
        return {"name": name, **face, "title": title, "fill": fill, **self._mark(Thing("card", card))}

    def _face(self, card: int) -> tuple[dict[str, object], list[str]]:
        """Return the face that the family declares for a card, and its colours."""
        looks = self.model.faces[self.model.cards[card].kind]

        def part(name: str) -> tuple[Value, Type]:
            look = looks.get(name)
            if look is None or look.value is None:
                return None, NONE
            return self._known(look.value, _locals(look.local_count, card)), look.value.type

        face: dict[str, object] = {name: self._text(card, name) for name in ("title", "left", "right", "note")}
        (held, of), (room, _) = part("holds"), part("room")
        face |= {"room": room, "held": []}
        if of.word == "bag" and isinstance(held, tuple):
            face |= {"held": list(self._held(card, held, name_of(of))), "stored": sum(held)}
        return face, self._colours(*part("colour"))

    def _plain_face(self, card: int) -> tuple[dict[str, object], list[str]]:
        """Return the default face of a card: its attributes, and the colours of the first kind among them."""
        row = self.model.cards[card]
        kind = self.model.card_kinds[row.kind]
        shown = {name: row.values.get(name) for name in kind.attributes if name != kind.key}
        values = [(name, value, kind.attributes[name]) for name, value in shown.items() if value is not None]
        rows = [(name.replace("_", " "), self.spoken.text(value, type_)) for name, value, type_ in values]
        colours = filter(None, (self._colours(value, type_) for _, value, type_ in values))
        note = ", ".join(f"{name} {text}" for name, text in rows)
        return {"rows": rows, "note": note, "room": None, "held": []}, next(colours, [])

    def _text(self, card: int, name: str) -> str:
        kind = self.model.cards[card].kind
        look = self.model.faces[kind].get(name)
        if look is None:
            return ""
        known = _printed(self.model, self.language).get((kind, name), {})
        if card not in known:
            env = _locals(look.local_count, card)
            try:
                known[card] = "".join(
                    each if isinstance(each, str) else self._spoken(self.value(each, env), each.type)
                    for each in look.parts
                )
            except (Unseen, RuleFailure):
                return "…"
        return known[card]

    def _spoken(self, value: Value, type_: Type) -> str:
        if isinstance(value, Veil):
            raise Unseen
        return "" if value is None else self.spoken.text(value, type_)

    def _held(self, card: int, bag: Sequence[int], kind: str) -> Iterator[Data]:
        is_burning = self.burning is not None and self.burning[:2] == (card, kind)
        burning = self.burning[2] if self.burning is not None and is_burning else (0,) * len(bag)
        for number, (count, burnt) in enumerate(zip(bag, burning, strict=True)):
            token = self.member(kind, number)
            for place in range(max(count, burnt)):
                # a picked kind is marked only once, among the tokens of a seat
                yield {**token, "burns": place < burnt, "picked": token["picked"] and place >= count}

    def _colours(self, value: Value, type_: Type) -> list[str]:
        """Return the colours of a member of a kind, or of several."""
        if isinstance(value, Veil) or value is None:
            return []
        of = item_type(type_)
        kind, members = (type_, (value,)) if of is None else (of, value)
        return [self.colour(name_of(kind), each) for each in members] if kind.word == "kind" else []

    # --- panels

    def heading(self, name: str) -> str:
        return self.spoken.word(f"table.{name}") or titled(name.removeprefix("board_").removeprefix("own_"))

    def panels(self, is_open: Callable[[Panel], bool]) -> list[tuple[Panel, Data]]:
        """Return the visible panels in order."""
        open_ = [panel for panel in panels_of(self.model) if is_open(panel) and self.holds(panel)]
        visible = [(panel, self.panel(panel)) for panel in open_]
        return [each for each in visible if self.model.panels or not _is_empty(each[1].get("value"))]

    def holds(self, panel: Panel) -> bool:
        """Return whether the condition of a panel holds, as far as the seat can know."""
        value = self._known(panel.test, self.env(panel)) if panel.test is not None else True
        return not isinstance(value, Veil) and bool(value)

    def panel(self, panel: Panel) -> Data:
        """Return the data of a panel. :meth:`board` and :meth:`sums` add those of graphs and calculators."""
        data: Data = {"heading": self.heading(panel.name)}
        match panel.form:
            case "cards" | "tokens" if panel.shown is not None:
                return {**data, "value": self.shown(panel.shown, self.env(panel))}
            case "track":
                return {**data, "value": self._track(panel)}
            case "columns":
                return {**data, **self._columns(panel)}
            case "printed":
                return {**data, **self._printed(panel)}
        return data

    def _columns(self, panel: Panel) -> Data:
        env = self.env(panel)
        heads = [
            self.spoken.word(f"table.{panel.name}.{name}")
            or self.spoken.word(f"boards.{panel.name.removeprefix('board_')}.{name}")
            or name.replace("_", " ")
            for name, _ in panel.columns
        ]
        items = self._known(panel.rows, env) if panel.rows is not None else (None,)
        if isinstance(items, Veil):
            return {"columns": heads, "rows": [[HIDDEN] * len(heads)], "seats": [None]}
        rows, seats = [], []
        of = item_type(panel.rows.type) if panel.rows is not None else None
        is_of_seats = of is not None and of.word == "seat"
        for item in items:
            if panel.rows is not None:
                env[panel.row_local] = item
            rows.append([self.shown(value, env) for _, value in panel.columns])
            seats.append(self.seat_data(item) if is_of_seats and isinstance(item, int) else None)
        return {"columns": heads, "rows": rows, "seats": seats}

    def _track(self, panel: Panel) -> Data:
        """Return the data of a track: prices and tokens of its spaces, the cheapest first."""
        node, constants = panel.shown, self.game.machine.constants
        assert isinstance(node, core.Read)
        assert isinstance(node.cell, core.Cell)
        track = constants.tracks.get(constants.layout.base[node.cell.group])
        held = self._known(node, self.env(panel))
        if track is None or isinstance(held, Veil):
            return self.cell(held, node.type)
        kind = name_of(node.type) if node.type.word == "bag" else ""
        lanes, prices = [], set[int]()
        for number, count in enumerate(held if isinstance(held, tuple) else (held,)):
            spaces = {price: (full, size) for price, full, size in track.spaces_filled(number, count) if size}
            prices |= spaces.keys()
            name = self.member(kind, number) if kind else {"text": "", "colour": _PLAIN, "ink": "#fff"}
            lanes.append({**name, "count": count, "spaces": spaces})
        return {"k": "track", "prices": sorted(prices), "lanes": lanes}

    def _printed(self, panel: Panel) -> Data:
        """Return the data of a printed table. Keys before the last two are fixed to their marks."""
        table, env = self.model.tables[panel.printed], self.env(panel)
        values = {key: self._known(tree, env) for key, tree in panel.marks}
        marks = {key: value for key, value in values.items() if not isinstance(value, Veil)}
        fixed = [marks.get(key, axis[0]) for key, axis in zip(table.keys[:-2], table.axes, strict=False)]
        keys, axes, types = table.keys[len(fixed) :], table.axes[len(fixed) :], table.key_types[len(fixed) :]

        def head(at: int, value: Value) -> Data:
            return {**self.cell(value, types[at]), "here": keys[at] in marks and marks[keys[at]] == value}

        def body(*at: Value) -> Data:
            here = all(marks[key] == value for key, value in zip(keys, at, strict=True) if key in marks)
            return {**self.cell(table.cells[(*fixed, *at)], table.gives), "here": bool(marks) and here}

        if len(keys) == 1:
            rows = [(head(0, value), [body(value)]) for value in axes[0]]
            return {"keys": keys, "heads": [], "body": rows, "fixed": [], "long": len(rows) > 8}
        heads = [head(1, value) for value in axes[1]]
        rows = [(head(0, first), [body(first, second) for second in axes[1]]) for first in axes[0]]
        said = (self.spoken.text(value, type_) for value, type_ in zip(fixed, table.key_types, strict=False))
        named = [f"{key} {text}" for key, text in zip(table.keys, said, strict=False)]
        return {"keys": keys, "heads": heads, "body": rows, "fixed": named, "long": False}

    # --- sums

    def sums(self, panel: Panel, picks: Iterable[Thing]) -> Data:
        """Return the costs of things bought one after another, computed on a copy of the game."""
        copy = self.game.clone()
        state = copy.table.sight.seen_by(copy.state, self.player)
        known = {Thing.of(each.type, 0).family: each for each in panel.sums}
        rows, total = [], 0
        for number, thing in enumerate(picks):
            each = known.get(thing.family)
            if each is None:
                continue
            try:
                text = self.spoken.text(thing.value, each.type)
            except IndexError:  # no page offers it
                continue
            try:
                costs = self.value(each.costs, _locals(0, self.me, thing.value), state)
                if each.then:
                    called = self.game.machine.functions.called[self.model.rules[each.then].top.id]
                    called(state, (self.me, thing.value))
                    state.forget()
                total += costs
            except (Unseen, RuleFailure, TypeError):
                costs = None
            rows.append({"n": number, "thing": str(thing), "text": text, "costs": costs})
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
            picture = picture_of(unplayed(self.game.ruleset))
        drawn = _drawn(without_pieces(picture))
        plan = drawn.plan
        nodes = []
        for number, (spot, slots) in enumerate(zip(picture.spots, plan.slots, strict=True)):
            pieces = [(slot.piece, at) for slot, at in zip(spot.slots, slots, strict=True) if slot.piece]
            owners = [self.live.seat_name(int(piece.number) - 1, self.language) for piece, _ in pieces]
            nodes.append(
                {
                    "x": round(plan.centres[number].real, 1),
                    "y": round(plan.centres[number].imag, 1),
                    "r": round(plan.radii[number], 1),
                    "pale": spot.pale,
                    "pieces": "".join(piece_at(piece, at) for piece, at in pieces),
                    "label": ", ".join([spot.name, *owners, *(["out of play"] * spot.pale)]),
                    **self._mark(Thing("node", number)),
                }
            )
        width, height = round(drawn.width, 1), round(drawn.height, 1)
        return {
            "base": drawn.svg,
            "width": width,
            "height": height,
            "wide": width > 2 * height,
            "x": round(drawn.shift.real, 2),
            "y": round(drawn.shift.imag, 2),
            "nodes": nodes,
        }

    # --- status

    def status(self) -> Data:
        """Return the data of the status line: round, phase, and the current decision with its seat."""
        game, phase = self.game, phase_of(self.game)
        mine = game.decision_of(self.seat) if self.seat != PUBLIC else None
        current = mine or game.decision
        return {
            "round": game.round,
            "phases": [(self.phase_name(each), each == phase) for each in self.model.phases],
            "actors": [self.seat_data(each.actor) for each in game.decisions],
            "asks": question_of(game.table, game.state, current, self.language, self.player) if current else "",
            "mine": mine is not None,
            "over": game.is_over,
            "result": self._result(),
        }

    def phase_name(self, phase: str) -> str:
        said = self.spoken.word(f"phase.{phase}") or self.spoken.word(phase).strip("— ")
        return said or titled(phase)

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


def phase_of(game: Game) -> str:
    """Return the current phase, or an empty text between phases."""
    phases, number = game.ruleset.model.phases, game.state.cells[game.machine.constants.layout.base["phase"]]
    return phases[number] if 0 <= number < len(phases) else ""


@lru_cache(maxsize=64)
def _printed(model: Model, language: str) -> dict[tuple[str, str], dict[int, str]]:
    """Return empty caches of texts by card, for the parts of faces that do not depend on a game."""
    return {
        (kind, name): {} for kind, face in model.faces.items() for name, look in face.items() if is_printed(look.parts)
    }


def _is_empty(value: object) -> bool:
    match value:
        case {"k": "cards" | "piles" | "tokens", "items": [*items]}:
            return not any(items)
    return False


def _locals(count: int, *first: Value) -> list[Value]:
    """Return locals with room for those of the expressions, and eight of what they call."""
    return [*first, *[None] * (count + 8)]
