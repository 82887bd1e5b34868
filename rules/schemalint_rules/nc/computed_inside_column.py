from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldAdded, GeneratedChanged, IdentityChanged, TableAdded
from schemalint.delta.datatype import Field, Identity, Struct, field_at, walk_fields
from schemalint.delta.path import Path, format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule

_Change = FieldAdded | GeneratedChanged | IdentityChanged | TableAdded


@rule(
    "NC022",
    on=(FieldAdded, GeneratedChanged, IdentityChanged, TableAdded),
    severity=Severity.ERROR,
    verdict="impossible",
)
def computed_inside_column(change: _Change, ctx: RuleContext) -> Iterator[Problem]:
    """A field inside a column is declared as generated or as an identity column.

    ## What it does

    Finds `generated` and `identity` at fields of a struct, at any depth. NC006 and NC008 judge these of
    top-level columns.

    ## Why is this bad?

    Delta computes only top-level columns. SQL cannot express another one, and from other writers Delta
    ignores it: the field holds what is written to it (measured on Delta 4.4.0).

    ## What to do

    Declare the computed value as a column of its own, or compute it in a view.

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
      - {name: order_id, type: bigint}
      - name: flags
        type: struct
        columns:
          - {name: is_test, type: boolean, generated: order_id < 0}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: is_test, type: boolean, generated: order_id < 0}
    ```
    """
    for path, field in _fields(change, ctx):
        kinds = {
            "generated": isinstance(field.generated, str),
            "identity": isinstance(field.identity, Identity),
        }
        for part, is_declared in kinds.items():
            if is_declared and len(path) > 1:
                yield Problem(
                    f"{format_path(path)} is inside a column, and cannot be "
                    f"{'an identity column' if part == 'identity' else 'generated'}",
                    help="declare it as a column of the table",
                    path=path,
                    part=part,
                )


def _fields(change: _Change, ctx: RuleContext) -> Iterator[tuple[Path, Field]]:
    match change:
        case TableAdded(state=state):
            yield from walk_fields(state.columns)
        case FieldAdded(path=path, field=added):
            yield from walk_fields(Struct((added,)), path[:-1])
        case _:
            if field := field_at(ctx.after.columns, change.path):
                yield change.path, field
