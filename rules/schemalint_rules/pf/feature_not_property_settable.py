from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from schemalint.delta.feature import find_feature
from schemalint.delta.requests import FeatureVerdict, feature_requests, judge_feature
from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, rule


class _Refusal(NamedTuple):
    """The error class on a new and on an existing table (None: Delta gives none), and the help.

    The help has a place for the word of the clustering.
    """

    created: str | None
    altered: str | None
    help: str


# Measured on Delta 4.4.0.
_REFUSALS = {
    "clustering": _Refusal(
        "DELTA_CREATE_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED",
        "DELTA_ALTER_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED",
        "declare the columns instead: {clustered_by} adds the feature",
    ),
    "catalogManaged": _Refusal(
        "DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_CREATION",
        None,
        "only a catalog can create such a table",
    ),
    "adaptiveMetadata-preview": _Refusal(
        None, "DELTA_ADAPTIVE_METADATA_UPGRADE_NOT_SUPPORTED", "only a new table can have it"
    ),
}


@rule(
    "PF007",
    on=Contract,
    severity=Severity.ERROR,
    delta_errors=(
        "DELTA_ADAPTIVE_METADATA_UPGRADE_NOT_SUPPORTED",
        "DELTA_ALTER_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED",
        "DELTA_CREATE_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED",
        "DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_CREATION",
    ),
    verdict="impossible",
)
def feature_not_property_settable(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The contract requests a feature that only another statement can add to a table.

    ## What it does

    Finds `clustering`, `catalogManaged` and, for an existing table, `adaptiveMetadata-preview` in `features`
    or as `delta.feature.<name>`. The line is fine if the table already supports the feature.

    ## Why is this bad?

    These features come with something else, and Delta refuses to set them:
    `DELTA_CREATE_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED` and
    `DELTA_ALTER_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED` for clustering,
    `DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_CREATION` or "Upgrading to CatalogOwned table is not yet
    supported" for catalogManaged, `DELTA_ADAPTIVE_METADATA_UPGRADE_NOT_SUPPORTED` for adaptiveMetadata.

    ## What to do

    For clustering, declare `clustered_by`. The others must be chosen when the table is created.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    features: [clustering]
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    clustered_by: [order_id]
    ```
    """
    new_table = ctx.is_new_table
    for request in feature_requests(contract.state):
        if judge_feature(request, ctx.live, new_table=new_table) == FeatureVerdict.NOT_SETTABLE:
            row = find_feature(request.name)
            name = row.name if row else request.name
            refusal = _REFUSALS[name]
            yield Problem(
                f"feature {name} cannot be set by name",
                help=refusal.help.format(clustered_by=ctx.wording.clustered_by),
                object=ObjectRef(request.kind, request.entry),
                delta_error=refusal.created if new_table else refusal.altered,
            )
