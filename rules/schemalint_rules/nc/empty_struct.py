from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldRemoved
from schemalint.delta.datatype import Struct, walk
from schemalint.delta.path import format_path, path_key
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule

_ERROR = "DELTA_CANNOT_WRITE_EMPTY_SCHEMA.STRUCT_NO_FIELDS"


@rule(
    "NC023",
    on=Contract,
    severity=Severity.ERROR,
    live=True,
    delta_errors=(_ERROR,),
    verdict="impossible",
)
def empty_struct(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A struct has no fields, so that no row can be written to the table.

    ## What it does

    Finds structs without fields at any depth: as a column, inside another struct, an array or a map. NC011
    reports the drop that would empty a struct, and NC009 a struct whose fields are all void.

    ## Why is this bad?

    Delta creates the table and adds such a column, but a Parquet file cannot hold a group without fields. So
    every write of rows is refused with `DELTA_CANNOT_WRITE_EMPTY_SCHEMA.STRUCT_NO_FIELDS`, also one that
    leaves the column out, with and without column mapping. Reading and altering the table still work
    (measured on Delta 4.4.0). Such a struct often comes from a nested JSON object that was empty in the
    sample from which a schema was inferred.

    ## What to do

    Declare at least one field. Delta adds a field to an empty struct in place, and rows can be written from
    then on. If the content is not known yet, leave the column out, or declare a string that holds the JSON.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: labels, type: "struct<>"}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: labels, type: "struct<origin: string>"}
    ```
    """
    removed = {path_key(change.path[:-1]) for change in ctx.changes if isinstance(change, FieldRemoved)}
    for path, type_ in walk(contract.state.columns):
        if path and isinstance(type_, Struct) and not type_.fields and path_key(path) not in removed:
            yield Problem(
                f"{format_path(path)} is a struct without fields: no row can be written to the table",
                help="declare a field in it, or leave it out",
                path=path,
                delta_error=_ERROR,
            )
