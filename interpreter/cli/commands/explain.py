"""``regelwerk explain``: a rule with its layers and the statements it cites; a table, a cell, a statement."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from interpreter.cli.options import loaded, output_option, overlays_option, ruleset_argument
from interpreter.cli.output import aligned, as_json, say, styled

if TYPE_CHECKING:
    from interpreter.engine.explain import Explanation, Part

__all__ = ["command"]


@click.command("explain")
@ruleset_argument
@click.argument("name")
@overlays_option
@output_option("text", "json")
def command(ruleset: str, name: str, overlays: tuple[str, ...], output: str) -> None:
    """What NAME means: a rule, a table or a cell of it, a trigger, a standing rule, a setting, an interpretation, any
    other declaration, or the id of a statement.

    Layers are told with the uppermost first, each with its place, its text as written and the statements it cites;
    then everything that uses the name.

    \b
    Examples:
      regelwerk explain goofspiel points
      regelwerk explain germany-2018 "payout[6]"
      regelwerk explain germany-2018 GU-117
      regelwerk explain goofspiel tied_prize -o json
    """
    from interpreter.cli.failures import refused
    from interpreter.engine.explain import explain

    found = loaded(ruleset, overlays)
    try:
        explanations = explain(found, name)
    except LookupError as error:
        refused(str(error.args[0]))
    if output == "json":
        as_json([asdict(explanation) for explanation in explanations])
        return
    for position, explanation in enumerate(explanations):
        if position:
            say()
        _tell(explanation)


def _tell(explanation: Explanation) -> None:
    say(f"{styled(explanation.name, bold=True)}: {explanation.kind}")
    for line in aligned(("", ""), explanation.facts, "  ")[1:]:
        say(line)
    for part in explanation.parts:
        say()
        _part(part)
    if explanation.uses:
        say()
        say("cited by" if explanation.kind == "statement" else "used by")
        for line in aligned(("", ""), [(use.place, use.what) for use in explanation.uses], "  ")[1:]:
            say(line)


def _part(part: Part) -> None:
    how = ", ".join(text for text in (part.covers, f"when {part.when}" if part.when else "") if text)
    say(f"{styled(part.place, bold=True)}{f'  {how}' if how else ''}")
    if part.about:
        say(f"  {part.about}")
    for line in part.text.splitlines():
        say(f"    {line}".rstrip())
    rows = [
        (quote.id, quote.kind, quote.text + (f" → {quote.reading}" if quote.reading else "")) for quote in part.cites
    ]
    for line in aligned(("", "", ""), rows, "  ")[1:]:
        say(line)
