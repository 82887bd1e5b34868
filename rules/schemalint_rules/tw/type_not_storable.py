from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldAdded, TableAdded
from schemalint.delta.datatype import Atomic, DataType, String, walk
from schemalint.delta.path import Path, format_path
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, rule

# How the name of a type begins, and what Delta 4.4.0 says to it (measured, CREATE and ADD alike).
_REFUSED = (
    ("time(", "UNSUPPORTED_TIME_TYPE"),
    ("interval ", "DELTA_UNSUPPORTED_DATA_TYPES"),
    ("interval", "_LEGACY_ERROR_TEMP_1183"),
    ("geometry", "DELTA_GEOSPATIAL_NOT_SUPPORTED"),
    ("geography", "DELTA_GEOSPATIAL_NOT_SUPPORTED"),
)


@rule(
    "TW012",
    on=(FieldAdded, TableAdded),
    severity=Severity.ERROR,
    delta_errors=(
        "DELTA_UNSUPPORTED_DATA_TYPES",
        "DELTA_GEOSPATIAL_NOT_SUPPORTED",
        "UNSUPPORTED_TIME_TYPE",
        "_LEGACY_ERROR_TEMP_1183",
    ),
)
def type_not_storable(change: FieldAdded | TableAdded, _ctx: RuleContext) -> Iterator[Problem]:
    """A new column has a type that Spark knows and Delta does not store.

    ## What it does

    Finds new columns and fields, at any depth, whose type is an interval, a time of day, a geometry or
    geography, or a string with a collation. A column that changes to such a type is TW002's.

    ## Why is this bad?

    Delta 4.4 refuses them, in `CREATE TABLE` as in `ADD COLUMNS`: `DELTA_UNSUPPORTED_DATA_TYPES` for
    intervals and collations (`_LEGACY_ERROR_TEMP_1183` for a plain `interval`),
    `DELTA_GEOSPATIAL_NOT_SUPPORTED`, and `UNSUPPORTED_TIME_TYPE`. Other engines may write them; a live table
    that has them already is not complained about.

    ## What to do

    Store an interval as a number whose unit the name tells, a time of day as a string or as a number of
    seconds, a shape as text or binary (WKT, WKB), and compare with a collation in the query.

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
        yield from _refused(change.field.type, change.path)
        return
    for field in change.state.columns.fields:
        yield from _refused(field.type, (field.name,))


def _refused(type_: DataType, path: Path) -> Iterator[Problem]:
    for below, leaf in walk(type_, path):
        if (error := _error(leaf)) is not None:
            yield Problem(
                f"{format_path(below)} is declared {print_type(leaf)}, which Delta does not store",
                help="store the value as a number, text or binary",
                path=below,
                new=print_type(leaf),
                delta_error=error,
            )


def _error(type_: DataType) -> str | None:
    if isinstance(type_, String):
        return None if type_ == String() else "DELTA_UNSUPPORTED_DATA_TYPES"
    if not isinstance(type_, Atomic):
        return None
    return next((error for beginning, error in _REFUSED if type_.name.startswith(beginning)), None)
