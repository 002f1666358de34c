"""A person at a decision: options as numbered lines, and what was typed as a choice."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from interpreter.base.messages import frame
from interpreter.base.plain_data import Json
from interpreter.base.suggest import did_you_mean
from interpreter.bots.player import Code
from interpreter.compiler.plain.machine import OptionSite
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
from interpreter.play.narration import words_of
from interpreter.play.option_preview import Foresight

__all__ = ["numbered", "understood"]

MOST_LINES = 20
MOST_OF_ONE = 8
MOST_VALUES = 12
MOST_FORESEEN = 80
"""So many options of an alternative have a line each where what they do is told beside them."""


# --- options as lines


def numbered(game: Game, decision: Decision, codes: Sequence[Code], language: str = "en") -> list[str]:
    """The options in words, each with its number. Where the log leaves it to events to tell what was done, an option
    stands as it is typed, and beside it what the first event will say. Of a long list, options that differ in their
    last value share a line, which shows how to type one of them."""
    entries, names = list(enumerate(codes, 1)), Spoken(game.table, game.state, language)
    lines: list[str] = []
    for number, group in groupby(entries, key=lambda entry: entry[1][0]):
        options, site = list(group), decision.site.options[number]
        foresight = Foresight(game, decision, language) if _is_told_later(game, decision, site) else None
        most = MOST_FORESEEN if foresight and not _ends_in_number(site) else MOST_OF_ONE
        if len(entries) <= MOST_LINES or len(options) <= most:
            lines.extend(_single(names, decision, options, foresight))
        else:
            lines.extend(_shared(names, site, options, foresight))
    return lines


def _is_told_later(game: Game, decision: Decision, option: OptionSite) -> bool:
    """Return whether the ruleset has no words for a choice of this alternative, since events follow that tell of it."""
    phrases = game.ruleset.model.says.get(f"{decision.name}.{option.name}")
    return phrases is not None and not any(phrase.parts for phrase in phrases.values())


def _ends_in_number(option: OptionSite) -> bool:
    return bool(option.core.choices) and isinstance(option.core.choices[-1].type, IntType)


def _single(
    names: Spoken, decision: Decision, entries: list[tuple[int, Code]], foresight: Foresight | None
) -> Iterator[str]:
    """A line for each option of one alternative."""
    option = decision.site.options[entries[0][1][0]]
    ways = [_as_typed(names, option, values) for _, (_, values) in entries]
    width = max(map(len, ways))
    for (number, code), way in zip(entries, ways, strict=True):
        words = words_of(names.table, decision, code, names.language)
        then = foresight.first(code) if foresight else ""
        yield f"{number:>9}  {words or (f'{way:<{width}}  {then}' if then else way)}"


def _as_typed(names: Names, option: OptionSite, values: Sequence[Value]) -> str:
    """An option as one would type it."""
    pairs = zip(option.core.choices, values, strict=True)
    return " ".join([option.name, *(f"{choice.name}={_typed(names, choice.type, value)}" for choice, value in pairs)])


def _shared(
    names: Names, option: OptionSite, entries: list[tuple[int, Code]], foresight: Foresight | None
) -> Iterator[str]:
    """Lines for many options of one alternative: one for each beginning, or a single one where these are many too."""
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
        then = "  " + " … ".join(ends) if all(ends) and ends else ""
        yield f"{numbers:>9}  {' '.join([option.name, *typed])}{then}"


def _values(names: Names, type_: Type, values: Iterable[Value]) -> str:
    """Values as they are typed; numbers without gaps as a range."""
    found = list(values)
    if isinstance(type_, IntType) and len(found) > 2 and found == list(range(found[0], found[-1] + 1)):
        return f"{found[0]}..{found[-1]}"
    shown = [_typed(names, type_, value) for value in found[:MOST_VALUES]]
    return "|".join(shown) + ("|…" if len(found) > MOST_VALUES else "")


def _typed(names: Names, type_: Type, value: Value) -> str:
    """A value as one would type it."""
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
    """The choice that a line means: an alternative, then its values, by name (``amount=3``) or in order.

    ``ValueError`` says what is not understood. Whether the choice is legal is left to the game.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(frame(language, "typed.incomplete", error=str(error).lower())) from None
    if not words:
        raise ValueError(frame(language, "typed.nothing"))
    names = Spoken(game.table, game.state, language)
    option = _option(decision, words[0], names)
    choice: dict[str, Json] = {"do": option.name}
    choices = {item.name: item for item in option.core.choices}
    for word in words[1:]:
        name, value = _assigned(word, choices, choice, names)
        choice[name] = _public(names, value, choices[name].type)
    return choice


def _option(decision: Decision, word: str, names: Names) -> OptionSite:
    """The alternative of a name, or of the beginning of one."""
    options = {option.name: option for option in decision.site.options}
    wanted = word.replace("-", "_").casefold()
    found = [name for name in options if name.startswith(wanted)]
    if wanted in options:
        return options[wanted]
    if len(found) == 1:
        return options[found[0]]
    known = ", ".join(f"`{name}`" for name in (found or options))
    near = did_you_mean(word, options, names.language)
    raise ValueError(names.frame("typed.none_of", word=word, known=known, near=near))


def _assigned(word: str, choices: dict[str, Choice], given: dict[str, Json], names: Names) -> tuple[str, str]:
    """The choice that a typed word is for, and its text."""
    name, equals, value = word.partition("=")
    if equals:
        if name not in choices:
            near = did_you_mean(name, choices, names.language)
            raise ValueError(names.frame("typed.takes_no", option=given["do"], name=name, near=near))
        return name, value
    free = next((name for name in choices if name not in given), None)
    if free is None:
        raise ValueError(names.frame("typed.one_more", option=given["do"], values=len(choices), word=word))
    return free, word


def _public(names: Names, text: str, type_: Type) -> Value:
    """Typed text as a public value; what does not fit stays text, which the game refuses with its reason."""
    text = text.strip()
    if type_.optional and text == "none":
        return None
    match type_:
        case IntType() | CardType():
            return int(text) if text.lstrip("-").isdigit() else text
        case SeatType():
            return int(text) - 1 if text.isdigit() else text
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
    """``2 red, 1 blue``, ``2 red 1 blue`` or ``red:2,blue:1``."""
    found: dict[str, int] = {}
    words = text.replace(",", " ").replace(":", " : ").split()
    while words and words not in (["nothing"], [names.word("nothing")]):
        pair = [word for word in words[:3] if word != ":"][:2] if ":" in words[:3] else words[:2]
        words = words[3:] if ":" in words[:3] else words[2:]
        number = next((word for word in pair if word.isdigit()), "1")
        name = next((word for word in pair if not word.isdigit()), number)
        found[_member(names, name, type_.name)] = int(number)
    return found


def _member(names: Names, text: str, kind: str) -> str:
    """The member of a kind, by its name or by what it is called in the language."""
    members = names.members(kind)
    called = {names.text(place, KindType(kind)).casefold(): member for place, member in enumerate(members)}
    return called.get(text.casefold()) or _named(text, members)


def _named(text: str, known: Sequence[str]) -> str:
    """The known name that differs at most in capitals, and in blanks for `_`."""
    if text in known:
        return text
    plain = text.casefold().replace("_", " ")
    found = [name for name in known if name.casefold().replace("_", " ") == plain]
    return found[0] if len(found) == 1 else text
