from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import JudgedException, Problem, RuleContext, Severity, rule


@rule("CT012", on=JudgedException, severity=Severity.WARNING)
def exception_without_effect(judged: JudgedException, _ctx: RuleContext) -> Iterator[Problem]:
    """An exception names a finding, but cannot approve it.

    ## What it does

    Finds exceptions that do not count, although a finding is of their rule and object:

    - the rule is `impossible`, so that Delta refuses the change whoever approves it, and the exception has no
      `via: rewrite`;
    - the exception lacks its object, or the `from` and `to` of the finding;
    - it gives no reason, or there is no rule with its name;
    - the change under review adds it and comes from a fork, or `exceptions.accept` of the base leaves it out;
    - nothing approves the finding: a protocol upgrade (PF004), a setting of the gate (CF).

    ## Why is this bad?

    Its author believes that the finding is approved. It is not, and it still fails the run.

    ## What to do

    Follow the message: name the change, take another way out, or let the base have the exception first.

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
      - {name: order_id, type: int}
    allow:
      - {rule: TW001, column: order_id, from: bigint, to: int, reason: all ids are small}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: int}
    allow:
      - {rule: TW001, column: order_id, from: bigint, to: int, via: rewrite, reason: all ids are small}
    ```
    """
    if judged.fault == "without effect":
        yield Problem(f"{judged.written.title} has no effect: {judged.reason}")
