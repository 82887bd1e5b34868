from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import JudgedException, Problem, RuleContext, Severity, rule


@rule("CT011", on=JudgedException, severity=Severity.INFO)
def exception_expires_soon(judged: JudgedException, _ctx: RuleContext) -> Iterator[Problem]:
    """An exception that is in use ends within 30 days.

    ## What it does

    Finds exceptions that approve a finding of this run, and whose last day (`expires`) is at most 30 days
    away.

    ## Why is this bad?

    From the next day on the finding counts again, and whoever changes the table next meets it.

    ## What to do

    End what it approves, or agree on another last day in time.

    ## Example

    The tests judge this example on 2026-06-15:

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: code, type: string, deprecated: {remove_after: 2999-12-31}}
    properties: {delta.columnMapping.mode: name}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    dropped: [code]
    properties: {delta.columnMapping.mode: name}
    allow:
      - {rule: CT003, column: code, from: string, reason: nobody reads it, expires: 2026-06-30}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    dropped: [code]
    properties: {delta.columnMapping.mode: name}
    allow:
      - {rule: CT003, column: code, from: string, reason: nobody reads it, expires: 2026-12-31}
    ```
    """
    if judged.fault == "expires soon":
        left = "today is its last day" if not judged.days else f"{judged.days} days are left"
        yield Problem(f"{judged.written.title} ends on {judged.written.exception.expires}: {left}")
