from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schemalint.delta.path import format_path
from schemalint.plugin import Contract, Problem, RuleContext, Severity, option, rule
from schemalint_rules.po._judged import APPLIES_TO, EXCEPT, LEVELS, judged_columns

_PATTERN: Final = option.optional("pattern", "the pattern of the names", option.Regex())


@rule(
    "PO002",
    on=Contract,
    severity=Severity.WARNING,
    scope="policy",
    live=True,
    options=(_PATTERN, LEVELS, EXCEPT, APPLIES_TO),
)
def column_name(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The name of a column does not match the pattern that the team wants.

    ## What it does

    Compares the name of each column, as it is written, with `pattern`: a [regular
    expression](../policies.md#patterns) for the whole name. Of a field inside of a struct, an array or a
    map it is the field's own name.

    ## Options

    - `pattern`: the names that there may be. Without it the rule is silent.
    - `levels`: `all` (default), or `top` for columns alone.
    - `except`: patterns of names that are no finding, with all inside of them; a list of yours replaces the
      [default](../policies.md#options-that-several-rules-have).
    - `applies_to`: `changed` (default) for new and renamed columns; `all` for every column.

    ## Why is this bad?

    Delta takes almost any name, and Spark compares names without case: `OrderId` and `orderid` are one
    column there, and two for pandas. Whoever reads the table has to quote or to guess.

    ## What to do

    Name the new column by the pattern. A column that is there can be renamed with `renamed_from` and column
    mapping, and its readers have to follow.

    ## Example

    ```toml title="configuration"
    [options.PO002]
    pattern = "[a-z][a-z0-9_]*"
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: ShipTo, type: string}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: ship_to, type: string}
    ```
    """
    pattern = ctx.value_of(_PATTERN)
    if pattern is None:
        return
    for path, field in judged_columns(contract, ctx, ctx.edit.renames):
        if not pattern.matches(field.name):
            yield Problem(
                f"the name of column {format_path(path)} is not as wanted",
                help=f"names of columns match {pattern}",
                path=path,
                new=field.name,
            )
