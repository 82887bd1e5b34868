from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.history import HistoryStep
from schemalint.delta.schema_history import SchemaFaultKind, faults
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule


@rule("TH013", on=HistoryStep, severity=Severity.ERROR)
def partitioning_changed(step: HistoryStep, _ctx: RuleContext) -> Iterator[Problem]:
    """A commit changed which columns partition the table, and kept the files from before.

    ## What it does

    Reads the commits of the log. The value of a partition column is not read from a data file, but from the
    log's entry of the file (`partitionValues`). The rule reports a commit that adds a partition column or
    takes one away, if a data file from before the commit is still live. It reads the list of data files for
    that, so CREATE OR REPLACE, `overwriteSchema` and RESTORE are no findings. Another order is none either.

    ## Why is this bad?

    The older entries have no value for a new partition column: Delta Spark reads NULL, and a filter by the
    column finds none of these rows. A column that is no longer a partition column is read from the files;
    Delta 4.4 stores partition columns there too, but others do not, and from their files Spark reads NULL, so
    that is a warning (measured on Delta 4.4.0).

    ## What to do

    `RESTORE` the version before the commit. To partition the table otherwise, rewrite it: `CREATE OR REPLACE
    TABLE … PARTITIONED BY … AS SELECT`.

    ## Example

    The log, one entry per commit, with the schema written out:

    ```yaml title="log"
    - commitInfo: {operation: CREATE TABLE AS SELECT}
      protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: qty, type: integer}, {name: day, type: date}]}
      add: {path: part-0.parquet}
    - commitInfo: {operation: SET TBLPROPERTIES}
      metaData: {fields: [{name: qty, type: integer}, {name: day, type: date}], partitionColumns: [day]}
    ```

    ## Use instead

    ```yaml title="instead"
    - commitInfo: {operation: CREATE TABLE AS SELECT}
      protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: qty, type: integer}, {name: day, type: date}]}
      add: {path: part-0.parquet}
    - commitInfo: {operation: CREATE OR REPLACE TABLE AS SELECT}
      metaData: {fields: [{name: qty, type: integer}, {name: day, type: date}], partitionColumns: [day]}
      remove: {path: part-0.parquet}
      add: {path: day=2026-03-01/part-1.parquet, partitionValues: {day: "2026-03-01"}}
    ```
    """
    if step.superseded:
        return
    for fault in faults(step):
        columns = ", ".join(fault.columns)
        if fault.kind == SchemaFaultKind.PARTITIONING:
            change = f"made {columns} a partition column: Spark reads NULL in it from files from before"
        elif fault.kind == SchemaFaultKind.UNPARTITIONED:
            change = (
                f"made the partition column {columns} a plain column: Spark reads NULL in it from files from "
                "before that do not hold it"
            )
        else:
            continue
        yield Problem(
            f"{step.title} {change}",
            help="restore the version before, or rewrite the table with the new partitioning",
            severity=Severity.WARNING if fault.kind == SchemaFaultKind.UNPARTITIONED else None,
            object=ObjectRef("partitioning", "partitioned_by"),
            old=fault.old,
            new=fault.new,
        )
