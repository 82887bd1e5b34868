from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.history import HistoryStep
from schemalint.delta.path import format_path
from schemalint.delta.type_history import (
    RecordStep,
    is_restore,
    may_remove_record,
    record_steps,
    replaces_all_files,
)
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("TH002", on=HistoryStep, severity=Severity.ERROR)
def type_changes_lost(step: HistoryStep, _ctx: RuleContext) -> Iterator[Problem]:
    """A commit lost the recorded type changes of a column.

    ## What it does

    Reads the commits of the log. Every later version must keep each entry of `delta.typeChanges`, also when
    the column is renamed. A commit may remove an entry only together with the files that hold the old types:
    REPLACE TABLE, `overwriteSchema`, CLONE, RESTORE, and DROP FEATURE, which rewrites these files first. The
    rule skips commits before one that replaced the whole table.

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
    - commitInfo: {operation: CREATE TABLE}
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
    - commitInfo: {operation: CREATE TABLE}
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
    entry = step.entry
    if step.superseded or replaces_all_files(entry) or is_restore(entry) or may_remove_record(entry):
        return
    for record in record_steps(step):
        if record.is_kept:
            continue
        is_unknown = entry.operation is None and entry.removes_files
        yield Problem(
            f"{step.title} lost the recorded type changes of {format_path(record.path)}: "
            f"{_lost_changes(record)}" + (", unless it rewrote every file" if is_unknown else ""),
            help="restore the previous version, or rewrite the table: old files hold the old types",
            severity=Severity.WARNING if is_unknown else None,
            path=record.path,
            old=_lost_changes(record),
        )


def _lost_changes(record: RecordStep) -> str:
    kept = [(entry.from_type, entry.to_type) for entry in record.after]
    lost = [entry for entry in record.before if (entry.from_type, entry.to_type) not in kept]
    return ", ".join(
        f"{print_type(entry.from_type)} -> {print_type(entry.to_type)}" for entry in lost or record.before
    )
