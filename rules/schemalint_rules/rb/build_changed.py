from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule

_ERROR = "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE"


@rule("RB007", on=Contract, severity=Severity.WARNING, scope="effect", delta_errors=(_ERROR,))
def build_changed(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """Another tool builds a table in another way than before.

    ## What it does

    Compares `how` of `managed_by` with the base. A table that was altered and is built anew from now on is
    an incremental model of dbt that becomes a `table`, or gets `full_refresh: true`.

    ## Why is this bad?

    CREATE OR REPLACE keeps only the rows that its query returns. Rows that an incremental model collected,
    and its sources have no longer, are gone, and so are properties and constraints that only the table had.
    Each build gives the table another id: streams that read it stop
    (`DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE`). A build beside the table that is renamed loses its
    history too. The other way round, a table that is altered keeps what its declaration no longer says.

    With `use_materialization_v2`, dbt-databricks builds a table by two commits: CREATE OR REPLACE with the
    declared columns, then INSERT. Between them readers see an empty table, and it stays empty if the INSERT
    fails (`create_table_at` of dbt-databricks 1.12.8).

    ## What to do

    Make sure that the query returns all rows that the table has, and tell the readers; then approve the
    change.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: web.page_views
    managed_by: {tool: dbt, how: alter}
    columns:
      - {name: viewed_at, type: timestamp}
      - {name: url, type: string}
    ```

    ```yaml title="after"
    schemalint: 1
    table: web.page_views
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: viewed_at, type: timestamp}
      - {name: url, type: string}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: web.page_views
    managed_by: {tool: dbt, how: alter}
    columns:
      - {name: viewed_at, type: timestamp}
      - {name: url, type: string}
    ```
    """
    base = ctx.base
    if base is None or base.managed_how == contract.managed_how:
        return
    tool = contract.managed_by
    match contract.managed_how:
        case "alter":
            yield Problem(
                f"{tool} alters the table from now on, and no longer builds it anew: "
                "what its declaration loses stays in the table",
                severity=Severity.INFO,
            )
        case "replace" if not base.is_rebuilt:
            yield Problem(
                f"{tool} builds the table anew from now on: rows that the query does not return are gone, "
                "and the table gets another id with each build",
                help="make sure that the query returns all rows of the table",
                delta_error=_ERROR,
            )
        case "replace":
            yield Problem(
                f"{tool} replaces the table from now on, and no longer renames another one",
                severity=Severity.INFO,
            )
        case "create":
            yield Problem(
                f"{tool} only creates the table where it is missing from now on: no change of its "
                "declaration reaches a table that exists",
                help="let the tool alter or replace it, or let schemalint apply the changes",
            )
        case "rename":
            yield Problem(
                f"{tool} builds another table and renames it from now on: the history, the grants and the id "
                "of this one go with each build",
                help="make sure that nobody reads older versions",
                delta_error=_ERROR,
            )
