"""Differences between two rulesets: typed, by path, and by the phase in which they first matter.

Takes two rulesets; returns differences with the value of each side. Only parts that can ever apply are compared
(:mod:`interpreter.compare.partial_evaluation`), by their behaviour (:mod:`interpreter.compare.comparable`). Texts,
displays and bots (:mod:`interpreter.compare.presentation`) are not rules and have their own chapter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import chain

from msgspec import Struct

from interpreter.base.plain_data import grouped
from interpreter.base.plurals import titled
from interpreter.compare.comparable import CHAPTERS, Compared, Side, Text, View
from interpreter.compare.graph_changes import GraphChanges, graph_changes
from interpreter.compare.partial_evaluation import settings_read
from interpreter.compare.play_order import Topic
from interpreter.compare.presentation import Facts, Thing, plain_facts, policy_files, policy_of, presented
from interpreter.engine.game import Ruleset
from interpreter.engine.setup import default_settings
from interpreter.explain.cross_reference import type_in_words
from interpreter.kernel.state import Value
from interpreter.language.model import Group, Model, Role, Setting, Table
from interpreter.language.resolve import Names
from interpreter.language.types import CardHolderType, IntType
from interpreter.sections.documents import NOUNS

__all__ = ["Comparison", "Difference", "differences"]

_BEFORE = ("players", "box", "board", "start", "settings", "round")
_ASIDE = (*_BEFORE, "told")


class Difference(Struct, frozen=True):
    """A path at which two rulesets differ. A side that lacks the path is None.

    ``constants`` are the pairs of differing constants if the texts are otherwise equal. ``cell`` are the keys of a
    table cell in words.
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
    def section(self) -> str:
        """Return the first part of the path."""
        return self.path.partition(".")[0]

    @property
    def within(self) -> str:
        """Return the path within its section; with its kind if the chapter mixes kinds."""
        if self.kind == "overlay":
            return self.name
        if self.cell:
            return f"{self.name.replace('_', ' ')}: {self.cell}"
        section, _, rest = self.path.partition(".")
        name = (rest or section).removeprefix("has.").replace("_", " ")
        return f"{self.kind}: {name}" if self.chapter == "told" or self.kind == "optional rules" else name

    @property
    def has_text(self) -> bool:
        """Return whether a side has layers of rule text, too long for a line."""
        return any(side is not None and side.parts for side in (self.a, self.b))

    def as_data(self) -> dict[str, str | None]:
        values = {"a": self.a.value if self.a else None, "b": self.b.value if self.b else None}
        return {"chapter": self.chapter, "kind": self.kind, "path": self.path, **values}


class Comparison(Struct, frozen=True):
    """Two rulesets and their differences, by chapters in the order of play."""

    a: Ruleset
    b: Ruleset
    chapters: dict[str, str]
    differences: tuple[Difference, ...]
    graph: GraphChanges | None = None

    @property
    def by_chapter(self) -> dict[str, list[Difference]]:
        """Return the differences of each chapter that has any."""
        return grouped((difference.chapter, difference) for difference in self.differences)

    @property
    def families(self) -> tuple[str, str] | None:
        """Return the families of both rulesets if they differ."""
        a, b = self.a.composition.family, self.b.composition.family
        return (a, b) if a != b else None

    @property
    def in_play(self) -> list[Difference]:
        """Return the differences of the set-up, phases and result: those of rules in play."""
        return [difference for difference in self.differences if difference.chapter not in _ASIDE]


def differences(
    a: Compared, b: Compared, settings: Mapping[str, Value] | None = None, players: int | None = None
) -> Comparison:
    """Compare two rulesets under these settings. With ``players``, table cells for other numbers of players are left
    out."""
    return _Pair(a, b, settings or {}, players).comparison()


_Differences = Iterator[Difference]
_Cells = dict[str, tuple[str, str]]
"""Cells of a table by their keys in rule notation: the value, and the keys in words, each number after its key."""


class _Pair:
    """Two sides under the same settings. Most methods yield the differences of one kind."""

    def __init__(self, a: Compared, b: Compared, settings: Mapping[str, Value], players: int | None) -> None:
        self.players = players
        self.a, self.b = a.whole, b.whole
        self._sides = a, b
        self._open = open_ = frozenset(self._differing())
        self.a = a.view(self._known(a.ruleset, b.ruleset, settings), open_)
        self.b = b.view(self._known(b.ruleset, a.ruleset, settings), open_)

    def _differing(self) -> Iterator[str]:
        """Yield rules and values that both sides have and that differ. They are reported themselves, so they are not
        folded into the rules that use them."""
        a, b = self.a, self.b
        for name in a.model.rules:
            if name in b.model.rules and a.texts(Topic("rules", name)) != b.texts(Topic("rules", name)):
                yield name
        left, right = a.once(_holders), b.once(_holders)
        for name in a.model.groups:
            if name in b.model.groups and left[name].facts != right[name].facts:
                yield name

    def _known(self, own: Ruleset, other: Ruleset, settings: Mapping[str, Value]) -> dict[str, Value]:
        """Return the known settings: the given ones, and the defaults of those that the other ruleset lacks in this
        form."""
        defaults, known = default_settings(own.model), {}
        for name, value in defaults.items():
            own_point, other_point = own.model.interpretations.get(name), other.model.interpretations.get(name)
            if name in settings:
                known[name] = settings[name]
            elif own_point is not None:
                if other_point is None or list(own_point.readings) != list(other_point.readings):
                    known[name] = value
            elif value is None and name not in other.model.settings:
                known[name] = value
        return known

    def comparison(self) -> Comparison:
        graph = graph_changes(*self._sides)
        rows = graph.rows if graph else ()
        board = [Difference(path, "board", name, "board", _side(x), _side(y)) for path, name, x, y in rows]
        differences = [
            *self._who_plays(),
            *self._each("tokens", "number of tokens", "box", _tokens),
            *self._each("kinds", "kind", "box", _kinds),
            *self._each("records", "record", "box", _records),
            *self._cards(),
            *self._each("cards", "number of cards", "box", _copies),
            *self._each("components", "component", "box", _components),
            *board,
            *self._each("graph.places", "place", "board", _places),
            *self._groups(),
            *self._each("seats.roles", "role", "players", _roles),
            *self._each("settings", "setting", "settings", _settings),
            *self._interpretations(),
            *self._optional(),
            *self._course(),
            *self._tables(),
            *self._texts(),
            *self._result(),
            *_things("told", self._presented_of(self.a), self._presented_of(self.b)),
        ]
        order = self._chapters()
        place = {chapter: number for number, chapter in enumerate(order)}
        differences.sort(key=lambda difference: place[difference.chapter])
        return Comparison(self.a.ruleset, self.b.ruleset, order, tuple(differences), graph if differences else None)

    def _chapters(self) -> dict[str, str]:
        """Return all chapters in the order of play, with titles. Phases of one side only stand where they are
        played."""
        phases = list(self.a.phases)
        common = set(self.a.model.phases) & set(self.b.model.phases)
        for number, name in enumerate(self.b.phases):
            if name not in phases:
                before = [phases.index(earlier) for earlier in self.b.phases[:number] if earlier in phases]
                due = before[-1] + 1 if before else 0
                if name == self.b.model.setup:
                    due = 1 if self.a.model.setup else 0
                elif not common:
                    due = len(phases)
                phases.insert(due, name)
        setups = {self.a.model.setup, self.b.model.setup}
        titles = {name: "Before the first round" if name in setups else titled(name) for name in phases}
        first = {name: CHAPTERS[name] for name in _BEFORE}
        return first | titles | {name: title for name, title in CHAPTERS.items() if name not in _BEFORE}

    # --- declarations

    def _who_plays(self) -> _Differences:
        a, b = self.a.ruleset.players, self.b.ruleset.players
        left, right = (f"{players.low} to {players.high}" for players in (a, b))
        yield from _one("players", "players", "number of players", left, right, "players")
        if self.players is not None:  # the rulesets have the overlays of this number already
            return
        overlays_a, overlays_b = ({str(number): overlay for number, overlay in players.overlays} for players in (a, b))
        for number in {**overlays_a, **overlays_b}:
            path, name = f"players.with.{number}", f"overlay for {number} players"
            yield from _one(path, "overlay", name, overlays_a.get(number), overlays_b.get(number), "players")

    def _each(self, path: str, kind: str, chapter: str, facts: Callable[[View], Mapping[str, str]]) -> _Differences:
        return _each(path, kind, chapter, self.a.whole.once(facts), self.b.whole.once(facts))

    def _cards(self) -> _Differences:
        cards_a, cards_b = self.a.whole.once(_cards), self.b.whole.once(_cards)
        for name in {**cards_a, **cards_b}:
            a, b = cards_a.get(name, {}), cards_b.get(name, {})
            if a and b:
                yield from _each(f"cards.{name}", "card", "box", a, b)
            else:
                left, right = (", ".join(f"{key} {value}" for key, value in card.items()) or None for card in (a, b))
                yield from _one(f"cards.{name}", "card", name, left, right, "box")

    def _groups(self) -> _Differences:
        left, right = (
            {name: view.whole.once(_holders)[name] for name, group in view.model.groups.items() if group.file}
            for view in (self.a, self.b)
        )
        return _things("start", left, right)

    def _interpretations(self) -> _Differences:
        points = [
            {
                point.name: f"{point.default} ({' | '.join(point.readings)})"
                for point in of.ruleset.model.interpretations.values()
            }
            for of in self._sides
        ]
        if points[0] != points[1]:  # interpretations that no rule reads do not matter
            read = [of.view({}, self._open).once(_read) for of in self._sides]
            points = [
                {name: value for name, value in known.items() if name in names}
                for known, names in zip(points, read, strict=True)
            ]
        yield from _each("interpretations", "interpretation", "settings", *points)

    def _optional(self) -> _Differences:
        """Yield overlays that only one side can have. Those that a side already has are compared rule by rule."""
        a, b = self._sides
        left, right = (
            {id: title for id, title in own.optional.items() if id not in opposite.taken}
            for own, opposite in ((a, b), (b, a))
        )
        yield from _each("overlays", "optional rules", "settings", left, right)

    def _course(self) -> _Differences:
        a, b = self.a.model, self.b.model
        left, right = (", ".join(_phases(view)) for view in (self.a, self.b))
        yield from _one("round", "phases of a round", "round", left, right, "round")
        yield from _one("setup", "set-up", "setup", a.setup or None, b.setup or None, "round")
        yield from _one(
            "check", "checks", "check", ", ".join(a.checks) or None, ", ".join(b.checks) or None, "settings"
        )

    def _result(self) -> _Differences:
        left, right = ([view.text(key) for key in view.model.ranking] for view in (self.a, self.b))
        if left != right:
            a, b = (Side(", ".join(map(view.written, view.model.ranking))) for view in (self.a, self.b))
            yield Difference("result.rank", "result", "result", "result", a, b)

    # --- texts, displays and bots

    def _presented_of(self, view: View) -> dict[str, Thing]:
        """Return the spoken and shown texts of a side by path, without policies that both sides share."""
        own, others = (side.once(policy_files) for side in (self._sides if view is self.a else self._sides[::-1]))
        files = (policy_of(view.ruleset, id) for id, path in own.items() if others.get(id) != path)
        return view.once(presented) | {policy.path: policy for policy in files if policy is not None}

    # --- tables

    def _tables(self) -> _Differences:
        left, right = self.a.model.tables, self.b.model.tables
        for name in {**left, **right}:
            chapter = self.a.tables.get(name) or self.b.tables.get(name) or "others"
            a = self.a.whole.once(_cells, name, self.players) if name in left else None
            b = self.b.whole.once(_cells, name, self.players) if name in right else None
            path = f"tables.{name}"
            if a is not None and b is not None and self._keys(self.a, left[name]) == self._keys(self.b, right[name]):
                for cell in {**a, **b}:
                    (x, words), (y, _) = a.get(cell) or (None, b[cell][1]), b.get(cell) or (None, "")
                    yield from _one(f"{path}[{cell}]", "cell", name, x, y, chapter, words)
            else:
                x = self._whole(left[name], a) if a is not None else None
                y = self._whole(right[name], b) if b is not None else None
                yield from _one(path, "table", name, x, y, chapter)

    def _whole(self, table: Table, cells: _Cells) -> str:
        keys = ", ".join(key.replace("_", " ") for key in table.keys)
        return f"by {keys} – " + "; ".join(f"{keys}: {value}" for keys, (value, _) in cells.items())

    def _keys(self, view: View, table: Table) -> tuple[str, ...]:
        return (*table.keys, view.ruleset.model.word(table.gives))

    # --- rules, triggers, standing rules

    def _texts(self) -> _Differences:
        topics = dict.fromkeys([*self.a.chapters, *self.b.chapters])
        for topic in topics:
            chapter = self.a.chapters.get(topic) or self.b.chapters[topic]
            a, b = (view.texts(topic) if topic in view.chapters else [] for view in (self.a, self.b))
            if a == b:
                continue
            layers_a, layers_b = _apart(a, b)
            left = self.a.side(topic, layers_a) if a else None
            right = self.b.side(topic, layers_b) if b else None
            constants = _constants([a[place] for place in layers_a], [b[place] for place in layers_b])
            path, kind = f"{topic.section}.{topic.name}", NOUNS[topic.section]
            yield Difference(path, kind, topic.name, chapter, left, right, constants)


# --- facts of one side by name


def _cells(view: View, of: str, players: int | None) -> _Cells:
    """Return the cells of a table, without those for other numbers of players if it is known."""
    table = view.model.tables[of]
    by_players = [place for place, name in enumerate(table.keys) if name == "players"]
    named = zip(table.keys, table.key_types, strict=True)
    words_of = [f"{name.replace('_', ' ')} " if isinstance(type_, IntType) else "" for name, type_ in named]
    cells: _Cells = {}
    for keys, value in table.cells.items():
        if players is None or all(keys[place] == players for place in by_players):
            shown = [str(view.shown(key, type_)) for key, type_ in zip(keys, table.key_types, strict=True)]
            words = ", ".join(map("".join, zip(words_of, shown, strict=True)))
            cells[", ".join(shown)] = view.shown(value, table.gives), words
    return cells


def _tokens(view: View) -> dict[str, str]:
    return {
        name if kind.unit else f"{name}.{member}": "open" if total is None else str(total)
        for name, kind in view.model.kinds.items()
        if kind.totals is not None
        for member, total in zip(kind.members, kind.totals, strict=True)
    }


def _kinds(view: View) -> dict[str, str]:
    return {
        kind.name: f"{kind.range[0]} to {kind.range[1]}" if kind.range else ", ".join(sorted(kind.members))
        for kind in view.model.kinds.values()
        if kind.totals is None and kind.name not in view.model.interpretations
    }


def _records(view: View) -> dict[str, str]:
    return {
        name: ", ".join(f"{key}: {view.ruleset.model.word(of)}" for key, of in fields.items())
        for name, fields in view.model.records.items()
    }


def _cards(view: View) -> dict[str, dict[str, str]]:
    kinds, keyed = view.model.card_kinds, (row for row in view.model.cards if row.key is not None)
    return {
        f"{row.kind}[{row.key}]": {
            name: view.shown(row.values[name], of) for name, of in kinds[row.kind].columns.items() if name in row.values
        }
        for row in keyed
    }


def _holders(view: View) -> dict[str, Thing]:
    """Return all holders and values with their declared facts."""
    return {name: _holder(view, group) for name, group in view.model.groups.items()}


def _holder(view: View, group: Group) -> Thing:
    plain = {
        "holds": type_in_words(view.ruleset, group.type),
        "order": group.order if isinstance(group.type, CardHolderType) else "",
        "seen by": group.seen,
        "lasts": group.lasts,
        "spaces": group.spaces or "",
        "unlimited": "yes" if group.unlimited else "",
        "at most": str(group.most or ""),
        "count": group.count,
    }
    facts = plain_facts(plain)
    for key, tree in (("start", group.start), ("by", group.rank), ("top shows", group.top_shows)):
        if tree is not None:
            facts[key] = (view.text(tree), view.written(tree))
    if group.start is None and group.starts != "empty":
        facts["start"] = (group.starts, group.starts)
    return Thing(_path_of(view.model, group), "holder", group.name, _described(facts), facts)


def _read(view: View) -> set[str]:
    return settings_read(view.model)


def _copies(view: View) -> dict[str, str]:
    alike = Counter(row.kind for row in view.model.cards if row.key is None)
    copies = {f"{row.kind}[{row.key}]": row.copies for row in view.model.cards if row.copies > 1}
    return {name: str(number) for name, number in {**alike, **copies}.items()}


def _components(view: View) -> dict[str, str]:
    components = view.model.components.values()
    return {part.name: f"{part.count}: {part.about}" if part.count else part.about for part in components}


def _places(view: View) -> dict[str, str]:
    graph = view.model.graph
    return {
        f"{name}[{number}].{key}": view.shown(value, graph.place[key])
        for name, rows in (graph.sets if graph else {}).items()
        for number, row in enumerate(rows, 1)
        for key, value in row.items()
        if graph is not None
    }


def _roles(view: View) -> dict[str, str]:
    roles = view.model.roles.values()
    return {
        role.name: f"{'counts' if role.counts else 'does not count'}, {_seats(role)}{', open' if role.open else ''}"
        for role in roles
    }


def _settings(view: View) -> dict[str, str]:
    return {setting.name: _setting(view, setting) for setting in view.ruleset.model.settings.values()}


def _setting(view: View, setting: Setting) -> str:
    limits = "{} to {}".format(*setting.range) if setting.range is not None else ""
    default = f"by default {view.shown(setting.default, setting.type)}" if setting.default is not None else ""
    facts = filter(None, (view.ruleset.model.word(setting.type), limits, default))
    return f"{', '.join(facts)}: {setting.about}"


# --- helpers


def _apart(a: list[Text], b: list[Text]) -> tuple[list[int], list[int]]:
    """Return the layers that only one side has. For a side without any, return its top layer."""
    left = [place for place, text in enumerate(a) if text not in b]
    right = [place for place, text in enumerate(b) if text not in a]
    if not left and not right:  # the same layers in another order
        return list(range(len(a))), list(range(len(b)))
    return left or [*range(len(a))][-1:], right or [*range(len(b))][-1:]


def _constants(a: list[Text], b: list[Text]) -> tuple[tuple[str, str], ...]:
    """Pair the constants of two texts that differ in nothing else."""
    if not a or [text.shape for text in a] != [text.shape for text in b]:
        return ()
    left, right = (chain.from_iterable(text.constants for text in texts) for texts in (a, b))
    return tuple(dict.fromkeys(pair for pair in zip(left, right, strict=True) if pair[0] != pair[1]))


def _path_of(model: Model, group: Group) -> str:
    of = group.name.rpartition(".")[0]
    if group.section != "has":
        return f"{group.section}.{group.name}"
    if not of:
        return f"seats.has.{group.name}"
    home = {"node": "graph", "place": "graph.place"}.get(of) or f"{Names(model).declares_type(of)[0]}.{of}"
    return f"{home}.holds.{group.own_name}"


_DEFAULTS = {"order": "kept", "seen by": "everyone", "lasts": "game", "count": "hidden", "start": "-"}
_FACTS = {"lasts": "for a {}", "start": "at first {}"}


def _described(facts: Facts) -> str:
    """Describe a holder or value, without defaults."""
    others = (
        _FACTS.get(key, f"{key} {{}}").format(value)
        for key, (_, value) in facts.items()
        if key != "holds" and _DEFAULTS.get(key) != value
    )
    return ", ".join([facts["holds"][1], *others])


def _seats(role: Role) -> str:
    if role.setting is not None:
        return f"as many seats as `{role.setting}` has items"
    return f"{role.seats} seats" if role.seats else "the people"


def _side(value: str | None) -> Side | None:
    return None if value is None else Side(value)


def _one(path: str, kind: str, name: str, a: str | None, b: str | None, chapter: str, cell: str = "") -> _Differences:
    if a != b:
        yield Difference(path, kind, name, chapter, _side(a), _side(b), cell=cell)


def _things(chapter: str, a: Mapping[str, Thing], b: Mapping[str, Thing]) -> _Differences:
    """Yield a difference for each fact that differs, and one for each thing that only one side has."""
    for which in {**a, **b}:
        thing = a.get(which) or b[which]
        if which not in a or which not in b:
            only_a, only_b = (side[which].whole if which in side else None for side in (a, b))
            yield from _one(thing.path, thing.kind, thing.name, only_a, only_b, chapter)
            continue
        facts_a, facts_b = a[which].facts, b[which].facts
        for key in {**facts_a, **facts_b}:
            (left, x), (right, y) = facts_a.get(key, ("", None)), facts_b.get(key, ("", None))
            if left != right:
                path = ".".join(filter(None, (thing.path, key.replace(" ", "_"))))
                yield Difference(path, thing.kind, thing.name, chapter, _side(x), _side(y))


def _each(path: str, kind: str, chapter: str, a: Mapping[str, str], b: Mapping[str, str]) -> _Differences:
    for name in {**a, **b}:
        yield from _one(f"{path}.{name}", kind, name, a.get(name), b.get(name), chapter)


def _phases(view: View) -> Iterator[str]:
    for name, guard in zip(view.model.phases, view.model.phase_guards, strict=True):
        yield name if guard is None else f"{name} when {view.written(guard.value)}"
