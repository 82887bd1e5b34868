"""The columns for which Delta collects statistics (StatisticsCollection.scala); clustering requires them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from schemalint.delta.change import Change, FieldRemoved, Renames, renames_of
from schemalint.delta.datatype import Struct, walk
from schemalint.delta.path import Path, path_key, prefixes
from schemalint.delta.properties import property_value
from schemalint.delta.property_values import statistics_columns
from schemalint.delta.sql_text import quote_identifier

STATISTICS_COLUMNS: Final = "delta.dataSkippingStatsColumns"
"""The property that lists the columns with statistics."""

COUNT: Final = "delta.dataSkippingNumIndexedCols"
"""The property with the number of leaf columns that get statistics, if no list is set."""

DEFAULT_COUNT: Final = 32
"""The number that Delta uses if `COUNT` is not a number."""


def with_renamed_columns(text: str, renames: Renames) -> str:
    """Return a value of ``delta.dataSkippingStatsColumns`` after renames, as Delta itself writes it."""
    before = statistics_columns(text)
    after = [tuple(map(str, renames.forward(column))) for column in before]
    return text if after == before else _listed(after)


def without_columns(text: str, drops: Iterable[Path]) -> str:
    """Return a value of ``delta.dataSkippingStatsColumns`` after drops, as Delta itself writes it."""
    gone = frozenset(map(path_key, drops))
    before = statistics_columns(text)
    after = [names for names in before if gone.isdisjoint(prefixes(path_key(names)))]
    return text if after == before else _listed(after)


def _listed(columns: Iterable[tuple[str, ...]]) -> str:
    return ",".join(".".join(map(quote_identifier, names)) for names in columns)


def broken_by_drops(changes: Iterable[Change], properties: Mapping[str, str | None]) -> str | None:
    """Return the table's list of columns with statistics if Delta could not read it after these drops.

    With each drop Delta writes the list again, and quotes only names with a dot: of any other name that needs
    quotes it cannot read what it wrote. It refuses the drop with DELTA_COLUMN_NOT_FOUND_IN_SCHEMA, or all
    writes fail from then on. A dropped column that the list has in another case stays there, with the same
    error (measured on Delta 4.4.0).
    """
    text, all_changes = properties.get(STATISTICS_COLUMNS), tuple(changes)
    renames = renames_of(all_changes)
    drops = [renames.parents_back(change.path) for change in all_changes if isinstance(change, FieldRemoved)]
    if text is None or not drops:
        return None
    renamed = with_renamed_columns(text, renames)
    if _needs_no_quotes(text) and _needs_no_quotes(renamed) and not _has_in_another_case(text, drops):
        return None
    return text


def _has_in_another_case(text: str, drops: Iterable[Path]) -> bool:
    """Whether a list has a dropped column, or one inside it, in another case."""
    spelled = {path_key(path): tuple(map(str, path)) for path in drops}
    return any(
        spelled.get(path_key(names), names) != names
        for column in statistics_columns(text)
        for names in prefixes(column)
    )


def _needs_no_quotes(text: str) -> bool:
    names = (name for column in statistics_columns(text) for name in column)
    return all(re.fullmatch(r"\w+", name) or ("." in name and "`" not in name) for name in names)


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
        return frozenset(leaf for leaf in leaves if not selected.isdisjoint(prefixes(leaf)))
    text = property_value(COUNT, properties)
    count = int(text) if text is not None and re.fullmatch(r"-?\d{1,100}", text) else DEFAULT_COUNT
    leaf_paths = frozenset(leaves)
    outermost = [leaf for leaf in leaves if leaf_paths.isdisjoint(prefixes(leaf[:-1]))]
    if count < 0:
        return leaf_paths
    return frozenset(outermost[:count])
