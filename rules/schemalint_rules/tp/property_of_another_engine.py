from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.properties import is_refused_by
from schemalint.delta.requests import PropertyVerdict, judge_property
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule


@rule("TP008", on=Contract, severity=Severity.WARNING, delta_errors=("DELTA_UNKNOWN_CONFIGURATION",))
def property_of_another_engine(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The contract sets a table property that only Databricks knows.

    ## What it does

    Finds `delta.` properties that Databricks or PROTOCOL.md documents and Delta Spark does not know:
    `delta.targetFileSize`, `delta.tuneFileSizesForRewrites` and `delta.parquet.compression.codec`. The
    finding is a warning for a target whose `engine` is `delta-spark`, and a notice if the configuration names
    no engine. For `databricks`, and for a live table that already has the same value, there is no finding.

    ## Why is this bad?

    Delta Spark refuses to set such a property, with `DELTA_UNKNOWN_CONFIGURATION`, and with it the whole
    statement. In a target whose engine is `delta-spark`, `plan` and `apply` therefore leave the property out,
    and `check --live` does not compare it; `null` still removes it. Without a named engine, `plan` contains
    the statement, which succeeds on Databricks only. Measured on Delta 4.4.0.

    ## What to do

    Name the engine of each target in the configuration. If only some targets are on Databricks, declare the
    property under `targets` of the contract, for those.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.targetFileSize: 128mb}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.autoOptimize.optimizeWrite: true}
    ```
    """
    for key, value in contract.state.set_properties.items():
        if judge_property(key, value) != PropertyVerdict.OTHER_ENGINE or ctx.has_value(key, value):
            continue
        if is_refused_by(ctx.engine, key):
            yield Problem(
                f"{key} is a property of Databricks: this target's engine refuses it, so no plan sets it",
                help=ctx.wording.by_target.format(which="on Databricks") or "leave it out for this target",
                object=ObjectRef("property", key),
                delta_error="DELTA_UNKNOWN_CONFIGURATION",
            )
        elif ctx.engine is None:
            yield Problem(
                f"{key} is a property of Databricks, which Delta Spark refuses to set",
                help='name the engine of the targets in the configuration: `engine = "databricks VERSION"`',
                severity=Severity.INFO,
                object=ObjectRef("property", key),
            )
