"""Standing orders of a seat: choices that its table makes for it.

A forced choice is the only option of a decision; the table makes it unless the seat wants to. A standing answer is
given in advance to a decision with one number and an alternative without values, such as an offer: the least number up
to a limit, then the alternative; or to any decision, by lines of a policy. It holds for what the decision is about, at
most until the round ends. A draft is a list of choices; ``armed``, they are made at the next turn if each is legal.
Others see choices, not orders.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec
from msgspec import Struct

from interpreter.base.plain_data import json_in, json_of
from interpreter.bots.player import Code, Stream
from interpreter.bots.policy import PolicyBot
from interpreter.engine.decision import Decision
from interpreter.engine.foreseen import shows_options
from interpreter.engine.game import Game
from interpreter.engine.views import Spoken
from interpreter.hidden.sight import PUBLIC
from interpreter.language.model import Model
from interpreter.language.types import INT
from interpreter.play.game_records import Choice
from interpreter.serve.words import in_language, t

__all__ = ["Orders", "answer_for", "answer_to", "answer_words", "forced", "orders_in", "shape_of", "subject_of"]


class Answer(Struct, frozen=True):
    """A standing answer: the least number up to ``most``, then the alternative without values. Without ``most``, it is
    this alternative. With a ``rule``, it is what these lines of a policy prefer, if they leave an option."""

    most: int | None
    round: int
    """Round at whose end the answer lapses."""
    subject: str | None = None
    """What the decision must be about, as :func:`subject_of` names it. None for anything."""
    text: str = ""
    """The answer in words, for the page of its seat."""
    rule: str = ""


class Orders(Struct, frozen=True):
    """Standing orders of a seat: ``asks`` is set if it makes forced choices itself; ``answers`` are by decision;
    ``notes`` are private; ``hook`` is the webhook that tells of its turn in its ``language``, with the ``link`` of its
    page; ``draft`` and ``armed`` are as in :mod:`interpreter.serve.drafts`."""

    asks: bool = False
    answers: dict[str, Answer] = {}
    notes: str = ""
    hook: str = ""
    link: str = ""
    language: str = "en"
    draft: tuple[Choice, ...] = ()
    armed: bool = False


def orders_in(text: str) -> Orders:
    """Read the orders of a seat from their JSON; an empty text means the default. Raises ``ValueError``."""
    return msgspec.json.decode(text or b"{}", type=Orders)


def shape_of(decision: Decision) -> tuple[int, int] | None:
    """Return the number of the alternative that takes one number, and of the one without values. None if these two are
    not all that a decision offers."""
    sites = decision.site.options
    numbers = [number for number, site in enumerate(sites) if [each.type for each in site.core.choices] == [INT]]
    rest = [number for number, site in enumerate(sites) if not site.core.choices]
    return (numbers[0], rest[0]) if len(numbers) == len(rest) == 1 and len(sites) == 2 else None


def answer_words(spoken: Spoken, decision: Decision, shape: tuple[int, int], most: int | None) -> str:
    """Return a standing answer to a decision in words."""
    rest = spoken.term("button", decision.name, decision.site.options[shape[1]].name)
    return rest if most is None else t("up to {most}, then {rest}", most=most, rest=rest)


def subject_of(decision: Decision) -> str:
    """Return what a decision is about: the values shown with it, but for numbers, as JSON."""
    types = {name: value.type for name, value in decision.site.ask.context}
    return json_of({name: value for name, value in decision.context.items() if types[name].sure != INT})


def forced(game: Game, decision: Decision) -> Code | None:
    """Return the only option of a decision. None if there are more, if the choice stays secret, or if a spectator could
    not work out the options: then a choice that is made at once would tell what is hidden."""
    if decision.site.ask.is_closed:
        return None
    found = list(decision.options[:2])
    return found[0].code if len(found) == 1 and shows_options(game, decision, PUBLIC) else None


def answer_for(game: Game, decision: Decision, most: int | None, rule: str, whole_round: bool) -> Answer | None:
    """Return a standing answer to a decision, None if it cannot have this one. Raises :class:`RulesetError`."""
    shape = shape_of(decision)
    if rule:
        rule_for(game.ruleset.model, decision.name, rule)
    elif shape is None:
        return None
    words, subject = " / ".join(rule.splitlines()), None if whole_round else subject_of(decision)
    if shape is not None and not rule:
        words = answer_words(Spoken(game.table, game.state, in_language.value), decision, shape, most)
    about = ", ".join(str(value) for value in json_in(subject or "{}").values())
    scoped = t("{what} for this round", what=words) if whole_round else f"{words} ({about})" if about else words
    return Answer(most, game.round, subject, scoped, rule)


@lru_cache(64)
def rule_for(model: Model, decision: str, text: str) -> PolicyBot:
    """Return the bot that follows lines of a policy which a person has typed. Raises :class:`RulesetError`."""
    from interpreter.bots.policies import typed_policy

    return PolicyBot(typed_policy(model, decision, text))


def answer_to(game: Game, decision: Decision, orders: Orders, random: Stream) -> Code | None:
    """Return the choice of the standing answer to a decision. None if there is none, or it has lapsed."""
    answer, shape = orders.answers.get(decision.name), shape_of(decision)
    if answer is None or answer.round != game.round or answer.subject not in (None, subject_of(decision)):
        return None
    if answer.rule:
        bot = rule_for(game.ruleset.model, decision.name, answer.rule)
        return bot.preferred(game, decision, decision.codes, random)
    if shape is None:
        return None
    numbers = [code for code in decision.codes if code[0] == shape[0] and code[1][0] <= (answer.most or 0)]
    if answer.most is not None and numbers:
        return min(numbers)
    return next((code for code in decision.codes if code[0] == shape[1]), None)
