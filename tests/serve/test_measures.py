"""Measures of a finished game on its page: by seat and round, and nothing of them before the end."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from interpreter.bots.registry import bots_of, default_bots
from interpreter.loading.load import load
from interpreter.play.game_records import read_saved_game, write_log
from interpreter.play.match import Match
from interpreter.serve.live import PUBLIC
from interpreter.serve.table_page import View
from interpreter.simulate.measurements import taken

from .served import Served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(tmp_path_factory.mktemp("measures") / "tables.sqlite")
    yield running
    running.close()


def pieces_of(served: Served, id: str, seat: int, language: str = "en", moment: int | None = None) -> dict[str, str]:
    """Return the pieces of a page as it reads them, of a table that may have left memory."""

    async def shown() -> dict[str, str]:
        view = View(await served.hall.live(id), seat, language, moment=moment)
        await view.read()
        return view.pieces()

    return served.done(shown())


def cells(html: str, row: str) -> list[str]:
    found = re.search(rf"<tr><th[^>]*><bdi>{row}</bdi></th>(.*?)</tr>", html)
    assert found is not None, row
    return re.findall(r"<td>(.*?)</td>", found[1])


@pytest.mark.parametrize(
    ("ruleset", "players", "name", "title"),
    [("korea-2018", 3, "money", "Money"), ("outpost", 3, "money", "Money"), ("goofspiel", 2, "points", "Points")],
)
def test_a_finished_game_shows_what_its_family_measures(
    served: Served, ruleset: str, players: int, name: str, title: str
) -> None:
    """Also as a loaded log and after it has left memory; not at an earlier moment, and not before the end."""
    found = load(ruleset)
    match = Match(found, bots_of(default_bots(found), found, players), 5)
    match.play()
    game, lines = match.game, list[str]()
    write_log(game, lines.append)
    text = "".join(lines)
    kept = served.done(served.hall.from_log(text))
    measured = taken(game)
    ends = {each.of[0]: each.value for each in measured[name]}
    for seat in (0, PUBLIC):
        windows = pieces_of(served, kept.id, seat)["windows"]
        assert cells(windows, title) == [str(ends[each]) for each in range(players)]
        drawn = windows.count('class="lines"')
        assert drawn == windows.count("<figure>") >= 1
    rounds = {each.round: each.value for each in measured[name] if each.of == (1,)}
    chart = windows[windows.index(f"<figcaption>{title} by round") :].split("</figure>")[0]
    second = chart.split("<tbody>")[1].split("</tr>")[1]
    assert re.findall(r"<td>(.*?)</td>", second) == [str(value) for _, value in sorted(rounds.items())]

    served.within(lambda: served.hall._leave(served.hall.lives[kept.id]))
    assert pieces_of(served, kept.id, PUBLIC)["windows"] == windows
    assert "measures" not in pieces_of(served, kept.id, 0, moment=len(game.choices) - 1)["windows"]
    going = served.done(served.hall.go_on(read_saved_game(text), len(game.choices) - players))
    before = pieces_of(served, going.id, 0)
    assert "measures" not in before["windows"] + before["bar"]
    assert served.hall.lives[going.id].measured is None


def test_measures_speak_the_language_of_the_reader(served: Served) -> None:
    """Each measure of a ruleset with a file of words has a word in it."""
    for ruleset in ("germany-2018", "korea-2018"):
        model = load(ruleset).model
        shown = [each.name for each in model.measures if each.name not in ("first_order", "plants_kept")]
        assert [name for name in shown if "de" not in model.says.get(f"measures.{name}", {})] == []
