from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.path import format_path, path_key
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule


@rule("BF008", on=Contract, severity=Severity.WARNING)
def fill_changed(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The expression that fills a column changes, and rows may have values of the old one.

    ## What it does

    Finds a `backfill` whose `with` or `time_zone` differs from that of the base.

    ## Why is this bad?

    A fill writes only where the new column is null. Rows that were filled before keep the values of the old
    expression, so that the column has two meanings. When the old column is dropped, each row is judged by the
    new expression alone: `apply` refuses the drop, and calls these rows differing.

    ## What to do

    Say `differing: refill`, if the old column is still the truth: `apply --allow data` then writes the new
    value wherever it is another one. If nothing was filled yet in any target, approve the finding.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: euros, type: string}
      - {name: cents, type: bigint, backfill: {from: euros, with: "cast(euros as bigint)"}}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: euros, type: string}
      - {name: cents, type: bigint, backfill: {from: euros, with: "cast(euros as bigint) * 100"}}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: euros, type: string}
      - name: cents
        type: bigint
        backfill: {from: euros, with: "cast(euros as bigint) * 100", differing: refill}
    ```
    """
    if ctx.base is None:
        return
    before = {path_key(path): fill for path, fill in ctx.base.backfills.items()}
    for path, fill in contract.backfills.items():
        old = before.get(path_key(path))
        if old is None or path_key(old.source) != path_key(fill.source):
            continue
        is_same = (old.expression, old.time_zone) == (fill.expression, fill.time_zone)
        if is_same or fill.ways_out.differing == "refill":
            continue
        name = format_path(path)
        yield Problem(
            f"{name} gets another expression: rows that have a value keep it, and the drop of "
            f"{format_path(fill.source)} judges them by the new one",
            help="write the values anew with `differing: refill`",
            path=path,
            part="backfill.with",
            old=old.expression,
            new=fill.expression,
        )
