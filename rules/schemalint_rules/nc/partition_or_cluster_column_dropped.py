from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import ClusteringChanged, FieldRemoved, PartitioningChanged, TableAdded
from schemalint.delta.datatype import Unmanaged
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
)
def partition_or_cluster_column_dropped(
    change: FieldRemoved | PartitioningChanged | ClusteringChanged | TableAdded, ctx: RuleContext
) -> Iterator[Problem]:
    """A table would be partitioned or clustered otherwise than it can be.

    ## What it does

    Finds

    - a drop of a column by which the table is partitioned;
    - a drop of a column by which the table stays clustered, or of a struct around such a field;
    - a change of `partitioned_by` in an existing table;
    - `clustered_by` for a table that is partitioned.

    Renaming and widening either are no finding, nor is clustering a plain table, or by other columns. A
    drop that is not possible for another reason is left to CM002 and CM003.

    ## Why is this bad?

    The partitions' values are not in the files: no statement changes the partitioning of a table, and a
    drop fails with `DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN`. A clustering column may go once the table is
    clustered by others, and fails with `DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN` before. Delta does not
    notice when the struct around one is dropped: that succeeds, and then `OPTIMIZE`, `CLUSTER BY` and
    `DESCRIBE DETAIL` fail with a bare "None.get". A table has either partitions or clustering: adding the
    latter fails with `DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED`, and creating one with
    both fails with an error that Spark 4.2 calls `_LEGACY_ERROR_TEMP_0035`.

    ## What to do

    For a clustering column take it out of `clustered_by` in the same edit: `apply` does that first. Another
    partitioning means another table, and its rows copied; consider clustering there, which can change.

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
        case FieldRemoved() if ctx.alters(change):
            yield from _dropped(change.path, ctx)
        case PartitioningChanged():
            yield from _repartitioned(change, ctx)
        case ClusteringChanged(new=(_, *_)) if ctx.before.partitioned_by:
            yield Problem(
                "the table is partitioned, and cannot be clustered",
                help="leave `clustered_by` out, or make a new table",
                delta_error=_BOTH,
            )
        case TableAdded(state=TableState(partitioned_by=(_, *_), clustered_by=(_, *_))):
            yield Problem(
                "a table is either partitioned or clustered",
                help="leave out `partitioned_by`; `clustered_by` can be changed later",
                delta_error=_BOTH_NEW,
            )


def _dropped(path: Path, ctx: RuleContext) -> Iterator[Problem]:
    column, partitions, clustering = format_path(path), ctx.before.partitioned_by, ctx.after.clustered_by
    if isinstance(partitions, tuple) and path_key(path) in {path_key((one,)) for one in partitions}:
        yield Problem(
            f"the table is partitioned by {column}, which cannot be dropped",
            help="keep it, marked as `deprecated`, or make a new table",
            delta_error=_PARTITION,
        )
    inside = [
        one
        for one in (clustering if isinstance(clustering, tuple) else ())
        if path_key(one)[: len(path)] == path_key(path)
    ]
    if inside:
        names = ", ".join(format_path(one) for one in inside)
        yield Problem(
            f"the table stays clustered by {names}, and {column} is dropped",
            help="take it out of `clustered_by` in the same edit",
            # Of a struct around it Delta notices nothing, and fails afterwards.
            delta_error=_CLUSTERING if any(len(one) == len(path) for one in inside) else None,
        )


def _repartitioned(change: PartitioningChanged, ctx: RuleContext) -> Iterator[Problem]:
    if isinstance(change.new, Unmanaged):
        return
    new = ", ".join(change.new) or "nothing"
    if isinstance(change.old, Unmanaged) and ctx.against == "git":
        if change.new:
            yield Problem(
                f"partitioning by {new} is declared for the first time: another one would stay",
                help="compare with the table: `schemalint check --live`",
                severity=Severity.WARNING,
            )
    elif not isinstance(change.old, Unmanaged) and _names_kept(change.old, ctx) != _folded(change.new):
        yield Problem(
            f"the table is partitioned by {', '.join(change.old) or 'nothing'}, and cannot be by {new}",
            help="leave it, or make a new table and copy the rows",
        )


def _names_kept(names: tuple[str, ...], ctx: RuleContext) -> tuple[str, ...]:
    """The partition columns by their new names, without those that are dropped, which is said already."""
    dropped = {path_key(entry.path) for entry in ctx.contract.state.dropped}
    renamed = {
        field.renamed_from.lower(): field.name.lower()
        for field in ctx.contract.state.columns.fields
        if field.renamed_from
    }
    return tuple(renamed.get(name, name) for name in _folded(names) if (name,) not in dropped)


def _folded(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.lower() for name in names)
