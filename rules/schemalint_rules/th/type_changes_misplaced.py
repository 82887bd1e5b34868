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
    """A recorded change of type is about nothing that could have changed.

    ## What it does

    Follows the `fieldPath` of every entry of `delta.typeChanges` into the type of the field that carries
    it. It is made of `element`, `key` and `value`, and has to lead to a type that is no array, map or
    struct itself; without a `fieldPath` the entry is about the field. A change inside of a struct is
    recorded on the struct's own field, never from outside.

    ## Why is this bad?

    Readers cannot tell which files hold the old type. Delta Spark passes over such entries without a word
    (measured on Delta 4.4.0), and reads the old files as if nothing had changed; Delta Kernel refuses them.

    ## What to do

    Find out which writer does this, and rewrite the table.

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
        for where in _misplaced(field):
            yield Problem(
                f"an entry in the record of {format_path(path)} is about {where}, where "
                f"{print_type(field.type)} has no type that could have changed",
                help="rewrite the table: readers cannot tell which files hold the old type",
                path=path,
                old=where,
            )


def _misplaced(field: Field) -> Iterator[str]:
    for way in dict.fromkeys(entry.at for entry in record_of(field)):
        inner = type_at(field.type, way)
        if inner is None or is_container(inner):
            yield ".".join(part.value for part in way) or "the field itself"
    yield from unknown_field_paths(field)
