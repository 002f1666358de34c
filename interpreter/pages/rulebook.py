"""Rulebook of a composed ruleset: components, the course of a round, and every rule in the order of play.

The input is a ruleset, optionally with the number of players and the settings; the result is a :class:`Page`. All words
about the game come from the ruleset: titles, ``about``, ``says``, names and cited statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby, product, takewhile

from msgspec.structs import replace

from interpreter.base.plurals import counted, titled
from interpreter.base.yaml_values import word
from interpreter.compare.play_order import Topic, nodes_of, places_of
from interpreter.drawing.board import drawn
from interpreter.drawing.picture import Picture, picture_of, unplayed
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.setup import default_settings
from interpreter.kernel.state import Value
from interpreter.language import core
from interpreter.language.model import CardRow, Component, GraphDecl, Group, Kind, Table
from interpreter.language.types import SEAT, HolderType, Type, name_of
from interpreter.pages.page import (
    Block,
    Code,
    Drawing,
    Facts,
    Folded,
    Grid,
    Inline,
    Link,
    Listing,
    Page,
    Paragraph,
    Section,
    Strong,
    Words,
    joined,
)
from interpreter.pages.rule_sections import Teller
from interpreter.sections import behaviour
from interpreter.sections.declarations import Entry, amended
from interpreter.sections.documents import STATE_SECTIONS

__all__ = ["Book", "component_grid", "rulebook_of"]

SET_UPS = 4
"""Number of seeds whose set-ups are compared, to find out whether the set-up is random."""
_WIDE = 14
"""Most cells of a table with one key that is printed as a row; larger ones are printed as a column."""


def rulebook_of(ruleset: Ruleset, players: int | None = None, settings: dict[str, Value] | None = None) -> Page:
    """Return the rulebook of a ruleset. If ``players`` is given, the table columns for that number are marked.

    ``settings`` are those of a game, as :meth:`Ruleset.settings` returns them.
    """
    return Book(ruleset, players, settings or default_settings(ruleset.model)).page()


class Book(Teller):
    """Writer of the rulebook of one ruleset, and of its parts for other pages."""

    def __init__(self, ruleset: Ruleset, players: int | None, settings: dict[str, Value]) -> None:
        super().__init__(ruleset)
        self.composition, self.players, self.settings = ruleset.composition, players, settings
        self.places = places_of(ruleset.model)

    def page(self) -> Page:
        chapters = (
            Section("components", "Components", list(self._components())),
            Section("map", "The board", list(self._map())),
            Section("holders", "Areas and state", list(self._areas())),
            Section("settings", "Settings", list(self._settings())),
            Section("round", "Course of a round", list(self._round())),
            *self._play(),
            *self._end(),
            Section("tables", "The tables", list(map(self._table, self.model.tables.values()))),
            Section("cards", "The cards", list(map(self._cards, self.model.card_kinds))),
            Section("interpretations", "Interpretations", list(map(self._doubt, self.model.interpretations))),
            *self._origin(),
        )
        return Page(self.ruleset.title, tuple(self._front()), tuple(chapter for chapter in chapters if chapter.blocks))

    def _front(self) -> Iterator[Block]:
        if self.composition.about:
            yield Paragraph(self.composition.about, "lead")
        files = [each for each in self.composition.documents if each.kind not in ("ruleset", "library", "words")]
        names = dict.fromkeys(title for each in files if (title := each.head.title) != self.ruleset.title)
        yield Paragraph(" · ".join(filter(None, names)), "lead")
        yield Paragraph(tuple(self._who_plays()))
        for file, text in self.composition.provenance.items():
            yield Paragraph((Strong(f"{file}: "), text), "note")
        how = (
            "How to read this book: each rule begins with a summary and the rulebook sentences that it follows, with "
            "their numbers. The box behind a triangle has the source of the rule. If several files define a rule, "
            "the general rule comes first, then the files that change it."
        )
        yield Paragraph(how, "aside")

    def _who_plays(self) -> Iterator[Inline]:
        allowed = self.ruleset.players
        many = f"{allowed} players"
        if self.players is not None:
            yield f"This book is for {counted(self.players, 'player')}; the game is for {many}."
            return
        yield f"For {many}"
        yield f" ({allowed.otherwise})." if allowed.otherwise else "."
        for number, overlay in allowed.overlays:
            if overlay not in self.ruleset.overlays:
                reason = f": {allowed.because}" if allowed.because else ""
                yield f" A game of {number} includes "
                yield Code(overlay)
                yield f", which has its own book{reason}."

    # --- components

    def _components(self) -> Iterator[Block]:
        components = self.model.components.values()
        cites = [id for each in components for id in each.cites]
        if components:
            yield component_grid(components)
        cites += self.cites_of(layers[-1] for layers in self.composition.sections.get("tokens", {}).values())
        if tokens := [kind for kind in self.model.kinds.values() if kind.totals is not None]:
            yield self.token_grid(tokens)
        kinds = [
            (titled(kind.name), _members(kind))
            for kind in self.model.kinds.values()
            if kind.totals is None and kind.name not in self.model.interpretations
        ]
        if kinds:
            yield Grid(("kind", "members"), kinds)
        yield from self.folded_statements(cites)

    def token_grid(self, kinds: Iterable[Kind]) -> Grid:
        """Return a table of the numbers of tokens of some kinds."""
        rows = [
            (
                titled(kind.name if kind.unit else member),
                "as laid out" if total is None else str(total),
                "" if kind.unit else kind.name,
            )
            for kind in kinds
            for member, total in zip(kind.members, kind.totals or (), strict=True)
        ]
        return _full(Grid(("tokens", "number", "kind"), rows))

    def _cards(self, kind: str) -> Section:
        cards = [row for row in self.model.cards if row.kind == kind]
        blocks: list[Block] = [Paragraph(f"{counted(len(cards), 'card')}.")]
        if self.model.card_kinds[kind].attributes:
            blocks.append(self.card_grid(kind, cards))
        entries = self.composition.sections.get("cards", {}).get(kind, [])
        cites = [*self.cites_of(entries), *self._cites_of_files("deck")]
        blocks.extend(self.folded_statements(cites))
        return Section(f"cards-{kind}", titled(kind), tuple(blocks))

    def card_grid(self, kind: str, cards: Sequence[CardRow]) -> Grid:
        """Return a table with a row for each printed row of some cards of a kind."""
        attributes, key = self.model.card_kinds[kind].columns, self.model.card_kinds[kind].key
        copied = any(card.copies > 1 for card in cards)
        printed = list({card.span if copied else at: card for at, card in enumerate(cards)}.values())
        rows = [[*self._values(card.values, attributes), *([str(card.copies)] if copied else [])] for card in printed]
        columns = [*(name.replace("_", " ") for name in attributes), *(["copies"] if copied else [])]
        return Grid(columns, rows, 1 if key == next(iter(attributes)) else 0, long=True)

    def _shown(self, value: Value, type_: Type) -> str:
        return "–" if value is None or value == () else self.ruleset.names.text(value, type_)

    def _values(self, values: Mapping[str, Value], columns: Mapping[str, Type]) -> Iterator[str]:
        return (self._shown(values.get(column), type_) for column, type_ in columns.items())

    # --- the board

    def _map(self) -> Iterator[Block]:
        graph = self.model.graph
        if graph is None or not graph.nodes:
            return
        files = [document for document in self.composition.documents if document.kind == "map"]
        yield self.drawing(" · ".join(each.title for each in files) or self.ruleset.title)
        for name, places in graph.sets.items():
            if not places:
                continue
            rows = [(str(number), *self._values(place, graph.place)) for number, place in enumerate(places, 1)]
            of = f" ({name.replace('_', ' ')})" if len(graph.sets) > 1 else ""
            yield Paragraph(f"The places of a {graph.node}{of}:")
            yield Grid(("place", *(column.replace("_", " ") for column in graph.place)), rows)
        entries = self.composition.sections.get("graph", {}).get("graph", [])
        yield from self.folded_statements([*self.cites_of(entries), *self._cites_of_files("map")])
        for key, about in (("length", "The length of a link, from one end to the other: "), ("takes", "Its places: ")):
            texts = [text for entry in entries if (text := word(entry.get(key)))]
            if texts and not texts[-1].isidentifier():
                yield Paragraph((about, Code(texts[-1])))
        yield Folded(f"every {graph.node}: {len(graph.nodes)}", [self._nodes(graph)])
        yield Folded(f"every link: {len(graph.links)}", [self._links(graph)])

    def _cites_of_files(self, kind: str) -> list[str]:
        files = (document for document in self.composition.documents if document.kind == kind)
        return [scalar.text for file in files for scalar in file.head.cites]

    def drawing(self, caption: str, title: str = "") -> Drawing:
        """Return the drawing of the board, which the ruleset must have. Its title is that of the ruleset by default."""
        picture = self._picture()
        return Drawing(drawn(replace(picture, title=title or picture.title)), caption)

    def _picture(self) -> Picture:
        """Return the board after the set-up if it is the same for several seeds, else before it."""
        if self.settings:
            games = (Game.begin(self._unplayed.ruleset, self._unplayed.table, seed, None) for seed in range(SET_UPS))
            first, *others = (picture_of(game) for game in games)
            if all(other == first for other in others):
                return first
        return picture_of(self._unplayed)

    @cached_property
    def _unplayed(self) -> Game:
        return unplayed(self.ruleset, self.players, self.settings)

    def _nodes(self, graph: GraphDecl) -> Grid:
        of_places = {column: graph.place[column] for column in graph.nodes[0].place}
        rows = [
            (node.name, *self._values(node.values, graph.attributes), *self._values(node.place, of_places))
            for node in graph.nodes
        ]
        return Grid((graph.node, *graph.attributes, *(f"place.{column}" for column in of_places)), rows, long=True)

    def _links(self, graph: GraphDecl) -> Grid:
        written = {column for link in graph.links for column in link.values}
        columns = {column: type_ for column, type_ in graph.link.items() if column in written}
        rows = [
            (graph.nodes[link.a].name, graph.nodes[link.b].name, *self._values(link.values, columns))
            for link in graph.links
        ]
        return Grid(("from", "to", *columns), rows, heads=2, long=True)

    # --- tables

    def _table(self, table: Table) -> Section:
        entries = self.composition.layers("tables", table.name)
        about = [Paragraph(text) for entry in entries if (text := entry.remarks.about)]
        origin = [Paragraph(text, "note") for entry in entries if (text := entry.remarks.provenance)]
        used = self._topics_with("Read by ", lambda node: isinstance(node, core.TableCell) and node.table == table.name)
        files = list(dict.fromkeys(entry.file for entry in entries))
        changed = [Paragraph(("From ", *joined([Code(file) for file in files]), "."), "aside")] if files[1:] else []
        statements = self.folded_statements(table.cites)
        blocks = (*about, *origin, self.grid(table), *changed, *used, *statements)
        return Section(f"table-{table.name}", self.heading("tables", table.name), blocks)

    def _topics_with(self, lead: str, is_sought: Callable[[object], bool]) -> list[Paragraph]:
        """Return a sentence with links to the rules with a node that passes a test, if any, in the order of play."""
        topics = (topic for topics in self.places.values() for topic in topics)
        links = [self.link(topic) for topic in topics if any(map(is_sought, nodes_of(self.model, topic)))]
        return [Paragraph((lead, *joined(links), "."))] if links else []

    def grid(self, table: Table, changed: frozenset[tuple[int, ...]] = frozenset()) -> Grid:
        """Return a table with the values of its last key as columns and those of the others as rows. ``changed`` cells
        are emphasised."""

        def cell(*key: int) -> Words:
            text = self._shown(table.cells[key], table.gives)
            return Strong(text) if key in changed else text

        counting = self._unplayed.machine.constants.counting if self.players is not None else None

        def is_here(place: int, value: int) -> bool:
            return table.keys[place] == "players" and value == counting

        *rows_by, last = table.axes
        shown = [
            {value: self.ruleset.names.text(value, type_) for value in axis}
            for axis, type_ in zip(table.axes, table.key_types, strict=True)
        ]
        heads = list(shown[-1].values())
        here = frozenset(place for place, value in enumerate(last, max(1, len(rows_by))) if is_here(-1, value))
        name = titled(table.keys[-1])
        if not rows_by:
            gives, cells = self._gives(table), map(cell, last)
            if len(last) > _WIDE:
                return Grid((name, gives), list(zip(heads, cells, strict=True)), long=True)
            return Grid((name, *heads), [(gives, *cells)], 1, here)
        every = list(product(*rows_by))
        rows = [
            (*(shown[place][key] for place, key in enumerate(keys)), *(cell(*keys, value) for value in last))
            for keys in every
        ]
        marked = (number for number, keys in enumerate(every) if any(map(is_here, range(len(keys)), keys)))
        columns = (*map(titled, table.keys[:-1]), *(f"{name} {head}" for head in heads[:1]), *heads[1:])
        return Grid(columns, rows, len(rows_by), here, frozenset(marked))

    def _gives(self, table: Table) -> str:
        """Return the heading of the values of a table with one key."""
        for entry in self.composition.layers("tables", table.name):
            lines = word(entry.read(behaviour.Table).is_).splitlines()
            if len(lines) > 1:
                return titled(lines[1].partition("|")[0])
        return titled(name_of(table.gives) or table.name)

    # --- before the first round

    def _areas(self) -> Iterator[Block]:
        groups = [group for group in self.model.groups.values() if group.file and group.in_page]
        common = [group for group in groups if group.owner is None and isinstance(group.type, HolderType)]
        values = [group for group in groups if group.owner is None and not isinstance(group.type, HolderType)]
        each = [
            (f"Each {'player' if of == SEAT else self.type_text(of)} has", [x for x in groups if x.owner == of])
            for of in dict.fromkeys(group.owner for group in groups if group.owner is not None)
        ]
        for title, chosen in (*each, ("On the table", common), ("State", values)):
            if chosen:
                columns = ("", "holds", "initially", "visible to", "")
                yield from (Paragraph(Strong(title)), _full(Grid(columns, list(map(self._holder, chosen)))))
        yield from self.folded_statements(self.cites_of(entry for group in groups for entry in self._entries(group)))
        roles = list(self.model.roles.values())
        if len(roles) > 1:
            rows = [
                (titled(role.name), "yes" if role.counts else "no", role.setting or str(role.seats or "the people"))
                for role in roles
            ]
            yield from (Paragraph(Strong("Roles")), Grid(("role", "counts as a player", "seats"), rows))

    def _entries(self, group: Group) -> list[Entry]:
        return self.composition.layers(group.section, group.name)

    def _holder(self, group: Group) -> tuple[Words, ...]:
        entries = self._entries(group)
        about = amended(entries).remarks.about if entries else ""
        lasts = f"for a {group.lasts}" if group.lasts != "game" else ""
        remark = "; ".join(text for text in (about, lasts) if text)
        seen = group.seen if isinstance(group.type, HolderType) or group.seen != "everyone" else ""
        return titled(group.own_name), self.type_text(group.type), self._first(group), seen, remark

    def _first(self, group: Group) -> Words:
        match group.starts:
            case "all":
                return "all cards"
            case "rest":
                return "unlimited" if group.unlimited else "the rest"
            case "value" if group.start is not None:
                text = group.start.span.on_one_line
                if text in ("[]", "none"):
                    return "nothing"
                return self.reference("tables", text) if text in self.model.tables else Code(text)
            case _:
                return "nothing"

    def _settings(self) -> Iterator[Block]:
        pairs: list[tuple[Words, Words]] = []
        cites: list[str] = []
        for setting in self.model.settings.values():
            value = self.settings.get(setting.name)
            shown = self.ruleset.names.text(value, setting.type) if value is not None else "left to the game"
            words: list[Inline] = [setting.about or "", ". " if setting.about else "", "Here: ", Strong(shown), "."]
            if setting.check:
                words += [" Allowed values: ", self.link(Topic("rules", setting.check)), "."]
            pairs.append((titled(setting.name), tuple(words)))
            cites += self.cites_of(self.composition.layers("settings", setting.name))
        if pairs:
            yield Facts(pairs)
        yield from self.folded_statements(cites)

    # --- play

    def _round(self) -> Iterator[Block]:
        if not self.model.phases:
            return
        if self.model.setup:
            yield Paragraph(("Once, before the first round: ", Link("chapter-setup", self.setup_title), "."))
        items = []
        for phase, guard in zip(self.model.phases, self.model.phase_guards, strict=True):
            condition = (", when ", self.code(guard.value)) if guard is not None else ()
            items.append((Link(f"chapter-{phase}", self.phase_title(phase)), *condition))
        yield from (Paragraph("Each round goes through these phases:"), Listing(items, numbered=True))
        if self.model.standing:
            when = " apply before each decision and at the end of each turn and phase."
            yield Paragraph((Link("chapter-standing", "Standing rules"), when))
        if self.model.triggers:
            yield Paragraph((Link("chapter-triggers", "Triggers"), " apply right after their events."))
        yield from self._topics_with("The game ends in ", lambda node: isinstance(node, core.Ends))

    @property
    def setup_title(self) -> str:
        return self.said(self.model.setup) or "Setting up"

    def phase_title(self, phase: str) -> str:
        return self.said(phase) or titled(phase)

    def _play(self) -> Iterator[Section]:
        if self.model.setup:
            yield self._chapter("setup", self.setup_title, self.places[self.model.setup])
        for number, phase in enumerate(self.model.phases, 1):
            yield self._chapter(phase, f"Phase {number}: {self.phase_title(phase)}", self.places[phase])
        yield self._chapter("triggers", "Triggers", self.places["triggers"])
        yield self._chapter("standing", "Standing rules", self.places["standing"])

    def _chapter(self, name: str, title: str, topics: Iterable[Topic]) -> Section:
        return Section(f"chapter-{name}", title, list(map(self.section, topics)))

    def _end(self) -> Iterator[Section]:
        blocks: list[Block | Section] = []
        if self.model.ranking:
            keys = [(self.code(key), " – the most first") for key in self.model.ranking]
            blocks += [Paragraph("Seats are ranked by these, one after the other:"), Listing(keys, numbered=True)]
            blocks.append(Paragraph("Seats that are equal in all of them share the place."))
        blocks += self.statements(self.model.ranking_cites)
        blocks += map(self.section, self.places["result"])
        yield Section("result", "Result", tuple(blocks))
        others = self._chapter("others", "Further rules", self.places["others"])
        if others.blocks:
            lead = "Rules that no rule above calls: they check settings, order cards, serve boards, or are unused here."
            yield replace(others, blocks=(Paragraph(lead), *others.blocks))

    # --- interpretations and files

    def _doubt(self, name: str) -> Section:
        doubt = self.model.interpretations[name]
        entry = self.composition.layers("interpretations", name)[-1]
        taken = list(doubt.readings)[self.settings.get(name, list(doubt.readings).index(doubt.default))]
        about = entry.remarks.about
        readings = [
            ((Strong(titled(reading)), " – in force") if reading == taken else titled(reading), text)
            for reading, text in doubt.readings.items()
        ]
        used = self._topics_with("Read by ", lambda node: isinstance(node, core.SettingValue) and node.name == name)
        front = (Paragraph(f"{titled(about)}."),) if about else ()
        blocks = (*front, Facts(readings), *used, *self.statements(doubt.answers))
        return Section(f"interpretation-{name}", titled(name), blocks)

    def _origin(self) -> Iterator[Section]:
        documents = self.composition.documents
        rows = [(each.title, each.kind, Code(each.id), Code(each.file.name)) for each in documents]
        lead = Paragraph("Each of these files is a layer over those before it:")
        layers = Section("layers", "Overrides", tuple(self._layers()))
        index = Section("names", "All rules by name", (Paragraph(tuple(self._index())),))
        colophon = Paragraph(
            ("Written by regelwerk from the files of ", Code(self.ruleset.id),
             f" (fingerprint {self.ruleset.digest[:12]}). Unofficial: games belong to their owners."), "aside"
        )  # fmt: skip
        grid = Grid(("title", "kind", "id", "file"), rows)
        parts = tuple(section for section in (layers, index) if section.blocks)
        remarks = tuple(
            Folded(f"comment at the top of {each.file.name}", list(map(Paragraph, texts)))
            for each in documents
            if (texts := _remarks(each.file.text))
        )
        yield Section("files", "Source files", (lead, grid, *remarks, colophon, *parts))

    def _layers(self) -> Iterator[Block]:
        rows: list[tuple[Words, ...]] = []
        for section in ("rules", "tables", "triggers", "standing", *STATE_SECTIONS, "graph"):
            for name, entries in self.composition.sections.get(section, {}).items():
                head: Inline = self.reference(section, name)
                for entry in entries:
                    if entry.covers is None:
                        continue
                    how, target, _ = entry.covers
                    place = f"{entry.span.file.name}:{entry.span.line}"
                    rows.append((head, (f"{how} ", Code(target)), Code(entry.file), self.guard(entry), Code(place)))
                    head = ""
        if rows:
            yield Grid(("", "overrides", "from", "condition", "place"), rows)

    def _index(self) -> Iterator[Inline]:
        names = sorted(topic.name for topics in self.places.values() for topic in topics if topic.section == "rules")
        for letter, group in groupby(names, lambda name: name[:1]):
            yield from (Strong(letter.upper()), " ")
            for place, name in enumerate(group):
                yield " · " if place else ""
                yield Link(self.link(Topic("rules", name)).to, titled(name).lower())
            yield " "


def component_grid(components: Iterable[Component]) -> Grid:
    """Return a table of components, their numbers and their descriptions."""
    rows = [(titled(each.name), str(each.count or ""), each.about) for each in components]
    return _full(Grid(("component", "number", ""), rows))


def _full(grid: Grid) -> Grid:
    """Return a table without its empty columns."""
    used = [place for place in range(len(grid.columns)) if any(row[place] not in ((), "") for row in grid.rows)]
    rows = [[row[place] for place in used] for row in grid.rows]
    return replace(grid, columns=[grid.columns[place] for place in used], rows=rows)


def _remarks(text: str) -> list[str]:
    """Return the paragraphs of the comment at the top of a file."""
    lines = list(takewhile(lambda line: line.startswith("#"), text.splitlines()))
    said = [line.lstrip("# ").rstrip() for line in lines if "yaml-language-server:" not in line]
    return [" ".join(group) for some, group in groupby(said, bool) if some]


def _members(kind: Kind) -> str:
    return " to ".join(map(str, kind.range)) if kind.range else ", ".join(kind.members).replace("_", " ")
