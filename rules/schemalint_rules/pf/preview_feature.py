from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.feature import FEATURES, find_feature
from schemalint.delta.requests import FeatureVerdict, feature_requests, judge_feature
from schemalint.delta.table import LiveTable
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule


@rule("PF012", on=(Contract, LiveTable), severity=Severity.WARNING)
def preview_feature(fact: Contract | LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    """A table has a preview feature, or the contract requests one.

    ## What it does

    Finds names that end in `-preview` or `-dev` in `features` and `delta.feature.<name>`, and with `--live`
    among the features that the table supports. The message also tells whether the contract or the table has
    the stable feature too.

    ## Why is this bad?

    The meaning of a preview may still change, and clients support it for a few versions only. A preview
    replaces its stable feature: if a table supports `typeWidening-preview`, setting
    `delta.enableTypeWidening` does not add `typeWidening`, and the table keeps the preview. Delta accepts
    both together if the contract requests both; then every client must support both.

    ## What to do

    Request the stable feature, and drop the preview if Delta can drop it (`drop_features`). For type widening
    that rewrites the files with old types and removes the recorded type changes.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    features: [typeWidening-preview]
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
    supported = ctx.live.protocol.features if ctx.live else frozenset[str]()
    all_features = supported | ctx.contract.state.requested_features
    if isinstance(fact, LiveTable):
        previews = _supported_previews(supported, ctx)
    else:
        previews = _requested_previews(fact, ctx, supported)
    for name, object_ in previews.items():
        stable = name.removesuffix("-preview").removesuffix("-dev")
        if stable in all_features:
            message = f"{name} together with {stable}: clients must support both"
        elif stable in FEATURES:
            message = f"{name} is the preview of {stable} and replaces it"
        else:
            message = f"{name} is a preview: its meaning may still change"
        yield Problem(
            message,
            help=f"request {stable} instead" if stable in FEATURES else "avoid it as long as you can",
            object=object_,
        )


def _supported_previews(supported: frozenset[str], ctx: RuleContext) -> dict[str, ObjectRef]:
    """Return the previews that the table supports and the contract does not drop."""
    kept = sorted(supported - ctx.contract.drop_features)
    return {name: ObjectRef("feature", name) for name in kept if name in FEATURES and FEATURES[name].preview}


def _requested_previews(
    contract: Contract, ctx: RuleContext, supported: frozenset[str]
) -> dict[str, ObjectRef]:
    """Return the previews that the contract requests and the table does not support yet."""
    names: dict[str, ObjectRef] = {}
    for request in feature_requests(contract.state):
        row = find_feature(request.name)
        verdict = judge_feature(request, ctx.live, new_table=ctx.is_new_table)
        if row and row.name not in supported and verdict == FeatureVerdict.PREVIEW:
            names[row.name] = ObjectRef(request.kind, request.entry)
    return names
