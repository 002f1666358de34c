"""Page that compares two rulesets: their differences, the effects on play, and where games first diverge.

The input comes from :mod:`interpreter.compare.differences`, :mod:`interpreter.compare.effect_sizes` and
:mod:`interpreter.compare.divergence`. The resulting :class:`Page` is readable without knowing either ruleset.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.figures import fixed, signed
from interpreter.base.plurals import composed, counted, titled
from interpreter.compare.causes import BEGINNING
from interpreter.compare.comparable import Side
from interpreter.compare.differences import Comparison, Difference
from interpreter.compare.divergence import Apart, causes, from_the_start
from interpreter.compare.effect_sizes import Effect, by_size, effects
from interpreter.compare.gains import Gain, gains
from interpreter.compare.lock_step import Parting
from interpreter.compare.paired_games import Pair
from interpreter.drawing.effect_charts import effect_chart, histogram_chart
from interpreter.engine.game import Ruleset
from interpreter.pages.gain_section import drawn, gains_section
from interpreter.pages.page import (
    Beside,
    Block,
    Code,
    Column,
    Facts,
    Folded,
    Grid,
    Inline,
    Link,
    Page,
    Paragraph,
    Section,
    Source,
    Statements,
    Strong,
)
from interpreter.simulate.simulation import Unfinished, finished

if TYPE_CHECKING:  # it needs the checker
    from interpreter.compare.ablation import Alone

__all__ = ["ComparisonReport", "Played"]

_MOST_ALSO = 6
_MOST_LETTERS, _MOST_IN_TEXT = 40, 16
"""Longest names used as column headings, on pages and on terminals."""
_LARGEST = 5
"""Effects in a report that is not full."""


class Played(Struct, frozen=True):
    """Results of games of both rulesets. ``how`` describes the games; ``things`` is the number of differences to play
    by themselves. ``unfinished`` games do not end and are left out."""

    how: str
    effects: Sequence[Effect] = ()
    partings: Sequence[Parting] = ()
    singly: Sequence[Alone] = ()
    things: int = 0
    gains: Sequence[Gain] = ()
    unfinished: Sequence[Unfinished] = ()

    @classmethod
    def of(cls, table: str, seeds: range, pairs: Sequence[Pair | Unfinished], sides: tuple[Ruleset, Ruleset]) -> Played:
        """Return what the pairs of games tell that were played of those with some seeds, at a table told in words."""
        unfinished = [game for game in pairs if isinstance(game, Unfinished)]
        done = sorted(finished(pairs), key=lambda pair: pair.seed)
        which = f"seeds {seeds[0]} to {seeds[-1]}"
        if len(pairs) < len(seeds):
            which = f"stopped when {len(pairs):,} of the {which} were played"
        if unfinished:
            which += f", without {counted(len(unfinished), 'pair')} in which a game does not end"
        rows = [pair.a for pair in done], [pair.b for pair in done]
        found, partings = effects(*rows, sides[0].model.measures), [pair.parting for pair in done]
        return cls(f"{table}, {which}", found, partings, gains=gains(*rows, sides), unfinished=unfinished)


class ComparisonReport:
    """The report on two rulesets. ``names`` are the names of both sides; ``played`` has the results of games, if any.

    A ``terse`` report is for authors: it calls things as files do. Unless it is ``full``, it has the largest effects
    alone.
    """

    def __init__(
        self,
        comparison: Comparison,
        names: tuple[str, str],
        played: Played | None = None,
        *,
        terse: bool = False,
        full: bool = True,
    ) -> None:
        self.comparison, self.played = comparison, played or Played("")
        self.terse, self.full = terse, full
        self.named = comparison.a.title, comparison.b.title
        if terse or self.named[0] == self.named[1]:
            self.named = names
        self.titles = self.named
        if names[0] == names[1] or max(map(len, self.named)) > (_MOST_IN_TEXT if terse else _MOST_LETTERS):
            self.titles = "A", "B"
        self.by_path = {each.path: each for each in comparison.differences}

    def page(self) -> Page:
        title = f"{self.titles[0]} and {self.titles[1]}"
        if self.titles is not self.named and self.comparison.a.title == self.comparison.b.title:
            title = f"{self.comparison.a.title}, {title}"
        return Page(title, list(self._front()), (*self.games(), *self.chapters()), wide=True)

    def _front(self) -> Iterator[Block]:
        if not self.comparison.differences:
            yield Paragraph("The same game: no rule that can apply differs.", "lead")
            return
        if self.titles is not self.named:
            yield Facts(list(zip(self.titles, self.named, strict=True)))
        total = len(self.comparison.differences)
        families = self.comparison.families
        about = f"Different families ({families[0]} and {families[1]}): " if families else ""
        yield Paragraph(f"{about}{counted(total, 'difference')}, in the order of play.", "lead")
        rows = [
            (Link(f"chapter-{chapter}", self.comparison.chapters[chapter]), len(found), _named(found))
            for chapter, found in self.comparison.by_chapter.items()
        ]
        yield Grid(("", "number", "differences"), rows)
        if sure := [each for each in by_size(self.played.effects) if each.is_sure]:
            said = "; ".join(f"{_words(each.name)}: {each.a:.2f} → {each.b:.2f}" for each in sure[:4])
            yield Paragraph((Strong("In play: "), f"{said}. ", Link("effects", "Effects on play")), "note")
        how = (
            f"How to read this page: “{self.titles[0]}” has a blue line above it, “{self.titles[1]}” an orange one. "
            "Lines that the other side lacks are marked. Each rule comes with the rulebook sentences that it follows "
            "and their numbers. Rules that can never apply under the settings are left out, and so are rules that only "
            "moved to another file."
        )
        yield Paragraph(how, "aside")

    # --- differences

    def chapters(self) -> Iterator[Section]:
        """Yield the differences in the order of play."""
        for chapter, differences in self.comparison.by_chapter.items():
            blocks: list[Block | Section] = []
            rows = [
                (self._label(each), _value(each.a), "→", _value(each.b)) for each in differences if not each.has_text
            ]
            if rows:
                heads = () if self.terse else ("", self.titles[0], "", self.titles[1])
                blocks.append(Grid(heads, rows))
            if chapter == "board":
                blocks.extend(self._distances())
            blocks.extend(self._text(each) for each in differences if each.has_text)
            yield Section(f"chapter-{chapter}", self.comparison.chapters[chapter], blocks)

    def _label(self, difference: Difference) -> str:
        return difference.within if self.terse else titled(_plain(difference.within))

    def _text(self, difference: Difference) -> Section:
        a, b = difference.a, difference.b
        changed = ", ".join(f"{old} → {new}" for old, new in difference.constants)
        if changed:
            said = f"The same {difference.kind}, except for {changed}."
        elif a is None or b is None:
            said = f"A {difference.kind} that only “{self.titles[0 if b is None else 1]}” has."
        else:
            said = f"A {difference.kind} of both that differs."
        title = f"{difference.name} ({difference.kind}{f': {changed}' if changed else ''})"
        beside = Beside(self.titles, list(self._side(a, b)), list(self._side(b, a)))
        return Section(
            difference.path.replace(".", "-"),
            title if self.terse else titled(difference.name),
            (Paragraph(said, "aside"), beside),
        )

    def _side(self, side: Side | None, other: Side | None) -> Iterator[Block]:
        """Yield the parts of a side. Lines that the other side lacks are marked, unless that has none at all."""
        if side is None:
            yield Paragraph("nothing")
            return
        others = {line.strip() for part in (other.parts if other else ()) for line in part.text.splitlines()}
        for part in side.parts:
            if part.about:
                yield Paragraph(part.about[:1].upper() + part.about[1:] + ".")
            if part.when:
                yield Paragraph(("Where ", Code(part.when), ":"))
            if part.cites:
                yield Statements(part.cites)
            lines = [line.strip() for line in part.text.split("\n")]
            own = frozenset(n for n, line in enumerate(lines) if other is not None and line and line not in others)
            source = Source(part.text, {}, own if len(own) < len(lines) else frozenset())
            yield source if self.terse else Folded("source", [source], unfolded=not part.cites)

    def _distances(self) -> Iterator[Block]:
        graph = self.comparison.graph
        if graph is None:
            return
        figures = Grid(("", *self.titles), [(titled(name), a, b) for name, a, b in graph.figures])
        if graph.other:
            if figures.rows:
                yield figures
            return
        changed = graph.nearer + graph.farther
        yield Paragraph(
            f"{changed:,} of {graph.pairs:,} distances between two nodes changed: {graph.nearer} are shorter and "
            f"{graph.farther} longer"
        )
        rows = [(" – ".join(each.between), each.a, "→", each.b) for each in graph.most]
        if rows:
            yield Folded("largest changes", [Grid((), rows)])
        yield Folded("figures of the whole board", [figures])

    # --- games

    def games(self) -> Iterator[Section]:
        """Yield what the games say, if any were played: first the effects on measures."""
        sides = (composed(side.title, side.overlays, {}) for side in (self.comparison.a, self.comparison.b))
        how = f"{self._pairs} of {' and '.join(sides)}: {self.played.how}."
        if found := self.played.effects:
            others = [effect for effect in found if not effect.is_of_wins]
            yield Section("effects", "Effects on play", list(self._effects(others, how)))
            if wins := [effect for effect in found if effect.is_of_wins]:
                yield Section("seats", "Who wins", list(self._seats(wins, how)))
            yield gains_section(self.played.gains, self.titles, how, terse=self.terse, full=self.full)
        if self.played.partings:
            yield Section("where", "First divergence", list(self._partings(self.played.partings)))
        if self.played.singly:
            yield Section("singly", "Each by itself", list(self._singly(self.played.singly)))

    @property
    def _pairs(self) -> str:
        known = (len(effect.values[0]) for effect in self.played.effects)
        return f"{counted(max(known, default=len(self.played.partings)), 'pair')} of games"

    def _effects(self, found: Sequence[Effect], how: str) -> Iterator[Block]:
        effects = by_size(found)
        shown = effects if self.full else effects[:_LARGEST]
        text = (
            "The two games of a pair have the same seed. Values of each player are averaged over the players. The true "
            "change lies in the interval with 95 % confidence. The effect size is the change in standard deviations: "
            "0.2 is small, 0.5 is medium, 0.8 is large."
        )
        largest = f"; the largest of {len(effects)}" if len(shown) < len(effects) else ""
        yield Paragraph(f"{self._pairs}: {self.played.how}")
        yield Paragraph(f"95 % intervals, * significant{largest}")
        yield Paragraph(text, "aside")
        yield self._table(shown)
        if not self.terse:
            sure = [effect for effect in effects if effect.is_sure][:3]
            charts = [effect_chart(effects, self.titles), *(histogram_chart(each, self.titles) for each in sure)]
            yield from drawn(charts, how)

    def _seats(self, wins: Sequence[Effect], how: str) -> Iterator[Block]:
        text = (
            "Share of wins of each seat, and of the only seat that met an event with a number, such as a place in the "
            "first order. Several winners of a game have equal parts of its win."
        )
        yield from (Paragraph(text, "aside"), self._table(wins))
        if not self.terse:
            yield from drawn([replace(effect_chart(wins, self.titles), title="Shares of wins")], how)

    def _table(self, effects: Sequence[Effect]) -> Grid:
        rows = [(_words(each.name), each.a, each.b, each, each) for each in effects]
        sides = (Column(title, fixed(2)) for title in self.titles)
        marked = frozenset(place for place, each in enumerate(effects) if each.is_sure)
        return Grid(("measure", *sides, *_EFFECT), rows, marked_rows=marked, sortable=True)

    def _partings(self, partings: Sequence[Parting]) -> Iterator[Block]:
        ranked, total = causes(partings), len(partings)
        text = (
            "Games are played in both at once, with the same random outcomes and the same choices, until the next "
            "decision differs. The table names the difference that came into play since the choice before, or else "
            "when values of both games last moved apart."
        )
        yield Paragraph(text, "aside")
        if ranked:
            rows = [(self._cause(each.path), each.games, *_moment(each)) for each in ranked]
            yield Grid(("difference", "games", *_MOMENT), rows)
        for path, number in from_the_start(partings).items():
            at_once = f"{number:,} of {total:,} games differ in the first decision already: "
            yield Paragraph((at_once, self._cause(path)))
        if same := sum(not each.path for each in partings):
            yield Paragraph(f"{same:,} of {total:,} games are the same from beginning to end")
        for first in filter(None, (each.example for each in ranked[:3])):
            when = f"with seed {first.seed} in round {first.round}, after {counted(first.choices, 'choice')}"
            yield Paragraph((self._cause(first.path), f", for example {when}:"))
            yield Facts(list(zip(self.titles, (first.a, first.b), strict=True)))

    def _singly(self, singly: Sequence[Alone]) -> Iterator[Block]:
        a, b = self.titles
        text = f"{a} with a single difference of {b}, against {a} unchanged: games that diverge"
        yield Paragraph(text)
        yield Paragraph("A difference that needs another one may have no effect here.", "aside")
        if rows := [(self._cause(each.path), *_moment(each)) for each in singly if not each.why_not]:
            yield Grid(("difference", *_MOMENT), rows)
        for each in (each for each in singly if each.why_not):
            yield Paragraph((self._cause(each.path), f" cannot be played by itself: {each.why_not}"), "note")

    def _cause(self, path: str) -> Inline:
        if self.terse:
            return path
        if path == BEGINNING:
            return f"{'the board, or ' if 'board' in self.comparison.by_chapter else ''}the initial state"
        difference = self.by_path.get(path)
        if difference is None:
            return path
        to = path.replace(".", "-") if difference.has_text else f"chapter-{difference.chapter}"
        return Link(to, titled(difference.name).lower())


_EFFECT = (
    Column("difference", lambda each: f"{signed(each.difference)} ± {each.high - each.difference:.2f}"),
    Column("effect", lambda each: f"{signed(each.size)}{' *' if each.is_sure else ''}"),
)
_MOMENT = Column("share", "{:.0%}".format), Column("after choices", fixed(0)), Column("in round", fixed(1))


def _moment(each: Apart) -> tuple[float | None, ...]:
    """Return the share of games that diverge, and the means until they do."""
    return each.share, each.choices, each.round


def _name(difference: Difference) -> str:
    side = difference.a or difference.b
    if difference.kind == "optional rules" and side is not None:
        return side.value
    return _plain(_words(difference.name))


def _named(differences: list[Difference]) -> str:
    names = list(dict.fromkeys(map(_name, differences)))
    more = f" and {len(names) - _MOST_ALSO} more" if len(names) > _MOST_ALSO else ""
    return ", ".join(names[:_MOST_ALSO]) + more


def _value(side: Side | None) -> str:
    return "nothing" if side is None else side.value or "–"


def _plain(path: str) -> str:
    return path.replace(".", ": ").replace("[", ": ").replace("]", "")


def _words(name: str) -> str:
    return name.replace("_", " ")
