"""Time from a key to diagnostics in an editor: ``python -m tests.editor.pace FILE``.

Not part of the suite. Characters of a comment and of a rule are typed into the file, and after each one the desk checks
it as the language server does. Seconds are CPU time: until the findings of the file, of the first ruleset that contains
it, and of all of them. Keys after which the file is no YAML are left out: they take less.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import quantiles
from time import process_time

from interpreter.editor.workspace import Desk

KEYS = "# a sentence that somebody types above a rule"
TYPED = "\n  typed: {is: 3 + 4 * 12 - 100}\n"


def paces(path: Path) -> list[list[float]]:
    """Return the CPU times of each key: until each yield of the check."""
    desk, text = Desk(), path.read_text(encoding="utf-8")
    end = text.index("\nrules:") + len("\nrules:")
    times = []
    for typed in [*(KEYS[:number] for number in range(len(KEYS))), *(TYPED[:number] for number in range(len(TYPED)))]:
        desk.write(path, f"{text[:end]} {typed}{text[end:]}" if typed[:1] == "#" else text[:end] + typed + text[end:])
        start = process_time()
        steps = [process_time() - start for _ in desk.check(path)]
        if len(steps) > 1:
            times.append(steps)
    return times[1:]


if __name__ == "__main__":
    found = paces(Path(sys.argv[1]).resolve())
    for name, place in (("the file", 0), ("the first ruleset", 1), ("all rulesets", -1)):
        cuts = [1000 * cut for cut in quantiles((times[place] for times in found), n=20)]
        print(f"{name:18} median {cuts[9]:5.0f} ms, 95th percentile {cuts[18]:5.0f} ms, of {len(found)} keys")
