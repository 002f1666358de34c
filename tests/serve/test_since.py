"""What has happened since a seat's last choice is marked: in the log, and at things that changed."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from interpreter.engine.game import Game
from interpreter.serve.live import PUBLIC, Live
from interpreter.serve.table_page import View

from .served import Served, first

SINCE = '<li class="since">'


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(tmp_path_factory.mktemp("since") / "tables.sqlite")
    yield running
    running.close()


def new(pieces: dict[str, str]) -> list[str]:
    """Return the things that are marked."""
    html = "".join(pieces.values())
    return re.findall(r'<g class="node new[^>]* data-thing="([^"]+)"', html) + re.findall(
        r'class="(?:card|counted) new.*?data-thing="([^"]+)"', html, re.DOTALL
    )


def choose(served: Served, live: Live) -> tuple[int, str]:
    """Choose the first option that is no stop, and return the seat and what it clicked."""
    decision = live.game.decision
    assert decision is not None
    option = next((each for each in decision.options if each.values), decision.options[0])
    choice = option.as_dict()
    served.done(live.choose(decision.actor, choice))
    return decision.actor, str(choice.get("city", ""))


def test_a_seat_sees_what_others_built_since_its_last_choice(served: Served) -> None:
    def holds(game: Game) -> bool:
        now = game.decision
        return now is not None and now.name == "build" and now.actor == game.value("turn_order")[-1]

    live, _ = served.moment("germany-2018", 3, holds, asks=True)
    one = live.game.decision.actor if live.game.decision is not None else 0
    served.done(live.choose(one, {"do": "stop"}))
    views = {seat: View(live, seat) for seat in (0, 1, 2, PUBLIC)}
    assert new(served.within(views[one].pieces)) == []
    assert SINCE not in served.within(views[one].pieces)["log"]
    (other, *_), built = [*zip(*(choose(served, live) for _ in range(2)), strict=True)]
    pieces = served.within(views[one].pieces)
    graph = live.ruleset.model.graph
    assert graph is not None
    names = [graph.nodes[int(each.rpartition(":")[2])].name for each in new(pieces) if each.startswith("node")]
    assert set(built) == set(names) != set()
    log = pieces["log"]
    assert log.count(SINCE) == 1
    assert built[0] in log[log.index(SINCE) :]
    assert SINCE not in served.within(views[PUBLIC].pieces)["log"]
    served.done(live.undo(other))
    names_now = new(served.within(views[one].pieces))
    assert len([each for each in names_now if each.startswith("node")]) == len(set(built)) - 1
    assert first(live, other)


def test_a_draft_shows_its_own_marks_alone(served: Served) -> None:
    def holds(game: Game) -> bool:
        now = game.decision
        return now is not None and now.name == "build" and game.round > 1 and len(now.options) > 2

    live, _ = served.moment("germany-2018", 3, holds, asks=True)
    seat = live.game.decision.actor if live.game.decision is not None else 0
    view = View(live, seat)
    log, before = served.within(view.pieces)["log"], new(served.within(view.pieces))
    assert before != []
    served.done(live.draft(seat, [first(live, seat)], armed=False))
    drafted = served.within(view.pieces)
    assert new(drafted) == []
    assert len(re.findall(r'class="node[^"]* would', drafted["over"])) == 1
    assert drafted["log"] == log
    served.done(live.draft(seat, [], armed=False))
    assert new(served.within(view.pieces)) == before
