from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.history import HistoryStep
from schemalint.delta.path import format_path
from schemalint.delta.schema_history import SchemaFaultKind, faults
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("CM017", on=HistoryStep, severity=Severity.ERROR)
def physical_name_reused(step: HistoryStep, _ctx: RuleContext) -> Iterator[Problem]:
    """A commit gave a new column the physical name of an earlier one.

    ## What it does

    Reads the commits of the log. With column mapping, data files store each column under its physical name,
    and a new column gets a name that no file has. The rule reports a new column with another id, but with the
    physical name of a column that was dropped, if a data file that holds the dropped column is still live.
    CM014 reports a new column with the id of an earlier one.

    ## Why is this bad?

    With `delta.columnMapping.mode = name` Delta Spark returns the data of the dropped column as the data of
    the new one, or fails if their types differ. With mode `id` it reads NULL, but it skips files by the
    statistics of the dropped column, which have its physical name: `WHERE c IS NULL` returns no rows (all
    measured on Delta 4.4.0).

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
        configuration: {delta.columnMapping.mode: name, delta.columnMapping.maxColumnId: "2"}
      add: {path: part-0.parquet}
    - commitInfo: {operation: DROP COLUMNS}
      metaData:
        fields:
          - name: a
            type: integer
            metadata: {delta.columnMapping.id: 1, delta.columnMapping.physicalName: c1}
        configuration: {delta.columnMapping.mode: name, delta.columnMapping.maxColumnId: "2"}
    - commitInfo: {operation: ADD COLUMNS}
      metaData:
        fields:
          - name: a
            type: integer
            metadata: {delta.columnMapping.id: 1, delta.columnMapping.physicalName: c1}
          - name: c
            type: integer
            metadata: {delta.columnMapping.id: 3, delta.columnMapping.physicalName: c2}
        configuration: {delta.columnMapping.mode: name, delta.columnMapping.maxColumnId: "3"}
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
          - name: b
            type: integer
            metadata: {delta.columnMapping.id: 2, delta.columnMapping.physicalName: c2}
        configuration: {delta.columnMapping.mode: name, delta.columnMapping.maxColumnId: "2"}
      add: {path: part-0.parquet}
    - commitInfo: {operation: DROP COLUMNS}
      metaData:
        fields:
          - name: a
            type: integer
            metadata: {delta.columnMapping.id: 1, delta.columnMapping.physicalName: c1}
        configuration: {delta.columnMapping.mode: name, delta.columnMapping.maxColumnId: "2"}
    - commitInfo: {operation: ADD COLUMNS}
      metaData:
        fields:
          - name: a
            type: integer
            metadata: {delta.columnMapping.id: 1, delta.columnMapping.physicalName: c1}
          - name: c
            type: integer
            metadata: {delta.columnMapping.id: 3, delta.columnMapping.physicalName: c3}
        configuration: {delta.columnMapping.mode: name, delta.columnMapping.maxColumnId: "3"}
    ```
    """
    if step.superseded or step.entry.metadata is None:
        return
    is_by_id = step.entry.metadata.state.column_mapping == "id"
    effect = "skips files by that column's statistics" if is_by_id else "reads that column's data from them"
    for fault in faults(step):
        if fault.kind == SchemaFaultKind.NAME_REUSED:
            yield Problem(
                f"{step.title} gave the new {format_path(fault.path)} the physical name {fault.new}, under "
                f"which files from before hold an earlier column: Spark {effect}",
                help="restore the version before",
                path=fault.path,
                new=fault.new,
            )
