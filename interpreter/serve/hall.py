"""Tables of a server, in play and in the archive, and the rulesets on offer.

The web layer looks tables up by token; this module does not depend on HTTP.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from msgspec import Struct

from interpreter.base.diagnostics import RulesetError, rendered
from interpreter.base.yaml_values import word
from interpreter.bots.registry import QUICK, default_bots, policies_for
from interpreter.engine.game import Game, Ruleset
from interpreter.explain.provenance import account_of
from interpreter.loading.load import find, load
from interpreter.lowering.constants import RuleFailure
from interpreter.play.game_records import Clock, Difference, Header, header_of, read_saved_game, ruleset_of
from interpreter.play.game_records import SavedGame as Log
from interpreter.reading.dependencies import at_one_moment
from interpreter.reading.files import nearby_ids, place_of, shelf_for
from interpreter.reading.ruleset_files import files_of, players_of
from interpreter.reading.statements import Statement
from interpreter.serve.apart import apart, bare, build_aside, shared
from interpreter.serve.archive import Kept, SeatRow, Store, can_be_kept
from interpreter.serve.calling import Caller, hosts_of
from interpreter.serve.commands import Change
from interpreter.serve.live import PUBLIC, Live, log_of, new_token, replayed, resumed
from interpreter.serve.outside import in_one_line, program_name
from interpreter.serve.scene import Data
from interpreter.serve.setting_up import refusal_of, said_title
from interpreter.serve.table_page import View
from interpreter.serve.words import LANGUAGES, Refused, in_language, known, t

__all__ = ["Hall", "Offer", "check_overlays", "errors_of"]

MOST_TABLES, A_DAY = 1_000, 86_400.0
MOST_VIEWS, MOST_SPECTATORS = 24, 2_000
"""Most pages for one link; beyond it, the least recently used page is dropped."""
MOST_IDLE = 600.0
"""Seconds after which a page that nobody listens to is dropped, and a table without pages leaves memory."""
MOST_CHOICES = 3_000
"""Most choices of an uploaded game."""
MOST_OVERLAYS, MOST_PRINTED = 12, 120
SEED = 59
"""Bits of the seed of a game: as many as a scenario can write, in 18 digits."""
DAMAGED = known("This table is damaged: its game cannot be played again. All other tables go on.")
_TOKEN = re.compile(r"[A-Za-z0-9_-]{32}")


class Offer(Struct, frozen=True):
    """A ruleset on offer, as the lobby lists it."""

    id: str
    title: str
    family: str
    low: int
    high: int
    edition: str = ""
    """Title of its edition."""
    source: str | None = None
    board: str = ""
    """Title of its map."""
    map: str = ""
    files: frozenset[str] = frozenset()
    """The ids of its edition, deck and overlays."""
    said: Mapping[str, Mapping[str, str]] = {}
    """Titles of its files, and that of its family by the id, by language."""

    def in_words(self, title: str) -> str:
        """Return a title of its files in the language of the reader."""
        return self.said.get(in_language.value, {}).get(title, title)

    @property
    def place(self) -> str:
        """Name of its board, which boards of several editions share, in the language of the reader; or its title."""
        return self.in_words(self.board).partition(" (")[0] or self.in_words(self.title)


class Hall:
    """The tables of a server."""

    def __init__(
        self,
        store: Store,
        pace: float = 1.0,
        sources: Iterable[str] = (),
        programs: Collection[str] = (),
        hooks: Iterable[str] = (),
    ) -> None:
        self.store, self.pace = store, pace
        self.caller = Caller(hosts_of(hooks))
        self.programs = {program_name(spec): spec for spec in programs}
        """Programs that may be bots, from the command line of the server, by the name that pages show."""
        self.lives: dict[str, Live] = {}
        self.kept: dict[str, Kept] = {}
        self.views: dict[tuple[str, str], View] = {}
        self.seats: dict[str, tuple[str, int]] = {}
        """Table and seat of each token."""
        self.former: set[str] = set()
        """Links of seats that were given to somebody else since the server started."""
        self.hosts: dict[str, str] = {}
        """Table of each host's token."""
        self.leaving: list[Callable[[], object]] = []
        """What ends the event streams of other pages of the server."""
        self.loading = asyncio.Lock()
        self._resuming: dict[str, asyncio.Task[None]] = {}
        """Tables that are being resumed."""
        with at_one_moment():
            self.offers: dict[str, Offer] = {offer.id: offer for offer in _offers(list(sources))}
        self.layers: dict[str, str] = {}
        """Paths of overlays that their ids do not find."""
        self._rulebooks: dict[tuple[str, str], asyncio.Task[Any]] = {}
        """Rulebooks as pages, and boards, by the digest of the ruleset, players and settings."""
        self._adding = asyncio.Lock()
        tables, self.damaged = store.tables()
        for kept in tables:
            self._known(kept)

    def _known(self, kept: Kept) -> None:
        self.kept[kept.id] = kept
        self.hosts[kept.host] = kept.id
        self.seats[kept.watch] = kept.id, PUBLIC
        for number, seat in enumerate(kept.seats):
            self.seats[seat.token] = kept.id, number

    # --- rulesets

    def offer(self, name: str) -> Offer:
        """Offer a ruleset (an id or path) as its files are now. Raises :class:`RulesetError`."""
        with at_one_moment():
            (offer,) = _offers([name])
        self.offers[offer.id] = offer
        return offer

    async def ruleset(self, id: str, overlays: Sequence[str] = ()) -> Ruleset:
        """Load a ruleset on offer. Raises :class:`RulesetError`, or :class:`Refused` if it is not on offer."""
        offer = self.offers.get(id)
        if offer is None:
            raise Refused("Unknown ruleset `{id}`.", id=id[:80])
        check_overlays(overlays)
        async with self.loading:
            return shared(await asyncio.to_thread(load, offer.source or offer.id, self.layered(overlays)))

    def layered(self, overlays: Iterable[str]) -> tuple[str, ...]:
        """Return what loading takes for some overlays."""
        return tuple(self.layers.get(overlay, overlay) for overlay in overlays)

    def _header(self, game: Game) -> Header:
        header = header_of(game)
        return {**header, "overlays": [*self.layered(header["overlays"])]} if "overlays" in header else header

    async def _ruleset_of(self, log: Log) -> Ruleset:
        async with self.loading:
            ruleset = shared(await asyncio.to_thread(ruleset_of, log, self._source(log.header)))
            return ruleset.for_players(log.header["players"])

    # --- tables

    async def begin(
        self,
        id: str,
        seats: Sequence[tuple[str, str]],
        overlays: Sequence[str] = (),
        settings: Mapping[str, str] | None = None,
        title: str = "",
        *,
        listed: bool = False,
        clock: Clock | None = None,
        gathers: bool = False,
    ) -> Kept:
        """Create a table of a ruleset, which may gather people before its game begins. Seats are pairs: `person`, `bot`
        or `open`, and the name of the person or bot. Raises :class:`Refused` with the reason if the request is invalid,
        and :class:`RulesetError` if the ruleset with these overlays has errors."""
        given = {name: value for name, value in (settings or {}).items() if value.strip()}
        fewer = range(sum(kind != "open" for kind, _ in seats) if gathers else len(seats), len(seats))
        played, game = await self._dealt(id, len(seats), overlays, given, fewer)
        for number, (kind, name) in enumerate(seats):
            if kind == "bot" and name and name not in self.bots_for(played):
                raise Refused("Seat {n}: unknown bot `{bot}`.", n=number + 1, bot=name[:80])
        default, rows = default_bots(played), []
        for kind, name in seats:
            bot = name if kind == "bot" else ""
            rows.append(SeatRow(new_token(), kind, bot or default, name if kind == "person" else ""))
        kept = self._made(self._header(game), rows, title, listed, clock)
        if gathers and any(kind != "bot" for kind, _ in seats):
            kept.header["gathers"] = {"overlays": list(overlays), "settings": given}
        return await self._open(kept, played, game)

    async def _dealt(
        self,
        id: str,
        players: int,
        overlays: Sequence[str],
        settings: Mapping[str, str],
        fewer: Iterable[int] = (),
    ) -> tuple[Ruleset, Game]:
        """Return a new game; with default settings if those given are for ``fewer`` players. Raises :class:`Refused`
        for settings or players that the ruleset does not allow."""
        ruleset = await self.ruleset(id, overlays)
        if players not in ruleset.players:
            low, high, why = ruleset.players.low, ruleset.players.high, ruleset.players.otherwise
            many = t("{low} to {high}", low=low, high=high) if low < high else low
            raise Refused("This game is for {many} players, not {n}. {why}", many=many, n=players, why=why)
        seed = secrets.randbits(SEED)
        try:
            game = ruleset.new_game(players, seed, settings)
        except ValueError as error:
            for number in fewer:
                with suppress(ValueError):
                    ruleset.new_game(number, seed, settings)
                    break
            else:
                raise refusal_of(error, ruleset) from None
            game = ruleset.new_game(players, seed)
        build_aside(game)
        return ruleset.for_players(players), game

    async def regather(self, live: Live, change: Change | None = None) -> None:
        """Change what is played at a table that gathers: ``change`` amends what people have asked for. Without
        it the game begins with the seats that are taken; it is dealt anew, so that nobody has seen it. Raises
        :class:`Refused`."""
        kept = live.kept
        async with live.lock:
            header = kept.header.copy()
            if "gathers" not in header:
                raise Refused("The game has begun.")
            asked = header.pop("gathers").copy()
            taken = [number for number, each in enumerate(kept.seats) if each.kind != "open"]
            stay = [*range(len(kept.seats))] if change is not None else taken
            try:
                id = change(live.ruleset, live.boards, asked) if change is not None else header["ruleset"]
                ruleset, game = await self._dealt(
                    id, len(stay), asked["overlays"], asked["settings"], range(len(taken), len(stay))
                )
            except RulesetError:
                raise Refused("The game cannot be set up in this way.") from None
            header |= self._header(game)
            if change is not None:
                header["gathers"] = asked
            await self.store.renew(kept, header, stay)
            await live.play_with(ruleset, game)
            live.source, live.bots = self._source(header), self.bots_for(ruleset)
            self.seats = {token: place for token, place in self.seats.items() if place[0] != kept.id}
            self._known(kept)
            for (token, _), view in self.views.items():
                view.seat = self.seats[token][1] if view.live is live else view.seat
        live._notify()

    async def again(self, live: Live, seat: int) -> str:
        """Return the token of a seat's person in the next game of the same people, in which each sits one seat further
        on; begin it unless somebody has. Raises :class:`Refused` or :class:`StoreError`."""
        async with live.lock:
            old = live.kept
            if seat == PUBLIC:
                raise Refused("Spectators cannot do this.")
            if not live.game.is_over:
                raise Refused("The game is not over.")
            if (following := self.kept.get(old.header.get("again", ""))) is None:
                rows = [SeatRow(new_token(), each.kind, each.bot, each.name) for each in old.seats]
                players, settings = len(rows), dict(old.header.get("settings", {}))
                game = live.ruleset.new_game(players, secrets.randbits(SEED), settings)
                made = self._made(
                    self._header(game), [*rows[1:], rows[0]], old.title, old.open, old.header.get("clock")
                )
                following = await self._open(made, live.ruleset, game)
                await self.store.header(old, {**old.header, "again": following.id})
        live._notify()
        return following.seats[(seat - 1) % len(old.seats)].token

    async def _make_room(self) -> None:
        """Remove the table on which nobody has chosen for the longest time, at least a day, if there are too many."""
        if len(self.kept) < MOST_TABLES:
            return
        oldest = min(self.kept.values(), key=lambda kept: kept.changed)
        if oldest.changed > time.time() - A_DAY:
            raise Refused("This server is full: it has {n} tables, and none was idle for a day.", n=MOST_TABLES)
        await self.store.remove(oldest.id)
        del self.kept[oldest.id], self.hosts[oldest.host]
        self.seats = {token: place for token, place in self.seats.items() if place[0] != oldest.id}
        live = self.lives.get(oldest.id)
        if live is not None:
            live.stop()
            self._drop([key for key, view in self.views.items() if view.live is live])
            self._leave(live)

    def _source(self, header: Header) -> str | None:
        offer = self.offers.get(header["ruleset"])
        return offer.source if offer is not None else None

    def _made(
        self, header: Header, seats: list[SeatRow], title: str, listed: bool = False, clock: Clock | None = None
    ) -> Kept:
        header = header if clock is None else {**header, "clock": clock}
        kept = Kept(secrets.token_hex(8), header, in_one_line(title[:80]), new_token(), new_token(), listed, seats)
        kept.created = kept.changed = time.time()
        kept.audience = "alone" if sum(seat.kind != "bot" for seat in seats) <= 1 else "shared"
        return kept

    async def _open(self, kept: Kept, ruleset: Ruleset, game: Game) -> Kept:
        async with self._adding:  # or several at once would pass the limit
            await self._make_room()
            await self.store.add(kept)
            self._known(kept)
        self._live(Live(kept, ruleset, game, self.store, self.pace, self._source(kept.header)))
        return kept

    async def from_log(self, text: str) -> Kept:
        """Create a table that continues a saved game: a log or a save. Raises :class:`Refused`."""
        if text.count("\n") > MOST_CHOICES + 10:
            raise Refused("Cannot open this file: it has more than {n} choices.", n=f"{MOST_CHOICES:,}")
        try:
            log = read_saved_game(text)
        except ValueError as error:
            raise Refused("Cannot open this file: {error}.", error=error) from None
        if not can_be_kept([log.header, log.choices]):
            raise Refused("Cannot open this file: it has half characters, or is nested too deep.")
        if log.header["ruleset"] not in self.offers:
            raise Refused("Unknown ruleset `{id}`.", id=log.header["ruleset"][:80])
        if len(log.choices) > MOST_CHOICES:
            raise Refused("Cannot open this file: it has more than {n} choices.", n=f"{MOST_CHOICES:,}")
        check_overlays(log.header.get("overlays", []))
        return await self.go_on(log)

    async def go_on(self, log: Log, until: int | None = None, title: str = "") -> Kept:
        """Create a table that continues a game, by default after its last choice. Raises :class:`Refused`."""
        try:
            ruleset = await self._ruleset_of(log)
            game = await replayed(ruleset, log, until)
        except (RulesetError, Difference, RuleFailure) as error:
            raise Refused("Cannot continue this game: {error}", error=error) from None
        except (ValueError, TypeError, LookupError):
            raise Refused("Cannot continue this game: its header or its choices are invalid.") from None
        header: Header = {**self._header(game), "continued": True}
        bot = default_bots(ruleset)
        seats = [SeatRow(new_token(), "open" if number else "person", bot) for number in range(log.header["players"])]
        kept = self._made(header, seats, title)
        kept.choices = list(map(bare, log.choices[:until]))
        return await self._open(kept, ruleset, game)

    def _live(self, live: Live) -> None:
        self.lives[live.kept.id] = live
        live.used = time.monotonic()
        own = self.offers.get(live.kept.header["ruleset"])
        alike = [each for each in self.offers.values() if own is not None and each.map and each.files == own.files]
        live.boards = {each.map: (each.id, each.board) for each in alike}
        live.programs, live.bots = self.programs, self.bots_for(live.ruleset)
        live.hooks, live.asked = self.caller.hosts, live.turns()
        live.changed = lambda: self._refresh(live)
        live.is_watched = lambda: any(view.live is live for view in self.views.values())
        live.play_on()

    def _refresh(self, live: Live) -> None:
        for view in self.views.values():
            if view.live is live:
                view.dirty.set()
        before, live.asked = live.asked, live.turns()
        for seat in live.asked - before:
            orders = live.orders(seat)
            if orders.hook and not any(v.is_in_front for v in self.views.values() if v.live is live and v.seat == seat):
                still = partial(_still_asks, live, seat, orders.hook)
                with in_language(orders.language):
                    text = t("It is your turn: {title}", title=live.title_in(orders.language))
                self.caller.call(orders.hook, f"{text}\n{orders.link}", orders.link, still)

    async def live(self, id: str) -> Live:
        """Return a table, resumed from the archive if necessary. Raises :class:`Refused` if its ruleset can no longer
        play it, :class:`RulesetError` if its files have errors."""
        if id in self.kept and id not in self.lives:
            if id not in self._resuming:
                self._resuming[id] = asyncio.create_task(self._resume(self.kept[id]))
            await asyncio.shield(self._resuming[id])
        if id not in self.lives:
            raise Refused("This table was idle for too long and has made room for others.")
        self.lives[id].used = time.monotonic()
        return self.lives[id]

    async def _resume(self, kept: Kept) -> None:
        try:
            ruleset = await self._ruleset_of(log_of(kept))
            kept.choices, kept.talk = await self.store.choices(kept.id), await self.store.talk(kept.id)
            source = self._source(kept.header)
            live = await resumed(kept, ruleset, self.store, self.pace, source)  # in this thread: games share a module
        except Exception as error:  # whatever is wrong with one table, the others go on
            kept.choices = []
            if isinstance(error, RulesetError):
                raise
            if isinstance(error, Difference):
                raise Refused("The current rules cannot play this game: {error}", error=error) from None
            raise Refused(DAMAGED) from None
        finally:
            del self._resuming[kept.id]
        if kept.id in self.kept:  # it may have made room for another one meanwhile
            self._live(live)

    async def take_up(self) -> None:
        """Resume all tables with bots, in case it is their turn."""
        for kept in list(self.kept.values()):
            if "clock" in kept.header or any(seat.kind == "bot" for seat in kept.seats):
                try:
                    live = await self.live(kept.id)
                except (Refused, RulesetError):
                    continue
                await asyncio.sleep(0)  # the bots begin, if it is their turn
                if not live.is_busy and not live.is_watched():
                    self._leave(live)

    def _leave(self, live: Live) -> None:
        """Take a table out of memory; it is resumed from the archive when somebody asks for it."""
        if self.lives.get(live.kept.id) is not live:
            return
        del self.lives[live.kept.id]
        live.kept.choices, live.kept.talk = [], []

    async def keep_tidy(self) -> None:
        """Drop idle pages and tables from time to time."""
        while True:
            await asyncio.sleep(MOST_IDLE / 10)
            self.tidy()

    def tidy(self) -> None:
        """Drop pages that nobody listens to, and take tables without pages out of memory on which no bot plays."""
        past = time.monotonic() - MOST_IDLE
        self._drop([key for key, view in self.views.items() if view.last < past])
        watched = {view.live.kept.id for view in self.views.values()}
        for live in list(self.lives.values()):
            if live.used < past and live.kept.id not in watched and not live.is_busy:
                self._leave(live)

    def _drop(self, keys: Iterable[tuple[str, str]]) -> None:
        """Drop pages; their event streams end."""
        for key in keys:
            self.views.pop(key).dirty.set()

    def title_of(self, kept: Kept) -> str:
        """Return the title of a table, or of its ruleset."""
        offer = self.offers.get(kept.header["ruleset"])
        return kept.title or (offer.in_words(offer.title) if offer else kept.header["ruleset"])

    def why_damaged(self, link: str) -> str | None:
        """Return what is wrong with the damaged table that has this id or link."""
        return next((each.why for each in self.damaged if link == each.id or link in each.links), None)

    async def sit(self, id: str, seat: int, name: str, token: str = "") -> str:
        """Take an open seat and return its token. ``token`` is one that a form had for it: who sends the form twice
        sits down once."""
        if not _TOKEN.fullmatch(token) or self.seats.get(token, (id, seat)) != (id, seat):
            token = new_token()
        await (await self.live(id)).sit(seat, name[:40], token)
        self._linked(id, seat, token)
        return token

    async def join(self, live: Live, seat: int, name: str) -> str:
        """Let a spectator of a table that gathers, or is listed, take the first open seat; return its token."""
        if seat != PUBLIC:
            raise Refused("You have a seat.")
        if not (live.gathers or live.kept.open):
            raise Refused("The host of this table has the links of all seats.")
        free = next((number for number, each in enumerate(live.kept.seats) if each.kind == "open"), None)
        if free is None:
            raise Refused("All seats are taken.")
        return await self.sit(live.kept.id, free, name)

    async def give(self, live: Live, seat: int, kind: str, bot: str, mark: str | None = None) -> None:
        """Give the seat with this mark to a person or a bot, or open it, at the wish of the host. Its former link plays
        no longer."""
        old = live.kept.seats[seat]
        token = new_token() if kind != old.kind else ""
        await live.take(seat, kind, bot, old.name if kind == old.kind else "", token, mark)
        if token:
            self._linked(live.kept.id, seat, token)

    def _linked(self, id: str, seat: int, token: str) -> None:
        """Let a seat have this link alone."""
        for former in [each for each, place in self.seats.items() if place == (id, seat) and each != token]:
            del self.seats[former]
            self.former.add(former)
            self._drop([key for key in self.views if key[0] == former])
        self.seats[token] = id, seat

    def bots_for(self, ruleset: Ruleset) -> list[str]:
        """Return the names of the available bots: the default, then the strongest first."""
        usual = default_bots(ruleset)
        others = sorted(policies_for(ruleset).keys() - {usual}, key=lambda bot: (bot not in QUICK, bot))
        return list(dict.fromkeys((usual, "search:1s", *others, *self.programs, "random")))

    def bots_told(self, ruleset: Ruleset) -> dict[str, str]:
        """Return the available bots, each with a sentence on how it plays."""
        family, now = f"{word(ruleset.document.head.family)}/", in_language.value
        files = (file for file in ruleset.shelf.documents("policies") if file.id.startswith(family))
        titles = {file.id.rpartition("/")[2]: said_title(ruleset.shelf, file, now) for file in files}
        titles |= {"random": t("Any move, at random"), "search:1s": t("Looks ahead, a second for each choice")}
        return {bot: f"{bot}: {titles[bot]}" if bot in titles else bot for bot in self.bots_for(ruleset)}

    # --- pages

    def view(self, token: str, id: str, live: Live, seat: int) -> View:
        """Return the page with this id, or a new one."""
        key = token, id
        if key not in self.views:
            self.tidy()
            own = [each for each in self.views if each[0] == token]
            if len(own) >= (MOST_VIEWS if seat != PUBLIC else MOST_SPECTATORS):
                self._drop([min(own, key=lambda each: self.views[each].last)])
            self.views[key] = View(live, seat)
            live.play_on()
        self.views[key].last = time.monotonic()
        return self.views[key]

    def leave_pages(self) -> None:
        """End the event streams of all pages."""
        self._drop(list(self.views))
        for leave in self.leaving:
            leave()

    def pieces(self, view: View) -> dict[str, str]:
        """Return the pieces of a page; plain spectators share them."""
        if not view.is_plain:
            return view.pieces()
        live, key = view.live, view.language
        known, mark = live.plain.get(key), hash((live.version, live.mistakes))
        if known is None or known[0] != mark:
            known = live.plain[key] = mark, view.pieces()
        return known[1]

    # --- explanations

    async def explain(self, view: View, number: str) -> Data:
        """Explain a line of the log that the seat may read. Values are those of the seat's own line, so that nothing
        hidden leaks."""
        live = view.live
        line = next((each for own, each in live.log(view.seat, view.language) if own == number), None)
        if line is None:
            raise Refused("No such line.")
        player = None if live.game.is_over else view.seat
        what = live.as_log, live.source, number, view.language, player
        try:
            async with live.explaining:  # a table has one worker at a time
                moment, chain, cites = await apart(_explained, *what, pool="reading")
        except (Difference, RulesetError) as error:
            raise Refused("Cannot explain this line: {error}", error=live.failure(error)) from None
        except (LookupError, BrokenExecutor):
            raise Refused("Cannot explain this line.") from None
        values = [(name.replace("_", " "), str(value)) for name, value in line.values.items() if value is not None]
        return {"text": line.text, "moment": moment, "chain": chain, "cites": cites, "values": values}

    async def rules(self, live: Live) -> str:
        """Return the rulebook of a table as an HTML page."""
        header = live.kept.header
        key = live.ruleset.digest, json.dumps([header["players"], header.get("settings", {})])
        return str(await self._printed(key, apart, _rulebook, Log(header, (), None), live.source))

    async def board(self, id: str) -> tuple[str, dict[str, str]]:
        """Return the empty board of a ruleset on offer as SVG, and the colours of its parts by their words. Raises
        :class:`Refused` if it has none."""
        if id not in self.offers or not self.offers[id].board:
            raise Refused("Unknown board `{id}`.", id=id[:80])
        offer = self.offers[id]
        drawn: tuple[str, dict[str, str]] = await self._printed(("", id), apart, _board, offer.source or id)
        return drawn

    async def _printed(self, key: tuple[str, str], work: Callable[..., Awaitable[Any]], *what: object) -> Any:
        """Return a page or board that a process of its own prints, from the memory of those asked for last."""
        if key not in self._rulebooks:
            if len(self._rulebooks) >= MOST_PRINTED:
                self._rulebooks.pop(next(iter(self._rulebooks)))
            self._rulebooks[key] = asyncio.create_task(work(*what, pool="reading"))  # type: ignore[arg-type]
        try:
            return await asyncio.shield(self._rulebooks[key])
        except Exception:
            self._rulebooks.pop(key, None)
            raise

    def close(self) -> None:
        for live in self.lives.values():
            live.stop()
        self.caller.close()
        self.store.close()


def _still_asks(live: Live, seat: int, hook: str) -> bool:
    return seat in live.asked and live.orders(seat).hook == hook


def check_overlays(overlays: Sequence[str]) -> None:
    """Refuse overlays that are no ids, which could name files, and more than a game can have."""
    if len(overlays) > MOST_OVERLAYS:
        raise Refused("More than {n} overlays.", n=MOST_OVERLAYS)
    for overlay in overlays:
        name, _, seats = overlay.removeprefix("-").partition(":")
        if place_of("overlay", name) is None or name.endswith((".yaml", ".yml")) or not (seats or "1").isdecimal():
            raise Refused("Unknown overlay `{id}`.", id=overlay[:80])


def _explained(
    log: Log, source: str | None, number: str, language: str, player: int | None
) -> tuple[str, list[tuple[str, str, str]], tuple[Statement, ...]]:
    ruleset = ruleset_of(log, source).for_players(log.header["players"])
    account = account_of(ruleset, log, number, language, player)
    links = []
    for use in account.chain:
        rule = "".join(use.what.split("`")[1:2])
        links.append((use.what, use.place, f"rules-{rule}" if rule in ruleset.model.rules else ""))
    return account.moment, links, account.cites


def _rulebook(log: Log, source: str | None) -> str:
    from interpreter.pages.html import html_of
    from interpreter.pages.rulebook import rulebook_of

    players = log.header["players"]
    played = ruleset_of(log, source).for_players(players)
    text = html_of(rulebook_of(played, players, played.settings(log.header.get("settings", {}))))
    return text if source is None else text.replace(escape(source), Path(source).name)


def _board(name: str) -> tuple[str, dict[str, str]]:
    from interpreter.drawing.board import drawn_on, fills_of
    from interpreter.drawing.picture import picture_of, unplayed

    picture = picture_of(unplayed(load(name)))
    fills = {words: " ".join(fills_of(colour)) for words, colour in picture.legend}
    return drawn_on(picture, titled=False).svg, fills


def _offers(named: list[str]) -> Iterable[Offer]:
    """Yield the named rulesets (ids or paths); by default all."""
    for name in named or dict.fromkeys((*shelf_for().ids("ruleset"), *nearby_ids())):
        shelf, document, diagnostics = find(name)
        if document is None:
            if named:
                raise RulesetError(diagnostics)
            continue
        documents = files_of(shelf, document)
        players = players_of(documents)
        edition, board = (
            next((each.title for each in documents if each.kind == kind), "") for kind in ("edition", "map")
        )
        source = str(document.address.resolve()) if shelf.ahead or name != document.id else None
        family, numbers = word(document.head.family), (players.low, players.high)
        files = frozenset(each.id for each in documents if each.kind in ("edition", "deck", "overlay"))
        titled = {each.id if each.kind == "family" else each.title: each for each in documents}
        said = {now: {title: said_title(shelf, each, now) for title, each in titled.items()} for now in LANGUAGES}
        map_ = word(document.head.map)
        yield Offer(document.id, document.title, family, *numbers, edition, source, board, map_, files, said)


def errors_of(error: RulesetError) -> tuple[str, ...]:
    """Return the errors of a ruleset as text, with their places and remedies."""
    return tuple(rendered(each for each in error.diagnostics if each.severity == "error"))
