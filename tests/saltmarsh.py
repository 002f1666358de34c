"""Saltmarsh of ``docs/examples`` beside a program that knows its rules by itself: legal placements, ponds and points.

The program reads the printed tiles and nothing else of the ruleset. It follows the choices of random games, and has to
find the same options and, after each choice, the same ponds, keepers and points. The suite plays a sample, this command
more:

    python -m tests.saltmarsh --games 500
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import yaml

from interpreter.base.paths import ruleset_roots
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game, Ruleset
from interpreter.loading.load import load
from interpreter.reading.files import Shelf

__all__ = ["Marsh", "Tally", "follow", "saltmarsh"]

FOLDER = Path(__file__).parents[1] / "docs" / "examples" / "saltmarsh"
SIDES = ("north", "east", "south", "west")
STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))
FIELDS = [(column, row) for row in range(11) for column in range(11)]

Field = tuple[int, int]
Mouth = tuple[Field, int]
"""A side of a field, with water."""


def _named(field: Field) -> str:
    return f"{chr(ord('A') + field[0])}{field[1] + 1}"


NAMED = {_named(each): each for each in FIELDS}


def _tiles() -> dict[int, tuple[list[int], int]]:
    """Return the sides and the salt of each number of a tile."""
    deck = yaml.safe_load((FOLDER / "saltmarsh" / "decks" / "marsh.yaml").read_text(encoding="utf-8"))
    rows = [[cell.strip() for cell in line.split("|")] for line in deck["cards"]["tile"]["is"].splitlines()[1:]]
    return {int(number): ([int(side) for side in sides.split(",")], int(salt)) for number, sides, salt, _ in rows}


def _beside(field: Field, side: int) -> Field:
    column, row = STEPS[side]
    return field[0] + column, field[1] + row


@dataclass
class Pond:
    """Mouths of one water, and the seat whose keeper is there."""

    mouths: set[Mouth]
    keeper: int | None = None

    @property
    def fields(self) -> set[Field]:
        return {field for field, _ in self.mouths}

    @property
    def size(self) -> int:
        return len(self.fields)


@dataclass
class Marsh:
    """A board by the rules of the book. ``channels`` are those of the last tile that are not yet joined."""

    players: int
    tiles: dict[int, tuple[list[int], int]] = field(default_factory=_tiles)
    laid: dict[Field, list[int]] = field(default_factory=dict)
    salt: set[Field] = field(default_factory=set)
    ponds: list[Pond] = field(default_factory=list)
    points: list[int] = field(default_factory=list)
    home: list[int] = field(default_factory=list)
    last: Field = (5, 5)
    channels: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.points, self.home = [0] * self.players, [5] * self.players
        self.lay(self.last, 0, 0)
        while self.channels:
            self.join(None)

    def sides(self, number: int, turn: int) -> list[int]:
        printed, _ = self.tiles[number]
        return [printed[(side - turn) % 4] for side in range(4)]

    def placements(self, number: int) -> set[tuple[str, str]]:
        """Return the fields and turns on which a tile may lie; of turns that look alike, the first clockwise."""
        turns = {tuple(self.sides(number, turn)): turn for turn in reversed(range(4))}
        return {
            (_named(each), SIDES[turn])
            for each, (sides, turn) in product(FIELDS, turns.items())
            if self._is_legal(each, sides)
        }

    def _is_legal(self, field: Field, sides: Sequence[int]) -> bool:
        near = [_beside(field, side) for side in range(4)]
        if field in self.laid or not any(each in self.laid for each in near):
            return False
        for side, other in enumerate(near):
            if other not in FIELDS and sides[side]:
                return False
            if other in self.laid and (self.laid[other][(side + 2) % 4] > 0) != (sides[side] > 0):
                return False
        return True

    def lay(self, field: Field, number: int, turn: int) -> None:
        self.last, self.laid[field] = field, self.sides(number, turn)
        self.channels = sorted({each for each in self.laid[field] if each})
        if self.tiles[number][1]:
            self.salt.add(field)

    def _own(self) -> set[Mouth]:
        """Return the mouths of the next channel."""
        return {(self.last, side) for side in range(4) if self.laid[self.last][side] == self.channels[0]}

    def largest(self) -> list[Pond]:
        """Return the ponds that the next channel touches, of those the ones with most fields."""
        touched = {(_beside(field, side), (side + 2) % 4) for field, side in self._own()}
        met = [pond for pond in self.ponds if pond.mouths & touched]
        return [pond for pond in met if pond.size == max(each.size for each in met)]

    def join(self, stays: Pond | None) -> None:
        """Join the next channel: to a pond, which floods the others, or as a new one."""
        own = self._own()
        touched = {(_beside(field, side), (side + 2) % 4) for field, side in own}
        if stays is None:
            self.ponds.append(stays := Pond(set()))
        for pond in [each for each in self.ponds if each is not stays and each.mouths & touched]:
            self._pay(pond, pond.size)
            self.ponds.remove(pond)
            stays.mouths |= pond.mouths
        stays.mouths |= own
        self.channels.pop(0)

    def here(self) -> list[Pond]:
        """Return the ponds on the last tile."""
        return [pond for pond in self.ponds if any(field == self.last for field, _ in pond.mouths)]

    def close(self) -> None:
        for pond in self.here():
            if all(_beside(*mouth) in self.laid for mouth in pond.mouths):
                self._pay(pond, 2 * pond.size + 2 * len(self.salt & pond.fields))

    def count_up(self) -> None:
        for pond in self.ponds:
            self._pay(pond, pond.size)

    def _pay(self, pond: Pond, points: int) -> None:
        if pond.keeper is not None:
            self.points[pond.keeper] += points
            self.home[pond.keeper] += 1
            pond.keeper = None

    def flowing(self) -> set[frozenset[Mouth]]:
        """Return the ponds as the water of all tiles flows, whatever was joined when."""
        left = {(field, side) for field, sides in self.laid.items() for side in range(4) if sides[side]}
        found = set()
        while left:
            pond, edge = set[Mouth](), [left.pop()]
            while edge:
                pond.add(mouth := edge.pop())
                field, side = mouth
                alike = {(field, other) for other in range(4) if self.laid[field][other] == self.laid[field][side]}
                more = (alike | {(_beside(field, side), (side + 2) % 4)}) & left
                left -= more
                edge += more
            found.add(frozenset(pond))
        return found


@dataclass
class Tally:
    """What games had in common; the rarer things are counted to show that they happened."""

    games: int = 0
    placements: int = 0
    seen: Counter[str] = field(default_factory=Counter)


def saltmarsh() -> Ruleset:
    """Return the ruleset, which plays in the module from the first choice on."""
    return load(FOLDER / "saltmarsh" / "saltmarsh.yaml", shelf=Shelf([FOLDER, *ruleset_roots()], ahead=1))


def follow(ruleset: Ruleset, players: int, seed: int, tally: Tally) -> None:
    """Play a random game on both sides. Raises ``AssertionError`` where they differ."""
    table = ruleset.table(players, ruleset.settings({}))
    table.runner.patience = 0.0
    game, marsh, draw = ruleset.new_game(players=players, seed=seed), Marsh(players), random.Random(seed)
    away = 0
    while game.decision is not None:
        _same(game, marsh)
        box: Any = game.view()["box"]
        assert all(not marsh.placements(number) for number in box[away:]), (seed, box)
        tally.seen["fits nowhere"] += len(box) - away
        away = len(box)
        _turn(game, marsh, draw, tally)
    marsh.count_up()
    _same(game, marsh)
    tally.games += 1


def _turn(game: Game, marsh: Marsh, draw: random.Random, tally: Tally) -> None:
    who, tile = _asked(game, "lay").actor, int(str(game.value("first(drawn).number")))
    options = _asked(game, "lay").options
    assert {(str(each["field"]), str(each["turn"])) for each in options} == marsh.placements(tile)
    chosen = draw.choice(options)
    game.apply(chosen)
    marsh.lay(NAMED[str(chosen["field"])], tile, SIDES.index(str(chosen["turn"])))
    tally.placements += 1
    while marsh.channels:
        largest = marsh.largest()
        stays = largest[0] if largest else None
        if len(largest) > 1:
            stays = _chosen(game, "flood", largest, draw)
            tally.seen["ponds of equal size"] += 1
        before, points = len(marsh.ponds), sum(marsh.points)
        marsh.join(stays)
        tally.seen["flooded"] += before > len(marsh.ponds)
        tally.seen["flooded a keeper"] += sum(marsh.points) > points
    free = [pond for pond in marsh.here() if pond.keeper is None]
    if free and marsh.home[who]:
        pond = _chosen(game, "keep", free, draw)
        if pond is not None:
            pond.keeper = who
            marsh.home[who] -= 1
    points = sum(marsh.points)
    marsh.close()
    tally.seen["closed a pond with a keeper"] += sum(marsh.points) > points


def _asked(game: Game, name: str) -> Decision:
    assert game.decision is not None
    assert game.decision.name == name, game.decision
    return game.decision


def _chosen(game: Game, name: str, ponds: list[Pond], draw: random.Random) -> Pond | None:
    """Choose one of these ponds, which must be the options, or pass."""
    options = list(_asked(game, name).options)
    offered = [pond for option in options if option.values for pond in ponds if _mouth(option["pond"]) in pond.mouths]
    assert len(offered) == len(ponds) == len({id(pond) for pond in offered}), (offered, ponds)
    chosen = draw.choice(options)
    game.apply(chosen)
    return offered[options.index(chosen)] if chosen.values else None


def _mouth(place: Any) -> Mouth:
    return NAMED[place["field"]], place["place"] - 1


def _same(game: Game, marsh: Marsh) -> None:
    view: Any = game.view()
    ponds: dict[Mouth, set[Mouth]] = {}
    for row in view["place.pond"]:
        ponds.setdefault(_mouth(row["holds"]), set()).add(_mouth(row))
    ours = {frozenset(each) for each in ponds.values()}
    assert ours == {frozenset(pond.mouths) for pond in marsh.ponds} == marsh.flowing()
    assert [seat["points"] for seat in view["seats"]] == marsh.points
    assert [seat["keepers"] for seat in view["seats"]] == marsh.home


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=500)
    options = parser.parse_args()
    ruleset, tally, start = saltmarsh(), Tally(), process_time()
    for seed in range(options.games):
        follow(ruleset, 2 + seed % 3, seed, tally)
    print(f"{tally.games} games, {tally.placements} placements, no difference, {process_time() - start:.0f} s CPU time")
    print(", ".join(f"{what} {number}" for what, number in sorted(tally.seen.items())))


if __name__ == "__main__":
    main()
