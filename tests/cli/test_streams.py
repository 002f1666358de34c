"""Standard streams that are missing, as in services and cron jobs: every command does what it does with them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from interpreter.cli.main import COMMANDS
from tests.cli.test_process import ENVIRONMENT
from tests.support import shared

pytestmark = pytest.mark.skipif(os.name != "posix", reason="closes files by their numbers")

ARGUMENTS = {
    "list": "",
    "show": "pebbles",
    "new": "map town --for germany-2018 --in OUT/rulesets",
    "validate": "pebbles",
    "lint": "pebbles",
    "fmt": "--check LOG",
    "help": "E301",
    "run": "pebbles --seed 1",
    "replay": "LOG",
    "simulate": "pebbles -n 4 --seed 1 -o json",
    "whatif": "LOG --at 3 -n 2 --seed 1 --change most=2",
    "tune": "weighed --for pebbles --seed 1 --generations 1 --population 4 -n 2 --check 4 -j 1",
    "bench": "pebbles --seconds 0.01 --rounds 1 --save OUT/figures",
    "play": "pebbles --seed 1",
    "serve": "pebbles --port 0 --no-browser --data OUT/tables",
    "studio": "OUT --port 0 --no-browser --data OUT/tables",
    "try": "pebbles count(seats)",
    "test": "goofspiel",
    "verify": "pebbles --seed 1 -n 3",
    "coverage": "goofspiel",
    "map": "germany-2018 OUT/map.svg",
    "build": "pebbles OUT/pebbles.wasm",
    "rulebook": "pebbles",
    "compare": "pebbles goofspiel",
    "engine": "",
    "lsp": "",
    "explain": "pebbles pull",
}
"""Arguments of one call of each command. ``LOG`` is a saved game, ``OUT`` an empty folder."""
SERVERS = ("serve", "studio")
STREAMS = {"<&-": "no-stdin", ">&-": "no-stdout", "2>&-": "no-stderr", "<&- >&- 2>&-": "none"}


def test_every_command_is_tried() -> None:
    assert set(ARGUMENTS) == set(COMMANDS)


@shared
def log(folder: Path) -> Path:
    path = folder / "game.jsonl"
    subprocess.run([*PROGRAM, "run", "pebbles", "--seed", "1", "--log", str(path)], env=ENVIRONMENT, check=True)
    return path


PROGRAM = [sys.executable, "-m", "interpreter"]


def begun(command: str, closed: str, folder: Path, saved: Path) -> subprocess.Popen[str]:
    folder.mkdir()
    words = ARGUMENTS[command].replace("OUT", str(folder)).replace("LOG", str(saved)).split()
    return subprocess.Popen(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *PROGRAM, command, *words],
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in SERVERS])
def test_a_command_needs_no_standard_stream(
    command: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    saved = log(tmp_path_factory.getbasetemp())
    whole = begun(command, "", tmp_path / "whole", saved)
    others = {closed: begun(command, closed, tmp_path / name, saved) for closed, name in STREAMS.items()}
    out, err = whole.communicate(timeout=60)
    assert "Traceback" not in err
    for closed, running in others.items():
        got, said = running.communicate(timeout=60)
        assert "Traceback" not in got + said, closed
        assert running.returncode == whole.returncode, closed
        assert (got == "") if ">&-" in closed.split() else (len(got.splitlines()) == len(out.splitlines())), closed
        made = sorted(path.name for path in (tmp_path / STREAMS[closed]).rglob("*"))
        assert made == sorted(path.name for path in (tmp_path / "whole").rglob("*")), closed


@pytest.mark.slow
@pytest.mark.parametrize("command", SERVERS)
def test_a_server_needs_none_either(command: str, tmp_path: Path) -> None:
    pytest.importorskip("uvicorn")
    running = {closed: begun(command, closed, tmp_path / name, tmp_path) for closed, name in STREAMS.items()}
    for closed, process in running.items():
        tables, deadline = tmp_path / STREAMS[closed] / "tables", time.monotonic() + 60
        while not tables.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
    time.sleep(1)
    for closed, process in running.items():
        assert process.poll() is None, closed
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert "Traceback" not in out + err, closed
