from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldRemoved
from schemalint.delta.datatype import Struct, type_at
from schemalint.delta.path import Part, format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule

_ERROR = "DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA"


@rule("NC011", on=FieldRemoved, severity=Severity.ERROR, delta_errors=(_ERROR,), verdict="impossible")
def last_field_dropped(change: FieldRemoved, ctx: RuleContext) -> Iterator[Problem]:
    """A table would lose its last column, or a struct its last field.

    ## What it does

    Finds drops that leave a table without columns, or a struct without fields, at any depth, also inside
    arrays and maps. If several drops empty it together, the rule reports only the last of them.

    A drop is fine if the same edit declares another column or field at the same level, even a new one:
    `apply` adds before it drops. A table that keeps only its partition columns (NC013 warns), or only a
    `void`, is fine too. CM002 and CM003 report drops that fail for another reason.

    ## Why is this bad?

    Delta refuses the last drop with `DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA`, "Cannot drop column from a
    schema with a single column", even if one statement drops all of them.

    ## What to do

    Drop the struct itself, or declare its replacement in the same edit. To remove a table, drop the table
    itself: see CT001.

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
    role = f"the last field of {format_path(parent)}" if parent else "the table's last column"
    column = parent
    while column and isinstance(column[-1], Part):
        column = column[:-1]  # Delta cannot drop an array's element, only the array
    instead = f"drop {format_path(column)} itself" if column else "keep one column"
    yield Problem(
        f"{format_path(change.path)} is {role} and cannot be dropped",
        help=f"{instead}, or declare a replacement in the same edit",
        delta_error=_ERROR,
    )
