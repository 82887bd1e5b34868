from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import TypeChanged
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.delta.widening import refusal
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule(
    "TW001",
    on=TypeChanged,
    severity=Severity.ERROR,
    delta_errors=("NOT_SUPPORTED_CHANGE_COLUMN",),
    verdict="impossible",
)
def illegal_narrowing(change: TypeChanged, ctx: RuleContext) -> Iterator[Problem]:
    """A column changes to a type that cannot hold all its values.

    ## What it does

    Finds type changes in the narrowing direction: the reverse of a change that Delta allows, a smaller number
    (`bigint` to `int`, `double` to `float`, `double` to `int`), or a timestamp that loses its time of day
    (`timestamp` to `date`). TW003 to TW005 check decimals.

    ## Why is this bad?

    Existing files hold values that do not fit the new type, and an in-place type change rewrites no file.
    Spark refuses the `ALTER TABLE` with `NOT_SUPPORTED_CHANGE_COLUMN` ("ALTER TABLE ALTER/CHANGE COLUMN is
    not supported for changing …"). Type widening works in one direction only: no setting allows the reverse.

    ## What to do

    - Keep the old type. Readers that want the smaller type can cast.
    - Or add a new column of the smaller type, backfill it from the old one, and move the readers to it.
    - Or rewrite the whole table (`overwriteSchema`, or `CREATE OR REPLACE TABLE … AS SELECT`) as a planned
      migration. The rewrite drops the recorded type changes and breaks streams that read the table.

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
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: short_id, type: int}
    ```
    """
    nested = len(change.path) > 1
    if classify(change.old, change.new, nested=nested) == TypeVerdict.NARROWING and not ctx.rewrites(change):
        old, new = print_type(change.old), print_type(change.new)
        yield Problem(
            f"{format_path(change.path)} changes from {old} to {new}, which cannot hold all its values",
            help=f"keep {old}",
            delta_error=refusal(change.old, change.new, nested=nested),
        )
