"""Lines of a log that read as one: what one seat does, one event several times, choices in a row."""

from __future__ import annotations

from pathlib import Path

import pytest

from interpreter.bots.registry import bots_of
from interpreter.engine.views import BoardTable, Line
from interpreter.play.match import Match
from interpreter.play.narration import Narrator, sentences
from tests.small import FAMILY, loaded, write

EVENTS = """\
  bought: {with: {who: seat, gem: gem, price: int}, says: "{who} buys 1 {gem} for {price}"}
  sold: {with: {who: seat}, says: "{who} sells"}
  due: {with: {number: int}, says: "The bank gets {number}"}
  shut: {with: {}, says: "The bank closes"}
"""
A, B = "seats[0]", "seats[1]"
CASES = {
    "equal ones are counted": (
        [f"bought({A}, ruby, 1)", f"bought({A}, ruby, 1)", f"bought({A}, onyx, 2)", f"bought({A}, onyx, 2)"],
        ["player 1 buys 2 × 1 ruby for 1; 2 × 1 onyx for 2"],
    ),
    "what one seat does": (
        [f"bought({A}, ruby, 1)", f"sold({A})", f"bought({A}, onyx, 3)", f"sold({B})", f"bought({B}, onyx, 3)"],
        ["player 1 buys 1 ruby for 1; sells; buys 1 onyx for 3", "player 2 sells; buys 1 onyx for 3"],
    ),
    "one event": (
        ["due(1)", "due(2)", "shut()", "due(3)"],
        ["The bank gets 1; 2", "The bank closes", "The bank gets 3"],
    ),
    "one event of several seats": ([f"sold({A})", f"sold({B})"], ["player 1 sells; player 2 sells"]),
    "one event without values": (["shut()", "shut()"], ["The bank closes; The bank closes"]),
    "different things": (
        [f"sold({A})", "due(1)", f"sold({A})"],
        ["player 1 sells", "The bank gets 1", "player 1 sells"],
    ),
}


def told(path: Path, *, joins: bool = True, player: int | None = None) -> list[str]:
    """Return the texts that a narrator tells of a game."""
    found: list[Line | BoardTable] = []
    ruleset = loaded(path)
    narrator = Narrator(found.append, player=player, joins=joins)
    Match(ruleset, bots_of("random", ruleset, 2), 1, watchers=[narrator]).play()
    narrator.flush()
    return [each.text for each in found if each.text]


def game(folder: Path, act: str, sections: str = "") -> Path:
    family = FAMILY.replace("events:\n", f"events:\n{EVENTS}")
    return write(folder, f"{act}\nend game", "", sections, family)


@pytest.mark.parametrize(("notes", "expected"), CASES.values(), ids=CASES)
def test_events_that_read_as_one(notes: list[str], expected: list[str], tmp_path: Path) -> None:
    path = game(tmp_path, "\n".join(f"note {note}" for note in notes))
    assert told(path) == expected
    assert len(told(path, joins=False)) == len(notes)


def test_choices_in_a_row_are_one_sentence_until_something_happens(tmp_path: Path) -> None:
    act = "for each who in seats:\n  choose act by who:\n    go\nnote shut()\nchoose act by seats[1]:\n  go"
    expected = ["player 1: go; player 2: go", "The bank closes", "player 2: go"]
    assert told(game(tmp_path, act)) == expected


def test_a_turn_ends_a_sentence(tmp_path: Path) -> None:
    act = f"for each turn who in seats:\n  note sold({A})"
    assert told(game(tmp_path, act)) == ["player 1 sells"] * 2


def test_a_sealed_choice_is_no_part_of_what_is_revealed(tmp_path: Path) -> None:
    act = "choose bid by each s in seats, at once:\n  pay n in 1 .. 1:\n    s.score += n"
    assert told(game(tmp_path, act)) == [
        "player 1 chooses; player 2 chooses",
        "player 1: pay n 1; player 2: pay n 1",
    ]


def test_whoever_is_asked_has_read_all_before(tmp_path: Path) -> None:
    """The own decision of the seat that reads ends a sentence, also if it goes on afterwards."""
    act = "for each who in seats:\n  choose act by who:\n    go\nchoose act by seats[1]:\n  go"
    assert told(game(tmp_path, act), player=1) == ["player 1: go", "player 2: go", "player 2: go"]
    assert told(game(tmp_path, act), player=0) == ["player 1: go; player 2: 2 × go"]


def test_sentences_keep_the_number_of_each_line() -> None:
    lines = [
        ("1", Line("choice", "a.b", "", {})),
        ("1.1", Line("event", "sold", "Ann sells", {}, subject=3, lead=9)),
        ("2.1", Line("event", "sold", "Ann sells", {}, subject=3, lead=9)),
        ("2.2", Line("mark", "end of turn", "", {})),
        ("2.3", Line("event", "sold", "Ann sells", {}, subject=3, lead=9)),
    ]
    assert sentences(lines) == [[("1.1", "Ann sells"), ("2.1", "sells")], [("2.3", "Ann sells")]]
