from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from schemalint.delta.datatype import DataType, RecordedChange, type_at, walk_fields
from schemalint.delta.path import format_path
from schemalint.delta.table import LiveTable
from schemalint.delta.type_history import is_unrecorded_widening, record_of, same_stored
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import is_container
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("TH003", on=LiveTable, severity=Severity.ERROR)
def type_changes_chain_broken(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The recorded type changes of a column do not lead to its type.

    ## What it does

    Reads `delta.typeChanges` of every live field. For each type, the entries must form a chain: each entry
    starts from the type that the one before led to, and the last entry leads to the current type. The rule
    accepts the gaps that `mergeSchema` leaves while type widening is off (`byte`, `short`, `int`).

    ## Why is this bad?

    Either the log lacks a type change, or it records one that never happened. Files may hold a type that
    readers do not expect. Delta Spark still reads the table (measured on Delta 4.4.0); Delta Kernel refuses
    to change such a record.

    ## What to do

    Find the commit that broke the chain (`schemalint show` prints the history), and rewrite the table.

    ## Example

    The log, with the schema written out:

    ```yaml title="log"
    - protocol:
        {minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [typeWidening],
         writerFeatures: [typeWidening]}
      metaData:
        fields:
          - {name: qty, type: double, metadata: {delta.typeChanges: [{fromType: integer, toType: long}]}}
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
    for path, field in walk_fields(table.state.columns):
        for at in dict.fromkeys(entry.at for entry in record_of(field)):
            current = type_at(field.type, at)
            # TH005 reports entries for a missing type, or for a container.
            if current is None or is_container(current):
                continue
            for old, new in _gaps(record_of(field, at), current):
                yield Problem(
                    f"the recorded type changes of {format_path((*path, *at))} jump "
                    f"from {print_type(old)} to {print_type(new)}"
                    + (", its current type" if new == current else ""),
                    help="find the commit that did it with `schemalint show`, and rewrite the table",
                    path=(*path, *at),
                    old=print_type(old),
                    new=print_type(new),
                )


def _gaps(record: tuple[RecordedChange, ...], current: DataType) -> Iterator[tuple[DataType, DataType]]:
    links = [(entry.to_type, following.from_type) for entry, following in pairwise(record)]
    for old, new in (*links, (record[-1].to_type, current)):
        if not same_stored(old, new) and not is_unrecorded_widening(old, new):
            yield old, new
