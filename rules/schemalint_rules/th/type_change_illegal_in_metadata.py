from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import walk_fields
from schemalint.delta.path import format_path
from schemalint.delta.table import LiveTable
from schemalint.delta.type_history import TYPE_WIDENING_FEATURES, record_of, same_stored
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import TypeStep, step
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule(
    "TH004",
    on=LiveTable,
    severity=Severity.ERROR,
    delta_errors=("DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA",),
    verdict="impossible",
)
def type_change_illegal_in_metadata(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The log records a type change that Delta cannot make.

    ## What it does

    Reads `delta.typeChanges` of every live field and compares each entry with the changes that type widening
    allows. An entry between `string`, `char` and `varchar` has no meaning for readers; it is a warning.

    ## Why is this bad?

    Readers must check the recorded changes and refuse those that they cannot promote (PROTOCOL.md, "Reader
    Requirements for Type Widening"). On a table that supports type widening, Delta Spark fails every read and
    every write with `DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA`. On other tables no reader checks the entry
    until the table supports the feature.

    ## What to do

    `RESTORE` the version before the commit that added the entry, or rebuild the table from its files.

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
    is_read = not TYPE_WIDENING_FEATURES.isdisjoint(table.protocol.features)
    for path, field in walk_fields(table.state.columns):
        for entry in record_of(field):
            old, new = entry.from_type, entry.to_type
            if step(old, new) in (TypeStep.WIDENING, TypeStep.SAME):
                continue
            is_text = same_stored(old, new)
            is_refused = is_read and not is_text
            yield Problem(
                f"the log records {format_path((*path, *entry.at))} as changed from {print_type(old)} to "
                f"{print_type(new)}, which type widening "
                + ("does not record" if is_text else "does not allow"),
                help="restore the version before the entry, or rebuild the table" if is_refused else "",
                severity=Severity.WARNING if is_text else None,
                path=(*path, *entry.at),
                old=print_type(old),
                new=print_type(new),
                delta_error="DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA" if is_refused else None,
                unreadable=is_refused,
            )
