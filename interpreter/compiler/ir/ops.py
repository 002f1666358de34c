"""Operations of the intermediate representation (IR).

A :class:`Function` is a list of statements over typed values. A value is a tree of ops without effects on the game; a
statement sets a variable, writes memory or transfers control. Numbers of the language are ``i64``, everything else is
``i32``: indexes of cards, seats, nodes and kinds, booleans (0, 1), and addresses of lists, bags and records.

A :class:`Load` or :class:`Store` of the state names its *group* of cells, for readers of the IR.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import ClassVar, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.tree import Placed
from interpreter.language.types import Type
from interpreter.language.walk import descendants, rewritten
from interpreter.lowering.effect_analysis import Reads

Rep = Literal["i32", "i64"]
"""Register type of a value."""


class CellGroup(Struct, frozen=True):
    """A group of cells in memory: type of their contents, cell number of the first, number, address and stride."""

    name: str
    type: Type
    base: int
    count: int
    address: int
    stride: int


class Op(Struct, frozen=True, gc=False):
    """Base class of the IR."""

    apart: ClassVar = ("rep",)


Part = Op | tuple["Part", ...]


# --- values ----------------------------------------------------------------------------------------------------------


Operator = Callable[["Operand", "Value | int"], "Value"]
OPPOSITES = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "lt_u": "ge_u", "ge_u": "lt_u"}
"""Comparisons, whose result is 0 or 1, with their opposites."""


def _building(operator: str) -> Operator:
    def build(left: Operand, right: Value | int) -> Value:
        value = cast("Value", left)
        other = Constant(right, value.rep) if isinstance(right, int) else right
        return Binary(operator, value, other)

    return build


class Operand(Op, frozen=True):
    """Base class of values.

    Operators build ops; a number on their right is a constant of the same representation. ``==`` compares ops, so
    comparisons for equality are methods.
    """

    def __add__(self, other: Value | int) -> Value:
        value = cast("Value", self)
        match value, other.value if isinstance(other, Constant) else other:
            case _, 0:
                return value
            case Constant(number, rep, about), int(more):
                return Constant(number + more, rep, about)
            case Constant(0), _ if not isinstance(other, int):
                return other
            case _:
                return _building("add")(self, other)

    def __sub__(self, other: Value | int) -> Value:
        return self + -other if isinstance(other, int) else _building("sub")(self, other)

    def __neg__(self) -> Value:
        value = cast("Value", self)
        return Binary("sub", Constant(0, value.rep), value)

    def __mul__(self, number: int) -> Value:
        value = cast("Value", self)
        if isinstance(value, Constant):
            return Constant(value.value * number, value.rep)
        if number == 1:
            return value
        if number.bit_count() == 1:
            return self << number.bit_length() - 1
        return _building("mul")(self, number)

    __floordiv__ = _building("div")
    __mod__ = _building("mod")
    __and__ = _building("and")
    __or__ = _building("or")
    __lshift__ = _building("shl")
    __rshift__ = _building("shr")
    __lt__ = _building("lt")
    __le__ = _building("le")
    __gt__ = _building("gt")
    __ge__ = _building("ge")
    equals = _building("eq")
    differs = _building("ne")


class Var(Operand, frozen=True):
    """A variable of a function; its name is unique there."""

    name: str
    rep: Rep


class Constant(Operand, frozen=True):
    """A compile-time number. ``about`` describes the data if it is an address: ``table payout``."""

    value: int
    rep: Rep = "i32"
    about: str = ""


class Global(Operand, frozen=True):
    """The value of a global of the machine, such as the top of the frames or of the arena."""

    name: str
    rep: Rep = "i32"


class Load(Operand, frozen=True):
    """A word or a number of 64 bits in memory. ``group`` is the group of cells that it belongs to, or several joined by
    ``|``; ``?`` for any; empty for constants and the arena."""

    address: Value
    offset: int = 0
    rep: Rep = "i32"
    group: str = ""


class Cell(Operand, frozen=True):
    """The address of the contents of a cell of a group. It counts as a read of the cell."""

    address: Value
    group: str
    rep: Rep = "i32"


class Binary(Operand, frozen=True):
    """``add``, ``sub``, ``mul``, ``div`` and ``mod`` (rounded down, trap for 0), ``and``, ``or``, ``shl``, ``shr``; or
    a comparison. ``lt_u`` tests whether an index is below a length, and not negative: unsigned, it would be large. Both
    sides have one representation."""

    operator: str
    left: Value
    right: Value

    @property
    def rep(self) -> Rep:
        return "i32" if self.operator in OPPOSITES else self.left.rep


class ToNumber(Operand, frozen=True):
    """An index or boolean as a number."""

    value: Value
    rep: Rep = "i64"


class ToIndex(Operand, frozen=True):
    """A number as an index: its lower 32 bits."""

    value: Value
    rep: Rep = "i32"


class ToWord(Operand, frozen=True):
    """A number as a word of memory; it traps if the number does not fit. ``optional``: the number may be none."""

    value: Value
    optional: bool = False
    rep: Rep = "i32"


class Select(Operand, frozen=True):
    """``then`` or ``otherwise``; only the selected one is evaluated."""

    test: Value
    then: Value
    otherwise: Value

    @property
    def rep(self) -> Rep:
        return self.then.rep


class Call(Operand, frozen=True):
    """A call of a function of the module or of the runtime, by name."""

    function: str
    arguments: tuple[Value, ...]
    rep: Rep = "i32"


class Within(Operand, frozen=True):
    """An inlined call: statements that run when it is evaluated, and its value. :class:`Break` ends the statements by
    the label, and each path to their end has just set the value, if it is a variable and there is a label."""

    body: tuple[Statement, ...]
    value: Value
    label: str = ""

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements, in a block if there is a label."""
        return (Block(self.label, self.body),) if self.label else self.body

    @property
    def rep(self) -> Rep:
        return self.value.rep


Value = Var | Constant | Global | Load | Cell | Binary | ToNumber | ToIndex | ToWord | Select | Call | Within


# --- statements ------------------------------------------------------------------------------------------------------


class Action(Op, Placed, frozen=True):
    """Base class of statements. ``span`` is the position in the rule text."""


class Set(Action, frozen=True):
    """Set a variable, or a global of the machine."""

    apart: ClassVar = ("var",)

    var: Var | Global
    value: Value


class Store(Action, frozen=True):
    """Write a word or a number of 64 bits. ``group`` as in :class:`Load`."""

    address: Value
    offset: int
    value: Value
    group: str = ""


class CopyWords(Action, frozen=True):
    """Copy words from one address to another."""

    target: Value
    source: Value
    words: Value
    group: str = ""


class Do(Action, frozen=True):
    """A call of a function without a result."""

    call: Value


class If(Action, frozen=True):
    """One of two lists of statements."""

    test: Value
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


class Block(Action, frozen=True):
    """Statements that :class:`Break` leaves by the label."""

    label: str
    body: tuple[Statement, ...]


class While(Action, frozen=True):
    """A loop while the test holds; ``step`` runs after each pass. :class:`Break` leaves it by the label."""

    label: str
    test: Value
    body: tuple[Statement, ...]
    step: tuple[Statement, ...] = ()


class Break(Action, frozen=True):
    """Leave a block or loop."""

    label: str


class Return(Action, frozen=True):
    """Return to the caller."""

    value: Value | None = None


class TailCall(Action, frozen=True):
    """A call that replaces the frame of this function and returns the callee's result."""

    function: str
    arguments: tuple[Value, ...]


class Fail(Action, frozen=True):
    """Trap: the plain form must explain the failure."""

    why: str = ""


class Charge(Action, frozen=True):
    """Consume steps of the budget; trap if none are left."""

    steps: Value


class Touch(Action, frozen=True):
    """A cell of a group has changed. ``owner`` is its index in the group, if known; -1 is no index."""

    group: str
    owner: Value | None = None


Statement = Set | Store | CopyWords | Do | If | Block | While | Break | Return | TailCall | Fail | Charge | Touch


class Key(Struct, frozen=True):
    """Range of a parameter: the smallest value and the number of values. ``extent`` 0: any word. ``is_seat``: a
    seat."""

    least: int = 0
    extent: int = 0
    is_seat: bool = False


class Memo(Struct, frozen=True):
    """Memo table of a function without effects, whose result depends on its arguments and on cells.

    ``reads`` are those cells. ``words`` is 0 for a result of one word; else the maximum size of the list (``listed``),
    bag or record that it points to.
    """

    keys: tuple[Key, ...]
    reads: Reads
    words: int = 0
    listed: bool = False


class Function(Op, frozen=True, dict=True, gc=True):
    """A function: parameters, representation of its result (None: no result), statements. ``about`` describes it."""

    name: str
    parameters: tuple[Var, ...]
    result: Rep | None
    body: tuple[Statement, ...] = ()
    about: str = ""
    memo: Memo | None = None
    """None: the function may have effects, or its arguments or results do not fit into a table."""
    rare: bool = False
    """Called so rarely that inlining it does not pay."""

    def rewritten(self, change: Callable[..., Part], *kinds: type[Op]) -> Function:
        """Return the function with ``change`` applied to its ops, or those of these classes; itself if none changes."""
        body = rewritten(self.body, change, *kinds)
        return self if body is self.body else replace(self, body=body)

    @cached_property
    def ops(self) -> tuple[Op, ...]:
        """All ops of the body, in preorder."""
        return cast("tuple[Op, ...]", tuple(descendants(self.body)))

    @cached_property
    def called(self) -> tuple[str, ...]:
        """Names of the functions that it calls, once for each call."""
        return tuple([op.function for op in self.ops if isinstance(op, (Call, TailCall))])


def read(address: Value, offset: int = 0, rep: Rep = "i32", group: str = "") -> Value:
    """Return the word at an address, as a number if that is its representation."""
    word = Load(address, offset, "i32", group)
    return ToNumber(word) if rep == "i64" else word


def negated(test: Value) -> Value:
    """Return the test that another one does not hold."""
    match test:
        case Binary(operator, left, right) if operator in OPPOSITES:
            return Binary(OPPOSITES[operator], left, right)
        case Constant(value):
            return Constant(int(not value))
        case _:
            return test.equals(0)


def both(first: Value, second: Value) -> Value:
    """Return the test that both hold; the second is evaluated only if the first holds."""
    return Select(first, second, Constant(0))


def either(first: Value, second: Value) -> Value:
    """Return the test that one of two holds; the second is evaluated only if the first does not hold."""
    return Select(first, Constant(1), second)


def fits(value: Value) -> bool:
    """Return whether a number certainly fits into a word because it comes from one."""
    match value:
        case ToNumber():
            return True
        case Constant(number):
            return -(2**31) <= number < 2**31
        case Select(_, then, otherwise):
            return fits(then) and fits(otherwise)
        case _:
            return False


def split(address: Value) -> tuple[int, Value | None, int]:
    """Split an address into a constant, an index, and its factor, or 0 if there is none."""
    match address:
        case Binary("add", rest, Constant(number)):
            first, index, factor = split(rest)
            return first + number, index, factor
        case Constant(number):
            return number, None, 0
        case Binary("shl", index, Constant(number)):
            return 0, index, 1 << number
        case Binary("mul", index, Constant(number)):
            return 0, index, number
        case _:
            return 0, address, 0
