from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Problem, RuleContext, Severity, SupportLost, rule


@rule("RD002", on=SupportLost, severity=Severity.ERROR, scope="effect")
def client_reads_wrongly(lost: SupportLost, _ctx: RuleContext) -> Iterator[Problem]:
    """A declared client returns wrong rows after this change, without an error.

    ## What it does

    Asks the client table, as RD001 does, and reports the clients that return rows that are not in the
    table, or NULL in place of values. For a range of versions, or a client of which no read path is
    declared, the worst of what they cover counts.

    ## Why is this bad?

    Nobody notices: reports and models go on with wrong numbers. deltalake 1.6.4 to 1.6.6, for example,
    returns NULL in place of every value of a table with column mapping if the table has reader version 2,
    and Delta Spark 4.4.0 gives an existing table this version.

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
    properties: {delta.columnMapping.mode: name}
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
    if lost.kind == "wrong":
        yield Problem(f"{lost.who} will read the table wrongly: {lost.why}", help=lost.help)
