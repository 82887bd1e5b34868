from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldRemoved
from schemalint.delta.path import format_path, path_key
from schemalint.delta.properties import COLUMN_MAPPING_MODE
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule(
    "CM002",
    on=FieldRemoved,
    severity=Severity.ERROR,
    delta_errors=("DELTA_UNSUPPORTED_DROP_COLUMN",),
    verdict="impossible",
)
def drop_without_mapping(change: FieldRemoved, ctx: RuleContext) -> Iterator[Problem]:
    """A column is dropped from a table without column mapping.

    ## What it does

    Finds a removed column that the contract lists under `dropped`, at any depth, if neither the contract nor
    the table itself sets `delta.columnMapping.mode` to `name` or `id`. CM003 reports a removed column that
    the contract does not list.

    ## Why is this bad?

    Without column mapping the values stay in the files under the column's name, and would reappear as soon as
    a column of that name is added again. `ALTER TABLE … DROP COLUMN` fails with
    `DELTA_UNSUPPORTED_DROP_COLUMN`, "DROP COLUMN is not supported for your Delta table. Please enable Column
    Mapping on your Delta table with mapping mode 'name'". Older documentation adds that the table needs
    reader version 2 and writer version 5: current Delta adds the feature `columnMapping` instead, by itself.

    ## What to do

    Set `delta.columnMapping.mode: name`, in the same edit if you like: `apply` enables column mapping first.
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
    if path_key(change.path) in ctx.contract.state.dropped_by_key and not ctx.has_column_mapping:
        yield Problem(
            f"{format_path(change.path)} is dropped, but the table has no column mapping",
            help=ctx.wording.either(
                ctx.wording.setting("delta.columnMapping.mode", "name"),
                ctx.wording.keep_deprecated,
            ),
            remedy=lambda: ctx.contract.state.with_property(COLUMN_MAPPING_MODE, "name"),
            delta_error="DELTA_UNSUPPORTED_DROP_COLUMN",
        )
