"""Checker of the table in a browser: panels and card faces.

The input is the sections ``table`` and ``faces``; the output is the panels and faces of the model. Headings and prompts
are checked with the other texts (:mod:`interpreter.language.check_shown`).
"""

from __future__ import annotations

from functools import cached_property
from typing import cast

from interpreter.base.colour_values import NAMED
from interpreter.base.suggest import did_you_mean
from interpreter.base.yaml_values import word, words
from interpreter.language import core, nodes
from interpreter.language.check_expressions import Expressions
from interpreter.language.checker import Checker
from interpreter.language.model import Look, Panel, PanelForm, PanelPlace, Sum
from interpreter.language.parse import parse_match
from interpreter.language.scope import Frame
from interpreter.language.texts import condition_of, expression_of, parsed
from interpreter.language.translations import asks_of
from interpreter.language.types import NODE, SEAT, CardType, KindType, Type, item_type
from interpreter.language.walk import asks_in
from interpreter.reading import yaml
from interpreter.reading.yaml import Mapping, Scalar, Value
from interpreter.sections.declarations import Entry, amended

__all__ = ["FACE", "Layout"]

FACE = ("title", "left", "right", "colour", "note", "holds", "room")
"""Parts of a card face."""
TEXTS = ("title", "left", "right", "note")
"""Parts that may be templates."""
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
        for name, layers in self.composition.sections.get("faces", {}).items():
            self._face(name, amended(layers))
        panels = {name: amended(layers) for name, layers in self.composition.sections.get("table", {}).items()}
        for name, entry in panels.items():
            self._panel(name, entry)
            leads = entry.get("leads")
            if leads is not None and (word(leads) not in panels or word(panels[word(leads)].get("at")) != "window"):
                near = did_you_mean(word(leads), panels)
                self.error("E301", f"unknown window `{word(leads)}`{near}", leads.span)

    def _face(self, name: str, entry: Entry) -> None:
        if name not in self.model.card_kinds and name not in self.model.kinds:
            near = did_you_mean(name, [*self.model.card_kinds, *self.model.kinds])
            self.error("E301", f"unknown kind or kind of card `{name}`{near}", entry.span)
            return
        colours = _entries(entry.get("colours"))
        if colours:
            self._colours(name, colours)
        if name not in self.model.card_kinds:
            return
        for part in FACE:
            frame = Frame()
            frame.add(name, CardType(name))
            text, parts = entry.get(part), self.model.faces.setdefault(name, {})
            if part in TEXTS and isinstance(text, Scalar) and "{" in text.text:
                phrase = self.phrase(text, [(name, CardType(name))])
                parts[part] = Look(phrase.parts, phrase.local_count)
            elif (tree := expression_of(text, self.report)) is not None:
                value = self.expressions(frame).value(tree, maybe=True)
                parts[part] = Look((value,), frame.size)

    def _colours(self, name: str, colours: tuple[yaml.Entry, ...]) -> None:
        """Read the colours of a kind's members."""
        kind = self.model.kinds.get(name)
        for entry in colours:
            if kind is None or entry.key.text not in kind.members:
                near = did_you_mean(entry.key.text, kind.members if kind is not None else ())
                self.error("E302", f"unknown {name} `{entry.key.text}`{near}", entry.key.span)
            elif word(entry.value) not in COLOURS:
                near = did_you_mean(word(entry.value), COLOURS)
                self.error("E302", f"unknown colour `{word(entry.value)}`{near}", entry.value.span)
            else:
                self.model.colours.setdefault(name, {})[entry.key.text] = word(entry.value)

    def _panel(self, name: str, entry: Entry) -> None:
        forms = [form for form in _FORMS if entry.get(form) is not None]
        if len(forms) != 1:
            got = " and ".join(f"`{form}`" for form in forms) or "none"
            message = f"a panel shows one of {', '.join(_FORMS)}; got {got}"
            self.error("E309", message, entry.span, "make a separate panel for each")
            return
        form = forms[0]
        frame = Frame()
        frame.add("me", SEAT)
        expressions = self.expressions(frame)
        test = condition_of(guard, self.report) if (guard := entry.get("if")) is not None else None
        rows, row_local = self._rows(entry.get("rows"), expressions)
        panel = Panel(
            name,
            form,
            cast(PanelPlace, word(entry.get("at"), "board" if form == "graph" else "side")),
            entry.span,
            self._shown(form, entry, expressions),
            expressions.condition(test) if test is not None else None,
            rows,
            row_local,
            tuple(self._named(entry.get("columns"), expressions)),
            word(entry.get("printed")),
            tuple(self._named(entry.get("marks"), expressions)),
            tuple(self._sums(entry.get("sums"))),
            self._moments(entry),
            tuple((answer.key.text, word(answer.value)) for answer in _entries(entry.get("answers"))),
            leads=word(entry.get("leads")),
            cites=tuple(scalar.text for scalar in words(entry.get("cites"))),
            local_count=frame.size,
        )
        self._known(panel, entry)
        self.model.panels.append(panel)

    def _shown(self, form: str, entry: Entry, expressions: Expressions) -> core.Expression | None:
        tree = expression_of(entry.get(form), self.report) if form in _SHOWN else None
        if tree is None:
            return None
        value = expressions.value(tree, maybe=True)
        forms, description = _SHOWN[form]
        type_ = value.type
        of = item_type(type_)
        fits = type_.word in forms and (form != "cards" or of is None or of.word in ("card", "pile"))
        if form == "track":
            cell = value.cell if isinstance(value, core.Read) else None
            fits = isinstance(cell, core.Cell) and self.model.groups[cell.group].type.word == "track"
        if not fits and type_.word != "never":
            self.error("E401", f"got {type_}, want {description}", tree.span)
        return value

    def _rows(self, text: Value | None, expressions: Expressions) -> tuple[core.Expression | None, int]:
        match = parsed(text, parse_match, self.report) if text is not None else None
        if match is None:
            return None, 0
        binder, *more = match.binders
        for extra in more:
            self.error("E202", "the rows of a panel take only one list", extra.span)
        filtered = nodes.ListFilter(binder.name, binder.items, match.test, span=match.span)
        rows, of = expressions.items(binder.items if match.test is None else filtered)
        return rows, expressions.frame.add(binder.name, of).index

    def _named(self, value: Value | None, expressions: Expressions) -> list[tuple[str, core.Expression]]:
        trees = [(entry.key.text, expression_of(entry.value, self.report)) for entry in _entries(value)]
        return [(name, expressions.value(tree, maybe=True)) for name, tree in trees if tree is not None]

    def _sums(self, value: Value | None) -> list[Sum]:
        sums = []
        for entry in _entries(value):
            name, declared = entry.key.text, entry.value
            type_ = self._thing(name)
            if type_ is None:
                known = [*self.model.card_kinds, *self.model.kinds, *([self._node] if self._node else ())]
                message = f"unknown kind, kind of card or node `{name}`{did_you_mean(name, known)}"
                self.error("E301", message, entry.key.span)
                continue
            if not isinstance(declared, Mapping):
                continue
            frame = Frame()
            frame.add("me", SEAT)
            local = frame.add(name, type_)
            tree = expression_of(declared.get("costs"), self.report)
            then = declared.get("then")
            if tree is None:
                continue
            costs = self.expressions(frame).value(tree, maybe=True)
            if costs.type.word not in ("int", "never"):
                self.error("E401", f"got {costs.type}, want a number", tree.span)
            if then is not None and not self._takes(word(then), type_):
                message = f"`{word(then)}` must be a procedure with the parameters (seat, {type_}) that asks nobody"
                self.error("E404", message, then.span, "write a rule with `does` and without `choose`")
                continue
            sums.append(Sum(name, type_, local.index, costs, word(then)))
        return sums

    @property
    def _node(self) -> str:
        return self.model.graph.node if self.model.graph is not None else ""

    def _thing(self, name: str) -> Type | None:
        """Return the type that a name stands for: a kind of card, a kind or the node type. None if unknown."""
        if name in self.model.card_kinds:
            return CardType(name)
        if name in self.model.kinds:
            return KindType(name)
        return NODE if name == self._node else None

    def _takes(self, name: str, type_: Type) -> bool:
        rule = self.model.rules.get(name)
        if rule is None or rule.form != "does" or [parameter for _, parameter in rule.parameters] != [SEAT, type_]:
            return False
        return not any(ask.name for layer in rule.layers for ask in asks_in(layer.body))

    def _moments(self, entry: Entry) -> tuple[str, ...]:
        return tuple(scalar.text for scalar in words(entry.get("opens")))

    @cached_property
    def _decisions(self) -> set[str]:
        return {ask.name for ask in asks_of(self.model)}

    def _known(self, panel: Panel, entry: Entry) -> None:
        """Check the decisions, phases, tables and keys that a panel refers to."""
        decisions = self._decisions
        table = self.model.tables.get(panel.printed)
        if panel.form == "printed" and table is None:
            near = did_you_mean(panel.printed, self.model.tables)
            span = printed.span if (printed := entry.get("printed")) is not None else entry.span
            self.error("E301", f"unknown table `{panel.printed}`{near}", span)
        for key, _ in panel.marks:
            if table is None or key not in table.keys:
                near = did_you_mean(key, table.keys if table is not None else ())
                self.error("E301", f"`{panel.printed}` has no key `{key}`{near}", entry.span)
        for scalar in words(entry.get("opens")):
            if scalar.text not in decisions and scalar.text not in self.model.phases:
                near = did_you_mean(scalar.text, [*self.model.phases, *decisions])
                self.error("E301", f"unknown phase or decision `{scalar.text}`{near}", scalar.span)
        for answer in _entries(entry.get("answers")):
            if answer.key.text not in decisions:
                near = did_you_mean(answer.key.text, decisions)
                self.error("E301", f"unknown decision `{answer.key.text}`{near}", answer.key.span)


_FORMS: tuple[PanelForm, ...] = ("graph", "cards", "tokens", "track", "printed", "columns", "sums")


def _entries(value: Value | None) -> tuple[yaml.Entry, ...]:
    return value.entries if isinstance(value, Mapping) else ()
