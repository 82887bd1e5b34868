from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import field_at
from schemalint.delta.path import format_path
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule


@rule("BF006", on=Contract, severity=Severity.INFO)
def fill_under_way(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """Says how far a column that is filled from another one has come in a target.

    ## What it does

    Says for each `backfill` of the contract, in `check --live` and for each target, whether

    - the new column is missing: `apply` will add it;
    - both columns are there: `apply --allow data` fills the new one, and counts the rows that are left, which
      the log cannot tell;
    - the old column is gone: `backfill` has nothing left to do.

    ## Why is this bad?

    It is not. A migration goes through several merges, and the targets follow one after the other; the next
    step is safe when all of them have taken the last one.

    ## What to do

    Drop the old column when every target has been filled. Remove `backfill` when it is gone everywhere.

    ## Example

    ```yaml title="live"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: code, type: string}
      - {name: number, type: int}
    ```

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: code, type: string}
      - {name: number, type: int, backfill: {from: code, with: "cast(code as int)"}}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: code, type: string}
      - {name: number, type: int}
    ```
    """
    if ctx.live is None:
        return
    for path, backfill in contract.backfills.items():
        column, source = format_path(path), format_path(backfill.source)
        is_there, has_source = (
            field_at(ctx.before.columns, name) is not None for name in (path, backfill.source)
        )
        if is_there and has_source:
            message = f"{column} is being filled from {source}: the log does not tell how many rows are left"
            help_text = "`apply --allow data` counts and fills them"
        elif is_there:
            message, help_text = f"{source} is gone, and {column} is there", "remove `backfill`"
        elif has_source:
            message, help_text = f"{column} is not there yet, and {source} has its values", "apply adds it"
        else:
            continue
        yield Problem(message, help=help_text, path=path, part="backfill")
