"""Every shipped ruleset runs in the module, with each overlay that fits it and with its policies; nothing is left to
the plain form."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from interpreter.base.diagnostics import RulesetError
from interpreter.bots.hidden_reads import peeks_of
from interpreter.bots.registry import policies_for
from interpreter.compiler.build.module_builder import ModuleBuilder
from interpreter.compiler.wasm.assemble import build
from interpreter.engine.ruleset import Ruleset, load

SHIPPED = Path(__file__).parents[2] / "rulesets"


@cache
def composed(name: str, overlay: str) -> Ruleset | None:
    """A ruleset with an overlay; none where they do not fit."""
    try:
        return load(name, [overlay] if overlay else [])
    except RulesetError:
        return None


def named() -> list[tuple[str, str]]:
    found = []
    for path in sorted(SHIPPED.glob("*/*.yaml")):
        if not any(line.startswith("ruleset:") for line in path.read_text(encoding="utf-8").splitlines()):
            continue
        overlays = sorted((path.parent / "overlays").glob("*.yaml"))
        fitting = ("", *(f"{path.parent.name}/{each.stem}" for each in overlays))
        found += [(path.stem, overlay) for overlay in fitting if composed(path.stem, overlay) is not None]
    return found


@pytest.mark.parametrize(("name", "overlay"), named())
def test_all_functions_are_built(name: str, overlay: str) -> None:
    ruleset = composed(name, overlay)
    assert ruleset is not None
    players = ruleset.composition.players
    for number in {players.low, players.high}:
        played = ruleset.for_players(number)
        machine = played.table(number, played.settings({})).machine
        for policy in policies_for(played).values():
            machine.learn(policy)
        builder = ModuleBuilder(machine.program, machine.constants, machine.resets)
        for policy in policies_for(played).values():
            for index, (_, end) in builder.decisions.asks.items():
                peeks = peeks_of(played.model, policy, end.ask.name)
                builder.policies.choosing(policy, index, policy.name, () if peeks.always else peeks.groups)
        build(builder)
        assert builder.left_out == {}
