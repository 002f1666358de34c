"""A decision that several seats make at once, in terms of one that asks seat after seat.

Choices wait in locals until the last is made; then what they do is done, seat by seat as they are listed. `left` have
not chosen yet, `order` have, and at the same place of other lists stands what they chose. When all have, these lists
are put into the order of the seats: nothing tells who was first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from interpreter.language import core as c
from interpreter.language.types import BOOL, INT, NONE, SEAT, ListType, Type

__all__ = ["at_once"]


def at_once(ask: c.Ask, seats: c.Expression, fresh: Callable[[], int]) -> list[c.Step]:
    """The steps of a decision that ``seats`` make at once. ``fresh`` gives a local that the text does not name."""
    return _AtOnce(ask, fresh).steps(seats)


class _AtOnce:
    """The locals of one such decision, and the steps that use them."""

    def __init__(self, ask: c.Ask, fresh: Callable[[], int]) -> None:
        assert isinstance(ask.seat, c.Local)
        self.ask, self.who, self.span = ask, ask.seat, ask.span
        self.listed, self.left, self.order, self.item, self.place = (fresh() for _ in range(5))
        self.chosen = {x.variable: (fresh(), x.type.maybe) for option in ask.options for x in option.choices}
        """Of each variable of an alternative, the list of what the seats chose for it, and the type of that: none where
        a seat took another alternative."""
        self.made = fresh() if len(ask.options) > 1 else None
        """The list of which alternative each seat took."""
        self.lists = dict(self.chosen.values())
        if self.made is not None:
            self.lists[self.made] = INT

    def steps(self, seats: c.Expression) -> list[c.Step]:
        span, everyone, waiting = self.span, self._seats(self.listed), self._seats(self.left)
        options = tuple(self._waits(number, option) for number, option in enumerate(self.ask.options))
        asks = replace(self.ask, options=options, at_once=waiting, kept=(self.listed, self.order, *self.lists))
        first = self._set(self.who.index, self._element(self.left, SEAT, c.Const(0, type=INT, span=span)))
        some_wait = c.Comparison("!=", waiting, c.Const((), type=ListType(SEAT)), type=BOOL, span=span)
        return [
            self._set(self.listed, seats),
            self._set(self.left, everyone),
            *(
                self._set(each, c.Const((), type=ListType(type_)))
                for each, type_ in ((self.order, SEAT), *self.lists.items())
            ),
            c.Repeat(some_wait, None, (first, asks), self.place, span=span),
            *self._put_in_order(),
            c.Reveals(span=span),
            c.Iterate(self.who.index, everyone, None, self._carried_out(), False, (self.order, self.place), span=span),
        ]

    def _waits(self, number: int, option: c.Option) -> c.Option:
        """The alternative as it is asked: what is chosen joins the lists, and its variables are empty for the next."""
        values: dict[int, c.Expression] = {
            self.chosen[x.variable][0]: c.Local(x.variable, "", type=x.type, span=self.span) for x in option.choices
        }
        if self.made is not None:
            values[self.made] = c.Const(number, type=INT, span=self.span)
        nothing = c.Const(None, type=NONE)
        body = [self._append(self.order, self.who, SEAT)]
        body += [self._append(each, values.get(each, nothing), type_) for each, type_ in self.lists.items()]
        body += [self._set(x.variable, nothing) for x in option.choices]
        other = c.Comparison(
            "!=", c.Local(self.item, "", type=SEAT, span=self.span), self.who, type=BOOL, span=self.span
        )
        others = c.Loop("filter", self.item, self._seats(self.left), other, (), None, type=ListType(SEAT))
        return replace(option, body=(*body, self._set(self.left, others)))

    def _put_in_order(self) -> list[c.Step]:
        item = c.Local(self.item, "", type=SEAT, span=self.span)
        found = c.Builtin("position", (item, self._seats(self.order)), type=INT, span=self.span)
        everyone = self._seats(self.listed)
        return [
            self._set(
                each,
                c.Loop("map", self.item, everyone, None, (), self._element(each, type_, found), type=ListType(type_)),
            )
            for each, type_ in self.lists.items()
        ]

    def _carried_out(self) -> tuple[c.Step, ...]:
        """Carry out one seat's choice: bind its variables and run the body of its alternative."""
        at = c.Builtin("position", (self.who, self._seats(self.listed)), type=INT, span=self.span)
        done: tuple[c.Step, ...] = ()
        for number, option in reversed(list(enumerate(self.ask.options))):
            takes = (self._set(x.variable, self._element(*self.chosen[x.variable], at)) for x in option.choices)
            does = (*takes, *(option.body or ()))
            if self.made is None or number == len(self.ask.options) - 1:
                done = does
                continue
            taken, this = self._element(self.made, INT, at), c.Const(number, type=INT, span=self.span)
            test = c.Test(c.Comparison("==", taken, this, type=BOOL, span=self.span), span=self.span)
            done = (c.Branch(test, does, done, span=self.span),)
        return done

    # --- trees

    def _seats(self, index: int) -> c.Expression:
        return c.Local(index, "", type=ListType(SEAT), span=self.span)

    def _set(self, index: int, value: c.Expression) -> c.Step:
        return c.SetLocal(index, value, span=self.span)

    def _element(self, index: int, type_: Type, at: c.Expression) -> c.Expression:
        return c.Element(c.Local(index, "", type=ListType(type_), span=self.span), at, type=type_, span=self.span)

    def _append(self, index: int, value: c.Expression, type_: Type) -> c.Step:
        one = c.MakeList((value,), type=ListType(type_), span=self.span)
        before = c.Local(index, "", type=one.type, span=self.span)
        return self._set(index, c.Arithmetic("+", before, one, type=one.type, span=self.span))
