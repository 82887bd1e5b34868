from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_VERSIONS = "write a version such as 476 or 1.6.4, or a range such as >=1.6,<2"


@rule("CT010", on=Contract, severity=Severity.ERROR, scope="contract")
def client_unknown(contract: Contract, _ctx: RuleContext) -> Iterator[Problem]:
    """A consumer has a client, a version or a read path that schemalint does not know.

    ## What it does

    Finds consumers that are written out under `consumers`, of the contract or of one of its targets, with

    - a `client` that is neither in the client table nor under `[[clients]]` of the configuration;
    - a `version` that is neither a version nor a range of versions;
    - a `read_path` that the client does not have.

    A client, version or read path of the configuration that is unknown ends the run as invalid input.

    ## Why is this bad?

    schemalint cannot tell what such a consumer reads, so no change is known to break it. Mostly the value is
    misspelt.

    ## What to do

    `schemalint clients` lists the clients. Leave `client` out for one that is not among them, or add its rows
    to the configuration under `[[clients]]`.

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
    consumers:
      - {name: dashboards, client: trinoo, version: "476"}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers:
      - {name: dashboards, client: trino, version: "476"}
    ```
    """
    for fault in contract.consumer_faults:
        match fault.kind:
            case "client":
                help_ = "`schemalint clients` lists the clients; leave `client` out for another one"
            case "read_path":
                help_ = "leave `read_path` out for all of them"
            case "version":
                help_ = _VERSIONS
            case _:
                continue
        yield Problem(
            f"the {fault.kind} of the consumer {fault.consumer} is unknown: {fault.value}",
            help=f"did you mean {fault.nearest}?" if fault.nearest else help_,
            object=ObjectRef("consumer", fault.consumer),
            part=fault.kind,
        )
