from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldRemoved
from schemalint.delta.datatype import Struct, type_at
from schemalint.delta.path import Part, format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule

_ERROR = "DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA"


@rule("NC011", on=FieldRemoved, severity=Severity.ERROR, delta_errors=(_ERROR,))
def last_field_dropped(change: FieldRemoved, ctx: RuleContext) -> Iterator[Problem]:
    """A table would lose its last column, or a struct its last field.

    ## What it does

    Finds drops after which a table has no column any more, or a struct no field, at any depth and inside
    arrays and maps too. Several drops that empty it together are one finding, at the last of them.

    No finding are drops where something else is declared in the same place, even if it is new: `apply` adds
    before it drops. Nor is a table that keeps nothing but its partition columns, or a `void`. A drop that is
    not possible for another reason is left to CM002 and CM003.

    ## Why is this bad?

    Delta refuses the last drop with `DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA`, "Cannot drop column from a
    schema with a single column", also where one statement drops them all.

    ## What to do

    Drop the struct itself, or declare what comes instead in the same edit. A table that is not wanted any
    more is dropped as a table: see CT001.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: shipping, type: "struct<street: string, zip: string>"}
    properties: {delta.columnMapping.mode: name}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: shipping, type: "struct<>"}
    dropped: [shipping.street, shipping.zip]
    properties: {delta.columnMapping.mode: name}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    dropped: [shipping]
    properties: {delta.columnMapping.mode: name}
    ```
    """
    parent = change.path[:-1]
    if type_at(ctx.after.columns, parent) != Struct() or not ctx.alters(change):
        return
    before = type_at(ctx.before.columns, parent)
    if isinstance(before, Struct) and before.fields[-1].name != change.field.name:
        return
    what = f"the last field of {format_path(parent)}" if parent else "the table's last column"
    column = parent
    while column and isinstance(column[-1], Part):
        column = column[:-1]  # an array's element cannot be dropped, only the array
    instead = f"drop {format_path(column)} itself" if column else "keep one"
    yield Problem(
        f"{format_path(change.path)} is dropped, and is {what}",
        help=f"{instead}, or declare in the same edit what comes in its place",
        delta_error=_ERROR,
    )
