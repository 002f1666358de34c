"""Benchmark reports: a report from samples, and the changes between two reports.

Speeds and times are stored as measured and, to compare machines, relative to the calibration loop: games per million
iterations, or the iterations that fit into a time. Reports read from files are validated; the command line prints them.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from statistics import median
from typing import Literal, TypedDict

import msgspec
from msgspec import Struct

from interpreter.simulate.throughput import Sample, Subject

__all__ = ["FIGURES", "LIMIT", "Change", "Figure", "changes", "read_report", "report", "row_of"]

LIMIT = 15.0
"""Largest loss of a figure, in per cent, that is not called worse."""


class Figure(Struct, frozen=True):
    """Benchmark figure. ``sort`` is `speed` (more is better), `time` or `size` (less is better), or `count` (neither).
    ``scale`` converts seconds and bytes to the unit shown."""

    title: str
    sort: str
    scale: float = 1.0


FIGURES = {
    "games": Figure("games/s", "speed"),
    "decisions": Figure("decisions/s", "speed"),
    "applied": Figure("applied/s", "speed"),
    "free": Figure("free", "count"),
    "rounds": Figure("rounds", "count"),
    "clone": Figure("clone µs", "time", 1e6),
    "undo": Figure("undo µs", "time", 1e6),
    "digest": Figure("digest µs", "time", 1e6),
    "load": Figure("load ms", "time", 1e3),
    "setup": Figure("set-up µs", "time", 1e6),
    "memory": Figure("kB", "size", 1e-3),
}


class Change(Struct, frozen=True):
    """Change of one figure of one row. ``before`` is the stored figure converted to this machine's speed. ``percent``
    is None if the stored figure is 0."""

    ruleset: str
    players: int
    figure: str
    before: float
    now: float
    percent: float | None
    worse: bool


class RowFigures(TypedDict):
    """Medians of one subject's samples."""

    ruleset: str
    digest: str
    players: int
    policy: str
    figures: dict[str, float]
    relative: dict[str, float]


class Report(TypedDict):
    """Figures of one benchmark run."""

    report: Literal[1]
    regelwerk: str
    python: str
    implementation: str
    machine: str
    taken: str
    seconds: float
    rounds: int
    calibration: float
    rows: list[RowFigures]


def report(version: str, subjects: Sequence[Subject], samples: Sequence[Sequence[Sample]], seconds: float) -> Report:
    """Return the medians of all samples, as data. ``version`` is the package version."""
    return {
        "report": 1,
        "regelwerk": version,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "machine": f"{platform.system()} {platform.machine()}",
        "taken": datetime.now(UTC).date().isoformat(),
        "seconds": seconds,
        "rounds": len(samples[0]) if samples else 0,
        "calibration": _short(median([sample.calibration for group in samples for sample in group] or [0.0])),
        "rows": [row_of(subject, group) for subject, group in zip(subjects, samples, strict=True)],
    }


def row_of(subject: Subject, samples: Sequence[Sample]) -> RowFigures:
    """Return the medians of one subject's samples, as data."""
    return {
        "ruleset": subject.title,
        "digest": subject.ruleset.digest,
        "players": subject.players,
        "policy": subject.policy,
        "figures": {
            name: _short(median(sample.figures[name] for sample in samples) * figure.scale)
            for name, figure in FIGURES.items()
        },
        "relative": {
            name: _short(median(_relative(figure, sample.figures[name], sample.calibration) for sample in samples))
            for name, figure in FIGURES.items()
            if figure.sort in ("speed", "time")
        },
    }


def _relative(figure: Figure, value: float, calibration: float) -> float:
    return value / calibration * 1e6 if figure.sort == "speed" else value * calibration


def _short(number: float) -> float:
    """Round to five significant digits, the precision of the measurement."""
    return float(f"{number:.5g}")


# --- comparing


def read_report(text: str) -> Report:
    """Read a stored report. Raises :class:`ValueError` if the text is not one."""
    try:
        return msgspec.json.decode(text.removeprefix("\ufeff"), type=Report)
    except (msgspec.MsgspecError, RecursionError) as fault:
        raise ValueError(f"not a report of `bench --save`: {fault}") from None


def changes(before: Report, now: Report) -> Iterator[Change]:
    """Yield the change of each figure that both reports have, in the order of the second."""
    key = itemgetter("ruleset", "players", "policy")
    known = {key(row): row for row in before["rows"]}
    for row in now["rows"]:
        old = known.get(key(row))
        if old is None:
            continue
        for name, figure in FIGURES.items():
            if name in old["figures"]:
                yield _change(row, old, name, figure, now["calibration"])


def _change(row: RowFigures, old: RowFigures, name: str, figure: Figure, calibration: float) -> Change:
    now, before = row["figures"][name], old["figures"][name]
    new_figure, old_figure = now, before
    if figure.sort in ("speed", "time") and name in old["relative"]:
        new_figure, old_figure = row["relative"][name], old["relative"][name]
        before = old_figure * calibration / 1e6 if figure.sort == "speed" else old_figure / calibration * figure.scale
    percent = (new_figure / old_figure - 1) * 100 if old_figure else None
    loss = {"speed": -1, "time": 1, "size": 1, "count": 0}[figure.sort] * (percent or 0.0)
    return Change(row["ruleset"], row["players"], name, _short(before), now, percent, loss > LIMIT)
