from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import walk_fields
from schemalint.delta.path import format_path
from schemalint.delta.table import LiveTable
from schemalint.delta.type_history import record_of, same_stored
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import TypeStep, step
from schemalint.plugin import Problem, RuleContext, Severity, rule

_WIDENING = frozenset({"typeWidening", "typeWidening-preview"})


@rule(
    "TH004",
    on=LiveTable,
    severity=Severity.ERROR,
    delta_errors=("DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA",),
)
def type_change_illegal_in_metadata(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The log records a change of type that Delta cannot make.

    ## What it does

    Reads `delta.typeChanges` of every live field and compares each entry with the changes that type
    widening knows. An entry between `string`, `char` and `varchar` says nothing to readers, and is a
    warning.

    ## Why is this bad?

    Readers have to check the record and refuse what they cannot promote (PROTOCOL.md, "Reader Requirements
    for Type Widening"). On a table that supports type widening, Delta Spark fails every read and every
    write with `DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA`. Where the table does not support the feature,
    nothing looks at the entry until it does.

    ## What to do

    `RESTORE` the version before the entry came, or write the table anew from its files.

    ## Example

    The log, with the schema written out:

    ```yaml title="log"
    - protocol:
        {minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [typeWidening],
         writerFeatures: [typeWidening]}
      metaData:
        fields:
          - {name: qty, type: integer, metadata: {delta.typeChanges: [{fromType: long, toType: integer}]}}
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
        for entry in record_of(field):
            old, new = entry.from_type, entry.to_type
            if step(old, new) in (TypeStep.WIDENING, TypeStep.SAME):
                continue
            text = same_stored(old, new)
            refused = is_read and not text
            yield Problem(
                f"the log records {format_path((*path, *entry.at))} as changed from {print_type(old)} to "
                f"{print_type(new)}, which type widening " + ("does not record" if text else "does not know"),
                help="restore the version before, or write the table anew" if refused else "",
                severity=Severity.WARNING if text else None,
                path=(*path, *entry.at),
                old=print_type(old),
                new=print_type(new),
                delta_error="DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA" if refused else None,
            )
