"""Engine of the line protocol: JSON-RPC 2.0, one request and one answer a line.

``docs/engine.md`` and ``schemas/protocol/engine.schema.json`` describe the messages. Errors are values: for any input,
:meth:`Engine.answer` returns a line, or None for a notification.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import islice
from typing import IO

from interpreter.base.diagnostics import RulesetError
from interpreter.base.plain_data import Json, Value
from interpreter.base.suggest import did_you_mean
from interpreter.bots.player import Stream
from interpreter.bots.registry import adviser, bots_of
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.ruleset import Ruleset
from interpreter.engine.views import Line, numbered_lines, pending
from interpreter.explain.legality import conditions_of
from interpreter.lowering.constants import RuleFailure

__all__ = ["METHODS", "PROTOCOL", "Engine", "serve"]

PROTOCOL = 1
"""Version of the protocol."""
MOST_GAMES = 1_000
MOST_CHARACTERS = 16 * 1024 * 1024
"""Longer lines are refused."""
MOST_OPTIONS = 10_000

PARSE, REQUEST, METHOD, PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
ILLEGAL, FAILED, NO_GAME = 1, 2, 3
"""Error codes: an illegal choice, a rule that fails, an unknown game."""


class Refused(Exception):
    """An invalid request: error code, message, and further data."""

    def __init__(self, code: int, message: str, data: Mapping[str, Json] | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, dict(data or {})

    def as_dict(self) -> dict[str, Json]:
        return {"code": self.code, "message": self.message, **({"data": self.data} if self.data else {})}


class _Params:
    """Parameters of a request. Each is taken once; any left at the end are unknown."""

    def __init__(self, params: object) -> None:
        if params is None:
            params = {}
        if not isinstance(params, dict):
            raise Refused(PARAMS, "params: want an object")
        self.left: dict[str, Json] = dict(params)
        self.known: list[str] = []

    def take(self, name: str, want: str, kind: type | tuple[type, ...], default: object = ...) -> Value:
        """Take a parameter of a JSON type. It is required unless a default is passed; ``null`` counts as missing."""
        self.known.append(name)
        value = self.left.pop(name, None)
        if value is None:
            if default is ...:
                raise Refused(PARAMS, f"`{name}` is missing, want {want}")
            return default
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise Refused(PARAMS, f"{name}: got {_short(value)}, want {want}")
        return value

    def number(self, name: str, default: object = ..., least: int = 0, most: int = 2**64 - 1) -> Value:
        value = self.take(name, "a whole number", int, default)
        if value is not default and not least <= value <= most:
            raise Refused(PARAMS, f"{name}: got {_short(value)}, want {least} to {most}")
        return value

    def finish(self) -> None:
        for name in self.left:
            raise Refused(PARAMS, f"unknown parameter `{name[:60]}`{did_you_mean(name, self.known)}")


def _short(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=True, default=str)
    except RecursionError:
        return "a deep value"
    return text if len(text) <= 60 else f"{text[:57]}…"


class Engine:
    """Games of one ruleset, for one client."""

    def __init__(self, ruleset: Ruleset, version: str = "") -> None:
        self.ruleset, self.program = ruleset, version
        self.games: dict[int, Game] = {}
        self.is_over = False
        """Whether the client has sent `quit`."""
        self._last = 0

    def answer(self, line: str) -> str | None:
        """Return the answer to a line; None if the request has no id."""
        number: Json = None
        try:
            request = _parsed(line)
            number = request.get("id")
            if number is not None and (isinstance(number, bool) or not isinstance(number, int | str)):
                number = None
                raise Refused(REQUEST, "id: want a number or a text")
            result = self._result(request)
        except Refused as refused:
            return _line({"jsonrpc": "2.0", "id": number, "error": refused.as_dict()})
        if "id" not in request:
            return None
        return _line({"jsonrpc": "2.0", "id": number, "result": result})

    def _result(self, request: dict[str, Json]) -> Json:
        method = request.get("method")
        if not isinstance(method, str):
            raise Refused(REQUEST, "method: want a text")
        handler = METHODS.get(method)
        if handler is None:
            hint = did_you_mean(method, METHODS) or f"; there are {', '.join(METHODS)}"
            raise Refused(METHOD, f"unknown method `{method[:60]}`{hint}")
        params = _Params(request.get("params"))
        try:
            return handler(self, params)
        except IllegalMove as error:
            reasons: list[Json] = [
                {"message": each.message, "rule": each.rule, "cites": list(each.cites)} for each in error.reasons
            ]
            data = {"rule": error.rule, "cites": list(error.cites), "reasons": reasons}
            raise Refused(ILLEGAL, str(error), data) from None
        except RuleFailure as error:
            chain = [str(caller) for caller in error.chain]
            place = str(error.span) if error.span else None
            raise Refused(FAILED, error.message, {"place": place, "chain": chain}) from None
        except RulesetError as error:
            raise Refused(PARAMS, error.diagnostics[0].message) from None
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise Refused(PARAMS, str(error)) from None

    # --- games

    def _game(self, params: _Params) -> tuple[int, Game]:
        number = params.number("game")
        game = self.games.get(number)
        if game is None:
            raise Refused(NO_GAME, f"unknown game {number}")
        return number, game

    def _added(self, game: Game) -> dict[str, Json]:
        if len(self.games) >= MOST_GAMES:
            raise Refused(PARAMS, f"too many games: {MOST_GAMES}; `close` some first")
        self._last += 1
        self.games[self._last] = game
        return self._status(self._last, game)

    def _status(self, number: int, game: Game, player: int | None = None) -> dict[str, Json]:
        status: dict[str, Json] = {"game": number, "over": game.is_over}
        question = pending(game.table, game.state, player)
        for name in ("decision", "actor", "actors", "context"):
            status[name] = question[name]
        status["choices"] = len(game.choices)
        result = game.result if game.is_over else None
        if result is not None:
            status["result"] = {
                "places": list(result.places),
                "winners": result.winners,
                "keys": list(map(self.ruleset.model.keys_by_name, result.keys)),
            }
        return status

    def _player(self, game: Game, params: _Params, name: str = "player") -> int | None:
        seats = len(game.machine.constants.seats)
        seat: int | None = params.number(name, None, 0, seats - 1)
        return seat

    def _decision(self, game: Game, by: int | None) -> Decision:
        decision = game.decision if by is None else game.decision_of(by)
        if decision is None:
            raise Refused(ILLEGAL, "the game is over" if game.is_over else f"seat {by} does not decide now")
        return decision

    # --- methods

    def version(self, params: _Params) -> dict[str, Json]:
        params.finish()
        return {
            "protocol": PROTOCOL,
            "regelwerk": self.program,
            "ruleset": self.ruleset.id,
            "title": self.ruleset.title,
            "players": [number for number in range(1, 100) if number in self.ruleset.players],
            "settings": list(self.ruleset.model.settings) + list(self.ruleset.model.interpretations),
            "digest": self.ruleset.digest,
            "methods": list(METHODS),
        }

    def new(self, params: _Params) -> dict[str, Json]:
        players = params.number("players", self.ruleset.players.usual, 1, 99)
        seed = params.number("seed", 0)
        settings = params.take("settings", "an object", dict, {})
        chance = params.take("chance", "an object", dict, None)
        params.finish()
        return self._added(self.ruleset.new_game(players, seed, settings, chance))

    def status(self, params: _Params) -> dict[str, Json]:
        number, game = self._game(params)
        player = self._player(game, params)
        params.finish()
        return self._status(number, game, player)

    def options(self, params: _Params) -> dict[str, Json]:
        _, game = self._game(params)
        by = self._player(game, params, "by")
        most = params.number("most", MOST_OPTIONS, 1, MOST_OPTIONS)
        params.finish()
        if game.is_over and by is None:
            return {"options": [], "complete": True}
        options = self._decision(game, by).options
        listed = [option.as_dict() for option in islice(options, most + 1)]
        return {"options": listed[:most], "complete": len(listed) <= most}

    def apply(self, params: _Params) -> dict[str, Json]:
        number, game = self._game(params)
        by = self._player(game, params, "by")
        index = params.number("option", None)
        choice = params.take("choice", "an object with `do`", dict, None)
        params.finish()
        if (index is None) == (choice is None):
            raise Refused(PARAMS, "want either `choice` or `option`")
        if index is not None:
            listed = list(islice(self._decision(game, by).options, index, index + 1))
            if not listed:
                raise Refused(ILLEGAL, f"unknown option {index}")
            choice = listed[0].as_dict()
        game.apply(choice, by=by)
        return self._status(number, game)

    def view(self, params: _Params) -> dict[str, Json]:
        _, game = self._game(params)
        player = self._player(game, params)
        params.finish()
        return {"view": game.view(player)}

    def log(self, params: _Params) -> dict[str, Json]:
        _, game = self._game(params)
        player, since = self._player(game, params), params.number("since", 0)
        language = params.take("language", "a language", str, "en")
        params.finish()
        lines = [
            {"number": place, **_line_data(line)}
            for place, line in numbered_lines(game.table, game.state, player, language)
        ]
        return {"lines": lines[since:], "next": len(lines)}

    def undo(self, params: _Params) -> dict[str, Json]:
        number, game = self._game(params)
        params.finish()
        undone = bool(game.choices) and game.undo()
        return {"undone": undone, **self._status(number, game)}

    def clone(self, params: _Params) -> dict[str, Json]:
        _, game = self._game(params)
        params.finish()
        return self._added(game.clone(log=True))

    def save(self, params: _Params) -> dict[str, Json]:
        _, game = self._game(params)
        params.finish()
        return {"save": game.to_json()}

    def load(self, params: _Params) -> dict[str, Json]:
        text = params.take("save", "the result of `save`", str)
        params.finish()
        return self._added(self.ruleset.load_game(text))

    def explain(self, params: _Params) -> dict[str, Json]:
        _, game = self._game(params)
        player = self._player(game, params)
        choice = params.take("choice", "an object with `do`", dict)
        params.finish()
        conditions = conditions_of(game, choice, player=player)
        is_told = game.decision is not None and player in (None, game.decision.actor)
        return {
            "legal": game.accepts(choice) if is_told else None,
            "conditions": [
                {
                    "text": each.text,
                    "holds": each.holds,
                    "values": dict(each.values),
                    "rule": each.rule,
                    "place": each.place,
                    "cites": {quote.id: quote.text for quote in each.cites},
                }
                for each in conditions
            ],
        }

    def hint(self, params: _Params) -> dict[str, Json]:
        _, game = self._game(params)
        name = params.take("bot", "the name of a bot", str, None)
        params.finish()
        decision = self._decision(game, None)
        bot = bots_of(name or adviser(game.ruleset), game.ruleset, game.table.seats)[decision.actor]
        option = bot.choose(game.clone(log=True), decision, Stream(game.origin["seed"], "hint"))
        return {"choice": option.as_dict(), "bot": bot.name}

    def close(self, params: _Params) -> dict[str, Json]:
        number, _ = self._game(params)
        params.finish()
        del self.games[number]
        return {"closed": number}

    def quit(self, params: _Params) -> dict[str, Json]:
        params.finish()
        self.is_over = True
        return {}


METHODS: dict[str, Callable[[Engine, _Params], dict[str, Json]]] = {
    method.__name__: method
    for method in (
        *(Engine.version, Engine.new, Engine.status, Engine.options, Engine.apply, Engine.view, Engine.log),
        *(Engine.undo, Engine.clone, Engine.save, Engine.load, Engine.explain, Engine.hint, Engine.close, Engine.quit),
    )
}
"""Methods by name."""


def _parsed(line: str) -> dict[str, Json]:
    if len(line) > MOST_CHARACTERS:
        raise Refused(PARSE, f"line too long: more than {MOST_CHARACTERS:,} characters")
    try:
        request = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Refused(PARSE, f"not valid JSON: {error}") from None
    if not isinstance(request, dict):
        raise Refused(REQUEST, "want an object with `id`, `method` and `params`")
    return request


def _no_number(word: str) -> Json:
    raise ValueError(f"{word} is not a JSON number")


def _line(message: Mapping[str, Json]) -> str:
    return json.dumps(message, ensure_ascii=True, separators=(",", ":"))


def _line_data(line: Line) -> dict[str, Json]:
    return {
        "kind": line.kind,
        "name": line.name,
        "text": line.text,
        "actor": line.actor,
        "values": line.values,
        "rule": line.rule,
        "cites": list(line.cites),
    }


def serve(ruleset: Ruleset, requests: IO[str], answers: IO[str], version: str = "") -> None:
    """Answer requests until the input ends or `quit` is sent. ``version`` is that of Regelwerk."""
    engine = Engine(ruleset, version)
    while not engine.is_over and (line := requests.readline(MOST_CHARACTERS + 2)):
        if not line.strip():
            continue
        rest = line
        while len(rest) > MOST_CHARACTERS and not rest.endswith("\n"):  # the rest of a line is no request of its own
            rest = requests.readline(MOST_CHARACTERS + 2)
        answer = engine.answer(line)
        if answer is not None:
            answers.write(answer + "\n")
            answers.flush()
