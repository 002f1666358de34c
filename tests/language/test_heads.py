"""The head of a rule is its key: parameters have the types that `names` says, and layers repeat nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from interpreter.language.types import INT, NODE, SEAT, ListType
from tests.small import FAMILY, examined, loaded, outcome, write

RULES = """\
limit: 3
twice(n) -> int: 2 * n
best(them) -> seat?: |
  first(sorted(w in them by w.score, as listed))
growth(who, n) -> int:
  cites: []
  is: |
    let more = twice(n)
    return more if who.score < limit else n
may_grow(who, n):
  permits: |
    require growth(who, n) > 0
hue(town) -> colour: town.colour
grow(who, n):
  does: |
    who.score += growth(who, n)
"""
ACT = """\
for each turn who in seats:
  choose growing by who:
    take n in 1 .. 2 where may_grow(who, n) and best(seats) != none:
      grow(who, n)
      note said(count([t in town where hue(t) == red]))
if round == 3:
  end game
"""


def told(folder: Path, rules: str) -> list[tuple[str, str]]:
    diagnostics = examined(write(folder, rules=rules)).diagnostics
    return [(each.code, each.message) for each in diagnostics if each.severity == "error"]


def test_a_game_whose_rules_have_heads_is_played_in_both_forms(tmp_path: Path) -> None:
    assert outcome(write(tmp_path, ACT, RULES)) == "plays"


def test_parameters_have_the_types_of_their_names(tmp_path: Path) -> None:
    signatures = loaded(write(tmp_path, ACT, RULES)).model.signatures
    assert signatures["growth"].parameters == (("who", SEAT), ("n", INT))
    assert signatures["best"].parameters == (("them", ListType(SEAT)),)
    assert signatures["hue"].parameters == (("town", NODE),)
    assert signatures["limit"].constant


def test_a_layer_repeats_no_head_and_uses_the_names_of_the_rule_below(tmp_path: Path) -> None:
    path = write(tmp_path, ACT, RULES)
    overlay = tmp_path / "small" / "overlays" / "more.yaml"
    overlay.parent.mkdir()
    overlay.write_text(
        "language: 2\noverlay: small/more\nover: [small]\nnames: {n: colour}\nrules:\n"
        "  twice: {wraps: small, is: base(n) + n}\n  of_hue(n) -> int: 1 if n == red else 2\n"
        "  limit: {replaces: small, is: of_hue(blue)}\n",
        encoding="utf-8",
    )
    path.write_text(f"{path.read_text(encoding='utf-8')}overlays: [small/more]\n", encoding="utf-8")
    model = loaded(path).model
    assert [layer.parameters for layer in model.rules["twice"].layers] == [(("n", INT),)] * 2
    assert str(model.signatures["of_hue"].parameters[0][1]) == "colour"


@pytest.mark.parametrize(
    ("rule", "code", "message"),
    [
        ("f(z) -> int: 1", "E310", "the name `z` has no type"),
        ("f(n, n) -> int: n", "E501", "`n` is a parameter already"),
        ("f(n) -> inn: 1", "E305", "unknown type `inn`; did you mean `int`?"),
        ("f(n): {is: n}", "E310", "`f` needs a head with its result: `f(n) -> type:`"),
        ("f: {is: '(n: int) -> int: n'}", "E201", "got `:`, want "),
        ("'f(n: int) -> int': 1", "E106", "got the name `f(n: int) -> int`, want a name of lower-case words"),
        ("f(n -> int: 1", "E106", "got the name `f(n -> int`, want a name of lower-case words"),
    ],
)
def test_a_wrong_head_is_told(tmp_path: Path, rule: str, code: str, message: str) -> None:
    found = told(tmp_path, f"{rule}\n")
    assert [(each, text[: len(message)]) for each, text in found][:1] == [(code, message)]


@pytest.mark.parametrize(
    ("rule", "code", "message"),
    [
        ("f(n) -> int: 1 +", "E201", "got the end of the text, want a value"),  # its calls need no second error
        ("f: {wraps: small, is: base(n) + n}", "E502", "`f` wraps nothing: no file below declares it"),
    ],
)
def test_a_rule_that_cannot_be_checked_has_one_error(tmp_path: Path, rule: str, code: str, message: str) -> None:
    assert told(tmp_path, f"{rule}\n") == [(code, message)]


def test_the_calls_of_a_rule_whose_text_cannot_be_read_are_checked(tmp_path: Path) -> None:
    rules = "f(n) -> int: 1 +\ng() -> int: f(1) + f(1, 2)\nh: 1 +\nk() -> int: h + f(h)\n"
    assert [code for code, _ in told(tmp_path, rules)] == ["E201", "E201", "E404"]


def test_blocks_of_a_model_come_in_the_order_of_the_rules(tmp_path: Path) -> None:
    later = "later:\n  does: |\n    at end of phase:\n      amount = 3\n"
    path = write(tmp_path, "at end of phase:\n  amount = 1\nend game", later)
    overlay = tmp_path / "small" / "overlays" / "more.yaml"
    overlay.parent.mkdir()
    overlay.write_text(
        "language: 2\noverlay: small/more\nover: [small]\nrules:\n  act:\n    wraps: small\n    does: |\n"
        "      at end of phase:\n        amount = 2\n      base()\n",
        encoding="utf-8",
    )
    path.write_text(f"{path.read_text(encoding='utf-8')}overlays: [small/more]\n", encoding="utf-8")
    assert [name.partition("/")[0] for name in loaded(path).model.blocks] == ["act@0", "act@1", "later@0"]


def test_messages_have_the_authors_word_for_a_node(tmp_path: Path) -> None:
    """In rule text, start values and declarations; what is quoted stays as it is."""
    holds = "  node: town\n  holds: {rank: {value: int, start: count(p in town where p == town)}}\n"
    family = FAMILY.replace("  node: town\n", holds).replace("state:\n", "state:\n  here: {value: town}\n")
    found = examined(write(tmp_path, "amount = first(town)\nnode = amount", family=family)).errors
    assert sorted({f"{each.code} {each.message.partition(';')[0]}" for each in found}) == [
        "E301 unknown name `node`",
        "E307 `here` needs a `start`: only a `town?` may start as none",
        "E401 got town, want int",
        "E402 got town, want a list, set or range",
    ]
