"""Engine of the line protocol: JSON-RPC 2.0, one request and one answer a line.

``docs/engine.md`` and ``schemas/protocol/engine.schema.json`` describe the messages. Errors are values: for any input,
:meth:`Engine.answer` returns a line, or None for a notification.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from inspect import Parameter, signature
from itertools import islice
from sys import maxsize
from typing import IO

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.diagnostics import RulesetError
from interpreter.base.plain_data import Json, Value, data_of, json_in, picked
from interpreter.base.suggest import did_you_mean
from interpreter.bots.player import Stream
from interpreter.bots.registry import adviser, bots_of
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.refusal import IllegalMove
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
    """A parameter of methods: its JSON type, in words too, and the range of a number."""

    want: str
    kind: type
    least: int = 0
    most: int = 2**64 - 1

    def check(self, name: str, value: Value) -> None:
        if not isinstance(value, self.kind) or isinstance(value, bool):
            raise Refused(PARAMS, f"{name}: got {_short(value)}, want {self.want}")
        if isinstance(value, int) and not self.least <= value <= self.most:
            raise Refused(PARAMS, f"{name}: got {_short(value)}, want {self.least} to {self.most}")


_NUMBER = _Parameter("a whole number", int)
_PARAMETERS = {
    **dict.fromkeys(("game", "player", "by", "seed", "since", "option"), _NUMBER),
    "players": replace(_NUMBER, least=1, most=99),
    "most": replace(_NUMBER, least=1, most=MOST_OPTIONS),
    **dict.fromkeys(("settings", "chance"), _Parameter("an object", dict)),
    "choice": _Parameter("an object with `do`", dict),
    "save": _Parameter("the result of `save`", str),
    "language": _Parameter("a language", str),
    "bot": _Parameter("the name of a bot", str),
}
"""Parameters by name. The signature of a method says which it takes, and their defaults."""


def _short(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=True, default=str)
    except RecursionError:
        return "a deep value"
    return text if len(text) <= 60 else f"{text[:57]}…"


class _Methods:
    """Games of one ruleset. The public functions are the methods of the protocol."""

    def __init__(self, ruleset: Ruleset, version: str = "") -> None:
        self.ruleset, self.program = ruleset, version
        self.games: dict[int, Game] = {}
        self.is_over = False
        """Whether the client has sent `quit`."""
        self._last = 0

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

    def new(
        self, players: int | None = None, seed: int = 0, settings: Value = None, chance: Value = None
    ) -> dict[str, Json]:
        number = players or self.ruleset.players.usual
        return self._added(self.ruleset.new_game(number, seed, settings or {}, chance))

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
            status["result"] = {**picked(result, "places", "winners"), "keys": keys}
        return status

    def options(self, game: Game, by: int | None = None, most: int = MOST_OPTIONS) -> dict[str, Json]:
        if game.is_over and by is None:
            return {"options": [], "complete": True}
        options = self._decision(game, by).options
        listed = [option.as_dict() for option in islice(options, most + 1)]
        return {"options": listed[:most], "complete": len(listed) <= most}

    def apply(
        self, game: Game, by: int | None = None, option: int | None = None, choice: Value = None
    ) -> dict[str, Json]:
        if (option is None) == (choice is None):
            raise Refused(PARAMS, "want either `choice` or `option`")
        if option is not None:
            listed = [*islice(self._decision(game, by).options, option, option + 1)] if 0 <= option < maxsize else []
            if not listed:
                raise Refused(ILLEGAL, f"unknown option {option}")
            choice = listed[0].as_dict()
        game.apply(choice, by=by)
        return self.status(game)

    def view(self, game: Game, player: int | None = None) -> dict[str, Json]:
        return {"view": game.view(player)}

    def log(self, game: Game, player: int | None = None, since: int = 0, language: str = "en") -> dict[str, Json]:
        facts = ("kind", "name", "text", "actor", "values", "rule", "cites")
        lines = [
            {"number": place, **picked(line, *facts)}
            for place, line in numbered_lines(game.table, game.state, player, language)
        ]
        return {"lines": lines[since:], "next": len(lines)}

    def undo(self, game: Game) -> dict[str, Json]:
        undone = bool(game.choices) and game.undo()
        return {"undone": undone, **self.status(game)}

    def clone(self, game: Game) -> dict[str, Json]:
        return self._added(game.clone(log=True))

    def save(self, game: Game) -> dict[str, Json]:
        return {"save": game.to_json()}

    def load(self, save: str) -> dict[str, Json]:
        return self._added(self.ruleset.load_game(save))

    def explain(self, game: Game, player: int | None = None, *, choice: Value) -> dict[str, Json]:
        conditions = [
            {
                **picked(each, "text", "holds", "rule", "place"),
                "values": dict(each.values),
                "cites": {quote.id: quote.text for quote in each.cites},
            }
            for each in conditions_of(game, choice, player=player)
        ]
        is_told = game.decision is not None and player in (None, game.decision.actor)
        return {"legal": game.accepts(choice) if is_told else None, "conditions": conditions}

    def hint(self, game: Game, bot: str | None = None) -> dict[str, Json]:
        decision = self._decision(game, None)
        asked = bots_of(bot or adviser(game.ruleset), game.ruleset, game.table.seats)[decision.actor]
        option = asked.choose(game.clone(log=True), decision, Stream(game.origin["seed"], "hint"))
        return {"choice": option.as_dict(), "bot": asked.name}

    def close(self, game: Game) -> dict[str, Json]:
        number = self._number_of(game)
        del self.games[number]
        return {"closed": number}

    def quit(self) -> dict[str, Json]:
        self.is_over = True
        return {}


METHODS = {
    name: dict(list(signature(function).parameters.items())[1:])
    for name, function in vars(_Methods).items()
    if not name.startswith("_")
}
"""Methods by name, with their parameters."""


class Engine(_Methods):
    """Games of one ruleset, for one client."""

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
        values = self._values(request.get("params"), METHODS[method])
        try:
            result: Json = getattr(self, method)(**values)
            return result
        except IllegalMove as error:
            reasons = [picked(each, "message", "rule", "cites") for each in error.reasons]
            raise Refused(ILLEGAL, str(error), {**picked(error, "rule", "cites"), "reasons": reasons}) from None
        except RuleFailure as error:
            place = str(error.span) if error.span else None
            raise Refused(FAILED, error.message, {"place": place, "chain": list(map(str, error.chain))}) from None
        except RulesetError as error:
            raise Refused(PARAMS, error.diagnostics[0].message) from None
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise Refused(PARAMS, str(error)) from None

    def _values(self, params: Json, parameters: Mapping[str, Parameter]) -> dict[str, Value]:
        """Return the values of the parameters of a request: the game for its number. ``null`` counts as missing; others
        than the parameters are refused."""
        if not isinstance(params, dict | None):
            raise Refused(PARAMS, "params: want an object")
        given, values = dict[str, Value](params or {}), dict[str, Value]()
        for name, parameter in parameters.items():
            known = _PARAMETERS[name]
            value: Value = given.get(name)
            if name in ("player", "by"):
                known = replace(known, most=len(values["game"].machine.constants.seats) - 1)
            if value is not None:
                known.check(name, value)
            elif parameter.default is Parameter.empty:
                raise Refused(PARAMS, f"`{name}` is missing, want {known.want}")
            if name == "game" and value not in self.games:
                raise Refused(NO_GAME, f"unknown game {value}")
            value = self.games[value] if name == "game" else value
            values[name] = parameter.default if value is None else value
        for name in given:
            if name not in parameters:
                raise Refused(PARAMS, f"unknown parameter `{name[:60]}`{did_you_mean(name, parameters)}")
        return values


def _parsed(line: str) -> dict[str, Json]:
    if len(line) > MOST_CHARACTERS:
        raise Refused(PARSE, f"line too long: more than {MOST_CHARACTERS:,} characters")
    try:
        request = json_in(line)
    except (ValueError, RecursionError) as error:
        raise Refused(PARSE, f"not valid JSON: {error}") from None
    if not isinstance(request, dict):
        raise Refused(REQUEST, "want an object with `id`, `method` and `params`")
    return request


def _line(message: Mapping[str, Json]) -> str:
    return json.dumps(message, ensure_ascii=True, separators=(",", ":"), default=data_of)


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
