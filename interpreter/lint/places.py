"""Places and citations of rule layers, independent of the composition."""

from __future__ import annotations

from interpreter.base.source import Span
from interpreter.language import core
from interpreter.language.model import RuleLayer
from interpreter.sections.declarations import Entry

__all__ = ["Place", "cites_of", "place_of"]

Place = tuple[str, int]
"""File name and start offset: the same in every composition with the file."""


def place_of(part: RuleLayer | Entry | Span) -> Place:
    span = part if isinstance(part, Span) else part.span
    return span.file.name, span.start


def cites_of(layer: RuleLayer) -> tuple[str, ...]:
    """Return the statements that a layer, its requirements and its alternatives cite."""
    lines = layer.body if isinstance(layer.body, tuple) else ()
    inner = [line.cites for line in lines if isinstance(line, core.Requirement)]
    inner += [option.cites for option in layer.facts.options]
    return (*layer.cites, *(cite for cites in inner for cite in cites))
