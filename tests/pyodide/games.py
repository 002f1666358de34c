"""Many games in a module, as a digest: a program that says the same wherever it runs."""

from __future__ import annotations

import json
import sys
from hashlib import sha256

from interpreter.bots.registry import bots_of
from interpreter.loading.load import load
from interpreter.simulate.simulation import simulate


def main(name: str, players: str, bots: str, games: str) -> None:
    ruleset = load(name).for_players(int(players))
    runner = ruleset.table(int(players), ruleset.settings({})).runner
    runner.patience = 0  # else few games on a slow machine would be over before a module is due
    digest = sha256()
    for row in simulate(ruleset, bots_of(bots, ruleset, int(players)), int(games)):
        digest.update(json.dumps(row.as_dict(), sort_keys=True).encode())
    print(json.dumps({"digest": digest.hexdigest(), "compiled": runner.compiled is not None}))


if __name__ == "__main__":
    main(*sys.argv[1:])
