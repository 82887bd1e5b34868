from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schemalint.delta.datatype import DataType, walk
from schemalint.delta.path import Path
from schemalint.delta.type_text import print_type
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, option, rule
from schemalint_rules.po._judged import APPLIES_TO, judges_all

_MOST: Final = option.optional("most_columns", "the most columns of a table", option.Most())
_DEEPEST: Final = option.optional("deepest", "the most levels of a column", option.Most())
_PARTITIONS: Final = option.optional(
    "partitions", "`none`, or the types that partition columns may have", option.AnyOf("none")
)


@rule(
    "PO010",
    on=Contract,
    severity=Severity.WARNING,
    scope="policy",
    live=True,
    options=(_MOST, _DEEPEST, _PARTITIONS, APPLIES_TO),
)
def layout_not_wanted(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A table has more columns, deeper ones, or other partitions than the team wants.

    ## What it does

    Counts the columns of the table without the fields inside of them, and the levels of each column: one
    without nesting has 1, and a field, an element, a key or a value of it one more. Compares the types of
    partition columns with those that may be one.

    ## Options

    At least one of the first three; without all of them the rule is silent.

    - `most_columns`: the most columns of a table.
    - `deepest`: the most levels of a column.
    - `partitions`: `none`, or a list of the [types](../policies.md#types) that partition columns may have.
    - `applies_to`: `changed` (default) for new tables, and where columns are added, nested deeper, or made
      partition columns; `all` for every table.

    ## Why is this bad?

    Delta has no such limits. But it collects statistics of the first 32 columns only, each level costs
    readers of Parquet time, and a partition column with many values makes many small files.

    ## What to do

    Part the table, flatten the column, or cluster the table instead of partitioning it: `clustered_by`.

    ## Example

    ```toml title="configuration"
    [options.PO010]
    most_columns = 300
    deepest = 2
    partitions = "none"
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: ordered_on, type: date}
      - {name: ship_to, type: "struct<name: string, place: struct<zip: string>>"}
    partitioned_by: [ordered_on]
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: ordered_on, type: date}
      - {name: ship_to, type: "struct<name: string, zip: string>"}
    clustered_by: [ordered_on]
    ```
    """
    is_all = judges_all(ctx)
    most, columns = ctx.value_of(_MOST), contract.state.columns
    is_wider = is_all or any(ctx.edit.adds((column.name,)) for column in columns.fields)
    if most is not None and len(columns.fields) > most and is_wider:
        yield Problem(f"the table has {len(columns.fields):,} columns", help=f"have at most {most:,}")
    deepest = ctx.value_of(_DEEPEST)
    for column in columns.fields:
        path: Path = (column.name,)
        depth = _depth(column.type)
        if (
            deepest is not None
            and depth > deepest
            and (is_all or ctx.edit.adds(path) or depth > _depth_before(column.name, ctx))
        ):
            yield Problem(
                f"column {column.name} has {depth} levels",
                help=f"have at most {deepest}",
                path=path,
                part="type",
            )
    types = ctx.value_of(_PARTITIONS)
    if types is not None:
        yield from _of_partitions(contract, ctx, types, is_all=is_all)


def _depth(type_: DataType) -> int:
    return 1 + max(len(path) for path, _type in walk(type_))


def _depth_before(name: str, ctx: RuleContext) -> int:
    before = ctx.base.state.columns.get(name) if ctx.base is not None else None
    return _depth(before.type) if before is not None else 0


def _of_partitions(
    contract: Contract, ctx: RuleContext, types: tuple[option.WantedType, ...], *, is_all: bool
) -> Iterator[Problem]:
    known = frozenset[str]() if is_all or ctx.base is None else ctx.base.state.partition_keys
    for name in ctx.after.partition_columns:
        column = contract.state.columns.get(name)
        if column is None or any(each.matches(column.type) for each in types):
            continue
        if name.lower() in known and not ctx.edit.retypes((name,)):
            continue
        help_ = f"cluster the table instead: {ctx.wording.clustered_by}"
        if types:
            help_ = f"partition by columns that are {' or '.join(each.text for each in types)}"
        yield Problem(
            f"the table is partitioned by {name}, which is {print_type(column.type)}",
            help=help_,
            object=ObjectRef("partitioning", "partitioned_by"),
            new=f"{name} {print_type(column.type)}",
        )
