from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.history import HistoryStep
from schemalint.delta.path import format_path
from schemalint.delta.schema_history import MAX_COLUMN_ID, SchemaFaultKind, faults
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule


@rule("CM014", on=HistoryStep, severity=Severity.ERROR)
def column_id_reused(step: HistoryStep, _ctx: RuleContext) -> Iterator[Problem]:
    """A commit gave a new column the id of an earlier one, or lowered the highest id.

    ## What it does

    Reads the commits of the log. With column mapping, `delta.columnMapping.maxColumnId` is the highest id
    that a column ever had, and a new column gets the next one. The rule reports a new column whose id is not
    higher, and, as a warning, a commit that lowers maxColumnId, if a data file from before the commit is
    still live. CM005 reports a maxColumnId below the ids of the columns.

    ## Why is this bad?

    Older files hold the data of the dropped column under that id. With `delta.columnMapping.mode = id` Delta
    Spark returns it as the data of the new column; after maxColumnId was lowered, its next `ADD COLUMN` does
    so (measured on Delta 4.4.0). In mode `name` Spark reads NULL, as it should, and the finding is a warning:
    readers that use ids, such as those of Iceberg, return the old data.

    ## What to do

    `RESTORE` the version before the commit, and find out which writer made it.

    ## Example

    The log, one entry per commit, with the schema written out:

    ```yaml title="log"
    - commitInfo: {operation: CREATE TABLE AS SELECT}
      protocol: {minReaderVersion: 2, minWriterVersion: 5}
      metaData:
        fields:
          - name: a
            type: integer
            metadata: {delta.columnMapping.id: 1, delta.columnMapping.physicalName: c1}
          - name: b
            type: integer
            metadata: {delta.columnMapping.id: 2, delta.columnMapping.physicalName: c2}
        configuration: {delta.columnMapping.mode: id, delta.columnMapping.maxColumnId: "2"}
      add: {path: part-0.parquet}
    - commitInfo: {operation: DROP COLUMNS}
      metaData:
        fields:
          - name: a
            type: integer
            metadata: {delta.columnMapping.id: 1, delta.columnMapping.physicalName: c1}
        configuration: {delta.columnMapping.mode: id, delta.columnMapping.maxColumnId: "2"}
    - commitInfo: {operation: ADD COLUMNS}
      metaData:
        fields:
          - name: a
            type: integer
            metadata: {delta.columnMapping.id: 1, delta.columnMapping.physicalName: c1}
          - name: c
            type: integer
            metadata: {delta.columnMapping.id: 2, delta.columnMapping.physicalName: c3}
        configuration: {delta.columnMapping.mode: id, delta.columnMapping.maxColumnId: "2"}
    ```

    ## Use instead

    ```yaml title="instead"
    - commitInfo: {operation: CREATE TABLE AS SELECT}
      protocol: {minReaderVersion: 2, minWriterVersion: 5}
      metaData:
        fields:
          - name: a
            type: integer
            metadata: {delta.columnMapping.id: 1, delta.columnMapping.physicalName: c1}
        configuration: {delta.columnMapping.mode: id, delta.columnMapping.maxColumnId: "2"}
      add: {path: part-0.parquet}
    - commitInfo: {operation: ADD COLUMNS}
      metaData:
        fields:
          - name: a
            type: integer
            metadata: {delta.columnMapping.id: 1, delta.columnMapping.physicalName: c1}
          - name: c
            type: integer
            metadata: {delta.columnMapping.id: 3, delta.columnMapping.physicalName: c3}
        configuration: {delta.columnMapping.mode: id, delta.columnMapping.maxColumnId: "3"}
    ```
    """
    if step.superseded or step.entry.metadata is None:
        return
    is_by_id = step.entry.metadata.state.column_mapping == "id"
    for fault in faults(step):
        if fault.kind == SchemaFaultKind.ID_REUSED:
            effect = (
                "Spark reads that column's data from them" if is_by_id else "readers by id return its data"
            )
            yield Problem(
                f"{step.title} gave the new {format_path(fault.path)} the id {fault.new}, which files from "
                f"before may hold for an earlier column: {effect}",
                help="restore the version before",
                severity=None if is_by_id else Severity.WARNING,
                path=fault.path,
                new=fault.new,
            )
        elif fault.kind == SchemaFaultKind.MAX_ID:
            yield Problem(
                f"{step.title} lowered {MAX_COLUMN_ID} from {fault.old} to {fault.new}: the next column "
                "gets an id that files from before may hold for an earlier column",
                help="restore the version before",
                severity=Severity.WARNING,
                object=ObjectRef("property", MAX_COLUMN_ID),
                old=fault.old,
                new=fault.new,
            )
