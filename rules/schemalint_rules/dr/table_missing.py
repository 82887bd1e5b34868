from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import LiveTableMissing, Problem, RuleContext, Severity, rule


@rule(
    "DR003",
    on=LiveTableMissing,
    severity=Severity.ERROR,
    delta_errors=("DELTA_TABLE_NOT_FOUND",),
)
def table_missing(fact: LiveTableMissing, ctx: RuleContext) -> Iterator[Problem]:
    """The table is not at its location.

    ## What it does

    Looks for the Delta log at the contract's location. If the contract is new, a missing log is only an info:
    `apply` creates the table. It is an error if the table should exist: `apply` changed it before, the target
    sets `create = false`, the base has the table at another location, or other files are there: Delta creates
    no table among them, so the log of a table may be gone.

    ## Why is this bad?

    Readers of a missing table fail with `DELTA_TABLE_NOT_FOUND`. With a wrong root or a wrong name, `apply`
    would create an empty table next to the full one.

    ## What to do

    Compare `location`, and the target's `root`, with the table's actual location. Where the files are those
    of the table, restore its `_delta_log`; files of Parquet become a table by CONVERT TO DELTA.

    ## Example

    A contract that was applied before, with no log at its location:

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    location: sales/orders
    columns:
      - {name: order_id, type: bigint}
    ```

    ## Use instead

    The table's actual location:

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    location: silver/sales/orders
    columns:
      - {name: order_id, type: bigint}
    ```
    """
    match fact:
        case LiveTableMissing(uri=uri, expected=None):
            owner = ctx.contract.managed_by
            maker = "`apply`" if owner == "schemalint" else owner
            yield Problem(f"there is no table at {uri} yet: {maker} creates it", severity=Severity.INFO)
        case LiveTableMissing(uri=uri, expected=expected):
            yield Problem(
                f"there is no Delta table at {uri}: {expected}",
                help="compare `location` and the target's `root` with the table's actual location",
                delta_error="DELTA_TABLE_NOT_FOUND",
            )
