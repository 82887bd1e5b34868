from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Problem, RuleContext, Severity, TableRetired, rule


@rule("CT001", on=TableRetired, severity=Severity.ERROR)
def table_removed(retired: TableRetired, _ctx: RuleContext) -> Iterator[Problem]:
    """A contract was removed, but its table stays.

    ## What it does

    Finds a table that a contract of the base declares and no current contract does. A contract that moves to
    another file is the same contract: its `table` identifies it.

    ## Why is this bad?

    schemalint never drops a table. Without a contract the table stays unchanged, schemalint no longer checks
    it, and its readers learn nothing of later changes.

    ## What to do

    To remove the table, move its consumers first, drop it by hand, and approve the removal in the
    configuration:

    ```toml
    [[tool.schemalint.removed]]
    table = "sales.orders"
    reason = "replaced by sales.orders_v2"
    approved_by = "@data-platform"
    ```

    If the table stays and another owner alters it, keep the contract and set `managed_by`.

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
        yield Problem(f"the contract was removed, as approved: {retired.approved}", severity=Severity.INFO)
        return
    names = ", ".join(consumer.name for consumer in retired.contract.consumers)
    yield Problem(
        "the contract was removed" + (f", but the table has consumers: {names}" if names else ""),
        help="restore it, or approve the removal under `removed` in the configuration; the table stays",
    )
