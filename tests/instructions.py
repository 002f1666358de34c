"""Instructions, mispredicted branches and misses of the instruction cache a decision, in a simulated processor.

Not part of the suite; needs valgrind on x86-64. A module without the interpreter plays whole games. Figures are those
of 120 games less those of 20, so they are equal on every machine:

    python -m tests.instructions                                # compares with docs/performance.json
    python -m tests.instructions --save                         # writes them there; `bench --save` drops them
    python -m tests.instructions germany-2018 --bots sensible --functions apart

``--functions inlined`` tells which functions the instructions are in. ``--functions apart`` inlines nothing, so there
are more of them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from unittest.mock import patch

from wasmtime import wat2wasm

from interpreter.compiler.wasm import runtime_inliner
from interpreter.compiler.wasm.codec import Codec
from interpreter.compiler.wasm.standalone import standalone_module
from interpreter.loading.load import load
from interpreter.play.table_module import module_builder
from interpreter.simulate.throughput import Subject

__all__ = ["REPORT", "SUBJECTS", "Counts"]

REPORT = Path(__file__).resolve().parent.parent / "docs" / "performance.json"
PLAYERS = 4
FEW, MANY, MOST = 20, 120, 60
LIMIT = 0.02
"""Largest difference of a figure that is not called one."""
SUBJECTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("germany-2018", "bench", ()),
    ("germany-2018", "sensible", ()),
    ("outpost", "bench", ()),
    ("germany-2004", "bench", ("robots:2",)),
    ("india-2004", "bench", ()),
    ("manhattan-2018", "bench", ()),
)
CACHES = ("--cache-sim=yes", "--branch-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64")
WRITTEN = ("--dump-instr=yes", "--compress-pos=no", "--compress-strings=no")
PLAY = """
import struct, sys
from wasmtime import Config, Engine, Instance, Module, Store, wat2wasm
file, action, games, rows, row = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
config = Config()
config.target = "x86_64-unknown-linux-gnu"  # the same instructions on every machine
config.cranelift_opt_level = "speed"
for feature in ("sse3", "ssse3", "sse41", "sse42", "popcnt", "avx", "avx2", "bmi1", "bmi2", "lzcnt", "fma"):
    config.cranelift_flag_enable(f"has_{feature}")
engine = Engine(config)
if action == "compile":
    code = Module(engine, open(file, "rb").read()).serialize()
    open(file + ".code", "wb").write(code)
    raise SystemExit
store = Store(engine)
exports = Instance(store, Module.deserialize_file(engine, file + ".code"), []).exports(store)
exports["new_game"](store, 0)
exports["memory"].write(store, struct.pack("<" + f"q{row - 8}x" * games, *range(games)), rows)
exports["games"](store, games, 1_000_000, 0)
memory = exports["memory"].read(store, rows, rows + games * row)
print(sum(struct.unpack("<" + f"8xi{row - 12}x" * games, memory)))
print(next(line.split("-")[0] for line in open("/proc/self/maps") if " r-xp " in line and ".code" in line))
"""


class Counts(NamedTuple):
    """Figures of one decision."""

    instructions: float
    mispredicted: float
    instruction_misses: float
    kilobytes: float
    """Size of the machine code."""


class Module:
    """A module on disk, compiled for the simulated processor, with one policy on all seats."""

    def __init__(self, folder: Path, name: str, policy: str | None, overlays: tuple[str, ...]) -> None:
        parted = [overlay.partition(":") for overlay in overlays]
        seats = {overlay: int(number) for overlay, _, number in parted if number}
        with_ = [overlay for overlay, _, _ in parted]
        allowed = load(name, with_).composition.players
        players = min(max(PLAYERS, allowed.low), allowed.high)
        subject = Subject(name, players, policy, overlays=with_, settings=seats)
        self.title = f"{subject.title}, {subject.policy}"
        builder, bots = module_builder(subject.ruleset, subject.table, [subject.policy])
        first = Codec(builder).encode(subject.table.first, 0)
        builder.finish()
        text, numbers = standalone_module(builder, first, bots)
        self.file, self._rows = folder / "module.wasm", [str(numbers[part]) for part in ("rows", "row_bytes")]
        self.file.write_bytes(bytes(wat2wasm(text)))
        subprocess.run(self._command("compile", 0), check=True)

    def _command(self, action: str, games: int) -> list[str]:
        return [sys.executable, "-c", PLAY, str(self.file), action, str(games), *self._rows]

    def play(self, tool: str, games: int, *options: str) -> tuple[int, int, str]:
        """Play games under a tool of valgrind. Return the number of decisions, the address of the code and what the
        tool wrote."""
        out = self.file.with_suffix(".out")
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        valgrind = ["valgrind", f"--tool={tool}", f"--{tool}-out-file={out}", *CACHES, *options]
        done = subprocess.run(
            [*valgrind, *self._command("play", games)], env=environment, capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(done.stderr)
        decisions, address = done.stdout.split()
        return int(decisions), int(address, 16), out.read_text()

    def symbols(self) -> list[tuple[int, str]]:
        """Return where the functions of the module begin in its code, in order."""
        lines = subprocess.run(["nm", f"{self.file}.code"], check=True, capture_output=True, text=True).stdout
        found = re.findall(r"^(\w+) t (?:.*::)?(.*)$", lines, re.MULTILINE)
        return sorted((int(at, 16), name) for at, name in found)

    def size(self) -> int:
        """Return the bytes of the code."""
        headers = subprocess.run(["readelf", "-SW", f"{self.file}.code"], check=True, capture_output=True, text=True)
        found = re.search(r" \.text +\w+ +\w+ \w+ (\w+)", headers.stdout)
        assert found is not None
        return int(found[1], 16)


def measured(module: Module) -> Counts:
    totals: list[tuple[int, ...]] = []
    for games in (FEW, MANY):
        decisions, _, text = module.play("cachegrind", games)
        head, summary = (re.search(rf"^{word}: (.*)$", text, re.MULTILINE) for word in ("events", "summary"))
        assert head is not None
        assert summary is not None
        found = dict(zip(head[1].split(), map(int, summary[1].split()), strict=True))
        totals.append((decisions, found["Ir"], found["Bcm"] + found["Bim"], found["I1mr"]))
    decisions, *others = (many - few for few, many in zip(*totals, strict=True))
    instructions, mispredicted, misses = (round(number / decisions, 1) for number in others)
    return Counts(instructions, mispredicted, misses, round(module.size() / 1000, 1))


def by_function(module: Module) -> Iterator[tuple[str, float]]:
    """Yield functions with their instructions a decision, the most first."""
    runs = [_functions(module, games) for games in (FEW, MANY)]
    decisions = runs[1][0] - runs[0][0]
    runs[1][1].subtract(runs[0][1])
    for name, number in runs[1][1].most_common():
        yield name, number / decisions


def _functions(module: Module, games: int) -> tuple[int, Counter[str]]:
    """Return the number of decisions, and instructions by function of the module, or of the libraries that it calls."""
    decisions, base, text = module.play("callgrind", games, *WRITTEN)
    symbols, size = module.symbols(), module.size()
    names = [name for _, name in symbols]
    starts = [at for at, _ in symbols]
    counts = Counter[str]()
    outside, skips = "", False
    for line in text.splitlines():
        if line.startswith("fn="):
            outside = line[3:]
        elif line.startswith("0x") and not skips:
            at, _, number, *_ = line.split()
            place = int(at, 16) - base
            inside = 0 <= place < size
            counts[names[bisect_right(starts, place) - 1] if inside else f"({outside})"] += int(number)
        skips = line.startswith("calls=")  # the next line has the instructions of the callee
    return decisions, counts


def _line(title: str, counts: Counts) -> str:
    return f"{title:42}" + "".join(f"{number:13,.1f}" for number in counts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ruleset", nargs="?")
    parser.add_argument("--bots")
    parser.add_argument("--with", dest="overlays", action="append", default=[])
    parser.add_argument("--functions", choices=("inlined", "apart"))
    parser.add_argument("--save", action="store_true")
    arguments = parser.parse_args()

    subjects = [(arguments.ruleset, arguments.bots, tuple(arguments.overlays))] if arguments.ruleset else SUBJECTS
    report = json.loads(REPORT.read_text(encoding="utf-8"))
    known, differs = report.setdefault("instructions", {}), False
    print(f"{'a decision':42}{'instructions':>13}{'mispredicted':>13}{'cache misses':>13}{'code kB':>13}")
    for name, policy, overlays in subjects:
        with TemporaryDirectory() as folder:
            if arguments.functions:
                with ExitStack() as changed:
                    if arguments.functions == "apart":
                        inline = import_module("interpreter.compiler.passes.inline")
                        changed.enter_context(patch.multiple(inline, SMALL=0, ONCE=0))
                        changed.enter_context(patch.object(runtime_inliner, "SHORT", 0))
                    module = Module(Path(folder), name, policy, overlays)
                for function, number in list(by_function(module))[:MOST]:
                    print(f"  {number:10.1f}  {function}")
                continue
            module = Module(Path(folder), name, policy, overlays)
            now = measured(module)
        print(_line(module.title, now))
        before = Counts(**known[module.title]) if module.title in known else None
        if before is not None and not arguments.save:
            print(_line("  before", before))
            differs |= any(abs(new / old - 1) > LIMIT for new, old in zip(now, before, strict=True))
        known[module.title] = now._asdict()
    if arguments.save:
        REPORT.write_text(json.dumps(report, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    sys.exit(differs)


if __name__ == "__main__":
    main()
