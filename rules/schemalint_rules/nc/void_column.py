from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import VOID, DataType, Struct, type_at, walk
from schemalint.delta.path import Part, Path, format_path
from schemalint.delta.properties import is_true
from schemalint.delta.table import TableState
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_COMPATS = tuple(f"delta.enableIcebergCompatV{version}" for version in (1, 2, 3))
_STATISTICS = "delta.dataSkippingStatsColumns"
_EMPTY_TABLE = "DELTA_CANNOT_WRITE_EMPTY_SCHEMA.TABLE_ALL_VOID_COLUMNS"
_EMPTY_STRUCT = "DELTA_CANNOT_WRITE_EMPTY_SCHEMA.STRUCT_ALL_VOID_FIELDS"
_IN_COLLECTION = "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE"


@rule(
    "NC009",
    on=Contract,
    severity=Severity.WARNING,
    delta_errors=(_EMPTY_TABLE, _EMPTY_STRUCT, _IN_COLLECTION),
)
def void_column(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A column has the type void.

    ## What it does

    Finds columns and fields of the type `void`. It is an error where nothing can be written to the table
    then: if all columns are void, or all fields of a struct, or anything inside an array or a map. A column
    that had another type before is left to the area TW; one that Iceberg compatibility forbids to RD008; one
    that is to have statistics, or to partition or cluster the table, to TP006, NC013 and NC014.

    ## Why is this bad?

    A void column holds nothing but null, and Delta does not store it at all. It mostly comes from a literal
    `NULL` in a query whose result became a table. Delta accepts the tables that are an error here, but no row
    for them: every insert fails with `DELTA_CANNOT_WRITE_EMPTY_SCHEMA` or
    `DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE`.

    ## What to do

    Give it the type it is meant to have. From `void` Delta goes to every type, without type widening.

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
        if not _was_void(type_, path, ctx) or _is_refused(type_, path, ctx):
            continue
        if type_ == VOID and any(isinstance(step, Part) for step in path):
            yield _unwritable(f"{format_path(path)} is void inside an array or a map", path, _IN_COLLECTION)
        elif _is_empty(type_, path):
            what = f"{format_path(path)} has void fields only" if path else "the table has void columns only"
            yield _unwritable(what, path, _EMPTY_STRUCT if path else _EMPTY_TABLE)
        elif type_ == VOID and not _is_empty(type_at(columns, path[:-1]), path[:-1]):
            yield Problem(f"{format_path(path)} is void: it can hold nothing but null", help=_HELP, path=path)


_HELP = "give it the type that it is meant to have"


def _unwritable(what: str, path: Path, error: str) -> Problem:
    return Problem(
        f"{what}: no row can be written to the table",
        help="give a type to what is void",
        severity=Severity.ERROR,
        path=path or None,
        object=None if path else ObjectRef("table", ""),
        delta_error=error,
    )


def _is_empty(type_: DataType | None, path: Path) -> bool:
    """Whether it is a struct of void fields only; inside a collection each void is one too many."""
    if not isinstance(type_, Struct) or any(isinstance(step, Part) for step in path):
        return False
    return bool(type_.fields) and all(field.type == VOID for field in type_.fields)


def _was_void(type_: DataType, path: Path, ctx: RuleContext) -> bool:
    """Whether all that is void in a type was so before, or is new."""
    voids = [inner for inner, one in walk(type_, path) if one == VOID]
    return all(type_at(ctx.before.columns, inner) in (None, VOID) for inner in voids)


def _is_refused(type_: DataType, path: Path, ctx: RuleContext) -> bool:
    """Whether Delta refuses the table for the type, so that it is not even made."""
    if any(is_true(ctx.after.properties.get(key)) for key in _COMPATS):
        return True
    return type_ == VOID and format_path(path).lower() in _used(ctx.contract.state)


def _used(state: TableState) -> set[str]:
    """The columns that have to have values: those with statistics, and those that rows are sorted by."""
    listed = (state.set_properties.get(_STATISTICS) or "").split(",")
    partitions = state.partitioned_by if isinstance(state.partitioned_by, tuple) else ()
    clusters = state.clustered_by if isinstance(state.clustered_by, tuple) else ()
    names = (*(name.strip(" `") for name in listed), *partitions, *map(format_path, clusters))
    return {name.lower() for name in names}
