"""Drafts of a seat: choices that are put together on a copy of the game, and made together.

The copy goes as far as the seat can work out what follows (:mod:`interpreter.engine.foreseen`): up to the first draw,
hidden thing, sealed choice or decision of another seat. While others are asked, it stands where they have declined
until the seat is asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from interpreter.base.plain_data import json_of
from interpreter.engine.decision import Code, Decision
from interpreter.engine.foreseen import after, supposed
from interpreter.engine.game import Game
from interpreter.engine.refusal import IllegalMove, Reason, legal_choice
from interpreter.lowering.constants import RuleFailure
from interpreter.play.game_records import Choice
from interpreter.serve.words import in_language

__all__ = ["MOST_PARTS", "Drafted", "Part", "drafted"]

MOST_PARTS = 24
"""Most choices of a draft."""


class Part(Struct, frozen=True):
    """A choice of a draft, and the name of its decision. Without a ``decision`` that it answers it waits for a later
    one; without a ``code`` it is not possible, for these reasons. With ``now`` its seat can make it at once, after the
    parts before."""

    choice: Choice
    name: str
    decision: Decision | None = None
    code: Code | None = None
    why: tuple[Reason, ...] = ()
    now: bool = False

    @property
    def kept(self) -> Choice:
        return {**self.choice, "decision": self.name}


class Drafted(Struct, frozen=True):
    """A draft on a copy of the game: ``game`` as it would be, and the ``decision`` that a further part would answer,
    None if the draft ends there. ``ahead`` is set if others decide before it."""

    game: Game
    decision: Decision | None
    parts: list[Part]
    ahead: bool

    @property
    def kept(self) -> list[Choice]:
        """All parts, as orders keep them."""
        return [part.kept for part in self.parts]

    @property
    def sent(self) -> list[Choice]:
        """The choices that can be made together now."""
        return [part.choice for part in self.parts if part.now and part.code is not None]

    @property
    def mark(self) -> str:
        """Name of the draft, as long as the server runs."""
        return f"{hash(json_of(self.kept)):x}"


def drafted(game: Game, seat: int, kept: Sequence[Choice]) -> Drafted:
    """Return the draft of a seat with these choices. A part that is refused is left out of what follows; one of another
    decision waits, with all after it."""
    parts, waits, now = list[Part](), False, game.decision_of(seat) is not None
    here: Game | None = game if now else supposed(game, seat)
    shown = game
    for each in kept:
        if here is not None and here.decision_of(seat) is None:
            here, now = supposed(here, seat), False
        shown, decision = here or shown, here.decision_of(seat) if here is not None else None
        choice, name = {key: each[key] for key in each if key != "decision"}, each.get("decision", "")
        waits = waits or decision is None or name not in ("", decision.name)
        if here is None or decision is None or waits:
            parts.append(Part(choice, name))
            continue
        try:
            code = legal_choice(here.table, decision, choice, in_language.value)
        except (IllegalMove, RuleFailure) as error:
            why = getattr(error, "reasons", ()) or [Reason(str(error), "")]
            parts.append(Part(choice, decision.name, decision, None, tuple(why), now))
            continue
        parts.append(Part(choice, decision.name, decision, code, (), now))
        reached = after(here, decision, code, seat)
        shown, here = reached or here, reached
    if here is not None and not now:
        here = supposed(here, seat)
    return Drafted(here or shown, here.decision_of(seat) if here is not None else None, parts, not now)
