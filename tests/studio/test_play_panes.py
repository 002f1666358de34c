"""The panes with a table, scenarios and a comparison: games of one's own rules, what is written of them, and jobs."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Iterator
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner

from interpreter.base.stepwise import Steps
from interpreter.cli.main import cli
from interpreter.engine.queries import value_of
from interpreter.lowering.constants import RuleFailure
from interpreter.serve.live import Live
from interpreter.studio import compare_pane
from interpreter.studio.jobs import Job, Jobs, in_slices
from tests.serve.served import first, until
from tests.small import write
from tests.studio.home import Home

RULES = "small/family.yaml"
ACT = """\
choose bid by each s in seats, at once:
  low
  high
for each s in seats:
  s.score += {n}
if round == 3:
  end game
"""
HOSTILE = "<script>alert(1)</script>\u202e"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    running = Home(tmp_path)
    edit(running, ACT.format(n=1))
    yield running
    running.close()
    assert running.errors == []


def edit(home: Home, act: str) -> None:
    """Write the rules of the small game as its author does in the studio."""
    if not (home.bench.root / RULES).exists():
        write(home.bench.root, act)
    before = (home.bench.root / RULES).read_text()
    write(home.bench.root, act)
    after = (home.bench.root / RULES).read_text()
    (home.bench.root / RULES).write_text(before)
    home.bench.write(RULES, after)


def begun(home: Home, query: str = "ruleset=tiny") -> Live:
    page = home.post(f"pane/play?{query}", {"players": "2", "bot": "random"})
    assert "data-live" in page.text
    assert re.search(r'src="\.\./tables/seat/[\w-]+"', page.text), page.text
    return home.live()


def choose(home: Home, live: Live) -> None:
    number = len(live.kept.choices)
    home.done(live.choose(0, first(live, 0)))
    until(lambda: len(live.kept.choices) >= number + 2 or live.game.is_over)


def scores(home: Home, live: Live) -> list[object]:
    def asked() -> list[object]:
        table, state = live.game.table, live.game.state
        return [value_of(table, state, f"seats[{seat}].score")[0] for seat in range(2)]

    return home.within(asked)


def shown(home: Home, address: str) -> str:
    return unescape(home.get(address).text)


# --- play


def test_a_table_goes_on_with_the_rules_that_the_author_writes(home: Home) -> None:
    assert "<form" in shown(home, "pane/play?ruleset=tiny")
    live = begun(home)
    choose(home, live)
    assert scores(home, live) == [1, 1]
    made = live.kept.choices[0]
    edit(home, ACT.format(n=5))
    until(lambda: scores(home, live) == [5, 5])
    assert live.kept.choices[0] == made
    edit(home, ACT.format(n="nobody"))
    until(lambda: live.mistakes)
    table = re.findall(r'src="\.\./(tables/seat/[^"]+)"', home.get("pane/play?ruleset=tiny").text)
    assert table, "the table is taken up again, also while its rules have errors"
    assert "nobody" in shown(home, table[0])
    edit(home, ACT.format(n=2))
    until(lambda: not live.mistakes)
    assert len(home.hall.kept) == 1
    assert "<form" in shown(home, "pane/play?ruleset=tiny&anew")
    begun(home)
    assert len(home.hall.kept) == 2
    assert home.live().kept.id in {home.hall.seats[each.rpartition("/")[2]][0] for each in re.findall(
        r"tables/seat/[\w-]+", home.get("pane/play?ruleset=tiny").text)}  # fmt: skip


def test_a_table_of_a_shipped_ruleset_with_an_overlay_of_the_author(home: Home) -> None:
    name = "goofspiel/overlays/mine.yaml"
    text = "language: 2\noverlay: goofspiel/mine\ntitle: Mine\nover: [goofspiel]\n"
    home.bench.write(name, text)
    query = "ruleset=goofspiel&with=goofspiel/mine"
    live = begun(home, query)
    assert live.ruleset.overlays == ("goofspiel/mine",)
    home.bench.write(name, text + "rules:\n  nothing: {does: nobody}\n")
    until(lambda: live.mistakes)
    home.bench.write(name, text)
    until(lambda: not live.mistakes)
    choose(home, live)
    home.within(lambda: home.hall._leave(live))
    assert home.done(home.hall.live(live.kept.id)).ruleset.overlays == ("goofspiel/mine",)
    assert "tables/seat" in home.get(f"pane/play?{query}").text
    assert "<form" in home.get("pane/play?ruleset=goofspiel").text, "a table without the overlay is another one"


@pytest.mark.parametrize("address", ["play", "scenarios", "compare"])
def test_errors_and_unknown_rulesets_are_told(home: Home, address: str) -> None:
    assert "unknown ruleset" in shown(home, f"pane/{address}?ruleset=../../etc/passwd&other=tiny")
    page = home.get(f"pane/{address}?ruleset={HOSTILE}&other={HOSTILE}")
    assert "<script>alert" not in page.text
    assert "\u202e" not in page.text
    assert "script-src 'self'" in page.headers["content-security-policy"]
    edit(home, ACT.format(n="nobody"))
    told = shown(home, f"pane/{address}?ruleset=tiny&other=goofspiel")
    assert f"../#at={RULES}:" in told


def test_other_sites_begin_nothing(home: Home) -> None:
    for pane, data in (("play", {"players": "2"}), ("scenarios", {"run": ""}), ("compare", {"play": "9"})):
        answer = home.post(f"pane/{pane}?ruleset=tiny&other=tiny", data, origin="https://example.org")
        assert answer.status_code == 403
    assert not home.hall.kept


@pytest.mark.parametrize(
    "given", [{"players": "99"}, {"players": "x"}, {"players": "2", "bot": "cmd:rm"}, {"set_x": "1"}]
)
def test_a_table_that_cannot_begin_says_why(home: Home, given: dict[str, str]) -> None:
    answer = home.post("pane/play?ruleset=tiny", {"players": "2", **given})
    assert answer.status_code == 409
    assert 'role="alert"' in answer.text
    assert not home.hall.kept


# --- scenarios


def results(home: Home, query: str = "ruleset=tiny", run: str = "") -> str:
    """Run scenarios and return the list of their results."""
    home.post(f"pane/scenarios?{query}", {"run": run})
    until(lambda: 'name="stop"' not in home.get(f"pane/scenarios?{query}").text)
    return shown(home, f"pane/scenarios?{query}")


def test_a_scenario_of_the_last_moves_passes_until_a_rule_changes(home: Home) -> None:
    assert "Play first" in shown(home, "pane/scenarios?ruleset=tiny")
    live = begun(home)
    for _ in range(2):
        choose(home, live)
    page = shown(home, "pane/scenarios?ruleset=tiny&last=2")
    facts = re.findall(r'name="fact" value="([^"]+)"', page)
    assert "seats[0].score == 2" in facts
    given = {"make": "1", "last": "2", "name": HOSTILE, "file": "small/scenarios/mine.yaml"}
    assert home.post("pane/scenarios?ruleset=tiny", given).status_code == 409
    for file in ("../mine.yaml", "/tmp/mine.yaml", "mine.py"):
        assert home.post("pane/scenarios?ruleset=tiny", {**given, "file": file, "fact": facts}).status_code == 409
    made = home.post("pane/scenarios?ruleset=tiny", {**given, "fact": facts})
    assert 'data-go="../#at=small/scenarios/mine.yaml:4"' in made.text, made.text
    assert "<script>alert" not in made.text
    text = home.bench.read("small/scenarios/mine.yaml")
    assert "phase: act\n    round: 2" in text, "it starts at the phase of the moves"
    assert "1 passed" in results(home)
    again = home.post("pane/scenarios?ruleset=tiny", {**given, "name": "again", "fact": facts})
    assert "data-go" in again.text
    assert "2 passed" in results(home)
    edit(home, ACT.format(n=7))
    assert "passed" not in re.findall(r'role="status">.*?</span>', shown(home, "pane/scenarios?ruleset=tiny"))
    told = re.sub(r"\s+", " ", results(home, run="again"))
    assert "0 passed, <strong>1 failed" in told
    assert re.search(r"expected</dt><dd>2</dd><dt>actual</dt><dd>\d+</dd>", told)
    assert "../#at=small/scenarios/mine.yaml:" in told


def test_the_form_of_a_scenario_keeps_to_the_choices_that_it_showed(home: Home) -> None:
    live = begun(home)
    choose(home, live)
    page = shown(home, "pane/scenarios?ruleset=tiny&last=2")
    assert page.index('id="make"') < page.index('id="list"')
    facts = re.findall(r'name="fact" value="([^"]+)"', page)
    given = dict(re.findall(r'type="hidden" name="(last|made)" value="([^"]+)"', page))
    assert given["made"] == str(len(live.kept.choices))
    choose(home, live)
    given |= {"make": "1", "name": "two moves", "file": "small/scenarios/mine.yaml"}
    refused = unescape(
        home.post("pane/scenarios?ruleset=tiny", {**given, "file": "small/family.yaml", "fact": facts[:1]}).text
    )
    assert 'name="name" value="two moves"' in refused
    assert re.findall(r'name="fact" value="([^"]+)" checked', refused) == facts[:1]
    assert re.findall(r'name="fact" value="([^"]+)"', refused) == facts
    assert "data-go" in home.post("pane/scenarios?ruleset=tiny", {**given, "fact": facts}).text
    assert "1 passed" in results(home)
    edit(home, ACT.format(n=5))
    changed = home.post("pane/scenarios?ruleset=tiny", {**given, "name": "later", "fact": facts})
    assert changed.status_code == 409
    assert "The game has changed since" in changed.text


def test_the_recorder_of_the_command_line_reads_what_the_pane_writes(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    live = begun(home, "ruleset=goofspiel")
    for _ in range(3):
        choose(home, live)
    facts = re.findall(r'name="fact" value="([^"]+)"', shown(home, "pane/scenarios?ruleset=goofspiel&last=3"))
    given = {"make": "1", "last": "3", "name": "three", "file": "goofspiel/scenarios/mine.yaml", "fact": facts}
    assert "data-go" in home.post("pane/scenarios?ruleset=goofspiel", given).text
    result = CliRunner().invoke(cli, ["test", str(home.bench.root / "goofspiel" / "scenarios" / "mine.yaml")])
    assert (result.exit_code, result.stdout) == (0, "1 passed\n")
    assert re.search(r"\d+ passed</span>", results(home, "ruleset=goofspiel")), "with those that are shipped"


def test_a_broken_scenario_file_is_told_and_the_others_run(home: Home) -> None:
    home.within(
        lambda: home.bench.write("small/scenarios/broken.yaml", "language: 2\nscenarios: small/broken\nis: [\n")
    )
    page = shown(home, "pane/scenarios?ruleset=tiny")
    assert "../#at=small/scenarios/broken.yaml:" in page


# --- comparison


def compared(home: Home, query: str, games: int) -> str:
    home.post(f"pane/compare?{query}", {"play": str(games)})
    until(lambda: 'name="stop"' not in home.get(f"pane/compare?{query}").text, 60)
    return shown(home, f"pane/compare?{query}")


@pytest.mark.parametrize(("asked", "first"), [("germany-2018", ".+-2018"), ("tiny", "tiny")])
def test_the_first_ruleset_to_compare_with_is_a_relative(home: Home, asked: str, first: str) -> None:
    page = shown(home, f"pane/compare?ruleset={asked}")
    (chosen,) = re.findall('<option value="([^"]+)" selected', page)
    assert re.fullmatch(first, chosen)
    assert chosen != "germany-2018"


def test_two_rulesets_are_compared_and_played(home: Home) -> None:
    text = (
        "language: 2\noverlay: small/more\ntitle: More\nover: [small]\nrules:\n  act:\n    wraps: small\n    does: |\n"
    )
    more = f"{text}      seats[0].score += 3\n      base()\n"
    home.bench.write("small/overlays/more.yaml", more)
    query = "ruleset=tiny&other=tiny&also=small/more"
    page = shown(home, f"pane/compare?{query}")
    assert "1 difference" in page
    assert re.search(
        "<strong>A</strong> is <bdi>[^+<]+</bdi>, without overlays; <strong>B</strong> is <bdi>[^<]+ [+] More<", page
    )
    assert "A difference is B − A" in page
    assert "+ More</bdi>" in shown(home, "pane/play?ruleset=tiny&with=small/more&anew")
    assert "seats[0].score += 3" in page
    told = compared(home, query, 20)
    assert "Effects on play" in told
    assert "20 pairs of games" in told
    assert "Effects on play" in shown(home, "pane/compare?ruleset=tiny"), "the other one is remembered"
    edit(home, ACT.format(n=2))
    assert "The rules have changed since these games" in shown(home, f"pane/compare?{query}")
    assert "same game" in shown(home, "pane/compare?ruleset=tiny&other=tiny")


def test_where_there_are_no_processes_games_are_played_in_slices(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_pane, "IN_BROWSER", True)
    home.post("pane/compare?ruleset=germany-2018&other=germany-2004", {"play": "2000"})
    assert home.get("pane/scenarios?ruleset=tiny").status_code == 200
    assert 'name="stop"' in home.get("pane/compare?ruleset=germany-2018&other=germany-2004").text, "it goes on"
    page = home.post("pane/compare?ruleset=germany-2018&other=germany-2004", {"stop": "1"}).text
    assert "Play again" in page
    assert "Effects on play" in compared(home, "ruleset=tiny&other=tiny", 20)


@pytest.mark.parametrize(
    ("act", "why"),
    [
        (
            "choose start by seats[0]:\n  go\n  stay\nwhile amount > 0 at most 1000000000 times:\n  amount += 1",
            "steps without a decision",
        ),
        ("choose start by seats[0]:\n  go\n  stay", "does not end"),
        ("choose start by seats[0]:\n  go\n  stay\namount = row[7]\nend game", "there is no item"),
    ],
)
def test_rules_that_never_end_or_fail_end_the_games_with_their_place(home: Home, act: str, why: str) -> None:
    edit(home, f"choose start by seats[0]:\n  go\n  stay\n{act}")
    told = compared(home, "ruleset=tiny&other=tiny", 4)
    assert why in told
    if "does not end" not in why:
        assert f"../#at={RULES}:" in told


# --- jobs


def counting(most: int) -> Steps[int]:
    for _ in range(most):
        time.sleep(0.001)
        yield
    return most


def test_a_job_in_slices_lets_all_else_go_on_and_can_be_stopped() -> None:
    async def work() -> tuple[float, Job[int, None]]:
        jobs: Jobs[int, None] = Jobs()
        job = await jobs.begin("a", None, 1_000, in_slices(counting(100) for _ in range(1_000)))
        late, end = 0.0, time.monotonic() + 1
        while time.monotonic() < end:
            began = time.monotonic()
            await asyncio.sleep(0.001)
            late = max(late, time.monotonic() - began)
        other = await jobs.begin("b", None, 2, in_slices([counting(1), counting(2)]))
        assert job.stopped
        assert jobs.get("a") is job
        while not other.is_over:
            await asyncio.sleep(0.01)
        assert other.done == [1, 2]
        return late, job

    late, job = asyncio.run(work())
    assert late < 0.2
    assert 0 < len(job.done) < 100


def test_a_job_that_fails_keeps_what_it_has() -> None:
    async def failing() -> AsyncGenerator[list[int], None]:
        yield [1]
        raise RuleFailure("no", None)

    async def work() -> Job[int, None]:
        job = await Jobs[int, None]().begin("a", None, 2, failing())
        while not job.is_over:
            await asyncio.sleep(0.01)
        return job

    job = asyncio.run(work())
    assert (job.done, str(job.failure), job.is_over) == ([1], "no", True)
