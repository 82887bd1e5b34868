from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import ConstraintChanged, NullabilityChanged
from schemalint.delta.path import format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule

_ERROR = "_LEGACY_ERROR_TEMP_2330"


@rule(
    "RB003",
    on=(NullabilityChanged, ConstraintChanged),
    severity=Severity.WARNING,
    tables="rebuilt",
    verdict="impossible",
    delta_errors=(_ERROR,),
)
def promise_changed_by_rebuild(
    change: NullabilityChanged | ConstraintChanged, ctx: RuleContext
) -> Iterator[Problem]:
    """The next build of a table drops NOT NULL or a CHECK constraint, or cannot add it.

    ## What it does

    Compares NOT NULL and CHECK constraints in a table that another tool builds anew
    (`managed_by: {tool: dbt, how: replace}`). `CREATE OR REPLACE TABLE … AS SELECT` makes neither, and takes
    away what the table had; dbt adds both after the build, with `ALTER TABLE`.

    A new NOT NULL is an error: Delta Spark refuses to set it on a column that can be null, as those of a
    `SELECT` are. For an engine of Databricks, which sets it, it is a warning. So is a promise that goes, and
    a new constraint.

    ## Why is this bad?

    A build whose last statement is refused leaves the new table without its constraints, and fails each time.
    A promise that is gone lets values in that readers do not expect, and nothing fails.

    ## What to do

    Use a CHECK constraint (`email IS NOT NULL`) instead of NOT NULL, and test the data first. Keep a
    promise that readers count on.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: hr.employees
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: email, type: string}
    ```

    ```yaml title="after"
    schemalint: 1
    table: hr.employees
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: email, type: string, nullable: false}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: hr.employees
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: email, type: string}
    ```
    """
    match change:
        case NullabilityChanged(path=path, new=False):
            is_hosted = ctx.engine is not None and ctx.engine.is_hosted
            effect = "Delta refuses to set it afterwards"
            if is_hosted:
                effect = "the build fails if there is a null"
            yield Problem(
                f"{format_path(path)} becomes NOT NULL after the next build: {effect}",
                help=f"leave it nullable, and add a constraint `{format_path(path)} IS NOT NULL`",
                severity=None if is_hosted else Severity.ERROR,
                delta_error=None if is_hosted else _ERROR,
            )
        case NullabilityChanged(path=path):
            yield Problem(
                f"{format_path(path)} can be null after the next build",
                help="keep NOT NULL, or tell the readers",
            )
        case ConstraintChanged(name=name, new=str()):
            yield Problem(
                f"the next build adds the constraint {name}, and fails if a row violates it",
                help="test the data first",
            )
        case ConstraintChanged(name=name):
            yield Problem(
                f"the constraint {name} is gone after the next build: REPLACE keeps only what is declared",
                help="keep it, or tell the readers",
            )
