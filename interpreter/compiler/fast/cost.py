"""What emitted functions cost, and where they pay for it: see :mod:`interpreter.compiler.fast.budget`.

In come the finished syntax trees of functions; they are changed in place. The cost of a tree is about the number of its
nodes, with loops multiplied out: all that is looked through is no longer than the longest thing of the game, apart from
ranges. What a function costs in all is part of what its callers cost, so a tree of calls needs no counting either,
until a loop or a function comes to more than :data:`MOST`: from there on it pays when it is run, and its callers see a
small cost. What runs by itself (a stretch, a decision's options, a watch, …) always pays at its head.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from interpreter.compiler.fast import letters
from interpreter.compiler.fast.budget import LITTLE, MOST_FOLLOWED
from interpreter.compiler.fast.letters import is_of, letters_of
from interpreter.compiler.fast.nodes import walk
from interpreter.compiler.fast.quote import Quote, is_constant, value_of
from interpreter.compiler.fast.sizes import Sizes, longest_in

if TYPE_CHECKING:
    from interpreter.compiler.fast.emit import Emitter
    from interpreter.compiler.fast.emitted import Emitted

__all__ = ["MOST", "Costs"]

MOST = 32_000
"""What costs no more than this need not pay by itself."""

MOST_REMEMBERED = 4_000
"""A function that remembers what it gave, and seldom works, pays by itself when it does more than this."""

MOST_OF_A_STRETCH = 8_000
MOST_OF_A_ROW = 6_000
MOST_OF_STANDING = 2_000
"""For all watches together."""

FEW_ITEMS = 4
"""What is looked through and has no more items is paid for as if it had so many."""

CALL = 6
RECORD = 40
"""What is kept in the log of a game."""
OPTION = 20
LATER = letters.STRETCH + letters.BACK
"""Functions that go on with a game; the machine looks at what is left before they can go round."""
ONCE = letters.GOES_ON + letters.TAKES + letters.PREFERS + letters.LISTS + letters.ACCEPTS
"""Functions that the machine calls, each about once for a decision: see :data:`LITTLE`."""


PAYING = frozenset(("LEFT", "spent", "numbers"))
"""What of a function pays when it is run."""
OF_THE_MACHINE = frozenset(("round", "phase", "turn", "kept", "chance", "over"))
"""Groups of cells that the machine itself changes."""


class Costs:
    """Writes into functions where they pay. It knows those that it has been through, so more can be added later."""

    def __init__(self, emitter: Emitter, sizes: Sizes) -> None:
        self.emitter, self.sizes = emitter, sizes
        self._functions: dict[str, ast.FunctionDef] = {}
        self._values: dict[str, Any] = {}
        self._stretches: dict[int, str] = {}
        self._costs: dict[str, int] = {}
        self._ranges: dict[str, bool] = {}
        self._hashed: dict[str, int] = {}
        self.remembered: dict[str, int] = {}
        """How many numbers a function remembers at most with one answer."""
        self._open: list[str] = []
        self._recursive: set[str] = set()
        self._stopping: set[str] = set()
        """Functions that end in a decision, whatever they do, and of which all is part of what they cost."""
        self._quote = Quote()
        self._of_cards = {*emitter.zones, "location"}
        self._seen: dict[int, tuple[ast.AST, int]] = {}
        self._locals: dict[str, list[ast.expr]] = {}

    def write(self, emitted: Emitted) -> None:
        """All functions of a program, or those that a policy adds to it."""
        for function in self.see(emitted):
            self.cost(function.name)

    def see(self, emitted: Emitted) -> list[ast.FunctionDef]:
        """From now on it can be asked what any of these functions costs."""
        self._values.update(emitted.values)
        self._stretches.update(emitted.stretches)
        self._find_hashed()
        found = [each for body in emitted.modules.values() for each in body if isinstance(each, ast.FunctionDef)]
        self._functions.update((function.name, function) for function in found)
        return found

    def _find_hashed(self) -> None:
        """What functions remember is found by their arguments, and these may be long."""
        procedures = self.emitter.program.reach.procedures
        groups = self.sizes.model.groups
        for key, name in self.emitter.known.items():
            if key[0] not in ("value", "state") or name is None:
                continue
            layer = procedures[key[1]]
            weight = sum(self.sizes.weight(type_) for _, type_ in layer.parameters)
            if key[0] == "value":
                name = name[0]
                for group, _ in self.emitter.knowledge.facts(key[1]).lifted or ():
                    weight += self.sizes.weight(groups[group].type) if group in groups else 0
            self._hashed[name] = weight // 4
            self.remembered[name] = weight + self.sizes.weight(layer.result)

    # --- functions

    def work(self, name: str) -> int:
        """What a call comes to, whoever pays for it; :data:`MOST` where it pays for what it does by itself."""
        cost = self.cost(name)
        pays = any(isinstance(each, ast.Name) and each.id in PAYING for each in walk(self._functions[name]))
        return MOST if pays else cost

    def cost(self, name: str) -> int:
        """What a call of a function costs its caller."""
        if name in self._costs:
            return self._costs[name]
        if name in self._open:
            self._recursive.add(name)
            return CALL
        outer = self._locals
        self._open.append(name)
        function = self._functions[name]
        self._locals = _assigned(function)
        found = CALL + self._hashed.get(name, 0)
        inside = self._block(function.body)
        stops = (
            is_of(name, letters.STRETCH) and inside <= LITTLE and not any(True for _ in self._going_on(function.body))
        )
        if stops:
            self._stopping.add(name)
        if stops or (name not in self._recursive and inside <= self._most(function)):
            found += inside
        elif is_of(name, LATER) and inside <= LITTLE:
            for block, place in list(self._going_on(function.body)):
                # Whoever goes on looks at what is left.
                block[place:place] = self._pays(block[place], inside)[: 1 if inside <= MOST_OF_A_STRETCH else 2]
        else:
            function.body[_head(function) : _head(function)] = self._pays(function, inside)
        self._open.pop()
        self._locals = outer
        self._costs[name] = found
        return found

    def _most(self, function: ast.FunctionDef) -> int:
        """What a function may cost without paying by itself.

        Stretches follow on each other; where they can come back to where they were, one of them is among the recursive
        ones, and the machine looks at what is left whenever it goes on itself.
        """
        match letters_of(function.name):
            case letters.STRETCH:
                return MOST_OF_A_STRETCH
            case letters.WATCH:
                return MOST_OF_STANDING // len(self.sizes.constants.watches)
            case letter if letter in ONCE:
                return LITTLE
            case letters.ROW:
                return MOST_OF_A_ROW
            case letters.OF_STATE:
                return MOST_REMEMBERED
            case _ if function.decorator_list:
                return MOST_REMEMBERED
            case _:
                return MOST

    def _going_on(self, block: list[ast.stmt]) -> Iterator[tuple[list[ast.stmt], int]]:
        """Where a function goes on with something else, the last place in a block first; what ends in a decision has
        been paid for by the machine, and what settles is paid for by whoever finds a match."""
        for place in range(len(block) - 1, -1, -1):
            match block[place]:
                case ast.If(_, body, orelse) | ast.For(_, _, body, orelse) | ast.While(_, body, orelse):
                    yield from self._going_on(body)
                    yield from self._going_on(orelse)
                case ast.Try():
                    yield block, place
                case ast.Return(value) if value is not None and not self._stops(value):
                    yield block, place

    def _stops(self, given: ast.expr) -> bool:
        match given:
            case ast.Constant(None) | ast.Name("going") | ast.Call(ast.Name("stop")):
                return True
            case ast.Call(ast.Name(name)):
                return name in self._stopping
            case _:
                return False

    def _pays(self, at: ast.AST, units: int) -> list[ast.stmt]:
        found = ast.parse(f"LEFT[0] -= {units}\nif LEFT[0] < 0:\n    give_up()").body
        for statement in found:
            for node in walk(statement):
                ast.copy_location(node, at)
        return found

    # --- statements

    def _block(self, block: list[ast.stmt]) -> int:
        return sum([self._statement(statement) for statement in block])

    def _statement(self, node: ast.stmt) -> int:
        return self._once(node, self._cost_of_statement)

    def _once(self, node: Any, cost: Any) -> int:
        """Trees share parts; each is gone through once."""
        found = self._seen.get(id(node))
        if found is None:
            found = self._seen[id(node)] = (node, cost(node))
        return found[1]

    def _cost_of_statement(self, node: ast.stmt) -> int:
        match node:
            case ast.If(test, body, orelse):
                return 1 + self._expression(test) + max(self._block(body), self._block(orelse))
            case ast.For(target, _, body):
                each = 2 + self._expression(target) + self._block(body)
                if _leaves(body):
                    return self._expression(node.iter) + each
                node.iter, found = self._through(node.iter, each, node)
                return found + each
            case ast.While():
                return self._while(node)
            case ast.Try(body, handlers):
                return 1 + self._block(body) + max(self._block(handler.body) for handler in handlers)
            case ast.Assign(targets, value):
                return sum(self._expression(target) for target in targets) + self._expression(value)
            case ast.AugAssign(target, _, value):
                return 2 + self._expression(target) + self._expression(value)
            case ast.Return(value) | ast.Expr(value):
                return 1 + (self._expression(value) if value is not None else 0)
            case _:
                return 1

    def _while(self, node: ast.While) -> int:
        """A loop over items whose test fails goes on to the next one; other loops pay for each pass."""
        test = self._expression(node.test)
        last = node.body[-1]
        if isinstance(last, ast.If) and not last.orelse and _leaves(last.body) and _advances(node):
            before = test + self._block(node.body[:-1]) + self._expression(last.test)
            if before * self.sizes.longest <= MOST:
                return before * self.sizes.longest + self._block(last.body)
        body = self._block(node.body)
        if _leaves(node.body):
            return test + body
        node.body[:0] = self._pays(node, test + body)
        return CALL + test

    # --- expressions

    def _expression(self, node: ast.expr) -> int:
        return self._once(node, self._cost_of_expression)

    def _cost_of_expression(self, node: ast.expr) -> int:
        heavy: int = getattr(node, "heavy", 0)
        return heavy + self._cost_of(node)

    def _cost_of(self, node: ast.expr) -> int:
        match node:
            case ast.Name() | ast.Constant():
                return 1
            case ast.ListComp() | ast.GeneratorExp():
                return self._comprehension(node)
            case ast.Call():
                return self._call(node)
            case ast.IfExp(test, body, orelse):
                return 1 + self._expression(test) + max(self._expression(body), self._expression(orelse))
            case ast.Compare(left, operators, rights):
                found = 1 + self._expression(left)
                for place, operator in enumerate(operators):
                    if isinstance(operator, ast.In | ast.NotIn):
                        rights[place], cost = self._within(rights[place], node)
                        found += cost
                    else:
                        found += self._expression(rights[place])
                return found
            case ast.Subscript(value, ast.Slice() as part):
                ends = sum(self._expression(end) for end in ast.iter_child_nodes(part) if isinstance(end, ast.expr))
                return 4 + ends + self._expression(value) + (self._length(value) or self.sizes.longest) // 8
            case ast.Lambda(_, body):
                return 4 + self._expression(body)
            case ast.Yield(value):
                return OPTION + (self._expression(value) if value is not None else 0)
            case ast.YieldFrom(value):
                return OPTION + self._expression(value)
            case _:
                return 1 + sum(
                    self._expression(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)
                )

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> int:
        each = 3 + self._expression(node.elt)
        for clause in reversed(node.generators):
            each += self._expression(clause.target) + sum(self._expression(test) for test in clause.ifs)
            clause.iter, each = self._through(clause.iter, each, node)
        return 4 + each

    def _within(self, items: ast.expr, at: ast.stmt | ast.expr) -> tuple[ast.expr, int]:
        """``x in items``: a set or a range is asked, a list looked through."""
        if isinstance(items, ast.Call) and isinstance(items.func, ast.Name) and items.func.id == "numbers":
            return items, self._expression(items)
        if self._is_set(items):
            return items, 1 + self._expression(items)
        if self._is_short_or_range(items):
            return items, self.sizes.longest + self._expression(items)
        return self._through(items, 1, at)

    def _is_short_or_range(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(ast.Name("numbers")):
                return True
            case ast.Call(ast.Name(name)) if name in self._functions and self._gives_range(name):
                outer, self._locals = self._locals, {}
                returned = [each.value for each in walk(self._functions[name]) if isinstance(each, ast.Return)]
                found = all(each is not None and self._is_short_or_range(each) for each in returned)
                self._locals = outer
                return found
            case ast.Name():
                return False
            case _:
                return self._length(node) is not None

    def _is_set(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            kept = self._functions.get(node.func.id)
            found = (
                _assigned(kept).get("found", []) if kept is not None and is_of(node.func.id, letters.OF_STATE) else []
            )
            return node.func.id in ("frozenset", "set") or (bool(found) and all(self._is_set(each) for each in found))
        if isinstance(node, ast.Name) and node.id not in self._values:
            found = self._locals.get(node.id, [])
            return bool(found) and all(self._is_set(value) for value in found)
        return isinstance(node, ast.Name) and isinstance(self._values.get(node.id), frozenset | set | dict)

    def _through(self, items: ast.expr, each: int, at: ast.stmt | ast.expr) -> tuple[ast.expr, int]:
        """Looks through items, at so much for each: gives what is looked through, and the cost of all of it."""
        own = self._expression(items)
        if isinstance(items, ast.Call) and isinstance(items.func, ast.Name) and items.func.id == "numbers":
            # The same call may stand in several places: the dearest counts.
            if len(items.args) == 2:
                items.args.append(ast.copy_location(ast.Constant(each), items))
            elif isinstance(items.args[2], ast.Constant):
                items.args[2] = ast.copy_location(ast.Constant(max(each, value_of(items.args[2]))), items)
            return items, own + CALL
        if isinstance(items, ast.ListComp | ast.GeneratorExp) and each <= 2:
            return items, own
        if isinstance(items, ast.Call) and isinstance(items.func, ast.Name) and is_of(items.func.id, letters.LISTS):
            return items, own + each
        length = self._length(items)
        most = 2 * MOST if is_of(self._open[-1], ONCE) else MOST
        if length is not None and length * each <= most:
            return items, own + length * each
        q = self._quote
        q.stay(at)
        if isinstance(items, ast.Name) and FEW_ITEMS * each <= most:
            name, few = q.name(items.id), q.constant(FEW_ITEMS)
            found = q.expression("_0 if len(_0) <= _1 else spent(_0, _2)", name, few, q.constant(each))
            return found, own + CALL + FEW_ITEMS * each
        return q.expression("spent(_0, _1)", items, q.constant(each)), own + CALL

    # --- how many items

    def _length(self, node: ast.expr) -> int | None:
        """How many items something has at most; none for ranges and what is made of them."""
        longest = self.sizes.longest
        known: int | None = getattr(node, "length", None)
        if known is not None:
            return known
        match node:
            case ast.Constant(value) if isinstance(value, tuple):
                return len(value)
            case ast.Tuple(items):
                return len(items) if not any(isinstance(item, ast.Starred) for item in items) else longest
            case ast.Call(ast.Name("range"), [ast.Constant(int(size))]):
                return size
            case ast.Call(ast.Name("numbers" | "range")):
                return None
            case ast.Call(ast.Name("short" | "joined")):
                return longest
            case ast.Call(ast.Name("tuple" | "list" | "sorted" | "set" | "frozenset" | "spent"), [inner, *_]):
                return self._length(inner)
            case ast.Call(ast.Name(name)) if name in self._functions:
                return None if self._gives_range(name) else longest
            case ast.ListComp(_, clauses) | ast.GeneratorExp(_, clauses):
                found = 1
                for clause in clauses:
                    length = self._length(clause.iter)
                    if length is None:
                        return None
                    found *= length
                return found
            case ast.IfExp(_, then, otherwise):
                one, other = self._length(then), self._length(otherwise)
                return None if one is None or other is None else max(one, other)
            case ast.NamedExpr(_, value):
                return self._length(value)
            case ast.Subscript(ast.Name(name), index) if not isinstance(index, ast.Slice):
                value = self._values.get(name)
                return max(longest_in(value), 1) if type(value) is tuple else longest
            case ast.Subscript(value, ast.Slice()):
                return self._length(value)
            case ast.Name(name):
                value = self._values.get(name)
                if type(value) is tuple:
                    return len(value)
                values = self._locals.pop(name, None)
                if values is None:
                    return longest
                lengths = [self._length(value) for value in values]
                self._locals[name] = values
                return None if None in lengths else longest
            case _:
                return longest

    def _gives_range(self, name: str) -> bool:
        found = self._ranges.get(name)
        if found is None:
            self._ranges[name] = False
            function = self._functions[name]
            outer, self._locals = self._locals, _assigned(function)
            returned = [node.value for node in walk(function) if isinstance(node, ast.Return) and node.value]
            found = self._ranges[name] = any(self._length(value) is None for value in returned)
            self._locals = outer
        return found

    # --- calls

    def _call(self, node: ast.Call) -> int:
        named = [keyword.value for keyword in node.keywords]
        if not isinstance(node.func, ast.Name):
            return self._method(node)
        name = node.func.id
        if name in self._functions:
            found = self.cost(name) + sum(self._expression(argument) for argument in node.args)
            if is_of(name, letters.STRETCH) and name not in self._stopping:
                found += sum(self._goes_on(argument) for argument in node.args)
            return found
        match name:
            case "tuple" | "list" | "set" | "frozenset" | "any" | "all" | "sum" | "sorted" | "min" | "max" | "next":
                return self._looks_through(node, name, named)
            case "len":
                return 2 + self._expression(node.args[0])
        found = CALL + sum(self._expression(argument) for argument in [*node.args, *named])
        return found + self._helper(node, name)

    def _goes_on(self, frame: ast.expr) -> int:
        """The stretch that a frame names is gone on with after the call."""
        match frame:
            case ast.Tuple([ast.Constant(int(index)), *_]) if index in self._stretches:
                return self.cost(self._stretches[index])
            case _:
                return 0

    def _looks_through(self, node: ast.Call, name: str, named: list[ast.expr]) -> int:
        if not node.args or (name in ("min", "max") and len(node.args) > 1):
            return CALL + sum(self._expression(argument) for argument in node.args)
        others = sum(self._expression(argument) for argument in node.args[1:])
        if name == "next":
            return CALL + others + self._expression(node.args[0])
        keys = sum(self._expression(each) for each in named if isinstance(each, ast.Lambda))
        each = {"sorted": 10, "set": 3, "frozenset": 3, "min": 2, "max": 2}.get(name, 1) + keys
        node.args[0], found = self._through(node.args[0], each, node)
        if name in ("tuple", "sorted") and self._exceeds(node.args[0]):
            # What becomes a value is no longer than any list.
            if name == "tuple":
                node.func = ast.copy_location(ast.Name("short", ast.Load()), node.func)
            else:
                node.args[0] = self._shortened(node.args[0])
        return CALL + others + found

    def _exceeds(self, node: ast.expr) -> bool:
        length = self._length(node)
        return length is None or length > self.sizes.longest

    def _shortened(self, node: ast.expr) -> ast.expr:
        call = ast.Call(ast.Name("short", ast.Load()), [node], [])
        for each in (call, call.func):
            ast.copy_location(each, node)
        return call

    def _method(self, node: ast.Call) -> int:
        found = CALL + self._expression(node.func) + sum(self._expression(argument) for argument in node.args)
        if isinstance(node.func, ast.Attribute):
            length = self._length(node.func.value) or self.sizes.longest
            return found + {"append": RECORD, "index": length, "remove": length}.get(node.func.attr, 4)
        return found

    def _following(self, groups: Collection[str] | None = None) -> int:
        """What follows a change of a cell that a helper makes, of any group or of one of some."""
        followers = self.emitter.done.followers
        names = [name for group, name in followers.items() if groups is None or group in groups]
        return max([0, *map(self.cost, names)])

    def _helper(self, node: ast.Call, name: str) -> int:
        """What one of the runtime's helpers does."""
        sizes = self.sizes
        match name:
            case "move_cards" | "move_to_pile":
                each = RECORD + 6 * sizes.cards + 3 * self._following(self._of_cards)
                node.args[1], found = self._through(node.args[1], each, node)
                return found
            case "move_card" | "shuffle":
                each = 6 if name == "move_card" else 100
                return RECORD + each * sizes.cards + 3 * self._following(self._of_cards)
            case "claims":
                width = value_of(node.args[1]) if is_constant(node.args[1]) else sizes.width
                each = 4 + (4 << min(width, 10))
                node.args[0], found = self._through(node.args[0], each, node)
                return found + (8 << min(width, 10))
            case "connected":
                return sizes.search // 4
            case "distances" | "distances_dealt" | "path" | "path_dealt":
                return sizes.search
            case "with_start" | "with_start_dealt":
                return sizes.search // 2  # of the two values of a cell only the new one enters a row
            case "visible_in":
                return 8 * sizes.longest
            case "single" | "bag_sum" | "bag_difference" | "bounded":
                return 2 * sizes.width
            case "insort" | "position_or_none" | "without":
                return sizes.longest
            case "joined":
                return 2 * sizes.longest
            case "price_on" | "room_on":
                return RECORD + 4 * sizes.width
            case "place_piece" | "take_piece" | "move_tokens":
                return RECORD + 4 * sizes.width + 2 * self._following()
            case "row_anew" | "partial_row_anew":
                one = node.args[5]
                assert isinstance(one, ast.Name)
                if len(node.args) == 7:
                    node.args.append(ast.copy_location(ast.Constant(CALL + self.cost(one.id)), node))
                return 200
            case "put" | "forget":
                return RECORD + sizes.longest + self._following(self._of_cards if name == "forget" else None)
            case "keep" | "pick" | "mark" | "settle" | "matched" | "stop" | "neighbours":
                return RECORD + sizes.longest + 2 * self._following(OF_THE_MACHINE)
            case "plain_stretch":
                return 200 + MOST_FOLLOWED * self._following()
            case "check_depth" | "plain_choice" | "plain_values" | "plain_match":
                return 200
            case "weighed":
                return MOST // 8
            case _:
                return 0


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether a block surely leaves its function."""
    last = body[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and _leaves(last.body) and _leaves(last.orelse)
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and isinstance(last.value.func, ast.Name):
        return last.value.func.id == "give_up"
    return isinstance(last, ast.Return)


def _advances(node: ast.While) -> bool:
    """``while at < len(items)``, where each pass counts ``at`` up, and nothing else of it changes either."""
    match node.test:
        case ast.Compare(ast.Name(at), [ast.Lt()], [ast.Call(ast.Name("len"), [ast.Name(items)])]):
            before = node.body[:-1]
            counted = [each.target for each in before if isinstance(each, ast.AugAssign)]
            changed = [
                each.id
                for statement in before
                for each in walk(statement)
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
            ]
            counts = any(isinstance(target, ast.Name) and target.id == at for target in counted)
            return counts and changed.count(at) == 1 and items not in changed
        case _:
            return False


def _head(function: ast.FunctionDef) -> int:
    """Where the work of a function begins: after it has looked whether it remembers the answer."""
    body = function.body
    if len(body) > 1 and isinstance(body[0], ast.Assign) and isinstance(body[1], ast.If):
        match body[0].value, body[1].test:
            case ast.Subscript(ast.Name("M")), ast.Compare(_, [ast.In() | ast.IsNot()], _):
                return 2
    return 0


def _assigned(function: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """What each local of a function is given, where that is an expression."""
    found: dict[str, list[ast.expr]] = {}
    for node in walk(function):
        match node:
            case ast.Assign([ast.Name(name)], value) | ast.NamedExpr(ast.Name(name), value):
                found.setdefault(name, []).append(value)
            case ast.comprehension(ast.Name(name), ast.Tuple([value])):
                found.setdefault(name, []).append(value)
    return found
