from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FieldRemoved
from schemalint.delta.path import format_path, is_within, path_key
from schemalint.plugin import Problem, RuleContext, Severity, rule
from schemalint_rules.bf._kept_fills import kept_fills


@rule("BF004", on=FieldRemoved, severity=Severity.ERROR, scope="effect")
def drop_without_fill(change: FieldRemoved, ctx: RuleContext) -> Iterator[Problem]:
    """A column is dropped together with the `backfill` that has to move its values.

    ## What it does

    Finds a drop of a column from which the base contract fills another column, if the contract no longer has
    that `backfill`. It also finds the drop if a declared writer names the dropped column, and not the new
    one.

    ## Why is this bad?

    As long as the contract has the `backfill`, `apply` counts the rows whose values have not moved, and drops
    nothing while there are any. Without it, the drop takes these values along. A writer that knows only the
    old column fails after the drop, and until then adds rows that are not filled.

    ## What to do

    Keep `backfill` until the old column is gone from all targets, then remove it in another change. Let all
    writers write the new column before the drop.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: id, type: int}
      - {name: code, type: string}
      - {name: number, type: int, backfill: {from: code, with: "cast(code as int)"}}
    properties: {delta.columnMapping.mode: name}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: id, type: int}
      - {name: number, type: int}
    dropped: [code]
    properties: {delta.columnMapping.mode: name}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: id, type: int}
      - {name: number, type: int, backfill: {from: code, with: "cast(code as int)"}}
    dropped: [code]
    properties: {delta.columnMapping.mode: name}
    ```
    """
    if ctx.base is None or not ctx.alters(change):
        return
    dropped = path_key(change.path)
    kept = kept_fills(ctx)
    for path, backfill in ctx.base.backfills.items():
        source = path_key(backfill.source)
        if not is_within(source, dropped):
            continue
        if (path_key(path), source) not in kept:
            yield Problem(
                f"{format_path(change.path)} is dropped, and nothing counts the rows whose values are not in "
                f"{format_path(path)} yet",
                help="keep `backfill` until the column is gone from all targets",
            )
        for consumer in ctx.consumers:
            names = {path_key(used) for used in consumer.columns}
            if consumer.access == "write" and source in names and path_key(path) not in names:
                yield Problem(
                    f"{format_path(change.path)} is dropped, but {consumer.described} writes it, and not "
                    f"{format_path(path)}",
                    help="let it write the new column first, and name that under its `columns`",
                )
