"""Files as a zip: to download, to upload, and in a link."""

from __future__ import annotations

import io
import zipfile
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Mapping

from interpreter.reading.yaml import MAX_BYTES
from interpreter.serve.words import Refused
from interpreter.studio.workbench import Workbench

__all__ = ["in_link", "of_link", "packed", "unpacked"]

MOST_FILES, MOST_BYTES = 500, 8 * 1024 * 1024
"""Most files of a zip, and most bytes of all of them."""
MOST_IN_LINK = 32_000
"""Most characters of a link: browsers take more, but programs that pass links on may not."""
_THEN = (1980, 1, 1, 0, 0, 0)
"""Time of all files, so that equal files give equal bytes."""


def packed(texts: Mapping[str, str]) -> bytes:
    """Return a zip of texts by their names."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in texts.items():
            archive.writestr(zipfile.ZipInfo(name, _THEN), text, zipfile.ZIP_DEFLATED, compresslevel=9)
    return buffer.getvalue()


def unpacked(workbench: Workbench, data: bytes) -> dict[str, str]:
    """Return the texts in a zip by their names, which the workbench can have. Raises :class:`Refused`."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
            if not infos or len(infos) > MOST_FILES:
                raise Refused("got a zip of {n} files, want 1 to {most}", n=len(infos), most=MOST_FILES)
            texts, left = {}, MOST_BYTES
            for info in infos:
                workbench.path(info.filename)
                with archive.open(info) as stream:
                    read = stream.read(min(left, MAX_BYTES) + 1)
                left -= len(read)
                if left < 0 or len(read) > MAX_BYTES:
                    raise Refused(
                        "the files in this zip are too large, want {most} MB", most=MOST_BYTES // 1024 // 1024
                    )
                texts[info.filename] = read.decode("utf-8-sig")
            return texts
    except UnicodeDecodeError:
        raise Refused("a file in this zip is no UTF-8 text") from None
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError, ValueError):
        raise Refused("this is no zip of files, or a damaged one") from None


def in_link(data: bytes) -> str:
    """Return bytes as letters of a link. Raises :class:`Refused` if they are too many."""
    text = urlsafe_b64encode(data).decode().rstrip("=")
    if len(text) > MOST_IN_LINK:
        raise Refused("these files are too large for a link; download them as a zip instead")
    return text


def of_link(text: str) -> bytes:
    """Return the bytes of a link. Raises :class:`Refused`."""
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (Error, ValueError):
        raise Refused("this link is damaged or incomplete") from None
