from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Fix, JudgedException, Problem, RuleContext, Severity, rule


@rule("CT005", on=JudgedException, severity=Severity.WARNING, fixable=True)
def exception_unused(judged: JudgedException, ctx: RuleContext) -> Iterator[Problem]:
    """An exception approves no finding of this run.

    ## What it does

    Finds exceptions (`allow`, `exceptions.yaml`) of judged tables that name no finding: the
    change is merged, the finding is gone, or the exception names another object or another change. One of a
    rule that judges only live tables is found with `--live` alone. So is one with `via: rewrite` that the
    base has too, since the rewrite may still be to come. One of a rule about histories or data files is found
    by `audit`.

    ## Why is this bad?

    A reader takes it for a permission that is in use. If a name in it is wrong, what it should approve is
    still a finding.

    ## What to do

    Correct it if it was meant for a finding of this run. Remove it otherwise, with `schemalint check --fix`:
    a plan counts the exceptions of all revisions since the one that was applied last, so what waits for its
    deploy stays approved.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    allow:
      - {rule: CT003, column: legacy_code, from: string, reason: nobody reads it}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    ```
    """
    if judged.fault == "unused":
        yield Problem(
            f"{judged.written.title} approves nothing here",
            help=_help(judged, ctx),
            fix=Fix("remove the exception", ()),
        )


def _help(judged: JudgedException, ctx: RuleContext) -> str:
    wanted = (
        f"let it say {ctx.wording.entry(judged.wanted)}, as a finding of this run" if judged.wanted else ""
    )
    return ctx.wording.either("remove it", wanted)
