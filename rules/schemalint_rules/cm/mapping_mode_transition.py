from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import PropertyChanged
from schemalint.delta.column_names import invalid_characters
from schemalint.delta.datatype import walk_fields
from schemalint.delta.path import format_path
from schemalint.delta.properties import is_true
from schemalint.plugin import Problem, RuleContext, Severity, rule

_MODE = "delta.columnMapping.mode"
_MODES = ("none", "name", "id")
_COMPATS = tuple(f"delta.enableIcebergCompatV{version}" for version in (1, 2, 3))


@rule(
    "CM004",
    on=PropertyChanged,
    severity=Severity.ERROR,
    delta_errors=(
        "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE",
        "DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING",
    ),
)
def mapping_mode_transition(change: PropertyChanged, ctx: RuleContext) -> Iterator[Problem]:
    """The column mapping mode of a table changes in a way that costs or cannot be done.

    ## What it does

    Finds a change of `delta.columnMapping.mode` on an existing table to `id`, from `id` to `name`, and back
    to `none`; the last is a warning as long as the names of all columns can do without mapping. From `none`
    to `name` is fine, also together with a rename or a drop: `apply` switches the mode on first. A mode that
    does not exist is TP002's, mapping that Iceberg needs is RD008's.

    ## Why is this bad?

    Only a new table can begin with `id`, and `id` and `name` never become each other:
    `DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE`. Older pages call the way back to `none` impossible. Today
    it is open, and it rewrites every file of the table; the feature `columnMapping` stays in the protocol,
    and the change stops every stream. Names with blanks or one of `,;{}()=` bar it:
    `DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING`.

    ## What to do

    Keep the mode. For `id` on an existing table, create a new one and copy the data.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.columnMapping.mode: name}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.columnMapping.mode: id}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.columnMapping.mode: name}
    ```
    """
    before = (ctx.before.properties.get(_MODE) or "none").lower()
    after = ctx.column_mapping
    if change.key != _MODE or before == after or after not in _MODES:
        return
    if after != "none":
        if (before, after) != ("none", "name"):
            yield Problem(
                f"column mapping changes from {before} to {after}, which only a new table can have",
                help=f"keep {before}" if before != "none" else "use name, which does the same for renames",
                delta_error="DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE",
            )
    elif any(is_true(ctx.after.properties.get(key)) for key in _COMPATS):
        return
    elif names := _names_that_need_mapping(ctx):
        yield Problem(
            f"column mapping cannot be switched off: {', '.join(names)} would be no valid name",
            help="rename first, in an edit of its own, or keep the mode",
            delta_error="DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING",
        )
    else:
        yield Problem(
            f"column mapping changes from {before} to none: Delta rewrites every file of the table",
            help=f"keep {before} unless a reader cannot do with it; the feature stays in the protocol",
            severity=Severity.WARNING,
        )


def _names_that_need_mapping(ctx: RuleContext) -> list[str]:
    return [
        format_path(path) for path, field in walk_fields(ctx.before.columns) if invalid_characters(field.name)
    ]
