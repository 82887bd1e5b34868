from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.live_effect import mended_by, refusal_of_value, stopped_by, way_back
from schemalint.delta.properties import COLUMN_MAPPING_MODE, property_problem
from schemalint.delta.property_values import Stops
from schemalint.delta.requests import PropertyVerdict, judge_property, value_refusal
from schemalint.delta.schema_history import MAX_COLUMN_ID
from schemalint.delta.table import LiveTable
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule

_OF_COLUMN_MAPPING = (COLUMN_MAPPING_MODE, MAX_COLUMN_ID)  # CM005 reports their values


@rule(
    "TP002",
    on=(Contract, LiveTable),
    severity=Severity.ERROR,
    delta_errors=(
        "ArithmeticException",
        "DELTA_INVALID_CALENDAR_INTERVAL_EMPTY",
        "DELTA_INVALID_INTERVAL",
        "DELTA_INVALID_ISOLATION_LEVEL",
        "INTERNAL_ERROR",
        "IllegalArgumentException",
        "JsonParseException",
        "MismatchedInputException",
        "NoSuchElementException",
        "NumberFormatException",
        "UNSUPPORTED_TABLE_CHANGE",
    ),
    verdict="impossible",
)
def property_invalid_value(fact: Contract | LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    """A table property has a value that Delta does not accept.

    ## What it does

    Compares every value with what Delta accepts for that key: a boolean is `true` or `false` in any case, an
    integer has a range, a duration is an interval without months and years, and some keys accept one of a few
    words. PF002 checks protocol versions, PF006 checks `delta.feature.*`.

    The rule judges the values of a live table too, which other writers may set.

    ## Why is this bad?

    `ALTER TABLE … SET TBLPROPERTIES` fails with `UNSUPPORTED_TABLE_CHANGE` and a text such as "requirement
    failed: delta.checkpointInterval needs to be a positive integer" or "For input string: "yes"". `CREATE
    TABLE` fails with the same text and no error class. Intervals that cannot be parsed have error classes of
    their own, `DELTA_INVALID_INTERVAL` and `DELTA_INVALID_CALENDAR_INTERVAL_EMPTY`, and so do isolation
    levels that Delta does not know: `DELTA_INVALID_ISOLATION_LEVEL`.

    Of a live table with such a value, Delta Spark refuses every statement, every write, or every statement
    that alters the table, depending on the property. The error is the same, or one of Java:
    `IllegalArgumentException`, `NumberFormatException`, `ArithmeticException`, `NoSuchElementException`,
    `JsonParseException`, `MismatchedInputException`, or `INTERNAL_ERROR`. With other properties nothing
    fails, or Delta silently writes no checkpoints; then the finding is a warning (all measured on Delta 4.4.0
    for each property).

    ## What to do

    Write a value of the kind that the message names. Spaces around a value count: ` true` is not a boolean.
    In a live table, `ALTER TABLE` can replace most values; for the others, `RESTORE` the version before. With
    `delta.coordinatedCommits.commitCoordinatorConf-preview`, `RESTORE` reports the error of the old value,
    but has replaced it.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.enableChangeDataFeed: "yes", delta.logRetentionDuration: 1 month}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.enableChangeDataFeed: true, delta.logRetentionDuration: interval 30 days}
    ```
    """
    if isinstance(fact, LiveTable):
        yield from _of_table(fact, ctx)
        return
    for key, value in fact.state.set_properties.items():
        if judge_property(key, value) == PropertyVerdict.INVALID and not ctx.has_value(key, value):
            yield Problem(
                str(property_problem(key, value)),
                help=ctx.wording.either("write such a value", ctx.wording.default_value),
                object=ObjectRef("property", key),
                new=value,
                delta_error=value_refusal(key, value),
            )


def _of_table(table: LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    for key, value in sorted(table.state.set_properties.items()):
        stops = stopped_by(key, value)
        if stops is None or key in _OF_COLUMN_MAPPING:
            continue
        is_mended = ctx.after.properties.get(key) != value and mended_by(key, value) == "ALTER TABLE"
        is_harmless = stops in (Stops.NOTHING, Stops.CHECKPOINTS) or (
            stops is Stops.CHANGES and not ctx.changes
        )
        yield Problem(
            f"{property_problem(key, value)}: {stops.value}",
            help=_help(table, mended_by(key, value)),
            severity=Severity.WARNING if is_harmless else None,
            object=ObjectRef("property", key),
            old=value,
            delta_error=refusal_of_value(key, value),
            unreadable=stops is Stops.ALL,
            is_mended=is_mended,
        )


def _help(table: LiveTable, statement: str | None) -> str:
    if statement == "ALTER TABLE":
        return "set another value, or remove the property: `ALTER TABLE` does that"
    if statement == "RESTORE":
        return way_back(table, "`ALTER TABLE` cannot replace this value")
    return "Delta Spark cannot mend the table: the writer that set the value has to replace it"
