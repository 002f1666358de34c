"""Differences between two rulesets: typed, by path, and by the phase in which they first matter.

In go two rulesets; out come differences, each with what either side has there. Only what can ever apply is compared
(:mod:`interpreter.compare.partial_evaluation`), and that by what it does (:mod:`interpreter.compare.comparable`). What
is told of a game and how bots choose (:mod:`interpreter.compare.presentation`) is no rule, and stands in a chapter of
its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

from interpreter.compare.comparable import CHAPTERS, Compared, Side, Text, View
from interpreter.compare.graph_changes import GraphChanges, graph_changes
from interpreter.compare.partial_evaluation import settings_read
from interpreter.compare.play_order import Topic
from interpreter.compare.presentation import Facts, Told, own_policies, policy_files, policy_of, told
from interpreter.engine.ruleset import Ruleset
from interpreter.engine.setup import default_settings
from interpreter.explain.cross_reference import type_in_words, type_text
from interpreter.kernel.state import Value
from interpreter.language.model import CardRow, Group, Role, Table
from interpreter.language.types import CardHolderType, IntType, TokenHolderType

__all__ = ["Comparison", "Difference", "differences"]

_BEFORE = ("players", "box", "board", "start", "settings", "round")
_ASIDE = (*_BEFORE, "told")


@dataclass(frozen=True, slots=True)
class Difference:
    """A path at which two rulesets differ. A side that is none has nothing there.

    ``constants`` are pairs of what stands in the place of each other, where two texts are the same but for them;
    ``cell`` are the keys of a cell, numbers with what they are numbers of.
    """

    path: str
    kind: str
    name: str
    chapter: str
    a: Side | None
    b: Side | None
    constants: tuple[tuple[str, str], ...] = ()
    cell: str = ""

    @property
    def within(self) -> str:
        """The path inside of its section; with the kind of thing, where a chapter has things of many kinds."""
        if self.kind == "overlay":
            return self.name
        if self.cell:
            return f"{self.name.replace('_', ' ')}: {self.cell}"
        section, _, rest = self.path.partition(".")
        name = (rest or section).removeprefix("has.").replace("_", " ")
        return f"{self.kind}: {name}" if self.chapter == "told" or self.kind == "optional rules" else name

    @property
    def row(self) -> dict[str, str | None]:
        """As data: the path and both values."""
        return {"path": self.path, "a": self.a.value if self.a else None, "b": self.b.value if self.b else None}


@dataclass(frozen=True)
class Comparison:
    """Two rulesets with all that differs between them, by chapters in the order of play."""

    a: Ruleset = field(repr=False)
    b: Ruleset = field(repr=False)
    chapters: dict[str, str]
    differences: tuple[Difference, ...]
    graph: GraphChanges | None = None

    def of(self, chapter: str) -> list[Difference]:
        return [each for each in self.differences if each.chapter == chapter]

    @property
    def in_play(self) -> list[Difference]:
        """The differences that belong to the set-up, to a phase or to the result: those of rules as they are played."""
        return [each for each in self.differences if each.chapter not in _ASIDE]


def differences(
    a: Compared, b: Compared, settings: Mapping[str, Value] | None = None, players: int | None = None
) -> Comparison:
    """Compares two rulesets as they are played with these settings. Where it is known how many ``players`` there are,
    cells of tables for other numbers are left out."""
    return _Pair(a, b, settings or {}, players).comparison()


_Found = Iterator[Difference]


class _Pair:
    """Two sides under the same settings; each method but the first few finds the differences of one kind of thing."""

    def __init__(self, a: Compared, b: Compared, settings: Mapping[str, Value], players: int | None) -> None:
        self.players = players
        self.a, self.b = a.whole, b.whole
        self._sides = a, b
        self._open = open_ = frozenset(self._that_differ())
        self.a = a.view(self._known(a.ruleset, b.ruleset, settings), open_)
        self.b = b.view(self._known(b.ruleset, a.ruleset, settings), open_)

    def _that_differ(self) -> Iterator[str]:
        """Rules and values that both have, and that are not the same: they are told themselves, not what follows."""
        for name in _shared(self.a.model.rules, self.b.model.rules):
            if self.a.texts(Topic("rules", name)) != self.b.texts(Topic("rules", name)):
                yield name
        for name in _shared(self.a.model.groups, self.b.model.groups):
            if self._group(self.a, name) != self._group(self.b, name):
                yield name

    def _known(self, own: Ruleset, other: Ruleset, settings: Mapping[str, Value]) -> dict[str, Value]:
        """Return the effective settings: the given ones, and those that the other ruleset lacks in this form."""
        defaults, found = default_settings(own.model), {}
        for name, value in defaults.items():
            mine, its = own.model.interpretations.get(name), other.model.interpretations.get(name)
            if name in settings:
                found[name] = settings[name]
            elif mine is not None:
                if its is None or list(mine.readings) != list(its.readings):
                    found[name] = value
            elif value is None and name not in other.model.settings:
                found[name] = value
        return found

    def comparison(self) -> Comparison:
        graph = graph_changes(self.a.ruleset, self.b.ruleset)
        rows = graph.rows if graph else ()
        board = [Difference(row.path, "board", row.name, "board", _side(row.a), _side(row.b)) for row in rows]
        found = [
            *self._who_plays(),
            *self._kinds(),
            *self._cards(),
            *self._components(),
            *board,
            *self._places(),
            *self._groups(),
            *self._roles(),
            *self._settings(),
            *self._course(),
            *self._tables(),
            *self._texts(),
            *self._result(),
            *self._told(),
        ]
        order = self._chapters()
        place = {chapter: number for number, chapter in enumerate(order)}
        found.sort(key=lambda each: place[each.chapter])
        return Comparison(self.a.ruleset, self.b.ruleset, order, tuple(found), graph if found else None)

    def _chapters(self) -> dict[str, str]:
        """All chapters in the order of play, with their titles: phases of one side only stand where they are due."""
        phases = list(self.a.phases)
        common = set(self.a.model.phases) & set(self.b.model.phases)
        for number, name in enumerate(self.b.phases):
            if name not in phases:
                before = [phases.index(other) for other in self.b.phases[:number] if other in phases]
                due = before[-1] + 1 if before else 0
                if name == self.b.model.setup:
                    due = 1 if self.a.model.setup else 0
                elif not common:
                    due = len(phases)
                phases.insert(due, name)
        setups = {self.a.model.setup, self.b.model.setup}
        titles = {name: "Before the first round" if name in setups else _titled(name) for name in phases}
        first = {name: CHAPTERS[name] for name in _BEFORE}
        return first | titles | {name: title for name, title in CHAPTERS.items() if name not in _BEFORE}

    # --- declarations

    def _who_plays(self) -> _Found:
        a, b = self.a.ruleset.players, self.b.ruleset.players
        one, other = (f"{each.low} to {each.high}" for each in (a, b))
        yield from _one("players", "players", "number of players", one, other, "players")
        if self.players is not None:  # what so many take in is in the rulesets already
            return
        mine, its = ({str(number): overlay for number, overlay in each.overlays} for each in (a, b))
        for number in _either(mine, its):
            path, name = f"players.with.{number}", f"an overlay that {number} players take in"
            yield from _one(path, "overlay", name, mine.get(number), its.get(number), "players")

    def _kinds(self) -> _Found:
        def kinds(view: View) -> dict[str, str]:
            return {
                kind.name: f"{kind.range[0]} to {kind.range[1]}" if kind.range else ", ".join(sorted(kind.members))
                for kind in view.model.kinds.values()
                if kind.totals is None and kind.name not in view.model.interpretations
            }

        def tokens(view: View) -> dict[str, str]:
            return {
                name if kind.unit else f"{name}.{member}": str(total)
                for name, kind in view.model.kinds.items()
                if kind.totals is not None
                for member, total in zip(kind.members, kind.totals, strict=True)
            }

        def records(view: View) -> dict[str, str]:
            return {
                name: ", ".join(f"{key}: {type_text(view.ruleset, of)}" for key, of in fields.items())
                for name, fields in view.model.records.items()
            }

        yield from _each("tokens", "number of tokens", "box", tokens(self.a), tokens(self.b))
        yield from _each("kinds", "kind", "box", kinds(self.a), kinds(self.b))
        yield from _each("records", "record", "box", records(self.a), records(self.b))

    def _cards(self) -> _Found:
        def cards(view: View) -> dict[str, CardRow]:
            return {f"{row.kind}[{row.key}]": row for row in view.model.cards if row.key is not None}

        def alike(view: View) -> dict[str, str]:
            kinds = [row.kind for row in view.model.cards if row.key is None]
            copies = {f"{row.kind}[{row.key}]": str(row.copies) for row in view.model.cards if row.copies > 1}
            return {**{kind: str(kinds.count(kind)) for kind in kinds}, **copies}

        mine, its = cards(self.a), cards(self.b)
        for name in _either(mine, its):
            a, b = self._card(self.a, mine.get(name)), self._card(self.b, its.get(name))
            if a and b:
                yield from _each(f"cards.{name}", "card", "box", a, b)
            else:
                one, other = (", ".join(f"{key} {value}" for key, value in each.items()) or None for each in (a, b))
                yield from _one(f"cards.{name}", "card", name, one, other, "box")
        yield from _each("cards", "number of cards", "box", alike(self.a), alike(self.b))

    def _card(self, view: View, row: CardRow | None) -> dict[str, str]:
        if row is None:
            return {}
        attributes = view.model.card_kinds[row.kind].attributes
        return {name: view.shown(row.values.get(name), attributes[name]) for name in attributes}

    def _components(self) -> _Found:
        def parts(view: View) -> dict[str, str]:
            found = view.model.components.values()
            return {each.name: f"{each.count}: {each.about}" if each.count else each.about for each in found}

        yield from _each("components", "component", "box", parts(self.a), parts(self.b))

    def _places(self) -> _Found:
        def places(view: View) -> dict[str, str]:
            graph = view.model.graph
            return {
                f"{name}[{number}].{key}": view.shown(value, graph.place[key])
                for name, rows in (graph.sets if graph else {}).items()
                for number, row in enumerate(rows, 1)
                for key, value in row.items()
                if graph is not None
            }

        yield from _each("graph.places", "place", "board", places(self.a), places(self.b))

    def _group(self, view: View, name: str) -> Facts:
        """Compare the declarations of a holder or value."""
        group = view.model.groups[name]
        plain = {
            "holds": type_in_words(view.ruleset, group.type),
            "order": group.order if isinstance(group.type, CardHolderType) else "",
            "seen by": group.seen,
            "lasts": group.lasts,
            "spaces": group.spaces or "",
            "unlimited": "yes" if group.unlimited else "",
        }
        found: Facts = {key: (value, value) for key, value in plain.items() if value}
        for key, tree in (("start", group.start), ("by", group.rank), ("top shows", group.top_shows)):
            if tree is not None:
                found[key] = (view.text(tree), view.written(tree))
        if group.start is None and group.starts != "empty":
            found["start"] = (group.starts, group.starts)
        return found

    def _groups(self) -> _Found:
        mine, its = (
            {name: group for name, group in view.model.groups.items() if group.file} for view in (self.a, self.b)
        )
        for name in _either(mine, its):
            path = _path_of(mine.get(name) or its[name])
            a = self._group(self.a, name) if name in mine else {}
            b = self._group(self.b, name) if name in its else {}
            yield from _facts(
                path, "holder", name, "start", (_holder(a), a) if a else None, (_holder(b), b) if b else None
            )

    def _roles(self) -> _Found:
        def roles(view: View) -> dict[str, str]:
            return {
                role.name: f"{'counts' if role.counts else 'does not count'}, {_many(role)}"
                for role in view.model.roles.values()
            }

        yield from _each("seats.roles", "role", "players", roles(self.a), roles(self.b))

    def _settings(self) -> _Found:
        def settings(view: View) -> dict[str, str]:
            found = view.ruleset.model.settings.values()
            return {each.name: f"{type_text(view.ruleset, each.type)}: {each.about}" for each in found}

        def doubts(of: Compared) -> dict[str, str]:
            found = of.ruleset.model.interpretations.values()
            return {each.name: f"{each.default} ({' | '.join(each.readings)})" for each in found}

        yield from _each("settings", "setting", "settings", settings(self.a), settings(self.b))
        a, b = self._sides
        mine, its = doubts(a), doubts(b)
        if mine != its:  # of a doubt that nothing asks for it does not matter how it is read
            mine, its = (
                {name: value for name, value in each.items() if name in settings_read(of.view({}, self._open).model)}
                for of, each in ((a, mine), (b, its))
            )
        yield from _each("interpretations", "reading of a doubt", "settings", mine, its)
        yield from self._optional()

    def _optional(self) -> _Found:
        """Overlays that one side can have and the other cannot; what a side holds already is told itself."""
        a, b = self._sides
        mine, its = (
            {id: title for id, title in one.optional.items() if id not in other.taken}
            for one, other in ((a, b), (b, a))
        )
        yield from _each("overlays", "optional rules", "settings", mine, its)

    def _course(self) -> _Found:
        a, b = self.a.model, self.b.model
        phases = (", ".join(_phases(view)) for view in (self.a, self.b))
        yield from _one("round", "phases of a round", "round", next(phases), next(phases), "round")
        yield from _one("setup", "set-up", "setup", a.setup or None, b.setup or None, "round")

    def _result(self) -> _Found:
        one, other = ([view.text(key) for key in view.model.ranking] for view in (self.a, self.b))
        if one != other:
            a, b = (Side(", ".join(map(view.written, view.model.ranking))) for view in (self.a, self.b))
            yield Difference("result.rank", "result", "result", "result", a, b)

    # --- what is no rule

    def _told(self) -> _Found:
        mine, its = (self._telling(view) for view in (self.a, self.b))
        for path in _either(mine, its):
            a, b = mine.get(path), its.get(path)
            thing = a or its[path]
            one, other = ((each.whole, each.facts) if each is not None else None for each in (a, b))
            yield from _facts(path, thing.kind, thing.name, "told", one, other)

    def _telling(self, view: View) -> dict[str, Told]:
        """Return the spoken and shown texts of a side by path, without policies that both sides share."""
        of, other = (policy_files(each.ruleset) for each in (view, self.b if view is self.a else self.a))
        files = (policy_of(view.ruleset, id) for id, path in of.items() if other.get(id) != path)
        found = told(view.model, view.text, partial(type_text, view.ruleset))
        every = chain(found, own_policies(view.ruleset), (each for each in files if each is not None))
        return {each.path: each for each in every}

    # --- tables

    def _tables(self) -> _Found:
        mine, its = self.a.model.tables, self.b.model.tables
        for name in _either(mine, its):
            chapter = self.a.tables.get(name) or self.b.tables.get(name) or "others"
            a = self._cells(self.a, mine[name]) if name in mine else None
            b = self._cells(self.b, its[name]) if name in its else None
            path = f"tables.{name}"
            if a is not None and b is not None and self._keys(self.a, mine[name]) == self._keys(self.b, its[name]):
                keys = self._key_words(self.a, mine[name]) | self._key_words(self.b, its[name])
                for cell in _either(a, b):
                    if a.get(cell) != b.get(cell):
                        sides = _side(a.get(cell)), _side(b.get(cell))
                        yield Difference(f"{path}[{cell}]", "cell", name, chapter, *sides, cell=keys[cell])
            else:
                x = self._whole(mine[name], a) if a is not None else None
                y = self._whole(its[name], b) if b is not None else None
                yield from _one(path, "table", name, x, y, chapter)

    def _whole(self, table: Table, cells: Mapping[str, str]) -> str:
        keys = ", ".join(key.replace("_", " ") for key in table.keys)
        return f"by {keys} – " + "; ".join(f"{keys}: {value}" for keys, value in cells.items())

    def _keys(self, view: View, table: Table) -> tuple[str, ...]:
        return (*table.keys, type_text(view.ruleset, table.gives))

    def _cells(self, view: View, table: Table) -> dict[str, str]:
        """The cells by their keys as rules write them: those for so many players, where it is known how many play."""
        of = [place for place, key in enumerate(table.keys) if key == "players"]
        return {
            ", ".join(self._key(view, table, keys)): view.shown(value, table.gives)
            for keys, value in table.cells.items()
            if self.players is None or all(keys[place] == self.players for place in of)
        }

    def _key(self, view: View, table: Table, keys: tuple[int, ...]) -> list[str]:
        return [str(view.shown(key, type_)) for key, type_ in zip(keys, table.key_types, strict=True)]

    def _key_words(self, view: View, table: Table) -> dict[str, str]:
        """The keys of every cell in words: a number says what it is the number of."""
        of = [
            f"{name.replace('_', ' ')} " if isinstance(type_, IntType) else ""
            for name, type_ in zip(table.keys, table.key_types, strict=True)
        ]
        found = (self._key(view, table, keys) for keys in table.cells)
        return {", ".join(keys): ", ".join(map("".join, zip(of, keys, strict=True))) for keys in found}

    # --- rules, triggers, standing rules

    def _texts(self) -> _Found:
        topics = dict.fromkeys([*self.a.chapters, *self.b.chapters])
        for topic in topics:
            chapter = self.a.chapters.get(topic) or self.b.chapters[topic]
            a, b = (view.texts(topic) if topic in view.chapters else [] for view in (self.a, self.b))
            if a == b:
                continue
            mine, its = _apart(a, b)
            one = self.a.side(topic, mine) if a else None
            other = self.b.side(topic, its) if b else None
            constants = _constants([a[place] for place in mine], [b[place] for place in its])
            path, kind = f"{topic.section}.{topic.name}", _KINDS[topic.section]
            yield Difference(path, kind, topic.name, chapter, one, other, constants)


_KINDS = {"rules": "rule", "triggers": "trigger", "standing": "standing rule"}


def _apart(a: list[Text], b: list[Text]) -> tuple[list[int], list[int]]:
    """The layers that only one side has. Where a side has no other, what the other side's layers lie on or replace."""
    left = [place for place, text in enumerate(a) if text not in b]
    right = [place for place, text in enumerate(b) if text not in a]
    if not left and not right:  # the same in another order
        return list(range(len(a))), list(range(len(b)))
    return left or _last(a), right or _last(b)


def _last(texts: list[Text]) -> list[int]:
    return [len(texts) - 1] if texts else []


def _constants(a: list[Text], b: list[Text]) -> tuple[tuple[str, str], ...]:
    """Pair the constants of two texts that differ in nothing else."""
    if not a or [text.shape for text in a] != [text.shape for text in b]:
        return ()
    one, other = (chain.from_iterable(text.constants for text in texts) for texts in (a, b))
    return tuple(dict.fromkeys(pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]))


def _path_of(group: Group) -> str:
    if group.owner == "seat":
        return f"seats.has.{group.name}"
    match group.type:
        case CardHolderType():
            section = "zones"
        case TokenHolderType():
            section = f"{group.type.word}s"
        case _:
            section = "state"
    return f"{section}.{group.name}"


# --- small things


_USUAL = {"order": "kept", "seen by": "everyone", "lasts": "game", "start": "-"}
_FACTS = {"lasts": "for a {}", "start": "at first {}"}


def _holder(facts: Facts) -> str:
    """A holder or value in words, without what is so where nothing is said."""
    told = [_FACTS.get(key, f"{key} {{}}").format(value) for key, (_, value) in facts.items() if _is_told(key, value)]
    return ", ".join([facts["holds"][1], *told])


def _is_told(key: str, value: str) -> bool:
    return key != "holds" and _USUAL.get(key) != value


def _many(role: Role) -> str:
    """Return the number of seats of a role."""
    if role.setting is not None:
        return f"as many seats as `{role.setting}` has items"
    return f"{role.seats} seats" if role.seats else "the people"


def _side(value: str | None) -> Side | None:
    return None if value is None else Side(value)


def _titled(name: str) -> str:
    text = name.replace("_", " ")
    return text[:1].upper() + text[1:]


def _either(a: Iterable[str], b: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*a, *b]))


def _shared(a: Mapping[str, object], b: Mapping[str, object]) -> list[str]:
    return [name for name in a if name in b]


def _one(path: str, kind: str, name: str, a: str | None, b: str | None, chapter: str) -> _Found:
    if a != b:
        yield Difference(path, kind, name, chapter, _side(a), _side(b))


def _facts(
    path: str, kind: str, name: str, chapter: str, a: tuple[str, Facts] | None, b: tuple[str, Facts] | None
) -> _Found:
    """A difference for each fact that is not the same of a thing that both have; else the thing in words."""
    if a is None or b is None:
        yield from _one(path, kind, name, a and a[0], b and b[0], chapter)
        return
    for key in _either(a[1], b[1]):
        (what, x), (that, y) = a[1].get(key, ("", None)), b[1].get(key, ("", None))
        if what != that:
            yield Difference(
                ".".join(filter(None, (path, key.replace(" ", "_")))), kind, name, chapter, _side(x), _side(y)
            )


def _each(path: str, kind: str, chapter: str, a: Mapping[str, str], b: Mapping[str, str]) -> _Found:
    """A difference for each name that is not the same on both sides."""
    for name in _either(a, b):
        yield from _one(f"{path}.{name}", kind, name, a.get(name), b.get(name), chapter)


def _phases(view: View) -> Iterator[str]:
    """The phases of a round, each with its condition where it has one."""
    for name, guard in zip(view.model.phases, view.model.phase_guards, strict=True):
        yield name if guard is None else f"{name} when {view.written(guard.value)}"
