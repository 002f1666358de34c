"""The table of codes: each has one meaning, one page in ``docs/errors`` and one bad file in ``tests/bad``."""

from __future__ import annotations

__all__ = ["CODES"]

CODES: dict[str, str] = {
    "E001": "this is not YAML",
    "E002": "the file is not UTF-8",
    "E003": "a character that cannot stand in a file",
    "E004": "a tab as indentation",
    "E005": "a key is given twice",
    "E006": "a key that is no word",
    "E007": "a YAML tag",
    "E008": "several documents in a file",
    "E009": "an alias that names nothing or itself",
    "E010": "too many values",
    "E011": "values are nested too deep",
    "E012": "the file is too large",
    "E013": "the file has no keys",
    "E014": "rule text that is no literal block and no plain line",
    "E020": "a row with too few or too many cells",
    "E021": "a column is given twice",
    "E022": "a table without a header",
    "E030": "a file cannot be read",
    "E031": "no file has this id",
    "E032": "this is no id",
    "E033": "a file outside of its folder of rulesets",
    "E034": "the kind of a file is not clear",
    "E035": "another language than 1",
    "E036": "a file of another kind than its place says",
    "E101": "unknown key",
    "E102": "a key is missing",
    "E103": "a value of another type",
    "E104": "a value that is not among those allowed",
    "E105": "keys that exclude or need each other",
    "E106": "a name that cannot be one",
    "E107": "an empty list, or an item twice",
    "W001": "a file lies elsewhere than its id says",
}
