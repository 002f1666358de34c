"""Simultaneous decisions, in terms of a decision that asks one seat after another.

Choices are stored in locals until the last seat has chosen; then they are carried out in the order of the seats. `left`
lists the seats that have not chosen, `order` those that have; other lists have their choices at the same positions.
Finally the lists are sorted into the order of the seats, so that nothing reveals who chose first.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from interpreter.language import core
from interpreter.language.builtins import BUILTINS
from interpreter.language.types import BOOL, INT, NONE, SEAT, ListType, Type

__all__ = ["at_once"]


def at_once(ask: core.Ask, seats: core.Expression, fresh: Callable[[], int]) -> tuple[core.Step, ...]:
    """Return the steps of a simultaneous decision of ``seats``. ``fresh`` allocates a local."""
    return _AtOnce(ask, fresh).steps(seats)


class _AtOnce:
    """The locals of one simultaneous decision, and the steps that use them."""

    def __init__(self, ask: core.Ask, fresh: Callable[[], int]) -> None:
        assert isinstance(ask.seat, core.Local)
        self.ask, self.who, self.span = ask, ask.seat, ask.span
        self.listed, self.left, self.order, self.item, self.place = (fresh() for _ in range(5))
        self.chosen = {x.variable: (fresh(), x.type.maybe) for option in ask.options for x in option.choices}
        """For each variable of an alternative, the list of the seats' choices and the type of its items: none for seats
        that took another alternative."""
        self.made = fresh() if len(ask.options) > 1 else None
        """The list of the alternatives that the seats took."""
        self.lists = dict(self.chosen.values())
        if self.made is not None:
            self.lists[self.made] = INT

    def steps(self, seats: core.Expression) -> tuple[core.Step, ...]:
        span, everyone, waiting = self.span, self._seats(self.listed), self._seats(self.left)
        options = tuple(self._waits(number, option) for number, option in enumerate(self.ask.options))
        asks = replace(self.ask, options=options, at_once=waiting, kept=(self.listed, self.order, *self.lists))
        first = self._set(self.who.index, self._element(self.left, SEAT, core.Const(0, type=INT, span=span)))
        some_wait = core.Comparison("!=", waiting, core.Const((), type=ListType(SEAT)), type=BOOL, span=span)
        return (
            self._set(self.listed, seats),
            self._set(self.left, everyone),
            *(
                self._set(index, core.Const((), type=ListType(type_)))
                for index, type_ in ((self.order, SEAT), *self.lists.items())
            ),
            core.Repeat(some_wait, None, (first, asks), self.place, span=span),
            *self._put_in_order(),
            *([] if self.ask.sealed else [core.Reveals(at_once=True, span=span)]),
            core.Iterate(
                self.who.index, everyone, None, self._carried_out(), False, (self.order, self.place), span=span
            ),
        )

    def _waits(self, number: int, option: core.Option) -> core.Option:
        """Return the alternative as it is asked: the choice is appended to the lists and its variables are cleared."""
        values: dict[int, core.Expression] = {
            self.chosen[x.variable][0]: self._local(x.variable, x.type) for x in option.choices
        }
        if self.made is not None:
            values[self.made] = core.Const(number, type=INT, span=self.span)
        nothing = core.Const(None, type=NONE)
        body = [self._append(self.order, self.who, SEAT)]
        body += [self._append(index, values.get(index, nothing), type_) for index, type_ in self.lists.items()]
        body += [self._set(x.variable, nothing) for x in option.choices]
        is_other = core.Comparison("!=", self._local(self.item, SEAT), self.who, type=BOOL, span=self.span)
        others = core.Select(self.item, self._seats(self.left), is_other, type=ListType(SEAT))
        return replace(option, body=(*body, self._set(self.left, others)))

    def _put_in_order(self) -> list[core.Step]:
        item, everyone = self._local(self.item, SEAT), self._seats(self.listed)
        position = core.CallBuiltin(BUILTINS["position"], (item, self._seats(self.order)), type=INT, span=self.span)
        in_order = (
            core.Select(self.item, everyone, None, self._element(index, type_, position), type=ListType(type_))
            for index, type_ in self.lists.items()
        )
        return list(map(self._set, self.lists, in_order))

    def _carried_out(self) -> tuple[core.Step, ...]:
        """Carry out one seat's choice: bind its variables and run the body of its alternative."""
        at = core.CallBuiltin(BUILTINS["position"], (self.who, self._seats(self.listed)), type=INT, span=self.span)
        done: tuple[core.Step, ...] = ()
        for number, option in reversed(list(enumerate(self.ask.options))):
            takes = (self._set(x.variable, self._element(*self.chosen[x.variable], at)) for x in option.choices)
            does = (*takes, *(option.body or ()))
            if self.made is None or number == len(self.ask.options) - 1:
                done = does
                continue
            taken, this = self._element(self.made, INT, at), core.Const(number, type=INT, span=self.span)
            test = core.Test(core.Comparison("==", taken, this, type=BOOL, span=self.span), span=self.span)
            done = (core.Branch(test, does, done, span=self.span),)
        return done

    # --- trees

    def _local(self, index: int, type_: Type) -> core.Expression:
        return core.Local(index, "", type=type_, span=self.span)

    def _seats(self, index: int) -> core.Expression:
        return self._local(index, ListType(SEAT))

    def _set(self, index: int, value: core.Expression) -> core.Step:
        return core.SetLocal(index, value, span=self.span)

    def _element(self, index: int, type_: Type, at: core.Expression) -> core.Expression:
        return core.Element(self._local(index, ListType(type_)), at, type=type_, span=self.span)

    def _append(self, index: int, value: core.Expression, type_: Type) -> core.Step:
        item = core.MakeList((value,), type=ListType(type_), span=self.span)
        whole = core.Arithmetic("+", self._local(index, item.type), item, type=item.type, span=self.span)
        return self._set(index, whole)
