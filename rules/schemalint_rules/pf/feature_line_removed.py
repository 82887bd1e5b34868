from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import FeatureChanged, PropertyChanged
from schemalint.delta.feature import find_feature
from schemalint.delta.properties import FEATURE_PREFIX
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule


@rule("PF003", on=(FeatureChanged, PropertyChanged), severity=Severity.WARNING, scope="contract")
def feature_line_removed(change: FeatureChanged | PropertyChanged, ctx: RuleContext) -> Iterator[Problem]:
    """The contract no longer requests a feature, but the protocol keeps it.

    ## What it does

    Finds a feature that the base requests, in `features` or as `delta.feature.<name>`, and the contract does
    not, unless `drop_features` lists it or the contract needs it anyway.

    ## Why is this bad?

    A supported feature stays in the protocol until `ALTER TABLE … DROP FEATURE` removes it. Removing the line
    drops nothing, nor does `delta.feature.<name>: null`: `UNSET` reports success and changes nothing. Clients
    that do not know the feature stay locked out, although the contract looks as if they were not.

    ## What to do

    To drop the feature, list it under `drop_features`; that takes several commits and may rewrite files, and
    some features cannot be dropped at all. Otherwise keep the line.

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
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    drop_features: [deletionVectors]
    ```
    """
    name = _withdrawn_feature(change)
    row = find_feature(name) if name else None
    if row is None or row.name in ctx.contract.created_features | ctx.contract.drop_features:
        return
    help_ = f"to drop it: {ctx.wording.drop_feature.format(name=row.name)}; otherwise keep the line"
    yield Problem(
        f"feature {row.name} is no longer requested, but stays in the table's protocol",
        help=help_ if row.removable else "keep the line: Delta cannot drop this feature",
        object=ObjectRef("feature", row.name),
    )


def _withdrawn_feature(change: FeatureChanged | PropertyChanged) -> str | None:
    if isinstance(change, FeatureChanged):
        return None if change.new else change.name
    if change.key.lower().startswith(FEATURE_PREFIX) and not isinstance(change.new, str):
        return change.key[len(FEATURE_PREFIX) :]
    return None
