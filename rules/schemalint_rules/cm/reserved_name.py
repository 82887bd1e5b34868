from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.column_names import CHANGE_DATA_COLUMNS, INTERNAL_COLUMNS, UNREADABLE_COLUMNS
from schemalint.delta.diff import diff
from schemalint.delta.path import format_path
from schemalint.delta.properties import CHANGE_DATA_FEED, is_true, property_value
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_KEYS = (CHANGE_DATA_FEED, "delta.enableChangeDataCapture")
_ROW_INDEX = "_tmp_metadata_row_index"
_EXISTS = "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS"
_ADDED = "RESERVED_CDC_COLUMNS_ON_WRITE"


@rule(
    "CM008",
    on=Contract,
    severity=Severity.ERROR,
    live=True,
    delta_errors=(_EXISTS, _ADDED),
    verdict="impossible",
)
def reserved_name(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A column has a name that the change data feed, Delta or Spark uses for a column of its own.

    ## What it does

    Finds columns named `_change_type`, `_commit_version` or `_commit_timestamp`. The finding is an error if
    the change data feed is on, also for a column of the table that the contract does not declare; without the
    feed it is a warning. Fields inside a struct may have these names, and so
    may columns with another case: `_Change_Type` is fine.

    Finds the names of columns that Spark and Delta add while they read and write, in any case: `_metadata`,
    `_tmp_metadata_row_index`, `__delta_internal_is_row_deleted`, `deletionVectorId`, `_source_row_present_`,
    `_target_row_present_` and `_row_dropped_`. The finding is a warning where some statements fail, and an
    error where the table cannot be read.

    ## Why is this bad?

    The change data feed adds these columns to every row that it returns. A table that already has one of them
    cannot enable the feed (`DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS`), and a table with the feed cannot add
    one (`RESERVED_CDC_COLUMNS_ON_WRITE`). Without the feed Delta refuses nothing, but the table can never
    enable it.

    Where a column has a name that Spark or Delta adds itself, Delta creates the table and takes rows. Beside
    `_metadata` and `deletionVectorId`, DELETE, UPDATE and MERGE fail with `AMBIGUOUS_REFERENCE` if deletion
    vectors are on, beside `_source_row_present_`, `_target_row_present_` and `_row_dropped_` each MERGE
    fails. Of a bigint `_tmp_metadata_row_index`, without column mapping, Spark reads the position of each
    row in place of its value, and an UPDATE then writes that; another type cannot be read. No query reads
    a table with `__delta_internal_is_row_deleted`.

    Another writer may have created a live table with both. Spark reads it and writes its rows, but refuses
    every `ALTER TABLE` with `RESERVED_CDC_COLUMNS_ON_WRITE`, except one that renames the column or disables
    the feed. The finding is an error if the contract changes such a table, and a warning otherwise. All this
    is measured on Delta 4.4.0.

    ## What to do

    Choose another name. If the table already has the column, rename or drop it; the same edit can enable the
    feed.

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
    yield from _like_internal_columns(contract, ctx)
    reserved = [field.name for field in ctx.after.columns.fields if field.name in CHANGE_DATA_COLUMNS]
    if not is_true(property_value(CHANGE_DATA_FEED, ctx.after.properties)):
        yield from _without_feed(contract)
        return
    existing = [name for name in reserved if any(field.name == name for field in ctx.before.columns.fields)]
    was_on = is_true(property_value(CHANGE_DATA_FEED, ctx.before.properties))
    if existing and (ctx.against == "live" or not was_on):
        yield _locked(existing, ctx) if was_on else _cannot_enable(existing, contract)
        reserved = [name for name in reserved if name not in existing]
    for name in reserved:
        yield Problem(
            f"{format_path((name,))} is a reserved name of the change data feed, which is on",
            help="choose another name",
            path=(name,),
            delta_error=_EXISTS if ctx.is_new_table or name in existing else _ADDED,
        )


def _like_internal_columns(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    is_mapped = ctx.after.column_mapping != "none"
    for field in contract.state.columns.fields:
        does = INTERNAL_COLUMNS.get(field.name.lower())
        if does is None:
            continue
        # With column mapping the column of the file has another name.
        lost = None if is_mapped and field.name == _ROW_INDEX else UNREADABLE_COLUMNS.get(field.name)
        adds = does if lost is None else f"{does.partition(':')[0]}: {lost}"
        yield Problem(
            f"{format_path((field.name,))} is the name of a column that {adds}",
            help="choose another name",
            severity=Severity.WARNING if lost is None else None,
            path=(field.name,),
        )


def _without_feed(contract: Contract) -> Iterator[Problem]:
    for field in contract.state.columns.fields:
        if field.name in CHANGE_DATA_COLUMNS:
            yield Problem(
                f"{format_path((field.name,))} is a reserved name of the change data feed; the table could "
                "never enable it",
                help="choose another name",
                severity=Severity.WARNING,
                path=(field.name,),
            )


def _locked(names: list[str], ctx: RuleContext) -> Problem:
    """Return the problem of a live table with both: rows can be written, but nothing else can change."""
    is_refused = bool(diff(ctx.before, ctx.after))
    consequence = "Delta refuses this change" if is_refused else "Delta refuses every change of the table"
    return Problem(
        f"{_joined(names)} is a reserved name of the change data feed, which is on: {consequence}",
        help="rename the column or disable the feed, before anything else",
        severity=None if is_refused else Severity.WARNING,
        path=(names[0],),
        delta_error=_ADDED,
    )


def _cannot_enable(names: list[str], contract: Contract) -> Problem:
    key = next((key for key in _KEYS if is_true(contract.state.set_properties.get(key))), CHANGE_DATA_FEED)
    return Problem(
        f"{key} cannot be enabled: the table has {_joined(names)}",
        help="rename or drop the column, or do without the feed",
        object=ObjectRef("property", key),
        delta_error=_EXISTS,
    )


def _joined(names: list[str]) -> str:
    return ", ".join(format_path((name,)) for name in names)
