"""Ops of the intermediate form (IR).

A :class:`Function` is a list of statements over typed values. A value is a tree of ops without effects on the game; a
statement changes a variable, memory, or where control goes. Numbers of the language are ``i64``, everything else is
``i32``: indexes of cards, seats, nodes and kinds, truths (0, 1), and addresses of lists, bags and records.

What an op reads and writes is a function of the op (:mod:`interpreter.compiler.ir.effect_analysis`): a :class:`Load` or
:class:`Store` of the state names its *group* of cells.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from interpreter.base.frozen import dataclass
from interpreter.base.source import NOWHERE, Span

__all__ = [
    "Allocate",
    "Binary",
    "Block",
    "Break",
    "Call",
    "Cell",
    "Charge",
    "Compare",
    "Constant",
    "CopyWords",
    "Data",
    "Do",
    "Fail",
    "Function",
    "Get",
    "Global",
    "If",
    "Key",
    "Load",
    "LoadLong",
    "Memo",
    "Not",
    "Op",
    "Rep",
    "Return",
    "Select",
    "Set",
    "SetGlobal",
    "Statement",
    "Store",
    "StoreLong",
    "TailCall",
    "ToIndex",
    "ToNumber",
    "ToWord",
    "Touch",
    "Value",
    "Var",
    "While",
    "Within",
]

Rep = Literal["i32", "i64"]
"""How a value is held in a register."""


@dataclass(frozen=True, slots=True)
class Op:
    """Anything in the IR. ``span``: the place in the rule text that it comes from."""

    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Var:
    """A variable of a function; names are unique in it."""

    name: str
    rep: Rep


# --- values ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constant(Op):
    """A number known now."""

    value: int
    rep: Rep = "i32"


@dataclass(frozen=True, slots=True)
class Data(Op):
    """The address of constant data, by its place in the module's constants."""

    address: int
    of: str = ""
    """What it is, for those who read the IR: ``table payout``."""
    rep: Rep = "i32"


@dataclass(frozen=True, slots=True)
class Get(Op):
    """The value of a variable."""

    var: Var

    @property
    def rep(self) -> Rep:
        return self.var.rep


@dataclass(frozen=True, slots=True)
class Global(Op):
    """The value of a global of the machine: the top of the stack of frames, the arena."""

    name: str
    rep: Rep = "i32"


@dataclass(frozen=True, slots=True)
class Load(Op):
    """The word at an address. ``group``: the group of cells that it belongs to, or several with ``|`` between them;
    ``?``: any; empty for constants and the arena."""

    address: Value
    offset: int = 0
    rep: Rep = "i32"
    group: str = ""


@dataclass(frozen=True, slots=True)
class LoadLong(Op):
    """A number of 64 bits from memory of the machine."""

    address: Value
    offset: int = 0
    rep: Rep = "i64"


@dataclass(frozen=True, slots=True)
class Cell(Op):
    """The address of what a cell holds: whoever has it reads the cell, a cell of this group."""

    address: Value
    group: str
    rep: Rep = "i32"


@dataclass(frozen=True, slots=True)
class Binary(Op):
    """``add``, ``sub``, ``mul``, ``div`` and ``mod`` (rounded down, fail for 0), ``and``, ``or``, ``shl``, ``shr``."""

    operator: str
    left: Value
    right: Value

    @property
    def rep(self) -> Rep:
        return self.left.rep


@dataclass(frozen=True, slots=True)
class Compare(Op):
    """``eq``, ``ne``, ``lt``, ``le``, ``gt``, ``ge`` of two values of one representation; signed."""

    operator: str
    left: Value
    right: Value
    rep: Rep = "i32"


@dataclass(frozen=True, slots=True)
class Not(Op):
    """1 where the value is 0."""

    value: Value
    rep: Rep = "i32"


@dataclass(frozen=True, slots=True)
class ToNumber(Op):
    """An index or truth as a number."""

    value: Value
    rep: Rep = "i64"


@dataclass(frozen=True, slots=True)
class ToIndex(Op):
    """A number as an index: its lower 32 bits."""

    value: Value
    rep: Rep = "i32"


@dataclass(frozen=True, slots=True)
class ToWord(Op):
    """A number as a word of memory: :class:`Fail` where it does not fit. ``optional``: it may be none."""

    value: Value
    optional: bool = False
    rep: Rep = "i32"


@dataclass(frozen=True, slots=True)
class Select(Op):
    """``then`` or ``otherwise``; only the one that is taken is worked out."""

    test: Value
    then: Value
    otherwise: Value

    @property
    def rep(self) -> Rep:
        return self.then.rep


@dataclass(frozen=True, slots=True)
class Call(Op):
    """A call of a function of the module or of the runtime, by its name there."""

    function: str
    arguments: tuple[Value, ...]
    rep: Rep = "i32"


@dataclass(frozen=True, slots=True)
class Allocate(Op):
    """The address of so many fresh words in the arena."""

    words: Value
    rep: Rep = "i32"


@dataclass(frozen=True, slots=True)
class Within(Op):
    """A value with the statements that run before it, where it is worked out: what an inlined call becomes."""

    body: tuple[Statement, ...]
    value: Value

    @property
    def rep(self) -> Rep:
        return self.value.rep


Value = (
    Constant
    | Data
    | Get
    | Global
    | Load
    | LoadLong
    | Cell
    | Binary
    | Compare
    | Not
    | ToNumber
    | ToIndex
    | ToWord
    | Select
    | Call
    | Allocate
    | Within
)


# --- statements ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Set(Op):
    """A variable gets a value."""

    var: Var
    value: Value


@dataclass(frozen=True, slots=True)
class SetGlobal(Op):
    """A global of the machine gets a value."""

    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Store(Op):
    """A word is written. ``group`` as of :class:`Load`."""

    address: Value
    offset: int
    value: Value
    group: str = ""


@dataclass(frozen=True, slots=True)
class StoreLong(Op):
    """A number of 64 bits is written to the arena: a key to sort by."""

    address: Value
    offset: int
    value: Value


@dataclass(frozen=True, slots=True)
class CopyWords(Op):
    """So many words are copied from one address to another."""

    target: Value
    source: Value
    words: Value
    group: str = ""


@dataclass(frozen=True, slots=True)
class Do(Op):
    """A call for its effects; ``gives`` is whether it leaves a value that nobody wants."""

    call: Value
    gives: bool = False


@dataclass(frozen=True, slots=True)
class If(Op):
    """One of two lists of statements."""

    test: Value
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Block(Op):
    """Statements that :class:`Break` leaves by the label."""

    label: str
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class While(Op):
    """Statements again and again, as long as the test holds; ``step`` runs after each pass. :class:`Break` leaves them
    by the label."""

    label: str
    test: Value
    body: tuple[Statement, ...]
    step: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Break(Op):
    """Out of a block."""

    label: str


@dataclass(frozen=True, slots=True)
class Return(Op):
    """Back to the caller."""

    value: Value | None = None


@dataclass(frozen=True, slots=True)
class TailCall(Op):
    """A call in place of the frame of this function, which gives what the called one gives."""

    function: str
    arguments: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Fail(Op):
    """Something that the plain form must explain: the module gives up."""

    why: str = ""


@dataclass(frozen=True, slots=True)
class Charge(Op):
    """So many steps of the budget are used up; the module gives up where none are left."""

    steps: Value


@dataclass(frozen=True, slots=True)
class Touch(Op):
    """A cell of a group changed. ``owner``: its index in the group, where it is known; -1 is no index."""

    group: str
    owner: Value | None = None


Statement = (
    Set
    | SetGlobal
    | Store
    | StoreLong
    | CopyWords
    | Do
    | If
    | Block
    | While
    | Break
    | Return
    | TailCall
    | Fail
    | Charge
    | Touch
)


@dataclass(frozen=True, slots=True)
class Key:
    """Range of a parameter: number of values and the least one; ``extent`` 0: any word. ``is_seat``: a seat."""

    least: int = 0
    extent: int = 0
    is_seat: bool = False


@dataclass(frozen=True, slots=True)
class Memo:
    """Properties of a memoisable function: its answers depend on its arguments and on cells, and it changes nothing.

    ``words`` is 0 where the answer is one word; else the size of the list (``listed``), bag or record that it points
    to, and a list is never longer.
    """

    keys: tuple[Key, ...]
    words: int = 0
    listed: bool = False


@dataclass(frozen=True, slots=True)
class Function(Op):
    """A function: parameters, representation of its result (none: nothing), statements. ``about`` says what it is."""

    name: str
    parameters: tuple[Var, ...]
    result: Rep | None
    body: tuple[Statement, ...]
    about: str = ""
    memo: Memo | None = None
    """None: it may change something, or its arguments or answers do not fit into a table."""
    rare: bool = False
    """Called so rarely that its callers are better off without what it does."""
