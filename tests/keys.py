"""Generator of ``docs/keys.md``, the reference of all keys, from the schemas: ``python -m tests.keys``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from interpreter.base.paths import schema_folder

__all__ = ["PAGE", "written"]

PAGE = Path(__file__).parents[1] / "docs" / "keys.md"
COMMON = "common.schema.json"
KINDS = (
    *("ruleset", "family", "edition", "map", "deck", "overlay", "library"),
    *("policies", "scenarios", "waivers", "words"),
)
HEAD = """# All keys

All keys that files can have, from the schemas in `schemas/`; other keys are errors.
The [language](language.md) explains their use. `NAME` stands for a name of your choice, `[]` for the
items of a list.

Six keys have the same meaning everywhere:

| key | meaning |
|---|---|
| `amends` | the file whose declaration this changes; list only the keys that differ |
| `replaces` | the file whose declaration this replaces |
| `removes` | the file whose declaration, or layer of a rule, this removes |
| `cites` | the statements of a rulebook that this implements |
| `about` | a description for readers |
| `provenance` | the source of the data, and how it was checked |

*Required* keys may be omitted in a declaration that `amends` another.

`python -m tests.keys` writes this page.
"""
REMARKS = ("amends", "replaces", "removes", "cites", "about", "provenance")
Schema = dict[str, Any]


class _Reader:
    def __init__(self) -> None:
        files = sorted(schema_folder().glob("*.schema.json"))
        self.schemas: dict[str, Schema] = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in files}
        family = self.schemas["family.schema.json"]["properties"]
        self.sections = [key for key, value in family.items() if value == {"$ref": f"{COMMON}#/$defs/{key}"}]
        self.sections = [key for key in self.sections if key not in ("about", "provenance", "language")]

    def found(self, schema: Schema, file: str) -> tuple[Schema, str]:
        """Resolve a reference. Keys next to it, such as a description, take precedence."""
        while "$ref" in schema:
            name, _, place = schema["$ref"].partition("#/$defs/")
            file = name or file
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            schema = {**self.schemas[file]["$defs"][place], **beside}
        return schema, file

    def rows(self, schema: Schema, path: str, file: str) -> Iterator[tuple[str, str]]:
        """Yield each key below a value, with its meaning."""
        if schema.get("$ref", "").endswith("#/$defs/sections"):
            yield path, "Sections as in a file."
            return
        schema, file = self.found(schema, file)
        for key, value in schema.get("properties", {}).items():
            if isinstance(value, dict):
                below = f"{path}.{key}" if path else key
                if path and key in self.sections and value.get("$ref", "").endswith(f"/{key}"):
                    yield below, f"As the section `{key}`."
                    continue
                required = "Required. " if key in schema.get("required", ()) else ""
                yield below, required + self.meaning(value, file)
                yield from self.rows(value, below, file)
        if isinstance(more := schema.get("additionalProperties"), dict):
            yield f"{path}.NAME", self.meaning(more, file)
            yield from self.rows(more, f"{path}.NAME", file)
        if isinstance(items := schema.get("items"), dict):
            yield from self.rows(items, f"{path}[]", file)
        for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
            yield from self.rows(branch, path, file)

    def meaning(self, schema: Schema, file: str) -> str:
        schema, file = self.found(schema, file)
        said = str(schema.get("description", ""))
        values = [f"`{value}`" for value in schema.get("enum", ())]
        if all(value in said for value in values):
            return said
        return f"{said} One of {', '.join(values)}.".strip()

    def table(self, rows: Iterator[tuple[str, str]], section: str = "") -> str:
        known: dict[str, str] = {}
        for path, meaning in rows:
            known[path] = known.get(path) or meaning
        remarks = [key for key in REMARKS if known.pop(f"{section}.NAME.{key}", None) is not None]
        lines = [f"| `{path}` | {meaning.replace('|', chr(92) + '|')} |\n" for path, meaning in known.items()]
        also = f"\nEach may say {', '.join(f'`{key}`' for key in remarks)}.\n" if remarks else ""
        return "| key | meaning |\n|---|---|\n" + "".join(lines) + also


def written() -> str:
    """Return the text of the page."""
    reader = _Reader()
    parts = [HEAD, "## Files\n"]
    for kind in KINDS:
        schema = reader.schemas[f"{kind}.schema.json"]
        keys = schema["properties"]
        sections = [key for key in keys if keys[key] == {"$ref": f"{COMMON}#/$defs/{key}"} and key in reader.sections]
        own = {**schema, "properties": {key: value for key, value in keys.items() if key not in sections}}
        parts.append(f"### {kind}\n\n{schema['description']}\n\n" + reader.table(reader.rows(own, "", schema["$id"])))
        if sections:
            parts.append(f"Sections: {', '.join(f'`{key}`' for key in sections)}.\n")
    parts.append("## Sections\n")
    for key in reader.sections:
        schema = reader.schemas[COMMON]["$defs"][key]
        rows = reader.rows(schema, key, COMMON)
        parts.append(f"### Section {key}\n\n{schema.get('description', '')}\n\n" + reader.table(rows, key))
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
