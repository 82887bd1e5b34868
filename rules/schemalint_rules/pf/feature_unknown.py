from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.feature import find as find_feature
from schemalint.delta.feature import suggest as suggest_feature
from schemalint.delta.requests import FeatureVerdict, feature_requests, judge_feature
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule


@rule("PF005", on=Contract, severity=Severity.ERROR, delta_errors=("DELTA_UNSUPPORTED_FEATURES_IN_CONFIG",))
def feature_unknown(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A feature is asked for that Delta Spark does not know.

    ## What it does

    Compares the names in `features`, and those of `delta.feature.<name>`, with the features of Delta Spark,
    ignoring case. Names that only Delta Kernel knows (`icebergWriterCompatV1`, `collations`) are among the
    unknown ones.

    ## Why is this bad?

    Delta refuses the statement with `DELTA_UNSUPPORTED_FEATURES_IN_CONFIG`. Often the name is that of the
    property that enables the feature: `enableTypeWidening` for `typeWidening`.

    ## What to do

    Take the name that the message suggests. Most features need no line at all: their property brings them.

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
            known = find_feature(request.name)
            meant = None if known else suggest_feature(request.name)
            kernel = " Spark, though of Delta Kernel" if known else ""
            yield Problem(
                f"{request.name} is no feature of Delta{kernel}",
                help=f"did you mean {meant}?" if meant else "take it away",
                object=ObjectRef(request.kind, request.entry),
                delta_error="DELTA_UNSUPPORTED_FEATURES_IN_CONFIG",
            )
