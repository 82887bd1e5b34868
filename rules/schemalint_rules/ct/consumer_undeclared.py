from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_HELP = "declare it under [consumers.<name>], or write it out: {name: …, client: …}"


@rule("CT008", on=Contract, severity=Severity.ERROR, scope="contract")
def consumer_undeclared(contract: Contract, _ctx: RuleContext) -> Iterator[Problem]:
    """The contract names a consumer that the configuration does not declare.

    ## What it does

    Finds a name under `consumers`, of the contract or of one of its targets, that is not the name of a
    `[consumers.<name>]` of the configuration.

    ## Why is this bad?

    A name stands for what the configuration declares: the client, its version, its stream. Without that
    schemalint does not know whom a change breaks, and is silent.

    ## What to do

    Correct the name, declare the consumer in the configuration, or write it out in the contract:

    ```toml
    [consumers.dashboards]
    client = "trino"
    version = "476"
    owner = "@bi"
    ```

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers: [dashboards]
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers:
      - {name: dashboards, client: trino, version: "476", owner: "@bi"}
    ```
    """
    for fault in contract.consumer_faults:
        if fault.kind == "undeclared":
            yield Problem(
                f"the configuration does not declare the consumer {fault.consumer}",
                help=f"did you mean {fault.nearest}?" if fault.nearest else _HELP,
                object=ObjectRef("consumer", fault.consumer),
            )
