from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import TypeChanged
from schemalint.delta.datatype import Array, DataType, Map, Struct
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.delta.type_verdict import TypeVerdict, classify
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
    ),
)
def nested_shape_change(change: TypeChanged, _ctx: RuleContext) -> Iterator[Problem]:
    """A struct, an array or a map becomes something else, or something else becomes one.

    ## What it does

    Finds a change between a container and another kind of type, at any depth: `struct` to `string`, `array`
    to `map`, `int` to `array<int>`. Changes inside a container that stays what it is are judged at the place
    where they happen.

    ## Why is this bad?

    Only leaves can be widened. A container keeps its kind for life: `ALTER TABLE` fails with
    `CANNOT_UPDATE_FIELD` if the new type is a container ("Update a struct by updating its fields"), else with
    `NOT_SUPPORTED_CHANGE_COLUMN`.

    ## What to do

    Add a new column of the new shape, backfill it, and list the old one under `dropped` when nobody reads it
    any more. To keep several values of what was one, add an array beside it.

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
    if classify(change.old, change.new, nested=len(change.path) > 1) == TypeVerdict.SHAPE:
        old, new = print_type(change.old), print_type(change.new)
        yield Problem(
            f"{format_path(change.path)} changes from {old} to {new}, another kind of type",
            help=f"keep {old}, and add a new column of type {new} that is backfilled",
            delta_error=_error(change.new),
        )


def _error(new: DataType) -> str:
    """What the ALTER fails with (measured on Delta 4.4.0): Spark looks at the new type first."""
    match new:
        case Struct():
            return "CANNOT_UPDATE_FIELD.STRUCT_TYPE"
        case Array():
            return "CANNOT_UPDATE_FIELD.ARRAY_TYPE"
        case Map():
            return "CANNOT_UPDATE_FIELD.MAP_TYPE"
        case _:
            return "NOT_SUPPORTED_CHANGE_COLUMN"
