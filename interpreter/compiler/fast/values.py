"""Functions whose steps only tell cases apart are one expression to the fast form, so that it can stand in place."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from interpreter.language import core as c
from interpreter.language.model import RuleLayer
from interpreter.language.types import Type

__all__ = ["AsValues"]


class AsValues(dict[str, RuleLayer]):
    """Procedures by their ids, as others have them; more may be added there."""

    def __init__(self, procedures: dict[str, RuleLayer]) -> None:
        super().__init__((id, _as_value(layer)) for id, layer in procedures.items())
        self.procedures = procedures

    def __missing__(self, id: str) -> RuleLayer:
        found = self[id] = _as_value(self.procedures[id])
        return found


def _as_value(layer: RuleLayer) -> RuleLayer:
    if layer.form != "is" or not isinstance(layer.body, tuple) or layer.result is None:
        return layer
    value = _given(cast("tuple[c.Step, ...]", layer.body), layer.result)
    return layer if value is None else replace(layer, body=value)


def _given(steps: tuple[c.Step, ...], type_: Type) -> c.Expression | None:
    """What steps give, whichever way they go; nothing where they do more than to tell cases apart."""
    match steps:
        case (c.Returns(value), *_):
            return value
        case (c.Branch(c.Test(test, None), then, otherwise), *rest):
            yes, no = _given(then, type_), _given((*otherwise, *rest), type_)
            if yes is None or no is None:
                return None
            return c.Condition(yes, test, no, type=type_, span=steps[0].span)
        case _:
            return None
