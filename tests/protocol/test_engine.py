"""The line protocol: what is asked and what is answered."""

from __future__ import annotations

import json
import random
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from interpreter.loading.load import load
from interpreter.protocol.engine_server import METHODS, Engine, serve
from tests.small import loaded, write
from tests.support import ENVELOPES, shared

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "schemas" / "protocol" / "engine.schema.json").read_text(encoding="utf-8")
)


def fits(value: Any, place: str) -> None:
    schema = {"$defs": SCHEMA["$defs"], "$ref": f"#/$defs/{place}"}
    Draft202012Validator(schema).validate(value)


def ask(engine: Engine, method: str, **params: Any) -> Any:
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    line = engine.answer(json.dumps(request))
    assert line is not None
    answer = json.loads(line)
    fits(answer, "answer")
    if "error" in answer:
        return answer["error"]
    fits(request, "request")
    fits(answer["result"], f"results/{method}")
    return answer["result"]


@pytest.fixture
def engine() -> Engine:
    return Engine(load("goofspiel"))


def test_a_whole_game(engine: Engine) -> None:
    about = ask(engine, "version")
    assert (about["protocol"], about["ruleset"]) == (1, "goofspiel")
    assert about["methods"] == list(METHODS) == SCHEMA["$defs"]["request"]["properties"]["method"]["enum"]
    assert set(SCHEMA["$defs"]["results"]) == set(METHODS)
    state = ask(engine, "new", players=2, seed=5)
    number = 0
    while not state["over"]:
        options = ask(engine, "options", game=state["game"])
        assert options["complete"]
        chosen = options["options"][number % len(options["options"])]
        state = ask(engine, "apply", game=state["game"], choice=chosen)
        number += 1
    assert state["choices"] == number == 26
    assert state["result"]["winners"]
    assert ask(engine, "options", game=state["game"]) == {"options": [], "complete": True}
    assert ask(engine, "hint", game=state["game"])["message"] == "the game is over"
    log = ask(engine, "log", game=state["game"], player=0)
    assert ask(engine, "log", game=state["game"], player=0, since=log["next"] - 1)["lines"] == log["lines"][-1:]
    assert ask(engine, "close", game=state["game"]) == {"closed": 1}
    assert ask(engine, "status", game=1)["code"] == 3


def test_copies_and_going_back(engine: Engine) -> None:
    game = ask(engine, "new", players=3, seed=2)["game"]
    ask(engine, "apply", game=game, option=4)
    copy = ask(engine, "clone", game=game)
    assert copy["game"] != game
    assert ask(engine, "undo", game=game)["choices"] == 0
    assert ask(engine, "undo", game=game)["undone"] is False
    assert ask(engine, "status", game=copy["game"])["choices"] == 1
    saved = ask(engine, "save", game=copy["game"])["save"]
    again = ask(engine, "load", save=saved)
    assert again["choices"] == 1
    assert ask(engine, "view", game=again["game"]) == ask(engine, "view", game=copy["game"])


@pytest.mark.parametrize(("ruleset", "offered"), [(ENVELOPES, {"count": 1}), ("goofspiel", [])])
def test_a_seat_sees_what_it_may(ruleset: str, offered: object) -> None:
    engine = Engine(load(ruleset))
    game = ask(engine, "new", players=2, seed=2)["game"]
    ask(engine, "apply", game=game, choice={"do": "play", "value": 7})
    hands = ask(engine, "view", game=game, player=1)["view"]["seats"]
    assert hands[0]["offered"] == offered
    assert isinstance(hands[1]["hand"], list)
    texts = [line["text"] for line in ask(engine, "log", game=game, player=1)["lines"]]
    assert not any("7" in text and "player 1" in text for text in texts)


def test_errors_are_values(engine: Engine) -> None:
    game = ask(engine, "new", players=2, seed=2)["game"]
    refused = ask(engine, "apply", game=game, choice={"do": "play", "value": 99})
    assert refused["code"] == 1
    assert refused["data"]["rule"]
    assert ask(engine, "explain", game=game, choice={"do": "play", "value": 99})["legal"] is False
    assert ask(engine, "explain", game=game, choice={"do": "play", "value": 3})["legal"] is True
    assert ask(engine, "hint", game=game)["choice"]["do"] == "play"
    bad: list[tuple[str, dict[str, Any], str]] = [
        ("new", {"players": 99}, "players"),
        ("new", {"seed": -1}, "seed: got -1, want 0 to"),
        ("new", {"sed": 1}, "unknown parameter `sed`; did you mean `seed`?"),
        ("new", {"players": True}, "players: got true, want a whole number"),
        ("apply", {"game": game}, "want either `choice` or `option`"),
        ("apply", {"game": game, "option": 400}, "unknown option 400"),
        ("apply", {"game": game, "option": 2**63}, "unknown option 9223372036854775808"),
        ("apply", {}, "`game` is missing"),
        ("view", {"game": game, "player": 7}, "player: got 7, want 0 to 1"),
        ("load", {"save": "no"}, ""),
        ("hint", {"game": game, "bot": "nobody"}, "unknown bot `nobody`"),
        ("hint", {"game": game, "bot": "cmd:rm -rf x"}, "are allowed on the command line only"),
        ("nothing", {}, "unknown method `nothing`"),
    ]
    for method, params, message in bad:
        error = ask(engine, method, **params)
        assert message in error["message"], error
    for line, code in [
        ("", -32700),
        ("{", -32700),
        ("[1]", -32600),
        ('{"id": 1}', -32600),
        ('{"id": {}, "method": "new"}', -32600),
    ]:
        assert json.loads(engine.answer(line) or "")["error"]["code"] == code
    assert engine.answer('{"method": "version"}') is None
    assert json.loads(engine.answer("[" * 100_000) or "")["error"]["code"] == -32700


def test_an_option_is_found_without_listing_those_behind_it(tmp_path: Path) -> None:
    act = "choose pick by seats[0]:\n  take number in 1 .. 9 where 6 div (number - 2) < 9:\n    amount = number"
    engine = Engine(loaded(write(tmp_path, act)))
    game = ask(engine, "new", players=2, seed=1)["game"]
    assert "division by 0" in ask(engine, "options", game=game)["message"]
    assert ask(engine, "apply", game=game, option=0)["choices"] == 1


def test_it_ends_with_quit_and_with_its_input() -> None:
    for text, count in [
        ('{"id":1,"method":"quit"}\n{"id":2,"method":"version"}\n', 1),
        ('\n{"id":2,"method":"version"}', 1),
    ]:
        answers = StringIO()
        serve(load("goofspiel"), StringIO(text), answers)
        assert len(answers.getvalue().splitlines()) == count


@shared
def _ruleset() -> Any:
    return load("goofspiel")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
_NAMES = st.sampled_from(sorted(SCHEMA["$defs"]["params"]["properties"]))
_PARAMS = st.dictionaries(_NAMES, st.integers(0, 3) | _JSON, max_size=4) | _JSON


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(st.sampled_from(sorted(METHODS)) | st.text(max_size=6), _PARAMS), min_size=1, max_size=6),
    st.text(max_size=30),
)
def test_whatever_comes_in_an_answer_goes_out(requests: list[tuple[str, Any]], noise: str) -> None:
    engine = Engine(_ruleset())
    ask(engine, "new", players=2, seed=1)
    for method, params in requests:
        line = engine.answer(json.dumps({"id": 1, "method": method, "params": params}))
        assert line is not None
        assert "\n" not in line
        fits(json.loads(line), "answer")
    line = engine.answer(noise)
    if line is not None:
        fits(json.loads(line), "answer")


def test_lines_that_are_damaged_are_answered() -> None:
    dice = random.Random(3)
    engine = Engine(load("goofspiel"))
    ask(engine, "new", players=2)
    lines = [
        json.dumps({"id": 1, "method": "apply", "params": {"game": 1, "choice": {"do": "play", "value": 3}}}),
        json.dumps({"id": 2, "method": "log", "params": {"game": 1, "player": 0}}),
        json.dumps({"id": 3, "method": "load", "params": {"save": ask(engine, "save", game=1)["save"]}}),
    ]
    for _ in range(400):
        text = list(dice.choice(lines))
        for _ in range(dice.randint(1, 3)):
            at = dice.randrange(len(text))
            text[at : at + dice.randint(0, 2)] = dice.choice(
                ["", "{", "}", '"', "0", "9" * 40, "\\", ",", "null", "[", "é"]
            )
        line = engine.answer("".join(text))
        if line is not None:
            fits(json.loads(line), "answer")


def test_a_value_that_is_too_deep_is_refused(engine: Engine) -> None:
    deep = "[" * 976 + "]" * 976
    line = engine.answer(f'{{"jsonrpc": "2.0", "id": 1, "method": "status", "params": {{"game": {deep}}}}}')
    assert line is not None
    assert "error" in json.loads(line)


def test_a_line_that_is_too_long_is_one_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interpreter.protocol.engine_server.MOST_CHARACTERS", 100)
    status = '{"jsonrpc": "2.0", "id": 2, "method": "version"}'
    answers = StringIO()
    serve(load("goofspiel"), StringIO(f"{'x' * 250}{status}\n{status}\n"), answers)
    first, second = map(json.loads, answers.getvalue().splitlines())
    assert "error" in first
    assert second["id"] == 2
