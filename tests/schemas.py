"""Generator of ``schemas/``, the JSON schemas of all kinds of files, from the types: ``python -m tests.schemas``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from interpreter.base.paths import schema_folder
from interpreter.sections.documents import FILES
from interpreter.sections.vocabulary import (
    Either,
    Form,
    Integer,
    Keys,
    Listed,
    Named,
    Prose,
    Record,
    Word,
    Words,
)

__all__ = ["schemas", "written"]

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
COMMON = "common.schema.json"


class _Writer:
    """Writes the schemas of records, and collects the definitions that they refer to."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}

    def of(self, form: Form[object]) -> Schema:
        """Return the schema of a key or an item: that of the form, or a reference to its definition."""
        if not form.definition:
            return self.described(self.content(form), form.says or form.meaning)
        if form.definition not in self.definitions:
            self.definitions[form.definition] = {}  # a part may contain itself
            content = self.of(form.inner[0]) if self.is_alias(form) else self.content(form)
            self.definitions[form.definition] = self.described(content, form.meaning)
        return self.described({"$ref": f"#/$defs/{form.definition}"}, form.says)

    def is_alias(self, form: Form[object]) -> bool:
        return bool(form.inner) and not isinstance(form, Either)

    def described(self, schema: Schema, meaning: str) -> Schema:
        return {**schema, **({"description": meaning} if meaning else {})}

    def content(self, form: Form[object]) -> Schema:
        """Return the schema of a form without its description."""
        given: Schema = {key: list(value) if isinstance(value, tuple) else value for key, value in form.schema.items()}
        match form:
            case Either() if form.inner:
                return {"anyOf": [self.of(branch) for branch in form.inner], **given}
            case Word() | Prose() if "const" not in given and "enum" not in given:
                return {"type": "string", **given}
            case Integer():
                return {"type": "integer", **given}
            case Words() | Listed():
                return {"type": "array", "items": self.of(form.item), **given}
            case Named():
                names = {"propertyNames": self.of(form.names)} if form.names is not None else {}
                return {"type": "object", **names, "additionalProperties": self.of(form.item) or True, **given}
            case Keys():
                return self.record(form.record)
            case _:
                return given

    def record(self, record: type[Record]) -> Schema:
        schema: Schema = {"type": "object"}
        given: Schema = dict(record.schema)
        if record.others is not None:
            others = self.of(record.others)
            schema |= {"additionalProperties": others or True}
            if others:
                schema |= {"propertyNames": {"$ref": "#/$defs/name"}}
        else:
            schema |= {"additionalProperties": False}
        schema["properties"] = {key: self.of(form) for key, form in record.forms.items()}
        apart = [{"not": {"required": list(names)}} for names in given.pop("apart", ())]
        needed: Schema = dict(given.pop("then", {}))
        if required := [key for key, form in record.forms.items() if form.required]:
            needed["required"] = required
        if record.one_of:
            needed["oneOf"] = [{"required": [key]} for key in record.one_of]
        verbs = [{"required": [verb]} for verb in ("amends", "removes") if verb in record.forms]
        if needed and verbs:
            schema |= {"if": {"not": {"anyOf": verbs} if len(verbs) > 1 else verbs[0]}, "then": needed}
        else:
            schema |= needed
        return {**schema, **(apart[0] if len(apart) == 1 else {"allOf": apart} if apart else {}), **given}


def schemas() -> dict[str, Schema]:
    """Return all schemas by the names of their files."""
    writer = _Writer()
    files: dict[str, Schema] = {}
    for kind, record in FILES.items():
        head = {"$schema": DIALECT, "$id": f"https://regelwerk.invalid/schemas/{kind}.schema.json"}
        schema = writer.described(writer.record(record), " ".join((record.__doc__ or "").split()))
        text = json.dumps({**head, **schema}).replace('"#/$defs/', f'"{COMMON}#/$defs/')
        files[f"{kind}.schema.json"] = json.loads(text)
    files[COMMON] = {
        "$schema": DIALECT,
        "$id": f"https://regelwerk.invalid/schemas/{COMMON}",
        "title": "shared sections",
        "description": "Definitions shared by the schemas.",
        "$defs": writer.definitions,
    }
    return files


def written() -> dict[Path, str]:
    """Return the text of each file."""
    return {
        schema_folder() / name: json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in schemas().items()
    }


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
