from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import field_at
from schemalint.delta.path import format_path, path_key
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule
from schemalint_rules.bf._kept_fills import kept_fills


@rule("BF007", on=Contract, severity=Severity.ERROR)
def fill_taken_out(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A column loses its `backfill` although the column that it is filled from still stands.

    ## What it does

    Compares the contract with its base, and finds a `backfill` that is gone, or that names another column
    in `from`, while the contract still declares both columns.

    ## Why is this bad?

    Writers that know only the old column go on adding rows, and nothing fills them any more. When the old
    column is dropped in a later change, `apply` still proves that the new one has its values: by the `with`
    of the last revision that had one, and with no way to say what may be lost.

    ## What to do

    Keep `backfill` until the old column is gone from all targets. Where the new column is the truth already,
    say `differing: keep_new`.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: code, type: string}
      - {name: number, type: int, backfill: {from: code, with: "cast(code as int)"}}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: code, type: string}
      - {name: number, type: int}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: code, type: string}
      - {name: number, type: int, backfill: {from: code, with: "cast(code as int)", differing: keep_new}}
    ```
    """
    if ctx.base is None:
        return
    kept = kept_fills(ctx)
    columns = contract.state.columns
    for path, backfill in ctx.base.backfills.items():
        stands = field_at(columns, path) is not None and field_at(columns, backfill.source) is not None
        if stands and (path_key(path), path_key(backfill.source)) not in kept:
            yield Problem(
                f"nothing fills {format_path(path)} from {format_path(backfill.source)} any more, which "
                "still stands",
                help="keep `backfill` until the old column is gone from all targets",
                path=path,
            )
