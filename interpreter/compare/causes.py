"""Causes of divergences: the difference that came into play before two games first differed.

Takes a comparison, and two games with the same choices that have diverged. Both are repeated in instrumented copies,
which note the parts that belong to differences: from the last choices on, and if that does not tell, from earlier ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

from interpreter.base.plain_data import Json, grouped
from interpreter.base.stepwise import Steps
from interpreter.compare.common_values import CommonValues, frames
from interpreter.compare.differences import Comparison, Difference
from interpreter.compare.lock_step import LEFT, Beside
from interpreter.compare.variation import renumbered
from interpreter.engine.citations import Citation
from interpreter.engine.decision import Option
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.settings import public_settings
from interpreter.engine.setup import Table
from interpreter.kernel.chance import Seeded
from interpreter.kernel.state import State
from interpreter.language.model import Model
from interpreter.testing.instrumentation import key_of, parts_of, watched

__all__ = ["BEGINNING", "Causes"]

BEGINNING = "beginning"
"""Path of a divergence that no exercised difference explains: caused by the components, the board or the layout."""
_SOON = 16
"""Number of choices before a divergence among which its cause is first sought, if the last choices do not tell."""
_SETTINGS = ("settings", "interpretations")
_Choices: TypeAlias = Sequence[Option | Mapping[str, Json]]


class _Found(Exception):
    """Raised when a part is exercised, if that ends the search."""


class _Parts(set[Hashable]):
    """Set of records, which remembers the paths of their differences in order. With ``stops``, the first one ends the
    search, unless it is that of a setting or the round, which much reads that does not differ by it."""

    def __init__(self, paths: Callable[[Hashable], Iterable[str]]) -> None:
        super().__init__()
        self.paths, self.stops = paths, False
        self.order: dict[str, None] = {}

    def add(self, record: Hashable, /) -> None:
        if record in self:
            return
        super().add(record)
        for path in self.paths(record):
            if self.stops and not _is_read_by_much(path):
                raise _Found(path)
            self.order[path] = None

    def take(self) -> list[str]:
        """Return the paths since the last call, in order."""
        paths, self.order = list(self.order), {}
        self.clear()
        return paths


class _Window(NamedTuple):
    """What a choice led to on both sides: paths of parts that were exercised, paths of procedures that went on, and the
    states."""

    noted: list[str]
    resumed: list[str]
    states: list[State]


class _Side:
    """A side of a comparison, with an instrumented copy."""

    def __init__(
        self, own: Ruleset, other: Model, sought: Sequence[Difference], people: int, settings: Mapping[str, object]
    ) -> None:
        cited = [(part, each.path) for each in sought for part in _citations(own.model, other, each)]
        self.own, self._people, self._settings = own, people, own.own_settings(settings)
        self._paths = grouped((key_of(part), path) for part, path in cited)
        self._tables = {key_of(part): part.name for part, _ in cited if part.section == "tables"}
        self.running = {name: path for part, path in cited for name in parts_of(part, own.model) if type(name) is str}
        """Paths of the procedures that differ."""
        self.parts = _Parts(self._of)
        self.copy = watched(own, [part for part, _ in cited], self.parts, by_cell=True)

    def _of(self, record: Hashable) -> Iterable[str]:
        """Return the paths of a record; of a table, that of the cell, or of the whole table."""
        if not isinstance(record, tuple):
            return self._paths[str(record)]
        key, *cell = record
        table, text = self.own.model.tables[self._tables[key]], self.own.names.text
        shown = ", ".join(
            "-" if each is None else text(each, of) for each, of in zip(cell, table.key_types, strict=True)
        )
        named = f"tables.{table.name}", f"tables.{table.name}[{shown}]"
        return [path for path in named if path in self._paths[key]]

    @cached_property
    def laid_out(self) -> tuple[Table, list[str]]:
        """The table of the copy, and paths of what the starting layout reads."""
        table = self.table(self.copy)
        table.runner.plain = True
        return table, self.parts.take()

    def table(self, ruleset: Ruleset) -> Table:
        return ruleset.table(self._people, ruleset.settings(self._settings))

    def begun(self, ruleset: Ruleset, seed: int) -> Game:
        _ = self.laid_out
        return ruleset.new_game(self._people, seed, self._settings)

    def at(self, state: State, game: Game, seed: int) -> Game:
        """Return a game of the copy in the state of another game."""
        frame = renumbered(state.frame, self.own.program, self.copy.program)
        return Game(self.copy, self.laid_out[0], State(state.cells[:], frame), Seeded(seed), game.origin)

    def make(self, game: Game, choice: Option | Mapping[str, Json]) -> list[str]:
        """Make a choice in a game of the copy, and return the paths of differing procedures that go on by it."""
        before = list(frames(game.state.frame, self.copy.program))
        game.apply(choice)
        after = list(frames(game.state.frame, self.copy.program))
        while len(before) > 1 and after and before[-1] == after[-1]:
            del before[-1], after[-1]
        names = (procedure.partition("/")[0] for procedure, _, _ in before)
        return [self.running[name] for name in names if name in self.running]


class Causes:
    """Finds the causes of the divergences of a comparison. Raises :class:`ValueError` for invalid settings."""

    def __init__(self, comparison: Comparison, people: int, settings: Mapping[str, object]) -> None:
        a, b = comparison.a, comparison.b
        left, right = (_chosen(ruleset, settings) for ruleset in (a, b))
        others = {name for name in left.keys() & right.keys() if left[name] != right[name]}
        sought = [d for d in comparison.differences if d.section not in _SETTINGS or d.name in others]
        both = (a, b), (b, a)
        self._sides = [_Side(own, other.model, sought, people, settings) for own, other in both]
        self._is_laid_out_alike = not any(map(_is_laid_out, comparison.differences))

    @cached_property
    def _common(self) -> CommonValues:
        a, b = (side.table(side.own) for side in self._sides)
        return CommonValues(a, b)

    def found(self, both: Beside) -> Steps[str]:
        """Return the path of the difference that made two games diverge, which are taken back.

        It is the part that was exercised since the last choice. If there is none, it is that of the last moment at
        which values of the states moved apart; else the procedure that differs and went on. Of several parts, it is the
        one that came after the fewest choices before.
        """
        games, seed = (both.a, both.b), both.line.seed
        made = [[choice for _, choice in game.choices] for game in games]
        if len(made[0]) > len(made[1]):  # the other side has refused it
            made[0].pop()
            games[0].undo()
        number = both.first + len(made[1])
        if not number:
            return self._of_set_up(seed, asks=True) or BEGINNING
        now = _states(games)
        window = yield from self._last(seed, games, made)
        if window is None:
            *_, window = yield from self._whole(both, made, number)
        paths = window.noted
        if not paths:
            number, paths = yield from self._silent(both, made, now)
        if not number:
            return self._of_set_up(seed, asks=False) or BEGINNING
        if len(paths) > 1:
            *before, window = yield from self._whole(both, made, number)
            times = Counter(path for each in before for path in each.noted)
            return min(window.noted, key=lambda path: (times[path], _is_read_by_much(path)))
        return next(iter(paths or window.resumed * self._is_laid_out_alike), BEGINNING)

    def _of_set_up(self, seed: int, *, asks: bool) -> str | None:
        """Return the first difference that the set-up exercises, or the first decision if it ``asks``; or else the
        layout."""
        paths = list[str]()
        for side in self._sides:
            _ = side.laid_out
            side.parts.stops = True
            try:
                decision = side.begun(side.copy, seed).decision
                _ = decision.codes if decision is not None and asks else ()
            except _Found as found:
                return str(found)
            finally:
                side.parts.stops = False
                paths += side.parts.take()
        paths += (path for side in self._sides for path in side.laid_out[1])
        return min(paths, key=_is_read_by_much, default=None)

    def _last(self, seed: int, games: Sequence[Game], made: Sequence[_Choices]) -> Steps[_Window | None]:
        """Return what the last choice led to. The games are taken back by some choices. It is unknown (None) if one
        cannot be, or if a choice changes nothing, so that results of functions are still remembered."""
        count = len(made[1])
        if count < LEFT or not all(game.undo() for game in games for _ in range(LEFT)):
            return None
        before = _states(games)
        windows = yield from self._between(seed, games, before, [choices[count - LEFT : count] for choices in made])
        changed = (old.cells != new.cells for old, new in zip(before, windows[0].states, strict=True))
        return windows[-1] if all(changed) else None

    def _between(
        self, seed: int, games: Sequence[Game], before: Sequence[State], made: Sequence[_Choices]
    ) -> Steps[list[_Window]]:
        """Return what each of some choices leads to."""
        sides = zip(self._sides, before, games, strict=True)
        return self._repeated([side.at(state, game, seed) for side, state, game in sides], made)

    def _whole(self, both: Beside, made: Sequence[_Choices], count: int) -> Steps[list[_Window]]:
        """Return what each of the first choices leads to, in whole games."""
        games = [side.begun(side.copy, both.line.seed) for side in self._sides]
        earlier = both.line.made(min(count, both.first))
        return self._repeated(games, [[*earlier, *choices[: max(0, count - both.first)]] for choices in made])

    def _repeated(self, games: Sequence[Game], made: Sequence[_Choices]) -> Steps[list[_Window]]:
        windows = [_Window([], [], []) for _ in made[1]]
        for side, game, choices in zip(self._sides, games, made, strict=True):
            side.parts.take()
            for number, (choice, window) in enumerate(zip(choices, windows, strict=False), 1):
                yield
                window.resumed.extend(side.make(game, choice))
                if number == len(windows) and game.decision is not None:
                    _ = game.decision.codes
                window.noted.extend(path for path in side.parts.take() if path not in window.noted)
                window.states.extend(_states([game]))
        return windows

    def _silent(self, both: Beside, made: Sequence[_Choices], now: Sequence[State]) -> Steps[tuple[int, list[str]]]:
        """Return the last number of choices after which values of the states moved apart as parts were exercised, and
        the paths of these; no paths if there is none, and 0 if values differ since the set-up."""
        differing, last, most = self._common.differing, both.first + len(made[1]), _SOON
        begun = differing(*_states(both.after(0)))
        end = last if differing(*now) != begun else 0
        while end > 0:  # most causes are found among the last choices
            start = max(0, min(both.first, last - most))
            games = both.after(start)
            choices, states = list[_Choices](), [_states(games)]
            for number in range(start, end):
                yield
                later = number - both.first
                known = [both.line.choice(number, games[0])] * 2 if later < 0 else [each[later] for each in made]
                choices.append(known)
                for game, choice in zip(games, known, strict=True):
                    game.apply(choice)
                states.append(_states(games))
            ways = [differing(*each) for each in states]
            for place in range(len(choices), 0, -1):
                before = max(0, place - LEFT)
                if ways[place] != ways[place - 1] and (place >= LEFT or not start):
                    windows = yield from self._between(
                        both.line.seed, games, states[before], list(zip(*choices[before:place], strict=True))
                    )
                    if windows[-1].noted:
                        return start + place, windows[-1].noted
            end, most = start + 1 if start else 0, 4 * most
        return (0 if begun and self._is_laid_out_alike else last), []


def _states(games: Sequence[Game]) -> list[State]:
    return [State(game.state.cells[:], game.state.frame) for game in games]


def _is_read_by_much(path: str) -> bool:
    return path.partition(".")[0] in (*_SETTINGS, "round")


def _is_laid_out(difference: Difference) -> bool:
    """Return whether a difference is one of the components, the board or the starting layout."""
    is_start = difference.path.endswith(".start") or None in (difference.a, difference.b)
    return difference.chapter in ("players", "box", "board") or (difference.chapter == "start" and is_start)


def _chosen(ruleset: Ruleset, settings: Mapping[str, object]) -> dict[str, Json]:
    """Return the values of all settings and interpretations in the games of a side, by public names."""
    values = ruleset.settings(ruleset.own_settings(settings))
    public = public_settings(ruleset.model, ruleset.names, values)
    return {name: public.get(name) for name in values}


def _citations(model: Model, other: Model, difference: Difference) -> Iterator[Citation]:
    """Yield the parts of a side that games exercise where the difference matters."""
    section, name = difference.section, difference.name
    match section:
        case "rules":
            yield from _layers(model, name)
        case "round":
            begun = set(_begun(other))
            yield from (part for phase in _begun(model) if phase not in begun for part in _layers(model, phase[0]))
        case "triggers" | "standing" | "tables" | "settings" | "interpretations":
            if (declaration := getattr(model, section).get(name)) is not None:
                yield Citation(section, name, declaration.span.file.name, declaration.span, ())


def _layers(model: Model, name: str) -> Iterator[Citation]:
    for layer in model.rules[name].layers if name in model.rules else ():
        if layer.form != "permits" or layer.body:
            yield Citation("rules", name, layer.file, layer.span, (), (layer.layer,))


def _begun(model: Model) -> Iterator[tuple[str, str, str]]:
    """Yield each phase with what it begins after, and its condition."""
    for before, phase, guard in zip(("", *model.phases), model.phases, model.phase_guards, strict=False):
        yield phase, before, guard.value.span.on_one_line if guard else ""
