from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.history import HistoryStep
from schemalint.delta.path import format_path
from schemalint.delta.properties import COLUMN_MAPPING_MODE
from schemalint.delta.schema_history import SchemaFault, SchemaFaultKind, faults
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule

_MODE = ObjectRef("property", COLUMN_MAPPING_MODE)


_NO_IDS = "FAILED_READ_FILE.NO_HINT"


@rule("CM013", on=HistoryStep, severity=Severity.ERROR, delta_errors=(_NO_IDS,), verdict="impossible")
def stored_name_changed(step: HistoryStep, _ctx: RuleContext) -> Iterator[Problem]:
    """A commit changed how readers find the columns in data files, and kept older files.

    ## What it does

    Reads the commits of the log. Readers find a column in a data file by its name, with
    `delta.columnMapping.mode = name` by its physical name, with mode `id` by its id. The rule reports a
    commit that changes what they look for, if a data file from before the commit is still live:

    - another physical name for a column in mode `name`, or another id in mode `id`;
    - column mapping turned on with physical names that differ from the names so far, or turned off although
      they differ;
    - mode `id` on a table with files from before column mapping;
    - as a warning, another change between `name` and `id`.

    The rule reads the list of data files, so commits that replace all files are no findings. Delta itself
    rewrites all files when it turns column mapping off.

    ## Why is this bad?

    Delta Spark reads NULL for every value in the older files; files without ids it cannot read in mode `id`
    at all (`FAILED_READ_FILE.NO_HINT`). Files that were written with column mapping have names and ids, so
    Spark reads them in both modes (all measured on Delta 4.4.0). Delta refuses the change between them, and
    other readers may too.

    ## What to do

    `RESTORE` the version before the commit, and find out which writer made it.

    ## Example

    The log, one entry per commit, with the schema written out:

    ```yaml title="log"
    - commitInfo: {operation: CREATE TABLE AS SELECT}
      protocol: {minReaderVersion: 2, minWriterVersion: 5}
      metaData:
        fields:
          - name: qty
            type: integer
            metadata: {delta.columnMapping.id: 1, delta.columnMapping.physicalName: col-1}
        configuration: {delta.columnMapping.mode: name, delta.columnMapping.maxColumnId: "1"}
      add: {path: part-0.parquet}
    - commitInfo: {operation: CHANGE COLUMN}
      metaData:
        fields:
          - name: qty
            type: integer
            metadata: {delta.columnMapping.id: 1, delta.columnMapping.physicalName: qty}
        configuration: {delta.columnMapping.mode: name, delta.columnMapping.maxColumnId: "1"}
    ```

    ## Use instead

    ```yaml title="instead"
    - commitInfo: {operation: CREATE TABLE AS SELECT}
      protocol: {minReaderVersion: 2, minWriterVersion: 5}
      metaData:
        fields:
          - name: qty
            type: integer
            metadata: {delta.columnMapping.id: 1, delta.columnMapping.physicalName: col-1}
        configuration: {delta.columnMapping.mode: name, delta.columnMapping.maxColumnId: "1"}
      add: {path: part-0.parquet}
    - commitInfo: {operation: RENAME COLUMN}
      metaData:
        fields:
          - name: quantity
            type: integer
            metadata: {delta.columnMapping.id: 1, delta.columnMapping.physicalName: col-1}
        configuration: {delta.columnMapping.mode: name, delta.columnMapping.maxColumnId: "1"}
    ```
    """
    if step.superseded:
        return
    for fault in faults(step):
        if described := _described(fault):
            change, effect = described
            yield Problem(
                f"{step.title} changed {change}: {effect}",
                help="restore the version before",
                severity=Severity.WARNING if fault.kind == SchemaFaultKind.MODE else None,
                path=fault.path,
                object=None if fault.path else _MODE,
                old=fault.old,
                new=fault.new,
                delta_error=_NO_IDS if fault.kind == SchemaFaultKind.NO_IDS else None,
                unreadable=fault.kind == SchemaFaultKind.NO_IDS,
            )


def _described(fault: SchemaFault) -> tuple[str, str] | None:
    """Return the change, and its effect on older files; None for faults of other rules."""
    change = f"from {fault.old} to {fault.new}"
    mode = f"{COLUMN_MAPPING_MODE} {change}"
    match fault.kind:
        case SchemaFaultKind.STORED_NAME if fault.path:
            return (
                f"the physical name of {format_path(fault.path)} {change}",
                "Spark reads NULL from files from before",
            )
        case SchemaFaultKind.STORED_NAME:
            return mode, f"Spark reads NULL for {', '.join(fault.columns)} from files from before"
        case SchemaFaultKind.COLUMN_ID:
            return (
                f"the column-mapping id of {format_path(fault.path)} {change}",
                "Spark reads NULL from files from before",
            )
        case SchemaFaultKind.NO_IDS:
            return mode, "Spark cannot read files from before column mapping, which hold no ids"
        case SchemaFaultKind.MODE:
            return mode, "Spark still reads files from before, other readers may not"
        case _:
            return None
