"""Markdown renderer of pages: the common dialect, with HTML for elements that Markdown lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from interpreter.pages.page import (
    Beside,
    Block,
    Code,
    Drawing,
    Facts,
    Folded,
    Grid,
    Id,
    Inline,
    Link,
    Listing,
    Page,
    Paragraph,
    Section,
    Slot,
    Source,
    Statements,
    Strong,
    Words,
)

__all__ = ["markdown_of"]

_SPECIAL = re.compile(r"[\\*{}\[\]<>|#]|(?<!\w)_|_(?!\w)")
_CODE = re.compile(r"(`[^`]+`)")


def markdown_of(page: Page) -> str:
    """Return a page as a Markdown file."""
    parts = [f"# {_plain(page.title)}"]
    parts += [part for block in page.front for part in _block(block)]
    if not page.sheet:
        parts += ["## Contents", "\n".join(_contents(page.sections, 0))]
    parts += [part for section in page.sections for part in _section(section, 2)]
    return "\n\n".join(parts) + "\n"


def _contents(sections: tuple[Section, ...], depth: int) -> Iterator[str]:
    for section in (section for section in sections if section.is_listed):
        yield f"{'  ' * depth}- [{_plain(section.title)}](#{section.id})"
        yield from _contents(section.sections, depth + 1)


def _section(section: Section, level: int) -> Iterator[str]:
    yield f'<a id="{section.id}"></a>\n\n{"#" * level} {_plain(section.title)}'
    for block in section.blocks:
        yield from _section(block, level + 1) if isinstance(block, Section) else _block(block)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Paragraph(words, kind):
            yield f"> {_inline(words)}" if kind == "note" else _inline(words)
        case Listing(items, numbered):
            signs = (f"{number}." if numbered else "-" for number in range(1, len(items) + 1))
            yield "\n".join(f"{sign} {_inline(item)}" for sign, item in zip(signs, items, strict=True))
        case Facts(pairs):
            yield "\n".join(f"- {_inline(term)}: {_inline(words)}" for term, words in pairs)
        case Statements(items):
            yield "\n".join(
                f"- {_plain(quoted.text)}{f' → {_plain(quoted.reading)}' if quoted.reading else ''} `{quoted.id}`"
                for quoted in items
            )
        case Grid():
            yield _table(block)
        case Source(text):
            yield f"```text\n{text}\n```"
        case Folded(summary, blocks, unfolded):
            yield f"<details{' open' if unfolded else ''}><summary>{_inline_html(summary)}</summary>"
            for inner in blocks:
                yield from _block(inner)
            yield "</details>"
        case Beside(heads, left, right):
            for head, blocks in zip(heads, (left, right), strict=True):
                yield f"**{_plain(head)}**"
                for inner in blocks:
                    yield from _block(inner)
        case Drawing(svg, caption):
            yield svg.strip()
            yield f"*{_plain(caption)}*"


def _table(table: Grid) -> str:
    def row(cells: list[str]) -> str:
        return f"| {' | '.join(cells)} |"

    def cell(row: int, column: int, words: Words) -> str:
        stands_out = column < table.heads or column in table.marked_columns or row in table.marked_rows
        return f"**{text}**" if (text := _inline(words)) and stands_out else text

    shown = [
        [cell(number, place, words) for place, words in enumerate(cells)] for number, cells in enumerate(table.rows)
    ]
    rule = ["---"] * len(table.columns)
    return "\n".join(map(row, [[_plain(name) for name in table.columns], rule, *shown]))


def _inline(words: Words) -> str:
    return "".join(map(_word, words))


def _word(word: Inline) -> str:
    match word:
        case str():
            return _plain(word)
        case Code(text):
            return _code(text)
        case Slot(text):
            return f"*{_plain(text)}*"
        case Id(text):
            return f"`{text}`"
        case Strong(text):
            return f"**{_plain(text)}**"
        case Link(to, text):
            return f"[{_plain(text)}](#{to})"


def _code(text: str) -> str:
    """Return rule text in backticks, with `|` escaped for table cells."""
    escaped = text.replace("|", "\\|")
    return f"`{escaped}`" if "`" not in text else f"`` {escaped} ``"


def _inline_html(words: Words) -> str:
    from interpreter.pages.html import inline

    return inline(words)


def _plain(text: str) -> str:
    """Return text with its special characters escaped, except in rule text between backticks."""
    pieces = _CODE.split(re.sub(r"\s+", " ", text))
    return "".join(
        _code(piece[1:-1]) if place % 2 else _SPECIAL.sub(r"\\\g<0>", piece) for place, piece in enumerate(pieces)
    )
