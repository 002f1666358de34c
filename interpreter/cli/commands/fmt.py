"""``regelwerk fmt``: format rulesets."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click
from msgspec import Struct

from interpreter.base.diagnostics import Diagnostic, rendered
from interpreter.base.paths import ruleset_roots
from interpreter.cli.failures import refused
from interpreter.cli.output import notice, say, styled

__all__ = ["command"]


class _Tidied(Struct, frozen=True):
    """A file before and after formatting. ``new`` is None if the file has syntax errors, then listed in ``found``."""

    name: str
    path: Path | None
    old: bytes
    new: bytes | None
    found: list[Diagnostic]

    @property
    def changes(self) -> bool:
        return self.new is not None and self.new != self.old


@click.command("fmt")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--check", is_flag=True, help="Write nothing; exit with status 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; show the changes.")
@click.option("--upgrade", is_flag=True, help="Convert files of `language: 1` to `language: 2` first.")
def command(paths: tuple[str, ...], check: bool, diff: bool, upgrade: bool) -> None:
    """Format files: indentation, spaces, tables, rule text. Comments and line breaks stay, lines of rule text over 120
    columns are broken, and the meaning never changes. `docs/language.md` describes the layout.

    A folder stands for all YAML files below it. Without a PATH, all rulesets are formatted: those of REGELWERK_PATH and
    the shipped ones. With `-`, text is read from stdin and written to stdout. A file with syntax errors is reported and
    left unchanged; the exit status is then 1.

    \b
    Examples:
      regelwerk fmt
      regelwerk fmt rulesets/goofspiel --diff
      regelwerk fmt --check rulesets
      regelwerk fmt --upgrade my-rulesets
      regelwerk fmt - < rulesets/goofspiel/family.yaml
    """
    if "-" in paths and len(paths) > 1:
        raise click.UsageError("`-` goes without other paths")
    unread = changed = count = 0
    for file in _tidied(paths, upgrade=upgrade):
        count += 1
        changed += file.changes
        if file.new is None:
            unread += 1
            notice("\n".join(rendered(file.found)))
        elif diff:
            _show(file)
        elif file.path is None:
            if not check:
                click.echo(file.new, nl=False)
        elif file.changes:
            say(f"{'would change' if check else 'formatted'} {file.name}")
            if not check:
                file.path.write_bytes(file.new)
    if paths != ("-",):
        _sum_up(count, changed, unread, written=not (check or diff))
    if unread or (check and changed):
        raise click.exceptions.Exit(1)


def _sum_up(count: int, changed: int, unread: int, *, written: bool) -> None:
    parts = [f"{changed} {'formatted' if written else 'would change'}"] if changed else []
    parts += [f"{count - changed - unread} unchanged"] if count > changed + unread else []
    parts += [f"{unread} cannot be read"] if unread else []
    notice(f"{count} file{'' if count == 1 else 's'}: {', '.join(parts) or 'nothing to format'}")


def _tidied(paths: tuple[str, ...], *, upgrade: bool) -> Iterator[_Tidied]:
    if paths == ("-",):
        yield _tidy("<stdin>", None, sys.stdin.buffer.read(), upgrade=upgrade)
        return
    for path in map(Path, paths) if paths else ruleset_roots():
        if not path.exists():
            from interpreter.loading.load import find

            document = find(str(path))[1]
            place = f"; its files are in `{document.path.parent.as_posix()}`" if document is not None else ""
            refused(f"{path}: no such file or folder{place}")
        for file in sorted(path.rglob("*.yaml")) if path.is_dir() else [path]:
            yield _tidy(file.as_posix(), file, file.read_bytes(), upgrade=upgrade)


def _tidy(name: str, path: Path | None, data: bytes, *, upgrade: bool) -> _Tidied:
    from interpreter.authoring.upgrade import upgraded
    from interpreter.language.file_layout import tidy
    from interpreter.reading.yaml import decode

    file, diagnostics = decode(name, data)
    text = None
    if not diagnostics:
        text, diagnostics = upgraded(file, path or Path(name)) if upgrade else tidy(file)
    return _Tidied(name, path, data, None if text is None else text.encode(), diagnostics)


def _show(file: _Tidied) -> None:
    from difflib import unified_diff

    assert file.new is not None
    old, new = file.old.decode().splitlines(), file.new.decode().splitlines()
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in unified_diff(old, new, file.name, file.name, lineterm=""):
        say(styled(line, fg=colours.get(line[:1])))
