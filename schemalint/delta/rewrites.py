"""What an overwrite of a table by itself would lose, or must not touch: such a table is not rewritten.

Measured on Delta 3.3.2, 4.0.1 and 4.4.0 (``rewrites.csv`` and ``overwrites.csv`` in
``tests/engine/answers/``): a write in mode overwrite with ``overwriteSchema`` keeps the id, the properties,
the constraints and the comment of the table, and the comments, defaults and lengths of the columns that it
copies. It loses NOT NULL, the generation expressions and the identities of all columns, and the clustering,
which CLUSTER BY sets again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Final

from schemalint.base.values import Itself, frozen
from schemalint.delta.datatype import (
    VARIANT,
    Array,
    Char,
    Field,
    Identity,
    Map,
    Struct,
    Unmanaged,
    Varchar,
    field_at,
    items_of,
    walk,
    walk_fields,
)
from schemalint.delta.engine import Engine
from schemalint.delta.path import Part, Path, format_path
from schemalint.delta.properties import APPEND_ONLY, CHANGE_DATA_FEED, property_value
from schemalint.delta.protocol import activated, needed_features, needed_to_alter
from schemalint.delta.table import TableState

_ICEBERG: Final = ("delta.enableIcebergCompat", "delta.universalFormat.")
_CATALOG_MANAGED: Final = frozenset(
    {"catalogManaged", "catalogOwned", "catalogOwned-preview", "coordinatedCommits-preview"}
)
_PIPELINE: Final = "pipelines."
_WITH_FEED: Final = "DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION"
MANUAL: Final = "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"
"""How Delta refuses an overwrite that would need a feature; `apply` requests no feature beside a rewrite."""


@frozen
class RewriteObstacle:
    """Why a table is not rewritten.

    Attributes:
        reason: A clause that tells it.
        path: The column that is in the way; empty for the table.
        is_lost: Whether the overwrite would lose something that a definition of the table states again.
        error: The class with which Delta refuses the overwrite; None if it makes it, or nobody asked. All but
            `MANUAL` it has for a replacement too.
    """

    reason: str
    path: Path = ()
    is_lost: bool = False
    error: str | None = None


def rewrite_obstacles(
    before: TableState,
    after: TableState,
    paths: Collection[Path],
    engine: Engine | None = None,
    features: frozenset[str] = frozenset(),
) -> Iterator[RewriteObstacle]:
    """Yield why a table must not be overwritten by itself.

    Args:
        before: The table before the rewrite.
        after: The table as it is declared: its clustering is what the next statement sets again.
        paths: The columns and fields that are rewritten.
        engine: The engine that runs the statements; None for the newest Delta.
        features: The features that the table supports.
    """
    yield from obstacles_of_table(before, after, engine, features)
    rewritten = {path: field_at(after.columns, path) for path in paths}
    yield from obstacles_of_columns(before, rewritten, features)


def obstacles_of_table(
    before: TableState, after: TableState, engine: Engine | None, features: frozenset[str]
) -> Iterator[RewriteObstacle]:
    """Yield what no rewrite of the table may meet, whatever it rewrites; see `rewrite_obstacles`."""
    yield from _of_table(before, after, engine, features)
    for path, field in walk_fields(before.columns):
        if lost := _lost(field):
            yield RewriteObstacle(f"it would lose {lost} of {format_path(path)}", path, is_lost=True)


def obstacles_of_columns(
    before: TableState, rewritten: Mapping[Path, Field | None], features: frozenset[str]
) -> Iterator[RewriteObstacle]:
    """Yield what the rewritten columns may not be or have; see `rewrite_obstacles`.

    Args:
        before: The table before the rewrite.
        rewritten: The columns and fields that are rewritten, as they are declared; None for a part of an
            array or a map.
        features: The features that the table supports.
    """
    active = activated(Struct(tuple(field for field in rewritten.values() if field is not None)), {})
    if missing := needed_features(features, active) - needed_to_alter(features, active):
        names = ", ".join(sorted(missing))
        reason = f"its new type needs {names}: apply `features: [{names}]` by itself before"
        yield RewriteObstacle(reason, error=MANUAL)
    if rewritten and before.column_mapping != "none" and before.enabled(CHANGE_DATA_FEED):
        yield RewriteObstacle(
            "with column mapping and a change data feed Delta refuses an overwrite that changes columns "
            f"({_WITH_FEED}): switch the feed off in a change of its own before",
            error=_WITH_FEED,
        )
    for path in rewritten:
        if any(isinstance(step, Part) for step in path):
            yield RewriteObstacle(f"{format_path(path)} is inside an array or a map: rewrite that", path)
    faulty: set[str | Part] = set()
    for path, declared in rewritten.items():
        name = path[0]
        column = field_at(before.columns, path[:1])
        of_column = "" if column is None else _of_column(Itself(column))
        reason = of_column or ("" if declared is None else _of_column(Itself(declared), path[:-1]))
        if reason and name not in faulty:
            faulty.add(name)
            yield RewriteObstacle(f"{format_path((name,))} {reason}", (name,))


def _of_table(
    before: TableState, after: TableState, engine: Engine | None, features: frozenset[str]
) -> Iterator[RewriteObstacle]:
    if before.enabled(APPEND_ONLY):
        yield RewriteObstacle("delta.appendOnly allows only appends", error="DELTA_CANNOT_MODIFY_APPEND_ONLY")
    keys = {key for key, value in before.properties.items() if value not in (None, "false", "")}
    if any(key.startswith(_ICEBERG) for key in keys):
        reason = "Iceberg readers follow the ids of columns, and a rewritten column gets a new one"
        yield RewriteObstacle(reason)
    if any(key.startswith(_PIPELINE) for key in keys):
        yield RewriteObstacle("a pipeline owns it")
    if managed := sorted(_CATALOG_MANAGED & features):
        reason = f"its commits go through a catalog ({managed[0]}), where no rewrite was measured"
        yield RewriteObstacle(reason)
    level = property_value("delta.isolationLevel", before.properties)
    if engine is not None and engine.is_hosted and (level or "").lower() != "serializable":
        yield RewriteObstacle(
            "without delta.isolationLevel = Serializable this engine lets an append commit beside it, whose "
            "rows would keep the old type"
        )
    if before.clustering_columns and isinstance(after.clustered_by, Unmanaged):
        yield RewriteObstacle("it would lose the clustering, which the contract does not declare")
    if any(items_of(field.type_changes) for _path, field in walk_fields(after.columns)):
        yield RewriteObstacle("it would lose the recorded type changes, which the contract declares")


def _lost(field: Field) -> str:
    """Return what an overwrite loses of a column, whatever it writes into it."""
    if not field.nullable:
        return "NOT NULL"
    if isinstance(field.generated, str):
        return "the generation expression"
    if isinstance(field.identity, Identity):
        return "the identity"
    return ""


@lru_cache(maxsize=2)  # all findings about the fields of a column ask
def _of_column(column: Itself[Field], inside: Path = ()) -> str:
    """Return why a column, or a field inside of others, cannot be rewritten; empty if it can."""
    struct = Struct((column.value,))
    for path, inner in walk_fields(struct):
        name = format_path((*inside, *path))
        if isinstance(inner.default, str):
            return f"has a default at {name}, which an overwrite does not keep"
        if inner.extra:
            return f"has metadata at {name}, which an overwrite does not keep: {inner.extra[0][0]}"
    for _path, type_ in walk(struct):
        if isinstance(type_, Char | Varchar):
            return "has texts with a length, which an overwrite does not declare"
        if type_ == VARIANT:
            return "has variants, whose values cannot be compared"
        if isinstance(type_, Array | Map) and _holds_no_nulls(type_):
            return "has parts that cannot be null, which an overwrite does not keep"
    return ""


def _holds_no_nulls(type_: Array | Map) -> bool:
    nulls = type_.contains_null if isinstance(type_, Array) else type_.value_contains_null
    return nulls is False
