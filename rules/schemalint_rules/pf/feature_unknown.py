from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.engine_answers import knows_feature
from schemalint.delta.feature import find_feature, suggest_feature
from schemalint.delta.feature_drop import DropVerdict, drop_obstacles
from schemalint.delta.requests import FeatureVerdict, feature_requests, judge_feature
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule


@rule(
    "PF005",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=(
        "DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE",
        "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG",
    ),
    verdict="impossible",
)
def feature_unknown(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The contract requests or drops a feature that Delta Spark does not know.

    ## What it does

    Compares the names in `features`, `drop_features` and `delta.feature.<name>` with the features of Delta
    Spark, ignoring case. Names that only Delta Kernel knows (`icebergWriterCompatV1`, `collations`) count as
    unknown. There is no finding in a target whose `engine` knows the name, as Delta 3.2 knows
    `inCommitTimestamp-preview`, or may know it, as Databricks `collations`.

    ## Why is this bad?

    Delta refuses the statement with `DELTA_UNSUPPORTED_FEATURES_IN_CONFIG`, or the drop with
    `DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE`. Often the name is that of the
    property that enables the feature: `enableTypeWidening` for `typeWidening`.

    ## What to do

    Use the name that the message suggests. Most features need no line at all: their property adds them.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    features: [typeWidenning]
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    features: [typeWidening]
    ```
    """
    new_table = ctx.is_new_table
    for request in feature_requests(contract.state):
        if judge_feature(request, ctx.live, new_table=new_table) == FeatureVerdict.UNKNOWN:
            feature = find_feature(request.name)
            name = feature.name if feature else request.name
            if ctx.engine and knows_feature(ctx.engine, name).does is not False:
                continue
            suggestion = None if feature else suggest_feature(request.name)
            product = "Delta Spark, only of Delta Kernel" if feature else "Delta"
            yield Problem(
                f"{request.name} is not a feature of {product}",
                help=f"did you mean {suggestion}?" if suggestion else "remove the line",
                object=ObjectRef(request.kind, request.entry),
                delta_error="DELTA_UNSUPPORTED_FEATURES_IN_CONFIG",
            )
    for obstacle in drop_obstacles(ctx.drop_requests):
        if obstacle.verdict == DropVerdict.UNKNOWN:
            if ctx.engine and knows_feature(ctx.engine, obstacle.feature).does is not False:
                continue
            yield Problem(
                obstacle.reason,
                help=obstacle.help,
                object=ObjectRef("feature", obstacle.feature),
                delta_error=obstacle.delta_error,
            )
