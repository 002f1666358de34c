"""SVG elements as text, with quoted values and short numbers."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

__all__ = ["document", "element", "number", "path"]


def number(value: float) -> str:
    """Format a number with at most two decimals and no trailing zeros."""
    shown = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown


def element(name: str, /, *inside: str, **attributes: object) -> str:
    """Return an element. Underscores in attribute names become hyphens; attributes that are None are left out."""
    parts = [name]
    for key, value in attributes.items():
        if value is not None:
            shown = number(value) if isinstance(value, float) else str(value)
            parts.append(f"{key.rstrip('_').replace('_', '-')}={quoteattr(shown)}")
    content = "".join(inside)
    return f"<{' '.join(parts)}>{content}</{name}>" if content else f"<{' '.join(parts)}/>"


def path(points: Iterable[complex], *, closed: bool = False, bend: complex | None = None) -> str:
    """Return the ``d`` attribute of a polyline, or with a bend of a quadratic curve between two points."""
    shown = [f"{number(point.real)} {number(point.imag)}" for point in points]
    if bend is not None:
        return f"M{shown[0]}Q{number(bend.real)} {number(bend.imag)} {shown[1]}"
    return f"M{'L'.join(shown)}{'Z' if closed else ''}"


def document(width: float, height: float, inside: Iterable[str], title: str) -> str:
    """Return a complete SVG document."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(width)}" height="{number(height)}" '
        f'viewBox="0 0 {number(width)} {number(height)}" role="img">'
    )
    return "\n".join([head, element("title", escape(title)), *inside, "</svg>"]) + "\n"
