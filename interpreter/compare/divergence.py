"""Divergence of two rulesets: play both in lock step until they ask different things.

In go two rulesets and bots; games with equal numbers have the same chance, and every choice of the first is made in the
second too. Out comes, for each game, the first decision that is not the same in both, and the difference that made it
so: of the texts and tables that are not the same, the first that came into play since the decision before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from interpreter.base.cycles import no_search
from interpreter.base.frozen import dataclass
from interpreter.base.plain_data import Json
from interpreter.bots.player import Bot
from interpreter.compare.differences import Comparison, Difference
from interpreter.engine.citations import Citation
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.ruleset import Ruleset
from interpreter.engine.views import prompt_of
from interpreter.play.match import Match
from interpreter.play.narration import words_of
from interpreter.testing.instrumentation import key_of, watched

__all__ = ["BEGINNING", "Cause", "LockStep", "Parting", "causes", "in_step", "own_settings"]

BEGINNING = "beginning"
"""What made games part where no text or table that differs came into play: what is there before the first round."""

_MOST_OPTIONS = 400
"""So many options of a decision are compared."""
_SECTIONS = ("rules", "triggers", "standing", "tables")


@dataclass(frozen=True, slots=True)
class Parting:
    """Divergence of a game with a seed: number of choices, round, and what each side asks or says.

    ``path`` is the difference that made it so. Games that never part have no path; ``choices`` is then how many there
    were.
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


@dataclass(frozen=True, slots=True)
class Cause:
    """A difference with how many of the games it made part, and when on average: after how many choices, and in which
    round. ``first`` is one of them."""

    path: str
    games: int
    share: float
    choices: float
    round: float
    first: Parting


def own_settings(ruleset: Ruleset, settings: Mapping[str, object]) -> dict[str, object]:
    """Of the settings those that the ruleset has."""
    known = {*ruleset.model.settings, *ruleset.model.interpretations}
    return {name: value for name, value in settings.items() if name in known}


def causes(found: Sequence[Parting]) -> list[Cause]:
    """The differences that made games part, the most frequent first."""
    by_path: dict[str, list[Parting]] = {}
    for parting in found:
        if parting.path:
            by_path.setdefault(parting.path, []).append(parting)
    ranked = [
        Cause(
            path,
            len(those),
            len(those) / len(found),
            sum(each.choices for each in those) / len(those),
            sum(each.round for each in those) / len(those),
            min(those, key=lambda each: each.choices),
        )
        for path, those in by_path.items()
    ]
    return sorted(ranked, key=lambda each: (-each.games, each.choices))


class _Notes(set[str]):
    """Record of the rules that ran, in the order of their first run."""

    def __init__(self) -> None:
        super().__init__()
        self.order: list[str] = []

    def add(self, what: str, /) -> None:
        if what not in self:
            self.order.append(what)
        super().add(what)

    def take(self) -> list[str]:
        """Return the rules that ran since the last call."""
        found, self.order = self.order, []
        self.clear()
        return found


def in_step(
    a: Ruleset, b: Ruleset, bots: Sequence[Bot], seed: int, settings: Mapping[str, object]
) -> tuple[Parting, list[Mapping[str, Json]]]:
    """Plays both until they part, and gives the choices up to there. What made them part is not looked for.

    ``ValueError`` for players or settings that are not allowed.
    """
    match = Match(a, bots, seed, own_settings(a, settings))
    game = match.game
    choices: list[Mapping[str, Json]] = []
    other = b.new_game(len(bots), seed, own_settings(b, settings))
    while True:
        apart = _apart(game, other)
        if apart is not None or game.decision is None:
            return Parting(seed, len(choices), _round(game), *(apart or ())), choices
        match.step()
        last = game.last_choice
        assert last is not None
        made = last.as_dict()
        try:
            other.apply(made)
        except IllegalMove as refusal:  # beyond the options that were compared
            taken = " ".join(str(value) for value in made.values())
            return Parting(seed, len(choices) + 1, _round(game), taken, str(refusal)), choices
        choices.append(made)


class LockStep:
    """Plays both sides of a comparison in lock step, by bots of the first."""

    def __init__(
        self, comparison: Comparison, bots: Sequence[Bot], settings: Mapping[str, object] | None = None
    ) -> None:
        self.bots, self.settings = bots, dict(settings or {})
        self.a, self.b = comparison.a, comparison.b
        self._notes = _Notes()
        told = [each for each in comparison.differences if each.path.partition(".")[0] in _SECTIONS]
        self._paths: dict[str, str] = {}
        self._watched = [self._watching(ruleset, told) for ruleset in (self.a, self.b)]

    def _watching(self, ruleset: Ruleset, told: Iterable[Difference]) -> Ruleset:
        """The ruleset that notes when something that differs comes into play."""
        citations = [citation for each in told for citation in _citations(ruleset, each)]
        for each in told:
            self._paths |= {key_of(citation): each.path for citation in _citations(ruleset, each)}
        return watched(ruleset, citations, self._notes)

    def _own(self, ruleset: Ruleset) -> dict[str, object]:
        return own_settings(ruleset, self.settings)

    def play(self, seed: int) -> Parting:
        """Play the seed on both sides and return the divergence. ``ValueError`` for players or settings that are not
        allowed."""
        with no_search():
            found, choices = in_step(self.a, self.b, self.bots, seed, self.settings)
            if not found.is_apart:
                return found
            return replace(found, path=self._cause(choices, seed))

    def _cause(self, choices: Sequence[Mapping[str, Json]], seed: int) -> str:
        """The same choices again in both, watched: what came into play last, if it can be what had not before."""
        before: set[str] = set()
        last: list[str] = []
        for ruleset in self._watched:
            ruleset.table(len(self.bots), ruleset.settings(self._own(ruleset)))  # made once, and for all games
            self._notes.take()
            copy = ruleset.new_game(len(self.bots), seed, self._own(ruleset))
            copy.machine.plain = True
            windows = [self._notes.take()]
            for choice in choices:
                copy.apply(choice)
                windows.append(self._notes.take())
            if (decision := copy.decision) is not None:
                _options(decision)
            last += [*windows.pop(), *self._notes.take()]
            before.update(*windows)
        keys = [key for key in last if key not in before] or last
        return self._paths[keys[0]] if keys else BEGINNING


def _citations(ruleset: Ruleset, difference: Difference) -> Iterator[Citation]:
    """Return the citations of the differing parts of a ruleset."""
    section, _, name = difference.path.partition(".")
    name = name.partition("[")[0]
    model = ruleset.model
    match section:
        case "rules" if name in model.rules:
            for layer in model.rules[name].layers:
                if layer.form != "permits" or layer.body:
                    yield Citation(section, name, layer.file, layer.span, (), (layer.layer,))
        case "triggers" | "standing" | "tables":
            found = getattr(model, section).get(name)
            if found is not None:
                yield Citation(section, name, found.file, found.span, ())


def _round(game: Game) -> int:
    return int(game.state.cells[game.machine.constants.layout.base["round"]])


def _options(decision: Decision) -> dict[str, Option]:
    return {str(option): option for option in decision.options[:_MOST_OPTIONS]}


def _apart(one: Game, other: Game) -> tuple[str, str] | None:
    """Describe the decisions of both sides if they differ."""
    a, b = one.decision, other.decision
    if a is None or b is None:
        return None if a is b else (_asked(one), _asked(other))
    if (a.name, a.actor) != (b.name, b.actor):
        return _asked(one), _asked(other)
    mine, its = _options(a), _options(b)
    if mine.keys() != its.keys():
        return _only(one, a, mine, its), _only(other, b, its, mine)
    if a.context != b.context:
        return _shown(a), _shown(b)
    return None


def _asked(game: Game) -> str:
    """The prompt of the pending decision; its name where the ruleset has no prompt for it."""
    decision = game.decision
    if decision is None:
        return "the game is over"
    prompt = prompt_of(game.table, game.state, decision)
    return prompt or f"player {decision.actor + 1}: {decision.name.replace('_', ' ')}"


def _only(game: Game, decision: Decision, own: dict[str, Option], others: dict[str, Option]) -> str:
    """The options that only one side has, in the words of a log."""
    apart = [option for name, option in own.items() if name not in others]
    shown = "; ".join(words_of(game.table, decision, option.code) or str(option) for option in apart[:3])
    more = f"; and {len(apart) - 3} more" if len(apart) > 3 else ""
    who = f"player {decision.actor + 1}"
    return f"{who} may choose here alone: {shown}{more}" if apart else f"{who} has no choice that the other has not"


def _shown(decision: Decision) -> str:
    return ", ".join(f"{name} {value}" for name, value in decision.context.items())
