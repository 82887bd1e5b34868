from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Problem, RuleContext, Severity, SupportLost, rule


@rule("RD001", on=SupportLost, severity=Severity.ERROR, scope="effect")
def client_refuses(lost: SupportLost, _ctx: RuleContext) -> Iterator[Problem]:
    """A declared client refuses to read the table after this change.

    ## What it does

    Asks the client table what the client of each consumer does with the table before and after the
    change, and reports the clients that can no longer read it because of something that the contract
    names itself: a feature, the mode of column mapping, a void column, which Delta Spark 4.0.1 adds but
    cannot select, or UniForm, without which readers of Iceberg find no metadata. RD015 reports features
    that come with something else, RD004 type changes, RD003 writers, and RD002 clients that return wrong
    rows. One finding for each thing that changes lists all consumers; clients that could not read the
    table before are not listed.

    ## Why is this bad?

    A client refuses a table with a reader feature that it does not know. All its queries fail from the
    commit on.

    ## What to do

    Upgrade the client, change its `version` under `consumers`, and merge that first: a consumer that a
    change alters counts as the base declares it too. Or do without the change: the help names the first
    version and the read path with which the client keeps the table, as far as the client table knows one.
    `schemalint clients` prints that table with its evidence; rows of your own go under `[[clients]]` in
    the configuration.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers: [{name: ml, client: deltalake, version: "1.6.6", read_path: pyarrow, owner: "@ml"}]
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers: [{name: ml, client: deltalake, version: "1.6.6", read_path: pyarrow, owner: "@ml"}]
    features: [deletionVectors]
    protocol: {allow_upgrade: true}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers: [{name: ml, client: deltalake, version: "1.6.6", read_path: query-builder, owner: "@ml"}]
    # once this is merged: the change
    ```
    """
    if lost.kind == "refuses":
        yield Problem(f"{lost.who} can no longer read the table: {lost.why}", help=lost.help)
