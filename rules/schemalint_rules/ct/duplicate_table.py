from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import DuplicateTable, Problem, RuleContext, Severity, rule


@rule("CT002", on=DuplicateTable, severity=Severity.ERROR, verdict="impossible")
def duplicate_table(duplicate: DuplicateTable, ctx: RuleContext) -> Iterator[Problem]:
    """Two contracts declare the same table, or the same location.

    ## What it does

    Finds contracts with the same `table` (ignoring case and back-quotes), in one file or in several, and
    contracts whose tables have the same location in some target.

    ## Why is this bad?

    Each of the two would undo what the other declares, and which one is applied last is an accident. Often
    the second one is a copy whose name was never changed.

    ## What to do

    Keep one of them. Put the differences between environments under `targets` of that contract.

    ## Example

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    ---
    schemalint: 1
    table: Sales.Orders
    columns:
      - {name: order_id, type: bigint}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    ---
    schemalint: 1
    table: sales.returns
    columns:
      - {name: order_id, type: bigint}
    ```
    """
    yield Problem(
        f"another contract, at {duplicate.other}, also declares the {duplicate.kind} {duplicate.value}",
        help="keep one of the two"
        + ("; put differences between environments under `targets`" if ctx.wording.by_target else ""),
    )
