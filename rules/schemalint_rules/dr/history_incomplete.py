from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.table import LiveTable
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("DR004", on=LiveTable, severity=Severity.INFO)
def history_incomplete(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The log does not reach back to the table's first version.

    ## What it does

    Reports, in `audit` and with `--history`, the first version whose commit the log still holds. The rules
    about recorded type changes (TH001, TH002) see what happened since; the checkpoint holds the state of the
    table before.

    ## Why is this bad?

    It is harmless: Delta deletes commits that are older than `delta.logRetentionDuration` (30 days by
    default) once a later checkpoint exists. But the log no longer shows whether an earlier type change was
    recorded.

    ## What to do

    Nothing. Give a longer `delta.logRetentionDuration` to tables that need a longer history.

    ## Example

    The log, with the schema written out; its first commit was deleted after a checkpoint:

    ```yaml title="log"
    - protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: order_id, type: long}]}
      missing: true
    - commitInfo: {operation: WRITE}
      checkpoint: true
    ```

    ## Use instead

    ```yaml title="instead"
    - protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: order_id, type: long}]}
    - commitInfo: {operation: WRITE}
      checkpoint: true
    ```
    """
    known_from = table.history.known_from
    if known_from and table.older is None:
        yield Problem(
            f"the history of the table starts at version {known_from}",
            help="earlier changes can no longer be checked",
            is_past=True,
        )
