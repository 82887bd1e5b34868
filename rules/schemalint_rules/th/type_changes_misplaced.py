from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import Field, type_at, walk_fields
from schemalint.delta.path import format_path
from schemalint.delta.table import LiveTable
from schemalint.delta.type_history import record_of, unknown_field_paths
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import is_container
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("TH005", on=LiveTable, severity=Severity.ERROR)
def type_changes_misplaced(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """A recorded type change refers to a part of a field that has no type to change.

    ## What it does

    Follows the `fieldPath` of every entry of `delta.typeChanges` into the type of its field. A `fieldPath`
    consists of `element`, `key` and `value`, and must lead to a type other than array, map or struct; without
    a `fieldPath` the entry refers to the field itself. A change inside a struct is recorded on the struct's
    own field, never on an outer field.

    ## Why is this bad?

    Readers cannot tell which files hold the old type. Delta Spark silently ignores such entries (measured on
    Delta 4.4.0), and reads the old files as if nothing had changed; Delta Kernel refuses the entries.

    ## What to do

    Find the writer of these entries, and rewrite the table.

    ## Example

    The log, with the schema written out:

    ```yaml title="log"
    - protocol:
        {minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [typeWidening],
         writerFeatures: [typeWidening]}
      metaData:
        fields:
          - name: sizes
            type: {type: array, elementType: long}
            metadata: {delta.typeChanges: [{fromType: integer, toType: long}]}
    ```

    ## Use instead

    ```yaml title="instead"
    - protocol:
        {minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [typeWidening],
         writerFeatures: [typeWidening]}
      metaData:
        fields:
          - name: sizes
            type: {type: array, elementType: long}
            metadata: {delta.typeChanges: [{fromType: integer, toType: long, fieldPath: element}]}
    ```
    """
    for path, field in walk_fields(table.state.columns):
        for field_path in _misplaced(field):
            yield Problem(
                f"a recorded type change of {format_path(path)} refers to {field_path}, where "
                f"{print_type(field.type)} has no type that can change",
                help="rewrite the table: readers cannot tell which files hold the old type",
                path=path,
                old=field_path,
            )


def _misplaced(field: Field) -> Iterator[str]:
    for at in dict.fromkeys(entry.at for entry in record_of(field)):
        inner = type_at(field.type, at)
        if inner is None or is_container(inner):
            yield ".".join(part.value for part in at) or "the field itself"
    yield from unknown_field_paths(field)
