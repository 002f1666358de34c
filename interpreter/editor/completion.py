"""Completion: keys and values of YAML from the schemas, ids, and names in rule text by type and scope.

A file is usually invalid while it is edited, so completion works without parsing it: the lines above the cursor give
the position in the YAML, the tokens before it the locals in scope, and the last model without errors all other names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from textwrap import dedent

from msgspec import Struct

from interpreter.base.source import SourceFile, Span, depth_of, typed
from interpreter.bots.policies import Checked, family_policies
from interpreter.editor.workspace import Desk
from interpreter.explain.symbols import signature_text
from interpreter.language.builtins import FUNCTIONS, OWN_TYPES, OWN_VALUES
from interpreter.language.check_quietly import check_quietly
from interpreter.language.grammar import Start
from interpreter.language.model import Model
from interpreter.language.parse import parse_as
from interpreter.language.resolve import MAKERS, Names
from interpreter.language.scope import Frame
from interpreter.language.syntax_errors import STATEMENTS
from interpreter.language.types import SEAT, KindType, PileType, RecordType, Type, accepts
from interpreter.language.unfinished import CURSOR, finished
from interpreter.reading.files import KINDS
from interpreter.sections.lookup import forms_at, keys_at, scope_at
from interpreter.sections.vocabulary import Code, Named, Reference

__all__ = ["Proposal", "complete"]

_KEY = re.compile(r"(?P<indent> *)(?P<dashes>(?:- +)*)(?P<key>[\w.,/ -]+?|\"[^\"]*\"):(?: (?P<rest>.*))?$")
_HEADER = re.compile(rf"^({'|'.join(KINDS)}): +(\S+)", re.MULTILINE)
_OPENS_TEXT = re.compile(r"(?::|-) +(?:&\w+ +)?\|[-+0-9]*\s*(?:#.*)?$")
_WITHIN = ("where", "if", "else", "otherwise", "and", "or", "not", "in", "is", "by", "none", "yes", "no", "base")
"""Keywords inside a line of rule text."""
_PIECE = re.compile(r"[A-Z]+-?\w*$|[\w]*$")


class Proposal(Struct, frozen=True):
    """Completion proposal. ``kind`` says what it names; proposals with a lower ``rank`` come first."""

    text: str
    kind: str
    detail: str = ""
    about: str = ""
    rank: int = 5


@dataclass
class _Where:
    """Position of the cursor: the text before it on its line, the path of keys, and the lines of its block text."""

    before: str
    path: list[str] = field(default_factory=list)
    block: list[str] | None = None


class _Cursor(Names):
    """Names that remember what is known at the cursor: the locals, the type expected there, and, after a dot, the type
    that has attributes."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.locals: dict[str, Type] = {}
        self.expected: Type | None = None
        self.owner: Type | None = None

    def missing(self, name: str, frame: Frame, expected: Type | None) -> None:
        if name == CURSOR:
            self.locals = {name: local.type for block in frame.visible for name, local in block.items()}
            self.expected = self.expected or expected

    def missing_attribute(self, of: Type, name: str) -> None:
        if name == CURSOR:
            self.owner = of


def complete(desk: Desk, path: Path, offset: int) -> tuple[list[Proposal], Span]:
    """Return the proposals at a position, and the span that they replace."""
    file = desk.file(path)
    where = _where(file, offset)
    match = _PIECE.search(where.before)
    start = offset - len(match[0]) if match else offset
    best: dict[str, Proposal] = {}
    for proposal in sorted(_Completer(desk, path, where, file).proposals(), key=lambda each: each.rank):
        best.setdefault(proposal.text, proposal)
    if best and all("/" in text for text in best):  # an id is one piece
        start = offset - len(re.sub(r".*[^\w/.-]-?", "", where.before, flags=re.DOTALL))
    return list(best.values()), Span(file, start, offset)


def _where(file: SourceFile, offset: int) -> _Where:
    """Return the path of keys at a position, from the lines above it."""
    number, column = file.position(offset)
    line = file.line(number)
    where = _Where(line[: column - 1])
    depth = depth_of(line) if line.strip() else column - 1
    own = _KEY.match(where.before)
    if own and not where.before[len(own["indent"]) :].startswith("#"):
        where.path = [*(["0"] if own["dashes"] else []), own["key"].strip('"')]
        depth = len(own["indent"])
    elif where.before.lstrip().startswith("- "):
        where.path = ["0"]
    lines = [line]
    for above in range(number - 1, 0, -1):
        text = file.line(above)
        stripped = text.strip()
        indent = depth_of(text)
        if not stripped or (stripped.startswith("#") and indent >= depth):
            lines.insert(0, text)
            continue
        is_item = stripped.startswith("- ") and indent == depth and not where.path
        if indent < depth or is_item:
            match = _KEY.match(text)
            if _OPENS_TEXT.search(text) and where.block is None:
                where.block, where.path = lines, []
            if match:
                above_it = [] if match["dashes"] and match.start("key") == depth else [match["key"].strip('"')]
                where.path = [*(["0"] if match["dashes"] else []), *above_it, *where.path]
            depth = indent
        if where.block is None:
            lines.insert(0, text)
        if depth == 0:
            break
    return where


class _Completer:
    def __init__(self, desk: Desk, path: Path, where: _Where, file: SourceFile) -> None:
        self.desk, self.path, self.where, self.file = desk, path, where, file
        header, home = _HEADER.search(file.text), desk.home(path)
        self.kind = "ruleset" if re.search(r"^ruleset: ", file.text, re.MULTILINE) else header[1] if header else ""
        self.examined = home.examined if home else None
        self.model = (self.examined and self.examined.model) or Model("", "", "")
        self.steps = _without_numbers(where.path)

    def proposals(self) -> Iterator[Proposal]:
        where = self.where
        before = where.before
        if self.kind == "":
            is_new = re.search(r"^[a-z]+:", self.file.text.replace("language: 2", ""), re.MULTILINE) is None
            if is_new and not before.startswith(" "):
                yield from (Proposal(each, "key", about=f"the id of the {each}") for each in (*KINDS, "language"))
            return
        path, rest = self._flow(before)
        if where.block is not None:
            if any(form.definition == "printed" for form in forms_at(self.kind, path)):
                return
            yield from self._rule_text("\n".join([*where.block[:-1], before]))
        elif rest is None:
            yield from self._keys(path)
        elif any(form.definition == "rule_text" for form in forms_at(self.kind, path)):
            yield from self._rule_text(rest)
        else:
            yield from self._values(path, rest)

    def _flow(self, before: str) -> tuple[list[str], str | None]:
        """Return the path of keys, including those in brackets on this line, and the text after the last key; None
        instead of the text if a key is being written."""
        path = list(self.where.path)
        own = _KEY.match(before)
        text = (own["rest"] or "") if own else before.strip()
        in_list = bool(path) and bool(self._references([*path, "0"]))  # that a line above begins
        if own is None and not before.lstrip().startswith("- ") and not in_list:
            return path, None
        text = text.removeprefix("- ")
        open_: list[str] = []
        piece = ""
        for char in re.sub(r'"[^"]*"', lambda m: "_" * len(m[0]), text):
            if char in "[{":
                named = re.search(r"([\w.-]+):\s*$", piece)
                open_.append(char + (named[1] if named else ""))
                piece = ""
            elif char in "]}" and open_:
                open_.pop()
                piece = ""
            elif char == "," and open_:
                piece = ""
            else:
                piece += char
        for bracket in open_:
            path += [bracket[1:]] if len(bracket) > 1 else []
            path += ["0"] if bracket[0] == "[" else []
        if open_ and open_[-1][0] == "{":
            key, colon, value = piece.strip().partition(":")
            return ([*path, key], value) if colon else (path, None)
        return path, piece if open_ else text

    # --- YAML

    def _keys(self, path: list[str]) -> Iterator[Proposal]:
        for key, about in keys_at(self.kind, path).items():
            yield Proposal(key, "key", about=about)
        sections = self.examined.composition.sections if self.examined and self.examined.composition else {}
        if len(path) == 1 and path[0] in ("rules", "tables", "triggers", "standing"):
            for name, layers in sections.get(path[0], {}).items():
                yield Proposal(name, "name", f"covers `{layers[-1].file}`")
        named = [form.names for form in forms_at(self.kind, path) if isinstance(form, Named)]
        yield from self._ids(kind for form in named if isinstance(form, Reference) for kind in form.to)
        if (below := self._in_policies(path)) is not None:
            yield from self._policy_keys(below)

    def _in_policies(self, path: list[str]) -> list[str] | None:
        """Return the path below the policies of a file or of a part; None outside of policies."""
        section = "is" if self.kind == "policies" else "policies"
        return path[path.index(section) + 1 :] if section in path[:3] else None

    def _policy_keys(self, path: list[str]) -> Iterator[Proposal]:
        """Yield the names of policies and decisions, and of lines that a layer can replace."""
        decisions = dict.fromkeys(name.partition(".")[0] for name in self.model.alternatives)
        match path:
            case []:
                policies = (name for checked in self._policies for name in checked.policies)
                yield from (Proposal(name, "policy") for name in policies)
            case [_]:
                yield from (Proposal(name, "decision") for name in decisions)
            case [name, decision, "prefer"] if self.kind != "policies":
                for policy in (checked.policies[name] for checked in self._policies if name in checked.policies):
                    lines = [line for way in policy.decisions.get(decision, ()) for line in way.lines if line.name]
                    yield from (Proposal(line.name, "line", about=line.span.on_one_line) for line in lines)

    @property
    def _decision(self) -> str:
        """Return the decision that the text is about; empty if it is about none."""
        below, path = self._in_policies(self.steps), self.steps
        return below[1] if below is not None and len(below) > 1 else path[1] if path[:1] == ["decisions"] else ""

    @cached_property
    def _policies(self) -> list[Checked]:
        """Composed policies of the ruleset, then those of the policies files of the family."""
        examined = self.examined
        if examined is None or examined.model is None or examined.composition is None:
            return []
        shelf, family = self.desk.shelf(self.path), examined.composition.family
        return [examined.policies, *family_policies(shelf, family, examined.model, examined.statements)]

    def _policy_text(self, line: str) -> Iterator[Proposal]:
        """Yield proposals for a line of a policy: alternatives, and the rules and weights of its file."""
        path = self._in_policies(self.steps)
        if path is None or len(path) < 3:
            return
        if re.fullmatch(r"\s*\w*", line):
            for name, values in self.model.alternatives.items():
                decision, _, alternative = name.partition(".")
                if decision == path[1]:
                    yield Proposal(alternative, "alternative", ", ".join(each for each, _ in values), rank=1)
            yield from (Proposal(word, "keyword", rank=3) for word in ("any", "either", "base", "nothing"))
        file = next((each for each in self._policies if path[0] in each.policies and each.functions), None)
        if file is not None:
            yield from (Proposal(name, "weight", str(value), rank=3) for name, value in file.policies[path[0]].weights)
            for name, rule in file.functions.items():
                yield Proposal(name, "rule", ", ".join(f"{each}: {type_}" for each, type_ in rule.parameters), rank=3)

    def _values(self, path: list[str], rest: str) -> Iterator[Proposal]:
        key = ["", *_without_numbers(path)][-1]
        if kinds := self._references(path) or self._references([*path, "0"]):
            yield from self._statements() if "statement" in kinds else self._ids(kinds)
            return
        forms = forms_at(self.kind, path)
        meanings = {form.definition for form in forms}
        yield from (Proposal(word, "word") for form in forms for word in form.allowed)
        if "type" in meanings:
            yield from self._types()
        if {"name", "value", "setup"} & meanings or key == "round":
            yield from self._names_for(key)

    def _references(self, path: list[str]) -> list[str]:
        """Return the kinds of files of which an id is allowed at a path."""
        return [kind for form in forms_at(self.kind, path) if isinstance(form, Reference) for kind in form.to]

    def _ids(self, kinds: Iterable[str]) -> Iterator[Proposal]:
        shelf = self.desk.shelf(self.path)
        for kind in kinds:
            yield from (Proposal(id, "file", kind) for id in shelf.ids(kind))

    def _statements(self) -> Iterator[Proposal]:
        begun = re.search(r"[\w-]*$", self.where.before)
        for statement in self.examined.statements.values() if self.examined else ():
            rank = 3 if begun and statement.id.startswith(begun[0]) else 5
            yield Proposal(statement.id, "statement", statement.text, f"{statement.kind}, {statement.book}", rank)

    def _names_for(self, key: str) -> Iterator[Proposal]:
        model = self.model
        if key in ("round", "setup", "phase", "rule", "check", "in"):
            names: Iterable[str] = model.phases if key in ("phase", "in") else model.signatures
            yield from (Proposal(name, "rule", self._signature(name)) for name in names)
        elif key in ("spaces", "start"):
            yield from (Proposal(name, "table") for name in model.tables)
        else:
            names = [*model.kinds, *model.card_kinds, *model.pieces, *(["players"] if key == "keys" else [])]
            yield from (Proposal(name, "type") for name in names)

    def _types(self) -> Iterator[Proposal]:
        model = self.model
        own = ((name, f"{name} of" if name in MAKERS else name) for name in OWN_TYPES)
        yield from (Proposal(text, "type", about=OWN_TYPES[name]) for name, text in own)
        declared = [*model.kinds, *model.card_kinds, *model.records, *model.pieces]
        yield from (Proposal(name, "type", rank=3) for name in declared)
        if model.graph is not None:
            yield Proposal(model.graph.node, "type", rank=3)

    # --- rule text

    def _rule_text(self, text: str) -> Iterator[Proposal]:
        line = text.split("\n")[-1]
        if "#" in re.sub(r'"[^"]*"', "", line):
            return
        cursor = self._at_cursor(text)
        model = self.model
        if re.search(r"\bcites\s[^)]*$", line):
            yield from self._statements()
        elif line.count('"') % 2:
            nodes = model.graph.nodes if model.graph is not None else []
            yield from (Proposal(row.name, "node") for row in nodes)
        elif re.search(r"[\w)\]]\.\w*$", line):
            yield from self._attributes(cursor.owner, cursor) if cursor.owner is not None else ()
        elif re.search(r"\bnote\s+\w*$", line):
            for event in model.events.values():
                fields = ", ".join(f"{name}: {model.word(type_)}" for name, type_ in event.fields.items())
                yield Proposal(event.name, "event", f"({fields})")
        elif re.search(r"\bis\s+(not\s+)?\w*$", line):
            yield from (Proposal(name, "type") for name in (*model.card_kinds, *model.pieces))
        elif re.search(r"\bof\s*\w*$|\blet\s[^=]*:\s*[\w ]*$", line):
            yield from self._types()
        else:
            yield from self._policy_text(line)
            yield from self._expressions(line, cursor)

    def _expressions(self, line: str, cursor: _Cursor) -> Iterator[Proposal]:
        model, expected = self.model, cursor.expected

        def rank(type_: Type, otherwise: int) -> int:
            return otherwise - 2 if expected is not None and accepts(expected, type_) else otherwise

        for name, type_ in cursor.locals.items():
            yield Proposal(name, "local", model.word(type_), rank=rank(type_, 2))
        if isinstance(expected, KindType):
            kind = model.kinds.get(expected.name)
            yield from (Proposal(name, "member", expected.name, rank=1) for name in (kind.members if kind else ()))
        for group in model.groups.values():
            if group.owner is None:
                yield Proposal(group.name, "state", model.word(group.type), rank=rank(group.type, 4))
        for name, setting in (*model.settings.items(), *model.interpretations.items()):
            detail = model.word(setting.type) if hasattr(setting, "type") else "interpretation"
            yield Proposal(name, "setting", detail, rank=4)
        for name, table in model.tables.items():
            detail = f"[{', '.join(table.keys)}] -> {model.word(table.gives)}"
            yield Proposal(name, "table", detail, rank=rank(table.gives, 4))
        for name, signature in model.signatures.items():
            yield Proposal(name, "rule", self._signature(name), rank=rank(signature.result, 5))
        for name, fields in model.records.items():
            yield Proposal(name, "record", f"({', '.join(fields)})")
        for function in FUNCTIONS.values():
            yield Proposal(function.name, "function", f"({', '.join(function.parameters)})", function.about, 6)
        for kind in model.kinds.values():
            yield from (Proposal(name, "member", kind.name, rank=6) for name in kind.members)
        domains = [*model.kinds, *model.card_kinds, *([model.graph.node] if model.graph else [])]
        yield from (Proposal(name, "type", "all of them", rank=6) for name in domains)
        yield from (Proposal(word, "word", about=about, rank=5) for word, about in OWN_VALUES.items())
        yield from (Proposal(role, "member", "role", rank=6) for role in model.roles)
        if re.fullmatch(r"\s*\w*", line):
            yield from (Proposal(word, "keyword", rank=5) for word in (*sorted(STATEMENTS), "require", "base"))
        else:
            yield from (Proposal(word, "keyword", rank=7) for word in _WITHIN)

    def _attributes(self, type_: Type, names: Names) -> Iterator[Proposal]:
        model = self.model
        if isinstance(type_, RecordType):
            for name, found in model.records.get(type_.name, {}).items():
                yield Proposal(name, "attribute", model.word(found))
        for name, found in names.attributes(type_.sure).items():
            yield Proposal(name, "attribute", model.word(found))
        for group in model.groups.values():
            if group.owner == type_.sure:
                yield Proposal(group.own_name, "attribute", model.word(group.type))
        if isinstance(type_, PileType):
            yield Proposal("top", "attribute", "card")

    def _signature(self, name: str) -> str:
        return signature_text(self.model, name).removeprefix(name)

    # --- scope

    def _at_cursor(self, text: str) -> _Cursor:
        """Return what is known at the end of a text. If it cannot be read up to there, its last line is left out."""
        path, _ = self._flow(self.where.before)
        codes = [form for form in forms_at(self.kind, path) if isinstance(form, Code)]
        begun = dedent(re.sub(r"\w*$", CURSOR, text)).removesuffix(CURSOR)
        starts: list[Start] = [code.start for code in codes]
        cursor = _Cursor(self.model)
        if starts:
            starts.append("procedure")  # statements may stand where they do not belong
        above, line_break, last = begun.rpartition("\n")
        for written in (begun, above + line_break + last[: depth_of(last)]):
            for start in starts:
                tree = finished(start, written)
                if tree is not None:
                    frame = cursor.scope(scope_at(self.kind, path))
                    self._around(frame, cursor)
                    check_quietly(tree, cursor, frame, self._decision)
                    return cursor
        return cursor

    def _around(self, frame: Frame, names: Names) -> None:
        """Add the locals that a declaration provides to its texts: values of an event, binders, and the parameters of
        the layer below."""
        path = self.steps
        if path[-1:] == ["start"]:
            frame.add("who", SEAT)
        if len(path) >= 2 and "rules" in path[:-1]:
            signature = self.model.signatures.get(re.split("[( ]", path[path.index("rules") + 1])[0])
            for name, type_ in signature.parameters if signature else ():
                frame.add(name, type_)
        for line in self._entry_lines():
            if match := re.match(r"\s*(on|for|rows): *[\"']?([^\"']*)", line):
                start: Start = "heard" if match[1] == "on" else "matched"
                check_quietly(parse_as(start, typed(match[2]))[0], names, frame)
            elif match := re.match(r"\s*each:\s*([a-z_]\w*)", line):
                frame.add(match[1], SEAT)

    def _entry_lines(self) -> list[str]:
        """Return the lines of the declaration around the position."""
        if len(self.steps) < 3:
            return []
        name = self.steps[-2]
        lines = self.file.text.split("\n")
        here = next((i for i, line in enumerate(lines) if re.match(rf"\s+{re.escape(name)}:", line)), None)
        if here is None:
            return []
        depth = depth_of(lines[here])
        return list(takewhile(lambda line: not line.strip() or depth_of(line) > depth, lines[here + 1 :]))


def _without_numbers(path: list[str]) -> list[str]:
    """Return the keys of a path, without the numbers of list items."""
    return [step for step in path if not step.isdigit()]
