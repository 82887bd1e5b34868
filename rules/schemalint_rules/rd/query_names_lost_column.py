from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldRemoved, FieldRenamed
from schemalint.delta.path import Path, format_path, path_key
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("RD005", on=(FieldRemoved, FieldRenamed), severity=Severity.ERROR, scope="effect")
def query_names_lost_column(change: FieldRemoved | FieldRenamed, ctx: RuleContext) -> Iterator[Problem]:
    """A declared consumer names a column that this change drops or renames.

    ## What it does

    Compares the `columns` of each consumer with the columns that are dropped or renamed, and with the
    fields inside of them. A consumer without `columns` may use any column; it is not reported. Neither is
    a column whose line is taken away without `dropped`: it stays in the table.

    ## Why is this bad?

    A query that names the column fails with `UNRESOLVED_COLUMN`, or what its client calls it. Column
    mapping keeps the data where it is; it does not keep the name.

    ## What to do

    Change the query first and take the column out of its `columns`. For a rename, a view with the old
    name can bridge the time between.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: cust, type: string}
    properties: {delta.columnMapping.mode: name}
    consumers: [{name: dashboards, columns: [order_id, cust], owner: "@bi"}]
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: customer, type: string, renamed_from: cust}
    properties: {delta.columnMapping.mode: name}
    consumers: [{name: dashboards, columns: [order_id, cust], owner: "@bi"}]
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: cust, type: string}
      - {name: customer, type: string}
    properties: {delta.columnMapping.mode: name}
    consumers: [{name: dashboards, columns: [order_id, cust], owner: "@bi"}]
    ```
    """
    if not ctx.alters(change):
        return
    old = _old_path(change)
    concerned = ctx.consumers_by_column.within(path_key(old))
    if concerned:
        who = ", ".join(dict.fromkeys(consumer.described for consumer in concerned))
        what = f"renamed to {change.path[-1]}" if isinstance(change, FieldRenamed) else "dropped"
        yield Problem(
            f"{who} names column {format_path(old)}, which is {what}",
            help="Change its query first, then its `columns`.",
        )


def _old_path(change: FieldRemoved | FieldRenamed) -> Path:
    if isinstance(change, FieldRenamed):
        return (*change.path[:-1], change.old_name)
    return change.path
