"""Keyboard play: prints options as numbered lines and parses typed choices."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from interpreter.base.messages import frame
from interpreter.base.plain_data import Json, number_in
from interpreter.base.suggest import did_you_mean
from interpreter.bots.player import Code
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.values import Names
from interpreter.engine.views import Spoken
from interpreter.kernel.state import Value
from interpreter.language.core import Choice
from interpreter.language.types import (
    BagType,
    BoolType,
    CardType,
    CollectionType,
    IntType,
    KindType,
    NodeType,
    SeatType,
    Type,
)
from interpreter.plain.machine import OptionSite
from interpreter.play.narration import words_of
from interpreter.play.option_preview import Foresight

__all__ = ["numbered", "understood"]

MOST_LINES = 20
MOST_OF_ONE = 8
MOST_VALUES = 12
MOST_FORESEEN = 80
"""Maximum number of options of an alternative that get separate lines with a preview of their effects."""


# --- options as lines


def numbered(game: Game, decision: Decision, codes: Sequence[Code], language: str = "en") -> list[str]:
    """Return the options as numbered lines.

    An option is in the words of the log or, if these are left to events, as typed, with the line of the first event
    beside it. In a long list, options that differ in their last value share a line that shows how to type one.
    """
    entries, names = list(enumerate(codes, 1)), Spoken(game.table, game.state, language)
    lines: list[str] = []
    for number, group in groupby(entries, key=lambda entry: entry[1][0]):
        options, site = list(group), decision.site.options[number]
        foresight = Foresight(game, decision, language) if _is_described_later(game, decision, site) else None
        limit = MOST_FORESEEN if foresight and not _ends_in_number(site) else MOST_OF_ONE
        if len(entries) <= MOST_LINES or len(options) <= limit:
            lines.extend(_single(names, decision, options, foresight))
        else:
            lines.extend(_shared(names, site, options, foresight))
    return lines


def _is_described_later(game: Game, decision: Decision, option: OptionSite) -> bool:
    """Return whether the log has no words for a choice of this alternative, because later events describe it."""
    phrases = game.ruleset.model.says.get(f"{decision.name}.{option.name}")
    return phrases is not None and not any(phrase.parts for phrase in phrases.values())


def _ends_in_number(option: OptionSite) -> bool:
    return bool(option.core.choices) and isinstance(option.core.choices[-1].type, IntType)


def _single(
    names: Spoken, decision: Decision, entries: list[tuple[int, Code]], foresight: Foresight | None
) -> Iterator[str]:
    """Yield a line for each option of one alternative."""
    option = decision.site.options[entries[0][1][0]]
    typed_options = [_as_typed(names, option, values) for _, (_, values) in entries]
    width = max(map(len, typed_options))
    for (number, code), typed_option in zip(entries, typed_options, strict=True):
        words = words_of(names, decision, code)
        preview = foresight.first(code) if foresight else ""
        yield f"{number:>9}  {words or (f'{typed_option:<{width}}  {preview}' if preview else typed_option)}"


def _as_typed(names: Names, option: OptionSite, values: Sequence[Value]) -> str:
    """Format an option as the user types it."""
    pairs = zip(option.core.choices, values, strict=True)
    return " ".join([option.name, *(f"{choice.name}={_typed(names, choice.type, value)}" for choice, value in pairs)])


def _shared(
    names: Names, option: OptionSite, entries: list[tuple[int, Code]], foresight: Foresight | None
) -> Iterator[str]:
    """Yield lines for many options of one alternative: one for each value of the earlier choices, or a single one if
    these are many too."""
    groups = [list(group) for _, group in groupby(entries, key=lambda entry: entry[1][1][:-1])]
    if len(groups) > MOST_VALUES:
        groups = [entries]
    for group in groups:
        columns = list(zip(*(values for _, (_, values) in group), strict=True))
        typed = [
            f"{choice.name}={_values(names, choice.type, dict.fromkeys(column))}"
            for choice, column in zip(option.core.choices, columns, strict=True)
        ]
        numbers = f"{group[0][0]}–{group[-1][0]}" if len(group) > 1 else str(group[0][0])
        ends = dict.fromkeys(foresight.first(code) for _, code in (group[0], group[-1])) if foresight else {}
        preview = "  " + " … ".join(ends) if all(ends) and ends else ""
        yield f"{numbers:>9}  {' '.join([option.name, *typed])}{preview}"


def _values(names: Names, type_: Type, values: Iterable[Value]) -> str:
    """Format values as typed; consecutive numbers as a range."""
    listed = list(values)
    if isinstance(type_, IntType) and len(listed) > 2 and listed == list(range(listed[0], listed[-1] + 1)):
        return f"{listed[0]}..{listed[-1]}"
    shown = [_typed(names, type_, value) for value in listed[:MOST_VALUES]]
    return "|".join(shown) + ("|…" if len(listed) > MOST_VALUES else "")


def _typed(names: Names, type_: Type, value: Value) -> str:
    """Format a value as typed."""
    if value is None:
        return "none"
    match type_:
        case BoolType():
            return "yes" if value else "no"
        case SeatType():
            return str(value + 1)
        case BagType():
            return shlex.quote(names.text(value, type_))
        case CollectionType():
            return ",".join(_typed(names, type_.of, item) for item in value)
        case KindType() if names.language != "en":
            return shlex.quote(names.text(value, type_))
        case IntType() | CardType() | KindType() | NodeType():
            return shlex.quote(str(names.public(value, type_)))
        case _:
            return shlex.quote(json.dumps(names.public(value, type_), ensure_ascii=False))


# --- typed text as a choice


def understood(game: Game, decision: Decision, text: str, language: str = "en") -> dict[str, Json]:
    """Parse a typed line: an alternative, then its values, by name (``amount=3``) or in order.

    Raises ``ValueError`` if the line cannot be parsed. The game checks whether the choice is legal.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(frame(language, "typed.incomplete", error=str(error).lower())) from None
    if not words:
        raise ValueError(frame(language, "typed.nothing"))
    names = Spoken(game.table, game.state, language)
    try:
        option = _option(decision, words[0], names)
    except ValueError:
        said = " ".join(text.split()).casefold()
        for code in decision.codes:  # typed as the list shows it
            if words_of(names, decision, code).casefold() == said:
                return decision.option(code).as_dict()
        raise
    choice: dict[str, Json] = {"do": option.name}
    choices = {item.name: item for item in option.core.choices}
    for word in words[1:]:
        name, value = _assigned(word, choices, choice, names)
        choice[name] = _public(names, value, choices[name].type)
    return choice


def _option(decision: Decision, word: str, names: Names) -> OptionSite:
    """Find an alternative by its name or a prefix of it."""
    options = {option.name: option for option in decision.site.options}
    prefix = word.replace("-", "_").casefold()
    matches = [name for name in options if name.startswith(prefix)]
    if prefix in options:
        return options[prefix]
    if len(matches) == 1:
        return options[matches[0]]
    known = ", ".join(f"`{name}`" for name in (matches or options))
    hint = did_you_mean(word, options, names.language)
    raise ValueError(names.frame("typed.none_of", word=word, known=known, near=hint))


def _assigned(word: str, choices: dict[str, Choice], chosen: dict[str, Json], names: Names) -> tuple[str, str]:
    """Return the choice that a typed word belongs to, and its text."""
    name, equals, value = word.partition("=")
    if equals:
        if name not in choices:
            hint = did_you_mean(name, choices, names.language)
            raise ValueError(names.frame("typed.takes_no", option=chosen["do"], name=name, near=hint))
        return name, value
    free = next((name for name in choices if name not in chosen), None)
    if free is None:
        raise ValueError(names.frame("typed.one_more", option=chosen["do"], values=len(choices), word=word))
    return free, word


def _public(names: Names, text: str, type_: Type) -> Value:
    """Convert typed text to a public value. Invalid text stays text, which the game refuses with a reason."""
    text = text.strip()
    if type_.optional and text == "none":
        return None
    match type_:
        case IntType() | CardType():
            return number_in(text)
        case SeatType():
            return number - 1 if isinstance(number := number_in(text), int) and number > 0 else text
        case BoolType():
            return {"yes": True, "no": False}.get(text.casefold(), text)
        case CollectionType():
            return [_public(names, part, type_.of) for part in text.split(",") if part.strip()]
        case BagType():
            return _bag(names, text, type_)
        case KindType():
            return _member(names, text, type_.name)
        case NodeType():
            return _named(text, [row.name for row in names.model.graph.nodes] if names.model.graph else [])
        case _:
            try:
                return json.loads(text)
            except ValueError:
                return text


def _bag(names: Names, text: str, type_: BagType) -> Json:
    """Parse a bag: ``2 red, 1 blue``, ``2 red 1 blue`` or ``red:2,blue:1``."""
    counts: dict[str, int] = {}
    words = text.replace(",", " ").replace(":", " : ").split()
    while words and words not in (["nothing"], [names.word("nothing")]):
        pair = [word for word in words[:3] if word != ":"][:2] if ":" in words[:3] else words[:2]
        words = words[3:] if ":" in words[:3] else words[2:]
        number = next((word for word in pair if word.isdecimal()), "1")
        name = next((word for word in pair if not word.isdecimal()), number)
        counts[_member(names, name, type_.name)] = int(number)
    return counts


def _member(names: Names, text: str, kind: str) -> str:
    """Find a member of a kind by its name or its translation."""
    members = names.model.members(kind)
    by_text = {names.text(place, KindType(kind)).casefold(): member for place, member in enumerate(members)}
    return by_text.get(text.casefold()) or _named(text, members)


def _named(text: str, known: Sequence[str]) -> str:
    """Find a known name, ignoring case and treating blanks as `_`."""
    if text in known:
        return text
    plain = text.casefold().replace("_", " ")
    matches = [name for name in known if name.casefold().replace("_", " ") == plain]
    return matches[0] if len(matches) == 1 else text
