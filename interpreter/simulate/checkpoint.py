"""Checkpoint of an unfinished simulation: a file to which each game is appended when it is over.

After an interruption or a crash, the same simulation can resume. A lock file beside each output file keeps a second
simulation away from it while the first one runs. The first line describes the simulation; each other
line is a game and its seconds, or a game that does not end. A truncated or damaged line is ignored.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypedDict

import msgspec
from msgspec.structs import asdict

from interpreter.base.plain_data import Json, data_of
from interpreter.simulate.simulation import Row, Unfinished
from interpreter.simulate.workers import Plan

if sys.platform == "win32":
    from msvcrt import LK_NBLCK, locking
else:
    from fcntl import LOCK_EX, LOCK_NB, flock

__all__ = ["Journal", "OtherSimulation", "StillRunning", "only_writer", "seed_of"]

VERSION = 1
_OTHER = {
    "simulation": "in the format of another version: {}",
    "ruleset": "of another ruleset: {}",
    "overlays": "with other overlays: {}",
    "players": "of another number of players: {}",
    "bots": "with other bots: {}",
    "settings": "with other settings: {}",
    "seed": "with another seed: {}",
    "digest": "that were played before the rules were changed",
}
"""Keys of the header, each with the message for games of another simulation."""


class OtherSimulation(Exception):
    """The file belongs to another simulation. The message names the difference."""


class StillRunning(Exception):
    """Another simulation writes the file. The message names the file."""


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Hold the lock file of an output file; the system releases it if the process dies. Raises :class:`StillRunning` if
    another simulation holds it."""
    place = path.with_name(f"{path.name}.lock")
    while True:
        with place.open("a") as file:
            try:
                _lock(file)
            except (BlockingIOError, PermissionError):
                raise StillRunning(f"another simulation that writes {path} is still running") from None
            if not _is_at(file, place):
                continue  # its holder removed it meanwhile
            try:
                yield
            finally:
                with suppress(OSError):  # Windows removes no open file
                    place.unlink()
            return


def _is_at(file: IO[str], place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), place.stat())
    except FileNotFoundError:
        return False


def _lock(file: IO[str]) -> None:
    if sys.platform == "win32":
        locking(file.fileno(), LK_NBLCK, 1)
    else:
        flock(file, LOCK_EX | LOCK_NB)


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def seed_of(path: Path) -> int | None:
    """Return the first seed of the checkpoint of a file, if there is one."""
    try:
        with _beside(path).open(encoding="utf-8", errors="replace") as file:
            seed = _read(file.readline()).get("seed")
    except OSError:
        return None
    return seed if isinstance(seed, int) else None


class Journal:
    """Checkpoint file next to the output file, kept until the output is written."""

    def __init__(self, path: Path, plan: Plan, seed: int) -> None:
        self.path = _beside(path)
        facts = {**asdict(plan), "simulation": VERSION, "settings": dict(plan.settings), "seed": seed}
        self._header: dict[str, Json] = json.loads(json.dumps({key: facts[key] for key in _OTHER}))

    def begin(self, rows: Iterable[Row | Unfinished] = ()) -> None:
        """Write the checkpoint anew with only these games."""
        whole = self.path.with_name(f"{self.path.name}.new")
        whole.write_text(json.dumps(self._header) + "\n" + _lines(rows), encoding="utf-8", newline="\n")
        whole.replace(self.path)

    def resume(self) -> list[Row | Unfinished]:
        """Return the games of the checkpoint; none if there is no file yet. Raises :class:`OtherSimulation`."""
        if not self.path.exists():
            return []
        lines = self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        header = _read(lines[0]) if lines else {}
        if "simulation" not in header:
            raise OtherSimulation(f"{self.path} holds no games")
        for key, expected in self._header.items():
            if header.get(key) != expected:
                raise OtherSimulation(f"{self.path} holds games {_OTHER[key].format(_short(header.get(key)))}")
        rows = {game.seed: game for line in lines[1:] if (game := _game(line)) is not None}
        self.begin(rows.values())  # rewritten, so that no line follows a truncated one
        return list(rows.values())

    def add(self, rows: Iterable[Row | Unfinished]) -> None:
        """Append games to the file at once. Creates the file if needed."""
        if not self.path.exists():
            self.begin(rows)
            return
        with self.path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(_lines(rows))

    def finish(self) -> None:
        """Delete the checkpoint after the output has been written."""
        self.path.unlink(missing_ok=True)


class _Line(TypedDict):
    row: dict[str, object]
    seconds: float


def _lines(rows: Iterable[Row | Unfinished]) -> str:
    lines = (row if isinstance(row, Unfinished) else {"row": row.as_dict(), "seconds": row.seconds} for row in rows)
    return "".join(json.dumps(line, default=data_of) + "\n" for line in lines)


def _read(line: str) -> dict[str, Json]:
    """Return the header in a line; empty if there is none."""
    try:
        data = json.loads(line.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _game(line: str) -> Row | Unfinished | None:
    """Return the game in a line; None if the line is truncated or damaged, so that it is played again."""
    with suppress(msgspec.MsgspecError, RecursionError):
        data = msgspec.json.decode(line, type=_Line)
        return msgspec.convert({**data["row"], "seconds": data["seconds"]}, Row)
    with suppress(msgspec.MsgspecError, RecursionError):
        return msgspec.json.decode(line, type=Unfinished)
    return None


def _short(value: object) -> str:
    text = (json.dumps(value) if value else "none") if isinstance(value, dict | list) else str(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
