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
    """A commit changed a type, and recorded nothing of it.

    ## What it does

    Goes through the commits of the log. Where a column, a nested field or a part of a collection has
    another type than before, the same commit has to add an entry to `delta.typeChanges`, from the old type
    to the new one. Fields are told apart by column-mapping id where there is one, so a rename is none of
    this.

    Some changes are lawful without an entry: from `void`; between `string`, `char` and `varchar`; `byte` or
    `short` to a larger integer up to `int` while type widening was off, which any write with `mergeSchema`
    makes; and whatever REPLACE TABLE, `overwriteSchema`, CLONE or RESTORE do, since the files change with
    the schema. What was so replaced as a whole later on is not judged.

    ## Why is this bad?

    The files from before the commit still hold the old type, and readers know that from the record alone.
    Delta Spark does not notice: it reads such a table, right or wrong by the luck of the two types. Others
    fail on the old files, or return wrong values.

    ## What to do

    Find out which writer made the commit, and take it out of service. The entry cannot be added by any
    statement: rewrite the table (`CREATE OR REPLACE TABLE … AS SELECT`), best from its time travel before
    that commit.

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
    for one in record_steps(step):
        if one.old == one.new or one.is_recorded or _needs_no_record(one, step):
            continue
        unknown = entry.operation is None and entry.removes_files
        yield Problem(
            f"{step.title} changed {format_path(one.path)} from {print_type(one.old)} to "
            f"{print_type(one.new)} "
            "without recording it" + (", unless it rewrote every file" if unknown else ""),
            help="rewrite the table: readers cannot know which files hold the old type",
            severity=Severity.WARNING if unknown else None,
            path=one.path,
            old=print_type(one.old),
            new=print_type(one.new),
        )


def _needs_no_record(one: RecordStep, step: HistoryStep) -> bool:
    off = step.before is None or not step.before.state.enabled("delta.enableTypeWidening")
    return (
        one.old == VOID or same_stored(one.old, one.new) or (off and is_unrecorded_widening(one.old, one.new))
    )
