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
    """The recorded types of a column do not lead to the type that it has.

    ## What it does

    Reads `delta.typeChanges` of every live field. For each type, the entries have to be a chain: each
    begins with the type that the one before led to, and the last one ends in the type of today. A gap that
    `mergeSchema` leaves while type widening is off (`byte`, `short`, `int`) is lawful.

    ## Why is this bad?

    There was a type that nobody recorded, or a record that nobody made. Files may hold a type that readers
    do not expect. Delta Spark reads on (measured on Delta 4.4.0); Delta Kernel refuses to change such a
    record.

    ## What to do

    Look for the commit that broke the chain (`schemalint show` tells the history), and rewrite the table.

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
        for way in dict.fromkeys(entry.at for entry in record_of(field)):
            now = type_at(field.type, way)
            # A record of no type, or of a container, is misplaced: TH005.
            if now is None or is_container(now):
                continue
            for old, new in _gaps(record_of(field, way), now):
                yield Problem(
                    f"the record of {format_path((*path, *way))} jumps from {print_type(old)} to "
                    f"{print_type(new)}" + (", which is its type" if new == now else ""),
                    help="look for the commit that did it with `schemalint show`, and rewrite the table",
                    path=(*path, *way),
                    old=print_type(old),
                    new=print_type(new),
                )


def _gaps(record: tuple[RecordedChange, ...], now: DataType) -> Iterator[tuple[DataType, DataType]]:
    links = [(one.to_type, following.from_type) for one, following in pairwise(record)]
    for old, new in (*links, (record[-1].to_type, now)):
        if not same_stored(old, new) and not is_unrecorded_widening(old, new):
            yield old, new
