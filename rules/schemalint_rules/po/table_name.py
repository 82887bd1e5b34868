from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schemalint.plugin import Contract, Problem, RuleContext, Severity, option, rule
from schemalint_rules.po._judged import APPLIES_TO, EXCEPT, is_excepted, judges_all, last_part

_PATTERN: Final = option.optional("pattern", "the pattern of the names", option.Regex())


@rule(
    "PO001",
    on=Contract,
    severity=Severity.WARNING,
    scope="policy",
    live=True,
    options=(_PATTERN, EXCEPT, APPLIES_TO),
)
def table_name(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The name of a table does not match the pattern that the team wants.

    ## What it does

    Compares the last part of the table's name, as it is written, with `pattern`: a [regular
    expression](../policies.md#patterns) for the whole name. A table that is in another file than before
    keeps its name, and is not judged again.

    ## Options

    - `pattern`: the names that there may be. Without it the rule is silent.
    - `except`: patterns of names that are no finding; a list of yours replaces the default.
    - `applies_to`: `changed` (default) for new tables and those with another name; `all` for every table.

    ## Why is this bad?

    Delta takes any name. Spark compares names without case, a file system may not, and other tools quote
    them each in its own way: names that all look alike need no thought.

    ## What to do

    Name the new table by the pattern. To rename one that is there, create it anew: the name of a table is
    also that of its contract.

    ## Example

    ```toml title="configuration"
    [options.PO001]
    pattern = "[a-z][a-z0-9_]*"
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.OrderLines
    columns:
      - {name: order_id, type: bigint}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.order_lines
    columns:
      - {name: order_id, type: bigint}
    ```
    """
    pattern = ctx.value_of(_PATTERN)
    if pattern is None or not judges_all(ctx):
        return
    name = last_part(contract.table)
    if not pattern.matches(name) and not is_excepted((name,), ctx.value_of(EXCEPT)):
        yield Problem(
            f"the table's name {name} is not as wanted", help=f"names of tables match {pattern}", new=name
        )
