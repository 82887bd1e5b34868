from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import TypeChanged
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.delta.widening import refusal, smallest_decimal
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule(
    "TW005",
    on=TypeChanged,
    severity=Severity.ERROR,
    delta_errors=("DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP", "NOT_SUPPORTED_CHANGE_COLUMN"),
    verdict="impossible",
)
def integer_to_small_decimal(change: TypeChanged, ctx: RuleContext) -> Iterator[Problem]:
    """An integer changes to a decimal that is smaller than Delta requires.

    ## What it does

    Finds a change from `tinyint`, `smallint` or `int` to a decimal with fewer than 10 whole digits, and from
    `bigint` to a decimal with fewer than 20.

    ## Why is this bad?

    Delta requires the digits of the Parquet type that stores the values (INT32 or INT64), not those of the
    largest value: `tinyint` to `decimal(3,0)` loses nothing, but Delta refuses it with
    `DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP`. If Spark also sees a loss, the error is
    `NOT_SUPPORTED_CHANGE_COLUMN`.

    ## What to do

    Use `decimal(10 + s, s)`, or `decimal(20 + s, s)` for a `bigint`; the finding names the type.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: quantity, type: int}
    properties: {delta.enableTypeWidening: true}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: quantity, type: "decimal(10,2)"}
    properties: {delta.enableTypeWidening: true}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - name: quantity
        type: decimal(12,2)
        type_changes:
          - {from: int, to: "decimal(12,2)"}
    properties: {delta.enableTypeWidening: true}
    ```
    """
    nested = len(change.path) > 1
    least = smallest_decimal(change.old, change.new)
    verdict = classify(change.old, change.new, nested=nested)
    if least is not None and verdict == TypeVerdict.SMALL_DECIMAL and not ctx.rewrites(change):
        old, new = print_type(change.old), print_type(change.new)
        whole = least.precision - least.scale
        yield Problem(
            f"{format_path(change.path)} changes from {old} to {new}, but Delta requires {whole} whole "
            "digits",
            help=f"the smallest decimal that Delta accepts is {print_type(least)}; or keep {old}",
            delta_error=refusal(change.old, change.new, nested=nested),
        )
