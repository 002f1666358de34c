"""Citation report: every statement of the rulebooks with its implementation state and the parts that cite it.

The input is the statements of a shelf and the results of :mod:`interpreter.testing.coverage`; the result is a
:class:`Page`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from interpreter.engine.citations import Citation
from interpreter.explain.cross_reference import WORDS, line_of
from interpreter.pages.page import Code, Facts, Grid, Id, Inline, Page, Paragraph, Place, Section
from interpreter.reading.statements import Statement
from interpreter.testing.coverage import Coverage

__all__ = ["STATES", "State", "followed_page", "state_of"]


class State(Struct, frozen=True):
    """Implementation state of a statement: its name, sign and description."""

    name: str
    sign: str
    about: str

    @property
    def label(self) -> str:
        return f"{self.sign} {self.name}"


STATES = (
    State("proved", "✔", "a scenario fails if a part that cites it is changed"),
    State("exercised", "◐", "a part cites it, and a scenario exercises it"),
    State("cited", "○", "a part cites it, but no scenario exercises it"),
    State("waived", "–", "it needs no rule, for the given reason"),
    State("left out", "✘", "it is neither cited nor waived"),
    State("beside", "·", "it is not counted: advice, a screen, or a component without a number"),
)
"""All states, the best first."""

_UNPROVED = "Without mutation tests (`regelwerk coverage --mutate`), no statement is shown as proved."


def state_of(coverage: Coverage, statement: Statement) -> State:
    """Return the implementation state of a statement."""
    id = statement.id
    cited = id in coverage.cited
    tests = (
        cited and coverage.proved is not None and id in coverage.proved,
        cited and id in coverage.shown,
        cited,
        id in coverage.waived,
        any(each.id == id for each in coverage.counted),
    )
    return next((state for state, holds in zip(STATES, tests, strict=False) if holds), STATES[-1])


def followed_page(coverages: Iterable[Coverage], statements: Iterable[Statement]) -> Page:
    """Return the page of some rulebooks with their statements."""
    known, coverages = list(statements), list(coverages)
    books = [_book(each, [of for of in known if of.book == each.rulebook]) for each in coverages]
    legend = Facts([(state.label, state.about) for state in STATES])
    is_proved = any(each.proved is not None for each in coverages)
    front = (legend, *(() if is_proved else [Paragraph(_UNPROVED, "aside")]))
    return Page("Rulebook coverage", front, books, wide=True)


def _book(coverage: Coverage, statements: list[Statement]) -> Section:
    states = [state_of(coverage, statement) for statement in statements]
    counts = [(state.label, states.count(state)) for state in STATES if state in states]
    rows = [
        (Id(each.id, is_target=True), each.kind, state.label, each.phase.replace("_", " "), each.told, where)
        for each, state in zip(statements, states, strict=True)
        for where in [tuple(_where(coverage, each))[1:]]
    ]
    left = frozenset(place for place, state in enumerate(states) if state.name == "left out")
    blocks = (
        Paragraph(f"{len(statements)} statements, as followed by {', '.join(coverage.rulesets)}."),
        Grid(("state", "statements"), counts, sortable=True, bars=True),
        Grid(("id", "kind", "state", "chapter", "text", "parts"), rows, marked_rows=left, sortable=True, filtered=2),
    )
    return Section(f"book-{coverage.rulebook}", coverage.rulebook, blocks)


def _where(coverage: Coverage, statement: Statement) -> Iterator[Inline]:
    """Yield the parts that cite the statement, each once, and the reason of its waiver; `; ` before each."""
    places: dict[tuple[str, str], Citation] = {}
    for citation in coverage.cited.get(statement.id, ()):
        places.setdefault((citation.name, line_of(citation.span)), citation)
    for (name, place), citation in places.items():
        yield from ("; ", f"{WORDS.get(citation.section, citation.section)} ", Code(name), " ", Place(place))
    if statement.id in coverage.waived:
        yield from ("; ", f"waived: {coverage.waived[statement.id]}")
