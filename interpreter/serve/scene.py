"""View of a table from a seat, as plain data for the page: panels, board and status.

No hidden information gets into the data: every value is evaluated on the state as :mod:`interpreter.hidden.sight`
veils it for the seat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from msgspec.structs import replace

from interpreter.base.lazy import Lazy
from interpreter.base.plurals import titled
from interpreter.drawing.board import card_in, drawn_on, on_node
from interpreter.drawing.colours import SEATS, card_colours, colours_for, darker, ink_on, member_colour, members_of
from interpreter.drawing.fields import Field, field_of
from interpreter.drawing.picture import Laid, Picture, picture_of, unplayed, without_pieces
from interpreter.drawing.svg import Symbols, path
from interpreter.engine.game import Game
from interpreter.engine.views import HIDDEN as HIDDEN_TEXT
from interpreter.engine.views import Spoken, context_of, question_of
from interpreter.hidden.sight import Unseen, Veil
from interpreter.kernel.state import State, Value
from interpreter.language import core
from interpreter.language.model import Mark, Model, Panel, Phrase, versioned
from interpreter.language.types import (
    NODE,
    NONE,
    SEAT,
    BagType,
    CardType,
    CollectionType,
    IntType,
    KindType,
    ListType,
    NodeType,
    PileType,
    SeatType,
    Type,
    item_type,
)
from interpreter.language.walk import is_printed
from interpreter.lowering.constants import RuleFailure
from interpreter.serve.derived import panels_of
from interpreter.serve.live import PUBLIC, Live
from interpreter.serve.pointing import CARD, Thing
from interpreter.serve.words import t

__all__ = ["Data", "Scene", "phase_of", "things_in"]

Data = Mapping[str, object]
"""Data for a template."""
_PLAIN = "#8f9296"
TILE = 40.0
"""Size of the picture on cards that lie turned on a grid."""
MANY_NODES = 150
"""Number of nodes above which the board takes room from the panels."""
MOST_NUMBERS = 30
"""Most numbers of a scale that are shown although nothing stands there."""
HIDDEN: Data = {"k": "text", "text": "…"}
NOTHING: Data = {"k": "text", "text": "–"}


@lru_cache(60)
def _about(board: Picture) -> list[str]:
    """Return each node in words: what its colour means, the labels of its places, and its links."""
    meaning = {colour: text for text, colour in board.legend}
    links: list[list[str]] = [[] for _ in board.spots]
    for tie in board.ties:
        for here, there in ((tie.a, tie.b), (tie.b, tie.a)):
            links[here].append(f"{board.spots[there].name} {tie.label}".strip())
    return [
        "; ".join(
            filter(None, (meaning.get(spot.colour or "", ""), " ".join(s.label for s in spot.slots), ", ".join(to)))
        )
        for spot, to in zip(board.spots, links, strict=True)
    ]


class Scene:
    """A game from the view of a seat. ``seat`` is :data:`PUBLIC` for spectators. ``was`` is the game as it is, if this
    one is a draft: what differs is marked."""

    def __init__(self, live: Live, game: Game, seat: int, language: str, was: Scene | None = None) -> None:
        self.live, self.game, self.seat, self.language, self.was = live, game, seat, language, was
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
            value = self.value(tree, env)
            was = self.was._known(tree, env) if self.was is not None and not isinstance(value, Veil) else value
            return {**self.cell(value, tree.type), **({} if isinstance(was, Veil) or was == value else {"was": was})}
        except Unseen:
            return HIDDEN
        except RuleFailure:
            return NOTHING

    def cell(self, value: Value, type_: Type) -> Data:
        if isinstance(value, Veil):
            return HIDDEN if value.many is None else {"k": "backs", "n": value.many}
        if value is None:
            return NOTHING
        items = value if item_type(type_) is not None else (value,)
        match type_:
            case CardType() | PileType() | CollectionType(of=CardType()):
                return {"k": "cards", "items": [self.card(card) for card in items]}
            case ListType(of=PileType()):
                return {"k": "piles", "items": [[self.card(card) for card in pile] for pile in items]}
            case BagType(name=kind):
                held = [(number, count) for number, count in enumerate(value) if count]
                return {"k": "tokens", "items": [{"n": n, **self.member(kind, token)} for token, n in held]}
            case SeatType() | ListType(of=SeatType()):
                return {"k": "seats", "items": [self.seat_data(each) for each in items]}
            case KindType(name=kind):
                return {"k": "chip", **self.member(kind, value)}
            case CollectionType(of=NodeType()) if len(value) > 8:
                return {"k": "text", "text": str(len(value)), "note": self.spoken.text(value, type_)}
            case IntType():
                return {"k": "number", "text": str(value)}
        return {"k": "text", "text": self.spoken.text(value, type_)}

    def _mark(self, thing: Thing) -> Data:
        can, picked = thing in self.can, thing in self.picked
        return {"thing": str(thing), "can": can, "picked": picked, "marks": self.marks.get(thing, ())}

    @cached_property
    def marks(self) -> Mapping[Thing, Sequence[Data]]:
        """Labels of things, but for those that the seat could not work out."""
        found: dict[Thing, list[Data]] = {}
        for mark in self.model.marks:
            colour = colours_for([mark.colour or "black"])[mark.colour or "black"]
            for thing, text in self._labels(mark):
                found.setdefault(thing, []).append({"text": text, "colour": colour, "dark": darker(colour, 0.4)})
        return found

    def _labels(self, mark: Mark) -> Iterator[tuple[Thing, str]]:
        known = self._during(mark.during)
        if known is None:
            return
        held: list[Value] = [self.me, *(known.get(name, Veil()) for name, _ in mark.bound[1:-1])]
        items = self._known(mark.items, _locals(mark.local_count, *held))
        for item in () if isinstance(items, Veil) else items:
            try:
                text = self.spoken.word(f"marks.{mark.name}", *held, item)
            except (Unseen, RuleFailure):
                continue
            if HIDDEN_TEXT not in text:
                yield Thing.of(mark.bound[-1][1], item), text

    def _during(self, name: str) -> dict[str, Value] | None:
        """Return what the seat may know of an open decision, or of a procedure under way; None if there is none."""
        table, state = self.game.table, self.game.state
        for decision in self.game.decisions if name else ():
            if decision.name == name:
                shown = context_of(table, state, decision, self.player)
                return {"actor": decision.actor, **{each.name: each.value for each in shown if each.seen}}
        active = table.sight.under_way(state, self.player) if name else [("", [])]
        found = [held for rule, held in active if rule == name]
        return {each.name: each.value for held in found for each in held if each.seen} if found else None

    def member(self, kind: str, number: int) -> Data:
        of, colour = KindType(kind), member_colour(self.model, kind, number)
        text = self.spoken.text(number, of)
        icon = self.model.icons.get(kind, {}).get(self.model.members(kind)[number], "")
        return {"text": text, "colour": colour, "ink": ink_on(colour), "icon": icon, **self._mark(Thing(of, number))}

    def seat_data(self, seat: int) -> Data:
        colour = SEATS[seat % len(SEATS)]
        return {
            "text": self.live.seat_name(seat, self.language),
            "number": seat + 1,
            "colour": colour,
            "ink": ink_on(colour),
            "mine": seat == self.seat,
            "acts": any(decision.actor == seat for decision in (self.was or self).game.decisions),
            **self._mark(Thing(SEAT, seat)),
        }

    def is_own(self, card: int) -> bool:
        layout, cells = self.game.machine.constants.layout, self.game.state.cells
        where = cells[layout.base["location"] + card]
        owned = (layout.base[group.name] for group in self.model.groups.values() if group.owner == SEAT)
        return any(where == first + self.me for first in owned)

    # --- cards

    def card(self, card: int) -> Data:
        kind = self.model.cards[card].kind
        name = self.spoken.text(card, CardType(kind))
        face, members = (self._face if kind in self.model.faces else self._plain_face)(card)
        colours = card_colours(self.model, card, members)
        fill = [(colour, darker(colour, 0.35)) for colour in colours]  # stripes, and their edges
        icons = [
            {**self.member(*each), "can": False, "picked": False} for each in members if self.model.icons.get(each[0])
        ]
        title = face.get("title") or name
        tile = ""
        if (field := _field(self.model)) is not None and "turn" in self.model.faces.get(kind, {}):
            tile = card_in(field, Laid("", tuple(colours), 0.0, ""))
        looks = {"fill": fill, "icons": icons, "tile": tile}
        return {"name": name, **face, "title": title, **looks, **self._mark(Thing(CARD, card))}

    def _face(self, card: int) -> tuple[dict[str, object], list[tuple[str, int]]]:
        """Return the face that the family declares for a card, and the members of kinds that colour it."""
        looks = self.model.faces[self.model.cards[card].kind]

        def part(name: str) -> tuple[Value, Type]:
            look = looks.get(name)
            if look is None or look.value is None:
                return None, NONE
            return self._known(look.value, _locals(look.local_count, card)), look.value.type

        face: dict[str, object] = {name: self._text(card, name) for name in ("title", "left", "right", "note")}
        (held, of), (room, _) = part("holds"), part("room")
        face |= {"room": room, "held": []}
        if isinstance(of, BagType) and isinstance(held, tuple):
            face |= {"held": list(self._held(card, held, of.name)), "stored": sum(held)}
        return face, members_of(*part("colour"))

    def _plain_face(self, card: int) -> tuple[dict[str, object], list[tuple[str, int]]]:
        """Return the default face of a card: its attributes, and the members of the first kind among them."""
        kind = self.model.card_kinds[self.model.cards[card].kind]
        shown = ((name, self.printed(card, name), of) for name, of in kind.attributes.items() if name != kind.key)
        values = [each for each in shown if each[1] is not None and not isinstance(each[1], Veil)]
        rows = [(name.replace("_", " "), self.spoken.text(value, type_)) for name, value, type_ in values]
        members = filter(None, (members_of(value, type_) for _, value, type_ in values))
        note = ", ".join(f"{name} {text}" for name, text in rows)
        return {"rows": rows, "note": note, "room": None, "held": []}, next(members, [])

    def printed(self, card: int, name: str) -> Value:
        """Return an attribute of a card: that of its version in play."""
        return self._known(_attributes(self.model)[self.model.cards[card].kind, name], _locals(1, card))

    def _text(self, card: int, name: str) -> str:
        kind = self.model.cards[card].kind
        look = _look(self.model, self.language, kind, name)
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
        return panel.test is None or self._is(panel.test, panel)

    def _is(self, test: core.Expression, panel: Panel) -> bool:
        value = self._known(test, self.env(panel))
        return not isinstance(value, Veil) and bool(value)

    def panel(self, panel: Panel) -> Data:
        """Return the data of a panel. :meth:`board` adds that of graphs."""
        data = {"heading": self.heading(panel.name), "columns": self._heads(panel.name, panel.columns)}
        match panel.form:
            case "cards" | "tokens" if panel.shown is not None:
                return {**data, "value": self.shown(panel.shown, self.env(panel))}
            case "track":
                return {**data, "value": self._track(panel)}
            case "scale":
                return {**data, **self._scale(panel)}
            case "columns":
                return {**data, **self._columns(panel)}
            case "printed":
                return {**data, **self._printed(panel)}
        return data

    def _heads(self, panel: str, columns: Iterable[tuple[str, object]]) -> list[str]:
        return [
            self.spoken.word(f"table.{panel}.{name}")
            or self.spoken.word(f"boards.{panel.removeprefix('board_')}.{name}")
            or name.replace("_", " ")
            for name, _ in columns
        ]

    def _scale(self, panel: Panel) -> Data:
        """Return the data of a scale: its numbers with what stands there, and those that have a name."""
        rows, number, env = panel.rows, panel.shown, self.env(panel)
        assert rows is not None
        assert number is not None
        items, of = self._known(rows, env), item_type(rows.type)
        assert of is not None
        named = [self._known(value, env) for _, value in panel.lines]
        heads = self._heads(panel.name, panel.lines)
        lines = [(value, head) for value, head in zip(named, heads, strict=True) if isinstance(value, int)]
        at: dict[int, list[Data]] = {}
        for item in () if isinstance(items, Veil) else items:
            env[panel.row_local] = item
            if isinstance(value := self._known(number, env), int):
                at.setdefault(value, []).append(self.cell(item, of))
        ends = {value for value, _ in lines}
        known = sorted({0, *at, *ends})
        shown = range(known[0], known[-1] + 1) if known[-1] - known[0] < MOST_NUMBERS else known
        return {"numbers": [(each, at.get(each, ()), each in ends) for each in shown], "lines": lines}

    def _columns(self, panel: Panel) -> Data:
        env = self.env(panel)
        items = self._known(panel.rows, env) if panel.rows is not None else (None,)
        if isinstance(items, Veil):
            return {"rows": [[HIDDEN] * len(panel.columns)], "seats": [None]}
        rows, seats = [], []
        is_of_seats = panel.rows is not None and isinstance(item_type(panel.rows.type), SeatType)
        for item in items:
            if panel.rows is not None:
                env[panel.row_local] = item
            rows.append([self.shown(value, env) for _, value in panel.columns])
            seats.append(self.seat_data(item) if is_of_seats and isinstance(item, int) else None)
        return {"rows": rows, "seats": seats}

    def own(self) -> dict[str, Data]:
        """Return the cells with numbers in rows of the own seat, by heading."""
        found: dict[str, Data] = {}
        for panel in panels_of(self.model):
            if panel.rows is not None and isinstance(item_type(panel.rows.type), SeatType):
                env = self.env(panel)
                env[panel.row_local] = self.seat
                heads = zip(self._heads(panel.name, panel.columns), panel.columns, strict=True)
                found |= {head: self.shown(tree, env) for head, (_, tree) in heads if isinstance(tree.type, IntType)}
        return {head: cell for head, cell in found.items() if cell["k"] == "number"}

    def _track(self, panel: Panel) -> Data:
        """Return the data of a track: prices and tokens of its spaces, the cheapest first."""
        node, constants = panel.shown, self.game.machine.constants
        assert isinstance(node, core.Read)
        assert isinstance(node.cell, core.Cell)
        track = constants.effects.tracks.get(constants.layout.base[node.cell.group])
        held = self._known(node, self.env(panel))
        if track is None or isinstance(held, Veil):
            return self.cell(held, node.type)
        kind = node.type.name if isinstance(node.type, BagType) else ""
        was = self.was._known(node, self.env(panel)) if self.was is not None else held
        env, items = self.env(panel), self._known(panel.rows, self.env(panel)) if panel.rows is not None else (0,)
        picks = {} if panel.picks is None or self._is(panel.picks, panel) else {"can": False, "picked": False}
        lanes, prices = [], set[int]()
        for number, count in enumerate(held if isinstance(held, tuple) else (held,)):
            spaces = {price: (full, size) for price, full, size in track.spaces_filled(number, count) if size}
            if not spaces:
                continue
            prices |= spaces.keys()
            name = self.member(kind, number) if kind else {"text": "", "colour": _PLAIN, "ink": "#fff"}
            if panel.rows is not None:
                env[panel.row_local] = number
            is_row = not isinstance(items, Veil) and number in items
            cells = [self.shown(value, env) if is_row else NOTHING for _, value in panel.columns]
            would = count != (was[number] if isinstance(was, tuple) else count)
            lanes.append({**name, **picks, "count": count, "spaces": spaces, "cells": cells, "would": would})
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
        was = picture_of(self.was.game, self.player) if self.was is not None else picture
        legend = tuple((self._translated(word), colour) for word, colour in picture.legend)
        picture = replace(picture, title=self.live.ruleset.title_in(self.language), legend=legend)
        bare = without_pieces(picture)  # in full colour, so that all tables share it
        bare = replace(bare, spots=tuple(replace(spot, pale=False) for spot in bare.spots))
        drawn, nodes, about, symbols = drawn_on(bare, titled=False), [], _about(bare), Symbols()
        plan = drawn.plan
        for number, spot in enumerate(picture.spots):
            marked = self._mark(Thing(NODE, number))
            said = [str(label["text"]) for label in self.marks.get(Thing(NODE, number), ())]
            pieces = [slot.piece for slot in spot.slots if slot.piece]
            owners = [self.live.seat_name(int(piece.number) - 1, self.language) for piece in pieces]
            laid = [spot.laid.words] if spot.laid is not None else []
            heaps = (*spot.heaps, *(heap for slot in spot.slots for heap in slot.heaps))
            laid += [f"{heap.number} {heap.words}" for heap in heaps]
            nodes.append(
                {
                    "x": round(plan.centres[number].real, 1),
                    "y": round(plan.centres[number].imag, 1),
                    "r": round(plan.radii[number], 1),
                    "pale": spot.pale,
                    "would": (spot.slots, spot.laid) != (was.spots[number].slots, was.spots[number].laid),
                    "pieces": "".join(on_node(plan, number, spot, symbols)),
                    "label": ", ".join([spot.name, *laid, *owners, *said, *([t("out of play")] * spot.pale)]),
                    "about": about[number],
                    **marked,
                }
            )
        width, height = round(drawn.width, 1), round(drawn.height, 1)
        wide, broad, many = width > 2 * height, width > 1.15 * height, len(nodes) > MANY_NODES
        shapes = {"wide-board": wide, "broad-board": broad, "large-board": many and not broad}
        return {
            "base": drawn.svg,
            "width": width,
            "height": height,
            "shape": " ".join(name for name, has in shapes.items() if has),
            "x": round(drawn.shift.real, 2),
            "y": round(drawn.shift.imag, 2),
            "nodes": nodes,
            "symbols": symbols.defined(),
            "field": path(plan.field.outline(2.5), closed=True) if plan.field is not None else "",
        }

    def _translated(self, word: str) -> str:
        """Return the word for a member of a kind, which the legend of a board has in English."""
        for kind in self.model.kinds:
            if word in (members := list(self.model.members(kind))):
                return self.spoken.text(members.index(word), KindType(kind))
        return word

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


def things_in(data: object, *place: object) -> Iterator[tuple[tuple[object, ...], dict[str, object]]]:
    """Yield the things in data of a page, each with its place and what is there, which tell whether it has changed."""
    match data:
        case {"seats": [*seats], "rows": [*rows]}:
            for seat, row in zip(seats, rows, strict=True):
                for column, cell in enumerate(row):
                    yield from things_in(cell, *place, seat and seat["number"], column)
        case dict():
            if "thing" in data:
                yield (*place, data["thing"], *map(data.get, ("n", "count", "stored", "pieces"))), data
            for name in ("value", "items", "lanes", "nodes"):
                yield from things_in(data.get(name), *place)
        case list():
            for each in data:
                yield from things_in(each, *place)


def phase_of(game: Game) -> str:
    """Return the current phase, or an empty text between phases."""
    phases, number = game.ruleset.model.phases, game.state.cells[game.machine.constants.layout.base["phase"]]
    return phases[number] if 0 <= number < len(phases) else ""


@lru_cache(maxsize=64)
def _field(model: Model) -> Field | None:
    """Return the field of a grid, as large as cards show it; None if the graph is none."""
    points = [complex(*node.at) for node in model.graph.nodes if node.at is not None] if model.graph is not None else []
    return replace(field_of(points), step=TILE) if model.grid and points else None


@lru_cache(maxsize=64)
def _printed(model: Model, language: str) -> dict[tuple[str, str], dict[int, str]]:
    """Return empty caches of texts by card, for the parts of faces that do not depend on a game."""
    found = {(kind, name): _look(model, language, kind, name) for kind, face in model.faces.items() for name in face}
    return {key: {} for key, look in found.items() if look is not None and is_printed(look.parts)}


@lru_cache(maxsize=64)
def _attributes(model: Model) -> Lazy[tuple[str, str], core.Expression]:
    """Return the trees of the attributes of cards by kind and name, one object for all cards: its closure is kept."""

    def made(key: tuple[str, str]) -> core.Expression:
        declared = model.card_kinds[key[0]]
        type_ = declared.attributes[key[1]]
        static = core.Static(".".join(key), core.Local(0, "card", type=CardType(key[0])), type=type_)
        return versioned(static, declared.versions.get(key[1], {}))

    return Lazy(made)


def _look(model: Model, language: str, kind: str, name: str) -> Phrase | None:
    """Return a part of the face of a kind of card, in a language if there are words for it."""
    return model.says.get(f"faces.{kind}.{name}", {}).get(language) or model.faces[kind].get(name)


def _is_empty(value: object) -> bool:
    match value:
        case {"k": "cards" | "piles" | "tokens", "items": [*items]}:
            return not any(items)
    return False


def _locals(count: int, *first: Value) -> list[Value]:
    """Return locals with room for those of the expressions, and eight of what they call."""
    return [*first, *[None] * (count + 8)]
