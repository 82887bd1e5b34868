from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.properties import property_problem
from schemalint.delta.requests import PropertyVerdict, judge_property, value_refusal
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule


@rule(
    "TP002",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=(
        "DELTA_INVALID_CALENDAR_INTERVAL_EMPTY",
        "DELTA_INVALID_INTERVAL",
        "DELTA_INVALID_ISOLATION_LEVEL",
        "UNSUPPORTED_TABLE_CHANGE",
    ),
)
def property_invalid_value(contract: Contract, _ctx: RuleContext) -> Iterator[Problem]:
    """A table property has a value that Delta does not accept.

    ## What it does

    Compares every value with what Delta accepts for that key: a boolean is `true` or `false` in any case, an
    integer has a range, a duration is an interval without months and years, and some keys accept one of a few
    words. PF002 checks protocol versions, PF006 checks `delta.feature.*`.

    ## Why is this bad?

    `ALTER TABLE … SET TBLPROPERTIES` fails with `UNSUPPORTED_TABLE_CHANGE` and a text such as "requirement
    failed: delta.checkpointInterval needs to be a positive integer" or "For input string: "yes"". `CREATE
    TABLE` fails with the same text and no error class. Intervals that cannot be parsed have error classes of
    their own, `DELTA_INVALID_INTERVAL` and `DELTA_INVALID_CALENDAR_INTERVAL_EMPTY`, and so do isolation
    levels other than Serializable: `DELTA_INVALID_ISOLATION_LEVEL`.

    ## What to do

    Write a value of the kind that the message names. Spaces around a value count: ` true` is not a boolean.

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
    for key, value in contract.state.set_properties.items():
        if judge_property(key, value) == PropertyVerdict.INVALID:
            yield Problem(
                str(property_problem(key, value)),
                help="write such a value, or `null` for Delta's default",
                object=ObjectRef("property", key),
                new=value,
                delta_error=value_refusal(key, value),
            )
