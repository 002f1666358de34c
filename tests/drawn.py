"""Random policies and overlays for any ruleset, and games with them in every form.

The random rule text is well typed by the model of the ruleset: it uses the names in scope, attributes of seats, cards,
nodes and places, tables and the ruleset's own functions. Text that the checker still refuses is left out.

`play_alike` plays a game in the plain form, several times in the module, two games at once, in a module that takes over
in the middle, and in one call; `python -m tests.drawn CASE` plays it again in another process.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from interpreter.base.diagnostics import RulesetError
from interpreter.base.paths import ruleset_roots
from interpreter.base.source import SourceFile, Span
from interpreter.bots.policies import Checked, policies_in
from interpreter.bots.policy import PolicyBot
from interpreter.engine.game import Ruleset
from interpreter.language import core as c
from interpreter.language.model import Model, RuleLayer, Signature
from interpreter.language.preferences import Policy
from interpreter.language.resolve import owner_word
from interpreter.language.types import (
    BOOL,
    INT,
    SEAT,
    CardType,
    CollectionType,
    HolderType,
    KindType,
    ListType,
    NodeType,
    SeatType,
    SetType,
    Type,
    ZoneType,
    read_type,
)
from interpreter.language.walk import descendants
from interpreter.loading.load import load
from interpreter.lowering.constants import RuleFailure
from interpreter.play.match import Match
from interpreter.reading.files import Shelf, read_document

__all__ = ["Case", "Writer", "draw", "other_process", "play_alike"]

DEEPEST = 4
MOST_DECISIONS = 400
SELDOM = 50
NUMBERS = ("0", "1", "2", "3", "5", "10", "40", "100")
LIST = ListType | SetType | ZoneType
Scope = list[tuple[str, Type]]


class Writer:
    """Writes random expressions of a type from the names in scope."""

    def __init__(self, model: Model, chance: random.Random) -> None:
        self.model, self.chance = model, chance
        self.count = 0
        self.said: list[tuple[Scope, str]] = []
        """Numeric expressions written so far, with their scope. Repeating one tests common subexpressions."""
        graph = model.graph
        self.globals: Scope = [("round", INT), ("players", INT)]
        self.attributes: dict[str, Scope] = {"seat": [("number", INT)], "node": [], "place": [("number", INT)]}
        if graph is not None:
            self.attributes["node"] += graph.attributes.items()
            self.attributes["place"] += graph.place.items()
        for kind in model.card_kinds.values():
            self.attributes[kind.name] = list(kind.attributes.items())
        self.attributes |= {kind.name: [] for kind in model.kinds.values()}
        for group in model.groups.values():
            unit = isinstance(group.type, HolderType) and model.is_unit(group.type.name)
            type_ = read_type(group.type, unit=unit)
            if group.owner is None:
                self.globals.append((group.name, type_))
            elif group.section:
                self.attributes[owner_word(group.owner)].append((group.own_name, type_))
        self.functions = [s for s in model.signatures.values() if s.form == "is" and s.name not in ("round",)]
        self.verdicts = [s for s in model.signatures.values() if s.form == "permits"]

    def fresh(self) -> str:
        self.count += 1
        return f"x{self.count}"

    def names(self, scope: Scope) -> Iterator[tuple[str, Type]]:
        """Yield all names in scope and their attributes, with types."""
        for name, type_ in (*scope, *self.globals):
            yield name, type_
            if not type_.optional:
                yield from ((f"{name}.{word}", of) for word, of in self.attributes.get(owner_word(type_), ()))

    def items(self, scope: Scope, deep: int) -> tuple[str, Type]:
        """Return a list expression and the type of its items."""
        found: Scope = [("seats", SEAT), *((k, CardType(k)) for k, v in self.model.card_kinds.items() if v.key)]
        found += [(name, of.of) for name, of in self.names(scope) if isinstance(of, CollectionType)]
        found += [(name, CardType(of.name)) for name, of in self.names(scope) if isinstance(of, ZoneType)]
        found += [(k.name, KindType(k.name)) for k in self.model.kinds.values() if k.members and not k.range]
        found.append((f"{self.chance.randrange(4)} .. {self.chance.randrange(2, 9)}", INT))
        if self.model.graph is not None:
            nodes = [(name, of) for name, of in self.names(scope) if isinstance(of, NodeType) and not of.optional]
            found += [(f"neighbours({name})", of) for name, of in nodes]
        results = [(s, s.result) for s in self.functions]
        calls = [(s, result.of) for s, result in results if isinstance(result, ListType) and not result.optional]
        if calls and deep < DEEPEST and self.chance.random() < 0.4:
            one, of = self.chance.choice(calls)
            return self.call(one, scope, deep), of
        return self.chance.choice(found)

    def call(self, signature: Any, scope: Scope, deep: int) -> str:
        arguments = ", ".join(self.value(of, scope, deep + 1) for _, of in signature.parameters)
        return f"{signature.name}({arguments})"

    def value(self, wanted: Type, scope: Scope, deep: int = 0) -> str:
        if wanted == INT:
            return self.number(scope, deep)
        if wanted == BOOL:
            return self.truth(scope, deep)
        known = [name for name, of in self.names(scope) if of == wanted]
        known += 2 * [name for name, of in scope if of == wanted]
        ways = [lambda: self.chance.choice(known)] * 3 if known else []
        kind = self.model.kinds.get(wanted.name) if isinstance(wanted, KindType) else None
        if kind is not None and kind.members and not kind.range:
            ways.append(lambda: self.chance.choice(kind.members))
        if wanted == SEAT:
            ways += [
                lambda: "seats[0]",
                lambda: f"(last(s in seats where {self.truth([('s', SEAT)], deep + 2)}) otherwise seats[0])",
            ]
        calls = [s for s in self.functions if s.result == wanted]
        if calls and deep < DEEPEST:
            ways.append(lambda: self.call(self.chance.choice(calls), scope, deep))
        if isinstance(wanted, ListType):
            ways.append(lambda: self.listed(wanted.of or INT, scope, deep))
        if deep < DEEPEST and ways:
            ways.append(lambda: self.either(wanted, scope, deep))
        return self.chance.choice(ways)() if ways else "none" if wanted.optional else "0"

    def listed(self, of: Type, scope: Scope, deep: int) -> str:
        for _ in range(12):
            items, found = self.items(scope, deep + 2)
            if found == of:
                return self.filtered(items, found, scope, deep)
        return "[]"

    def filtered(self, items: str, of: Type, scope: Scope, deep: int) -> str:
        x = self.fresh()
        return f"[{x} in {items} where {self.truth([*scope, (x, of)], deep + 1)}]" if deep < DEEPEST else items

    def either(self, wanted: Type, scope: Scope, deep: int) -> str:
        then, test, other = (
            self.value(wanted, scope, deep + 1),
            self.truth(scope, deep + 1),
            self.value(wanted, scope, deep + 1),
        )
        return f"({then} if {test} else {other})"

    def number(self, scope: Scope, deep: int = 0) -> str:
        again = [text for known, text in self.said[-20:] if all(entry in scope for entry in known)]
        if again and self.chance.random() < 0.25:
            return self.chance.choice(again)
        found = self.new_number(scope, deep)
        self.said.append((scope, found))
        return found

    def new_number(self, scope: Scope, deep: int) -> str:
        known = [name for name, of in self.names(scope) if of == INT]
        near = [name for name, of in self.names(scope) if of == INT and name.split(".")[0] in dict(scope)]
        if deep >= DEEPEST:
            return self.chance.choice([*known, *near, *near, self.chance.choice(NUMBERS)])
        items, of = self.items(scope, deep)
        x = self.fresh()
        inner = [*scope, (x, of)]
        calls = [s for s in self.functions if s.result == INT]
        match self.chance.randrange(12):
            case 0 | 1 | 2:
                return self.chance.choice(known + near * 3)
            case 3:
                return self.chance.choice(NUMBERS)
            case 4:
                sign = self.chance.choice(["+", "-", "*", "div", "mod"])
                other = self.number(scope, deep + 1) if sign in "+-*" else self.chance.choice(NUMBERS[1:])
                return f"({self.number(scope, deep + 1)} {sign} {other})"
            case 5:
                return f"count({x} in {items} where {self.truth(inner, deep + 1)})"
            case 6:
                return f"sum({self.number(inner, deep + 1)} for {x} in {items} where {self.truth(inner, deep + 1)})"
            case 7:
                word, rest = self.chance.choice(["min", "max"]), self.number(scope, deep + 1)
                return f"({word}({self.number(inner, deep + 1)} for {x} in {items}) otherwise {rest})"
            case 8:
                return f"count({self.filtered(items, of, scope, deep + 1)})"
            case 9:
                return self.either(INT, scope, deep)
            case 10 if self.model.tables and self.chance.random() < 0.3:
                return self.cell(scope, deep)
            case _ if calls:
                return self.call(self.chance.choice(calls), scope, deep)
            case _:
                return f"{self.chance.choice(['min', 'max'])}({self.number(scope, deep + 1)}, 3)"

    def cell(self, scope: Scope, deep: int) -> str:
        table = self.chance.choice(list(self.model.tables.values()))
        keys = [self.value(of, scope, deep + 1) for of in table.key_types]
        return f"{table.name}[{', '.join(keys)}]" if table.gives == INT else self.chance.choice(NUMBERS)

    def truth(self, scope: Scope, deep: int = 0) -> str:
        if deep >= DEEPEST:
            return self.compared(scope, deep)
        items, of = self.items(scope, deep)
        x = self.fresh()
        known = [name for name, found in self.names(scope) if found == BOOL]
        match self.chance.randrange(12):
            case 0 | 1 | 2:
                return f"({self.truth(scope, deep + 1)} or {self.truth(scope, deep + 1)})"
            case 3 | 4:
                return f"({self.truth(scope, deep + 1)} and {self.truth(scope, deep + 1)})"
            case 5:
                return f"(not {self.truth(scope, deep + 1)})"
            case 6:
                test, claim = (self.truth([*scope, (x, of)], deep + 1) for _ in range(2))
                forms = f"any({x} in {items} where {test})", f"all({claim} for {x} in {items})"
                return self.chance.choice([*forms, f"all({claim} for {x} in {items} where {test})"])
            case 7 if self.verdicts:
                return self.call(self.chance.choice(self.verdicts), scope, deep)
            case 8 if known:
                return self.chance.choice(known)
            case 9:
                return f"{self.value(of, scope, deep + 1)} {self.chance.choice(['in', 'not in'])} ({items})"
            case _:
                return self.compared(scope, deep)

    def compared(self, scope: Scope, deep: int) -> str:
        near = [
            (name, of) for name, of in self.names(scope) if isinstance(of, SeatType | CardType | NodeType | KindType)
        ]
        if near and self.chance.random() < 0.35:
            name, of = self.chance.choice(near[: 6 + len(scope)])
            return f"{name} {self.chance.choice(['==', '!='])} {self.value(of, scope, deep + 1)}"
        sign = self.chance.choice(["<", "<=", ">", ">=", "==", "!="])
        return f"{self.number(scope, deep + 1)} {sign} {self.number(scope, deep + 1)}"

    # --- policies

    def line(self, around: Scope, alternatives: dict[str, Scope]) -> str:
        patterns = [self.pattern(around, alternatives) for _ in range(self.chance.choice([1, 1, 1, 2]))]
        written, scopes = zip(*patterns, strict=True)
        shared = scopes[0] if len(scopes) == 1 else around
        tie = ""
        if self.chance.random() < 0.55:
            keys = [self.number(shared, 1) for _ in range(self.chance.choice([1, 1, 2]))]
            told = [text for known, text in self.said if known == shared]
            if told and self.chance.random() < 0.5:
                keys = [self.chance.choice(told)]
            tie = f" by {', '.join(self.chance.choice(['', '', '-']) + key for key in keys)}, as listed"
        elif self.chance.random() < 0.5:
            tie = " at random"
        elif self.chance.random() < 0.2:
            tie = " asking last(seats)"
        chance = f" {self.chance.randrange(1, 4)} in {self.chance.randrange(4, 6)}"
        ends = tie + (chance if self.chance.random() < 0.2 else "")
        if len(written) == 1:
            return f"{written[0]}{ends}"
        return "\n".join([f"either{ends}:", *(f"  {pattern}" for pattern in written)])

    def key(self, scope: Scope, choices: Scope) -> str:
        """Return a number that orders options, usually distinct for each of them."""
        words = {word for word, _ in choices}
        own = [name for name, of in self.names(choices) if of == INT and name.partition(".")[0] in words]
        if not own or self.chance.random() < 0.3:
            return self.number(scope, 1)
        one, other = self.chance.choice(own), self.chance.choice(own)
        return f"(({one} - {self.chance.choice(NUMBERS[:6])}) * ({other} - {self.chance.choice(NUMBERS[:6])}))"

    def pattern(self, around: Scope, alternatives: dict[str, Scope]) -> tuple[str, Scope]:
        name = self.chance.choice([*alternatives, "any"] if self.chance.random() < 0.2 else list(alternatives))
        choices = alternatives.get(name, [])
        scope = [*around, *choices]
        self.said = [entry for entry in self.said if entry[0] == scope][-5:]
        words = f"{name} {', '.join(word for word, _ in choices)}".strip()
        tests = []
        if self.chance.random() < 0.4:  # what a key may say again
            self.said.append((scope, key := self.key(scope, choices)))
            tests.append(f"({self.truth(scope)} or {key} {self.chance.choice(['<', '<='])} {self.number(scope, 1)})")
        for _ in range(self.chance.choice([0, 1, 1, 2])):
            pinned = [entry for entry in choices if not isinstance(entry[1], ListType)]
            if pinned and self.chance.random() < 0.2:
                word, of = self.chance.choice(pinned)
                tests.append(f"{word} == {self.value(of, scope, 2)}")
            else:
                tests.append(self.truth(scope))
        return words + (f" where {' and '.join(tests)}" if tests else ""), scope


def decisions_of(model: Model) -> dict[str, tuple[Scope, dict[str, Scope]]]:
    """Return each decision's context, if it is the same wherever it is asked, and the choices of its alternatives."""
    found: dict[str, tuple[Scope, dict[str, Scope]]] = {}
    bodies = [layer.body for rule in model.rules.values() for layer in rule.layers]
    bodies += [block.body for block in model.blocks.values()]
    for ask in (node for body in bodies for node in descendants(body) if isinstance(node, c.Ask)):
        around = [("who", SEAT), *((name, value.type) for name, value in ask.context)]
        before, alternatives = found.get(ask.name, (around, {}))
        alternatives.update((o.name, [(x.name, x.type) for x in o.choices]) for o in ask.options)
        found[ask.name] = [entry for entry in before if entry in around], alternatives
    return found


def policies_read(ruleset: Ruleset, path: Path, text: str) -> Checked:
    document, wrong = read_document(SourceFile(str(path), text), path)
    return policies_in(ruleset.model, document, {}) if document is not None else Checked(diagnostics=wrong)


def block(text: str, indent: int) -> str:
    return "".join(f"{' ' * indent}{line}\n" for line in text.splitlines())


@dataclass(frozen=True)
class Case:
    """A ruleset with an overlay and a policy, as files in a folder, and the parameters of a game."""

    folder: Path
    ruleset: str
    players: int
    seed: int
    overlays: tuple[str, ...]
    most: int = MOST_DECISIONS

    def load(self) -> tuple[Ruleset, Policy]:
        """Return the ruleset and its policy `drawn`."""
        ruleset = load(self.ruleset, list(self.overlays), Shelf([self.folder, *ruleset_roots()]))
        ruleset = ruleset.for_players(self.players)
        path = self.folder / ruleset.composition.family / "policies" / "drawn.yaml"
        checked = policies_read(ruleset, path, path.read_text())
        assert not checked.diagnostics, checked.diagnostics
        return ruleset, checked.policies["drawn"]


def draw(folder: Path, name: str, players: int, seed: int, overlays: tuple[str, ...] = ()) -> Case:
    """Write a random overlay and policy into a folder, without the parts that the checker refuses."""
    chance = random.Random(f"{name} {players} {seed}")
    base = load(name, list(overlays)).for_players(players)
    family = base.composition.family
    for kind in ("overlays", "policies"):
        (folder / family / kind).mkdir(parents=True, exist_ok=True)
    path = folder / family / "overlays" / "drawn.yaml"
    head = f"language: 2\noverlay: {family}/drawn\ntitle: Drawn\nover: [{family}]\nlayer: last\n"
    kept: list[str] = []
    wanted = chance.choice([0, 1, 2, 4])
    for _ in range(4 * wanted):
        rule = wrap(Writer(base.model, chance), base, chance)
        if rule.split(":")[0] in "".join(kept) or len(kept) >= wanted:
            continue
        path.write_text(f"{head}rules:\n{''.join(kept)}{rule}")
        try:
            load(name, [*overlays, f"{family}/drawn"], Shelf([folder, *ruleset_roots()])).for_players(players)
        except RulesetError:
            continue
        kept.append(rule)
    path.write_text(head + (f"rules:\n{''.join(kept)}" if kept else ""))
    _policy(folder / family / "policies" / "drawn.yaml", family, base, chance)
    return Case(folder, name, players, seed, (*overlays, f"{family}/drawn") if kept else overlays)


def wrap(writer: Writer, ruleset: Ruleset, chance: random.Random) -> str:
    """Return a random layer over one of the rules."""
    rules = [rule for rule in ruleset.model.rules.values() if rule.name not in ruleset.model.phases]
    rule = chance.choice(rules)
    scope: Scope = [("who" if of == SEAT and name == "who" else name, of) for name, of in rule.parameters]
    base = f"base({', '.join(name for name, _ in rule.parameters)})"
    text = f"  {rule.name}:\n    wraps: {_file(rule.top, rule.layers)}\n"
    if chance.random() < 0.7:
        text += f"    when: {writer.truth(scope)}\n"
    match rule.form:
        case "permits":
            return f"{text}    permits: |\n{block(f'require {writer.truth(scope)}{chr(10)}require {base}', 6)}"
        case "is":
            mine = writer.value(rule.result, scope, 1)
            value = f"{base} if {writer.truth(scope, 1)} else {mine}"
            if rule.result == INT and chance.random() < 0.6:
                value = f"{base} {chance.choice('+-')} ({mine})"
            return f"{text}    is: |\n{block(value, 6)}"
        case _:
            states = [n for n, g in ruleset.model.groups.items() if g.owner is None and g.type == INT and n != "round"]
            steps = f"if {writer.truth(scope)}:\n  {base}"
            if states and chance.random() < 0.5:
                steps = f"if {writer.truth(scope)}:\n  {chance.choice(states)} = {writer.number(scope)}\n{base}"
            elif chance.random() < 0.5:
                steps = f"let here = {writer.number(scope)}\nif here > 3:\n  {base}\nelse:\n  {base}"
            return f"{text}    does: |\n{block(steps, 6)}"


def _file(top: RuleLayer, layers: tuple[RuleLayer, ...]) -> str:
    return top.file if layers else ""


def _policy(path: Path, family: str, ruleset: Ruleset, chance: random.Random) -> None:
    """Write a policies file: weights, rules that use them and earlier rules, and lines for each decision, which may be
    named and override others."""
    writer = Writer(ruleset.model, chance)
    head = f"language: 2\npolicies: {family}/drawn\ntitle: Drawn\n"
    weights = [f"weight_{number}" for number in range(chance.choice([0, 1, 3]))]
    if weights:
        head += f"weights: {{{', '.join(f'{name}: {chance.choice(NUMBERS)}' for name in weights)}}}\n"
        writer.globals += [(name, INT) for name in weights]
    rules = ""
    for number in range(chance.choice([0, 1, 2, 4])):
        results: list[Type] = [INT, INT, BOOL, SEAT]
        name, result = f"drawn_{number}", chance.choice(results)
        scope: Scope = [("who", SEAT), *([("amount", INT)] if chance.random() < 0.5 else [])]
        header = f"({', '.join(f'{word}: {of}' for word, of in scope)}) -> {result}:"
        rule = f"  {name}:\n    is: |\n      {header} {writer.value(result, scope)}\n"
        if not policies_read(ruleset, path, f"{head}rules:\n{rules}{rule}is: {{}}\n").diagnostics:
            rules += rule
            writer.functions.append(Signature(name, "is", tuple(scope), result, Span(SourceFile("", ""), 0, 0)))
    head += f"rules:\n{rules}is:\n  drawn:\n" if rules else "is:\n  drawn:\n"
    text = head
    for name, (around, alternatives) in decisions_of(ruleset.model).items():
        lines: list[str] = []
        for _ in range(chance.choice([1, 2, 4, 6])):
            line = writer.line(around, alternatives)
            if not policies_read(ruleset, path, f"{head}    {name}:\n      prefer: |\n{block(line, 8)}").diagnostics:
                lines.append(line)
        lines.append(chance.choice(["any at random", "any at random", "any"]))
        if chance.random() < 0.5:
            text += f"    {name}:\n      prefer: |\n" + "".join(block(line, 8) for line in lines)
        else:
            named = (f"        line_{number}: |\n{block(line, 10)}" for number, line in enumerate(lines))
            text += f"    {name}:\n      prefer:\n" + "".join(named)
    path.write_text(text)


# --- games -----------------------------------------------------------------------------------------------------------

Story = list[str]


@contextmanager
def told(story: Story) -> Iterator[None]:
    try:
        yield
    except RuleFailure as failure:
        story.append(f"{failure.code} {failure}")


def story_of(ruleset: Ruleset, policy: Policy, case: Case, patience: float | None, *, looks: int = 1) -> Story:
    """Return the digest at every ``looks``-th decision of a game, and its end: in the plain form, or in the module
    after ``patience`` seconds."""
    runner = ruleset.table(case.players, ruleset.settings({})).runner
    runner.plain = patience is None
    if patience == 0:
        assert runner.ready() is not None
    elif patience is not None:
        runner.patience = patience
    story: Story = []
    with told(story):
        bots: list[Any] = []
        bots.extend(PolicyBot(policy, bots) for _ in range(case.players))
        match = Match(ruleset, bots, case.seed)
        while match.decisions < case.most and match.game.decision is not None:
            if match.decisions % looks == 0:
                story.append(f"#{match.decisions} {match.game.digest()} {match.game.decision.name}")
            match.step()
        story.append(f"{match.game.digest()} {match.game.result}")
        story.extend(str(line) for line in match.game.log())
    return story


def run_story(ruleset: Ruleset, policy: Policy, case: Case) -> Story:
    """Return the decisions and rounds of a whole game played by the module in one call, by bots that see everything,
    and in the plain form. Return nothing if the module gives up."""
    runner = ruleset.table(case.players, ruleset.settings({})).runner
    assert runner.ready() is not None
    seated = runner.whole([(policy, None)] * case.players)
    ran = seated[0].games([case.seed], seated[1], case.most) if seated is not None else None
    if not ran:
        return []
    runner.plain = True
    bots: list[Any] = []
    bots.extend(PolicyBot(policy, bots, in_world=True) for _ in range(case.players))
    match = Match(ruleset, bots, case.seed)
    while match.decisions < case.most and match.step():
        pass
    runner.plain = False
    rounds = match.game.state.cells[runner.machine.constants.layout.base["round"]]
    return [str((ran.decisions[0], ran.rounds[0])), str((match.decisions, rounds))]


def interleaved(ruleset: Ruleset, policy: Policy, case: Case) -> list[Story]:
    """Play two games in one module, step by step in turn, with clones that are played on and choices that are undone.
    Their stories must be those of the games alone."""
    runner = ruleset.table(case.players, ruleset.settings({})).runner
    runner.plain = False
    assert runner.ready() is not None
    chance = random.Random(case.seed)
    bots: list[Any] = []
    bots.extend(PolicyBot(policy, bots) for _ in range(case.players))
    stories: list[Story] = [[], []]
    matches: list[Match] = []
    for story in stories:
        with told(story):
            matches.append(Match(ruleset, bots, case.seed))
    playing = list(zip(matches, stories, strict=False))
    while playing:
        for pair in list(playing):
            match, story = pair
            with told(story):
                if match.decisions < case.most and match.game.decision is not None:
                    story.append(f"#{match.decisions} {match.game.digest()} {match.game.decision.name}")
                    _aside(match, chance)
                    match.step()
                    continue
                story.append(f"{match.game.digest()} {match.game.result}")
                story.extend(str(line) for line in match.game.log())
            playing.remove(pair)
    return stories


def _aside(match: Match, chance: random.Random) -> None:
    """Do something random that must not affect the game, such as playing a clone or undoing a choice."""
    what = chance.randrange(8)
    game = match.game
    if what == 0:
        copy = game.clone(log=chance.random() < 0.5)
        try:
            for _ in range(chance.randrange(4)):
                if copy.decision is not None:
                    copy.apply(chance.choice(copy.decision.options[:20]))
        except RuleFailure:
            pass
    elif what == 1 and game.decision is not None:
        try:
            game.apply(chance.choice(game.decision.options[:20]))
        except RuleFailure:
            return
        assert game.undo()
    elif what == 2:
        game.view(0)
        game.state.leave()
    elif what == 3:
        assert len(game.state.log) >= match.decisions


def _same(first: Story, second: Story, what: str) -> None:
    for number, (a, b) in enumerate(zip(first, second, strict=False)):
        assert a == b, f"{what}: choice {number}: {a} became {b}"
    assert len(first) == len(second), what


def play_alike(case: Case, times: int = 2) -> Story:
    """Play a game in every form in this process, and return the story of the plain form."""
    ruleset, policy = case.load()
    plain = story_of(ruleset, policy, case, None)
    for number in range(times):
        _same(plain, story_of(ruleset, policy, case, 0), f"module, game {number + 1}")
    for story in interleaved(ruleset, policy, case):
        _same(plain, story, "two games")
    again, same_policy = case.load()  # from the cache, if there is one
    _same(plain, story_of(again, same_policy, case, 0.05), "the module takes over")
    seldom = [line for line in plain if line[0] != "#" or int(line[1:].split()[0]) % SELDOM == 0]
    _same(seldom, story_of(again, policy, case, 0, looks=SELDOM), "seldom seen")
    if run := run_story(ruleset, policy, case):
        assert run[0] == run[1], f"in one call: {run[1]} became {run[0]}"
    return plain


def in_short(story: Story) -> str:
    return blake2b("\n".join(story).encode(), digest_size=16).hexdigest()


def other_process(case: Case) -> str:
    """Return the hash of the game's story from another process, which shares the cache of this one."""
    what = json.dumps([str(case.folder), case.ruleset, case.players, case.seed, case.overlays])
    command = [sys.executable, "-m", "tests.drawn", what]
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])
    return found.stdout.strip()


def main(what: str) -> None:
    folder, name, players, seed, overlays = json.loads(what)
    case = Case(Path(folder), name, players, seed, tuple(overlays))
    print(in_short(story_of(*case.load(), case, 0)))


if __name__ == "__main__":
    main(sys.argv[1])
