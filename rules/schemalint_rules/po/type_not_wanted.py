from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schemalint.delta.datatype import Array, DataType, Map, Struct, walk
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.plugin import Contract, Problem, RuleContext, Severity, option, rule
from schemalint_rules.po._judged import APPLIES_TO, EXCEPT, LEVELS, is_excepted, judges_all

_TYPES: Final = option.optional(
    "types",
    "the types, each with what to use instead",
    option.Table(option.wanted_type, option.Advice(), "types"),
)


@rule(
    "PO005",
    on=Contract,
    severity=Severity.WARNING,
    scope="policy",
    live=True,
    options=(_TYPES, LEVELS, EXCEPT, APPLIES_TO),
)
def type_not_wanted(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A column has a type that the team does not want.

    ## What it does

    Compares the type of each column with those of `types`, and so with the types of fields, elements, keys
    and values. Types are compared as types: `real` is `float`, and `decimal`, `varchar`, `char`, `array`,
    `map`, `struct` and `string` alone stand for [all of their kind](../policies.md#types).

    ## Options

    - `types`: each type with what to use instead, or an empty text. Without it the rule is silent.
    - `levels`: `all` (default), or `top` for columns alone.
    - `except`: patterns of columns that may have such a type, with all inside of them; a list of yours
      replaces the [default](../policies.md#options-that-several-rules-have).
    - `applies_to`: `changed` (default) for new columns, and those with another type; `all` for every
      column.

    ## Why is this bad?

    Delta stores all of them. But a `float` loses the cents of an amount, a `binary` shows nothing to an
    analyst, and not every reader of the lake knows `variant`.

    ## What to do

    Declare the type that the help names. A column that is there can be widened, or filled into a new one.

    ## Example

    ```toml title="configuration"
    [options.PO005]
    types = {float = "double", binary = ""}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: weight, type: real}
      - {name: marks, type: array<float>}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: weight, type: double}
      - {name: marks, type: array<double>}
    ```
    """
    types = ctx.value_of(_TYPES)
    if types is None:
        return
    is_all, is_top = judges_all(ctx), ctx.value_of(LEVELS) == "top"
    for path, type_ in walk(contract.state.columns):
        if not path or (is_top and len(path) > 1):
            continue
        instead = next((advice for wanted, advice in types if wanted.matches(type_)), None)
        if instead is None or instead.allows(type_) or is_excepted(path, ctx.value_of(EXCEPT)):
            continue
        if is_all or ctx.edit.adds(path) or ctx.edit.retypes(path):
            yield Problem(
                f"{format_path(path)} is {_name(type_)}, a type that is not wanted",
                help=f"use {instead.text}" if instead.text else "use another type",
                path=path,
                part="type",
                new=print_type(type_),
            )


def _name(type_: DataType) -> str:
    match type_:
        case Array():
            return "an array"
        case Map():
            return "a map"
        case Struct():
            return "a struct"
        case _:
            return print_type(type_)
