"""Decisions: the seat that chooses, the values shown with the decision, and its options by public names."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

from interpreter.base.plain_data import Json
from interpreter.compiler.wasm.turn import Turn
from interpreter.engine.setup import Table
from interpreter.kernel.state import Frame, State, Value
from interpreter.language import core
from interpreter.language.types import CardType, Type, has_cards
from interpreter.lowering.constants import RuleFailure
from interpreter.plain.machine import AskSite, Code, OptionSite

__all__ = [
    "Code",
    "Decision",
    "Named",
    "Option",
    "choice_text",
    "decision_at",
    "decision_of",
    "named_at",
    "others_at",
    "turned",
    "waiting",
]

MAXIMUM_OPTIONS = 4_000
"""Number of options of one decision that are cached with their public names; then the cache is cleared."""


def choice_text(choice: Mapping[str, object]) -> str:
    """Format a choice as the user types it: `buy card=3 price=5`."""
    return " ".join([str(choice["do"]), *(f"{name}={value}" for name, value in choice.items() if name != "do")])


@dataclass(frozen=True, slots=True)
class Option:
    """A concrete choice: the alternative and its values, by public names."""

    do: str
    values: tuple[tuple[str, Value], ...]
    code: Code
    site: OptionSite | None = field(default=None, repr=False, compare=False)
    """Set on options that the game itself created: their code is known to match their public names."""
    _text: str = field(default="", init=False, repr=False, compare=False)
    """The choice as the user types it, once somebody has asked."""

    def as_dict(self) -> dict[str, Json]:
        return {"do": self.do, **dict(self.values)}

    def __getitem__(self, name: str) -> Value:
        return self.as_dict()[name]

    def __str__(self) -> str:
        if not self._text:
            object.__setattr__(self, "_text", choice_text(self.as_dict()))
        return self._text


class Named:
    """Options of a decision at one table, created and cached on first lookup.

    ``index`` is the stretch that asks. ``options`` is the cache by code: equal options are one object, up to a limit.
    ``seat`` is the local that holds the seat that decides, if there is one.
    """

    __slots__ = ("index", "machine", "names", "options", "runner", "seat", "site")

    def __init__(self, table: Table, index: int) -> None:
        self.machine, self.runner, self.index, self.names = table.machine, table.runner, index, table.names
        self.site: AskSite = table.machine.asks[index]
        seat = self.site.ask.seat
        self.options: dict[Code, Option] = {}
        self.seat = seat.index if type(seat) is core.Local else None

    def option(self, code: Code) -> Option:
        """Return the option of a code: the alternative's number and its values."""
        cached = self.options.get(code)
        if cached is not None:
            return cached
        number, values = code
        option, names = self.site.options[number], self.names
        chosen = list(zip(option.core.choices, values, strict=True))
        public = tuple((choice.name, names.public(value, choice.type)) for choice, value in chosen)
        named = all(self._is_named(value, choice.type) for choice, value in chosen)
        if len(self.options) >= MAXIMUM_OPTIONS:
            self.options.clear()
        new = self.options[code] = Option(option.name, public, code, option if named else None)
        return new

    def _is_named(self, value: Value, type_: Type) -> bool:
        """Return whether a public name identifies the value: cards without a key and copies of a card share theirs."""
        model = self.names.model
        if isinstance(type_, CardType):
            return value is None or model.cards[value].is_named
        return not has_cards(type_, model.records)


class Options(Sequence[Option]):
    """Legal choices of a decision. A sequence that is enumerated only as far as it is read."""

    __slots__ = ("_found", "_more", "_named")

    def __init__(self, decision: Decision) -> None:
        self._named = named = decision.named
        self._found: list[Option] = []
        self._more: Iterator[Code] | None = None
        listed = decision.legal()
        if isinstance(listed, list):
            known = named.options
            self._found = [known.get(code) or named.option(code) for code in listed]
        else:
            self._more = listed

    def _up_to(self, number: int = sys.maxsize) -> list[Option]:
        """Return the options read so far, extended up to index ``number`` if there are that many. Where finding the
        next one fails, it fails at every reading: options must not seem to end there."""
        if self._more is not None and len(self._found) <= number:
            try:
                for code in self._more:
                    self._found.append(self._named.option(code))
                    if len(self._found) > number:
                        return self._found
            except RuleFailure as failure:
                self._more = _failing(failure)
                raise
            self._more = None
        return self._found

    def has_read(self, code: Code) -> bool:
        """Return whether a choice is among the options read so far."""
        for option in self._found:  # noqa: SIM110  a generator takes three times as long
            if option.code == code:
                return True
        return False

    @overload
    def __getitem__(self, index: int) -> Option: ...

    @overload
    def __getitem__(self, index: slice) -> list[Option]: ...

    def __getitem__(self, index: int | slice) -> Option | list[Option]:
        if isinstance(index, slice) or index < 0:
            return self._up_to()[index]
        return self._up_to(index)[index]

    def __iter__(self) -> Iterator[Option]:
        return super().__iter__() if self._more is not None else iter(self._found)

    def __len__(self) -> int:
        return len(self._up_to())

    def __repr__(self) -> str:
        return f"<{len(self)} options>"


def _failing(failure: RuleFailure) -> Iterator[Code]:
    raise failure
    yield


@dataclass(slots=True, eq=False, repr=False)
class Decision:
    """A point where a seat (``actor``, from 0) must choose. ``context`` has the values shown with it, ``options`` all
    legal choices."""

    actor: int
    turn: Turn | None
    """The machine's report of the decision; None for a seat that chooses before its turn."""
    named: Named
    """Options by code."""
    state: State
    """State of the game. A reference to the game itself would make every game part of a reference cycle."""
    listed: Options | None = None
    """Options, or None before their first use."""
    found: Code | None = None
    """A choice that a bot has found among the legal ones."""
    at: Frame | None = None
    """Frame of the rule that asks, if it is known; else that of the state."""
    _context: dict[str, Json] | None = None

    @property
    def is_turned(self) -> bool:
        """Return whether, with simultaneous choices, the decision belongs to a seat whose turn it is not."""
        return self.turn is None

    @property
    def site(self) -> AskSite:
        return self.named.site

    @property
    def name(self) -> str:
        return self.site.ask.name

    @property
    def frame(self) -> Frame:
        """Frame of the rule that asks."""
        if self.at is None:
            self.at = self.named.runner.frame(self.state)
        assert self.at is not None
        return self.at

    @property
    def env(self) -> list[Value]:
        """Locals of the rule that asks, as a copy that you may change."""
        return list(self.frame[1])

    @property
    def context(self) -> dict[str, Json]:
        if self._context is None:
            names, state = self.named.names, self.state
            env = self.env if self.site.context else []
            self.named.machine.meter.refill()
            types = {name: value.type for name, value in self.site.ask.context}
            values = ((name, value(state, env)) for name, value in self.site.context)
            self._context = {name: names.public(value, types[name]) for name, value in values}
        return self._context

    @property
    def codes(self) -> list[Code]:
        """Codes of all options."""
        return [*self.legal()]

    def legal(self) -> list[Code] | Iterator[Code]:
        """Return the codes of all options; in the plain form lazily."""
        if self.is_turned:
            return self.named.machine.options(self.state, self.env, self.site)
        return self.named.runner.listed(self.state)

    @property
    def options(self) -> Options:
        if self.listed is None:
            self.named.machine.meter.refill()
            self.listed = Options(self)
        return self.listed

    def option(self, code: Code) -> Option:
        """Return the option of a code: the alternative's number and its values."""
        return self.named.option(code)

    def legal_option(self, code: Code) -> Option:
        """Return the option of a code that was found among the legal ones, so that nobody looks for it again."""
        self.found = code
        return self.named.option(code)

    def __repr__(self) -> str:
        return f"<decision {self.name} of seat {self.actor}>"


def named_at(table: Table, index: int) -> Named:
    """Return the named options of the decision at a stretch; create them on first use."""
    named: Named | None = table.options.get(index)
    if named is None:
        named = table.options[index] = Named(table, index)
    return named


def decision_of(table: Table, state: State, turn: Turn) -> Decision | None:
    """Create the decision that the machine reports; None once the game is over."""
    named: Named | None = turn.named  # type: ignore[assignment]
    if named is None:
        if turn.index < 0:
            return None
        turn.named = named = named_at(table, turn.index)
    return Decision(turn.seat, turn, named, state)


def decision_at(table: Table, state: State) -> Decision | None:
    """Return the decision that a state waits for, or None if the game is over. The state does not move."""
    if state.frame is None:
        return None
    stretch, env = state.frame[:2]
    table.machine.meter.refill()
    return decision_of(table, state, Turn(stretch, table.machine.asks[stretch].seat(state, list(env))))


def others_at(decision: Decision) -> list[Decision]:
    """Return the decisions of the other seats that have not chosen, for simultaneous choices."""
    return [turned(decision, seat) for seat in waiting(decision) if seat != decision.actor]


def waiting(decision: Decision) -> Iterable[int]:
    """Return the seats that can decide now, in order."""
    at_once = decision.site.ask.at_once
    if at_once is None:
        return (decision.actor,)
    assert isinstance(at_once, core.Local)
    return dict.fromkeys(decision.frame[1][at_once.index])


def turned(decision: Decision, seat: int) -> Decision:
    """Return the same decision for another seat."""
    if decision.actor == seat:
        return decision
    index, env, caller, into = decision.frame
    place = decision.named.seat
    assert place is not None
    at = index, (*env[:place], seat, *env[place + 1 :]), caller, into
    return Decision(seat, None, decision.named, decision.state, at=at)
