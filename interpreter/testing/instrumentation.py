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

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from interpreter.base.plain_data import grouped
from interpreter.engine.citations import Citation
from interpreter.engine.game import Ruleset
from interpreter.language import core
from interpreter.language.model import Model, RuleLayer
from interpreter.language.types import NOTHING
from interpreter.language.walk import descendants, rewritten
from interpreter.lowering.lower import lower
from interpreter.lowering.reach import reach_of

__all__ = ["Part", "is_watched", "key_of", "parts_of", "watched", "with_texts"]

Part = str | tuple[str, int] | tuple[type[core.Expression], str]
"""What is exercised: the name of a procedure or of the result, a line of a verdict, or a class of nodes that read a
name."""


def is_watched(citation: Citation, model: Model) -> bool:
    """Return whether some games exercise the cited part and others do not. Every set-up uses lengths and spaces."""
    if citation.section == "tables":
        measure = descendants(model.graph.measure) if model.graph is not None and model.graph.measure else ()
        in_lengths = any(isinstance(node, core.TableCell) and node.table == citation.name for node in measure)
        return not in_lengths and all(group.spaces != citation.name for group in model.groups.values())
    return any(parts_of(citation, model))


def key_of(citation: Citation) -> str:
    """Return the key under which a node is recorded: section and position, equal in all rulesets."""
    return f"{citation.section} {citation.span}"


def parts_of(citation: Citation, model: Model) -> Iterator[Part]:
    """Yield what a cited part consists of in games."""
    name, place = citation.name, citation.place
    match citation.section:
        case "rules" | "lines":
            number, *line = place
            layer = model.rules[name].layers[number]
            yield (layer.id, *(line or (0,))) if layer.form == "permits" else layer.id
        case "triggers" | "cases":
            cases = enumerate(model.triggers[name].cases)
            yield from (case.procedure for number, case in cases if case.procedure and number in (place or (number,)))
        case "standing":
            yield model.standing[name].procedure
        case "result":
            yield "result"
        case "tables":
            yield core.TableCell, name
        case "settings" | "interpretations":
            yield core.SettingValue, name


def watched(ruleset: Ruleset, citations: Iterable[Citation], recorded: set[Any], *, by_cell: bool = False) -> Ruleset:
    """Return a copy of the ruleset that adds the keys of citations to ``recorded`` when they are exercised. With
    ``by_cell``, those of tables are tuples of the key and the keys of the cell that is read."""
    model = ruleset.model
    keys = grouped((part, key_of(citation)) for citation in citations for part in parts_of(citation, model))

    def noted(value: core.Expression, part: Part, cell: tuple[core.Expression, ...] = ()) -> core.Expression:
        for key in keys.get(part, ()):
            value = core.Noted(value, key, recorded, cell, type=value.type, span=value.span)
        return value

    def begun(name: str, layer: RuleLayer) -> RuleLayer:
        """Return a layer that records the start of its body; a verdict those of its lines."""
        if layer.form == "permits":
            lines = enumerate(layer.requirements)
            body = tuple(replace(line, test=noted(line.test, (name, number))) for number, line in lines)
            return replace(layer, body=body)
        if not isinstance(layer.body, tuple):
            return replace(layer, body=noted(layer.body, name))
        start = noted(core.Const(None, type=NOTHING, span=layer.span), name)
        return replace(layer, body=(core.Performs(start, span=layer.span), *layer.steps)) if name in keys else layer

    def read(node: object) -> object:
        match node:
            case core.TableCell(name, cell):
                return noted(node, (type(node), name), cell if by_cell else ())
            case core.SettingValue(name):
                return noted(node, (type(node), name))
        return node

    rules = {
        name: replace(rule, layers=tuple(begun(layer.id, layer) for layer in rule.layers))
        for name, rule in model.rules.items()
    }
    blocks = {name: begun(name, block) for name, block in model.blocks.items()}
    ranking = tuple(noted(value, "result") for value in model.ranking)
    model = with_texts(replace(model, rules=rules, blocks=blocks, ranking=ranking), read)
    return ruleset.with_model(model, lower(model, reach_of(model)))


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
