"""Which columns Delta collects statistics of, as it must to cluster by them (StatisticsCollection.scala)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from schemalint.delta.datatype import Struct, walk
from schemalint.delta.path import path_key
from schemalint.delta.properties import value_of

COLUMNS: Final = "delta.dataSkippingStatsColumns"
HOW_MANY: Final = "delta.dataSkippingNumIndexedCols"
DEFAULT_HOW_MANY: Final = 32

_NAME: Final = r"`(?:[^`]|``)*`|\w+"
# Delta reads a name as far as it can, and forgets the rest up to the next comma.
_ENTRY: Final = re.compile(rf"\s*((?:{_NAME})(?:\.(?:{_NAME}))*)[^,]*")


def statistics_columns(text: str) -> list[tuple[str, ...]]:
    """The columns that a value of ``delta.dataSkippingStatsColumns`` names, each as the names on the way."""
    return [_names(found[1]) for found in _ENTRY.finditer(text)]


def has_statistics(path: tuple[str, ...], columns: Struct, properties: Mapping[str, str | None]) -> bool:
    """Whether a leaf is one that Delta collects statistics of, whatever its type.

    The columns that are named count, with all that is inside of them; else the first so many leaves of the
    schema, where an array, a map and whatever else has no fields is one (measured on Delta 4.4.0).

    Args:
        path: Of the leaf, in lower case.
        columns: In the table's order.
        properties: The table's.
    """
    named = value_of(COLUMNS, properties)
    if named is not None:
        found = [tuple(word.lower() for word in one) for one in statistics_columns(named)]
        return any(path[: len(one)] == one for one in found)
    text = value_of(HOW_MANY, properties)
    how_many = int(text) if text is not None and re.fullmatch(r"-?\d+", text) else DEFAULT_HOW_MANY
    leaves = [path_key(leaf) for leaf, type_ in walk(columns) if leaf and not isinstance(type_, Struct)]
    outside = [leaf for leaf in leaves if not any(leaf[: len(other)] == other != leaf for other in leaves)]
    return how_many < 0 or path in outside[:how_many]


def _names(text: str) -> tuple[str, ...]:
    parts = re.findall(_NAME, text)
    return tuple(part[1:-1].replace("``", "`") if part.startswith("`") else part for part in parts)
