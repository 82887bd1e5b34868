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
    """A commit lost what was recorded of a column's types.

    ## What it does

    Goes through the commits of the log. An entry of `delta.typeChanges` has to stay in every later version,
    under whatever name the column goes. It may go where the files with the old types go too: REPLACE TABLE,
    `overwriteSchema`, CLONE, RESTORE, and DROP FEATURE, which rewrites them first. What was so replaced as
    a whole later on is not judged.

    ## Why is this bad?

    Files with the old type are still there, and readers know that from the record alone. Readers that do
    not promote types by themselves fail on these files, or misread them. It is the mark of a writer that
    does not know the metadata of the fields, and writes the schema without it.

    ## What to do

    Find out which writer made the commit, and take it out of service. If `RESTORE TABLE … TO VERSION AS OF`
    the version before is no way, rewrite the table.

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
    for one in record_steps(step):
        if one.is_kept:
            continue
        unknown = entry.operation is None and entry.removes_files
        yield Problem(
            f"{step.title} lost what was recorded of {format_path(one.path)}: {_told(one)}"
            + (", unless it rewrote every file" if unknown else ""),
            help="restore the version before, or rewrite the table: old files hold the old types",
            severity=Severity.WARNING if unknown else None,
            path=one.path,
            old=_told(one),
        )


def _told(one: RecordStep) -> str:
    left = [(entry.from_type, entry.to_type) for entry in one.after]
    lost = [entry for entry in one.before if (entry.from_type, entry.to_type) not in left]
    return ", ".join(
        f"{print_type(entry.from_type)} -> {print_type(entry.to_type)}" for entry in lost or one.before
    )
