from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import TypeChanged
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.delta.widening import refusal
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule(
    "TW009",
    on=TypeChanged,
    severity=Severity.ERROR,
    delta_errors=(
        "NOT_SUPPORTED_CHANGE_COLUMN",
        "CANNOT_UPDATE_FIELD.STRUCT_TYPE",
        "CANNOT_UPDATE_FIELD.ARRAY_TYPE",
        "CANNOT_UPDATE_FIELD.MAP_TYPE",
        "CANNOT_UPDATE_FIELD.INTERVAL_TYPE",
    ),
    verdict="impossible",
)
def nested_shape_change(change: TypeChanged, ctx: RuleContext) -> Iterator[Problem]:
    """A struct, array or map changes to another kind of type, or another type changes to one of these.

    ## What it does

    Finds a change between a container type and another kind of type, at any depth: `struct` to `string`,
    `array` to `map`, `int` to `array<int>`. If a container keeps its kind, the rules check each change inside
    it separately, at its own path.

    ## Why is this bad?

    Type widening applies to leaf types only. A container never changes its kind: `ALTER TABLE` fails with
    `CANNOT_UPDATE_FIELD` if the new type is a container ("Update a struct by updating its fields"), otherwise
    with `NOT_SUPPORTED_CHANGE_COLUMN`.

    ## What to do

    Add a new column of the new type, backfill it, and list the old one under `dropped` once it has no
    readers. To store several values where the column held one, add a separate array column.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: address, type: string}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: address, type: "struct<street: string, city: string>"}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: address, type: string}
      - {name: postal_address, type: "struct<street: string, city: string>"}
    ```
    """
    is_shape = classify(change.old, change.new, nested=len(change.path) > 1) == TypeVerdict.SHAPE
    if is_shape and not ctx.rewrites(change):
        old, new = print_type(change.old), print_type(change.new)
        yield Problem(
            f"{format_path(change.path)} changes from {old} to {new}, a different kind of type",
            help=f"keep {old}; add a new column of type {new} and backfill it",
            delta_error=refusal(change.old, change.new),
        )
