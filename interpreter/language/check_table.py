"""Checker of the table in a browser: panels and card faces.

The input is the sections ``table`` and ``faces``; the output is the panels and faces of the model. Headings and prompts
are checked with the other texts (:mod:`interpreter.language.check_shown`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial

from interpreter.base.colour_values import NAMED
from interpreter.base.suggest import did_you_mean
from interpreter.base.yaml_values import word
from interpreter.language import core
from interpreter.language.check_expressions import Expressions
from interpreter.language.checker import Checker
from interpreter.language.model import Panel, PanelForm, Sum
from interpreter.language.texts import condition_of, expression_of
from interpreter.language.translations import asks_of
from interpreter.language.types import NODE, SEAT, CardType, KindType, Type, item_type
from interpreter.reading.yaml import Value
from interpreter.sections.drawings import Face
from interpreter.sections.drawings import Panel as PanelKeys

__all__ = ["Layout"]

_SHOWN = {
    "cards": (("list", "set", "pile", "card"), "cards"),
    "tokens": (("bag", "int"), "tokens: a pool or a bag"),
    "track": (("bag", "int"), "the name of a track"),
}
"""Allowed types of the panel forms that show one value, with a description."""
COLOURS = tuple(NAMED)
"""Names of colours."""


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

    def _face(self, face: Face) -> None:
        name = face.name
        if name not in self.model.card_kinds and name not in self.model.kinds:
            self.unknown("kind or kind of card", name, [*self.model.card_kinds, *self.model.kinds], face.entry.span)
            return
        self._colours(face)
        if name not in self.model.card_kinds:
            return
        looks = self.once(("face",), tuple(face.layers), lambda: self.looks(face, name))
        self.model.faces.setdefault(name, {}).update(looks)

    def _colours(self, face: Face) -> None:
        """Read the colours of a kind's members."""
        name, kind = face.name, self.model.kinds.get(face.name)
        for key, colour in face.colours:
            if kind is None or key.text not in kind.members:
                self.unknown(f"{name}", key.text, kind.members if kind is not None else (), key.span, code="E302")
            elif colour is not None and colour.text not in COLOURS:
                self.unknown("colour", colour.text, COLOURS, colour.span, code="E302")
            else:
                self.model.colours.setdefault(name, {})[key.text] = word(colour)

    def _panel(self, keys: PanelKeys) -> Panel | None:
        forms = [form for form in _FORMS if form in keys]
        if len(forms) != 1:
            got = " and ".join(f"`{form}`" for form in forms) or "none"
            message = f"a panel shows one of {', '.join(_FORMS)}; got {got}"
            self.error("E309", message, keys.entry.span, "make a separate panel for each")
            return None
        form = forms[0]
        frame = self.names.scope(keys.scope)
        expressions = self.expressions(frame)
        test = condition_of(keys.if_, self.report)
        rows, row_local = self.rows(keys.rows, expressions, "panel")
        return Panel(
            keys.name,
            form,
            keys.at or ("board" if form == "graph" else "side"),
            keys.entry.span,
            self._shown(form, keys.source.get(form), expressions),
            expressions.condition(test) if test is not None else None,
            rows,
            row_local,
            tuple(self.named(keys.columns, expressions)),
            word(keys.printed),
            tuple(self.named(keys.marks, expressions)),
            tuple(self._sums(keys)),
            tuple(scalar.text for scalar in keys.opens),
            tuple((key.text, mark) for key, mark in keys.answers),
            leads=word(keys.leads),
            cites=tuple(scalar.text for scalar in keys.cites),
            local_count=frame.size,
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

    def _sums(self, keys: PanelKeys) -> Iterator[Sum]:
        for key, added in keys.sums:
            name, type_ = key.text, self._thing(key.text)
            if type_ is None:
                known = [*self.model.card_kinds, *self.model.kinds, *([self._node] if self._node else ())]
                self.unknown("kind, kind of card or node", name, known, key.span)
                continue
            frame = self.names.scope({**keys.scope, **added.scope}, name)
            local = frame.find(name)
            assert local is not None
            tree, then = expression_of(added.costs, self.report), word(added.then)
            if tree is None:
                continue
            costs = self.expressions(frame).value(tree, maybe=True)
            if costs.type.word not in ("int", "never"):
                self.error("E401", f"got {costs.type}, want a number", tree.span)
            yield Sum(name, type_, local.index, costs, then)

    @property
    def _node(self) -> str:
        return self.model.graph.node if self.model.graph is not None else ""

    def _thing(self, name: str) -> Type | None:
        """Return the type that a name stands for: a kind of card, a kind or the node type. None if unknown."""
        if self.names.card_kind(name) is not None:
            return CardType(name)
        if self.names.kind(name) is not None:
            return KindType(name)
        return NODE if self.names.type(name) == NODE else None

    def _takes(self, name: str, type_: Type) -> bool:
        rule = self.model.rules.get(name)
        if rule is None or rule.form != "does" or [parameter for _, parameter in rule.parameters] != [SEAT, type_]:
            return False
        return not any(ask.name for layer in rule.layers for ask in layer.facts.asks)

    @cached_property
    def _decisions(self) -> set[str]:
        return {ask.name for ask in asks_of(self.model)}

    def _known(self, panel: Panel, keys: PanelKeys) -> None:
        """Check the rules, decisions, phases, tables and keys that a panel refers to."""
        decisions = self._decisions
        then = {key.text: added.span("then") for key, added in keys.sums}
        for total in panel.sums:
            if total.then and not self._takes(total.then, total.type):
                message = (
                    f"`{total.then}` must be a procedure with the parameters (seat, {total.type}) that asks nobody"
                )
                self.error("E404", message, then[total.name], "write a rule with `does` and without `choose`")
        table = self.model.tables.get(panel.printed)
        if panel.form == "printed" and table is None:
            self.unknown("table", panel.printed, self.model.tables, keys.span("printed"))
        for key, _ in panel.marks:
            if table is None or key not in table.keys:
                near = did_you_mean(key, table.keys if table is not None else ())
                self.error("E301", f"`{panel.printed}` has no key `{key}`{near}", keys.entry.span)
        for scalar in keys.opens:
            if scalar.text not in decisions and scalar.text not in self.model.phases:
                self.unknown("phase or decision", scalar.text, [*self.model.phases, *decisions], scalar.span)
        for name, _ in keys.answers:
            if name.text not in decisions:
                self.unknown("decision", name.text, decisions, name.span)


_FORMS: tuple[PanelForm, ...] = ("graph", "cards", "tokens", "track", "printed", "columns", "sums")
