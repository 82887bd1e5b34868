from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import ClusteringChanged, PartitioningChanged, PropertyChanged
from schemalint.delta.properties import APPEND_ONLY, KEPT_BY_REPLACE
from schemalint.plugin import Problem, RuleContext, Severity, rule

_ERROR = "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE"
_NOT_LOST = KEPT_BY_REPLACE | {APPEND_ONLY}  # RB009 reports it: Delta refuses the build


@rule(
    "RB004",
    on=(PropertyChanged, PartitioningChanged, ClusteringChanged),
    severity=Severity.WARNING,
    tables="rebuilt",
    verdict="impossible",
    delta_errors=(_ERROR,),
)
def setting_lost_by_rebuild(
    change: PropertyChanged | PartitioningChanged | ClusteringChanged, ctx: RuleContext
) -> Iterator[Problem]:
    """The next build of a table takes a property away, or lays the table out differently.

    ## What it does

    Compares properties, partitioning and clustering in a table that another tool builds anew
    (`managed_by: {tool: dbt, how: replace}`). `CREATE OR REPLACE TABLE` sets what its own statement says, and
    keeps nothing else: a line that is gone from the declaration is gone from the table. Only deletion
    vectors, row tracking and `delta.checkpointPolicy` stay. Partitioning and clustering can change with each
    build, except that Delta refuses to partition a clustered table.

    ## Why is this bad?

    A property can be a promise: with `delta.enableChangeDataFeed` the change feed ends, with
    `delta.columnMapping.mode` names that need it are refused. Readers that filter by the old partitions
    scan the whole table. A build that Delta refuses fails each time
    (`DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE`).

    ## What to do

    Keep the line, or tell the readers. To partition a clustered table, drop it before the build.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: inventory.stock_levels
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: sku, type: string}
      - {name: on_hand, type: int}
    properties: {delta.enableChangeDataFeed: true}
    ```

    ```yaml title="after"
    schemalint: 1
    table: inventory.stock_levels
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: sku, type: string}
      - {name: on_hand, type: int}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: inventory.stock_levels
    managed_by: {tool: dbt, how: replace}
    columns:
      - {name: sku, type: string}
      - {name: on_hand, type: int}
    properties: {delta.enableChangeDataFeed: true}
    ```
    """
    match change:
        case PropertyChanged(new=str() | None):
            return
        case PropertyChanged(key=key) if ctx.contract.managed_how == "replace" and key in _NOT_LOST:
            return
        case PropertyChanged(key=key):
            yield Problem(
                f"{key} is gone after the next build: REPLACE keeps no property that is not declared",
                help="keep the line, or tell the readers",
            )
        case PartitioningChanged(new=(_, *_)) if (
            ctx.before.clustered_by and ctx.contract.managed_how == "replace"
        ):
            yield Problem(
                "the next build partitions a clustered table, which Delta refuses",
                help="drop the table before the build, or keep the clustering",
                severity=Severity.ERROR,
                delta_error=_ERROR,
            )
        case PartitioningChanged():
            yield Problem(
                "the table has other partitions after the next build",
                help="tell the readers that filter by the old ones",
            )
        case ClusteringChanged():
            yield Problem("the table is clustered differently after the next build", severity=Severity.INFO)
