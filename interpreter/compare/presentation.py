"""Texts and displays of a ruleset: events, boards, measures, the picture and policies.

Takes one side of a comparison; returns each of these with its facts, in comparable form and as text. None of them is a
rule: two rulesets that differ only in them play the same games.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from interpreter.compare.comparable import Compared, View
from interpreter.compare.play_order import facts_in, topics_of
from interpreter.engine.game import Ruleset
from interpreter.language import core
from interpreter.language.model import Board, Measure, Model, Phrase, plural
from interpreter.language.translations import TITLED
from interpreter.reading import yaml

__all__ = ["Facts", "Thing", "plain_facts", "policy_files", "policy_of", "presented"]

Fact = tuple[Hashable, str]
"""Comparable form and text."""
Facts = dict[str, Fact]
"""Facts of a thing by name."""

_APART = (*TITLED, "table", "marks")
"""First words of the names of texts that are no part of a game: headings, and texts of the table in a browser."""


def plain_facts(values: Mapping[str, str] | Iterable[tuple[str, str]]) -> Facts:
    """Return facts whose comparable form is their text, without empty ones."""
    return {key: (value, value) for key, value in dict(values).items() if value}


class Thing(Struct, frozen=True):
    """A text, display, policy or other declaration: its path, its facts, and a description of the whole."""

    path: str
    kind: str
    name: str
    whole: str
    facts: Facts


def presented(view: View) -> dict[str, Thing]:
    """Return the texts and displays of one side that matter in it, and the policies in its own files, by path."""
    happens = _happens(view.model)
    return {it.path: it for due, it in view.whole.once(_displays) if not due or it.name in happens[due]}


def _displays(view: View) -> list[tuple[str, Thing]]:
    return list(_all(view))


def _all(view: View) -> Iterator[tuple[str, Thing]]:
    """Yield all texts and displays, each with what its name must be among to matter."""
    model = view.model
    for event in model.events.values():
        values = ", ".join(f"{name}: {model.word(type_)}" for name, type_ in event.fields.items())
        facts = plain_facts({"with": values}) | _says(view, "says", event.says)
        yield "noted", _thing("events", "event", event.name, facts)
    for name, phrases in model.says.items():
        says = model.events[name].says if name in model.events else {}
        if "en" not in phrases or phrases["en"] == says.get("en") or name.partition(".")[0] in _APART:
            continue  # same text as the thing itself, or its heading: the thing is compared anyway; or the table's
        due = "offered" if name in model.alternatives else "noted" if name in model.events else ""
        yield due, _thing("says", "words", name, _says(view, "", phrases))
    for board in model.boards:
        facts = _board(view, board)
        columns = ", ".join(name.replace("_", " ") for name, _ in board.columns)
        whole = {key: fact for key, fact in facts.items() if not key.startswith("columns.")}
        yield "", _thing("boards", "board of the log", board.name, facts, whole | plain_facts({"columns": columns}))
    for measure in model.measures:
        yield "", _thing("measures", "measure", measure.name, _measure(view, measure))
    for name, look in model.picture.items():
        facts = {
            str(number or ""): (part, part) if isinstance(part, str) else _tree(view, part)
            for number, part in enumerate(look.parts)
        }
        yield "", _thing("picture", "look", name, facts)
    for name, layers in view.ruleset.composition.sections.get("policies", {}).items():
        facts = plain_facts(text for entry in layers for text in _texts(entry.value))
        lines = "; ".join(f"{decision}: {text}" for decision, (_, text) in facts.items())
        yield "", Thing(f"policies.{name}", "policy", name, lines, facts)


def _happens(model: Model) -> dict[str, set[str]]:
    """Return the events that any text notes, and the alternatives that any text offers."""
    texts = [facts for topic in topics_of(model) for facts in facts_in(model, topic)]
    offered = {f"{ask.name}.{option.name}" for facts in texts for ask in facts.asks for option in ask.options}
    return {"noted": {event for facts in texts for event in facts.events}, "offered": offered}


def _thing(section: str, kind: str, name: str, facts: Facts, short: Facts | None = None) -> Thing:
    whole = "; ".join(f"{key} {value}".strip() for key, (_, value) in (short or facts).items())
    return Thing(f"{section}.{name}", kind, name, whole, facts)


def _says(view: View, key: str, phrases: Mapping[str, Phrase]) -> Facts:
    """Return the phrase of each language by key. The key of English, the default, is left out."""
    return {
        ".".join(filter(None, (key, language if language != "en" else ""))): _phrase(view, phrase)
        for language, phrase in phrases.items()
    }


def _phrase(view: View, phrase: Phrase) -> Fact:
    parts = (part if isinstance(part, str) else plural(part) or f"{{{_written(part)}}}" for part in phrase.parts)
    return view.text(phrase.parts), f"“{''.join(parts)}”"


def _tree(view: View, tree: object) -> Fact:
    return view.text(tree), _written(tree)


def _board(view: View, board: Board) -> Facts:
    trees = {"if": board.test, "rows": board.rows, **{f"columns.{name}": column for name, column in board.columns}}
    facts: Facts = {"when": (board.when, board.when), **_says(view, "says", board.says)}
    return facts | {key: _tree(view, tree) for key, tree in trees.items() if tree is not None}


def _measure(view: View, measure: Measure) -> Facts:
    plain = {
        "when": ", ".join(measure.when),
        "on": measure.event or "",
        "by": ", ".join(key.name for key in measure.keys),
        "sums": "yes" if measure.sums else "",
    }
    each = {f"for {number}" if number > 1 else "for": items for number, (_, items) in enumerate(measure.each, 1)}
    trees = {"where": measure.test, **each}
    facts = {"value": _tree(view, measure.value)} | plain_facts(plain)
    return facts | {key: _tree(view, tree) for key, tree in trees.items() if tree is not None}


def _written(tree: object) -> str:
    assert isinstance(tree, core.Core)
    return tree.span.on_one_line


# --- policies of bots -------------------------------------------------------------------------------------------------


def policy_files(side: Compared) -> dict[str, Path]:
    """Return the policy files of a ruleset's family by id."""
    ruleset = side.ruleset
    paths = {id: ruleset.shelf.find("policies", id) for id in ruleset.shelf.ids("policies")}
    family = ruleset.composition.family
    return {id: path for id, path in paths.items() if path is not None and id.partition("/")[0] == family}


def policy_of(ruleset: Ruleset, id: str) -> Thing | None:
    """Return the content of a policy file; None if it cannot be read."""
    document, _ = ruleset.shelf.read("policies", id)
    if document is None:
        return None
    policies = document.root.get("is")
    parts = [(section, document.root.get(section)) for section in ("weights", "rules")]
    parts += policies.items() if isinstance(policies, yaml.Mapping) else ()
    facts = plain_facts((f"{part}.{name}", text) for part, value in parts for name, text in _texts(value))
    return Thing(f"policies.{id}", "policy", id, document.title, facts)


def _texts(value: yaml.Value | None) -> Iterator[tuple[str, str]]:
    for entry in value.entries if isinstance(value, yaml.Mapping) else ():
        yield entry.key.text, _line(entry.value)


def _line(value: yaml.Value) -> str:
    match value:
        case yaml.Scalar():
            return " ".join(value.text.split())
        case yaml.Sequence():
            return ", ".join(map(_line, value.items))
        case _:
            entries = [entry for entry in value.entries if entry.key.text not in ("about", "cites")]
            return "; ".join(f"{entry.key.text}: {_line(entry.value)}" for entry in entries)
