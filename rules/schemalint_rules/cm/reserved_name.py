from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.column_names import CHANGE_DATA_COLUMNS
from schemalint.delta.path import format_path
from schemalint.delta.properties import is_true
from schemalint.delta.properties import value_of as property_value
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_FEED = "delta.enableChangeDataFeed"
_KEYS = (_FEED, "delta.enableChangeDataCapture")
_EXISTS = "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS"
_ADDED = "RESERVED_CDC_COLUMNS_ON_WRITE"


@rule(
    "CM008",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=(_EXISTS, _ADDED),
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

    Choose another name. Where the table has the column already, rename it before the feed is switched on.

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
    there = [name for name in reserved if ctx.before.columns.get(name)]
    feed = is_true(property_value(_FEED, ctx.after.properties))
    if feed and there and not is_true(property_value(_FEED, ctx.before.properties)):
        yield _switched_on(there, contract)
        reserved = [name for name in reserved if name not in there]
    for name in reserved:
        refusal = _EXISTS if ctx.is_new_table or name in there else _ADDED
        yield Problem(
            f"{format_path((name,))} is a name of the change data feed"
            + (", which is on" if feed else "; the table could never have one"),
            help="choose another name",
            severity=None if feed else Severity.WARNING,
            path=(name,),
            delta_error=refusal if feed else None,
        )


def _switched_on(names: list[str], contract: Contract) -> Problem:
    key = next((key for key in _KEYS if is_true(contract.state.set_properties.get(key))), _FEED)
    return Problem(
        f"{key} cannot be switched on: the table has {', '.join(format_path((name,)) for name in names)}",
        help="rename the column in an edit before, or do without the feed",
        object=ObjectRef("property", key),
        delta_error=_EXISTS,
    )
