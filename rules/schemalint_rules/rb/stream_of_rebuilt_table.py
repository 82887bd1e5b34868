from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_ERROR = "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE"


@rule("RB005", on=Contract, severity=Severity.ERROR, scope="effect", delta_errors=(_ERROR,))
def stream_of_rebuilt_table(contract: Contract, _ctx: RuleContext) -> Iterator[Problem]:
    """A declared stream reads a table that another tool builds anew.

    ## What it does

    Finds consumers with `stream` of a table with `managed_by: {tool: dbt, how: replace}` or `how: rename`:
    whatever changes, each build gives the table a new id.

    ## Why is this bad?

    A stream remembers the id of the table that it reads. After the next build it stops with
    `DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE`, and starts again only with a new checkpoint, from
    the beginning: it writes all rows once more.

    ## What to do

    Let the stream read the table that the build reads, or build the table incrementally.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: finance.exchange_rates
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: currency, type: string}
      - {name: rate, type: "decimal(18,8)"}
    ```

    ```yaml title="after"
    schemalint: 1
    table: finance.exchange_rates
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: currency, type: string}
      - {name: rate, type: "decimal(18,8)"}
    consumers:
      - name: invoices
        owner: "@billing"
        stream: {checkpoint: "s3a://lake/checkpoints/invoices"}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: finance.exchange_rates
    managed_by: {tool: dbt, how: alter}
    columns:
      - {name: currency, type: string}
      - {name: rate, type: "decimal(18,8)"}
    consumers:
      - name: invoices
        owner: "@billing"
        stream: {checkpoint: "s3a://lake/checkpoints/invoices"}
    ```
    """
    if not contract.is_rebuilt:
        return
    for consumer in contract.consumers:
        if consumer.stream is not None:
            yield Problem(
                f"the stream {consumer.described} cannot go on after a build: the table has another id then",
                help="let it read the table that the build reads, or build this one incrementally",
                object=ObjectRef("consumer", consumer.name),
                delta_error=_ERROR,
            )
