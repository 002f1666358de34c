"""Lines of a log: what they cite."""

from __future__ import annotations

import interpreter as rules


def test_the_start_of_a_phase_cites_only_layers_whose_condition_holds() -> None:
    ruleset = rules.load("bsw-baden-wuerttemberg")

    def cited(**settings: str) -> tuple[str, ...]:
        lines = ruleset.new_game(players=3, seed=3, settings=settings).log()
        return next(line.cites for line in lines if line.name == "start of order")

    assert cited() == ("IT-068", "IT-069", "IT-070", "BW-027")
    assert cited(player_order_is_set="after_the_auction") == ("A-35",)
