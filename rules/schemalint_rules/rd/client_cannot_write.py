from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Problem, RuleContext, Severity, SupportLost, rule


@rule("RD003", on=SupportLost, severity=Severity.ERROR, scope="effect")
def client_cannot_write(lost: SupportLost, _ctx: RuleContext) -> Iterator[Problem]:
    """A declared writer can still read the table after this change, but no longer write it.

    ## What it does

    Asks the client table about consumers with `access: write`, and about the `engine` of a target. A
    writer must support all features of the table; it is reported if it loses write access, whatever
    brings the feature. RD001 and RD015 report those that lose read access too.

    ## Why is this bad?

    A client refuses to write a table with a feature that it does not know. The pipeline fails at its next
    run, after the commit that nobody has connected with it.

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
    consumers: [{name: loader, client: trino, version: "476", access: write, owner: "@etl"}]
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers: [{name: loader, client: trino, version: "476", access: write, owner: "@etl"}]
    properties: {delta.enableRowTracking: true}
    protocol: {allow_upgrade: true}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers: [{name: loader, client: trino, version: "476", access: read, owner: "@etl"}]
    # once this is merged: the change
    ```
    """
    if lost.kind == "writes":
        yield Problem(
            f"{lost.who} can no longer write the table: {lost.why}, by {lost.cause_text}", help=lost.help
        )
