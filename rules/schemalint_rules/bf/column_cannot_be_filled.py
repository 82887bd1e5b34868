from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.fill_expressions import fill_obstacle
from schemalint.delta.path import format_path
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule


@rule("BF002", on=Contract, severity=Severity.ERROR, verdict="impossible")
def column_cannot_be_filled(contract: Contract, _ctx: RuleContext) -> Iterator[Problem]:
    """A column has a `backfill`, but no UPDATE can fill it from its source.

    ## What it does

    Finds columns with `backfill` that

    - are generated, or identity columns: only Delta gives them values;
    - have a variant in their type: variants cannot be compared, so nothing would prove that the values are
      there when the source is dropped;
    - are NOT NULL: no row of theirs waits for a value;
    - have a `default`: a writer that knows only the old column adds rows with the default, not with null, so
      nothing shows that their values are missing;
    - are inside an array or a map, or filled from a field that is;
    - would be filled from themselves.

    ## Why is this bad?

    A fill sets the column where it is null and its source is not (`UPDATE … WHERE new IS NULL AND old IS NOT
    NULL`). Delta refuses this for computed columns, and in the other cases it would miss rows. Then the old
    column would be dropped although values are missing.

    ## What to do

    Add a nullable column without a default. In place of NOT NULL, declare a constraint such as `number IS NOT
    NULL`, in the same change or in a later one: `apply` adds it after the fill. Set the default in a later
    change, when all writers write the new column.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: code, type: string}
      - {name: number, type: int, nullable: false, backfill: {from: code, with: "cast(code as int)"}}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: code, type: string}
      - {name: number, type: int, backfill: {from: code, with: "cast(code as int)"}}
    ```
    """
    for path, backfill in contract.backfills.items():
        if reason := fill_obstacle(path, backfill.source, contract.state.columns):
            yield Problem(
                f"{format_path(path)} cannot be filled: {reason}",
                help="fill a nullable column without a default, from another one",
                path=path,
                part="backfill",
            )
