from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.feature import FEATURES
from schemalint.delta.feature import find as find_feature
from schemalint.delta.requests import FeatureVerdict, feature_requests, judge_feature
from schemalint.delta.table import LiveTable
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule


@rule("PF012", on=(Contract, LiveTable), severity=Severity.WARNING)
def preview_feature(fact: Contract | LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    """A table has a preview of a feature, or is to get it.

    ## What it does

    Finds names that end in `-preview` or `-dev` in `features` and `delta.feature.<name>`, and with `--live`
    those that the table supports. It says so if the contract or the table has the stable feature too.

    ## Why is this bad?

    What a preview means may still change, and clients know it for a few versions only. A preview stands in
    for its stable feature: where a table supports `typeWidening-preview`, setting
    `delta.enableTypeWidening` does not add `typeWidening`, and the table stays with the preview. Delta
    takes both together when both are asked for; then every client must know both.

    ## What to do

    Ask for the stable feature, and drop the preview where that can be done (`drop_features`). For type
    widening that rewrites the files with old types and forgets the recorded changes.

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
    everything = supported | ctx.contract.state.asked_features
    previews = _live(supported, ctx) if isinstance(fact, LiveTable) else _asked(fact, ctx, supported)
    for name, object_ in previews.items():
        stable = name.removesuffix("-preview").removesuffix("-dev")
        if stable in everything:
            message = f"{name} beside {stable}: clients must know both"
        elif stable in FEATURES:
            message = f"{name} is the preview of {stable}, and stands in for it"
        else:
            message = f"{name} is a preview: what it means may still change"
        yield Problem(
            message,
            help=f"ask for {stable} instead" if stable in FEATURES else "do without as long as you can",
            object=object_,
        )


def _live(supported: frozenset[str], ctx: RuleContext) -> dict[str, ObjectRef]:
    """What the table has, and is to keep."""
    kept = sorted(supported - ctx.contract.drop_features)
    return {name: ObjectRef("feature", name) for name in kept if name in FEATURES and FEATURES[name].preview}


def _asked(contract: Contract, ctx: RuleContext, supported: frozenset[str]) -> dict[str, ObjectRef]:
    """What the contract asks for, and the table does not have yet."""
    names: dict[str, ObjectRef] = {}
    for request in feature_requests(contract.state):
        row = find_feature(request.name)
        verdict = judge_feature(request, ctx.live, new_table=ctx.is_new_table)
        if row and row.name not in supported and verdict == FeatureVerdict.PREVIEW:
            names[row.name] = ObjectRef(request.kind, request.entry)
    return names
