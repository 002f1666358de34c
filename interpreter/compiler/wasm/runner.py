"""The runner of a table: a compiled module plays, the reference machine explains failures.

Both have the same stretches, frames and cells. A state that is played in the module lives there
(:class:`~interpreter.compiler.wasm.module.Resident`); its cells, frame and log are fetched on demand. The module keeps
no log: choices are deterministic, so the plain form replays them if a log is needed. If the module traps, the state
returns to the last choice, and the plain form makes that choice and reports the error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from interpreter.compiler.wasm.turn import OVER, Keeper, Order, Peeks, Player, Turn, kept_as
from interpreter.kernel.chance import ChanceSource, Draws, Seeded
from interpreter.kernel.effects import undo
from interpreter.kernel.state import Frame, State, Value
from interpreter.language.preferences import Policy
from interpreter.lowering import constants
from interpreter.lowering.constants import RuleFailure, check_records
from interpreter.plain.machine import Code, Machine

if TYPE_CHECKING:  # a game in the plain form does not import these
    from interpreter.compiler.codegen.shapes import TooSmall, Unsupported
    from interpreter.compiler.wasm.module import Compiled, Resident
    from interpreter.compiler.wasm.whole_games import Whole

T = TypeVar("T")

__all__ = ["Runner"]

PATIENCE = 0.6
"""Seconds of play in the plain form before a module is compiled. A cached module is used at once."""

MOST_REASONS = 3
MOST_POLICIES = 12
"""Maximum number of policies in a module. Further ones run in the plain form."""


@dataclass(eq=False)
class Runner:
    """Runs games in a module, or in the reference machine alone if ``plain``. ``bailouts`` counts choices that the
    machine had to redo."""

    machine: Machine
    first: State
    """The state with which games begin."""
    plain: bool = False
    patience: float = field(default_factory=lambda: PATIENCE)
    """Seconds of play left in the plain form before a module is compiled."""
    keeper: Keeper | None = None
    aside: bool | None = None
    """True if another thread calls :meth:`build` whenever a module is ``due``, and games do not wait for it; False once
    that has failed."""
    due: bool = False
    bailouts: int = 0
    rooms: dict[str, int] = field(default_factory=dict)
    """Rooms of the module that have grown: types of lists with numbers of items."""
    reasons: dict[str, None] = field(default_factory=dict)
    """Reasons why the plain form plays, or makes some choices, though a module could be compiled."""
    texts: dict[str, int] = field(default_factory=dict)
    """Numbers of texts in memory, shared by all modules of a table."""
    compiled: Compiled | None = None
    """The module, once it is compiled."""
    _players: dict[str, Player] = field(default_factory=dict)
    _refused: set[str] = field(default_factory=set)
    """Policies that no module could be compiled with."""
    _keys: dict[int, tuple[Policy, str]] = field(default_factory=dict)
    """Policies and their keys, by the identity of the policy."""
    _whole: Whole | None = None
    """The runner of whole games."""
    _is_stuck: bool = False
    """True if the module cannot grow any more."""
    _trap: Unsupported | None = None
    """The reason why the plain form has just made a choice that the module could not make."""
    _none: bool = False
    """True if no module can be compiled."""

    # --- the module

    @property
    def module(self) -> Compiled | None:
        """The module, or None if there is none yet."""
        if self.plain:
            return None
        if self.compiled is not None or self._none:
            return self.compiled
        if not self._is_cached() and (self.patience > 0 or self._is_left_to_others()):
            return None
        return self.compile()

    @property
    def _order(self) -> Order:
        return Order(self.machine, self.first, self.keeper, tuple(self._players.values()), self.texts, self.rooms)

    def compile(self) -> Compiled | None:
        """Compile the module now, with all known policies.

        If compilation fails, policies that are new since the last module are refused for good. Return None if there can
        be no module at all.
        """
        from interpreter.compiler.wasm.module import Compiled, Unavailable

        before = self.compiled
        try:
            self.compiled = Compiled.of(self._order)
        except Unavailable as error:
            added = [key for key in self._players if before is None or key not in before.players]
            if added:
                self._refused.update(added)
                for key in added:
                    del self._players[key]
                return self.compile()
            self._none = True
            self.compiled = None
            if str(error):
                self._because(str(error))
        self.patience = PATIENCE
        if before is not None:
            before.leave()
        return self.compiled

    def _is_left_to_others(self) -> bool:
        self.due = self.aside is True and self.keeper is not None
        return self.due

    def build(self) -> None:
        """Build the module that is due, and cache it for the next one who needs it. Games go on in their own thread."""
        from interpreter.compiler.wasm.module import Compiled, Unavailable

        order = replace(self._order, texts=dict(self.texts), rooms=dict(self.rooms))
        with suppress(Unavailable):
            Compiled.cache(order)
        assert self.keeper is not None
        self.aside = self.keeper.has(order.key)  # else a game finds out why
        self.due = False

    def ready(self) -> Compiled | None:
        return self.compiled if self.compiled is not None or self._none else self.compile()

    def missing(self) -> list[str]:
        """Return the reason why no module can be built, if none has been tried yet."""
        from interpreter.compiler.codegen.shapes import Unsupported
        from interpreter.compiler.wasm.codec import fitted

        try:
            if self.compiled is None:
                fitted(self.machine, self.first, dict(self.rooms), dict(self.texts))
        except Unsupported as error:
            return [error.reason]
        return []

    def _is_cached(self) -> bool:
        return self.keeper is not None and self.keeper.has(kept_as(self._players))

    def _lives(self, state: State) -> Resident | None:
        """Return the state's place in the module, or None if it lives in Python lists."""
        home: Resident | None = state.home  # type: ignore[assignment]
        if home is None or self.plain:
            return None
        if home.built.machine is not self.machine or (home.fetched and not home.is_current_in(state)):
            state.leave()
            return None
        if home.built is not self.compiled and self.compiled is not None:
            home.go_on_in(self.compiled)
        return home

    def _tried(self, state: State, ask: Callable[[Compiled], T]) -> T | None:
        """Return the module's answer about a state that lives there; None if it does not, or the module traps."""
        home = self._lives(state)
        return home.tried(ask) if home is not None else None

    def _enters(self, state: State, chance: ChanceSource, *, grows: bool = False) -> Resident | None:
        """Return the state's place in the module. A state in Python lists is moved there if a module exists and the
        state fits. If the plain form has played for long because it does not, the module ``grows``."""
        if self.plain or type(chance) is not Seeded:
            return None
        home = self._lives(state)
        if home is not None and home.chance.seed != chance.seed and not home.goes_on_with(chance):
            state.leave()
            home = None
        module = self.module if home is None and not state.is_heard else None
        while module is not None:
            from interpreter.compiler.codegen.shapes import TooSmall, Unsupported

            try:
                home, error = module.enter(state, chance), self._trap
            except Unsupported as refused:
                home, error = None, refused
            is_small = isinstance(error, TooSmall) and not self._is_stuck
            if error is None or (is_small and (self.patience > 0 or not grows)):
                return home  # it grows later, if the plain form plays for long
            self._trap = None
            module = self._grown(error) if isinstance(error, TooSmall) else None
            if module is None:
                self._because(error.reason)
            elif home is not None:
                home.go_on_in(module)
                return home
        return home

    def _grown(self, small: TooSmall) -> Compiled | None:
        """Compile the module again with a larger room; return None if its states would be too large."""
        from interpreter.compiler.codegen.shapes import Unsupported
        from interpreter.compiler.wasm.codec import fitted

        if self._is_stuck:
            return None
        larger = {**self.rooms, small.room: small.wanted}
        try:
            fitted(self.machine, self.first, larger, self.texts)
        except Unsupported:
            self._is_stuck = True
            return None
        self.rooms.update(larger)
        return self.compile()

    def _because(self, reason: str) -> None:
        if len(self.reasons) < MOST_REASONS:
            self.reasons[reason] = None

    def data(self, state: State, chance: ChanceSource) -> bytes | None:
        """Return the state as bytes of the module, or None if there is no module or the state does not fit."""
        home = self._enters(state, chance)
        return home.bytes if home is not None else None

    def contents(self, state: State, chance: ChanceSource) -> list[bytes] | list[list[Value]]:
        """Return the content of each group of cells, to be compared with that at another moment: bytes if there is a
        module."""
        home = self._enters(state, chance)
        if home is not None:
            data = home.bytes
            return [data[place] for place in home.built.codec.places.values()]
        cells, layout = state.cells, self.machine.constants.layout
        return [cells[layout.base[name] : layout.base[name] + count] for name, count in layout.groups]

    @property
    def lacks_room(self) -> bool:
        """Return whether the plain form has just made a choice for which the module was too small."""
        from interpreter.compiler.codegen.shapes import TooSmall

        return isinstance(self._trap, TooSmall)

    # --- running

    def start(self, state: State, chance: ChanceSource) -> None:
        module = self.module if type(chance) is Seeded and not state.is_heard else None
        if module is not None and state.cells == self.first.cells:
            assert type(chance) is Seeded
            if module.begin(state, chance):
                return
            self.bailouts += 1
        self._plainly(state, lambda: self.machine.start(state, chance))

    def go(self, state: State, chance: ChanceSource, code: Code) -> Turn:
        """Apply a choice, which must be legal, and return the next turn, as :meth:`asked` does.

        If the actor of the next decision cannot be computed, undo the choice and raise :class:`RuleFailure`.
        """
        home: Resident | None = state.home  # type: ignore[assignment]
        if home is not None and home.heeded == code and home.upcoming and home.chance is chance:
            home.since.append(code)
            home.heeded = None
            home.turn = turn = home.upcoming.pop()
            return turn
        if home is None or home.fetched or home.chance is not chance or home.built is not self.compiled or self.plain:
            home = self._enters(state, chance, grows=True)
        trap = None
        if home is not None:
            if len(home.since) + home.known > constants.MAXIMUM_RECORDS:
                self._refuse(state, home.records)
            taken = home.take(code)
            if taken is not None:
                return taken
            self.bailouts += 1
            trap = home.built.why_trapped()
        elif len(state.log) > constants.MAXIMUM_RECORDS:
            self._refuse(state, len(state.log))
        self._plainly(state, lambda: self.machine.take(state, chance, *code))
        self._trap = trap
        try:
            return self.asked(state)
        except RuleFailure:
            self.undo(state)
            raise

    def _refuse(self, state: State, records: int) -> None:
        turn = self.asked(state)
        check_records(records, self.machine.asks[turn.index].ask.span if turn.index >= 0 else None)

    def perform(self, state: State, chance: ChanceSource, procedure: str, then: str = "", number: int = 1) -> None:
        """Run a procedure in place of the set-up: see :meth:`Machine.perform`."""
        self._plainly(state, lambda: self.machine.perform(state, chance, procedure, then, number))

    def _plainly(self, state: State, do: Callable[[], T]) -> T:
        state.leave()
        before = perf_counter()
        try:
            return do()
        finally:
            self.patience -= perf_counter() - before

    def undo(self, state: State) -> bool:
        """Return to the last decision. Return False if there is none."""
        home = self._lives(state)
        if home is not None and home.undo():
            return True
        state.leave()
        return undo(state) is not None

    # --- decisions

    def cells(self, state: State, *names: str) -> Sequence[Value]:
        """Return some groups of cells, or all. A state that lives in the module stays there."""
        home, cells_of = self._lives(state), self.machine.constants.layout.cells
        if home is not None:
            return home.built.codec.cells(home.bytes, *names)
        return [state.cells[cell] for name in names for cell in cells_of(name)] if names else state.cells

    def frame(self, state: State) -> Frame | None:
        """Return the frame. A state that lives in the module stays there."""
        home = self._lives(state)
        return home.built.codec.frame(home.bytes) if home is not None else state.frame

    def asked(self, state: State) -> Turn:
        """Return the stretch that asks and the seat that decides, or :data:`OVER` or its equal if the game is over."""
        home = self._lives(state)
        if home is not None and (turn := home.where()) is not None:
            return turn
        state.leave()
        frame = state.frame
        if frame is None:
            return OVER
        self.machine.meter.refill()
        return Turn(frame[0], self.machine.asks[frame[0]].seat(state, list(frame[1])))

    def listed(self, state: State) -> list[Code] | Iterator[Code]:
        """Return the legal options; in the plain form lazily."""
        options = self._tried(state, lambda module: module.codes())
        if options is not None:
            return options
        frame = state.frame
        assert frame is not None
        return self.machine.options(state, list(frame[1]), self.machine.asks[frame[0]])

    def is_free(self, state: State) -> bool:
        """Return whether the current decision has more than one option."""
        is_free = self._tried(state, lambda module: module.is_free())
        return self.machine.is_free(state) if is_free is None else is_free

    def accepts(self, state: State, code: Code) -> bool:
        """Return whether a choice is known to be legal now."""
        home: Resident | None = state.home  # type: ignore[assignment]
        if home is not None and home.heeded == code and not home.fetched:
            return True
        return bool(self._tried(state, lambda module: module.accepts(*code)))

    # --- policies

    def choose(self, state: State, chance: ChanceSource, player: int, bot: object, random: Draws) -> Code | None:
        """Return the choice of a bot, which plays by the policy ``player`` (see :meth:`player`), at the current
        decision, or None if the module traps. From now on it is asked ahead.

        The random numbers that it draws are consumed from ``random``.
        """
        home = self._enters(state, chance)
        return None if home is None else home.choose(player, bot, random)

    def chosen(self, state: State, chance: ChanceSource, bot: object, random: Draws) -> Code | None:
        """Return the choice of a bot that was asked ahead at the current decision, or None if it was not.

        The random numbers that it drew are consumed from ``random``.
        """
        home: Resident | None = state.home  # type: ignore[assignment]
        if home is None or home.fetched or home.chance is not chance:
            return None
        turn = home.turn
        if turn is None or turn.code is None or home.heeded is not None:
            return None
        ahead = home.built.ahead[turn.seat]
        if ahead is None or ahead.bot is not bot or ahead.random is not random or ahead.used != random.used:
            return None
        home.heeded = code = turn.code
        random.used = ahead.used = ahead.used + turn.drawn
        return code

    def player(self, policy: Policy | None, peeks: Peeks | None) -> int | None:
        """Return the number of a policy in the module, which is recompiled with it if necessary.

        None as policy is the random bot. Return None if there is no module, or no room for the policy. ``peeks`` finds
        reads of hidden information, which trap; without it, all reads are allowed.
        """
        key, module = self._key(policy, peeks), self.module
        if module is not None and key not in module.players and self._knows({key: (policy, peeks)}):
            module = self.compile() if self._is_cached() or not self._is_left_to_others() else module
        return module.players.get(key) if module is not None else None

    def whole(self, policies: Sequence[tuple[Policy | None, Peeks | None]]) -> tuple[Whole, list[int]] | None:
        """Return the runner of whole games and the number of each seat's policy; None if there is no module yet."""
        if self.plain or self._none:
            return None
        keys = [self._key(*policy) for policy in policies]
        if not self._knows(dict(zip(keys, policies, strict=True))):
            return None
        module = self.module
        if module is not None and not module.players.keys() >= {*keys}:
            module = self.compile()
        if module is None or not module.players.keys() >= {*keys}:
            return None
        if self._whole is None or self._whole.built is not module:
            from interpreter.compiler.wasm.whole_games import Whole

            self._whole = Whole(module)
        return self._whole, [module.players[key] for key in keys]

    def _knows(self, policies: Mapping[str, tuple[Policy | None, Peeks | None]]) -> bool:
        """Register policies for the next module. Return False if one is refused or there are too many."""
        added = policies.keys() - self._players.keys()
        if len(self._players) + len(added) > MOST_POLICIES or not self._refused.isdisjoint(policies):
            return False
        for key, (policy, peeks) in policies.items():
            if key in added:
                if policy is not None:
                    self.machine.learn(policy)
                self._players[key] = Player(policy, key, peeks)
        return True

    def _key(self, policy: Policy | None, peeks: Peeks | None) -> str:
        if policy is None:
            return "random"
        known = self._keys.get(id(policy))
        if known is None or known[0] is not policy:
            from hashlib import blake2b

            lines = blake2b(repr(policy).encode(), digest_size=16).hexdigest()
            if len(self._keys) > 8 * MOST_POLICIES:
                self._keys.clear()
            known = self._keys[id(policy)] = policy, f"{policy.name} {lines}"
        return known[1] if peeks is None else f"{known[1]} sees its own"
