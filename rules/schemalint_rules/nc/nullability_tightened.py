from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import NullabilityChanged
from schemalint.delta.path import Part, format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("NC001", on=NullabilityChanged, severity=Severity.ERROR, delta_errors=("_LEGACY_ERROR_TEMP_2330",))
def nullability_tightened(change: NullabilityChanged, _ctx: RuleContext) -> Iterator[Problem]:
    """A column that may be null is declared not to be.

    ## What it does

    Finds `nullable: false` where nulls were allowed: on a column, on a field of a struct, on the elements of
    an array or the values of a map. Allowing nulls where there were none is no finding.

    ## Why is this bad?

    Delta cannot add NOT NULL to a column that exists, not even in an empty table: the files may hold nulls.
    The statement fails with "Cannot change nullable column to non-nullable". The error has no name that is
    meant to stay; Spark 4.2 calls it `_LEGACY_ERROR_TEMP_2330`.

    ## What to do

    A CHECK constraint does the same for new rows, and is verified once against those that are there:
    `constraints: {order_id_set: order_id IS NOT NULL}`.

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
    in_collection = any(isinstance(one, Part) for one in change.path)
    yield Problem(
        f"{path} may be null in the table, and is declared not to be",
        help="leave it nullable"
        if in_collection
        else f"leave it nullable, and add a constraint `{path} IS NOT NULL`",
        delta_error="_LEGACY_ERROR_TEMP_2330",
    )
