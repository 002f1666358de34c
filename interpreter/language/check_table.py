"""Checker of the table in a browser: panels and card faces.

The input is the sections ``table``, ``marks`` and ``faces``; the output is those of the model. Headings and prompts
are checked with the other texts (:mod:`interpreter.language.check_shown`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, partial
from itertools import chain

from interpreter.base.colour_values import NAMED
from interpreter.base.suggest import did_you_mean
from interpreter.base.yaml_values import word
from interpreter.language import core
from interpreter.language.check_expressions import Expressions
from interpreter.language.checker import Checker
from interpreter.language.model import Mark, Panel, PanelForm
from interpreter.language.texts import condition_of, expression_of
from interpreter.language.translations import asks_of
from interpreter.language.types import SEAT, HolderType, KindType, NeverType, Type, item_type
from interpreter.reading.yaml import Scalar, Value
from interpreter.sections.drawings import Face
from interpreter.sections.drawings import Mark as MarkKeys
from interpreter.sections.drawings import Panel as PanelKeys

__all__ = ["Layout"]

_SHOWN = {
    "cards": (("list", "set", "pile", "card"), "cards"),
    "tokens": (("bag", "int"), "tokens: a pool or a bag"),
    "track": (("bag", "int"), "the name of a track"),
    "scale": (("int",), "a number"),
}
"""Allowed types of the panel forms that show one value, with a description."""


class Layout(Checker):
    """Checks the panels of a table and the faces of its cards."""

    def check(self) -> None:
        for face in self.composition.read(Face):
            self._face(face)
        panels = {panel.name: panel for panel in self.composition.read(PanelKeys)}
        for keys in panels.values():
            panel = self.once(("panel",), tuple(keys.layers), partial(self._panel, keys))
            if panel is None:
                continue
            self.model.panels.append(panel)
            self._known(panel, keys)
            leads = word(keys.leads)
            if leads and (leads not in panels or panels[leads].at != "window"):
                self.unknown("window", leads, panels, keys.span("leads"))

    def marks(self) -> None:
        """Check the marks, whose texts are checked with the others."""
        for keys in self.composition.read(MarkKeys):
            context = self._context(keys)
            mark = self.once(("mark", *context), tuple(keys.layers), partial(self._mark, keys, context))
            if mark is not None:
                self.model.marks.append(mark)

    def _context(self, keys: MarkKeys) -> list[tuple[str, Type]]:
        """Return the locals that a mark has from its decision or procedure."""
        name = keys.during
        if name is None:
            return []
        for ask in asks_of(self.model):
            if ask.name == name.text:
                return [("actor", SEAT), *((key, value.type) for key, value in ask.context)]
        rule = self.model.rules.get(self.model.called(name.text, name.span))
        if rule is None or rule.form != "does":
            self.unknown("decision or procedure", name.text, [*self._decisions, *self.model.rules], name.span)
            return []
        locals_ = (zip(each.local_names, each.local_types, strict=True) for each in rule.layers)
        held = dict(chain.from_iterable(locals_))
        return [(key, type_) for key, type_ in held.items() if key and not isinstance(type_, HolderType)]

    def _mark(self, keys: MarkKeys, context: list[tuple[str, Type]]) -> Mark | None:
        frame = self.names.scope(keys.scope)
        bound = [("me", SEAT), *context]
        for name, type_ in context:
            frame.add(name, type_)
        items, local = self.rows(keys.on, self.expressions(frame), "mark")
        of = item_type(items.type) if items is not None else None
        if items is None or of is None:
            return None
        if of.word not in ("card", "seat", "node", "kind", "never"):
            self.error("E401", f"got {of}, want cards, seats, nodes or members of a kind", items.span)
        self._check_colour(keys.colour)
        bound.append((frame.names[local], of))
        return Mark(keys.name, items, word(keys.during), tuple(bound), word(keys.colour), frame.size)

    def _check_colour(self, colour: Scalar | None) -> None:
        if colour is not None and colour.text not in NAMED:
            self.unknown("colour", colour.text, NAMED, colour.span, code="E302")

    def _face(self, face: Face) -> None:
        name = face.name
        if name not in self.model.card_kinds and name not in self.model.kinds:
            self.unknown("kind or kind of card", name, [*self.model.card_kinds, *self.model.kinds], face.entry.span)
            return
        self._check_colour(face.plain)
        for values, known in ((face.colours, self.model.colours), (face.icons, self.model.icons)):
            self._of_members(face, values, known)
        if name not in self.model.card_kinds:
            return
        if face.plain is not None:
            self.model.plain[name] = face.plain.text
        looks = self.once(("face",), tuple(face.layers), lambda: self.looks(face, name))
        for tree in looks["turn"].trees if "turn" in looks else ():
            if not isinstance(tree.type, KindType | NeverType):
                self.error("E401", f"got {tree.type}, want a member of a kind", face.span("turn"))
        self.model.faces.setdefault(name, {}).update(looks)

    def _of_members(
        self, face: Face, values: Iterable[tuple[Scalar, Scalar | None]], known: dict[str, dict[str, str]]
    ) -> None:
        """Read the colours or icons of a kind's members."""
        name, kind = face.name, self.model.kinds.get(face.name)
        for key, value in values:
            if kind is None or key.text not in kind.members:
                self.unknown(f"{name}", key.text, kind.members if kind is not None else (), key.span, code="E302")
                continue
            if known is self.model.colours:
                self._check_colour(value)
            known.setdefault(name, {})[key.text] = word(value)

    def _panel(self, keys: PanelKeys) -> Panel | None:
        forms = [form for form in _FORMS if form in keys and (form != "columns" or "track" not in keys)]
        if len(forms) != 1:
            got = " and ".join(f"`{form}`" for form in forms) or "none"
            message = f"a panel shows one of {', '.join(_FORMS)}; got {got}"
            self.error("E309", message, keys.entry.span, "make a separate panel for each")
            return None
        form = forms[0]
        frame = self.names.scope(keys.scope)
        expressions = self.expressions(frame)
        tests = [condition_of(text, self.report) for text in (keys.if_, keys.picks)]
        test, picks = [expressions.condition(test) if test is not None else None for test in tests]
        rows, row_local = self.rows(keys.rows, expressions, "panel")
        return Panel(
            keys.name,
            form,
            keys.at or ("board" if form == "graph" else "side"),
            keys.entry.span,
            self._shown(form, keys.source.get(form), expressions),
            test,
            rows,
            row_local,
            tuple(self.named(keys.columns, expressions)),
            word(keys.printed),
            tuple(self.named(keys.marks, expressions)),
            tuple(scalar.text for scalar in keys.opens),
            tuple((key.text, mark) for key, mark in keys.answers),
            leads=word(keys.leads),
            cites=tuple(scalar.text for scalar in keys.cites),
            local_count=frame.size,
            lines=tuple(self.named(keys.lines, expressions)),
            per_row=keys.per_row or 0,
            compact=keys.compact,
            picks=picks,
        )

    def _shown(self, form: str, value: Value | None, expressions: Expressions) -> core.Expression | None:
        tree = expression_of(value, self.report) if form in _SHOWN else None
        if tree is None:
            return None
        shown = expressions.value(tree, maybe=True)
        forms, description = _SHOWN[form]
        type_ = shown.type
        of = item_type(type_)
        fits = type_.word in forms and (form != "cards" or of is None or of.word in ("card", "pile"))
        if form == "track":
            cell = shown.cell if isinstance(shown, core.Read) else None
            fits = isinstance(cell, core.Cell) and self.model.groups[cell.group].type.word == "track"
        if not fits and type_.word != "never":
            self.error("E401", f"got {type_}, want {description}", tree.span)
        return shown

    @cached_property
    def _decisions(self) -> set[str]:
        return {ask.name for ask in asks_of(self.model)}

    def _known(self, panel: Panel, keys: PanelKeys) -> None:
        """Check the rules, decisions, phases, tables and keys that a panel refers to."""
        decisions = self._decisions
        table = self.model.tables.get(panel.printed)
        if panel.form == "printed" and table is None:
            self.unknown("table", panel.printed, self.model.tables, keys.span("printed"))
        for key, _ in panel.marks:
            if table is None or key not in table.keys:
                near = did_you_mean(key, table.keys if table is not None else ())
                self.error("E301", f"`{panel.printed}` has no key `{key}`{near}", keys.entry.span)
        for scalar in keys.opens:
            if scalar.text not in (known := [*self.names.members("phase"), *decisions]):
                self.unknown("phase or decision", scalar.text, known, scalar.span)
        for name, _ in keys.answers:
            if name.text not in decisions:
                self.unknown("decision", name.text, decisions, name.span)


_FORMS: tuple[PanelForm, ...] = ("graph", "cards", "tokens", "track", "scale", "printed", "columns")
