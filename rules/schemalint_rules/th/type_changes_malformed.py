from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import walk_fields
from schemalint.delta.path import format_path
from schemalint.delta.table import LiveTable
from schemalint.delta.type_history import TYPE_WIDENING_FEATURES, record_fault
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule(
    "TH007",
    on=LiveTable,
    severity=Severity.ERROR,
    delta_errors=("ClassCastException", "NoSuchElementException", "UNSUPPORTED_DATATYPE", "INTERNAL_ERROR"),
    verdict="impossible",
)
def type_changes_malformed(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The log's record of a column's type changes cannot be read.

    ## What it does

    Reads `delta.typeChanges` of every live field. It must be a list of objects, not empty, each with a
    `fromType` and a `toType` that name types; `fieldPath` must be a string, and `tableVersion` a number. The
    table "Column Metadata" of PROTOCOL.md describes a JSON list inside a string; clients do not read that
    form.

    ## Why is this bad?

    If the table supports type widening, Delta Spark fails every read and every write, with errors that name
    neither the table nor the column: `ClassCastException` for a value of the wrong JSON type and for an empty
    list, `NoSuchElementException` for a missing type, `UNSUPPORTED_DATATYPE` for an unknown type,
    `INTERNAL_ERROR` for null (all measured on Delta 4.4.0). On other tables no client reads the record until
    type widening is enabled, so there it is a warning.

    ## What to do

    `RESTORE` a version without the malformed record, or copy the table with a client that can still read it.

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
    is_read = not TYPE_WIDENING_FEATURES.isdisjoint(table.protocol.features)
    for path, field in walk_fields(table.state.columns):
        if fault := record_fault(field):
            yield Problem(
                f"delta.typeChanges of {format_path(path)} {fault.reason}"
                + ("" if is_read else ": no client reads it until type widening is enabled"),
                help="restore a version without it: no statement removes the record",
                severity=None if is_read else Severity.WARNING,
                path=path,
                delta_error=fault.delta_error if is_read else None,
                unreadable=is_read,
            )
