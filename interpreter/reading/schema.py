"""Validation of files against the JSON Schema of their kind, with positions and messages for authors.

The schemas are files, which editors read too. The ``title`` of a schema is its description in messages; all other
wordings are here. The meaning of names is left to later stages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from interpreter.base.diagnostics import Diagnostic, unique
from interpreter.base.paths import schema_folder
from interpreter.base.plurals import joined, listed, quoted
from interpreter.base.remedies import indent, remove, write
from interpreter.base.source import SourceFile, Span
from interpreter.base.suggest import as_word, did_you_mean
from interpreter.reading.yaml import Entry, Mapping, Scalar, Sequence, Value, knowing, plain

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

_Error: TypeAlias = Any
"""A ``ValidationError`` of jsonschema, whose types say that any attribute may be unset."""

__all__ = ["check_schema", "misfits"]

MOST_LISTED = 30
"""Number of known keys in a message."""


def misfits(kind: str, document: Mapping, file: SourceFile) -> list[Diagnostic]:
    """Return the violations of the schema in a file, using the cache if there is one."""
    cache = knowing.value
    known = cache.get(file) if cache is not None else None
    if known is not None and known[1]:
        return []
    violations = check_schema(kind, document)
    if cache is not None and known is not None and not violations:
        cache.add(file, (document, True))
    return violations


def check_schema(kind: str, document: Mapping) -> list[Diagnostic]:
    """Return the violations of the schema of a kind."""
    errors = _validator(kind).iter_errors(plain(document))
    return unique(violation for error in errors for violation in _worded(error, _Place(document)))


@cache
def _schemas() -> dict[str, Any]:
    paths = sorted(schema_folder().glob("*.schema.json"))
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in paths}


@cache
def _validator(kind: str) -> Validator:
    from jsonschema.validators import Draft202012Validator, extend
    from referencing import Registry, Resource

    schemas = list(_schemas().values())
    resources: list[tuple[str, Resource[Any]]] = [(s["$id"], Resource.from_contents(s)) for s in schemas]
    registry: Registry[Any] = Registry().with_resources(resources)
    mine = _schemas()[f"{kind}.schema.json"]
    validator: Callable[..., Validator] = extend(  # type: ignore[no-untyped-call]
        Draft202012Validator, {"uniqueItems": _unique_items}
    )
    return validator(mine, registry=registry)


def _unique_items(validator: object, enabled: bool, instance: object, schema: object) -> Iterator[ValidationError]:
    """Check `uniqueItems` in linear time. The implementation of jsonschema compares all pairs of items."""
    from jsonschema.exceptions import ValidationError

    if enabled and isinstance(instance, list) and len({repr(item) for item in instance}) < len(instance):
        yield ValidationError("repeated items")


class _Place(Struct, frozen=True):
    """A value of the document, with its key if it has one."""

    value: Value
    entry: Entry | None = None

    def below(self, path: Iterable[str | int]) -> _Place:
        value, entry = self.value, self.entry
        for step in path:
            if isinstance(value, Mapping):
                entry = value.entry(str(step))
                value = value[str(step)]
            elif isinstance(value, Sequence):
                entry, value = None, value.items[int(step)]
        return _Place(value, entry)

    @property
    def span(self) -> Span:
        """Position of the value, or of its key if the value is empty."""
        span = self.value.span
        return self.entry.key.span if self.entry and span.start == span.end else span

    @property
    def holder(self) -> Span:
        """Position for errors about a mapping as a whole: its key, or the first key in it."""
        if self.entry:
            return self.entry.key.span
        if isinstance(self.value, Mapping) and self.value.entries:
            return self.value.entries[0].key.span
        return self.value.span

    def outside(self, unknown: Container[str]) -> dict[str, str]:
        """Return the unknown keys below a key without a value, each with the remedy that indents all of them there."""
        found, above = dict[str, str](), None
        entries = self.value.entries if isinstance(self.value, Mapping) else ()
        for is_unknown, group in groupby(entries, key=lambda entry: entry.key.text in unknown):
            keys = [*group]
            if is_unknown and above is not None and isinstance(above.value, Scalar) and not above.value.text:
                file, end = above.key.span.file, max(keys[-1].key.span.end, keys[-1].value.span.end)
                words = f"if it belongs to `{above.key.text}`, which has no value, indent it deeper"
                remedy = indent(file, range(keys[0].key.span.line, file.position(end - 1)[0] + 1), 2, words)
                found |= dict.fromkeys((each.key.text for each in keys), remedy)
            above = keys[-1]
        return found

    def key(self, name: str) -> Span:
        entry = self.value.entry(name) if isinstance(self.value, Mapping) else None
        return entry.key.span if entry else self.holder


# -- one wording for each keyword of JSON Schema -----------------------------------------------------------------------


def _worded(error: _Error, start: _Place) -> Iterator[Diagnostic]:
    place = start.below(error.path)
    if "propertyNames" in error.schema_path:
        name = str(error.instance)
        near = as_word(name).strip("_0123456789")
        help = write(place.key(name), near) if near else None
        yield Diagnostic("E106", f"got the name {_shown(name)}, want {_want(error)}", place.key(name), help=help)
    else:
        yield from _WORDINGS.get(error.validator, _wrong_value)(error, place)


def _unknown_keys(error: _Error, place: _Place) -> Iterator[Diagnostic]:
    known = list(error.schema.get("properties", ()))
    unknown, free = [key for key in error.instance if key not in known], set(known).difference(error.instance)
    own = [key for key in unknown if "$id" in error.schema and free.isdisjoint((f"{key}s", key.removesuffix("s")))]
    outside = _elsewhere(own) | place.outside(frozenset(unknown))
    for number, key in enumerate(unknown):
        hint = did_you_mean(key, free) if key not in outside and number < 20 else ""  # similar names are slow to find
        remedy = f"known here: {listed(known, MOST_LISTED)}" if not hint and (number == 0 or len(known) <= 12) else None
        yield Diagnostic("E101", f"unknown key {_shown(key)}{hint}", place.key(key), help=outside.get(key, remedy))


def _elsewhere(keys: Iterable[str]) -> dict[str, str]:
    """Return the keys that files of other kinds have, each with these kinds."""
    homes = {key: [each["title"] for each in _schemas().values() if key in each.get("properties", ())] for key in keys}
    return {key: f"`{key}` belongs in {joined(kinds, 'or')}" for key, kinds in homes.items() if kinds}


def _missing_keys(error: _Error, place: _Place) -> Iterator[Diagnostic]:
    required: list[str] = error.validator_value
    missing = [name for name in required if name not in error.instance]
    message = f"missing key{'s' if len(missing) > 1 else ''} {joined(quoted(missing))}"
    if len(missing) < len(required):
        message += f", want {joined(quoted(required))}"
    about = error.schema.get("properties", {}).get(missing[0], {}).get("description")
    help = f"`{missing[0]}`: {about[0].lower()}{about[1:].rstrip('.')}" if about else None
    yield Diagnostic("E102", message, place.holder, help=help)


def _wrong_type(error: _Error, place: _Place) -> Iterator[Diagnostic]:
    remedy: str | None = None
    if error.validator_value == "array" and isinstance(place.value, Scalar) and place.value.style != "literal":
        words = f"put it in brackets: `[{_shown(place.value.text)[1:-1]}]`"
        remedy = write(place.value.span, f"[{place.value.span.text}]", words)
    if error.schema.get("title") == "rule text" and isinstance(place.value, Sequence):
        remedy = write(place.span, f'"{place.span.text}"', 'put rule text that starts with `[` in quotes: `"[…]"`')
    if error.validator_value == "object" and isinstance(place.value, Sequence):
        remedy = "write names without `-`: `name:`, and its content below"
    yield Diagnostic("E103", f"got {_described(error.instance)}, want {_want(error)}", place.span, help=remedy)


def _wrong_value(error: _Error, place: _Place) -> Iterator[Diagnostic]:
    hint = did_you_mean(str(error.instance), map(str, error.validator_value)) if error.validator == "enum" else ""
    message = f"got {_described(error.instance)}, want {_want(error)}{hint}"
    yield Diagnostic("E104", message, place.span, help=_as_id(error, place.span))


def _as_id(error: _Error, span: Span) -> str | None:
    """Suggest an id for a path or a single word."""
    if error.schema.get("title") != "an id such as `folder/name`":
        return None
    parts = str(error.instance).lower().removesuffix(".yaml").removesuffix(".yml").split("/")
    if len(parts) == 3 and all(map(str.isidentifier, (part.replace("-", "_") for part in parts))):
        id = f"{parts[0]}/{parts[2]}"
        return write(span, id, f"an id has only the folder of the family and the name of the file: `{id}`")
    return "an id is the name of the family's folder, `/`, and the name of the file without `.yaml`"


def _repeated(error: _Error, place: _Place) -> Iterator[Diagnostic]:
    items = place.value.items if isinstance(place.value, Sequence) else ()
    seen: set[str] = set()
    for item in items:
        if repr(plain(item)) in seen:
            yield Diagnostic("E107", f"got {_described(plain(item))} twice, want it once", item.span)
        seen.add(repr(plain(item)))


def _too_few(error: _Error, place: _Place) -> Iterator[Diagnostic]:
    got = "an empty list" if isinstance(error.instance, list) else "no keys"
    help = remove(place.entry.key.span, "leave the key out") if place.entry else None
    yield Diagnostic("E107", f"got {got}, want at least one item", place.span, help=help)


def _incomplete(error: _Error, place: _Place) -> Iterator[Diagnostic]:
    for key, needed in error.validator_value.items():
        missing = [name for name in needed if name not in error.instance]
        if key in error.instance and missing:
            yield Diagnostic("E105", f"`{key}` needs {joined(quoted(missing))} too", place.key(key))


def _excluded(error: _Error, place: _Place) -> Iterator[Diagnostic]:
    names: list[str] = error.validator_value.get("required", []) if isinstance(error.validator_value, dict) else []
    if not names:
        yield from _wrong_value(error, place)
    elif isinstance(error.instance, dict):  # otherwise the type has an error of its own
        yield _together(names, place)


def _alternatives(error: _Error, place: _Place) -> Iterator[Diagnostic]:
    branches: list[dict[str, Any]] = error.validator_value
    if any(set(branch) != {"required"} for branch in branches):
        yield from _best_branch(error, place)
    elif isinstance(error.instance, dict):
        names = [name for branch in branches for name in branch["required"]]
        present = [name for name in names if name in error.instance]
        if present:
            yield _together(present, place)
        elif "dependentSchemas" in error.schema_path:
            key = str(error.schema_path[error.schema_path.index("dependentSchemas") + 1])
            help = error.schema.get("description")
            yield Diagnostic("E105", f"`{key}` needs {joined(quoted(names), 'or')}", place.key(key), help=help)
        else:
            yield Diagnostic("E105", f"missing key: want one of {joined(quoted(names), 'or')}", place.holder)


def _together(names: list[str], place: _Place) -> Diagnostic:
    ordered = sorted(names, key=lambda name: place.key(name).start)
    message, last = f"got {joined(quoted(ordered))} together, want one of them", place.key(ordered[-1])
    return Diagnostic("E105", message, last, help=remove(last, f"remove `{ordered[-1]}`"))


def _best_branch(error: _Error, place: _Place) -> Iterator[Diagnostic]:
    """Report the errors of the branch that the author probably intended: of the right type, with the fewest errors."""
    branches = [list(errors) for _, errors in groupby(error.context, key=lambda sub: sub.schema_path[0])]
    matching = [errors for errors in branches if not any(map(_is_of_other_form, errors))]
    if matching:
        for sub in min(matching, key=lambda errors: sum(map(_weight, errors))):
            yield from _worded(sub, place)
        return
    code = "E103" if all(sub.validator == "type" for errors in branches for sub in errors) else "E104"
    wants = list(dict.fromkeys(want for errors in branches for sub in errors[:1] for want in _wants(sub)))
    yield Diagnostic(code, f"got {_described(error.instance)}, want {joined(wants, 'or')}", place.span)


def _is_of_other_form(error: _Error) -> bool:
    """Return whether an error concerns the value as a whole, not a part of it."""
    own = not error.path and "propertyNames" not in error.schema_path
    return own and error.validator in ("type", "enum", "const", "pattern", "minimum", "minLength")


def _weight(error: _Error) -> int:
    if error.validator == "additionalProperties":
        return sum(key not in error.schema.get("properties", ()) for key in error.instance)
    return 1


_WORDINGS: dict[str, Callable[[_Error, _Place], Iterator[Diagnostic]]] = {
    "additionalProperties": _unknown_keys,
    "required": _missing_keys,
    "type": _wrong_type,
    "uniqueItems": _repeated,
    "minItems": _too_few,
    "minProperties": _too_few,
    "dependentRequired": _incomplete,
    "not": _excluded,
    "anyOf": _alternatives,
    "oneOf": _alternatives,
}

# -- wording -----------------------------------------------------------------------------------------------------------

_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "`true` or `false`",
    "null": "nothing",
    "array": "a list",
    "object": "keys with values",
}


def _wants(error: _Error) -> list[str]:
    """Describe the expected values, each by itself where they are listed."""
    is_listed = error.validator == "enum" and "title" not in error.schema
    return quoted(error.validator_value) if is_listed else [_want(error)]


def _want(error: _Error) -> str:
    """Describe the expected value: the title of the schema, or the meaning of its keyword."""
    if "title" in error.schema:
        return str(error.schema["title"])
    expected = error.validator_value
    match error.validator:
        case "enum":
            return joined(quoted(expected), "or")
        case "const":
            return f"`{expected}`"
        case "type":
            return joined([_TYPES[name] for name in ([expected] if isinstance(expected, str) else expected)], "or")
        case "minimum":
            return f"at least {expected}"
        case "minLength":
            return "text"
        case _:
            return "another value"


def _described(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return f"`{str(value).lower()}`"
        case int():
            return f"`{value}`"
        case str():
            return f"the text {_shown(value)}" if value else "empty text"
        case list():
            return "a list"
        case _:
            return "keys"


def _shown(text: str) -> str:
    """Quote an author's text in backticks, on one line, with at most 40 characters."""
    line = " ".join(text.split()).replace("`", "'")
    return f"`{line if len(line) <= 40 else line[:39] + '…'}`"
