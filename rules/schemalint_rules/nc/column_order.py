from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldMoved
from schemalint.delta.datatype import Struct, type_at
from schemalint.delta.path import format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("NC010", on=FieldMoved, severity=Severity.INFO, scope="contract")
def column_order(change: FieldMoved, ctx: RuleContext) -> Iterator[Problem]:
    """A column stands elsewhere among its siblings.

    ## What it does

    Finds the columns, and the fields of structs at any depth, that have to be moved to get from the old order
    to the new one; no more of them than necessary. Columns that are new or go do not count. Of two columns
    with one name CM007 speaks.

    ## Why is this bad?

    It is not. Delta moves a column without touching a file, and readers that select by name see nothing of
    it. But `SELECT *` and `INSERT INTO … VALUES` go by position, and each such commit stops every stream with
    schema tracking once.

    ## What to do

    Nothing, if the new order matters. If it came about by accident, put the line back. A new column need not
    stand last: it is added at its place.

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
    if _is_twofold(change, ctx):
        return
    where = f"behind {change.after}" if change.after is not None else "first"
    yield Problem(
        f"{format_path(change.path)} stands {where} now",
        help="an existing table keeps its order: only the order in the contract differs",
    )


def _is_twofold(change: FieldMoved, ctx: RuleContext) -> bool:
    """Whether two columns have the name, so that it is not known which of them was there."""
    parent = type_at(ctx.contract.state.columns, change.path[:-1])
    names = [field.name.lower() for field in parent.fields] if isinstance(parent, Struct) else []
    return names.count(str(change.path[-1]).lower()) > 1
