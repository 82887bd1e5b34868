"""The ways to a type that Delta cannot change a column to in place, and what each costs the table.

Measured on Delta 4.4.0 (``tests/engine/answers/4.4.0/rewrites.csv``): the overwrite writes the table from a
DataFrame of itself with ``overwriteSchema``, the replacement is ``CREATE OR REPLACE TABLE … AS SELECT``,
both without a clause such as ``partitionBy``, ``CLUSTER BY`` or ``TBLPROPERTIES``.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import lru_cache
from typing import Final

from schemalint.base.values import Itself, frozen, replace
from schemalint.delta.change import TypeChanged
from schemalint.delta.datatype import Identity, Managed, Unmanaged, field_at, walk_fields
from schemalint.delta.engine import DELTA_SPARK, Engine
from schemalint.delta.engine_answers import changes_type
from schemalint.delta.path import Part, Path, format_path, path_key
from schemalint.delta.properties import property_value
from schemalint.delta.property_values import parse_interval
from schemalint.delta.table import TableState
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import nearest_widening, storage_error

_MOST_NAMES: Final = 3
_ASKED: Final = ("3.3.2", "4.0.1")
"""The older releases of Delta Spark with a record of their own; they answer as the newest does, but for:"""
_REFUSED_REPLACEMENTS: Final = {"3.3.2": "_LEGACY_ERROR_TEMP_1113"}
"""The class with which a release refuses to replace a table by a query: "does not support truncate in batch
mode". Measured with Spark 3.5.7, which overwrites the new table; Spark 3.5.3 only appends to it."""
_RETENTION: Final = "delta.deletedFileRetentionDuration"


class Way(Enum):
    """A way to another type, as reports name it."""

    WIDEN = "widen"
    COLUMN = "column"
    OVERWRITE = "overwrite"
    REPLACE = "replace"


@frozen
class WayOut:
    """A way to another type, and its price.

    Attributes:
        way: The way.
        does: What is to be done, in the imperative.
        commits: How many states the readers see; None if that depends on the size of the table.
        loses: What the table does not have afterwards.
        refused: The error class with which Delta refuses the way, or its last step; None if it goes it.
        stops: The error class with which it ends streams without a schemaTrackingLocation that read the
            table; None if they go on. With one, the class can be another.
        streams: The declared streams that it ends.
        unknown_for: An engine that nobody asked, with the price on the newest Delta; None if it was asked.
        unsure: Why it is unknown whether Delta goes the last step; None if it is known.
        rewrites: Whether it writes all rows again.
        size: The bytes of the data files that it replaces; None if unknown.
        until: The last day on which RESTORE can take the table back, if the way is taken today; VACUUM may
            come sooner. None if unknown.
    """

    way: Way
    does: str
    commits: int | None = None
    loses: tuple[str, ...] = ()
    refused: str | None = None
    stops: str | None = None
    streams: tuple[str, ...] = ()
    unknown_for: Engine | None = None
    unsure: str | None = None
    rewrites: bool = True
    size: int | None = None
    until: dt.date | None = None


def ways_out(change: TypeChanged, state: TableState, engine: Engine | None = None) -> tuple[WayOut, ...]:
    """Return the ways to the new type of a change that Delta refuses, the cheapest first.

    Args:
        change: The change.
        state: The table before the change.
        engine: The engine that would go the way; None for the newest Delta.
    """
    unknown_for = None if _is_asked(engine) else engine
    return tuple(
        way if way.way is Way.WIDEN else replace(way, unknown_for=unknown_for)
        for way in _ways(change, state, engine)
    )


def _is_asked(engine: Engine | None) -> bool:
    return engine is None or engine.is_newest or (engine.name == DELTA_SPARK and engine.version in _ASKED)


def _ways(change: TypeChanged, state: TableState, engine: Engine | None) -> Iterator[WayOut]:
    name, new = format_path(change.path), print_type(change.new)
    is_nested = len(change.path) > 1
    nearest = nearest_widening(change.old, change.new, nested=is_nested)
    if nearest is not None and changes_type(engine, change.old, nearest, nested=is_nested).does is not False:
        yield WayOut(Way.WIDEN, f"widen {name} to {print_type(nearest)} instead", 1, rewrites=False)
    if storage_error(change.new) is not None:
        return
    yield _by_column(change, state)
    yield WayOut(
        Way.OVERWRITE,
        f"overwrite the table with overwriteSchema, with {name} cast to {new}",
        1,
        (*_lost_by_overwriting(change.path, state), *_layout(state, "partitionBy")),
        "DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED" if _has_strict_identity(state) else None,
        "DELTA_SCHEMA_CHANGED_WITH_VERSION",
    )
    yield WayOut(
        Way.REPLACE,
        f"CREATE OR REPLACE TABLE … AS SELECT, with {name} cast to {new}",
        1,
        ("the table id", *_lost_by_replacing(change.path, state)),
        _REFUSED_REPLACEMENTS.get(engine.version) if engine and engine.name == DELTA_SPARK else None,
        stops="DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE",
    )


def last_day_of_restore(state: TableState, today: dt.date) -> dt.date | None:
    """Return the last day on which the files that a commit of today removes are sure to be there.

    Only VACUUM deletes files, and none that were removed within ``delta.deletedFileRetentionDuration``,
    unless somebody makes it. None if the duration cannot be read, or reaches beyond the calendar.
    """
    microseconds = parse_interval(property_value(_RETENTION, state.properties) or "")
    if microseconds is None:
        return None
    try:
        return today + dt.timedelta(microseconds=microseconds)
    except OverflowError:
        return None


def _by_column(change: TypeChanged, state: TableState) -> WayOut:
    """Return the way by a new column; an array or a map is made anew as a whole."""
    inside = next((number for number, step in enumerate(change.path) if isinstance(step, Part)), None)
    old, new = format_path(change.path[:inside]), print_type(change.new)
    added = f"a column of type {new}" if inside is None else f"a column like {old} with {new} in it"
    mapping = "turn on column mapping, " if state.column_mapping == "none" else ""
    column = field_at(state.columns, change.path[:inside])
    return WayOut(
        Way.COLUMN,
        f"{mapping}add {added}, fill it, move writers and readers to it, and list {old} under dropped",
        loses=(f"NOT NULL of {old}",) if column is not None and column.nullable is False else (),
        refused=_refusal_of_drop(change.path[:inside], state),
        stops="DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG",
        unsure=_unparsed_user(change.path[:inside], state),
    )


def _refusal_of_drop(path: Path, state: TableState) -> str | None:
    """Return the class with which Delta refuses to drop the old column; None if it drops it."""
    if path_key(path)[0] in state.partition_keys:
        return "DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN"
    if state.clustering.overlapping(path_key(path)):
        return "DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN"
    if state.constraint_users.of(path):
        return "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE"
    if state.generated_users.of(path):
        return "DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE"
    return None


def _unparsed_user(path: Path, state: TableState) -> str | None:
    """Return what may use the column, and cannot be parsed: Delta then refuses the drop."""
    texts = {f"the constraint {key}": state.constraints[key] for key in state.constraint_users.unparsed}
    for key in state.generated_users.unparsed:
        field = field_at(state.columns, key)
        texts[f"the expression of {format_path(key)}"] = str(field.generated) if field else ""
    name = path_key(path)[0]
    user = next((user for user, text in texts.items() if name in (text or "").lower()), None)
    return user and f"{user} cannot be parsed, and may use {format_path(path[:1])}"


@lru_cache(maxsize=8)
def _lost_of_columns(key: Itself[TableState]) -> tuple[str, ...]:
    fields = tuple(walk_fields(key.value.columns))
    required = (path for path, field in fields if field.nullable is False)
    generated = (path for path, field in fields if _is_set(field.generated))
    return (*_of_columns("NOT NULL", required), *_of_columns("the expression", generated))


def _lost_by_overwriting(changed: Path, state: TableState) -> Iterator[str]:
    yield from _lost_of_columns(Itself(state))
    column = field_at(state.columns, changed)
    if column is not None and _is_set(column.default):
        yield f"the default of {format_path(changed)}"
    if column is not None and _is_set(column.comment):
        yield f"the comment of {format_path(changed)}"


def _layout(state: TableState, clause: str) -> Iterator[str]:
    if _is_set(state.partitioned_by):
        yield f"the partitioning, without {clause}"
    if _is_set(state.clustered_by):
        yield "the clustering"


def _lost_by_replacing(changed: Path, state: TableState) -> Iterator[str]:
    yield from _lost_by_overwriting(changed, state)
    yield from _of_columns("the identity", (path for path, _identity in _identities(Itself(state))))
    yield from _layout(state, "PARTITIONED BY")
    if _is_set(state.description):
        yield "the comment of the table"
    if state.set_properties:
        yield "the properties"
    if any(state.constraints.values()):
        yield "the constraints"


def _of_columns(what: str, paths: Iterable[Path]) -> Iterator[str]:
    names = [format_path(path) for path in paths]
    if names:
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        yield f"{what} of {', '.join(names[:_MOST_NAMES])}{more}"


def _has_strict_identity(state: TableState) -> bool:
    """Whether a column generates its values always: then Delta refuses to write the old ones again."""
    return any(not identity.allow_explicit_insert for _path, identity in _identities(Itself(state)))


@lru_cache(maxsize=8)
def _identities(key: Itself[TableState]) -> tuple[tuple[Path, Identity], ...]:
    fields = walk_fields(key.value.columns)
    return tuple((path, field.identity) for path, field in fields if isinstance(field.identity, Identity))


def _is_set(value: Managed[object]) -> bool:
    return not isinstance(value, Unmanaged) and bool(value)
