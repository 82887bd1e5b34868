from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.path import format_path
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_ERROR = "DELTA_SOURCE_TABLE_IGNORE_CHANGES"


@rule("BF005", on=Contract, severity=Severity.WARNING, scope="effect", delta_errors=(_ERROR,))
def fill_is_an_update(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A table that a stream, or a reader of the change data feed, reads gets a column that is filled.

    ## What it does

    Finds declared consumers with `stream`, or with `cdf: true`, of a table to which the contract adds a
    `backfill`.

    ## Why is this bad?

    A fill is an UPDATE of existing rows. A stream without `skipChangeCommits` and `ignoreChanges` stops at
    its first commit with `DELTA_SOURCE_TABLE_IGNORE_CHANGES`. One with `skipChangeCommits` goes on, but never
    sees the filled values: its own table keeps nulls. One with `ignoreChanges` gets whole files again, so it
    writes rows twice unless it can tell them apart. A reader of the change data feed gets two images of each
    filled row (measured on Delta 4.4.0).

    ## What to do

    Before the fill, give the stream `skipChangeCommits`, and fill its own table in the same way; or let it
    read the change data feed. See "Migrate a column" in the documentation.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: code, type: string}
    consumers:
      - {name: silver, owner: "@orders", stream: {checkpoint: "s3a://lake/checkpoints/silver"}}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: code, type: string}
      - {name: number, type: int, backfill: {from: code, with: "cast(code as int)"}}
    consumers:
      - {name: silver, owner: "@orders", stream: {checkpoint: "s3a://lake/checkpoints/silver"}}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: code, type: string}
      - {name: number, type: int}
    consumers:
      - {name: silver, owner: "@orders", stream: {checkpoint: "s3a://lake/checkpoints/silver"}}
    ```
    """
    before = ctx.base.backfills if ctx.base is not None else {}
    new = ", ".join(format_path(path) for path in contract.backfills if path not in before)
    if not new or ctx.is_new_table:
        return
    for consumer in contract.consumers:
        if consumer.stream is not None and not consumer.cdf:
            yield Problem(
                f"the fill of {new} stops the stream {consumer.described} unless it skips changes",
                help="with skipChangeCommits it goes on, and never sees the filled values",
                object=ObjectRef("consumer", consumer.name),
                delta_error=_ERROR,
            )
        elif consumer.cdf:
            yield Problem(
                f"the fill of {new} gives {consumer.described} two images of each filled row",
                help="let it take them as updates",
                object=ObjectRef("consumer", consumer.name),
            )
