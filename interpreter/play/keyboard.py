"""Keyboard play: prints options as numbered lines and parses typed choices."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, groupby, islice, pairwise

from interpreter.base.plain_data import Json, json_of, number_in
from interpreter.base.suggest import did_you_mean
from interpreter.bots.player import Code
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.values import PATH, Names, separators
from interpreter.engine.views import Spoken
from interpreter.kernel.state import Value
from interpreter.language.types import (
    BagType,
    BoolType,
    CardType,
    CollectionType,
    IntType,
    KindType,
    LinkType,
    ListType,
    NodeType,
    PieceType,
    PlaceType,
    RecordType,
    SeatType,
    SetType,
    Type,
)
from interpreter.plain.machine import OptionSite
from interpreter.play.narration import words_of
from interpreter.play.option_preview import Foresight

__all__ = ["numbered", "understood"]

MOST_LINES = 20
MOST_OF_ONE = 8
MOST_VALUES = 12
MOST_GROUPINGS = 5_000
"""Maximum number of ways in which the words of a typed line are joined to values."""
_NAME = r"(?P<name>[^\W\d]\S*(?: +[^\W\d]\S*)*)"
_AMOUNTS = (re.compile(rf"{_NAME}(?: +(?P<n>[0-9]+))?"), re.compile(rf"(?P<n>[0-9]+) +{_NAME}"))
"""Name and number of a kind of token, in both orders."""
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
        ends_in_number = any(isinstance(choice.type, IntType) for choice in site.core.choices[-1:])
        limit = MOST_FORESEEN if foresight and not ends_in_number else MOST_OF_ONE
        if len(entries) <= MOST_LINES or len(options) <= limit:
            lines.extend(_single(names, decision, options, foresight))
        else:
            lines.extend(_shared(names, site, options, foresight))
    return lines


def _is_described_later(game: Game, decision: Decision, option: OptionSite) -> bool:
    """Return whether the log has no words for a choice of this alternative, because later events describe it."""
    phrases = game.ruleset.model.says.get(f"{decision.name}.{option.name}")
    return phrases is not None and not any(phrase.parts for phrase in phrases.values())


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
    if value is None:
        return "none"
    match type_:
        case BoolType():
            return "yes" if value else "no"
        case SeatType():
            return str(value + 1)
        case CollectionType(of=IntType() | CardType() | KindType() | NodeType() | SeatType()):
            return ",".join(_typed(names, type_.of, item) for item in value)
        case BagType() | CollectionType() | RecordType() | PlaceType() | LinkType() | PieceType():
            return shlex.quote(names.text(value, type_))
        case KindType() if names.language != "en":
            return shlex.quote(names.text(value, type_))
        case IntType() | CardType() | KindType() | NodeType():
            return shlex.quote(str(names.public(value, type_)))
        case _:
            return shlex.quote(json_of(names.public(value, type_)))


# --- typed text as a choice


def understood(game: Game, decision: Decision, text: str, language: str = "en") -> dict[str, Json]:
    """Parse a typed line: an alternative, then its values, by name (``amount=3``, ``amount 3``) or in order, as they
    are printed.

    Raises ``ValueError`` if the line cannot be parsed. The game checks whether the choice is legal.
    """
    names, wrong = Spoken(game.table, game.state, language), None
    try:
        words = shlex.split(text)
    except ValueError as error:  # a quote may also be a letter of a name
        words, wrong = text.split(), names.frame("typed.incomplete", error=str(error).lower())
    if not words:
        raise ValueError(names.frame("typed.nothing"))
    try:
        option = _option(decision, words[0], names)
    except ValueError:
        said = " ".join(text.split()).casefold()
        for code in decision.codes:  # typed as the list shows it
            if words_of(names, decision, code).casefold() == said:
                return decision.option(code).as_dict()
        raise
    most = len(option.core.choices)
    named = _named(words[1:], option)
    for groups in chain(_groupings(words[1:], most), _groupings(named, most)):
        try:
            choice = _chosen(names, option, groups)
            for item in option.core.choices:
                if item.name in choice:
                    names.value(choice[item.name], item.type)
        except (LookupError, ValueError):
            continue
        return choice
    if wrong is not None:
        raise ValueError(wrong)
    return _chosen(names, option, named)


def _named(words: list[str], option: OptionSite) -> list[str]:
    """Join each name of a choice to the word after it: ``amount 3`` is ``amount=3``."""
    names, joined = {item.name for item in option.core.choices}, list[str]()
    for word in words:
        if joined and joined[-1] in names:
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def _groupings(words: list[str], most: int) -> Iterator[list[str]]:
    """Yield the ways to join words to at most so many values, most values first. No value ends at a separator."""
    places = [place for place in range(1, len(words)) if not {words[place - 1][-1:], words[place]} & set(",;|–")]
    for size in range(min(most, len(words)), 0, -1):
        for cuts in islice(combinations(places, size - 1), MOST_GROUPINGS):
            yield [" ".join(words[start:end]) for start, end in pairwise((0, *cuts, len(words)))]
    if not words:
        yield []


def _chosen(names: Spoken, option: OptionSite, texts: Iterable[str]) -> dict[str, Json]:
    """Return the choice of an alternative with typed values. Raises ``ValueError`` if there is no choice for one."""
    choice: dict[str, Json] = {"do": option.name}
    types = {item.name: item.type for item in option.core.choices}
    for text in texts:
        name, value = _assigned(text, types, choice, names)
        choice[name] = _public(names, value, types[name])
    return choice


def _option(decision: Decision, word: str, names: Names) -> OptionSite:
    """Find an alternative by its name or a prefix of it."""
    options = {option.name: option for option in decision.site.options}
    prefix = word.replace("-", "_").casefold()
    matches = [prefix] if prefix in options else [name for name in options if name.startswith(prefix)]
    if len(matches) == 1:
        return options[matches[0]]
    known = ", ".join(f"`{name}`" for name in (matches or options))
    hint = did_you_mean(word, options, names.language)
    raise ValueError(names.frame("typed.none_of", word=word, known=known, near=hint))


def _assigned(word: str, choices: dict[str, Type], chosen: dict[str, Json], names: Names) -> tuple[str, str]:
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


def _public(names: Spoken, text: str, type_: Type) -> Value:
    """Convert typed text to a public value. Invalid text stays text, which the game refuses with a reason."""
    text = text.strip()
    if type_.optional and text in ("none", names.text(None, type_)):
        return None
    match type_:
        case IntType():
            return number_in(text)
        case BoolType():
            words = {word: value for value, own in enumerate(("no", "yes")) for word in (own, names.text(value, type_))}
            return bool(words[text.casefold()]) if text.casefold() in words else text
        case CollectionType():
            return _items(names, text, type_)
        case BagType():
            return _bag(names, text, type_)
        case RecordType():
            fields = names.model.records[type_.name]
            match = re.fullmatch(", ".join(f"{name} (.*)" for name in fields), text)
            pairs = zip(fields.items(), match.groups(), strict=True) if match else ()
            return {name: _public(names, part, of) for (name, of), part in pairs} or _json(text)
        case SeatType() if isinstance(number := number_in(text), int):
            return number - 1 if number > 0 else text
        case _:
            return _printed(names, text, type_)


def _printed(names: Spoken, text: str, type_: Type) -> Value:
    """Find the value that is printed like a text or has it as its public name, ignoring case and treating blanks as
    `_`. Without one, return the text as JSON or as it is."""
    plain = _plain(text)
    values = names.model.values(type_, len(names.table.machine.constants.seats))
    public = {value: names.public(value, type_) for value in values}
    exact = [value for value in values if text in (names.text(value, type_), public[value])]
    found = exact or [value for value in values if plain in (_plain(names.text(value, type_)), _plain(public[value]))]
    distinct = [value for place, value in enumerate(found) if public[value] not in map(public.get, found[:place])]
    return public[distinct[0]] if len(distinct) == 1 else _json(text)


def _plain(name: object) -> str:
    return str(name).casefold().replace("_", " ")


def _json(text: str) -> Value:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _items(names: Spoken, text: str, type_: ListType | SetType) -> list[Value]:
    """Parse a list, whose items are separated as they are printed or by commas alone."""
    if type_.of is None or text == names.text((), type_):
        return []
    between = (*separators(names.model, type_.of), *([PATH] if isinstance(type_.of, NodeType) else []))
    used = next((each for each in reversed(between) if each in text), between[0].strip())
    return [_public(names, part, type_.of) for part in text.split(used) if part.strip()]


def _bag(names: Spoken, text: str, type_: BagType) -> Json:
    """Parse a bag: ``2 red, 1 blue``, ``2 red 1 blue``, ``red 2`` or ``red:2,blue:1``."""
    counts: dict[str, Json] = {}
    if text in ("nothing", names.word("nothing")):
        return counts
    for part in text.replace(":", " ").split(","):
        amount = _AMOUNTS[part.strip()[:1].isdecimal()]
        if re.sub(amount, "", part).strip() or not part.strip():
            return text
        for match in amount.finditer(part):
            counts[str(_printed(names, match["name"], KindType(type_.name)))] = int(match["n"] or 1)
    return counts
