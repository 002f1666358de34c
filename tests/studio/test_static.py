"""The studio as a static site in a real browser, on a web space that serves files as they are. `REGELWERK_SITE` names a
built documentation, whose studio is then the one to test."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from interpreter.studio.packing import of_link, unpacked
from interpreter.studio.workbench import Workbench
from tests.samples import Session
from tests.serve.served import browser
from tests.small import write

pytestmark = pytest.mark.slow
MOST_BYTES = 10_000_000
"""Most bytes that a first visit transfers."""
WAIT = 40_000
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found


class Visit:
    """A browser of its own, what it asked for and what went wrong in it."""

    def __init__(self, chromium: Any) -> None:
        self.context = chromium.new_context(locale="en-GB", viewport={"width": 1440, "height": 900})
        self.context.set_default_timeout(WAIT)
        self.asked, self.wrong = list[str](), list[str]()
        self.context.on("request", lambda request: self.asked.append(request.url))
        self.context.on("weberror", lambda error: self.wrong.append(str(error.error)))
        self.context.on("console", self._heard)

    def _heard(self, said: Any) -> None:
        if said.type == "error" and not said.location["url"].endswith("/favicon.ico"):  # browsers ask unbidden
            self.wrong.append(f"{said.text} {said.location['url']}")

    def open(self, address: str) -> tuple[Any, Any]:
        """Return a page and the studio in it."""
        page = self.context.new_page()
        page.goto(address)
        studio = page.frame_locator("iframe[name=studio]")
        studio.locator("#files").wait_for()
        return page, studio


@pytest.fixture
def visit(chromium: Any) -> Iterator[Visit]:
    found = Visit(chromium)
    yield found
    found.context.close()


def _new_map(studio: Any, name: str) -> None:
    studio.locator("button[data-ask='new/map']").first.click()
    studio.locator("#ask input[name=name]").fill(name)
    studio.locator("#ask select[name=for]").select_option("germany-2018")
    studio.locator("#ask button.ok").click()
    studio.locator("#name", has_text=name).wait_for()


def _write(studio: Any, text: str) -> None:
    editor = studio.locator("#editor .cm-content")
    editor.click()
    editor.press("Control+End")
    editor.press_sequentially(text)


def _wait_for_letters(page: Any, place: Any, number: int) -> None:
    for _ in range(WAIT // 100):
        if len(place.text_content()) > number:
            return
        page.wait_for_timeout(100)
    raise AssertionError(place.text_content())


def test_a_map_is_written_checked_and_kept_without_a_server(visit: Visit, folder: Path, address: str) -> None:
    page, studio = visit.open(address)
    _new_map(studio, "my-town")
    name = studio.locator("#name").inner_text()
    _write(studio, "\nnonsense: 1\n")
    studio.locator("#problems li.error", has_text="nonsense").wait_for()
    studio.locator("#saved", has_text="saved").wait_for()
    assert sum(path.stat().st_size for path in (folder / "some" / "studio").rglob("*") if path.is_file()) < MOST_BYTES
    page.wait_for_timeout(5_000)  # files reach the disk a moment later, when Python has told what it found
    page.close()

    visit.context.set_offline(True)
    page, studio = visit.open(f"{address}#at={name}:1")
    studio.locator("#problems li.error", has_text="nonsense").wait_for()
    studio.locator("#editor .cm-content").press("Control+End")
    for _ in range(3):
        studio.locator("#editor .cm-content").press("Control+Shift+K")
    studio.locator("#problems li.error").wait_for(state="detached")
    board = studio.frame_locator("#pane").locator("svg.nodes a").first
    board.wait_for()
    board.click()
    page.wait_for_timeout(500)
    assert page.url.startswith(address), "links of panes lead to the studio in its frame"
    assert studio.locator("#name").inner_text() == name

    other = visit.context.new_page()
    other.goto(address)
    other.get_by_role("button", name="Start without my files").click()
    there = other.frame_locator("iframe[name=studio]")
    there.locator("#files").wait_for()
    assert there.locator("#files a[data-name]", has_text="my-town").count() == 0
    assert {url.split("/")[2] for url in visit.asked if url.startswith("http")} == {address.split("/")[2]}
    assert visit.wrong == []


def test_a_table_is_played_and_goes_on_after_the_browser_stopped_the_service_worker(visit: Visit, address: str) -> None:
    page, _ = visit.open(address)
    frame = page.frame(name="studio")
    frame.goto(f"{frame.url.partition('#')[0]}tables/new/germany-2018")
    for seat in frame.locator("select[name^=seat]").all():
        if seat.is_visible():
            seat.select_option("bot")
    frame.locator("form button[type=submit], form button:not([type])").last.click()
    frame.wait_for_url("**/host/*")
    frame.evaluate("location.href = [...document.querySelectorAll('a[href*=\"seat/\"]')].at(-1).href")
    frame.wait_for_url("**/seat/*")
    log = frame.locator("#f-log")
    _wait_for_letters(page, log, 100)
    network = visit.context.new_cdp_session(page)
    network.send("ServiceWorker.enable")
    network.send("ServiceWorker.stopAllWorkers")
    _wait_for_letters(page, log, len(log.text_content()) + 100)
    assert frame.goto(frame.url).status == 200


@pytest.mark.parametrize(
    ("missing", "told"),
    [("Navigator.prototype.serviceWorker", "no service workers"), ("window.WebAssembly", "no WebAssembly")],
)
def test_what_the_browser_lacks_is_told(visit: Visit, address: str, missing: str, told: str) -> None:
    page = visit.context.new_page()
    page.add_init_script(f"delete {missing}")
    page.goto(address)
    assert told in page.get_by_role("alert").inner_text()


def test_a_missing_file_is_told(visit: Visit, folder: Path, address: str, tmp_path: Path) -> None:
    broken = folder / "broken"
    shutil.copytree(folder / "some" / "studio", broken)
    (broken / "studio.pack").unlink()
    page = visit.context.new_page()
    page.goto(address.replace("some/studio", "broken"))
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert "studio.pack cannot be loaded (404)" in alert.inner_text()
    shutil.rmtree(broken)


def test_an_example_of_the_documentation_opens_in_the_studio_beside_it(
    visit: Visit, folder: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, page = folder / "some", visit.context.new_page()
    if not (site / "index.html").exists():
        (site / "tutorials").mkdir()
        for name in ("index", "tutorials/map"):
            (site / f"{name}.html").write_text(_with_links(name, monkeypatch), encoding="utf-8")
    page.goto(address.replace("studio/", "tutorials/map.html"))
    page.get_by_role("link", name="Open in the studio").last.click()
    studio = page.frame_locator("iframe[name=studio]")
    names = studio.locator("#ask .states bdi")
    names.first.wait_for()
    assert names.all_inner_texts() == ["power-grid/scenarios/brackwater.yaml", "power-grid/maps/brackwater.yaml"]
    studio.get_by_role("button", name="Write 2 files").click()
    studio.locator("#name", has_text="power-grid/scenarios/brackwater.yaml").wait_for()
    studio.locator("#problems h2", has_text="No problems").wait_for()
    page.goto(address.replace("studio/", "index.html"))
    page.get_by_role("link", name="Try it").click()
    studio.locator("#files").wait_for()
    assert {url.split("/")[2] for url in visit.asked if url.startswith("http")} == {address.split("/")[2]}
    assert visit.wrong == []


def _with_links(name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a page of the documentation with its links to the studio."""
    monkeypatch.syspath_prepend(DOCS)
    source = [(DOCS / f"{name}.md").read_text(encoding="utf-8")]
    import_module("site_pages").add_studio(name, source)
    return f"<!doctype html><link rel=icon href='data:,'>{source[0]}"


def test_whole_files_of_the_pages_open_without_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = ["language", *(f"tutorials/{place.stem}" for place in sorted((DOCS / "tutorials").glob("*.md")))]
    packs = []
    for name in pages:
        found = re.findall('#pack=([^"]+)"', _with_links(name, monkeypatch))
        assert len(found) == len(
            re.findall("^```yaml .", (DOCS / f"{name}.md").read_text(encoding="utf-8"), re.MULTILINE)
        )
        packs += found
    for number, pack in enumerate(packs):
        (tmp_path / str(number)).mkdir()
        bench = Workbench(tmp_path / str(number))
        for name, text in unpacked(bench, of_link(pack)).items():
            bench.write(name, text)
        status, told = Session(bench.root).run("regelwerk validate .")
        assert status == 0, told
    assert len(packs) > 10


def test_without_pyodide_the_documentation_has_no_links_to_the_studio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(DOCS)
    monkeypatch.setenv("REGELWERK_PYODIDE", str(tmp_path / "nowhere"))
    (tmp_path / "studio").mkdir()
    import_module("site_pages").write_studio(tmp_path)
    assert not (tmp_path / "studio").exists()
    assert "without the studio: " in capsys.readouterr().err


SAVE = """async ([files, pane, home = ""]) => {
  for (const [name, text] of files)
    await fetch(home + "save", { method: "POST", body: new URLSearchParams({ name, text, before: "" }) });
  return await (await fetch(home + pane)).text();
}"""
ASKED = "pane/board?ruleset=tiny"
HOSTILE = {
    "levels": ("E204", "amount = " + "(" * 151 + "1" + ")" * 151),
    "many levels": ("E204", "amount = " + "(\n" * 5_000 + "1" + ")\n" * 5_000),
    "terms": ("E204", "amount = (" + "1 +\n" * 5_000 + "1)"),
    "terms and an error": ("E204", "amount = (" + "1 +\n" * 5_000 + "1))"),
    "a loop": ("E706", "while yes:\n  amount = 1"),
}
SECTIONS = {"brackets": "deep: " + "[" * 5_000, "blocks": "deep:\n " + "- " * 5_000 + "x\n"}


def _small(folder: Path) -> list[tuple[str, str]]:
    return [(path.relative_to(folder).as_posix(), path.read_text()) for path in sorted(folder.rglob("*.yaml"))]


def test_hostile_rulesets_end_with_their_error(visit: Visit, address: str, tmp_path: Path) -> None:
    page, _ = visit.open(address)
    frame = page.frame(name="studio")
    home = frame.url.partition("#")[0]

    def shown() -> str:
        return str(frame.evaluate(SAVE, [_small(tmp_path), ASKED, home]))

    for code, act in HOSTILE.values():
        write(tmp_path, act)
        assert code in shown(), act[:80]
    for sections in SECTIONS.values():
        write(tmp_path, sections=f"{sections}\n")
        assert "E011" in shown(), sections[:80]
    write(tmp_path)
    family = tmp_path / "small" / "family.yaml"
    family.write_text(family.read_text().replace("cards:\n", "cards:\n  blank: 1000000\n"))
    assert "E313" in shown()
    write(tmp_path, "amount = " + "(" * 140 + "1" + ")" * 140)
    assert "Ayr" in shown(), "a text at the limit is read"
    write(tmp_path, "while amount > 0 at most 1000000000 times:\n  amount = 1\nend game")
    shown()
    frame.goto(f"{home}pane/compare?ruleset=tiny&other=tiny")
    frame.locator("button[name=play]").click()
    frame.locator("#games [role=alert]", has_text="R00").wait_for()


def test_when_python_ends_files_are_kept_and_the_last_text_is_not_read_again(
    visit: Visit, folder: Path, address: str, tmp_path: Path
) -> None:
    """Nothing that is known ends it, so the worker of this site does it itself."""
    mortal = folder / "mortal"
    shutil.copytree(folder / "some" / "studio", mortal)
    with (mortal / "worker.js").open("a") as script:
        script.write(
            "addEventListener('end', () => python.runPython('x = []\\nfor _ in range(100000): x = [x]\\ndel x'));"
        )
    page, _ = visit.open(address.replace("some/studio", "mortal"))
    write(tmp_path)
    files = _small(tmp_path)[::-1]  # the family last
    assert "Ayr" in page.frame(name="studio").evaluate(SAVE, [files, ASKED])
    page.workers[0].evaluate("dispatchEvent(new Event('end'))")
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert "Python has ended" in alert.inner_text()
    page.get_by_role("button", name="Start again").click()
    page.frame_locator("iframe[name=studio]").locator("#files a[data-name='small/tiny.yaml']").wait_for()
    frame = page.frame(name="studio")
    assert "has ended Python" in frame.evaluate(SAVE, [[], ASKED])
    changed = [(name, f"{text}# changed\n") for name, text in files]
    assert "Ayr" in frame.evaluate(SAVE, [changed, ASKED])
    shutil.rmtree(mortal)


def test_games_are_compared_in_modules(visit: Visit, address: str) -> None:
    page, _ = visit.open(address)
    frame = page.frame(name="studio")
    frame.goto(f"{frame.url.partition('#')[0]}pane/compare?ruleset=germany-2018&other=germany-2004")
    frame.locator("button[name=play]").click()
    frame.locator("#games button", has_text="Play again").wait_for()  # the plain form takes minutes
    assert "200" in frame.locator("#games").inner_text()
