from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule


@rule("RB010", on=Contract, severity=Severity.WARNING)
def change_reaches_no_table(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A change is made to a declaration that reaches no table which exists.

    ## What it does

    Compares the declaration of a table that another tool only creates where it is missing
    (`managed_by: {tool: job, how: create}`, or `CREATE TABLE IF NOT EXISTS` in a SQL file) with the base.
    Other rules say nothing of such a change: nothing happens.

    ## Why is this bad?

    `CREATE TABLE IF NOT EXISTS` does nothing to a table that exists, whatever the statement says (measured on
    Delta 4.4.0). The job succeeds, the table stays as it was, and from then on the declaration is not what
    readers find. A new environment gets the new table, and the old ones keep the old one.

    ## What to do

    Let schemalint apply the changes (`managed_by: schemalint`), or alter the tables that exist by hand, and
    approve the change.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.refunds
    managed_by: {tool: job, how: create}
    columns:
      - {name: refund_id, type: bigint}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.refunds
    managed_by: {tool: job, how: create}
    columns:
      - {name: refund_id, type: bigint}
      - {name: reason, type: string}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.refunds
    columns:
      - {name: refund_id, type: bigint}
      - {name: reason, type: string}
    ```
    """
    base = ctx.base
    if base is None or contract.managed_how != "create" or base.managed_how != "create":
        return
    if base.state != contract.state:
        yield Problem(
            f"{contract.managed_by} creates the table only where it is missing: this change reaches no table "
            "that exists",
            help=f"let schemalint apply it ({ctx.wording.managed}), or alter the tables by hand and approve "
            "the change",
        )
