"""Compositions that lint looks at: the rulesets of a shelf, alone and with the overlays that fit them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from interpreter.base.diagnostics import Diagnostic, RulesetError, unique
from interpreter.engine.ruleset import Ruleset, load
from interpreter.lint.duplicates import has_rules
from interpreter.reading.compose import word
from interpreter.reading.files import Document, Shelf, resolved
from interpreter.reading.ruleset_files import can_have, ids_of, rulesets_of
from interpreter.reading.yaml import Mapping

__all__ = ["Compositions", "compositions"]


@dataclass
class Compositions:
    """Input of lint: compositions to check, and others to compare them with. ``told`` are the names of the files that
    findings must touch, ``skipped`` those of other compositions that have errors."""

    asked: list[Ruleset] = field(default_factory=list)
    every: list[Ruleset] = field(default_factory=list)
    told: frozenset[str] = frozenset()
    skipped: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)  # a key of dicts: by itself, not by the text of its files
class _Form:
    """A ruleset, alone or with an overlay that fits it, and kind and id of the files that it is made of."""

    ruleset: Document
    overlay: Document | None
    files: frozenset[tuple[str, str]]

    @property
    def name(self) -> str:
        return f"`{self.ruleset.id}`" + (f" with `{self.overlay.id}`" if self.overlay else "")

    @property
    def family(self) -> str:
        return word(self.ruleset.root.get("family"))

    @property
    def telling(self) -> frozenset[tuple[str, str]]:
        """The files that may hold rules: not that of a ruleset which only names others."""
        is_named_alone = not any(isinstance(entry.value, Mapping) for entry in self.ruleset.root.entries)
        return self.files - {(self.ruleset.kind, self.ruleset.id)} if is_named_alone else self.files


def compositions(shelf: Shelf, named: Collection[Document] = ()) -> Compositions:
    """Every ruleset, then each with every overlay that fits it; where files are named, those that contain one. Where
    rules in these files may say what others say, also as few as together contain every other file of their families
    that may hold rules.

    What has errors and contains none of the files, or only with an overlay that is not among them, is skipped. Other
    errors are raised.
    """
    forms = _forms(shelf, {document.kind for document in named})
    wanted = {(document.kind, document.id) for document in named if _is_on(shelf, document)}
    asked = [form for form in forms if not named or not form.files.isdisjoint(wanted)]
    chosen, wrong, loaded = Compositions(), list[Diagnostic](), dict[_Form, Ruleset]()
    for form in asked:
        try:
            loaded[form] = _load(form, shelf)
        except RulesetError as error:
            if form.overlay is None or not named or ("overlay", form.overlay.id) in wanted:
                wrong.extend(error.diagnostics)
            chosen.skipped.append(form.name)
    if wrong:
        raise RulesetError(unique(wrong))
    chosen.asked = list(loaded.values())
    parts = (document for ruleset in chosen.asked for document in ruleset.composition.documents)
    chosen.told = frozenset(part.file.name for part in parts if not named or (part.kind, part.id) in wanted)
    if any(has_rules(ruleset, chosen.told) for ruleset in chosen.asked):
        for form in _beside(forms, asked):
            try:
                loaded[form] = _load(form, shelf)
            except RulesetError:
                chosen.skipped.append(form.name)
    chosen.every = [loaded[form] for form in forms if form in loaded]
    return chosen


def _load(form: _Form, shelf: Shelf) -> Ruleset:
    return load(form.ruleset.id, [form.overlay.id] if form.overlay else [], shelf)


def _beside(forms: Sequence[_Form], asked: Sequence[_Form]) -> list[_Form]:
    """Others that have, with those that are asked for, every file of their families that may hold rules. What an
    overlay covers is seen without it."""
    families = {form.family for form in asked}
    others = [form for form in forms if form not in asked and form.family in families]
    below = {form.ruleset.id for form in asked}
    beside = [form for form in others if form.overlay is None and form.ruleset.id in below]
    known = set[tuple[str, str]]().union(*(form.files for form in asked))
    telling = {form: form.telling for form in others}
    while telling:
        most = max(telling, key=lambda form: len(telling[form] - known))
        if telling[most] <= known:
            break
        beside.append(most)
        known |= telling[most]
    return beside


def _is_on(shelf: Shelf, document: Document) -> bool:
    """Return whether a file is the one that rulesets of a shelf have by its id."""
    place = shelf.find(document.kind, document.id)
    return place is not None and resolved(place) == resolved(document.path)


def _forms(shelf: Shelf, kinds: Collection[str]) -> list[_Form]:
    """All rulesets, then each with each overlay that fits it, as far as their files can be read. Files of these kinds
    are asked for."""
    overlays = [document for id in shelf.ids("overlay") if (document := shelf.read("overlay", id)[0]) is not None]
    alone = [_Form(ruleset, None, frozenset(ids_of(shelf, ruleset, *kinds))) for ruleset in rulesets_of(shelf)]
    stacked = [
        _Form(form.ruleset, overlay, form.files | {("overlay", overlay.id)})
        for overlay in overlays
        for form in alone
        if can_have({id for _, id in form.files}, overlay)
    ]
    return [*alone, *stacked]
