from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import ConstraintChanged, PropertyChanged
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("RB011", on=(ConstraintChanged, PropertyChanged), severity=Severity.WARNING, scope="effect")
def setting_change_not_followed(
    change: ConstraintChanged | PropertyChanged, ctx: RuleContext
) -> Iterator[Problem]:
    """The tool that alters a table does not bring a changed constraint or property to it.

    ## What it does

    Finds CHECK constraints and table properties that change in an incremental model of dbt
    (`managed_by: {tool: dbt, on_column_change: append}`). dbt-spark makes both only where it creates the
    table (`persist_constraints` and `tblproperties_clause` of its version 1.11.0), so no run brings a new
    one to a table that exists. dbt-databricks alters the table, unless `incremental_apply_config_changes` is
    false: then the rule finds it there too.

    ## Why is this bad?

    The run succeeds, and nothing checks the values: readers count on a promise that the table does not have.
    A new environment gets the constraint, and the old tables stay without it.

    ## What to do

    Alter the table once, with the statement that the help has, or rebuild it (`dbt run --full-refresh`).

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: support.tickets
    managed_by: {tool: dbt, on_column_change: append}
    columns:
      - {name: ticket_id, type: bigint}
    ```

    ```yaml title="after"
    schemalint: 1
    table: support.tickets
    managed_by: {tool: dbt, on_column_change: append}
    columns:
      - {name: ticket_id, type: bigint}
    constraints: {positive: ticket_id > 0}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: support.tickets
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: ticket_id, type: bigint}
    constraints: {positive: ticket_id > 0}
    ```
    """
    contract = ctx.contract
    if contract.on_column_change is None or contract.alters_settings or not isinstance(change.new, str):
        return
    if isinstance(change, PropertyChanged):
        what, statement = f"the property {change.key}", f"SET TBLPROPERTIES ('{change.key}' = '{change.new}')"
    else:
        # Without a name, the declaration stands for it; dbt makes one up.
        name = "NAME" if " " in change.name else change.name
        what, statement = f"the constraint {change.name}", f"ADD CONSTRAINT {name} CHECK ({change.new})"
        if isinstance(change.old, str):
            statement = f"DROP CONSTRAINT {name}`, then `ALTER TABLE … {statement}"
    yield Problem(
        f"{contract.managed_by} does not bring {what} to a table that exists: only a new one gets it",
        help=f"run `ALTER TABLE … {statement}` once, or rebuild the table",
    )
