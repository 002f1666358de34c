"""Settings of a game: conversion between internal values, public ones, and what a person types."""

from __future__ import annotations

from collections.abc import Mapping

from interpreter.base.messages import frame
from interpreter.base.plain_data import Json, number_in
from interpreter.base.plurals import quoted
from interpreter.base.suggest import did_you_mean_one_of
from interpreter.engine.values import Names
from interpreter.kernel.state import Value
from interpreter.language.model import Model
from interpreter.language.types import BoolType, CollectionType, IntType, KindType, SeatType, Type, item_type

__all__ = ["WrongSetting", "public_settings", "setting_syntax", "setting_value"]


class WrongSetting(ValueError):
    """Raised for a value that the setting with this name cannot have, or an unknown name."""

    def __init__(self, name: str, message: str) -> None:
        self.name = name
        super().__init__(message)


def setting_value(model: Model, names: Names, name: str, public: object) -> Value:
    """Convert the public value of a setting. Raises :class:`WrongSetting` if there is no such setting or value."""
    doubt = model.interpretations.get(name)
    if doubt is not None:
        readings = list(doubt.readings)
        if public not in readings:
            raise WrongSetting(name, f"`{name}`: got {public!r}, want one of {', '.join(quoted(readings))}")
        return readings.index(public)
    setting = model.settings.get(name)
    if setting is None:
        known = [*model.settings, *model.interpretations]
        raise WrongSetting(name, f"unknown setting `{name}`{did_you_mean_one_of(name, known)}")
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
        raise WrongSetting(name, f"`{name}`: {error}") from None
    if setting.range is not None and value is not None and not setting.range[0] <= value <= setting.range[1]:
        raise WrongSetting(name, f"`{name}`: got {value}, want {setting.range[0]} to {setting.range[1]}")
    return value


def public_settings(model: Model, names: Names, values: Mapping[str, Value]) -> dict[str, Json]:
    """Return settings and interpretations by public names; those without a value are left out."""
    named = {name: names.public(values[name], setting.type) for name, setting in model.settings.items()}
    chosen = {name: list(doubt.readings)[values[name]] for name, doubt in model.interpretations.items()}
    return {name: value for name, value in named.items() if value is not None} | chosen


def setting_syntax(model: Model, name: str, language: str = "en") -> str:
    """Say what can be typed for a setting, or an interpretation."""
    if name in model.interpretations:
        return frame(language, "typed.kind", items=", ".join(model.interpretations[name].readings))
    setting = model.settings[name]
    if setting.range is not None:
        return frame(language, "typed.range", low=setting.range[0], high=setting.range[1])
    items = item_type(setting.type)
    of = (items or setting.type).sure
    members = ", ".join(model.members(of.name)) if isinstance(of, KindType) else ""
    form = of.word if of.word in ("int", "bool", "seat", "kind", "node", "list") else "value"
    return frame(language, f"typed.{form}{'s' if items else ''}", items=members)


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
