from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.history import HistoryStep
from schemalint.delta.path import format_path
from schemalint.delta.type_history import unrecorded_changes
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
    a larger integer up to `int` while type widening is off, which any write with `mergeSchema` makes. The
    rule reads the list of data files too: a commit is a finding only if a file from before it is still live,
    and if the earlier type has not come back since. REPLACE TABLE, `overwriteSchema`, CLONE and RESTORE
    change the files with the schema.

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
    - commitInfo: {operation: CREATE TABLE AS SELECT}
      protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: qty, type: integer}]}
      add: {path: part-0.parquet}
    - commitInfo: {operation: SET TBLPROPERTIES}
      metaData: {fields: [{name: qty, type: long}]}
    ```

    ## Use instead

    ```yaml title="instead"
    - commitInfo: {operation: CREATE TABLE AS SELECT}
      protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: qty, type: integer}]}
      add: {path: part-0.parquet}
    - commitInfo: {operation: WRITE, operationParameters: {mode: Overwrite}}
      metaData: {fields: [{name: qty, type: long}]}
      remove: {path: part-0.parquet}
      add: {path: part-1.parquet}
    ```
    """
    if step.superseded:
        return
    for record in unrecorded_changes(step):
        yield Problem(
            f"{step.title} changed {format_path(record.path)} from {print_type(record.old)} to "
            f"{print_type(record.new)} without recording it",
            help="rewrite the table: readers cannot know which files hold the old type",
            path=record.path,
            old=print_type(record.old),
            new=print_type(record.new),
        )
