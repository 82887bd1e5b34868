from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import TypeChanged
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("RB002", on=TypeChanged, severity=Severity.ERROR, tables="rebuilt")
def type_changed_by_rebuild(change: TypeChanged, _ctx: RuleContext) -> Iterator[Problem]:
    """The next build of a table gives a column another type.

    ## What it does

    Compares types, at any depth, in a table that another tool builds anew
    (`managed_by: {tool: dbt, how: replace}`). `CREATE OR REPLACE TABLE … AS SELECT` can make any type, so
    Delta refuses none. It is an error if values of the old type may not fit the new one, and a warning if
    all of them do. Two names of one type, such as `int` and `integer`, are no change.

    ## Why is this bad?

    A build that casts to a smaller type fails at the first value that does not fit
    (`NUMERIC_VALUE_OUT_OF_RANGE`); without ANSI mode it stores NULL instead. Readers
    with a fixed schema, and jobs that write elsewhere, get another type from one run to the next.

    ## What to do

    Keep the type, or build a column of the new type beside the old one and move the readers to it.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: logistics.parcels
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: parcel_id, type: string}
      - {name: grams, type: bigint}
    ```

    ```yaml title="after"
    schemalint: 1
    table: logistics.parcels
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: parcel_id, type: string}
      - {name: grams, type: int}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: logistics.parcels
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: parcel_id, type: string}
      - {name: grams, type: bigint}
    ```
    """
    name, old, new = format_path(change.path), print_type(change.old), print_type(change.new)
    verdict = classify(change.old, change.new, nested=len(change.path) > 1)
    is_wider = verdict in (TypeVerdict.FREE, TypeVerdict.WIDENING)
    fate = "all values fit" if is_wider else "values that do not fit fail the build, or are NULL"
    yield Problem(
        f"{name} is {new} after the next build, and was {old}: {fate}",
        help="tell the readers" if is_wider else f"keep {old}, or build a column of the new type beside it",
        severity=Severity.WARNING if is_wider else None,
    )
