from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldAdded
from schemalint.delta.path import format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule

_FEATURE = "allowColumnDefaults"
_ONE_STATEMENT = "WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED"


@rule("NC004", on=FieldAdded, severity=Severity.WARNING, delta_errors=(_ONE_STATEMENT,))
def add_column_with_default(change: FieldAdded, ctx: RuleContext) -> Iterator[Problem]:
    """A new column of an existing table has a default, which existing rows do not get.

    ## What it does

    Finds a column with a `default` that the contract adds to an existing table. If the table does not support
    column defaults, PF009 reports that instead.

    ## Why is this bad?

    A default applies to rows that are written after it is set. Existing rows have no value for the new column
    and read as null. Other databases fill them in. Delta does not, and refuses a new column with a default in
    one statement: `ALTER TABLE … ADD COLUMNS (shop STRING DEFAULT 'web')` fails with
    `WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED`. One statement must add the column,
    and a second one set its default.

    ## What to do

    To give existing rows the value, backfill them: `UPDATE sales.orders SET shop = 'web' WHERE shop IS NULL`.
    If null is right for them, do nothing.

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
    supported = _FEATURE in ctx.features | ctx.contract.state.requested_features
    if supported and isinstance(change.field.default, str):
        path = format_path(change.path)
        yield Problem(
            f"{path} is new in an existing table: its default applies to new rows, existing rows read null",
            help=f"backfill existing rows with {change.field.default}, or leave them null",
        )
