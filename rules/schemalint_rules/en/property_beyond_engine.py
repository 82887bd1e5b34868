from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from schemalint.delta.engine_answers import knows_feature, knows_property, sets_of_existing_table
from schemalint.delta.feature import FEATURES
from schemalint.delta.properties import COLUMN_MAPPING_MODE, canonical, is_true
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, replace, rule


@rule(
    "EN002",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=(
        "DELTA_UNKNOWN_CONFIGURATION",
        "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE",
        "DELTA_UNSUPPORTED_COLUMN_MAPPING_PROTOCOL",
    ),
    verdict="impossible",
    engine=True,
)
def property_beyond_engine(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The contract sets a table property that the engine of the target does not know.

    ## What it does

    Finds `delta.` properties that came to Delta after the version of the target's `engine`, such as
    `delta.checkpointPolicy` for Delta 2.4, or `delta.parquet.format.version` for Delta 4.0.
    [Engines](../engines.md) has the first version of each. A property that the live table has with this
    value is no finding, because no statement sets it. Delta 3.2 and older releases refuse three more: to turn
    on column mapping for an existing table with reader version 1, or to turn it off; to track the rows of an
    existing table; and writer version 6. TP001 reports keys that no Delta knows, TP008 those of
    Databricks.

    ## Why is this bad?

    Delta refuses an unknown key with `DELTA_UNKNOWN_CONFIGURATION`, and with it the whole statement: none of
    the other properties is set, and a new table is not created. A change of column mapping is refused with
    `DELTA_UNSUPPORTED_COLUMN_MAPPING_PROTOCOL` or `DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE`. Measured on
    Delta 3.2.1, 3.3.2, 4.0.1 and 4.4.0; what another version does is *documented*.

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
    for key, value in contract.state.set_properties.items():
        if ctx.has_value(key, value):
            continue
        does = partial(knows_property, key=canonical(key))
        problem = ctx.refusal_of_writer(does, f"set the property {key}")
        if problem is not None:
            yield replace(
                problem,
                help=ctx.wording.either(
                    "remove it", ctx.wording.by_target.format(which="whose engine knows it")
                ),
                object=ObjectRef("property", key),
                delta_error="DELTA_UNKNOWN_CONFIGURATION" if problem.severity is not Severity.INFO else None,
            )
        else:
            yield from _beyond_older_engines(key, value, ctx)
    for key, removed in contract.state.properties.items():
        if removed is None and canonical(key) == COLUMN_MAPPING_MODE:
            yield from _beyond_older_engines(key, "none", ctx)


def _beyond_older_engines(key: str, value: str, ctx: RuleContext) -> Iterator[Problem]:
    """Report values that older engines refuse, although they know the property."""
    name, before = canonical(key), ctx.before.properties.get(canonical(key))
    does, error = partial(sets_of_existing_table, key=name), None
    is_mapped = ctx.before.column_mapping != "none"
    if name == "delta.minWriterVersion" and value == "6":
        does = partial(knows_feature, name="identityColumns")
    elif ctx.is_new_table or before == value:
        return
    elif name == COLUMN_MAPPING_MODE and value.lower() == "name":
        if is_mapped or _has_reader_feature(ctx) or "columnMapping" in ctx.after.features:
            return
        error = "DELTA_UNSUPPORTED_COLUMN_MAPPING_PROTOCOL"
    elif name == COLUMN_MAPPING_MODE and value.lower() == "none" and is_mapped:
        error = "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE"
    elif name != "delta.enableRowTracking" or not is_true(value) or is_true(before or ""):
        return
    problem = ctx.refusal_of_writer(does, f"set {key} = {value}")
    if problem is not None:
        yield replace(
            problem,
            help="upgrade the engine first, or declare it for a new table",
            object=ObjectRef("property", key),
            delta_error=error,
        )


def _has_reader_feature(ctx: RuleContext) -> bool:
    """Whether the table has a reader version above 1."""
    return any(FEATURES[name].reader for name in ctx.features if name in FEATURES)
