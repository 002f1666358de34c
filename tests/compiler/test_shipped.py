"""Every shipped ruleset runs in the module with its policies, and every overlay on some ruleset; nothing is left to the
plain form."""

from __future__ import annotations

import pytest

from interpreter.bots.hidden_reads import groups_peeked
from interpreter.bots.registry import policies_for
from interpreter.compiler.codegen.module_builder import ModuleBuilder
from interpreter.compiler.wasm.assemble import built
from interpreter.loading.load import load
from interpreter.reading.files import shelf_for
from interpreter.reading.ruleset_files import can_have, ids_of, rulesets_of


def named() -> list[tuple[str, str, bool]]:
    """Every ruleset, alone or with one of the overlays that fit it, in turn, for its least or greatest number of
    players, in turn."""
    shelf = shelf_for()
    read = [shelf.read("overlay", id)[0] for id in shelf.ids("overlay")]
    found: list[tuple[str, str, bool]] = []
    fits: dict[str, str] = {}
    for number, ruleset in enumerate(rulesets_of(shelf)):
        files = {id for _, id in ids_of(shelf, ruleset)}
        fitting = ["", *(overlay.id for overlay in read if overlay is not None and can_have(files, overlay))]
        found.append((ruleset.id, fitting[number // 2 % len(fitting)], number % 2 == 0))
        fits.update((overlay, ruleset.id) for overlay in fitting)
    had = {overlay for _, overlay, _ in found}
    return found + [(ruleset, overlay, False) for overlay, ruleset in fits.items() if overlay not in had]


def test_every_overlay_has_its_turn() -> None:
    assert {overlay for _, overlay, _ in named()} == {"", *shelf_for().ids("overlay")}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "overlay", "few"), named())
def test_all_functions_are_built(name: str, overlay: str, few: bool) -> None:
    ruleset = load(name, [overlay] if overlay else [])
    number = ruleset.composition.players.low if few else ruleset.composition.players.high
    played = ruleset.for_players(number)
    machine = played.table(number, played.settings({})).machine
    for policy in policies_for(played).values():
        machine.learn(policy)
    builder = ModuleBuilder(machine)
    for policy in policies_for(played).values():
        for index, (_, end) in builder.decisions.asks.items():
            peeks = groups_peeked(played.model, policy, end.ask)
            builder.policies.choosing(policy, index, policy.name, peeks or ())
    built(builder)
    assert builder.left_out == {}
