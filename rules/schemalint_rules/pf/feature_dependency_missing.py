from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.feature import FEATURES
from schemalint.delta.feature import find as find_feature
from schemalint.delta.requests import FeatureVerdict, feature_requests, judge_feature
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule


@rule("PF008", on=Contract, severity=Severity.ERROR, delta_errors=("DELTA_FEATURE_DROP_DEPENDENT_FEATURE",))
def feature_dependency_missing(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A feature stays without one that it requires.

    ## What it does

    Finds a feature under `drop_features` that another feature of the table requires, where that other one
    is not dropped too. For a new table it names, as a notice, what Delta adds beside the features that are
    asked for by name; for an existing table PF004 shows the whole upgrade.

    ## Why is this bad?

    `ALTER TABLE … DROP FEATURE` fails with `DELTA_FEATURE_DROP_DEPENDENT_FEATURE`. Asking for a feature
    without what it requires is harmless with Delta Spark, which adds the rest without a word; other writers
    may not, and a reader of the contract does not see it.

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
    for name in sorted(contract.drop_features & ctx.features):
        if needing := _requiring(name, ctx.features - contract.drop_features):
            yield Problem(
                f"feature {name} cannot be dropped: {', '.join(needing)} requires it",
                help=f"drop {', '.join(needing)} too, or keep {name}",
                object=ObjectRef("feature", name),
                delta_error="DELTA_FEATURE_DROP_DEPENDENT_FEATURE",
            )
    if ctx.is_new_table:
        asked = contract.state.asked_features
        for name in sorted(_fine(contract)):
            if missing := FEATURES[name].requires - asked:
                yield Problem(
                    f"feature {name} requires {', '.join(sorted(missing))}, which Delta adds",
                    help=f"name it too: `features: [{', '.join(sorted({name, *missing}))}]`",
                    severity=Severity.INFO,
                    object=ObjectRef("feature", name),
                )


def _fine(contract: Contract) -> set[str]:
    """The features that are asked for and of which no other rule speaks."""
    return {
        row.name
        for request in feature_requests(contract.state)
        if (row := find_feature(request.name))
        and judge_feature(request, None, new_table=True) == FeatureVerdict.FINE
    }


def _requiring(name: str, staying: frozenset[str]) -> list[str]:
    return sorted(other for other in staying if other in FEATURES and name in FEATURES[other].requires)
