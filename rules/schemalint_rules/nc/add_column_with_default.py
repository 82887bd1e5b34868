from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldAdded
from schemalint.delta.path import format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule

_FEATURE = "allowColumnDefaults"
_ONE_STATEMENT = "WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED"


@rule("NC004", on=FieldAdded, severity=Severity.WARNING, delta_errors=(_ONE_STATEMENT,))
def add_column_with_default(change: FieldAdded, ctx: RuleContext) -> Iterator[Problem]:
    """A new column of an existing table has a default, which old rows do not get.

    ## What it does

    Finds a column with a `default` that is added to an existing table. Where the table does not support
    defaults at all, PF009 says so, and nothing is said here.

    ## Why is this bad?

    A default counts for rows that are written after it was set. The rows that are there already have no value
    for the new column, and read as null. Other databases fill them; Delta cannot, and says so by refusing
    both in one statement: `ALTER TABLE … ADD COLUMNS (shop STRING DEFAULT 'web')` fails with
    `WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED`. The column has to be added first,
    and get its default in a second statement.

    ## What to do

    If the old rows are to have the value too, backfill them:
    `UPDATE sales.orders SET shop = 'web' WHERE shop IS NULL`. If null is right for them, nothing.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    features: [allowColumnDefaults]
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: shop, type: string, default: "'web'"}
    features: [allowColumnDefaults]
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: shop, type: string}
    features: [allowColumnDefaults]
    ```
    """
    supported = _FEATURE in ctx.features | ctx.contract.state.asked_features
    if supported and isinstance(change.field.default, str):
        path = format_path(change.path)
        yield Problem(
            f"{path} is new in an existing table: its default counts for new rows, the old ones read null",
            help=f"backfill the old rows with {change.field.default}, or leave them null",
        )
