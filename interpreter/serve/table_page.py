"""Page of a table in one browser: its state, and its pieces as HTML.

A :class:`View` is the state of one page. Its pieces are rendered again after each change, and the browser gets those
that differ from what it has.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from interpreter.base.diagnostics import readable
from interpreter.base.plain_data import Json, json_of
from interpreter.bots.player import Code
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.refusal import IllegalMove, Reason
from interpreter.engine.views import Spoken, languages_of
from interpreter.explain.cross_reference import quote
from interpreter.kernel.state import Value
from interpreter.language.model import CardRow, Panel
from interpreter.language.types import KindType, name_of
from interpreter.lowering.constants import RuleFailure
from interpreter.play.narration import sentences, words_of
from interpreter.play.option_preview import Foresight
from interpreter.serve.archive import StoreError
from interpreter.serve.derived import panels_of
from interpreter.serve.live import PUBLIC, Live, Refused
from interpreter.serve.outside import without_folders
from interpreter.serve.pointing import THINGS, Draft, Pointing, Slot, Thing
from interpreter.serve.scene import Data, Scene, phase_of

__all__ = ["ENVIRONMENT", "View", "coded"]

T = TypeVar("T")

MOST_PICKS = 40
MOST_LISTED = 400
MOST_VALUES = 120
UNCLEAR = "This request is incomplete or invalid, so nothing was done."
NO_LINES: Data = {"skipped": 0, "lines": []}
MOST_DRAWINGS = 32
"""Most boards that pages share."""
LINES = 80
"""Number of log lines on the page before all are asked for."""

ENVIRONMENT = Environment(
    loader=PackageLoader("interpreter.serve"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
    finalize=lambda value: readable(value) if type(value) is str else value,
    auto_reload=False,
)

DATED = frozenset(("choose", "option", "slot", "number", "more", "hint", "undo", "bot", "sit"))
"""Actions on the state that the page shows: they name it, so that nothing happens in another one."""


def coded(text: str) -> Markup:
    """Return a message as HTML, without folders of the server, and with what stands between backticks as code."""
    text = readable(without_folders(text))
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick without its second
        return escape(text)
    return Markup("").join(Markup("<code>{}</code>").format(each) if n % 2 else each for n, each in enumerate(parts))


ENVIRONMENT.filters |= {"coded": coded, "without_folders": without_folders}


@dataclass
class View:
    """State of a page. ``seat`` is :data:`PUBLIC` for spectators; ``sent`` tells the pieces that the browser has."""

    live: Live
    seat: int
    language: str = "en"
    draft: Draft = field(default_factory=Draft)
    drafted_at: str = ""
    """Name of the state that the draft belongs to."""
    open: dict[str, bool] = field(default_factory=dict)
    by_itself: dict[str, bool] = field(default_factory=dict)
    moment: int | None = None
    picks: list[Thing] = field(default_factory=list)
    listing: bool = False
    all_lines: bool = False
    explained: Data | None = None
    refused: list[Data] = field(default_factory=list)
    said: str = ""
    beeps: int = 0
    sent: dict[str, int] = field(default_factory=dict)
    """Digests of the pieces that the browser has."""
    dirty: asyncio.Event = field(default_factory=asyncio.Event)
    serial: int = 0
    """Number of the last action. A page numbers its actions, so that none is executed twice."""
    listener: int = 0
    """Number of the event stream that the page listens to: the last one that it opened."""
    last: float = 0.0

    @property
    def game(self) -> Game:
        return self.live.game if self.moment is None else self.live.at(self.moment)

    @property
    def state(self) -> str:
        """Name of the state that the page shows."""
        return self.live.state_of(self.seat)

    @property
    def is_plain(self) -> bool:
        """Return whether the page has no state of its own, so that all such spectators can share one rendering."""
        return self.seat == PUBLIC and not (
            self.open or self.picks or self.listing or self.all_lines or self.explained or self.said or self.refused
        ) and self.moment is None  # fmt: skip

    # --- pointing

    def decision(self) -> Decision | None:
        """Return the decision of the seat; None for spectators and while the page shows an earlier moment."""
        if self.moment is not None or self.seat == PUBLIC or self.live.kept.seats[self.seat].kind != "person":
            return None
        return self.live.game.decision_of(self.seat)

    def pointing(self) -> Pointing | None:
        decision = self.decision()
        if decision is None:
            self.draft.clear()
            return None
        if self.drafted_at != self.state:
            self.drafted_at = self.state
            self.draft.clear()
        pointing = Pointing(self.live.game, decision, decision.codes, self.draft)
        if self.draft.option is None and len(pointing.offered()) == 1:
            pointing.pick_option(pointing.offered()[0])
        return pointing

    def sums(self) -> Panel | None:
        """Return the calculator panel if it is open, and its condition holds."""
        open_ = [p for p in panels_of(self.live.game.ruleset.model) if p.form == "sums" and self.is_open(p)]
        scene = Scene(self.live, self.game, self.seat, self.language) if open_ else None
        return next((panel for panel in open_ if scene is not None and scene.holds(panel)), None)

    # --- windows

    def needed(self, panel: Panel) -> bool:
        """Return whether a window must stay open because its decision is current."""
        decision = self.decision()
        return decision is not None and decision.name in dict(panel.answers)

    def is_open(self, panel: Panel) -> bool:
        if panel.at != "window":
            return True
        game = self.game
        now = {decision.name for decision in game.decisions}
        itself = not now.isdisjoint(panel.opens) or (bool(now) and phase_of(game) in panel.opens)
        if self.by_itself.get(panel.name) != itself:
            self.by_itself[panel.name] = itself
            self.open.pop(panel.name, None)
        return self.needed(panel) or self.open.get(panel.name, itself)

    # --- requests of the browser

    def is_next(self, serial: Json) -> bool:
        """Return whether an action has not come before, and remember it. Actions without a number may be repeated."""
        if not isinstance(serial, int):
            return True
        last, self.serial = self.serial, max(serial, self.serial)
        return serial > last

    async def act(self, action: str, data: Mapping[str, Json]) -> None:
        """Execute an action of the user. Errors become messages on the page."""
        if action not in ("sound", "language"):
            self.refused, self.said = [], ""
        try:
            await self._act(action, data)
        except (Refused, StoreError) as error:
            self.refuse(str(error))
        except IllegalMove as error:
            self.refused = [self._reason(reason) for reason in error.reasons] or [{"text": str(error), "cites": []}]
            self.beeps += 1
        except RuleFailure as error:
            self.refuse(f"The rules failed: {self.live.failure(error)}")
        except (KeyError, ValueError, TypeError, IndexError, OverflowError):
            self.refuse(UNCLEAR)
        self.dirty.set()

    def refuse(self, text: str) -> None:
        """Show why nothing was done."""
        self.said = text
        self.beeps += 1
        self.dirty.set()

    def _reason(self, reason: Reason) -> Data:
        quotes = [quote(self.live.ruleset, cite) for cite in reason.cites]
        return {"text": reason.message, "rule": reason.rule, "cites": quotes}

    async def _act(self, action: str, data: Mapping[str, Json]) -> None:
        live, state = self.live, str(data.get("state", ""))
        if action in DATED:
            live.check_state(self.seat, state)
        if action in ("undo", "agree", "bot", "sit") and self.seat == PUBLIC:
            raise Refused("Spectators cannot do this.")
        match action:
            case "point":
                self._point(Thing.read(str(data["thing"])), state)
            case "choose":
                await self._choose(data.get("choice"), state)
            case "option":
                self._asked().pick_option(_whole(data["n"]))
            case "slot" | "number":
                self._fill(action, _whole(data["n"]), _whole(data["value"]))
            case "more":
                self._asked().more(_whole(data["n"]), _whole(data["value"]))
            case "cancel":
                self.draft.clear()
                self.listing, self.explained = False, None
            case "undo":
                await live.undo(self.seat, state)
            case "agree":
                await live.agree(self.seat, yes=bool(data["yes"]), request=str(data.get("request", "")))
            case "hint":
                await self._hint()
            case "open" | "close":
                self.open[str(data["panel"])[:80]] = action == "open"
            case "toggle":
                panel = {panel.name: panel for panel in panels_of(live.ruleset.model)}[str(data["panel"])]
                self.open[panel.name] = not self.is_open(panel)
            case "list":
                self.listing = not self.listing
            case "lines":
                self.all_lines = not self.all_lines
            case "moment":
                number = _whole(data["value"])
                self.moment = None if number >= len(live.kept.choices) else max(0, number)
            case "reset":
                self.picks.clear()
            case "unpick":
                number = _whole(data["n"])
                if self.picks[number : number + 1] == [Thing.read(str(data["thing"]))]:
                    del self.picks[number]
            case "bot" | "sit":
                seat, name = live.kept.seats[self.seat], str(data.get("name", ""))[:40]
                kind, bot = ("bot", seat.bot or str(data.get("bot", ""))) if action == "bot" else ("person", "")
                await live.take(self.seat, kind, bot, name, mark=seat.mark)
            case "language":
                if str(data["value"]) in languages_of(live.ruleset.model):
                    self.language = str(data["value"])
            case _:
                raise Refused("Unknown action.")

    def _asked(self) -> Pointing:
        """Return the pointing of the current decision. Raises :class:`Refused` if there is none."""
        pointing = self.pointing()
        if pointing is None:
            raise Refused("It is not your turn." if self.moment is None else "Return to the present to choose.")
        return pointing

    def _point(self, thing: Thing, state: str) -> None:
        panel = self.sums()
        if panel is not None and thing.family in {Thing.of(each.type, 0).family for each in panel.sums}:
            if len(self.picks) < MOST_PICKS:
                self.picks.append(thing)
            return
        self.live.check_state(self.seat, state)
        pointing = self._asked()
        before, picks = pointing.ready(), dict(self.draft.picks)
        if pointing.point(thing):
            first, value = next(iter(picks.items()), (0, None))
            if before is not None and len(picks) > 1 and self.draft.picks.get(first) != value:
                self.said = f"No longer picked: {self._words(pointing.decision, before)}"
        else:
            reasons = pointing.refusal(thing)
            raise IllegalMove("", reasons) if reasons else Refused("This cannot be picked now.")

    def _fill(self, action: str, number: int, value: int) -> None:
        """Fill a slot with a number, or with the value at a place of its domain."""
        pointing = self._asked()
        slot = pointing.slot(number)
        if slot is None:
            raise Refused("This cannot be picked now.")
        picked = slot.domain[value] if action == "slot" else value
        if not pointing.pick(number, picked) and action == "number" and slot.domain:
            self.draft.mistyped = number, value
            self._check_typed(pointing)

    def _check_typed(self, pointing: Pointing) -> None:
        """Refuse a number that was typed and is not possible."""
        number, value = self.draft.mistyped or (-1, None)
        if (slot := pointing.slot(number)) is not None:
            low, high = min(slot.domain), max(slot.domain)
            raise Refused(f"{slot.name.replace('_', ' ')}: got {value}, want {low} to {high}.")

    async def _choose(self, choice: Json, state: str) -> None:
        pointing = self._asked()
        if not isinstance(choice, dict):
            self._check_typed(pointing)
            raise Refused("Pick the missing values first.")
        if self.sums() is not None:
            raise Refused("Close the calculator before you choose.")
        await self.live.choose(self.seat, choice, state)
        self.listing = False

    async def _hint(self) -> None:
        self._asked()
        state, choice = self.state, await self.live.hint(self.seat)
        pointing = self.pointing()
        if choice is None or pointing is None or state != self.state:
            return
        for code in pointing.codes:
            if pointing.decision.option(code).as_dict() == choice:
                self.draft.option, self.draft.picks = code[0], dict(enumerate(code[1]))
                self.said = f"Hint: {self._words(pointing.decision, code)}"
                return

    # --- the pieces of the page

    def pieces(self) -> dict[str, str]:
        """Return the pieces of the page as HTML, by name."""
        if self.moment is not None and self.moment >= len(self.live.kept.choices):  # undone
            self.moment = None
        game, failures = self.game, dict[str, None]()

        def tried(make: Callable[[], T], otherwise: T) -> T:
            """Return what rules make, or something else if they fail: the page must allow an undo."""
            try:
                return make()
            except RuleFailure as error:
                failures[self.live.failure(error)] = None
                return otherwise

        scene = Scene(self.live, game, self.seat, self.language)
        pointing = tried(lambda: self._marked(scene), None)
        none: list[tuple[Panel, Data]] = []
        visible = tried(lambda: scene.panels(self.is_open), none)
        panels = [each for each in visible if each[0].form != "sums"]
        windows = [panel for panel in panels_of(game.ruleset.model) if panel.at == "window"]
        shown = {panel.name: data for panel, data in panels}
        shown |= {panel.name: scene.sums(panel, self.picks) for panel, _ in visible if panel.form == "sums"}
        opened = [(p, shown[p.name], scene.heading(p.name), self.needed(p)) for p in windows if p.name in shown]
        board, now = tried(scene.board, None), tried(scene.status, None)
        prompt = tried(lambda: self._prompt(pointing) if pointing is not None else None, None)
        listed, lines = tried(lambda: self._listed(pointing), None), tried(lambda: self._lines(game), NO_LINES)
        marks = dict(mark for panel in panels_of(game.ruleset.model) for mark in panel.answers)
        decision = self.decision()
        mark = marks.get(decision.name, "ring") if decision is not None else "ring"
        can_undo = any(line["by"] == self.seat for line in self.live.kept.choices)
        common = {"view": self, "live": self.live, "public": self.seat == PUBLIC}
        adding = any(panel.form == "sums" for panel, _ in visible)
        at = {place: [each for each in panels if each[0].at == place] for place in ("status", "board", "side")}
        status = [each for each in at["status"] if each[0].form == "columns"]
        buttons = [(panel, scene.heading(panel.name), self.is_open(panel), self.needed(panel)) for panel in windows]
        return {
            "status": _render("status", status=now, panels=status, mark=mark) if now is not None else "",
            "notice": _render("notice", undo=self._undo_request(), failures=[*failures], **common),
            "prompt": _render(
                "prompt", prompt=prompt, adding=adding, can_undo=can_undo, failed=bool(failures), **common
            ),
            "bar": self._piece("bar", buttons=buttons),
            "base": _base(board["base"], board["wide"]) if board else "",
            "over": self._piece("over", board=board, adding=adding) if board else "",
            "common": self._piece("common", "panels", panels=at["board"], mark=mark),
            "side": self._piece("side", "panels", panels=at["side"], mark=mark),
            "windows": self._piece("windows", windows=opened, mark=mark),
            "log": self._piece("log", lines=lines),
            "back": _render("back", last=len(self.live.kept.choices), **common),
            "list": self._piece("list", options=listed),
            "why": self._piece("why", why=self.explained),
        }

    def _piece(self, name: str, macro: str = "", **data: object) -> str:
        """Return a piece that depends on these data only, from the cache of its table if they are unchanged."""
        rendered, key = self.live.rendered, (self.seat, self.language, name)
        known = rendered.get(key)
        if known is None or known[0] != data:
            known = rendered[key] = data, _render(macro or name, **data)
        return known[1]

    def _marked(self, scene: Scene) -> Pointing | None:
        """Return the pointing of the decision, and mark in the scene what can be picked and what is."""
        pointing = self.pointing()
        if pointing is None:
            return None
        scene.can = pointing.can()
        cards = scene.game.ruleset.model.cards
        for option, number, name in pointing.attributes():
            values = {given[number] for at, given in pointing.codes if at == option}
            picked = pointing.values.get(number) if option == self.draft.option else None
            held = {card: row.values[name] for card, row in enumerate(cards) if name in row.values}
            near = [card for card, value in held.items() if value in values]
            own = _of_one_kind(cards, [card for card in near if scene.is_own(card)], name, values)
            for each in own or near:
                scene.can.add(Thing("card", each))
                if picked is not None and held[each] == picked:
                    scene.picked.add(Thing("card", each))
        card: int | None = None
        for slot in pointing.slots():
            form = slot.type.sure.word
            if slot.value is None:
                continue
            if form in THINGS:
                scene.picked.add(Thing.of(slot.type, slot.value))
            card = slot.value if form == "card" else card
            if form == "bag" and card is not None:
                scene.burning = card, name_of(slot.type), slot.value
        return pointing

    def _words(self, decision: Decision, code: Code) -> str:
        """Return an option in the words of the log if it has some, else its name and values."""
        spoken = Spoken(self.live.game.table, self.live.game.state, self.language)
        said, site = words_of(spoken, decision, code), decision.site.options[code[0]]
        if said:
            return said
        pairs = zip(site.core.choices, code[1], strict=True)
        values = [f"{each.name.replace('_', ' ')} {spoken.text(value, each.type)}" for each, value in pairs]
        return f"{site.name.replace('_', ' ')} {', '.join(values)}".strip()

    def _prompt(self, pointing: Pointing) -> Data:
        """Return the data of the prompt: the alternatives, the slots of the picked one, and a preview of its effect."""
        decision = pointing.decision
        spoken = Spoken(self.live.game.table, self.live.game.state, self.language)
        code, then = pointing.ready(), ""
        if code is not None and not decision.is_turned:
            then = Foresight(self.live.game, decision, self.language).first(code)
        return {
            "options": [
                (number, site.name, "" if site.core.choices else json_of({"do": site.name}))
                for number, site in enumerate(decision.site.options)
                if number in pointing.offered()
            ],
            "option": pointing.draft.option,
            "slots": [self._slot_data(spoken, slot) for slot in pointing.slots()],
            "choice": json_of(decision.option(code).as_dict()) if code is not None else "",
            "words": self._words(decision, code) if code is not None else "",
            "then": then,
            "many": len(pointing.codes),
        }

    def _slot_data(self, spoken: Spoken, slot: Slot) -> Data:
        form = slot.type.sure.word
        domain = slot.domain
        data: Data = {"number": slot.number, "name": slot.name.replace("_", " "), "filled": slot.filled}
        if form == "int" and domain and None not in domain:
            wrong, typed = self.draft.mistyped or (-1, None)
            is_wrong = wrong == slot.number
            now = typed if is_wrong else slot.value if slot.filled else min(domain)
            less = max((each for each in domain if each < now), default=None)
            more = min((each for each in domain if each > now), default=None)
            low, high = min(domain), max(domain)
            bounds = {"value": now, "low": low, "high": high, "less": less, "more": more, "wrong": is_wrong}
            return {**data, "form": "number", **bounds}
        if form == "bag" and len(domain) > 1:
            kind = KindType(name_of(slot.type))
            kinds = [
                {"value": member, "text": spoken.text(member, kind), "n": slot.value[member] if slot.filled else 0}
                for member, counts in enumerate(zip(*domain, strict=True))
                if any(counts)
            ]
            return {**data, "form": "bag", "kinds": kinds}
        values = [
            (place, spoken.text(value, slot.type), slot.filled and value == slot.value)
            for place, value in enumerate(domain)
        ]
        return {**data, "form": "values", "values": values[:MOST_VALUES], "few": len(values) <= 10}

    def _listed(self, pointing: Pointing | None) -> list[tuple[str, str]] | None:
        if not self.listing or pointing is None:
            return None
        decision = pointing.decision
        codes = pointing.codes[:MOST_LISTED]
        return [(json_of(decision.option(code).as_dict()), self._words(decision, code)) for code in codes]

    def _undo_request(self) -> Data | None:
        """Return the pending undo request, and whether this seat must answer it."""
        asking = self.live.asking
        if asking is None:
            return None
        who, _, agreed = asking
        possible = self.live.undo_of(who)
        asked = possible is not None and self.seat in possible[1] and self.seat not in agreed
        name = "" if who == self.seat else self.live.seat_name(who, self.language)
        return {"who": name, "asked": asked, "request": self.live.request}

    @property
    def _reader(self) -> int | None:
        """The seat whose log the page shows: hidden information stays out of it until the game is over."""
        return None if self.live.game.is_over and self.moment is None else self.seat

    async def read(self) -> None:
        """Read the log that the pieces show. If a line fails, the pieces tell the error."""
        with suppress(RuleFailure):
            await self.live.read(self._reader, self.language, self.game)

    def _lines(self, game: Game) -> Data:
        told = self.live.log(self._reader, self.language, game)
        kinds, lines = {number: line.kind for number, line in told}, sentences(told)
        skipped = 0 if self.all_lines else max(0, len(lines) - LINES)
        return {"skipped": skipped, "lines": [(kinds[line[0][0]], line) for line in lines[skipped:]]}


def _of_one_kind(cards: Sequence[CardRow], near: list[int], name: str, values: set[Value]) -> list[int]:
    """Return the cards whose kind has a card for each of the values; other cards have such a value by coincidence.
    Return all if there are none."""
    held: dict[str, set[Value]] = {}
    for card in near:
        held.setdefault(cards[card].kind, set()).add(cards[card].values[name])
    return [card for card in near if values <= held[cards[card].kind]] or near


def _whole(number: Json) -> int:
    if isinstance(number, int | float | str):
        return int(number)
    raise TypeError(f"got {number!r}, want a number")


def _render(name: str, **values: object) -> str:
    macro: Callable[..., Markup] = getattr(ENVIRONMENT.get_template("pieces.html").module, name)
    return str(macro(values))


@lru_cache(MOST_DRAWINGS)
def _base(drawing: str, wide: bool) -> str:
    """Return the board without pieces, which all its pages share."""
    return _render("base", drawing=drawing, wide=wide)
