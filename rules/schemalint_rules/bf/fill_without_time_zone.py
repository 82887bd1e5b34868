from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import Struct, type_at
from schemalint.delta.fill_time_zone import depends_on_time_zone
from schemalint.delta.path import format_path
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule


@rule("BF009", on=Contract, severity=Severity.WARNING)
def fill_without_time_zone(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A column is filled with instants of texts or days, or the other way round, without a time zone.

    ## What it does

    Finds a `backfill` without `time_zone` whose `with` converts between a `timestamp` and a string, a date or
    a `timestamp_ntz`, or takes a `timestamp` apart.

    ## Why is this bad?

    '2026-07-01 10:00' is another instant in Berlin than in UTC. `apply` takes UTC, whatever the session has;
    the writers of the old column may have meant their own time.

    ## What to do

    Say `time_zone: UTC`, or the zone that the values are meant in.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: at_text, type: string}
      - {name: at, type: timestamp, backfill: {from: at_text, with: "cast(at_text as timestamp)"}}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: at_text, type: string}
      - name: at
        type: timestamp
        backfill: {from: at_text, with: "cast(at_text as timestamp)", time_zone: Europe/Berlin}
    ```
    """
    # The source may be gone from the contract, and still be in the table.
    columns = Struct((*contract.state.columns.fields, *ctx.before.columns.fields))
    for path, fill in contract.backfills.items():
        type_ = type_at(contract.state.columns, path)
        if fill.time_zone is not None or type_ is None:
            continue
        if depends_on_time_zone(fill.expression, columns, type_):
            yield Problem(
                f"the values of {format_path(path)} depend on a time zone, and none is declared: UTC",
                help="write `time_zone: UTC` or another zone into `backfill`",
                path=path,
                part="backfill.with",
            )
