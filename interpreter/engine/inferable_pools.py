"""Hidden pools that everybody can count along: whoever heard all that was told knows what they hold.

In goes a program, out come the names of such groups. What moves from or to them must be told wherever it moves: behind
the move, in the same block and before anybody is asked, an event tells the number and the seat. How much lay there
first, everybody knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from interpreter.compiler.lower import Program
from interpreter.language import core as c
from interpreter.language.types import HolderType, PoolType
from interpreter.language.walk import descendants

__all__ = ["counted"]


def counted(program: Program) -> frozenset[str]:
    """The hidden pools whose every change is told."""
    groups = program.model.groups
    pools = {name: group.type.name for name, group in groups.items() if isinstance(group.type, PoolType)}
    found = {name for name in pools if groups[name].seen != "everyone" and groups[name].lasts == "game"}
    for layer in program.reach.procedures.values() if found else ():
        for block in _blocks(layer.body):
            for place, step in enumerate(block):
                if not isinstance(step, c.MoveTokens | c.MoveAll) or _is_told(program, step, block[place + 1 :]):
                    continue
                for holder in (step.source, step.target):
                    if isinstance(holder, c.Cell):
                        found.discard(holder.group)
                    elif isinstance(holder.type, HolderType):  # it is known only when it is looked for
                        found -= {name for name, token in pools.items() if token == holder.type.name}
    return frozenset(found)


def _blocks(body: Any) -> Iterator[tuple[Any, ...]]:
    """The steps of a procedure, and those of all blocks in it."""
    if isinstance(body, tuple):
        yield body
    for node in descendants(body):
        for each in fields(node):
            value = getattr(node, each.name)
            if isinstance(value, tuple):
                yield value


def _is_told(program: Program, step: c.MoveTokens | c.MoveAll, later: Sequence[Any]) -> bool:
    """Return whether an event tells what moves, and between which seats' pools."""
    if isinstance(step, c.MoveAll) or not all(isinstance(cell, c.Cell) for cell in (step.source, step.target)):
        return False
    said = [step.amount, *(cell.owner for cell in (step.source, step.target) if isinstance(cell, c.Cell))]
    unknown = [value for value in said if value is not None and not isinstance(value, c.Const)]
    if not all(isinstance(value, c.Local) for value in unknown):
        return False
    for each in later:
        if isinstance(each, c.Notes):
            return all(value in each.arguments for value in unknown)
        if not isinstance(each, c.MoveTokens | c.MoveCards | c.MovePiece | c.SetCell | c.Performs):
            return False
        calls = (node for node in descendants(each) if isinstance(node, c.CallRule | c.CallBase))
        if any(program.reach.suspends(program.target(call)) for call in calls):
            return False
    return False
