"""Whether a value passes a JSON Schema: a quick yes, without a word about why not.

Each schema becomes one function of a value. What it refuses, or cannot tell, is asked again of ``jsonschema``, which
says what is wrong; so nearly all files are read without it. Only the keywords of the shipped schemas are known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

from interpreter.base.paths import schema_folder

__all__ = ["UnknownKeyword", "passes"]

Test: TypeAlias = Callable[[Any], bool]


class UnknownKeyword(Exception):
    """A schema says something that only ``jsonschema`` understands."""


def passes(kind: str, value: Any) -> bool:
    """Whether the schema of a kind of file surely takes a value."""
    try:
        return _Schema.named(f"{kind}.schema.json").root(value)
    except (UnknownKeyword, RecursionError):
        return False


class _Schema:
    """One file. Its definitions become functions when they are first needed, as they name each other in rings."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.text: dict[str, Any] = json.loads((schema_folder() / name).read_text(encoding="utf-8"))
        self.known: dict[str, Test] = {}

    @staticmethod
    @cache
    def named(name: str) -> _Schema:
        return _Schema(name)

    def root(self, value: Any) -> bool:
        return self.at("#")(value)

    def at(self, place: str) -> Test:
        """The function of a definition, named as in ``$ref``."""
        if place not in self.known:
            found: Any = self.text
            for step in place.split("/")[1:]:
                found = found[step]
            self.known[place] = self.test(found)
        return self.known[place]

    def test(self, schema: Any) -> Test:
        if isinstance(schema, bool):
            return lambda value: schema
        tests = [made for made in (self.keyword(key, schema) for key in schema) if made]
        if len(tests) == 1:
            return tests[0]
        if len(tests) == 2:
            first, second = tests
            return lambda value: first(value) and second(value)
        return lambda value: all(test(value) for test in tests)

    def keyword(self, key: str, schema: dict[str, Any]) -> Test | None:
        if key in _SAYINGS:
            return None
        if key in _PLAIN:
            return _PLAIN[key](schema[key])
        if key not in _NESTED:
            raise UnknownKeyword(key)
        made: Test | None = getattr(self, f"_{key.lstrip('$')}")(schema[key], schema)
        return made

    # -- keywords that hold schemas

    def _ref(self, place: str, schema: dict[str, Any]) -> Test:
        file, _, inner = place.partition("#")
        other = _Schema.named(file) if file else self
        return lambda value: other.at(f"#{inner}")(value)

    def _properties(self, parts: dict[str, Any], schema: dict[str, Any]) -> Test:
        """The values of keys that are known, and of those that are not."""
        tests = {name: self.test(part) for name, part in parts.items()}
        rest = schema.get("additionalProperties", True)
        other = self.test(rest)

        def test(value: Any) -> bool:
            if not isinstance(value, dict):
                return True
            return all(tests.get(name, other)(item) for name, item in value.items())

        return test

    def _additionalProperties(self, rest: Any, schema: dict[str, Any]) -> Test | None:
        return None if "properties" in schema else self._properties({}, schema)

    def _propertyNames(self, names: Any, schema: dict[str, Any]) -> Test:
        test = self.test(names)
        return lambda value: not isinstance(value, dict) or all(test(name) for name in value)

    def _items(self, items: Any, schema: dict[str, Any]) -> Test:
        test = self.test(items)
        return lambda value: not isinstance(value, list) or all(test(item) for item in value)

    def _not(self, part: Any, schema: dict[str, Any]) -> Test:
        test = self.test(part)
        return lambda value: not test(value)

    def _anyOf(self, parts: list[Any], schema: dict[str, Any]) -> Test:
        tests = [self.test(part) for part in parts]
        return lambda value: any(test(value) for test in tests)

    def _oneOf(self, parts: list[Any], schema: dict[str, Any]) -> Test:
        tests = [self.test(part) for part in parts]
        return lambda value: sum(test(value) for test in tests) == 1

    def _if(self, part: Any, schema: dict[str, Any]) -> Test:
        test = self.test(part)
        then, other = self.test(schema.get("then", True)), self.test(schema.get("else", True))
        return lambda value: then(value) if test(value) else other(value)


# -- keywords that hold values -----------------------------------------------------------------------------------------

_SAYINGS = frozenset({"$schema", "$id", "$defs", "title", "description", "default", "then", "else"})
_NESTED = frozenset(
    {"$ref", "properties", "additionalProperties", "propertyNames", "items", "not", "anyOf", "oneOf", "if"}
)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_IS: dict[str, Test] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_number,  # YAML values have no other numbers
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _type(asked: str | list[str]) -> Test:
    if isinstance(asked, str):
        return _IS[asked]
    tests = [_IS[name] for name in asked]
    return lambda value: any(test(value) for test in tests)


def _among(asked: list[Any]) -> Test:
    if not all(isinstance(each, str | int | bool | None) for each in asked):
        raise UnknownKeyword("enum")
    known = {(type(each), each) for each in asked}  # `true` is not 1
    return lambda value: isinstance(value, str | int | bool | None) and (type(value), value) in known


def _pattern(asked: str) -> Test:
    search = re.compile(asked).search
    return lambda value: not isinstance(value, str) or search(value) is not None


def _required(asked: list[str]) -> Test:
    return lambda value: not isinstance(value, dict) or all(name in value for name in asked)


def _dependent(asked: dict[str, list[str]]) -> Test:
    return lambda value: (
        not isinstance(value, dict)
        or all(name in value for key, names in asked.items() if key in value for name in names)
    )


def _unique(asked: bool) -> Test:
    return lambda value: not asked or not isinstance(value, list) or len({repr(item) for item in value}) == len(value)


_PLAIN: dict[str, Callable[[Any], Test]] = {
    "type": _type,
    "enum": _among,
    "const": lambda asked: _among([asked]),
    "pattern": _pattern,
    "required": _required,
    "dependentRequired": _dependent,
    "uniqueItems": _unique,
    "minimum": lambda asked: lambda value: not _is_number(value) or value >= asked,
    "maximum": lambda asked: lambda value: not _is_number(value) or value <= asked,
    "minLength": lambda asked: lambda value: not isinstance(value, str) or len(value) >= asked,
    "minItems": lambda asked: lambda value: not isinstance(value, list) or len(value) >= asked,
    "minProperties": lambda asked: lambda value: not isinstance(value, dict) or len(value) >= asked,
}
