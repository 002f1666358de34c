"""Facts about procedures, their own and transitive; ``reach.py`` computes them."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import Struct

from interpreter.language import core
from interpreter.language.model import Model, RuleLayer
from interpreter.language.types import Type

__all__ = ["Facts", "Reach", "target_of"]


@dataclass
class Facts:
    """Facts of one procedure or function, without those of the rules it calls."""

    calls: set[str] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    holders: set[str] = field(default_factory=set)
    events: set[str] = field(default_factory=set)
    keeps: set[str] = field(default_factory=set)
    suspends: bool = False
    recurs: bool = False
    """The procedure, or one that it calls, calls itself, perhaps through others."""
    asks: set[str] = field(default_factory=set)
    dynamic_targets: set[str] = field(default_factory=set)
    chances: dict[str, tuple[bool, Type]] = field(default_factory=dict)
    """For each named chance whether it shuffles (else it picks), and its item type."""

    def join(self, other: Facts) -> None:
        """Add the facts of another procedure."""
        for name, theirs in vars(other).items():
            setattr(self, name, getattr(self, name) | theirs)


class Reach(Struct):
    """Facts of all procedures. ``all`` includes the rules they call."""

    procedures: dict[str, RuleLayer]
    own: dict[str, Facts]
    all: dict[str, Facts]
    standing_reads: dict[str, frozenset[str]]
    phase_facts: dict[str, Facts]

    def suspends(self, procedure: str) -> bool:
        return self.all[procedure].suspends

    def has_frame(self, procedure: str) -> bool:
        """Return whether a call of a procedure takes a frame: it can suspend, or nest as deep as the rules like. Other
        calls are calls of the host."""
        facts = self.all[procedure]
        return facts.suspends or facts.recurs

    def wakes(self, group: str) -> list[str]:
        """Return the standing rules that read a group of cells."""
        return [name for name, reads in self.standing_reads.items() if group in reads]


def target_of(model: Model, call: core.CallRule | core.CallBase) -> str:
    """Return the id of the procedure that a call runs."""
    if isinstance(call, core.CallBase):
        return f"{call.rule}@{call.layer}"
    rule = model.rules.get(call.rule)
    return rule.top.id if rule else call.rule
