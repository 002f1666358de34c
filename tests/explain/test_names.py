"""Every name that rules can use is explained, with every place that uses it, and words are found in sentences."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from interpreter.cli.main import cli
from interpreter.engine.citations import lowest_in_force
from interpreter.engine.game import Ruleset
from interpreter.explain.cross_reference import Explanation
from interpreter.explain.names import Lexicon, explain
from interpreter.language import core
from interpreter.language.builtins import FUNCTIONS, OWN_ATTRIBUTES, OWN_NAMES, OWN_TYPES, OWN_VALUES
from interpreter.language.declare import OWN_CALLS
from interpreter.language.resolve import MAKERS, NAMED_TYPES, Names
from interpreter.language.types import LINK, NODE, PLACE, SEAT, KindType, PieceType
from interpreter.language.walk import descendants
from interpreter.loading.load import load
from interpreter.reading.files import Shelf, shelf_for
from tests.support import shared


@shared
def lexicon(id: str) -> Lexicon:
    return Lexicon(load(id))


def told(name: str, id: str = "germany-2018") -> dict[str, Explanation]:
    return {found.kind: found for found in lexicon(id).explain(name)}


def usable(ruleset: Ruleset) -> Iterator[str]:
    """Yield every name that rules of a ruleset can use, from its model and the registries of the language."""
    model = ruleset.model
    yield from FUNCTIONS
    yield from OWN_CALLS
    for names in OWN_NAMES.values():
        yield from names
    yield from (*model.kinds, *model.card_kinds, *model.pieces, *model.roles, *model.records, *model.settings)
    yield from (*model.interpretations, *model.tables, *model.events, *model.phases, *model.triggers, *model.standing)
    yield from (name.partition(".")[2] or name for name in model.groups)
    yield from (name.partition("!")[0] for name in model.rules)
    for kind in model.kinds.values():
        yield from kind.members
    for card in model.card_kinds.values():
        yield from card.attributes
    for fields in (*model.records.values(), *(event.fields for event in model.events.values())):
        yield from fields
    for name in model.alternatives:
        yield from name.split(".")
    for row in model.cards:
        yield from [str(row.key)] if row.key is not None else []
    if model.graph is not None:
        yield model.graph.node
        yield from (*model.graph.attributes, *model.graph.link, *model.graph.place)
        yield from (row.name for row in model.graph.nodes)


@pytest.mark.parametrize("id", shelf_for().ids("ruleset"))
def test_every_name_that_rules_can_use_is_explained(id: str) -> None:
    names = lexicon(id)
    for name in dict.fromkeys(usable(names.ruleset)):
        explanations = names.explain(name)
        assert explanations, name
        assert {found.kind for found in explanations} != {"words"}, name
        assert all(found.facts or found.parts or found.uses for found in explanations), name


def used(ruleset: Ruleset) -> Iterator[tuple[str, core.Core]]:
    """Yield the names in checked rules, each with the expression or step that uses it."""
    model = ruleset.model
    rules = ruleset.composition.sections["rules"]
    bodies = [
        (layer.when, layer.body)
        for layer in ruleset.program.reach.procedures.values()
        if layer.layer >= lowest_in_force(ruleset, "rules", layer.rule, rules.get(layer.rule, []))
    ]
    tests = [trigger.test for trigger in model.triggers.values()]
    shown = (*model.boards, *model.panels, *model.measures)
    for node in descendants((*bodies, *tests, *model.groups.values(), *model.standing.values(), *shown)):
        match node:
            case core.CallRule(name) | core.TableCell(name) | core.SettingValue(name) | core.RoleSeat(name):
                yield name.partition("!")[0], node
            case core.Notes(event=name) | core.KindTest(kind=name):
                yield name, node
            case core.Cell(name) | core.Static(name):
                yield name.rpartition(".")[2], node
            case core.CallBuiltin(function) if function.name in FUNCTIONS:
                yield function.name, node
            case core.PlayerCount():
                yield "players", node
            case core.AllSeats() if node.span.text == "seats":
                yield "seats", node
            case core.Const() if re.fullmatch(r"[a-z_]+", node.span.text) and isinstance(node.type, KindType):
                yield node.span.text, node


@pytest.mark.parametrize("id", ["germany-2018", "bsw-baden-wuerttemberg", "outpost", "goofspiel", "quebec-2018"])
def test_every_use_is_listed(id: str) -> None:
    """What the checker has bound is what the explanation lists."""
    names, places = lexicon(id), dict[str, set[str]]()
    checked = 0
    for name, node in used(names.ruleset):
        span = node.span
        if not re.search(rf"\b{name}\b", span.text):  # made by the checker: for `links(x)`, `place.top`, `base`
            continue
        if name not in places:
            places[name] = {use.place for found in names.explain(name) for use in found.uses}
        lines = range(span.line, span.line + span.text.count("\n") + 1)
        assert places[name] & {f"{span.file.name}:{line}" for line in lines}, (name, str(span))
        checked += 1
    assert checked > (20 if id == "goofspiel" else 500)


@pytest.mark.parametrize("id", ["germany-2018", "outpost"])
def test_a_type_in_a_head_is_a_use(id: str) -> None:
    ruleset, checked = lexicon(id).ruleset, 0
    types = {*ruleset.model.kinds, *ruleset.model.card_kinds, *ruleset.model.records}
    for name, entries in ruleset.composition.sections["rules"].items():
        for entry in entries[lowest_in_force(ruleset, "rules", name, entries) :]:
            parameters, _, result = entry.head.text.partition("->") if entry.head is not None else ("", "", "")
            said = ruleset.model.names[ruleset.composition.family] | ruleset.model.names[entry.file]
            called = types.intersection(re.findall(r"\w+", parameters)) - said.keys()
            for kind in (*called, *types.intersection(re.findall(r"\w+", result))):
                place, what = f"{entry.span.file.name}:{entry.span.line}", f"rule `{name}` ({entry.file})"
                uses = [use for found in lexicon(id).explain(kind) for use in found.uses]
                assert (place, what) in {(use.place, use.what) for use in uses}, (kind, place)
                checked += 1
    assert checked > 10


def test_names_of_the_language_are_those_of_the_checker() -> None:
    assert set(OWN_TYPES) == {*NAMED_TYPES, *MAKERS}
    model = load("germany-2018").model
    names = Names(model)
    assert model.graph is not None
    printed = {model.graph.node, *model.graph.attributes, *model.graph.link, *model.graph.place}
    known = {name for type_ in (SEAT, PieceType(), NODE, PLACE, LINK) for name in names.attributes(type_)}
    assert set(OWN_ATTRIBUTES) == {*(known - printed), "piece", "top"}
    assert set(OWN_CALLS) == {*FUNCTIONS, "base"}
    assert all(about for names in OWN_NAMES.values() for about in names.values())


def test_kinds_members_pieces_and_the_word_for_a_node() -> None:
    coal = told("coal")["member of `resource`"]
    assert coal.parts[0].place.startswith("power-grid/family.yaml:")
    assert {"table `market_start`", "rule `no_tokens` (power-grid)"} <= {use.what for use in coal.uses}
    assert dict(told("resource")["kind of tokens"].facts)["is"] == "resource: coal, oil, garbage, uranium"
    city = told("city")["graph"]
    assert city.uses == told("graph")["graph"].uses
    assert "rule `may_connect` (power-grid)" in {use.what for use in city.uses}
    assert [use.what for use in told("house")["kind of pieces"].uses] == ["belonging `houses`"]
    assert "links" in {use.what for use in told("Essen")["node"].uses}
    assert (
        dict(told("13")["card of `plant`"].facts)["is"] == "plant 13 (number: 13, burns: nothing, needs: 0, cities: 1)"
    )
    assert "rule `storage` (power-grid)" in {use.what for use in told("needs")["attribute of `plant`"].uses}


def test_names_of_the_language() -> None:
    distance = told("distance")["function of the language"]
    assert dict(distance.facts)["call"] == "distance(nodes, node, nodes) -> int"
    assert [use.what for use in distance.uses] == ["rule `link_cost` (power-grid)"]
    assert dict(told("phase")["part of the language"].facts).keys() == {"value", "type"}
    assert "rule `draw_lots` (power-grid)" in {use.what for use in told("seats")["part of the language"].uses}
    assert told("round")["part of the language"].uses
    assert told("neighbours")["function of the language"].facts


def test_a_layer_that_is_replaced_uses_nothing() -> None:
    """Only what is in force counts."""
    ruleset = load("bsw-germany")
    replaced = [
        entries
        for entries in ruleset.composition.sections["rules"].values()
        if (covers := entries[-1].covers)
        and covers[0] == "replaces"
        and not entries[-1].get("when")
        and not entries[-1].guards
    ]
    assert replaced
    places = {use.place for name in OWN_VALUES for found in explain(ruleset, name) for use in found.uses}
    for below, above in ((entries[0], entries[-1]) for entries in replaced):
        span = below.value.span
        lines = range(span.line, span.line + span.text.count("\n") + 1)
        assert not places & {f"{span.file.name}:{line}" for line in lines}, (below.name, above.file)


OVERLAY = """\
language: 2
overlay: pond/NAME
over: [pond]
rules:
  extra(who) -> int: {is: "who.frogs"}
  RULE: {wraps: pond, is: "base(VALUES) + extra(who)"}
"""


def test_rules_of_one_name_in_two_files_are_two_meanings(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parents[1] / "bad" / "_base", tmp_path / "rulesets")
    (tmp_path / "rulesets/pond/overlays").mkdir()
    rules = {"one": ("score", "who"), "two": ("leap_cost", "who, place")}
    for name, (rule, values) in rules.items():
        text = OVERLAY.replace("NAME", name).replace("RULE", rule).replace("VALUES", values)
        (tmp_path / f"rulesets/pond/overlays/{name}.yaml").write_text(text, encoding="utf-8")
    ruleset = load("pond", ["pond/one", "pond/two"], Shelf([tmp_path / "rulesets"]))
    found = {each.parts[0].file: [use.what for use in each.uses] for each in explain(ruleset, "extra")}
    assert found == {f"pond/{name}": [f"rule `{rule}` (pond/{name})"] for name, (rule, _) in rules.items()}


# --- words


def test_words_are_found_in_rules_statements_and_sentences_the_best_first() -> None:
    function, words = lexicon("germany-2018").explain("clockwise")
    assert function.uses[0].what == "rule `bidding_order` (common/auction)"
    assert (words.kind, words.uses[0].place) == ("words", "germany-usa-2018")
    assert words.uses[0].what.startswith("GU-124: Bidding goes round the table clockwise")
    component, said = lexicon("germany-2018").explain("discount marker")
    assert component.name == "discount_marker"
    assert [use.what.partition(":")[0] for use in said.uses[:3]] == [
        "component `discount_marker`",
        "value of the state `discounted`",
        "GU-011",
    ]
    assert "event `marked`: The discount marker lies on plant {plant.number}" in {use.what for use in said.uses}


def test_a_phrase_comes_before_its_words_and_before_their_beginnings() -> None:
    (found,) = lexicon("germany-2018").explain("lowest number")
    texts = [use.what.casefold() for use in found.uses]
    stands = ["lowest number" in text for text in texts]
    assert stands == sorted(stands, reverse=True)
    (begun,) = lexicon("germany-2018").explain("auctio")
    assert all("auctio" in use.what.casefold() for use in begun.uses)


def test_what_nobody_says_has_a_near_name() -> None:
    for text, near in (
        ("resuply", "`resupply`"),
        ("cole", "`coal`"),
        ("neigbours", "`neighbours`"),
        ("minimum_bids", "`minimum_bid`"),
    ):
        with pytest.raises(LookupError, match=f"did you mean {near}"):
            lexicon("germany-2018").explain(text)
    with pytest.raises(LookupError, match="unknown name `qqq`"):
        lexicon("germany-2018").explain("qqq")


def test_the_command_tells_who_says_the_words() -> None:
    result = CliRunner().invoke(cli, ["explain", "germany-2018", "clockwise"])
    assert result.exit_code == 0
    assert "clockwise: function of the language" in result.output
    assert "said by\n  germany-usa-2018  GU-124: " in result.output
