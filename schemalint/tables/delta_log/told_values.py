"""What the log alone tells of a table's data: its files, bytes and rows, and nulls and bounds of columns.

Of columns only exact statistics count: a file with a deletion vector, or with ``tightBounds: false``
(PROTOCOL.md, "Per-file Statistics"), leaves its columns out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any, Final

from schemalint.base.errors import LiveError
from schemalint.base.values import frozen
from schemalint.tables.delta_log import log_limits
from schemalint.tables.delta_log.datafiles import live_bodies
from schemalint.tables.delta_log.file_names import Kind, checksum_name, log_file
from schemalint.tables.delta_log.jsontext import JsonError, read_json_object
from schemalint.tables.delta_log.log_listing import LAST_CHECKPOINT
from schemalint.tables.delta_log.store import LogStore

_OF_ROWS: Final = ("add.path", "add.stats", "add.deletionVector.cardinality")
_OF_BYTES: Final = ("add.path", "add.size")
_CHECKPOINTS: Final = frozenset({Kind.CHECKPOINT, Kind.MULTI_PART_CHECKPOINT, Kind.V2_CHECKPOINT})
_SMALLEST_ADD: Final = 80  # bytes: path, partitionValues, size, modificationTime and dataChange are required
_NOTHING: Final = "nothing but nulls", 0
"""Stands for the bounds of a column without values."""


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
    for body in live_bodies(store, version, _OF_ROWS):
        rows = _rows_of(body)
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


def _rows_of(body: Mapping[str, Any]) -> int | None:
    """Return the rows of a live file; None without statistics, or with some that are none."""
    try:
        stats = json.loads(body["stats"])
        deleted = (body.get("deletionVector") or {}).get("cardinality") or 0
        return int(stats["numRecords"]) - int(deleted)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return None


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


def told_files(store: LogStore, version: int) -> int | None:
    """Return the number in the version's checksum, or that of the last checkpoint; None if nothing tells it.

    A log without both that still has all its commits, as other writers than Spark leave it, tells by its size
    how many files there can be at most.

    It is an order of magnitude, good for nothing but the choice of a setting: anybody can write these files,
    and commits follow a checkpoint.
    """
    for name, keys in (
        (checksum_name(version), ("numFiles",)),
        (LAST_CHECKPOINT, ("numOfAddFiles", "size")),
    ):
        number = _number(store, name, keys)
        if number is not None:
            return number
    with suppress(LiveError):
        return _most_files(store)
    return None


def told_bytes(store: LogStore, version: int) -> int | None:
    """Return the bytes of the live data files; None if the log cannot be read, or a file has no size.

    They are in the checksum of the version. Where there is none, as beside the commits of other writers than
    Spark, the ``add`` actions tell them.
    """
    told = _number(store, checksum_name(version), ("tableSizeBytes",))
    if told is not None:
        return told
    total = 0
    with suppress(LiveError):
        for body in live_bodies(store, version, _OF_BYTES):
            size = body.get("size")
            if type(size) is not int or size < 0:
                return None
            total += size
        return total
    return None


def _number(store: LogStore, name: str, keys: tuple[str, ...]) -> int | None:
    """Return the first number under one of the keys in a JSON file of the log."""
    with suppress(LiveError, JsonError):
        content = read_json_object(store.read(name), log_limits.MAX_SIZE)
        for number in map(content.get, keys):
            if type(number) is int and number >= 0:
                return number
    return None


def _most_files(store: LogStore) -> int | None:
    """Return how many files commits of this size can add; None if commits are missing."""
    files = [file for entry in store.list() if (file := log_file(entry.name, size=entry.size)) is not None]
    commits = [file for file in files if file.kind is Kind.COMMIT]
    if any(file.kind in _CHECKPOINTS for file in files) or all(file.version > 0 for file in commits):
        return None
    return sum(file.size for file in commits) // _SMALLEST_ADD
