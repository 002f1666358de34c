"""Citation report: every statement of the rulebooks with its implementation state and the parts that cite it.

The input is the statements of a shelf and the results of :mod:`interpreter.testing.coverage`; the result is HTML. For
accessibility, each colour has a sign beside it; without the script, all statements are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby

from msgspec import Struct

from interpreter.engine.citations import Citation
from interpreter.explain.cross_reference import WORDS
from interpreter.pages.html import document, element, prose
from interpreter.reading.statements import Statement
from interpreter.testing.coverage import Coverage

__all__ = ["STATES", "State", "followed_page", "state_of"]


class State(Struct, frozen=True):
    """Implementation state of a statement: its name, sign and description."""

    name: str
    sign: str
    about: str


STATES = (
    State("proved", "✔", "a scenario fails if a part that cites it is changed"),
    State("exercised", "◐", "a part cites it, and a scenario exercises it"),
    State("cited", "○", "a part cites it, but no scenario exercises it"),
    State("waived", "–", "it needs no rule, for the given reason"),
    State("left out", "✘", "it is neither cited nor waived"),
    State("beside", "·", "it is not counted: advice, a screen, or a component without a number"),
)
"""All states, the best first."""

_UNPROVED = "This page was made without mutation tests, so no statement is shown as proved; use --mutate."
_SCRIPT = """\
const filters = document.querySelector(".filters");
const all = [...document.querySelectorAll(".statement")].map((each) => [each, each.textContent.toLowerCase()]);
filters.hidden = false;
filters.addEventListener("input", () => {
  const on = new Set([...filters.querySelectorAll("[type=checkbox]:checked")].map((each) => each.value));
  const words = filters.querySelector("[type=search]").value.toLowerCase().split(/\\s+/);
  let shown = 0;
  for (const [each, text] of all) {
    each.hidden = !on.has(each.dataset.state) || !words.every((word) => text.includes(word));
    shown += !each.hidden;
  }
  for (const each of document.querySelectorAll("main section section"))
    each.hidden = !each.querySelector(".statement:not([hidden])");
  filters.querySelector("output").value = `${shown} of ${all.length}`;
});
"""


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


def followed_page(coverages: Iterable[Coverage], statements: Iterable[Statement]) -> str:
    """Return the page of some rulebooks with their statements."""
    known = list(statements)
    books = [(coverage, [each for each in known if each.book == coverage.rulebook]) for coverage in coverages]
    title = "Rulebook coverage"
    links = (element("a", escape(each.rulebook), href=f"#book-{_slug(each.rulebook)}") for each, _ in books)
    contents = element("nav", element("ol", *(element("li", link) for link in links)), aria_label="Contents")
    proof = "" if any(each.proved is not None for each, _ in books) else element("p", _UNPROVED, class_="aside")
    header = element("header", element("h1", title), _legend(), proof, contents)
    main = element("main", _filters(), *(_book(coverage, of) for coverage, of in books))
    return document(title, (header, main), script=_SCRIPT, class_="followed")


def _slug(name: str) -> str:
    return "".join(char if char.isalnum() else "-" for char in name.lower())


def _class(state: State) -> str:
    return f"status-{_slug(state.name)}"


def _label(state: State) -> str:
    return f"{state.sign} {state.name}"


def _legend() -> str:
    rows = (
        element("div", element("dt", _label(state), class_=f"status {_class(state)}"), element("dd", state.about))
        for state in STATES
    )
    return element("dl", *rows)


def _filters() -> str:
    boxes = []
    for state in STATES:
        box = element("input", type="checkbox", value=state.name, checked=True)
        boxes.append(element("label", box, " ", element("span", _label(state), class_=f"status {_class(state)}")))
    search = element("input", type="search", placeholder="words, ids, rules or files", aria_label="Search")
    return element("form", *boxes, search, element("output"), class_="filters", hidden=True, onsubmit="return false")


def _book(coverage: Coverage, statements: list[Statement]) -> str:
    states = {statement.id: state_of(coverage, statement) for statement in statements}
    numbers = [(state, sum(each is state for each in states.values())) for state in STATES]
    counts = " · ".join(f"{number} {state.name}" for state, number in numbers if number)
    pieces = (
        element("span", class_=_class(state), style=f"flex: {number}", title=f"{number} {state.name}")
        for state, number in numbers
        if number
    )
    bar = element("div", *pieces, class_="bar", aria_hidden="true")
    phases = [
        element(
            "section",
            element("h3", escape(phase.replace("_", " ") or "other")),
            *(_statement(coverage, statement, states[statement.id]) for statement in group),
        )
        for phase, group in groupby(statements, lambda statement: statement.phase)
    ]
    followers = f"{len(statements)} statements, as followed by {', '.join(coverage.rulesets)}: {counts}."
    heading, lead = element("h2", escape(coverage.rulebook)), element("p", escape(followers))
    return "\n" + element("section", heading, lead, bar, *phases, id=f"book-{_slug(coverage.rulebook)}")


def _statement(coverage: Coverage, statement: Statement, state: State) -> str:
    id_ = element("span", escape(f"{statement.id}, {statement.kind}"), class_="id")
    head = element("p", element("span", _label(state), class_="status"), " ", id_)
    text = prose(statement.text) + (f" → {prose(statement.reading)}" if statement.reading else "")
    where = element("ul", *(element("li", each) for each in _where(coverage, statement)))
    inside = head, element("p", text), element("div", where, class_="where")
    class_ = f"statement {_class(state)}"
    return "\n" + element("div", *inside, id=statement.id, class_=class_, data_state=state.name)


def _where(coverage: Coverage, statement: Statement) -> Iterator[str]:
    """Yield the parts that cite the statement, each once, and the reason of its waiver."""
    places: dict[tuple[str, str], Citation] = {}
    for citation in coverage.cited.get(statement.id, ()):
        places.setdefault((citation.name, f"{citation.span.file.name}:{citation.span.line}"), citation)
    for (name, place), citation in places.items():
        section = WORDS.get(citation.section, citation.section)
        yield f"{escape(section)} {element('code', escape(name))} {element('span', escape(place), class_='id')}"
    if statement.id in coverage.waived:
        yield f"waived: {prose(coverage.waived[statement.id])}"
