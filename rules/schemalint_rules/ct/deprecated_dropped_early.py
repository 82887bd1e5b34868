from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from schemalint.delta.change import FieldRemoved
from schemalint.delta.path import format_path, is_within, path_key
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("CT003", on=FieldRemoved, severity=Severity.ERROR)
def deprecated_dropped_early(change: FieldRemoved, ctx: RuleContext) -> Iterator[Problem]:
    """A deprecated column is dropped before its announced day of removal.

    ## What it does

    Finds a drop of a column whose `deprecated` in the base gives a `remove_after` that has not passed (in
    UTC), and a drop of a struct that contains such a field. The rule checks only drops that can be applied:
    CM002 reports a drop without column mapping, and CM003 a removed column that is not listed under
    `dropped`.

    ## Why is this bad?

    The date is a promise to the readers of the column, and they plan by it. Delta does not know the date.

    ## What to do

    Wait, or agree on an earlier day: move `remove_after` in a separate edit that the readers can see. If the
    column has no readers any more, approve the break under `allow`, with a reason.

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
    dropped = path_key(change.path)
    for path, deprecation in sorted(ctx.base.deprecated.items(), key=lambda item: path_key(item[0])):
        day = deprecation.remove_after
        if is_within(path_key(path), dropped) and day and ctx.today <= dt.date.fromisoformat(day):
            yield Problem(
                f"{format_path(path)} is dropped, but the contract promises to keep it until {day}",
                help=f"drop it after {day}, or announce an earlier day first",
                path=path,
            )
