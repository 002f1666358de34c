"""Laws of tables, starts and defaults: tested for each number of players before any game.

A fault is reported at the line of the uppermost file that takes part in it: the cell that a later file amends, or the
part of the map that a law reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.diagnostics import Diagnostic, Note, RulesetError
from interpreter.base.plain_data import grouped
from interpreter.base.plurals import counted, joined
from interpreter.base.source import Span
from interpreter.engine.failing_values import Because, text_of
from interpreter.engine.setup import Table, default_settings, set_up
from interpreter.engine.values import Names
from interpreter.kernel.state import Value
from interpreter.language import core
from interpreter.language.model import Law, Model
from interpreter.language.model import Table as TableOfCells
from interpreter.language.types import BOOL, KindType, NodeType, item_type
from interpreter.language.walk import descendants
from interpreter.lowering.constants import RuleFailure
from interpreter.lowering.lower import Program
from interpreter.plain.closures import Env
from interpreter.reading.composition import Composition
from interpreter.reading.players import PlayerRange

__all__ = ["check_laws"]

_OTHER_SIDE = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_STEP = {"==": 0, "<=": 0, ">=": 0, "<": -1, ">": 1}


class _Failed(Struct):
    """A law that fails for a number of people: the values, the part of the condition that fails, and the cells in it,
    each with the value that would do."""

    why: str
    part: core.Expression
    counting: int = 0
    cells: tuple[tuple[str, tuple[int, ...], Value], ...] = ()


def check_laws(program: Program, composition: Composition) -> list[Diagnostic]:
    """Check the laws of tables, and that a table can be set up for every number of players."""
    model = program.model
    found: list[tuple[int, Diagnostic]] = []
    failed: list[dict[int, _Failed]] = [{} for _ in model.laws]
    defaults, names = default_settings(model), Names(model)
    for people in range(composition.players.low, composition.players.high + 1):
        try:
            table = set_up(program, people, defaults)
        except RulesetError as error:
            found.extend((people, _at_author(each, composition)) for each in error.diagnostics)
            continue
        except RuleFailure as error:
            remedy = "a start must have a value for each number of players that the edition permits"
            found.append((people, Diagnostic("E414", error.message, error.span, help=remedy)))
            continue
        found.extend((people, problem) for problem in _check_defaults(model, table))
        because = Because(table.machine.expressions.compile, table.first, names)
        for law, failures in zip(model.laws, failed, strict=True):
            if (failure := _failure(law, because)) is not None:
                failures[people] = failure
                failure.counting = table.machine.constants.counting
    laws = (_broken(law, its, model, composition) for law, its in zip(model.laws, failed, strict=True) if its)
    return [*_at_once(found, composition.players), *laws]


def _at_once(found: list[tuple[int, Diagnostic]], players: PlayerRange) -> Iterator[Diagnostic]:
    """Yield what is found at each place once, with the numbers of people if it differs by them."""
    for alike in grouped(((problem.code, problem.span), (people, problem)) for people, problem in found).values():
        problem, numbers = alike[0][1], [people for people, _ in alike]
        differs = any(other.message != problem.message for _, other in alike)
        if len(numbers) <= players.high - players.low or differs:
            first = f" with {numbers[0]}," if differs else ""
            problem = replace(problem, message=f"{_players(numbers)}:{first} {problem.message}")
        yield problem


def _players(numbers: list[int]) -> str:
    *others, last = numbers
    return f"with {joined([*map(str, others), counted(last, 'player')])}"


def _check_defaults(model: Model, table: Table) -> Iterator[Diagnostic]:
    """Check that the default of each setting passes the setting's own check."""
    for setting in model.settings.values():
        rule = model.rules.get(setting.check or "")
        if rule is None or setting.default is None:
            continue
        default = core.Const(setting.default, type=setting.type)
        passes = table.machine.expressions.compile(core.CallRule(rule.name, (default,), type=BOOL))
        try:
            if passes(table.first, []):
                continue
            why = f"`{rule.name}` refuses it"
        except RuleFailure as failure:
            why = f"`{rule.name}` fails: {failure.message}"
        message, remedy = f"the default of `{setting.name}`: {why}", f"take a default that `{rule.name}` permits"
        yield Diagnostic("E414", message, setting.span, help=remedy)


def _failure(law: Law, because: Because) -> _Failed | None:
    """Evaluate a law; return why it fails, or None."""
    env: Env = [None] * law.size
    try:
        if because.value(law.condition, env):
            return None
        why = ", ".join(because.why_not(law.condition, env))
        part = because.failing(law.condition, env)
        return _Failed(why, part, cells=tuple(_cells(part, because, env)))
    except RuleFailure as failure:
        return _Failed(failure.message, law.condition)


def _cells(part: core.Expression, because: Because, env: Env) -> Iterator[tuple[str, tuple[int, ...], Value]]:
    """Yield the cells that a false comparison compares, each with a value that makes it true."""
    if not isinstance(part, core.Comparison) or part.operator not in _STEP:
        return
    turned = _OTHER_SIDE.get(part.operator, part.operator)
    for cell, other, operator in ((part.left, part.right, part.operator), (part.right, part.left, turned)):
        if isinstance(cell, core.TableCell) and isinstance(value := because.value(other, env), int):
            key = tuple(because.value(each, env) for each in cell.keys)
            yield cell.table, key, value if isinstance(value, bool) else value + _STEP[operator]


def _broken(law: Law, failed: dict[int, _Failed], model: Model, composition: Composition) -> Diagnostic:
    """Report a broken law for all numbers of people for which it fails: where its author can mend it, and how."""
    first, place, limits = next(iter(failed.values())), law.condition.span, composition.players
    reads_players = any(isinstance(node, core.PlayerCount) for node in descendants(law.condition))
    numbers = [each.counting for each in failed.values()]
    differs = reads_players or len(failed) <= limits.high - limits.low
    which = f" {_players(numbers)}" if differs else ""
    why = f"with {numbers[0]}, {first.why}" if differs and len(numbers) > 1 and first.why else first.why
    height = partial(_height, composition)
    cells = {model.tables[table].places[key]: (table, key) for table, key, _ in first.cells}
    cell = max(cells, key=height, default=place)
    span = max((place, cell, *_of_map(first.part, model, composition)), key=height)
    changes = [entry for entry in composition.layers("tables", law.table)[1:] if entry.span.file is not place.file]
    maps = [board for board in composition.documents if board.kind == "map"]
    notes = (
        Note("the law", place),
        *(Note(f"`{entry.file}` changes this table", entry.span) for entry in changes),
        *(Note(f"tested with the map {board.id}", board.root.span) for board in maps),
    )
    mends = []
    if cell in cells and span is not place:
        table, names = cells[cell][0], Names(model)
        values = {
            key: value
            for each in failed.values()
            for its, key, value in each.cells
            if its == table and (reads_players or key == cells[cell][1])
        }
        mends.append(_amended(model.tables[table], values, names, is_here=span is cell))
    elif span is not place:
        mends.append(f"change this so that `{text_of(first.part)}`")
    if isinstance(first.part, core.CallRule) and span is not place:
        rule, below = first.part.rule, composition.layers("rules", first.part.rule)[0]
        mends.append(f"let the map say `rules: {{{rule}: {{replaces: {below.file}, is: …}}}}`")
    allowed = [number for number in range(limits.low, limits.high + 1) if number not in failed]
    if differs and allowed and len(allowed) == allowed[-1] - allowed[0] + 1:
        mends.append(f"limit the players: `players: {PlayerRange(allowed[0], allowed[-1]).text}`")
    lifted = f"tables: {{{law.table}: {{amends: {law.file}, laws: {{{law.name}: nothing}}}}}}"
    if not mends:
        mends.append("change the cells or the law")
    unnamed = "name the law (`laws: {NAME: …}`), so that a later file can lift it"
    mends.append(f"lift the law: `{lifted}`" if law.name else unnamed)
    its = "this law" if span is place else f"its law `{law.name}`" if law.name else "a law"
    message = f"`{law.table}` breaks {its}{which}{why and ': '}{why}"
    elsewhere = tuple(note for note in notes if note.span is not None and note.span.file is not span.file)
    return Diagnostic("E414", message, span, elsewhere, "; or ".join(mends))


def _amended(table: TableOfCells, values: dict[tuple[int, ...], Value], names: Names, *, is_here: bool) -> str:
    """Return the amendment of cells that keeps a law."""
    written = []
    for key, value in values.items():
        parts = (str(names.public(part, of)) for part, of in zip(key, table.key_types, strict=True))
        written.append(f'"{", ".join(parts)}": {names.public(value, table.gives)}')
    cells = f"cells: {{{', '.join(written)}}}"
    return (
        f"amend to `{cells}`" if is_here else f"amend by `tables: {{{table.name}: {{amends: {table.file}, {cells}}}}}`"
    )


def _of_map(part: core.Expression, model: Model, composition: Composition) -> Iterator[Span]:
    """Yield where a map gives what a condition reads: its nodes, or the members of a kind."""
    nodes = composition.single("nodes")
    for node in (part, *descendants(part)):
        of = item_type(node.type) or node.type if isinstance(node, core.Typed) else None
        if isinstance(of, NodeType) and nodes is not None:
            yield nodes.span
        elif isinstance(of, KindType):
            yield model.kinds[of.name].span


def _height(composition: Composition, span: Span) -> int:
    """Return the position of a file among the layers."""
    return [document.file for document in composition.documents].index(span.file)


def _at_author(problem: Diagnostic, composition: Composition) -> Diagnostic:
    """Return a diagnostic at the place in the uppermost file that it names; the others become notes."""
    places = [Note("declared here", problem.span), *problem.notes]
    top = max(places, key=lambda note: _height(composition, note.span) if note.span is not None else 0)
    notes = tuple(note for note in places if note is not top)
    return problem if top is places[0] else replace(problem, span=top.span, notes=notes)
