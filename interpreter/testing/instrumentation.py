"""Rules that tell when they come into play.

In goes a checked ruleset and what in it cites statements; out comes the same ruleset, in which each of these notes that
it was exercised: a rule of which a layer answered, a line of a verdict that was looked at, a case of a trigger or a
standing rule that acted, a table of which a cell was read, a setting or interpretation that was asked for, the order of
the results. What is only declared (cards, zones, links, components) is there in every game and is not watched.

The copy runs in the plain form, and plays as the ruleset does. The ruleset itself stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from interpreter.compiler.lower import lower
from interpreter.compiler.reach import reach_of
from interpreter.engine.citations import Citation
from interpreter.engine.ruleset import Ruleset
from interpreter.language import core
from interpreter.language.model import Model, RuleLayer
from interpreter.language.types import NOTHING
from interpreter.language.walk import descendants, rewritten

__all__ = ["is_watched", "key_of", "watched"]

BLOCKS = ("rules", "lines", "triggers", "cases", "standing", "result")
READ = ("tables", "settings", "interpretations")


def is_watched(citation: Citation, model: Model) -> bool:
    """Return whether it can come into play or not: what the set-up of every game uses does, whatever is played."""
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


def watched(ruleset: Ruleset, citations: Iterable[Citation], found: set[str]) -> Ruleset:
    """The ruleset that puts the keys of citations into ``found`` as they come into play."""
    model = ruleset.model
    reads: dict[tuple[str, str], list[str]] = {}
    for citation in citations:
        if citation.section in READ:
            section = "tables" if citation.section == "tables" else "settings"
            reads.setdefault((section, citation.name), []).append(key_of(citation))
        else:
            model = _with_block(model, citation, found)
    model = _with_reads(model, reads, found)
    return ruleset.with_model(model, lower(model, reach_of(model)))


# --- what runs


def _with_block(model: Model, citation: Citation, found: set[str]) -> Model:
    name, key = citation.name, key_of(citation)
    match citation.section:
        case "rules":
            rule = model.rules[name]
            layers = [_begun(each, key, found) if each.layer == citation.place[0] else each for each in rule.layers]
            return replace(model, rules={**model.rules, name: replace(rule, layers=tuple(layers))})
        case "lines":
            rule = model.rules[name]
            number, line = citation.place
            layers = [_line(each, line, key, found) if each.layer == number else each for each in rule.layers]
            return replace(model, rules={**model.rules, name: replace(rule, layers=tuple(layers))})
        case "triggers" | "cases" | "standing":
            blocks = {each: _begun(model.blocks[each], key, found) for each in _procedures(citation, model)}
            return replace(model, blocks={**model.blocks, **blocks})
        case "result":
            return replace(model, ranking=tuple(_noted(each, key, found) for each in model.ranking))
        case _:
            return model


def _procedures(citation: Citation, model: Model) -> Iterator[str]:
    """The blocks in which a trigger, one of its cases or a standing rule acts."""
    if citation.section == "standing":
        yield model.standing[citation.name].procedure
        return
    for number, case in enumerate(model.triggers[citation.name].cases):
        if case.procedure is not None and number in (citation.place or (number,)):
            yield case.procedure


def _begun(layer: RuleLayer, key: str, found: set[str]) -> RuleLayer:
    """A layer that notes when its body begins."""
    if layer.form == "permits":
        return _line(layer, 0, key, found)
    if not isinstance(layer.body, tuple):
        return replace(layer, body=_noted(layer.body, key, found))
    step = core.Performs(_noted(core.Const(None, type=NOTHING, span=layer.span), key, found), span=layer.span)
    return replace(layer, body=(step, *layer.body))


def _line(layer: RuleLayer, number: int, key: str, found: set[str]) -> RuleLayer:
    assert isinstance(layer.body, tuple)
    lines: list[Any] = list(layer.body)
    lines[number] = replace(lines[number], test=_noted(lines[number].test, key, found))
    return replace(layer, body=tuple(lines))


def _noted(value: core.Expression, key: str, found: set[str]) -> core.Expression:
    return core.Noted(value, key, found, type=value.type, span=value.span)


# --- what is read


def _with_reads(model: Model, reads: Mapping[tuple[str, str], list[str]], found: set[str]) -> Model:
    """Wherever a table, setting or interpretation is read, that is noted."""

    def change(node: object) -> object:
        match node:
            case core.TableCell(name):
                keys = reads.get(("tables", name), ())
            case core.SettingValue(name):
                keys = reads.get(("settings", name), ())
            case _:
                return node
        for key in keys:
            node = _noted(node, key, found)
        return node

    def in_layer(layer: RuleLayer) -> RuleLayer:
        return replace(layer, body=rewritten(layer.body, change), when=rewritten(layer.when, change))

    return replace(
        model,
        rules={name: replace(rule, layers=tuple(map(in_layer, rule.layers))) for name, rule in model.rules.items()},
        blocks={name: in_layer(block) for name, block in model.blocks.items()},
        triggers={name: replace(each, test=rewritten(each.test, change)) for name, each in model.triggers.items()},
        standing={
            name: replace(each, binders=rewritten(each.binders, change), test=rewritten(each.test, change))
            for name, each in model.standing.items()
        },
        groups={
            name: replace(each, start=rewritten(each.start, change), rank=rewritten(each.rank, change))
            for name, each in model.groups.items()
        },
        ranking=rewritten(model.ranking, change),
        phase_guards=rewritten(model.phase_guards, change),
    )
