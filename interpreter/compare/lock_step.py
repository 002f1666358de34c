"""Games in lock step: a game of bots, and games of other rulesets with the same choices, until what is asked differs.

Modules play ahead: the first notes its decisions, and another one makes the same choices as long as its own agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from msgspec import Struct

from interpreter.base.plain_data import grouped
from interpreter.base.stepwise import Steps
from interpreter.bots.compiled_bots import whole_for
from interpreter.bots.player import Bot
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.views import Spoken, prompt_of
from interpreter.kernel.chance import Seeded
from interpreter.play.match import LONG, Match
from interpreter.play.narration import words_of

if TYPE_CHECKING:
    from interpreter.compiler.wasm.whole_games import Whole

__all__ = ["LEFT", "Beside", "Line", "Parting"]

LEFT = 2
"""Number of choices before a divergence that modules leave, so that they can be taken back to find its cause."""
_MOST_OPTIONS = 400
"""Largest number of options of a decision that are compared."""

_Named: TypeAlias = dict[str, list[Option]]


class Parting(Struct, frozen=True):
    """Divergence of a game: its seed, number of choices, round, and the differing prompts or options of both sides.

    ``path`` is the difference that caused it. Games that never diverge have no path; ``choices`` is then their length.
    """

    seed: int
    choices: int
    round: int
    a: str = ""
    b: str = ""
    path: str = ""

    @property
    def is_apart(self) -> bool:
        return bool(self.a or self.b)


class Line:
    """A game of bots that others are played in lock step with: the choices that are made in it, as far as one of the
    others needed them. Raises :class:`ValueError` for invalid numbers of players or settings."""

    def __init__(self, ruleset: Ruleset, bots: Sequence[Bot], seed: int, settings: Mapping[str, object]) -> None:
        self.ruleset, self.bots, self.seed, self.settings = ruleset, bots, seed, settings
        self._begun = self.begun(ruleset)
        self._choices: list[Option] = []
        self._noting: Whole | None = None
        """The module that has noted choices."""
        self._notes, self._limit = b"", 0
        """Its notes, and how many choices were asked for."""

    @cached_property
    def _match(self) -> Match:
        return Match(self.ruleset, self.bots, self.seed, self.ruleset.own_settings(self.settings))

    def begun(self, ruleset: Ruleset) -> Game:
        """Return a game of a ruleset with the same seed. Raises :class:`ValueError` for invalid numbers of players or
        settings."""
        return ruleset.new_game(len(self.bots), self.seed, ruleset.own_settings(self.settings))

    def choice(self, number: int, game: Game) -> Option:
        """Return the choice that is made after a number of others, at which a game of the ruleset stands."""
        if self._noting is not None and game.decision is not None:
            code = self._noting.choice(self._notes, number, game.decision.named.index)
            if code is not None:
                return game.decision.legal_option(code)
        while len(self._choices) <= number:
            self._match.step()
            last = self._match.game.last_choice
            assert last is not None
            self._choices.append(last)
        return self._choices[number]

    def made(self, count: int) -> list[Option]:
        """Return the first choices."""
        game, made = self._begun.clone(), list[Option]()
        for number in range(count):
            made.append(self.choice(number, game))
            game.apply(made[-1])
        return made

    def beside(self, b: Ruleset, guess: int = LONG) -> Beside:
        """Return this game and one of another ruleset, after the choices up to which modules find that the same is
        asked. The last ones are left, so that they can be taken back. Without modules, and where choices or the values
        shown with them are lists, records or texts, all that follow are left.

        It takes least time if ``guess`` is a little more than the number of these choices. Raises :class:`ValueError`
        for invalid numbers of players or settings.
        """
        games = self._begun.clone(), self.begun(b)
        noting, following = whole_for(games[0].runner, games[0].ruleset, self.bots), games[1].runner.whole(())
        if noting is None or following is None:
            return Beside(self, 0, (), *games)
        first = max(0, self._agreed(*noting, following[0], games[1].table.called, guess) - LEFT)
        modules = noting[0], following[0]
        later = [self.after(first, *each) for each in zip(games, modules, strict=True) if first]
        return Beside(self, first, modules, *(later or games))

    def _agreed(self, noting: Whole, bots: Sequence[int], following: Whole, called: bytes, guess: int) -> int:
        """Return the number of choices up to which modules find that the same is asked."""
        if self._noting is not noting:
            self._noting, self._limit = noting, 0
        count = 0
        for limit in sorted({min(guess, LONG), LONG}):
            if limit > self._limit:
                self._notes = noting.noted(self.seed, bots, limit, self._begun.table.called)
                self._limit = limit
            count = following.followed(self.seed, self._notes, called, limit)
            if count < limit:
                break
        return count

    def after(self, count: int, game: Game, module: Whole) -> Game:
        """Return the game after the first noted choices."""
        made = module.followed(self.seed, self._notes, game.table.called, count)
        assert made == count
        state, chance = game.table.first.clone(), Seeded(self.seed)
        module.built.adopt(state, chance)
        return Game(game.ruleset, game.table, state, chance, game.origin)


class Beside(NamedTuple):
    """A game of bots, and one of another ruleset with the same choices, both after the ``first`` of them."""

    line: Line
    first: int
    modules: Sequence[Whole]
    """Those that have played the first choices."""
    a: Game
    b: Game

    def after(self, count: int) -> list[Game]:
        """Return both games after some of the first choices."""
        games = [self.line.begun(game.ruleset) for game in (self.a, self.b)]
        later = (self.line.after(count, *each) for each in zip(games, self.modules, strict=True))
        return list(later) if count else games

    def in_step(self) -> Steps[Parting]:
        """Play both on until they diverge, with a step for each choice. Return the divergence, without its cause."""
        line, number, _, a, b = self
        while (told := _difference(a, b)) is None and a.decision is not None:
            yield
            made = line.choice(number, a)
            a.apply(made)
            number += 1
            try:
                b.apply(_like(b, made))
            except IllegalMove as refusal:  # not among the compared options
                told = " ".join(map(str, made.as_dict().values())), str(refusal)
                break
        return Parting(line.seed, number, a.round, *(told or ()))


def _named(game: Game) -> _Named:
    """Return the options of the pending decision by public names, at most :data:`_MOST_OPTIONS`."""
    options = game.decision.options if game.decision is not None else ()
    return grouped((str(option), option) for option in islice(options, _MOST_OPTIONS))


def _like(game: Game, made: Option) -> Option:
    """Return the option that is called like a choice, if possible with the same code; else the choice itself."""
    return min(_named(game).get(str(made), ()), key=lambda option: option.code != made.code, default=made)


def _difference(first: Game, second: Game) -> tuple[str, str] | None:
    """Return descriptions of both decisions if they differ in what both sides must agree on: the actor, the name, the
    context and the options."""
    a, b = first.decision, second.decision
    if a is None and b is None:
        return None
    if a is None or b is None or (a.name, a.actor) != (b.name, b.actor):
        return _prompt(first), _prompt(second)
    options_a, options_b = _named(first), _named(second)
    if options_a.keys() != options_b.keys():
        return _only(first, a, options_a, options_b), _only(second, b, options_b, options_a)
    if a.context != b.context:
        left, right = (", ".join(f"{name} {value}" for name, value in each.context.items()) for each in (a, b))
        return left, right
    return None


def _prompt(game: Game) -> str:
    """Return the prompt of the pending decision, or its name if the ruleset has no prompt for it."""
    decision = game.decision
    if decision is None:
        return "the game is over"
    prompt = prompt_of(game.table, game.state, decision)
    return prompt or f"player {decision.actor + 1}: {decision.name.replace('_', ' ')}"


def _only(game: Game, decision: Decision, own: _Named, others: _Named) -> str:
    """Describe the options that only one side has, in the words of the log."""
    extra = [options[-1] for name, options in own.items() if name not in others]
    if not extra:
        return f"player {decision.actor + 1} has no option that only this side has"
    spoken = Spoken(game.table, game.state, "en")
    shown = "; ".join(words_of(spoken, decision, option.code) or str(option) for option in extra[:3])
    more = f"; and {len(extra) - 3} more" if len(extra) > 3 else ""
    return f"player {decision.actor + 1} has options only here: {shown}{more}"
