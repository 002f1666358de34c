"""``regelwerk explain``: explain a name or words of a ruleset, or a line or move of a saved game."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from interpreter.base.messages import frame
from interpreter.base.suggest import without_suggestion
from interpreter.cli import options
from interpreter.cli.failures import refused, refused_for
from interpreter.cli.output import as_json, notice, say, styled, tell
from interpreter.language.types import SEAT
from interpreter.pages.page import Block, Facts, Folded, Paragraph, Source, Statements, Strong

if TYPE_CHECKING:
    from interpreter.engine.game import Game
    from interpreter.explain.cross_reference import Explanation

__all__ = ["command"]

_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
_EMPTY = Paragraph("")


@click.command("explain")
@options.game_argument
@click.argument("name", metavar="NAME|NUMBER|MOVE")
@options.overlays_option
@options.language_option
@options.requested("text", "json")
def command(request: options.Request, name: str, language: str) -> None:
    """Explain NAME in RULESET: a rule, a table or one of its cells, a trigger, a setting, any other declaration, a
    member of a kind, an attribute, a node, a card by its key, a name of the language, or the id of a statement.

    The output lists the layers, uppermost first, each with its position, source text and citations; then every use of
    the name. For a cell, it lists the value in each layer. Words that are no name are searched: the rules, statements
    and sentences of the log that say them, the best first.

    For a saved game LOG you can also explain a line, by the NUMBER that `replay LOG --numbers` prints: the rule that
    wrote it, its callers, the choice before it, the values. Or a MOVE, typed as in `play`, at the decision after N
    choices: every condition, the values of its sides, and the rules that make the move legal or refuse it.

    \b
    Examples:
      regelwerk explain goofspiel points
      regelwerk explain germany-2018 "payout[6]"
      regelwerk explain germany-2018 GU-117
      regelwerk explain germany-2018 "discount marker"
      regelwerk explain goofspiel tied_prize -o json
      regelwerk explain game.jsonl 12.3
      regelwerk explain game.jsonl@40 "connect Essen"
    """
    from interpreter.explain.names import explain

    saved = request.kept_game()
    if saved is not None:
        language = options.language_for(saved.ruleset, language)
    if saved is not None and _NUMBER.fullmatch(name):
        _line(request.ruleset, name, request.output, language)
        return
    if saved is not None and _is_move(saved, name):
        _move(saved, name, request.output, language)
        return
    if (wrong := _out_of_turn(saved, name)) and " " in name.strip():
        refused(wrong)
    loaded = saved.ruleset if saved is not None else request.load(name)
    try:
        explanations = explain(loaded, name)
    except LookupError as error:
        message = f"{error.args[0]}{_moves(saved)}"
        if saved is None and without_suggestion(message) == message:
            message += f"; `regelwerk show {request.ruleset} --layers` lists the names"
            message += "; a move is explained in a saved game: LOG@N"
        refused(message)
    if wrong:
        notice(wrong)
    if request.output == "json":
        as_json(explanations)
        return
    for position, explanation in enumerate(explanations):
        tell(*([_EMPTY] if position else []), *_blocks(explanation))


# --- saved games


def _line(where: str, number: str, output: str, language: str) -> None:
    from interpreter.explain.provenance import account_of
    from interpreter.play.game_records import ruleset_of

    saved = options.read_log(where.rpartition("@")[0] or where)
    with refused_for(LookupError):
        account = account_of(ruleset_of(saved), saved, number, language)
    if output == "json":
        as_json(account)
        return
    kind = frame(language, f"explain.{account.kind}")
    details = {"says": account.text, "when": account.moment, "after": account.after}
    facts = [*((frame(language, f"explain.{name}"), text) for name, text in details.items()), *account.values]
    called = [(use.what, use.place) for use in account.chain]
    called[1:] = [(frame(language, "explain.called_by", what=what), place) for what, place in called[1:]]
    tell(
        Paragraph((Strong(account.number), f": {kind} `{account.name}`")),
        Facts([fact for fact in facts if fact[1]]),
        *((_EMPTY, Facts(called)) if called else ()),
        *((_EMPTY, Statements(account.cites)) if account.cites else ()),
    )


def _is_move(game: Game, text: str) -> bool:
    """Return whether a text begins with an alternative of the current decision."""
    decision = game.decision
    words = text.split()
    return decision is not None and bool(words) and any(option.name == words[0] for option in decision.site.options)


def _out_of_turn(game: Game | None, text: str) -> str:
    """Return a message if the text is a move at other decisions; else an empty text."""
    word = text.split()[0] if game is not None and text.strip() else ""
    keys = (key.rpartition(".") for key in (game.ruleset.model.alternatives if game is not None else ()))
    decisions = dict.fromkeys(f"`{decision}`" for decision, _, option in keys if option == word)
    where = ", ".join(decisions)
    return f"`{word}` is a choice at {where}, which is not the current decision{_moves(game)}" if decisions else ""


def _moves(game: Game | None) -> str:
    """Return a hint that lists the alternatives of the current decision of a saved game."""
    if game is None:
        return ""
    if game.decision is None:
        return "; the game is over: use LOG@N for a move at the decision after N choices"
    known = ", ".join(f"`{option.name}`" for option in game.decision.site.options)
    return f"; moves at this decision begin with {known}"


def _move(game: Game, text: str, output: str, language: str) -> None:
    """Print all conditions of a move and mark those that fail."""
    from interpreter.engine.refusal import IllegalMove
    from interpreter.engine.views import Spoken
    from interpreter.explain.legality import conditions_of
    from interpreter.play.keyboard import understood

    decision = game.decision
    assert decision is not None
    with refused_for(ValueError, IllegalMove):
        choice = understood(game, decision, text, language)
        conditions = conditions_of(game, choice, language)
    may = game.accepts(choice)
    if output == "json":
        about = {"decision": decision.name, "by": decision.actor, "move": choice, "legal": may}
        as_json({**about, "conditions": conditions})
        return
    who = Spoken(game.table, game.state, language).text(decision.actor, SEAT)
    verdict = styled(frame(language, "explain.legal" if may else "explain.refused", move=text), bold=True)
    say(frame(language, "explain.asked", verdict=verdict, who=who, decision=decision.name))
    quoted: set[str] = set()
    for condition in conditions:
        mark = {True: "✔", False: "✘", None: "?"}[condition.holds]
        unknown = frame(language, "explain.unknown") if condition.holds is None else ""
        tell(
            _EMPTY,
            Paragraph((f"{mark} ", condition.text if condition.holds else Strong(condition.text), unknown)),
            Facts(condition.values),
            Paragraph("  " + frame(language, "explain.rule", rule=condition.rule, place=condition.place)),
            Statements([each for each in condition.cites if not (condition.holds and each.id in quoted)]),
        )
        quoted |= {each.id for each in condition.cites}


# --- rulesets


def _blocks(explanation: Explanation) -> Iterator[Block]:
    yield Paragraph((Strong(explanation.name), f": {explanation.kind}"))
    yield Facts(explanation.facts)
    for part in explanation.parts:
        how = ", ".join(text for text in (part.covers, f"when {part.when}" if part.when else "") if text)
        value = {"": "", "-": "  leaves the cell as it is"}.get(part.value, f"  here the cell is {part.value}")
        yield _EMPTY
        yield Paragraph((Strong(part.place), f"  {how}" if how else "", value))
        if part.about:
            yield Paragraph(f"  {part.about}")
        yield from (Source(part.text), Statements(part.cites))
    if explanation.uses:
        used = {"statement": "cited by", "words": "said by"}.get(explanation.kind, "used by")
        yield Folded(used, [Facts([(use.place, use.what) for use in explanation.uses])])
