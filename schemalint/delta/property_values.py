"""The kinds of values of Delta's table properties, and how Delta reads them.

Sources: the values of every kind tested against the registry of the released jar of Delta Spark 4.4.0;
``SparkIntervalUtils.scala`` of Spark 4.2 for intervals.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from typing import Final, assert_never

from schemalint.delta.sql_text import unquote_identifier


class Kind(Enum):
    """The kind of a property's value. The text of a member completes the sentence "<key> needs to be …"."""

    BOOLEAN = "true or false"
    OPTIONAL_BOOLEAN = "true or false, or absent"
    INTEGER = "an integer"
    LONG = "an integer of 64 bits"
    INTERVAL = "an interval such as '2 weeks', not negative, without months and years"
    ENUM = "one word"
    ENUM_ANY_CASE = "one word, in any case,"
    FORMATS = "a comma-separated list of formats, without blanks or repetitions,"
    COLUMNS = "a comma-separated list of columns, with special names in back-quotes"
    VERSION = "a version such as 1.0.0"
    JSON = "a JSON object"
    TEXT = "text"


class Stops(Enum):
    """What fails on a table with a value that Delta cannot read. A member's text completes a finding."""

    NOTHING = "Delta Spark reads, writes and alters the table all the same"
    CHECKPOINTS = "Delta Spark writes no checkpoints, without an error"
    WRITES = "every write by Delta Spark fails"
    CHANGES = "Delta Spark refuses every statement that alters the table"
    WRITES_AND_CHANGES = "every write by Delta Spark fails, and every statement that alters the table"
    ALL = "Delta Spark can neither read nor write the table"


def value_reader(kind: Kind) -> Callable[[str], object | None]:
    """Return a function that reads such a value as Delta does, or returns None if Delta refuses it."""
    match kind:
        case Kind.BOOLEAN | Kind.OPTIONAL_BOOLEAN:
            return _boolean
        case Kind.INTEGER:
            return _integer(32)
        case Kind.LONG:
            return _integer(64)
        case Kind.INTERVAL:
            return _interval
        case Kind.ENUM | Kind.TEXT:
            return str
        case Kind.ENUM_ANY_CASE:
            return str.lower
        case Kind.FORMATS:
            return _formats
        case Kind.COLUMNS:
            return _columns
        case Kind.VERSION:
            return _version
        case Kind.JSON:
            return _json
        case _:
            assert_never(kind)


@lru_cache(maxsize=256)  # most tables have the same retentions, which several rules read
def parse_interval(text: str) -> int | None:
    """Return an interval such as ``interval 1 week 12 hours`` in microseconds; None if Delta cannot use it.

    Follows ``DeltaConfigs.parseCalendarInterval``: the text ignores case, may begin with ``interval`` and a
    blank, and consists of pairs of a number and a unit from microsecond to week. Numbers may have a sign;
    only seconds may have a fraction. Quotes are invalid. Months and years are valid only if they add up to
    zero.
    """
    pairs = text.strip(_TRIMMED).lower().removeprefix("interval ").lstrip(_BLANKS)
    months, microseconds, position = 0, 0, 0
    match = re.compile(_PAIR).match
    while position < len(pairs) or not pairs:
        pair = match(pairs, position)
        if pair is None:
            return None
        sign, whole, fraction, unit = pair.groups(default="")
        number = int(f"{sign}{whole or 0}")
        if unit in _MONTHS:
            months += number * _MONTHS[unit]
        else:
            microseconds += number * _MICROSECONDS[unit] + int(f"{sign}{fraction[:6]:0<6}")
        position = pair.end()
    if months == 0 and abs(microseconds) < 2**63:
        return microseconds
    return None


def _boolean(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.lower())


def _integer(bits: int) -> Callable[[str], int | None]:
    bound = 2 ** (bits - 1)

    def read(text: str) -> int | None:
        value = int(text) if _INTEGER.fullmatch(text) else None
        if value is not None and -bound <= value < bound:
            return value
        return None

    return read


def _interval(text: str) -> int | None:
    value = parse_interval(text)
    if value is not None and value >= 0:
        return value
    return None


def _formats(text: str) -> frozenset[str] | None:
    # Java's split drops empty strings at the end only.
    names = text.rstrip(",").split(",") if text.strip(",") else []
    if len(set(names)) == len(names):
        return frozenset(names)
    return None


def statistics_columns(text: str) -> list[tuple[str, ...]]:
    """Parse a list of columns as far as Delta reads it, each as a tuple of nested names."""
    return [_names(match[1]) for match in re.finditer(_ENTRY, text)]


def ignored_in_list(text: str) -> str | None:
    """Return the first entry of a list of columns of which Delta ignores the end; None without one."""
    entries = (match for match in re.finditer(_ENTRY, text) if match[2].strip())
    return next((match[0].strip() for match in entries), None)


def _names(text: str) -> tuple[str, ...]:
    parts = re.findall(_NAME, text)
    return tuple(unquote_identifier(part) if part.startswith("`") else part for part in parts)


def _columns(text: str) -> tuple[tuple[str, ...], ...] | None:
    is_list = not text.strip() or re.match(_COLUMNS, text)
    if is_list:
        return tuple(statistics_columns(text))
    return None


def _version(text: str) -> str | None:
    return text if _VERSION.match(text) else None


def _json(text: str) -> str | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return text if isinstance(value, dict) else None


_NAME: Final = r"`(?:[^`]|``)*`|\w+"
# Delta parses as much of a name as possible and ignores the rest up to the next comma.
_ENTRY: Final = rf"\s*((?:{_NAME})(?:\.(?:{_NAME}))*)([^,]*)"

# As in Java's parseInt, blanks and underscores are invalid. The length is limited because int() raises an
# error for thousands of digits.
_INTEGER: Final = re.compile(r"[+-]?\d{1,100}")

# The characters of Java's String.trim, and those of Character.isWhitespace within ASCII.
_TRIMMED: Final = "".join(map(chr, range(0x21)))
_BLANKS: Final = "\t\n\v\f\r\x1c\x1d\x1e\x1f "
# `re` compiles this and the names of columns on first use: few contracts have such properties.
_PAIR: Final = rf"""(?x)
         (?:([+-])[{_BLANKS}]*|(?=\.?[0-9]))(?=[0-9.])
         ([0-9]{{0,100}})(?:\.([0-9]{{0,9}})(?=[{_BLANKS}]+second))?
         [{_BLANKS}]+(year|month|week|day|hour|minute|second|millisecond|microsecond)s?
         (?:[{_BLANKS}]+|\Z)"""
_MONTHS: Final = {"year": 12, "month": 1}
_MICROSECONDS: Final = {
    "week": 7 * 86_400_000_000,
    "day": 86_400_000_000,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}

# Delta parses as many names as possible and ignores the rest, so a text is invalid only if parsing stops at
# the start or after a comma. Spark's grammar (ErrorIdentifier) adds two exceptions: a minus, and non-ASCII
# letters.
_PART: Final = r"(?>`(?:[^`]|``)*`|[A-Za-z0-9_]++(?!\w))"
_COLUMN: Final = rf"\s*+(?!\d++(?!\w)){_PART}(?:\.{_PART})*+"
_COLUMNS: Final = rf"{_COLUMN}(?:\s*+,{_COLUMN})*+(?!\s*+(?:,|-\s*+[A-Za-z_]))"

# Delta uses the greatest known version up to the given one, so the version must be at least the first, 1.0.0.
_VERSION: Final = re.compile(r"0*[1-9]\d{0,8}\.\d{1,9}\.\d{1,9}")
