from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.fill_expressions import fill_fault, reads_source
from schemalint.delta.path import format_path
from schemalint.delta.rewrites import rewrite_obstacles
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule


@rule("BF010", on=Contract, severity=Severity.ERROR, verdict="impossible")
def rewrite_not_possible(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A table is to be rewritten, but it would lose something, or its values cannot be proved.

    ## What it does

    Finds a `rewrite` of a table that still has the type or the layout in `from`, if

    - the expression must not run over data (see BF001), or does not read its column;
    - a column is NOT NULL, generated or an identity: an overwrite of the table by itself loses that;
    - a column to rewrite has a default, a length (`char(n)`, `varchar(n)`) or a variant, or is inside an
      array or a map;
    - the table takes only appends (`delta.appendOnly`), has Iceberg readers, belongs to a pipeline or to
      another tool, or its commits go through a catalog;
    - the table is clustered, and the contract does not declare by what;
    - a column gets another type, and the table has column mapping and a change data feed, or lacks
      `timestampNtz` for it.

    ## Why is this bad?

    A rewrite is one overwrite of the table by its own rows. It keeps the id, the properties, the constraints
    and the comments, and nothing else would set again what it loses: `apply` refuses such a table.

    ## What to do

    Take `rewrite` out, and add a column of the new type with `backfill`. Where only NOT NULL or a generation
    expression would be lost, and the target finds the table by its name, approve each finding with
    `via: rewrite`: `plan` then prints a script that defines the table again, for somebody to run, and `apply`
    proves it afterwards.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: id, type: bigint, nullable: false}
      - {name: amount, type: string}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: id, type: bigint, nullable: false}
      - name: amount
        type: decimal(12,2)
        rewrite: {from: string, with: "cast(amount as decimal(12,2))"}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: id, type: bigint, nullable: false}
      - {name: amount, type: string}
      - name: price
        type: decimal(12,2)
        backfill: {from: amount, with: "cast(amount as decimal(12,2))"}
    ```
    """
    due = contract.rewrites.due(ctx.before, contract.state)
    if not due:
        return
    for path, rewrite in due.columns.items():
        name = format_path(path)
        if fault := fill_fault(rewrite.expression, ctx.before.columns):
            yield Problem(
                f"the expression that rewrites {name} {fault.what}",
                help=fault.help,
                path=path,
                part="rewrite.with",
                new=rewrite.expression,
            )
        elif not reads_source(rewrite.expression, path):
            yield Problem(
                f"the expression that rewrites {name} does not read it",
                help=f"use {name} in it",
                path=path,
                part="rewrite.with",
                new=rewrite.expression,
            )
    if len({rewrite.time_zone for rewrite in due.columns.values()}) > 1:
        yield Problem(
            "columns are rewritten in different time zones, and one statement has one",
            help="give all the same `time_zone`",
        )
    if contract.managed_by != "schemalint":
        yield Problem(
            f"{contract.managed_by} manages the table: nobody rewrites it",
            help="rewrite it with that tool, and take `rewrite` out",
        )
    for obstacle in rewrite_obstacles(ctx.before, contract.state, due.columns, contract.engine, ctx.features):
        yield Problem(
            f"the table cannot be rewritten: {obstacle.reason}",
            help="take `rewrite` out, and add a column of the new type with `backfill`",
            path=obstacle.path or None,
        )
