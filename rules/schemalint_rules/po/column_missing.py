from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schemalint.delta.type_text import print_type
from schemalint.plugin import Contract, Problem, RuleContext, Severity, option, rule
from schemalint_rules.po._judged import APPLIES_TO, judges_all

_COLUMNS: Final = option.optional(
    "columns",
    "the columns that each table has, with their types",
    option.Table(str, option.OneType(), "columns"),
)


@rule(
    "PO008",
    on=Contract,
    severity=Severity.WARNING,
    scope="policy",
    live=True,
    options=(_COLUMNS, APPLIES_TO),
)
def column_missing(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A table lacks a column that each table has, or has it with another type.

    ## What it does

    Finds tables without one of `columns`, ignoring case, and tables that have it with another type than the
    option says. Fields inside of structs do not count.

    ## Options

    - `columns`: the names, each with its [type](../policies.md#types), or an empty text for any. Without it
      the rule is silent.
    - `applies_to`: `changed` (default) for new tables, and those that lose the column or change its type;
      `all` for every table.

    ## Why is this bad?

    What runs over all tables, such as a clean-up by `_loaded_at`, fails on the one that has no such column.

    ## What to do

    Declare the column. In a table that is there, a new column has no values until something fills it: see
    `backfill`.

    ## Example

    ```toml title="configuration"
    [options.PO008]
    columns = {_loaded_at = "timestamp"}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: _loaded_at, type: timestamp}
    ```
    """
    for name, wanted in ctx.value_of(_COLUMNS) or ():
        fault = _fault(contract, name, wanted)
        if fault is None:
            continue
        if not judges_all(ctx) and ctx.base is not None and _fault(ctx.base, name, wanted) == fault:
            continue
        message, type_ = fault
        of_type = f" of type {wanted.text}" if wanted is not None else ""
        yield Problem(message, help=f"each table has a column {name}{of_type}", path=(name,), new=type_)


def _fault(contract: Contract, name: str, wanted: option.WantedType | None) -> tuple[str, str | None] | None:
    column = contract.state.columns.get(name)
    if column is None:
        return f"the table has no column {name}", None
    if wanted is None or wanted.matches(column.type):
        return None
    text = print_type(column.type)
    return f"column {column.name} is {text}, and has another type elsewhere", text
