from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Problem, RuleContext, Severity, TableRetired, rule


@rule("CT001", on=TableRetired, severity=Severity.ERROR)
def table_removed(retired: TableRetired, _ctx: RuleContext) -> Iterator[Problem]:
    """A contract is gone, and its table is left alone.

    ## What it does

    Finds a table that a contract of the base declares, and none does now. A contract that moves to another
    file is the same contract: it is known by its `table`.

    ## Why is this bad?

    schemalint never drops a table. Without a contract it stays as it is, nobody watches it any more, and
    those who read it learn nothing of what happens to it.

    ## What to do

    If the table is to go, move its consumers first, drop it by hand, and approve the removal in the
    configuration:

    ```toml
    [[tool.schemalint.removed]]
    table = "sales.orders"
    reason = "replaced by sales.orders_v2"
    approved_by = "@data-platform"
    ```

    If it stays and is altered by somebody else, keep the contract and say so with `managed_by`.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers:
      - {name: dashboards, client: trino, version: "476"}
    ```

    ```yaml title="after"
    # no contract any more
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    managed_by: shop-team
    columns:
      - {name: order_id, type: bigint}
    consumers:
      - {name: dashboards, client: trino, version: "476"}
    ```
    """
    if retired.approved is not None:
        yield Problem(f"the contract is gone, as approved: {retired.approved}", severity=Severity.INFO)
        return
    names = ", ".join(consumer.name for consumer in retired.contract.consumers)
    yield Problem(
        "the contract is gone" + (f", but the table has consumers: {names}" if names else ""),
        help="put it back, or approve the removal under `removed` in the configuration; the table stays",
    )
