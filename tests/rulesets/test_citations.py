"""Rules cite the sentences that they carry out: those that once stood with another rule."""

from __future__ import annotations

import pytest

from interpreter.engine.citations import citations_of
from interpreter.loading.load import load
from interpreter.reading.files import shelf_for
from interpreter.reading.yaml import Mapping, Scalar
from interpreter.testing.coverage import waivers_of

CITED = [
    ("outpost", "OP-104", {"rules.sell", "rules.price_due", "rules.hand_over"}),  # how an auction ends
    ("outpost", "OP-105", {"state.waiting", "rules.sell_cards", "rules.nominate"}),  # who has won waits no more
    ("outpost", "OP-093", {"rules.draw_lots", "rules.order"}),  # the order of the first round
    ("outpost", "OP-099", {"rules.for_sale"}),  # what cannot be selected
    ("outpost", "OP-053", {"components.barriers"}),  # where they are laid
    ("germany-2004", "IT-013", {"components.summary_cards"}),
    ("germany-2004", "IT-045", {"settings.first_order", "rules.draw_lots", "lines.may_be_first_order"}),
    ("germany-2004", "IT-153", {"rules.refill_resource_market"}),  # an example of a refill: what is needed for it
    ("germany-2004", "IT-158", {"rules.refill"}),  # one of its kinds
    ("germany-2004", "IT-160", {"rules.refill_resource_market"}),  # what it comes to
]


@pytest.mark.parametrize(
    ("ruleset", "statement", "rules"), CITED, ids=lambda each: each if isinstance(each, str) else ""
)
def test_a_sentence_stands_with_the_rules_that_carry_it_out(ruleset: str, statement: str, rules: set[str]) -> None:
    found = {f"{each.section}.{each.name}" for each in citations_of(load(ruleset)) if statement in each.cites}
    assert found == rules


def test_the_reminders_of_outpost_are_waived_as_pieces() -> None:
    """Once the reason was a gap about something else."""
    found = [waiver.reason for waiver in waivers_of(shelf_for())[0] if waiver.id == "OP-053"]
    assert found == ["the barriers of OP-015 and OP-016 are reminders on the table"]


def test_the_number_of_summary_cards_is_the_printed_one() -> None:
    """The text counts five, though six may play."""
    entry = load("germany-2004").composition.layers("components", "summary_cards")[-1].value
    assert isinstance(entry, Mapping)
    count = entry["count"]
    assert isinstance(count, Scalar)
    assert count.text == "5"
