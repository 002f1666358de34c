"""Conversion of SVG to PNG by resvg, which the extra `png` installs."""

from __future__ import annotations

from interpreter.base.extras import Unavailable, install_command
from interpreter.drawing.font_metrics import FAMILY
from interpreter.drawing.svg import document, element

__all__ = ["png_of"]

_EMPTY = document(20, 20, [], "")
_LETTER = document(20, 20, [element("text", "M", x=2, y=16, font_family=FAMILY, font_size=16)], "")


def png_of(svg: str, zoom: float = 2.0) -> bytes:
    """Convert a picture to PNG, by default at twice its nominal size for print. Raises :class:`Unavailable`."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise Unavailable(f"a PNG needs resvg: `{install_command('png')}`; an SVG needs nothing") from None
    if svg_to_bytes(svg_string=_LETTER) == svg_to_bytes(svg_string=_EMPTY):  # without a font, text is left out
        raise Unavailable("a PNG needs a font, and this machine has none (try DejaVu Sans); an SVG needs nothing")
    return bytes(svg_to_bytes(svg_string=svg, zoom=zoom))
