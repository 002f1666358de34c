"""Settings of a game: conversion between internal values, public ones, and what a person types."""

from __future__ import annotations

from collections.abc import Mapping

from interpreter.base.plain_data import Json, number_in
from interpreter.base.suggest import did_you_mean_one_of
from interpreter.engine.values import Names, type_text
from interpreter.kernel.state import Value
from interpreter.language.model import Model
from interpreter.language.types import BoolType, CollectionType, IntType, KindType, NodeType, SeatType, Type

__all__ = ["public_settings", "setting_syntax", "setting_value"]


def setting_value(model: Model, names: Names, name: str, public: object) -> Value:
    """Convert the public value of a setting. Raises ``ValueError`` if there is no such setting or value."""
    doubt = model.interpretations.get(name)
    if doubt is not None:
        readings = list(doubt.readings)
        if public not in readings:
            raise ValueError(f"`{name}`: got {public!r}, want one of {', '.join(f'`{each}`' for each in readings)}")
        return readings.index(public)
    setting = model.settings.get(name)
    if setting is None:
        known = [*model.settings, *model.interpretations]
        raise ValueError(f"unknown setting `{name}`{did_you_mean_one_of(name, known)}")
    match setting.type, public:
        case CollectionType(of=of), str() | int():
            public = _items(str(public), of)
        case IntType(), str():
            public = number_in(public)
        case BoolType(), "yes" | "no":
            public = public == "yes"
    try:
        value = names.value(public, setting.type)
    except ValueError as error:
        raise ValueError(f"`{name}`: {error}") from None
    if setting.range is not None and value is not None and not setting.range[0] <= value <= setting.range[1]:
        raise ValueError(f"`{name}`: got {value}, want {setting.range[0]} to {setting.range[1]}")
    return value


def public_settings(model: Model, names: Names, values: Mapping[str, Value]) -> dict[str, Json]:
    """Return settings and interpretations by public names; those without a value are left out."""
    named = {name: names.public(values[name], setting.type) for name, setting in model.settings.items()}
    chosen = {name: list(doubt.readings)[values[name]] for name, doubt in model.interpretations.items()}
    return {name: value for name, value in named.items() if value is not None} | chosen


def setting_syntax(model: Model, name: str) -> str:
    """Say what can be typed for a setting."""
    setting = model.settings[name]
    match setting.type:
        case _ if setting.range is not None:
            return f"a number from {setting.range[0]} to {setting.range[1]}"
        case IntType():
            return "a number"
        case BoolType():
            return "yes or no"
        case SeatType():
            return "the number of a seat, from 0"
        case KindType(name=kind):
            return f"one of {', '.join(model.members(kind))}"
        case CollectionType(of=CollectionType()):
            return "lists, separated by commas, their items by minus signs; or the number of empty lists"
        case CollectionType(of=KindType(name=kind)):
            return f"some of {', '.join(model.members(kind))}; separated by commas"
        case CollectionType(of=of):
            words = {IntType: "numbers", SeatType: "numbers of seats, from 0", NodeType: "names"}
            return f"{words.get(type(of), 'values')}, separated by commas"
        case type_:
            return type_text(model, type_)


def _items(text: str, of: Type) -> list[Json]:
    """Parse a list written as one text: items separated by commas, which single digits may omit. In a list of lists, a
    minus separates the inner items, and a number alone means that many empty lists."""
    if isinstance(of, CollectionType):
        if isinstance(number := number_in(text), int):
            return [[]] * min(number, 1_000)
        return [_items(part.replace("-", ","), of.of) for part in text.split(",")]
    numbers = isinstance(of, IntType | SeatType)
    digits = numbers and text.isdecimal()
    parts = [part.strip() for part in (text if digits else text.split(",")) if part.strip()]
    return [number_in(part) if numbers else part for part in parts]
