from __future__ import annotations

from collections.abc import Container, Iterator

from schemalint.delta.change import FieldRemoved
from schemalint.delta.column_names import nearest_name
from schemalint.delta.datatype import VOID, Array, Atomic, DataType, Map, Struct, type_at
from schemalint.delta.path import Part, Path, format_path, path_key, prefixes
from schemalint.delta.statistics import paths_with_statistics
from schemalint.delta.table import LiveTable
from schemalint.delta.type_text import print_type
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_UNKNOWN = "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"
_IN_ARRAY = "DELTA_INCORRECT_ARRAY_ACCESS_BY_NAME"
_IN_MAP = "DELTA_FOUND_MAP_TYPE_COLUMN"
_NO_STRUCT = "DELTA_COLUMN_PATH_NOT_NESTED"
_TYPE = "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED"
_TWICE = "DELTA_DUPLICATE_COLUMNS_FOUND.CLUSTER_BY"
_TOO_MANY = "DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS"

_NO_STATISTICS = "DELTA_CLUSTERING_COLUMN_MISSING_STATS"

_MAX_COLUMNS = 4  # ClusteredTableUtils: default of spark.databricks.delta.clustering.maxNumClusteringColumns
_VARIANT = Atomic("variant")
_TYPES_WITHOUT_RANGE = (Atomic("boolean"), Atomic("binary"), _VARIANT, VOID)

_Fault = tuple[str, str, str]
"""The message, the help and Delta's error class."""


@rule(
    "NC014",
    on=(Contract, LiveTable),
    severity=Severity.ERROR,
    delta_errors=(_UNKNOWN, _IN_ARRAY, _IN_MAP, _NO_STRUCT, _TYPE, _TWICE, _TOO_MANY, _NO_STATISTICS),
    verdict="impossible",
)
def clustering_not_possible(fact: Contract | LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    """A table declares clustering by a column that cannot cluster it.

    ## What it does

    Finds in `clustered_by`

    - a name that is not a column or field of the declared table, for example the old name of a renamed
      column;
    - a field inside an array or a map;
    - a column or a field whose type has no minimum and maximum: array, map, struct, boolean, binary, variant,
      void;
    - a column that is listed twice;
    - more than four columns;
    - a column without statistics, if the clustering is new: `delta.dataSkippingStatsColumns` does not name
      it, or it comes after the first 32 (`delta.dataSkippingNumIndexedCols`); each field of a struct counts
      as one.

    As a warning it finds a clustering column that loses its statistics, because a column is added before it,
    or a property of the statistics changes, and one of a live table that has none: it was moved behind the
    first columns, by `apply --reorder` for example.

    NC007 reports a clustering column that the contract drops.

    ## Why is this bad?

    `CLUSTER BY` fails with `DELTA_COLUMN_NOT_FOUND_IN_SCHEMA`, `DELTA_INCORRECT_ARRAY_ACCESS_BY_NAME`,
    `DELTA_FOUND_MAP_TYPE_COLUMN`, `DELTA_COLUMN_PATH_NOT_NESTED`, `DELTA_DUPLICATE_COLUMNS_FOUND`,
    `DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED`, `DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS` or
    `DELTA_CLUSTERING_COLUMN_MISSING_STATS`. After a rename of a clustering column, an existing table stays
    clustered by it under its new name.

    Where a clustering column loses its statistics, Delta says nothing: new files have none for it, so queries
    read more of them, and from then on Delta refuses to move any column, with
    `DELTA_CLUSTERING_COLUMN_MISSING_STATS` (measured on Delta 4.4.0).

    ## What to do

    Correct the name, or cluster by another column: one that queries filter by.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: shop, type: string}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: shop, type: string}
    clustered_by: [shops]
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: shop, type: string}
    clustered_by: [shop]
    ```
    """
    clustering = fact.state.clustered_by
    if not isinstance(clustering, tuple):
        return
    if isinstance(fact, LiveTable):
        yield from _without_statistics_now(clustering, fact)
        return
    for message, help_, error in _faults(clustering, ctx):
        yield Problem(
            f"the table is clustered by {message}",
            help=help_,
            object=ObjectRef("clustering", "clustered_by"),
            new=", ".join(map(format_path, clustering)),
            delta_error=error,
        )
        return
    yield from _lost_statistics(clustering, ctx)


def _without_statistics_now(clustering: tuple[Path, ...], table: LiveTable) -> Iterator[Problem]:
    indexed = paths_with_statistics(table.state.columns, table.state.properties)
    for path in clustering:
        if type_at(table.state.columns, path) is not None and path_key(path) not in indexed:
            yield Problem(
                f"{format_path(path)} clusters the table and has no statistics in new files",
                help="name it in delta.dataSkippingStatsColumns, or move it to the first columns",
                severity=Severity.WARNING,
                object=ObjectRef("clustering", "clustered_by"),
                old=", ".join(map(format_path, clustering)),
            )


def _lost_statistics(clustering: tuple[Path, ...], ctx: RuleContext) -> Iterator[Problem]:
    """Report columns that stay clustering columns and lose their statistics: Delta accepts the change."""
    before = paths_with_statistics(ctx.before.columns, ctx.before.properties)
    after = paths_with_statistics(ctx.after.columns, ctx.after.properties)
    for path in clustering:
        is_kept = (
            type_at(ctx.before.columns, path) is not None and type_at(ctx.after.columns, path) is not None
        )
        if is_kept and path_key(path) in before - after:
            yield Problem(
                f"{format_path(path)} clusters the table and loses its statistics: new files get none",
                help="name it in delta.dataSkippingStatsColumns, or add columns after it",
                severity=Severity.WARNING,
                object=ObjectRef("clustering", "clustered_by"),
                new=", ".join(map(format_path, clustering)),
            )


def _faults(clustering: tuple[Path, ...], ctx: RuleContext) -> Iterator[_Fault]:
    """Yield the faults in the order in which Delta looks for them (measured on Delta 4.4.0)."""
    dropped, columns = ctx.contract.state.dropped_by_key, ctx.after.columns
    kept = [
        path
        for path in clustering
        if not (_is_reported_as_dropped(path, dropped, ctx) or _is_gone_already(path, ctx))
    ]
    has_variant = any(type_at(columns, path) == _VARIANT for path in kept)
    for path in kept:
        # Delta sees a variant before it looks for elements, keys and values.
        if not (has_variant and any(isinstance(step, Part) for step in path)):
            yield from _path_faults(path, columns)
    seen: set[tuple[str, ...]] = set()
    for path in kept:
        if path_key(path) in seen:
            yield f"{format_path(path)} twice", "name it once", _TWICE
        seen.add(path_key(path))
    if len(clustering) > _MAX_COLUMNS:
        yield (
            f"{len(clustering)} columns, but the maximum is {_MAX_COLUMNS}",
            "keep those that queries filter by",
            _TOO_MANY,
        )
    for path in kept:
        type_ = type_at(columns, path)
        if type_ is not None and (isinstance(type_, Array | Map | Struct) or type_ in _TYPES_WITHOUT_RANGE):
            yield (
                f"{format_path(path)}, which is {print_type(type_)}",
                "name a column whose type has a minimum and a maximum",
                _TYPE,
            )
    without_statistics = _without_statistics(clustering, ctx)
    for path in kept:
        if path_key(path) in without_statistics:
            yield (
                f"{format_path(path)}, for which Delta collects no statistics",
                "name it in delta.dataSkippingStatsColumns, or move it to the first columns",
                _NO_STATISTICS,
            )


def _is_reported_as_dropped(path: Path, dropped: Container[tuple[str, ...]], ctx: RuleContext) -> bool:
    """Return whether NC007 reports that the contract drops the column."""
    is_gone = type_at(ctx.before.columns, path) is not None and type_at(ctx.after.columns, path) is None
    return is_gone and _is_dropped(path_key(path), dropped)


def _is_gone_already(path: Path, ctx: RuleContext) -> bool:
    """Return whether the live table is clustered by a column that it does not have: DR011 reports that."""
    if ctx.live is None or not isinstance(ctx.live.state.clustered_by, tuple):
        return False
    return path in ctx.live.state.clustered_by and ctx.live.state.columns.get(str(path[0])) is None


def _path_faults(path: Path, columns: Struct) -> Iterator[_Fault]:
    """Follow the path of one column; elements, keys and values of collections are not fields here."""
    type_: DataType = columns
    for index, step in enumerate(path):
        text, parent = format_path(path[: index + 1]), format_path(path[:index])
        name = path_key((step,))[0]
        match type_:
            case Struct() if (field := type_.get(name)) is not None:
                type_ = field.type
            case Struct():
                near = nearest_name(name, type_.names)
                help_ = "name a column of the table"
                if near:
                    help_ = f"did you mean {format_path((*path[:index], near))}?"
                yield f"{text}, which is not a column", help_, _UNKNOWN
                return
            case Array() | Map():
                error = _IN_ARRAY if isinstance(type_, Array) else _IN_MAP
                error = _UNKNOWN if isinstance(step, Part) else error
                yield (
                    f"{text}, but {parent} is {print_type(type_)}",
                    "name a column with one value per row",
                    error,
                )
                return
            case _:
                yield f"{text}, but {parent} has no fields", f"write {parent}", _NO_STRUCT
                return


def _without_statistics(clustering: tuple[Path, ...], ctx: RuleContext) -> frozenset[tuple[str, ...]]:
    """Check only a clustering that is set, as Delta does: it is new, or a column of it is dropped."""
    before = ctx.before.clustered_by
    keys = [path_key(column) for column in clustering]
    removed = {path_key(change.path) for change in ctx.changes if isinstance(change, FieldRemoved)}
    is_same = isinstance(before, tuple) and [path_key(column) for column in before] == keys
    if is_same and not any(_is_dropped(key, removed) for key in keys):
        return frozenset()
    return frozenset(keys) - paths_with_statistics(ctx.after.columns, ctx.after.properties)


def _is_dropped(path: tuple[str, ...], dropped: Container[tuple[str, ...]]) -> bool:
    return any(prefix in dropped for prefix in prefixes(path))
