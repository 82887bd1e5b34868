from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldRenamed
from schemalint.delta.path import format_path
from schemalint.delta.properties import COLUMN_MAPPING_MODE
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule(
    "CM001",
    on=FieldRenamed,
    severity=Severity.ERROR,
    delta_errors=("DELTA_UNSUPPORTED_RENAME_COLUMN",),
    verdict="impossible",
)
def rename_without_mapping(change: FieldRenamed, ctx: RuleContext) -> Iterator[Problem]:
    """A column is renamed on a table without column mapping.

    ## What it does

    Finds a declared rename (`renamed_from`), at any depth, if neither the contract nor the table itself sets
    `delta.columnMapping.mode` to `name` or `id`.

    ## Why is this bad?

    Without column mapping the column name is also the name in the Parquet files, so another name means
    another column. `ALTER TABLE … RENAME COLUMN` fails with `DELTA_UNSUPPORTED_RENAME_COLUMN`, "Column rename
    is not supported for your Delta table. Please enable Column Mapping on your Delta table with mapping mode
    'name'". Older documentation adds that the table needs reader version 2 and writer version 5: current
    Delta adds the feature `columnMapping` instead, by itself.

    ## What to do

    Set `delta.columnMapping.mode: name`, in the same edit if you like: `apply` enables column mapping first,
    in a separate commit. Existing files stay unchanged. Readers must then support column mapping (see PF004),
    and streams that read the table need a schema tracking location.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: cust, type: string}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: customer_ref, type: string, renamed_from: cust}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: customer_ref, type: string, renamed_from: cust}
    properties: {delta.columnMapping.mode: name}
    protocol: {allow_upgrade: true}
    ```
    """
    if not ctx.has_column_mapping:
        old = format_path((*change.path[:-1], change.old_name))
        yield Problem(
            f"{old} is renamed to {format_path(change.path)}, but the table has no column mapping",
            help=ctx.wording.either(ctx.wording.setting("delta.columnMapping.mode", "name"), "keep the name"),
            remedy=lambda: ctx.contract.state.with_property(COLUMN_MAPPING_MODE, "name"),
            delta_error="DELTA_UNSUPPORTED_RENAME_COLUMN",
        )
