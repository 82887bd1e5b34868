from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.table import LiveTable
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("DR004", on=LiveTable, severity=Severity.INFO)
def history_incomplete(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The log does not reach back to the table's first version.

    ## What it does

    Says from which version on the commits of the table are there. The rules about recorded changes of type
    (TH001, TH002) see what happened since; what the table was before, the checkpoint tells.

    ## Why is this bad?

    It is not: Delta deletes commits that are older than `delta.logRetentionDuration` (30 days by default)
    once there is a checkpoint behind them. But whether a type was changed without being recorded before
    that can no longer be seen from the log.

    ## What to do

    Nothing. Tables that have to answer for longer get a longer `delta.logRetentionDuration`.

    ## Example

    The log, with the schema written out; its first commit was deleted behind a checkpoint:

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
    if known_from:
        yield Problem(
            f"the history of the table is known from version {known_from} on",
            help="what was done before cannot be judged any more",
        )
