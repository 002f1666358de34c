"""A book of a ruleset: whole, of one piece, with every rule and what it follows, and with nothing from elsewhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from interpreter.base.diagnostics import RulesetError
from interpreter.base.plurals import titled
from interpreter.cli.main import cli
from interpreter.compare.play_order import places_of
from interpreter.engine.game import Ruleset
from interpreter.loading.load import load
from interpreter.pages.html import html_of
from interpreter.pages.markdown import markdown_of
from interpreter.pages.page import Grid, Page, Section
from interpreter.pages.rulebook import rulebook_of
from tests.pages.reading import Read
from tests.support import shared

BOOKS = {
    "goofspiel": (),
    "outpost": (),
    "germany-2018": ("konzern", "start-cities"),
    "bsw-italy": (),
    "germany-2004": ("robots",),
}


@shared
def ruleset(id: str) -> Ruleset:
    return load(id, BOOKS[id])


@shared
def page(id: str) -> Page:
    return rulebook_of(ruleset(id))


@shared
def read(id: str) -> Read:
    return Read(html_of(page(id)))


def unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def test_the_front_names_the_layers_of_the_game_alone() -> None:
    """Words of other languages belong to every game and change no rule."""
    front = markdown_of(page("germany-2004")).partition("## ")[0]
    assert "Second edition (2004, text of 2006)" in front
    assert "Robots" in front
    assert "Deutsch" not in front


@pytest.mark.parametrize("id", BOOKS)
def test_links_lead_somewhere_and_nothing_comes_from_outside(id: str) -> None:
    found = read(id)
    assert [each for each, times in Counter(found.ids).items() if times > 1] == []
    assert set(found.links) <= set(found.ids)
    assert found.outside == []
    assert "url(" not in re.sub(r"url\(#", "", html_of(page(id)))


@pytest.mark.parametrize("id", BOOKS)
def test_contents_agree_with_headings(id: str) -> None:
    """Rules without a summary, statements or choices only serve others: the book has them, its contents do not."""
    left_out = {section.id for section in page(id).all_sections() if not section.is_listed}
    assert read(id).contents == [heading for heading in read(id).headings if heading[0] not in left_out]
    for name in (each.removeprefix("rule-") for each in left_out):
        layers = ruleset(id).model.rules[name].in_force
        assert not any(ruleset(id).own_cites(layer.cites) for layer in layers), name
        assert not any(entry.get("about") for entry in ruleset(id).composition.layers("rules", name)), name
    listed = re.findall(r"^ *- \[([^]]*)\]\(#([^)]*)\)$", markdown_of(page(id)), re.MULTILINE)
    assert [(target, unescaped(title)) for title, target in listed] == read(id).contents


def test_contents_name_rules_as_players_do() -> None:
    contents = dict(read("germany-2018").contents)
    assert contents["rule-cities_of"] == "Cities of a region"
    assert contents["table-end_cities"] == "Cities that end the game"
    assert contents["rule-minimum_bid"] == "Minimum bid"
    assert not any(title.endswith("in thought") for title in contents.values())
    dangling = re.compile(r"(?i)^(may|is|can|has) |\b(of|for|on|to|in|by|with|at|up)$")
    names = [(id.partition("-")[2], title) for book in BOOKS for id, title in read(book).contents if id[:5] == "rule-"]
    assert [title for name, title in names if title == titled(name) and dangling.search(title)] == []


def test_words_give_headings(tmp_path: Path) -> None:
    overlay = tmp_path / "goofspiel" / "overlays" / "calm.yaml"
    overlay.parent.mkdir(parents=True)
    overlay.write_text(
        "language: 2\noverlay: goofspiel/calm\ntitle: Calm\nover: [goofspiel/classic]\n\n"
        'says:\n  rules.award: "who wins the prize"\n',
        encoding="utf-8",
    )
    book = markdown_of(rulebook_of(load("goofspiel", [overlay.as_posix()])))
    assert "### Who wins the prize\n" in book
    assert "[who wins the prize](#rule-award)" in book
    overlay.write_text(overlay.read_text(encoding="utf-8").replace("award", "awards"), encoding="utf-8")
    with pytest.raises(RulesetError, match="unknown name `rules.awards`; did you mean `rules.award`"):
        load("goofspiel", [overlay.as_posix()])


@pytest.mark.parametrize("id", BOOKS)
def test_every_rule_is_told_once_with_what_it_follows(id: str) -> None:
    rules = ruleset(id).model.rules
    told = Counter(each.removeprefix("rule-") for each in read(id).ids if each.startswith("rule-"))
    assert told == Counter(rules.keys())
    cited = Counter(read(id).said)
    for name in rules:
        own = {cite for layer in ruleset(id).model.rules[name].in_force for cite in ruleset(id).own_cites(layer.cites)}
        assert own <= {cite for section, cite in cited if section == f"rule-{name}"}
    assert {key: times for key, times in cited.items() if key[0].startswith("rule-") and times > 1} == {}


def test_rules_stand_where_they_are_first_needed() -> None:
    places = places_of(ruleset("germany-2018").model)
    assert list(places) == [
        *("prepare", "order", "auction", "resources", "building", "bureaucracy"),
        *("triggers", "standing", "result", "others"),
    ]
    assert [topic.name for topic in places["building"]][:3] == ["building", "building_order", "build"]
    assert "minimum_bid" in {topic.name for topic in places["auction"]}
    assert "network" not in {topic.name for topic in places["building"]}  # the player order needs it before


def test_layers_of_a_rule_are_told_from_below() -> None:
    text = html_of(page("germany-2018"))
    told = text[text.index('id="rule-minimum_bid"') : text.index('id="rule-spending_limit"')]
    assert told.index("Power Grid") < told.index("Edition of 2018") < told.index("plant == discounted")
    assert told.index("The plant under the discount marker") > told.index("Edition of 2018")


def test_statements_are_those_of_the_books_that_are_followed() -> None:
    told = {cite.partition("-")[0] for _, cite in read("germany-2004").said}
    assert {"IT", "RB"} <= told
    assert not {"GU", "BW", "KZ"} & told


def tables(sections: Sequence[Section], id: str) -> list[Grid]:
    (found,) = [each for section in sections for each in section.sections if each.id == id]
    return [block for block in found.blocks if isinstance(block, Grid)]


def test_the_columns_for_so_many_players_are_marked() -> None:
    book = rulebook_of(load("germany-2018"), 4)
    (grid,) = tables(book.sections, "table-stage_2_cities")
    assert grid.columns == ("Players", "2", "3", "4", "5", "6")
    assert grid.marked_columns == {3}
    assert grid.rows == [("Cities", "7", "7", "7", "7", "6")]
    (grid,) = tables(book.sections, "table-resupply")
    assert grid.columns == ("Players", "Resource", "Stage 1", "2", "3")
    assert {grid.rows[row][0] for row in grid.marked_rows} == {"4"}


def test_how_long_a_link_is_and_which_places_a_node_has_are_told() -> None:
    book = markdown_of(rulebook_of(load(Path(__file__).parents[1] / "cases" / "ferries" / "ferries.yaml")))
    assert "The length of a link, from one end to the other: `none if link.ferry and from != link.from" in book
    assert "Its places: `jetty if node.small else berths`" in book
    assert "place.price" in book


def test_interpretations_that_were_set_are_in_force() -> None:
    found = load("germany-2018")
    book = markdown_of(rulebook_of(found, None, found.settings({"phase_out_begins": "next_round"})))
    assert "**Next round** – in force" in book
    assert "**Leaves** – in force" in book
    assert "**At once** – in force" not in book


def test_the_board_is_as_the_settings_leave_it() -> None:
    """Pale is what the settings leave out of play, and nothing that only chance would."""
    found = load("germany-2018")

    def pale(settings: dict[str, Any] | None) -> int:
        book = html_of(rulebook_of(found, 3, found.settings(settings) if settings else None))
        return book.count("#ecebe6")  # the ground under what is pale

    assert pale({"regions": ["blue", "red", "yellow"]}) > 0
    assert pale({"phase_out_begins": "next_round"}) == pale(None) == 0


def test_markdown_has_the_same_sections_and_links() -> None:
    text = markdown_of(page("germany-2018"))
    anchors = re.findall(r'<a id="([^"]+)"></a>', text)
    assert anchors == [section.id for section in page("germany-2018").all_sections()]
    plain = re.sub(r"```text.*?```|<svg.*?</svg>", "", text, flags=re.DOTALL)
    assert set(re.findall(r"\]\(#([^)]+)\)", plain)) <= set(anchors)
    assert plain.count("<details") == plain.count("</details>")
    for table in re.findall(r"(?:^\|.*\n)+", plain, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, table


def test_what_is_kept_is_told_in_words() -> None:
    holders = markdown_of(page("germany-2018")).partition("## Areas and state")[2].partition("## Settings")[0]
    assert "| **Discounted** | plant or none | nothing |" in holders
    assert "| **Phased out** | yes or no |" in holders
    assert "| **Stage** | number |" in holders


def test_words_of_a_ruleset_cannot_break_the_page(tmp_path: Path) -> None:
    folder = tmp_path / "goofspiel"
    folder.mkdir()
    source = Path(__file__).parents[2] / "rulesets" / "goofspiel"
    for path in source.rglob("*.yaml"):
        target = folder / path.relative_to(source)
        target.parent.mkdir(exist_ok=True)
        text = path.read_text(encoding="utf-8")
        target.write_text(text.replace("title: Goofspiel", "title: \"<script>alert('&')</script>\""), encoding="utf-8")
    found = Read(html_of(rulebook_of(load(folder / "goofspiel.yaml"))))
    assert "<script>alert('&')</script>" in found.words


def test_the_command_writes_by_suffix_and_to_stdout(tmp_path: Path) -> None:
    run = CliRunner().invoke
    book = tmp_path / "two.html"
    result = run(cli, ["rulebook", "germany-2018", str(book), "--players", "2", "--with", "start-cities"])
    assert (result.exit_code, result.stdout) == (0, "")
    assert "Konzern" in book.read_text(encoding="utf-8")
    assert run(cli, ["rulebook", "goofspiel"]).stdout.startswith("# Goofspiel\n")
    assert run(cli, ["rulebook", "goofspiel", "-o", "html"]).stdout.startswith("<!doctype html>\n")
    assert run(cli, ["rulebook", "goofspiel", "book.pdf"]).exit_code == 2
    wrong = run(cli, ["rulebook", "goofspiel", "--players", "9"])
    assert wrong.exit_code == 1
    assert "2 to 4 players" in wrong.stderr
