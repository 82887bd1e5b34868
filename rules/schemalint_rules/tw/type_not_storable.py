from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldAdded, TableAdded
from schemalint.delta.datatype import DataType, String, walk
from schemalint.delta.engine_answers import has_own_types
from schemalint.delta.path import Path, format_path
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import storage_error
from schemalint.plugin import Problem, RuleContext, Severity, rule

_GEOSPATIAL = "DELTA_GEOSPATIAL_NOT_SUPPORTED"


@rule(
    "TW012",
    on=(FieldAdded, TableAdded),
    severity=Severity.ERROR,
    live=True,
    delta_errors=(
        "DELTA_UNSUPPORTED_DATA_TYPES",
        _GEOSPATIAL,
        "UNSUPPORTED_TIME_TYPE",
        "_LEGACY_ERROR_TEMP_1183",
    ),
    verdict="impossible",
)
def type_not_storable(change: FieldAdded | TableAdded, ctx: RuleContext) -> Iterator[Problem]:
    """A new column has a Spark type that Delta does not store.

    ## What it does

    Finds new columns and fields, at any depth, whose type is an interval, a time of day, a geometry or
    geography, or a string with a collation. TW002 reports existing columns that change to such a type. In a
    target whose engine is Databricks, collations and shapes are no finding: it stores them.

    ## Why is this bad?

    Delta 4.4 refuses these types in `CREATE TABLE` and in `ADD COLUMNS`: intervals and collations with
    `DELTA_UNSUPPORTED_DATA_TYPES` (a plain `interval` with an error without a name), geometry and geography
    with `DELTA_GEOSPATIAL_NOT_SUPPORTED`, a time of day with `UNSUPPORTED_TIME_TYPE`.

    If another writer has made such a column, Spark reads intervals and collations and writes them, apart from
    the plain `interval`, and cannot write a time of day. A geometry or geography it cannot even read. Every
    statement that alters the table fails, unless it drops the column. So for a live table the finding is a
    warning if Spark reads and writes the column, and the contract drops it or changes nothing (all measured
    on Delta 4.4.0).

    ## What to do

    Store an interval as a number, with the unit in the column's name; a time of day as a string or a number
    of seconds; a shape as text or binary (WKT, WKB). Apply a collation in the query.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: waited, type: interval day to second}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: waited_seconds, type: bigint}
    ```
    """
    if isinstance(change, FieldAdded):
        yield from _refused(change.field.type, change.path, ctx)
        return
    for field in change.state.columns.fields:
        yield from _refused(field.type, (field.name,), ctx)


def _refused(type_: DataType, path: Path, ctx: RuleContext) -> Iterator[Problem]:
    for leaf_path, leaf in walk(type_, path):
        if (error := storage_error(leaf)) is not None and not has_own_types(ctx.engine, leaf):
            yield Problem(
                f"{format_path(leaf_path)} is declared {print_type(leaf)}, which Delta does not store",
                help=_help(leaf),
                path=leaf_path,
                new=print_type(leaf),
                delta_error=error,
                unreadable=error == _GEOSPATIAL,
            )


def _help(type_: DataType) -> str:
    if isinstance(type_, String):
        return "leave COLLATE out, and apply the collation in the query"
    return "store the value as a number, text or binary"
