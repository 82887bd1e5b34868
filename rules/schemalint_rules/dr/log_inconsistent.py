from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.table import LiveTable, LogDefectKind
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule

# Clients believe the checksum or the checkpoint where it is there, and so do not see the same table.
_AT_ODDS = (LogDefectKind.CHECKSUM_DIFFERS, LogDefectKind.CHECKPOINT_DIFFERS, LogDefectKind.COMMIT_MISSING)


@rule(
    "DR005",
    on=LiveTable,
    severity=Severity.ERROR,
    delta_errors=(
        "DELTA_STATE_RECOVER_ERROR",
        "DELTA_TRUNCATED_TRANSACTION_LOG",
        "DELTA_VERSIONS_NOT_CONTIGUOUS",
    ),
)
def log_inconsistent(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The files of the log contradict each other, or cannot all be read.

    ## What it does

    While it reads the log it compares what it says more than once: the version checksum (`.crc`) and the
    checkpoints with the commits. It also tells of actions that stand twice in a commit, of commits that are
    missing between others, and of files that it had to pass over. What Delta Spark reads on, such as a
    second `metaData` of which the last counts, is a warning.

    ## Why is this bad?

    Clients differ in which file they believe: Delta Spark and delta-rs take protocol and schema from the
    checksum where there is one, others from the commits. So they see different tables. Spark refuses the
    first read of a table whose checksum has another schema (`DELTA_STATE_RECOVER_ERROR`), and then goes on;
    it does not open one of which a commit is missing (`DELTA_VERSIONS_NOT_CONTIGUOUS`, or
    `DELTA_TRUNCATED_TRANSACTION_LOG` where it is the first one; all measured on Delta 4.4.0).

    ## What to do

    A checksum that is wrong can be deleted: it is only a shortcut. What else was lost has to come from a
    backup of the log.

    ## Example

    The log, with the schema written out, and the checksum beside it:

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
        serious = defect.delta_error is not None or defect.kind in _AT_ODDS
        place = defect.file if defect.line is None else f"{defect.file}, line {defect.line}"
        yield Problem(
            f"{place}: {defect.message}",
            help="delete the checksum: it is only a shortcut"
            if defect.kind == LogDefectKind.CHECKSUM_DIFFERS
            else "",
            severity=None if serious else Severity.WARNING,
            object=ObjectRef("table", defect.file),
            new=defect.kind.value,
            delta_error=defect.delta_error,
        )
