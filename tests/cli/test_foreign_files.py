"""Files that are cut off, empty, binary or of another kind: each command that reads a file says so, with the file's
name, and a byte order mark at the start of a text does not matter."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from click.testing import CliRunner, Result

from interpreter.cli.main import COMMANDS, cli
from interpreter.loading.load import load
from interpreter.play.game_records import write_log
from interpreter.simulate import throughput
from interpreter.simulate.checkpoint import Journal
from tests.play.toy import ROOT
from tests.support import shared

FEW = "--seed 1 -n 1"
READERS = {
    "replay": {"replay FILE": "game.jsonl"},
    "whatif": {f"whatif FILE --at 1 {FEW} --change most=2": "game.jsonl"},
    "play": {"play FILE": "game.jsonl", "play FILE --seed 1": "pebbles.yaml"},
    "try": {"try FILE count(seats)": "game.jsonl", "try FILE --seed 1 count(seats)": "pebbles.yaml"},
    "explain": {"explain FILE 0.1": "game.jsonl", "explain FILE pull": "pebbles.yaml"},
    "map": {"map FILE": "game.jsonl"},
    "show": {"show FILE": "pebbles.yaml"},
    "validate": {"validate FILE": "scenario.yaml", "validate pebbles --with FILE": "none.yaml"},
    "lint": {"lint FILE": "pebbles.yaml"},
    "fmt": {"fmt --check FILE": "pebbles.yaml"},
    "run": {"run FILE --seed 1": "pebbles.yaml", "run pebbles --seed 1 --with FILE": "none.yaml"},
    "simulate": {
        f"simulate FILE -j 1 {FEW} -o json": "pebbles.yaml",
        f"simulate pebbles -j 1 {FEW} --rows ROWS --resume": "rows.csv.part",
        f"simulate pebbles -j 1 {FEW} --rows FILE": "games.duckdb",
    },
    "test": {"test FILE": "scenario.yaml"},
    "verify": {f"verify FILE {FEW}": "pebbles.yaml"},
    "coverage": {"coverage FILE": "pebbles.yaml"},
    "build": {"build FILE OUT.wasm": "pebbles.yaml"},
    "rulebook": {"rulebook FILE": "pebbles.yaml"},
    "compare": {"compare FILE pebbles": "pebbles.yaml"},
    "tune": {f"tune weighed --for FILE --generations 1 --population 4 --check 2 -j 1 {FEW}": "pebbles.yaml"},
    "bench": {"bench pebbles --seconds 0.01 --rounds 1 --baseline FILE": "figures.json"},
    "new": {"new overlay little --for FILE --in OUT": "pebbles.yaml"},
}
"""Calls of each command that reads a file, each with the name of a good one."""
READ_NONE = {"list", "help", "serve", "studio", "engine", "lsp"}
"""They read folders, their own pages, an archive (below), and requests of other programs (in their own tests)."""
CALLS = [(call, name) for calls in READERS.values() for call, name in calls.items()]


def test_every_command_is_tried() -> None:
    assert {*READERS, *READ_NONE} == set(COMMANDS)


@shared
def good() -> dict[str, bytes]:
    """A good file of each kind, by its name."""
    root = ROOT / "pebbles"
    game = load(root / "pebbles.yaml").new_game(players=2, seed=1)
    log: list[str] = []
    while game.decision is not None:
        game.apply(game.decision.options[0])
    write_log(game, log.append)
    head = "language: 2\nscenarios: pebbles/few\nis:\n"
    scenario = f"{head}  - {{name: a, ruleset: pebbles, players: 2, then: [count(seats) == 2]}}\n"
    return {
        **{path.name: path.read_bytes() for path in sorted(root.rglob("*.yaml"))},
        "game.jsonl": "".join(log).encode(),
        "save.json": game.to_json().encode(),
        "scenario.yaml": scenario.encode(),
        "none.yaml": b"language: 2\noverlay: pebbles/none\nover: [pebbles]\n",
        "statements.csv": b"id,book,kind,phase,statement,reading,cites\nP-1,book,rule,pull,Pull one.,,\n",
        "rows.csv.part": made(f"simulate pebbles -j 1 {FEW} --rows OUT/rows.csv", "rows.csv.part"),
        "figures.json": made("bench pebbles --seconds 0.01 --rounds 1 --save OUT/figures.json", "figures.json"),
        "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        "zeros": bytes(64),
    }


def made(call: str, name: str) -> bytes:
    """What a command writes to a file of this name; a simulation leaves its checkpoint."""
    with TemporaryDirectory() as out, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "finish", lambda journal: None)
        words = call.replace("OUT", out).split()
        CliRunner().invoke(cli, words, env={"REGELWERK_PATH": str(ROOT)}, catch_exceptions=False)
        return (Path(out) / name).read_bytes()


def contents(name: str) -> Iterator[tuple[str, bytes]]:
    """Contents that are no good file of this name, most of them."""
    yield "empty", b""
    for other, content in good().items():
        if other != name:
            yield other, content
    whole = good().get(name, b"")
    for eighth in range(1, 8):
        yield f"cut to {eighth}/8", whole[: len(whole) * eighth // 8]
    yield "without its end", whole[:-2]
    yield "utf-16", whole.decode().encode("utf-16")
    for text in ("null", "[]", "[" * 5000, "1e999", '"text"', '{"log": 1}', '{"save": 1, "choices": [null]}'):
        yield text[:40], text.encode()
    if name == "figures.json":
        for changed in others(json.loads(whole)):
            yield json.dumps(changed), json.dumps(changed).encode()
    if name.endswith((".jsonl", ".part")):
        lines = whole.splitlines()
        for number in {0, 1, len(lines) - 1} & set(range(len(lines))):
            for changed in (*others(json.loads(lines[number])), {}):
                line = json.dumps(changed)
                yield f"line {number}: {line}", b"\n".join([*lines[:number], line.encode(), *lines[number + 1 :]])
    if name == "game.jsonl":
        for changed in others(json.loads(good()["save.json"])):
            yield f"a save: {json.dumps(changed)}", json.dumps(changed).encode()


def others(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The data with each value replaced by others, or left out."""
    for key in data:
        yield {name: value for name, value in data.items() if name != key}
        for value in (None, -1, 10**30, 0.5, True, "", "x", [], [None], {}, {"x": [1]}):
            yield {**data, key: value}


class Folder:
    """A folder with one file, which commands are called with."""

    def __init__(self, folder: Path, name: str) -> None:
        place = "pebbles/overlays" if name == "none.yaml" else ""
        self.folder, self.file = folder, folder / place / name
        self.file.parent.mkdir(parents=True, exist_ok=True)

    def call(self, call: str) -> Result:
        places = {"FILE": self.file, "ROWS": self.folder / "rows.csv", "OUT": self.folder / "out"}
        words = call.split()
        for word, path in places.items():
            words = [each.replace(word, str(path)) for each in words]
        result = CliRunner().invoke(cli, words, input="", prog_name="regelwerk")
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        return result


def told(result: Result, file: Path, what: str) -> None:
    """The command ends without a traceback; if it fails because of the file, it names it, or a place in it."""
    error = result.exception
    assert error is None or isinstance(error, SystemExit), f"{what}: {error!r}"
    said = result.output
    places = [file.name, file.name.removesuffix(".part"), "at choice", "differs:", "`pebbles`"]
    places += ["nothing was compared", "figures worse"]  # it was a good report
    assert result.exit_code == 0 or any(place in said for place in places), f"{what}: {said}"


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small rulesets, of which the figures are measured once."""
    monkeypatch.setenv("REGELWERK_PATH", str(ROOT))
    measure, figures = throughput.Subject.sample, dict[str, throughput.Sample]()

    def remembered(subject: throughput.Subject, seconds: float) -> throughput.Sample:
        return figures.get(subject.title) or figures.setdefault(subject.title, measure(subject, seconds))

    monkeypatch.setattr(throughput.Subject, "sample", remembered)


@pytest.mark.slow
@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(("call", "name"), CALLS, ids=[call for call, _ in CALLS])
def test_a_file_that_is_none_of_the_kind_is_named(tmp_path: Path, call: str, name: str) -> None:
    folder = Folder(tmp_path, name)
    for what, content in contents(name):
        folder.file.write_bytes(content)
        told(folder.call(call), folder.file, what)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(("call", "name"), CALLS, ids=[call for call, _ in CALLS])
def test_a_folder_or_a_locked_file_is_named(tmp_path: Path, call: str, name: str) -> None:
    folder = Folder(tmp_path, name)
    folder.file.write_bytes(b"")
    told(folder.call(call), folder.file, "empty")
    folder.file.chmod(0)
    if not os.access(folder.file, os.R_OK):  # the superuser reads everything
        told(folder.call(call), folder.file, "locked")
    folder.file.unlink()
    folder.file.mkdir()
    told(folder.call(call), folder.file, "a folder")


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(("call", "name"), [each for each in CALLS if each[1] in good()], ids=str)
def test_a_byte_order_mark_does_not_matter(tmp_path: Path, call: str, name: str) -> None:
    folder = Folder(tmp_path, name)
    folder.file.write_bytes(good()[name])
    whole = folder.call(call)
    folder.file.write_bytes("\ufeff".encode() + good()[name])
    marked = folder.call(call)
    assert marked.exit_code == whole.exit_code or call.startswith(("fmt", "bench")), marked.output  # times differ
    assert len(marked.output.splitlines()) == len(whole.output.splitlines()) or call.startswith(("fmt", "bench"))


PLACES = {
    "statements/book.csv": "statements.csv",
    "waivers.yaml": "family.yaml",
    "policies/more.yaml": "weighed.yaml",
    "words/de.yaml": "family.yaml",
    "scenarios/few.yaml": "scenario.yaml",
    "maps/shore.yaml": "family.yaml",
}


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_a_file_that_is_none_beside_a_ruleset_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    shutil.copytree(ROOT, tmp_path / "root")
    monkeypatch.setenv("REGELWERK_PATH", str(tmp_path / "root"))
    (tmp_path / "root/pebbles/policies/others.yaml").unlink()  # it has errors
    file = tmp_path / "root/pebbles" / place
    file.parent.mkdir(exist_ok=True)
    folder = Folder(tmp_path, "unused")
    for what, content in contents(PLACES[place]):
        file.write_bytes(content)
        for call in (f"validate {tmp_path}/root", "run pebbles --seed 1", "coverage pebbles", "test pebbles"):
            told(folder.call(call), file, f"{call}: {what}")


def test_an_archive_that_is_none_is_named(tmp_path: Path) -> None:
    archive = pytest.importorskip("interpreter.serve.archive")
    file = tmp_path / "tables"
    for what, content in contents("game.jsonl"):
        file.write_bytes(content)
        try:
            archive.Store(file).close()
        except archive.StoreError as error:
            assert str(file) in str(error), what
        for path in tmp_path.iterdir():
            path.unlink()
