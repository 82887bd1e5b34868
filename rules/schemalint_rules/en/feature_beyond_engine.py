from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial

from schemalint.delta.change import TypeChanged
from schemalint.delta.engine_answers import adds_by_hand_only, knows_feature
from schemalint.delta.feature import FEATURES
from schemalint.delta.protocol import CLUSTERING, canonical, feature_causes
from schemalint.delta.requests import feature_requests
from schemalint.delta.table import TableState
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, replace, rule


@rule(
    "EN003",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=(
        "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT",
        "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG",
        "UNSUPPORTED_DATATYPE",
    ),
    verdict="impossible",
    engine=True,
)
def feature_beyond_engine(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The contract needs a table feature that the engine of the target does not have.

    ## What it does

    Looks up the features that the contract requests by name, and those that its columns and its clustering
    need, in the version of the target's `engine`: a `variant` column needs `variantType`, which came with
    Delta 4.0. Properties that enable a feature are EN002's. PF005 reports names that no Delta knows, PF016
    the features of a live table.

    ## Why is this bad?

    Delta refuses the request with `DELTA_UNSUPPORTED_FEATURES_IN_CONFIG`; the type `variant` is unknown to
    Spark 3.5 (`UNSUPPORTED_DATATYPE`), and 4.0 adds its feature to an existing table only where `features`
    asks for it (`DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT`). Where another engine has added the feature,
    this one refuses to write the table, and for a feature of readers to read it too. Measured on Delta
    3.3.2 and 4.4.0; what another version does is *documented*.

    ## What to do

    Upgrade the engine first, and its version in the configuration with it, or do without the feature.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    features: [materializePartitionColumns]
    ```

    ```toml title="engine"
    delta-spark 4.0.1
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
    requested = {canonical(request.name): request for request in feature_requests(contract.state)}
    for name, request in requested.items():
        row = FEATURES.get(name)
        if row is None or not row.in_spark:
            continue
        problem = ctx.refusal_of_writer(partial(knows_feature, name=name), f"add the feature {name}")
        if problem is not None:
            is_known = problem.severity is not Severity.INFO
            yield replace(
                problem,
                help="remove the line",
                object=ObjectRef(request.kind, request.entry),
                delta_error="DELTA_UNSUPPORTED_FEATURES_IN_CONFIG" if is_known else None,
            )
    for kind, what, needed in _causes(contract):
        for name in sorted(needed - requested.keys()):
            problem = ctx.refusal_of_writer(
                partial(knows_feature, name=name), f"write {what}, which needs {name}"
            )
            if problem is not None:
                yield replace(
                    problem,
                    help="do without it for this target",
                    object=ObjectRef(*kind),
                    delta_error="UNSUPPORTED_DATATYPE" if name == "variantType" else None,
                )
            elif _asks_in_vain(ctx, kind[1], name, requested):
                yield Problem(
                    f"{ctx.writer} adds {name}, which {what} needs, to an existing table only on request",
                    help=ctx.wording.request_feature.format(name=name),
                    object=ObjectRef(*kind),
                    delta_error="DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT",
                    remedy=partial(_with_feature, contract, name),
                )


def _asks_in_vain(ctx: RuleContext, column: str, feature: str, requested: Collection[str]) -> bool:
    """Whether the engine adds the feature by hand only, for a column that it adds.

    A preview that the table supports, or that the contract requests, takes the place of the feature.
    """
    supported = (ctx.features | set(requested)) & {feature, FEATURES[feature].unless}
    if ctx.is_new_table or supported or not adds_by_hand_only(ctx.engine, feature):
        return False
    changed = {change.path[0] for change in ctx.changes if isinstance(change, TypeChanged)}
    return column not in changed


def _with_feature(contract: Contract, name: str) -> TableState:
    return replace(contract.state, features=contract.state.features | {name})


def _causes(contract: Contract) -> Iterator[tuple[tuple[str, str], str, frozenset[str]]]:
    """Yield each column, and the clustering, with its words and the features that it needs."""
    for kind, name, features in feature_causes(contract.state.columns, {}, ()):
        # Identity columns are those of EN005.
        yield (kind, name), f"{kind} {name}", features - {"identityColumns"}
    if contract.state.clustering_columns:
        yield ("clustering", "clustered_by"), "a clustered table", CLUSTERING
