from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.feature import FEATURES
from schemalint.delta.properties import is_protocol_key
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule

_READER_VERSIONS = range(1, 4)
_WRITER_VERSIONS = range(1, 8)

_REPAIR = "repair it with the tool that wrote it: Spark does not open the table, not even for RESTORE"


@rule(
    "PF013",
    on=LiveTable,
    severity=Severity.ERROR,
    delta_errors=(
        "EXPRESSION_DECODING_FAILED",
        "DELTA_INVALID_PROTOCOL_VERSION",
        "DELTA_UNSUPPORTED_FEATURES_FOR_READ",
    ),
    verdict="impossible",
)
def protocol_malformed(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The protocol of the table contradicts itself.

    ## What it does

    Checks the protocol in the log against PROTOCOL.md: the versions exist; `readerFeatures` exists exactly if
    the reader version is 3, `writerFeatures` exactly if the writer version is 7; every reader feature is in
    both lists, and no writer-only feature is in `readerFeatures`. It also finds protocol keys among the
    table's properties, where Delta never stores them.

    ## Why is this bad?

    Clients interpret such a protocol differently. Delta Spark cannot even open a table whose lists do not fit
    its versions (`EXPRESSION_DECODING_FAILED`, which names neither); it refuses unknown versions
    (`DELTA_INVALID_PROTOCOL_VERSION`; a writer version of 0 only when it writes), and a writer-only feature
    in `readerFeatures` (`DELTA_UNSUPPORTED_FEATURES_FOR_READ`). It does not notice a reader feature in only
    one list: readers, or writers, then treat the table as if it did not have the feature. Protocol keys among
    the properties take effect with the next `ALTER TABLE`, and are a warning (all measured on Delta 4.4.0).

    ## What to do

    No statement repairs a table that Spark does not open, and Spark refuses `RESTORE` too: rewrite the
    protocol with the tool that wrote it.

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
            f"the feature lists do not fit {_versions(protocol)}: readerFeatures belongs to reader "
            "version 3, writerFeatures to writer version 7",
            help=_REPAIR,
            delta_error="EXPRESSION_DECODING_FAILED",
            unreadable=True,
        )
    elif protocol.min_reader not in _READER_VERSIONS or protocol.min_writer not in _WRITER_VERSIONS:
        yield Problem(
            f"there is no protocol with {_versions(protocol)}: the highest versions are 3 and 7",
            help="a newer client may support it; Spark refuses RESTORE too",
            delta_error="DELTA_INVALID_PROTOCOL_VERSION",
            unreadable=protocol.min_reader not in _READER_VERSIONS,
        )
    elif protocol.min_reader == _READER_VERSIONS[-1] and protocol.min_writer < _WRITER_VERSIONS[-1]:
        yield Problem(
            f"there is no protocol with {_versions(protocol)}: reader version 3 requires writer version 7",
            help=_REPAIR,
            delta_error="EXPRESSION_DECODING_FAILED",
            unreadable=True,
        )
    else:
        yield from _list_faults(protocol)
    for key in table.state.properties:
        if is_protocol_key(key):
            yield Problem(
                f"{key} is among the properties, where Delta never stores protocol keys",
                help="the next ALTER TABLE acts on it: unset it first, or declare the features that it adds",
                severity=Severity.WARNING,
                object=ObjectRef("property", key),
            )


def _list_faults(protocol: Protocol) -> Iterator[Problem]:
    for name in sorted(protocol.reader_features - protocol.writer_features):
        yield Problem(
            f"{name} is in readerFeatures, but not in writerFeatures",
            help="writers that do not support it write the table anyway",
            object=ObjectRef("feature", name),
            unreadable=True,
        )
    features = {name: FEATURES[name] for name in sorted(protocol.writer_features) if name in FEATURES}
    for name, row in features.items():
        listed = name in protocol.reader_features
        # Below reader version 3 a legacy feature with its own reader version needs no list.
        by_version = row.legacy is not None and row.legacy[0] <= protocol.min_reader < _READER_VERSIONS[-1]
        if row.reader and not listed and not by_version:
            yield Problem(
                f"{name} is a reader feature, but only in writerFeatures",
                help="readers that do not support it read the table anyway",
                object=ObjectRef("feature", name),
                unreadable=True,
            )
        elif listed and not row.reader:
            yield Problem(
                f"{name} is a writer feature, but is in readerFeatures",
                help=_REPAIR,
                object=ObjectRef("feature", name),
                delta_error="DELTA_UNSUPPORTED_FEATURES_FOR_READ",
                unreadable=True,
            )


def _versions(protocol: Protocol) -> str:
    return f"reader version {protocol.min_reader}, writer version {protocol.min_writer}"
