from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.column_names import nearest_name
from schemalint.delta.datatype import VOID, Array, Atomic, DataType, Map, Struct, type_at
from schemalint.delta.path import Part, Path, format_path, path_key
from schemalint.delta.statistics import has_statistics
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

_MOST = 4  # ClusteredTableUtils: spark.databricks.delta.clustering.maxNumClusteringColumns has this default
_TYPES = (Atomic("boolean"), Atomic("binary"), Atomic("variant"), VOID)

_Wrong = tuple[str, str, str]


@rule(
    "NC014",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=(_UNKNOWN, _IN_ARRAY, _IN_MAP, _NO_STRUCT, _TYPE, _TWICE, _TOO_MANY, _NO_STATISTICS),
)
def clustering_not_possible(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A table is declared as clustered by what cannot cluster it.

    ## What it does

    Finds in `clustered_by`

    - a name that the table will not have as a column or a field, as after a rename that it does not follow;
    - what is inside an array or a map;
    - a column or a field of a type without a least and a greatest value: array, map, struct, boolean, binary,
      variant, void;
    - a column that stands there twice;
    - more than four columns;
    - a column without statistics, where the clustering is new: one that `delta.dataSkippingStatsColumns` does
      not name, or behind the first 32 (`delta.dataSkippingNumIndexedCols`); each field of a struct is one.

    A column that is dropped is NC007's.

    ## Why is this bad?

    `CLUSTER BY` fails with `DELTA_COLUMN_NOT_FOUND_IN_SCHEMA`, `DELTA_INCORRECT_ARRAY_ACCESS_BY_NAME`,
    `DELTA_FOUND_MAP_TYPE_COLUMN`, `DELTA_COLUMN_PATH_NOT_NESTED`, `DELTA_DUPLICATE_COLUMNS_FOUND`,
    `DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED`, `DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS` or
    `DELTA_CLUSTERING_COLUMN_MISSING_STATS`. A table that exists stays clustered by a column that is renamed,
    under its new name.

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
    clustering = contract.state.clustered_by
    if not isinstance(clustering, tuple):
        return
    for message, help_, error in _wrong(clustering, ctx):
        yield Problem(
            f"the table is clustered by {message}",
            help=help_,
            object=ObjectRef("clustering", "clustered_by"),
            new=", ".join(map(format_path, clustering)),
            delta_error=error,
        )
        return


def _wrong(clustering: tuple[Path, ...], ctx: RuleContext) -> Iterator[_Wrong]:
    dropped = {path_key(entry.path) for entry in ctx.contract.state.dropped}
    folded = [path_key(path) for path in clustering]
    for index, path in enumerate(clustering):
        if _is_dropped(folded[index], dropped) and type_at(ctx.before.columns, path) is not None:
            continue
        if folded[index] in folded[:index]:
            yield f"{format_path(path)} twice", "name it once", _TWICE
        wrong = tuple(_column(path, ctx.after.columns))
        yield from wrong or _without_statistics(path, ctx)
    if len(clustering) > _MOST:
        yield (
            f"{len(clustering)} columns, and {_MOST} is the most",
            "keep those that queries filter by",
            _TOO_MANY,
        )


def _column(path: Path, columns: Struct) -> Iterator[_Wrong]:
    """What is wrong with one column, seen step by step: a collection's parts are no fields here."""
    type_: DataType = columns
    for index, step in enumerate(path):
        text, parent = format_path(path[: index + 1]), format_path(path[:index])
        name = path_key((step,))[0]
        match type_:
            case Struct() if (field := type_.get(name)) is not None:
                type_ = field.type
            case Struct():
                near = nearest_name(name, (field.name for field in type_.fields))
                meant = (
                    f"did you mean {format_path((*path[:index], near))}?"
                    if near
                    else "name a column of the table"
                )
                yield f"{text}, which is no column", meant, _UNKNOWN
                return
            case Array() | Map():
                error = _IN_ARRAY if isinstance(type_, Array) else _IN_MAP
                error = _UNKNOWN if isinstance(step, Part) else error
                yield f"{text}, but {parent} is {print_type(type_)}", "name what has one value per row", error
                return
            case _:
                yield f"{text}, but {parent} has no fields", f"write {parent}", _NO_STRUCT
                return
    if isinstance(type_, Array | Map | Struct) or type_ in _TYPES:
        yield (
            f"{format_path(path)}, which is {print_type(type_)}",
            "name a column that has a least and a greatest value",
            _TYPE,
        )


def _without_statistics(path: Path, ctx: RuleContext) -> Iterator[_Wrong]:
    """Delta looks when the clustering is set, and never again."""
    before, after = (
        [path_key(one) for one in state.clustered_by] if isinstance(state.clustered_by, tuple) else []
        for state in (ctx.before, ctx.after)
    )
    if before == after:
        return
    if not has_statistics(path_key(path), ctx.after.columns, ctx.after.properties):
        yield (
            f"{format_path(path)}, of which no statistics are collected",
            "name it in delta.dataSkippingStatsColumns, or put it among the first columns",
            _NO_STATISTICS,
        )


def _is_dropped(path: tuple[str, ...], dropped: set[tuple[str, ...]]) -> bool:
    return any(path[:length] in dropped for length in range(1, len(path) + 1))
