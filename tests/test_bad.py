"""What an author sees: each folder of ``tests/bad`` spoils a tiny game in one way, and its ``expected.txt`` is
all that is said.

A folder is called after the code that it shows. Its files are laid over those of ``_base``; overlays among them are put
on top of the game. After a change of the wording the texts are written anew, and the difference is read like code:

    REGELWERK_REWRITE=1 python -m pytest tests/test_bad.py
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from interpreter.authoring.validator import check_rooms, spoken_in, unknown_words
from interpreter.base.codes import meanings
from interpreter.base.diagnostics import Diagnostic, Note, render, unique
from interpreter.language.translations import sayable_in
from interpreter.lint.checks import lint
from interpreter.lint.compositions import compositions
from interpreter.loading.load import find, load
from interpreter.loading.pipeline import examine
from interpreter.lowering.constants import RuleFailure
from interpreter.reading.files import Shelf, shelf_for
from interpreter.testing.coverage import check_waivers, waivers_of
from interpreter.testing.suite import suite_of

BAD = Path(__file__).parent / "bad"
CASES = sorted(path.name for path in BAD.iterdir() if path.is_dir() and path.name != "_base")
PAGES = Path(__file__).parent.parent / "docs" / "errors"
PACKAGE = Path(__file__).parent.parent / "interpreter"
CODE = re.compile(r'"([ELRW][0-9]{3})"')
OVERLAY = "language: 2\noverlay: pond/bad\nover: [pond]\n"


# --- every code has its meaning, its page and its case ----------------------------------------------------------------


def test_every_code_in_use_has_a_meaning_and_none_is_unused() -> None:
    used: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        used.update(CODE.findall(path.read_text(encoding="utf-8")))
    assert used == set(meanings())
    assert len(set(meanings().values())) == len(meanings())


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    pages = {path.stem: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md") if path.stem != "README"}
    assert set(pages) == set(meanings())
    for code, page in pages.items():
        assert re.match(rf"# {code}: \S.*\n", page), code
        assert [part in page for part in ("**Wrong**", "**Right**", "**Why**")] == [True] * 3, code
    index = (PAGES / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\[([ELRW][0-9]{3})\]\(\1\.md\)", index) == list(meanings())


def test_every_code_has_a_case() -> None:
    assert {name.partition("-")[0] for name in CASES} == set(meanings())


# --- the cases --------------------------------------------------------------------------------------------------------


def _five_megabytes(root: Path) -> None:
    (root / "pond/overlays/bad.yaml").write_text(f"{OVERLAY}about: {'x' * 5_000_000}\n", encoding="utf-8")


def _endless_table(root: Path) -> None:
    rows = "".join(f"    {number} | gnat | 1\n" for number in range(6_000))
    table = f"  weather: |\n    number | brings | many\n{rows}  storm: 1\n"
    (root / "pond/decks/winds.yaml").write_text(f"language: 2\ndeck: pond/winds\ncards:\n{table}", encoding="utf-8")


def _link_to_elsewhere(root: Path) -> None:
    elsewhere = root.parent / "elsewhere.yaml"
    shutil.move(root / "pond/maps/lake.yaml", elsewhere)
    try:
        (root / "pond/maps/lake.yaml").symlink_to(elsewhere)
    except OSError:
        pytest.skip("no symbolic links here")


def _long_chain(root: Path) -> None:
    rules = "".join(f"  step_{n}() -> int: step_{n + 1}()\n" for n in range(70))
    last = "  step_70() -> int: water\n"
    (root / "pond/overlays/bad.yaml").write_text(f"{OVERLAY}rules:\n{rules}{last}", encoding="utf-8")


MADE: dict[str, Callable[[Path], None]] = {
    "E012-five-megabytes": _five_megabytes,
    "E023-endless-table": _endless_table,
    "E033-link-to-elsewhere": _link_to_elsewhere,
    "E711-long-chain": _long_chain,
}
"""Cases with files that are made when they are needed."""


def set_up(tmp_path: Path, case: str) -> Path:
    root = tmp_path / "rulesets"
    shutil.copytree(BAD / "_base", root)
    (root / "pond/overlays").mkdir()
    shutil.copytree(BAD / case, root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("expected.txt"))
    if case in MADE:
        MADE[case](root)
    return root


def said_of(root: Path) -> list[Diagnostic]:
    """All that is said about the game below a folder; if it is right, what stops a game or could be said better."""
    shelf = Shelf([root])
    document, found = shelf.read("ruleset", "pond")
    if document is None:
        return unique(found)
    overlays = [f"pond/{path.stem}" for path in sorted((root / "pond/overlays").glob("*.yaml"))]
    examined = examine(shelf, document, overlays)
    waivers, wrong = waivers_of(shelf)
    found = [*found, *examined.diagnostics, *wrong, *check_waivers(waivers, examined.statements)]
    suite = suite_of(shelf=shelf)
    for scenario, ruleset in suite.pairs:
        suite.checked(scenario, ruleset)
    found.extend(suite.diagnostics)
    found.extend(spoken_in(shelf, examined))
    found.extend(check_rooms(shelf, document, examined))
    texts = [shelf.read("words", id)[0] for id in shelf.ids("words")]
    known = sayable_in(examined.model).keys() if examined.model is not None else ()
    found.extend(each for document in texts if document for each in unknown_words(document, [known]))
    return unique(found or _played(shelf, overlays) or lint(compositions(shelf)))


def _played(shelf: Shelf, overlays: Iterable[str]) -> list[Diagnostic]:
    """What stops a game in which everybody takes the first choice."""
    try:
        game = load("pond", overlays, shelf).new_game(players=2, seed=7)
        while game.decision is not None:
            game.apply(game.decision.options[0])
    except RuleFailure as failure:
        called = tuple(Note(str(caller), caller.span) for caller in failure.chain[:3])
        return [Diagnostic(failure.code, failure.message, failure.span, called)]
    return []


class TooLong(BaseException):
    """Nothing that handles exceptions is to keep this one."""


@pytest.fixture(autouse=True)
def _no_longer_than_a_minute() -> Iterator[None]:
    """What never ends fails."""

    def give_up(number: int, frame: object) -> None:
        raise TooLong

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("case", CASES)
def test_the_author_sees(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = set_up(tmp_path, case)
    monkeypatch.chdir(root)
    started = time.process_time()
    found = find("pond/nowhere.yaml")[2] if case == "E030-no-such-path" else said_of(root)
    assert (
        time.process_time() - started < 10
    )  # a second or two at most; machines that run many tests at once are slower
    assert {diagnostic.code for diagnostic in found} == {case.partition("-")[0]}
    said = "".join(f"{render(diagnostic)}\n" for diagnostic in found)
    expected = BAD / case / "expected.txt"
    if os.environ.get("REGELWERK_REWRITE"):
        expected.write_text(said, encoding="utf-8")
    assert said == expected.read_text(encoding="utf-8")


def test_the_game_that_the_cases_spoil_is_fine(tmp_path: Path) -> None:
    root = tmp_path / "rulesets"
    shutil.copytree(BAD / "_base", root)
    assert said_of(root) == []


# --- whatever else somebody may try -----------------------------------------------------------------------------------


def _rules(body: str, head: str = "") -> bytes:
    return f"{OVERLAY}rules:\n  calm{head}:\n{body}".encode()


HOSTILE: dict[str, bytes] = {
    "nothing": b"",
    "a byte order mark alone": b"\xef\xbb\xbf",
    "every byte": bytes(range(256)) * 100,
    "noise": random.Random(1).randbytes(100_000),
    "nulls": b"\0" * 1_000,
    "only tabs": b"\t\t\n" * 100,
    "brackets": OVERLAY.encode() + b"about: " + b"[" * 200_000,
    "braces": OVERLAY.encode() + b"about: " + b"{" * 2_000 + b"}" * 2_000,
    "deep keys": OVERLAY.encode() + b"".join(b" " * depth + b"a:\n" for depth in range(2_000)),
    "very many keys": OVERLAY.encode() + b"".join(b"k%d: 1\n" % number for number in range(200_000)),
    "a line of three megabytes": OVERLAY.encode() + b"about: [" + b"x" * 3_000_000,
    "fifty megabytes": OVERLAY.encode() + b"about: ",  # the test writes the rest: it is not kept while others run
    "an endless alias": OVERLAY.encode() + b"state: &s\n  a: *s\n",
    "a huge number": OVERLAY.encode() + b"tokens: {pearl: " + b"9" * 5_000 + b"}\n",
    "a huge number in a cell": OVERLAY.encode()
    + b"tables:\n  t:\n    keys: [fly]\n    gives: int\n    is: |\n      fly | gnat | midge\n      n | "
    + b"9" * 5_000
    + b" | --5\n",
    "other digits in a cell": OVERLAY.encode()
    + b"tables:\n  t:\n    keys: [fly]\n    gives: int\n    is: |\n      fly | gnat | midge\n"
    + "      n   | ²    | ١٢\n".encode(),
    "brackets in rule text": _rules(f"    is: |\n      {'(' * 900}1{')' * 900}\n", "() -> int"),
    "brackets over many lines": _rules("    is: |\n" + f"      {'[' * 100}\n" * 20, "() -> int"),
    "not not not": _rules(f"    is: |\n      {'not ' * 400}yes\n", "() -> bool"),
    "a very long sum": _rules(f"    is: |\n      {'1+' * 900}1\n", "() -> int"),
    "deep indentation": _rules(
        "    does: |\n"
        + "".join(f"      {'  ' * depth}if water == 1:\n" for depth in range(120))
        + " " * 246
        + "settle\n"
    ),
    "a very long line": _rules(f"    is: |\n      1{' ' * 3_000}+ 1\n", "() -> int"),
    "a very long name": _rules(f"    is: |\n      {'a' * 1_900}\n", "() -> int"),
    "a table wider than long": _rules("    is: 1\ntables:\n  t: {keys: [n], gives: int, is: 'n' }\n", "() -> int"),
    "a key with a thousand numbers": b"".join(
        (OVERLAY.encode(), b"kinds: {big: 1..1000}\ntables:\n  t:\n    keys: [big, big, big, n]\n    gives: int\n")
    )
    + b"    is: |\n      a | b | c | 1\n      1 | 1 | 1 | 1\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_a_file_holds_the_author_is_told(name: str, tmp_path: Path) -> None:
    root = set_up(tmp_path, "E101-unknown-key")
    rest = b"x" * 50_000_000 if name == "fifty megabytes" else b""
    (root / "pond/overlays/bad.yaml").write_bytes(HOSTILE[name] + rest)
    started = time.process_time()
    found = said_of(root)
    assert time.process_time() - started < 10
    assert any(diagnostic.severity == "error" for diagnostic in found)
    assert all(len(line) < 400 for diagnostic in found for line in render(diagnostic).splitlines())


TOKEN = re.compile(r"\w+|[^\w\s]+|\s+")
TEXTS = {
    path.relative_to(BAD / "_base"): path.read_text(encoding="utf-8") for path in sorted((BAD / "_base").rglob("*.*"))
}
WORDS = sorted(
    {token for text in TEXTS.values() for token in TOKEN.findall(text)} | {"none", "*a", "!x", "²", "-1", "|"}
)


@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_mistyped_the_author_is_told(seed: int, tmp_path: Path) -> None:
    """Some words of the game are lost, doubled or taken for others: it is fine, or what is wrong is said."""
    chance = random.Random(seed)
    root = tmp_path / "rulesets"
    shutil.copytree(BAD / "_base", root)
    (root / "pond/overlays").mkdir()
    place = chance.choice([*TEXTS, *[Path("pond/family.yaml")] * 8])
    tokens = TOKEN.findall(TEXTS[place])
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(tokens))
        tokens[at : at + 1] = chance.choice([[], [tokens[at]] * 2, [chance.choice(WORDS)], [chance.choice(WORDS)]])
    (root / place).write_text("".join(tokens), encoding="utf-8")
    document, found = Shelf([root]).read("ruleset", "pond")
    if document is not None:
        found = [*found, *examine(Shelf([root]), document).diagnostics]
    for diagnostic in found:
        assert diagnostic.code in meanings()
        assert render(diagnostic)


@pytest.mark.parametrize("id", shelf_for().ids("ruleset"))
def test_what_is_shipped_needs_no_advice(id: str) -> None:
    assert [render(warning) for warning in load(id).warnings] == []
