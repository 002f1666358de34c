"""Compositions that lint checks: the rulesets of a shelf, alone and with each overlay that fits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from interpreter.base.diagnostics import Diagnostic, RulesetError, unique
from interpreter.base.yaml_values import word
from interpreter.engine.game import Ruleset
from interpreter.lint.duplicates import has_rules
from interpreter.loading.load import load
from interpreter.reading.files import Document, Shelf
from interpreter.reading.ruleset_files import ids_of, rulesets_of, stacks_of
from interpreter.reading.yaml import Mapping

__all__ = ["Compositions", "compositions"]


@dataclass
class Compositions:
    """Input of lint: compositions to check (``selected``), and ``all`` that they are compared with. ``files`` are the
    names of the files that findings must concern, ``skipped`` the names of compositions and other files with errors."""

    selected: list[Ruleset] = field(default_factory=list)
    all: list[Ruleset] = field(default_factory=list)
    files: frozenset[str] = frozenset()
    skipped: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Form:
    """A ruleset, alone or with an overlay that fits it, and the kind and id of each of its files."""

    ruleset: Document = field(compare=False)
    overlay: Document | None = field(compare=False)
    files: frozenset[tuple[str, str]]

    @property
    def name(self) -> str:
        return f"`{self.ruleset.id}`" + (f" with `{self.overlay.id}`" if self.overlay else "")

    @property
    def family(self) -> str:
        return word(self.ruleset.root.get("family"))

    @property
    def sources(self) -> frozenset[tuple[str, str]]:
        """Return the files that may contain rules; a ruleset file that only names other files does not."""
        is_named_alone = not any(isinstance(entry.value, Mapping) for entry in self.ruleset.root.entries)
        return self.files - {(self.ruleset.kind, self.ruleset.id)} if is_named_alone else self.files


class _Forms:
    """All readable rulesets of a shelf, alone and with overlays that fit. ``kinds`` are those of the named files."""

    def __init__(self, shelf: Shelf, kinds: Collection[str]) -> None:
        self.shelf, self.overlays = shelf, list(shelf.ids("overlay"))
        self.rulesets = rulesets_of(shelf)
        self.files = {ruleset.id: frozenset(ids_of(shelf, ruleset, *kinds)) for ruleset in self.rulesets}

    def with_files(self, ids: Collection[tuple[str, str]] | None) -> list[_Form]:
        """Return the rulesets with one of these files (None: any), with each overlay that fits, and the others with
        those of these overlays; rulesets alone come first."""
        whole = [each for each in self.rulesets if ids is None or not self.files[each.id].isdisjoint(ids)]
        others = [each for each in self.rulesets if each not in whole]
        overlays = [id for id in self.overlays if ids is not None and ("overlay", id) in ids]
        stacks = [*stacks_of(self.shelf, whole), *stacks_of(self.shelf, others, overlays)]
        forms = [_Form(ruleset, None, self.files[ruleset.id]) for ruleset in whole]
        forms += [_Form(r, overlay, self.files[r.id] | {("overlay", overlay.id)}) for r, overlay in stacks]
        return sorted(forms, key=self.order)

    def order(self, form: _Form) -> tuple[int, int]:
        overlay = -1 if form.overlay is None else self.overlays.index(form.overlay.id)
        return overlay, self.rulesets.index(form.ruleset)


def compositions(shelf: Shelf, named: Collection[Document] = (), tell: Callable[[str], object] = str) -> Compositions:
    """Return every ruleset, alone and with every overlay that fits; if files are named, only compositions with one of
    them.

    If these files contain rules, ``all`` also has a small set of compositions that covers every other file with rules
    of the same families, to find duplicates. A composition with errors is skipped if it has an overlay that is not
    named or if it was only added for comparison. Raises :class:`RulesetError` for other errors.
    """
    forms = _Forms(shelf, {document.kind for document in named})
    named_ids = {(document.kind, document.id) for document in named if shelf.has_at(document, document.path)}
    selected = forms.with_files(named_ids if named else None)
    result, errors, loaded = Compositions(), list[Diagnostic](), dict[_Form, Ruleset]()
    for form in selected:
        tell(form.name)
        try:
            loaded[form] = _load(form, shelf)
        except RulesetError as error:
            if form.overlay is None or not named or ("overlay", form.overlay.id) in named_ids:
                errors.extend(error.diagnostics)
            result.skipped.append(form.name)
    if errors:
        raise RulesetError(unique(errors))
    result.skipped += [f"`{document.file.name}`" for document in named if document.misfits]
    result.selected = list(loaded.values())
    parts = (document for ruleset in result.selected for document in ruleset.composition.documents)
    result.files = frozenset(part.file.name for part in parts if not named or (part.kind, part.id) in named_ids)
    if any(has_rules(ruleset, result.files) for ruleset in result.selected):
        for form in _complement(forms.with_files(None), selected):
            try:
                loaded[form] = _load(form, shelf)
            except RulesetError:
                result.skipped.append(form.name)
    result.all = [loaded[form] for form in sorted(loaded, key=forms.order)]
    return result


def _load(form: _Form, shelf: Shelf) -> Ruleset:
    return load(form.ruleset.id, [form.overlay.id] if form.overlay else [], shelf)


def _complement(forms: Sequence[_Form], selected: Sequence[_Form]) -> list[_Form]:
    """Return further compositions that cover, with the selected ones, every file with rules of their families. Includes
    each selected ruleset without overlays, which shows the rules that an overlay covers."""
    families = {form.family for form in selected}
    others = [form for form in forms if form not in selected and form.family in families]
    below = {form.ruleset.id for form in selected}
    added = [form for form in others if form.overlay is None and form.ruleset.id in below]
    known = set[tuple[str, str]]().union(*(form.files for form in selected))
    sources = {form: form.sources for form in others}
    while sources:
        best = max(sources, key=lambda form: len(sources[form] - known))
        if sources[best] <= known:
            break
        added.append(best)
        known |= sources[best]
    return added
