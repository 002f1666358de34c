"""Figures of speed, kept and compared: samples become a report, and two reports the changes between them.

Speeds and times are kept as measured and, to compare machines, in turns of the calibration loop: games for a million
turns, or the turns in which something is done. What comes from files is checked; printing is left to the command line.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import TypedDict, cast

from interpreter.simulate.throughput import Sample, Subject

__all__ = ["FIGURES", "LIMIT", "Change", "Figure", "changes", "read_report", "report", "row_of"]

VERSION = 1
LIMIT = 15.0
"""So many per cent may a figure be worse and still be called the same."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Benchmark figure. ``sort``: a `speed` (more is better), a `time` or `size` (less is better), or a `count`
    (neither is). ``scale`` leads from seconds and bytes to the unit that is shown."""

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


@dataclass(frozen=True, slots=True)
class Change:
    """One figure of one row. ``before`` is what the kept figure would be on this machine; ``percent`` nothing where it
    cannot be said."""

    ruleset: str
    players: int
    figure: str
    before: float
    now: float
    percent: float | None
    worse: bool


class RowFigures(TypedDict):
    """The medians of one subject's samples."""

    ruleset: str
    digest: str
    players: int
    policy: str
    figures: dict[str, float]
    relative: dict[str, float]


class Report(TypedDict):
    """The figures of one run of the benchmark."""

    report: int
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
    """The medians of all samples, as data. ``version`` is that of the package."""
    return {
        "report": VERSION,
        "regelwerk": version,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "machine": f"{platform.system()} {platform.machine()}",
        "taken": datetime.now(UTC).date().isoformat(),
        "seconds": seconds,
        "rounds": len(samples[0]) if samples else 0,
        "calibration": _short(median([sample.calibration for each in samples for sample in each] or [0.0])),
        "rows": [row_of(subject, each) for subject, each in zip(subjects, samples, strict=True)],
    }


def row_of(subject: Subject, samples: Sequence[Sample]) -> RowFigures:
    """The medians of one subject's samples, as data."""
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
    """Five digits say all that was measured."""
    return float(f"{number:.5g}")


# --- comparing


def read_report(text: str) -> Report:
    """A kept report. ``ValueError`` for what is none."""
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    if not isinstance(data, dict) or data.get("report") != VERSION or not isinstance(data.get("rows"), list):
        raise ValueError("no figures kept by `bench --save`")
    if not all(_is_row(row) for row in data["rows"]):
        raise ValueError("a row that `bench --save` did not write")
    return cast(Report, data)


def _is_row(row: object) -> bool:
    if not isinstance(row, dict) or any(not isinstance(each, str | int) for each in _key(row)):
        return False
    groups = [row.get(key) for key in ("figures", "relative")]
    return all(
        isinstance(group, dict) and all(isinstance(number, int | float) for number in group.values())
        for group in groups
    )


def changes(before: Report, now: Report) -> Iterator[Change]:
    """Every figure that both reports have, in the order of the second."""
    known = {_key(row): row for row in before["rows"]}
    for row in now["rows"]:
        old = known.get(_key(row))
        if old is None:
            continue
        for name, figure in FIGURES.items():
            if name in old["figures"]:
                yield _change(row, old, name, figure, now["calibration"])


def _key(row: Mapping[str, object]) -> tuple[object, ...]:
    return row.get("ruleset"), row.get("players"), row.get("policy")


def _change(row: RowFigures, old: RowFigures, name: str, figure: Figure, calibration: float) -> Change:
    now, then = row["figures"][name], old["figures"][name]
    new, kept = now, then
    if figure.sort in ("speed", "time") and name in old["relative"]:
        new, kept = row["relative"][name], old["relative"][name]
        then = kept * calibration / 1e6 if figure.sort == "speed" else kept / calibration * figure.scale
    percent = (new / kept - 1) * 100 if kept else None
    loss = {"speed": -1, "time": 1, "size": 1, "count": 0}[figure.sort] * (percent or 0.0)
    return Change(row["ruleset"], row["players"], name, _short(then), now, percent, loss > LIMIT)
