"""The checker: turns a composition into a model in which every text is checked.

It reads all declarations and heads of rules before any body, so texts may refer to each other in any order. It reports
all errors, not only the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, pairwise, repeat
from typing import cast

from msgspec.structs import replace

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.plain_data import grouped
from interpreter.base.plurals import counted
from interpreter.base.remedies import write
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.base.yaml_values import word, words
from interpreter.language import core, nodes
from interpreter.language.amended_decisions import Decisions, asked_in
from interpreter.language.check_graph import Boards
from interpreter.language.check_shown import Shown
from interpreter.language.check_starts import Starts
from interpreter.language.check_steps import Blocks, Steps
from interpreter.language.checker import Checker
from interpreter.language.declare import declare
from interpreter.language.declared_cards import column_of
from interpreter.language.model import (
    CardKind,
    CheckedRule,
    CheckedTrigger,
    Form,
    Guard,
    Law,
    Model,
    RuleBody,
    RuleLayer,
    Signature,
    StandingRule,
    TriggerCase,
)
from interpreter.language.parse import (
    checked_texts,
    parse_event_pattern,
    parse_function,
    parse_head,
    parse_match,
    parse_procedure,
    parse_verdict,
)
from interpreter.language.reporter import Report
from interpreter.language.resolve import Binding, Names, parameters_of, resolve_type
from interpreter.language.scope import Frame
from interpreter.language.texts import condition_of, expression_of, parsed
from interpreter.language.translations import asks_of
from interpreter.language.types import BOOL, INT, NEVER, NOTHING, Type, accepts
from interpreter.language.walk import descendants
from interpreter.reading.composition import Composition
from interpreter.reading.file_declarations import phases_of
from interpreter.reading.statements import Statement, unknown_statement
from interpreter.reading.yaml import Scalar, Sequence, Value
from interpreter.sections.atoms import Condition
from interpreter.sections.behaviour import Ranking, RankKey, Rule, Standing, Table, Trigger
from interpreter.sections.declarations import Entry
from interpreter.sections.things import Card, Kind
from interpreter.sections.vocabulary import Keys, Named

__all__ = ["bindings", "check", "check_function", "check_text", "literal_type"]

Body = nodes.Function | nodes.Procedure | nodes.Verdict
_UNKNOWN = ("E301", "E302")


def check(composition: Composition, statements: dict[str, Statement]) -> tuple[Model, list[Diagnostic]]:
    """Return the model of a composition, and all diagnostics. ``statements`` are those that may be cited."""
    checker = _Whole(composition, statements)
    checker.run()
    return checker.model, _merge_removed_members(composition, _without_cells_of_misfits(checker.diagnostics))


def bindings(composition: Composition, statements: dict[str, Statement]) -> list[Binding]:
    """Return what the names in all rule texts of a composition mean, as far as they mean something."""
    checker = _Whole(composition, statements)
    checker.run()
    return checker.names.bindings


def _without_cells_of_misfits(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """Leave out that names are unknown which rows with the wrong number of cells have: these have an error already."""
    rows = [each.span.text for each in diagnostics if each.code == "E020" and each.span is not None]
    cells = {cell.strip() for row in rows for cell in row.split("|")}
    return [d for d in diagnostics if d.code not in _UNKNOWN or not d.span or d.span.text.strip('"') not in cells]


def _merge_removed_members(composition: Composition, diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """Replace the errors about a member that a file drops from a kind by one error at that kind."""
    for kind in composition.read(Kind):
        lists = [value for layer in kind.layers if isinstance(value := Kind.of_layers([layer]).is_, Sequence)]
        for before, after in pairwise(lists):
            for member in [m.text for m in words(before) if m.text not in {m.text for m in words(after)}]:
                uses = [d for d in diagnostics if d.code in _UNKNOWN and d.span and d.span.text == member]
                if uses:
                    notes = tuple(Note(f"`{member}` is used here", d.span) for d in uses[:3])
                    message = f"`{kind.name}` no longer has `{member}`, which is used in {counted(len(uses), 'place')}"
                    help = "an amended kind lists all of its members"
                    merged = Diagnostic("E302", message, after.span, notes, help)
                    diagnostics = [merged, *(d for d in diagnostics if d not in uses)]
    return diagnostics


def check_text(names: Names, procedure: nodes.Procedure, name: str) -> tuple[RuleLayer, Blocks, list[Diagnostic]]:
    """Check a procedure outside the ruleset, such as a scenario's `given`. Return it with its delayed blocks."""
    diagnostics: list[Diagnostic] = []
    frame = Frame()
    steps = Steps(names, frame, diagnostics.append, name, "")
    body = steps.block(procedure.body)
    return steps.layer(name, body, procedure.span), steps.blocks, diagnostics


def check_function(
    names: Names,
    tree: nodes.Function | nodes.Verdict,
    rule: str,
    key: Scalar,
    file: str,
    report: Report,
) -> tuple[Signature, RuleLayer]:
    """Check a helper: a function or verdict outside the ruleset. Calls use the id of its layer as the name."""
    form: Form = "is" if isinstance(tree, nodes.Function) else "permits"
    parameters, result = _types(names, tree.header, form, file, report)
    constant = literal_type(tree)
    result = constant or result
    if result == NOTHING:
        result = NEVER
        report(_headless(key.text, parameters, tree.span))
    frame = Frame()
    steps = Steps(names, frame, report, f"{rule}@0", file, result, pure=True)
    _add_parameters(steps, parameters, tree.header)
    signature = Signature(f"{rule}@0", form, parameters, result, key.span, constant=constant is not None)
    body = _checked_body(tree, steps, signature, report)
    return signature, steps.layer(rule, body, key.span, parameters, form)


def _types(
    names: Names, header: nodes.Header | None, form: Form, file: str, report: Report
) -> tuple[tuple[tuple[str, Type], ...], Type]:
    """Return the parameters of a rule and the type of its result."""
    parameters = parameters_of(names, header, file, report)
    if header is None or header.result is None:
        return parameters, BOOL if form == "permits" else NOTHING
    result = resolve_type(names, header.result, report)
    if form == "permits" and result != BOOL:
        report(Diagnostic("E310", "a verdict has no result type", header.span))
    return parameters, result


def _headless(name: str, parameters: tuple[tuple[str, Type], ...], span: Span) -> Diagnostic:
    """Return the error for a function without a result."""
    head = f"{name}({', '.join(parameter for parameter, _ in parameters)}) -> type"
    return Diagnostic("E310", f"`{name}` needs a head with its result: `{head}:`", span)


def _add_parameters(steps: Steps, parameters: Iterable[tuple[str, Type]], header: nodes.Header | None) -> None:
    """Add the parameters of a text as locals, those of its header with their places."""
    places = header.parameters if header is not None else ()
    for (name, type_), node in zip(parameters, chain(places, repeat(None)), strict=False):
        if node is not None:
            steps.bound(name, type_, node)
        else:
            steps.frame.add(name, type_)


def _checked_body(tree: Body, steps: Steps, signature: Signature, report: Report) -> RuleBody:
    if isinstance(tree, nodes.Verdict):
        return tuple(_requirement(line, steps) for line in tree.lines)
    if isinstance(tree, nodes.Function) and not isinstance(tree.body, nodes.Block):
        return steps.need(tree.body, signature.result)
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
        value = steps.value(line.value)
        variable = steps.bound(line.name, value.type, line)
        return core.Requirement(value, (), variable.index, span=line.span)
    test = steps.established(line.test)
    for cite in line.cites:
        steps.names.bind(line.span, "statements", cite)
    return core.Requirement(test, line.cites, span=line.span)


class _Whole(Checker):
    """Checks a whole composition, from headers to citations."""

    def __init__(self, composition: Composition, statements: dict[str, Statement]) -> None:
        diagnostics: list[Diagnostic] = []
        model = declare(composition, diagnostics.append)
        super().__init__(composition, Names(model, {}, texts=checked_texts()), diagnostics)
        self.statements = statements
        self.bodies: dict[tuple[str, int], Body | None] = {}
        self.decisions = Decisions(composition, self.report)
        model.amended = self.decisions.cites
        self.unread = False
        """True if the text of a procedure could not be parsed."""

    def run(self) -> None:
        """Run all checks. Each may use the results of those before it."""
        self._headers()
        context = self.composition, self.names, self.diagnostics
        Boards(*context).check()
        self._versions()
        self.names.forget()
        self._program()
        self._rules()
        self._triggers()
        self._standing()
        Starts(*context).check()
        self._checks()
        Shown(*context).check(unread=self.unread)
        self._laws()
        self._citations()
        self._disclosures()
        self.decisions.check_asked()
        self.model.signatures = self.signatures

    # --- headers

    def _headers(self) -> None:
        for name, layers in self.composition.sections.get("rules", {}).items():
            for index, entry in enumerate(layers):
                form, header, tree = self.once(("rule",), (entry,), partial(_parsed_rule, entry, self.report))
                if index == 0 and header is None and entry.covers is not None:
                    tree = None  # it covers nothing, which is reported: its parameters are not known
                self.bodies[name, index] = self._widened(tree) if form == "does" else tree
                self._header(name, entry, form, header, tree)

    def _widened(self, tree: Body | None) -> nodes.Procedure | None:
        """Return a procedure with the amendments of its decisions."""
        self.unread = self.unread or tree is None
        if not isinstance(tree, nodes.Procedure):
            return None
        asked = self.once(("asked",), (tree,), lambda: tuple(asked_in(tree)))
        self.decisions.asked.update(asked)
        parts = [part for name in asked for part in self.decisions.parts.get(name, ())]
        if not parts:
            return tree
        about = ("widened", *(how for how, _ in parts))
        return self.once(about, (tree, *(part for _, part in parts)), lambda: self.decisions.widened(tree))

    def _header(self, name: str, entry: Entry, form: Form, header: nodes.Header | None, tree: Body | None) -> None:
        below = self.signatures.get(name)
        if header is None and below is not None:
            if below.form != form:
                self._other_form(name, form, below, entry)
            return
        about = ("header", form, entry.file)
        typed = partial(_types, self.names, header, form, entry.file, self.report)
        parameters, result = self.once(about, (header,), typed)
        constant = literal_type(tree) if below is None else None
        result = constant or result
        if form == "is" and result == NOTHING:
            result = NEVER
            if tree is not None:
                self.report(_headless(name, parameters, tree.span))
            elif header is None:
                constant = NEVER
        if below is None:
            self.signatures[name] = Signature(name, form, parameters, result, entry.span, constant is not None)
            return
        if below.form != form:
            self._other_form(name, form, below, entry)
        self._same_types(name, below, parameters, result, header.span if header else entry.span)

    def _other_form(self, name: str, form: Form, below: Signature, entry: Entry) -> None:
        note = Note(f"`{name}` is introduced here", below.span)
        self.error("E508", f"`{name}` is a rule of the form `{below.form}`, not `{form}`", entry.span, None, note)

    def _same_types(
        self, name: str, below: Signature, parameters: tuple[tuple[str, Type], ...], result: Type, span: Span
    ) -> None:
        got, want = (", ".join(str(type_) for _, type_ in each) for each in (parameters, below.parameters))
        note = Note(f"`{name}` is introduced here", below.span)
        if [t for _, t in parameters] != [t for _, t in below.parameters]:
            remedy = write(span, ":" * span.text.endswith(":"), "leave the head out") if span.text[:1] == "(" else None
            self.error("E508", f"`{name}` takes ({want}), not ({got})", span, remedy, note)
        elif not accepts(below.result, result):
            self.error("E508", f"`{name}` gives {below.result}, not {result}", span, None, note)

    # --- round, setup, result

    def _program(self) -> None:
        entry = self.composition.single("round")
        phases = phases_of(entry.value) if entry else []
        for position, (scalar, _) in enumerate(phases):
            self._procedure_name(scalar)
            if any(scalar.text == other.text for other, _ in phases[:position]):
                self.error("E501", f"`{scalar.text}` is a phase of the round already", scalar.span)
        self.model.phase_guards = tuple(self._condition(when) for _, when in phases)
        setup = self.composition.single("setup")
        if setup is not None and isinstance(setup.value, Scalar):
            self._procedure_name(setup.value)
            self.model.setup = setup.value.text
        result = self.composition.single("result")
        if result is not None:
            ranking, frame = Keys(Ranking).read(result.value), self.names.scope(RankKey.scope)
            trees = [expression_of(key, self.report) for key in ranking.rank]
            self.model.ranking = tuple(self.expressions(frame).need(tree, INT) for tree in trees if tree is not None)
            self.model.ranking_cites = _texts(ranking.cites)
        for name, section in (("round", entry), ("setup", setup), ("result", result)):
            if section is None:
                span = self.composition.documents[0].root.span
                self.error("E306", f"no file of this ruleset declares `{name}`", span)

    def _condition(self, when: Value | None) -> Guard | None:
        """Check a condition outside of rules."""
        tree = condition_of(when, self.report)
        if tree is None:
            return None
        frame = Frame()
        return Guard(self.expressions(frame).condition(tree), frame.size)

    def _procedure_name(self, scalar: Scalar) -> None:
        signature = self.signatures.get(scalar.text)
        if signature is None:
            near = did_you_mean(scalar.text, self.signatures)
            help = None if near else "declare it under `rules`"
            self.error("E301", f"unknown rule `{scalar.text}`{near}", scalar.span, help)
        elif signature.form != "does" or signature.parameters or signature.result != NOTHING:
            self.error("E406", f"`{scalar.text}` must be a procedure without parameters", scalar.span)

    # --- rules

    def _rules(self) -> None:
        rules = self.composition.sections.get("rules", {})
        known = ((name, index, entry) for name, layers in rules.items() for index, entry in enumerate(layers))
        checked: dict[tuple[str, int], tuple[RuleLayer, Blocks]] = {}
        for of_file in grouped((each[2].file, each) for each in known).values():
            about = ("layers", *((name, index) for name, index, _ in of_file))
            parts = (*(entry for *_, entry in of_file), *(self.bodies[name, index] for name, index, _ in of_file))
            checked |= self.once(about, parts, partial(self._layers, of_file))
        for name, layers in rules.items():
            own = [checked[name, index] for index in range(len(layers)) if (name, index) in checked]
            for _, blocks in own:
                self.model.blocks |= blocks
            if len(own) == len(layers):
                head, of_rule = self.signatures[name], tuple(layer for layer, _ in own)
                self.model.rules[name] = CheckedRule(name, head.form, head.parameters, head.result, of_rule)

    def _layers(self, of_file: list[tuple[str, int, Entry]]) -> dict[tuple[str, int], tuple[RuleLayer, Blocks]]:
        """Check the layers of a file: its texts are mostly the same as in other rulesets, and so are their names."""
        trees = ((name, index, entry, self.bodies[name, index]) for name, index, entry in of_file)
        return {(name, index): self._layer(name, index, entry, tree) for name, index, entry, tree in trees if tree}

    def _layer(self, name: str, index: int, entry: Entry, tree: Body) -> tuple[RuleLayer, Blocks]:
        guards, covers = entry.conditions, entry.covers
        if guards and index == 0:
            self.error("E507", "no layer below answers if `when` is false", guards[0].span)
        verb = covers[0] if covers is not None else ""
        about = ("layer", name, index, entry.file, entry.part, entry.span, verb, _texts(entry.remarks.cites))
        checked = partial(self._checked_layer, name, index, entry, verb, tree)
        layer, blocks = self.once(about, (tree, *guards), checked)
        layer = replace(layer, discloses=_texts(entry.read(Rule).discloses))
        if covers is not None and verb == "wraps" and not guards and not _names_base(tree):
            key = next(each.key.span for each in entry.entries if each.key.text == verb)
            remedy = write(key, "replaces", "write `replaces` if the rule below is not needed")
            self.error("E507", f"`{name}` wraps, but never calls `base`", covers[2], remedy)
        return layer, blocks

    def _checked_layer(self, name: str, index: int, entry: Entry, verb: str, tree: Body) -> tuple[RuleLayer, Blocks]:
        signature = self.names.signature(name)
        assert signature is not None
        header = tree.header
        names = [p.name for p in header.parameters] if header else [p for p, _ in signature.parameters]
        parameters = tuple((p, type_) for p, (_, type_) in zip(names, signature.parameters, strict=False))
        frame, pure = Frame(), signature.form != "does"
        steps = Steps(self.names, frame, self.report, f"{name}@{index}", entry.file, signature.result, pure)
        _add_parameters(steps, parameters, header)
        when = steps.all_hold(entry.conditions)
        if verb == "wraps" and index > 0:
            steps.base = (name, index - 1, signature)
        body = _checked_body(tree, steps, signature, self.report)
        layer = steps.layer(name, body, entry.span, parameters, signature.form)
        cites = _texts(entry.remarks.cites)
        layer = replace(layer, layer=index, when=when, cites=cites, covers=verb, part=entry.part)
        return layer, steps.blocks

    def _versions(self) -> None:
        """Check the conditions of values of cards, which read what is printed without conditions."""
        found: list[tuple[CardKind, str, str, core.Expression]] = []
        for kind in self.model.card_kinds.values():
            for layer in self.composition.layers("cards", kind.name):
                frame = Frame()
                guard = self.expressions(frame).all_hold(layer.conditions)
                if frame.size:
                    remedy = "let a rule search it, and call the rule here"
                    self.error("E407", "the condition of cards searches a list", layer.conditions[0].span, remedy)
                elif guard is not None:
                    keys = (key for key, _ in layer.read(Card).cells)
                    found += ((kind, *column_of(key, layer), guard) for key in keys)
        for kind, attribute, column, guard in found:
            kind.versions.setdefault(attribute, {})[column] = guard

    # --- triggers and standing rules

    def _triggers(self) -> None:
        for trigger in self.composition.read(Trigger):
            pattern = parsed(trigger.on, parse_event_pattern, self.report)
            if pattern is None:
                continue
            trees = [self._handling(case.does) for case in trigger.cases]
            otherwise = self._handling(trigger.does if trigger.otherwise is None else trigger.otherwise)
            self._check_phases(trigger)
            cases = tuple((_texts(case.in_), _texts(case.cites), case.source.span) for case in trigger.cases)
            about = ("trigger", trigger.name, trigger.entry.file, trigger.entry.span, cases, _texts(trigger.cites))
            parts = (pattern, *trees, trigger.does, trigger.otherwise, otherwise, *trigger.entry.guards)
            checked = self.once(about, parts, partial(self._trigger, trigger, pattern, trees, otherwise))
            if checked is not None:
                self.model.triggers[trigger.name], blocks = checked
                self.model.blocks |= blocks

    def _handling(self, text: Scalar | None) -> nodes.Procedure | None:
        """Parse the text of a trigger or standing rule."""
        if text is None or text.text == "nothing":
            return None
        return self._widened(parsed(text, parse_procedure, self.report))

    def _check_phases(self, trigger: Trigger) -> None:
        seen = set[str]()
        for phase in (phase for case in trigger.cases for phase in case.in_):
            if phase.text not in (known := self.names.members("phase")):
                self.unknown("phase", phase.text, known, phase.span)
            elif phase.text in seen:
                self.error("E501", f"`{phase.text}` has a case already", phase.span)
            seen.add(phase.text)

    def _trigger(
        self,
        trigger: Trigger,
        pattern: nodes.EventPattern,
        trees: list[nodes.Procedure | None],
        rest: nodes.Procedure | None,
    ) -> tuple[CheckedTrigger, Blocks] | None:
        frame, entry, blocks = Frame(), trigger.entry, Blocks()
        if self.heard(pattern, frame) is None:
            return None
        expressions = self.expressions(frame)
        test = self.narrowed(expressions.all_hold(entry.guards), pattern.test, expressions)
        due = self.names.phases()
        cases = [
            TriggerCase(
                phases,
                self._handler(f"{trigger.name}!{position}", tree, frame, trigger, blocks),
                _texts(case.cites),
                case.source.span,
            )
            for position, (case, tree) in enumerate(zip(trigger.cases, trees, strict=True))
            if (phases := tuple(phase for phase in _texts(case.in_) if phase in due))
        ]
        last = "always" if trigger.otherwise is None else "otherwise"
        text = trigger.otherwise or trigger.does
        if text is not None:
            block = self._handler(f"{trigger.name}!{last}", rest, frame, trigger, blocks)
            cases.append(TriggerCase((), block, (), entry.span if trigger.otherwise is None else text.span))
        about = _texts(trigger.cites), entry.span, entry.file
        return CheckedTrigger(trigger.name, pattern.event, test, frame.size, tuple(cases), *about), blocks

    def _handler(
        self, name: str, tree: nodes.Procedure | None, frame: Frame, owner: Trigger | Standing, blocks: Blocks
    ) -> str | None:
        """Check the text of a trigger or standing rule as a procedure with the locals bound so far as parameters."""
        if tree is None:
            return None
        inner = frame.inner(sorted((v for block in frame.visible for v in block.values()), key=lambda v: v.index))
        parameters = list(zip(inner.names, inner.types, strict=True))
        inner.facts[0].update({path: type_ for facts in frame.facts for path, type_ in facts.items()})
        steps = Steps(self.names, inner, self.report, name, owner.entry.file)
        body = steps.block(tree.body)
        blocks |= steps.blocks
        blocks[name] = replace(steps.layer(name, body, tree.span, parameters), cites=_texts(owner.cites))
        return name

    def _standing(self) -> None:
        for rule in self.composition.read(Standing):
            match = parsed(rule.for_, parse_match, self.report)
            tree = match.test if match is not None else condition_of(rule.whenever, self.report)
            does = self._handling(rule.does)
            if does is None or (match is None and rule.for_ is not None):
                continue
            about = ("standing", rule.name, rule.entry.file, rule.entry.span, _texts(rule.cites))
            parts = (match, tree, does, *rule.entry.guards)
            checked = self.once(about, parts, partial(self._standing_rule, rule, match, tree, does))
            self.model.standing[rule.name], blocks = checked
            self.model.blocks |= blocks

    def _standing_rule(
        self, rule: Standing, match: nodes.Match | None, tree: nodes.Expr | None, does: nodes.Procedure
    ) -> tuple[StandingRule, Blocks]:
        entry, frame, blocks = rule.entry, Frame(), Blocks()
        expressions = self.expressions(frame)
        test = expressions.all_hold(entry.guards)
        binders = tuple(expressions.binder(binder)[:2] for binder in (match.binders if match is not None else ()))
        test = self.narrowed(test, tree, expressions)
        handler = self._handler(f"{rule.name}?", does, frame, rule, blocks)
        assert handler is not None
        about = _texts(rule.cites), entry.span, entry.file
        return StandingRule(rule.name, binders, test, frame.size, handler, *about), blocks

    # --- checks of the set-up, laws

    def _checks(self) -> None:
        for entry in self.composition.layers("check", "check"):
            name = self.model.called(word(entry.value), entry.value.span)
            self.model.checks += (name,)
            self._check_verdict(name, [], entry.value.span)
        for setting in self.model.settings.values():
            if setting.check is not None:
                self._check_verdict(setting.check, [setting.type.sure], setting.span)

    def _check_verdict(self, name: str, takes: list[Type], span: Span) -> None:
        signature = self.signatures.get(name)
        if signature is None or signature.form != "permits":
            self.unknown("verdict", name, self.signatures, span)
        elif [type_ for _, type_ in signature.parameters] != takes:
            want = f"one {takes[0]}" if takes else "nothing"
            self.error("E401", f"`{name}` must take {want}", span)

    def _laws(self) -> None:
        for table in (each for each in self.composition.read(Table) if each.name in self.model.tables):
            file = self.model.tables[table.name].file
            for key, text in Named(Condition()).read(table.laws) or [(None, law) for law in words(table.laws)]:
                if (tree := condition_of(text, self.report)) is not None:
                    about = table.name, file, key.text if key is not None else ""
                    law = self.once(("law", *about), (tree,), partial(self._law, *about, tree))
                    self.model.laws.append(law)

    def _law(self, table: str, file: str, name: str, tree: nodes.Expr) -> Law:
        frame = Frame()
        return Law(table, file, name, self.expressions(frame).condition(tree), frame.size)

    # --- citations

    def _citations(self) -> None:
        for cite in self._all_cites():
            if cite.text not in self.statements:
                self.diagnostics.append(unknown_statement(cite.text, cite.span, self.statements))

    def _disclosures(self) -> None:
        known = {ask.name for ask in asks_of(self.model)}
        known.update(self.model.spoken_group(group) for group in self.model.groups.values())
        for entry in (entry for layers in self.composition.sections.get("rules", {}).values() for entry in layers):
            for name in words(entry.get("discloses")):
                if name.text not in known:
                    self.unknown("zone, pool, value or decision", name.text, known, name.span)

    def _all_cites(self) -> Iterator[Scalar]:
        for document in self.composition.documents:
            yield from document.head.cites
        for section in self.composition.sections.values():
            for layers in section.values():
                for entry in layers:
                    yield from entry.cited
        for body in self.bodies.values():
            for line in body.lines if isinstance(body, nodes.Verdict) else ():
                if isinstance(line, nodes.Require):
                    yield from (Scalar(cite, "plain", line.span, cite) for cite in line.cites)
        for option in (option for ask in asks_of(self.model) for option in ask.options):
            yield from (Scalar(cite, "plain", option.span, cite) for cite in option.cites)


def _parsed_rule(entry: Entry, report: Report) -> tuple[Form, nodes.Header | None, Body | None]:
    rule = entry.read(Rule)
    form: Form = "is" if rule.is_ is not None else "permits" if rule.permits is not None else "does"
    function, verdict = parsed(rule.is_, parse_function, report), parsed(rule.permits, parse_verdict, report)
    tree = function or verdict or parsed(rule.does, parse_procedure, report)
    header = parsed(entry.head, parse_head, report)
    return form, header, replace(tree, header=header) if tree and header else tree


def literal_type(tree: Body | None) -> Type | None:
    """Return the type of a constant (a function that is a number, `yes` or `no`, without header), else None."""
    if not isinstance(tree, nodes.Function) or tree.header is not None:
        return None
    value = tree.body.value if isinstance(tree.body, nodes.Negative) else tree.body
    return BOOL if isinstance(value, nodes.BoolLiteral) else INT if isinstance(value, nodes.IntLiteral) else None


def _names_base(tree: Body) -> bool:
    return any(isinstance(node, nodes.Call | nodes.Name) and node.name == "base" for node in descendants(tree))


def _texts(scalars: Iterable[Scalar]) -> tuple[str, ...]:
    return tuple(scalar.text for scalar in scalars)


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
