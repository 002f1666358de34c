"""Every shipped ruleset runs in the module, with each overlay that fits it and with its policies; nothing is left to
the plain form."""

from __future__ import annotations

import pytest

from interpreter.bots.hidden_reads import peeks_of
from interpreter.bots.registry import policies_for
from interpreter.compiler.build.module_builder import ModuleBuilder
from interpreter.compiler.wasm.assemble import build
from interpreter.engine.ruleset import load
from interpreter.reading.files import shelf_for
from interpreter.reading.ruleset_files import can_have, ids_of, rulesets_of


def named() -> list[tuple[str, str]]:
    """Every ruleset, and each with every overlay that fits it."""
    shelf = shelf_for()
    read = [shelf.read("overlay", id)[0] for id in shelf.ids("overlay")]
    found = []
    for ruleset in rulesets_of(shelf):
        files = {id for _, id in ids_of(shelf, ruleset)}
        fitting = [overlay.id for overlay in read if overlay is not None and can_have(files, overlay)]
        found += [(ruleset.id, overlay) for overlay in ("", *fitting)]
    return found


@pytest.mark.parametrize(("name", "overlay"), named())
def test_all_functions_are_built(name: str, overlay: str) -> None:
    ruleset = load(name, [overlay] if overlay else [])
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
