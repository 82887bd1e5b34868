"""The columns for which Delta collects statistics (StatisticsCollection.scala); clustering requires them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from schemalint.delta.datatype import Struct, walk
from schemalint.delta.path import path_key
from schemalint.delta.properties import property_value

STATISTICS_COLUMNS: Final = "delta.dataSkippingStatsColumns"
"""The property that lists the columns with statistics."""

COUNT: Final = "delta.dataSkippingNumIndexedCols"
"""The property with the number of leaf columns that get statistics, if no list is set."""

DEFAULT_COUNT: Final = 32
"""The number that Delta uses if `COUNT` is not a number."""

_NAME: Final = r"`(?:[^`]|``)*`|\w+"
# Delta parses as much of a name as possible and ignores the rest up to the next comma.
_ENTRY: Final = rf"\s*((?:{_NAME})(?:\.(?:{_NAME}))*)[^,]*"


def statistics_columns(text: str) -> list[tuple[str, ...]]:
    """Parse a value of ``delta.dataSkippingStatsColumns`` into columns, each as a tuple of nested names."""
    return [_names(match[1]) for match in re.finditer(_ENTRY, text)]


def paths_with_statistics(
    columns: Struct, properties: Mapping[str, str | None]
) -> frozenset[tuple[str, ...]]:
    """Return the `path_key` of every leaf column that Delta selects for statistics, whatever its type is.

    If ``delta.dataSkippingStatsColumns`` is set, Delta selects the listed columns and all fields inside them.
    Otherwise it selects the first ``delta.dataSkippingNumIndexedCols`` leaves of the schema, all if the
    number is negative; every type other than a struct is one leaf, an array or a map too (measured on Delta
    4.4.0).

    Args:
        columns: The table's columns, in order.
        properties: The table's properties by key as Delta stores them; None means absent.
    """
    leaves = [path_key(leaf) for leaf, type_ in walk(columns) if leaf and not isinstance(type_, Struct)]
    listed = property_value(STATISTICS_COLUMNS, properties)
    if listed is not None:
        selected = {tuple(name.lower() for name in column) for column in statistics_columns(listed)}
        return frozenset(leaf for leaf in leaves if not selected.isdisjoint((*_parents(leaf), leaf)))
    text = property_value(COUNT, properties)
    count = int(text) if text is not None and re.fullmatch(r"-?\d{1,100}", text) else DEFAULT_COUNT
    known = frozenset(leaves)
    outermost = [leaf for leaf in leaves if known.isdisjoint(_parents(leaf))]
    return known if count < 0 else frozenset(outermost[:count])


def _parents(path: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [path[:length] for length in range(1, len(path))]


def _names(text: str) -> tuple[str, ...]:
    parts = re.findall(_NAME, text)
    return tuple(part[1:-1].replace("``", "`") if part.startswith("`") else part for part in parts)
