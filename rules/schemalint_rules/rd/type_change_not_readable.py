from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Problem, RuleContext, Severity, SupportLost, rule


@rule("RD004", on=SupportLost, severity=Severity.ERROR, scope="effect")
def type_change_not_readable(lost: SupportLost, _ctx: RuleContext) -> Iterator[Problem]:
    """A declared client knows the feature typeWidening, but not this type change.

    ## What it does

    Asks the client table about each pair of types: the feature alone does not say which changes a client
    can read. Reports the clients that can no longer read the table because of a type change in it;
    clients without the feature are reported once, where the feature comes.

    ## Why is this bad?

    Delta Spark 3.2 and 3.3 read a table with the feature, and fail on a column that was widened from
    `int` to `bigint`: their preview knows only the changes among `byte`, `short` and `int`. The other
    columns cannot be read either where a query selects all of them.

    ## What to do

    Upgrade the client, change its `version` under `consumers`, and merge that first: a consumer that a
    change alters counts as the base declares it too. Or do without the change: the help names the first
    version and the read path with which the client keeps the table, as far as the client table knows one.
    `schemalint clients` prints that table with its evidence; rows of your own go under `[[clients]]` in
    the configuration. A new column with the wider type, filled by the writers, keeps the old one
    readable.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: int}
    properties: {delta.enableTypeWidening: true}
    features: [typeWidening-preview]
    consumers: [{name: nightly, client: delta-spark, version: "3.3.0", owner: "@etl"}]
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint, type_changes: [{from: int, to: bigint}]}
    properties: {delta.enableTypeWidening: true}
    features: [typeWidening-preview]
    consumers: [{name: nightly, client: delta-spark, version: "3.3.0", owner: "@etl"}]
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: int}
    properties: {delta.enableTypeWidening: true}
    features: [typeWidening-preview]
    consumers: [{name: nightly, client: delta-spark, version: "4.4.0", owner: "@etl"}]
    # once this is merged: the change
    ```
    """
    if lost.kind == "type change":
        yield Problem(f"{lost.who} can no longer read the table: {lost.why}", help=lost.help)
