from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import NullabilityChanged
from schemalint.delta.path import Part, format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule

_ERROR = "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP"


@rule("NC017", on=NullabilityChanged, severity=Severity.ERROR, delta_errors=(_ERROR,), verdict="impossible")
def nested_nulls_allowed(change: NullabilityChanged, _ctx: RuleContext) -> Iterator[Problem]:
    """Array elements or map values without nulls are declared nullable.

    ## What it does

    Finds `nullable: true` on the elements of an array or the values of a map that the table declares without
    nulls. A column, or a field of a struct, may become nullable. NC001 reports the opposite.

    ## Why is this bad?

    `ALTER TABLE … ALTER COLUMN tags.element DROP NOT NULL` fails with
    `DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP`, and `REPLACE COLUMNS` reports success and changes nothing.
    Measured on Delta 4.4.0.

    ## What to do

    Leave out `nullable`: the contract then does not manage whether the elements or values may be null. To
    store nulls in them, add a new column.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: tags, type: array, element: {type: string, nullable: false}}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: tags, type: array, element: {type: string, nullable: true}}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: tags, type: array, element: {type: string}}
    ```
    """
    if isinstance(change.path[-1], Part) and change.old is False and change.new is True:
        yield Problem(
            f"{format_path(change.path)} is without nulls in the table and cannot become nullable",
            help="leave out `nullable`, or add a new column",
            delta_error=_ERROR,
        )
