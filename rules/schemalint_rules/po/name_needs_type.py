from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.plugin import Contract, Problem, RuleContext, Severity, option, rule
from schemalint_rules.po._judged import APPLIES_TO, EXCEPT, LEVELS, judged_columns

_NAMES: Final = option.optional(
    "names",
    "patterns of names, each with the types that such columns may have",
    option.Table(option.name_pattern, option.AnyOf(), "patterns"),
)


@rule(
    "PO006",
    on=Contract,
    severity=Severity.WARNING,
    scope="policy",
    live=True,
    options=(_NAMES, LEVELS, EXCEPT, APPLIES_TO),
)
def name_needs_type(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A column has a name that promises another type.

    ## What it does

    Finds columns whose name matches a pattern of `names`, and whose type is none of that pattern's. It says
    nothing of columns with such a type and another name: [PO007](po007.md) does. If several patterns match
    a name, each of them counts.

    ## Options

    - `names`: [patterns](../policies.md#patterns) of names, each with a list of
      [types](../policies.md#types). Without it the rule is silent.
    - `levels`: `all` (default), or `top` for columns alone.
    - `except`: patterns of columns that may have any type, with all inside of them; a list of yours
      replaces the [default](../policies.md#options-that-several-rules-have).
    - `applies_to`: `changed` (default) for columns that are new, renamed, or get another type; `all` for
      every column.

    ## Why is this bad?

    Whoever reads `created_at` expects a time. If it is a text, comparisons and joins still run, and are
    wrong.

    ## What to do

    Declare a type that the help names, or another name. A column that is there can be filled into a new one
    with `backfill`.

    ## Example

    ```toml title="configuration"
    [options.PO006]
    names = {".*_at" = ["timestamp"]}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: created_at, type: string}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: created_at, type: timestamp}
    ```
    """
    names = ctx.value_of(_NAMES)
    if names is None:
        return
    edit = ctx.edit
    for path, field in judged_columns(contract, ctx, edit.renames, edit.retypes):
        for pattern, types in names:
            wanted = " or ".join(each.text for each in types)
            if pattern.matches(field.name) and not any(each.matches(field.type) for each in types):
                yield Problem(
                    f"{format_path(path)} is {print_type(field.type)}, and its name promises another type",
                    help=f"columns with names such as {pattern} are {wanted}",
                    path=path,
                    part="type",
                    new=print_type(field.type),
                )
                break
