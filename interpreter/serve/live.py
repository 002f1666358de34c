"""Tables in play: choices, undo, bots, and the log as each seat may read it.

A :class:`Live` is one game with its seats. It runs on the event loop; a lock serialises its changes, and each choice is
saved to the archive before any page is notified.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from copy import copy
from dataclasses import dataclass, field
from math import ceil
from weakref import WeakKeyDictionary

from interpreter.base.diagnostics import RulesetError
from interpreter.bots.player import Bot, BotFailed
from interpreter.bots.registry import adviser, bots_of
from interpreter.engine.foreseen import foresees
from interpreter.engine.game import Game
from interpreter.engine.log_records import has_sealed, is_choice
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.ruleset import Ruleset
from interpreter.engine.views import Line, Spoken, numbered_lines
from interpreter.language.types import SEAT
from interpreter.lowering.constants import RuleFailure
from interpreter.play.game_records import Choice, Difference, replaying, writing_log
from interpreter.play.game_records import SavedGame as Log
from interpreter.play.match import streams_for
from interpreter.serve.apart import Asked, bare, build_aside, choice_of, in_turns, programmed, searched
from interpreter.serve.archive import Kept, SeatRow, Store, StoreError
from interpreter.serve.outside import in_one_line

__all__ = ["PUBLIC", "Live", "Refused", "log_of", "new_token", "replayed", "resumed"]

PUBLIC = -1
"""Seat number of spectators, who see only public information."""
_SLOW = "search"
_CHANGED = "The table has changed since this was shown, so nothing was done. Look again, then choose."
PAUSE, MARGIN = 1.5, 0.1
"""Least seconds between a turn of a searching bot and its choice, and how much less the search may take."""
PATIENCE = 5.0
"""Most seconds to wait for a hint."""


class Refused(Exception):
    """An action is not possible now; the text gives the reason."""


def new_token() -> str:
    """Return 192 random bits as text for a link."""
    return secrets.token_urlsafe(24)


@dataclass
class Chronicle:
    """Incremental log as one seat may read it: only lines after the last settled choice are computed again."""

    player: int | None
    language: str
    settled: list[tuple[str, Line]] = field(default_factory=list)
    lines: list[tuple[str, Line]] = field(default_factory=list)
    start: int = 0
    choices: int = 0
    last: tuple[int, object] | None = None
    """Length and last record of the log that ``lines`` show."""

    def read(self, game: Game) -> list[tuple[str, Line]]:
        for _ in self.reading(game):
            pass
        return self.lines

    def reading(self, game: Game) -> Iterator[None]:
        """Read the log in steps, of which there is at least one."""
        yield
        log = game.state.log
        last = len(log), log[-1] if log else None
        if self.last is not None and self.last[0] == last[0] and self.last[1] is last[1]:
            return
        if len(log) < self.start:
            self.forget()
        start, choices, tail = self.start, self.choices, []
        for line in numbered_lines(game.table, game.state, self.player, self.language, start, choices):
            tail.append(line)
            yield
        if (start, choices) != (self.start, self.choices):  # somebody else has read it in the meantime
            return
        self.lines, self.last = [*self.settled, *tail], last
        if not has_sealed(log[start:]):
            made = [at for at in range(start, len(log)) if is_choice(log[at])]
            if made and made[-1] > start:
                self.start, self.choices = made[-1], choices + len(made) - 1
                self.settled += [each for each in tail if int(each[0].partition(".")[0]) <= self.choices]

    def forget(self) -> None:
        self.settled, self.start, self.choices, self.last = [], 0, 0, None


class Live:
    """A table in play: its game and seats. ``changed`` is called after each visible change."""

    def __init__(
        self, kept: Kept, ruleset: Ruleset, game: Game, store: Store, pace: float, source: str | None = None
    ) -> None:
        self.source = source
        """Path of the ruleset if its id does not find it."""
        self.kept, self.ruleset, self.game, self.store, self.pace = kept, ruleset, game, store, pace
        self.lock = asyncio.Lock()
        self.version = 0
        self.used = 0.0
        """Time of the last request for the table, by the monotonic clock."""
        self.changed_at = time.time()
        """Time of the last visible change, in seconds since the epoch."""
        self._states: dict[int, str] = {}
        self.request = ""
        """Name of the pending undo request, which an answer must give."""
        self.note = ""
        self.mistakes: tuple[str, ...] = ()
        """Errors of the files that the table plays with, as text, while it keeps its old rules."""
        self.cut_due = False
        """Whether choices were undone by other rules, which the archive does not know before the next choice."""
        self.asking: tuple[int, int, set[int]] | None = None
        """Pending undo request: the seat, the number of choices to keep, and the seats that have agreed."""
        self.changed: Callable[[], None] = lambda: None
        self.is_watched: Callable[[], bool] = lambda: True
        self.past: dict[int, Game] = {}
        self.rendered: dict[tuple[int, str, str], tuple[object, str]] = {}
        """Cache of pieces of pages, by seat, language and name, with the data that they show."""
        self.plain: dict[str, tuple[int, dict[str, str]]] = {}
        """Pieces of the pages of plain spectators, by language, with the state that they show."""
        self._chronicles: WeakKeyDictionary[Game, dict[tuple[int | None, str], Chronicle]] = WeakKeyDictionary()
        """Logs of the game and of past moments, by seat and language."""
        self.programs: Mapping[str, str] = {}
        """Programs that may be bots, by the name that pages show."""
        self.bots: Sequence[str] = ()
        """All bots that may take a seat, the default first."""
        self._bots: dict[int, Bot] = {}
        self._playing: asyncio.Task[None] | None = None
        self._advised: set[int] = set()
        """Seats that wait for a hint."""
        self.explaining = asyncio.Lock()
        self._streams = streams_for(secrets.randbits(60), len(kept.seats))
        self._name_seats()

    def _name_seats(self) -> None:
        """Let prompts and log use the names of the persons."""
        self.game.name_seats([in_one_line(seat.name) for seat in self.kept.seats])
        self._forget()

    def _forget(self) -> None:
        self._chronicles.clear()
        self.past.clear()

    # --- names of states

    def state_of(self, seat: int) -> str:
        """Return the name of the state that a seat is shown. Each change gives it a new one, also an undo; only a
        choice that another seat makes at the same time leaves it."""
        return self._states.setdefault(seat, secrets.token_hex(6))

    def check_state(self, seat: int, state: str | None) -> None:
        """Refuse an action if its page showed another state; None stands for a caller that has just read it."""
        if state not in (None, self.state_of(seat)):
            raise Refused(_CHANGED)

    def _moved(self, but: Collection[int] = ()) -> None:
        """Give new names to the states of all seats but those."""
        self._states = {seat: name for seat, name in self._states.items() if seat in but}

    # --- what pages show

    def title_in(self, language: str) -> str:
        return self.kept.title or self.ruleset.title_in(language)

    @property
    def is_open_book(self) -> bool:
        """Return whether hidden information may be shown: the game is over, or one person has always played alone."""
        return self.game.is_over or self.kept.audience in ("alone", "read")

    @property
    def is_continued(self) -> bool:
        """Return whether somebody may have seen how the game goes on."""
        return self.cut_due or self.kept.header.get("continued", False)

    async def open_book(self) -> bool:
        """Return :attr:`is_open_book`. From now on nobody can join this game unless it is over, since the person who
        plays it may have seen hidden information."""
        async with self.lock:
            if not self.game.is_over and self.kept.audience == "alone":
                await self.store.audience(self.kept, "read")
            return self.is_open_book

    def failure(self, error: RuleFailure) -> str:
        """Return a rule failure for pages: in full where hidden information may be shown, since it can quote some; else
        its code and place."""
        return str(error) if self.is_open_book or error.span is None else f"{error.code} in {error.span}"

    def impossible(self, number: int, why: str) -> str:
        """Return that a choice is no longer possible, with the reasons if these may be shown: they can tell what only
        the seat that chose could know."""
        return f"choice {number + 1} is no longer possible" + (f": {why}" if self.is_open_book else "")

    def seat_name(self, seat: int, language: str = "en") -> str:
        """Return the name of the person in a seat, or the ruleset's name for the seat."""
        return Spoken(self.game.table, self.game.state, language).text(seat, SEAT)

    def log(self, player: int | None, language: str, game: Game | None = None) -> list[tuple[str, Line]]:
        """Return the numbered lines that a seat may read, of the current game or of an earlier moment ``game``."""
        game = game or self.game
        return self._chronicle(player, language, game).read(game)

    async def read(self, player: int | None, language: str, game: Game) -> None:
        """Read a log before a page shows it: a long one holds up no other table."""
        async with self.lock:
            await in_turns(self._chronicle(player, language, game).reading(game))

    def _chronicle(self, player: int | None, language: str, game: Game) -> Chronicle:
        return self._chronicles.setdefault(game, {}).setdefault((player, language), Chronicle(player, language))

    def at(self, number: int) -> Game:
        """Return the game as it was after ``number`` choices. Recent results are cached."""
        if number >= len(self.kept.choices):
            return self.game
        if number not in self.past:
            if len(self.past) >= 4:
                self.past.pop(next(iter(self.past)))
            self.past[number] = game = copy(self.game)
            for _ in range(len(self.kept.choices) - number):
                game.undo()
        return self.past[number]

    @property
    def as_log(self) -> Log:
        """The saved form of the game."""
        return log_of(self.kept)

    async def text(self) -> str:
        """Return the game in the format of `run --log`."""
        lines: list[str] = []
        await in_turns(writing_log(self.game, lines.append))
        return "".join(lines)

    # --- choices

    async def choose(self, seat: int, choice: Choice, state: str | None = None) -> None:
        """Apply a seat's choice, which was offered in a state. Raises :class:`IllegalMove`, :class:`Refused` or
        :class:`StoreError`, and then leaves the game unchanged."""
        async with self.lock:
            self.check_state(seat, state)
            await self._choose(seat, choice)
        self._notify()

    async def _choose(self, seat: int, choice: Choice) -> None:
        decision = self.game.decision_of(seat)
        if decision is None:
            raise Refused("It is not your turn.")
        name, others = decision.name, [each.actor for each in self.game.decisions if each.actor != seat]
        try:
            self.game.apply(choice, seat)
        except RuleFailure as error:
            raise Refused(f"The rules failed at this choice, so it was undone: {self.failure(error)}") from None
        self._moved(others)
        line = {"by": seat, **choice, "decision": name}
        try:
            if self.cut_due:
                await self._continue()
                self.cut_due = False
            await self.store.append(self.kept, line)
        except StoreError:
            self._undo(1)
            self._notify()  # a page may show the choice
            raise
        self.asking, self.note = None, ""

    def _undo(self, number: int) -> None:
        for _ in range(number):
            self.game.undo()
        self._moved()
        self._forget()

    # --- undo

    def undo_of(self, seat: int) -> tuple[int, list[int]] | None:
        """Return the number of choices that an undo of the seat's last choice keeps, and the seats that must agree.
        None if the seat has no choice to undo."""
        choices = self.kept.choices
        last = max((number for number, line in enumerate(choices) if line["by"] == seat), default=None)
        if last is None or self.kept.seats[seat].kind != "person":
            return None
        persons = {n for n, each in enumerate(self.kept.seats) if each.kind == "person" and n != seat}
        if self.game.is_over or not foresees(self.game, seat, len(choices) - last):
            return last, sorted(persons)
        return last, sorted({line["by"] for line in choices[last + 1 :]} & persons)

    async def undo(self, seat: int, state: str | None = None) -> None:
        """Undo the last choice that a seat had made in a state, or request the agreement of others."""
        async with self.lock:
            self.check_state(seat, state)
            possible = self.undo_of(seat)
            if possible is None:
                raise Refused("You have no choice to undo.")
            stay, affected = possible
            if affected:
                self.asking, self.request = (seat, stay, set()), secrets.token_hex(6)
            else:
                await self._cut(seat, stay)
        self._notify()

    async def agree(self, seat: int, *, yes: bool, request: str | None = None) -> None:
        """Answer the undo request with this name."""
        async with self.lock:
            if self.asking is None or request not in (None, self.request):
                raise Refused("There is no such undo request any more.")
            who, stay, agreed = self.asking
            if not yes:
                self.asking = None
                self.note = f"{self.seat_name(seat)} does not agree to the undo."
            else:
                agreed.add(seat)
                possible = self.undo_of(who)
                if possible is not None and set(possible[1]) <= agreed:
                    await self._cut(who, stay)
        self._notify()

    async def _cut(self, seat: int, stay: int) -> None:
        number = len(self.kept.choices) - stay
        if self.game.is_over:  # anybody may have read the log
            known = self.kept.audience in ("shared", "known")
            await self.store.audience(self.kept, "known" if known else "read")
        elif not foresees(self.game, seat, number):
            await self._continue()
        await self.store.cut(self.kept, stay)
        self.asking = None
        self._undo(number)

    async def _continue(self) -> None:
        """Record that the game goes on from an earlier moment of a longer one: what is hidden and what will be drawn is
        the same, and some may have seen it. Whoever joins is told."""
        await self.store.header(self.kept, {**self.kept.header, "continued": True})

    # --- seats and bots

    async def take(
        self, seat: int, kind: str, bot: str = "", name: str = "", token: str = "", mark: str | None = None
    ) -> None:
        """Give a seat with this mark to a person or a bot, or open it. With a new ``token``, the seat goes to somebody
        else; a person can only take an open seat in this way. Raises :class:`Refused`."""
        if kind == "bot" and bot and bot not in self.bots:
            raise Refused(f"Unknown bot `{bot[:80]}`.")
        async with self.lock:
            old, seats = self.kept.seats[seat], self.kept.seats
            if mark not in (None, old.mark):
                raise Refused(_CHANGED)
            if sum(each.kind != "bot" for n, each in enumerate(seats) if n != seat) and kind != "bot":
                await self._share()
            name = name if kind == "person" else ""
            await self._seat(seat, SeatRow(token or old.token, kind, bot or old.bot, name))
        self._notify()

    async def sit(self, seat: int, name: str, token: str) -> None:
        """Give an open seat to a person. Raises :class:`Refused` if somebody else was faster; whoever asks again with
        the same token has the seat already."""
        async with self.lock:
            old = self.kept.seats[seat] if 0 <= seat < len(self.kept.seats) else None
            if old is not None and (old.kind, old.token) == ("person", token):
                return
            if old is None or old.kind != "open":
                raise Refused("This seat is taken.")
            await self._share()
            await self._seat(seat, SeatRow(token, "person", old.bot, name))
        self._notify()

    async def _seat(self, seat: int, row: SeatRow) -> None:
        await self.store.seat(self.kept, seat, row)
        self._states.pop(seat, None)
        self._name_seats()

    async def _share(self) -> None:
        """Record that more than one person plays from now on."""
        if self.kept.audience in ("read", "known"):
            raise Refused("Hidden information of this game has been shown, so nobody can join. Set up another table.")
        if self.kept.audience == "alone":
            await self.store.audience(self.kept, "shared")

    def _made(self, seat: int, spec: str) -> Bot:
        return bots_of(spec, self.ruleset, len(self.kept.seats))[seat]

    def play_on(self) -> None:
        """Let bots play as long as it is their turn."""
        if self._playing is None or self._playing.done():
            self._playing = asyncio.create_task(self._play())

    def _has_people(self) -> bool:
        return any(seat.kind == "person" for seat in self.kept.seats) or self.is_watched()

    def stop(self) -> None:
        if self._playing is not None:
            self._playing.cancel()

    @property
    def is_busy(self) -> bool:
        """Return whether something happens at the table, so that it must stay in memory."""
        return self.lock.locked() or (self._playing is not None and not self._playing.done())

    def _bot_to_play(self) -> int | None:
        bots = {number for number, seat in enumerate(self.kept.seats) if seat.kind == "bot"}
        return next((decision.actor for decision in self.game.decisions if decision.actor in bots), None)

    async def _play(self) -> None:
        clock = asyncio.get_running_loop().time
        while (seat := self._bot_to_play()) is not None and self._has_people():
            began, state = clock(), self.state_of(seat)
            pause = max(self.pace, PAUSE) if self._bot_of(seat).startswith(_SLOW) else self.pace
            try:
                choice = await self._bots_choice(seat)
            except (BotFailed, RuleFailure, RulesetError, Difference) as error:
                spec = self.kept.seats[seat].bot
                why = self.failure(error) if isinstance(error, RuleFailure) else str(error)
                self._halt(why.replace(self.programs.get(spec, spec), spec))
                return
            except BrokenExecutor:
                self._halt("the process of the bots has ended")
                return
            # a choice takes a whole number of pauses: the time that a bot thinks could leak hidden information
            spent = clock() - began
            await asyncio.sleep(pause * max(1, ceil(spent / pause)) - spent if pause else 0)
            async with self.lock:
                if choice is None or state != self.state_of(seat) or seat != self._bot_to_play():
                    continue
                try:
                    await self._choose(seat, choice)
                except IllegalMove:
                    continue  # the game has changed in the meantime
                except (StoreError, Refused) as error:
                    self._halt(str(error))
                    return
            self._notify()

    def _halt(self, why: str) -> None:
        self.note = f"The table waits: {why}"
        self.version += 1
        self.changed()

    def _bot_of(self, seat: int) -> str:
        spec = self.kept.seats[seat].bot
        return spec if spec in self.bots else self.bots[0]  # it may come from an older archive

    def _asked(self, seat: int, spec: str) -> Asked:
        return Asked((self.kept.id, self.ruleset.digest), self.as_log, self.source, seat, spec)

    async def _bots_choice(self, seat: int) -> Choice | None:
        spec = self._bot_of(seat)
        if spec.startswith(_SLOW):
            try:
                return await searched(self._asked(seat, _SLOW), max(self.pace, PAUSE) - MARGIN)
            except TimeoutError:
                spec = self.bots[0]
        if spec in self.programs:
            return await programmed(self._asked(seat, self.programs[spec]))
        bot = self._bots.get(seat)
        if bot is None or bot.name.partition(":")[0] != spec.partition(":")[0]:
            bot = self._bots[seat] = self._made(seat, spec)
        return self._choice_of(bot, seat)

    def _choice_of(self, bot: Bot, seat: int) -> Choice | None:
        try:
            return choice_of(bot, self.game, seat, self._streams[seat])
        except RuleFailure:
            decision = self.game.decision_of(seat)
            return decision.options[0].as_dict() if decision is not None else None

    async def hint(self, seat: int) -> Choice | None:
        """Return the choice of the best bot, which sees only what the seat sees. Raises :class:`Refused` if there is
        none in time."""
        spec = adviser(self.ruleset)
        if not spec.startswith(_SLOW):
            return self._choice_of(self._made(seat, spec), seat)
        if seat in self._advised:
            raise Refused("A hint is on its way.")
        self._advised.add(seat)
        try:
            return await searched(self._asked(seat, _SLOW), PATIENCE)
        except TimeoutError:
            raise Refused("There is no hint now; try again later.") from None
        finally:
            self._advised.discard(seat)

    def _notify(self) -> None:
        self.version += 1
        self.changed_at = time.time()
        build_aside(self.game)
        self.changed()
        self.play_on()

    # --- changed rules

    async def go_on_with(self, ruleset: Ruleset) -> None:
        """Replay the game with changed rules, up to the first choice that is no longer possible."""
        async with self.lock:
            ruleset = ruleset.for_players(self.kept.header["players"])
            game, stay, why = await _replayed(ruleset, self.as_log)
            if game is None:
                self.note = f"The changed rules cannot play this game: {why}"
            else:
                if stay < len(self.kept.choices):
                    lost = len(self.kept.choices) - stay
                    await self._continue()
                    await self.store.cut(self.kept, stay)
                    self.note = f"With the changed rules {self.impossible(stay, why)}. {lost} undone."
                else:
                    self.note = ""
                self.ruleset, self.game = ruleset, game
                self._moved()
                self.asking = None
                self._bots.clear()
                self._name_seats()
        self._notify()


async def replayed(ruleset: Ruleset, log: Log, until: int | None = None) -> Game:
    """Return the game of a log, or its first ``until`` choices, while other tables go on. Raises
    :class:`Difference`."""

    def steps() -> Iterator[Game]:
        for game in replaying(ruleset, log, until):
            build_aside(game)
            yield game

    return await in_turns(steps(), lambda game: game.state.log)  # which pages show


async def _replayed(ruleset: Ruleset, log: Log) -> tuple[Game | None, int, str]:
    """Replay a log as far as its choices are possible. Return the game, the number of choices, and why it stopped. The
    game is None if nothing can be replayed."""
    try:
        return await replayed(ruleset, log), len(log.choices), ""
    except Difference as error:
        if error.number == 0:
            return None, 0, error.message
        stay = error.number - 1
        return await replayed(ruleset, log, stay), stay, error.message
    except RuleFailure as error:
        return None, 0, str(error)


def log_of(kept: Kept) -> Log:
    """Return the saved form of a game in the archive."""
    return Log(kept.header, tuple(map(bare, kept.choices)), None)


async def resumed(kept: Kept, ruleset: Ruleset, store: Store, pace: float, source: str | None = None) -> Live:
    """Resume a table from the archive. Raises :class:`Difference` if its ruleset can no longer play it."""
    game, stay, why = await _replayed(ruleset, log_of(kept))
    if game is None:
        raise Difference(0, why)
    live = Live(kept, ruleset, game, store, pace, source)
    if stay < len(kept.choices):
        live.note = f"With the current rules {live.impossible(stay, why)}."
        del kept.choices[stay:]
        live.cut_due = True
    return live
