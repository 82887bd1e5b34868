from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.history import HistoryStep
from schemalint.delta.path import format_path
from schemalint.delta.schema_history import SchemaFaultKind, faults
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("CM012", on=HistoryStep, severity=Severity.ERROR)
def column_lost_in_history(step: HistoryStep, _ctx: RuleContext) -> Iterator[Problem]:
    """A commit dropped or renamed a column without column mapping, and kept the files that hold it.

    ## What it does

    Reads the commits of the log. Without column mapping, readers find a column in the data files by its name.
    The rule reports a commit that takes a column or a nested field out of the schema, if a data file from
    before the commit is still live. It reads the list of data files for that, so CREATE OR REPLACE,
    `overwriteSchema`, RESTORE and changes of an empty table are no findings.

    ## Why is this bad?

    The data is still in the files, but no query returns it: after a rename Delta Spark reads NULL for the new
    name (measured on Delta 4.4.0). If a later column gets the old name, the old values appear in it. Delta
    itself refuses both statements without column mapping, so another writer made the commit, or someone
    edited the log.

    ## What to do

    `RESTORE` the version before the commit. Then enable column mapping, which allows both.

    ## Example

    The log, one entry per commit, with the schema written out:

    ```yaml title="log"
    - commitInfo: {operation: CREATE TABLE AS SELECT}
      protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: qty, type: integer}]}
      add: {path: part-0.parquet}
    - commitInfo: {operation: RENAME COLUMN, userName: anna}
      metaData: {fields: [{name: quantity, type: integer}]}
    ```

    ## Use instead

    ```yaml title="instead"
    - commitInfo: {operation: CREATE TABLE AS SELECT}
      protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: qty, type: integer}]}
      add: {path: part-0.parquet}
    - commitInfo: {operation: CREATE OR REPLACE TABLE AS SELECT, userName: anna}
      metaData: {fields: [{name: quantity, type: integer}]}
      remove: {path: part-0.parquet}
      add: {path: part-1.parquet}
    ```
    """
    if step.superseded:
        return
    for fault in faults(step):
        if fault.kind == SchemaFaultKind.COLUMN_LOST:
            renamed = f", and added {fault.new}, in which Spark reads NULL" if fault.new else ""
            yield Problem(
                f"{step.title} removed {format_path(fault.path)} without column mapping{renamed}: files from "
                "before still hold its data",
                help="restore the version before, and enable column mapping to drop or rename a column",
                path=fault.path,
                old=fault.old,
                new=fault.new,
            )
