"""The checker: a composition to a model in which every text is checked.

First all declarations and the headers of all rules are read, so that texts may name each other in any order; then every
body. All mistakes are reported, not the first.
"""

from __future__ import annotations

from collections import abc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Literal, cast

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.base.words import counted
from interpreter.language import core as c
from interpreter.language import nodes as n
from interpreter.language.declare import declare
from interpreter.language.declared import Declared
from interpreter.language.expressions import Expressions
from interpreter.language.model import (
    Board,
    CheckedRule,
    CheckedTrigger,
    Event,
    Group,
    Look,
    Measure,
    MeasureKey,
    Model,
    Phrase,
    RuleLayer,
    Signature,
    Signatures,
    StandingRule,
    Table,
    TriggerCase,
)
from interpreter.language.parse import (
    parse_event_pattern,
    parse_function,
    parse_match,
    parse_procedure,
    parse_verdict,
)
from interpreter.language.scope import Frame, Variable
from interpreter.language.steps import Steps, resolve_type
from interpreter.language.texts import condition_of, expression_of, parsed, template_parts
from interpreter.language.types import BOOL, INT, NEVER, NODE, NOTHING, PLACE, SEAT, Type, accepts
from interpreter.language.walk import descendants
from interpreter.reading.citations import Statement
from interpreter.reading.compose import Composition, Entry, amended, word, words
from interpreter.reading.yaml import Mapping, Scalar, Sequence, Value

__all__ = ["check", "check_function", "check_text"]

Form = Literal["is", "does", "permits"]
Body = n.Function | n.Procedure | n.Verdict

MOMENTS = ("start of game", "end of game", "start of round", "end of round")


def check(composition: Composition, statements: dict[str, Statement]) -> tuple[Model, list[Diagnostic]]:
    """The model of a composition and everything that is wrong with it. ``statements`` are those that may be cited."""
    checker = _Checker(composition, statements)
    checker.run()
    return checker.model, checker.diagnostics


def check_text(
    model: Model, signatures: Signatures, procedure: n.Procedure, name: str
) -> tuple[RuleLayer, list[Diagnostic]]:
    """A procedure that stands outside the ruleset, as a scenario's `given`."""
    diagnostics: list[Diagnostic] = []
    frame = Frame()
    steps = Steps(model, signatures, frame, diagnostics.append, owner=name, file="", result=NOTHING, pure=False)
    body = steps.block(procedure.body)
    layer = RuleLayer(name, 0, "", "does", (), NOTHING, frame.size, tuple(frame.names), None, body, (), procedure.span)
    return layer, diagnostics


def check_function(
    model: Model,
    signatures: Signatures,
    tree: n.Function | n.Verdict,
    rule: str,
    key: Scalar,
    file: str,
    weights: abc.Mapping[str, int],
    report: Callable[[Diagnostic], None],
) -> tuple[Signature, RuleLayer]:
    """A function or verdict that stands outside the ruleset, as one of a policy. It is called by its layer's id."""
    header = tree.header
    parameters = tuple((p.name, resolve_type(model, p.type, report)) for p in header.parameters) if header else ()
    result = BOOL
    if isinstance(tree, n.Function):
        result = resolve_type(model, header.result, report) if header and header.result else NEVER
        if result == NEVER:
            message = f"`{key.text}` needs a header that says what it gives: `() -> type:`"
            report(Diagnostic("E310", message, tree.span))
    frame = Frame()
    for name, type_ in parameters:
        frame.add(name, type_)
    steps = Steps(model, signatures, frame, report, owner=f"{rule}@0", file=file, result=result, pure=True)
    steps.expressions.weights = weights
    form: Form = "is" if isinstance(tree, n.Function) else "permits"
    signature = Signature(f"{rule}@0", form, parameters, result, key.span)
    body = _checked_body(tree, steps, signature, report)
    layer = RuleLayer(rule, 0, file, form, parameters, result, frame.size, tuple(frame.names), None, body, (), key.span)
    return signature, layer


def _checked_body(
    tree: Body, steps: Steps, signature: Signature, report: Callable[[Diagnostic], None]
) -> c.Expression | tuple[c.Step, ...] | tuple[c.Requirement, ...]:
    if isinstance(tree, n.Verdict):
        return tuple(_requirement(line, steps) for line in tree.lines)
    if isinstance(tree, n.Function) and not isinstance(tree.body, n.Block):
        return steps.expressions.need(tree.body, signature.result)
    block = cast(n.Block, tree.body)
    found = steps.block(block)
    if signature.result not in (NOTHING, NEVER) and (way := _way_out(found, Note("nothing is returned"))) is not None:
        message = f"not every way through this gives a value ({signature.result})"
        report(Diagnostic("E702", message, tree.span, (way,)))
    return found


def _requirement(line: n.Require | n.Let, steps: Steps) -> c.Requirement:
    if isinstance(line, n.Let):
        value = steps.expressions.value(line.value)
        variable = steps.frame.add(line.name, value.type)
        return c.Requirement(value, (), variable.index, span=line.span)
    test = steps.expressions.condition(line.test)
    steps.frame.facts[-1].update(steps.expressions.facts(line.test, holds=True))
    return c.Requirement(test, line.cites, span=line.span)


class _Checker:
    def __init__(self, composition: Composition, statements: dict[str, Statement]) -> None:
        self.composition = composition
        self.statements = statements
        self.diagnostics: list[Diagnostic] = []
        self.declared: Declared = declare(composition, self.report)
        self.model = self.declared.model
        self.signatures: Signatures = {}
        self.bodies: dict[tuple[str, int], Body | None] = {}
        self.unread = False
        """Whether the text of a procedure cannot be read."""

    def report(self, diagnostic: Diagnostic) -> None:
        self.diagnostics.append(diagnostic)

    def error(self, code: str, message: str, span: Span, help: str | None = None) -> None:
        self.report(Diagnostic(code, message, span, help=help))

    def expressions(self, frame: Frame | None = None) -> Expressions:
        return Expressions(self.model, self.signatures, frame or Frame(), self.report)

    def run(self) -> None:
        self._headers()
        self._program()
        self._rules()
        self._triggers()
        self._standing()
        self._groups()
        self._settings()
        self._shown()
        self._laws()
        self._citations()
        self.model.signatures = self.signatures

    # --- headers

    def _headers(self) -> None:
        for name, layers in self.composition.sections.get("rules", {}).items():
            for index, entry in enumerate(layers):
                form, tree = self._parse_rule(entry)
                self.bodies[name, index] = tree
                self._header(name, index, entry, form, tree)

    def _parse_rule(self, entry: Entry) -> tuple[Form, Body | None]:
        if (text := entry.get("is")) is not None:
            return "is", parsed(text, parse_function, self.report)
        if (text := entry.get("permits")) is not None:
            return "permits", parsed(text, parse_verdict, self.report)
        return "does", self._procedure(entry.get("does"))

    def _procedure(self, text: Value | None) -> n.Procedure | None:
        tree = parsed(text, parse_procedure, self.report)
        self.unread = self.unread or tree is None
        return tree

    def _header(self, name: str, index: int, entry: Entry, form: Form, tree: Body | None) -> None:
        below = self.signatures.get(name)
        header = tree.header if tree is not None else None
        if below is not None and below.unread:
            if header is None:
                return
            below = None
        if header is None and below is not None:
            if below.form != form:
                self._other_form(name, form, below, entry)
            return
        parameters = tuple((p.name, self._type(p.type)) for p in header.parameters) if header else ()
        default = BOOL if form == "permits" else NOTHING
        result = self._type(header.result) if header and header.result else default
        if form == "is" and result == NOTHING and tree is not None:
            self.error("E310", f"`{name}` needs a header that says what it gives: `() -> type:`", tree.span)
            result = NEVER
        if form == "permits" and result != BOOL and header is not None:
            self.error("E310", "a verdict gives no value of its own", header.span)
        if below is None:
            self.signatures[name] = Signature(name, form, parameters, result, entry.span, unread=tree is None)
            return
        if below.form != form:
            self._other_form(name, form, below, entry)
        self._same_types(name, below, parameters, result, header.span if header else entry.span)

    def _other_form(self, name: str, form: Form, below: Signature, entry: Entry) -> None:
        note = Note(f"`{name}` is introduced here", below.span)
        self.report(
            Diagnostic("E508", f"`{name}` is a rule of the form `{below.form}`, not `{form}`", entry.span, (note,))
        )

    def _same_types(
        self, name: str, below: Signature, parameters: tuple[tuple[str, Type], ...], result: Type, span: Span
    ) -> None:
        got = ", ".join(str(type_) for _, type_ in parameters)
        want = ", ".join(str(type_) for _, type_ in below.parameters)
        note = Note(f"`{name}` is introduced here", below.span)
        if [t for _, t in parameters] != [t for _, t in below.parameters]:
            self.report(Diagnostic("E508", f"`{name}` takes ({want}), not ({got})", span, (note,)))
        elif not accepts(below.result, result):
            self.report(Diagnostic("E508", f"`{name}` gives {below.result}, not {result}", span, (note,)))

    def _type(self, tree: n.Type) -> Type:
        return resolve_type(self.model, tree, self.report)

    # --- round, setup, result

    def _program(self) -> None:
        entry = self.composition.single("round")
        phases = words(entry.value) if entry else []
        self.model.phases = tuple(scalar.text for scalar in phases)
        for position, scalar in enumerate(phases):
            self._procedure_name(scalar)
            if any(scalar.text == other.text for other in phases[:position]):
                self.error("E501", f"`{scalar.text}` is a phase of the round already", scalar.span)
        setup = self.composition.single("setup")
        if setup is not None and isinstance(setup.value, Scalar):
            self._procedure_name(setup.value)
            self.model.setup = setup.value.text
        result = self.composition.single("result")
        if result is not None and isinstance(result.value, Mapping):
            frame = Frame()
            frame.add("who", SEAT)
            keys = []
            for key in words(result.value.get("rank")):
                tree = expression_of(key, self.report)
                if tree is not None:
                    keys.append(self.expressions(frame).need(tree, INT))
            self.model.ranking = tuple(keys)
            self.model.ranking_cites = tuple(cite.text for cite in words(result.value.get("cites")))
        for missing in [
            name for name, found in (("round", entry), ("setup", setup), ("result", result)) if found is None
        ]:
            span = self.composition.documents[0].root.span
            self.error("E306", f"no file of this ruleset says `{missing}`", span)

    def _procedure_name(self, scalar: Scalar) -> None:
        signature = self.signatures.get(scalar.text)
        if signature is None:
            self.error("E301", f"unknown rule `{scalar.text}`{did_you_mean(scalar.text, self.signatures)}", scalar.span)
        elif signature.form != "does" or signature.parameters or signature.result != NOTHING:
            self.error("E406", f"`{scalar.text}` must be a procedure without parameters", scalar.span)

    # --- rules

    def _rules(self) -> None:
        for name, layers in self.composition.sections.get("rules", {}).items():
            signature = self.signatures.get(name)
            if signature is None or signature.unread:
                continue
            checked = tuple(
                layer
                for index, entry in enumerate(layers)
                if (layer := self._layer(name, index, entry, signature)) is not None
            )
            if len(checked) == len(layers):
                form = cast(Form, signature.form)
                self.model.rules[name] = CheckedRule(name, form, signature.parameters, signature.result, checked)

    def _layer(self, name: str, index: int, entry: Entry, signature: Signature) -> RuleLayer | None:
        tree = self.bodies.get((name, index))
        if tree is None:
            return None
        header = tree.header
        names = [p.name for p in header.parameters] if header else [p for p, _ in signature.parameters]
        frame = Frame()
        for parameter, (_, type_) in zip(names, signature.parameters, strict=False):
            frame.add(parameter, type_)
        covers = entry.covers
        guards = [guard for guard in (*entry.guards, entry.get("when")) if isinstance(guard, Scalar)]
        if guards and index == 0:
            self.error("E507", "nothing lies below this rule to answer where `when` is false", guards[0].span)
        when = self._guard(guards, frame)
        steps = Steps(
            self.model,
            self.signatures,
            frame,
            self.report,
            owner=f"{name}@{index}",
            file=entry.file,
            result=signature.result,
            pure=signature.form != "does",
        )
        wraps = covers is not None and covers[0] == "wraps"
        if wraps and index > 0:
            steps.expressions.base = (name, index - 1, signature)
        body = _checked_body(tree, steps, signature, self.report)
        self._check_wraps(name, tree, covers, entry)
        return RuleLayer(
            rule=name,
            layer=index,
            file=entry.file,
            form=cast(Form, signature.form),
            parameters=tuple((p, type_) for p, (_, type_) in zip(names, signature.parameters, strict=False)),
            result=signature.result,
            local_count=frame.size,
            local_names=tuple(frame.names),
            when=when,
            body=body,
            cites=tuple(cite.text for cite in words(entry.get("cites"))),
            span=entry.span,
            covers=covers[0] if covers else "",
            part=entry.part,
        )

    def _guard(self, guards: list[Scalar], frame: Frame) -> c.Expression | None:
        """The conditions of a layer and of the parts that it stands in, as one."""
        when: c.Expression | None = None
        for guard in guards:
            tree = condition_of(guard, self.report)
            if tree is None:
                continue
            expressions = self.expressions(frame)
            checked = expressions.condition(tree)
            frame.facts[-1].update(expressions.facts(tree, holds=True))
            when = checked if when is None else c.Logic("and", when, checked, type=BOOL, span=guard.span)
        return when

    def _check_wraps(self, name: str, tree: Body, covers: tuple[str, str, Span] | None, entry: Entry) -> None:
        names_base = any(isinstance(node, n.Call | n.Name) and node.name == "base" for node in descendants(tree))
        if (
            covers is not None
            and covers[0] == "wraps"
            and not names_base
            and entry.get("when") is None
            and not entry.guards
        ):
            self.error(
                "E507",
                f"`{name}` wraps, but never calls `base`",
                covers[2],
                "say `replaces` where nothing of it is left",
            )

    # --- triggers and standing rules

    def _triggers(self) -> None:
        for name, layers in self.composition.sections.get("triggers", {}).items():
            entry = amended(layers)
            pattern = parsed(entry.get("on"), parse_event_pattern, self.report)
            if pattern is not None:
                self._trigger(name, entry, pattern)

    def _trigger(self, name: str, entry: Entry, pattern: n.EventPattern) -> None:
        frame = Frame()
        if self._heard(pattern, frame) is None:
            return
        test = self._guard(list(entry.guards), frame)
        test = self._narrowed(test, pattern.test, self.expressions(frame))
        cases = tuple(self._cases(name, entry, frame))
        self.model.triggers[name] = CheckedTrigger(
            name, pattern.event, test, frame.size, cases, _texts(entry.get("cites")), entry.span, entry.file
        )

    def _heard(self, pattern: n.EventPattern, frame: Frame) -> Event | None:
        """The event of a pattern, its values given names; nothing where there is none like it."""
        event = self.model.events.get(pattern.event)
        if event is None:
            message = f"unknown event `{pattern.event}`{did_you_mean(pattern.event, self.model.events)}"
            self.error("E301", message, pattern.span)
            return None
        if len(pattern.names) != len(event.fields):
            note = Note("it is declared here", event.span)
            message = f"`{pattern.event}` has {counted(len(event.fields), 'value')}, got {len(pattern.names)}"
            self.report(Diagnostic("E404", message, pattern.span, (note,)))
            return None
        for local, type_ in zip(pattern.names, event.fields.values(), strict=True):
            frame.add(local, type_)
        return event

    def _cases(self, name: str, entry: Entry, frame: Frame) -> Iterator[TriggerCase]:
        written = entry.get("cases")
        if isinstance(written, Sequence):
            seen: dict[str, Span] = {}
            for position, case in enumerate(written.items):
                if not isinstance(case, Mapping):
                    continue
                phases = words(case.get("in"))
                for phase in phases:
                    if phase.text not in self.model.phases:
                        message = f"`{phase.text}` is no phase{did_you_mean(phase.text, self.model.phases)}"
                        self.error("E301", message, phase.span)
                    elif phase.text in seen:
                        self.error("E501", f"`{phase.text}` has a case already", phase.span)
                    seen[phase.text] = phase.span
                block = self._handler(f"{name}!{position}", case.get("does"), frame, entry)
                yield TriggerCase(tuple(p.text for p in phases), block, _texts(case.get("cites")), case.span)
        otherwise = entry.get("otherwise")
        if isinstance(otherwise, Scalar):
            block = None if otherwise.text == "nothing" else self._handler(f"{name}!otherwise", otherwise, frame, entry)
            yield TriggerCase((), block, (), otherwise.span)
        elif entry.get("does") is not None:
            yield TriggerCase((), self._handler(f"{name}!always", entry.get("does"), frame, entry), (), entry.span)

    def _handler(self, name: str, text: Value | None, frame: Frame, entry: Entry) -> str | None:
        """The text of a trigger or standing rule as a procedure whose parameters are the locals bound so far."""
        tree = self._procedure(text)
        if tree is None:
            return None
        if tree.header is not None:
            self.error("E310", "this takes its names from its `on` or `for`: no header here", tree.header.span)
        inner = Frame()
        parameters = [(variable.name, frame.known(variable.name) or variable.type) for variable in _variables(frame)]
        for parameter, type_ in parameters:
            inner.add(parameter, type_)
        inner.facts[0].update({path: type_ for facts in frame.facts for path, type_ in facts.items()})
        steps = Steps(
            self.model, self.signatures, inner, self.report, owner=name, file=entry.file, result=NOTHING, pure=False
        )
        body = steps.block(tree.body)
        self.model.blocks[name] = RuleLayer(
            name,
            0,
            entry.file,
            "does",
            tuple(parameters),
            NOTHING,
            inner.size,
            tuple(inner.names),
            None,
            body,
            _texts(entry.get("cites")),
            tree.span,
        )
        return name

    def _standing(self) -> None:
        for name, layers in self.composition.sections.get("standing", {}).items():
            entry = amended(layers)
            frame = Frame()
            expressions = self.expressions(frame)
            binders: list[tuple[int, c.Expression]] = []
            test = self._guard(list(entry.guards), frame)
            tree: n.Expr | None
            if entry.get("for") is not None:
                match = parsed(entry.get("for"), parse_match, self.report)
                if match is None:
                    continue
                for binder in match.binders:
                    items, of = expressions.items(binder.items)
                    binders.append((frame.add(binder.name, of).index, items))
                tree = match.test
            else:
                tree = condition_of(entry.get("whenever"), self.report)
            test = self._narrowed(test, tree, expressions)
            handler = self._handler(f"{name}?", entry.get("does"), frame, entry)
            if handler is not None:
                self.model.standing[name] = StandingRule(
                    name, tuple(binders), test, frame.size, handler, _texts(entry.get("cites")), entry.span, entry.file
                )

    # --- starts, ranks, settings

    def _groups(self) -> None:
        for name, group in list(self.model.groups.items()):
            changes = self._group_texts(name, group)
            if changes:
                self.model.groups[name] = replace(group, **changes)  # type: ignore[arg-type]
        for group in self.model.groups.values():
            if group.spaces is None:
                continue
            table = self.model.tables.get(group.spaces)
            if table is None:
                message = f"unknown table `{group.spaces}`{did_you_mean(group.spaces, self.model.tables)}"
                self.error("E301", message, group.span)
                continue
            token = self.model.kinds.get(group.type.name)
            by_kind = () if token is not None and token.unit else (group.type.name,)
            by = [key for key in table.keys[:-1] if key != "players"]
            if table.gives != INT or table.key_types[-1] != INT or not set(by_kind) <= set(by) <= {group.type.name}:
                wanted = ", ".join([*by_kind, "price"])
                message = f"`{table.name}` has no spaces of {group.type.name}: want the keys [{wanted}]"
                self.error("E401", f"{message} and numbers", group.span)

    def _group_texts(self, name: str, group: Group) -> dict[str, object]:
        changes: dict[str, object] = {}
        start = self.declared.starts.get(name)
        if start is not None:
            checked, size = self._start(start, group)
            changes.update(start=checked, start_locals=size)
        rank = self.declared.ranks.get(name)
        if rank is not None:
            changes["rank"] = self._card_rule(Scalar(rank.text[3:].strip(), rank.style, rank.span, None), group, INT)
        top = self.declared.tops.get(name)
        if top is not None:
            changes["top_shows"] = self._card_rule(top, group, None)
        return changes

    def _start(self, value: Value, group: Group) -> tuple[c.Expression | None, int]:
        frame = Frame()
        if group.owner == "seat":
            frame.add("who", SEAT)
        expressions = self.expressions(frame)
        unit = (kind := self.model.kinds.get(group.type.name)) is not None and kind.unit
        wanted = {"pool": INT if unit else Type("bag", group.type.name), "stock": INT}.get(group.type.form, group.type)
        if group.type.form == "track":
            wanted = INT if unit else Type("bag", group.type.name)
        if isinstance(value, Sequence) and not value.items:
            return c.Const((), type=wanted, span=value.span), 0
        if isinstance(value, Mapping) and wanted.form == "bag":
            kind = self.model.kinds[group.type.name]
            counts = {e.key.text: e.value.value for e in value.entries if isinstance(e.value, Scalar)}
            for entry in value.entries:
                if entry.key.text not in kind.members:
                    self.error(
                        "E302",
                        f"`{entry.key.text}` is no {kind.name}{did_you_mean(entry.key.text, kind.members)}",
                        entry.key.span,
                    )
            bag = tuple(found if isinstance(found := counts.get(member, 0), int) else 0 for member in kind.members)
            return c.Const(bag, type=wanted, span=value.span), 0
        tree = expression_of(value, self.report)
        if tree is None:
            return None, 0
        if isinstance(tree, n.Name) and tree.name in self.model.tables:
            return self._table_as_start(tree.name, wanted, tree.span), 0
        if isinstance(tree, n.Name) and tree.name in self.signatures:
            tree = n.Call(tree.name, (), name_span=tree.span, span=tree.span)
        return expressions.need(tree, wanted), frame.size

    def _table_as_start(self, table: str, wanted: Type, span: Span) -> c.Expression:
        """A table by players, by kind of token or by both, as what a holder starts with."""
        found = self.model.tables[table]
        kind = Type("kind", wanted.name)
        by_kind = wanted.form == "bag"
        if any(name != "players" and not (by_kind and type_ == kind) for name, type_ in _keys(found)) or (
            by_kind and kind not in found.key_types
        ):
            keys = f"[players], [{kind.name}] or [players, {kind.name}]" if by_kind else "[players]"
            self.error("E401", f"`{table}` must be read by {keys} to start with", span)
            return c.Const(None, type=NEVER, span=span)

        def cell(member: int) -> c.Expression:
            keys: list[c.Expression] = [
                c.PlayerCount(type=INT, span=span) if name == "players" else c.Const(member, type=kind, span=span)
                for name, _ in _keys(found)
            ]
            return c.TableCell(table, tuple(keys), type=found.gives, span=span)

        if not by_kind:
            return self.expressions()._fit(cell(0), wanted, span, "")
        members = range(len(self.model.kinds[wanted.name].members))
        return c.MakeList(tuple(cell(member) for member in members), type=wanted, span=span)

    def _card_rule(self, name: Scalar, group: Group, wanted: Type | None) -> c.Expression | None:
        """An attribute or rule of one card, over the local 0."""
        card = Type("card", group.type.name)
        local = c.Local(0, "card", type=card, span=name.span)
        attributes = self.expressions().attributes(card)
        if name.text in attributes:
            if wanted is not None and attributes[name.text].form not in (wanted.form, "never"):
                self.error("E401", f"`{name.text}` is {attributes[name.text]}, want {wanted}", name.span)
            return c.Static(f"{card.name}.{name.text}", local, type=attributes[name.text], span=name.span)
        signature = self.signatures.get(name.text)
        if signature is not None and signature.unread:
            return None
        if signature is None or signature.form != "is" or len(signature.parameters) != 1:
            known = [*attributes, *(s for s in self.signatures if self.signatures[s].form == "is")]
            self.error(
                "E301",
                f"`{name.text}` is no attribute of a card or rule over one{did_you_mean(name.text, known)}",
                name.span,
            )
            return None
        if not accepts(signature.parameters[0][1], card):
            self.error(
                "E401", f"`{name.text}` takes {signature.parameters[0][1]}, but {group.name} holds {card}", name.span
            )
        if wanted is not None and signature.result != wanted:
            self.error("E401", f"`{name.text}` gives {signature.result}, want {wanted}", name.span)
        return c.CallRule(name.text, (local,), type=signature.result, span=name.span)

    def _settings(self) -> None:
        for setting in self.model.settings.values():
            if setting.check is None:
                continue
            signature = self.signatures.get(setting.check)
            if signature is None or signature.form != "permits":
                self.error(
                    "E301",
                    f"`{setting.check}` is no verdict{did_you_mean(setting.check, self.signatures)}",
                    setting.span,
                )
            elif not signature.unread and [t for _, t in signature.parameters] != [setting.type.sure]:
                self.error("E401", f"`{setting.check}` must take one {setting.type.sure}", setting.span)

    # --- what is shown

    def _shown(self) -> None:
        for name, layers in self.composition.sections.get("events", {}).items():
            event = self.model.events.get(name)
            for layer in layers:
                said = layer.get("says")
                if said is not None and event is not None:
                    event.says.update(self._says(said, list(event.fields.items())))
        self._alternatives()
        for name, layers in self.composition.sections.get("says", {}).items():
            bound = self._bound_by(name, layers[-1])
            if bound is not None:
                self.model.says[name] = self._says(layers[-1].value, bound)
        for name, layers in self.composition.sections.get("boards", {}).items():
            self._board(name, amended(layers))
        for name, layers in self.composition.sections.get("measures", {}).items():
            self._measure(name, amended(layers))
        picture = self.composition.single("picture")
        if picture is not None:
            self._picture(picture)

    def _alternatives(self) -> None:
        """Of every decision: what stands around it and what its alternatives bind."""
        procedures = [layer for rule in self.model.rules.values() for layer in rule.layers]
        for layer in (*procedures, *self.model.blocks.values()):
            for ask in (node for node in descendants(layer.body) if isinstance(node, c.Ask)):
                context = [(name, value.type) for name, value in ask.context]
                for option in ask.options:
                    bound = [("who", SEAT), *context, *((choice.name, choice.type) for choice in option.choices)]
                    key = f"{ask.name}.{option.name}"
                    self.model.alternatives.setdefault(key, bound)
                    if self.model.alternatives[key] != bound:
                        self.error("E511", f"`{key}` stands elsewhere with other values", option.span)

    def _bound_by(self, name: str, entry: Entry) -> list[tuple[str, Type]] | None:
        if name in self.model.alternatives:
            return self.model.alternatives[name]
        if name in self.model.events:
            return list(self.model.events[name].fields.items())
        if name in self.model.phases or name in ("round", "game"):
            return []
        if "." in name and self.unread:
            return None  # a text that cannot be read may have the decision
        known = [*self.model.alternatives, *self.model.events, *self.model.phases, "round", "game"]
        self.error("E301", f"nothing is called `{name}`{did_you_mean(name, known)}", entry.span)
        return None

    def _says(self, value: Value, bound: list[tuple[str, Type]]) -> dict[str, Phrase]:
        if isinstance(value, Scalar):
            return {"en": self._phrase(value, bound)}
        if isinstance(value, Mapping):
            return {e.key.text: self._phrase(e.value, bound) for e in value.entries if isinstance(e.value, Scalar)}
        return {}

    def _phrase(self, value: Scalar, bound: list[tuple[str, Type]]) -> Phrase:
        frame = Frame()
        for name, type_ in bound:
            frame.add(name, type_)
        parts: list[str | c.Expression] = []
        for part in template_parts(value, self.report):
            parts.append(part if isinstance(part, str) else self.expressions(frame).value(part, maybe=True))
        return Phrase(tuple(parts), frame.size)

    def _moment(self, value: Value | None) -> str:
        text = word(value)
        edge, _, phase = text.partition(" of ")
        if text in MOMENTS or (edge in ("start", "end") and phase in self.model.phases):
            return text
        if value is not None:
            known = [*MOMENTS, *(f"{edge} of {phase}" for edge in ("start", "end") for phase in self.model.phases)]
            self.error("E302", f"`{text}` is no moment of the game{did_you_mean(text, known)}", value.span)
        return ""

    def _picture(self, entry: Entry) -> None:
        """How nodes, links and places look: expressions over the one that is drawn."""
        if self.model.graph is None:
            self.error("E301", "the family declares no graph that could be drawn", entry.span)
            return
        for word_, type_ in (("node", NODE), ("link", Type("link")), ("place", PLACE)):
            looks = entry.get(word_)
            for look in looks.entries if isinstance(looks, Mapping) else ():
                frame = Frame()
                frame.add(word_, type_)
                tree = expression_of(look.value, self.report)
                if tree is not None:
                    name = f"{word_}.{look.key.text}"
                    self.model.picture[name] = Look(self._look(name, self.expressions(frame), tree), frame.size)

    def _look(self, name: str, expressions: Expressions, tree: n.Expr) -> c.Expression:
        """Most looks are any value, shown in words; a place shows a piece, and a node is pale or is not."""
        if name == "node.pale":
            return expressions.condition(tree)
        value = expressions.value(tree, maybe=True)
        if name == "place.piece" and value.type.form not in ("piece", "never"):
            self.error("E401", f"got {value.type}, want a piece", tree.span)
        return value

    def _board(self, name: str, entry: Entry) -> None:
        if not isinstance(entry.value, Mapping):
            return
        frame = Frame()
        expressions = self.expressions(frame)
        rows, row_local = None, 0
        if (text := entry.get("rows")) is not None:
            match = parsed(text, parse_match, self.report)
            if match is not None:
                rows, of = expressions.items(match.binders[0].items)
                row_local = frame.add(match.binders[0].name, of).index
        columns: list[tuple[str, c.Expression]] = []
        written = entry.get("columns")
        if isinstance(written, Mapping):
            for column in written.entries:
                tree = expression_of(column.value, self.report)
                if tree is not None:
                    columns.append((column.key.text, expressions.value(tree, maybe=True)))
        says = self._says(said, []) if (said := entry.get("says")) is not None else {}
        self.model.boards.append(
            Board(name, self._moment(entry.get("when")), says, rows, row_local, tuple(columns), frame.size, entry.span)
        )

    def _measure(self, name: str, entry: Entry) -> None:
        frame = Frame()
        keys: list[MeasureKey] = []
        event, test = None, None
        expressions = self.expressions(frame)
        if (on := entry.get("on")) is not None:
            pattern = parsed(on, parse_event_pattern, self.report)
            event = self._heard(pattern, frame) if pattern is not None else None
            if pattern is None or event is None:
                return
            keys.extend(self._told_apart(words(entry.get("by")), pattern.names, event))
            test = self._narrowed(test, pattern.test, expressions)
        each: list[tuple[int, c.Expression]] = []
        if isinstance(text := entry.get("each"), Scalar):
            local = frame.add(text.text, SEAT)
            each.append((local.index, c.AllSeats(type=Type("list", of=SEAT), span=text.span)))
            keys.append(MeasureKey(text.text, local.index, SEAT))
        if (found := entry.get("for")) is not None:
            match = parsed(found, parse_match, self.report)
            for binder in match.binders if match is not None else ():
                items, of = expressions.items(binder.items)
                local = frame.add(binder.name, of)
                each.append((local.index, items))
                keys.append(MeasureKey(binder.name, local.index, of))
            test = self._narrowed(test, match.test if match is not None else None, expressions)
        tree = expression_of(entry.get("value"), self.report)
        if tree is None:
            return
        value = expressions.value(tree, maybe=True)
        if value.type.form not in ("int", "bool", "never"):
            self.error("E401", f"got {value.type}, want a number or a condition", tree.span)
        written = entry.get("when")
        moments = written.items if isinstance(written, Sequence) else (written,) if written is not None else ()
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

    def _told_apart(self, by: Iterable[Scalar], names: tuple[str, ...], event: Event) -> Iterator[MeasureKey]:
        """The values of an event that tell those of a measure apart."""
        for scalar in by:
            if scalar.text in names:
                place = names.index(scalar.text)
                yield MeasureKey(scalar.text, place, list(event.fields.values())[place])
            else:
                message = f"unknown name `{scalar.text}`{did_you_mean(scalar.text, names)}"
                self.error("E301", message, scalar.span)

    def _narrowed(
        self, before: c.Expression | None, test: n.Expr | None, expressions: Expressions
    ) -> c.Expression | None:
        """A condition beside others that hold already; what it tells of types holds from here on."""
        if test is None:
            return before
        checked = expressions.condition(test)
        expressions.frame.facts[-1].update(expressions.facts(test, holds=True))
        return checked if before is None else c.Logic("and", before, checked, type=BOOL, span=test.span)

    def _laws(self) -> None:
        for table, text in self.declared.laws:
            tree = condition_of(text, self.report)
            if tree is not None:
                frame = Frame()
                checked = self.expressions(frame).condition(tree)
                self.model.laws.append((table, checked, frame.size))

    # --- citations

    def _citations(self) -> None:
        for cite in self._all_cites():
            if cite.text not in self.statements:
                message = f"no statement is called `{cite.text}`{did_you_mean(cite.text, self.statements)}"
                self.error("E601", message, cite.span)

    def _all_cites(self) -> Iterator[Scalar]:
        for section in self.composition.sections.values():
            for layers in section.values():
                for entry in layers:
                    yield from _cites_below(entry.value)
        for body in self.bodies.values():
            for node in descendants(body) if body is not None else ():
                if isinstance(node, n.Require):
                    for cite in node.cites:
                        yield Scalar(cite, "plain", node.span, cite)


def _cites_below(value: Value) -> Iterator[Scalar]:
    if isinstance(value, Mapping):
        for entry in value.entries:
            if entry.key.text in ("cites", "answers"):
                yield from words(entry.value)
            else:
                yield from _cites_below(entry.value)
    elif isinstance(value, Sequence):
        for item in value.items:
            yield from _cites_below(item)


def _keys(table: Table) -> list[tuple[str, Type]]:
    return list(zip(table.keys, table.key_types, strict=True))


def _texts(value: Value | None) -> tuple[str, ...]:
    return tuple(scalar.text for scalar in words(value))


def _variables(frame: Frame) -> list[Variable]:
    return sorted((v for block in frame.visible for v in block.values()), key=lambda v: v.index)


def _way_out(steps: tuple[c.Step, ...], whole: Note) -> Note | None:
    """Where a way through the steps ends without a return; ``whole`` tells of steps of which there is none."""
    if not steps:
        return whole
    last = steps[-1]
    match last:
        case c.Returns() | c.Ends():
            return None
        case c.Branch():
            fails = Note("nothing is returned where this does not hold", last.test.span)
            then = _way_out(last.then, Note("nothing is returned where this holds", last.test.span))
            return then or _way_out(last.otherwise, fails)
        case c.Ask():
            ways = (
                _way_out(each.body or (), Note("nothing is returned after this choice", each.span))
                for each in last.options
            )
            return next((way for way in ways if way is not None), None)
        case c.Repeat():
            return Note("nothing is returned after this `while`", last.span)
        case c.Iterate():
            return Note("nothing is returned after this `for each`", last.span)
        case _:
            return Note("nothing is returned after this", last.span)
