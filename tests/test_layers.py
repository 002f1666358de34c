"""How the package hangs together: imports point downwards, third parties stand where they belong, no game is named."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "interpreter"
MODULES = sorted(
    path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in ("rulesets", "schemas")
)

ROOMS = (
    ("base",),
    ("sections",),
    ("reading", "kernel"),
    ("language",),
    ("lowering",),
    ("plain",),
    ("hidden",),
    ("compiler",),
    ("engine",),
    ("bots",),
    ("loading",),
    ("play",),
    ("simulate",),
    ("testing",),
    ("explain",),
    ("compare",),
    ("lint", "authoring"),
    ("drawing",),
    ("pages", "editor", "protocol", "rl"),
    ("serve",),
    ("studio",),
)
"""Rooms from bottom to top: each may import those before it. Rooms of one line do not know each other."""

MAY_IMPORT: dict[str, set[str]] = {
    room: {below for line in ROOMS[:level] for below in line} for level, rooms in enumerate(ROOMS) for room in rooms
}
"""Rooms that the modules of a room may import, beside their own. `cli` and the front door may import all."""
MAY_IMPORT["kernel"] -= {"sections", "reading", "language"}
MAY_IMPORT["language"] -= {"kernel"}

THIRD_PARTIES = {
    "yaml": ("reading/",),
    "lark": ("language/",),
    "jsonschema": ("reading/schema.py",),
    "referencing": ("reading/schema.py",),
    "click": ("cli/",),
    "rich": ("cli/",),
    "pygls": ("editor/server.py",),
    "lsprotocol": ("editor/server.py",),
    "networkx": ("authoring/foreign_maps.py",),
    "wasmtime": ("compiler/wasm/",),
    "duckdb": ("simulate/flat_tables.py",),
    "distributed": ("simulate/cluster.py",),
    "matplotlib": ("drawing/game_charts.py", "drawing/effect_charts.py"),
    "numpy": ("rl/",),
    "pettingzoo": ("rl/aec.py",),
    "PIL": ("rl/aec.py",),
    "gymnasium": ("rl/aec.py", "rl/vector.py"),
    "pyspiel": ("rl/spiel.py",),
    "open_spiel": ("rl/spiel.py",),
    "starlette": ("serve/web.py", "serve/connections.py", "serve/limits.py", "studio/", "cli/serving.py"),
    "jinja2": ("serve/table_page.py", "studio/pane.py"),
    "markupsafe": ("serve/table_page.py", "serve/web.py", "studio/"),
    "segno": ("serve/web.py",),
    "uvicorn": ("cli/serving.py", "serve/connections.py"),
}
"""Where a library may be imported. What is not listed may be imported everywhere, in the function that needs it."""

GAME_WORDS = re.compile(
    r"(?<![a-z0-9])(power_?plants?|plants?|cit(?:y|ies)|coal|oil|garbage|uranium|auctions?|bids?|bidding|houses?|robots?|konzern|"
    r"elektros?|outpost|stage_?[123]|resupply|bureaucracy|dwellings?|germany|funkenschlag|power[_ -]?grid)(?![a-z0-9])",
    re.IGNORECASE,
)
"""Words of games. A part of a name that `_` joins counts as a word of its own."""


def _name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _imported(path: Path) -> Iterator[tuple[str, int]]:
    """What a module imports, wherever in it: names of modules, with the line."""
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            yield node.module or "", node.lineno


def test_imports_point_downwards() -> None:
    rooms = {path.relative_to(PACKAGE).parts[0] for path in MODULES if path.parent != PACKAGE} - {"cli"}
    assert rooms <= MAY_IMPORT.keys(), "a room that this test does not know: say what it may import"
    wrong = [
        f"{_name(path)}:{line}: {room} imports {module}"
        for path in MODULES
        if (room := path.relative_to(PACKAGE).parts[0]) in rooms
        for module, line in _imported(path)
        if (names := module.split("."))[0] == "interpreter"
        and (names[1] if len(names) > 1 else "the front door") not in (room, *MAY_IMPORT[room])
    ]
    assert wrong == []


def _looks_at() -> dict[str, set[str]]:
    """For each module the modules that it imports, wherever in it, also for types alone."""
    names = {".".join(("interpreter", *path.relative_to(PACKAGE).with_suffix("").parts)): path for path in MODULES}
    graph: dict[str, set[str]] = {name: set() for name in names}
    for name, path in names.items():
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.ImportFrom):
                found = {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
                graph[name] |= found & names.keys() - {name}
    return graph


def test_no_import_leads_back() -> None:
    graph = _looks_at()
    while free := {name for name, others in graph.items() if not others & graph.keys()}:
        graph = {name: others for name, others in graph.items() if name not in free}
    assert sorted(graph) == [], "these modules import each other, or what does"


def test_no_two_modules_share_a_name() -> None:
    """But for commands, which are called as one types them."""
    names = [path.stem for path in MODULES if path.stem[:2] != "__" and path.parent.name != "commands"]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


def test_third_parties_stand_where_they_belong() -> None:
    wrong = [
        f"{_name(path)}:{line}: {module} belongs in {places}"
        for path in MODULES
        for module, line in _imported(path)
        if (places := THIRD_PARTIES.get(module.split(".")[0])) is not None and not _name(path).startswith(places)
    ]
    assert wrong == []


HOME_ALONE = ("cli/", "bots/command.py", "simulate/throughput.py", "simulate/workers.py", "studio/export.py")
"""Modules that a browser never runs: commands, programs as bots, many processes that simulate, and what makes
the static site."""
FACILITIES = {"ThreadPoolExecutor", "ProcessPoolExecutor", "multiprocessing", "subprocess", "Thread"}


def test_only_facilities_starts_threads_and_processes() -> None:
    wrong = []
    for path in MODULES:
        name = _name(path)
        if name == "base/facilities.py" or name.startswith(HOME_ALONE):
            continue
        for node in ast.walk(_tree(path)):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            names = {alias.name for alias in node.names} | {str(getattr(node, "module", ""))}
            wrong += [f"{name}:{node.lineno}: {each}" for each in names & FACILITIES]
    assert wrong == []


def test_every_module_says_what_it_is() -> None:
    assert [_name(path) for path in MODULES if not ast.get_docstring(_tree(path))] == []


EXAMPLE = re.compile(r"^ *regelwerk .*$", re.MULTILINE)
"""A command that `--help` shows. It names a ruleset that is shipped, so that one can try it."""


def _texts() -> Iterator[tuple[str, int, str]]:
    """All words of modules that may name a game, by file and line: identifiers, strings and comments; of other files
    every line."""
    for path in MODULES:
        source = path.read_text(encoding="utf-8")
        if not GAME_WORDS.search(source):
            continue
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type in (tokenize.NAME, tokenize.STRING, tokenize.COMMENT):
                text = EXAMPLE.sub("", token.string) if path.is_relative_to(PACKAGE / "cli") else token.string
                yield path.relative_to(ROOT).as_posix(), token.start[0], text
    for path in (*PACKAGE.rglob("*.lark"), *PACKAGE.rglob("*.wat"), *(ROOT / "schemas").glob("*.json")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield path.relative_to(ROOT).as_posix(), number, line


def test_the_interpreter_names_no_game() -> None:
    found = [
        f"{name}:{line}: {match[0]}" for name, line, text in _texts() for match in [GAME_WORDS.search(text)] if match
    ]
    assert found == []


@pytest.mark.parametrize(
    "text", ["power_plant", "a city's", "stage_2_cities", "min_bid", "Germany", "POWER-GRID", "coal"]
)
def test_a_game_is_recognised(text: str) -> None:
    assert GAME_WORDS.search(text)


@pytest.mark.parametrize("text", ["capacity", "forbidden", "boiled", "explanation", "stage", "forbids", "planted"])
def test_other_words_are_no_game(text: str) -> None:
    assert not GAME_WORDS.search(text)


def test_a_server_asks_types_and_not_their_words() -> None:
    """Only the text form of a thing on a page has the word of its type."""
    asking = set()
    for path in sorted((PACKAGE / "serve").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == "word" and node not in called:
                asking.add((path.name, ast.unparse(node)))
    assert asking == {("pointing.py", "self.type.word"), ("pointing.py", "each.word")}
