"""Values of one type as those of another, as SQL: what fails, what changes, and when two are the same.

A value *fails* if it, or a part of it at any depth, has no value in the new type, or is longer than its
``char(n)`` or ``varchar(n)``; failed, it is NULL as a whole. It is *inexact* if the new value is another
number, instant or day; how a text spells it does not count. Measured on Delta 4.4.0 with Spark 4.2.0: a
cast to ``varchar(n)`` is one to string; a text with a time and no day becomes a timestamp of the day of the
run; ``<=>`` compares texts by their collation, calls NaN equal to NaN, and refuses maps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from schemalint.base.values import replace
from schemalint.delta.datatype import (
    BINARY,
    BOOLEAN,
    BYTE,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGER,
    LONG,
    SHORT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Array,
    Char,
    DataType,
    Decimal,
    Map,
    String,
    Struct,
    Varchar,
)
from schemalint.delta.sql_text import always_quoted, quote_literal
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import is_container

_INTEGERS: Final = {BYTE: 2**7, SHORT: 2**15, INTEGER: 2**31, LONG: 2**63}
_FLOATS: Final = frozenset({FLOAT, DOUBLE})
_INSTANTS: Final = frozenset({TIMESTAMP, TIMESTAMP_NTZ})
_COMPARABLE: Final = _INSTANTS | {BOOLEAN, BINARY, DATE}
_BLANK: Final = "[^!-~]*"  # Spark trims blanks and control characters around what it casts
_NUMBER: Final = f"^{_BLANK}([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]+))?{_BLANK}$"
_TIME: Final = "([ T](0?0(:0?0(:0?0([.]0*)?)?)?)?)?"
_MIDNIGHT: Final = f"^{_BLANK}[+-]?[0-9]{{4,7}}(-[0-9]{{1,2}}(-[0-9]{{1,2}})?)?{_TIME}{_BLANK}$"
_BEGINS_WITH_A_YEAR: Final = f"^{_BLANK}[+-]?[0-9]{{4}}"
_FINER_THAN_MICROSECONDS: Final = "[.][0-9]{7}"
_HAS_A_ZONE: Final = "[ T][0-9]+:.*[A-Za-z+-]"
_LEADING_ZERO: Final = f"^{_BLANK}[+-]?0[0-9]"
_WIDE: Final = "decimal(38,18)"  # wide enough for the difference of most numbers
_BOUND: Final = "value"


def is_text(type_: DataType) -> bool:
    return isinstance(type_, String | Char | Varchar)


def _is_number(type_: DataType) -> bool:
    return isinstance(type_, Decimal) or type_ in _INTEGERS or type_ in _FLOATS


def unsized(type_: DataType) -> DataType:
    """Return a type whose texts have no lengths: Spark casts to them so."""
    match type_:
        case Char() | Varchar():
            return STRING
        case Array():
            return replace(type_, element=unsized(type_.element))
        case Map():
            return replace(type_, key=unsized(type_.key), value=unsized(type_.value))
        case Struct():
            return Struct(tuple(replace(inner, type=unsized(inner.type)) for inner in type_.fields))
        case _:
            return type_


def _only_where(text: str, condition: str) -> str:
    """Return a text, evaluated once, where a condition on `_BOUND` is true, else null."""
    return f"try_element_at(filter(array({text}), {_BOUND} -> {condition}), 1)"


def _bound(text: str, made: str, name: str = _BOUND) -> str:
    """Return what is made of the value of a text that is evaluated once."""
    return f"try_element_at(transform(array({text}), {name} -> {made}), 1)"


def is_lost(before: str, after: str) -> str:
    return f"({before}) IS NOT NULL AND {after} IS NULL"


def tried(text: str, type_: DataType) -> str:
    """Return a value without parts in another type; null where it has none there."""
    tried = f"try_cast({text} AS {print_type(unsized(type_))})"
    if isinstance(type_, Char | Varchar):
        return _only_where(tried, f"char_length({_BOUND}) <= {type_.length}")
    return tried


def lost(text: str, old: DataType, new: DataType, depth: int = 0) -> Iterator[str]:
    """Yield the conditions under which a value, or a part of it, has no value in another type."""
    part = f"part{depth}"
    match old, new:
        case Array(), Array():
            if inner := " OR ".join(lost(part, old.element, new.element, depth + 1)):
                yield f"exists({text}, {part} -> {inner})"
        case Map(), Map():
            keys = list(lost(f"{part}.key", old.key, new.key, depth + 1))
            parts = " OR ".join([*keys, *lost(f"{part}.value", old.value, new.value, depth + 1)])
            if parts:
                yield f"exists(map_entries({text}), {part} -> {parts})"
            if keys and not is_container(new.key):  # two keys may become one
                made = f"transform(map_keys({text}), {part} -> {tried(part, new.key)})"
                yield f"size(array_distinct({made})) < size({text})"
        case Struct(), Struct():
            for one, other in zip(old.fields, new.fields, strict=False):
                yield from lost(f"{text}.{always_quoted(one.name)}", one.type, other.type, depth)
        case _:
            if (old != new or isinstance(new, Char | Varchar)) and not (
                is_container(old) or is_container(new)
            ):
                yield is_lost(text, tried(text, new))


def converted(text: str, old: DataType, new: DataType, depth: int = 0) -> str:
    """Return a column with parts in another type; it has a value for rows of which nothing is `lost`.

    Spark casts no map whose keys could become null, so a map is made anew (measured on Spark 4.2.0).
    """
    part = f"part{depth}"
    if not _changes_keys(old, new):
        return f"try_cast({text} AS {print_type(unsized(new))})"
    match old, new:
        case Array(), Array():
            return f"transform({text}, {part} -> {converted(part, old.element, new.element, depth + 1)})"
        case Map(), Map():
            key = converted(f"{part}.key", old.key, new.key, depth + 1)
            value = converted(f"{part}.value", old.value, new.value, depth + 1)
            return f"map_from_entries(transform(map_entries({text}), {part} -> struct({key}, {value})))"
        case Struct(), Struct():
            fields = ", ".join(
                f"{quote_literal(other.name)}, "
                + converted(f"{text}.{always_quoted(inner.name)}", inner.type, other.type, depth)
                for inner, other in zip(old.fields, new.fields, strict=False)
            )
            return f"if({text} IS NULL, NULL, named_struct({fields}))"
        case _:
            return f"try_cast({text} AS {print_type(unsized(new))})"


def _changes_keys(old: DataType, new: DataType) -> bool:
    match old, new:
        case Map(), Map():
            return old.key != new.key or _changes_keys(old.value, new.value)
        case Array(), Array():
            return _changes_keys(old.element, new.element)
        case Struct(), Struct():
            pairs = zip(old.fields, new.fields, strict=False)
            return any(_changes_keys(one.type, other.type) for one, other in pairs)
        case _:
            return False


def stored(text: str, type_: DataType, depth: int = 0) -> str:
    """Return a value as `<=>` compares it: texts by their bytes, `char` padded, maps as sorted entries."""
    part = f"part{depth}"
    match type_:
        case String() | Varchar():
            return f"CAST({text} AS BINARY)"
        case Char(length=length):
            return f"CAST(rpad({text}, {length}, ' ') AS BINARY)"
        case Array(element=element):
            made = stored(part, element, depth + 1)
            return text if made == part else f"transform({text}, {part} -> {made})"
        case Map(key=key, value=value):
            sides = (stored(f"{part}.key", key, depth + 1), stored(f"{part}.value", value, depth + 1))
            entries = f"transform(map_entries({text}), {part} -> struct({', '.join(sides)}))"
            return f"array_sort({entries})"
        case Struct(fields=fields):
            names = [f"{part}.{always_quoted(inner.name)}" for inner in fields]
            values = [stored(name, inner.type, depth + 1) for name, inner in zip(names, fields, strict=True)]
            if values == names:
                return text
            return _bound(text, f"if({part} IS NULL, NULL, struct({', '.join(values)}))", part)
        case _:
            return text


def inexact_after(text: str, old: DataType, types: Iterable[DataType]) -> str | None:
    """Return when one of some casts, one after the other, changes a value; None if that is not known."""
    changes: list[str] = []
    for new in types:
        if new == old:
            continue
        changed = _inexact(text, old, new)
        if changed is None:
            return None
        changes += [changed] if changed else []
        text, old = tried(text, new), new
    return " OR ".join(changes) or "false"


def _inexact(text: str, old: DataType, new: DataType, depth: int = 0) -> str | None:
    """Return when a value changes with its type; empty if it never does, None if that is not known."""
    part = f"part{depth}"
    match old, new:
        case Array(), Array():
            inner = _inexact(part, old.element, new.element, depth + 1)
            return inner and f"coalesce(exists({text}, {part} -> {inner}), false)"
        case Map(), Map():
            sides = (
                _inexact(f"{part}.key", old.key, new.key, depth + 1),
                _inexact(f"{part}.value", old.value, new.value, depth + 1),
            )
            inner = _joined(sides)
            return inner and f"coalesce(exists(map_entries({text}), {part} -> {inner}), false)"
        case Struct(), Struct():
            pairs = zip(old.fields, new.fields, strict=False)
            return _joined(
                _inexact(f"{text}.{always_quoted(one.name)}", one.type, other.type, depth)
                for one, other in pairs
            )
        case _ if is_container(old) or is_container(new):
            return None
        case _ if old == new or (is_text(old) and is_text(new)):
            return ""
        case String() | Char() | Varchar(), _:
            return _inexact_text(f"CAST({text} AS STRING)", new)
        case _:
            return _not_back(text, old, new)


def _joined(parts: Iterable[str | None]) -> str | None:
    texts = list(parts)
    return None if None in texts else " OR ".join(filter(None, texts))


def _not_back(text: str, old: DataType, new: DataType) -> str | None:
    """Return when a value does not come back from another type."""
    if not (_is_number(old) or old in _COMPARABLE):
        return None
    value = tried(text, new)
    back = f"NOT ({text} <=> try_cast({value} AS {print_type(old)}))"
    if old in _INTEGERS and new in _FLOATS:  # the way back cuts what is too large down to this number
        return f"{back} OR {text} = {_INTEGERS[old] - 1}{'L' if old == LONG else ''}"
    return back


def _inexact_text(text: str, new: DataType) -> str | None:
    """Return when a text denotes another number, day or instant than the value that is made of it."""
    value = tried(text, new)
    if new in _INTEGERS or new in {BOOLEAN, BINARY}:
        return ""
    if isinstance(new, Decimal) or new in _FLOATS:
        made = f"CAST({value} AS STRING)"
        same = [f"{text} = {made}", f"{_number_key(text)} = {_number_key(made)}"]
        if new in _FLOATS:
            same.append(f"{made} = 'NaN'")
            same.append(f"{made} LIKE '%Infinity' AND NOT ({text} RLIKE '{_NUMBER}')")
        return f"NOT coalesce({' OR '.join(same)}, false)"
    if new == DATE:
        return f"NOT ({text} RLIKE '{_MIDNIGHT}')"
    if new in _INSTANTS:
        finer = f"{text} RLIKE '{_FINER_THAN_MICROSECONDS}'"
        # Spark casts a text with a zone to the time that its clock shows.
        if new == TIMESTAMP:
            return finer
        return f"({finer} OR {text} RLIKE '{_HAS_A_ZONE}')"
    return None


def _number_key(text: str) -> str:
    """Return one text for all that denote the same number: its sign, digits and power of ten."""
    sign, integer, fraction, exponent = (f"regexp_extract(number, '{_NUMBER}', {n})" for n in range(1, 5))
    parts = f"array({sign}, concat({integer}, {fraction}), {fraction}, {exponent})"
    significant = "trim(BOTH '0' FROM part[1])"
    power = (
        "coalesce(try_cast(part[3] AS bigint), 0) - length(part[2]) + length(part[1]) "
        "- length(trim(TRAILING '0' FROM part[1]))"
    )
    key = f"concat(if(part[0] = '-', '-', ''), {significant}, 'e', {power})"
    of_number = _bound(parts, f"if({significant} = '', '0', {key})", "part")
    return _bound(text, f"if(number RLIKE '{_NUMBER}', {of_number}, NULL)", "number")


def difference(text: str, old: DataType, value: str, new: DataType) -> str | None:
    """Return how far a number is from the one that it was, as a decimal; None if they are no numbers."""
    if not _is_number(new) or not (_is_number(old) or is_text(old)):
        return None
    return f"abs(try_cast({text} AS {_WIDE}) - try_cast({value} AS {_WIDE}))"


def spelled(text: str, old: DataType, new: DataType) -> str | None:
    """Return when a text has leading zeros or blanks; None if it is no text, or stays one."""
    if not is_text(old) or is_text(new) or is_container(new):
        return None
    plain = f"CAST({text} AS STRING)"
    blanks = f"{plain} <> trim({plain})"
    if _is_number(new):
        return f"{blanks} OR {plain} RLIKE '{_LEADING_ZERO}'"
    return blanks


def with_a_day(text: str) -> str:
    """Return a text, but NULL if it is a time without a day: Spark would take the day of the run."""
    return _only_where(text, f"{_BOUND} RLIKE '{_BEGINS_WITH_A_YEAR}'")
