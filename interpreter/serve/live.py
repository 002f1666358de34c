"""Tables in play: choices, undo, bots, and the log as each seat may read it.

A :class:`Live` is one game with its seats. It runs on the event loop; a lock serialises its changes, and each choice is
saved to the archive before any page is notified.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from copy import copy
from dataclasses import dataclass, field
from itertools import takewhile
from math import ceil
from weakref import WeakKeyDictionary

from msgspec.json import encode
from msgspec.structs import replace

from interpreter.base.diagnostics import RulesetError
from interpreter.bots.player import Bot, BotFailed
from interpreter.bots.registry import adviser, bots_of
from interpreter.engine.decision import Decision, choice_text
from interpreter.engine.determinization import Undealt
from interpreter.engine.foreseen import foresees
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.log_records import has_sealed, is_choice
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.views import Line, Spoken, numbered_lines
from interpreter.hidden.sight import PUBLIC
from interpreter.language.types import SEAT
from interpreter.lowering.constants import RuleFailure
from interpreter.play.game_records import Choice, Difference, choice_in, replaying, writing_log
from interpreter.play.game_records import SavedGame as Log
from interpreter.play.match import streams_for
from interpreter.serve.apart import JOINED, TAKEN, Asked, bare, build_aside, choice_of, in_turns, programmed, searched
from interpreter.serve.archive import Kept, Said, SeatRow, Store, StoreError
from interpreter.serve.commands import Boards
from interpreter.serve.drafts import MOST_PARTS, Drafted, Part, drafted
from interpreter.serve.outside import in_one_line
from interpreter.serve.standing import Orders, answer_for, answer_to, forced, orders_in, subject_of
from interpreter.serve.words import Refused, Told, in_language, known
from interpreter.simulate.measurements import Taken, taking

__all__ = ["CHANGED", "PUBLIC", "Live", "log_of", "new_token", "replayed", "resumed"]

_SLOW = "search"
CHANGED = known("The table has changed since this was shown, so nothing was done. Look again, then choose.")
PAUSE, MARGIN = 1.5, 0.1
"""Least seconds between a turn of a searching bot and its choice, and how much less the search may take."""
MOST_SAID, MOST_TALK = 500, 500
"""Most characters of a message, and most messages of a seat."""
PATIENCE = 5.0
"""Most seconds to wait for a hint."""


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
        self.note: str = ""
        self.mistakes: tuple[str, ...] = ()
        """Errors of the files that the table plays with, as text, while it keeps its old rules."""
        self.cut_due = False
        """Whether choices were undone by other rules, which the archive does not know before the next choice."""
        self.lost: tuple[int, list[Choice], str] | None = None
        """Number of choices that still fit changed rules, the choices after them, and why the first of these does not.
        They come back with rules that allow them again, until a person chooses."""
        self.asking: tuple[int, int, set[int]] | None = None
        """Pending undo request: the seat, the number of choices to keep, and the seats that have agreed."""
        self.undone: int | None = None
        """The seat that has taken back the last choice."""
        self.changed: Callable[[], None] = lambda: None
        self.is_watched: Callable[[], bool] = lambda: True
        self.past: dict[int, Game] = {}
        self.rendered: dict[tuple[int, str, str], tuple[object, str]] = {}
        """Cache of pieces of pages, by seat, language and name, with the data that they show."""
        self.plain: dict[str, tuple[int, dict[str, str]]] = {}
        """Pieces of the pages of plain spectators, by language, with the state that they show."""
        self.seen: dict[tuple[int, str], tuple[int, set[tuple[object, ...]]]] = {}
        """What each seat saw, in a language, after its last choice, with the number of choices up to it."""
        self.measured: dict[str, list[Taken]] | None = None
        """What the ruleset measures, once the game is over."""
        self._chronicles: WeakKeyDictionary[Game, dict[tuple[int | None, str], Chronicle]] = WeakKeyDictionary()
        """Logs of the game and of past moments, by seat and language."""
        self.asked: set[int] = set()
        """Seats whose turn it was when a change was told last."""
        self.hooks: Collection[str] = ()
        """Hosts of webhooks that the server may call."""
        self.boards: Boards = {}
        """Rulesets that differ from that of the table in the map alone."""
        self.programs: Mapping[str, str] = {}
        """Programs that may be bots, by the name that pages show."""
        self.bots: Sequence[str] = ()
        """All bots that may take a seat, the default first."""
        self._drafts: dict[tuple[int, bool, str], tuple[object, Drafted]] = {}
        """Drafts of seats, without and with what is picked, with reasons in a language, and each with the state and the
        choices to which it belongs."""
        self._bots: dict[int, Bot] = {}
        self._playing: asyncio.Task[None] | None = None
        self._advised: set[int] = set()
        """Seats that wait for a hint."""
        self._began: dict[int, float] = {}
        """When the persons who must choose began to think, by the monotonic clock."""
        self._late: asyncio.TimerHandle | None = None
        """What wakes the table when the first person is late."""
        self.explaining = asyncio.Lock()
        self._streams = streams_for(secrets.randbits(60), len(kept.seats))
        self._name_seats()

    def _name_seats(self) -> None:
        """Let prompts and log use the names of the persons."""
        self.game.name_seats([in_one_line(seat.name) for seat in self.kept.seats])
        self._forget()

    def _forget(self) -> None:
        self.measured = None
        self._chronicles.clear()
        self._drafts.clear()
        self.past.clear()
        self.seen.clear()

    # --- names of states

    def state_of(self, seat: int) -> str:
        """Return the name of the state that a seat is shown. Each change gives it a new one, also an undo; only a
        choice that another seat makes at the same time leaves it."""
        return self._states.setdefault(seat, secrets.token_hex(6))

    def check_state(self, seat: int, state: str | None) -> None:
        """Refuse an action if its page showed another state; None stands for a caller that has just read it."""
        if state not in (None, self.state_of(seat)):
            raise Refused(CHANGED)

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
    def gathers(self) -> bool:
        """Return whether the table gathers people: its game has not begun."""
        return "gathers" in self.kept.header

    @property
    def decisions(self) -> Sequence[Decision]:
        """Decisions that somebody must make now."""
        return () if self.gathers else self.game.decisions

    @property
    def is_continued(self) -> bool:
        """Return whether somebody may have seen how the game goes on."""
        return self.cut_due or self.kept.header.get("continued", False)

    async def open_book(self) -> bool:
        """Return :attr:`is_open_book`. From now on nobody can join this game unless it is over, since the person who
        plays it may have seen hidden information."""
        async with self.lock:
            if not self.game.is_over and not self.gathers and self.kept.audience == "alone":
                await self.store.audience(self.kept, "read")
            return self.is_open_book

    def failure(self, error: Exception) -> str:
        """Return an error for pages: in full only where hidden information may be shown, since it can quote some."""
        return str(error) if self.is_open_book else _place(error)

    @property
    def taken_back(self) -> Told | None:
        """Return what changed rules have undone; what and why in full if this may be shown, since it can tell what only
        the seat that chose could know."""
        if self.lost is None:
            return None
        stay, choices, why = self.lost
        numbers = {"n": len(choices), "at": stay + 1}
        if not self.is_open_book:
            return Told(
                "The rules have changed since: {n|choice no longer fits and was|choices no longer fit and were} taken "
                "back. With the current rules choice {at} is no longer possible.",
                **numbers,
            )
        return Told(
            "The rules have changed since: {n|choice no longer fits and was|choices no longer fit and were} taken "
            "back, from `{first}` on. With the current rules choice {at} is no longer possible: {why}.",
            **numbers,
            first=choice_text(choice_in(bare(choices[0]))),
            why=why,
        )

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

    async def measure(self) -> None:
        """Measure the game once it is over; before, measures could tell what is hidden. Raises :class:`RuleFailure`."""
        async with self.lock:
            if self.game.is_over and self.measured is None and self.ruleset.model.measures:
                self.measured = await in_turns(taking(self.game))

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

    async def choose(self, seat: int, choice: Choice | Sequence[Choice], state: str | None = None) -> None:
        """Apply a seat's choice, which was offered in a state, or several: all or none. Raises :class:`IllegalMove`,
        :class:`Refused` or :class:`StoreError`, and then leaves the game unchanged."""
        async with self.lock:
            self.check_state(seat, state)
            if len(choice) > MOST_PARTS:
                raise Refused("More than {n} choices cannot be made together.", n=MOST_PARTS)
            choices, sent = [choice] if isinstance(choice, dict) else [*choice], self.drafted(seat).sent
            await self._choose(seat, choices, self._without_sent(seat) if choices[: len(sent)] == sent else None)
        self._notify()

    async def _choose(
        self, seat: int, choices: Sequence[Choice], left: Orders | None = None, is_forced: bool = False
    ) -> None:
        """Make choices of a seat, together with a change of its orders to those that are ``left``."""
        if self.game.decision_of(seat) is None or self.gathers:
            raise Refused("It is not your turn.")
        if len(choices) > 1:
            self._check_parts(drafted(self.game, seat, choices).parts)
        others = [each.actor for each in self.game.decisions if each.actor != seat]
        lines: list[Choice] = []
        more = {"forced": True} if is_forced else {}
        try:
            for choice in choices:
                decision = self.game.decision_of(seat)
                self.game.apply(choice, seat)
                assert decision is not None
                lines.append({"by": seat, **choice, "decision": decision.name, **more})
                more = {**more, JOINED: True}
        except (IllegalMove, RuleFailure) as error:
            if lines:
                self._undo(len(lines))
            if isinstance(error, IllegalMove):
                raise
            raise Refused("The rules failed at this choice, so it was undone: {why}", why=self.failure(error)) from None
        self._moved(others)
        if "clock" in self.kept.header and seat in self._began:
            lines[0][TAKEN] = round(time.monotonic() - self._began.pop(seat), 1)
        try:
            if self.cut_due:
                await self._continue()
                self.cut_due = False
            await self.store.append(self.kept, lines, (seat, encode(left).decode()) if left is not None else None)
        except StoreError:
            self._undo(len(lines))
            self._notify()  # a page may show the choices
            raise
        if not is_forced:
            self.asking, self.note, self.undone = None, "", None
        persons = {n for n, each in enumerate(self.kept.seats) if each.kind == "person"}
        if (not is_forced and seat in persons) or not persons:
            self.lost = None

    # --- drafts

    def drafted(self, seat: int, more: Sequence[Choice] = ()) -> Drafted:
        """Return the draft of a seat with ``more`` parts; without any, it stands at the next decision of the seat."""
        choices = (*self.orders(seat).draft, *more)
        key, place = (self.state_of(seat), choices), (seat, bool(more), in_language.value)
        kept = self._drafts.get(place)
        if kept is None or kept[0] != key or not (choices or kept[1].ahead):
            kept = self._drafts[place] = key, drafted(self.game, seat, choices)
        return kept[1]

    async def draft(self, seat: int, choices: Sequence[Choice], *, armed: bool) -> None:
        """Change the draft of a seat. Raises :class:`IllegalMove` or :class:`Refused` if a new part is not possible."""
        if len(choices) > MOST_PARTS:
            raise Refused("More than {n} parts cannot be drafted.", n=MOST_PARTS)
        before, new = self.orders(seat).draft, drafted(self.game, seat, choices)
        self._check_parts([replace(p, now=p.decision is not None) for p in new.parts if p.kept not in before])
        await self.order(seat, lambda orders: replace(orders, draft=tuple(new.kept), armed=armed and bool(choices)))

    def _check_parts(self, parts: Sequence[Part]) -> None:
        """Refuse parts of a draft that cannot be made one after another."""
        for part in parts:
            if not part.now:
                raise Refused("This cannot follow: what comes before is drawn, hidden, or for others to decide.")
            if part.why:
                raise IllegalMove(choice_text(part.choice), part.why)

    def _without_sent(self, seat: int) -> Orders | None:
        """Return the orders of a seat without the part of its draft that is sent, or refused; None without a draft."""
        orders, later = self.orders(seat), [part.kept for part in self.drafted(seat).parts if not part.now]
        return replace(orders, draft=tuple(later), armed=orders.armed and bool(later)) if orders.draft else None

    def _undo(self, number: int) -> None:
        for _ in range(number):
            self.game.undo()
        self._moved()
        self._forget()

    def turns(self) -> set[int]:
        """Return the seats of persons who must choose themselves now."""
        asked = (each.actor for each in self.decisions if self.kept.seats[each.actor].kind == "person")
        return {seat for seat in asked if self._ordered(seat) is None}

    # --- the clock

    def left(self, seat: int) -> float | None:
        """Return the seconds that a person has left to choose; None if there is no clock, or it does not run."""
        clock = self.kept.header.get("clock")
        if clock is None or seat not in self._began:
            return None
        used = time.monotonic() - self._began[seat]
        if clock["per"] == "game":
            used += sum(line.get(TAKEN, 0) for line in self.kept.choices if line["by"] == seat)
        return max(0.0, clock["seconds"] - used)

    def _wind(self) -> None:
        """Let the clocks of those run who must choose, and wake the table when the first of them is late."""
        asked = [each.actor for each in self.decisions if self.kept.seats[each.actor].kind == "person"]
        self._began = {seat: self._began.get(seat, time.monotonic()) for seat in asked}
        if self._late is not None:
            self._late.cancel()
        rest = min((left for seat in asked if (left := self.left(seat))), default=None)
        wake = asyncio.get_running_loop().call_later
        self._late = wake(rest + 0.01, self._notify) if rest is not None else None

    def _late_choice(self, seat: int, decision: Decision) -> Choice | None:
        rest = (code for code in decision.codes if not code[1])
        if self.kept.header["clock"]["late"] == "pass" and (code := next(rest, None)) is not None:
            return decision.option(code).as_dict()
        return self._choice_of(self._made(seat, self.bots[0]), seat)

    # --- undo

    def undo_of(self, seat: int) -> tuple[int, list[int]] | None:
        """Return the number of choices that an undo of the seat's last choice keeps, and the seats that must agree.
        None if the seat has no choice to undo. Forced choices are made again, so none of them is the last; choices
        that were sent together are undone together."""
        choices = self.kept.choices
        own = (number for number, line in enumerate(choices) if line["by"] == seat and "forced" not in line)
        last = max(own, default=None)
        if last is None or self.kept.seats[seat].kind != "person":
            return None
        last -= sum(1 for _ in takewhile(lambda line: JOINED in line, choices[last::-1]))
        persons = {n for n, each in enumerate(self.kept.seats) if each.kind == "person" and n != seat}
        if self.game.is_over or not foresees(self.game, seat, len(choices) - last):
            return last, sorted(persons)
        return last, sorted({line["by"] for line in choices[last + 1 :] if "forced" not in line} & persons)

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
                self.note = Told("{who} does not agree to the undo.", who=self.seat_name(seat))
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
        undone = {seat, *(line["by"] for line in self.kept.choices[stay:])}
        await self.store.cut(self.kept, stay)
        self.asking, self.lost, self.undone = None, None, seat
        self._undo(number)
        await self._forget_answers(undone)  # they would make the same choices again

    async def _continue(self) -> None:
        """Record that the game goes on from an earlier moment of a longer one: what is hidden and what will be drawn is
        the same, and some may have seen it. Whoever joins is told."""
        await self.store.header(self.kept, {**self.kept.header, "continued": True})

    # --- talk

    async def say(self, seat: int, text: str) -> None:
        """Say something to everybody at the table."""
        text, token = in_one_line(text)[:MOST_SAID], self.kept.seats[seat].token
        if text:
            async with self.lock:
                if token not in [each.token for each in self.kept.seats[seat : seat + 1]]:
                    raise Refused(CHANGED)
                if sum(said.seat == seat for said in self.kept.talk) >= MOST_TALK:
                    raise Refused("More than {n} messages of a seat cannot be kept.", n=MOST_TALK)
                await self.store.say(self.kept, Said(len(self.kept.choices), seat, text))
            self._notify()

    # --- standing orders

    def orders(self, seat: int) -> Orders:
        """Return the standing orders of a seat, without answers that have lapsed, or to what is not asked about now."""
        orders, now = orders_in(self.kept.seats[seat].orders), self.game.round
        asked = {(each.name, subject_of(each)) for each in self.game.decisions} if orders.answers else set()
        held = {name: a for name, a in orders.answers.items() if a.subject is None or (name, a.subject) in asked}
        return replace(orders, answers={name: a for name, a in held.items() if a.round == now})

    async def order(self, seat: int, change: Callable[[Orders], Orders]) -> None:
        """Change the standing orders of a seat, unseen by others. Raises :class:`Refused` if it was given away."""
        token = self.kept.seats[seat].token
        async with self.lock:
            if self.kept.seats[seat].token != token:
                raise Refused(CHANGED)
            await self._order(seat, change(self.orders(seat)))
        self.changed()
        self.play_on()

    async def _order(self, seat: int, orders: Orders) -> None:
        row = copy(self.kept.seats[seat])
        row.orders = encode(orders).decode()
        await self.store.seat(self.kept, seat, row)

    async def _forget_answers(self, seats: Iterable[int]) -> None:
        """Cancel all answers in advance of some seats, also those that have lapsed in the round at hand."""
        for seat in set(seats):
            orders = orders_in(self.kept.seats[seat].orders)
            if orders.answers or orders.armed:
                await self._order(seat, replace(orders, answers={}, armed=False))

    async def answer(self, seat: int, most: int | None, *, whole_round: bool, rule: str = "") -> None:
        """Give a standing answer to the decision of a seat. Raises :class:`RulesetError` for a rule with errors."""
        decision = self.game.decision_of(seat)
        answer = answer_for(self.game, decision, most, rule, whole_round) if decision is not None else None
        if decision is None or answer is None:
            raise Refused("This decision has no standing answer.")
        name = decision.name
        await self.order(seat, lambda orders: replace(orders, answers={**orders.answers, name: answer}))

    def _ordered(self, seat: int) -> tuple[list[Choice], Orders | None, bool] | None:
        """Return the choices that the orders of a person's seat make now, the orders left, and whether it is forced."""
        decision, orders = self.game.decision_of(seat), self.orders(seat)
        if decision is None:
            return None
        if self.left(seat) == 0:
            choice = self._late_choice(seat, decision)
            return ([choice], None, False) if choice is not None else None
        draft = self.drafted(seat)
        if orders.armed and draft.sent and not any(part.why for part in draft.parts if part.now):
            return draft.sent, self._without_sent(seat), False
        try:
            only = None if orders.asks else forced(self.game, decision)
            code = only or answer_to(self.game, decision, orders, self._streams[seat])
        except (RuleFailure, RulesetError, Undealt):  # the page tells it
            return None
        return ([decision.option(code).as_dict()], None, only is not None) if code is not None else None

    # --- seats and bots

    async def take(
        self, seat: int, kind: str, bot: str = "", name: str = "", token: str = "", mark: str | None = None
    ) -> None:
        """Give a seat with this mark to a person or a bot, or open it. With a new ``token``, the seat goes to somebody
        else; a person can only take an open seat in this way. Raises :class:`Refused`."""
        if kind == "bot" and bot and bot not in self.bots:
            raise Refused("Unknown bot `{bot}`.", bot=bot[:80])
        async with self.lock:
            seats = self.kept.seats
            if seat >= len(seats) or mark not in (None, seats[seat].mark):
                raise Refused(CHANGED)
            old = seats[seat]
            if sum(each.kind != "bot" for n, each in enumerate(seats) if n != seat) and kind != "bot":
                await self._share()
            name = name if kind == "person" else ""
            await self._seat(seat, SeatRow(token or old.token, kind, bot or old.bot, name, "" if token else old.orders))
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
        self._wind()
        if self._playing is None or self._playing.done():
            self._playing = asyncio.create_task(self._play())

    def stop(self) -> None:
        if self._playing is not None:
            self._playing.cancel()
        if self._late is not None:
            self._late.cancel()

    @property
    def is_busy(self) -> bool:
        """Return whether something happens at the table, so that it must stay in memory."""
        return self.lock.locked() or self._late is not None or not (self._playing is None or self._playing.done())

    def _seat_to_play(self) -> int | None:
        """Return a seat for which the table chooses: of a bot, or of a person who has given orders for this."""
        asked = [(self.kept.seats[each.actor].kind, each.actor) for each in self.decisions]
        asked.sort(key=lambda each: each[0] != "bot")
        return next((seat for kind, seat in asked if kind == "bot" or (kind == "person" and self._ordered(seat))), None)

    async def _play(self) -> None:
        clock = asyncio.get_running_loop().time
        while (seat := self._seat_to_play()) is not None:
            if not (any(each.kind == "person" for each in self.kept.seats) or self.is_watched()):
                return
            began, state, is_bot = clock(), self.state_of(seat), self.kept.seats[seat].kind == "bot"
            pause = max(self.pace, PAUSE) if is_bot and self._bot_of(seat).startswith(_SLOW) else self.pace
            try:
                choice = await self._bots_choice(seat) if is_bot else None
            except (BotFailed, RuleFailure, RulesetError, Difference) as error:
                spec = self.kept.seats[seat].bot
                self._halt(self.failure(error).replace(self.programs.get(spec, spec), spec))
                return
            except BrokenExecutor:
                self._halt(Told("the process of the bots has ended"))
                return
            # a choice takes a whole number of pauses: the time that a bot thinks could leak hidden information
            spent = clock() - began
            await asyncio.sleep(pause * max(1, ceil(spent / pause)) - spent if pause else 0)
            async with self.lock:
                if state != self.state_of(seat) or seat != self._seat_to_play():
                    continue
                ordered = (([choice], None, False) if choice else None) if is_bot else self._ordered(seat)
                if ordered is None:
                    continue
                try:
                    await self._choose(seat, *ordered)
                except IllegalMove:
                    continue  # the game has changed in the meantime
                except Refused as error:
                    self._halt(str(error))
                    return
            self._notify()

    def _halt(self, why: str) -> None:
        self.note = Told("The table waits: {why}", why=why)
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
        """Return the choice of the best bot on what the seat sees. Raises :class:`Refused` if there is none in time."""
        spec = adviser(self.ruleset)
        if not spec.startswith(_SLOW):
            return self._choice_of(self._made(seat, spec), seat)
        if seat in self._advised:
            raise Refused("A hint is on its way.")
        self._advised.add(seat)
        try:
            return await searched(self._asked(seat, _SLOW), PATIENCE)
        except (TimeoutError, BrokenExecutor):
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
        """Replay the game with changed rules, up to the first choice that is no longer possible. What other rules have
        undone before is replayed again, in place of what bots have chosen since, if some of it fits now."""
        async with self.lock:
            ruleset = ruleset.for_players(self.kept.header["players"])
            at, lost, _ = self.lost or (len(self.kept.choices), [], "")
            whole = self.kept.choices[:at] + lost
            game, stay, error = await _replayed(ruleset, log_of(self.kept, whole))
            if stay > at:
                await self.store.append(self.kept, lost, start=at)
                at = stay
            elif lost:
                game, stay, _ = await _replayed(ruleset, self.as_log)
            if game is None:
                self.note = Told("The changed rules cannot play this game: {why}", why=self.failure(error))
            else:
                at = min(at, stay)
                self.note, self.lost = "", (at, whole[at:], error.message) if at < len(whole) else None
                self.cut_due = stay < len(self.kept.choices) or (self.cut_due and self.lost is not None)
                del self.kept.choices[stay:]
                await self.play_with(ruleset, game)
        self._notify()

    async def play_with(self, ruleset: Ruleset, game: Game) -> None:
        """Replace the game, under the lock of the table."""
        self.ruleset, self.game = ruleset, game
        self._moved()
        self.asking = None
        self._bots.clear()
        self._name_seats()
        await self._forget_answers(range(len(self.kept.seats)))


async def replayed(ruleset: Ruleset, log: Log, until: int | None = None) -> Game:
    """Return the game of a log, or its first ``until`` choices, while other tables go on. Raises
    :class:`Difference`."""

    def steps() -> Iterator[Game]:
        for game in replaying(ruleset, log, until):
            build_aside(game)
            yield game

    return await in_turns(steps(), lambda game: game.state.log)  # which pages show


async def _replayed(ruleset: Ruleset, log: Log) -> tuple[Game | None, int, Difference | RuleFailure]:
    """Replay a log as far as it goes. Return the game, None if it cannot be played, the number of choices, and why."""
    try:
        return await replayed(ruleset, log), len(log.choices), Difference(0, "")
    except (Difference, RuleFailure) as error:
        stay = error.number - 1 if isinstance(error, Difference) else -1
        return await replayed(ruleset, log, stay) if stay >= 0 else None, max(0, stay), error


def _place(error: Exception) -> str:
    """Return the place of an error that can quote what is hidden; the whole error if it has none."""
    if isinstance(error, Difference) and error.number:
        return f"choice {error.number} no longer fits"
    if isinstance(error, BotFailed):
        return error.what
    return f"{error.code} in {error.span}" if isinstance(error, RuleFailure) and error.span else str(error)


def log_of(kept: Kept, choices: Sequence[Choice] | None = None) -> Log:
    """Return the saved form of a game in the archive, by default with the choices that it has now."""
    return Log(kept.header, tuple(map(bare, kept.choices if choices is None else choices)), None)


async def resumed(kept: Kept, ruleset: Ruleset, store: Store, pace: float, source: str | None = None) -> Live:
    """Resume a table from the archive. Raises :class:`Difference` if its ruleset can no longer play it."""
    game, stay, error = await _replayed(ruleset, log_of(kept))
    if game is None:
        raise Difference(0, _place(error))
    live = Live(kept, ruleset, game, store, pace, source)
    if stay < len(kept.choices):
        live.lost = stay, kept.choices[stay:], error.message
        del kept.choices[stay:]
        live.cut_due = True
    return live
