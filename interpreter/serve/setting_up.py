"""Set-up of a table in the words of the reader: fields for settings, titles of files, refusals.

From a ruleset or a file come data for pages; nothing here changes a table.
"""

from __future__ import annotations

from collections.abc import Mapping

from interpreter.base.yaml_values import Mapping as YamlMapping
from interpreter.base.yaml_values import word
from interpreter.engine.game import Ruleset
from interpreter.engine.refusal import IllegalSetUp, Reason
from interpreter.engine.settings import WrongSetting, setting_syntax
from interpreter.explain.cross_reference import quote
from interpreter.language.types import BoolType, KindType, SeatType, item_type
from interpreter.reading.files import Document, Shelf, title_key
from interpreter.serve.scene import Data
from interpreter.serve.words import Refused, in_language, t

__all__ = ["fields_of", "reason_data", "refusal_of", "said_title"]


def said_title(shelf: Shelf, document: Document, language: str) -> str:
    """Return the title of a file in a language, if its family has words for it."""
    family = word(document.head.family) or document.id.partition("/")[0]
    words, _ = shelf.read("words", f"{family}/{language}")
    said = words.root.get("is") if words is not None else None
    title = said.get(title_key(document.kind, document.id)) if isinstance(said, YamlMapping) else None
    return word(title) or document.title


def fields_of(ruleset: Ruleset, fills: Mapping[str, str]) -> list[Data]:
    """Return a field for each setting: what can be picked, or the form of a text. ``fills`` are the colours of the
    parts of the board, by word."""
    model, fields, now = ruleset.model, list[Data](), in_language.value
    parts = {tree.type.sure for tree in model.picture["node.colour"].trees} if fills else set()
    for name, setting in model.settings.items():
        items = item_type(setting.type)
        of, form, values = (items or setting.type).sure, "text", list[tuple[str, str, str]]()
        if isinstance(of, KindType):
            form, known = "some" if items else "one", fills if of in parts else {}
            for number, member in enumerate(model.members(of.name)):
                fill = known.get(ruleset.names.text(number, of), "")
                values.append((member, ruleset.said(f"{of.name}.{member}", now), fill))
        elif isinstance(of, BoolType):
            form, values = "one", [("yes", t("yes"), ""), ("no", t("no"), "")]
        elif isinstance(of, SeatType) and items:
            form = "order"
        title, about = (
            ruleset.said(f"settings.{name}{part}", now, told) for part, told in (("", ""), (".about", setting.about))
        )
        field = {"name": name, "default": setting.default, "title": title, "about": about, "form": form}
        fields.append({**field, "values": values, "syntax": setting_syntax(model, name, now)})
    return fields


def reason_data(ruleset: Ruleset, reason: Reason, language: str) -> Data:
    """Return a reason as words, else as the sentences of its rulebook, with its rule."""
    quotes = [quote(ruleset, cite) for cite in reason.cites]
    text = reason.said(language) or ("" if any(each.text for each in quotes) else t("The rules do not allow this now."))
    return {"text": text, "cites": quotes, "rule": reason.rule}


def refusal_of(error: ValueError, ruleset: Ruleset) -> Refused:
    """Return in words why a game cannot be set up."""
    now = in_language.value
    if isinstance(error, WrongSetting) and ruleset.has_setting(error.name):
        what = setting_syntax(ruleset.model, error.name, now)
        return Refused("{name}: type {what}.", name=ruleset.said(f"settings.{error.name}", now), what=what)
    if isinstance(error, IllegalSetUp):
        said = [each.said(now) for each in error.reasons]
        said = said if all(said) else [quote(ruleset, cite).text for each in error.reasons for cite in each.cites]
        if any(said):
            return Refused(
                "{name}: {why}",
                name=ruleset.said(f"settings.{error.name}", now),
                why=" ".join(filter(None, said)),
            )
    return Refused("The game cannot be set up in this way.")
