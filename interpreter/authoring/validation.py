"""Validation of files and rulesets: the named files, and the rulesets that contain them.

A result is kept between runs. If nothing has changed that it depends on, neither readers nor checker are imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from interpreter.authoring.validation_result import Validation
from interpreter.base.cycles import no_search
from interpreter.engine.answers import kept_answers
from interpreter.engine.kept_texts import kept_trees
from interpreter.language.parse import Trees, remembered
from interpreter.reading.dependencies import at_one_moment

__all__ = ["Validation", "validate"]


def validate(
    targets: Sequence[str],
    overlays: Iterable[str] = (),
    trees: Trees | None = None,
    tell: Callable[[str], object] = str,
) -> Validation:
    """Validate targets, named by path or id, and all files below folders. Without targets, validate everything.
    ``tell`` is called with the name of each ruleset before it is checked."""
    overlays = tuple(overlays)

    def found() -> Validation:
        from interpreter.authoring.validator import validated

        validation = Validation()
        with kept_trees() if trees is None else remembered(trees):
            validated(targets, overlays, validation, tell)
        return validation

    with no_search(), at_one_moment(), kept_answers("validation", *targets, "--with", *overlays) as answers:
        return answers.to((), found)
