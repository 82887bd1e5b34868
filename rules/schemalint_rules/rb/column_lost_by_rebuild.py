from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldRemoved, FieldRenamed
from schemalint.delta.path import format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("RB001", on=(FieldRemoved, FieldRenamed), severity=Severity.ERROR, tables="rebuilt")
def column_lost_by_rebuild(change: FieldRemoved | FieldRenamed, ctx: RuleContext) -> Iterator[Problem]:
    """The next build of a table leaves out a column, or gives it another name.

    ## What it does

    Finds columns that are gone, at any depth, in a table that another tool builds anew
    (`managed_by: {tool: dbt, how: replace}`, a `table` model of dbt). No statement drops or renames them:
    `CREATE OR REPLACE TABLE … AS SELECT` makes the table without them. A renamed column is a new one.

    ## Why is this bad?

    Delta refuses nothing here, and the build succeeds. Queries that name the column fail from then on, and
    dashboards with `SELECT *` lose it silently. Older versions have its values only until `VACUUM` deletes
    their files.

    ## What to do

    Ask the readers first. Build the new column beside the old one, move the readers, and then take the old
    one away, with an exception that names this finding.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: crm.customers
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: customer_id, type: bigint}
      - {name: segment, type: string}
    ```

    ```yaml title="after"
    schemalint: 1
    table: crm.customers
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: customer_id, type: bigint}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: crm.customers
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: customer_id, type: bigint}
      - {name: segment, type: string}
    ```
    """
    name = format_path(change.path)
    naming = [consumer.described for consumer in ctx.consumers_by_column.around(change.path)]
    readers = ""
    if naming:
        readers = f"; {', '.join(naming)} {'names' if len(naming) == 1 else 'name'} it"
    match change:
        case FieldRemoved():
            what = f"{name} is gone from the table after the next build{readers}"
        case FieldRenamed(old_name=old):
            what = f"{old} is gone from the table after the next build, and {name} is a new column{readers}"
    yield Problem(what, help="build the new columns beside it, and take it away when nobody reads it")
