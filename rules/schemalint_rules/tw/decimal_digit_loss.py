from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import TypeChanged
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.delta.widening import refusal, smallest_decimal
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule(
    "TW003",
    on=TypeChanged,
    severity=Severity.ERROR,
    delta_errors=("NOT_SUPPORTED_CHANGE_COLUMN",),
    verdict="impossible",
)
def decimal_digit_loss(change: TypeChanged, ctx: RuleContext) -> Iterator[Problem]:
    """A decimal loses digits before or after the decimal point.

    ## What it does

    Finds a change from one `decimal(p,s)` to another with fewer whole digits (`p - s`) or a smaller scale
    (`s`).

    ## Why is this bad?

    The common mistake is to raise the scale and keep the precision: `decimal(10,4)` has room for six whole
    digits, where `decimal(10,2)` had eight. Delta widens a decimal only if neither side of the point shrinks:
    the precision must grow by at least as much as the scale. Otherwise `ALTER TABLE` fails with
    `NOT_SUPPORTED_CHANGE_COLUMN`, and an append with `mergeSchema` fails with
    `DELTA_MERGE_INCOMPATIBLE_DECIMAL_TYPE`.

    ## What to do

    Raise the precision by as much as the scale; the finding names the smallest decimal that works. To remove
    digits, add a new column.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: "decimal(10,2)"}
    properties: {delta.enableTypeWidening: true}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: amount, type: "decimal(10,4)"}
    properties: {delta.enableTypeWidening: true}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - name: amount
        type: decimal(12,4)
        type_changes:
          - {from: "decimal(10,2)", to: "decimal(12,4)"}
    properties: {delta.enableTypeWidening: true}
    ```
    """
    nested = len(change.path) > 1
    least = smallest_decimal(change.old, change.new)
    verdict = classify(change.old, change.new, nested=nested)
    if least is not None and verdict == TypeVerdict.DIGITS and not ctx.rewrites(change):
        old, new = print_type(change.old), print_type(change.new)
        help_ = f"the smallest decimal that works is {print_type(least)}"
        if least == change.old:
            help_ = f"keep {old}"
        yield Problem(
            f"{format_path(change.path)} changes from {old} to {new}, with fewer digits before or after "
            "the point",
            help=help_,
            delta_error=refusal(change.old, change.new, nested=nested),
        )
