"""What lint looks at: compositions of a family, and places that are the same in all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from msgspec import Struct

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.source import Span
from interpreter.engine.game import Ruleset
from interpreter.language.model import RuleLayer
from interpreter.sections.declarations import Entry

__all__ = ["Family", "Place", "advice", "place_of"]

Place = tuple[str, int]
"""File name and start offset: the same in every composition with the file."""


def place_of(part: RuleLayer | Entry | Span) -> Place:
    span = part if isinstance(part, Span) else part.span
    return span.file.name, span.start


def advice(code: str, message: str, span: Span, help: str, *notes: Note) -> Diagnostic:
    """Return a finding."""
    return Diagnostic(code, message, span, notes, help, "warning")


class Family(Struct, frozen=True):
    """Compositions of one family, and the names of the ``files`` that findings must concern."""

    rulesets: Sequence[Ruleset]
    files: Collection[str]

    def procedures(self) -> Iterator[tuple[Ruleset, RuleLayer]]:
        """Yield each procedure in the files once, with a composition that has it."""
        seen: set[Place] = set()
        for ruleset in self.rulesets:
            for layer in ruleset.program.reach.procedures.values():
                if layer.span.file.name in self.files and place_of(layer) not in seen:
                    seen.add(place_of(layer))
                    yield ruleset, layer

    def in_all(
        self, judged: Callable[[Ruleset], Iterable[tuple[RuleLayer, Diagnostic | None]]]
    ) -> Iterator[Diagnostic]:
        """Yield the findings about layers in the files that every composition with the layer has."""
        found: dict[Place, Diagnostic] = {}
        fine: set[Place] = set()
        for ruleset in self.rulesets:
            for layer, finding in judged(ruleset):
                if finding is None:
                    fine.add(place_of(layer))
                elif layer.span.file.name in self.files:
                    found.setdefault(place_of(layer), finding)
        return (finding for place, finding in found.items() if place not in fine)
