from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import LiveTableMissing, LiveTableReplaced, Problem, RuleContext, Severity, rule


@rule(
    "DR003",
    on=(LiveTableMissing, LiveTableReplaced),
    severity=Severity.ERROR,
    delta_errors=("DELTA_TABLE_NOT_FOUND", "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE"),
)
def table_missing(fact: LiveTableMissing | LiveTableReplaced, _ctx: RuleContext) -> Iterator[Problem]:
    """The table is not at its location, or another table is there.

    ## What it does

    Looks for the Delta log at the contract's location. If the contract is new, a missing log is only an info:
    `apply` creates the table. It is an error if the table should exist: `apply` changed it before, the target
    sets `create = false`, or the base has the table at another location. A log with another table id than at
    the last `apply` is an error as well.

    ## Why is this bad?

    Readers of a missing table fail with `DELTA_TABLE_NOT_FOUND`. With a wrong root or a wrong name, `apply`
    would create an empty table next to the full one. A table that was dropped and recreated has lost its
    history, and streams that read it stop for good with `DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE`.

    ## What to do

    Compare `location`, and the target's `root`, with the table's actual location. If the table was recreated
    on purpose, declare its current state, and give its streams new checkpoints.

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
        case LiveTableReplaced(old_id=old_id, new_id=new_id):
            yield Problem(
                f"the table was recreated since the last `apply`: its id is {new_id}, and was {old_id}",
                help="find out who recreated it, and declare its current state",
                old=old_id,
                new=new_id,
                delta_error="DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE",
            )
        case LiveTableMissing(uri=uri, expected=None):
            yield Problem(f"there is no table at {uri} yet: `apply` creates it", severity=Severity.INFO)
        case LiveTableMissing(uri=uri, expected=expected):
            yield Problem(
                f"there is no Delta table at {uri}: {expected}",
                help="compare `location` and the target's `root` with the table's actual location",
                delta_error="DELTA_TABLE_NOT_FOUND",
            )
