"""Order of rules in a rulebook: each rule at its first use in the order of play."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from interpreter.language import core
from interpreter.language.model import CheckedTrigger, Model, RuleLayer
from interpreter.language.walk import descendants

__all__ = ["Topic", "below", "in_force", "nodes_of", "places_of"]


class Topic(Struct, frozen=True):
    """Unit of presentation: a section and a name in it (of a rule, a trigger or a standing rule)."""

    section: str
    name: str


def in_force(model: Model, rule: str) -> tuple[RuleLayer, ...]:
    """Return the layers of a rule that can answer, lowest first: those below an unconditional replacement cannot."""
    layers = model.rules[rule].layers
    lowest = max((n for n, layer in enumerate(layers) if layer.covers == "replaces" and layer.when is None), default=0)
    return layers[lowest:]


def nodes_of(model: Model, topic: Topic) -> Iterator[object]:
    """Yield every node of the texts of a topic, including its delayed blocks."""
    match topic.section:
        case "rules":
            texts: Iterable[object] = [(layer.when, layer.body) for layer in in_force(model, topic.name)]
        case "triggers":
            trigger = model.triggers[topic.name]
            texts = [trigger.test, *(model.blocks[name].body for name in _handlers(trigger))]
        case _:
            standing = model.standing[topic.name]
            texts = [*(items for _, items in standing.binders), standing.test, model.blocks[standing.procedure].body]
    for text in texts:
        yield from _with_delayed(model, text)


def _handlers(trigger: CheckedTrigger) -> Iterator[str]:
    return (case.procedure for case in trigger.cases if case.procedure is not None)


def _with_delayed(model: Model, tree: object) -> Iterator[object]:
    for node in descendants(tree):
        yield node
        if isinstance(node, core.Keeps):
            yield from _with_delayed(model, model.blocks[node.procedure].body)


def places_of(model: Model) -> dict[str, tuple[Topic, ...]]:
    """Return the topics of each chapter in the order of play: the set-up, each phase, then ``triggers``, ``standing``,
    ``result`` and ``others``. A chapter has its own topics, each followed by the rules that are first called from
    it."""
    play = [*([model.setup] if model.setup else []), *model.phases]
    heads = {name: [Topic("rules", name)] for name in play}
    heads["triggers"] = [Topic("triggers", name) for name in model.triggers]
    heads["standing"] = [Topic("standing", name) for name in model.standing]
    heads["result"] = list(_calls(descendants(model.ranking)))
    heads["others"] = [Topic("rules", name) for name in model.rules]
    seen = {topic for name in play for topic in heads[name]}
    topics = {}
    for chapter, first in heads.items():
        if chapter in play:
            seen.difference_update(first)
        topics[chapter] = tuple(below(model, first, seen))
    return topics


def below(model: Model, heads: Iterable[Topic], seen: set[Topic]) -> Iterator[Topic]:
    """Yield the heads and everything they call, depth first, without topics already ``seen``."""
    waiting = list(reversed(list(heads)))
    while waiting:
        topic = waiting.pop()
        if topic not in seen:
            seen.add(topic)
            yield topic
            waiting.extend(reversed(list(_calls(nodes_of(model, topic)))))


def _calls(nodes: Iterable[object]) -> Iterator[Topic]:
    """Yield the rules that are called, in the order of the text."""
    return (Topic("rules", node.rule) for node in nodes if isinstance(node, core.CallRule))
