"""Facts of a text alone: what its trees name and do, in whichever ruleset they stand.

What they mean for a ruleset, whose layers and triggers decide what a call runs, is left to ``lowering/reach.py``.
"""

from __future__ import annotations

from msgspec import Struct

from interpreter.language import core
from interpreter.language.types import HolderType, PlaceType, Type, item_type
from interpreter.language.walk import nested

__all__ = ["TextFacts", "facts_of"]


class TextFacts(Struct):
    """Facts of some trees; sequences and dictionaries are in source order."""

    depth: int = 1
    """Number of levels that the trees nest."""
    calls: dict[str, int] = {}
    """Called rules, and ids of layers for `base()`, with the deepest level at which they are called."""
    events: dict[str, int] = {}
    """Noted events, with the deepest level at which they are noted."""
    groups: set[str] = set()
    """Groups of cells that are read or changed."""
    writes: set[str] = set()
    holders: set[str] = set()
    moves_cards: bool = False
    """A move of cards takes them from any group that holds cards."""
    dynamic_targets: set[str] = set()
    """Functions that return a holder which is changed."""
    keeps: list[str] = []
    asks: list[core.Ask] = []
    options: list[core.Option] = []
    suspends: bool = False
    chances: dict[str, tuple[bool, Type]] = {}
    """For each named chance whether it shuffles (else it picks), and its item type."""
    loops: list[tuple[core.Repeat, TextFacts]] = []
    """Loops without a bound, with the facts of their bodies."""
    settings: set[str] = set()
    tables: set[str] = set()


def facts_of(tree: object) -> TextFacts:
    """Return the facts of a tree, or of a tuple of trees."""
    facts = TextFacts()
    for node, level in nested(tree):
        if level > facts.depth:
            facts.depth = level
        match node:
            case core.Cell(group):
                facts.groups.add(group)
                if isinstance(node.type, HolderType):
                    facts.holders.add(group)
            case core.CallRule(rule):
                facts.calls[rule] = max(level, facts.calls.get(rule, 0))
            case core.CallBase(rule, layer):
                below = f"{rule}@{layer}"
                facts.calls[below] = max(level, facts.calls.get(below, 0))
            case core.SettingValue(name):
                facts.settings.add(name)
            case core.TableCell(table):
                facts.tables.add(table)
            case core.Typed():
                pass
            case core.Ask():
                facts.asks.append(node)
                facts.suspends = True
            case core.Option():
                facts.options.append(node)
            case _:
                _note_step(node, level, facts)
    return facts


def _note_step(node: object, level: int, facts: TextFacts) -> None:
    match node:
        case core.SetCell(target):
            _write(target, facts)
        case core.MoveCards(_, target):
            _write(target, facts)
            facts.moves_cards = True
        case core.MoveTokens(_, source, target) | core.MovePiece(_, source, target) | core.MoveAll(source, target):
            _write(source, facts)
            _write(target, facts)
        case core.Shuffles(zone):
            _write(zone, facts)
            _note_chance(node, zone, facts)
        case core.Picks(_, items):
            _note_chance(node, items, facts)
        case core.Notes(event):
            facts.events[event] = max(level, facts.events.get(event, 0))
        case core.Keeps():
            facts.keeps.append(node.procedure)
        case core.Settles() | core.Ends():
            facts.suspends = True
        case core.Iterate():
            facts.suspends |= node.turn
        case core.Repeat(bound=None):
            facts.loops.append((node, facts_of(node.body)))


def _note_chance(node: core.Shuffles | core.Picks, drawn: core.Expression, facts: TextFacts) -> None:
    if (item := item_type(drawn.type)) is not None:
        facts.chances[node.chance] = isinstance(node, core.Shuffles), item


def _write(target: core.Expression, facts: TextFacts) -> None:
    if isinstance(target.type, PlaceType):
        facts.writes.add("piece")
        return
    named = facts_of(target)
    facts.writes |= named.groups
    facts.dynamic_targets.update(named.calls)
