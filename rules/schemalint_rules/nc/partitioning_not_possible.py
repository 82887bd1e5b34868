from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldRemoved, TableAdded
from schemalint.delta.column_names import nearest_name
from schemalint.delta.datatype import VOID, Array, Atomic, DataType, Map, Struct, Unmanaged
from schemalint.delta.table import LiveTable
from schemalint.delta.type_text import print_type
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule

_UNKNOWN = "_LEGACY_ERROR_TEMP_3060"
_TWICE = "_LEGACY_ERROR_TEMP_3058"
_ALL = "ALL_PARTITION_COLUMNS_NOT_ALLOWED"
_TYPE = "INVALID_PARTITION_COLUMN_DATA_TYPE"

_TYPES_WITHOUT_NAME = (Atomic("variant"), VOID)

# Delta Spark's errors for a live table: it refuses all access, or every insert. It writes rows with another
# type that cannot name a directory, and then fails to read them, with errors of Java (measured on Delta
# 4.4.0).
_NOT_FOUND = "FIELD_NOT_FOUND"
_NO_DATA = "DELTA_NON_PARTITION_COLUMN_ABSENT"
_NOT_WRITTEN = "DELTA_PARTITION_COLUMN_NOT_FOUND"


@rule(
    "NC013",
    on=(TableAdded, LiveTable, FieldRemoved),
    severity=Severity.ERROR,
    delta_errors=(_UNKNOWN, _TWICE, _ALL, _TYPE, _NOT_FOUND, _NO_DATA, _NOT_WRITTEN),
    verdict="impossible",
)
def partitioning_not_possible(
    fact: TableAdded | LiveTable | FieldRemoved, ctx: RuleContext
) -> Iterator[Problem]:
    """A table is partitioned by a column that cannot partition it.

    ## What it does

    Finds in `partitioned_by` of a new table, and in the partition columns of a live table

    - a name that is not a column; a field of a struct is not one;
    - a column that is listed twice, which is harmless in a live table;
    - a column whose type cannot form a directory name: array, map, struct, variant, void;
    - a list that leaves no other column; the drop of the last one is a warning;
    - of a live table, a name with another case than the column's, which readers do not find.

    NC007 covers the partitioning of an existing table.

    ## Why is this bad?

    `CREATE TABLE` fails: with `INVALID_PARTITION_COLUMN_DATA_TYPE`, with `ALL_PARTITION_COLUMNS_NOT_ALLOWED`,
    and, for a column that does not exist or is listed twice, with errors without a name.

    Delta drops the last column that is none of the partitioning, and then refuses every insert.

    A live table that another writer has made so is worse off: Spark fails every query and every statement
    with `FIELD_NOT_FOUND` if a column does not exist, refuses every insert with
    `DELTA_NON_PARTITION_COLUMN_ABSENT` if no other column is left and with `DELTA_PARTITION_COLUMN_NOT_FOUND`
    if the column is void, and cannot read the rows that it writes if the column is an array or a struct
    (measured on Delta 4.4.0).

    ## What to do

    Correct the name. To partition by a field of a struct, or by a part of a date, declare a generated column
    for it; or cluster by the field, which `clustered_by` can.

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
    if isinstance(fact, FieldRemoved):
        yield from _left_alone(fact, ctx)
        return
    names, columns = fact.state.partitioned_by, fact.state.columns
    if isinstance(names, Unmanaged):
        return
    faults = _live_faults(names, columns) if isinstance(fact, LiveTable) else _faults(names, columns)
    for message, help_, error in faults:
        yield Problem(
            message,
            help=help_,
            object=ObjectRef("partitioning", "partitioned_by"),
            new=", ".join(names),
            delta_error=error,
            unreadable=error == _NOT_FOUND,
        )
        return


def _faults(names: tuple[str, ...], columns: Struct) -> Iterator[tuple[str, str, str]]:
    """Yield the message, the help and Delta's error class of each fault."""
    lower = [name.lower() for name in names]
    for index, name in enumerate(names):
        field = columns.get(name)
        if field is None:
            yield f"the table is partitioned by {name}, which is not a column", _hint(name, columns), _UNKNOWN
        elif lower[index] in lower[:index]:
            yield f"the table is partitioned by {name} twice", "name it once", _TWICE
        elif _cannot_name_directory(field.type):
            yield (
                f"the table is partitioned by {name}, which is {print_type(field.type)}",
                "partition by a column of a plain type, or not at all",
                _TYPE,
            )
    if names and len(names) == len(columns.fields):
        yield "all columns are partition columns: none is left for the data files", "leave one out", _ALL


def _live_faults(names: tuple[str, ...], columns: Struct) -> Iterator[tuple[str, str, str | None]]:
    """Yield the faults that the log of a table may have; Delta writes each name as the column has it."""
    help_ = "restore a version with valid partitioning, or rewrite the table"
    types = {field.name: field.type for field in columns.fields}
    for name in names:
        if name not in types:
            yield f"the table is partitioned by {name}, which is not a column", help_, _NOT_FOUND
        elif _cannot_name_directory(types[name]):
            type_ = types[name]
            error = _NOT_WRITTEN if type_ == VOID else None
            yield f"the table is partitioned by {name}, which is {print_type(type_)}", help_, error
    if names and len(names) == len(columns.fields):
        yield "all columns are partition columns: none is left for the data files", help_, _NO_DATA


def _left_alone(removed: FieldRemoved, ctx: RuleContext) -> Iterator[Problem]:
    """Report the drop of the last column that is no partition column, at the last of several drops."""
    keys, columns = ctx.after.partition_keys, ctx.after.columns.names
    drops = [change for change in ctx.changes if isinstance(change, FieldRemoved) and len(change.path) == 1]
    is_last = drops[-1:] == [removed] and ctx.alters(removed)
    if is_last and columns and all(name.lower() in keys for name in columns):
        yield Problem(
            f"{removed.field.name} is the last column that is no partition column",
            help="keep one, or add another in the same edit: Delta drops the column, and refuses all inserts",
            severity=Severity.WARNING,
        )


def _cannot_name_directory(type_: DataType) -> bool:
    return isinstance(type_, Array | Map | Struct) or type_ in _TYPES_WITHOUT_NAME


def _hint(name: str, columns: Struct) -> str:
    near = nearest_name(name, columns.names)
    if near:
        return f"did you mean {near}?"
    return "name a column of the table; a field of a struct is not one"
