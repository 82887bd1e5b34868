from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.feature import find as find_feature
from schemalint.delta.requests import FeatureVerdict, feature_requests, judge_feature
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule


@rule("PF006", on=Contract, severity=Severity.ERROR, delta_errors=("DELTA_UNSUPPORTED_FEATURE_STATUS",))
def feature_status_invalid(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The value of a feature's property does not ask for the feature.

    ## What it does

    Finds `delta.feature.<name>` with a value other than `supported`, in any case. The older word `enabled` is
    a warning. The status is looked at before the name, as Delta does; an unknown name is PF005's.

    ## Why is this bad?

    Any other word fails with `DELTA_UNSUPPORTED_FEATURE_STATUS`, "Expecting the status for table feature …
    to be "supported"", `true` as well. `enabled` is deprecated in Delta Spark, and Delta Kernel takes only
    the exact word `supported`. A feature is never switched off by this property: see PF003.

    ## What to do

    Write the name into `features`, or the value `supported`.

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
        if verdict in (FeatureVerdict.STATUS, FeatureVerdict.OLD_STATUS):
            refused = verdict == FeatureVerdict.STATUS
            yield Problem(
                f"{request.entry} is {request.status!r}, "
                + ("which asks for nothing" if refused else "the deprecated word for 'supported'"),
                help=f"list the name instead: `features: [{request.name}]`"
                if find_feature(request.name)
                else "take it away: there is no such feature",
                severity=None if refused else Severity.WARNING,
                object=ObjectRef(request.kind, request.entry),
                new=request.status,
                delta_error="DELTA_UNSUPPORTED_FEATURE_STATUS" if refused else None,
            )
