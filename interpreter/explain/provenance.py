"""Provenance of log lines: the rule that wrote a line, its callers, and the choice before it.

The game is replayed up to the choice. That choice is then made in the plain form, which stops at the line, so the call
stack is the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby

from msgspec import Struct

from interpreter.base.messages import frame
from interpreter.base.plain_data import Value
from interpreter.base.source import Span
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.log_records import Seats
from interpreter.engine.views import Line, Spoken, numbered_lines, rule_at
from interpreter.explain.cross_reference import Use, quote
from interpreter.kernel.state import State
from interpreter.language.types import Type
from interpreter.lowering.constants import RuleFailure
from interpreter.play.game_records import SavedGame, replay_game
from interpreter.reading.statements import Statement

__all__ = ["Account", "account_of"]


class Account(Struct, frozen=True):
    """Explanation of a log line. ``chain`` is the rule that wrote it and its callers, innermost first.

    ``moment`` is the round and phase, ``after`` the choice before it with its number; ``values`` are in words.
    """

    number: str
    kind: str
    name: str
    text: str
    moment: str
    after: str
    values: tuple[tuple[str, str], ...]
    chain: tuple[Use, ...]
    cites: tuple[Statement, ...]


def account_of(
    ruleset: Ruleset, saved: SavedGame, number: str, language: str = "en", player: int | None = None
) -> Account:
    """Return the provenance of the line with this number, as far as a player may know it; without a player, all of it.
    Raises ``LookupError`` if there is none."""
    game = replay_game(ruleset, saved)
    lines = list(numbered_lines(game.table, game.state, player, language))
    index = next((index for index, (own, _) in enumerate(lines) if own == number), None)
    if index is None:
        raise LookupError(_no_line(number, lines))
    line = next(line for own, line in reversed(lines) if own == number)  # a sealed choice stands there twice
    choice = number.partition(".")[0]
    after = next((other.text or other.name for own, other in lines if own == choice), "")
    chain: tuple[Use, ...] = ()
    if line.kind == "event":
        noted = sum(other.kind == "event" for own, other in lines[:index] if own.partition(".")[0] == choice)
        chain = tuple(_stopped(game, saved, int(choice), noted, language, player))
    elif line.rule:
        chain = (Use(_called(game, line.rule, language), _short(line.place)),)
    return Account(
        number=number,
        kind=line.kind,
        name=line.name,
        text=line.text,
        moment=_moment(game, lines[: index + 1], language),
        after=frame(language, "explain.after_choice", choice=choice, text=after) if choice not in ("0", number) else "",
        values=tuple(_values(game, line, language)),
        chain=chain,
        cites=tuple(quote(game.ruleset, id) for id in line.cites),
    )


def _no_line(number: str, lines: list[tuple[str, Line]]) -> str:
    choice, _, _ = number.partition(".")
    following = [own for own, _ in lines if own.partition(".")[0] == choice]
    if not following:
        return f"the log has no line {number}: its last one is {lines[-1][0]}"
    if len(following) == 1:
        return f"the log has no line {number}: nothing follows choice {choice}"
    return f"the log has no line {number}: there are {following[0]} to {following[-1]}"


def _moment(game: Game, lines: list[tuple[str, Line]], language: str) -> str:
    """Return the round and phase of the last of these lines."""
    round_, phase = 0, ""
    for _, line in lines:
        edge, _, of = line.name.partition(" of ")
        if line.kind == "mark" and edge == "start" and of == "round":
            round_, phase = line.values["number"], ""
        elif line.kind == "mark" and edge == "start" and of in game.ruleset.model.phases:
            phase = of
    first = frame(language, "explain.round", round=round_) if round_ else frame(language, "explain.before_round_1")
    return ", ".join(text for text in (first, phase) if text)


def _values(game: Game, line: Line, language: str) -> Iterator[tuple[str, str]]:
    """Yield the values of an event or a choice in words."""
    model, names = game.ruleset.model, Spoken(game.table, game.state, language)
    if line.kind == "event":
        types: dict[str, Type] = model.events[line.name].fields
    else:
        types = dict(model.alternatives.get(line.name, []))
    for name, public in line.values.items():
        if name in types and public is not None:
            yield name, names.text(names.value(public, types[name]), types[name])


# --- replay


class _Reached(RuleFailure):
    """Raised just before the event in question."""


def _stopped(game: Game, saved: SavedGame, choice: int, noted: int, language: str, player: int | None) -> Iterator[Use]:
    """Yield the rule that is about to note an event, after ``noted`` others of the same choice, and its callers. A
    player gets them only as far as nothing secret decided that they were called."""
    header = saved.header
    before = replay_game(game.ruleset, saved, choice - 1) if choice else None
    if before is not None:
        before.state.leave()  # before the hook is set, which must not see earlier events
    try:
        with _stopping(game, noted):
            if before is None:
                Game.begin(game.ruleset, game.table, header["seed"], header.get("chance"))
            else:
                by, choice_made = game.choices[choice - 1]
                before.apply(choice_made, by)
    except _Reached as reached:
        places = [("", reached.span), *(caller[:2] for caller in reached.chain)]
        if player is not None:
            places = places[: _known(game, reached.message, [span for _, span in places])]
        owners = [
            (rule_at(game.table, span)[0] or rule.partition("@")[0], span) for rule, span in places if span is not None
        ]
        for name, same in groupby(owners, lambda pair: pair[0]):
            yield Use(_called(game, name, language), _short(str(next(same)[1])))


def _known(game: Game, event: str, places: list[Span | None]) -> int:
    """Return how many of the places, from the note of an event outwards, everybody may know."""
    secrecy, program = game.ruleset.secrecy, game.ruleset.program
    if places[0] is None or not secrecy.shows_place(event, places[0]):
        return 0
    if not secrecy.shows_callers(event, places[0]):
        return 1
    for number, place in enumerate(places, 1):
        layer = program.layer_at(place) if place is not None else None
        if layer is not None and secrecy.hides_calls(layer.id):
            return number
    return len(places)


@contextmanager
def _stopping(game: Game, noted: int) -> Iterator[None]:
    """Inside, games at this table run in the plain form and stop before an event, after ``noted`` others."""
    runner, effects = game.runner, game.machine.constants.effects
    plain, note, remaining = runner.plain, effects.note, [noted]

    def stops(state: State, event: str, values: tuple[Value, ...], seen: tuple[Seats, ...], site: Span) -> None:
        if not remaining[0]:
            raise _Reached(event, site)
        remaining[0] -= 1
        note(state, event, values, seen, site)

    runner.plain, vars(effects)["note"] = True, stops
    try:
        yield
    finally:
        runner.plain = plain
        del vars(effects)["note"]


def _called(game: Game, name: str, language: str) -> str:
    model = game.ruleset.model
    kinds = (("rule", model.rules), ("trigger", model.triggers), ("standing_rule", model.standing))
    kind = next((kind for kind, declared in kinds if name in declared), "rule")
    return frame(language, f"explain.a_{kind}", name=name)


def _short(place: str) -> str:
    """Return a position without its column."""
    return place.rpartition(":")[0] if place.count(":") > 1 else place
