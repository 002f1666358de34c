"""The page of the studio in a browser: a map by form, an error, its quick fix, the board, and a link."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from interpreter.base.paths import shipped
from tests.serve.served import browser
from tests.serve.test_browser import serious
from tests.studio.home import Home

WAIT = 60_000
MAP = "power-grid/maps/my-town.yaml"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    running = Home(tmp_path_factory.mktemp("studio"))
    yield running
    running.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found


class Page:
    """The page in a browser of its own. ``wrong`` is what went wrong in it."""

    def __init__(self, chromium: Any, home: Home, width: int = 1440, **how: Any) -> None:
        context = chromium.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce", **how)
        self.page, self.home = context.new_page(), home
        self.page.set_default_timeout(WAIT)
        self.wrong: list[str] = []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on(
            "console", lambda said: self.wrong.append(said.text) if said.type in ("error", "warning") else None
        )

    def open(self, at: str = "") -> None:
        self.page.goto(f"{self.home.base}/{at}")
        self.page.locator("#choice select").wait_for(state="attached")

    def open_file(self, name: str) -> None:
        self.page.evaluate("(name) => document.querySelector(`#files a[data-name='${name}']`).click()", name)
        self.wait(f"#name:has-text('{name}')")

    def line(self, text: str) -> None:
        """Put the cursor behind a text in the editor."""
        self.page.locator(".cm-line", has_text=text).first.click()
        self.page.keyboard.press("End")

    def wait(self, selector: str, **how: Any) -> None:
        self.page.locator(selector).first.wait_for(**how)

    def chosen(self, ruleset: str) -> None:
        """Wait until a ruleset is at hand, in the choice and in the pane."""
        self.wait(f"#choice option[value='{ruleset}']:checked", state="attached")
        self.page.wait_for_function(
            "(id) => document.querySelector('#pane').contentDocument?.URL.includes(`ruleset=${id}`)", arg=ruleset
        )

    def pane(self) -> Any:
        return self.page.frame_locator("#pane")

    def close(self) -> None:
        refused = ("409", "412")  # of panes without anything to show, and of a file that was changed elsewhere
        assert [each for each in self.wrong if not any(status in each for status in refused)] == []
        assert self.home.errors == []
        self.page.context.close()


def test_a_map_from_a_form_to_a_board_and_a_link(chromium: Any, home: Home) -> None:
    studio = Page(chromium, home, permissions=["clipboard-write"])
    page = studio.page
    studio.open()
    page.get_by_role("tab", name="Coverage").click()
    page.get_by_role("button", name="New…").click()
    page.get_by_label("Name", exact=True).fill("my-town")
    page.get_by_label("Ruleset to build on").select_option("germany-2018")
    page.get_by_role("button", name="Create").click()
    studio.wait(f"#files a[data-name='{MAP}'][aria-current]")
    studio.chosen("my-town-2018")
    studio.wait("#problems h2:has-text('No ')")
    assert page.locator("[data-pane=board][aria-selected=true]").count() == 1
    studio.pane().locator(".nodes a").first.wait_for()
    before = home.bench.read(MAP)

    studio.line("title:")  # a mistake stands beside its line, and in the list, and is saved all the same
    page.keyboard.type("\ncites_: []")
    studio.wait("#problems li.error:has-text('cites_')")  # not that of a part of it
    studio.wait(".cm-lintRange-error")
    page.keyboard.press("Control+z")
    studio.wait("#problems h2:has-text('No ')")
    studio.wait("#saved:has-text('saved')")
    assert home.bench.read(MAP) == before

    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.insert_text(" by the sea")  # the board follows
    studio.pane().locator("text=by the sea").first.wait_for(state="attached")

    studio.pane().locator(".nodes a").last.click()  # a node leads to its line
    page.wait_for_url("**#at=power-grid/maps/my-town.yaml:*")
    assert page.locator(".cm-activeLine").count() == 1

    page.get_by_role("button", name="Link…").click()
    link = page.locator("#ask [data-link]").input_value()
    assert link.startswith(f"{home.base}/#pack=")
    page.get_by_role("button", name="Copy").click()
    studio.wait("#ask [role=status]:has-text('copied')")
    studio.close()

    text = home.bench.read(MAP)
    home.within(lambda: home.bench.remove(MAP))
    other = Page(chromium, home)  # whoever opens the link sees what it has before anything is written
    other.open(link.removeprefix(f"{home.base}/"))
    other.wait("#ask .states")
    assert MAP not in home.bench.files()
    other.page.get_by_role("button", name="Write 1 file").click()
    other.wait(f"#files a[data-name='{MAP}'][aria-current]")
    assert home.bench.read(MAP) == text
    other.pane().locator("text=by the sea").first.wait_for(state="attached")
    other.chosen("my-town-2018")
    other.close()

    again = Page(chromium, home)  # and opens it without a question once it has the files
    again.open(link.removeprefix(f"{home.base}/"))
    again.wait(f"#files a[data-name='{MAP}'][aria-current]")
    again.chosen("my-town-2018")
    assert again.page.locator("#ask[open]").count() == 0
    again.close()


def test_the_first_visit_follows_what_one_does(chromium: Any, home: Home) -> None:
    studio = Page(chromium, home)
    page, step = studio.page, "#visit li[aria-current]"
    studio.open()
    page.get_by_role("button", name="First visit").click()
    page.get_by_role("button", name="Begin").click()
    studio.wait(f"{step}:has-text('1 of 4')")
    studio.wait(".cm-activeLine:has-text('+ 1')")
    page.keyboard.press("End")
    page.keyboard.press("Backspace")
    page.keyboard.insert_text("3")
    studio.wait(f"{step}:has-text('2 of 4')")
    page.keyboard.press("Backspace")
    page.keyboard.insert_text("roudn")
    studio.wait("#problems li.error:has-text('roudn')")
    studio.wait(f"{step}:has-text('3 of 4')")
    page.locator("#problems .fix").first.click()
    studio.wait(f"{step}:has-text('4 of 4')")
    assert "+ round" in home.bench.read("power-grid/overlays/first-visit.yaml")
    page.get_by_role("tab", name="Play").click()
    studio.pane().locator("h1", has_text="First visit").wait_for()  # the overlay is at hand
    assert page.locator(f"{step}:has-text('4 of 4')").count() == 1
    studio.pane().get_by_role("button", name="Play", exact=True).click()
    studio.wait(f"{step}:has-text('That is all')")
    assert page.get_by_role("button", name="Begin again").count() == 1
    table = studio.pane().frame_locator("iframe")
    for strip in (".top", ".top nav", "#f-prompt .tools"):  # nothing is cut off at the width of the pane
        table.locator(strip).first.wait_for()
        assert table.locator(strip).first.evaluate("(each) => each.scrollWidth <= each.clientWidth"), strip
    studio.close()


def test_the_address_keeps_what_is_at_hand(chromium: Any, home: Home) -> None:
    first, second = "rulesets/goofspiel/family.yaml", "rulesets/power-grid/family.yaml"
    studio = Page(chromium, home)
    page = studio.page
    studio.open(f"#at={first}:1")
    studio.chosen("goofspiel")
    page.get_by_role("tab", name="Rulebook").click()
    studio.open_file(second)
    studio.chosen("germany-2018")
    page.locator("#choice select").select_option("brazil-2018")
    studio.chosen("brazil-2018")
    page.locator("#choice [name=players]").fill("3")
    page.get_by_role("tab", name="Board").evaluate("(tab) => tab.click()")  # what is being typed is not chosen yet
    page.wait_for_url("**pane=board**")
    assert "players=3" not in page.url
    page.get_by_role("tab", name="Rulebook").evaluate("(tab) => tab.click()")
    page.wait_for_url("**pane=rulebook**")
    page.keyboard.press("Tab")
    page.wait_for_url("**players=3**")
    page.reload()
    studio.chosen("brazil-2018")
    assert page.locator("#choice [name=players]").input_value() == "3"
    studio.wait("[data-pane=rulebook][aria-selected=true]")
    studio.wait(f"#name:has-text('{second}')")

    page.get_by_role("button", name="Link…").click()
    page.locator("#ask [role=alert]").wait_for()  # no file of the author is in it
    page.go_back()  # before the number of players
    page.wait_for_url("**players=&**")
    assert page.locator("#ask[open]").count() == 0
    page.go_back()
    studio.chosen("germany-2018")
    page.go_back()
    studio.chosen("goofspiel")
    studio.wait(f"#name:has-text('{first}')")
    page.goto(f"{home.base}/#at={second}:1&ruleset=usa-2018&pane=../download")  # a pane alone is shown in the frame
    studio.chosen("usa-2018")
    studio.wait("[data-pane=board][aria-selected=true]")
    studio.close()


def test_a_deleted_file_is_closed_and_not_written_again(chromium: Any, home: Home) -> None:
    name = "goofspiel/overlays/gone.yaml"
    home.within(lambda: home.bench.write(name, "language: 2\noverlay: goofspiel/gone\nover: [goofspiel]\n"))
    studio = Page(chromium, home)
    page = studio.page
    studio.open(f"#at={name}:1")
    studio.wait(".cm-line:has-text('language')")
    studio.line("over:")
    page.keyboard.type(" # a last word")
    page.get_by_role("button", name=f"Rename or delete {name}").click()
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.locator("#none").wait_for()
    page.wait_for_timeout(400)  # longer than the pause before a text is saved
    assert page.locator("#saved").inner_text() == ""
    assert name not in home.bench.files()
    studio.close()


def test_what_another_program_writes_is_not_lost(chromium: Any, home: Home) -> None:
    home.within(lambda: home.bench.write("goofspiel/overlays/dear.yaml", "language: 2\n"))
    studio = Page(chromium, home)
    studio.open("#at=goofspiel/overlays/dear.yaml:1")
    studio.wait(".cm-line:has-text('language')")
    (home.bench.root / "goofspiel/overlays/dear.yaml").write_text("# another program\n")
    studio.page.on("dialog", lambda dialog: dialog.dismiss())
    studio.line("language")
    studio.page.keyboard.type("1")
    studio.wait(".cm-line:has-text('another program')")
    assert home.bench.read("goofspiel/overlays/dear.yaml") == "# another program\n"
    studio.close()


def test_shipped_files_are_read_and_definitions_found(chromium: Any, home: Home) -> None:
    studio = Page(chromium, home)
    page = studio.page
    studio.open("#at=rulesets/goofspiel/family.yaml:1")
    studio.wait("#outline li")
    page.locator(".cm-content").click()
    page.keyboard.type("x")
    assert page.locator("#saved").inner_text() == "shipped, to read"
    page.locator("#outline a", has_text="rules").first.click()
    page.wait_for_url("**/#at=rulesets/goofspiel/family.yaml:*")
    assert (shipped("rulesets") / "goofspiel/family.yaml").read_text()[0] != "x"
    studio.close()


def test_names_are_found_in_all_files_and_renamed(chromium: Any, home: Home) -> None:
    home.post("new/game", {"name": "pebbles"})
    name = next(each for each in home.bench.files() if each.endswith("pebbles/family.yaml"))
    studio = Page(chromium, home)
    page = studio.page
    studio.open(f"#at={name}:1")
    studio.wait("#outline li")
    page.get_by_role("button", name="Go to…").click()
    page.locator("#ask [name=text]").fill("prepare")
    page.keyboard.press("Enter")
    page.locator("#ask .states a").first.click()
    studio.wait(".cm-activeLine:has-text('prepare:')")
    studio.wait(".cm-line:has-text('let lot') .hint:has-text(': seat')")
    studio.line("let lot")
    page.keyboard.press("Home")
    for _ in "let l":
        page.keyboard.press("ArrowRight")
    page.keyboard.press("F2")
    assert page.locator("#ask [name=to]").input_value() == "lot"
    page.keyboard.insert_text("drawn")
    page.keyboard.press("Enter")
    studio.wait(".cm-line:has-text('order = [drawn] + clockwise(drawn)')")
    assert "let drawn = " in home.bench.read(name)
    assert page.locator(f"#files a[data-name='{name}'][aria-current]").count() == 1
    page.keyboard.press("Control+z")  # with the cursor in the editor as before
    studio.wait(".cm-line:has-text('order = [lot] + clockwise(lot)')")
    studio.wait("#saved:has-text('saved')")
    assert "let lot = " in home.bench.read(name)
    studio.close()


def test_names_that_want_to_be_html_stay_names(chromium: Any, home: Home) -> None:
    text = 'language: 2\noverlay: goofspiel/bold\ntitle: "<img src=x onerror=alert(1)>"\nover: [goofspiel]\n'
    text += "rules:\n  bold(n: <b>int</b>): {is: 1}\n"
    home.within(lambda: home.bench.write("goofspiel/overlays/bold.yaml", text))
    studio = Page(chromium, home)
    studio.open("#at=goofspiel/overlays/bold.yaml:6")
    studio.wait("#problems li.error")
    assert studio.page.locator("img, b").count() == 0
    studio.close()


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (768, "light"), (1440, "dark"), (1440, "light")])
def test_no_serious_findings_of_axe(chromium: Any, home: Home, width: int, scheme: str) -> None:
    home.within(lambda: home.bench.write("goofspiel/overlays/axe.yaml", "language: 2\noverlay: goofspiel/axe\n"))
    studio = Page(chromium, home, width, color_scheme=scheme, bypass_csp=True)
    page = studio.page
    studio.open("#at=goofspiel/overlays/axe.yaml:1")
    studio.wait("#problems li.error")
    for view in ("files", "edit", "pane") if width < 700 else ("edit",):
        page.keyboard.press(f"Alt+{('files', 'edit', 'pane').index(view) + 1}")
        assert serious(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.keyboard.press("Alt+1")
    page.keyboard.press("?")
    page.locator("#keys").wait_for()
    assert serious(page) == []
    page.keyboard.press("Escape")
    page.locator("#files button").first.click()
    page.locator("#ask form").first.wait_for()
    assert serious(page) == []
    page.context.close()


def test_the_keyboard_is_enough(chromium: Any, home: Home) -> None:
    home.within(lambda: home.bench.write("goofspiel/overlays/dear.yaml", "language: 2\noverlay: goofspiel/dear\n"))
    studio = Page(chromium, home)
    page = studio.page
    studio.open("#at=goofspiel/overlays/dear.yaml:1")
    page.keyboard.press("Alt+3")
    assert page.locator("[data-pane]:focus").count() == 1
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.locator("[data-pane=play][aria-selected=true]:focus").count() == 1
    page.keyboard.press("Alt+2")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")  # which else indents
    assert page.locator("#problems:focus-within, #right:focus-within").count() == 1
    studio.close()


def test_without_a_file_the_page_says_what_one_can_do(chromium: Any, home: Home) -> None:
    home.within(lambda: home.bench.write("goofspiel/overlays/dear.yaml", "language: 2\noverlay: goofspiel/dear\n"))
    studio = Page(chromium, home)
    page, none = studio.page, studio.page.locator("#none")
    studio.open()
    none.wait_for()
    assert not page.locator(".cm-editor").is_visible()
    page.keyboard.press("Alt+2")
    assert none.locator("button:focus").count() == 1
    none.get_by_role("button", name="Take four first steps").click()
    page.get_by_role("button", name="Begin").wait_for()
    for name in ("Make a map", "Open a zip"):
        none.get_by_role("button", name=name).click()
        page.get_by_role("button", name="Cancel").click()
    none.get_by_role("link", name="goofspiel").click()
    studio.wait("#name:has-text('rulesets/goofspiel/family.yaml')")
    assert not none.is_visible()

    studio.open_file("goofspiel/overlays/dear.yaml")
    page.get_by_role("button", name="Rename or delete goofspiel/overlays/dear.yaml").click()
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    none.wait_for()
    assert page.locator("#name").inner_text() == ""
    studio.close()


def test_tabs_wait_for_the_ruleset_and_follow_the_pane(chromium: Any, home: Home) -> None:
    studio, held = Page(chromium, home), list[Any]()
    page, asked = studio.page, list[str]()
    page.on("request", lambda request: asked.append(request.url) if re.search("/pane/[a-z]+[?]", request.url) else None)

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/choice?*", hold, times=1)
    page.goto(home.base)
    page.get_by_role("tab", name="Rulebook").click()
    while not held:
        page.wait_for_timeout(20)
    assert asked == []
    held[0].continue_()
    studio.wait("[data-pane=rulebook][aria-selected=true]")
    page.wait_for_function("() => document.querySelector('#pane').contentDocument.URL.includes('/pane/rulebook?')")
    assert [each for each in asked if "ruleset=" not in each] == []
    studio.pane().locator("body").evaluate("() => { location.href = location.href.replace('rulebook', 'scenarios'); }")
    studio.wait("[data-pane=scenarios][aria-selected=true]")
    assert page.locator("[role=tab][aria-selected=true]").count() == 1
    studio.close()


def test_what_only_a_script_does_cannot_be_pressed_before_the_script_is_there(chromium: Any, home: Home) -> None:
    host = str(home.post("tables/new/goofspiel", {"players": "2", "seat0": "person", "seat1": "bot"}).url)
    page, bare = (chromium.new_context(java_script_enabled=runs).new_page() for runs in (True, False))
    bare.goto(host)
    seats = [each.evaluate("(link) => link.href") for each in bare.locator("a.take").all()]
    assert len(seats) == 2, "a player's and that of spectators"
    bare.goto(home.base)
    tabs = [each.get_attribute("data-pane") for each in bare.locator("[data-pane]").all()]
    panes = [f"pane/{name}?ruleset=germany-2018" for name in tabs]
    own = [f"{home.base}/{each}" for each in ("", "tables/", "tables/new/goofspiel", *panes)]
    waiting = 0
    for address in (*own, host, *seats):
        bare.goto(address)
        pressed = bare.locator("button[type=button]:visible:not([inert], [inert] *)")
        assert pressed.count() == 0, (address, pressed.first.evaluate("(each) => each.outerHTML"))
        waiting += bare.locator("[inert]").count() > 0
        page.goto(address)
        page.locator("[inert]").first.wait_for(state="detached")
    assert waiting == 5, "the studio, the form of a table, its host's page and two views of it"
    for each in (page, bare):
        each.context.close()


def test_a_press_waits_until_the_studio_listens(chromium: Any, home: Home) -> None:
    studio, held = Page(chromium, home), list[Any]()
    page = studio.page
    page.route("**/codemirror.js", lambda route: held.append(route), times=1)  # Playwright takes no built-in method
    page.goto(home.base, wait_until="commit")
    button = page.locator("button[data-ask='new/map']").first
    with pytest.raises(Exception, match="Timeout"):
        button.click(timeout=500)
    held[0].continue_()
    button.click()
    page.get_by_label("Name", exact=True).wait_for()
    studio.close()
