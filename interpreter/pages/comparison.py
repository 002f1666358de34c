"""Page that compares two rulesets: their differences, the effects on play, and where games first diverge.

The input comes from :mod:`interpreter.compare.differences`, :mod:`interpreter.compare.effect_sizes` and
:mod:`interpreter.compare.divergence`. The resulting :class:`Page` is readable without knowing either ruleset.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import starmap

from msgspec import Struct

from interpreter.base.plurals import composed, counted, titled
from interpreter.compare.ablation import Alone
from interpreter.compare.comparable import Side
from interpreter.compare.differences import Comparison, Difference
from interpreter.compare.divergence import BEGINNING, Apart, Parting, causes, from_the_start
from interpreter.compare.effect_sizes import Effect, by_size
from interpreter.compare.gains import Gain
from interpreter.drawing.effect_charts import effect_chart, histogram_chart
from interpreter.pages.gain_section import drawn, gains_sections
from interpreter.pages.page import (
    Beside,
    Block,
    Code,
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
from interpreter.simulate.simulation import Unfinished

__all__ = ["Played", "comparison_page"]

_MOST_ALSO = 6
_MOST_LETTERS = 40
"""Longest name used as a column heading."""


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


def comparison_page(comparison: Comparison, names: tuple[str, str], played: Played | None = None) -> Page:
    """Return the page. ``names`` are the names of both sides; ``played`` has the results of games, if any."""
    return _Book(comparison, names, played).page()


class _Book:
    def __init__(self, comparison: Comparison, names: tuple[str, str], played: Played | None) -> None:
        self.comparison, self.played = comparison, played or Played("")
        self.named = comparison.a.title, comparison.b.title
        if self.named[0] == self.named[1]:
            self.named = names
        self.titles = self.named
        if names[0] == names[1] or max(map(len, self.named)) > _MOST_LETTERS:
            self.titles = "A", "B"
        self.by_path = {each.path: each for each in comparison.differences}

    def page(self) -> Page:
        sections = tuple(starmap(self._chapter, self.comparison.by_chapter.items()))
        before = (*self._effects(), *self._partings(), *self._singly())
        title = f"{self.titles[0]} and {self.titles[1]}"
        if self.titles is not self.named and self.comparison.a.title == self.comparison.b.title:
            title = f"{self.comparison.a.title}, {title}"
        return Page(title, list(self._front()), (*before, *sections), wide=True)

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
        rows: list[tuple[Inline, ...]] = []
        for chapter, differences in self.comparison.by_chapter.items():
            link = Link(f"chapter-{chapter}", self.comparison.chapters[chapter])
            rows.append((link, str(len(differences)), _named(differences)))
        yield Grid(("", "number", "differences"), rows)
        if sure := [each for each in by_size(self.played.effects) if each.is_sure]:
            said = "; ".join(f"{_words(each.name)}: {_number(each.a)} → {_number(each.b)}" for each in sure[:4])
            yield Paragraph((Strong("In play: "), f"{said}. ", Link("effects", "Effects on play")), "note")
        how = (
            f"How to read this page: “{self.titles[0]}” has a blue line above it, “{self.titles[1]}” an orange one. "
            "Lines that the other side lacks are marked. Each rule comes with the rulebook sentences that it follows "
            "and their numbers. Rules that can never apply under the settings are left out, and so are rules that only "
            "moved to another file."
        )
        yield Paragraph(how, "aside")

    # --- differences

    def _chapter(self, chapter: str, differences: list[Difference]) -> Section:
        blocks: list[Block | Section] = []
        rows = [(_label(each), _value(each.a), _value(each.b)) for each in differences if not each.has_text]
        if rows:
            blocks.append(Grid(("", *self.titles), rows))
        if chapter == "board":
            blocks.extend(self._distances())
        blocks.extend(self._text(each) for each in differences if each.has_text)
        return Section(f"chapter-{chapter}", self.comparison.chapters[chapter], blocks)

    def _text(self, difference: Difference) -> Section:
        a, b = difference.a, difference.b
        if difference.constants:
            changed = ", ".join(f"{old} → {new}" for old, new in difference.constants)
            said = f"The same {difference.kind}, except for {changed}."
        elif a is None or b is None:
            said = f"A {difference.kind} that only “{self.titles[0 if b is None else 1]}” has."
        else:
            said = f"A {difference.kind} of both that differs."
        beside = Beside(self.titles, list(_side(a, b)), list(_side(b, a)))
        return Section(difference.path.replace(".", "-"), titled(difference.name), (Paragraph(said, "aside"), beside))

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
            f"{graph.farther} longer on the right."
        )
        rows = [(" – ".join(each.nodes), str(each.a), str(each.b)) for each in graph.most]
        if rows:
            yield Folded("largest changes", [Grid(("", *self.titles), rows)])
        yield Folded("figures of the whole board", [figures])

    # --- games

    def _effects(self) -> Iterator[Section]:
        if not self.played.effects:
            return
        effects = by_size(self.played.effects)
        rows = [
            (
                titled(each.name),
                _number(each.a),
                _number(each.b),
                f"{_signed(each.difference)} ± {_number((each.high - each.low) / 2)}",
                _signed(each.size),
            )
            for each in effects
        ]
        marked = frozenset(place for place, each in enumerate(effects) if each.is_sure)
        pairs = f"{counted(max(len(each.values[0]) for each in effects), 'pair')} of games"
        text = (
            f"{pairs}: {self.played.how}. The two games of a pair have the same seed. "
            "Values of each player are averaged over the players. The true change lies in the interval with 95 % "
            "confidence; marked lines are significant. The effect size is the change "
            "in standard deviations: 0.2 is small, 0.5 is medium, 0.8 is large."
        )
        columns = ("measure", *self.titles, "change", "effect size")
        grid = Grid(columns, rows, marked_rows=marked, sortable=True)
        largest = [effect for effect in effects if effect.is_sure][:3]
        charts = [effect_chart(effects, self.titles), *(histogram_chart(each, self.titles) for each in largest)]
        sides = (composed(side.title, side.overlays, {}) for side in (self.comparison.a, self.comparison.b))
        how = f"{pairs} of {' and '.join(sides)}: {self.played.how}."
        yield Section("effects", "Effects on play", (Paragraph(text), grid, *drawn(charts, how)))
        yield from gains_sections(self.played.effects, self.played.gains, self.titles, how)

    def _partings(self) -> Iterator[Section]:
        partings = self.played.partings
        if not partings:
            return
        ranked = causes(partings)
        same = sum(not each.path for each in partings)
        text = (
            f"{len(partings):,} games are played in both at once, with the same random outcomes and the same choices, "
            "until the next decision differs. The table names the first difference that came into play since the "
            "decision before."
        )
        blocks: list[Block] = [Paragraph(text)]
        if same:
            blocks.append(Paragraph(f"{same:,} games are the same from beginning to end."))
        for path, number in from_the_start(partings).items():
            at_once = f"{number:,} of {len(partings):,} games differ in the first decision already: "
            blocks.append(Paragraph((at_once, self._cause(path), ".")))
        if ranked:
            rows = [(self._cause(each.path), f"{each.games:,}", *_figures(each)) for each in ranked]
            blocks.append(Grid(("difference", "games", "share", "after choices", "in round"), rows))
            for each in ranked[:3]:
                blocks += self._example(each.first)
        yield Section("where", "First divergence", blocks)

    def _example(self, parting: Parting) -> Iterator[Block]:
        when = f"seed {parting.seed}, round {parting.round}, after {counted(parting.choices, 'choice')}"
        yield Paragraph((Strong("For example "), self._cause(parting.path), f" ({when}):"))
        yield Facts(list(zip(self.titles, (parting.a, parting.b), strict=True)))

    def _singly(self) -> Iterator[Section]:
        singly = self.played.singly
        if not singly:
            return
        text = (
            f"Each difference is applied to {self.titles[0]} alone, which is then played in lock step with the "
            f"unchanged {self.titles[0]}. A difference that needs another one may have no effect here."
        )
        blocks: list[Block] = [Paragraph(text)]
        if rows := [(self._cause(each.path), *_figures(each)) for each in singly if not each.why]:
            blocks.append(Grid(("difference", "games that diverge", "after choices", "in round"), rows))
        for each in singly:
            if each.why:
                blocks.append(Paragraph((self._cause(each.path), f" cannot be played by itself: {each.why}."), "note"))
        yield Section("singly", "Each by itself", blocks)

    def _cause(self, path: str) -> Inline:
        if path == BEGINNING:
            return f"{'the board, or ' if self.comparison.of('board') else ''}the initial state"
        difference = self.by_path.get(path)
        if difference is None:
            return path
        to = path.replace(".", "-") if difference.has_text else f"chapter-{difference.chapter}"
        return Link(to, titled(difference.name).lower())


def _figures(each: Apart) -> tuple[str, str, str]:
    """Return the share of games that diverge, and the means until they do."""
    means = (f"{each.choices:.0f}", f"{each.round:.1f}") if each.partings else ("–", "–")
    return f"{each.share:.0%}", *means


def _name(difference: Difference) -> str:
    side = difference.a or difference.b
    if difference.kind == "optional rules" and side is not None:
        return side.value
    return _plain(_words(difference.name))


def _named(differences: list[Difference]) -> str:
    names = list(dict.fromkeys(map(_name, differences)))
    more = f" and {len(names) - _MOST_ALSO} more" if len(names) > _MOST_ALSO else ""
    return ", ".join(names[:_MOST_ALSO]) + more


def _label(difference: Difference) -> str:
    name = _plain(difference.within)
    return name[:1].upper() + name[1:]


def _value(side: Side | None) -> str:
    return (side and side.value) or "–"


def _side(side: Side | None, other: Side | None) -> Iterator[Block]:
    """Yield the parts of a side. Lines that the other side lacks are marked, unless that has none at all."""
    if side is None:
        yield Paragraph("None.", "aside")
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
        yield Folded("source", [source], unfolded=not part.cites)


def _plain(path: str) -> str:
    return path.replace(".", ": ").replace("[", ": ").replace("]", "")


def _words(name: str) -> str:
    return name.replace("_", " ")


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"


def _signed(value: float) -> str:
    return f"{round(value, 2) + 0.0:+.2f}".replace("-", "−").replace("inf", "∞")  # avoids -0.00
