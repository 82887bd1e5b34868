from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldRemoved
from schemalint.delta.datatype import Struct, type_at
from schemalint.delta.path import format_path, path_key
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, rule

_ERROR = "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG"


@rule("CM015", on=FieldRemoved, severity=Severity.WARNING, scope="effect", delta_errors=(_ERROR,))
def column_dropped(change: FieldRemoved, ctx: RuleContext) -> Iterator[Problem]:
    """A column is dropped, as the contract declares.

    ## What it does

    Finds a removed column, at any depth, that the contract lists under `dropped` and that Delta can drop. If
    another rule forbids the drop, only that rule reports it: CM002 without column mapping, CM003 without an
    entry under `dropped`, CT003 before the announced day, CT007 where the entry contradicts the
    columns, NC011 for the last column.

    ## Why is this bad?

    No statement brings the values back. Time travel reads them in older versions until `VACUUM` deletes the
    files; a new column of the same name starts empty. Queries that name the column fail. A stream that reads
    the table without a schema tracking location fails at every start with
    `DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG`, and a read of the change data feed across the
    drop fails with `DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE` or
    `DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA`.

    ## What to do

    Ask the readers first. If they still need the column, keep its line, with `deprecated` and a day after
    which it goes.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: legacy_code, type: string}
    properties: {delta.columnMapping.mode: name}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    dropped: [legacy_code]
    properties: {delta.columnMapping.mode: name}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: legacy_code, type: string, deprecated: {reason: unused, remove_after: 2999-12-31}}
    properties: {delta.columnMapping.mode: name}
    ```
    """
    leaves_others = type_at(ctx.after.columns, change.path[:-1]) != Struct()
    if ctx.alters(change) and leaves_others and not _contradicts(change, ctx):
        path = format_path(change.path)
        yield Problem(
            f"{path} is dropped: queries that name it fail, and its values remain only in older versions",
            help=f"{ctx.wording.keep_deprecated} while it has readers; time travel reads the values until "
            "VACUUM deletes the files; untracked streams of the table fail at every start, and DataFrames "
            "made before the drop with DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS",
            part="dropped",
            delta_error=_ERROR,
        )


def _contradicts(change: FieldRemoved, ctx: RuleContext) -> bool:
    """Return whether CT007 reports the entry under `dropped`: its type is not the dropped column's alone."""
    old = print_type(change.field.type)
    entries = ctx.contract.state.dropped_by_key.get(path_key(change.path), ())
    given = {print_type(entry.type) for entry in entries if entry.type is not None}
    declared = type_at(ctx.contract.state.columns, change.path)
    return bool(given) and (given != {old} or (declared is not None and print_type(declared) == old))
