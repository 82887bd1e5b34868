"""What the statistics of a table's data files say of all its rows: their number, nulls and bounds of columns.

Only exact statistics count: a file with a deletion vector, or with ``tightBounds: false`` (PROTOCOL.md,
"Per-file Statistics"), leaves its columns out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from schemalint.base.values import frozen
from schemalint.tables.delta_log.datafiles import live_bodies, rows_of
from schemalint.tables.delta_log.store import LogStore


@frozen
class ToldColumn:
    """A top-level column with exact statistics in all live files.

    Attributes:
        nulls: The number of nulls.
        least: The smallest value as it stands in the statistics, maybe cut; None if it is not known.
        greatest: The largest value, in the same way.
    """

    nulls: int
    least: object = None
    greatest: object = None


@frozen
class ToldRows:
    """The rows of a version.

    Attributes:
        rows: Their number.
        columns: The columns by the names that they have in data files.
    """

    rows: int
    columns: Mapping[str, ToldColumn]


def told_rows(store: LogStore, version: int) -> ToldRows | None:
    """Return what the log says of the rows of a version; None if a live file has no statistics.

    Raises:
        NoTable: There is no log.
        LiveError: A required file of the log is missing, or cannot be fetched or parsed.
    """
    total = 0
    columns: dict[str, ToldColumn] | None = None
    for body in live_bodies(store, version):
        rows = rows_of(body)
        if rows is None:
            return None
        total += rows
        own = _columns(body, rows)
        if columns is None:
            columns = own
        else:
            both = columns.keys() & own.keys()
            columns = {name: _joined(columns[name], own[name]) for name in both}
    return ToldRows(total, columns or {})


def _columns(body: Mapping[str, Any], rows: int) -> dict[str, ToldColumn]:
    stats = json.loads(body["stats"], parse_float=Decimal)
    if body.get("deletionVector") or stats.get("tightBounds") is False:
        return {}
    nulls, least, greatest = (stats.get(key) for key in ("nullCount", "minValues", "maxValues"))
    if not isinstance(nulls, dict):
        return {}
    smallest = least if isinstance(least, dict) else {}
    largest = greatest if isinstance(greatest, dict) else {}
    columns: dict[str, ToldColumn] = {}
    for name, number in nulls.items():
        if type(number) is not int:
            continue
        if number == rows:
            columns[name] = ToldColumn(number, _NOTHING, _NOTHING)
        else:
            columns[name] = ToldColumn(number, smallest.get(name), largest.get(name))
    return columns


_NOTHING = "nothing but nulls", 0
"""Stands for the bounds of a column without values."""


def _joined(one: ToldColumn, other: ToldColumn) -> ToldColumn:
    return ToldColumn(
        one.nulls + other.nulls,
        _bound(one.least, other.least, smaller=True),
        _bound(one.greatest, other.greatest, smaller=False),
    )


def _bound(one: object, other: object, *, smaller: bool) -> object:
    if one == _NOTHING:
        return other
    if other == _NOTHING:
        return one
    match one, other:
        case str(), str():
            key = str.encode
            return min(one, other, key=key) if smaller else max(one, other, key=key)
        case ((int() | Decimal()), (int() | Decimal())):
            return min(one, other) if smaller else max(one, other)
        case _:
            return None
