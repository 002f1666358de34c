"""``regelwerk lint``: code that is correct but could be better."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from interpreter.base.codes import meanings
from interpreter.base.diagnostics import Diagnostic, RulesetError, few, rendered
from interpreter.base.suggest import did_you_mean
from interpreter.cli import options
from interpreter.cli.commands.validate import annotate, own_files
from interpreter.cli.failures import way_on
from interpreter.cli.output import as_json, notice, picked, say, say_lines
from interpreter.cli.progress import naming

if TYPE_CHECKING:
    from interpreter.lint.findings import Findings
    from interpreter.reading.files import Document

__all__ = ["command"]


@click.command("lint")
@click.argument("targets", nargs=-1, metavar="[PATH|RULESET]...")
@options.all_option
@options.several_option("--off", metavar="CODE", about="Ignore findings with this code.")
@options.several_option("--error", metavar="CODE", about="Report findings with this code as errors.")
@options.output_option("text", "json", "github")
def command(targets: tuple[str, ...], every: bool, off: tuple[str, ...], error: tuple[str, ...], output: str) -> None:
    """Find code that is correct but could be better: duplicate rules (L001, L002), layers, conditions and readings
    without effect (L003 to L005), rules without a citation (L006) or a scenario (L010), magic numbers (L007), links
    that cost more than a detour (L008), shadowed names (L009), copied procedures (L011), long lines (L012), cards
    that a line of the log hides though they lie open afterwards (L014), public numbers of hidden things that something
    hidden decides (L015).

    Every ruleset is checked alone and with each overlay that fits it: of rulesets that differ only in maps and decks
    that declare none of the overlay's names, with one. Without arguments, lint checks the files of the current folder
    if it has any, else all rulesets. With arguments, it reports only findings in these files, folders or rulesets;
    other files of the family are only searched for copies, and skipped if they have errors.

    To keep something as it is, add a comment beside it or right above: `# lint: L007 and the reason`. The exit status
    is 1 if there are findings.

    \b
    Examples:
      regelwerk lint
      regelwerk lint power-grid/maps/my-town.yaml
      regelwerk lint germany-2018 -o json
      regelwerk lint rulesets --off L010 --error L008
      regelwerk help L002
    """
    from interpreter.lint.findings import findings_of

    _check_codes((*off, *error))
    if every and targets:
        raise click.UsageError("--all goes without arguments")
    elsewhere = not targets and not every and bool(targets := own_files())

    def named() -> list[Document]:
        return _read(targets) if elsewhere else [document for target in targets for document in _named(target)]

    with naming("looking at") as tell:
        looked_at = findings_of(named, ("own" if elsewhere else "named", *targets), tell)
    findings = [finding for finding in looked_at.found if finding.code not in off]
    findings = [replace(each, severity="error") if each.code in error else each for each in findings]
    _report(findings, looked_at, elsewhere, output)
    if findings:
        raise click.exceptions.Exit(1)


def _report(findings: Sequence[Diagnostic], looked_at: Findings, elsewhere: bool, output: str) -> None:
    if output == "json":
        data = {**picked(looked_at, "rulesets", "skipped"), "elsewhere": elsewhere, "found": len(findings)}
        as_json({**data, "findings": few(findings)})
    elif output == "github":
        annotate(findings, looked_at.paths)
    else:
        say_lines(rendered(findings))
        say(f"{len(findings) or 'nothing'} found{way_on(findings)}")
        if elsewhere:
            notice("skipped: rulesets of other folders; `regelwerk lint --all` checks all rulesets")
    if looked_at.skipped:
        notice(f"skipped because of errors: {', '.join(looked_at.skipped)}")


def _check_codes(codes: tuple[str, ...]) -> None:
    known = [code for code in meanings() if code.startswith("L")]
    for code in codes:
        if code not in known:
            near = did_you_mean(code, known) or "; `regelwerk help` lists them"
            raise click.BadParameter(f"unknown lint code `{code}`{near}", param_hint="--off / --error")


def _named(target: str) -> list[Document]:
    """Return the file of a path, the files of a ruleset within its root folder, or all files of a folder."""
    from interpreter.loading.load import find
    from interpreter.reading.dependencies import looked_at
    from interpreter.reading.files import files_below, no_file_in, resolved, shelf_for
    from interpreter.reading.ruleset_files import files_of

    looked_at("form", target)
    if not Path(target).is_dir():
        shelf, document, diagnostics = find(target)
        if document is None:
            raise RulesetError(diagnostics)
        if document.kind != "ruleset":
            return [document]
        root = resolved(shelf_for(document.path).roots[0])
        return [each for each in files_of(shelf, document) if resolved(each.path).is_relative_to(root)]
    files = files_below(Path(target), "*.yaml")
    if not files:
        raise RulesetError([no_file_in(Path(target))])
    return _read(files)


def _read(files: Iterable[str | Path]) -> list[Document]:
    from interpreter.loading.load import find

    read = [find(file)[1:] for file in files]
    if unread := [diagnostic for document, diagnostics in read if document is None for diagnostic in diagnostics]:
        raise RulesetError(unread)
    return [document for document, _ in read if document is not None]
