"""What a name means: rules with their layers, tables and cells, statements, and everything that uses them."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from interpreter.cli.main import cli
from interpreter.engine.game import Ruleset
from interpreter.explain.cross_reference import Explanation, for_readers
from interpreter.explain.names import explain
from interpreter.loading.load import load
from tests.support import shared


@shared
def germany() -> Ruleset:
    return load("germany-2018")


def one(name: str) -> Explanation:
    (found,) = explain(germany(), name)
    return found


def test_a_rule_is_told_with_its_uppermost_layer_first() -> None:
    found = one("minimum_bid")
    assert found.kind == "rule"
    assert [part.file for part in found.parts] == ["power-grid/2018", "power-grid"]
    top, bottom = found.parts
    assert (top.covers, top.when) == ("wraps power-grid", "plant == discounted")
    assert bottom.text == "plant.number"
    assert {quote.id: quote.text for quote in top.cites}["GU-117"].startswith("The plant under the discount marker")
    assert dict(found.facts) == {"form": "is", "takes": "plant: plant", "gives": "int"}
    rules = {"rule `may_offer` (power-grid)", "rule `opening_bids` (power-grid)"}
    assert {use.what for use in found.uses} == {*rules, "mark `discount`", "words `refused.may_offer`"}


def test_the_lines_of_a_verdict_cite_too() -> None:
    (part,) = one("may_connect").parts
    assert {"GU-162", "GU-168"} <= {quote.id for quote in part.cites}
    assert dict(one("may_connect").facts)["takes"] == "who: seat, city: city"


def test_a_phase_and_the_set_up_say_so() -> None:
    assert dict(one("building").facts)["is"] == "phase 4 of the round"
    assert dict(one("prepare").facts)["is"] == "the set-up"


def test_what_is_said_to_lint_is_not_for_readers() -> None:
    text = "a  # lint: L007 it says so\n# lint: L006 it does\nb  # lint is not meant\n"
    assert for_readers(text) == "a\nb  # lint is not meant"


def test_a_table_and_one_of_its_cells() -> None:
    amended, printed = one("stage_2_cities").parts
    assert '{"2": 7}' in amended.text
    assert "players | 2  | 3 | 4 | 5 | 6" in printed.text
    cell = one("stage_2_cities[6]")
    assert dict(cell.facts)["value"] == "6"
    assert cell.uses == one("stage_2_cities").uses
    assert dict(one("resupply[3, coal, 2]").facts)["value"] == "5"


def test_each_layer_says_what_a_cell_is_in_it() -> None:
    def values(cell: str) -> list[str]:
        return [part.value for part in one(cell).parts]

    assert values("stage_2_cities[2]") == ["7", "10"]
    assert values("stage_2_cities[4]") == ["-", "7"]
    assert values("resupply[3, garbage, 2]") == ["2"]


def test_a_trigger_is_told_with_its_phases_and_what_raises_it() -> None:
    found = one("stage_3_turns_up")
    assert dict(found.facts)["event"] == "drew"
    assert {quote.id for quote in found.parts[0].cites} >= {"GU-233", "GU-237", "GU-240"}
    assert [use.what for use in found.uses] == ["rule `draw_plant` (power-grid)"]


def test_settings_interpretations_and_standing_rules() -> None:
    assert dict(one("regions").facts)["check"] == "may_play_in"
    assert dict(one("phase_out_begins").facts)["taken"] == "at_once"
    assert [use.what for use in one("phase_out_begins").uses] == ["rule `phase_out_uranium` (power-grid/2018)"]
    assert one("too_little_room").kind == "standing rule"
    assert "setting `regions`" in {use.what for use in one("may_play_in").uses}


def test_a_statement_is_told_with_what_cites_and_shows_it() -> None:
    found = one("GU-171")
    assert dict(found.facts)["book"] == "germany-usa-2018"
    uses = {use.what for use in found.uses}
    assert "rule `connection_cost` (power-grid)" in uses
    assert any(use.startswith("scenario `case B") for use in uses)


def test_a_name_may_mean_several_things() -> None:
    kinds = {found.kind for name in ("houses", "houses") for found in explain(germany(), name)}
    assert kinds == {"component", "belonging"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("minimum_bids", "did you mean `minimum_bid`?"),
        ("stage_2_city[4]", "did you mean `stage_2_cities`?"),
        ("stage_2_cities[4, 5]", "has the keys [players], got 2 keys"),
        ("stage_2_cities[9]", "has no cell [9]"),
        ("stage_2_cities[four]", "want a whole number"),
        ("resupply[3, cole, 2]", "did you mean `coal`?"),
    ],
)
def test_a_name_that_means_nothing_has_a_near_one(name: str, message: str) -> None:
    with pytest.raises(LookupError) as error:
        explain(germany(), name)
    assert message in str(error.value.args[0])


def test_the_command_tells_text_and_json() -> None:
    text = CliRunner().invoke(cli, ["explain", "germany-2018", "stage_2_cities[4]"])
    assert text.exit_code == 0
    assert "value  7" in text.output
    data = json.loads(CliRunner().invoke(cli, ["explain", "germany-2018", "minimum_bid", "-o", "json"]).output)
    assert data[0]["parts"][0]["file"] == "power-grid/2018"
    wrong = CliRunner().invoke(cli, ["explain", "germany-2018", "minimum_bids"])
    assert wrong.exit_code == 1


def test_the_command_for_scenarios() -> None:
    good = CliRunner().invoke(cli, ["test", "germany-2018", "-k", "case A"])
    assert (good.exit_code, good.stdout) == (0, "1 passed\n")  # with this ruleset alone
    assert good.stderr.endswith("scenarios that do not match `case A`\n")
    data = json.loads(CliRunner().invoke(cli, ["test", "-k", "GU-191", "-o", "json"]).output)
    assert (data["passed"], data["failed"]) == (2, 0)
    assert CliRunner().invoke(cli, ["test", "-k", "no such scenario"]).exit_code == 1


@pytest.mark.parametrize("statement", ["RB-FC-5b", "rb-fc-5B"])
def test_scenarios_are_found_by_a_statement_in_either_case(statement: str) -> None:
    assert CliRunner().invoke(cli, ["test", "germany-2004", "-k", statement]).stdout == "1 passed\n"


def test_the_command_for_coverage() -> None:
    found = CliRunner().invoke(cli, ["coverage", "--ruleset", "germany-2018", "-o", "json"])
    data, of_two_players = json.loads(found.output)
    assert (data["rulebook"], of_two_players["rulebook"]) == ("germany-usa-2018", "konzern-2018")
    assert found.exit_code == (1 if data["uncited"] or of_two_players["uncited"] else 0)
    assert CliRunner().invoke(cli, ["coverage", "--rulebook", "nothing"]).exit_code == 2
