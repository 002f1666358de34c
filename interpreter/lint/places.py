"""Layers of rules, wherever they are loaded: their places, and what they cite."""

from __future__ import annotations

from interpreter.base.source import Span
from interpreter.engine.citations import options_of
from interpreter.language import core
from interpreter.language.model import RuleLayer
from interpreter.reading.compose import Entry

__all__ = ["Place", "cites_of", "place_of"]

Place = tuple[str, int]
"""A file and where something begins in it: the same in every composition that has the file."""


def place_of(part: RuleLayer | Entry | Span) -> Place:
    span = part if isinstance(part, Span) else part.span
    return span.file.name, span.start


def cites_of(layer: RuleLayer) -> tuple[str, ...]:
    """The statements that a layer, its requirements and its alternatives cite."""
    lines = layer.body if isinstance(layer.body, tuple) else ()
    said = [line.cites for line in lines if isinstance(line, core.Requirement)]
    said += [option.cites for option in options_of(layer.body)]
    return (*layer.cites, *(cite for cites in said for cite in cites))
