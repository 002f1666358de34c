"""The machine of a table: a compiled module plays, the plain form explains what fails.

It is a :class:`~interpreter.compiler.plain.machine.Machine` with the same stretches, frames and cells. A state that is
played on in the module lives there (:class:`~interpreter.compiler.wasm.resident.Resident`); its cells, frame and log
are fetched when somebody looks at them. The module keeps no log: choices lead to the same state again, so the plain
form makes them again where a log is wanted. Where the module gives up, the state goes back to the last choice, and the
plain form makes that choice and says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from interpreter.compiler import constants
from interpreter.compiler.constants import RuleFailure, check_records
from interpreter.compiler.plain.machine import Code, Machine
from interpreter.compiler.wasm.turn import Keeper, Peeks, Player, Turn, kept_as
from interpreter.kernel.chance import ChanceSource, Draws, Seeded
from interpreter.kernel.effects import undo
from interpreter.kernel.state import State, Value

if TYPE_CHECKING:  # a game in the plain form needs none of it
    from interpreter.compiler.wasm.module import Compiled
    from interpreter.compiler.wasm.resident import Resident
    from interpreter.compiler.wasm.whole_games import Whole
    from interpreter.language.policies import Policy

T = TypeVar("T")

__all__ = ["CompiledMachine"]

PATIENCE = 0.6
"""So many seconds of play in the plain form pay for a module; one that is kept from another process is used at once."""

MOST_POLICIES = 12
"""So many policies may a module hold; a further one chooses in the plain form."""


@dataclass(eq=False)
class CompiledMachine(Machine):
    """Runs a module or, as long as ``plain`` is said, the plain form. ``bailouts`` counts what the plain form had to do
    again."""

    first: State | None = None
    """The state with which games begin."""
    plain: bool = False
    patience: float = field(default_factory=lambda: PATIENCE)
    """So many seconds may still be played in the plain form before a module is made."""
    keeper: Keeper | None = None
    bailouts: int = 0
    texts: dict[str, int] = field(default_factory=dict)
    """The numbers of texts in memory, the same in all modules of a table."""
    compiled: Compiled | None = None
    """The module, as soon as there is one."""
    _players: dict[str, Player] = field(default_factory=dict)
    _refused: set[str] = field(default_factory=set)
    """Policies with which there is no module."""
    _keys: dict[int, tuple[Policy, str]] = field(default_factory=dict)
    """By the identity of a policy that and its key."""
    _whole: Whole | None = None
    """Plays whole games in the module."""
    _none: bool = False
    """Whether there can be no module."""

    # --- the module

    @property
    def module(self) -> Compiled | None:
        """The module, where there is one by now."""
        if self.compiled is not None or self._none or self.plain:
            return None if self.plain else self.compiled
        if self.patience > 0 and not self._is_kept():
            return None
        return self.compile()

    def compile(self) -> Compiled | None:
        """Makes the module now, with all policies that are known. Where there is none with those that are new, they
        stay outside for good. None where it cannot be made at all."""
        from interpreter.compiler.wasm.module import Compiled, Unavailable
        from interpreter.compiler.wasm.whole_games import Whole

        before = self.compiled
        try:
            assert self.first is not None
            self.compiled = Compiled.of(self, self.first, self.texts, self.keeper, tuple(self._players.values()))
            self._whole = Whole(self.compiled)
        except Unavailable:
            fresh = [key for key in self._players if before is None or key not in before.players]
            if fresh:
                self._refused.update(fresh)
                for key in fresh:
                    del self._players[key]
                return self.compile()
            self._none = True
            self.compiled = None
        if before is not None:
            before.leave()
        return self.compiled

    def ready(self) -> Compiled | None:
        """The module, made now where there is none yet."""
        return self.compiled if self.compiled is not None or self._none else self.compile()

    def _is_kept(self) -> bool:
        return self.keeper is not None and self.keeper.has(kept_as(self._players))

    def _lives(self, state: State) -> Resident | None:
        """The state's place in the module: none where it lives in lists."""
        home: Any = state.home
        if home is None or self.plain:
            return None
        if home.built.machine is not self or (home.fetched and not home.is_current_in(state)):
            state.leave()
            return None
        if home.built is not self.compiled and self.compiled is not None:
            home.built, home.turn = self.compiled, None  # it was made anew, with further policies; states are the same
        found: Resident = home
        return found

    def _enters(self, state: State, chance: ChanceSource) -> Resident | None:
        """The same; a state that lives in lists enters the module, where there is one and it fits."""
        if self.plain or type(chance) is not Seeded:
            return None
        home = self._lives(state)
        if home is not None and home.chance.seed != chance.seed and not home.goes_on_with(chance):
            state.leave()
            home = None
        if home is None and (module := self.module) is not None:
            from interpreter.compiler.wasm.resident import enter

            home = enter(module, state, chance)
        return home

    def data(self, state: State, chance: ChanceSource) -> bytes | None:
        """The state as it lies in the module, which it enters, where there is one and it fits."""
        home = self._enters(state, chance)
        return None if home is None else home.bytes

    # --- running

    def start(self, state: State, chance: ChanceSource) -> None:
        module = self.module if type(chance) is Seeded else None
        if module is not None and self.first is not None and state.cells == self.first.cells:
            assert type(chance) is Seeded
            from interpreter.compiler.wasm.resident import begin

            if begin(module, state, chance):
                return
            self.bailouts += 1
        self._plainly(state, lambda: super(CompiledMachine, self).start(state, chance))

    def take(self, state: State, chance: ChanceSource, option: int, values: tuple[Value, ...]) -> int:
        """Makes a choice, which must be legal; gives the stretch that asked. See :meth:`Machine.take`."""
        asked = self.asked(state)
        self.go(state, chance, (option, values))
        return asked.index if asked is not None else -1

    def go(self, state: State, chance: ChanceSource, code: Code) -> Turn | None:
        """Makes a choice, which must be legal; gives what is asked then, as :meth:`asked` does. Where it cannot be said
        whose decision that is, the choice is taken back: :class:`RuleFailure`."""
        home: Any = state.home
        if home is None or home.fetched or home.chance is not chance or home.built is not self.compiled or self.plain:
            home = self._enters(state, chance)
        if home is not None:
            if len(home.since) + home.known > constants.MAXIMUM_RECORDS:
                self._refuse(state, home.records)
            turn = home.take(code)
            if turn is not None:
                return turn if turn.index >= 0 else None
            self.bailouts += 1
        elif len(state.log) > constants.MAXIMUM_RECORDS:
            self._refuse(state, len(state.log))
        self._plainly(state, lambda: super(CompiledMachine, self).take(state, chance, *code))
        try:
            return self.asked(state)
        except RuleFailure:
            self.undo(state)
            raise

    def _refuse(self, state: State, records: int) -> None:
        """The log has too many records for a further choice."""
        asked = self.asked(state)
        check_records(records, self.asks[asked.index].ask.span if asked is not None else None)

    def perform(self, state: State, chance: ChanceSource, procedure: str, then: str = "", number: int = 1) -> None:
        self._plainly(state, lambda: super(CompiledMachine, self).perform(state, chance, procedure, then, number))

    def _plainly(self, state: State, do: Callable[[], T]) -> T:
        state.leave()
        before = perf_counter()
        try:
            return do()
        finally:
            self.patience -= perf_counter() - before

    def undo(self, state: State) -> bool:
        """Back to the last decision; false where the state knows of none."""
        home = self._lives(state)
        if home is not None and home.undo():
            return True
        state.leave()
        return undo(state) is not None

    # --- what is asked

    def cell(self, state: State, number: int) -> Value:
        """Return the value of one cell without reading the others."""
        home = self._lives(state)
        if home is None:
            return state.cells[number]
        return home.built.cell(number, home.data)

    def asked(self, state: State) -> Turn | None:
        """The stretch that asks and the seat that decides; none where the game is over."""
        home = self._lives(state)
        if home is not None and (turn := home.where()) is not None:
            return turn if turn.index >= 0 else None
        state.leave()
        frame = state.frame
        if frame is None:
            return None
        self.meter.refill()
        return Turn(frame[0], self.asks[frame[0]].seat(state, list(frame[1])))

    def codes(self, state: State) -> list[Code]:
        """All options of the decision at hand."""
        found = self.listed(state)
        return found if isinstance(found, list) else list(found)

    def listed(self, state: State) -> list[Code] | Iterator[Code]:
        """The same; in the plain form one after another, no further than somebody looks."""
        home = self._lives(state)
        if home is not None and (found := home.codes(state)) is not None:
            return found
        frame = state.frame
        assert frame is not None
        return self.options(state, list(frame[1]), self.asks[frame[0]])

    def is_free(self, state: State) -> bool:
        home = self._lives(state)
        if home is not None and (found := home.is_free(state)) is not None:
            return found
        return super().is_free(state)

    def accepts(self, state: State, number: int, values: tuple[Value, ...]) -> bool:
        """Return whether an alternative with these values is surely legal now."""
        home = self._lives(state)
        return home is not None and home.accepts(state, number, values)

    # --- policies

    def choose(self, state: State, chance: ChanceSource, player: int, random: Draws) -> Code | None:
        """Return the choice of the bot with a number (:meth:`player`) at the current decision; none if the module
        cannot tell. The numbers that it draws are used up in ``random``."""
        home: Any = state.home
        if home is None or home.fetched or home.chance is not chance or home.built is not self.compiled or self.plain:
            home = self._enters(state, chance)
            if home is None:
                return None
        turn: Turn | None = home.turn
        if turn is not None and turn.code is not None and not home.heeded:
            ahead = home.built.ahead[turn.seat]
            is_asked = ahead is not None and ahead.random is random and ahead.player == player
            if is_asked and ahead.used == random.end and not random.ahead:
                home.heeded = True
                if turn.drawn:
                    ahead.used += turn.drawn
                    random.go_to(ahead.used)
                return turn.code
        code: Code | None = home.choose(player, random)
        return code

    def player(self, policy: Policy | None, peeks: Peeks | None) -> int | None:
        """The number of a policy (none: of the random bot) in the module, into which it comes if need be; none where
        there is no module, or no room in it. ``peeks`` say what the policy may not look at; without them it may look at
        all."""
        key = self._key(policy, peeks)
        module = self.module
        if module is not None and key not in module.players and self._knows({key: (policy, peeks)}):
            module = self.compile()
        return module.players.get(key) if module is not None else None

    def whole(self, wanted: Sequence[tuple[Policy | None, Peeks | None]]) -> tuple[Whole, list[int]] | None:
        """Return the runner of whole games by such policies, one for each seat. None where there is no module, or not
        yet."""
        if self.plain or self._none:
            return None
        keys = [self._key(*each) for each in wanted]
        if not self._knows(dict(zip(keys, wanted, strict=True))):
            return None
        module = self.module
        if module is not None and not module.players.keys() >= {*keys}:
            module = self.compile()
        if module is None or not module.players.keys() >= {*keys}:
            return None
        assert self._whole is not None
        return self._whole, [module.players[key] for key in keys]

    def _knows(self, wanted: Mapping[str, tuple[Policy | None, Peeks | None]]) -> bool:
        """Policies by their keys are known from now on, and come into the next module; false where one is refused, or
        there is no room for all."""
        fresh = wanted.keys() - self._players.keys()
        if len(self._players) + len(fresh) > MOST_POLICIES or not self._refused.isdisjoint(wanted):
            return False
        for key, (policy, peeks) in wanted.items():
            if key in fresh:
                if policy is not None:
                    self.learn(policy)
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
