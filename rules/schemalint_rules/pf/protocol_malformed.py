from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.feature import FEATURES
from schemalint.delta.properties import is_protocol_key
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule

READERS = range(1, 4)
WRITERS = range(1, 8)

_NO_WAY_BACK = "repair it with the tool that wrote it: Spark does not open the table, not even for RESTORE"


@rule(
    "PF013",
    on=LiveTable,
    severity=Severity.ERROR,
    delta_errors=(
        "EXPRESSION_DECODING_FAILED",
        "DELTA_INVALID_PROTOCOL_VERSION",
        "DELTA_UNSUPPORTED_FEATURES_FOR_READ",
    ),
)
def protocol_malformed(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The protocol of the table contradicts itself.

    ## What it does

    Checks the protocol of the log by the rules of PROTOCOL.md: versions that exist; `readerFeatures`
    exactly where the reader version is 3, `writerFeatures` exactly where the writer version is 7; every
    feature of readers in both lists, and no feature of writers alone among those of readers. And nothing of
    the protocol may stand among the table's properties, where Delta never stores it.

    ## Why is this bad?

    Each client makes something else of it. Delta Spark cannot even open a table whose lists do not fit its
    versions (`EXPRESSION_DECODING_FAILED`, which names neither); it refuses versions that it does not know
    (`DELTA_INVALID_PROTOCOL_VERSION`; a writer version of 0 only when it writes), and a writers' feature
    among those of readers (`DELTA_UNSUPPORTED_FEATURES_FOR_READ`). A readers' feature in one list only is
    not noticed: readers, or writers, then treat the table as if it had none. Left-over properties take
    effect with the next `ALTER TABLE` of anybody, and are a warning (all measured on Delta 4.4.0).

    ## What to do

    No statement mends a table that Spark does not open, and `RESTORE` is refused too: write the protocol
    again with the tool that wrote it.

    ## Example

    The log, with the schema written out:

    ```yaml title="log"
    - protocol: {minReaderVersion: 3, minWriterVersion: 7}
      metaData: {fields: [{name: order_id, type: long}]}
    ```

    ## Use instead

    ```yaml title="instead"
    - protocol: {minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [], writerFeatures: []}
      metaData: {fields: [{name: order_id, type: long}]}
    ```
    """
    protocol = table.protocol
    if not protocol.has_fitting_lists:
        yield Problem(
            f"the lists of features do not fit {_versions(protocol)}: readerFeatures belongs to reader "
            "version 3, writerFeatures to writer version 7",
            help=_NO_WAY_BACK,
            delta_error="EXPRESSION_DECODING_FAILED",
        )
    elif protocol.min_reader not in READERS or protocol.min_writer not in WRITERS:
        yield Problem(
            f"there is no protocol of {_versions(protocol)}: readers go to 3, writers to 7",
            help="a newer client may know it; Spark refuses RESTORE too",
            delta_error="DELTA_INVALID_PROTOCOL_VERSION",
        )
    elif protocol.min_reader == READERS[-1] and protocol.min_writer < WRITERS[-1]:
        yield Problem(
            f"there is no protocol of {_versions(protocol)}: reader version 3 goes with writer version 7",
            help=_NO_WAY_BACK,
            delta_error="EXPRESSION_DECODING_FAILED",
        )
    else:
        yield from _lists(protocol)
    for key in table.state.properties:
        if is_protocol_key(key):
            yield Problem(
                f"{key} stands among the properties, where Delta stores nothing of the protocol",
                help="the next ALTER TABLE acts on it: unset it first, or say what it says",
                severity=Severity.WARNING,
                object=ObjectRef("property", key),
            )


def _lists(protocol: Protocol) -> Iterator[Problem]:
    for name in sorted(protocol.reader_features - protocol.writer_features):
        yield Problem(
            f"{name} stands in readerFeatures, and not in writerFeatures",
            help="writers do not know that they need it",
            object=ObjectRef("feature", name),
        )
    known = {name: FEATURES[name] for name in sorted(protocol.writer_features) if name in FEATURES}
    for name, row in known.items():
        listed = name in protocol.reader_features
        # Before reader version 3 a feature that has a reader version of its own needs no list.
        by_version = row.legacy is not None and row.legacy[0] <= protocol.min_reader < READERS[-1]
        if row.reader and not listed and not by_version:
            yield Problem(
                f"{name} stands in writerFeatures, and readers are not told of it",
                help="readers that do not know it read the table all the same",
                object=ObjectRef("feature", name),
            )
        elif listed and not row.reader:
            yield Problem(
                f"{name} is a feature for writers, and stands in readerFeatures",
                help=_NO_WAY_BACK,
                object=ObjectRef("feature", name),
                delta_error="DELTA_UNSUPPORTED_FEATURES_FOR_READ",
            )


def _versions(protocol: Protocol) -> str:
    return f"reader version {protocol.min_reader}, writer version {protocol.min_writer}"
