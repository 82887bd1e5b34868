from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import TypeChanged
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.delta.widening import least_decimal, refusal
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule(
    "TW005",
    on=TypeChanged,
    severity=Severity.ERROR,
    delta_errors=("DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP", "NOT_SUPPORTED_CHANGE_COLUMN"),
)
def integer_to_small_decimal(change: TypeChanged, _ctx: RuleContext) -> Iterator[Problem]:
    """An integer changes to a decimal that is smaller than Delta asks for.

    ## What it does

    Finds `tinyint`, `smallint` or `int` becoming a decimal with fewer than 10 whole digits, and `bigint`
    becoming one with fewer than 20.

    ## Why is this bad?

    Delta asks for the digits of the Parquet type that the values are stored in (INT32 or INT64), not of the
    largest value: `tinyint` to `decimal(3,0)` loses nothing, and is refused all the same with
    `DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP`. Where Spark sees a loss too, the error is
    `NOT_SUPPORTED_CHANGE_COLUMN`.

    ## What to do

    Take `decimal(10 + s, s)`, or `decimal(20 + s, s)` for a `bigint`: the finding names it.

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
    least = least_decimal(change.old, change.new)
    if least is not None and classify(change.old, change.new, nested=nested) == TypeVerdict.SMALL_DECIMAL:
        old, new = print_type(change.old), print_type(change.new)
        whole = least.precision - least.scale
        yield Problem(
            f"{format_path(change.path)} changes from {old} to {new}, but Delta asks for {whole} whole "
            "digits",
            help=f"the smallest decimal that Delta takes is {print_type(least)}; or keep {old}",
            delta_error=refusal(change.old, change.new, nested=nested),
        )
