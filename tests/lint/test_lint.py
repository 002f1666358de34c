"""Lint tells what was copied, wherever in a family, and nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from textwrap import indent

import pytest

from interpreter.base.diagnostics import Diagnostic, RulesetError
from interpreter.lint.checks import lint
from interpreter.lint.compositions import compositions
from interpreter.lint.duplicates import SMALLEST
from interpreter.reading.files import Shelf

POND = Path(__file__).parents[1] / "bad" / "_base"
RULESET = "language: 2\nruleset: {0}\ntitle: Pond\nfamily: pond\nedition: pond/{0}\nmap: pond/{1}\ndeck: pond/winds\n"
TAXED = "(who) -> int: 2 * score(who) + who.shells - water"
NAMES = "names: {a: int, other: seat}\n"
HUNGRY = "() -> bool: swamp[gnat] + 1 < buffet[gnat]"


def found(root: Path, files: Mapping[str, str] | None = None, **overlays: str) -> list[Diagnostic]:
    """What lint finds in the pond with more files, whole ones by their path and overlays by their name."""
    shutil.copytree(POND, root, dirs_exist_ok=True)
    (root / "pond" / "overlays").mkdir(exist_ok=True)
    heads = {name: f"language: 2\noverlay: pond/{name}\nover: [pond]\n" for name in overlays}
    for path, text in {
        **(files or {}),
        **{f"overlays/{name}": heads[name] + overlays[name] + NAMES for name in heads},
    }.items():
        (root / "pond" / f"{path}.yaml").write_text(text, encoding="utf-8")
    return lint(compositions(Shelf([root])))


def rule(name: str, text: str, form: str = "is") -> str:
    head, _, body = text.partition(":")
    return f"rules:\n  {name}{head}:\n    {form}: |\n      {body.strip()}\n"


def pair(root: Path, first: str, second: str, form: str = "is") -> list[tuple[str, str]]:
    """What is found where two overlays, which are never loaded together here, have a rule each."""
    findings = found(root, one=rule("former", first, form), two=rule("latter", second, form))
    return [(finding.code, finding.message) for finding in findings]


SAME = [("L001", "`latter` duplicates `former` of `pond/one`")]


def test_equal_rules_are_told_with_both_places(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, one=rule("former", TAXED), two=rule("latter", TAXED))
    assert (finding.code, finding.message) == SAME[0]
    assert str(finding.span) == "pond/overlays/two.yaml:5:3"
    assert [str(note.span) for note in finding.notes] == ["pond/overlays/one.yaml:5:3"]


def test_names_of_locals_and_citations_do_not_matter(tmp_path: Path) -> None:
    first = """(who):
      let bound = max(s.shells for s in seats)
      require who.shells < bound and water > 1    cites P-02"""
    second = first.replace("who", "other").replace("bound", "limit").replace("s.shells for s", "x.shells for x")
    assert pair(tmp_path, first, second.replace("P-02", "P-03"), "permits") == SAME


@pytest.mark.parametrize(
    ("first", "second", "differ"),
    [
        (TAXED, TAXED.replace("2 *", "3 *"), "`3` for `2`"),
        (HUNGRY, HUNGRY.replace("gnat", "midge"), "`midge` for `gnat`"),
        (
            "() -> int: 1 + 2 * (3 + 4 * (5 + water))",
            "() -> int: 2 + 3 * (4 + 5 * (5 + water))",
            "`2` for `1`, `3` for `2`, `4` for `3`, `5` for `4`",
        ),
    ],
)
def test_rules_that_differ_in_constants_only(tmp_path: Path, first: str, second: str, differ: str) -> None:
    message = f"`latter` equals `former` of `pond/one` except for constants: {differ}"
    assert pair(tmp_path, first, second) == [("L002", message)]


@pytest.mark.parametrize(
    "second",
    [
        TAXED.replace("+", "-"),
        TAXED.replace("shells", "frogs"),
        TAXED.replace("2", "water"),
        TAXED.replace("score(who)", "total(who.belly)"),
        f"{TAXED} + 1",
        TAXED.replace("-> int", "-> int?"),
    ],
)
def test_rules_of_another_structure_are_silent(tmp_path: Path, second: str) -> None:
    assert pair(tmp_path, TAXED, second) == []


def test_small_rules_are_silent(tmp_path: Path) -> None:
    """A sum of ``n`` parameters has ``2 n - 1`` nodes, a minus before it is one more."""
    assert SMALLEST == 8
    small = "(a) -> int: a + a + a + a"
    assert pair(tmp_path, small, small) == []
    assert pair(tmp_path, small.replace("a +", "-a +", 1), small.replace("a +", "-a +", 1)) == SAME


def test_kept_blocks_are_looked_into(tmp_path: Path) -> None:
    text = """(who):
      move 1 from who.shells to bank
      at end of phase:
        if water > 2:
          move 1 from bank to who.shells"""
    assert pair(tmp_path, text, text, "does") == SAME
    (other,) = pair(tmp_path, text, text.replace("> 2", "> 1"), "does")
    assert other == ("L002", "`latter` equals `former` of `pond/one` except for constants: `1` for `2`")
    assert pair(tmp_path, text, text.replace("> 2", "< 2"), "does") == []


def test_a_layer_that_repeats_what_it_covers(tmp_path: Path) -> None:
    text = "(who) -> int: count(p in pad where in_play(p) and any(place in p.places where sits(who, place)))"
    (finding,) = found(tmp_path, one=rule("score", text).replace("    is", "    replaces: pond\n    is"))
    assert finding.message == "`score` duplicates `score` of `pond`"
    guarded = rule("score", text).replace("    is", "    replaces: pond\n    when: water > 1\n    is")
    assert found(tmp_path, one=guarded) == []


def test_triggers_and_standing_rules(tmp_path: Path) -> None:
    """With what they wait for: the same done at another time is another rule."""
    text = """triggers:
  {0}:
    on: blew(card) where card is {1}
    does: |
      for each who in seats where who.shells > {2}:
        move 1 from who.shells to bank
"""
    (finding,) = found(tmp_path, one=text.format("former", "storm", 3), two=text.format("latter", "storm", 4))
    assert finding.message == "`latter` equals `former` of `pond/one` except for constants: `4` for `3`"
    assert found(tmp_path, one=text.format("former", "storm", 3), two=text.format("latter", "weather", 3)) == []
    text = """standing:
  {0}:
    for: who in seats where who.shells > {1}
    does: |
      move 1 from who.shells to bank
"""
    (finding,) = found(tmp_path, one=text.format("former", 30), two=text.format("latter", 40))
    assert finding.message == "`latter` equals `former` of `pond/one` except for constants: `40` for `30`"


def test_of_several_twins_the_one_that_is_equal(tmp_path: Path) -> None:
    other = TAXED.replace("2 *", "3 *")
    findings = found(tmp_path, one=rule("former", TAXED), two=rule("latter", other), zero=rule("third", other))
    assert [finding.message for finding in findings] == [
        "`latter` equals `former` of `pond/one` except for constants: `3` for `2`",
        "`third` duplicates `latter` of `pond/two`",
    ]


def test_editions_and_maps_of_other_rulesets(tmp_path: Path) -> None:
    """What is meant counts, not its number: the first node of each map is another one."""
    lake = (POND / "pond/maps/lake.yaml").read_text(encoding="utf-8")
    lake += rule("sheltered", '(who) -> bool: any(p in "Reed".places where sits(who, p)) and water > 1')
    edition = "language: 2\nedition: pond/{}\nextends: pond\nplayers: 2\n" + rule("tax", TAXED)
    files = {
        "spring": RULESET.format("spring", "bog"),
        "editions/classic": edition.format("classic"),
        "editions/spring": edition.format("spring"),
        "maps/lake": lake,
        "maps/bog": lake.replace("pond/lake", "pond/bog").replace("Reed", "Fern"),
    }
    findings = found(tmp_path, files)
    assert [finding.message for finding in findings] == [
        "`tax` duplicates `tax` of `pond/classic`",
        "`sheltered` equals `sheltered` of `pond/lake` except for constants: `Fern` for `Reed`",
    ]


def test_errors_are_mended_first(tmp_path: Path) -> None:
    with pytest.raises(RulesetError, match="E301"):
        found(tmp_path, one=rule("former", "() -> int: wtaer"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "move 12 from bank to seats[0].shells",
            ["12 occurs in `prepare`: an overlay can change it only"],
        ),
        ("if water > 12:\n        water = 9", ["12 occurs in `prepare`"]),
        ("if water == 12:\n        water = 9", []),  # the name of a thing
    ],
)
def test_a_number_in_the_text_of_a_procedure(tmp_path: Path, text: str, told: list[str]) -> None:
    prepare = f"rules:\n  prepare:\n    wraps: pond\n    does: |\n      base()\n      {text}\n"
    findings = [finding for finding in found(tmp_path, one=prepare) if finding.code == "L007"]
    assert [finding.message[: len(start)] for finding, start in zip(findings, told, strict=True)] == told


def test_a_copy_that_brings_back_what_another_file_replaced_is_silent(tmp_path: Path) -> None:
    score = "count(p in pad where in_play(p) and any(place in p.places where sits(who, place)))"
    layer = "rules:\n  score:\n    replaces: {}\n    is: |\n      {}\n"
    edition = "language: 2\nedition: pond/dry\nextends: pond/classic\n" + layer.format("pond", "1")
    files = {"editions/dry": edition, "dry": RULESET.format("dry", "lake")}
    above = f"overlay: pond/wet\nover: [pond/dry]\n{layer.format('pond/dry', score)}"
    assert [d.code for d in found(tmp_path, {**files, "overlays/wet": f"language: 2\n{above}"})] == []


def test_a_verdict_that_refuses_nothing_is_silent(tmp_path: Path) -> None:
    """`require yes` alone says so; beside another line it is left over."""
    plain = "(who, place): require yes"
    swims = rule("may_leap", plain, "permits")
    uses = "  hop:\n    wraps: pond\n    when: all(may_leap(seats[0], p) for p in lily.places)\n    does: base()\n"
    uses = uses.replace("lily", "first(pad)")
    assert [finding.code for finding in found(tmp_path / "one", one=swims + uses)] == []
    twice = rule("may_leap", plain + "\n      require who.shells > 1", "permits")
    assert [finding.code for finding in found(tmp_path / "two", one=twice + uses)] == ["L004"]


@pytest.mark.parametrize("never", ["no", "1 > 2"])
def test_a_condition_outside_of_rules_that_never_holds(tmp_path: Path, never: str) -> None:
    sections = {
        "round": "round: [wind, {{phase: hop, when: {}}}]\n",
        "standing": "standing: {{calm: {{whenever: {}, does: end game}}}}\n",
        "boards": "boards: {{calm: {{when: end of game, if: {}, says: calm}}}}\n",
        "table": "table: {{calm: {{if: {}, rows: who in seats, columns: {{who: who}}}}}}\n",
        "triggers": "triggers: {{calm: {{on: 'leapt(who, to) where {}', does: end game}}}}\n",
    }
    for name, section in sections.items():
        findings = found(tmp_path / name, one=section.format(never))
        assert [(each.code, each.span and each.span.text) for each in findings] == [("L004", never)], name
        assert [each.code for each in found(tmp_path / f"{name}_at_times", one=section.format("round > 2"))] == []


GUESTS = """\
kinds: {side: [loyal, eel]}
zones:
  pile: {of: card, order: kept}
seats:
  has:
    badge: {value: side, start: loyal, seen: owner}
    hand: {zone: card, order: kept, seen: owner}
    store: {zone: card, order: kept, seen: owner}
    met: {value: list of seat, start: [], seen: owner, count: COUNT}
    chief: {value: seat?, seen: owner}
"""
EACH = "for each who in seats:\n"
EELS = "for each who in seats where who.badge == eel:\n"
COUNTED = "everybody sees how many are in `{}`, and something hidden decides that"


@pytest.mark.parametrize(
    ("text", "group"),
    [
        (f"{EELS}  add seats[0] to who.met", "met"),
        (f"{EELS}  who.met = [s in seats where s.badge == eel]", "met"),
        ("let eels = [s in seats where s.badge == eel]\nfor each who in seats:\n  who.met = eels", "met"),
        ("for each who in seats:\n  who.met = friends_of(who)", "met"),
        ("for each who in seats:\n  if who.badge == eel:\n    greet(who)", "met"),
        (f"{EELS}  move first(sky) to who.hand", "hand"),
        ("for each who in seats:\n  move [c in who.hand where c is storm] to who.store", "store"),
        ("let who = first(s in seats where s.badge == eel)\nmove first(sky) to who.hand", "hand"),
        (f"{EELS}  who.chief = seats[0]", "chief"),
        ("for each who in seats:\n  who.chief = first(s in seats where s != who and s.badge == eel)", "chief"),
    ],
)
def test_a_public_number_that_something_hidden_decides_is_told(text: str, group: str, tmp_path: Path) -> None:
    message = COUNTED if group != "chief" else "everybody sees whether `{}` is none, and something hidden decides that"
    assert hosted(tmp_path, text, "shown") == [("L015", message.format(group))]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f"{EELS}  add seats[0] to who.met", "hidden"),
        ("for each who in seats:\n  who.met = take(2, [s in seats where s != who])", "shown"),
        ("for each who in seats:\n  let two = take(2, who.hand)\n  move two to who.store", "shown"),
        ("for each who in seats:\n  move rest(who.hand) to who.store", "shown"),
        ("for each who in seats:\n  move all of who.hand to who.store", "shown"),
        ("for each who in seats:\n  move [c in who.hand where c is storm] to pile", "shown"),
        (f"{EACH}  if who.badge == eel:\n    add who to who.met\n  else:\n    add seats[0] to who.met", "shown"),
        ("for each who in seats:\n  who.chief = seats[0] if who.badge == eel else who", "shown"),
        ("while any(c in take(1, sky) where c is storm) at most 9 times:\n  move first(sky) to seats[0].hand", "shown"),
    ],
)
def test_a_number_that_is_hidden_too_or_always_the_same_is_fine(text: str, count: str, tmp_path: Path) -> None:
    assert hosted(tmp_path, text, count) == []


def hosted(root: Path, text: str, count: str) -> list[tuple[str, str]]:
    """Return what is found about public numbers in an overlay with guests, some of whom are eels."""
    rules = f"rules:\n  prepare:\n    wraps: pond\n    does: |\n      base()\n{indent(text, '      ')}\n"
    rules += "  friends_of(who) -> list of seat: '[s in seats where s.badge == eel]'\n"
    rules += "  greet(who): {does: add who to who.met}\n"
    findings = found(root, one=GUESTS.replace("COUNT", count) + rules)
    return [(each.code, each.message) for each in findings if each.code == "L015"]
