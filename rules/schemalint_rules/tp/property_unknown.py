from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.properties import suggest as suggest_property
from schemalint.delta.requests import PropertyVerdict, judge_property
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule


@rule("TP001", on=Contract, severity=Severity.ERROR, delta_errors=("DELTA_UNKNOWN_CONFIGURATION",))
def property_unknown(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A table property is none that Delta knows.

    ## What it does

    Finds a key that begins with `delta.` and is in no registry of Delta, and a key that is one of Delta's but
    for the missing `delta.`, such as `enableTypeWidening`; the latter is a warning. Any other key without the
    prefix is yours.

    A line of `properties` gets one finding at most: this rule speaks for the key, TP002 for the value, CM009
    for what Delta writes by itself, TP004 for constraints, PF001 and PF002 for versions of the protocol,
    PF005 to PF007 and PF012 for `delta.feature.*`. TP003 and RD008 judge how valid properties go
    together, TP006 the columns that one of them names.

    ## Why is this bad?

    Delta refuses an unknown `delta.` key with `DELTA_UNKNOWN_CONFIGURATION`, "Unknown configuration was
    specified". Some keys of PROTOCOL.md and of other engines are among them:
    `delta.parquet.compression.codec` is one. Without the prefix it takes any key, stores it, and it does
    nothing: the trap that looks like success.

    ## What to do

    Spell the key as Delta does; case does not matter. If another engine wrote the property (then it is a
    warning, as long as the live table has the very entry), leave it out of the contract: what the contract
    does not mention stays as it is.

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
    live = ctx.live.state.properties if ctx.live else {}
    for key, value in contract.state.set_properties.items():
        match judge_property(key, value):
            case PropertyVerdict.UNKNOWN:
                there = live.get(key) == value
                meant = suggest_property(key)
                yield Problem(
                    f"{key} is no table property of Delta",
                    help=f"did you mean {meant}?" if meant else "take it away; if it is yours, drop `delta.`",
                    severity=Severity.WARNING if there else None,
                    object=ObjectRef("property", key),
                    delta_error=None if there else "DELTA_UNKNOWN_CONFIGURATION",
                )
            case PropertyVerdict.NO_PREFIX:
                yield Problem(
                    f"{key} does nothing: Delta's own property is {suggest_property(key)}",
                    help=f"write {suggest_property(key)}",
                    severity=Severity.WARNING,
                    object=ObjectRef("property", key),
                )
