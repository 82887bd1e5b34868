from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import VOID
from schemalint.delta.history import HistoryStep
from schemalint.delta.path import format_path
from schemalint.delta.type_history import (
    RecordStep,
    is_restore,
    is_unrecorded_widening,
    record_steps,
    replaces_all_files,
    same_stored,
)
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("TH001", on=HistoryStep, severity=Severity.ERROR)
def unrecorded_type_change(step: HistoryStep, _ctx: RuleContext) -> Iterator[Problem]:
    """A commit changed a type without recording the change.

    ## What it does

    Reads the commits of the log. If a commit changes the type of a column, a nested field or a part of a
    collection, the same commit must add an entry to `delta.typeChanges`, from the old type to the new one.
    The rule matches fields by their column mapping id if they have one, so a rename is not a type change.

    Some changes need no entry: from `void`; between `string`, `char` and `varchar`; from `byte` or `short` to
    a larger integer up to `int` while type widening is off, which any write with `mergeSchema` makes; and
    every change by REPLACE TABLE, `overwriteSchema`, CLONE or RESTORE, because the files change with the
    schema. The rule skips commits before one that replaced the whole table.

    ## Why is this bad?

    The files from before the commit still hold the old type, and only the record tells readers about it.
    Delta Spark does not notice: its results are right or wrong depending on the two types. Other readers fail
    on the old files, or return wrong values.

    ## What to do

    Find the writer that made the commit, and stop it. No statement can add the entry: rewrite the table
    (`CREATE OR REPLACE TABLE … AS SELECT`), preferably by time travel from the version before that commit.

    ## Example

    The log, one entry per commit, with the schema written out:

    ```yaml title="log"
    - commitInfo: {operation: CREATE TABLE}
      protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: qty, type: integer}]}
    - commitInfo: {operation: SET TBLPROPERTIES}
      metaData: {fields: [{name: qty, type: long}]}
    ```

    ## Use instead

    ```yaml title="instead"
    - commitInfo: {operation: CREATE TABLE}
      protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: qty, type: integer}]}
    - commitInfo: {operation: WRITE, operationParameters: {mode: Overwrite}}
      metaData: {fields: [{name: qty, type: long}]}
    ```
    """
    entry = step.entry
    if step.superseded or replaces_all_files(entry) or is_restore(entry):
        return
    for record in record_steps(step):
        if record.old == record.new or record.is_recorded or _needs_no_record(record, step):
            continue
        is_unknown = entry.operation is None and entry.removes_files
        yield Problem(
            f"{step.title} changed {format_path(record.path)} from {print_type(record.old)} to "
            f"{print_type(record.new)} "
            "without recording it" + (", unless it rewrote every file" if is_unknown else ""),
            help="rewrite the table: readers cannot know which files hold the old type",
            severity=Severity.WARNING if is_unknown else None,
            path=record.path,
            old=print_type(record.old),
            new=print_type(record.new),
        )


def _needs_no_record(record: RecordStep, step: HistoryStep) -> bool:
    is_off = step.before is None or not step.before.state.enabled("delta.enableTypeWidening")
    return (
        record.old == VOID
        or same_stored(record.old, record.new)
        or (is_off and is_unrecorded_widening(record.old, record.new))
    )
