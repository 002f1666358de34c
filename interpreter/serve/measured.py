"""Measures of a game that is over, as data for the page: by seat and round, in tables and charts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain

from interpreter.base.plurals import titled
from interpreter.drawing.colours import SEATS, member_colour
from interpreter.drawing.font_metrics import width_of
from interpreter.language.model import Measure
from interpreter.language.types import KindType, SeatType
from interpreter.serve.scene import Data, Scene
from interpreter.serve.words import t
from interpreter.simulate.measurements import Taken

__all__ = ["measures_of"]

LEFT, RIGHT, TOP, BOTTOM, SIZE = 34.0, 330.0, 12.0, 132.0, 11.0
"""Edges of a chart, and the size of its text."""
Of = tuple[object, ...]
Line = tuple[str, str, str, dict[int, float]]
"""A line of a chart: its name, the short one, its colour, and its value in each round."""


def measures_of(scene: Scene, taken: Mapping[str, Sequence[Taken]]) -> Data:
    """Return what a page shows of measurements: a row for each measure of the seats, single facts, charts by round."""
    seats = [scene.seat_data(seat) for seat in range(len(scene.live.kept.seats))]
    rows, facts, charts = list[tuple[str, list[object]]](), list[tuple[str, float]](), list[Data]()
    for measure in scene.model.measures:
        numbers = _by_round(measure, taken[measure.name])
        title = scene.spoken.word(f"measures.{measure.name}") or titled(measure.name)
        if measure.sums or any(len(values) > 1 for rounds in numbers.values() for values in rounds.values()):
            title = t("{what}, sum", what=title) if measure.sums else t("{what}, mean", what=title)
        last = slice(-1, None) if measure.event is None else slice(None)
        ends = {of: _joined(measure, chain(*[*rounds.values()][last])) for of, rounds in numbers.items()}
        if measure.seat is not None and ends:
            rows.append((title, [ends.get((seat,), "–") for seat in range(len(seats))]))
        lines = [_line(scene, measure, *each, place) for place, each in enumerate(numbers.items())]
        if ends and (measure.recurs or (measure.seat is not None and measure.event is not None)):
            charts.append({"title": title, "lines": lines, **_scales(lines)})
        elif measure.seat is None:
            facts += zip((f"{title} {name}".strip() for name, *_ in lines), ends.values(), strict=True)
    return {"seats": seats, "rows": rows, "facts": facts, "charts": charts}


def _by_round(measure: Measure, taken: Iterable[Taken]) -> dict[Of, dict[int, list[int]]]:
    """Return the values by round of each seat, or else of each subject."""
    numbers: defaultdict[Of, defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for each in taken:
        of = each.of if measure.seat is None else (each.of[measure.seat],)
        if each.value is not None and of != (None,):
            numbers[of][each.round].append(each.value)
    return dict(sorted(numbers.items()) if measure.seat is not None else numbers)


def _joined(measure: Measure, values: Iterable[int]) -> float:
    """Return the sum of values if their measure sums, else their mean."""
    every = list(values)
    total, many = sum(every), 1 if measure.sums else len(every)
    return round(total / many, 1) if total % many else total // many


def _line(scene: Scene, measure: Measure, of: Of, rounds: Mapping[int, Iterable[int]], place: int) -> Line:
    types = [key.type for key in measure.keys[measure.seat or 0 :]][: len(of)]
    name, values = ", ".join(map(scene.spoken.named, of, types)), {n: _joined(measure, v) for n, v in rounds.items()}
    match type_ := types[0] if len(of) == 1 else None:
        case SeatType():
            seat = scene.spoken.value(of[0], type_)
            return name, str(seat + 1), SEATS[seat % len(SEATS)], values
        case KindType():
            return name, name, member_colour(scene.model, type_.name, scene.spoken.value(of[0], type_)), values
    return name, name, SEATS[place % len(SEATS)], values


def _scales(lines: Sequence[Line]) -> Data:
    """Return where a chart has its rounds, values and the marks of its lines, which do not overlap."""
    rounds = sorted({each for *_, line in lines for each in line})
    values = [0, *(value for *_, line in lines for value in line.values())]
    step = next(n * 10**p for p in range(12) for n in (1, 2, 5) if max(values) - min(values) <= 5 * n * 10**p)
    low, high = int(min(values) // step) * step, -int(-max(values) // step) * step or step
    right, grid = RIGHT - max(width_of(mark, SIZE) for _, mark, *_ in lines), range(low, high + 1, step)
    across, up = (right - LEFT) / max(1, rounds[-1] - rounds[0]), (BOTTOM - TOP) / (high - low)
    y = {value: BOTTOM - up * (value - low) for value in (*values, *grid)}
    x = {number: LEFT + across * (number - rounds[0]) for number in rounds}
    ends = sorted((y[line[max(line)]], at) for at, (*_, line) in enumerate(lines))
    below = accumulate((end for end, _ in ends), lambda above, end: max(end, above + SIZE))
    above = accumulate([*below][::-1], lambda below, end: min(end, below - SIZE), initial=BOTTOM + SIZE)
    marks = {at: end for (_, at), end in zip(ends[::-1], [*above][1:], strict=True)}
    return {"x": x, "y": y, "right": right, "every": 1 + len(rounds) // 12, "grid": grid, "marks": marks}
