"""The ways to what Delta cannot change in place, and what each costs the table.

Measured on Delta 4.4.0 (``tests/engine/answers/4.4.0/rewrites.csv``): the overwrite writes the table from a
DataFrame of itself with ``overwriteSchema``, the replacement is ``CREATE OR REPLACE TABLE … AS SELECT``,
both without a clause such as ``partitionBy``, ``CLUSTER BY`` or ``TBLPROPERTIES``. The definition is
``CREATE OR REPLACE TABLE`` with columns, and an INSERT of the rows of the version before.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from schemalint.base.values import Itself, replace
from schemalint.delta.casts import has_cast
from schemalint.delta.change import (
    Change,
    ClusteringChanged,
    FieldAdded,
    FieldRemoved,
    GeneratedChanged,
    IdentityChanged,
    NullabilityChanged,
    PartitioningChanged,
    TypeChanged,
)
from schemalint.delta.datatype import LONG, Identity, Struct, field_at, items_of, type_at, walk
from schemalint.delta.engine import DELTA_SPARK, Engine
from schemalint.delta.engine_answers import changes_type
from schemalint.delta.lost_by_rewrite import (
    identities,
    lost_by_overwriting,
    lost_by_replacing,
    lost_clustering,
    lost_identities,
    lost_layout,
    lost_of_columns,
    lost_of_table,
)
from schemalint.delta.patch import update_field
from schemalint.delta.path import Part, Path, format_path, path_key
from schemalint.delta.properties import property_value
from schemalint.delta.property_values import parse_interval
from schemalint.delta.rewrites import MANUAL, RewriteObstacle, obstacles_of_columns, obstacles_of_table
from schemalint.delta.table import TableState
from schemalint.delta.type_text import print_type
from schemalint.delta.way_out import NATIVE, Way, WayOut, WayWords
from schemalint.delta.widening import nearest_widening, storage_error

_ASKED: Final = ("3.3.2", "4.0.1")
"""The older releases of Delta Spark with a record of their own: they answer as the newest one does, apart
from `_REFUSED_REPLACEMENTS`."""
_REFUSED_REPLACEMENTS: Final = {"3.3.2": "_LEGACY_ERROR_TEMP_1113"}
"""The class with which a release refuses to replace a table by a query: "does not support truncate in batch
mode". Measured with Spark 3.5.7, which overwrites the new table; Spark 3.5.3 only appends to it."""
_RETENTION: Final = "delta.deletedFileRetentionDuration"
_OVERWRITTEN: Final = "DELTA_SCHEMA_CHANGED_WITH_VERSION"
_STRICT: Final = "DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED"
_CHANGED_FILES: Final = "DELTA_SOURCE_TABLE_IGNORE_CHANGES"
_BLOCKED: Final = "DELTA_STREAMING_CANNOT_CONTINUE_PROCESSING_POST_SCHEMA_EVOLUTION"
_DROPPED: Final = "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG"
_CLUSTERED: Final = "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE"
_SHAPE: Final = "DELTA_GEOSPATIAL_NOT_SUPPORTED"
_OVERWRITE: Final = "overwrite the table with overwriteSchema and without replaceWhere"
_REPLACED: Final = "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE"


def ways_out(
    change: Change,
    state: TableState,
    engine: Engine | None = None,
    words: WayWords = NATIVE,
    old_path: Path | None = None,
    features: frozenset[str] | None = None,
) -> tuple[WayOut, ...]:
    """Return the ways to what a change wants and Delta refuses, the cheapest first; none if they are unknown.

    Args:
        change: The change.
        state: The table before the change.
        engine: The engine that would go the way; None for the newest Delta.
        words: How the file of the table says it.
        old_path: The path of the changed column in the table, if the same edit renames it.
        features: The features that the table supports; None for those in the state.
    """
    if isinstance(change, TypeChanged):
        ways = _ways_to_type(change, old_path or change.path, state, engine, words)
    else:
        ways = _ways_beside_types(change, state)
    is_step = _is_step(change, old_path, state)
    known = state.features if features is None else features
    obstacles = _obstacles_of_table(Itself(state), engine, known)
    if is_step and isinstance(change, TypeChanged):
        field = field_at(state.columns, change.path)
        declared = None if field is None else replace(field, type=change.new)
        obstacles = (*obstacles, *obstacles_of_columns(state, {change.path: declared}, known))
    declare = words.rewrite if is_step and not obstacles else ""
    judged = (_judged(way, obstacles, declare) for way in ways)
    return tuple(_on(engine, way) if way.rewrites else way for way in judged)


@lru_cache(maxsize=2)  # all findings of a table ask
def _obstacles_of_table(
    state: Itself[TableState], engine: Engine | None, features: frozenset[str]
) -> tuple[RewriteObstacle, ...]:
    return tuple(obstacles_of_table(state.value, state.value, engine, features))


def _judged(way: WayOut, obstacles: Iterable[RewriteObstacle], declare: str) -> WayOut:
    """Return a way with what the planner knows of it: whether Delta refuses it, or a step can be it."""
    if way.way not in (Way.OVERWRITE, Way.REPLACE) or way.refused is not None:
        return way
    errors = (
        obstacle.error for obstacle in obstacles if way.way is Way.OVERWRITE or obstacle.error != MANUAL
    )
    if (refused := next(filter(None, errors), None)) is not None:
        return replace(way, refused=refused)
    return replace(way, declare=declare) if way.way is Way.OVERWRITE else way


def _is_step(change: Change, old_path: Path | None, state: TableState) -> bool:
    """Whether `rewrite` in a contract says the change: of a type, or of the layout of a partitioned table.

    A column that the same edit renames has another name in the step.
    """
    if isinstance(change, PartitioningChanged | ClusteringChanged):
        return bool(state.partition_columns)
    if not isinstance(change, TypeChanged) or old_path not in (None, change.path):
        return False
    return type_at(state.columns, change.path) is not None and has_cast(change.old, change.new)


def is_readable(state: TableState) -> bool:
    """Whether Spark reads the table: no way rewrites one with a shape (geometry, geography) in it."""
    return _has_no_shape(Itself(state.columns))


@lru_cache(maxsize=2)  # all findings of a table ask
def _has_no_shape(columns: Itself[Struct]) -> bool:
    return not any(storage_error(type_) == _SHAPE for _path, type_ in walk(columns.value))


def _on(engine: Engine | None, way: WayOut) -> WayOut:
    """Return the way on an engine."""
    if not _is_asked(engine):
        return replace(way, unknown_for=engine)
    if way.way is Way.REPLACE and engine is not None and engine.name == DELTA_SPARK:
        return replace(way, refused=_REFUSED_REPLACEMENTS.get(engine.version, way.refused))
    return way


def _is_asked(engine: Engine | None) -> bool:
    return engine is None or engine.is_newest or (engine.name == DELTA_SPARK and engine.version in _ASKED)


def _ways_to_type(
    change: TypeChanged, old_path: Path, state: TableState, engine: Engine | None, words: WayWords
) -> Iterator[WayOut]:
    name = format_path(old_path)
    is_nested = len(change.path) > 1
    nearest = nearest_widening(change.old, change.new, nested=is_nested)
    if nearest is not None and changes_type(engine, change.old, nearest, nested=is_nested).does is not False:
        yield WayOut(Way.WIDEN, f"widen {name} to {print_type(nearest)} instead", 1, rewrites=False)
    if storage_error(change.new) is not None:
        return
    yield _by_column(change, old_path, state, words)
    value = _converted(change, old_path)
    yield WayOut(
        Way.OVERWRITE,
        f"{_OVERWRITE}, with {value}",
        1,
        (*lost_by_overwriting(old_path, state), *lost_layout(state, "partitionBy")),
        _refusal_of_identity(state),
        _OVERWRITTEN,
        stops_tracked=_CHANGED_FILES,
    )
    yield WayOut(
        Way.REPLACE,
        f"CREATE OR REPLACE TABLE … AS SELECT, with {value}",
        1,
        ("the table id", *lost_by_replacing(old_path, state)),
        stops=_REPLACED,
        stops_tracked=_REPLACED,
    )


def _converted(change: TypeChanged, old_path: Path) -> str:
    """Return what a query has in place of the old column."""
    old, new = format_path(old_path), print_type(change.new)
    renamed = f" as {format_path(change.path[-1:])}" if old_path[-1:] != change.path[-1:] else ""
    if has_cast(change.old, change.new):
        return f"{old} cast to {new}{renamed}"
    return f"a value of type {new} in place of {old}{renamed} (Spark has no cast)"


def _ways_beside_types(change: Change, state: TableState) -> Iterator[WayOut]:
    """Yield the ways to a change that is not one of a type."""
    match change:
        case NullabilityChanged(path=path, new=False) if all(isinstance(step, str) for step in path):
            name = format_path(path)
            yield WayOut(Way.CONSTRAINT, f"add a constraint: {name} IS NOT NULL", 1, rewrites=False)
            yield _by_definition(state)
        case FieldAdded(path=path, field=field) if field.nullable is False:
            if len(path) == 1:
                yield _by_nullable_column(format_path(path))
            yield _by_definition(state)
        case PartitioningChanged(new=new):
            names = ", ".join(format_path((name,)) for name in items_of(new))
            yield _by_overwriting(state, f"with partitionBy({names})" if names else "without partitionBy")
            replacement = _by_replacing(state, f" PARTITIONED BY ({names})" if names else "")
            if names and any(lost_clustering(state)):
                replacement = replace(replacement, refused=_CLUSTERED)
            yield replacement
        case ClusteringChanged(new=(_, *_) as clustering):
            names = ", ".join(map(format_path, clustering))
            overwrite = _by_overwriting(
                state, f"without partitionBy, then ALTER TABLE … CLUSTER BY ({names})"
            )
            yield replace(overwrite, commits=2)
            yield _by_replacing(state, f" CLUSTER BY ({names})")
        case FieldRemoved(path=(str(),) as path):
            yield from _without_key(path, state)
        case GeneratedChanged(path=path, new=None) | IdentityChanged(path=path, new=None):
            yield from _without_computation(path, state)
        case GeneratedChanged(path=(str(),)):
            yield _by_definition(state)
        case IdentityChanged(path=(str(),) as path, new=new) if type_at(state.columns, path) == LONG:
            takes_values = isinstance(new, Identity) and new.allow_explicit_insert
            yield _by_definition_with_identity(state, takes_values=takes_values)
        case _:
            return


def _without_key(path: Path, state: TableState) -> Iterator[WayOut]:
    """Yield the ways to drop a column that the table is partitioned or clustered by; none for another one."""
    column = format_path(path)
    is_partition = path_key(path)[0] in state.partition_keys
    if not is_partition and not state.clustering.overlapping(path_key(path)):
        return
    if not is_partition:
        is_mapped = state.column_mapping != "none"
        mapping = "" if is_mapped else "turn on column mapping, "
        yield WayOut(
            Way.CLUSTER,
            f"cluster by other columns, or by none, {mapping}then drop {column}",
            2 if is_mapped else 3,
            stops=_DROPPED,
            stops_tracked=_BLOCKED,
            rewrites=False,
        )
    yield _by_overwriting(state, f"without {column}")
    yield _by_replacing(state, "", f", without {column}")


def _without_computation(path: Path, state: TableState) -> Iterator[WayOut]:
    """Yield the ways to a plain column in place of a generated or an identity column."""
    plain = update_field(state.columns, path, lambda field: replace(field, generated=None, identity=None))
    kept = replace(state, columns=plain)
    overwrite = _by_overwriting(kept, _kept_layout(state, "with partitionBy({})"))
    # The schema stays.
    yield replace(overwrite, refused=_refusal_of_identity(state), stops=_CHANGED_FILES)
    yield _by_replacing(kept, _kept_layout(state, " PARTITIONED BY ({})"))


def _kept_layout(state: TableState, clause: str) -> str:
    if not state.partition_columns:
        return ""
    return clause.format(", ".join(state.partition_columns))


def _by_overwriting(state: TableState, how: str) -> WayOut:
    does = f"{_OVERWRITE}{', ' if how else ''}{how}"
    lost = (*lost_of_columns(Itself(state)), *lost_clustering(state))
    refused = _refusal_of_identity(state)
    return WayOut(Way.OVERWRITE, does, 1, lost, refused, _OVERWRITTEN, stops_tracked=_CHANGED_FILES)


def _by_replacing(state: TableState, clause: str, how: str = "") -> WayOut:
    does = f"CREATE OR REPLACE TABLE …{clause} AS SELECT{how}"
    lost = (
        "the table id",
        *lost_of_columns(Itself(state)),
        *lost_identities(state),
        *lost_clustering(state),
        *lost_of_table(state),
    )
    return WayOut(Way.REPLACE, does, 1, lost, stops=_REPLACED, stops_tracked=_REPLACED)


def _by_nullable_column(name: str) -> WayOut:
    """Return the way by a new column that may be null until it is filled; a fill is an UPDATE."""
    return WayOut(
        Way.CONSTRAINT,
        f"add {name} as nullable, fill it, then add a constraint: {name} IS NOT NULL",
        stops=_CHANGED_FILES,
        stops_tracked=_CHANGED_FILES,
    )


def _by_definition(state: TableState) -> WayOut:
    return WayOut(
        Way.DEFINE,
        "CREATE OR REPLACE TABLE with the declared columns, then insert the rows of the version before; "
        "readers meanwhile see an empty table",
        2,
        ("the table id", *lost_clustering(state), *lost_of_table(state)),
        _refusal_of_identity(state),
        _REPLACED,
        stops_tracked=_REPLACED,
    )


def _by_definition_with_identity(state: TableState, *, takes_values: bool) -> WayOut:
    """Return the way to a new identity, which refuses the old values unless it is BY DEFAULT."""
    way = replace(_by_definition(state), commits=3)
    if not takes_values:
        return replace(way, refused=_STRICT)
    # SYNC IDENTITY lets the new values follow the old ones.
    return replace(way, does=f"{way.does}, then SYNC IDENTITY")


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


def _by_column(change: TypeChanged, path: Path, state: TableState, words: WayWords) -> WayOut:
    """Return the way by a new column; an array or a map is made anew as a whole."""
    inside = next((number for number, step in enumerate(path) if isinstance(step, Part)), None)
    old, new = format_path(path[:inside]), print_type(change.new)
    added = f"a column of type {new}" if inside is None else f"a column like {old} with {new} in it"
    mapping = "turn on column mapping, " if state.column_mapping == "none" else ""
    fill = words.fill.format(column="it") if inside is None else "fill it"
    drop = words.drop.format(column=old)
    column = field_at(state.columns, path[:inside])
    return WayOut(
        Way.COLUMN,
        f"{mapping}add {added}, {fill}, move writers and readers to it, and {drop}",
        loses=(f"NOT NULL of {old}",) if column is not None and column.nullable is False else (),
        refused=_refusal_of_drop(path[:inside], state),
        stops=_DROPPED,
        stops_tracked=_CHANGED_FILES,
        unsure=_unparsed_user(path[:inside], state),
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


def _refusal_of_identity(state: TableState) -> str | None:
    """Return the class with which Delta refuses to write old values again: a column generates all of them."""
    is_strict = any(not identity.allow_explicit_insert for _path, identity in identities(Itself(state)))
    return _STRICT if is_strict else None
