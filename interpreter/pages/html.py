"""HTML renderer of pages: one self-contained file with its style."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from html import escape
from importlib.resources import files
from itertools import groupby

from msgspec.structs import replace

from interpreter.base.lazy import Scoped
from interpreter.pages import page as elements
from interpreter.reading.statements import Statement

__all__ = ["SCRIPT", "html_of", "inline", "inside_of", "linked", "notebook_cell", "sections_of", "style"]

_CODE = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_EMPTY = frozenset({"br", "input", "meta"})
_MARKS = {elements.Code: "code", elements.Slot: "var", elements.Strong: "strong"}
_PIECE = 8
_UNFOLD = """\
const button = document.querySelector(".unfold");
button.hidden = false;
button.addEventListener("click", () => {
  const closed = document.querySelectorAll("main details:not([open])").length > 0;
  for (const each of document.querySelectorAll("main details")) each.open = closed;
});
"""


_SORT = """\
const value = (row, column) => {
  const text = row.cells[column].textContent.replace("\u2212", "-").replace(",", "").replace("\u221e", "1e99");
  return Number.isNaN(parseFloat(text)) ? text : parseFloat(text);
};
const compared = (a, b) => {
  if (typeof a !== typeof b) return typeof a === "number" ? 1 : -1;
  return typeof a === "number" ? a - b : a.localeCompare(b, document.documentElement.lang, { numeric: true });
};
for (const head of document.querySelectorAll(".sortable th[scope=col]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const before = head.getAttribute("aria-sort");
    const isUp = head.classList.contains("number") ? before === "descending" : before !== "ascending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", isUp ? "ascending" : "descending");
    const body = head.closest("table").tBodies[0];
    const rows = [...body.rows].map((row) => [value(row, head.cellIndex), row]);
    rows.sort(([a], [b]) => (isUp ? compared(a, b) : compared(b, a)));
    body.append(...rows.map(([, row]) => row));
  });
}
"""
_FILTER = """\
const made = (name, properties, ...inside) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...inside);
  return element;
};
for (const table of document.querySelectorAll("[data-filter]")) {
  const rows = [...table.tBodies[0].rows].map((row) => [row, row.cells[table.dataset.filter].textContent]);
  const boxes = [...new Set(rows.map(([, value]) => value))].map((value) =>
    made("input", { type: "checkbox", value, checked: true }));
  const search = made("input", { type: "search", placeholder: "words", ariaLabel: "Search" });
  const labels = boxes.map((box) => made("label", {}, box, ` ${box.value}`));
  const found = made("output", {});
  const form = made("form", { className: "filters", onsubmit: () => false }, ...labels, search, found);
  form.addEventListener("input", () => {
    const on = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const words = search.value.toLowerCase().split(/\\s+/);
    for (const [row, value] of rows)
      row.hidden = !on.has(value) || !words.every((word) => row.textContent.toLowerCase().includes(word));
    found.value = `${rows.filter(([row]) => !row.hidden).length} of ${rows.length}`;
  });
  table.parentElement.before(form);
}
"""
SCRIPT = _UNFOLD + _SORT + _FILTER
"""What scripts of pages do, for pages that do not have it inside."""
linked = Scoped[Callable[[str], str]]("linked", lambda text: "")
"""Link to a place (`FILE:LINE`) or a statement (its id) in an editor that shows the page; empty if there is none."""
_SCOPE = ".regelwerk"
"""Class of cells of a notebook; repeated, so that their style has precedence over that of the notebook."""


def html_of(page: elements.Page) -> str:
    """Return a page as an HTML file with its style, and a script that it also works without."""
    inside, class_ = inside_of(page)
    parts = ((_UNFOLD, 'class="unfold"'), (_SORT, 'class="sortable'), (_FILTER, 'data-filter="'))
    script = "".join(each for each, sign in parts if sign in inside[-1])
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", escape(page.title)),
        element("style", "\n" + style()),
    )
    body = element("body", *inside, *([element("script", "\n" + script)] if script else []), class_=class_)
    whole = element("html", head, "\n", body, lang=page.language)
    return f"<!doctype html>\n{whole}\n"


def inside_of(page: elements.Page) -> tuple[tuple[str, ...], str]:
    """Return what is inside the body of a page, and the class of the body."""
    header = element("header", element("h1", escape(page.title)), *map(_block, page.front))
    if page.sheet:
        return (header, element("main", *_columns(page.sections))), page.sheet
    unfold = element("button", "Expand or collapse all", type="button", class_="unfold", hidden=True)
    contents = element("nav", element("h2", "Contents"), _contents(page.sections), aria_label="Contents")
    main = element("main", unfold, sections_of(page.sections))
    return (header, contents, main), "book wide-page" if page.wide else "book"


def sections_of(sections: Iterable[elements.Section]) -> str:
    """Return the sections of a page."""
    return "".join(_section(section, 2) for section in sections)


@cache
def style() -> str:
    """Return the style of all pages."""
    return files("interpreter.pages").joinpath("style.css").read_text(encoding="utf-8")


def notebook_cell(blocks: Iterable[elements.Block]) -> str:
    """Return blocks as an HTML fragment with their style, which applies to them alone, as the output of a notebook."""
    own = re.sub(r"(?<!\S)(?::root|body)\b", "&", style())
    plain = "table, tr, th, td { color: inherit; background: none; }"
    inside = element("style", f"\n{_SCOPE * 4} {{\n{plain}\n{own}& {{ margin: 0; }}\n}}\n")
    return element("div", inside, *map(_block, blocks), class_=_SCOPE[1:])


def element(name: str, /, *inside: str, **attributes: object) -> str:
    """Return an element with HTML ``inside``. Underscores in attribute names become hyphens, trailing ones are removed.
    An attribute that is True has no value; one that is None, False or empty is left out."""
    parts = [name]
    for key, value in attributes.items():
        shown = key.rstrip("_").replace("_", "-")
        if value is True:
            parts.append(shown)
        elif value is not None and value is not False and value != "":
            parts.append(f'{shown}="{escape(str(value))}"')
    opening = f"<{' '.join(parts)}>"
    return opening if name in _EMPTY else f"{opening}{''.join(inside)}</{name}>"


# --- headings


def _contents(sections: Iterable[elements.Section]) -> str:
    items = []
    for section in sections:
        listed = [element("li", _to(each)) + "\n" for each in section.sections if each.is_listed]
        items.append(element("li", _to(section), element("ol", *listed) if listed else ""))
    return element("ol", *items)


def _to(section: elements.Section) -> str:
    return element("a", escape(section.title), href=f"#{section.id}")


def _section(section: elements.Section, level: int) -> str:
    below = (
        _section(block, level + 1) if isinstance(block, elements.Section) else _block(block) for block in section.blocks
    )
    return "\n" + element("section", element(f"h{level}", escape(section.title)), *below, id=section.id)


def _columns(sections: Iterable[elements.Section]) -> Iterator[str]:
    """Yield the sections of a sheet in columns; those that consist of sections have the whole width."""
    for is_wide, group in groupby(sections, lambda section: len(section.sections) == len(section.blocks)):
        found = [_section(section, 2) for section in group]
        yield from found if is_wide else [element("div", *found)]


# --- blocks


def _block(block: elements.Block) -> str:
    match block:
        case elements.Paragraph(words, kind):
            return element("p", inline(words), class_=kind)
        case elements.Listing(items, numbered):
            return element("ol" if numbered else "ul", *(element("li", inline(item)) for item in items))
        case elements.Facts(pairs):
            rows = (element("div", element("dt", inline(a)), element("dd", inline(b))) for a, b in pairs)
            return element("dl", *rows)
        case elements.Statements(items):
            return element("ul", *map(_statement, items), class_="statements")
        case elements.Grid():
            return element("div", *map(_table, _beside(block)), class_="wide", tabindex="0")
        case elements.Source():
            return element("pre", element("code", _source(block)), tabindex="0")
        case elements.Beside(heads, left, right):
            sides = (
                element("div", element("h4", escape(head)), *map(_block, blocks), class_=side)
                for head, blocks, side in zip(heads, (left, right), ("first", "second"), strict=True)
            )
            return element("div", *sides, class_="beside")
        case elements.Folded(summary, blocks, unfolded):
            places = (each for each in elements.inlines(summary) if isinstance(each, elements.Place))
            links = [element("p", _word(each)) for each in places if linked.value(each.text)]
            with linked(lambda text: ""):  # what opens on a click has no links inside
                head = element("summary", inline(summary))
            return "".join([*links, element("details", head, *map(_block, blocks), open=unfolded)])
        case elements.Drawing(svg, caption, kind):
            below = element("figcaption", escape(caption)) if caption else ""
            as_wide_as_the_page = re.sub(r' width="[^"]*" height="[^"]*"', "", svg, count=1)
            return element("figure", as_wide_as_the_page, below, class_=kind)


def _statement(quoted: Statement) -> str:
    reading = element("span", prose(quoted.reading), class_="reading") if quoted.reading else ""
    id_ = element("span", _linked_to(quoted.id), class_="id")
    return element("li", prose(quoted.text), " " if reading else "", reading, " ", id_) + "\n"


def _beside(table: elements.Grid) -> list[elements.Grid]:
    rows = len(table.rows)
    size = max(-(-rows // 3), _PIECE) if table.long else max(rows, 1)
    return [replace(table, rows=table.rows[start : start + size]) for start in range(0, rows or 1, size)]


def _table(table: elements.Grid) -> str:
    cells = table.cells("–")
    figures = _figures(table)

    def classes(row: int | None, column: int) -> str:
        is_marked = column in table.marked_columns or row in table.marked_rows
        return " ".join([*(["here"] if is_marked else []), *(["number"] if column in figures else [])])

    def bar(row: int, column: int) -> str:
        bars = figures.get(column) if table.bars else None
        part = bars[row] / max(bars) if bars and max(bars) else 0.0
        return element("svg", class_="bar", width=f"{part:.1%}", aria_hidden="true") if part else ""

    def shown(row: int, column: int, cell: elements.Words) -> str:
        name, scope = ("th", "row") if column < table.heads else ("td", None)
        cell = cell.replace("-", "\u2212") if column in figures and isinstance(cell, str) else cell
        return element(name, bar(row, column), inline(cell), scope=scope, class_=classes(row, column))

    head = (element("th", escape(name), scope="col", class_=classes(None, n)) for n, name in enumerate(table.titles))
    rows = (
        element("tr", *(shown(number, place, cell) for place, cell in enumerate(row))) + "\n"
        for number, row in enumerate(cells)
    )
    class_ = "sortable" if table.sortable else ""
    heads = [element("thead", element("tr", *head))] if table.columns else []
    return element("table", *heads, element("tbody", *rows), class_=class_, data_filter=table.filtered)


def _figures(table: elements.Grid) -> dict[int, list[float]]:
    """Return the absolute values (0 for those without a number) of the columns of values of a sortable table."""
    found = {}
    for column, head in enumerate(table.columns if table.sortable else ()):
        cells = [row[column] for row in table.rows]
        numbers = [abs(cell) if isinstance(cell, int | float) else 0.0 for cell in cells]
        if column >= table.heads and (isinstance(head, elements.Column) or any(numbers)):
            found[column] = numbers
    return found


def _source(block: elements.Source) -> str:
    lines = [_linked(line, block.links) for line in block.text.split("\n")]
    return "\n".join(element("mark", line) if place in block.marked else line for place, line in enumerate(lines))


def _linked(text: str, links: dict[str, str]) -> str:
    """Return source text with its names linked to their sections."""
    parts, end = [], 0
    for match in _NAME.finditer(text):
        if match[0] in links and text[match.start() - 1 : match.start()] != ".":
            parts += [escape(text[end : match.start()]), element("a", match[0], href=f"#{links[match[0]]}")]
            end = match.end()
    return "".join([*parts, escape(text[end:])])


# --- words


def inline(words: elements.Words) -> str:
    """Return inline elements as HTML."""
    return "".join(map(_word, elements.inlines(words)))


def prose(text: str) -> str:
    """Return text as HTML, with rule text in backticks as code."""
    return _CODE.sub(lambda match: element("code", match[1]), escape(text))


def _linked_to(text: str) -> str:
    """Return a place or the id of a statement, as a link where an editor shows it."""
    address = linked.value(text)
    return element("a", escape(text), href=address, target="studio") if address else escape(text)


def _word(word: elements.Inline) -> str:
    match word:
        case str():
            return prose(word)
        case elements.Id(text, is_target):
            return element("span", _linked_to(text), class_="id", id=text if is_target else None)
        case elements.Place(text):
            return element("code", _linked_to(text))
        case elements.Link(to, text):
            return element("a", escape(text), href=f"#{to}")
        case _:
            return element(_MARKS[type(word)], escape(word.text))
