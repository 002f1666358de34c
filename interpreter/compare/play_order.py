"""Order of rules in a rulebook: each rule at its first use in the order of play."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from interpreter.base.plain_data import grouped
from interpreter.language import core
from interpreter.language.model import Model, RuleLayer
from interpreter.language.text_facts import TextFacts, facts_of
from interpreter.language.walk import descendants

__all__ = ["Topic", "calls_in", "facts_in", "nodes_of", "placed", "places_of", "play_of", "topics_of", "trees_of"]


_SECTIONS = ("rules", "triggers", "standing")


class Topic(Struct, frozen=True):
    """Unit of presentation: a section and a name in it (of a rule, a trigger or a standing rule)."""

    section: str
    name: str


def nodes_of(model: Model, topic: Topic) -> Iterator[object]:
    """Yield every node of the texts of a topic, including its delayed blocks."""
    return (node for tree in trees_of(model, topic) for node in _with_delayed(model, tree))


def facts_in(model: Model, topic: Topic) -> Iterator[TextFacts]:
    """Yield the facts of the texts of a topic, including its delayed blocks."""
    if topic.section == "rules":
        waiting = [layer.facts for layer in model.rules[topic.name].in_force]
    elif topic.section == "triggers":
        trigger = model.triggers[topic.name]
        blocks = [model.blocks[case.procedure].facts for case in trigger.cases if case.procedure]
        waiting = [*blocks, facts_of(trigger.test)]
    else:
        standing = model.standing[topic.name]
        waiting = [standing.facts, model.blocks[standing.procedure].facts]
    while waiting:
        facts = waiting.pop()
        yield facts
        waiting += [model.blocks[name].facts for name in facts.keeps]


def trees_of(model: Model, topic: Topic) -> Iterator[object]:
    """Yield the texts of a topic, one for each layer that can answer, with what says when they apply, and to what."""
    match topic.section:
        case "rules":
            rule = model.rules[topic.name]
            types = tuple(type_ for _, type_ in rule.parameters)
            yield from ((types, rule.result, layer.when, _plain(layer)) for layer in rule.in_force)
        case "triggers":
            trigger = model.triggers[topic.name]
            blocks = [case.procedure and _plain(model.blocks[case.procedure]) for case in trigger.cases]
            yield trigger.event, trigger.test, tuple(zip((case.phases for case in trigger.cases), blocks, strict=True))
        case _:
            standing = model.standing[topic.name]
            yield standing.binders, standing.test, _plain(model.blocks[standing.procedure])


def _plain(layer: RuleLayer) -> object:
    """Return the body of a layer; an `is` layer that only returns a value is reduced to that value."""
    match layer.body:
        case (core.Returns(value),) if layer.form == "is":
            return value
        case body:
            return body


def _with_delayed(model: Model, tree: object) -> Iterator[object]:
    for node in descendants(tree):
        yield node
        if isinstance(node, core.Keeps):
            yield from _with_delayed(model, model.blocks[node.procedure].body)


def places_of(model: Model) -> dict[str, tuple[Topic, ...]]:
    """Return the topics of each chapter in the order of play: the set-up, each phase, then ``triggers``, ``standing``,
    ``result`` and ``others``. A chapter has its own topics, each followed by the rules that are first called from
    it."""
    heads = [
        *((name, [Topic("rules", name)]) for name in play_of(model)),
        ("triggers", list(topics_of(model, "triggers"))),
        ("standing", list(topics_of(model, "standing"))),
        ("result", list(calls_in(descendants(model.ranking)))),
        ("others", list(topics_of(model, "rules"))),
    ]
    topics = grouped(placed(model, heads))
    return {chapter: tuple(topics.get(chapter, ())) for chapter, _ in heads}


def placed(model: Model, heads: Sequence[tuple[str, Sequence[Topic]]]) -> Iterator[tuple[str, Topic]]:
    """Yield each topic once, in the first chapter whose heads lead to it. The rules that chapters are named after stay
    in their own."""
    seen = {topic for chapter, topics in heads for topic in topics if topics == [Topic("rules", chapter)]}
    for chapter, topics in heads:
        if topics == [Topic("rules", chapter)]:
            seen.difference_update(topics)
        for topic in _below(model, topics, seen):
            yield chapter, topic


def play_of(model: Model) -> list[str]:
    """Return the set-up, if there is one, and the phases."""
    return [*filter(None, [model.setup]), *model.phases]


def topics_of(model: Model, *sections: str) -> Iterator[Topic]:
    return (Topic(section, name) for section in sections or _SECTIONS for name in getattr(model, section))


def _below(model: Model, heads: Iterable[Topic], seen: set[Topic]) -> Iterator[Topic]:
    """Yield the heads and everything they call, depth first, without topics already ``seen``."""
    waiting = list(reversed(list(heads)))
    while waiting:
        topic = waiting.pop()
        if topic not in seen:
            seen.add(topic)
            yield topic
            waiting.extend(reversed(list(_called(model, topic))))


def _called(model: Model, topic: Topic) -> Iterator[Topic]:
    """Yield the rules that a topic calls, in source order, some more than once."""
    layers = model.rules[topic.name].in_force if topic.section == "rules" else ()
    if not layers or any(layer.facts.keeps for layer in layers):
        yield from calls_in(nodes_of(model, topic))
        return
    for layer in layers:
        yield from calls_in(descendants(layer.when))
        yield from (Topic("rules", name) for name in layer.facts.calls if name in model.rules)


def calls_in(nodes: Iterable[object]) -> Iterator[Topic]:
    return (Topic("rules", node.rule) for node in nodes if isinstance(node, core.CallRule))
