from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.column_names import CHANGE_DATA_COLUMNS
from schemalint.delta.path import format_path
from schemalint.delta.properties import CHANGE_DATA_FEED, is_true, property_value
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_KEYS = (CHANGE_DATA_FEED, "delta.enableChangeDataCapture")
_EXISTS = "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS"
_ADDED = "RESERVED_CDC_COLUMNS_ON_WRITE"


@rule(
    "CM008",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=(_EXISTS, _ADDED),
)
def reserved_name(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A column has a name that the change data feed reserves.

    ## What it does

    Finds columns named `_change_type`, `_commit_version` or `_commit_timestamp`. The finding is an error if
    the change data feed is on, and a warning otherwise. Fields inside a struct may have these names, and so
    may columns with another case: `_Change_Type` is fine.

    ## Why is this bad?

    The change data feed adds these columns to every row that it returns. A table that already has one of them
    cannot enable the feed (`DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS`), and a table with the feed cannot add
    one (`RESERVED_CDC_COLUMNS_ON_WRITE`). Without the feed Delta refuses nothing, but the table can never
    enable it.

    ## What to do

    Choose another name. If the table already has the column, rename it before you enable the feed.

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
    reserved = [field.name for field in contract.state.columns.fields if field.name in CHANGE_DATA_COLUMNS]
    existing = [name for name in reserved if ctx.before.columns.get(name)]
    feed = is_true(property_value(CHANGE_DATA_FEED, ctx.after.properties))
    if feed and existing and not is_true(property_value(CHANGE_DATA_FEED, ctx.before.properties)):
        yield _cannot_enable(existing, contract)
        reserved = [name for name in reserved if name not in existing]
    for name in reserved:
        refusal = _EXISTS if ctx.is_new_table or name in existing else _ADDED
        yield Problem(
            f"{format_path((name,))} is a reserved name of the change data feed"
            + (", which is on" if feed else "; the table could never enable it"),
            help="choose another name",
            severity=None if feed else Severity.WARNING,
            path=(name,),
            delta_error=refusal if feed else None,
        )


def _cannot_enable(names: list[str], contract: Contract) -> Problem:
    key = next((key for key in _KEYS if is_true(contract.state.set_properties.get(key))), CHANGE_DATA_FEED)
    return Problem(
        f"{key} cannot be enabled: the table has {', '.join(format_path((name,)) for name in names)}",
        help="rename the column in an earlier edit, or do without the feed",
        object=ObjectRef("property", key),
        delta_error=_EXISTS,
    )
