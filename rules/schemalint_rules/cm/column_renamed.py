from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldRenamed
from schemalint.delta.path import format_path
from schemalint.plugin import Problem, RuleContext, Severity, rule

_ERROR = "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG"


@rule("CM016", on=FieldRenamed, severity=Severity.WARNING, scope="effect", delta_errors=(_ERROR,))
def column_renamed(change: FieldRenamed, ctx: RuleContext) -> Iterator[Problem]:
    """A column is renamed, as the contract declares.

    ## What it does

    Finds a declared rename (`renamed_from`), at any depth, that Delta can make. If another rule forbids the
    rename, only that rule reports it: CM001 without column mapping.

    ## Why is this bad?

    Delta keeps the values, but nothing keeps the old name. Queries that name the column fail, and so do
    writers: an append with the old name fails with `DELTA_METADATA_MISMATCH`, or adds a second column where
    the writer merges schemas. A stream that reads the table without a schema tracking location fails at every
    start with `DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG`, and a read of the change data feed
    across the rename fails with `DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE` or
    `DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA`. A DataFrame that was made
    before the rename fails with `DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS`, as after a widening (measured on Delta
    4.4.0). Where only case differs, queries and writers find the column, but the streams fail too.

    ## What to do

    Change readers and writers together with the table; or keep the name, and give readers the new one in a
    view.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: cust, type: string}
    properties: {delta.columnMapping.mode: name}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: customer_ref, type: string, renamed_from: cust}
    properties: {delta.columnMapping.mode: name}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: cust, type: string, comment: the customer's reference}
    properties: {delta.columnMapping.mode: name}
    ```
    """
    if not ctx.alters(change):
        return
    old = format_path((*change.path[:-1], change.old_name))
    is_same_to_queries = change.old_name.lower() == str(change.path[-1]).lower()
    lost = "" if is_same_to_queries else ": queries and writers that use the old name fail"
    streams = "untracked streams of the table fail at every start"
    frames = ", and DataFrames made before the rename with DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS"
    yield Problem(
        f"{old} is renamed to {format_path(change.path)}{lost or f': {streams}'}",
        help="change readers and writers together with the table" + (f"; {streams}{frames}" if lost else ""),
        delta_error=_ERROR,
    )
