"""Lookup in the types of files: the forms of the values in a file, and what may stand at a path of keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from interpreter.base.yaml_values import Mapping, Scalar, Sequence, Value
from interpreter.sections.documents import FILES
from interpreter.sections.vocabulary import Code, Form, Keys, Listed, Named, Reference, Words

__all__ = ["documentation", "forms_at", "forms_in", "keys_at", "scope_at"]


def forms_in(kind: str, root: Mapping) -> Iterator[tuple[str, Scalar, Form[object]]]:
    """Yield each scalar of a file with each form that it may have there, and with the innermost key of the language.

    Ids of files as keys are scalars too.
    """
    yield from _forms_in(root, "", Keys(FILES[kind]))


def _forms_in(value: Value, key: str, form: Form[object]) -> Iterator[tuple[str, Scalar, Form[object]]]:
    for branch in form.branches():
        if isinstance(value, Scalar):
            yield key, value, branch
        if isinstance(branch, Named) and isinstance(branch.names, Reference) and isinstance(value, Mapping):
            yield from ((key, entry.key, branch.names) for entry in value.entries)
        is_list = isinstance(branch, Words | Listed)
        for step, part in _parts(value) if is_list == isinstance(value, Sequence) else ():
            for below in branch.below(step):
                yield from _forms_in(part, below.key or key, below)


def _parts(value: Value) -> list[tuple[str, Value]]:
    if isinstance(value, Mapping):
        return value.items()
    return [("0", item) for item in value.items] if isinstance(value, Sequence) else []


def forms_at(kind: str, path: Iterable[str]) -> list[Form[object]]:
    """Return the forms of the value at a path of keys. Any number stands for the items of a list."""
    here = list(Keys(FILES[kind]).branches())
    for step in path:
        here = [branch for form in here for below in form.below(step) for branch in below.branches()]
    return here


def scope_at(kind: str, path: Iterable[str]) -> dict[str, str]:
    """Return the locals that every rule text at a path has, by name, with words for their types."""
    here, scope = list(Keys(FILES[kind]).branches()), dict[str, str]()
    for step in path:
        here = [branch for form in here for below in form.below(step) for branch in below.branches()]
        for form in here:
            own = form.record.scope if isinstance(form, Keys) else form.scope if isinstance(form, Code) else {}
            scope |= {name or step: type_ or step for name, type_ in own.items()}
    return scope


def documentation(kind: str, path: Iterable[str]) -> str:
    """Return the description of the key at a path of keys."""
    return _described(forms_at(kind, path))


def keys_at(kind: str, path: Iterable[str]) -> dict[str, str]:
    """Return the keys allowed at a path, each with its description."""
    records = [form.record for form in forms_at(kind, path) if isinstance(form, Keys)]
    return {key: _described(form.branches()) for record in records for key, form in record.forms.items()}


def _described(forms: Iterable[Form[object]]) -> str:
    return next((form.says or form.meaning for form in forms if form.says or form.meaning), "")
