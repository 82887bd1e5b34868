from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.protocol import above_limits, format_limits
from schemalint.delta.table import LiveTable
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("PF020", on=LiveTable, severity=Severity.ERROR)
def table_above_limits(table: LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    """The live table has protocol versions above the contract's `max_reader` or `max_writer`.

    ## What it does

    Compares the versions in the table's protocol with `protocol: {max_reader, max_writer}` of the contract.
    PF004 reports an upgrade that would exceed the limits, PF019 a new table that would.

    ## Why is this bad?

    The limits state which clients must be able to read and write the table. Somebody else upgraded it, or a
    catalog created it with more features than the contract declares: Unity Catalog gives its managed tables
    reader version 3 and writer version 7. Clients below these versions fail already.

    ## What to do

    If all clients can read and write the table, raise the limit. Else drop the features that need the version
    with `drop_features`; `schemalint show` says what needs each feature. Dropping the last feature that needs
    a version lowers it.

    ## Example

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    protocol: {max_reader: 1}
    ```

    ```yaml title="log"
    - commitInfo: {operation: CREATE TABLE}
      protocol: {minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [deletionVectors],
        writerFeatures: [appendOnly, deletionVectors, invariants]}
      metaData: {fields: [{name: order_id, type: long}]}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    protocol: {max_reader: 3}
    ```
    """
    limits, versions = ctx.contract.protocol, (table.protocol.min_reader, table.protocol.min_writer)
    if exceeded := above_limits(versions, limits.max_reader, limits.max_writer):
        yield Problem(
            f"the table has reader {versions[0]}, writer {versions[1]}, above {format_limits(exceeded)}",
            help=f"its features are {', '.join(sorted(table.protocol.features))}: "
            f"drop those that need the version (`drop_features`), or raise {' and '.join(exceeded)}",
        )
