"""PNG decoder: an image as an array of 8-bit RGB values."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["pixels_of"]

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {2: 3, 6: 4}
"""Number of channels by colour type, for those without a palette."""


def pixels_of(png: bytes) -> NDArray[np.uint8]:
    """Decode a PNG to an array of shape (height, width, 3). Transparent areas become white.

    Raises :class:`ValueError` for PNGs that resvg does not write: only 8-bit RGB or RGBA without interlacing is
    supported.
    """
    import numpy as np

    if not png.startswith(SIGNATURE):
        raise ValueError("not a PNG")
    width = height = channels = 0
    data, at = b"", len(SIGNATURE)
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            if depth != 8 or colour not in CHANNELS or interlaced:
                raise ValueError("unsupported PNG: want 8-bit RGB or RGBA without interlacing")
            channels = CHANNELS[colour]
        elif kind == b"IDAT":
            data += body
        at += 12 + size
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + width * channels)
    plain = _unfiltered(rows[:, 0], rows[:, 1:].reshape(height, width, channels))
    if channels == 3:
        return plain
    alpha = plain[:, :, 3:].astype(np.uint16)
    return ((plain[:, :, :3] * alpha + 255 * (255 - alpha)) // 255).astype(np.uint8)


def _unfiltered(kinds: NDArray[np.uint8], rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Undo the filter of each row, which stores differences from the pixels to the left and above."""
    import numpy as np

    pixels = np.zeros_like(rows)
    above = np.zeros_like(rows[0])
    for number, (kind, row) in enumerate(zip(kinds, rows, strict=True)):
        if kind == 0:
            pixels[number] = row
        elif kind == 1:
            pixels[number] = np.cumsum(row, axis=0, dtype=np.uint8)
        elif kind == 2:
            pixels[number] = row + above
        else:
            pixels[number] = _by_pixel(int(kind), row, above)
        above = pixels[number]
    return pixels


def _by_pixel(kind: int, row: NDArray[np.uint8], above: NDArray[np.uint8]) -> NDArray[np.uint8]:
    import numpy as np

    channels = row.shape[1]
    pixels = np.empty_like(row)
    for channel in range(channels):
        left = corner = 0
        ups, values, out = above[:, channel].tolist(), row[:, channel].tolist(), []
        for up, value in zip(ups, values, strict=True):
            near = (left + up) // 2 if kind == 3 else _paeth(left, up, corner)
            left = (value + near) & 255
            corner = up
            out.append(left)
        pixels[:, channel] = out
    return pixels


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    far_left, far_up, far_corner = abs(guess - left), abs(guess - up), abs(guess - corner)
    if far_left <= far_up and far_left <= far_corner:
        return left
    return up if far_up <= far_corner else corner
