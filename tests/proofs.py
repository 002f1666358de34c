"""Which statements of an overlay scenarios prove on each board: a part of it that is made wrong there fails one.

The suite proves some combinations (`tests/rulesets/test_matrix.py`). All of them take minutes:

    python -m tests.proofs
    python -m tests.proofs --overlay power-grid/konzern usa-2018 japan-2018
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import interpreter
from interpreter.engine.citations import citations_of
from interpreter.engine.game import Ruleset
from interpreter.reading.files import shelf_for
from interpreter.testing.mutation import prove
from interpreter.testing.suite import Suite, suite_of
from tests import matrix


class Unproved(NamedTuple):
    """The statements of an overlay on a board: how many its parts cite there, and those that no scenario proves."""

    cited: int
    left: frozenset[str]


@cache
def scenarios() -> Suite:
    return suite_of(shelf=shelf_for(None))


def pairs() -> Iterator[tuple[str, str]]:
    """Yield each overlay with each ruleset that takes it."""
    return ((overlays[0], ruleset) for ruleset, overlays in matrix.combinations() if len(overlays) == 1)


ONLY_ON = {
    "RB-017": {"bsw-baden-wuerttemberg", "bsw-france", "bsw-germany", "bsw-italy", "bsw-usa"},  # where money is hidden
    "RB-030": {"central-europe-2004", "spain-portugal-2004", "uk-ireland-2004"},  # countries without nuclear power
}
"""Statements whose parts make no difference on any other board."""


def unproved(overlay: str, ruleset: str) -> Unproved:
    """Try to prove the statements of an overlay on a board, with each number of players."""
    cited, left = set[str](), set[str]()
    for form in _forms(interpreter.load(ruleset, [overlay])):
        ids = {id for each in citations_of(form) if each.file == overlay for id in each.cites}
        ids = {id for id in ids if ruleset in ONLY_ON.get(id, {ruleset})}
        left |= ids - cited
        cited |= ids
        left -= prove(form, scenarios(), left & ids)
    return Unproved(len(cited), frozenset(left))


def _forms(loaded: Ruleset) -> list[Ruleset]:
    """Return a ruleset as each number of players plays it."""
    numbers = range(loaded.players.low, loaded.players.high + 1)
    seated = [loaded, *map(loaded.for_players, numbers)]
    return list({form.overlays: form for form in seated}.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rulesets", nargs="*", help="all rulesets where none is named")
    parser.add_argument("--overlay", help="only this overlay")
    arguments = parser.parse_args()
    failed = False
    for overlay, ruleset in sorted(pairs()):
        if arguments.overlay in (None, overlay) and (not arguments.rulesets or ruleset in arguments.rulesets):
            began = time.perf_counter()
            found = unproved(overlay, ruleset)
            failed |= bool(found.left)
            left = f", not {', '.join(sorted(found.left))}" if found.left else ""
            proved = found.cited - len(found.left)
            print(
                f"{ruleset} with {overlay}: {proved} of {found.cited}{left} ({time.perf_counter() - began:.1f} s)",
                flush=True,
            )
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
