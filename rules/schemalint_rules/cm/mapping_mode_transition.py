from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import PropertyChanged
from schemalint.delta.column_names import invalid_characters
from schemalint.delta.datatype import field_at, walk_fields
from schemalint.delta.path import format_path
from schemalint.delta.properties import COLUMN_MAPPING_MODE, ICEBERG_COMPAT_KEYS, is_true
from schemalint.plugin import Problem, RuleContext, Severity, rule

_MODES = ("none", "name", "id")


@rule(
    "CM004",
    on=PropertyChanged,
    severity=Severity.ERROR,
    delta_errors=(
        "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE",
        "DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING",
    ),
    verdict="impossible",
)
def mapping_mode_transition(change: PropertyChanged, ctx: RuleContext) -> Iterator[Problem]:
    """The column mapping mode changes in a way that is expensive or impossible.

    ## What it does

    Finds a change of `delta.columnMapping.mode` on an existing table to `id`, from `id` to `name`, and back
    to `none`; the last is a warning if all column names are valid without column mapping, and the contract
    declares the clustering of the table if it has one. From `none` to
    `name` is fine, also together with a rename or a drop: `apply` enables column mapping first. TP002 reports
    a mode that does not exist, and RD008 column mapping that Iceberg compatibility needs.

    ## Why is this bad?

    Only a new table can start with `id`, and Delta never changes `id` to `name` or back:
    `DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE`. Older documentation calls the way back to `none`
    impossible. Current Delta allows it, and rewrites every file of the table; the feature `columnMapping`
    stays in the protocol, and the change stops every stream. Names that contain a space or one of `,;{}()=`
    prevent it: `DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING`; `apply` renames and drops columns
    before. A clustering refers to columns by their physical names, which no column has without column
    mapping: then `OPTIMIZE`, `CLUSTER BY` and `DESCRIBE DETAIL` fail for good. `apply` removes a declared
    clustering before, and sets it again.

    ## What to do

    Keep the mode. To use `id`, create a new table and copy the data.

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
    before = ctx.before.column_mapping
    after = ctx.column_mapping
    if change.key != COLUMN_MAPPING_MODE or before == after or after not in _MODES:
        return
    if after != "none":
        if (before, after) != ("none", "name"):
            yield Problem(
                f"column mapping cannot change from {before} to {after} in an existing table",
                help=f"keep {before}" if before != "none" else "use name, which works the same for renames",
                delta_error="DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE",
            )
    elif any(is_true(ctx.after.properties.get(key)) for key in ICEBERG_COMPAT_KEYS):
        return
    elif names := _names_that_need_mapping(ctx):
        yield Problem(
            f"column mapping cannot be switched off: {', '.join(names)} would not be valid without it",
            help="rename these columns, or keep the mode",
            delta_error="DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING",
        )
    elif ctx.before.clustered_by and not isinstance(ctx.contract.state.clustered_by, tuple):
        yield Problem(
            "column mapping cannot be switched off: the table has a clustering that the contract does not "
            "declare",
            help=f"declare the clustering: {ctx.wording.clustered_by}",
        )
    else:
        yield Problem(
            f"column mapping changes from {before} to none: Delta rewrites every file of the table",
            help=f"keep {before} unless a reader does not support it; the feature stays in the protocol",
            severity=Severity.WARNING,
        )


def _names_that_need_mapping(ctx: RuleContext) -> list[str]:
    """Return the kept names that need column mapping; CM006 reports new ones."""
    return [
        format_path(path)
        for path, field in walk_fields(ctx.after.columns)
        if invalid_characters(field.name) and field_at(ctx.before.columns, path)
    ]
