"""Every public thing is on the table: whatever a rule reads and somebody may see is shown, or a waiver says why not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interpreter.base.diagnostics import RulesetError
from interpreter.engine.game import Ruleset
from interpreter.language import core
from interpreter.language.model import Model, Phrase
from interpreter.language.types import CardHolderType, PilesType, PileType, Type, item_type, read_type
from interpreter.language.walk import descendants
from interpreter.loading.load import load
from interpreter.reading.files import shelf_for
from interpreter.sections.documents import Waivers
from interpreter.serve.derived import panels_of

ALWAYS = {"round", "phase"}
"""Cells that the status line of each table shows."""


def composed() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every ruleset, and every overlay with a ruleset of each edition and family that takes it."""
    shelf = shelf_for()
    rulesets = list(shelf.ids("ruleset"))
    yield from ((ruleset, ()) for ruleset in rulesets)
    for overlay in shelf.ids("overlay"):
        family = overlay.partition("/")[0]
        near = [each for each in rulesets if each.startswith(("germany", "bsw-germany", "outpost"))]
        yield from ((ruleset, (overlay,)) for ruleset in near if load(ruleset).model.family == family)


@pytest.mark.parametrize(("ruleset", "overlays"), list(composed()))
def test_every_public_thing_that_a_rule_reads_is_on_the_table(ruleset: str, overlays: tuple[str, ...]) -> None:
    try:
        found = load(ruleset, overlays)
    except RulesetError as error:
        assert {each.code for each in error.diagnostics} <= {"E505", "E509"}  # the overlay does not fit
        pytest.skip("not played together")
    assert hidden_from_sight(found) == set()


def test_no_waiver_is_idle() -> None:
    """A waiver names cells that some ruleset of its family reads and does not show."""
    idle = {family: set(waivers) for family, waivers in waived().items()}
    for ruleset, overlays in composed():
        try:
            found = load(ruleset, overlays)
        except RulesetError:
            continue
        idle[found.model.family] = idle.get(found.model.family, set()) - unshown(found.model)
    assert not any(idle.values()), idle


def hidden_from_sight(ruleset: Ruleset) -> set[str]:
    return unshown(ruleset.model) - waived().get(ruleset.model.family, set())


def waived() -> dict[str, set[str]]:
    shelf = shelf_for()
    read = ((family, shelf.read("waivers", family)[0]) for family in shelf.ids("waivers"))
    return {
        family: {key.text for key, _ in Waivers(document.root).unshown}
        for family, document in read
        if document is not None
    }


def unshown(model: Model) -> set[str]:
    """Return the cells that a rule reads, that some seat may see, at least in number, and that the table lacks."""
    rules = [layer.trees for rule in model.rules.values() for layer in rule.layers]
    kept = [layer.trees for layer in model.blocks.values()]
    waiting = [(each.binders, each.test) for each in model.standing.values()]
    read = reads((*rules, *kept, *waiting, *(trigger.test for trigger in model.triggers.values())))
    shows = {name: group for name, group in model.groups.items() if group.in_page}
    public = {name for name, group in shows.items() if group.seen != "no one" or group.is_counted}
    return (read & public) - shown(model) - ALWAYS


def shown(model: Model) -> set[str]:
    panels = [panel.trees for panel in panels_of(model)]
    faces = [look.trees for looks in model.faces.values() for look in looks.values()]
    marks = [(mark.trees, [phrase.trees for phrase in said(model, mark.name)]) for mark in model.marks]
    trees = (*panels, *faces, *(look.trees for look in model.picture.values()), *marks)
    found = seen_in(model, tuple(trees), set())
    if model.graph is not None and model.graph.dealt is not None:
        found.add(model.graph.dealt)  # its cards are the lengths of the links
    return found


def said(model: Model, mark: str) -> list[Phrase]:
    return list(model.says[f"marks.{mark}"].values())


def seen_in(model: Model, tree: object, asked: set[str]) -> set[str]:
    """Return the cells that a tree shows: those that it reads itself, and those whose content a function gives that it
    calls. A price does not show the money that it is compared with."""
    found = reads(tree)
    for node in descendants(flat(tree)):
        if isinstance(node, core.CallRule) and node.rule not in asked:
            asked.add(node.rule)
            rule = model.rules[node.rule]
            below = seen_in(model, tuple(layer.trees for layer in rule.layers), asked)
            found |= {name for name in below if content(model, name) == kind_of(rule.result) != ""}
            asked.discard(node.rule)
    return found


def content(model: Model, group: str) -> str:
    """Return what a cell contains: cards, seats, nodes, tokens …; a piece on a place is one of a node."""
    type_ = model.groups[group].type
    if isinstance(type_, PilesType | CardHolderType):
        return "card"
    word = kind_of(read_type(type_, unit=model.is_unit(getattr(type_, "name", ""))) if is_holder(type_) else type_)
    return "node" if word == "piece" else word


def is_holder(type_: Type) -> bool:
    return type_.word in ("pool", "track", "stock")


def kind_of(type_: Type) -> str:
    """Return the kind of things that a value names; numbers and conditions name none."""
    of = item_type(type_) or type_
    word = "card" if isinstance(of, PileType) else of.word
    return "" if word in ("int", "bool", "text") else {"pool": "bag", "track": "bag"}.get(word, word)


def flat(tree: object) -> tuple[object, ...]:
    return tuple(each for part in tree for each in flat(part)) if isinstance(tree, list | tuple) else (tree,)


def reads(tree: object) -> set[str]:
    """Return the groups of cells that a tree reads, and does not only write."""
    nodes = list(descendants(flat(tree)))
    written = {id(cell) for node in nodes for cell in written_by(node)}
    return {node.group for node in nodes if isinstance(node, core.Cell) and id(node) not in written}


def written_by(node: object) -> tuple[object, ...]:
    match node:
        case core.SetCell(cell) | core.MoveCards(_, cell) | core.Shuffles(cell):
            return (cell,)
        case core.MoveTokens(_, source, target) | core.MovePiece(_, source, target):
            return source, target
        case core.MoveAll(_, target):  # how much it moves depends on the source
            return (target,)
    return ()
