from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import NullabilityChanged
from schemalint.delta.path import Part, format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule(
    "NC001",
    on=NullabilityChanged,
    severity=Severity.ERROR,
    delta_errors=("_LEGACY_ERROR_TEMP_2330",),
    verdict="impossible",
)
def nullability_tightened(change: NullabilityChanged, _ctx: RuleContext) -> Iterator[Problem]:
    """A nullable column is declared NOT NULL.

    ## What it does

    Finds `nullable: false` where the table allows nulls: on a column, on a field of a struct, on the elements
    of an array or the values of a map. Allowing nulls where they were forbidden is fine.

    ## Why is this bad?

    Delta cannot add NOT NULL to an existing column, not even in an empty table: the files may hold nulls. The
    statement fails with "Cannot change nullable column to non-nullable", an error without a name.

    ## What to do

    Add a CHECK constraint. It does the same for new rows, and Delta verifies it once against the existing
    rows: `constraints: {order_id_set: order_id IS NOT NULL}`.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint, nullable: false}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    constraints: {order_id_set: order_id IS NOT NULL}
    protocol: {allow_upgrade: true}
    ```
    """
    if change.new is not False:
        return
    path = format_path(change.path)
    help_ = "leave it nullable"
    if not any(isinstance(part, Part) for part in change.path):
        help_ += f", and add a constraint `{path} IS NOT NULL`"
    yield Problem(
        f"{path} is nullable in the table and cannot become NOT NULL",
        help=help_,
        delta_error="_LEGACY_ERROR_TEMP_2330",
    )
