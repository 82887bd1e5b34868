"""The values of rule options as users write them: texts and lists within limits, and the types they name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from schemalint.base.pattern import MAX_PLACES, Pattern, PatternError, parse_pattern
from schemalint.base.values import frozen
from schemalint.delta.datatype import (
    Array,
    Char,
    DataType,
    Decimal,
    Field,
    Map,
    String,
    Struct,
    Varchar,
)
from schemalint.delta.type_text import TypeTextError, parse_type

OptionValue: TypeAlias = str | int | float | bool | list[str] | dict[str, str | list[str]]
"""The value of a rule option as users write it."""

MAX_ENTRIES: Final = 200
"""Entries of a list or a table: each is tried with each column."""

_SHOWN: Final = 60
"""Characters of a wrong text in messages."""


class OptionError(ValueError):
    """A value that an option cannot have; the message begins with what it must be.

    Attributes:
        help: What to write.
        entry: The text in the value that is wrong, to find its line.
    """

    def __init__(self, message: str, help: str = "", entry: str = "") -> None:  # noqa: A002 (as in SchemalintError)
        super().__init__(message)
        self.help = help
        self.entry = entry


def text_of(written: OptionValue | None) -> str | None:
    """Return a written value as one line of TOML; None if there is none."""
    match written:
        case None:
            return None
        case bool():
            return str(written).lower()
        case str():
            return written
        case list():
            return ", ".join(written)
        case dict():
            return ", ".join(f"{key} = {text_of(value)}" for key, value in written.items())
        case _:
            return str(written)


def toml_text(written: OptionValue) -> str:
    """Return a written value as TOML, in one line."""
    match written:
        case bool():
            return str(written).lower()
        case str():
            return json.dumps(written, ensure_ascii=False)
        case list():
            return f"[{', '.join(map(toml_text, written))}]"
        case dict():
            entries = (f"{json.dumps(key)} = {toml_text(value)}" for key, value in written.items())
            return f"{{{', '.join(entries)}}}"
        case _:
            return str(written)


@frozen
class WantedType:
    """A type that an option names, as a type: ``real`` is ``float``.

    The name of a family alone means all of it: ``decimal``, ``char``, ``varchar``, ``array``, ``map``,
    ``struct``, and ``string`` with any collation. What may be null counts for nothing.

    Attributes:
        text: The type as the option writes it.
        family: The class of the types; None for the one type of `type`.
        type: The type without what may be null; None for a family.
    """

    text: str
    family: type[DataType] | None
    type: DataType | None

    @property
    def key(self) -> object:
        """What makes two of them the same."""
        return self.family or self.type

    def matches(self, type_: DataType) -> bool:
        """Whether a type is the one, or one of the family."""
        if self.family is not None:
            return isinstance(type_, self.family)
        return _without_nulls(type_) == self.type


@frozen
class Instead:
    """What to use in place of a type.

    Attributes:
        text: As the option writes it, maybe empty.
        type: The type that the text names; None if it names none.
    """

    text: str
    type: WantedType | None

    def allows(self, type_: DataType) -> bool:
        """Whether a type is the one to use: ``decimal(38,9)`` may be, although it is a ``decimal``."""
        return self.type is not None and self.type.family is None and self.type.matches(type_)


def wanted_type(text: str) -> WantedType:
    """Return the type that a text names.

    Raises:
        OptionError: It names none.
    """
    word = text.strip().lower()
    if word in _FAMILIES:
        return WantedType(text, _FAMILIES[word], None)
    try:
        return WantedType(text, None, _without_nulls(parse_type(text)))
    except TypeTextError as error:
        raise OptionError(f"a type of Spark, and {text[:_SHOWN]!r} is none: {error}", entry=text) from None


_FAMILIES: Final[Mapping[str, type[DataType]]] = {
    "array": Array,
    "char": Char,
    "character": Char,
    "dec": Decimal,
    "decimal": Decimal,
    "map": Map,
    "numeric": Decimal,
    "string": String,
    "struct": Struct,
    "varchar": Varchar,
}


def _without_nulls(type_: DataType) -> DataType:
    """Return a type as names compare it: without what may be null, and without comments."""
    match type_:
        case Array(element=element):
            return Array(_without_nulls(element))
        case Map(key=key, value=value):
            return Map(_without_nulls(key), _without_nulls(value))
        case Struct(fields=fields):
            return Struct(tuple(Field(each.name.lower(), _without_nulls(each.type)) for each in fields))
        case _:
            return type_


def name_pattern(written: OptionValue) -> Pattern:
    """Return the pattern that a text is, as a value or as a key of a table.

    Raises:
        OptionError: It is none.
    """
    if not isinstance(written, str):
        raise OptionError("a pattern in quotes", entry=str(written))
    try:
        return parse_pattern(written)
    except PatternError as error:
        raise OptionError(
            f"a regular expression for whole names, and {written[:_SHOWN]!r} is none: {error}", entry=written
        ) from None


def listed_texts(written: OptionValue, expected: str) -> tuple[str, ...]:
    if isinstance(written, str) or not isinstance(written, list):
        raise OptionError(expected, 'write ["…"]')
    require_few(written)
    return tuple(written)


def require_few(written: Sequence[object] | Mapping[str, object]) -> None:
    if len(written) > MAX_ENTRIES:
        raise OptionError(f"of at most {MAX_ENTRIES} entries, a limit of schemalint")


def require_bounded(patterns: Iterator[Pattern] | Sequence[Pattern]) -> None:
    if sum(pattern.places for pattern in patterns) > MAX_PLACES:
        raise OptionError(
            f"of patterns with at most {MAX_PLACES:,} characters together, with repetitions written out, a "
            "limit of schemalint"
        )
