from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import TableAdded
from schemalint.delta.column_names import nearest_name
from schemalint.delta.datatype import VOID, Array, Atomic, DataType, Map, Struct, Unmanaged
from schemalint.delta.type_text import print_type
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule

_UNKNOWN = "_LEGACY_ERROR_TEMP_3060"
_TWICE = "_LEGACY_ERROR_TEMP_3058"
_ALL = "ALL_PARTITION_COLUMNS_NOT_ALLOWED"
_TYPE = "INVALID_PARTITION_COLUMN_DATA_TYPE"

_TYPES = (Atomic("variant"), VOID)


@rule("NC013", on=TableAdded, severity=Severity.ERROR, delta_errors=(_UNKNOWN, _TWICE, _ALL, _TYPE))
def partitioning_not_possible(change: TableAdded, _ctx: RuleContext) -> Iterator[Problem]:
    """A table is declared as partitioned by what cannot partition it.

    ## What it does

    Looks at `partitioned_by` of a new table, and finds

    - a name that is no column; a field of a struct is none;
    - a column that stands there twice;
    - a column of a type that has no directory's name: array, map, struct, variant, void;
    - a list that leaves no other column.

    The partitioning of a table that exists is NC007's.

    ## Why is this bad?

    `CREATE TABLE` fails: with `INVALID_PARTITION_COLUMN_DATA_TYPE`, with `ALL_PARTITION_COLUMNS_NOT_ALLOWED`,
    and for a column that is not there, or is there twice, with errors that Spark 4.2 calls
    `_LEGACY_ERROR_TEMP_3060` and `_LEGACY_ERROR_TEMP_3058`.

    ## What to do

    Correct the name. To partition by a field of a struct, or by a part of a date, declare a generated column
    beside it; or cluster by the field, which `clustered_by` can.

    ## Example

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: order_date, type: date}
    partitioned_by: [order_day]
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: order_date, type: date}
    partitioned_by: [order_date]
    ```
    """
    names, columns = change.state.partitioned_by, change.state.columns
    if isinstance(names, Unmanaged):
        return
    for message, help_, error in _wrong(names, columns):
        yield Problem(
            message,
            help=help_,
            object=ObjectRef("partitioning", "partitioned_by"),
            new=", ".join(names),
            delta_error=error,
        )
        return


def _wrong(names: tuple[str, ...], columns: Struct) -> Iterator[tuple[str, str, str]]:
    lower = [name.lower() for name in names]
    for index, name in enumerate(names):
        field = columns.get(name)
        if field is None:
            yield f"the table is partitioned by {name}, which is no column", _meant(name, columns), _UNKNOWN
        elif lower[index] in lower[:index]:
            yield f"the table is partitioned by {name} twice", "name it once", _TWICE
        elif _has_no_text(field.type):
            yield (
                f"the table is partitioned by {name}, which is {print_type(field.type)}",
                "partition by a column of a plain type, or not at all",
                _TYPE,
            )
    if names and len(names) == len(columns.fields):
        yield "all columns are partition columns: nothing would be left for the files", "leave one out", _ALL


def _has_no_text(type_: DataType) -> bool:
    return isinstance(type_, Array | Map | Struct) or type_ in _TYPES


def _meant(name: str, columns: Struct) -> str:
    near = nearest_name(name, (field.name for field in columns.fields))
    return f"did you mean {near}?" if near else "name a column of the table; a field of a struct is none"
