"""Runner of samples in documentation: follows a page in an empty folder, as its reader would.

The words after the fence give the type of a block:

=============  ======================================================================================================
```yaml FILE   the whole file; also ``csv``
```diff FILE   a change of the file: ``+`` lines replace ``-`` lines, context lines locate them
```sh          commands
```text        after commands: their output. ``...`` stands for any text, alone on a line for any lines
=============  ======================================================================================================

Commands must succeed, unless the ``text`` right after them shows a failure. Other blocks are only for readers.

``python -m tests.samples FILE…`` follows pages in a new folder and prints the output. ``--installed`` calls the
installed program; ``--write`` fills the ``text`` blocks without ``...``.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from interpreter.cli.main import cli
from interpreter.language.parse import remembered

__all__ = ["Done", "Sample", "Session", "files_at", "follow", "matches", "samples"]

_FENCE = re.compile(r"^```([a-z]+)(?: +(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHELL = re.compile(r"[|<>;&$`*]")
"""What only a shell understands: a line without it is taken apart here, which is faster."""
_WHOLE = re.compile("^language:", re.MULTILINE)
"""What each file of rules has, and an excerpt has not."""
_BEGINS, _LOOKS = (re.compile(rf"^regelwerk {word}.*\n", re.MULTILINE) for word in ("new ", "(?!new )"))
"""Commands that begin files, and commands that look at them."""
_DELETED = re.compile("^rm (.*)$", re.MULTILINE)
_FAILED = re.compile(r"\b[1-9]\d* (errors?|failed)\b")
_PLAIN = {"NO_COLOR": "1", "COLUMNS": "120", "LC_ALL": "C.UTF-8"}


@dataclass(frozen=True)
class Sample:
    """A fenced block: its language, the word after it, its text, the text's offset and its line in the page."""

    kind: str
    name: str
    text: str
    start: int
    line: int

    @property
    def end(self) -> int:
        """Return the offset of the end of the text."""
        return self.start + len(self.text)

    @property
    def is_file(self) -> bool:
        """Return whether the block writes or changes a file, which is its name."""
        return bool(self.name) and self.kind in ("yaml", "csv", "diff")

    def write(self, folder: Path) -> None:
        """Write or change the file. Raises :class:`ValueError` if a change does not fit."""
        file, text = folder / self.name, self.text
        if self.kind == "diff":
            before, lines = file.read_text(encoding="utf-8"), text.splitlines(keepends=True)
            old = "".join(line[1:] or "\n" for line in lines if line[:1] != "+")
            new = "".join(line[1:] or "\n" for line in lines if line[:1] != "-")
            if before.count(old) != 1:
                raise ValueError(
                    f"line {self.line}: these lines stand {before.count(old)} times in {self.name}, want once"
                )
            text = before.replace(old, new)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def samples(page: str) -> list[Sample]:
    """Return the fenced blocks of a page that have a type."""
    return [
        Sample(m[1], m[2] or "", m[3], m.start(3), page.count("\n", 0, m.start()) + 1) for m in _FENCE.finditer(page)
    ]


def matches(shown: str, told: str) -> bool:
    """Return whether the shown text, in which ``...`` matches anything, matches the actual output."""
    lines = [line.rstrip() for line in shown.splitlines()]
    parts = [r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"[ ]*\n" for line in lines]
    return re.fullmatch("".join(parts) + r"\n*", told.rstrip() + "\n") is not None


@dataclass(frozen=True)
class Done:
    """Result of a block of commands: its output, the block that shows it, if any, and the error."""

    commands: Sample
    told: str
    shown: Sample | None
    fault: str


class Session:
    """A shell in a folder. Runs the installed program if ``installed``, else that of this process."""

    def __init__(self, folder: Path, *, installed: bool = False) -> None:
        self.folder = folder
        self.installed = installed
        self.environment = dict(_PLAIN)

    def run(self, commands: str) -> tuple[int, str]:
        """Run commands. Return the status of the last command that failed, or 0, and the output."""
        status, told = 0, []
        for line in commands.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if not words:
                continue
            if words[0] == "export":
                self.environment.update({name: value for name, _, value in (word.partition("=") for word in words[1:])})
                continue
            is_ours = words[0] == "regelwerk" and not self.installed and not _SHELL.search(line)
            failed, output = self._here(words[1:]) if is_ours else self._in_shell(line)
            status = failed or status
            told.append(output)
        return status, "".join(told)

    def _here(self, arguments: list[str]) -> tuple[int, str]:
        with contextlib.chdir(self.folder):
            result = CliRunner().invoke(cli, arguments, env=self.environment, prog_name="regelwerk")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.output

    def _in_shell(self, line: str) -> tuple[int, str]:
        here = {}
        if not self.installed:
            line = f'regelwerk() {{ "{sys.executable}" -m interpreter "$@"; }}; {line}'
            here = {"PYTHONPATH": str(Path(__file__).parents[1])}
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env={**os.environ, **self.environment, **here},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout


def follow(page: str, session: Session) -> Iterator[Done]:
    """Follow a page, block by block, and yield the results of its commands."""
    blocks = samples(page)
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        if block.is_file:
            block.write(session.folder)
        elif block.kind == "sh":
            status, told = session.run(block.text)
            if after is None or after.kind != "text" or page[block.end : after.start].strip() != "```\n\n```text":
                yield Done(block, told, None, f"status {status}" if status else "")
            else:
                fault = f"status {status}" if status and not _FAILED.search(after.text) else ""
                yield Done(block, told, after, fault if matches(after.text, told) else f"want\n{after.text}")


def files_at(page: str) -> Iterator[tuple[Sample, dict[str, str]]]:
    """Yield the blocks of a page that are whole files of rules, each with all files that its reader has when the
    program looks at them. Files that the page deletes or replaces later are left out.

    Of the commands, only those run that begin files: ``regelwerk new``.
    """
    blocks, hidden = samples(page), {name for names in _DELETED.findall(page) for name in names.split()}
    hidden |= {block.name for block in blocks if block.kind == "yaml"}
    waiting = [block for block in blocks if block.kind == "yaml" and block.name and _WHOLE.search(block.text)]
    with tempfile.TemporaryDirectory() as new:
        session = Session(Path(new))

        def files() -> dict[str, str]:
            paths = {path.relative_to(new).as_posix(): path for path in sorted(session.folder.rglob("*.*"))}
            return {name: path.read_text(encoding="utf-8") for name, path in paths.items() if name not in hidden}

        for block in blocks if waiting else ():
            if block.is_file:
                block.write(session.folder)
                hidden.discard(block.name)
            elif block.kind == "sh":
                while waiting and waiting[0].start < block.start and _LOOKS.search(block.text):
                    yield waiting.pop(0), files()
                status, told = session.run("".join(_BEGINS.findall(block.text)))
                if status:
                    raise ValueError(f"line {block.line}: {told}")
        yield from ((block, files()) for block in waiting)


def main() -> int:
    """Follow pages and print the output. Return status 1 if it differs from what they show."""
    options = argparse.ArgumentParser(description="follows pages of the documentation")
    options.add_argument("files", nargs="+", type=Path)
    options.add_argument("--installed", action="store_true", help="with the program that is installed")
    options.add_argument("--write", action="store_true", help="writes what is printed into the pages")
    given = options.parse_args()
    wrong = 0
    for file in given.files:
        page = file.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as new, remembered():  # commands look at the same texts again
            (folder := Path(new, "empty")).mkdir()
            done = []
            for each in follow(page, Session(folder, installed=given.installed)):
                done.append(each)
                print(f"$ {each.commands.text.rstrip()}\n{each.told}", end="", flush=True)
                if each.fault:
                    wrong += 1
                    print(f"!!! {file}:{each.commands.line}: {each.fault}", flush=True)
        if given.write:
            for each in reversed(done):
                if each.shown is not None and "..." not in each.shown.text:
                    told = "".join(f"{line.rstrip()}\n" for line in each.told.rstrip().splitlines())
                    page = page[: each.shown.start] + told + page[each.shown.end :]
            file.write_text(page, encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
