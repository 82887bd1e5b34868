"""The table properties of Delta: one row each, with the values that Delta takes.

Sources: ``DeltaConfig.scala`` of Delta Spark 4.4.0, every row compared with the registry of the released jar and
the values of each kind tried on it; ``IntervalUtils.scala`` of Spark 4.2 for intervals.
``delta.parquet.compression.codec`` stands in PROTOCOL.md, "Table Properties", but Delta Spark does not know it
(measured on 4.4.0: ``DELTA_UNKNOWN_CONFIGURATION``), so it has no row.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final

from schemalint.model import feature

PREFIX: Final = "delta."
FEATURE_PREFIX: Final = "delta.feature."
CONSTRAINT_PREFIX: Final = "delta.constraints."
UNIVERSAL_FORMAT_PREFIX: Final = "delta.universalformat.config."


class Kind(Enum):
    """What kind of text a property's value is, in words that complete "needs to be"."""

    BOOLEAN = "true or false"
    OPTIONAL_BOOLEAN = "true or false, or absent"
    INTEGER = "an integer"
    LONG = "an integer of 64 bits"
    INTERVAL = "an interval such as '2 weeks', not negative, without months and years"
    ENUM = "one of"
    ENUM_ANY_CASE = "one of, in any case"
    FORMATS = "a list of formats, each once, with commas and without blanks, of"
    COLUMNS = "a list of columns with commas, special names in back-quotes"
    VERSION = "a version such as 1.0.0"
    JSON = "a JSON object of texts"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class TableProperty:
    """One property that Delta knows.

    Attributes:
        key: As Delta stores it.
        default: What holds where the property is absent, None if nothing does.
        minimum: The least number that Delta takes.
        choices: The values that Delta takes, where they are few.
        editable: Whether Delta takes it from a user at all.
        written_by_delta: Whether Delta writes it by itself: nothing that a contract declares.
        older_key: The key that Delta still reads where this one is absent.
        source: Where the row is written.
    """

    key: str
    kind: Kind
    default: str | None = None
    minimum: int | None = None
    choices: tuple[str, ...] = ()
    editable: bool = True
    written_by_delta: bool = False
    older_key: str | None = None
    source: str = "DeltaConfig.scala"


def find(key: str) -> TableProperty | None:
    """The property of that key, ignoring case as Delta does for keys that begin with ``delta.``."""
    return _BY_LOWER_CASE.get(key.lower())


def canonical(key: str) -> str:
    """The key as Delta stores it (``DeltaConfigs.validateConfigurations``).

    Known ``delta.`` keys get their own spelling, ``delta.universalformat.config.*`` lower case, anything else
    stays as it is. ``delta.feature.*`` is never stored: here it gets the feature's own spelling.
    """
    lower = key.lower()
    if lower.startswith(FEATURE_PREFIX):
        row = feature.find(key[len(FEATURE_PREFIX) :])
        return FEATURE_PREFIX + (row.name if row else key[len(FEATURE_PREFIX) :])
    if lower.startswith(UNIVERSAL_FORMAT_PREFIX):
        return lower
    known = find(key)
    return known.key if known else key


def is_known(key: str) -> bool:
    """Whether the key is in Delta's registry, under a prefix that takes any name, or not a ``delta.`` key."""
    lower = key.lower()
    return not lower.startswith(PREFIX) or lower.startswith(_PASSED_THROUGH) or lower in _BY_LOWER_CASE


def is_protocol_key(key: str) -> bool:
    """Whether the key speaks of the protocol: Delta acts on it and never stores it as a property.

    Source: ``TableFeatureProtocolUtils.isTableProtocolProperty``; a live table that has one was written by a
    broken writer (``Protocol.assertMetadataContainsNoProtocolProps``).
    """
    return key.lower().startswith(FEATURE_PREFIX) or key.lower() in _PROTOCOL_KEYS


def is_true(value: str | None) -> bool:
    """A boolean as Delta reads it (Scala's ``toBoolean``): ``true`` in any case, and nothing else."""
    return value is not None and value.lower() == "true"


def value_of(key: str, properties: Mapping[str, str | None]) -> str | None:
    """The value that Delta reads: the property's, else that of its older key, else the default.

    Args:
        key: As Delta stores it.
        properties: Values by the key as Delta stores it; None declares that a property is absent.
    """
    value = properties.get(key)
    row = PROPERTIES.get(key)
    if value is not None or row is None:
        return value
    older = properties.get(row.older_key) if row.older_key else None
    return row.default if older is None else older


def same_value(key: str, a: str, b: str) -> bool:
    """Whether two values mean the same to Delta, which stores them as they were written."""
    row = find(key)
    if a == b or row is None:
        return a == b
    value = _read(row, a)
    return value is not None and value == _read(row, b)


def problem(key: str, value: str) -> str | None:
    """Why Delta refuses the value of a property that it knows, in one sentence; None if it takes it.

    What a value needs beside itself (another property, a feature, a column) is not looked at.
    """
    row = find(key)
    if row is None or _read(row, value) is not None:
        return None
    words = row.kind.value
    if row.choices:
        words = f"{words} {', '.join(row.choices)}"
    if row.minimum is not None:
        words = f"{words} of at least {row.minimum}"
    return f"{row.key} needs to be {words}, not {value!r}"


def suggest(key: str) -> str | None:
    """The known key that was probably meant, None if none is near.

    A key without ``delta.`` is free, so it is taken for a known one only where nothing but the prefix lacks.
    """
    lower = key.lower()
    if lower.startswith(FEATURE_PREFIX):
        name = feature.suggest(key[len(FEATURE_PREFIX) :])
        return name and FEATURE_PREFIX + name
    if not lower.startswith(PREFIX):
        row = find(PREFIX + key)
        return row and row.key
    names = [known.removeprefix(PREFIX) for known in _BY_LOWER_CASE]
    near = difflib.get_close_matches(lower.removeprefix(PREFIX), names, n=1, cutoff=0.75)
    return _BY_LOWER_CASE[PREFIX + near[0]].key if near else None


def parse_interval(text: str) -> int | None:
    """The microseconds of an interval such as ``interval 1 week 12 hours``; None if Delta cannot use it.

    As ``DeltaConfigs.parseCalendarInterval`` reads it: any case, the word ``interval`` optional and followed
    by a blank, then pairs of a number and a unit from microsecond to week, signs allowed, a fraction for
    seconds only, no quotes. Months and years are read, but must come to nothing.
    """
    words = text.strip(_TRIMMED).lower().removeprefix("interval ")
    if _INTERVAL.fullmatch(words) is None:
        return None
    months, days, microseconds = 0, 0, 0
    for pair in _PAIR.finditer(words):
        number = int(pair["sign"] + (pair["whole"] or "0"))
        match pair["unit"]:
            case "year" | "month" as unit:
                months += number * (12 if unit == "year" else 1)
            case "week" | "day" as unit:
                days += number * (7 if unit == "week" else 1)
            case unit:
                microseconds += number * _MICROSECONDS[unit]
                microseconds += int(pair["sign"] + (pair["fraction"] or "").ljust(6, "0")[:6])
    total = days * _MICROSECONDS_PER_DAY + microseconds
    return total if months == 0 and abs(days) < 2**31 and abs(total) < 2**63 else None


def _read(row: TableProperty, text: str) -> object | None:
    """What a value means to Delta, None if it is refused."""
    value = _READERS[row.kind](text)
    if isinstance(value, frozenset):
        return value if value <= set(row.choices) else None
    if row.choices and str(value).lower() not in map(str.lower, row.choices):
        return None
    if row.minimum is not None and isinstance(value, int) and value < row.minimum:
        return None
    return value


def _boolean(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.lower())


def _integer(bits: int) -> Callable[[str], int | None]:
    def read(text: str) -> int | None:
        # What Java's parseInt takes: no blanks, no underscores.
        value = int(text) if re.fullmatch(r"[+-]?\d+", text) else None
        return value if value is not None and -(2 ** (bits - 1)) <= value < 2 ** (bits - 1) else None

    return read


def _interval(text: str) -> int | None:
    value = parse_interval(text)
    return value if value is not None and value >= 0 else None


def _formats(text: str) -> frozenset[str] | None:
    # Java's split drops empty strings at the end, and only there.
    names = text.rstrip(",").split(",") if text.strip(",") else []
    return frozenset(names) if len(set(names)) == len(names) else None


def _columns(text: str) -> str | None:
    return text if not text.strip() or _COLUMNS.match(text) else None


def _version(text: str) -> str | None:
    return text if _VERSION.match(text) else None


def _json(text: str) -> str | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    flat = isinstance(value, dict) and not any(isinstance(entry, dict | list) for entry in value.values())
    return text if flat else None


_READERS: Final[Mapping[Kind, Callable[[str], object | None]]] = {
    Kind.BOOLEAN: _boolean,
    Kind.OPTIONAL_BOOLEAN: _boolean,
    Kind.INTEGER: _integer(32),
    Kind.LONG: _integer(64),
    Kind.INTERVAL: _interval,
    Kind.ENUM: str,
    Kind.ENUM_ANY_CASE: str.lower,
    Kind.FORMATS: _formats,
    Kind.COLUMNS: _columns,
    Kind.VERSION: _version,
    Kind.JSON: _json,
    Kind.TEXT: str,
}
