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
    """The table is not where it should be, or is another one.

    ## What it does

    Looks for the Delta log where the contract says the table lies. No log there is only worth a word if
    the contract is new: `apply` creates the table. It is an error if there should be one: the table was
    applied to before, the target says `create = false`, or the contract was moved from another place. A log
    with another table id than the one that was applied to is an error as well.

    ## Why is this bad?

    Readers of a table that is gone fail with `DELTA_TABLE_NOT_FOUND`. A wrong root or a wrong name would make
    `apply` create an empty table beside the full one. A table that
    was dropped and made again has lost its history, and streams that read it stop for good with
    `DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE`.

    ## What to do

    Compare `location`, and the target's `root`, with where the table is. If the table was made anew on
    purpose, declare what it is now, and give its streams new checkpoints.

    ## Example

    A contract that was applied before, and no log at its place:

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    location: sales/orders
    columns:
      - {name: order_id, type: bigint}
    ```

    ## Use instead

    The location where the table is:

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
                f"the table was recreated since it was applied to: its id is {new_id}, and was {old_id}",
                help="find out who made it anew, and declare what is there now",
                old=old_id,
                new=new_id,
                delta_error="DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE",
            )
        case LiveTableMissing(uri=uri, expected=None):
            yield Problem(f"there is no table at {uri} yet: it is to be created", severity=Severity.INFO)
        case LiveTableMissing(uri=uri, expected=expected):
            yield Problem(
                f"there is no Delta table at {uri}: {expected}",
                help="compare `location` and the target's `root` with where the table is",
                delta_error="DELTA_TABLE_NOT_FOUND",
            )
