from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.table import LiveTable, LogDefectKind
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule

# Clients that trust the checksum or the checkpoint see another table than those that read the commits.
_CONTRADICTIONS = (
    LogDefectKind.CHECKSUM_DIFFERS,
    LogDefectKind.CHECKPOINT_DIFFERS,
    LogDefectKind.COMMIT_MISSING,
)
# Delta Spark reads these tables, and does not write them.
_OF_WRITES = (LogDefectKind.LENGTH_AS_TYPE, LogDefectKind.NO_COMMIT_TIMESTAMP)
_HELP = {
    LogDefectKind.CHECKSUM_DIFFERS: "delete the checksum: it is only a shortcut",
    LogDefectKind.METADATA_INCOMPLETE: "repair the file with the tool that wrote it, or from a backup",
    LogDefectKind.LENGTH_AS_TYPE: "set any property: each `ALTER TABLE` stores the length as Delta does",
    LogDefectKind.NO_COMMIT_TIMESTAMP: "repair the file with the tool that wrote it, or from a backup",
    LogDefectKind.NO_SCHEMA: "add a column: `ALTER TABLE` does that",
}


@rule(
    "DR005",
    on=LiveTable,
    severity=Severity.ERROR,
    delta_errors=(
        "DELTA_FAILED_TO_MERGE_FIELDS",
        "DELTA_MISSING_COMMIT_INFO",
        "DELTA_MISSING_COMMIT_TIMESTAMP",
        "DELTA_MISSING_PART_FILES",
        "DELTA_READ_TABLE_WITHOUT_COLUMNS",
        "DELTA_STATE_RECOVER_ERROR",
        "DELTA_TRUNCATED_TRANSACTION_LOG",
        "DELTA_VERSIONS_NOT_CONTIGUOUS",
        "FAILED_READ_FILE",
        "INTERNAL_ERROR",
        "INVALID_JSON_DATA_TYPE",
    ),
    verdict="impossible",
)
def log_inconsistent(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The files of the log contradict each other, or cannot all be read.

    ## What it does

    Compares what the log holds more than once: the version checksum (`.crc`) and the checkpoints with the
    commits. It also reports duplicate actions in a commit, gaps between commits, missing parts and sidecars
    of checkpoints, and files that schemalint had to skip. It reports what Delta writes otherwise: a schema
    whose fields, arrays and maps lack a key or have one more, a `char` or `varchar` as a type, a `metaData`
    without one of its parts, and commits without the timestamp that `delta.enableInCommitTimestamps` asks
    for. DR011 reports metadata that Spark cannot work with though it is written right. A defect that Delta
    Spark tolerates, such as a second `metaData` of which the last counts, is a warning, and so is a table
    without columns. Files that Spark does not read for the newest version are read only in `audit`, and with
    `--history`.

    ## Why is this bad?

    Clients trust different files: Delta Spark and delta-rs take protocol and schema from the checksum if it
    exists, others from the commits. So they see different tables. Spark refuses the first read of a table
    whose checksum has another schema (`DELTA_STATE_RECOVER_ERROR`), and then continues; it does not open a
    table with a missing commit (`DELTA_VERSIONS_NOT_CONTIGUOUS`, or `DELTA_TRUNCATED_TRANSACTION_LOG` if the
    first one is missing). Without a sidecar of its newest checkpoint Spark neither reads nor alters the table
    (`FAILED_READ_FILE`), even if the commits would suffice. A checkpoint that lacks one of its parts is
    replaced by older commits; only without these Spark fails (`DELTA_MISSING_PART_FILES`). A table without
    columns can be altered, but not read (`DELTA_READ_TABLE_WITHOUT_COLUMNS`).

    Spark opens no table whose schema has other keys than its own (`INVALID_JSON_DATA_TYPE`), or whose
    `metaData` has no `id` (`DELTA_STATE_RECOVER_ERROR`), or no `configuration`, `partitionColumns` or
    `format` (`INTERNAL_ERROR`). A `varchar(10)` as a type fails each write (`DELTA_FAILED_TO_MERGE_FIELDS`)
    until an `ALTER TABLE` stores it as Delta does. If the newest commit lacks its timestamp, each commit
    fails with `DELTA_MISSING_COMMIT_TIMESTAMP`, or `DELTA_MISSING_COMMIT_INFO`; for older commits only
    `DESCRIBE HISTORY` and time travel do (all measured on Delta 4.4.0).

    ## What to do

    Delete a wrong checksum: it is only a shortcut. Restore everything else from a backup of the log.

    ## Example

    The log, with the schema written out, and its checksum:

    ```yaml title="log"
    - protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: order_id, type: integer}]}
      checksum:
        protocol: {minReaderVersion: 1, minWriterVersion: 2}
        metadata: {fields: [{name: order_id, type: long}]}
    ```

    ## Use instead

    ```yaml title="instead"
    - protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: order_id, type: integer}]}
      checksum:
        protocol: {minReaderVersion: 1, minWriterVersion: 2}
        metadata: {fields: [{name: order_id, type: integer}]}
    ```
    """
    for defect in table.defects:
        is_empty = defect.kind == LogDefectKind.NO_SCHEMA
        serious = not is_empty and (defect.delta_error is not None or defect.kind in _CONTRADICTIONS)
        yield Problem(
            f"{defect.location}: {defect.message}",
            help=_HELP.get(defect.kind, ""),
            severity=None if serious else Severity.WARNING,
            object=ObjectRef("table", defect.file),
            new=defect.kind.value,
            delta_error=defect.delta_error,
            unreadable=not defect.only_history
            and defect.kind not in _OF_WRITES
            and (defect.delta_error is not None or defect.kind in _CONTRADICTIONS),
            is_past=defect.only_history,
        )
