"""Page of a table in one browser: its state, and its pieces as HTML.

A :class:`View` is the state of one page. Its pieces are rendered again after each change, and the browser gets those
that differ from what it has.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from msgspec import convert
from msgspec.structs import replace

from interpreter.base.diagnostics import RulesetError, readable, rendered
from interpreter.base.plain_data import Json, json_in, json_of
from interpreter.bots.player import Code
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.refusal import IllegalMove, Reason
from interpreter.engine.views import Spoken, question_of
from interpreter.hidden.sight import Veil
from interpreter.kernel.state import Value
from interpreter.language.model import CardRow, Panel
from interpreter.language.translations import asks_of
from interpreter.language.types import BagType, CardType, IntType, KindType
from interpreter.lowering.constants import RuleFailure
from interpreter.play.game_records import Choice
from interpreter.play.narration import sentences, words_of
from interpreter.play.option_preview import Foresight
from interpreter.serve.calling import may_call
from interpreter.serve.commands import completions
from interpreter.serve.derived import panels_of
from interpreter.serve.drafts import Drafted, Part
from interpreter.serve.live import CHANGED, PUBLIC, Live
from interpreter.serve.measured import measures_of
from interpreter.serve.outside import without_folders
from interpreter.serve.pointing import CARD, Pointing, Slot, Thing, Unfinished
from interpreter.serve.scene import Data, Scene, phase_of, things_in
from interpreter.serve.setting_up import reason_data
from interpreter.serve.standing import Orders, answer_words, shape_of, subject_of
from interpreter.serve.words import Refused, Told, in_language, known, t
from interpreter.simulate.measurements import taken

__all__ = ["BEAT", "ENVIRONMENT", "View", "coded"]

T = TypeVar("T")

MOST_LISTED = 400
MOST_VALUES = 120
UNCLEAR = known("This request is incomplete or invalid, so nothing was done.")
NO_LINES: Data = {"skipped": 0, "lines": []}
MOST_DRAWINGS = 32
"""Most boards that pages share."""
BEAT = 20.0
"""Seconds between two signs of life of an event stream."""
MOST_NOTES = 4_000
METHODS = frozenset(dir(dict))
MEASURES = "="  # a name that no panel can have
LINES = 80
"""Number of log lines on the page before all are asked for."""


class _Pages(Environment):
    """Templates whose data are mostly dictionaries: their keys are asked before their attributes, but for methods."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        is_key = type(obj) is dict and attribute in obj and attribute not in METHODS
        return obj[attribute] if is_key else super().getattr(obj, attribute)


ENVIRONMENT = _Pages(
    loader=PackageLoader("interpreter.serve"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
    finalize=lambda value: readable(value) if type(value) is str else value,
    auto_reload=False,
)

DATED = frozenset({"choose", "option", "slot", "number", "more", "hint", "undo", "bot", "answer", "draft", "point"})
"""Actions on the state that the page shows: they name it, so that nothing happens in another one."""
OF_SEATS = frozenset(("undo", "agree", "bot", "sit", "answer", "drop", "asks", "hook", "say", "notes", "draft"))
"""Actions that spectators cannot do."""


def coded(text: str) -> Markup:
    """Return a message as HTML, without folders of the server, and with what stands between backticks as code."""
    text = readable(without_folders(text.now() if isinstance(text, Told) else text))
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick without its second
        return escape(text)
    return Markup("").join(Markup("<code>{}</code>").format(each) if n % 2 else each for n, each in enumerate(parts))


ENVIRONMENT.filters |= {"coded": coded, "json": json_of, "without_folders": without_folders}
ENVIRONMENT.globals |= {"t": t, "now": time.time}


@dataclass
class View:
    """State of a page. ``seat`` is :data:`PUBLIC` for spectators; ``sent`` tells the pieces that the browser has."""

    live: Live
    seat: int
    language: str = "en"
    unfinished: Unfinished = field(default_factory=Unfinished)
    begun_at: str = ""
    """Name of the state that the unfinished choice belongs to."""
    open: dict[str, bool] = field(default_factory=dict)
    by_itself: dict[str, bool] = field(default_factory=dict)
    moment: int | None = None
    ahead: bool = False
    """Whether the user plans while others are asked."""
    rule: tuple[str, Sequence[str]] = "", ()
    """Lines of a standing answer that have errors, and the errors."""
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
    front: bool = False
    """Whether the browser shows the page, as the page has told it."""

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
            self.open or self.listing or self.all_lines or self.explained or self.said or self.refused
        ) and self.moment is None  # fmt: skip

    @property
    def is_in_front(self) -> bool:
        """Return whether somebody has the page before their eyes."""
        return self.front and time.monotonic() - self.last < 2 * BEAT

    # --- pointing

    def drafted(self) -> Drafted | None:
        """Return the draft of the seat; None for spectators, while the page shows an earlier moment, and while others
        are asked and nobody plans."""
        live, seat = self.live, self.seat
        if self.moment is not None or seat == PUBLIC or live.gathers or live.game.is_over:
            return None
        if live.kept.seats[seat].kind != "person":
            return None
        self.ahead &= (decision := live.game.decision_of(seat)) is None  # else the turn that was planned has come
        has_draft = self.ahead or live.orders(seat).draft or decision is not None
        return live.drafted(seat) if has_draft else None

    def decision(self) -> Decision | None:
        """Return the decision that the seat answers, or the next one of its draft."""
        draft = self.drafted()
        return draft.decision if draft is not None else None

    def pointing(self) -> Pointing | None:
        draft = self.drafted()
        if draft is None or draft.decision is None or (draft.ahead and self.live.orders(self.seat).armed):
            self.unfinished.clear()
            return None
        begun_at = f"{self.state} {draft.mark}"
        if self.begun_at != begun_at:
            self.begun_at = begun_at
            self.unfinished.clear()
        pointing = Pointing(draft.game, draft.decision, draft.decision.codes, self.unfinished)
        if self.unfinished.option is None and len(pointing.offered()) == 1:
            pointing.pick_option(pointing.offered()[0])
        return pointing

    # --- windows

    def needed(self, panel: Panel) -> bool:
        """Return whether a window must stay open because its decision is current."""
        decision = self.decision()
        return decision is not None and decision.name in dict(panel.answers)

    def is_open(self, panel: Panel) -> bool:
        if panel.at != "window":
            return True
        draft = self.drafted()
        game = draft.game if draft is not None else self.game
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
        if action != "front":
            self.refused, self.said = [], ""
        await self.attempt(self._act(action, data))

    async def attempt(self, work: Awaitable[T]) -> T | None:
        """Return what an action leads to. Errors become messages on the page."""
        try:
            with in_language(self.language):
                return await work
        except Refused as error:
            self.refuse("{error}", error=error)
        except IllegalMove as error:
            reasons = error.reasons or [Reason(str(error), "")]
            self.refused = [reason_data(self.live.ruleset, reason, self.language) for reason in reasons]
            self.beeps += 1
        except RulesetError as error:
            self.rule = self.rule[0], rendered(error.diagnostics)
        except RuleFailure as error:
            self.refuse("The rules failed: {why}", why=self.live.failure(error))
        except (KeyError, ValueError, TypeError, IndexError, OverflowError):
            self.refuse(UNCLEAR)
        finally:
            self.dirty.set()
        return None

    def refuse(self, text: str, /, **values: object) -> None:
        """Show why nothing was done."""
        self.said = Told(text, **values)
        self.beeps += 1
        self.dirty.set()

    async def _act(self, action: str, data: Mapping[str, Json]) -> None:
        live, state = self.live, str(data.get("state", ""))
        if action in DATED:
            live.check_state(self.seat, state)
        if "draft" in data and (draft := self.drafted()) is not None and data["draft"] != draft.mark:
            raise Refused(CHANGED)
        if action in OF_SEATS and self.seat == PUBLIC:
            raise Refused("Spectators cannot do this.")
        match action:
            case "point":
                await self._point(Thing.read(str(data["thing"])))
            case "draft":
                await live.draft(self.seat, _choices(data["choice"]), armed=bool(data.get("armed")))
            case "ahead":
                self.ahead = not self.ahead
            case "choose":
                await self._choose(data.get("choice"), state)
            case "option":
                self._asked().pick_option(_whole(data["n"]))
            case "slot" | "number":
                self._fill(action, _whole(data["n"]), _whole(data["value"]))
            case "more":
                self._asked().more(_whole(data["n"]), _whole(data["value"]))
            case "cancel":
                self.unfinished.clear()
                self.listing, self.explained = False, None
            case "undo":
                await live.undo(self.seat, state)
            case "agree":
                await live.agree(self.seat, yes=bool(data["yes"]), request=str(data.get("request", "")))
            case "hint":
                await self._hint()
            case "dismiss":
                pass  # every action takes away what an earlier one has said
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
            case "bot" | "sit":
                seat, name = live.kept.seats[self.seat], str(data.get("name", ""))[:40]
                kind, bot = ("bot", seat.bot or str(data.get("bot", ""))) if action == "bot" else ("person", "")
                await live.take(self.seat, kind, bot, name, mark=seat.mark)
            case "answer":
                most, whole_round = data.get("most"), bool(data.get("round"))
                most = None if most is None else _whole(most)
                rule = str(data.get("value", "")).strip()[:MOST_NOTES]
                self.rule = rule, ()
                await live.answer(self.seat, most, whole_round=whole_round, rule=rule)
                self.rule = "", ()
            case "drop" | "asks":
                asks = bool(data["yes"]) if action == "asks" else None
                await live.order(self.seat, partial(_without, asks=asks, name=str(data.get("name", ""))))
            case "hook":
                hook = str(data["value"]).strip()[:500]
                if hook and not may_call(hook, live.hooks):
                    raise Refused("This server calls only webhooks of {hosts}.", hosts=", ".join(live.hooks))
                link = str(data.get("link", ""))[:500]
                own = {"hook": hook, "link": link, "language": self.language}
                await live.order(self.seat, lambda orders: replace(orders, **own))
            case "say":
                await live.say(self.seat, str(data["value"]))
            case "notes":
                notes = str(data["value"])[:MOST_NOTES]
                await live.order(self.seat, lambda orders: replace(orders, notes=notes))
            case "front":
                self.front = bool(data["yes"])
            case _:
                raise Refused("Unknown action.")

    def _asked(self) -> Pointing:
        """Return the pointing of the current decision. Raises :class:`Refused` if there is none."""
        pointing = self.pointing()
        if pointing is None:
            raise Refused("It is not your turn." if self.moment is None else "Return to the present to choose.")
        return pointing

    async def _point(self, thing: Thing) -> None:
        """Fill a slot with a thing. If it would take the place of what is picked, and can follow it, the choice that is
        complete without it becomes a part of the draft."""
        pointing, was = self._asked(), Unfinished(self.unfinished.option, dict(self.unfinished.picks))
        before, picked, follows = pointing.ready(), self._picked(pointing), self._follows(pointing)
        taken = pointing.point(thing)
        if taken and pointing.keeps(was):
            return
        if follows is not None and follows.point(thing):
            await self.live.draft(self.seat, [*self.live.drafted(self.seat).kept, *picked], armed=False)
            self._asked()
            self.unfinished.option, self.unfinished.picks = follows.unfinished.option, follows.unfinished.picks
        elif not taken:
            reasons = pointing.refusal(thing, self.language)
            raise IllegalMove("", reasons) if reasons else Refused("This cannot be picked now.")
        elif before is not None and len(was.picks) > 1:
            self.said = Told("No longer picked: {what}", what=self._words(pointing.decision, before))

    def _fill(self, action: str, number: int, value: int) -> None:
        """Fill a slot with a number, or with the value at a place of its domain."""
        pointing = self._asked()
        slot = pointing.slot(number)
        if slot is None:
            raise Refused("This cannot be picked now.")
        picked = slot.domain[value] if action == "slot" else value
        if not pointing.pick(number, picked) and action == "number" and slot.domain:
            self.unfinished.mistyped = number, value
            self._check_typed(pointing)

    def _check_typed(self, pointing: Pointing) -> None:
        """Refuse a number that was typed and is not possible."""
        number, value = self.unfinished.mistyped or (-1, None)
        if (slot := pointing.slot(number)) is not None:
            low, high = min(slot.domain), max(slot.domain)
            spoken = Spoken(self.live.game.table, self.live.game.state, self.language)
            name = spoken.term("slot", pointing.decision.name, slot.name)
            raise Refused("{name}: got {value}, want {low} to {high}.", name=name, value=value, low=low, high=high)

    def _picked(self, pointing: Pointing) -> list[Choice]:
        """Return the choice that the user has picked, if it is complete."""
        code = pointing.ready() if pointing.unfinished.picks else None
        return [pointing.decision.option(code).as_dict()] if code is not None else []

    def _follows(self, pointing: Pointing) -> Pointing | None:
        """Return the pointing after what the user has picked. None if that is no complete choice, or ends the draft."""
        picked = self._picked(pointing)
        then = self.live.drafted(self.seat, picked) if picked else None
        if then is None or then.decision is None or then.parts[-1].code is None:
            return None
        begun = Unfinished(self.unfinished.option if then.decision.site is pointing.decision.site else None)
        return Pointing(then.game, then.decision, then.decision.codes, begun)

    async def _choose(self, choice: Json, state: str) -> None:
        """Make a choice, or several together."""
        if not choice or self.drafted() is None:
            self._check_typed(self._asked())
            raise Refused("Pick the missing values first.")
        await self.live.choose(self.seat, _choices(choice), state)
        self.listing = False

    async def _hint(self) -> None:
        if self._asked().game is not self.live.game:
            raise Refused("A hint is for the game as it is: drop the draft first.")
        state, choice = self.state, await self.live.hint(self.seat)
        pointing = self.pointing()
        if choice is None or pointing is None or state != self.state:
            return
        for code in pointing.codes:
            if pointing.decision.option(code).as_dict() == choice:
                self.unfinished.option, self.unfinished.picks = code[0], dict(enumerate(code[1]))
                self.said = Told("Hint: {what}", what=self._words(pointing.decision, code))
                return

    # --- the pieces of the page

    def pieces(self) -> dict[str, str]:
        """Return the pieces of the page as HTML, by name."""
        with in_language(self.language):
            return self._pieces()

    def _pieces(self) -> dict[str, str]:
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

        real, draft = Scene(self.live, game, self.seat, self.language), self.drafted()
        scene = (
            Scene(self.live, draft.game, self.seat, self.language, real) if draft and draft.game is not game else real
        )
        pointing = tried(lambda: self._marked(scene), None)
        none: list[tuple[Panel, Data]] = []
        panels = tried(lambda: scene.panels(self.is_open), none)
        windows = [panel for panel in panels_of(game.ruleset.model) if panel.at == "window"]
        shown = {panel.name: data for panel, data in panels}
        opened = [(p, shown[p.name], scene.heading(p.name), self.needed(p)) for p in windows if p.name in shown]
        board, now = tried(scene.board, None), None if self.live.gathers else tried(real.status, None)
        if scene is real:  # a draft has marks of its own
            tried(lambda: self._mark_changes(panels, board), None)
        prompt = tried(lambda: self._prompt(pointing, draft, scene) if draft is not None else None, None)
        listed, lines = tried(lambda: self._listed(pointing), None), tried(lambda: self._lines(game), NO_LINES)
        marks = dict(mark for panel in panels_of(game.ruleset.model) for mark in panel.answers)
        decision = self.decision()
        mark = marks.get(decision.name, "ring") if decision is not None else "ring"
        can_undo = any(line["by"] == self.seat and "forced" not in line for line in self.live.kept.choices)
        orders = self.live.orders(self.seat) if self.seat != PUBLIC else None
        common = {"view": self, "live": self.live, "public": self.seat == PUBLIC}
        at = {place: [each for each in panels if each[0].at == place] for place in ("status", "board", "side")}
        at["board"].sort(key=lambda each: not self.needed(each[0]))
        beside = [*(panel for panel, *_ in opened), *(panel for panel, _ in at["board"])]
        measured, is_opened = tried(lambda: self._measured(scene), None), self.open.get(MEASURES, True)
        answering = (measured is not None and is_opened) or any(map(self.needed, beside))
        status = [each for each in at["status"] if each[0].form == "columns"]
        live, seated = self.live, self.seat != PUBLIC
        typed = [*completions(live.ruleset, live.boards, seated=seated, gathers=live.gathers)]
        buttons = [(panel, scene.heading(panel.name), self.is_open(panel), self.needed(panel)) for panel in windows]
        return {
            "status": _render("status", status=now, panels=status, mark=mark, live=self.live) if now else "",
            "notice": _render("notice", undo=self._undo_request(), failures=[*failures], **common),
            "prompt": _render(
                "prompt",
                prompt=prompt,
                can_undo=can_undo,
                orders=orders,
                tab="map" if board and not answering else "panels",  # what a small page opens
                failed=bool(failures),
                **common,
            ),
            "bar": self._piece("bar", buttons=buttons, measured=measured is not None, opened=is_opened),
            "base": _base(board["base"], board["shape"]) if board else "",
            "over": self._piece("over", board=board) if board else "",
            "common": self._piece("common", "panels", panels=at["board"], mark=mark),
            "side": self._piece("side", "panels", panels=at["side"], mark=mark),
            "windows": self._piece("windows", windows=opened, mark=mark, measured=measured if is_opened else None),
            "log": self._piece("log", lines=lines),
            "back": _render("back", last=len(self.live.kept.choices), **common),
            "list": self._piece("list", options=listed),
            "commands": self._piece("commands", known=typed),
            "why": self._piece("why", why=self.explained),
        }

    def _measured(self, scene: Scene) -> Data | None:
        """Return the measures of a game that is over, unless the page shows an earlier moment."""
        game = self.live.game
        if self.moment is not None or not game.is_over or not game.ruleset.model.measures:
            return None
        return measures_of(scene, self.live.measured or taken(game))  # if a measure fails, it does so again

    def _turn(self) -> int | None:
        """Return the number of choices up to the last of the seat itself, if others have chosen since."""
        choices = self.live.kept.choices
        own = (number for number in range(len(choices), 0, -1) if choices[number - 1]["by"] == self.seat)
        last = next(own, None) if self.moment is None else None
        return last if last != len(choices) else None

    def _mark_changes(self, panels: Sequence[tuple[Panel, Data]], board: Data | None) -> None:
        """Mark the things that the seat saw elsewhere, or otherwise, after its last choice."""
        if (turn := self._turn()) is None:
            return
        key = self.seat, self.language
        if self.live.seen.get(key, (0,))[0] != turn:
            then = Scene(self.live, self.live.at(turn), self.seat, self.language)
            shown = {"": then.board(), **{panel.name: data for panel, data in then.panels(lambda _: True)}}
            self.live.seen[key] = turn, {place for name in shown for place, _ in things_in(shown[name], name)}
        before = self.live.seen[key][1]
        known = {place[0] for place in before}
        for name, data in (*((panel.name, data) for panel, data in panels), ("", board)):
            for place, thing in things_in(data, name) if name in known else ():
                thing["new"] = place not in before

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
            picked = pointing.values.get(number) if option == self.unfinished.option else None
            held = {card: scene.printed(card, name) for card, row in enumerate(cards) if name in row.values}
            near = [card for card, value in held.items() if not isinstance(value, Veil) and value in values]
            own = _of_one_kind(cards, [card for card in near if scene.is_own(card)], name, values)
            for each in own or near:
                scene.can.add(Thing(CARD, each))
                if picked is not None and held[each] == picked:
                    scene.picked.add(Thing(CARD, each))
        card: int | None = None
        for slot in pointing.slots():
            scene.picked.update(slot.things)
            if slot.value is None:
                continue
            card = slot.value if isinstance(slot.type, CardType) else card
            if isinstance(slot.type, BagType) and card is not None:
                scene.burning = card, slot.type.name, slot.value
        return pointing

    def _words(self, decision: Decision, code: Code) -> str:
        """Return an option in the words of the log if it has some, else its name and values."""
        spoken = Spoken(self.live.game.table, decision.state, self.language)
        said, site = words_of(spoken, decision, code), decision.site.options[code[0]]
        if said:
            return said
        pairs = zip(site.core.choices, code[1], strict=True)
        given = [(each.name, spoken.text(value, each.type)) for each, value in pairs]
        return _named(spoken, decision.name, site.name, given)

    def _prompt(self, pointing: Pointing | None, draft: Drafted, scene: Scene) -> Data:
        """Return the data of the prompt: the draft with what can be done with it, and the decision that it leads to:
        alternatives, slots of the picked one, and a preview of its effect."""
        decision, is_asked = draft.decision or self.live.game.decision, pointing is not None
        assert decision is not None
        pointing = pointing or Pointing(draft.game, decision, (), Unfinished())  # nothing can be picked any more
        code, follows, parts = pointing.ready(), self._follows(pointing), draft.kept
        ready = [decision.option(code).as_dict()] if code is not None else []
        before = parts if draft.ahead else draft.sent
        both, first = [*before, *ready], dict.fromkeys(pointing.offered(), before)
        if follows is not None:
            first |= {n: both for n, values in follows.codes if not values and follows.decision.site is decision.site}
            scene = Scene(self.live, follows.game, self.seat, self.language, scene.was or scene)
        spoken = Spoken(draft.game.table, draft.game.state, self.language)
        named = partial(spoken.term, "button", decision.name)
        return {
            "draft": draft,
            "at": decision.name,
            "asks": is_asked and question_of(spoken.table, spoken.state, decision, self.language, self.seat),
            "parts": [self._part_data(part, parts, number) for number, part in enumerate(draft.parts)],
            "all": parts,
            "own": scene.own(),
            "add": [*parts, *ready] if follows is not None else [],
            "send": both,
            "words": self._words(decision, code) if code is not None else "",
            "then": Foresight(draft.game, decision, self.language).first(code) if code is not None else "",
            "options": [
                (n, named(site.name), [] if site.core.choices else [*first[n], {"do": site.name}])
                for n, site in enumerate(decision.site.options)
                if n in first
            ],
            "option": pointing.unfinished.option,
            "rule": "\n".join(f"{o.name} {', '.join(c.name for c in o.core.choices)}" for o in decision.site.options),
            "slots": [self._slot_data(spoken, decision.name, slot) for slot in pointing.slots()],
            "many": len(pointing.codes),
            "standing": self._standing(pointing, spoken) if not draft.ahead and not parts else [],
        }

    def _part_data(self, part: Part, parts: list[Choice], number: int) -> Data:
        """Return the data of a part of a draft: in words, why it is not possible, and the draft without it."""
        words = self._later(part)
        if part.decision is not None and part.code is not None:
            then = Foresight(self.live.game, part.decision, self.language).first(part.code)
            words = then or self._words(part.decision, part.code)
        why = [reason_data(self.live.ruleset, reason, self.language) for reason in part.why]
        return {"words": words, "why": why, "without": [*parts[:number], *parts[number + 1 :]]}

    def _later(self, part: Part) -> str:
        """Return a choice that is not possible now, by its names."""
        spoken = Spoken(self.live.game.table, self.live.game.state, self.language)
        given: dict[str, object] = dict(part.choice)
        name, asks = str(given.pop("do")), (ask for ask in asks_of(self.live.ruleset.model) if ask.name == part.name)
        types = {(each.name, slot.name): slot.type for ask in asks for each in ask.options for slot in each.choices}
        for slot, value in given.items():
            with suppress(ValueError, KeyError):  # the rules may have changed
                given[slot] = spoken.text(spoken.value(value, types[name, slot]), types[name, slot])
        return _named(spoken, part.name, name, given.items())

    def _standing(self, pointing: Pointing, spoken: Spoken) -> list[tuple[str, Data]]:
        """Return the standing answers that a decision allows, in words and as data of the action."""
        decision, shape = pointing.decision, shape_of(pointing.decision)
        if shape is None:
            return []
        rest = answer_words(spoken, decision, shape, None)
        most = pointing.values.get(0) if pointing.unfinished.option == shape[0] else None
        offers: list[tuple[str, Data]] = []
        if most is not None:
            offers.append((_begun(answer_words(spoken, decision, shape, most)), {"most": most}))
        if json_in(subject_of(decision)):
            offers.append((_begun(t("{what} on this one", what=rest)), {}))
        return [*offers, (_begun(t("{what} for this round", what=rest)), {"round": 1})]

    def _slot_data(self, spoken: Spoken, decision: str, slot: Slot) -> Data:
        domain = slot.domain
        name = spoken.term("slot", decision, slot.name)
        data: Data = {"number": slot.number, "name": name, "filled": slot.filled}
        if isinstance(slot.type, IntType) and domain and None not in domain:
            wrong, typed = self.unfinished.mistyped or (-1, None)
            is_wrong = wrong == slot.number
            now = typed if is_wrong else slot.value if slot.filled else min(domain)
            less = max((each for each in domain if each < now), default=None)
            more = min((each for each in domain if each > now), default=None)
            low, high = min(domain), max(domain)
            bounds = {"value": now, "low": low, "high": high, "less": less, "more": more, "wrong": is_wrong}
            return {**data, "form": "number", **bounds}
        if isinstance(slot.type, BagType) and len(domain) > 1:
            kind = KindType(slot.type.name)
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

    def _listed(self, pointing: Pointing | None) -> tuple[bool, list[tuple[list[Choice], str]]] | None:
        """Return all options as choices and in words, if the page lists them, and whether a draft gets them."""
        if not self.listing or pointing is None:
            return None
        decision, draft = pointing.decision, self.live.drafted(self.seat)
        before, codes = draft.kept, pointing.codes[:MOST_LISTED]
        listed = [([*before, decision.option(code).as_dict()], self._words(decision, code)) for code in codes]
        return draft.ahead or bool(before), listed

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
        """Read the log that the pieces show, and measure. If a line fails, the pieces tell the error."""
        with suppress(RuleFailure):
            await self.live.measure()
        with suppress(RuleFailure):
            await self.live.read(self._reader, self.language, self.game)

    def _lines(self, game: Game) -> Data:
        told = self.live.log(self._reader, self.language, game)
        kinds: dict[str, str] = {number: line.kind for number, line in told}
        after = [int(number.partition(".")[0]) for number, _ in told]
        shown: list[tuple[str, list[tuple[str, str]]]] = []
        start = 0
        for said in self.live.kept.talk if self.moment is None else ():  # after the choices made before it
            end = max(start, bisect_right(after, said.at))  # it was said before an undo
            shown += [(kinds[line[0][0]], line) for line in sentences(told[start:end])]
            name, start = self.live.seat_name(said.seat, self.language), end
            shown.append(("said", [("", f"{name}: {said.text}")]))
        shown += [(kinds[line[0][0]], line) for line in sentences(told[start:])]
        if (turn := self._turn()) is not None:
            late = (at for at, (_, line) in enumerate(shown) if int(line[0][0].partition(".")[0] or 0) > turn)
            if (at := next(late, None)) is not None:
                shown.insert(at, ("since", [("", t("since your last choice"))]))
        skipped = 0 if self.all_lines else max(0, len(shown) - LINES)
        return {"skipped": skipped, "lines": shown[skipped:]}


def _named(spoken: Spoken, decision: str, option: str, given: Iterable[tuple[str, object]]) -> str:
    """Return an option by its names: that of its alternative, and those of slots with what they are given."""
    slots = ", ".join(f"{spoken.term('slot', decision, name)} {text}" for name, text in given)
    return f"{spoken.term('button', decision, option)} {slots}".strip()


def _begun(text: str) -> str:
    """Return a text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def _without(orders: Orders, asks: bool | None, name: str) -> Orders:
    """Return orders without the answer to a decision, and with other wishes about forced choices."""
    left = {each: answer for each, answer in orders.answers.items() if each != name}
    return replace(orders, asks=orders.asks if asks is None else asks, answers=left)


def _of_one_kind(cards: Sequence[CardRow], near: list[int], name: str, values: set[Value]) -> list[int]:
    """Return the cards whose kind has a card for each of the values; other cards have such a value by coincidence.
    Return all if there are none."""
    held: dict[str, set[Value]] = {}
    for card in near:
        held.setdefault(cards[card].kind, set()).add(cards[card].values[name])
    return [card for card in near if values <= held[cards[card].kind]] or near


def _choices(given: Json) -> list[Choice]:
    """Return the choices that a page names: one, or a list."""
    return convert([given] if isinstance(given, dict) else given, list[Choice])


def _whole(number: Json) -> int:
    if isinstance(number, int | float | str):
        return int(number)
    raise TypeError(f"got {number!r}, want a number")


def _render(name: str, **values: object) -> str:
    macro: Callable[..., Markup] = getattr(ENVIRONMENT.get_template("pieces.html").module, name)
    return str(macro(values))


@lru_cache(MOST_DRAWINGS)
def _base(drawing: str, shape: str) -> str:
    """Return the board without pieces, which all its pages share."""
    return _render("base", drawing=drawing, shape=shape)
