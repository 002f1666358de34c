"""``regelwerk show``: show the parts of a ruleset and their files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import click

from interpreter.base.plain_data import Value
from interpreter.base.suggest import did_you_mean
from interpreter.cli import options
from interpreter.cli.output import as_json, picked, say, tell
from interpreter.pages.page import Block, Facts, Folded, Grid, Paragraph, Strong

if TYPE_CHECKING:
    from interpreter.engine.game import Ruleset
    from interpreter.language.core import Expression
    from interpreter.language.model import CheckedTrigger, RuleLayer, TriggerCase

__all__ = ["command"]

COMPILED = ("ir", "wat")
"""Views of compiled rules."""


@click.command("show")
@options.ruleset_argument
@click.argument("name", metavar="[NAME]", required=False)
@options.overlays_option
@click.option("--layers", is_flag=True, help="Show each rule with its layers, uppermost first.")
@click.option("--events", is_flag=True, help="Show the events of each phase and the triggers that handle them.")
@click.option("--interpretations", is_flag=True, help="Show ambiguous rules, their readings and the chosen one.")
@click.option("--chance", is_flag=True, help="Show the named random streams and what they shuffle or pick.")
@click.option("--passes", is_flag=True, help="Show the passes from files to a program, with CPU times.")
@click.option("--policy", metavar="NAME", help="Show a policy: each line with its name and file.")
@click.option(
    "--ir",
    is_flag=False,
    flag_value="",
    metavar="[=PASS]",
    help="Show the intermediate representation of the rules, or of the rule NAME, as built or after the pass PASS.",
)
@click.option("--wat", is_flag=True, help="Show the WebAssembly text of the rules, or of the rule NAME.")
@options.players_option()
@options.settings_option
@options.requested("text", "json")
def command(request: options.Request, name: str | None, policy: str | None, ir: str | None, **flags: bool) -> None:
    """Show the parts of a ruleset: its files in the order of their layers, and each declaration with its file.

    \b
    Examples:
      regelwerk show germany-2018
      regelwerk show germany-2018 --layers
      regelwerk show germany-2018 --events -o json
      regelwerk show germany-2018 --passes
      regelwerk show germany-2018 --policy sensible
      regelwerk show goofspiel --ir bidding
      regelwerk show germany-2018 --ir=inline --players 4
      regelwerk show goofspiel --wat bid_of
    """
    views = [view for view, is_set in {**flags, "policy": policy, "ir": ir is not None}.items() if is_set]
    if len(views) > 1:
        raise click.UsageError(f"--{views[0]} and --{views[1]} are two views: choose one")
    view = views[0] if views else None
    if view in COMPILED:
        _tell_functions(request, name, ir)
        return
    if any(":=" in setting for setting in request.settings):
        raise click.BadParameter("a number of seats goes with a game only: leave it out", param_hint="--with")
    if request.players is not None or request.settings:
        raise click.UsageError("--players and --set go with --ir and --wat")
    if name is not None:
        remedy = f"`regelwerk explain {request.ruleset} {name}` tells about a name"
        raise click.UsageError(f"the name of a rule goes with --ir and --wat; {remedy}")
    data, blocks = _VIEWS[view](request.load()) if policy is None else _policy(request.load(), policy)
    as_json(data) if request.output == "json" else tell(*blocks)


def _tell_functions(request: options.Request, name: str | None, ir: str | None) -> None:
    """Print the functions of a module: as they are after the pass ``ir``, or as WebAssembly text if it is None."""
    from interpreter.compiler.ir.printer import text_of
    from interpreter.compiler.passes import BUILT, PASSES
    from interpreter.compiler.wasm import emit
    from interpreter.play.table_module import module_forms, rule_of

    loaded = request.load()
    names = [BUILT, *(each.__name__ for each in PASSES)]
    if ir and ir not in names and name is None:
        name, ir = ir, ""  # `--ir NAME`
    elif ir and ir not in names:
        known = ", ".join(f"`{each}`" for each in names)
        near = did_you_mean(ir, names) or "."
        raise click.BadParameter(f"unknown pass `{ir}`{near} The passes are {known}", param_hint="--ir")
    setup = request.setup(loaded)
    ruleset, people = setup.ruleset, setup.players
    builder, forms = module_forms(ruleset, ruleset.table(people, ruleset.settings(setup.settings)))
    last = names[-1] if ir is None else ir or BUILT
    functions = {**forms[BUILT], **forms[last]}
    rules = {each: rule_of(builder.purposes.get(each, "")) for each in functions}
    selected = [each for each, rule in rules.items() if name in (None, each, rule)]
    if not selected:
        near = did_you_mean(name or "", [*rules, *filter(None, rules.values())])
        near = near or f"; `regelwerk show {ruleset.id} --layers` lists the rules"
        raise click.BadParameter(f"no function is compiled from a rule `{name}`{near}", param_hint="NAME")
    inlined = f"{';;' if ir is None else '#'} inlined at every call; as built:\n"
    texts = {}
    for each in selected:
        text = emit.text_of(functions[each]) if ir is None else text_of(functions[each], builder.memory.groups)
        texts[each] = text if each in forms[last] else inlined + text
    if request.output == "json":
        form = "wat" if ir is None else "ir"
        listed = [{"name": each, "rule": rules[each] or None, form: text} for each, text in texts.items()]
        as_json({"ruleset": ruleset.id, "players": people, "pass": last, "functions": listed})
    else:
        say("\n\n".join(texts.values()))


_Shown = tuple[object, Iterable[Block]]
"""The data of a view, and the blocks that tell them."""


# --- parts


def _parts(ruleset: Ruleset) -> _Shown:
    """Show the parts of a ruleset: its files, and the files of each declaration."""
    composition = ruleset.composition
    players = composition.players
    files = [{"kind": each.kind, "id": each.id, "file": each.file.name} for each in composition.documents]
    sections = {
        section: {name: [entry.file for entry in layers] for name, layers in names.items()}
        for section, names in composition.sections.items()
        if names
    }
    data = {
        "ruleset": ruleset.id,
        **picked(composition, "title", "about", "family"),
        "players": (players.low, players.high),
        "takes": {str(number): overlay for number, overlay in players.overlays},
        **picked(composition, "rulebooks", "provenance"),
        "digest": ruleset.digest,
        "files": files,
        "sections": sections,
    }
    books = [f"rulebooks: {', '.join(composition.rulebooks)}"] if composition.rulebooks else []
    facts = (
        f"family {composition.family}, {players.low} to {players.high} players",
        *(f"a game of {number} includes {overlay}" for number, overlay in players.overlays),
        *books,
        *(f"{file}: {text}" for file, text in composition.provenance.items()),
    )
    layers = [Folded("files, each a layer over those before it", [_rows(files)])]
    for section, names in sections.items():
        facts_of = [(name, " ← ".join(reversed(dict.fromkeys(files)))) for name, files in names.items()]
        layers.append(Folded(section.replace("_", " "), [Facts(facts_of)]))
    return data, (Paragraph(Strong(f"{composition.title} ({ruleset.id})")), *map(Paragraph, facts), *layers)


def _rows(rows: Iterable[Mapping[str, Value]], *columns: str) -> Grid:
    """Return a table of rows of data, with the titles of its columns if it has heads."""
    return Grid(columns, [[*row.values()] for row in rows])


def _under(head: str, beside: str, rows: list[tuple[Value, ...]]) -> Iterator[Block]:
    yield from (Paragraph((Strong(head), beside)), Grid((), rows))


# --- layers


def _layers(ruleset: Ruleset) -> _Shown:
    """Show the rules with their layers, uppermost first."""
    data, blocks = [], list[Block]()
    for rule in ruleset.model.rules.values():
        layers = [_layer(layer) for layer in reversed(rule.layers)]
        rows = [
            (
                each["covers"] or "introduces",
                each["place"],
                f"when {each['when']}" if each["when"] else "",
                ", ".join(each["cites"]),
            )
            for each in layers
        ]
        data.append({"rule": rule.name, "form": rule.form, "layers": layers})
        blocks += _under(rule.name, f" ({rule.form})", rows)
    return data, blocks


def _layer(layer: RuleLayer) -> dict[str, Value]:
    return {
        **picked(layer, "layer", "file"),
        "covers": layer.covers or None,
        "part": layer.part or None,
        "when": layer.when.span.on_one_line if layer.when is not None else None,
        "cites": layer.cites,
        "place": str(layer.span),
    }


# --- events


def _events(ruleset: Ruleset) -> _Shown:
    """Show the events; for each phase, whether one can occur there, and the cases of triggers that handle it. A dot
    means that an event cannot occur in a phase, a dash that no trigger handles it there."""
    model, reach = ruleset.model, ruleset.program.reach
    data, rows = [], []
    for event in model.events.values():
        triggers = [trigger for trigger in model.triggers.values() if trigger.event == event.name]
        phases, cells = {}, []
        for phase in model.phases:
            cases = {trigger.name: case for trigger in triggers if (case := _case(trigger, phase))}
            occurs = event.name in reach.phase_events.get(phase, ())
            phases[phase] = {"occurs": occurs, "cases": cases}
            heard = ", ".join(f"{name}: {case}" for name, case in cases.items())
            cells.append((heard or "–") if occurs else "·")
        data.append({"event": event.name, "file": event.file, "phases": phases})
        rows.append((event.name, *cells))
    return data, [Grid(("event", *(model.phases if rows else ())), rows)]


def _case(trigger: CheckedTrigger, phase: str) -> str | None:
    """Return the case of a trigger for a phase, numbered from 1; `otherwise` is the case for all other phases."""
    others: TriggerCase | None = None
    for number, case in enumerate(trigger.cases, 1):
        if phase in case.phases:
            return f"case {number}"
        others = others if case.phases else case
    if others is None:
        return None
    if others.procedure is None:
        return "nothing"
    return "otherwise" if len(trigger.cases) > 1 else "always"


# --- policies


def _policy(ruleset: Ruleset, name: str) -> _Shown:
    """Show the composed lines of a policy for each decision. Parts with a condition come first."""
    from interpreter.bots.registry import policies_for

    policies = policies_for(ruleset)
    if name not in policies:
        listed = ", ".join(f"`{each}`" for each in policies) or "none"
        raise click.BadParameter(f"unknown policy `{name}`; there are {listed}", param_hint="--policy")
    data, blocks = [], list[Block]()
    for decision, ways in policies[name].decisions.items():
        for way in ways:
            when = " and ".join(guard.span.on_one_line for guard in _guards(way.when)) or None
            lines = [
                {"name": line.name or None, "place": str(line.span), "text": line.span.on_one_line}
                for line in way.lines
            ]
            data.append({"decision": decision, "when": when, "cites": way.cites, "lines": lines})
            rows = [(line["name"] or "", line["place"], line["text"]) for line in lines]
            blocks += _under(decision, f" when {when}" if when else "", rows)
    return data, blocks


def _guards(when: Expression | None) -> Iterator[Expression]:
    """Yield the conditions of the parts that contain the lines."""
    from interpreter.language.core import Logic

    if isinstance(when, Logic) and when.operator == "and":
        yield from _guards(when.left)
        yield from _guards(when.right)
    elif when is not None:
        yield when


# --- interpretations, chance and passes


def _interpretations(ruleset: Ruleset) -> _Shown:
    doubts = ruleset.model.interpretations.values()
    blocks = list[Block]()
    for each in doubts:
        answers = f" ({', '.join(each.answers)})" if each.answers else ""
        rows = [("→" if reading == each.default else " ", reading, about) for reading, about in each.readings.items()]
        blocks += _under(each.name, f"{answers}  {each.span}", rows)
    return [{**picked(each, "name", "answers", "default", "readings"), "place": each.span} for each in doubts], blocks


def _chance(ruleset: Ruleset) -> _Shown:
    data = [
        {"name": name, "does": "shuffles" if shuffles else "picks", "of": ruleset.model.word(type_)}
        for name, (shuffles, type_) in sorted(ruleset.program.reach.chances.items())
    ]
    return data, [_rows(data, "name", "does", "of")]


def _passes(ruleset: Ruleset) -> _Shown:
    """Run the passes from files to ruleset again and show their CPU times in milliseconds."""
    from interpreter.loading.pipeline import examine

    ran = []

    def timed(name: str, seconds: float) -> None:
        ran.append({"pass": name, "cpu_ms": round(1000 * seconds, 1)})

    examine(ruleset.shelf, ruleset.document, ruleset.asked_overlays, timed=timed)
    return {"ruleset": ruleset.id, "passes": ran}, [_rows(ran, "pass", "CPU ms")]


_VIEWS: dict[str | None, Callable[[Ruleset], _Shown]] = {
    None: _parts,
    "layers": _layers,
    "events": _events,
    "interpretations": _interpretations,
    "chance": _chance,
    "passes": _passes,
}
