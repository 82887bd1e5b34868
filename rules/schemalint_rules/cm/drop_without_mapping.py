from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldRemoved
from schemalint.delta.path import format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("CM002", on=FieldRemoved, severity=Severity.ERROR, delta_errors=("DELTA_UNSUPPORTED_DROP_COLUMN",))
def drop_without_mapping(change: FieldRemoved, ctx: RuleContext) -> Iterator[Problem]:
    """A column is dropped from a table without column mapping.

    ## What it does

    Finds a column that goes and is listed under `dropped`, at any depth, where neither the contract nor the
    table itself has `delta.columnMapping.mode` set to `name` or `id`. A column that goes without being listed
    is CM003.

    ## Why is this bad?

    Without column mapping the values would come back as soon as a column of that name is added again, since
    they are still in the files. `ALTER TABLE … DROP COLUMN` fails with `DELTA_UNSUPPORTED_DROP_COLUMN`,
    "DROP COLUMN is not supported for your Delta table. Please enable Column Mapping on your Delta table with
    mapping mode 'name'". Older pages add that the table needs reader version 2 and writer version 5: today it
    gets the feature `columnMapping` instead, by itself.

    ## What to do

    Set `delta.columnMapping.mode: name`, in the same edit if you like: `apply` switches the mode on first.
    Or keep the column, marked as `deprecated`.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: legacy_code, type: string}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    dropped: [legacy_code]
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    dropped: [legacy_code]
    properties: {delta.columnMapping.mode: name}
    protocol: {allow_upgrade: true}
    ```
    """
    path = format_path(change.path)
    listed = {format_path(entry.path).lower() for entry in ctx.contract.state.dropped}
    if path.lower() in listed and ctx.column_mapping == "none":
        yield Problem(
            f"{path} is dropped, but the table has no column mapping",
            help="set `delta.columnMapping.mode: name` under `properties`, or keep it as `deprecated`",
            delta_error="DELTA_UNSUPPORTED_DROP_COLUMN",
        )
