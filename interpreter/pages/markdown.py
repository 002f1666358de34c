"""Markdown renderer of pages: the common dialect, with HTML for elements that Markdown lacks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from interpreter.pages import page as elements
from interpreter.pages.html import inline

__all__ = ["markdown_of"]

_SPECIAL = re.compile(r"[\\*{}\[\]<>|#]|(?<!\w)_|_(?!\w)")
_CODE = re.compile(r"(`[^`]+`)")


def markdown_of(page: elements.Page) -> str:
    """Return a page as a Markdown file."""
    parts = [f"# {_plain(page.title)}"]
    parts += _blocks(page.front)
    if not page.sheet:
        parts += ["## Contents", "\n".join(_contents(page.sections, 0))]
    parts += _blocks(page.sections)
    return "\n\n".join(parts) + "\n"


def _contents(sections: Iterable[elements.Section], depth: int) -> Iterator[str]:
    for section in (section for section in sections if section.is_listed):
        yield f"{'  ' * depth}- [{_plain(section.title)}](#{section.id})"
        yield from _contents(section.sections, depth + 1)


def _blocks(blocks: Iterable[elements.Block | elements.Section], level: int = 2) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, elements.Section):
            yield f'<a id="{block.id}"></a>\n\n{"#" * level} {_plain(block.title)}'
            yield from _blocks(block.blocks, level + 1)
        else:
            yield from _block(block)


def _block(block: elements.Block) -> Iterator[str]:
    match block:
        case elements.Paragraph(words, kind):
            yield f"> {_inline(words)}" if kind == "note" else _inline(words)
        case elements.Listing(items, numbered):
            signs = (f"{number}." if numbered else "-" for number in range(1, len(items) + 1))
            yield "\n".join(f"{sign} {_inline(item)}" for sign, item in zip(signs, items, strict=True))
        case elements.Facts(pairs):
            yield "\n".join(f"- {_inline(term)}: {_inline(words)}" for term, words in pairs)
        case elements.Statements(items):
            yield "\n".join(
                f"- {_plain(quoted.text)}{f' → {_plain(quoted.reading)}' if quoted.reading else ''} `{quoted.id}`"
                for quoted in items
            )
        case elements.Grid():
            yield _table(block)
        case elements.Source(text):
            yield f"```text\n{text}\n```"
        case elements.Folded(summary, blocks, unfolded):
            yield f"<details{' open' if unfolded else ''}><summary>{inline(summary)}</summary>"
            yield from _blocks(blocks)
            yield "</details>"
        case elements.Beside(heads, left, right):
            for head, blocks in zip(heads, (left, right), strict=True):
                yield f"**{_plain(head)}**"
                yield from _blocks(blocks)
        case elements.Drawing(svg, caption):
            yield svg.strip()
            yield f"*{_plain(caption)}*"


def _table(table: elements.Grid) -> str:
    def cell(row: int, column: int, words: elements.Words) -> str:
        stands_out = column < table.heads or column in table.marked_columns or row in table.marked_rows
        return f"**{text}**" if (text := _inline(words)) and stands_out else text

    cells = table.cells("–")
    shown = [[cell(number, place, words) for place, words in enumerate(row)] for number, row in enumerate(cells)]
    titles = [*map(_plain, table.titles)] or [""] * max(map(len, cells), default=0)
    return "\n".join(f"| {' | '.join(row)} |" for row in [titles, ["---"] * len(titles), *shown])


def _inline(words: elements.Words) -> str:
    return "".join(map(_word, elements.inlines(words)))


def _word(word: elements.Inline) -> str:
    match word:
        case str():
            return _plain(word)
        case elements.Code(text) | elements.Place(text):
            return _code(text)
        case elements.Slot(text):
            return f"*{_plain(text)}*"
        case elements.Id(text):
            return f"`{text}`"
        case elements.Strong(text):
            return f"**{_plain(text)}**"
        case elements.Link(to, text):
            return f"[{_plain(text)}](#{to})"


def _code(text: str) -> str:
    """Return rule text in backticks, with `|` escaped for table cells."""
    escaped = text.replace("|", "\\|")
    return f"`{escaped}`" if "`" not in text else f"`` {escaped} ``"


def _plain(text: str) -> str:
    """Return text with its special characters escaped, except in rule text between backticks."""
    pieces = _CODE.split(re.sub(r"\s+", " ", text))
    return "".join(
        _code(piece[1:-1]) if place % 2 else _SPECIAL.sub(r"\\\g<0>", piece) for place, piece in enumerate(pieces)
    )
