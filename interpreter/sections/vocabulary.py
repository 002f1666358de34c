"""Vocabulary of the sections: forms of values, keys with such values, and records of keys.

A record is a class whose attributes are keys, such as ``of = Name("The kind of card.")``. The class describes mappings
to the JSON schema, to the reference of all keys and to editors; an instance reads one mapping.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from collections.abc import Mapping as Mapping_
from copy import copy
from typing import ClassVar, Generic, Self, TypeVar, overload

from interpreter.base.plain_data import Json
from interpreter.base.source import NOWHERE, Span
from interpreter.base.yaml_values import Entry, Mapping, Scalar, Sequence, Value, word, words
from interpreter.sections.starts import Start

__all__ = [
    *("Code", "Either", "Flag", "Form", "Integer", "Keys", "Listed"),
    *("Name", "Named", "OneOf", "Prose", "Record", "Reference", "Word", "Words"),
]

T = TypeVar("T", covariant=True)
R = TypeVar("R", bound="Record", covariant=True)


class Form(Generic[T]):
    """A form of values. As an attribute of a record it is a key, and gives the value read.

    ``meaning`` describes the form, and ``says`` a key. A form with a ``definition`` is shared by many keys. ``schema``
    has the keywords of JSON Schema that the class does not imply. Amendments may omit ``required`` keys.
    """

    key = says = definition = ""
    required = False
    inner: tuple[Form[object], ...] = ()
    """Alternatives, of which the value has one."""

    def __init__(self, meaning: str = "", **schema: Json) -> None:
        self.meaning, self.schema = meaning, schema

    def __call__(self, says: str = "", *, key: str = "", required: bool = False) -> Self:
        """Return a key with this form."""
        return self.changed(says=says, key=key, required=required)

    def changed(self, **attributes: object) -> Self:
        """Return a copy with other attributes."""
        made = copy(self)
        vars(made).update(attributes)
        return made

    def defined(self, definition: str, meaning: str = "") -> Self:
        """Return the form under the name of a definition. With a meaning of its own, it refers to this form."""
        named = self.changed(definition=definition)
        return named.changed(meaning=meaning, inner=(self,)) if meaning else named

    def __set_name__(self, owner: type, name: str) -> None:
        self.key = self.key or name.removesuffix("_")

    @property
    def allowed(self) -> tuple[str, ...]:
        """Return the words that are allowed, if all others are not."""
        words = self.schema.get("enum", ())
        return tuple(map(str, words)) if isinstance(words, Collection) else ()

    @overload
    def __get__(self, record: None, owner: type) -> Self: ...
    @overload
    def __get__(self, record: Record, owner: type) -> T: ...
    def __get__(self, record: Record | None, owner: type) -> Self | T:
        return self if record is None else self.read(record.source.get(self.key))

    def read(self, value: Value | None) -> T:
        """Return a value, or what its absence means."""
        raise NotImplementedError

    def below(self, step: str) -> Iterator[Form[object]]:
        """Yield the form of the value at a key, or at the number of an item, if this form has it."""
        yield from ()

    def branches(self) -> Iterator[Form[object]]:
        """Yield the form, and the forms that it refers to or chooses from."""
        yield self
        for form in self.inner:
            yield from form.branches()


class Either(Form[Value | None]):
    """A value in one of several forms, as it is written. Without forms, ``schema`` alone describes it."""

    def __init__(self, *forms: Form[object], meaning: str = "", **schema: Json) -> None:
        super().__init__(meaning, **schema)
        self.inner = forms

    def read(self, value: Value | None) -> Value | None:
        return value


class Word(Form[Scalar | None]):
    """A word, number or rule text with its position."""

    def read(self, value: Value | None) -> Scalar | None:
        return value if isinstance(value, Scalar) else None


Name = Word(
    "Lower-case words joined by `_`.", title="a name of lower-case words joined by `_`", pattern="^[a-z][a-z0-9_]*$"
).defined("name")


class Reference(Word):
    """The id of a file of one of the kinds ``to``, or of a statement."""

    to: tuple[str, ...] = ()

    def to_any(self, *kinds: str) -> Self:
        """Return the form for ids of other files."""
        return self.changed(to=kinds)


THING = ""
"""A local that has the name of a declaration and of its type."""


class Code(Word):
    """Text in the rule language, with its start rule in the grammar. A ``templated`` text with braces is a template.

    ``scope`` has the locals of the text, by name, with words for their types, beside those of the record; ``gives`` is
    a word for the type of its value, if it has to have one.
    """

    start: Start = "expression"
    templated = False
    scope: Mapping_[str, str] = {}
    gives = ""

    def of(self, start: Start, *, templated: bool = False) -> Self:
        """Return the form with another start rule."""
        return self.changed(start=start, templated=templated)

    def over(self, gives: str, **scope: str) -> Self:
        """Return the form with a type and locals. A name that is a word of Python ends in `_`."""
        return self.changed(gives=gives, scope={name.removesuffix("_"): type_ for name, type_ in scope.items()})

    def is_template(self, text: Scalar) -> bool:
        return self.templated and "{" in text.text


class Prose(Form[str]):
    """Text without a position; empty by default."""

    def read(self, value: Value | None) -> str:
        return word(value)


class OneOf(Form[T]):
    """One of some words, or the default, which may be none of them."""

    def __init__(self, meaning: str, *allowed: T, default: T) -> None:
        super().__init__(meaning, enum=tuple(map(str, allowed)))
        self.known, self.default = allowed, default

    def read(self, value: Value | None) -> T:
        return next((each for each in self.known if each == word(value)), self.default)


class Flag(Form[bool]):
    """`yes`, or `no` by default."""

    def read(self, value: Value | None) -> bool:
        return word(value) == "yes"


class Integer(Form[int | None]):
    """A whole number."""

    def read(self, value: Value | None) -> int | None:
        return value.value if isinstance(value, Scalar) and isinstance(value.value, int) else None


class Words(Form[tuple[Scalar, ...]]):
    """A list of words or rule texts, or a single one."""

    def __init__(self, item: Form[object], meaning: str = "", **schema: Json) -> None:
        super().__init__(meaning, **schema)
        self.item = item

    def read(self, value: Value | None) -> tuple[Scalar, ...]:
        return tuple(words(value))

    def below(self, step: str) -> Iterator[Form[object]]:
        yield from (self.item,) if step.isdigit() else ()


class Listed(Form[tuple[T, ...]]):
    """A list of values."""

    def __init__(self, item: Form[T], meaning: str = "", **schema: Json) -> None:
        super().__init__(meaning, **schema)
        self.item = item

    def read(self, value: Value | None) -> tuple[T, ...]:
        return tuple(map(self.item.read, value.items)) if isinstance(value, Sequence) else ()

    def below(self, step: str) -> Iterator[Form[object]]:
        yield from (self.item,) if step.isdigit() else ()


class Named(Form[tuple[tuple[Scalar, T], ...]]):
    """Values by names of the author's choice, whose form is ``names``."""

    def __init__(self, item: Form[T], meaning: str = "", *, names: Form[object] | None = Name, **schema: Json) -> None:
        super().__init__(meaning, **schema)
        self.item, self.names = item, names

    def read(self, value: Value | None) -> tuple[tuple[Scalar, T], ...]:
        entries = value.entries if isinstance(value, Mapping) else ()
        return tuple((entry.key, self.item.read(entry.value)) for entry in entries)

    def below(self, step: str) -> Iterator[Form[object]]:
        yield self.item


class Keys(Form[R]):
    """A record, without any key if it is absent. Its docstring is its meaning, if no other is given."""

    def __init__(self, record: type[R], meaning: str | None = None) -> None:
        super().__init__(" ".join((record.__doc__ or "").split()) if meaning is None else meaning)
        self.record = record

    def read(self, value: Value | None) -> R:
        if self.record.short and value is not None and not isinstance(value, Mapping):
            value = Mapping((Entry(Scalar("is", "plain", value.span, "is"), value),), value.span)
        return self.record(value if isinstance(value, Mapping) else Mapping((), NOWHERE))

    def below(self, step: str) -> Iterator[Form[object]]:
        form = self.record.forms.get(step, self.record.others)
        yield from (form,) if form is not None else ()


class Record:
    """The values of a mapping with keys of the language.

    ``forms`` has the keys of a class, its own first; keys of other names have the form ``others``. A mapping has
    ``one_of`` some keys; a value in a ``short`` form stands for a mapping with the key `is`. Declarations have a
    ``section``, and a ``noun`` for messages. ``schema`` has the keywords of JSON Schema that no key implies. Rule texts
    have the locals of ``scope``, by name, with words for their types; :data:`THING` has the name of the declaration,
    which is that of its type.
    """

    forms: ClassVar[dict[str, Form[object]]] = {}
    others: ClassVar[Form[object] | None] = None
    one_of: ClassVar[tuple[str, ...]] = ()
    section: ClassVar[str] = ""
    noun: ClassVar[str] = ""
    short: ClassVar[tuple[Form[object], ...]] = ()
    scope: ClassVar[Mapping_[str, str]] = {}
    schema: ClassVar[dict[str, Json]] = {}

    def __init_subclass__(
        cls,
        *,
        section: str = "",
        noun: str = "",
        short: tuple[Form[object], ...] = (),
        others: Form[object] | None = None,
        one_of: tuple[str, ...] = (),
        scope: Mapping_[str, str] | None = None,
        **schema: Json,
    ) -> None:
        cls.forms = {}
        for form in (value for each in cls.__mro__ for value in vars(each).values() if isinstance(value, Form)):
            if form.key:
                cls.forms.setdefault(form.key, form)
        cls.section, cls.noun, cls.short, cls.others = section, noun, short, others
        cls.one_of, cls.schema, cls.scope = one_of, schema, scope or {}

    def __init__(self, source: Mapping) -> None:
        self.source = source

    def __contains__(self, key: str) -> bool:
        return key in self.source

    def rest(self, form: Form[T]) -> tuple[tuple[Scalar, T], ...]:
        """Return the keys of other names with their values in a form."""
        others = (entry for entry in self.source.entries if entry.key.text not in self.forms)
        return tuple((entry.key, form.read(entry.value)) for entry in others)

    def texts(self) -> Iterator[tuple[str, Code, Scalar]]:
        """Yield the rule texts with their keys and forms."""
        for key, value in self.source.items():
            form = self.forms.get(key)
            if isinstance(form, Code) and (text := form.read(value)) is not None:
                yield key, form, text

    def span(self, key: str) -> Span:
        """Return the position of a key's value, or of the record if it lacks the key."""
        value = self.source.get(key)
        return value.span if value is not None else self.source.span
