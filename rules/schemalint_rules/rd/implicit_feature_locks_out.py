from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Problem, RuleContext, Severity, SupportLost, rule


@rule("RD015", on=SupportLost, severity=Severity.ERROR, scope="effect")
def implicit_feature_locks_out(lost: SupportLost, _ctx: RuleContext) -> Iterator[Problem]:
    """A feature that comes with something else locks a declared client out.

    ## What it does

    Asks the client table, as RD001 does, and reports the clients that can no longer read the table
    because of a feature that the contract does not name: a property, a column type, a constraint or
    another feature adds it.

    ## Why is this bad?

    A property looks like a setting of the table, and a `timestamp_ntz` column like any other. But Delta
    adds the feature to the protocol, and a client that does not know it refuses the whole table, whether
    or not a query uses what the feature is for. The feature stays when the property goes.

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
    properties: {delta.enableDeletionVectors: true}
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
    if lost.kind == "implicit":
        yield Problem(
            f"{lost.who} can no longer read the table: {lost.cause_text} adds {lost.why}", help=lost.help
        )
