"""The rows of a simulation that is not finished: a file to which each game is added as it comes.

So what is done stays, however it ends, and the same simulation can go on. The first line says what is played, each
other line is a game with its seconds. A last line that was not written to its end is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict, cast

from interpreter.base.plain_data import Json
from interpreter.simulate.simulation import Row, RowData
from interpreter.simulate.workers import Plan

__all__ = ["Journal", "OtherSimulation", "seed_of"]

VERSION = 1
_OTHER = {
    "simulation": "as another version kept them: {}",
    "ruleset": "of another ruleset: {}",
    "overlays": "with other overlays: {}",
    "players": "of another number of players: {}",
    "bots": "with other bots: {}",
    "settings": "with other settings: {}",
    "seed": "with another seed: {}",
    "digest": "that were played before the rules were changed",
}
"""What the header of a simulation holds, and how its games differ from those of another one."""


class OtherSimulation(Exception):
    """The file holds games that are not those of this simulation; says in what they differ."""


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def seed_of(path: Path) -> int | None:
    """The first seed of the games that are kept beside a file, where there are any."""
    try:
        with _beside(path).open(encoding="utf-8", errors="replace") as file:
            seed = _read(file.readline()).get("seed")
    except OSError:
        return None
    return seed if isinstance(seed, int) else None


class Journal:
    """Keeps rows beside the file for which they are meant, until that is written."""

    def __init__(self, path: Path, plan: Plan, seed: int) -> None:
        self.path = _beside(path)
        what = {
            "simulation": VERSION,
            "ruleset": plan.ruleset,
            "overlays": list(plan.overlays),
            "players": plan.players,
            "bots": plan.bots,
            "settings": dict(plan.settings),
            "seed": seed,
            "digest": plan.digest,
        }
        self._header: dict[str, Json] = json.loads(json.dumps(what))

    def begin(self, rows: Iterable[Row] = ()) -> None:
        """A file with these games and no others."""
        whole = self.path.with_name(f"{self.path.name}.new")
        whole.write_text(json.dumps(self._header) + "\n" + _lines(rows), encoding="utf-8", newline="\n")
        whole.replace(self.path)

    def resume(self) -> list[Row]:
        """The games that it holds; none if there is no such file yet. Raises :class:`OtherSimulation`."""
        if not self.path.exists():
            return []
        lines = self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        header = _read(lines[0]) if lines else {}
        if "simulation" not in header:
            raise OtherSimulation(f"{self.path} holds no games")
        for key, mine in self._header.items():
            if header.get(key) != mine:
                raise OtherSimulation(f"{self.path} holds games {_OTHER[key].format(_short(header.get(key)))}")
        found = [cast(_Line, data) for line in lines[1:] if "row" in (data := _read(line))]
        rows = {data["row"]["seed"]: Row.from_dict(data["row"], data["seconds"]) for data in found}
        self.begin(rows.values())  # anew: a line that broke off must not stand before others
        return list(rows.values())

    def add(self, rows: Iterable[Row]) -> None:
        """More games, at once on disk; the first ones make the file."""
        if not self.path.exists():
            self.begin(rows)
            return
        with self.path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(_lines(rows))

    def finish(self) -> None:
        """The rows stand where they belong: the file is not needed any more."""
        self.path.unlink(missing_ok=True)


class _Line(TypedDict):
    row: RowData
    seconds: float


def _lines(rows: Iterable[Row]) -> str:
    return "".join(json.dumps({"row": row.as_dict(), "seconds": round(row.seconds, 6)}) + "\n" for row in rows)


def _read(line: str) -> dict[str, Json]:
    try:
        data = json.loads(line)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _short(value: object) -> str:
    text = (json.dumps(value) if value else "none") if isinstance(value, dict | list) else str(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
