"""The checker: turns a composition into a model in which every text is checked.

It reads all declarations and rule headers before any body, so texts may refer to each other in any order. It reports
all errors, not only the first.
"""

from __future__ import annotations

from collections import abc
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Literal, cast

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.plurals import counted
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.base.yaml_values import words
from interpreter.language import core, nodes
from interpreter.language.amended_decisions import Decisions
from interpreter.language.check_graph import Boards
from interpreter.language.check_shown import Shown
from interpreter.language.check_starts import Starts
from interpreter.language.check_steps import Steps, resolve_type
from interpreter.language.checker import Checker
from interpreter.language.declare import declare
from interpreter.language.model import (
    CheckedRule,
    CheckedTrigger,
    Guard,
    Law,
    Model,
    RuleBody,
    RuleLayer,
    Signature,
    Signatures,
    StandingRule,
    TriggerCase,
)
from interpreter.language.parse import parse_event_pattern, parse_function, parse_match, parse_procedure, parse_verdict
from interpreter.language.scope import Frame, Variable
from interpreter.language.texts import condition_of, expression_of, parsed
from interpreter.language.translations import asks_of
from interpreter.language.types import BOOL, INT, NEVER, NOTHING, SEAT, Type, accepts
from interpreter.language.walk import descendants
from interpreter.reading.compose import Composition, cites_below, phases_of
from interpreter.reading.statements import Statement, unknown_statement
from interpreter.reading.yaml import Scalar, Sequence, Value
from interpreter.sections.behaviour import Ranking, Standing, Trigger
from interpreter.sections.declarations import Entry
from interpreter.sections.things import Kind
from interpreter.sections.vocabulary import Keys

__all__ = ["check", "check_function", "check_text", "literal_type"]

Form = Literal["is", "does", "permits"]
Body = nodes.Function | nodes.Procedure | nodes.Verdict


def check(composition: Composition, statements: dict[str, Statement]) -> tuple[Model, list[Diagnostic]]:
    """Return the model of a composition, and all diagnostics. ``statements`` are those that may be cited."""
    checker = _Whole(composition, statements)
    checker.run()
    return checker.model, _merge_removed_members(composition, checker.diagnostics)


def _merge_removed_members(composition: Composition, diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """Replace the errors about a member that a file drops from a kind by one error at that kind."""
    for kind in composition.read(Kind):
        lists = [value for layer in kind.layers if isinstance(value := Kind.of_layers([layer]).is_, Sequence)]
        for before, after in pairwise(lists):
            for member in [m.text for m in words(before) if m.text not in {m.text for m in words(after)}]:
                uses = [d for d in diagnostics if d.code in ("E301", "E302") and d.span and d.span.text == member]
                if uses:
                    notes = tuple(Note(f"`{member}` is used here", d.span) for d in uses[:3])
                    message = f"`{kind.name}` no longer has `{member}`, which is used in {counted(len(uses), 'place')}"
                    help = "an amended kind lists all of its members"
                    merged = Diagnostic("E302", message, after.span, notes, help)
                    diagnostics = [merged, *(d for d in diagnostics if d not in uses)]
    return diagnostics


def check_text(
    model: Model, signatures: Signatures, procedure: nodes.Procedure, name: str
) -> tuple[RuleLayer, list[Diagnostic]]:
    """Check a procedure outside the ruleset, such as a scenario's `given`."""
    diagnostics: list[Diagnostic] = []
    frame = Frame()
    steps = Steps(model, signatures, frame, diagnostics.append, owner=name, file="", result=NOTHING, pure=False)
    body = steps.block(procedure.body)
    names, types = tuple(frame.names), tuple(frame.types)
    span = procedure.span
    layer = RuleLayer(name, 0, "", "does", (), NOTHING, frame.size, names, None, body, (), span, local_types=types)
    return layer, diagnostics


def check_function(
    model: Model,
    signatures: Signatures,
    tree: nodes.Function | nodes.Verdict,
    rule: str,
    key: Scalar,
    file: str,
    weights: abc.Mapping[str, int],
    report: Callable[[Diagnostic], None],
) -> tuple[Signature, RuleLayer]:
    """Check a helper: a function or verdict outside the ruleset. Calls use the id of its layer as the name."""
    header = tree.header
    parameters = tuple((p.name, resolve_type(model, p.type, report)) for p in header.parameters) if header else ()
    constant = literal_type(tree)
    result = constant or BOOL
    if isinstance(tree, nodes.Function) and constant is None:
        result = resolve_type(model, header.result, report) if header and header.result else NEVER
        if result == NEVER:
            message = f"`{key.text}` needs a header with its result: `() -> type:`"
            report(Diagnostic("E310", message, tree.span))
    frame = Frame()
    for name, type_ in parameters:
        frame.add(name, type_)
    steps = Steps(model, signatures, frame, report, owner=f"{rule}@0", file=file, result=result, pure=True)
    steps.expressions.weights = weights
    form: Form = "is" if isinstance(tree, nodes.Function) else "permits"
    signature = Signature(f"{rule}@0", form, parameters, result, key.span, constant=constant is not None)
    body = _checked_body(tree, steps, signature, report)
    layer = RuleLayer(rule, 0, file, form, parameters, result, frame.size, tuple(frame.names), None, body, (), key.span)
    return signature, layer


def _checked_body(tree: Body, steps: Steps, signature: Signature, report: Callable[[Diagnostic], None]) -> RuleBody:
    if isinstance(tree, nodes.Verdict):
        return tuple(_requirement(line, steps) for line in tree.lines)
    if isinstance(tree, nodes.Function) and not isinstance(tree.body, nodes.Block):
        return steps.expressions.need(tree.body, signature.result)
    block = cast(nodes.Block, tree.body)
    checked = steps.block(block)
    if signature.result not in (NOTHING, NEVER):
        note = _missing_return(checked, Note("nothing is returned"))
        if note is not None:
            message = f"not every path returns a value ({signature.result})"
            report(Diagnostic("E702", message, tree.span, (note,)))
    return checked


def _requirement(line: nodes.Require | nodes.Let, steps: Steps) -> core.Requirement:
    if isinstance(line, nodes.Let):
        value = steps.expressions.value(line.value)
        variable = steps.frame.add(line.name, value.type)
        return core.Requirement(value, (), variable.index, span=line.span)
    test = steps.expressions.condition(line.test)
    steps.frame.facts[-1].update(steps.expressions.facts(line.test, holds=True))
    return core.Requirement(test, line.cites, span=line.span)


class _Whole(Checker):
    """Checks a whole composition, from headers to citations."""

    def __init__(self, composition: Composition, statements: dict[str, Statement]) -> None:
        self.diagnostics: list[Diagnostic] = []
        report = self.diagnostics.append
        super().__init__(composition, declare(composition, report), {}, report)
        self.statements = statements
        self.bodies: dict[tuple[str, int], Body | None] = {}
        self.decisions = Decisions(composition, report)
        self.unread = False
        """True if the text of a procedure could not be parsed."""

    def run(self) -> None:
        """Run all checks. Each may use the results of those before it."""
        self._headers()
        Boards(self.composition, self.declared, self.signatures, self.report).check()
        self._program()
        self._rules()
        self._triggers()
        self._standing()
        context = self.composition, self.declared, self.signatures, self.report
        Starts(*context).check()
        self._settings()
        Shown(*context, unread=self.unread).check()
        self._laws()
        self._citations()
        self.decisions.check_asked()
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

    def _procedure(self, text: Value | None) -> nodes.Procedure | None:
        tree = parsed(text, parse_procedure, self.report)
        self.unread = self.unread or tree is None
        return self.decisions.widened(tree) if tree is not None else None

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
        constant = literal_type(tree) if below is None else None
        result = constant or result
        if form == "is" and result == NOTHING and tree is not None:
            self.error("E310", f"`{name}` needs a header with its result: `() -> type:`", tree.span)
            result = NEVER
        if form == "permits" and result != BOOL and header is not None:
            self.error("E310", "a verdict has no result type", header.span)
        if below is None:
            unread, is_constant = tree is None, constant is not None
            self.signatures[name] = Signature(name, form, parameters, result, entry.span, unread, is_constant)
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

    def _type(self, tree: nodes.Type) -> Type:
        return resolve_type(self.model, tree, self.report)

    # --- round, setup, result

    def _program(self) -> None:
        entry = self.composition.single("round")
        phases = phases_of(entry.value) if entry else []
        for position, (scalar, _) in enumerate(phases):
            self._procedure_name(scalar)
            if any(scalar.text == other.text for other, _ in phases[:position]):
                self.error("E501", f"`{scalar.text}` is a phase of the round already", scalar.span)
        self.model.phase_guards = tuple(self._phase_guard(when) for _, when in phases)
        setup = self.composition.single("setup")
        if setup is not None and isinstance(setup.value, Scalar):
            self._procedure_name(setup.value)
            self.model.setup = setup.value.text
        result = self.composition.single("result")
        if result is not None:
            ranking, frame = Keys(Ranking).read(result.value), Frame()
            frame.add("who", SEAT)
            trees = [expression_of(key, self.report) for key in ranking.rank]
            self.model.ranking = tuple(self.expressions(frame).need(tree, INT) for tree in trees if tree is not None)
            self.model.ranking_cites = _texts(ranking.cites)
        for name, section in (("round", entry), ("setup", setup), ("result", result)):
            if section is None:
                span = self.composition.documents[0].root.span
                self.error("E306", f"no file of this ruleset declares `{name}`", span)

    def _phase_guard(self, when: Value | None) -> Guard | None:
        tree = condition_of(when, self.report) if when is not None else None
        if tree is None:
            return None
        frame = Frame()
        return Guard(self.expressions(frame).condition(tree), frame.size)

    def _procedure_name(self, scalar: Scalar) -> None:
        signature = self.signatures.get(scalar.text)
        if signature is None:
            near = did_you_mean(scalar.text, self.signatures)
            help = None if near else "declare it under `rules`"
            self.error("E301", f"unknown rule `{scalar.text}`{near}", scalar.span, help=help)
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
            self.error("E507", "no layer below answers if `when` is false", guards[0].span)
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
            cites=_texts(words(entry.get("cites"))),
            span=entry.span,
            covers=covers[0] if covers else "",
            part=entry.part,
            local_types=tuple(frame.types),
        )

    def _guard(self, guards: list[Scalar], frame: Frame) -> core.Expression | None:
        """Join the conditions of a layer and of its enclosing parts."""
        when: core.Expression | None = None
        for guard in guards:
            tree = condition_of(guard, self.report)
            if tree is None:
                continue
            expressions = self.expressions(frame)
            checked = expressions.condition(tree)
            frame.facts[-1].update(expressions.facts(tree, holds=True))
            when = checked if when is None else core.Logic("and", when, checked, type=BOOL, span=guard.span)
        return when

    def _check_wraps(self, name: str, tree: Body, covers: tuple[str, str, Span] | None, entry: Entry) -> None:
        names_base = any(
            isinstance(node, nodes.Call | nodes.Name) and node.name == "base" for node in descendants(tree)
        )
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
                "write `replaces` if the rule below is not needed",
            )

    # --- triggers and standing rules

    def _triggers(self) -> None:
        for trigger in self.composition.read(Trigger):
            pattern = parsed(trigger.on, parse_event_pattern, self.report)
            if pattern is not None:
                self._trigger(trigger, pattern)

    def _trigger(self, trigger: Trigger, pattern: nodes.EventPattern) -> None:
        frame, entry = Frame(), trigger.entry
        if self.heard(pattern, frame) is None:
            return
        test = self._guard(list(entry.guards), frame)
        test = self.narrowed(test, pattern.test, self.expressions(frame))
        cases = tuple(self._cases(trigger, frame))
        self.model.triggers[trigger.name] = CheckedTrigger(
            trigger.name, pattern.event, test, frame.size, cases, _texts(trigger.cites), entry.span, entry.file
        )

    def _cases(self, trigger: Trigger, frame: Frame) -> Iterator[TriggerCase]:
        name, seen = trigger.name, set[str]()
        for position, case in enumerate(trigger.cases):
            for phase in case.in_:
                if phase.text not in self.model.phases:
                    message = f"unknown phase `{phase.text}`{did_you_mean(phase.text, self.model.phases)}"
                    self.error("E301", message, phase.span)
                elif phase.text in seen:
                    self.error("E501", f"`{phase.text}` has a case already", phase.span)
                seen.add(phase.text)
            block = self._handler(f"{name}!{position}", case.does, frame, trigger)
            yield TriggerCase(_texts(case.in_), block, _texts(case.cites), case.source.span)
        otherwise = trigger.otherwise
        if otherwise is not None:
            is_nothing = otherwise.text == "nothing"
            block = None if is_nothing else self._handler(f"{name}!otherwise", otherwise, frame, trigger)
            yield TriggerCase((), block, (), otherwise.span)
        elif trigger.does is not None:
            block = self._handler(f"{name}!always", trigger.does, frame, trigger)
            yield TriggerCase((), block, (), trigger.entry.span)

    def _handler(self, name: str, text: Scalar | None, frame: Frame, owner: Trigger | Standing) -> str | None:
        """Check the text of a trigger or standing rule as a procedure with the locals bound so far as parameters."""
        tree = self._procedure(text)
        if tree is None:
            return None
        if tree.header is not None:
            self.error("E310", "no header is allowed here: names come from `on` or `for`", tree.header.span)
        inner = Frame()
        parameters = [(variable.name, frame.known(variable.name) or variable.type) for variable in _variables(frame)]
        for parameter, type_ in parameters:
            inner.add(parameter, type_)
        inner.facts[0].update({path: type_ for facts in frame.facts for path, type_ in facts.items()})
        steps = Steps(
            self.model,
            self.signatures,
            inner,
            self.report,
            owner=name,
            file=owner.entry.file,
            result=NOTHING,
            pure=False,
        )
        body = steps.block(tree.body)
        self.model.blocks[name] = RuleLayer(
            name,
            0,
            owner.entry.file,
            "does",
            tuple(parameters),
            NOTHING,
            inner.size,
            tuple(inner.names),
            None,
            body,
            _texts(owner.cites),
            tree.span,
            local_types=tuple(inner.types),
        )
        return name

    def _standing(self) -> None:
        for rule in self.composition.read(Standing):
            name, entry, frame = rule.name, rule.entry, Frame()
            expressions = self.expressions(frame)
            binders: list[tuple[int, core.Expression]] = []
            test = self._guard(list(entry.guards), frame)
            tree: nodes.Expr | None
            if rule.for_ is not None:
                match = parsed(rule.for_, parse_match, self.report)
                if match is None:
                    continue
                for binder in match.binders:
                    items, of = expressions.items(binder.items)
                    binders.append((frame.add(binder.name, of).index, items))
                tree = match.test
            else:
                tree = condition_of(rule.whenever, self.report)
            test = self.narrowed(test, tree, expressions)
            handler = self._handler(f"{name}?", rule.does, frame, rule)
            if handler is not None:
                self.model.standing[name] = StandingRule(
                    name, tuple(binders), test, frame.size, handler, _texts(rule.cites), entry.span, entry.file
                )

    # --- settings, laws

    def _settings(self) -> None:
        for setting in self.model.settings.values():
            if setting.check is None:
                continue
            signature = self.signatures.get(setting.check)
            if signature is None or signature.form != "permits":
                self.error(
                    "E301",
                    f"unknown verdict `{setting.check}`{did_you_mean(setting.check, self.signatures)}",
                    setting.span,
                )
            elif not signature.unread and [t for _, t in signature.parameters] != [setting.type.sure]:
                self.error("E401", f"`{setting.check}` must take one {setting.type.sure}", setting.span)

    def _laws(self) -> None:
        for table, name, text in self.declared.laws:
            file = self.model.tables[table].file
            tree = condition_of(text, self.report)
            if tree is not None:
                frame = Frame()
                checked = self.expressions(frame).condition(tree)
                self.model.laws.append(Law(table, file, name, checked, frame.size))

    # --- citations

    def _citations(self) -> None:
        for cite in self._all_cites():
            if cite.text not in self.statements:
                self.diagnostics.append(unknown_statement(cite.text, cite.span, self.statements))

    def _all_cites(self) -> Iterator[Scalar]:
        for document in self.composition.documents:
            yield from words(document.root.get("cites"))
        for section in self.composition.sections.values():
            for layers in section.values():
                for entry in layers:
                    yield from cites_below(entry.value)
        for body in self.bodies.values():
            for line in body.lines if isinstance(body, nodes.Verdict) else ():
                if isinstance(line, nodes.Require):
                    yield from (Scalar(cite, "plain", line.span, cite) for cite in line.cites)
        for option in (option for ask in asks_of(self.model) for option in ask.options):
            yield from (Scalar(cite, "plain", option.span, cite) for cite in option.cites)


def literal_type(tree: Body | None) -> Type | None:
    """Return the type of a constant (a function that is a number, `yes` or `no`, without header), else None."""
    if not isinstance(tree, nodes.Function) or tree.header is not None:
        return None
    value = tree.body.value if isinstance(tree.body, nodes.Negative) else tree.body
    return BOOL if isinstance(value, nodes.BoolLiteral) else INT if isinstance(value, nodes.IntLiteral) else None


def _texts(scalars: Iterable[Scalar]) -> tuple[str, ...]:
    return tuple(scalar.text for scalar in scalars)


def _variables(frame: Frame) -> list[Variable]:
    return sorted((v for block in frame.visible for v in block.values()), key=lambda v: v.index)


def _missing_return(steps: tuple[core.Step, ...], whole: Note) -> Note | None:
    """Return a note on where a path through the steps ends without a return, or None if all paths return."""
    if not steps:
        return whole
    last = steps[-1]
    match last:
        case core.Returns() | core.Ends():
            return None
        case core.Branch():
            fails = Note("nothing is returned if this is false", last.test.span)
            then = _missing_return(last.then, Note("nothing is returned if this is true", last.test.span))
            return then or _missing_return(last.otherwise, fails)
        case core.Ask(at_once=None):
            notes = (
                _missing_return(option.body or (), Note("nothing is returned after this choice", option.span))
                for option in last.options
            )
            return next((note for note in notes if note is not None), None)
        case core.Repeat():
            return Note("nothing is returned after this `while`", last.span)
        case core.Iterate():
            return Note("nothing is returned after this `for each`", last.span)
        case _:
            return Note("nothing is returned after this", last.span)
