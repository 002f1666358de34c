"""Instrumentation: a copy of a ruleset that records which of its parts a game exercises.

Takes a checked ruleset and its citations. Each cited part of the copy records when

- a layer of the rule answers,
- the line of a verdict is evaluated,
- the case of a trigger or the standing rule acts,
- a cell of the table is read,
- the setting or interpretation is read,
- the results are ranked.

Declarations (cards, zones, links, components) exist in every game and are not watched. The copy runs in the plain form
and plays like the ruleset, which is not changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec.structs import replace

from interpreter.engine.citations import Citation
from interpreter.engine.ruleset import Ruleset
from interpreter.language import core
from interpreter.language.model import Model, RuleLayer
from interpreter.language.types import NOTHING
from interpreter.language.walk import descendants, rewritten
from interpreter.lowering.lower import lower
from interpreter.lowering.reach import reach_of

__all__ = ["is_watched", "key_of", "watched", "with_texts"]

BLOCKS = ("rules", "lines", "triggers", "cases", "standing", "result")
READ = ("tables", "settings", "interpretations")


def is_watched(citation: Citation, model: Model) -> bool:
    """Return whether some games exercise the cited part and others do not. Every set-up uses lengths and spaces."""
    if citation.section == "tables":
        measure = descendants(model.graph.measure) if model.graph is not None and model.graph.measure else ()
        in_lengths = any(isinstance(node, core.TableCell) and node.table == citation.name for node in measure)
        return not in_lengths and all(group.spaces != citation.name for group in model.groups.values())
    if citation.section in ("triggers", "cases"):
        return bool(list(_procedures(citation, model)))
    return citation.section in (*BLOCKS, *READ)


def key_of(citation: Citation) -> str:
    """Return the key under which a node is recorded: section and position, equal in all rulesets."""
    return f"{citation.section} {citation.span}"


def watched(ruleset: Ruleset, citations: Iterable[Citation], recorded: set[str]) -> Ruleset:
    """Return a copy of the ruleset that adds the keys of citations to ``recorded`` when they are exercised."""
    model = ruleset.model
    reads: dict[tuple[type, str], list[str]] = {}
    for citation in citations:
        if citation.section in READ:
            node = core.TableCell if citation.section == "tables" else core.SettingValue
            reads.setdefault((node, citation.name), []).append(key_of(citation))
        else:
            model = _with_block(model, citation, recorded)
    model = _with_reads(model, reads, recorded)
    return ruleset.with_model(model, lower(model, reach_of(model)))


# --- blocks that run


def _with_block(model: Model, citation: Citation, recorded: set[str]) -> Model:
    name, key = citation.name, key_of(citation)
    match citation.section:
        case "rules" | "lines":
            rule = model.rules[name]
            number, *line = citation.place
            layers = [_begun(layer, key, recorded, *line) if layer.layer == number else layer for layer in rule.layers]
            return replace(model, rules={**model.rules, name: replace(rule, layers=tuple(layers))})
        case "triggers" | "cases" | "standing":
            blocks = {block: _begun(model.blocks[block], key, recorded) for block in _procedures(citation, model)}
            return replace(model, blocks={**model.blocks, **blocks})
        case "result":
            return replace(model, ranking=tuple(_noted(value, key, recorded) for value in model.ranking))
        case _:
            return model


def _procedures(citation: Citation, model: Model) -> Iterator[str]:
    """Yield the names of the blocks that a trigger, one of its cases or a standing rule runs."""
    if citation.section == "standing":
        yield model.standing[citation.name].procedure
        return
    for number, case in enumerate(model.triggers[citation.name].cases):
        if case.procedure is not None and number in (citation.place or (number,)):
            yield case.procedure


def _begun(layer: RuleLayer, key: str, recorded: set[str], line: int = 0) -> RuleLayer:
    """Return a layer that records the start of its body; a verdict that of a line."""
    if layer.form == "permits":
        lines = list(layer.requirements)
        lines[line] = replace(lines[line], test=_noted(lines[line].test, key, recorded))
        return replace(layer, body=tuple(lines))
    if not isinstance(layer.body, tuple):
        return replace(layer, body=_noted(layer.body, key, recorded))
    step = core.Performs(_noted(core.Const(None, type=NOTHING, span=layer.span), key, recorded), span=layer.span)
    return replace(layer, body=(step, *layer.body))


def _noted(value: core.Expression, key: str, recorded: set[str]) -> core.Expression:
    return core.Noted(value, key, recorded, type=value.type, span=value.span)


# --- values that are read


def _with_reads(model: Model, reads: Mapping[tuple[type, str], list[str]], recorded: set[str]) -> Model:
    """Return a model that records each read of a table, setting or interpretation."""

    def change(node: object) -> object:
        match node:
            case core.TableCell(name) | core.SettingValue(name):
                for key in reads.get((type(node), name), ()):
                    node = _noted(node, key, recorded)
        return node

    return with_texts(model, change)


def with_texts(model: Model, change: Callable[[object], object]) -> Model:
    """Return a model with ``change`` applied to every node of its rules and other texts that games run."""

    def in_layer(layer: RuleLayer) -> RuleLayer:
        return replace(layer, body=rewritten(layer.body, change), when=rewritten(layer.when, change))

    return replace(
        model,
        rules={name: replace(rule, layers=tuple(map(in_layer, rule.layers))) for name, rule in model.rules.items()},
        blocks={name: in_layer(block) for name, block in model.blocks.items()},
        triggers={name: replace(rule, test=rewritten(rule.test, change)) for name, rule in model.triggers.items()},
        standing={
            name: replace(rule, binders=rewritten(rule.binders, change), test=rewritten(rule.test, change))
            for name, rule in model.standing.items()
        },
        groups={
            name: replace(group, start=rewritten(group.start, change), rank=rewritten(group.rank, change))
            for name, group in model.groups.items()
        },
        ranking=rewritten(model.ranking, change),
        phase_guards=rewritten(model.phase_guards, change),
    )
