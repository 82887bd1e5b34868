from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.history import HistoryStep
from schemalint.delta.path import format_path
from schemalint.delta.schema_history import SchemaFaultKind, faults
from schemalint.plugin import Problem, RuleContext, Severity, rule

_MISSING = "FAILED_READ_FILE.NO_HINT"


@rule("TH014", on=HistoryStep, severity=Severity.WARNING, delta_errors=(_MISSING,))
def null_forbidden_later(step: HistoryStep, _ctx: RuleContext) -> Iterator[Problem]:
    """A commit made a column NOT NULL, and kept files that may hold nulls.

    ## What it does

    Reads the commits of the log. The rule reports a commit that makes a column or a nested field NOT NULL, or
    adds one that is, if a data file from before the commit is still live. It reads the list of data files for
    that, so CREATE OR REPLACE, `overwriteSchema` and RESTORE are no findings. A new column is an error: no
    older file holds it.

    ## Why is this bad?

    Delta Spark trusts the schema: where an older file has a null, it reads 0, or fails on a string, and
    `IS NULL` finds no row; `OPTIMIZE` then writes the 0 into new files. A file without the column it cannot
    read at all (`FAILED_READ_FILE.NO_HINT`; both measured on Delta 4.4.0). Delta refuses to tighten the
    nullability of a column, because it does not know what the files hold. If another client made sure that
    there are no nulls, all is well.

    ## What to do

    Look for nulls in the version before the commit (`VERSION AS OF`). If there are any, `RESTORE` it.

    ## Example

    The log, one entry per commit, with the schema written out:

    ```yaml title="log"
    - commitInfo: {operation: CREATE TABLE AS SELECT}
      protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: qty, type: integer}]}
      add: {path: part-0.parquet}
    - commitInfo: {operation: CHANGE COLUMN}
      metaData: {fields: [{name: qty, type: integer, nullable: false}]}
    ```

    ## Use instead

    ```yaml title="instead"
    - commitInfo: {operation: CREATE TABLE AS SELECT}
      protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: qty, type: integer, nullable: false}]}
      add: {path: part-0.parquet}
    - commitInfo: {operation: CHANGE COLUMN}
      metaData: {fields: [{name: qty, type: integer}]}
    ```
    """
    if step.superseded:
        return
    for fault in faults(step):
        if fault.kind == SchemaFaultKind.NULLS:
            effect, help_ = "do not hold it: Spark cannot read them", "restore the version before"
            if fault.old:
                effect = "may hold nulls: Spark reads 0 there, or fails"
                help_ = "look for nulls in the version before, and restore it if there are any"
            yield Problem(
                f"{step.title} made {format_path(fault.path)} NOT NULL, but files from before {effect}",
                help=help_,
                severity=None if fault.old else Severity.ERROR,
                path=fault.path,
                old=fault.old,
                new=fault.new,
                delta_error=None if fault.old else _MISSING,
                unreadable=not fault.old,
            )
