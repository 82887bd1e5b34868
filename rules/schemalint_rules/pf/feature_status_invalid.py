from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.feature import find_feature
from schemalint.delta.requests import FeatureVerdict, feature_requests, judge_feature
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule


@rule(
    "PF006",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=("DELTA_UNSUPPORTED_FEATURE_STATUS",),
    verdict="impossible",
)
def feature_status_invalid(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The value of a feature property does not request the feature.

    ## What it does

    Finds `delta.feature.<name>` with a value other than `supported`, in any case. The older word `enabled` is
    a warning. Like Delta, the rule checks the status before the name; PF005 reports an unknown name.

    ## Why is this bad?

    Any other word, also `true`, fails with `DELTA_UNSUPPORTED_FEATURE_STATUS`, "Expecting the status for
    table feature … to be "supported"". `enabled` is deprecated in Delta Spark, and Delta Kernel accepts only
    the exact word `supported`. This property never switches a feature off: see PF003.

    ## What to do

    List the name under `features`, or write the value `supported`.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    properties: {delta.feature.deletionVectors: true}
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
    new_table = ctx.is_new_table
    for request in feature_requests(contract.state):
        verdict = judge_feature(request, ctx.live, new_table=new_table)
        if verdict in (FeatureVerdict.INVALID_STATUS, FeatureVerdict.DEPRECATED_STATUS):
            refused = verdict == FeatureVerdict.INVALID_STATUS
            what = "which does not request the feature" if refused else "the deprecated word for 'supported'"
            help_ = "remove the line: there is no such feature"
            if find_feature(request.name):
                help_ = ctx.wording.request_feature.format(name=request.name)
            yield Problem(
                f"{request.entry} is {request.status!r}, {what}",
                help=help_,
                severity=None if refused else Severity.WARNING,
                object=ObjectRef(request.kind, request.entry),
                new=request.status,
                delta_error="DELTA_UNSUPPORTED_FEATURE_STATUS" if refused else None,
            )
