"""Tables that are being played: choices, undo, bots, and what each seat may read of the log.

A :class:`Live` is one game with its seats. All of it happens on the event loop; a lock of its own makes one change wait
for another, and each choice is in the archive before anybody is told of it.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from interpreter.base.diagnostics import RulesetError
from interpreter.bots.player import Bot, BotFailed
from interpreter.bots.registry import adviser, bots_of
from interpreter.compiler.constants import RuleFailure
from interpreter.engine.determinization import Undealt, Worlds
from interpreter.engine.game import Game
from interpreter.engine.observation import shown_apart
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.ruleset import Ruleset
from interpreter.engine.views import Line, Spoken, numbered_lines, title_of
from interpreter.kernel.effects import CHOICE, MARK
from interpreter.language.types import SEAT
from interpreter.play.game_records import Difference, keep, play_again, ruleset_of
from interpreter.play.game_records import Kept as Log
from interpreter.play.match import streams_for
from interpreter.serve.apart import apart, asking, bare, chosen, program_chosen
from interpreter.serve.archive import Kept, SeatRow, Store, StoreError

__all__ = ["PUBLIC", "Live", "Refused", "begun", "new_token", "resumed", "shared"]

PUBLIC = -1
"""The eyes of who has no seat: what everybody may see."""
WORLDS = 8
"""In so many worlds that look alike to a seat its choice is tried, to know whether it told something new."""
_SLOW = "search"
_OWN = ("by", "decision", "digest")


class Refused(Exception):
    """Something that cannot be done now; says why."""


def new_token() -> str:
    """192 random bits, as they stand in a link."""
    return secrets.token_urlsafe(24)


@dataclass
class Chronicle:
    """The log as one seat may read it, worked out as far as it has changed."""

    player: int
    language: str
    settled: list[tuple[str, Line]] = field(default_factory=list)
    lines: list[tuple[str, Line]] = field(default_factory=list)
    start: int = 0
    choices: int = 0

    def read(self, game: Game) -> list[tuple[str, Line]]:
        log = game.state.log
        if len(log) < self.start:
            self.forget()
        tail = list(numbered_lines(game.table, game.state, self.player, self.language, self.start, self.choices))
        self.lines = [*self.settled, *tail]
        if not _sealed(log[self.start :]):
            last = max((at for at in range(self.start, len(log)) if log[at][0] == CHOICE), default=None)
            if last is not None and last > self.start:
                number = self.choices + sum(log[at][0] == CHOICE for at in range(self.start, last))
                self.settled += [each for each in tail if _number(each[0]) <= number]
                self.start, self.choices = last, number
        return self.lines

    def forget(self) -> None:
        self.settled, self.start, self.choices = [], 0, 0


def _number(text: str) -> int:
    return int(text.partition(".")[0])


def _sealed(log: Sequence[tuple[Any, ...]]) -> bool:
    waiting = False
    for record in log:
        if record[0] == CHOICE and record[1].ask.sealed:
            waiting = True
        elif record[0] == MARK and record[2] == "reveal":
            waiting = False
    return waiting


class Live:
    """A table: its game, its seats and who looks on. ``changed`` is called after each change that can be seen."""

    def __init__(
        self, kept: Kept, ruleset: Ruleset, game: Game, store: Store, pace: float, source: str | None = None
    ) -> None:
        self.source = source
        """The path of the ruleset, where it is not found by its id."""
        self.kept, self.ruleset, self.game, self.store, self.pace = kept, ruleset, game, store, pace
        self.lock = asyncio.Lock()
        self.version = 0
        self.changed_at = time.time()
        """When something last changed that can be seen."""
        self.note = ""
        self.cut_due = False
        self.asking: tuple[int, int, set[int]] | None = None
        """A wish to take back: the seat, the number of choices that stay, and the seats that have agreed."""
        self.changed: Callable[[], None] = lambda: None
        self.past: dict[int, Game] = {}
        self._chronicles: dict[tuple[int, str], Chronicle] = {}
        self.programs: Collection[str] = ()
        """The programs that may be bots here."""
        self._bots: dict[int, Bot] = {}
        self._playing: asyncio.Task[None] | None = None
        self._streams = streams_for(secrets.randbits(60), len(kept.seats))

    # --- what is told

    def title_in(self, language: str) -> str:
        return self.kept.title or title_of(self.ruleset, language)

    @property
    def is_open_book(self) -> bool:
        """Whether nobody is harmed where all is told: the game is over, or one person at most plays."""
        return self.game.is_over or sum(seat.kind != "bot" for seat in self.kept.seats) <= 1

    def seat_name(self, seat: int, language: str = "en") -> str:
        """What a seat is called: by the person who has it, or by the ruleset."""
        own = self.kept.seats[seat].name if seat < len(self.kept.seats) else ""
        return own or Spoken(self.game.table, self.game.state, language).text(seat, SEAT)

    def log(self, player: int, language: str, game: Game | None = None) -> list[tuple[str, Line]]:
        """The numbered lines that a seat may read, of the game or of a moment of it."""
        if game is not None and game is not self.game:
            return list(numbered_lines(game.table, game.state, player, language))
        found = self._chronicles.setdefault((player, language), Chronicle(player, language))
        return found.read(self.game)

    def at(self, number: int) -> Game:
        """The game as it was after so many choices."""
        if number >= len(self.kept.choices):
            return self.game
        if number not in self.past:
            if len(self.past) >= 4:
                self.past.pop(next(iter(self.past)))
            self.past[number] = play_again(self.ruleset, self._log(number), number)
        return self.past[number]

    def _log(self, number: int | None = None) -> Log:
        choices = self.kept.choices if number is None else self.kept.choices[:number]
        return Log(self.kept.header, tuple(bare(line) for line in choices), None)

    @property
    def as_log(self) -> Log:
        """The game as one that was kept."""
        return self._log()

    def text(self) -> str:
        """The game as a file of `run --log`."""
        lines: list[str] = []
        keep(self.game, lambda line: lines.append(line))
        return "".join(lines)

    # --- choices

    async def choose(self, seat: int, choice: Mapping[str, Any]) -> None:
        """Makes a seat's choice. Raises :class:`IllegalMove`, :class:`Refused` or :class:`StoreError`; then nothing has
        changed."""
        async with self.lock:
            await self._choose(seat, choice)
        self._told()

    async def _choose(self, seat: int, choice: Mapping[str, Any]) -> None:
        decision = self.game.decision_of(seat)
        if decision is None:
            raise Refused("It is not your turn.")
        name = decision.name
        try:
            self.game.apply(dict(choice), seat)
        except RuleFailure as error:
            raise Refused(f"The rules failed at this choice, which was taken back: {error}") from None
        line = {"by": seat, **choice, "decision": name}
        try:
            if self.cut_due:
                await self.store.cut(self.kept.id, len(self.kept.choices))
                self.cut_due = False
            await self.store.append(self.kept.id, len(self.kept.choices), line)
        except StoreError:
            self._back(1)
            raise
        self.kept.choices.append(line)
        self.asking, self.note = None, ""

    def _back(self, number: int) -> None:
        for _ in range(number):
            self.game.undo()
        for each in self._chronicles.values():
            each.forget()
        self.past.clear()

    # --- taking back

    def undo_of(self, seat: int) -> tuple[int, list[int]] | None:
        """How many choices stay where a seat takes back its last one, and which seats must agree to that."""
        choices = self.kept.choices
        last = max((number for number, line in enumerate(choices) if line["by"] == seat), default=None)
        if last is None or self.kept.seats[seat].kind != "person":
            return None
        persons = {n for n, each in enumerate(self.kept.seats) if each.kind == "person" and n != seat}
        if last == len(choices) - 1 and not self._news(seat):
            return last, []
        after = {line["by"] for line in choices[last + 1 :]} & persons
        return last, sorted(persons if self._news(seat, len(choices) - last) else after)

    def _news(self, seat: int, number: int = 1) -> bool:
        """Whether chance, or something that the seat may not see, has told anything with the last so many choices: what
        the seat sees now would be different, had other things been hidden from it before."""
        before, constants = self.at(len(self.kept.choices) - number), self.game.machine.constants
        first = constants.layout.base["chance"]
        chance = slice(first, first + len(constants.chance_names))
        if self.game.state.cells[chance] != before.state.cells[chance]:
            return True
        try:
            worlds = Worlds(before, seat)
            return any(self._told_apart(worlds.deal(0, self._streams[seat].below), seat, number) for _ in range(WORLDS))
        except (Undealt, IllegalMove, RuleFailure):
            return True

    def _told_apart(self, world: Game, seat: int, number: int) -> bool:
        """Whether a world shows the seat something else, once the last so many choices are made in it."""
        for line in self.kept.choices[-number:]:
            world.apply({name: value for name, value in line.items() if name not in _OWN}, line["by"])
        return shown_apart(world, self.game, seat) is not None

    async def undo(self, seat: int) -> str:
        """Takes back a seat's last choice, or asks those who must agree; says what was done."""
        async with self.lock:
            found = self.undo_of(seat)
            if found is None:
                raise Refused("There is no choice of yours to take back.")
            stay, affected = found
            if affected:
                self.asking = seat, stay, set()
                said = "The others are asked."
            else:
                await self._cut(stay)
                said = ""
        self._told()
        return said

    async def agree(self, seat: int, *, yes: bool) -> None:
        """What a seat says to the wish of another one."""
        async with self.lock:
            if self.asking is None:
                raise Refused("Nobody wishes to take anything back.")
            who, stay, agreed = self.asking
            if not yes:
                self.asking = None
                self.note = f"{self.seat_name(seat)} does not agree to take back."
            else:
                agreed.add(seat)
                found = self.undo_of(who)
                if found is not None and set(found[1]) <= agreed:
                    await self._cut(stay)
        self._told()

    async def _cut(self, stay: int) -> None:
        await self.store.cut(self.kept.id, stay)
        number = len(self.kept.choices) - stay
        del self.kept.choices[stay:]
        self.asking = None
        self._back(number)

    # --- seats and bots

    async def take(self, seat: int, kind: str, bot: str = "", name: str = "") -> SeatRow:
        """Gives a seat to a person, a bot or whoever comes. A person who comes gets a new token."""
        if kind == "bot":
            try:
                self._made(seat, bot)
            except (ValueError, RulesetError) as error:
                raise Refused(str(error)) from None
        async with self.lock:
            old = self.kept.seats[seat]
            row = SeatRow(old.token, kind, bot or old.bot, name if kind == "person" else "")
            await self.store.seat(self.kept.id, seat, row)
            self.kept.seats[seat] = row
        self._told()
        return row

    def _made(self, seat: int, spec: str) -> Bot:
        return bots_of(spec, self.ruleset, len(self.kept.seats), commands=spec in self.programs)[seat]

    def play_on(self) -> None:
        """Lets bots play as long as one of them is to choose."""
        if self._playing is None or self._playing.done():
            self._playing = asyncio.get_running_loop().create_task(self._play())

    def stop(self) -> None:
        if self._playing is not None:
            self._playing.cancel()

    def _bot_to_play(self) -> int | None:
        seats = self.kept.seats
        return next(
            (d.actor for d in self.game.decisions if d.actor < len(seats) and seats[d.actor].kind == "bot"), None
        )

    async def _play(self) -> None:
        clock = asyncio.get_running_loop().time
        while (seat := self._bot_to_play()) is not None:
            # the pause holds what the bot takes to think, which may depend on what others must not see
            began, version = clock(), self.version
            try:
                choice = await self._bots_choice(seat)
            except (BotFailed, BrokenExecutor) as error:
                self._waits(str(error) or "what thinks for the bots has ended")
                return
            await asyncio.sleep(max(0.0, began + self.pace - clock()))
            if seat != self._bot_to_play() or version != self.version:
                continue
            async with self.lock:
                if choice is None or self.game.decision_of(seat) is None:
                    continue
                try:
                    await self._choose(seat, choice)
                except IllegalMove:
                    continue  # the game has gone on in the meantime
                except (StoreError, Refused) as error:
                    self._waits(str(error))
                    return
            self._told()

    def _waits(self, why: str) -> None:
        self.note = f"The table waits: {why}"
        self.version += 1
        self.changed()

    async def _bots_choice(self, seat: int) -> dict[str, Any] | None:
        spec = self.kept.seats[seat].bot or "random"
        if spec.startswith(_SLOW):
            return await apart(chosen, self.as_log, self.source, spec, seat)
        if spec in self.programs:
            return await apart(program_chosen, self.kept.id, self.as_log, self.source, spec, seat, pool="programs")
        bot = self._bots.get(seat)
        if bot is None or bot.name.partition(":")[0] != spec.partition(":")[0]:
            bot = self._bots[seat] = self._made(seat, spec)
        return self._choice_of(bot, seat)

    def _choice_of(self, bot: Bot, seat: int) -> dict[str, Any] | None:
        game, decision = asking(self.game, seat)
        if decision is None:
            return None
        try:
            return bot.choose(game, decision, self._streams[seat]).as_dict()
        except RuleFailure:
            return decision.options[0].as_dict()

    async def hint(self, seat: int) -> dict[str, Any] | None:
        """What the best bot would choose; it sees no more than the seat."""
        spec = adviser(self.ruleset)
        if spec.startswith(_SLOW):
            return await apart(chosen, self.as_log, self.source, f"{_SLOW}:1s", seat)
        return self._choice_of(self._made(seat, spec), seat)

    def _told(self) -> None:
        self.version += 1
        self.changed_at = time.time()
        self.changed()
        self.play_on()

    # --- other rules

    async def go_on_with(self, ruleset: Ruleset) -> None:
        """The same choices by changed rules, up to the first that is no longer possible."""
        async with self.lock:
            ruleset = ruleset.for_players(self.kept.header["players"])
            game, stay, why = _as_far(ruleset, self._log())
            if game is None:
                self.note = f"The changed rules cannot play this game: {why}"
            else:
                if stay < len(self.kept.choices):
                    lost = len(self.kept.choices) - stay
                    await self.store.cut(self.kept.id, stay)
                    del self.kept.choices[stay:]
                    self.note = (
                        f"With the changed rules choice {stay + 1} is no longer possible: {why}. {lost} taken back."
                    )
                else:
                    self.note = ""
                self.ruleset, self.game = ruleset, game
                self.asking = None
                self._chronicles.clear()
                self._bots.clear()
                self.past.clear()
        self._told()

    def knows(self, token: str) -> int | None:
        """The seat of a token, :data:`PUBLIC` for that of spectators; nothing for another one."""
        for number, seat in enumerate(self.kept.seats):
            if hmac.compare_digest(seat.token, token):
                return number
        return PUBLIC if hmac.compare_digest(self.kept.watch, token) else None


_rules: WeakValueDictionary[tuple[str, bytes], Ruleset] = WeakValueDictionary()


def shared(ruleset: Ruleset) -> Ruleset:
    """The object that other tables have for the same text. It keeps machines and first states: they are large, and one
    serves all."""
    key = ruleset.source_digest
    return ruleset if key is None else _rules.setdefault(key, ruleset)


def _as_far(ruleset: Ruleset, log: Log) -> tuple[Game | None, int, str]:
    """A game as far as its choices are possible: the game, how many were, and why no more."""
    try:
        return play_again(ruleset, log), len(log.choices), ""
    except Difference as error:
        if error.number == 0:
            return None, 0, error.message
        stay = error.number - 1
        return play_again(ruleset, log, stay), stay, error.message
    except RuleFailure as error:
        return None, 0, str(error)


def begun(ruleset: Ruleset, players: int, seed: int, settings: Mapping[str, Any]) -> tuple[Game, dict[str, Any]]:
    """A new game, and its header. Raises ``ValueError`` for what the ruleset does not allow."""
    game = ruleset.new_game(players, seed, settings)
    saved = json.loads(game.to_json())
    origin = ("ruleset", "overlays", "digest", "players", "seed", "settings", "chance")
    return game, {"log": 1, **{key: saved[key] for key in origin if key in saved}}


def resumed(kept: Kept, store: Store, pace: float, source: str | None = None) -> Live:
    """A kept table at the choice where it was. Raises :class:`RulesetError` and :class:`Difference` where its ruleset
    cannot play it any more."""
    log = Log(kept.header, tuple(bare(line) for line in kept.choices), None)
    ruleset = shared(ruleset_of(log, source)).for_players(kept.header["players"])
    game, stay, why = _as_far(ruleset, log)
    if game is None:
        raise Difference(0, why)
    live = Live(kept, ruleset, game, store, pace, source)
    if stay < len(kept.choices):
        live.note = f"With the rules as they are now, choice {stay + 1} is no longer possible: {why}."
        del kept.choices[stay:]
        live.cut_due = True
    return live
