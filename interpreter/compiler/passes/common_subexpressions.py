"""Common subexpressions: what was worked out before, and cannot have changed, is not worked out again.

Worked out once are looks into tables and loads of locals from frames; other loads are left to the compiler of the
module. What is known holds until a variable in it is set, or a cell changes that a look reads; behind a branch, block
or loop, only what was known before it and nothing in it has touched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from interpreter.base.frozen import dataclass
from interpreter.compiler.ir import ops as o
from interpreter.compiler.ir.effect_analysis import ANY, changed_by, changes, reads
from interpreter.compiler.ir.rewrite import inner, named_parts, rewritten
from interpreter.compiler.passes.context import Context, Functions

__all__ = ["Known", "common_subexpressions"]


PLAIN = o.Constant | o.Data | o.Get | o.Load | o.Cell | o.Binary | o.Compare | o.Not | o.ToNumber | o.ToIndex
OPTIONS = o.Global("options")
"""Where options are listed: no local lies there."""


def common_subexpressions(functions: Functions, context: Context) -> Functions:
    """Functions that look once for what they need twice."""
    known = Known(functions, context)
    return {name: replace(each, body=_Reuser(known).done(each.body)) for name, each in functions.items()}


@dataclass(frozen=True, slots=True)
class Change:
    """Variables that are set, groups of cells that change, and whether memory does that is no cell of one word."""

    variables: frozenset[o.Var]
    groups: frozenset[str]
    memory: bool


@dataclass(frozen=True, slots=True)
class Fact:
    """The variables and groups of cells that a value follows from, and whether it does from memory of no group."""

    variables: frozenset[o.Var]
    groups: frozenset[str]
    memory: bool

    def ends(self, change: Change) -> bool:
        """Return whether it may be another one after a change."""
        if self.variables & change.variables or (self.memory and change.memory):
            return True
        if not change.groups or not self.groups:
            return False
        return ANY in change.groups or ANY in self.groups or bool(self.groups & change.groups)


class Known:
    """Known properties of functions: cells that lookups read, and cells that functions change."""

    def __init__(self, functions: Functions, context: Context) -> None:
        self.looks = {
            name: frozenset(read) for name, read in reads(functions, context.cells).items() if functions[name].kept
        }
        self.changes = changes(functions)

    def is_worth(self, op: Any) -> bool:
        """Return whether an op is worth being worked out only once, and :meth:`depends` tells all that it follows
        from."""
        match op:
            case o.Call(function, arguments) if function in self.looks:
                return all(isinstance(each, PLAIN) for each in inner(arguments))
            case o.Load(o.Get(), group=""):
                return True
            case _:
                return False

    def changed(self, ops: Any) -> Change:
        """Return the variables and cells that ops may change."""
        variables = frozenset(op.var for op in inner(ops) if isinstance(op, o.Set))
        groups = changed_by(ops, self.changes)
        return Change(variables, groups, bool(groups) or _writes(ops))

    def depends(self, op: Any) -> Fact:
        """On what an op depends."""
        variables: set[o.Var] = set()
        groups: set[str] = set()
        memory = False
        for each in inner(op):
            match each:
                case o.Get(var):
                    variables.add(var)
                case o.Call(function):
                    groups |= self.looks.get(function, frozenset())
                case o.Load(group=group) | o.Cell(_, group):
                    groups.update(group.split("|") if group else ())
                    memory = memory or not group
                case _:
                    pass
        return Fact(frozenset(variables), frozenset(groups), memory)


def _writes(ops: Any) -> bool:
    """Return whether ops write where locals of a frame may lie, or the items of a list of which somebody has the
    address."""
    for op in inner(ops):
        match op:
            case o.Do() | o.CopyWords() | o.StoreLong():
                return True
            case o.Store(address) if OPTIONS not in inner(address):
                return True
            case _:
                pass
    return False


class _Reuser:
    """Goes through one function in the order in which it runs."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._facts: dict[Any, tuple[o.Value, Fact]] = {}
        self._gone: set[Any] = set()
        self._count = 0

    def done(self, body: tuple[o.Statement, ...]) -> tuple[o.Statement, ...]:
        found: tuple[o.Statement, ...] = self._of(body)
        uses = Counter(op.var for op in inner(found) if isinstance(op, o.Get))

        def change(op: Any) -> Any:
            match op:
                case o.Within((o.Set(var, value),), o.Get(same)) if var == same and uses[var] == 1:
                    return value
                case _:
                    return op

        done: tuple[o.Statement, ...] = rewritten(found, change)
        return done

    def _of(self, op: Any) -> Any:
        match op:
            case tuple():
                return tuple(self._of(each) for each in op)
            case o.Set(var, value):
                value = self._of(value)
                self._end(Change(frozenset((var,)), frozenset(), False))
                return replace(op, value=value)
            case o.If(test, then, otherwise):
                test = self._of(test)
                then, otherwise = self._apart(lambda: self._of(then)), self._apart(lambda: self._of(otherwise))
                return replace(op, test=test, then=then, otherwise=otherwise)
            case o.Select(test, one, other):
                test = self._of(test)
                one, other = self._apart(lambda: self._of(one)), self._apart(lambda: self._of(other))
                return replace(op, test=test, then=one, otherwise=other)
            case o.Block(_, body):
                return replace(op, body=self._apart(lambda: self._of(body)))
            case o.While():
                self._end(self._known.changed(op))
                return self._apart(lambda: self._loop(op))
            case _:
                return self._plain(op)

    def _loop(self, op: o.While) -> o.While:
        test = self._of(op.test)
        body = self._apart(lambda: self._of(op.body))
        return replace(op, test=test, body=body, step=self._of(op.step))

    def _plain(self, op: Any) -> Any:
        changed = {name: self._of(part) for name, part in named_parts(op)}
        now = replace(op, **changed) if changed else op
        if isinstance(now, o.Call | o.Load):
            # an operand that is worked out with statements before it is the same value without them
            key = rewritten(now, lambda each: each.value if isinstance(each, o.Within) else each)
            if key in self._facts:
                return self._facts[key][0]
            if self._known.is_worth(key):
                self._count += 1
                var = o.Var(f"common.{self._count}", now.rep)
                fact = self._known.depends(key)
                self._facts[key] = (o.Get(var), replace(fact, variables=fact.variables | {var}))
                return o.Within((o.Set(var, now),), o.Get(var))
        if isinstance(op, o.Store | o.StoreLong | o.CopyWords | o.Do | o.Touch | o.Call):
            self._end(self._known.changed(now))
        return now

    def _end(self, change: Change) -> None:
        over = [op for op, (_, fact) in self._facts.items() if fact.ends(change)]
        self._gone.update(over)
        for op in over:
            del self._facts[op]

    def _apart(self, work: Callable[[], Any]) -> Any:
        """Process a branch on a copy of the facts; keep those that it does not end."""
        before, gone = dict(self._facts), self._gone
        self._gone = set()
        found = work()
        self._facts = {op: fact for op, fact in before.items() if op not in self._gone}
        self._gone |= gone
        return found
