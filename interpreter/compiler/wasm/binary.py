"""Assembler: the text of a module as a binary, where there is no wasmtime.

It knows the part of the text format that this package writes: folded instructions, names instead of numbers, no
imports. The binary has no names; apart from that, it equals that of wasmtime byte by byte.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from itertools import chain, groupby

__all__ = ["binary_of"]

_TOKEN = re.compile(
    r"""(?: \s+ | ;;[^\n]* | \(;.*?;\) )*
    ( \) | \([^\s()";]+ (?: [ ][^\s()";]+ )* (?: [ ]\((?:result|type)[ ][^\s()]+\) )? \)? | [^\s()";]+ | "[^"]*" )""",
    re.DOTALL | re.VERBOSE,
)
"""A token behind space and comments: an end, the beginning of an instruction with the words behind it, another word, a
string. The type of a block is part of its beginning, and an instruction without operands is one token."""
_WORD = re.compile(r"[^\s()]+")
_ESCAPED = re.compile(r"\\([0-9a-f]{2})")

KINDS = {"i32": b"\x7f", "i64": b"\x7e", "f64": b"\x7c", "v128": b"\x7b"}
NO_KIND, FUNCTION, FUNCTIONS = b"\x40", b"\x60", b"\x70"
IF, ELSE, END = b"\x04", b"\x05", b"\x0b"


def _numbered(first: int, names: str, before: str = "") -> dict[str, bytes]:
    return {before + name: bytes([first + at]) for at, name in enumerate(names.split())}


COMPARISONS = "eqz eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u"
ARITHMETIC = "clz ctz popcnt add sub mul div_s div_u rem_s rem_u and or xor shl shr_s shr_u rotl rotr"
PLAIN = {
    **_numbered(0x1A, "drop select"),
    **_numbered(0x45, COMPARISONS, "i32."),
    **_numbered(0x50, COMPARISONS, "i64."),
    **_numbered(0x67, ARITHMETIC, "i32."),
    **_numbered(0x79, ARITHMETIC, "i64."),
    **_numbered(0x92, "add sub mul div", "f32."),
    **_numbered(0xA0, "add sub mul div", "f64."),
    "unreachable": b"\x00",
    "return": b"\x0f",
    "i32.wrap_i64": b"\xa7",
    "i64.extend_i32_s": b"\xac",
    "i64.extend_i32_u": b"\xad",
    "f32.convert_i32_s": b"\xb2",
    "f64.convert_i64_s": b"\xb9",
    "memory.copy": b"\xfc\x0a\x00\x00",
    "memory.fill": b"\xfc\x0b\x00",
    "i32x4.splat": b"\xfd\x11",
    "i32x4.eq": b"\xfd\x37",
    "i32x4.ne": b"\xfd\x38",
    "i32x4.sub": b"\xfd\xb1\x01",
    "i32x4.min_u": b"\xfd\xb7\x01",
    "i32x4.bitmask": b"\xfd\xa4\x01",
    "v128.or": b"\xfd\x50",
    "v128.xor": b"\xfd\x51",
    "v128.any_true": b"\xfd\x53",
}
"""Instructions without immediates."""
NAMED = {
    "call": ("func", b"\x10"),
    "return_call": ("func", b"\x12"),
    "global.get": ("global", b"\x23"),
    "global.set": ("global", b"\x24"),
}
BLOCKS, BRANCHES = {"block": b"\x02", "loop": b"\x03"}, {"br": b"\x0c", "br_if": b"\x0d"}
LOCALS = {"(local.get {})": b"\x20", "(local.set {}": b"\x21", "(local.tee {}": b"\x22"}
ACCESSES = {
    "i32.load": (b"\x28", 2),
    "i64.load": (b"\x29", 3),
    "f64.load": (b"\x2b", 3),
    "v128.load": (b"\xfd\x00", 4),
    "i32.load8_u": (b"\x2d", 0),
    "i64.load32_s": (b"\x34", 2),
    "i64.load32_u": (b"\x35", 2),
    "i32.store": (b"\x36", 2),
    "i64.store": (b"\x37", 3),
    "f32.store": (b"\x38", 2),
    "f64.store": (b"\x39", 3),
    "v128.load32_lane": (b"\xfd\x56", 2),
    "v128.store": (b"\xfd\x0b", 4),
    "i32.store8": (b"\x3a", 0),
}
"""Instructions that read and write memory, with the binary logarithm of the bytes that they are aligned to."""


def binary_of(text: str) -> bytes:
    """Return the binary of a module. Raise :class:`ValueError` if an instruction is not known."""
    return _Module(_TOKEN.findall(text)).binary()


class _Module:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = iter(tokens)
        self._numbers = {kind: _defined(tokens, kind) for kind in ("func", "global", "table", "type")}
        self._codes: dict[str, bytes] = {}
        """Instructions by their token, as far as they are the same in all functions."""
        self._types: dict[bytes, int] = {}
        self._functions: list[bytes] = []
        self._tables: list[bytes] = []
        self._memories: list[bytes] = []
        self._globals: list[bytes] = []
        self._exports: list[bytes] = []
        self._elements: list[bytes] = []
        self._bodies: list[bytes] = []
        self._data: list[bytes] = []

    def binary(self) -> bytes:
        for token in self._tokens:
            match _WORD.findall(token):
                case ["type", _]:
                    self._type(self._declared(next(self._tokens))[1])
                    next(self._tokens)
                case ["func", _, *_]:
                    self._function(token)
                case ["global", _, *kind]:
                    self._global(kind)
                case ["table", _, *sizes, _]:
                    self._tables.append(FUNCTIONS + b"\x01" + b"".join(unsigned(int(size)) for size in sizes))
                case ["memory", _]:
                    self._memories.append(b"\x00" + unsigned(int(self._exported(2, 0))))
                    next(self._tokens)
                case ["elem"]:
                    table, place, _, name, _ = (next(self._tokens) for _ in range(5))
                    into, function = self._numbers["table"][_WORD.findall(table)[1]], self._numbers["func"][name]
                    self._elements.append(b"\x02" + into + self._leaf(place) + END + b"\x00" + vector([function]))
                case ["data"]:
                    place, content, _ = (next(self._tokens) for _ in range(3))
                    self._data.append(b"\x00" + self._leaf(place) + END + sized(_string(content)))
                case ["export"]:
                    name, shown, _ = (next(self._tokens) for _ in range(3))
                    number = self._numbers["func"][_WORD.findall(shown)[1]]
                    self._exports.append(sized(_string(name)) + b"\x00" + number)
                case [] | ["module"]:  # it ends or begins
                    pass
                case _:
                    raise ValueError(f"unknown field `{token}`")
        sections = {
            **{1: [*self._types], 3: self._functions, 4: self._tables, 5: self._memories, 6: self._globals},
            **{7: self._exports, 9: self._elements, 10: self._bodies, 11: self._data},
        }
        written = (bytes([number]) + sized(vector(parts)) for number, parts in sections.items() if parts)
        return b"\x00asm\x01\x00\x00\x00" + b"".join(written)

    # --- fields

    def _type(self, signature: bytes) -> bytes:
        return unsigned(self._types.setdefault(signature, len(self._types)))

    def _exported(self, kind: int, number: int) -> str:
        """Note that a field is exported, if it is; return the token behind that."""
        token = next(self._tokens)
        if token == "(export":
            name, _, token = (next(self._tokens) for _ in range(3))
            self._exports.append(sized(_string(name)) + bytes([kind]) + unsigned(number))
        return token

    def _declared(self, token: str) -> tuple[dict[str, list[str]], bytes, str]:
        """Return what the head of a function declares, its signature, and the token behind it."""
        heads: dict[str, list[str]] = {"param": [], "result": [], "local": []}
        _, *words = _WORD.findall(token)
        if words[-2:-1] == ["result"]:
            heads["result"].append(words[-1])
        token = self._exported(0, len(self._functions))
        while (words := _WORD.findall(token) or [token])[0] in heads:
            heads[words[0]] += words[1:]
            token = next(self._tokens)
        kinds = ([KINDS[word] for word in heads[head] if word[0] != "$"] for head in ("param", "result"))
        return heads, FUNCTION + b"".join(map(vector, kinds)), token

    def _function(self, token: str) -> None:
        heads, signature, token = self._declared(token)
        self._functions.append(self._type(signature))
        names = [word for word in (*heads["param"], *heads["local"]) if word[0] == "$"]
        own = {
            form.format(name): code + unsigned(number)
            for number, name in enumerate(names)
            for form, code in LOCALS.items()
        }
        kinds = groupby(KINDS[word] for word in heads["local"] if word[0] != "$")
        locals_ = vector([unsigned(len([*group])) + kind for kind, group in kinds])
        self._bodies.append(sized(locals_ + self._code(token, own)))

    def _global(self, kind: list[str]) -> None:
        value = self._exported(3, len(self._globals))
        if not kind:
            kind, value = _WORD.findall(value), next(self._tokens)
        self._globals.append(KINDS[kind[-1]] + bytes([kind[0] == "mut"]) + self._leaf(value) + END)
        next(self._tokens)

    # --- instructions

    def _code(self, first: str, own: dict[str, bytes]) -> bytes:
        """Return the instructions up to the end of a function, where ``own`` has those with its locals."""
        codes, written = self._codes, list[bytes]()
        pending, labels, kinds = [END], [""], list[bytes]()
        for token in chain((first,), self._tokens):
            if token == ")":
                code = pending.pop()
                written.append(code)
                if code is END:
                    labels.pop()
                    if not labels:
                        break
            elif (known := own.get(token) or codes.get(token)) is not None:
                (written if token[-1] == ")" else pending).append(known)
            else:
                match _WORD.findall(token):
                    case ["block" | "loop" as word, *rest]:
                        written.append(BLOCKS[word] + _kind(rest))
                        pending.append(END)
                        labels.append(rest[0] if rest else "")
                    case ["if", *rest]:
                        kinds.append(IF + _kind(rest))
                        pending.append(END)
                    case ["then"]:
                        written.append(kinds.pop())
                        pending.append(b"")
                        labels.append("")
                    case ["else"]:
                        written.append(ELSE)
                        pending.append(b"")
                    case ["br" | "br_if" as word, label]:
                        code = BRANCHES[word] + unsigned(labels[::-1].index(label))
                        (written if token[-1] == ")" else pending).append(code)
                    case ["call_indirect", table, "type", name]:
                        pending.append(b"\x11" + self._numbers["type"][name] + self._numbers["table"][table])
                    case [_] if token[0] != "(":
                        written.append(self._leaf(token))
                    case _:
                        codes[token] = code = self._leaf(token)
                        (written if token[-1] == ")" else pending).append(code)
        return b"".join(written)

    def _leaf(self, token: str) -> bytes:
        """Return an instruction with its immediates."""
        match _WORD.findall(token):
            case [word] if word in PLAIN:
                return PLAIN[word]
            case [word, name] if word in NAMED:
                space, code = NAMED[word]
                return code + self._numbers[space][name]
            case ["i32.const", number]:
                return b"\x41" + signed(int(number, 0), 32)
            case ["i64.const", number]:
                return b"\x42" + signed(int(number, 0), 64)
            case ["f64.const", number]:
                return b"\x44" + struct.pack("<d", float(number))
            case ["v128.const", ("i32x4" | "i64x2") as shape, *numbers]:
                bits = int(shape[1:3])
                parts = ((int(number, 0) % (1 << bits)).to_bytes(bits // 8, "little") for number in numbers)
                return b"\xfd\x0c" + b"".join(parts)
            case [word, *given] if word in ACCESSES:
                code, power = ACCESSES[word]
                numbers_ = {name: int(number or name, 0) for name, _, number in (part.partition("=") for part in given)}
                align = numbers_.pop("align", 1 << power).bit_length() - 1
                offset = numbers_.pop("offset", 0)
                return code + unsigned(align) + unsigned(offset) + bytes(numbers_.values())  # the lane, if any
            case _:
                raise ValueError(f"unknown instruction `{token}`")


def _defined(tokens: list[str], kind: str) -> dict[str, bytes]:
    """Return the numbers of the fields of a kind by their names."""
    begun = [token for token in tokens if token.startswith(f"({kind} $")]
    names = [words[1] for token in begun if len(words := _WORD.findall(token)) > 2 or token[-1] != ")"]
    return {name: unsigned(number) for number, name in enumerate(names)}


def _kind(words: list[str]) -> bytes:
    """Return the type of a block."""
    return KINDS[words[-1]] if words[-2:-1] == ["result"] else NO_KIND


def _string(token: str) -> bytes:
    """Return the bytes of a string."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), token[1:-1]).encode("latin-1")


def unsigned(number: int) -> bytes:
    """Return a natural number in LEB128."""
    if number < 0x80:
        return bytes((number,))
    return bytes((number & 0x7F | 0x80,)) + unsigned(number >> 7)


def signed(number: int, bits: int) -> bytes:
    """Return an integer of so many bits in LEB128; one that is too large stands for a negative one."""
    number -= number >> bits - 1 << bits if number > 0 else 0
    parts = bytearray()
    while not -0x40 <= number < 0x40:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*parts, number & 0x7F))


def sized(content: bytes) -> bytes:
    return unsigned(len(content)) + content


def vector(parts: Iterable[bytes]) -> bytes:
    """Return a number of parts and the parts."""
    return unsigned(len(parts := [*parts])) + b"".join(parts)
