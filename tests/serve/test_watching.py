"""Rules that change under a table in play: what no longer fits is taken back, told in words, and comes back."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from html import unescape
from pathlib import Path

import pytest

from interpreter.serve.live import Live
from interpreter.serve.watching import Watch
from interpreter.serve.words import in_language
from tests.small import FAMILY, write

from .served import Served, get, until

ACT = """\
for each s in seats:
  choose say by s:
    number n in {}:
      amount = n
    rest
if round == 4:
  end game
"""


class Author:
    """An author who writes rules while others play."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = write(folder / "rulesets", ACT.format("1 .. 9"))
        self.served = Served(folder / "tables.sqlite", rulesets=[str(self.path)])
        self.watch = Watch(self.served.hall)

    def table(self, *seats: str) -> tuple[Live, str]:
        live, links, _ = self.served.table("tiny", seats)
        self.served.done(self.watch.follow())
        return live, links[0]

    def allows(self, numbers: str) -> None:
        write(self.folder / "rulesets", ACT.format(numbers))
        self.served.done(self.watch.changed({str(path) for path in (self.folder / "rulesets").rglob("*.yaml")}))

    def says(self, live: Live, seat: int, number: int) -> None:
        self.served.done(live.choose(seat, {"do": "number", "n": number}))


@pytest.fixture
def author(tmp_path: Path) -> Iterator[Author]:
    author = Author(tmp_path)
    yield author
    author.served.close()
    assert author.served.errors == []


def said(live: Live) -> list[object]:
    return [line.get("n") for line in live.kept.choices]


def notice(link: str) -> str:
    page = unescape(get(link).text)
    return page.partition('role="status">')[2].partition("</p>")[0]


@pytest.mark.parametrize("resumes", [False, True])
def test_choices_come_back_until_somebody_has_chosen(author: Author, resumes: bool) -> None:
    live, link = author.table("person", "person")

    def again() -> Live:
        if resumes:
            author.served.within(lambda: author.served.hall._leave(live))
        return author.served.done(author.served.hall.live(live.kept.id))

    for seat, number in ((0, 3), (1, 8), (0, 4)):
        author.says(live, seat, number)
    author.allows("1 .. 7")
    live = again()
    assert said(live) == [3]
    assert "2 choices no longer fit and were taken back" in notice(link)
    assert "choice 2 is no longer possible" in notice(link)
    with in_language("de"):
        assert live.taken_back is not None
        assert "2 Entscheidungen passen nicht mehr" in live.taken_back.now()
    assert "number" not in notice(link), "what another seat chose may be hidden"
    author.allows("1 .. 6")
    assert "2 choices no longer fit" in notice(link), "until the next choice"
    author.allows("1 .. 2")
    assert (said(live), "3 choices no longer fit" in notice(link)) == ([], True)
    author.allows("1 .. 3")
    assert (said(live), "2 choices no longer fit" in notice(link)) == ([3], True)
    author.allows("1 .. 8")
    live = again()
    assert (said(live), notice(link), live.is_continued) == ([3, 8, 4], "", False)
    author.allows("1 .. 7")
    author.says(live, 1, 5)
    assert (notice(link), live.is_continued) == ("", True)
    author.allows("1 .. 8")
    live = again()
    assert said(live) == [3, 5]


def test_what_bots_choose_meanwhile_makes_room_for_what_comes_back(author: Author) -> None:
    live, link = author.table("person", "bot:random")
    author.says(live, 0, 9)
    until(lambda: len(live.kept.choices) == 2)
    author.served.done(live.take(0, "bot", "random"))
    author.served.done(live.take(1, "person"))
    until(lambda: len(live.kept.choices) == 3)
    before = [*live.kept.choices]
    author.allows("1 .. 1")
    until(lambda: len(live.kept.choices) == 1 and live.kept.choices[0]["by"] == 0)
    assert live.kept.choices[0] != before[0]
    for _ in range(2):
        chosen = [*live.kept.choices]
        assert "3 choices no longer fit and were taken back, from <code>number n=9</code> on" in notice(link)
        author.allows("1 .. 2")
        assert live.kept.choices == chosen, "what they chose since stays"
    author.allows("1 .. 9")
    assert (live.kept.choices, notice(link)) == (before, "")
    author.served.within(lambda: author.served.hall._leave(live))
    assert author.served.done(author.served.hall.live(live.kept.id)).kept.choices == before


HIDES = FAMILY.replace("    score: {", "    wish: {value: int, start: 0, seen: owner}\n    score: {")
SEALED = """\
for each s in seats:
  choose hide by s, sealed:
    number n in 1 .. 9:
      s.wish = n
  choose say by s, sealed:
    number n in 1 .. {}:
      amount = {}
if round == 4:
  end game
"""


@pytest.mark.parametrize("changed", [("s.wish", "n"), ("9", "row[s.wish]")])
def test_rules_that_no_longer_fit_tell_nothing_hidden(author: Author, changed: tuple[str, str]) -> None:
    """Whoever asks about a line of the log, or opens the table again, reads where the rules do not fit; why they do not
    could tell a sealed choice."""
    served, told = author.served, list[list[str]]()
    served.wait = 60.0  # a process begins
    for number in (6, 7):
        write(author.folder / "rulesets", SEALED.format("9", "n"), family=HIDES)
        live, _ = author.table("person", "person", "person")
        author.says(live, 0, number)
        author.says(live, 0, 9)
        write(author.folder / "rulesets", SEALED.format(*changed), family=HIDES)
        token = live.kept.seats[2].token
        view = served.within(partial(served.hall.view, token, "x" * 20, live, 2))
        served.done(view.attempt(served.hall.explain(view, "1")))
        served.done(author.watch.changed({str(path) for path in (author.folder / "rulesets").rglob("*.yaml")}))
        told.append([str(view.said), notice(f"{served.base}/seat/{token}")])
        served.within(partial(served.hall._leave, live))
        page = get(f"{served.base}/seat/{token}")
        told[-1].append(notice(f"{served.base}/seat/{token}") if page.status_code == 200 else page.text)
    assert told[0] == told[1]
    assert any(place in told[0][0] for place in ("choice 2 no longer fits", "R001 in small/family.yaml:"))
