"""``regelwerk whatif``: fork a saved game at a decision and play it on many times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins
from msgspec.structs import replace

from interpreter.base.figures import between, fixed, signed
from interpreter.base.plain_data import Json, Value
from interpreter.base.plurals import counted
from interpreter.cli import options, progress
from interpreter.cli.failures import refused, refused_for, wrong_value
from interpreter.cli.output import as_json, notice, tell, width
from interpreter.cli.progress import finish, interruptible
from interpreter.language.types import SEAT
from interpreter.pages.page import Block, Column, Facts, Grid, Paragraph, Strong
from interpreter.pages.text import lines_of

if TYPE_CHECKING:
    from interpreter.bots.player import Bot
    from interpreter.compare.counterfactual import AtOnce, Compared, Difference, Fork
    from interpreter.engine.game import Game, Ruleset
    from interpreter.language.model import Measure
    from interpreter.play.game_records import SavedGame

__all__ = ["command"]


@click.command("whatif")
@options.log_argument
@options.number_option("--at", about="Number of choices before the decision to change.", least=0, required=True)
@options.several_option(
    "--change",
    "texts",
    metavar="CHANGE",
    about="Change to make: TABLE[KEYS]=VALUE, SETTING=VALUE, an overlay, or another choice.",
    required=True,
)
@options.games_option(100)
@options.seed_option
@options.bots_option("those of the log")
@options.requested("text", "json")
def command(request: options.Request, log: str, at: int, texts: tuple[str, ...], games: int) -> None:
    """Fork the saved game in LOG at a decision, change something there, and let bots play on many times, with and
    without the change. Report how the change affects the state at once, the rest of the game and its result.

    Both continuations of a pair have the same seed and the same bots. Another choice is compared with the choice of the
    saved game. Bots are those of the log unless you name others. Ctrl-C reports the results so far.

    An overlay applies from there on; a rule that is being carried out ends as it began. If the overlay changes the
    components or the pending decision, it applies from the beginning of the game, with the same choices.

    \b
    Examples:
      regelwerk run germany-2018 --players 4 --seed 7 --log game.jsonl
      regelwerk whatif game.jsonl --at 60 --change 'stage_2_cities[4]=6'
      regelwerk whatif game.jsonl --at 60 --change update_after_stage_3=update -n 500
      regelwerk whatif game.jsonl --at 60 --change my-rules.yaml --change 'payout[6]=80'
      regelwerk whatif game.jsonl --at 0 --change 'offer plant=5 bid=5' -o json
    """
    from interpreter.compare.counterfactual import at_once, compared, continuations
    from interpreter.compare.variation import broken_laws
    from interpreter.simulate.simulation import Unfinished, finished

    saved = options.read_log(log)
    fork = _fork(log, saved, at, texts)
    if fork.why:
        notice(f"{fork.why}, so the overlay applies from the beginning of the game, with the same choices")
    for law in broken_laws(fork.changed(0)):
        notice(f"{law}; continuing anyway")
    start = options.seed_for(request.seed)
    names = request.bots or _bots_of_log(fork.game.ruleset, saved)
    _table(fork.game.ruleset, names, saved)
    with interruptible() as stopped:
        seeds = range(start, start + games)
        going = continuations(fork, lambda ruleset: _table(ruleset, names, saved), seeds, stopped)
        played = list(progress.counted(going, games, "continuations"))
    pairs, unfinished = list(finished(played)), [game for game in played if isinstance(game, Unfinished)]
    decision = fork.game.decision
    assert decision is not None
    once, result = at_once(fork), compared(fork.game.ruleset, pairs)
    about: dict[str, Value] = {
        "ruleset": fork.game.ruleset.id,
        "at": at,
        "decision": decision.name,
        "by": decision.actor,
        "changes": list(texts),
        "instead_of": fork.kept,
        "bots": names,
        "seed": start,
        "continuations": len(pairs),
        "unfinished": unfinished,
    }
    if request.output == "json":
        as_json({**about, "at_once": once, **to_builtins(result)})
    else:
        _tell(fork.game, about, once, result)
    done = len(pairs) + len(unfinished)
    finish(unfinished, f"{done} of {counted(games, 'continuation')} are done" if done < games else "")


def _fork(log: str, saved: SavedGame, at: int, texts: Sequence[str]) -> Fork:
    """Replay the saved game up to the decision and fork it there with the changes."""
    from interpreter.compare.counterfactual import UnknownChange, changes_of, forked
    from interpreter.engine.refusal import IllegalMove
    from interpreter.play.game_records import Difference, choice_in, replay_game, ruleset_of

    if at > len(saved.choices):
        raise click.UsageError(f"{log} has {counted(len(saved.choices), 'choice')}, not {at}")
    ruleset = ruleset_of(saved)
    with refused_for(Difference, about=f"{log}: "):
        game = replay_game(ruleset, saved, at)
    if game.decision is None:
        refused(f"the game is over after {at} choices, so there is no decision to change")
    made = saved.choices[at] if at < len(saved.choices) else {}
    before = choice_in(made) or None

    def again(rules: Ruleset, why: str) -> Game:
        choices = tuple({key: value for key, value in line.items() if key != "digest"} for line in saved.choices)
        try:
            return replay_game(rules, replace(saved, choices=choices), at)
        except Difference as difference:
            remedy = f"; fork before it, with --at {difference.number - 1}" if difference.number else ""
            course = f"the choices of the saved game cannot be made with it: {difference}{remedy}"
            raise ValueError(f"{why}, and {course}") from None

    names = [name for id in ruleset.shelf.ids("overlay") for name in (id, id.partition("/")[2])]
    with refused_for(IllegalMove), wrong_value("--change", LookupError):
        try:
            changes = changes_of(game, texts, names)
        except UnknownChange as error:
            known = "\n".join(["what can be changed:", *_changeable(game, ruleset)])
            raise click.BadParameter(f"{error}; {known}", param_hint="--change") from None
        if not changes.overlays:
            return forked(game, changes, before)
        stacked = [*ruleset.overlays, *changes.overlays]
        other = ruleset_of(replace(saved, header={**saved.header, "overlays": stacked}))
        if other.overlays == ruleset.overlays:
            raise ValueError(f"the game has {' and '.join(f'`{name}`' for name in changes.overlays)} already")
        return forked(game, changes, before, other.for_players(saved.header["players"]), again)


def _changeable(game: Game, ruleset: Ruleset) -> list[str]:
    """Return the lines of a table of all that can be changed at a decision."""
    from interpreter.compare.comparable import Compared

    model, decision = game.ruleset.model, game.decision
    assert decision is not None
    options = [" ".join([each.name, *(item.name for item in each.core.choices)]) for each in decision.site.options]
    cells = [f"{table.name}[{', '.join(table.keys)}]" for table in model.tables.values()]
    named = {
        "a choice": options,
        "TABLE[KEYS]=VALUE": cells,
        "SETTING=VALUE": [*model.settings, *model.interpretations],
        "an overlay": Compared(ruleset).optional,
    }
    facts = [(kind, "; ".join(names) or "none") for kind, names in named.items()]
    return [*lines_of([Facts(facts)], width())]


def _bots_of_log(ruleset: Ruleset, saved: SavedGame) -> str:
    """Return the bots of the log if this ruleset has them all; else the default bots."""
    from interpreter.bots.registry import bots_of, default_bots

    names = ",".join(map(str, saved.header.get("bots", ())))
    try:
        bots_of(names, ruleset, saved.header["players"])
    except ValueError:
        return default_bots(ruleset)
    return names


def _table(ruleset: Ruleset, names: str, saved: SavedGame) -> list[Bot]:
    from interpreter.bots.registry import bots_of

    with wrong_value("--bots"):
        return bots_of(names, ruleset, saved.header["players"])


# --- the difference


def _tell(game: Game, about: dict[str, Value], once: AtOnce, result: Compared) -> None:
    from interpreter.engine.decision import choice_text
    from interpreter.pages.games_report import by_round

    def who(seat: int) -> str:
        return game.table.names.text(seat, SEAT)

    def words(measure: Measure, found: Difference) -> list[str]:
        return [who(part) if place == measure.seat else str(part) for place, part in enumerate(found.of or ())]

    when = f"{about['ruleset']}, after {counted(about['at'], 'choice')}"
    instead = f" instead of {choice_text(about['instead_of'])}" if about["instead_of"] is not None else ""
    before, after = once.options
    where = "options at the next decision" if about["instead_of"] is not None else "options there"
    changes = [(f"{each['path']}: {_value(each['before'])} → {_value(each['after'])}",) for each in once.state]
    tell(
        Paragraph(Strong(f"{when}: {who(about['by'])} decides `{about['decision']}`")),
        Paragraph(f"changed: {'; '.join(about['changes'])}{instead}"),
        Paragraph(f"{where}: {before}, {f'changed {after}' if before != after else 'as before'}"),
        Grid((), changes),
    )
    count = about["continuations"]
    if not count:
        return
    played = f"{counted(count, 'continuation')} by {about['bots']}, seed {about['seed']}"
    rows = [_row("rounds", result.rounds), _row("decisions", result.decisions)]
    rows += (_row(f"wins of {who(seat)}, %", share, 100) for seat, share in enumerate(result.share))
    measures = {measure.name: measure for measure in game.ruleset.model.measures}
    for name, measure in measures.items():
        for found in result.measures.get(name, ()):
            rows.append(_row(", ".join([name.replace("_", " "), *words(measure, found)]), found))
    heads = Column("as it was", fixed(2)), Column("changed", fixed(2)), Column("difference", signed)
    blocks: list[Block] = [Grid(("mean of", *heads, Column("95 % interval", between(signed))), rows)]
    for name, points in result.curves.items():
        means: defaultdict[str, dict[int, float]] = defaultdict(dict)
        for point in points:
            means[", ".join(words(measures[name], point))][int(point.round or 0)] = point.difference or 0.0
        blocks += by_round(f"{name.replace('_', ' ')}, mean difference by round", means, partial(signed, digits=1))
    tell(Paragraph(""), Paragraph(f"{played}; in {result.other_winner} of them somebody else wins"), *blocks)


def _row(name: str, found: Difference, times: int = 1) -> tuple[Value, ...]:
    numbers = (found.before, found.after, found.difference, found.low, found.high)
    before, after, difference, low, high = (None if number is None else number * times for number in numbers)
    return name, before, after, difference, None if low is None else (low, high)


def _value(value: Json) -> str:
    if value is None or value == []:
        return "nothing"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
