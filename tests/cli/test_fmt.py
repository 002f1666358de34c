"""``regelwerk fmt``: what it writes, what it says, how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

CROOKED = "language: 2\nfamily: a\nround: [ b,c ]\n"
STRAIGHT = "language: 2\nfamily: a\nround: [b, c]\n"


@pytest.fixture
def crooked(tmp_path: Path) -> Path:
    (tmp_path / "straight.yaml").write_text(STRAIGHT, encoding="utf-8")
    (tmp_path / "crooked.yaml").write_text(CROOKED, encoding="utf-8")
    return tmp_path


def test_fmt_writes_and_has_nothing_to_do_then(run: Run, crooked: Path) -> None:
    result = run("fmt", str(crooked))
    assert (result.exit_code, result.stdout) == (0, f"formatted {crooked}/crooked.yaml\n")
    assert result.stderr == "2 files: 1 formatted, 1 unchanged\n"
    assert (crooked / "crooked.yaml").read_text(encoding="utf-8") == STRAIGHT
    assert run("fmt", "--check", str(crooked)).exit_code == 0


def test_check_writes_nothing(run: Run, crooked: Path) -> None:
    result = run("fmt", "--check", str(crooked))
    assert (result.exit_code, result.stdout) == (1, f"would change {crooked}/crooked.yaml\n")
    assert (crooked / "crooked.yaml").read_text(encoding="utf-8") == CROOKED


def test_diff(run: Run, crooked: Path) -> None:
    result = run("fmt", "--diff", str(crooked / "crooked.yaml"))
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-2:] == ["-round: [ b,c ]", "+round: [b, c]"]
    assert (crooked / "crooked.yaml").read_text(encoding="utf-8") == CROOKED
    assert run("fmt", "--diff", "--check", str(crooked)).exit_code == 1


def test_from_stdin(run: Run) -> None:
    assert run("fmt", "-", input=CROOKED).stdout == STRAIGHT
    assert run("fmt", "-", "--check", input=CROOKED).exit_code == 1
    assert run("fmt", "-", "a.yaml").exit_code == 2


def test_what_cannot_be_read_is_told_and_left(run: Run, crooked: Path) -> None:
    wrong = "language: 2\nfamily: a\nrules:\n  b: {is: 1 +}\n"
    (crooked / "wrong.yaml").write_text(wrong, encoding="utf-8")
    result = run("fmt", str(crooked))
    assert result.exit_code == 1
    assert "wrong.yaml:4:14: E201" in result.stderr
    assert (crooked / "wrong.yaml").read_text(encoding="utf-8") == wrong
    assert (crooked / "crooked.yaml").read_text(encoding="utf-8") == STRAIGHT
    assert run("fmt", str(crooked / "none.yaml")).exit_code == 1


def test_without_a_path_it_looks_at_all_rulesets(run: Run, crooked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interpreter.cli.commands.fmt.ruleset_roots", lambda: [crooked])
    assert "crooked.yaml" in run("fmt", "--check").stdout


# --- the former version of the language


OLD = """\
language: 1
family: old  # a small one
title: Old
# Where the values come from.
seats:
  roles: {person: {counts: yes}}
rules:
  hand_size: {is: 5}
  prepare:
    does: |
      settle
  most:
    cites: [O-1]
    is: |
      # what a seat may take
      (who: seat, n: int) -> int:   # with n
        let twice = 2 * n
        return twice
  any_of:
    is: |
      (them: list of int) -> int: first(them)  # the first
  both: {is: "(who: seat, n: int) -> int: most(who, n)"}
  listed:
    is: |
      (n: int) -> list of int: [n]
  may_take:
    permits: |
      (who: seat, n: int):
        require n > 0        cites O-1
  inline: {does: settle}
"""
NEW = """\
language: 2
family: old  # a small one
names:
  who: seat
  n: int
  them: list of int
title: Old
# Where the values come from.
seats:
  roles: {person: {counts: yes}}
rules:
  hand_size: {is: 5}
  prepare:
    does: |
      settle
  most(who, n) -> int:
    cites: [O-1]
    is: |
      # what a seat may take
      # with n
      let twice = 2 * n
      return twice
  any_of(them) -> int: |
    first(them)  # the first
  both(who, n) -> int: most(who, n)
  listed(n) -> list of int: |
    [n]
  may_take(who, n):
    permits: require n > 0        cites O-1
  inline: {does: settle}
"""


def test_files_of_the_first_version_are_upgraded(run: Run, tmp_path: Path) -> None:
    (tmp_path / "old" / "overlays").mkdir(parents=True)
    family, overlay = tmp_path / "old" / "family.yaml", tmp_path / "old" / "overlays" / "more.yaml"
    family.write_text(OLD, encoding="utf-8")
    overlay.write_text(
        "language: 1\noverlay: old/more\nover: [old]\nrules:\n  most:\n    wraps: old\n    is: |\n"
        "      (who: seat, n: int) -> int: base(who, n) + 1\n"
        "  hand_size:\n    replaces: old\n    is: 6\n"
        "  third:\n    is: |\n      (who: seat, n: seat) -> bool: who == n\n",
        encoding="utf-8",
    )
    assert run("fmt", "--upgrade", str(tmp_path)).exit_code == 0
    assert family.read_text(encoding="utf-8") == NEW
    assert overlay.read_text(encoding="utf-8") == (
        "language: 2\noverlay: old/more\nnames:\n  n: seat\nover: [old]\nrules:\n  most:\n    wraps: old\n"
        "    is: base(who, n) + 1\n  hand_size:\n    replaces: old\n    is: 6\n  third(who, n) -> bool: who == n\n"
    )
    assert "2 unchanged" in run("fmt", "--upgrade", str(tmp_path)).stderr


def test_a_name_of_two_types_is_not_upgraded(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "family.yaml"
    path.write_text(
        "language: 1\nfamily: old\nrules:\n  a: {is: '(n: int) -> int: n'}\n  b: {is: '(n: seat) -> seat: n'}\n",
        encoding="utf-8",
    )
    result = run("fmt", "--upgrade", str(path))
    assert result.exit_code == 1
    assert "`n` is of the type seat here, but elsewhere int" in result.stderr
    assert path.read_text(encoding="utf-8").startswith("language: 1")


def test_an_upgrade_keeps_what_layers_mean_and_comments(run: Run, tmp_path: Path) -> None:
    (tmp_path / "old" / "overlays").mkdir(parents=True)
    overlay = tmp_path / "old" / "overlays" / "more.yaml"
    (tmp_path / "old" / "family.yaml").write_text(OLD, encoding="utf-8")
    overlay.write_text(
        "language: 1\noverlay: old/more\nover: [old]\nrules:\n"
        "  most:  # other names\n    wraps: old\n    is: |\n      # see (a)\n"
        "      (me: seat, k: int) -> int:\n        k + 1\n      # below\n"
        "  hand_size:\n    # why\n    replaces: old\n    is: 6\n"
        "  both:\n    replaces: old\n    is: |  # in a line\n      (who: seat, n: int) -> int: n\n",
        encoding="utf-8",
    )
    assert run("fmt", "--upgrade", str(tmp_path)).exit_code == 0
    assert overlay.read_text(encoding="utf-8") == (
        "language: 2\noverlay: old/more\nnames:\n  me: seat\n  k: int\nover: [old]\nrules:\n"
        "  most(me, k) -> int:  # other names\n    wraps: old\n    is: |\n      # see (a)\n"
        "      k + 1\n      # below\n"
        "  hand_size:\n    # why\n    replaces: old\n    is: 6\n"
        "  both:\n    replaces: old\n    is: |  # in a line\n      n\n"
    )


def test_a_parameter_called_like_its_type_is_no_other_parameter(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "family.yaml"
    path.write_text(
        "language: 1\nfamily: old\nrules:\n  a: {is: '(card: card) -> bool: yes'}\n"
        "  b: {is: '(card: plan) -> int: 1'}\n",
        encoding="utf-8",
    )
    assert "`card` is of the type plan here, but elsewhere card" in run("fmt", "--upgrade", str(path)).stderr
