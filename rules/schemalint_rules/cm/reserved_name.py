from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import (
    CHANGE_DATA_COLUMNS,
    Contract,
    Problem,
    RuleContext,
    Severity,
    dotted,
    is_true,
    property_value,
    rule,
)

_FEED = "delta.enableChangeDataFeed"


@rule(
    "CM008",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=("DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS", "RESERVED_CDC_COLUMNS_ON_WRITE"),
)
def reserved_name(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A column has a name that the change data feed needs for its own.

    ## What it does

    Finds columns called `_change_type`, `_commit_version` or `_commit_timestamp`. With the change data feed
    on it is an error, without it a warning. Fields inside a struct may have those names, and another case is
    another name here.

    ## Why is this bad?

    The change data feed adds these columns to every row that it returns. A table that has one of them
    already cannot enable it (`DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS`), and where it is on, the column
    cannot be added (`RESERVED_CDC_COLUMNS_ON_WRITE`). Without the feed nothing is refused, and the table can
    never have one.

    ## What to do

    Choose another name.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: _commit_version, type: bigint}
    properties: {delta.enableChangeDataFeed: true}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: source_version, type: bigint}
    properties: {delta.enableChangeDataFeed: true}
    ```
    """
    feed = is_true(property_value(_FEED, ctx.after.properties))
    exists = ctx.base is not None or ctx.live is not None
    for field in contract.state.columns.fields:
        if field.name in CHANGE_DATA_COLUMNS:
            added = exists and ctx.before.columns.get(field.name) is None
            refusal = "RESERVED_CDC_COLUMNS_ON_WRITE" if added else "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS"
            yield Problem(
                f"{dotted((field.name,))} is a name of the change data feed"
                + (", which is on" if feed else "; the table could never have one"),
                help="choose another name",
                severity=None if feed else Severity.WARNING,
                path=(field.name,),
                delta_error=refusal if feed else None,
            )
