from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.engine_answers import knows_older_property
from schemalint.delta.properties import OF_KERNEL, suggest_property
from schemalint.delta.requests import PropertyVerdict, judge_property
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule


@rule(
    "TP001",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=("DELTA_UNKNOWN_CONFIGURATION",),
    verdict="impossible",
)
def property_unknown(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The contract sets a table property that Delta does not know.

    ## What it does

    Finds a key that begins with `delta.` and is in no registry of Delta, and a key of Delta without the
    prefix `delta.`, such as `enableTypeWidening`; the latter is a warning. Any other key without the prefix
    is your own.

    A line of `properties` gets at most one finding: this rule checks the key, TP002 the value, CM009 the
    properties that Delta writes itself, TP004 constraints, TP008 the
    properties of Databricks, PF001 and PF002 protocol versions, PF005 to PF007
    and PF012 `delta.feature.*`. TP003 and RD008 check combinations of valid properties, TP006 the columns
    that a property names.

    ## Why is this bad?

    Delta refuses an unknown `delta.` key with `DELTA_UNKNOWN_CONFIGURATION`, "Unknown configuration was
    specified". Delta accepts and stores any key without the prefix, but the key has no effect: the mistake
    looks like success.

    ## What to do

    Spell the key as Delta does; case does not matter. If another engine wrote the property, leave it out of
    the contract: the table keeps what the contract does not mention. As long as the live table has the same
    entry, it is a warning only.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.enableTypeWidenning: true}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.enableTypeWidening: true, team: sales}
    ```
    """
    for key, value in contract.state.set_properties.items():
        match judge_property(key, value):
            case PropertyVerdict.UNKNOWN if not knows_older_property(ctx.engine, key):
                is_live = ctx.has_value(key, value)
                yield Problem(
                    f"{key} is not a table property of Delta{' Spark' if key in OF_KERNEL else ''}",
                    help=_help(key),
                    severity=Severity.WARNING if is_live else None,
                    object=ObjectRef("property", key),
                    delta_error=None if is_live else "DELTA_UNKNOWN_CONFIGURATION",
                )
            case PropertyVerdict.NO_PREFIX:
                yield Problem(
                    f"{key} has no effect: Delta's property is {suggest_property(key)}",
                    help=f"write {suggest_property(key)}",
                    severity=Severity.WARNING,
                    object=ObjectRef("property", key),
                )


def _help(key: str) -> str:
    if key in OF_KERNEL:
        return "a writer on Delta Kernel sets it; leave it out here"
    suggestion = suggest_property(key)
    if suggestion:
        return f"did you mean {suggestion}?"
    return "remove it; if it is your own, omit `delta.`"
