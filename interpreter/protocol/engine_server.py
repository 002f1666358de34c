"""Engine of the line protocol: JSON-RPC 2.0, one request and one answer a line.

``docs/engine.md`` and ``schemas/protocol/engine.schema.json`` describe the messages. Errors are values: for any input,
:meth:`Engine.answer` returns a line, or None for a notification.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import IO, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.diagnostics import RulesetError
from interpreter.base.plain_data import Json, Value
from interpreter.base.suggest import did_you_mean
from interpreter.bots.player import Stream
from interpreter.bots.registry import adviser, bots_of
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.ruleset import Ruleset
from interpreter.engine.views import numbered_lines, pending
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


class _Parameter(Struct, frozen=True):
    """A parameter of a method: its JSON type, in words too; its default, unless it is required; the range of a
    number."""

    name: str
    want: str
    kind: type
    default: Value = ...
    least: int = 0
    most: int = 2**64 - 1

    def of(self, params: Mapping[str, Value]) -> Value:
        """Return the value of the parameter; ``null`` counts as missing."""
        value = params.get(self.name)
        if value is None:
            if self.default is ...:
                raise Refused(PARAMS, f"`{self.name}` is missing, want {self.want}")
            return self.default
        if not isinstance(value, self.kind) or isinstance(value, bool):
            raise Refused(PARAMS, f"{self.name}: got {_short(value)}, want {self.want}")
        if isinstance(value, int) and not self.least <= value <= self.most:
            raise Refused(PARAMS, f"{self.name}: got {_short(value)}, want {self.least} to {self.most}")
        return value


def _number(name: str, default: Value = ..., least: int = 0, most: int = 2**64 - 1) -> _Parameter:
    return _Parameter(name, "a whole number", int, default, least, most)


_GAME, _PLAYER, _BY = _number("game"), _number("player", None), _number("by", None)
"""A game, and one of its seats."""

METHODS: dict[str, tuple[Callable[..., dict[str, Json]], tuple[_Parameter, ...]]] = {}
"""Methods by name, with their parameters."""

_Method = TypeVar("_Method", bound=Callable[..., dict[str, Json]])


def _method(*parameters: _Parameter) -> Callable[[_Method], _Method]:
    """Make a function a method of the protocol. It gets the values of these parameters."""

    def added(function: _Method) -> _Method:
        METHODS[function.__name__] = function, parameters
        return function

    return added


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
        if method not in METHODS:
            hint = did_you_mean(method, METHODS) or f"; there are {', '.join(METHODS)}"
            raise Refused(METHOD, f"unknown method `{method[:60]}`{hint}")
        handler, parameters = METHODS[method]
        values = list(self._values(request.get("params"), parameters))
        try:
            return handler(self, *values)
        except IllegalMove as error:
            reasons = [_picked(each, "message", "rule", "cites") for each in error.reasons]
            raise Refused(ILLEGAL, str(error), {**_picked(error, "rule", "cites"), "reasons": reasons}) from None
        except RuleFailure as error:
            chain = [str(caller) for caller in error.chain]
            place = str(error.span) if error.span else None
            raise Refused(FAILED, error.message, {"place": place, "chain": chain}) from None
        except RulesetError as error:
            raise Refused(PARAMS, error.diagnostics[0].message) from None
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise Refused(PARAMS, str(error)) from None

    def _values(self, params: Json, parameters: Sequence[_Parameter]) -> Iterator[Value]:
        """Yield the values of the parameters of a request: the game for its number. At the end, others are refused."""
        if not isinstance(params, dict | None):
            raise Refused(PARAMS, "params: want an object")
        given: dict[str, Value] = params or {}
        for parameter in parameters:
            if parameter in (_PLAYER, _BY):
                seats = len(self.games[given["game"]].machine.constants.seats)
                parameter = replace(parameter, most=seats - 1)
            value = parameter.of(given)
            if parameter is _GAME and value not in self.games:
                raise Refused(NO_GAME, f"unknown game {value}")
            yield self.games[value] if parameter is _GAME else value
        known = [parameter.name for parameter in parameters]
        for name in given:
            if name not in known:
                raise Refused(PARAMS, f"unknown parameter `{name[:60]}`{did_you_mean(name, known)}")

    # --- games

    def _added(self, game: Game) -> dict[str, Json]:
        if len(self.games) >= MOST_GAMES:
            raise Refused(PARAMS, f"too many games: {MOST_GAMES}; `close` some first")
        self._last += 1
        self.games[self._last] = game
        return self.status(game)

    def _number_of(self, game: Game) -> int:
        return next(number for number, each in self.games.items() if each is game)

    def _decision(self, game: Game, by: int | None) -> Decision:
        decision = game.decision if by is None else game.decision_of(by)
        if decision is None:
            raise Refused(ILLEGAL, "the game is over" if game.is_over else f"seat {by} does not decide now")
        return decision

    # --- methods

    @_method()
    def version(self) -> dict[str, Json]:
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

    @_method(
        _number("players", None, 1, 99),
        _number("seed", 0),
        _Parameter("settings", "an object", dict, None),
        _Parameter("chance", "an object", dict, None),
    )
    def new(self, players: int | None, seed: int, settings: Value, chance: Value) -> dict[str, Json]:
        number = players or self.ruleset.players.usual
        return self._added(self.ruleset.new_game(number, seed, settings or {}, chance))

    @_method(_GAME, _PLAYER)
    def status(self, game: Game, player: int | None = None) -> dict[str, Json]:
        question = pending(game.table, game.state, player)
        status: dict[str, Json] = {
            "game": self._number_of(game),
            "over": game.is_over,
            **{name: question[name] for name in ("decision", "actor", "actors", "context")},
            "choices": len(game.choices),
        }
        result = game.result if game.is_over else None
        if result is not None:
            keys = list(map(self.ruleset.model.keys_by_name, result.keys))
            status["result"] = {**_picked(result, "places", "winners"), "keys": keys}
        return status

    @_method(_GAME, _BY, _number("most", MOST_OPTIONS, 1, MOST_OPTIONS))
    def options(self, game: Game, by: int | None, most: int) -> dict[str, Json]:
        if game.is_over and by is None:
            return {"options": [], "complete": True}
        options = self._decision(game, by).options
        listed = [option.as_dict() for option in islice(options, most + 1)]
        return {"options": listed[:most], "complete": len(listed) <= most}

    @_method(_GAME, _BY, _number("option", None), _Parameter("choice", "an object with `do`", dict, None))
    def apply(self, game: Game, by: int | None, index: int | None, choice: Value) -> dict[str, Json]:
        if (index is None) == (choice is None):
            raise Refused(PARAMS, "want either `choice` or `option`")
        if index is not None:
            listed = list(islice(self._decision(game, by).options, index, index + 1))
            if not listed:
                raise Refused(ILLEGAL, f"unknown option {index}")
            choice = listed[0].as_dict()
        game.apply(choice, by=by)
        return self.status(game)

    @_method(_GAME, _PLAYER)
    def view(self, game: Game, player: int | None) -> dict[str, Json]:
        return {"view": game.view(player)}

    @_method(_GAME, _PLAYER, _number("since", 0), _Parameter("language", "a language", str, "en"))
    def log(self, game: Game, player: int | None, since: int, language: str) -> dict[str, Json]:
        facts = ("kind", "name", "text", "actor", "values", "rule", "cites")
        lines = [
            {"number": place, **_picked(line, *facts)}
            for place, line in numbered_lines(game.table, game.state, player, language)
        ]
        return {"lines": lines[since:], "next": len(lines)}

    @_method(_GAME)
    def undo(self, game: Game) -> dict[str, Json]:
        undone = bool(game.choices) and game.undo()
        return {"undone": undone, **self.status(game)}

    @_method(_GAME)
    def clone(self, game: Game) -> dict[str, Json]:
        return self._added(game.clone(log=True))

    @_method(_GAME)
    def save(self, game: Game) -> dict[str, Json]:
        return {"save": game.to_json()}

    @_method(_Parameter("save", "the result of `save`", str))
    def load(self, text: str) -> dict[str, Json]:
        return self._added(self.ruleset.load_game(text))

    @_method(_GAME, _PLAYER, _Parameter("choice", "an object with `do`", dict))
    def explain(self, game: Game, player: int | None, choice: Value) -> dict[str, Json]:
        conditions = [
            {
                **_picked(each, "text", "holds"),
                "values": dict(each.values),
                **_picked(each, "rule", "place"),
                "cites": {quote.id: quote.text for quote in each.cites},
            }
            for each in conditions_of(game, choice, player=player)
        ]
        is_told = game.decision is not None and player in (None, game.decision.actor)
        return {"legal": game.accepts(choice) if is_told else None, "conditions": conditions}

    @_method(_GAME, _Parameter("bot", "the name of a bot", str, None))
    def hint(self, game: Game, name: str | None) -> dict[str, Json]:
        decision = self._decision(game, None)
        bot = bots_of(name or adviser(game.ruleset), game.ruleset, game.table.seats)[decision.actor]
        option = bot.choose(game.clone(log=True), decision, Stream(game.origin["seed"], "hint"))
        return {"choice": option.as_dict(), "bot": bot.name}

    @_method(_GAME)
    def close(self, game: Game) -> dict[str, Json]:
        number = self._number_of(game)
        del self.games[number]
        return {"closed": number}

    @_method()
    def quit(self) -> dict[str, Json]:
        self.is_over = True
        return {}


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


def _picked(record: object, *names: str) -> dict[str, Json]:
    return {name: getattr(record, name) for name in names}


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
