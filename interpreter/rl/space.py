"""Numbering of the actions and observations of a table, with names, and their computation without a module."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass as whole
from functools import cached_property
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from interpreter.base.plain_data import Json, json_of
from interpreter.compiler.codegen.shapes import Shapes
from interpreter.engine.decision import Code, Decision
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.setup import Table
from interpreter.hidden.sight import may_see
from interpreter.kernel.state import Value
from interpreter.language import types
from interpreter.loading.load import load
from interpreter.rl.numbering import HEAD, HIDDEN, NONE, Actions, Digit, Limits, Part, Vector, positions, width_of

__all__ = ["Entry", "Space", "loaded", "space_of"]


class Entry(Struct, frozen=True):
    """An entry of an observation."""

    number: int
    name: str


def loaded(ruleset: Ruleset | str | Path, overlays: Iterable[str] = ()) -> Ruleset:
    """Return the ruleset, loaded if it is an id or path."""
    return ruleset if isinstance(ruleset, Ruleset) else load(ruleset, overlays)


def space_of(
    ruleset: Ruleset | str | Path,
    players: int | None = None,
    settings: Mapping[str, Json] | None = None,
    overlays: Iterable[str] = (),
    limits: Limits | None = None,
) -> Space:
    """Return the numbering for a ruleset, number of players (default: the usual one) and settings.

    Raises :class:`RulesetError` and :class:`ValueError` like :func:`interpreter.load` and ``new_game``.
    """
    rules = loaded(ruleset, overlays)
    number = rules.players.usual if players is None else players
    rules = rules.for_players(number)
    rules.check_players(number)
    values = rules.settings(settings or {})
    return Space(rules, number, values, rules.table(number, values), limits or Limits())


@whole(eq=False)
class Space:
    """Actions and observations of one table. Spaces of the same ruleset, players, settings and limits have the same
    numbers; compare :attr:`digest` to check."""

    ruleset: Ruleset
    players: int
    settings: dict[str, Value]
    table: Table
    limits: Limits

    def __post_init__(self) -> None:
        machine = self.table.machine
        self.shapes = Shapes(machine.constants)
        self.shapes.texts = self.table.runner.texts
        self.actions = Actions(machine.program, self.shapes, self.limits)
        self.vector = Vector(machine.program, machine.constants, self.shapes)
        self.names = self.table.names
        self.seats = len(machine.constants.seats)

    def __repr__(self) -> str:
        return f"<space of {self.ruleset.id}: {self.actions.count} actions, {self.vector.size} entries>"

    def new_game(self, seed: int) -> Game:
        """Start a game of this table, at its first decision."""
        return Game.begin(self.ruleset, self.table, seed, None)

    # --- actions

    def legal(self, decision: Decision) -> dict[int, Code]:
        """Return the legal actions of a decision, each with the code of its option."""
        return self.actions.numbered(decision.named.index, decision.codes)

    def action(self, decision: Decision, code: Code) -> int | None:
        """Return the action of an option; None if another option has taken its number (see :class:`Limits`)."""
        return next((action for action, option in self.legal(decision).items() if option == code), None)

    def action_name(self, action: int) -> str:
        """Return an action in public names: ``take card=4 price=17``.

        ``+`` after a number stands for it and all larger ones; ``#2`` for the second of several options that differ
        only in bags or lists. Raises :class:`ValueError` for an unknown action.
        """
        block = self.actions.block_of(action)
        digits, rank = block.digits_of(action)
        words = [block.alternative]
        for digit, at in zip(block.digits, digits, strict=True):
            words.append(f"{block.choices[digit.choice][0]}={self._digit(digit, at)}")
        if block.ranks > 1:
            words.append(f"#{rank + 1}")
        return " ".join(words)

    def _digit(self, digit: Digit, at: int) -> str:
        if digit.type.optional and at == 0:
            return "none"
        if digit.is_number:
            number = at - digit.type.optional
            return f"{number}+" if at == digit.size - 1 else str(number)
        value = at + digit.low
        if isinstance(digit.type, types.BoolType):
            return "true" if value else "false"
        public = self.names.public(value, digit.type.sure)
        return json_of(public) if isinstance(public, dict) else str(public)

    # --- observations

    def observe(self, game: Game, seat: int) -> list[int]:
        """Return the view of a seat, as a vector of :attr:`Vector.size` integers."""
        decision, state, constants = game.decision, game.state, game.machine.constants
        pending = self.actions.decisions.index(decision.name) if decision is not None else NONE
        vector = [seat, pending, decision.actor if decision is not None else NONE]
        vector += [NONE] * (self.vector.size - len(HEAD))
        if decision is not None and decision.actor == seat:
            env = decision.env
            game.machine.meter.refill()
            values = [value(state, env) for _, value in decision.site.context]
            for part, value in zip(self.vector.context[decision.named.index], values, strict=True):
                seen = game.table.sight.shows(state, value, part.type, seat)
                entries = self._entries_of(value, part.type) if seen else [HIDDEN] * part.width
                vector[part.first : part.first + part.width] = entries
        veiled = game.table.sight.veils(state, seat)
        for part in self.vector.cells():
            entries = []
            for cell in range(first := constants.layout.base[part.of], first + part.count):
                value, veil = state.cells[cell], veiled.get(cell)
                if part.of == "location":
                    is_hidden = value is not None and not may_see(constants.visible(state, cell - first), seat)
                    entries.append(HIDDEN if is_hidden else NONE if value is None else int(value))
                elif veil is None:
                    entries += self._entries_of(value, part.type)
                else:
                    many = [] if veil.many is None else [veil.many]
                    entries += [*many, *[HIDDEN] * part.width][: part.width]
            vector[part.first : part.first + part.size] = entries
        return vector

    def _entries_of(self, value: Value, type_: types.Type) -> list[int]:
        shapes = self.shapes
        if isinstance(type_, types.CardHolderType):
            return [len(value)]
        if isinstance(type_, types.TextType):
            return []
        if shapes.is_scalar(type_):
            return [NONE if value is None else int(value)]
        if shapes.is_listed(type_):
            low, size = positions(shapes, type_) or (0, 0)
            places = [0] * size
            for place, item in enumerate(value or () if size else (), 1):
                if item is not None and 0 <= item - low < size and not places[item - low]:
                    places[item - low] = place
            return [NONE if value is None else len(value), *places]
        if value is None:
            return [NONE] * width_of(shapes, type_)
        if isinstance(type_, types.BagType):
            return [int(number) for number in value]
        fields = zip(value, shapes.fields(type_), strict=True)
        return [entry for part, field in fields for entry in self._entries_of(part, field)]

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The entries of an observation, in order."""
        names = list(HEAD)
        for part in self.vector.parts:
            is_alone = part.form == "context" or part.count == 1
            for number in range(part.count):
                head = part.of if is_alone else f"{part.of}[{self._owner(part, number)}]"
                names += [head + suffix for suffix in self._suffixes(part.type)]
        return tuple(Entry(number, name) for number, name in enumerate(names))

    def index(self, name: str) -> int:
        """Return the number of an entry by name. Raises :class:`KeyError` for an unknown name."""
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, int]:
        return {entry.name: entry.number for entry in self.entries}

    def _owner(self, part: Part, number: int) -> str:
        group = self.ruleset.model.groups.get(part.of)
        owner = group.owner if group is not None else types.CardType() if part.of == "location" else None
        return self._thing(number, owner) if owner is not None else str(number)

    def _card(self, card: int) -> str:
        """Return the name of a card: its key, with a number if other cards share it."""
        rows = self.ruleset.model.cards
        row, public = rows[card], self.names.card(card)
        kinds = {other.kind for other in rows}
        word = f"{row.kind} {public}" if len(kinds) > 1 and row.key is not None else str(public)
        alike = self.names.alike(card)
        return f"{word}.{alike.index(card) + 1}" if len(alike) > 1 else word

    def _suffixes(self, type_: types.Type) -> list[str]:
        shapes = self.shapes
        if isinstance(type_, types.TextType):
            return []
        if isinstance(type_, types.CardHolderType):
            return [".count"]
        if shapes.is_scalar(type_):
            return [""]
        if shapes.is_listed(type_):
            low, size = positions(shapes, type_) or (0, 0)
            things = (self._thing(number, shapes.item(type_)) for number in range(low, low + size))
            return [".count", *(f".at({thing})" for thing in things)]
        if isinstance(type_, types.BagType):
            return [f".{member}" for member in self.ruleset.model.members(type_.name)]
        fields: Iterable[str] = ("kinds", "capacity")
        if isinstance(type_, types.RecordType):
            fields = self.ruleset.model.records[type_.name]
        named = zip(fields, shapes.fields(type_), strict=True)
        return [f".{name}{suffix}" for name, field in named for suffix in self._suffixes(field)]

    def _thing(self, number: int, type_: types.Type) -> str:
        if isinstance(type_, types.CardType):
            return self._card(number)
        public = self.names.public(number, type_.sure)
        return " ".join(map(str, public.values())) if isinstance(public, dict) else str(public)

    # --- tables

    def blocks(self) -> list[dict[str, Value]]:
        """Return the table of actions as plain data: an item per alternative of each decision."""
        return [
            {
                "first": block.first,
                "actions": block.size,
                "decision": block.decision,
                "do": block.alternative,
                "choices": [
                    {"name": block.choices[digit.choice][0], "type": str(digit.type), "values": digit.size}
                    for digit in block.digits
                ],
                "ranks": block.ranks,
            }
            for block in self.actions.blocks
        ]

    def as_dict(self) -> dict[str, Value]:
        """Return the tables of actions and observations as plain data, with their ruleset and settings."""
        return {
            "ruleset": self.ruleset.id,
            "ruleset_digest": self.ruleset.digest,
            "players": self.players,
            "settings": {
                name: list(value) if isinstance(value, tuple) else value for name, value in self.settings.items()
            },
            "limits": asdict(self.limits),
            "actions": self.actions.count,
            "blocks": self.blocks(),
            "decisions": list(self.actions.decisions),
            "observation": [entry.name for entry in self.entries],
        }

    def save(self, path: str | Path) -> None:
        """Write both tables to a JSON file."""
        Path(path).write_text(json_of(self.as_dict(), 1) + "\n", encoding="utf-8")

    @cached_property
    def digest(self) -> str:
        """Hash of both tables. A trained model fits any space with the same digest."""
        from hashlib import blake2b

        data = {**self.as_dict(), "ruleset_digest": ""}
        return blake2b(json.dumps(data, sort_keys=True).encode(), digest_size=8).hexdigest()

    def __str__(self) -> str:
        lines = [f"{self.ruleset.id}, {self.players} players: {self.actions.count} actions"]
        for block in self.blocks():
            last = block["first"] + block["actions"] - 1
            span = str(last) if block["actions"] == 1 else f"{block['first']}-{last}"
            choices = " ".join(f"{choice['name']}:{choice['values']}" for choice in block["choices"])
            ranks = f" ranks:{block['ranks']}" if block["ranks"] > 1 else ""
            lines.append(f"{span:>13}  {block['decision']}: {block['do']} {choices}{ranks}".rstrip())
        return "\n".join(lines)
