"""SVG elements as text, with quoted values and short numbers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from xml.sax.saxutils import escape, quoteattr
from zlib import crc32

__all__ = ["Symbols", "document", "element", "number", "path"]


class Symbols:
    """Parts of a drawing that repeat: each is drawn once, around the origin; its name depends on nothing else."""

    def __init__(self) -> None:
        self._parts: dict[str, str] = {}

    def used(self, part: str, at: complex, *inside: str, turn: float = 0.0, size: float = 1.0) -> str:
        """Return an element that shows a part at a point, turned by a share of a whole turn, in another size."""
        self._parts[id_ := f"s{crc32(part.encode()):x}"] = part
        changed = f"rotate({number(360 * turn)})" * bool(turn) + f"scale({number(size)})" * (size != 1)
        moved = f"translate({number(at.real)} {number(at.imag)}){changed}"
        where = {"transform": moved} if changed else {"x": number(at.real), "y": number(at.imag)}
        return element("use", *inside, href=f"#{id_}", **where)

    def defined(self) -> str:
        """Return the definitions of all parts that were used."""
        parts = [element("g", part, id=id_) for id_, part in self._parts.items()]
        return element("defs", *parts) if parts else ""


@lru_cache(20_000)
def number(value: float) -> str:
    """Format a number with at most two decimals and no trailing zeros."""
    shown = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown


@lru_cache(20_000, typed=True)
def _attribute(key: str, value: object) -> str:
    shown = f'"{number(value)}"' if isinstance(value, float) else quoteattr(str(value))
    return f"{key.rstrip('_').replace('_', '-')}={shown}"


def element(name: str, /, *inside: str, **attributes: object) -> str:
    """Return an element. Underscores in attribute names become hyphens; attributes that are None are left out."""
    head = " ".join([name, *(_attribute(key, value) for key, value in attributes.items() if value is not None)])
    content = "".join(inside)
    return f"<{head}>{content}</{name}>" if content else f"<{head}/>"


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
