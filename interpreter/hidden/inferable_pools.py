"""Inferable pools: hidden pools whose content follows from public information.

A program goes in, the names of such groups come out. Their initial content is public. Every move from or to them must
be announced: an event after the move, in the same block and before any decision, names the amount and the seat.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interpreter.language import core
from interpreter.language.model import RuleBody
from interpreter.language.types import HolderType, PoolType
from interpreter.language.walk import descendants
from interpreter.lowering.lower import Program

__all__ = ["counted"]


def counted(program: Program) -> frozenset[str]:
    """Return the hidden pools whose every change is announced."""
    groups = program.model.groups
    pools = {name: group.type.name for name, group in groups.items() if isinstance(group.type, PoolType)}
    inferable = {name for name in pools if groups[name].seen != "everyone" and groups[name].lasts == "game"}
    for layer in program.reach.procedures.values() if inferable else ():
        for block in _blocks(layer.body):
            for number, step in enumerate(block):
                if not isinstance(step, core.MoveTokens | core.MoveAll) or _is_announced(
                    program, step, block[number + 1 :]
                ):
                    continue
                for holder in (step.source, step.target):
                    if isinstance(holder, core.Cell):
                        inferable.discard(holder.group)
                    elif isinstance(holder.type, HolderType):  # the holder is known only at run time
                        inferable -= {name for name, token in pools.items() if token == holder.type.name}
    return frozenset(inferable)


def _blocks(body: RuleBody) -> Iterator[tuple[object, ...]]:
    """Yield the steps of a procedure and of all blocks in it."""
    if isinstance(body, tuple):
        yield body
    for node in descendants(body):
        for name in node.__struct_fields__:
            value = getattr(node, name)
            if type(value) is tuple:
                yield value


def _is_announced(program: Program, step: core.MoveTokens | core.MoveAll, later: Sequence[object]) -> bool:
    """Return whether an event announces the amount and the seats of a move."""
    if isinstance(step, core.MoveAll) or not all(isinstance(cell, core.Cell) for cell in (step.source, step.target)):
        return False
    moved = [step.amount, *(cell.owner for cell in (step.source, step.target) if isinstance(cell, core.Cell))]
    unknown = [value for value in moved if value is not None and not isinstance(value, core.Const)]
    if not all(isinstance(value, core.Local) for value in unknown):
        return False
    for following in later:
        if isinstance(following, core.Notes):
            return all(value in following.arguments for value in unknown)
        if not isinstance(following, core.MoveTokens | core.MoveCards | core.MovePiece | core.SetCell | core.Performs):
            return False
        calls = (node for node in descendants(following) if isinstance(node, core.Call))
        if any(program.target(call) in program.reach.suspending for call in calls):
            return False
    return False
