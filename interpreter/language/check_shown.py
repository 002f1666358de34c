"""Checker of texts and displays: phrases, boards, measures, the picture and the table in a browser."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.base.yaml_values import word, words
from interpreter.language import core, nodes
from interpreter.language.check_expressions import Expressions
from interpreter.language.check_table import Layout
from interpreter.language.checker import Checker
from interpreter.language.declared import Declared
from interpreter.language.model import Board, Event, Look, Measure, MeasureKey, Phrase, Signatures
from interpreter.language.parse import parse_event_pattern, parse_match
from interpreter.language.scope import Frame
from interpreter.language.texts import Report, condition_of, expression_of, parsed
from interpreter.language.translations import asks_of, sayable
from interpreter.language.types import (
    LINK,
    NODE,
    PLACE,
    SEAT,
    BoolType,
    CompositeType,
    IntType,
    LinkType,
    ListType,
    NeverType,
    NoneType,
    PieceType,
    PlaceType,
    Type,
)
from interpreter.reading.compose import Composition
from interpreter.reading.yaml import Mapping, Scalar, Sequence, Value
from interpreter.sections.declarations import Entry, amended

__all__ = ["Shown"]

MOMENTS = ("start of game", "end of game", "start of round", "end of round")


class Shown(Checker):
    """Checks texts and displays. ``unread``: the text of some procedure, which may ask decisions, is invalid."""

    def __init__(
        self, composition: Composition, declared: Declared, signatures: Signatures, report: Report, *, unread: bool
    ) -> None:
        super().__init__(composition, declared, signatures, report)
        self.unread = unread

    def check(self) -> None:
        """Check all texts and displays. The variables of decisions are collected before their texts are checked."""
        for name, layers in self.composition.sections.get("events", {}).items():
            event = self.model.events.get(name)
            for layer in layers:
                says = layer.get("says")
                if says is not None and event is not None:
                    event.says.update(self._says(says, list(event.fields.items())))
        self._alternatives()
        self.sayable = sayable(self.model, self._columns("boards"), self._columns("table"))
        for name, layers in self.composition.sections.get("says", {}).items():
            own = [layer for layer in layers if layer.kind != "words"][-1:]
            bound = self._bound_by(name, layers[-1], optional=not own)
            if bound is None:
                continue
            event = self.model.events.get(name)
            phrases = dict(event.says) if event is not None and not own else {}
            for layer in [*own, *(layer for layer in layers if layer.kind == "words")]:
                phrases |= self._says(layer.value, bound)
            self.model.says[name] = phrases
        self._asks()
        for name, layers in self.composition.sections.get("boards", {}).items():
            self._board(name, amended(layers))
        for name, layers in self.composition.sections.get("measures", {}).items():
            self._measure(name, amended(layers))
        picture = self.composition.single("picture")
        if picture is not None:
            self._picture(picture)
        for name, layers in self.composition.sections.get("table", {}).items():
            says = amended(layers).get("says")
            if says is not None:
                self._add_below(f"table.{name}", self._says(says, []))
        Layout(self.composition, self.declared, self.signatures, self.report).check()

    def _alternatives(self) -> None:
        """Collect the variables of every alternative: the actor, the decision's context and its own choices."""
        for ask in asks_of(self.model):
            context = [(name, value.type) for name, value in ask.context]
            for option in ask.options:
                bound = [("who", SEAT), *context, *((choice.name, choice.type) for choice in option.choices)]
                key = f"{ask.name}.{option.name}"
                self.model.alternatives.setdefault(key, bound)
                if self.model.alternatives[key] != bound:
                    self.error("E511", f"`{key}` has other variables elsewhere", option.span)

    def _asks(self) -> None:
        """Check the prompts of decisions."""
        for name, layers in self.composition.sections.get("asks", {}).items():
            key, known = f"asks.{name}", {key[5:] for key in self.sayable if key.startswith("asks.")}
            if key in self.sayable:
                self._add_below(key, self._says(layers[-1].value, self.sayable[key]))
            elif not self.unread:
                message = f"unknown decision `{name}`{did_you_mean(name, known)}"
                self.error("E301", message, layers[-1].span)

    def _add_below(self, name: str, phrases: dict[str, Phrase]) -> None:
        """Add texts of a declaration, which files of words override."""
        self.model.says[name] = {**phrases, **self.model.says.get(name, {})}

    def _columns(self, section: str) -> dict[str, list[str]]:
        """Return the columns of each board, or of each panel of the table."""
        boards = {name: amended(layers) for name, layers in self.composition.sections.get(section, {}).items()}
        columns = {name: entry.get("columns") for name, entry in boards.items()}
        return {
            name: [entry.key.text for entry in value.entries] if isinstance(value, Mapping) else []
            for name, value in columns.items()
        }

    def _bound_by(self, name: str, entry: Entry, *, optional: bool) -> list[tuple[str, Type]] | None:
        """Return the variables of a text, or None for an unknown key.

        Report an unknown key unless it is ``optional``: a file of words serves the whole family, so it may have keys
        that this ruleset lacks.
        """
        if name in self.sayable:
            return self.sayable[name]
        if not optional and not ("." in name and self.unread):  # an invalid procedure may ask the decision
            self.error("E301", f"unknown name `{name}`{did_you_mean(name, self.sayable)}", entry.span)
        return None

    def _says(self, value: Value, bound: list[tuple[str, Type]]) -> dict[str, Phrase]:
        if isinstance(value, Scalar):
            return {"en": self.phrase(value, bound)}
        if isinstance(value, Mapping):
            return {e.key.text: self.phrase(e.value, bound) for e in value.entries if isinstance(e.value, Scalar)}
        return {}

    def _moment(self, value: Value | None) -> str:
        text = word(value)
        edge, _, phase = text.partition(" of ")
        if text in MOMENTS or (edge in ("start", "end") and phase in self.model.phases):
            return text
        if value is not None:
            known = [*MOMENTS, *(f"{edge} of {phase}" for edge in ("start", "end") for phase in self.model.phases)]
            self.error("E302", f"unknown moment `{text}`{did_you_mean(text, known)}", value.span)
        return ""

    def _picture(self, entry: Entry) -> None:
        """Check the looks of nodes, links and places: expressions over the one that is drawn."""
        if self.model.graph is None:
            self.error("E301", "the family declares no graph to draw", entry.span)
            return
        for word_, type_ in (("node", NODE), ("link", LINK), ("place", PLACE)):
            looks = entry.get(word_)
            for look in looks.entries if isinstance(looks, Mapping) else ():
                name = f"{word_}.{look.key.text}"
                if look.key.text == "label" and isinstance(look.value, Scalar) and "{" in look.value.text:  # a template
                    phrase = self.phrase(look.value, [(word_, type_)])
                    self.model.picture[name] = Look(phrase.parts, phrase.local_count)
                    continue
                frame = Frame()
                frame.add(word_, type_)
                tree = expression_of(look.value, self.report)
                if tree is not None:
                    self.model.picture[name] = Look((self._look(name, self.expressions(frame), tree),), frame.size)
        self.model.grid = word(entry.get("grid")) == "yes"
        if self.model.grid and any(node.at is None for node in self.model.graph.nodes):
            message = f"on a grid each {self.model.graph.node} needs `x` and `y`"
            self.error("E306", message, entry.span, "add these columns to the table of nodes")

    def _look(self, name: str, expressions: Expressions, tree: nodes.Expr) -> core.Expression:
        """Check one look: a condition for `node.pale` and `link.hidden`, a piece for `place.piece`, else any value."""
        if name in ("node.pale", "link.hidden"):
            return expressions.condition(tree)
        value = expressions.value(tree, maybe=True)
        if name == "place.piece" and not isinstance(value.type, PieceType | NeverType):
            self.error("E401", f"got {value.type}, want a piece", tree.span)
        return value

    def _board(self, name: str, entry: Entry) -> None:
        if not isinstance(entry.value, Mapping):
            return
        frame = Frame()
        expressions = self.expressions(frame)
        condition = condition_of(guard, self.report) if (guard := entry.get("if")) is not None else None
        test = expressions.condition(condition) if condition is not None else None
        rows, row_local = None, 0
        if (text := entry.get("rows")) is not None:
            match = parsed(text, parse_match, self.report)
            if match is not None:
                binder, *more = match.binders
                for extra in more:
                    self.error("E202", "the rows of a board take only one list", extra.span)
                filtered = nodes.ListFilter(binder.name, binder.items, match.test, span=match.span)
                rows, of = expressions.items(binder.items if match.test is None else filtered)
                row_local = frame.add(binder.name, of).index
        columns: list[tuple[str, core.Expression]] = []
        declared = entry.get("columns")
        if isinstance(declared, Mapping):
            for column in declared.entries:
                tree = expression_of(column.value, self.report)
                if tree is not None:
                    columns.append((column.key.text, expressions.value(tree, maybe=True)))
        says = self._says(text, []) if (text := entry.get("says")) is not None else {}
        moment = self._moment(entry.get("when"))
        self.model.boards.append(
            Board(name, moment, says, rows, row_local, tuple(columns), frame.size, entry.span, test)
        )

    def _measure(self, name: str, entry: Entry) -> None:
        frame = Frame()
        keys: list[MeasureKey] = []
        event, test = None, None
        expressions = self.expressions(frame)
        if (on := entry.get("on")) is not None:
            pattern = parsed(on, parse_event_pattern, self.report)
            event = self.heard(pattern, frame) if pattern is not None else None
            if pattern is None or event is None:
                return
            keys.extend(self._event_keys(words(entry.get("by")), pattern.names, event))
            test = self.narrowed(test, pattern.test, expressions)
        each: list[tuple[int, core.Expression]] = []
        if isinstance(text := entry.get("each"), Scalar):
            local = frame.add(text.text, SEAT)
            each.append((local.index, core.AllSeats(type=ListType(SEAT), span=text.span)))
            keys.append(self._key(text.text, local.index, SEAT, text.span))
        if (text := entry.get("for")) is not None:
            match = parsed(text, parse_match, self.report)
            for binder in match.binders if match is not None else ():
                items, of = expressions.items(binder.items)
                local = frame.add(binder.name, of)
                each.append((local.index, items))
                keys.append(self._key(binder.name, local.index, of, binder.items.span))
            test = self.narrowed(test, match.test if match is not None else None, expressions)
        tree = expression_of(entry.get("value"), self.report)
        if tree is None:
            return
        value = expressions.value(tree, maybe=True)
        if not isinstance(value.type, IntType | BoolType | NoneType | NeverType):
            self.error("E401", f"got {value.type}, want a number or a condition", tree.span)
        when = entry.get("when")
        moments = when.items if isinstance(when, Sequence) else (when,) if when is not None else ()
        self.model.measures.append(
            Measure(
                name,
                tuple(self._moment(moment) for moment in moments),
                event.name if event is not None else None,
                tuple(each),
                test,
                tuple(keys),
                value,
                word(entry.get("sums")) == "yes",
                frame.size,
                entry.span,
            )
        )

    def _key(self, name: str, local: int, type_: Type, span: Span) -> MeasureKey:
        """Return a key of a measure: figures are added up by its values, which therefore need a name."""
        if isinstance(type_, CompositeType | PieceType | PlaceType | LinkType):
            self.error("E401", f"a measure by {type_}, want a number, a text or something with a name", span)
        return MeasureKey(name, local, type_)

    def _event_keys(self, by: Iterable[Scalar], names: tuple[str, ...], event: Event) -> Iterator[MeasureKey]:
        """Yield the values of an event that are keys of a measure."""
        for scalar in by:
            if scalar.text in names:
                place = names.index(scalar.text)
                yield self._key(scalar.text, place, list(event.fields.values())[place], scalar.span)
            else:
                message = f"unknown name `{scalar.text}`{did_you_mean(scalar.text, names)}"
                self.error("E301", message, scalar.span)
