from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import ClusteringChanged, FieldRemoved, PartitioningChanged, TableAdded
from schemalint.delta.datatype import Unmanaged, type_at
from schemalint.delta.path import Path, format_path, path_key
from schemalint.delta.table import TableState
from schemalint.plugin import Problem, RuleContext, Severity, rule

_PARTITION = "DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN"
_CLUSTERING = "DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN"
_BOTH = "DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED"
_BOTH_NEW = "_LEGACY_ERROR_TEMP_0035"


@rule(
    "NC007",
    on=(FieldRemoved, PartitioningChanged, ClusteringChanged, TableAdded),
    severity=Severity.ERROR,
    delta_errors=(_PARTITION, _CLUSTERING, _BOTH, _BOTH_NEW),
    verdict="impossible",
)
def partition_or_cluster_column_dropped(
    change: FieldRemoved | PartitioningChanged | ClusteringChanged | TableAdded, ctx: RuleContext
) -> Iterator[Problem]:
    """An edit conflicts with the partitioning or the clustering of a table.

    ## What it does

    Finds

    - a drop of a partition column;
    - a drop of a column that the table stays clustered by, or of a struct that contains such a field, unless
      the contract declares the clustering, and another column takes the name;
    - a change of `partitioned_by` in an existing table;
    - `clustered_by` for a partitioned table.

    Renaming and widening partition and clustering columns is fine, and so is clustering a plain table, or
    clustering by other columns. CM002 and CM003 report drops that fail for another reason.

    ## Why is this bad?

    The data files do not hold the partition values: no statement changes the partitioning of a table, and a
    drop fails with `DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN`. A clustering column can be dropped once the
    table is clustered by others; before that the drop fails with `DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN`.
    Delta does not notice a drop of the struct around a clustering column: the drop succeeds, and then
    `OPTIMIZE`, `CLUSTER BY` and `DESCRIBE DETAIL` fail with a bare "None.get". A table has either partitions
    or clustering: adding clustering fails with
    `DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED`, and creating a table with both fails with
    an error without a name.

    ## What to do

    Take a clustering column out of `clustered_by` in the same edit: `apply` changes the clustering before it
    drops. For another partitioning, create a new table and copy the rows; consider clustering there, because
    clustering can change.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: shop, type: string}
    clustered_by: [shop]
    properties: {delta.columnMapping.mode: name}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    dropped: [shop]
    clustered_by: [shop]
    properties: {delta.columnMapping.mode: name}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    dropped: [shop]
    clustered_by: [order_id]
    properties: {delta.columnMapping.mode: name}
    ```
    """
    match change:
        case PartitioningChanged() | ClusteringChanged() if ctx.rewrites(change):
            return
        case FieldRemoved() if ctx.alters(change):
            yield from _dropped(change.path, ctx)
        case PartitioningChanged():
            yield from _repartitioned(change, ctx)
        case ClusteringChanged(new=(_, *_)) if ctx.before.partitioned_by:
            yield Problem(
                "the table is partitioned and cannot be clustered",
                help=f"leave out {ctx.wording.clustered_by}, or create a new table",
                delta_error=_BOTH,
            )
        case TableAdded(state=TableState(partitioned_by=(_, *_), clustered_by=(_, *_))):
            yield Problem(
                "a table cannot be both partitioned and clustered",
                help=f"leave out {ctx.wording.partitioned_by}; {ctx.wording.clustered_by} can change later",
                delta_error=_BOTH_NEW,
            )


def _dropped(path: Path, ctx: RuleContext) -> Iterator[Problem]:
    column = format_path(path)
    if len(path) == 1 and path_key(path)[0] in ctx.before.partition_keys:
        yield Problem(
            f"the table is partitioned by {column}, which cannot be dropped",
            help=ctx.wording.either(ctx.wording.keep_deprecated, "create a new table"),
            delta_error=_PARTITION,
        )
    is_declared = isinstance(ctx.contract.state.clustered_by, tuple)
    inside = [
        clustered
        for clustered in ctx.after.clustering.within(path_key(path))
        if not (is_declared and type_at(ctx.after.columns, clustered))  # another column takes its place
    ]
    if inside:
        names = ", ".join(format_path(clustered) for clustered in inside)
        help_ = f"declare the new clustering in the same edit: {ctx.wording.clustered_by}"
        if is_declared:
            help_ = f"take it out of {ctx.wording.clustered_by} in the same edit"
        yield Problem(
            f"the table stays clustered by {names}, but {column} is dropped",
            help=help_,
            # Delta accepts the drop of a struct around the column, and fails later.
            delta_error=_CLUSTERING if any(len(clustered) == len(path) for clustered in inside) else None,
        )


def _repartitioned(change: PartitioningChanged, ctx: RuleContext) -> Iterator[Problem]:
    if isinstance(change.new, Unmanaged):
        return
    new = ", ".join(change.new) or "nothing"
    if isinstance(change.old, Unmanaged) and ctx.against == "git":
        if change.new:
            yield Problem(
                f"partitioning by {new} is declared for the first time: a different live one stays",
                help="compare with the table: `schemalint check --live`",
                severity=Severity.WARNING,
            )
    elif not isinstance(change.old, Unmanaged) and _remaining(change.old, ctx) != _lower(change.new):
        yield Problem(
            f"the partitioning cannot change from {', '.join(change.old) or 'nothing'} to {new}",
            help="leave it unchanged, or create a new table and copy the rows",
        )


def _remaining(names: tuple[str, ...], ctx: RuleContext) -> tuple[str, ...]:
    """Return the old partition columns, which have their new names, without dropped ones.

    A drop has its own finding.
    """
    dropped = ctx.contract.state.dropped_by_key
    return tuple(name for name in _lower(names) if (name,) not in dropped)


def _lower(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.lower() for name in names)
