"""The ways to a type that Delta cannot change a column to in place, and what each costs the table.

Measured on Delta 4.4.0 (``tests/engine/answers/4.4.0/rewrites.csv``): the overwrite writes the table from a
DataFrame of itself with ``overwriteSchema``, the replacement is ``CREATE OR REPLACE TABLE … AS SELECT``
without any clause. What a writer adds by hand (``partitionBy``, ``CLUSTER BY``, ``TBLPROPERTIES``) is not
lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Final

from schemalint.base.values import frozen
from schemalint.delta.change import TypeChanged
from schemalint.delta.datatype import Identity, Managed, Unmanaged, field_at, walk_fields
from schemalint.delta.engine import Engine
from schemalint.delta.engine_answers import changes_type
from schemalint.delta.path import Path, format_path, path_key
from schemalint.delta.table import TableState
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import nearest_widening, storage_error

_MOST_NAMES: Final = 3


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
    """

    way: Way
    does: str
    commits: int | None = None
    loses: tuple[str, ...] = ()
    refused: str | None = None
    stops: str | None = None
    streams: tuple[str, ...] = ()


def ways_out(change: TypeChanged, state: TableState, engine: Engine | None = None) -> tuple[WayOut, ...]:
    """Return the ways to the new type of a change that Delta refuses, the cheapest first.

    Args:
        change: The change.
        state: The table before the change.
        engine: The engine that makes the change; None for the newest Delta.
    """
    return tuple(_ways(change, state, engine))


def _ways(change: TypeChanged, state: TableState, engine: Engine | None) -> Iterator[WayOut]:
    name, new = format_path(change.path), print_type(change.new)
    is_nested = len(change.path) > 1
    nearest = nearest_widening(change.old, change.new, nested=is_nested)
    if nearest is not None and changes_type(engine, change.old, nearest, nested=is_nested).does is not False:
        yield WayOut(Way.WIDEN, f"widen {name} to {print_type(nearest)} instead", 1)
    if storage_error(change.new) is not None:
        return
    yield WayOut(
        Way.COLUMN,
        f"add a column of type {new}, fill it, move writers and readers to it, and list {name} under dropped",
        refused=_refusal_of_drop(change.path, state),
        stops="DELTA_SOURCE_TABLE_IGNORE_CHANGES",
    )
    yield WayOut(
        Way.OVERWRITE,
        f"overwrite the table with overwriteSchema, with {name} cast to {new}",
        1,
        tuple(_lost_by_overwriting(change.path, state)),
        "DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED" if _has_strict_identity(state) else None,
        "DELTA_SCHEMA_CHANGED_WITH_VERSION",
    )
    yield WayOut(
        Way.REPLACE,
        f"CREATE OR REPLACE TABLE … AS SELECT, with {name} cast to {new}",
        1,
        tuple(_lost_by_replacing(change.path, state)),
        stops="DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE",
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


def _lost_by_overwriting(changed: Path, state: TableState) -> Iterator[str]:
    fields = tuple(walk_fields(state.columns))
    yield from _of_columns("NOT NULL", (path for path, field in fields if field.nullable is False))
    yield from _of_columns("the expression", (path for path, field in fields if _is_set(field.generated)))
    column = field_at(state.columns, changed)
    if column is not None and _is_set(column.default):
        yield f"the default of {format_path(changed)}"
    if column is not None and _is_set(column.comment):
        yield f"the comment of {format_path(changed)}"
    if _is_set(state.partitioned_by):
        yield "the partitioning, without partitionBy"
    if _is_set(state.clustered_by):
        yield "the clustering"


def _lost_by_replacing(changed: Path, state: TableState) -> Iterator[str]:
    yield "the table id"
    yield from _lost_by_overwriting(changed, state)
    fields = walk_fields(state.columns)
    yield from _of_columns("the identity", (path for path, field in fields if _is_set(field.identity)))
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
    identities = (field.identity for _path, field in walk_fields(state.columns))
    return any(isinstance(each, Identity) and not each.allow_explicit_insert for each in identities)


def _is_set(value: Managed[object]) -> bool:
    return not isinstance(value, Unmanaged) and bool(value)
