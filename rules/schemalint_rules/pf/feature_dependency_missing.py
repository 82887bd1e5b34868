from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.feature import FEATURES, find_feature
from schemalint.delta.feature_drop import DropVerdict, drop_obstacles
from schemalint.delta.requests import FeatureVerdict, feature_requests, judge_feature
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule


@rule(
    "PF008",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=("DELTA_FEATURE_DROP_DEPENDENT_FEATURE",),
    verdict="impossible",
)
def feature_dependency_missing(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A feature remains without another feature that it requires.

    ## What it does

    Finds a feature under `drop_features` that another feature of the table requires, or one that the contract
    needs, if the contract does not drop that other feature too. For a new table it reports, as an info, what
    Delta adds to the features that the contract requests by name; for an existing table PF004 shows the whole
    upgrade.

    ## Why is this bad?

    `ALTER TABLE … DROP FEATURE` fails with `DELTA_FEATURE_DROP_DEPENDENT_FEATURE`. Requesting a feature
    without its requirements is harmless with Delta Spark, which adds them silently; other writers may not,
    and a reader of the contract does not see them.

    | feature | requires |
    | --- | --- |
    | rowTracking, clustering | domainMetadata |
    | icebergCompatV1, icebergCompatV2 | columnMapping |
    | icebergCompatV3 | columnMapping, rowTracking |
    | variantShredding | variantType |
    | catalogManaged, coordinatedCommits-preview | inCommitTimestamp, vacuumProtocolCheck |

    ## What to do

    Drop the feature that requires it as well, or keep both.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    features: [domainMetadata, rowTracking]
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    features: [rowTracking]
    drop_features: [domainMetadata]
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    drop_features: [rowTracking, domainMetadata]
    ```
    """
    for obstacle in drop_obstacles(ctx.drop_requests):
        if obstacle.verdict == DropVerdict.REQUIRED:
            yield Problem(
                obstacle.reason,
                help=obstacle.help,
                object=ObjectRef("feature", obstacle.feature),
                delta_error=obstacle.delta_error,
            )
    if ctx.is_new_table:
        requested = contract.state.requested_features
        for name in sorted(_valid_requests(contract)):
            if missing := FEATURES[name].requires - requested:
                yield Problem(
                    f"feature {name} requires {', '.join(sorted(missing))}, which Delta adds",
                    help=ctx.wording.request_too.format(
                        names=", ".join(sorted({name, *missing})), missing=" and ".join(sorted(missing))
                    ),
                    severity=Severity.INFO,
                    object=ObjectRef("feature", name),
                )


def _valid_requests(contract: Contract) -> set[str]:
    """Return the requested features that no other rule reports."""
    return {
        row.name
        for request in feature_requests(contract.state)
        if (row := find_feature(request.name))
        and judge_feature(request, None, new_table=True) == FeatureVerdict.VALID
    }
