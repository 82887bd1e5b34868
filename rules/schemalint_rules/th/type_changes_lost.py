from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.history import HistoryStep
from schemalint.delta.path import format_path
from schemalint.delta.type_history import RecordStep, lost_records
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("TH002", on=HistoryStep, severity=Severity.ERROR)
def type_changes_lost(step: HistoryStep, _ctx: RuleContext) -> Iterator[Problem]:
    """A commit lost the recorded type changes of a column.

    ## What it does

    Reads the commits of the log. Every later version must keep each entry of `delta.typeChanges`, also when
    the column is renamed. A commit may remove an entry only together with the files that hold the old types:
    REPLACE TABLE, `overwriteSchema`, CLONE, RESTORE, and DROP FEATURE, which rewrites these files first. The
    rule reads the list of data files too: a commit is a finding only if a file from before it is still live.

    ## Why is this bad?

    Files with the old type are still there, and only the recorded changes tell readers about it. Readers that
    do not promote types by themselves fail on these files, or misread them. Such a commit shows a writer that
    does not know the metadata of fields, and writes the schema without it.

    ## What to do

    Find the writer that made the commit, and stop it. If `RESTORE TABLE … TO VERSION AS OF` the version
    before is not possible, rewrite the table.

    ## Example

    The log, one entry per commit, with the schema written out:

    ```yaml title="log"
    - commitInfo: {operation: CREATE TABLE AS SELECT}
      add: {path: part-0.parquet}
      protocol:
        {minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [typeWidening],
         writerFeatures: [typeWidening]}
      metaData:
        fields: [{name: qty, type: long, metadata: {delta.typeChanges: [{fromType: integer, toType: long}]}}]
    - commitInfo: {operation: SET TBLPROPERTIES}
      metaData: {fields: [{name: qty, type: long}]}
    ```

    ## Use instead

    ```yaml title="instead"
    - commitInfo: {operation: CREATE TABLE AS SELECT}
      add: {path: part-0.parquet}
      protocol:
        {minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [typeWidening],
         writerFeatures: [typeWidening]}
      metaData:
        fields: [{name: qty, type: long, metadata: {delta.typeChanges: [{fromType: integer, toType: long}]}}]
    - commitInfo: {operation: SET TBLPROPERTIES}
      metaData:
        fields: [{name: qty, type: long, metadata: {delta.typeChanges: [{fromType: integer, toType: long}]}}]
        configuration: {team: sales}
    ```
    """
    if step.superseded:
        return
    for record in lost_records(step):
        yield Problem(
            f"{step.title} lost the recorded type changes of {format_path(record.path)}: "
            f"{_lost_changes(record)}",
            help="restore the previous version, or rewrite the table: old files hold the old types",
            path=record.path,
            old=_lost_changes(record),
        )


def _lost_changes(record: RecordStep) -> str:
    kept = [(entry.from_type, entry.to_type) for entry in record.after]
    lost = [entry for entry in record.before if (entry.from_type, entry.to_type) not in kept]
    return ", ".join(
        f"{print_type(entry.from_type)} -> {print_type(entry.to_type)}" for entry in lost or record.before
    )
