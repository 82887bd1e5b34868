from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import walk_fields
from schemalint.delta.path import format_path
from schemalint.delta.table import LiveTable
from schemalint.delta.type_history import record_fault
from schemalint.plugin import Problem, RuleContext, Severity, rule

_WIDENING = frozenset({"typeWidening", "typeWidening-preview"})


@rule(
    "TH007",
    on=LiveTable,
    severity=Severity.ERROR,
    delta_errors=("ClassCastException", "NoSuchElementException", "UNSUPPORTED_DATATYPE", "INTERNAL_ERROR"),
)
def type_changes_malformed(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """What the log records of a column's types cannot be read.

    ## What it does

    Reads `delta.typeChanges` of every live field. It has to be a list of objects, not empty, each with a
    `fromType` and a `toType` that name types; `fieldPath` is text, and `tableVersion` a number. A JSON list
    inside of a string, as the table "Column Metadata" of PROTOCOL.md has it, is not what clients read.

    ## Why is this bad?

    If the table supports type widening, Delta Spark fails to read and to write it, with errors that name
    neither table nor column: `ClassCastException` for what is no list or no text, and for an empty list,
    `NoSuchElementException` for a type that is missing, `UNSUPPORTED_DATATYPE` for one that is none,
    `INTERNAL_ERROR` for null (all measured on Delta 4.4.0). Otherwise nothing looks at it, until somebody
    enables type widening: then it is a warning.

    ## What to do

    `RESTORE` the version before it came, or take the table over with a client that can still read it.

    ## Example

    The log, with the schema written out:

    ```yaml title="log"
    - protocol:
        {minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [typeWidening],
         writerFeatures: [typeWidening]}
      metaData:
        fields: [{name: qty, type: long, metadata: {delta.typeChanges: [{fromType: integer}]}}]
    ```

    ## Use instead

    ```yaml title="instead"
    - protocol:
        {minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [typeWidening],
         writerFeatures: [typeWidening]}
      metaData:
        fields: [{name: qty, type: long, metadata: {delta.typeChanges: [{fromType: integer, toType: long}]}}]
    ```
    """
    is_read = not _WIDENING.isdisjoint(table.protocol.features)
    for path, field in walk_fields(table.state.columns):
        if fault := record_fault(field):
            yield Problem(
                f"delta.typeChanges of {format_path(path)} {fault.what}"
                + ("" if is_read else ": nobody reads it until type widening is enabled"),
                help="restore the version before: no statement removes the record",
                severity=None if is_read else Severity.WARNING,
                path=path,
                delta_error=fault.raised if is_read else None,
            )
