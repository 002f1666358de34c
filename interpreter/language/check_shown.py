"""Checker of texts and displays: phrases, boards, measures, the picture and the table in a browser."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from interpreter.base.source import Span
from interpreter.base.yaml_values import word, words
from interpreter.language import core, nodes, types
from interpreter.language.check_table import Layout
from interpreter.language.checker import Checker
from interpreter.language.model import Board, Event, Measure, MeasureKey, Phrase
from interpreter.language.parse import parse_event_pattern, parse_match
from interpreter.language.scope import Frame, frame_of
from interpreter.language.texts import condition_of, expression_of, parsed
from interpreter.language.translations import asks_of, sayable
from interpreter.reading.yaml import Mapping, Scalar, Value
from interpreter.sections import behaviour, drawings
from interpreter.sections.declarations import Entry
from interpreter.sections.vocabulary import Keys

__all__ = ["Shown"]

_TYPES = {
    "piece": (types.PieceType, "a piece", False),
    "card": (types.CardType | types.PileType, "a card or cards", True),
    "tokens": (types.BagType, "tokens", True),
    "side": (types.KindType | types.NoneType, "a member of a kind", True),
}
"""Types of looks whose type matters, with a description, and whether they need a grid."""
_GRIDS = "make the nodes with `graph: {grid: …}`, or give them `x` and `y` and write `picture: {grid: yes}`"
MOMENTS = ("start of game", "end of game", "start of round", "end of round")


class Shown(Checker):
    """Checks texts and displays."""

    def check(self, *, unread: bool) -> None:
        """Check all texts and displays. The variables of decisions are collected before their texts are checked.

        ``unread``: the text of some procedure, which may ask decisions, is invalid.
        """
        self.unread = unread
        for keys in self.composition.read(behaviour.Event):
            said, fields = self.model.events[keys.name].says, list(self.model.events[keys.name].fields.items())
            said.update(self._says(fields, *(layer.read(behaviour.Event).says for layer in keys.layers)))
        self._alternatives()
        layout = Layout(self.composition, self.names, self.diagnostics)
        layout.marks()
        columns = self._columns(drawings.Board), self._columns(drawings.Panel)
        self.sayable = sayable(self.model, *columns, self.composition.sections.get("measures", ()))
        for name, layers in self.composition.sections.get("says", {}).items():
            own = [layer for layer in layers if layer.kind != "words"][-1:]
            bound = self._bound_by(name, layers[-1], optional=not own)
            if bound is None:
                continue
            event = self.model.events.get(name)
            phrases = dict(event.says) if event is not None and not own else {}
            words = (layer.value for layer in layers if layer.kind == "words")
            phrases |= self._says(bound, *(layer.value for layer in own))
            self.model.says[name] = phrases | self._says(bound, *words, own=False)
        self._asks()
        for board in self.composition.read(drawings.Board):
            self.model.boards.append(self.once(("board",), tuple(board.layers), partial(self._board, board)))
        for measure in self.composition.read(drawings.Measure):
            checked = self.once(("measure",), tuple(measure.layers), partial(self._measure, measure))
            if checked is not None:
                self.model.measures.append(checked)
        picture = self.composition.single("picture")
        if picture is not None:
            self._picture(picture)
        for panel in self.composition.read(drawings.Panel):
            if panel.says is not None:
                self._add_below(f"table.{panel.name}", self._says([], panel.says))
        for mark in self.composition.read(drawings.Mark):
            if (bound := self.sayable.get(key := f"marks.{mark.name}")) is not None:
                self._add_below(key, self._says(bound, mark.says))
        layout.check()

    def _alternatives(self) -> None:
        """Collect the variables of every alternative: the actor, the decision's context and its own choices."""
        for ask in asks_of(self.model):
            context = [(name, value.type) for name, value in ask.context]
            for option in ask.options:
                bound = [("who", types.SEAT), *context, *((choice.name, choice.type) for choice in option.choices)]
                key = f"{ask.name}.{option.name}"
                if self.model.alternatives.setdefault(key, bound) != bound:
                    self.error("E511", f"`{key}` has other variables elsewhere", option.span)

    def _asks(self) -> None:
        """Check the prompts of decisions."""
        for name, layers in self.composition.sections.get("asks", {}).items():
            key = f"asks.{name}"
            if key in self.sayable:
                self._add_below(key, self._says(self.sayable[key], layers[-1].value))
            elif not self.unread:
                known = {key[5:] for key in self.sayable if key.startswith("asks.")}
                self.unknown("decision", name, known, layers[-1].span)

    def _add_below(self, name: str, phrases: dict[str, Phrase]) -> None:
        """Add texts of a declaration, which files of words override."""
        self.model.says[name] = {**phrases, **self.model.says.get(name, {})}

    def _columns(self, record: type[drawings.Board | drawings.Panel]) -> dict[str, list[str]]:
        """Return the columns of each board, or of each panel of the table."""
        return {
            each.name: [
                key.text for key, _ in (*each.columns, *(each.lines if isinstance(each, drawings.Panel) else ()))
            ]
            for each in self.composition.read(record)
        }

    def _bound_by(self, name: str, entry: Entry, *, optional: bool) -> list[tuple[str, types.Type]] | None:
        """Return the variables of a text, or None for an unknown key.

        Report an unknown key unless it is ``optional``: a file of words serves the whole family, so it may have keys
        that this ruleset lacks.
        """
        if name in self.sayable:
            return self.sayable[name]
        if not optional and not ("." in name and self.unread):  # an invalid procedure may ask the decision
            self.unknown("name", name, self.sayable, entry.span)
        return None

    def _says(self, bound: list[tuple[str, types.Type]], *layers: Value | None, own: bool = True) -> dict[str, Phrase]:
        """Return the phrases of some layers by language, those of the uppermost layer that has one. If a declaration's
        ``own`` texts are not in English, the first is for readers of all other languages."""

        def said() -> dict[str, Phrase]:
            texts: list[tuple[str, Value]] = []
            for value in layers:
                if isinstance(value, Scalar):
                    texts.append(("en", value))
                elif isinstance(value, Mapping):
                    texts.extend(value.items())
            phrases = {key: self.phrase(text, frame_of(bound)) for key, text in texts if isinstance(text, Scalar)}
            return {"en": next(iter(phrases.values())), **phrases} if own and phrases else phrases

        return self.once(("says", own, *bound), layers, said)

    def _moment(self, value: Value | None) -> str:
        text, phases = word(value), self.names.members("phase")
        known = [*MOMENTS, *(f"{edge} of {phase}" for edge in ("start", "end") for phase in phases)]
        if value is None or text in known:
            return text
        self.unknown("moment", text, known, value.span, code="E302")
        return ""

    def _picture(self, entry: Entry) -> None:
        """Check the looks of nodes, links and places: expressions over the one that is drawn."""
        if self.model.graph is None:
            self.error("E301", "the family declares no graph to draw", entry.span)
            return
        picture = Keys(drawings.Picture).read(entry.value)
        for name, record in (("node", picture.node), ("link", picture.link), ("place", picture.place)):
            looks = self.once(("look",), (record.source,), partial(self.looks, record))
            self.model.picture.update((f"{name}.{key}", look) for key, look in looks.items())
            for key, (forms, want, of_grid) in _TYPES.items():
                for tree in looks[key].trees if key in looks else ():
                    if not isinstance(types.item_type(tree.type) or tree.type, forms | types.NeverType):
                        self.error("E401", f"got {tree.type}, want {want}", record.span(key))
                    if of_grid and not (self.model.grid or picture.grid):
                        self.error("E306", f"`{key}` needs the fields of a grid", record.span(key), _GRIDS)
        self.model.grid |= picture.grid
        if self.model.grid and any(node.at is None for node in self.model.graph.nodes):
            message = f"on a grid each {self.model.graph.node} needs `x` and `y`"
            self.error("E306", message, entry.span, "add these columns to the table of nodes")

    def _board(self, board: drawings.Board) -> Board:
        frame = Frame()
        expressions = self.expressions(frame)
        condition = condition_of(board.if_, self.report)
        test = expressions.condition(condition) if condition is not None else None
        rows, row_local = self.rows(board.rows, expressions, "board")
        columns = tuple(self.named(board.columns, expressions))
        says, moment, span = self._says([], board.says), self._moment(board.when), board.entry.span
        return Board(board.name, moment, says, rows, row_local, columns, frame.size, span, test)

    def _measure(self, measure: drawings.Measure) -> Measure | None:
        frame = Frame()
        keys: list[MeasureKey] = []
        event, test = None, None
        expressions = self.expressions(frame)
        if measure.on is not None:
            pattern = parsed(measure.on, parse_event_pattern, self.report)
            event = self.heard(pattern, frame) if pattern is not None else None
            if pattern is None or event is None:
                return None
            keys.extend(self._event_keys(measure.by, pattern.names, event))
            test = self.narrowed(test, pattern.test, expressions)
        each: list[tuple[int, core.Expression]] = []
        if (seat := measure.each) is not None:
            local = expressions.bound(seat.text, types.SEAT, nodes.Name(seat.text, span=seat.span)).index
            each.append((local, core.AllSeats(type=types.ListType(types.SEAT), span=seat.span)))
            keys.append(self._key(seat.text, local, types.SEAT, seat.span))
        match = parsed(measure.for_, parse_match, self.report)
        for binder in match.binders if match is not None else ():
            local, items, of = expressions.binder(binder)
            each.append((local, items))
            keys.append(self._key(binder.name, local, of, binder.items.span))
        test = self.narrowed(test, match.test if match is not None else None, expressions)
        tree = expression_of(measure.value, self.report)
        if tree is None:
            return None
        value = expressions.value(tree, maybe=True)
        if not isinstance(value.type, types.IntType | types.BoolType | types.NoneType | types.NeverType):
            self.error("E401", f"got {value.type}, want a number or a condition", tree.span)
        return Measure(
            measure.name,
            tuple(self._moment(moment) for moment in words(measure.when)),
            event.name if event is not None else None,
            tuple(each),
            test,
            tuple(keys),
            value,
            measure.sums,
            frame.size,
            measure.entry.span,
        )

    def _key(self, name: str, local: int, type_: types.Type, span: Span) -> MeasureKey:
        """Return a key of a measure: figures are added up by its values, which therefore need a name."""
        if isinstance(type_, types.CompositeType | types.PieceType | types.PlaceType | types.LinkType):
            self.error("E401", f"a measure by {type_}, want a number, a text or something with a name", span)
        return MeasureKey(name, local, type_)

    def _event_keys(self, by: Iterable[Scalar], names: tuple[str, ...], event: Event) -> Iterator[MeasureKey]:
        """Yield the values of an event that are keys of a measure."""
        for scalar in by:
            if scalar.text in names:
                place = names.index(scalar.text)
                yield self._key(scalar.text, place, list(event.fields.values())[place], scalar.span)
            else:
                self.unknown("name", scalar.text, names, scalar.span)
