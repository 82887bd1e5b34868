from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldAdded
from schemalint.delta.datatype import VOID, DataType, Struct, field_at, type_at, walk
from schemalint.delta.path import Part, Path, format_path, is_within, lowercased
from schemalint.delta.properties import ICEBERG_COMPAT_KEYS, is_true
from schemalint.delta.table import TableState
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_STATISTICS = "delta.dataSkippingStatsColumns"
_EMPTY_TABLE = "DELTA_CANNOT_WRITE_EMPTY_SCHEMA.TABLE_ALL_VOID_COLUMNS"
_EMPTY_STRUCT = "DELTA_CANNOT_WRITE_EMPTY_SCHEMA.STRUCT_ALL_VOID_FIELDS"
_IN_COLLECTION = "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE"
_NOT_NULL = "DELTA_MISSING_NOT_NULL_COLUMN_VALUE"


@rule(
    "NC009",
    on=Contract,
    severity=Severity.WARNING,
    live=True,
    delta_errors=(_EMPTY_TABLE, _EMPTY_STRUCT, _IN_COLLECTION, _NOT_NULL),
)
def void_column(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A column has the type void.

    ## What it does

    Finds columns and fields of the type `void`. The finding is an error if Delta can then write nothing to
    the table: if all columns are void, or all fields of a struct, or anything inside an array or a map, or a
    column or field that is `NOT NULL`. The area TW reports a column that had another type before, RD008 a
    void column that Iceberg compatibility forbids, and TP006, NC013 and NC014 a void column that needs
    statistics, or that partitions or clusters the table.

    ## Why is this bad?

    A void column holds only nulls, and Delta does not store it at all. It mostly comes from a literal `NULL`
    in a query whose result became a table. Delta creates the tables that are an error here, but refuses every
    insert into them with `DELTA_CANNOT_WRITE_EMPTY_SCHEMA`, `DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE` or
    `DELTA_MISSING_NOT_NULL_COLUMN_VALUE`.

    ## What to do

    Declare the intended type. Delta changes `void` to any type, without type widening.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: discount, type: void}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: discount, type: "decimal(5,2)"}
    ```
    """
    columns = contract.state.columns
    if all(type_ != VOID for _path, type_ in walk(columns)):
        return
    for path, type_ in walk(columns):
        if not _is_new_or_was_void(type_, path, ctx) or _is_refused(type_, path, ctx):
            continue
        if type_ == VOID and any(isinstance(step, Part) for step in path):
            yield _unwritable(f"{format_path(path)} is void inside an array or a map", path, _IN_COLLECTION)
        elif _is_empty(type_, path):
            fault = f"{format_path(path)} has only void fields" if path else "the table has only void columns"
            yield _unwritable(fault, path, _EMPTY_STRUCT if path else _EMPTY_TABLE)
        elif type_ == VOID and not _is_empty(type_at(columns, path[:-1]), path[:-1]):
            field = field_at(columns, path)
            if field is not None and not field.nullable:
                yield _unwritable(f"{format_path(path)} is void and NOT NULL", path, _NOT_NULL)
            else:
                yield Problem(f"{format_path(path)} is void: it can hold only nulls", help=_HELP, path=path)


_HELP = "declare the intended type"


def _unwritable(fault: str, path: Path, error: str) -> Problem:
    return Problem(
        f"{fault}: no row can be written to the table",
        help="declare another type than void",
        severity=Severity.ERROR,
        path=path or None,
        object=None if path else ObjectRef("table", ""),
        delta_error=error,
    )


def _is_empty(type_: DataType | None, path: Path) -> bool:
    """Return whether a struct has only void fields; inside a collection every void counts by itself."""
    if not isinstance(type_, Struct) or any(isinstance(step, Part) for step in path):
        return False
    return bool(type_.fields) and all(field.type == VOID for field in type_.fields)


def _is_new_or_was_void(type_: DataType, path: Path, ctx: RuleContext) -> bool:
    """Return whether each void in a type is new or was void before; one made anew is new."""
    voids = [inner for inner, inner_type in walk(type_, path) if inner_type == VOID]
    others = [inner for inner in voids if type_at(ctx.before.columns, inner) not in (None, VOID)]
    added = [change.path for change in ctx.changes if isinstance(change, FieldAdded)] if others else ()
    return all(any(is_within(lowercased(inner), lowercased(new)) for new in added) for inner in others)


def _is_refused(type_: DataType, path: Path, ctx: RuleContext) -> bool:
    """Return whether Delta refuses the table because of the type, before any row is written."""
    if any(is_true(ctx.after.properties.get(key)) for key in ICEBERG_COMPAT_KEYS):
        return True
    return type_ == VOID and format_path(path).lower() in _columns_with_values(ctx.contract.state)


def _columns_with_values(state: TableState) -> set[str]:
    """Return the columns that need values: for statistics, partitioning or clustering."""
    with_statistics = (state.set_properties.get(_STATISTICS) or "").split(",")
    clusters = map(format_path, state.clustering_columns)
    names = (*(name.strip(" `") for name in with_statistics), *state.partition_columns, *clusters)
    return {name.lower() for name in names}
