from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from schemalint.delta.change import FieldRemoved
from schemalint.delta.path import format_path, path_key
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("CT003", on=FieldRemoved, severity=Severity.ERROR)
def deprecated_dropped_early(change: FieldRemoved, ctx: RuleContext) -> Iterator[Problem]:
    """A deprecated column is dropped before the day that its readers were told.

    ## What it does

    Finds a drop of a column whose `deprecated` gives a `remove_after` that has not passed (in UTC), as the
    base has it; also of a struct that such a field is in. It looks at drops that can be carried out: without
    column mapping CM002 speaks, and of a column that goes without being listed CM003.

    ## Why is this bad?

    The date is a promise to those who still read the column, and they plan by it. Delta knows nothing of it.

    ## What to do

    Wait, or agree on an earlier day: move `remove_after` in an edit of its own, which its readers can see.
    If nobody reads the column any more, approve the break under `allow`, with a reason.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: legacy_code, type: string, deprecated: {remove_after: 2999-12-31}}
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
      - {name: legacy_code, type: string, deprecated: {remove_after: 2999-12-31, reason: unused}}
    properties: {delta.columnMapping.mode: name}
    ```
    """
    if ctx.base is None or not ctx.alters(change):
        return
    gone = path_key(change.path)
    for path, deprecation in sorted(ctx.base.deprecated.items(), key=lambda item: path_key(item[0])):
        day = deprecation.remove_after
        if path_key(path)[: len(gone)] == gone and day and ctx.today <= dt.date.fromisoformat(day):
            yield Problem(
                f"{format_path(path)} is dropped, but its readers were told that it stays until {day}",
                help=f"drop it after {day}, or announce an earlier day first",
                path=path,
            )
