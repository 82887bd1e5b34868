from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from schemalint.delta.engine_answers import knows_property
from schemalint.delta.properties import canonical
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, replace, rule


@rule(
    "EN002",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=("DELTA_UNKNOWN_CONFIGURATION",),
    verdict="impossible",
    engine=True,
)
def property_beyond_engine(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The contract sets a table property that the engine of the target does not know.

    ## What it does

    Finds `delta.` properties that came to Delta after the version of the target's `engine`, such as
    `delta.checkpointPolicy` for Delta 2.4, or `delta.parquet.format.version` for Delta 4.0.
    [Engines](../engines.md) has the first version of each. A property that the live table has with this
    value is no finding, because no statement sets it. TP001 reports keys that no Delta knows, TP008 those of
    Databricks.

    ## Why is this bad?

    Delta refuses an unknown key with `DELTA_UNKNOWN_CONFIGURATION`, and with it the whole statement: none of
    the other properties is set, and a new table is not created. Measured on Delta 3.3.2 and 4.4.0;
    what another version does is *documented*.

    ## What to do

    Upgrade the engine first, and its version in the configuration with it. Or declare the property under
    `targets`, for the targets whose engine knows it.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.parquet.format.version: 2.12.0}
    ```

    ```toml title="engine"
    delta-spark 3.3.2
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.checkpointPolicy: v2}
    ```
    """
    live = ctx.live.state.properties if ctx.live else {}
    for key, value in contract.state.set_properties.items():
        does = partial(knows_property, key=canonical(key))
        problem = ctx.refusal_of_writer(does, f"set the property {key}")
        if problem is not None and live.get(key) != value:
            yield replace(
                problem,
                help="remove it, or declare it under `targets`, for the targets whose engine knows it",
                object=ObjectRef("property", key),
                delta_error="DELTA_UNKNOWN_CONFIGURATION" if problem.severity is not Severity.INFO else None,
            )
