"""What a table does not have after somebody wrote it anew.

Measured on Delta 4.4.0 (``tests/engine/answers/4.4.0/rewrites.csv``): see `schemalint.delta.ways`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from schemalint.base.phrases import first_of
from schemalint.base.values import Itself
from schemalint.delta.datatype import Identity, Managed, Unmanaged, field_at, walk_fields
from schemalint.delta.path import Path, format_path
from schemalint.delta.table import TableState

_MOST_NAMES: Final = 3


def lost_by_overwriting(changed: Path, state: TableState) -> Iterator[str]:
    """Yield what an overwrite of the whole table takes away, whose query changes one column."""
    yield from lost_of_columns(Itself(state))
    column = field_at(state.columns, changed)
    if column is not None and _is_set(column.default):
        yield f"the default of {format_path(changed)}"
    if column is not None and _is_set(column.comment):
        yield f"the comment of {format_path(changed)}"


def lost_by_replacing(changed: Path, state: TableState) -> Iterator[str]:
    """Yield what CREATE OR REPLACE TABLE … AS SELECT takes away, whose query changes one column."""
    yield from lost_by_overwriting(changed, state)
    yield from lost_identities(state)
    yield from lost_layout(state, "PARTITIONED BY")
    yield from lost_of_table(state)


@lru_cache(maxsize=8)
def lost_of_columns(key: Itself[TableState]) -> tuple[str, ...]:
    """Return the parts of columns that neither an overwrite nor a replacement keeps."""
    fields = tuple(walk_fields(key.value.columns))
    required = (path for path, field in fields if field.nullable is False)
    generated = (path for path, field in fields if _is_set(field.generated))
    return (*_of_columns("NOT NULL", required), *_of_columns("the expression", generated))


def lost_identities(state: TableState) -> Iterator[str]:
    """Yield the identities, which a replacement does not keep."""
    yield from _of_columns("the identity", (path for path, _identity in identities(Itself(state))))


def lost_layout(state: TableState, clause: str) -> Iterator[str]:
    """Yield the partitioning, which stays with a clause, and the clustering."""
    if _is_set(state.partitioned_by):
        yield f"the partitioning, without {clause}"
    yield from lost_clustering(state)


def lost_clustering(state: TableState) -> Iterator[str]:
    """Yield the clustering, if there is one."""
    if _is_set(state.clustered_by):
        yield "the clustering"


def lost_of_table(state: TableState) -> Iterator[str]:
    """Yield what only an ALTER or a clause keeps."""
    if _is_set(state.description):
        yield "the comment of the table"
    if state.set_properties:
        yield "the properties"
    if any(state.constraints.values()):
        yield "the constraints"


def _of_columns(what: str, paths: Iterable[Path]) -> Iterator[str]:
    """Yield a text about columns, the first of them by name."""
    names = [format_path(path) for path in paths]
    if names:
        yield f"{what} of {first_of(names, _MOST_NAMES)}"


@lru_cache(maxsize=8)
def identities(key: Itself[TableState]) -> tuple[tuple[Path, Identity], ...]:
    """Return the identity columns."""
    fields = walk_fields(key.value.columns)
    return tuple((path, field.identity) for path, field in fields if isinstance(field.identity, Identity))


def _is_set(value: Managed[object]) -> bool:
    return not isinstance(value, Unmanaged) and bool(value)
