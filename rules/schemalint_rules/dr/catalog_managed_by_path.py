from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.table import LiveTable
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule


@rule(
    "DR007",
    on=LiveTable,
    severity=Severity.WARNING,
    delta_errors=("DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED",),
)
def catalog_managed_by_path(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The table is managed by a catalog, and was read from its folder.

    ## What it does

    Looks for the feature `catalogManaged` in the protocol of a table that was found by its path.

    ## Why is this bad?

    The catalog decides which commits count, and it may hold commits that the folder does not show yet: what
    was read may be old. Delta Spark refuses to open such a table by its path
    (`DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED`), so `apply` cannot alter it there.

    ## What to do

    Name the catalog in the target: then the table is found by its name, and the catalog's commits are read.

    ## Example

    The log, with the schema written out:

    ```yaml title="log"
    - protocol:
        minReaderVersion: 3
        minWriterVersion: 7
        readerFeatures: [catalogManaged, vacuumProtocolCheck]
        writerFeatures: [catalogManaged, inCommitTimestamp, vacuumProtocolCheck]
      metaData: {fields: [{name: order_id, type: long}]}
    ```

    ## Use instead

    ```yaml title="instead"
    - protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: order_id, type: long}]}
    ```
    """
    if "catalogManaged" in table.protocol.features and table.catalog is None:
        yield Problem(
            "the table is managed by a catalog, and was read from its folder: this may be an old state of it",
            help="name the catalog in the target",
            object=ObjectRef("feature", "catalogManaged"),
            delta_error="DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED",
        )
