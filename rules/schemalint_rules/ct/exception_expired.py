from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Fix, JudgedException, Problem, RuleContext, Severity, rule


@rule("CT004", on=JudgedException, severity=Severity.WARNING, fixable=True)
def exception_expired(judged: JudgedException, _ctx: RuleContext) -> Iterator[Problem]:
    """An exception is past its last day.

    ## What it does

    Finds exceptions (`allow`, `exceptions.yaml`) whose `expires` is past, in UTC, or is no date such as
    `2026-12-31`. They approve nothing: what they approved is a finding again.

    ## Why is this bad?

    The day was agreed on, so that the exception does not outlive its reason.

    ## What to do

    Remove the exception with `schemalint check --fix`, and end what it approved; or ask whoever approved it
    for another day.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.enableFastWrites: true}
    allow:
      - {rule: TP001, property: delta.enableFastWrites, to: "true", reason: a trial, expires: 2020-12-31}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    ```
    """
    if judged.fault == "expired":
        last = judged.written.exception.expires
        ended = f"expired on {last}" if judged.days is not None else f"has expired: {last!r} is no date"
        yield Problem(
            f"{judged.written.title} {ended}",
            help="remove it, or agree on another last day",
            fix=Fix("remove the exception", ()),
        )
