from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule


@rule("CT009", on=Contract, severity=Severity.ERROR, scope="contract")
def consumer_declared_twice(contract: Contract, _ctx: RuleContext) -> Iterator[Problem]:
    """The contract declares a consumer that the configuration declares too.

    ## What it does

    Finds a consumer that is written out under `consumers`, of the contract or of one of its targets, with the
    name of a `[consumers.<name>]` of the configuration.

    ## Why is this bad?

    One name stands for two declarations. When the client is upgraded, one of them is forgotten, and findings
    do not tell which of the two breaks.

    ## What to do

    Name the consumer only, or give the one in the contract a name of its own.

    ## Example

    ```toml title="configuration"
    [consumers.dashboards]
    client = "trino"
    version = "476"
    ```

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers:
      - {name: dashboards, client: trino, version: "450"}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers: [dashboards]
    ```
    """
    for fault in contract.consumer_faults:
        if fault.kind == "declared twice":
            yield Problem(
                f"the configuration declares the consumer {fault.consumer} too",
                help=f"name it only: consumers: [{fault.consumer}]; or give this one another name",
                object=ObjectRef("consumer", fault.consumer),
            )
