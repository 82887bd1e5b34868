from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.plugin import Contract, Problem, RuleContext, Severity, option, rule
from schemalint_rules.po._judged import APPLIES_TO, EXCEPT, LEVELS, judged_columns

_TYPES: Final = option.optional(
    "types",
    "types, each with the pattern of the names of such columns",
    option.Table(option.wanted_type, option.Regex(), "types"),
)


@rule(
    "PO007",
    on=Contract,
    severity=Severity.WARNING,
    scope="policy",
    live=True,
    options=(_TYPES, LEVELS, EXCEPT, APPLIES_TO),
)
def type_needs_name(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A column has a type that its name does not tell.

    ## What it does

    Finds columns with a type of `types` whose name does not match that type's pattern. It says nothing of
    columns with such a name and another type: [PO006](po006.md) does.

    ## Options

    - `types`: [types](../policies.md#types), each with a [pattern](../policies.md#patterns) of names.
      Without it the rule is silent.
    - `levels`: `all` (default), or `top` for columns alone.
    - `except`: patterns of columns that may have any name, with all inside of them; a list of yours
      replaces the [default](../policies.md#options-that-several-rules-have).
    - `applies_to`: `changed` (default) for columns that are new, renamed, or get another type; `all` for
      every column.

    ## Why is this bad?

    A query shows names and no types. Whether `created` is a day or an instant, its reader finds out from
    wrong results.

    ## What to do

    Name the new column by the pattern. A column that is there can be renamed with `renamed_from` and column
    mapping, and its readers have to follow.

    ## Example

    ```toml title="configuration"
    [options.PO007]
    types = {timestamp = ".*_at"}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: created, type: timestamp}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: created_at, type: timestamp}
    ```
    """
    types = ctx.value_of(_TYPES)
    if types is None:
        return
    edit = ctx.edit
    for path, field in judged_columns(contract, ctx, edit.renames, edit.retypes):
        for wanted, pattern in types:
            if wanted.matches(field.type) and not pattern.matches(field.name):
                yield Problem(
                    f"{format_path(path)} is {print_type(field.type)}, and its name does not tell",
                    help=f"names of columns that are {wanted.text} match {pattern}",
                    path=path,
                    new=print_type(field.type),
                )
                break
