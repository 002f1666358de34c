"""Refusals of illegal choices: the failing conditions, with their rules and statements."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.messages import frame
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.engine.decision import Decision, Option
from interpreter.engine.failing_values import Because, text_of
from interpreter.engine.setup import Table
from interpreter.engine.values import Names
from interpreter.engine.views import Spoken
from interpreter.hidden.sight import Unseen, Veil
from interpreter.kernel.state import State, Value
from interpreter.language import core
from interpreter.language.types import CardType, IntType, KindType, NodeType, Type
from interpreter.lowering.constants import RuleFailure
from interpreter.plain.closures import Env, Evaluate
from interpreter.plain.machine import AskSite, OptionSite

__all__ = [
    "IllegalMove",
    "IllegalSetUp",
    "Reason",
    "because_of",
    "decoded",
    "domain_text",
    "legal_choice",
    "reasons_for",
    "refuse",
    "trait_of",
]

_MOST = 12
"""Number of allowed values that a message lists."""


class Reason(Struct, frozen=True):
    """A failing condition: its text, the rule that contains it, and the statements that the rule cites. ``words`` tell
    it to players, by language."""

    message: str
    rule: str
    cites: tuple[str, ...] = ()
    span: Span | None = None
    language: str = "en"
    words: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        cites = f" ({', '.join(self.cites)})" if self.cites else ""
        return frame(self.language, "refused.rule", message=self.message, rule=self.rule, cites=cites)

    def said(self, language: str) -> str:
        """Return the reason in words for players; empty if there are none, so that its statements must tell it."""
        return dict(self.words).get(language) or dict(self.words).get("en", "")


class IllegalMove(Exception):
    """Raised for a choice that the rules do not allow now. ``reasons`` are the failing conditions; ``rule`` and
    ``cites`` are those of the first."""

    def __init__(self, message: str, reasons: Sequence[Reason] = ()) -> None:
        self.reasons = list(reasons)
        self.rule = reasons[0].rule if reasons else ""
        self.cites = reasons[0].cites if reasons else ()
        super().__init__("; ".join([message, *map(str, reasons)]))


class IllegalSetUp(ValueError):
    """Raised for a game that the rules do not let begin, with the failing conditions. ``name`` is that of the setting,
    or of the ruleset."""

    def __init__(self, name: str, reasons: Sequence[Reason]) -> None:
        self.name, self.reasons = name, list(reasons)
        super().__init__(f"`{name}`: {'; '.join(map(str, reasons))}")


def legal_choice(
    table: Table, decision: Decision | None, choice: Option | Mapping[str, object], language: str = "en"
) -> tuple[int, tuple[Value, ...]]:
    """Return a choice as alternative and values. Raises :class:`IllegalMove` if it is not legal."""
    number, values = decoded(table, decision, choice, language)
    assert decision is not None
    is_legal = not decision.is_turned and table.runner.accepts(decision.state, (number, values))
    if is_legal or not reasons_for(table, decision, number, values, language):
        return number, values
    reasons = reasons_for(table, decision, number, values, language, decision.actor)
    raise IllegalMove(frame(language, "refused.option", option=decision.site.options[number].name), reasons)


def decoded(
    table: Table, decision: Decision | None, choice: Option | Mapping[str, object], language: str = "en"
) -> tuple[int, tuple[Value, ...]]:
    """Decode a choice, legal or not, into the alternative's number and its values. Raises :class:`IllegalMove` if no
    such choice exists, and ``TypeError`` for other types."""
    if decision is None:
        raise IllegalMove(frame(language, "refused.over"))
    by_name = choice.as_dict() if hasattr(choice, "as_dict") else choice
    if not isinstance(by_name, Mapping):
        want = f'an option of the decision or a mapping, as {{"do": "{decision.site.options[0].name}", …}}'
        raise TypeError(f"got {choice!r}, want {want}")
    table.machine.meter.refill()
    number, values = _decode(table.names, decision.site, dict(by_name), language)
    return number, _offered_cards(table, decision, decision.site.options[number], values)


def _offered_cards(
    table: Table, decision: Decision, option: OptionSite, values: tuple[Value, ...]
) -> tuple[Value, ...]:
    """Resolve ambiguous card names to the first offered cards: copies share a key, cards without one a kind."""
    cards, alike = table.model.cards, table.names.alike
    meant = [
        alike(value)
        if isinstance(choice.type, CardType) and value is not None and not cards[value].is_named
        else [value]
        for choice, value in zip(option.core.choices, values, strict=True)
    ]
    if all(len(things) == 1 for things in meant):
        return values
    offers = table.machine.values(decision.state, decision.env, option)
    fitting = (offer for offer in offers if all(each in things for each, things in zip(offer, meant, strict=True)))
    return next(fitting, values)


def _decode(names: Names, site: AskSite, by_name: dict[str, object], language: str) -> tuple[int, tuple[Value, ...]]:
    name = by_name.pop("do", None)
    known = [option.name for option in site.options]
    if name not in known:
        near = did_you_mean(name, known, language) if isinstance(name, str) else ""
        near = near or frame(language, "refused.it_has", known=", ".join(f"`{n}`" for n in known))
        raise IllegalMove(frame(language, "refused.no_alternative", decision=site.ask.name, name=repr(name), near=near))
    number = known.index(name)
    values = []
    for choice in site.options[number].core.choices:
        if choice.name not in by_name:
            raise IllegalMove(frame(language, "refused.needs", option=name, name=choice.name))
        try:
            values.append(names.value(by_name.pop(choice.name), choice.type))
        except ValueError as error:
            raise IllegalMove(f"`{choice.name}`: {error}") from None
    if by_name:
        raise IllegalMove(frame(language, "refused.takes_no", option=name, name=next(iter(by_name))))
    return number, tuple(values)


Failed = tuple[list[Reason], bool]
"""Reasons of a condition, and whether the reader knows that it fails: it may also fail for something hidden."""


def _foremost(failed: Iterable[Failed]) -> list[Reason]:
    """Return the first reasons that the reader knows, or else the first that may be."""
    possible: list[Reason] = []
    for reasons, is_known in failed:
        if is_known:
            return reasons
        possible = possible or reasons
    return possible


def _holds(condition: Evaluate, state: State, env: Env) -> bool | None:
    """Return whether a condition holds; None if it reads something hidden."""
    try:
        return bool(condition(state, env))
    except Unseen:
        return None


def reasons_for(
    table: Table,
    decision: Decision,
    number: int,
    values: tuple[Value, ...],
    language: str = "en",
    player: int | None = None,
) -> list[Reason]:
    """Return why a choice is refused, by the reason that matters most, as far as a player may know it; without a
    player, all of it. Empty if the choice is legal."""
    names, env = Spoken(table, decision.state, language, player), table.sight.known_locals(decision.frame, player)
    state, option, conditions = names.state, decision.site.options[number], _Conditions(names)
    layer = table.program.reach.procedures[decision.site.procedure]
    rule, ask = layer.spoken, decision.site.ask
    parts = table.model.amended.get((ask.name, option.name), {})

    def cites_at(span: Span) -> tuple[str, ...]:
        """Return the statements of the file whose condition or choice refuses."""
        others = {cite for cites in parts.values() for cite in cites}
        own = tuple(cite for cite in option.core.cites if cite not in others)
        return table.cites(parts.get(span.file.name, own) or layer.cites)

    possible: list[Failed] = []
    if option.guard is not None and not (holds := _holds(option.guard, state, env)):
        assert option.core.guard is not None
        reasons = conditions.failing(option.core.guard, env, rule, cites_at(option.core.guard.span))
        if holds is False:
            return reasons
        possible.append((reasons, False))
    outside: list[Failed] = []
    least: Env | None = None
    for variable, items, value, choice in zip(option.variables, option.items, values, option.core.choices, strict=True):
        if not outside and (found := _outside(names, items, env, value, choice)) is not None:
            what, only, is_known, is_told_apart, lowest = found
            message = names.frame("refused.must_be", name=choice.name, what=what)
            name = names.term("slot", ask.name, choice.name)
            words = names.frame("refused.only" if only else "refused.no_choice", name=name, what=only)
            said = ((names.language, words),)
            reason = Reason(message, rule, cites_at(choice.span), choice.span, names.language, said)
            outside.append(([reason], is_known))
            if is_told_apart:
                return outside[0][0]
            least = [*env]
            least[variable] = lowest
        elif least is not None:
            least[variable] = value
        env[variable] = value

    def failing(other: Env | None = None) -> Iterator[Failed]:
        for test, node in zip(option.tests, option.core.tests, strict=True):
            holds = _holds(test, state, env)
            if not holds and (reasons := conditions.failing(node, env, rule, cites_at(node.span), other)):
                yield reasons, holds is False

    def as_far_as_possible(failed: Iterator[Failed]) -> Iterator[Failed]:
        with suppress(RuleFailure, LookupError, TypeError):  # conditions may raise for a value that is not offered
            yield from failed

    if not outside:
        return _foremost(chain(possible, failing()))
    # A failing condition explains more; most of all one that no number meets.
    return _foremost(chain(*map(as_far_as_possible, (failing(least), failing())), outside, possible))


def _outside(
    names: Spoken, items: Evaluate, env: Env, value: Value, choice: core.Choice
) -> tuple[str, str, bool, bool, Value] | None:
    """Return what is wanted in place of a value that is not among those offered, in a sentence and alone, whether the
    reader knows these values, whether a trait tells them from all others, and the least offered number in place of a
    number."""
    try:
        domain = items(names.state, env)
        if value in domain:
            return None
        is_number = isinstance(choice.type, IntType)
        least = value if not is_number else domain.start if isinstance(domain, range) else min(domain, default=value)
        form, parts = _described(names, domain, choice)
        what = names.frame(form, **parts)
        only = what if form == "refused.range" else str(parts.get("items", ""))
        return what, only, True, trait_of(names, domain, choice.type) is not None, least
    except Unseen:
        what = names.frame("refused.offered")
        return what, what, False, False, value


def domain_text(names: Names, domain: Sequence[Value] | range, choice: core.Choice) -> str:
    """Describe the allowed values; list the first ones if there are many."""
    form, parts = _described(names, domain, choice)
    return names.frame(form, **parts)


def _described(names: Names, domain: Sequence[Value] | range, choice: core.Choice) -> tuple[str, dict[str, object]]:
    """Return the message that describes the allowed values, with its parts."""
    listed = domain if isinstance(domain, range) else list(domain)
    if not listed:
        return "refused.no_number" if isinstance(domain, range) else "refused.one_of_none", {}
    is_long = len(listed) > _MOST and isinstance(choice.type, IntType)
    if isinstance(domain, range) or (is_long and listed == list(range(listed[0], listed[-1] + 1))):
        return "refused.range", {"low": listed[0], "high": listed[-1]}
    if trait := trait_of(names, listed, choice.type):
        values = [names.text(value, trait.type) for value in dict.fromkeys(trait.values[item] for item in listed)]
        return "refused.one_whose", {"name": trait.name, "items": names.listed(values, trait.type)}
    shown = [names.text(item, choice.type) for item in listed[:_MOST]] + ["…"] * (len(listed) > _MOST)
    return "refused.one_of", {"items": names.listed(shown, choice.type)}


class Trait(Struct, frozen=True):
    """A printed attribute of nodes or cards, with its values by number."""

    name: str
    type: KindType
    values: list[Value]


def trait_of(names: Names, domain: Collection[Value], type_: Type) -> Trait | None:
    """Return the attribute whose values tell the items of a long list from all other nodes or cards."""
    model, inside = names.model, set(domain)
    match type_:
        case NodeType() if model.graph is not None:
            attributes, rows = model.graph.attributes, [row.values for row in model.graph.nodes]
        case CardType(name=name) if name:
            attributes, rows = dict(model.card_kinds[name].attributes), [row.values for row in model.cards]
            for attribute in model.card_kinds[name].versions:
                del attributes[attribute]
        case _:
            return None
    for name, kind in attributes.items():
        if isinstance(kind, KindType) and len(inside) > _MOST:
            values = [row.get(name) for row in rows]
            shared = {values[item] for item in inside}
            if inside == {item for item, value in enumerate(values) if value in shared}:
                return Trait(name, kind, values)
    return None


class _Conditions(Struct, frozen=True):
    """Failing conditions in the state and the words of a reader. ``because`` adds the values that make them fail."""

    names: Spoken
    because: Because | None = None

    def _compiled(self, node: core.Expression) -> Evaluate:
        return self.names.table.machine.expressions.compile(node)

    def failing(
        self, node: core.Expression, env: Env, rule: str, cites: tuple[str, ...], other: Env | None = None
    ) -> list[Reason]:
        """Return the failing condition or, if it only calls a verdict, the failing lines of the verdict; with ``other``
        locals, only those that fail with these too."""
        reasons, names = self.below(node, env, other), self.names
        if reasons or (other and (reasons is not None or _holds(self._compiled(node), names.state, other))):
            return reasons or []
        causes = ", ".join(self.because.why_not(node, env)) if self.because is not None else ""
        message = names.frame("refused.holds_not", text=text_of(node)) + (f" ({causes})" if causes else "")
        answered = names.table.cites(self._answering(node, env))
        return [Reason(message, rule, tuple(dict.fromkeys((*cites, *answered))), node.span, names.language)]

    def _answering(self, node: core.Expression, env: Env) -> tuple[str, ...]:
        """Return the statements of a layer over a function, if the condition only calls it and this layer answers."""
        if not isinstance(node, core.Call):
            return ()
        program, state = self.names.table.program, self.names.state
        layer = program.reach.procedures[program.target(node)]
        with suppress(Unseen):
            values = [self._compiled(argument)(state, env) for argument in node.arguments]
            values += [None] * (layer.local_count - len(values))
            while layer.guard is not None and not _holds(self._compiled(layer.guard), state, [*values]):
                layer = program.reach.procedures[layer.below]
        return layer.cites if layer.layer else ()

    def of_verdict(
        self, verdict: str, values: tuple[Value, ...], others: tuple[Value, ...] | None = None
    ) -> Iterator[Failed]:
        """Yield the lines of a verdict that may fail, up to the first that surely does; with ``others`` as a second
        list of values, only lines that fail for both."""
        table, state = self.names.table, self.names.state
        layer = table.program.reach.procedures[verdict]
        unset = [None] * (layer.local_count - len(values))
        env: Env = [*values, *unset]
        other: Env | None = [*others, *unset] if others is not None else None
        applies = layer.guard is None or _holds(self._compiled(layer.guard), state, env)
        if not applies:
            for reasons, is_known in self.of_verdict(layer.below, values, others):
                yield reasons, is_known and applies is False
        if applies is False:
            return
        assert isinstance(layer.body, tuple)
        for line in layer.body:
            assert isinstance(line, core.Requirement)
            test = self._compiled(line.test)
            if line.bind is not None:
                for locals_ in filter(None, (env, other)):
                    locals_[line.bind] = _seen(test, state, locals_)
                continue
            holds = _holds(test, state, env)
            name = layer.rule.partition("!")[0]  # a helper's name without its file
            cites = table.cites(line.cites or layer.cites)
            if not holds and (reasons := self.failing(line.test, env, name, cites, other)):
                words = self._words(f"refused.{layer.spoken}", values) if reasons[0].rule == name else {}
                if any(words.values()):
                    message = words.get(self.names.language) or words.get("en", "") or reasons[0].message
                    reasons = [replace(reasons[0], message=message, words=tuple(words.items()))]
                yield reasons, holds is False and bool(applies)
                if holds is False:
                    return

    def _words(self, name: str, values: tuple[Value, ...]) -> dict[str, str]:
        """Return the words of a verdict by language, as far as the reader may know what they tell."""
        table, state, words = self.names.table, self.names.state, dict[str, str]()
        for language in table.model.says.get(name, ()):
            with suppress(Unseen, RuleFailure):
                words[language] = Spoken(table, state, language).word(name, *values)
        return words

    def below(self, node: core.Expression, env: Env, other: Env | None = None) -> list[Reason] | None:
        """Return the reasons of the verdict that a condition calls; None if it does anything else."""
        if not isinstance(node, core.Call):
            return None
        program, state = self.names.table.program, self.names.state
        target = program.target(node)
        if program.reach.procedures[target].form != "permits":
            return None
        arguments = [self._compiled(argument) for argument in node.arguments]
        try:
            values = tuple(argument(state, env) for argument in arguments)
            others = tuple(argument(state, other) for argument in arguments) if other is not None else None
        except Unseen:
            return None
        return _foremost(_Conditions(self.names).of_verdict(target, values, others))


def because_of(table: Table, state: State) -> Because:
    """Return an explainer of failing conditions in this state, including those inside verdicts."""
    names = Spoken(table, state, "en")
    below = _Conditions(names).below
    return Because(table.machine.expressions.compile, state, names, lambda node, env: map(str, below(node, env) or ()))


def refuse(table: Table, state: State, verdict: str, values: tuple[Value, ...]) -> list[Reason]:
    """Evaluate a verdict on what everybody may know. Return its first failing line as reasons, with the values that
    make it fail; empty if the verdict permits."""
    return _foremost(_Conditions(Spoken(table, state, "en"), because_of(table, state)).of_verdict(verdict, values))


def _seen(value: Evaluate, state: State, env: Env) -> Value:
    """Return a value for the lines below, or a veil if it reads something hidden."""
    try:
        return value(state, env)
    except Unseen:
        return Veil()
