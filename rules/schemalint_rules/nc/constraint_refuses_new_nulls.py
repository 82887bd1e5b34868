from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldAdded
from schemalint.delta.conditions import refused_nulls
from schemalint.delta.path import format_path, is_within, path_key
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule

_ERROR = "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION"


@rule("NC027", on=FieldAdded, severity=Severity.WARNING, delta_errors=(_ERROR,))
def constraint_refuses_new_nulls(change: FieldAdded, ctx: RuleContext) -> Iterator[Problem]:
    """A CHECK constraint is false for every row that is there, because it uses a new column.

    ## What it does

    Finds a constraint that is not true where a column is null, and a change that adds this column to an
    existing table, without a `backfill` for it. It reads comparisons, `IN`, `BETWEEN`, `LIKE`, `IS NOT NULL`
    and what AND, OR and NOT make of them; nothing is said of functions.

    ## Why is this bad?

    All rows that are there have null in a new column, and a default does not change that (NC004).
    Delta takes a constraint only if it is true of each row, and not true of null is a violation, unlike in
    standard SQL: `ADD CONSTRAINT` fails with `DELTA_NEW_CHECK_CONSTRAINT_VIOLATION`. `apply` looks at the
    rows first, and refuses the table before its first statement. Only an empty table takes the constraint.

    ## What to do

    Fill the column from another one with `backfill`: `apply` adds the constraint after the fill. Or fill it
    with a job of your own, and declare the constraint in a later change. If null is right for the old rows,
    say so in the constraint: `number IS NULL OR number > 0`.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: code, type: string}
    protocol: {allow_upgrade: true}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: code, type: string}
      - {name: number, type: int}
    constraints: {positive: number > 0}
    protocol: {allow_upgrade: true}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: code, type: string}
      - {name: number, type: int, backfill: {from: code, with: "cast(code as int)"}}
    constraints: {positive: number > 0}
    protocol: {allow_upgrade: true}
    ```
    """
    if isinstance(change.field.generated, str):
        return
    added = path_key(change.path)
    filled = {path_key(path) for path in ctx.contract.backfills}
    for name, condition in ctx.contract.state.constraints.items():
        for used in sorted(refused_nulls(condition or "")):
            if is_within(path_key(used), added) and path_key(used) not in filled:
                column = format_path(used)
                yield Problem(
                    f"the constraint {name} is true of no row that is there: {column} is new, so it is null",
                    help=ctx.wording.either(
                        ctx.wording.fill.format(column=column), f"begin with `{column} IS NULL OR`"
                    ),
                    object=ObjectRef("constraint", name),
                    delta_error=_ERROR,
                )
                break
