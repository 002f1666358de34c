"""Programs as bots, in any language: ``cmd:./mybot``.

Such a program reads lines of JSON from stdin and answers on stdout; ``docs/bots.md`` describes the messages. It gets
only what its seat may see.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import weakref
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from queue import Empty, Queue
from threading import Thread
from typing import IO

from interpreter.base.plain_data import Json
from interpreter.bots.player import BotFailed, Code, Stream
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game
from interpreter.engine.views import numbered_lines

__all__ = ["WANTS", "CommandBot", "question"]

PROTOCOL = 1
SECONDS = 10.0
"""Default time limit for an answer, in seconds."""
ENDING = 1.0
"""Seconds that a program has to exit by itself."""
WANTS = ("view", "log")
"""What a program may ask for."""
_LIMIT = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)s:(.+)", re.DOTALL)


class _Program:
    """A running program and its output lines."""

    def __init__(self, words: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", errors="replace"
        )
        self.lines: Queue[str | None] = Queue()
        Thread(target=_read, args=(self.process.stdout, self.lines), daemon=True).start()

    def ask(self, line: str, seconds: float) -> str | None:
        """Send a line and return the next of output; None if the program has ended. Raises :class:`Empty` if late."""
        assert self.process.stdin is not None
        with suppress(OSError):  # it may have ended after a last answer
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        return self.lines.get(timeout=seconds)


def _read(stream: IO[str], lines: Queue[str | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)


def _end(process: subprocess.Popen[str]) -> None:
    """Stop the program, by force if it does not exit."""
    if process.stdin is not None and not process.stdin.closed:
        with suppress(OSError):
            process.stdin.close()
    try:
        process.wait(ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def question(game: Game, decision: Decision, wants: Collection[str], told: int = 0) -> tuple[dict[str, Json], int]:
    """Return the parameters of the request for a choice, and the number of lines of the log that the program then has
    read. It has read ``told`` lines before."""
    seat, view = decision.actor, game.view(decision.actor)
    params: dict[str, Json] = {
        "seat": seat,
        "decision": decision.name,
        "context": view["context"],
        "options": [option.as_dict() for option in decision.options],
    }
    if "view" in wants:
        params["view"] = view
    if "log" in wants:
        lines = [line for _, line in numbered_lines(game.table, game.state, seat)]
        params["log"] = [line.text for line in lines[told:] if line.text]
        told = len(lines)
    return params, told


class CommandBot:
    """A bot that runs a program. It starts at the first choice and announces each new game."""

    def __init__(self, spec: str) -> None:
        self.name = spec
        _, _, rest = spec.partition(":")
        limit = _LIMIT.fullmatch(rest)
        self.seconds, command = (float(limit[1]), limit[2]) if limit else (SECONDS, rest)
        try:
            self.words = shlex.split(command)
        except ValueError as error:
            raise ValueError(f"got `{spec}`: {error}") from None
        if not self.words or self.seconds <= 0:
            raise ValueError(f"got `{spec}`, want a command: `cmd:./mybot`, `cmd:2s:node bot.mjs`")
        self._program: _Program | None = None
        self._number = self._told = 0
        self._wants: frozenset[str] = frozenset()
        self._origin: object = None
        self._made = 0

    def __getstate__(self) -> dict[str, Json]:
        """Drop the program: a copy starts its own."""
        return {**vars(self), "_program": None, "_origin": None}

    def choose(self, game: Game, decision: Decision, random: Stream) -> Option:
        seat, listed = decision.actor, list(decision.options)
        if self._program is None:
            self._hello(game, seat)
        if game.origin is not self._origin or len(game.choices) < self._made:
            self._origin, self._told = game.origin, 0
            self._ask("begin", {"seat": seat, "players": game.origin["players"]})
        self._made = len(game.choices)
        params, self._told = question(game, decision, self._wants, self._told)
        number = self._ask("choose", params).get("option")
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(listed):
            raise self._failed("chose no option", f"got {json.dumps(number)[:60]}, want 0 to {len(listed) - 1}")
        return listed[number]

    def among(self, game: Game, decision: Decision, codes: Sequence[Code], random: Stream) -> Code:
        return codes[0]

    # --- messages

    def _hello(self, game: Game, seat: int) -> None:
        try:
            self._program = _Program(self.words)
        except OSError as error:
            raise self._failed(f"cannot be started: {(error.strerror or str(error)).lower()}") from None
        weakref.finalize(self, _end, self._program.process)
        about = {"protocol": PROTOCOL, "ruleset": game.ruleset.id, "title": game.ruleset.title, "seat": seat}
        wants = self._ask("hello", about).get("wants", ["view"])
        if not isinstance(wants, list) or any(want not in WANTS for want in wants):
            raise self._failed(f"wants something else than {json.dumps(WANTS)}", json.dumps(wants)[:60])
        self._wants = frozenset(wants)

    def _ask(self, method: str, params: Mapping[str, object]) -> dict[str, Json]:
        """Send a request and return its result. Raises :class:`BotFailed`."""
        assert self._program is not None
        self._number += 1
        request = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        try:
            line = self._program.ask(json.dumps(request, separators=(",", ":")), self.seconds)
        except Empty:
            raise self._failed(f"did not answer `{method}` within {self.seconds:g} s") from None
        if line is None:
            raise self._failed(f"ended before it answered `{method}`")
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            raise self._failed(f"answered `{method}` with no JSON", line.strip()[:60]) from None
        if not isinstance(answer, dict) or answer.get("id") != self._number:
            raise self._failed(f"answered `{method}` without its id {self._number}", line.strip()[:60])
        if "error" in answer:
            raise self._failed(f"refused `{method}`", json.dumps(answer["error"])[:200])
        result = answer.get("result")
        return result if isinstance(result, dict) else {}

    def _failed(self, reason: str, said: str = "") -> BotFailed:
        if self._program is not None:
            self._program.process.kill()
            self._program = None
        return BotFailed(f"the bot `{self.name}` {reason}", said)
