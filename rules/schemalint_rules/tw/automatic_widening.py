from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import PropertyChanged, TableAdded
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule

_PROPERTY = "delta.enableTypeWidening"


@rule("TW010", on=(PropertyChanged, TableAdded), severity=Severity.INFO, scope="effect")
def automatic_widening(change: PropertyChanged | TableAdded, ctx: RuleContext) -> Iterator[Problem]:
    """Type widening is turned on, so writers can widen columns without the contract.

    ## What it does

    Finds `delta.enableTypeWidening` that becomes `true`, in a new or an existing table, if the contract does
    not say `open: {widening: true}`. There is one finding for the table.

    ## Why is this bad?

    With the property, an append with `mergeSchema` and a `MERGE WITH SCHEMA EVOLUTION` widen a column to the
    type of the data, where they failed or kept the type before. By default that includes `int` to `double`,
    and no widening can be reverted in place. The live table then differs from its contract, which DR001
    reports as an error. Measured on Delta 4.4.0.

    ## What to do

    If writers may do that, say so: `open: {widening: true}` accepts live types that are wider than declared.
    If not, set `spark.databricks.delta.typeWidening.allowAutomaticWidening` to `NEVER` in the sessions of the
    writers.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: quantity, type: int}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: quantity, type: int}
    properties: {delta.enableTypeWidening: true}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: quantity, type: int}
    properties: {delta.enableTypeWidening: true}
    open: {widening: true}
    ```
    """
    if isinstance(change, PropertyChanged) and change.key != _PROPERTY:
        return
    if ctx.before.enabled(_PROPERTY) or not ctx.after.enabled(_PROPERTY) or ctx.contract.open.widening:
        return
    yield Problem(
        f"{_PROPERTY} is turned on: writers with mergeSchema then widen columns by themselves",
        help=ctx.wording.either(ctx.wording.open_widening, "forbid it in the writers' sessions"),
        object=ObjectRef("property", _PROPERTY),
    )
