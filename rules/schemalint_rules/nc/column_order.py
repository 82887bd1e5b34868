from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldMoved
from schemalint.delta.path import format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("NC010", on=FieldMoved, severity=Severity.INFO, scope="contract")
def column_order(change: FieldMoved, _ctx: RuleContext) -> Iterator[Problem]:
    """A column changes its position among its siblings.

    ## What it does

    Finds the smallest set of columns, and of struct fields at any depth, that must move to turn the old order
    into the new one. New and removed columns do not count.

    ## Why is this bad?

    It is harmless. Delta moves a column without touching a file, and readers that select by name see no
    difference. But `SELECT *` and `INSERT INTO … VALUES` depend on the position, and each such commit stops
    every stream with schema tracking once.

    ## What to do

    Nothing, if the new order matters. If it is an accident, move the line back. A new column need not be
    last: `apply` adds it in its declared position.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: amount, type: double}
      - {name: shop, type: string}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: shop, type: string}
      - {name: amount, type: double}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: amount, type: double}
      - {name: shop, type: string}
    ```
    """
    position = f"after {change.after}" if change.after is not None else "first"
    yield Problem(
        f"{format_path(change.path)} is now {position}",
        help="an existing table keeps its order: only the order in the contract changes",
    )
