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
    """A catalog manages the table, but schemalint read it from its folder.

    ## What it does

    Finds the feature `catalogManaged` in the protocol of a table that was found by its path.

    ## Why is this bad?

    The catalog decides which commits count, and it may hold commits that the folder does not show yet:
    schemalint may have read an old state. Delta Spark refuses to open such a table by its path
    (`DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED`), so `apply` cannot alter it there.

    ## What to do

    Name the catalog in the target: schemalint then finds the table by its name, and reads the catalog's
    commits.

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
            "a catalog manages the table, but it was read from its folder: this may be an old state",
            help="name the catalog in the target",
            object=ObjectRef("feature", "catalogManaged"),
            delta_error="DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED",
            unreadable=True,
        )
