"""``regelwerk coverage``: rulebook statements that rules cite and scenarios prove, and rules that play reaches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

import click

from interpreter.base.plurals import joined, quoted
from interpreter.base.suggest import did_you_mean, did_you_mean_one_of
from interpreter.cli import options
from interpreter.cli.failures import refused
from interpreter.cli.output import as_json, picked, tell, write_page
from interpreter.cli.progress import counted, finish, naming
from interpreter.pages.page import Block, Grid, Paragraph, Strong

if TYPE_CHECKING:
    from interpreter.engine.citations import Citation
    from interpreter.engine.game import Ruleset
    from interpreter.reading.files import Shelf
    from interpreter.testing.coverage import Coverage
    from interpreter.testing.play_coverage import Reached

__all__ = ["command"]


@click.command("coverage")
@click.argument("named", metavar="[RULESET]", required=False)
@click.option("--rulebook", metavar="BOOK", help="Report this rulebook only.  [default: all that a ruleset follows]")
@click.option("--ruleset", metavar="RULESET", help="Ruleset to use.  [default: all that follow the rulebook]")
@click.option("--kind", metavar="KIND", help="Count only statements of this kind, such as rule, table or ui.")
@click.option("--mutate", is_flag=True, help="Mutation test: break each rule and check that a scenario fails.")
@options.games_option(about="none")
@click.option("--html", "page", metavar="FILE", help="Write a page with every statement and its implementation.")
@options.output_option("text", "json")
def command(
    named: str | None,
    rulebook: str | None,
    ruleset: str | None,
    kind: str | None,
    mutate: bool,
    games: int | None,
    page: str | None,
    output: str,
) -> None:
    """Report which statements of the rulebooks are cited by rules, tables and components, and list the others.

    RULESET is an id or a path. If it has statements of its own, their book is reported; use --rulebook for another one
    that it follows. Without arguments, the books of the current folder are reported if it has any, else all.

    The count includes rules, tables, examples, numbered components and fills of gaps. The file waivers.yaml of a family
    lists statements that need no rule. With --mutate, a statement is proved if some scenario that cites it fails once a
    citing rule is blanked or its numbers are off by one.

    With --games, bots play with every number of players and with the overlays of the scenarios. The report then shows
    which of the citing rules, conditions, triggers, tables and settings play exercised, which only a scenario
    exercised, and which nothing exercised. Game i has the seed i (from 0), so that reports can be compared.

    The exit status is 1 if a statement is left over, or a rule is never exercised.

    \b
    Examples:
      regelwerk coverage
      regelwerk coverage --rulebook germany-usa-2018 --mutate
      regelwerk coverage --rulebook robots-2011 --games 500
      regelwerk coverage germany-2018 -o json
      regelwerk coverage --rulebook brettspielwelt --kind ui
      regelwerk coverage mine/my-board.yaml
      regelwerk coverage --mutate --html coverage.html
    """
    from interpreter.engine.answers import kept_answers
    from interpreter.reading.statements import STATEMENT_KINDS
    from interpreter.testing.coverage import cover

    options.suffix_of(page, ".html", ".htm")
    if kind is not None and kind not in STATEMENT_KINDS:
        _no_such_kind(kind)
    if named is not None and ruleset is not None:
        raise click.UsageError(f"got the rulesets '{named}' and '{ruleset}', want one of them")
    ruleset = ruleset or named
    books: dict[str, list[Ruleset]] = {}

    def find() -> tuple[list[Coverage], dict[str, Shelf]]:
        books.update(_books(rulebook, ruleset))
        if not books:
            who = f"`{ruleset}`" if ruleset is not None else "no ruleset"
            which = "no" if ruleset is not None else "a"
            refused(f"{who} follows {which} rulebook; `rulebook` of an edition names one")
        shelves = {book: rulesets[0].shelf for book, rulesets in books.items()}
        with naming("looking at") as tell:
            coverages = [
                cover(book, each, shelves[book], mutate=mutate, kind=kind, tell=tell) for book, each in books.items()
            ]
        return coverages, shelves

    words = (rulebook or "", ruleset or "", kind or "", "mutate" if mutate else "")
    with kept_answers("coverage", *words) as answers:
        coverages, shelves = answers.to((), find)
    if kind is not None:
        coverages = [coverage for coverage in coverages if coverage.counted]
        if not coverages:
            _no_such_kind(kind)
    for coverage in coverages:
        if not coverage.counted:
            folders = ", ".join(f"`{root.as_posix()}`" for root in shelves[coverage.rulebook].roots)
            place = f"`<family>/statements/*.csv` of {folders}"
            refused(f"no statements of the rulebook `{coverage.rulebook}` found in {place}")
    if games is not None and not books:
        books.update(_books(rulebook, ruleset))
    played = {book: _reached(book, each, shelves[book], games) for book, each in books.items() if games is not None}
    if page is not None:
        _write(coverages, shelves.values(), page)
    if output == "json":
        as_json([_json(coverage, played.get(coverage.rulebook)) for coverage in coverages])
    elif page is None:
        for coverage in coverages:
            tell(*_blocks(coverage, played.get(coverage.rulebook)))
    finish([game for each in played.values() for game in each.unfinished])
    left_over = any(coverage.uncited or (mutate and coverage.unproved) for coverage in coverages)
    if left_over or any(each.left for each in played.values()):
        raise click.exceptions.Exit(1)


def _no_such_kind(kind: str) -> NoReturn:
    from interpreter.reading.statements import STATEMENT_KINDS

    near = did_you_mean_one_of(kind, STATEMENT_KINDS)
    refused(f"no rulebook here has a statement of the kind `{kind}`{near}")


def _reached(book: str, rulesets: list[Ruleset], shelf: Shelf, games: int) -> Reached:
    from interpreter.testing.play_coverage import reached
    from interpreter.testing.suite import suite_of

    return reached(book, rulesets, suite_of(shelf=shelf), games, lambda numbers: counted(numbers, games, book))


def _write(coverages: list[Coverage], shelves: Iterable[Shelf], page: str) -> None:
    from interpreter.pages.citation_report import followed_page
    from interpreter.pages.html import html_of
    from interpreter.reading.statements import statements_of

    statements = {id: each for shelf in shelves for id, each in statements_of(shelf).items()}
    text = html_of(followed_page(coverages, statements.values()))
    write_page(text, page, ", ".join(coverage.rulebook for coverage in coverages))


def _books(rulebook: str | None, ruleset: str | None) -> dict[str, list[Ruleset]]:
    """Return the rulebooks to report, with the rulesets that follow them."""
    from interpreter.reading.files import shelf_here
    from interpreter.testing.coverage import own_rulebooks, rulebooks_named, rulebooks_of

    own = options.loaded(ruleset) if ruleset is not None else None
    shelf = own.shelf if own is not None else shelf_here()
    wanted = {rulebook} if rulebook is not None else own_rulebooks(shelf)
    with naming("loading") as tell:
        if own is None and wanted:  # rulesets that cannot follow these are not loaded
            found = {book: rulebooks_of(shelf, only=book, tell=tell) for book in sorted(wanted)}
            books = {book: each[book] for book, each in found.items() if book in each}
        else:
            books = rulebooks_of(shelf, [own] if own is not None else None, tell=tell)
    if rulebook is None:
        return {book: each for book, each in books.items() if book in wanted} or books
    if rulebook not in books:
        others = rulebooks_named(shelf) if ruleset is None else {}
        if overlays := [document.id for document in others.get(rulebook, ()) if document.kind == "overlay"]:
            names = joined(quoted(overlays), "or")
            refused(f"no scenario plays {names}, for `{rulebook}`: write one with `with: [{overlays[0]}]`")
        hint = did_you_mean(rulebook, {**books, **others}).replace("`", "'")
        if not hint and ruleset is None:
            listed = ", ".join(f"'{book}'" for book in sorted({**books, **others})) or "none"
            hint = f"; known here: {listed}; name a ruleset of another book by its path: --ruleset PATH"
        who = "no ruleset" if ruleset is None else f"'{ruleset}' is not a ruleset that"
        raise click.BadParameter(f"{who} follows '{rulebook}'{hint}", param_hint="--rulebook")
    return {rulebook: books[rulebook]}


def _counts(coverage: Coverage) -> dict[str, int | None]:
    ids = {statement.id for statement in coverage.counted}
    return {
        "counted": len(ids),
        "cited": len(ids & coverage.cited.keys()),
        "waived": len(ids & coverage.waived.keys()),
        "both": len(ids & coverage.waived.keys() & coverage.cited.keys()),
        "shown": len(ids & coverage.shown & coverage.cited.keys()),
        "proved": len(ids & coverage.proved) if coverage.proved is not None else None,
    }


def _json(coverage: Coverage, played: Reached | None) -> dict[str, object]:
    play: dict[str, object] | None = None
    if played is not None:
        shown = [{**citation.as_data(), "scenario": scenario} for citation, scenario in played.shown]
        play = {**picked(played, "games", "tables", "unfinished", "left"), "played": len(played.played), "shown": shown}
    unproved = coverage.unproved if coverage.proved is not None else None
    about = {**picked(coverage, "rulebook", "rulesets"), **_counts(coverage), "uncited": coverage.uncited}
    return {**about, "unproved": unproved, "play": play}


def _blocks(coverage: Coverage, played: Reached | None) -> Iterator[Block]:
    counts = _counts(coverage)
    yield Paragraph((Strong(coverage.rulebook), f", as followed by {', '.join(coverage.rulesets)}"))
    about = {
        "cited": "by rules, tables and components",
        "waived": "with a reason" + (f"; {both} of them are cited too" if (both := counts["both"]) else ""),
        "shown": "of those cited, by scenarios",
        "proved": "of those cited, by scenarios that fail without them",
    }
    wholes = {"cited": "counted", "waived": "counted", "shown": "cited", "proved": "cited"}
    parts = [(word, counts[word], counts[wholes[word]], meaning) for word, meaning in about.items()]
    yield _parts([("counted", counts["counted"], None, ""), *(part for part in parts if part[1] is not None)])
    yield from _list("not cited and not waived", [(each.id, each.kind, each.text) for each in coverage.uncited])
    if coverage.proved is not None:
        yield from _list("cited, but not proved", [(each.id, each.kind, each.text) for each in coverage.unproved])
    if played is not None:
        shown = len(played.shown)
        total = len(played.played) + shown + len(played.left)
        yield Paragraph(f"{played.games} games at {played.tables} tables, {total} rules and tables that cite it")
        in_play = ("in play", len(played.played), total, "by games")
        yield _parts([in_play, ("in scenarios", shown, total, "only by a scenario")])
        yield from _list("only by a scenario", [_where(*each) for each in played.shown])
        yield from _list("by neither", [_where(each) for each in played.left], even_none=True)
    yield Paragraph("")


def _parts(rows: Sequence[tuple[str, int | None, int | None, str]]) -> Grid:
    """Return numbers of what there is, each with its part of a whole."""
    cells = [(what, n, "" if of is None else f"{100 * (n or 0) // (of or 1)} %", about) for what, n, of, about in rows]
    return Grid((), cells)


def _list(title: str, rows: Sequence[Sequence[str]], *, even_none: bool = False) -> Iterator[Block]:
    if rows or even_none:
        yield from (Paragraph(f"{title}: {len(rows)}"), Grid((), rows))


def _where(citation: Citation, scenario: str = "") -> tuple[str, str]:
    from interpreter.explain.cross_reference import WORDS

    what = f"{WORDS.get(citation.section, citation.section)} {citation.name} ({', '.join(citation.cites)})"
    return str(citation.span), f"{what}: {scenario}" if scenario else what
