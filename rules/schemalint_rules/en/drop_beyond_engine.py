from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from schemalint.delta.engine_answers import drops_feature, knows_feature
from schemalint.delta.feature import find_feature
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, replace, rule


@rule(
    "EN004",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=("DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE", "DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE"),
    verdict="impossible",
    engine=True,
)
def drop_beyond_engine(_contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The contract drops a feature that the engine of the target cannot drop.

    ## What it does

    Looks up the entries of `drop_features` in the version of the target's `engine`: Delta drops
    `deletionVectors` from 4.0 on, `columnMapping` and `checkConstraints` from 3.3 on. PF017 reports the
    features that no Delta drops.

    ## Why is this bad?

    Delta refuses the statement with `DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE`, or with
    `DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE` if it does not know the feature. Delta 2.4 has no such
    statement. All of this is *documented*: the sources of each release say which features it drops.

    ## What to do

    Keep the feature until the engine is upgraded, or drop it with a newer engine; an older one reads the
    table afterwards.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    features: [deletionVectors]
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    drop_features: [deletionVectors]
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
    features: [deletionVectors]
    ```
    """
    for entry in sorted(ctx.drop_requests.names):
        row = find_feature(entry)
        if row is None or not row.removable:
            continue
        problem = ctx.refusal_of_writer(partial(drops_feature, name=row.name), f"drop the feature {row.name}")
        if problem is None:
            continue
        error: str | None = "DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE"
        if problem.severity is Severity.INFO:
            error = None
        elif knows_feature(ctx.engine, row.name).does is False:
            error = "DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE"
        yield replace(
            problem,
            help="keep the feature, or drop it with a newer engine",
            object=ObjectRef("feature", entry),
            delta_error=error,
        )
