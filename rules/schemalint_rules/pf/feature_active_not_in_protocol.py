from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.feature import FEATURES
from schemalint.delta.protocol import needed as needed_features
from schemalint.delta.table import LiveTable
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule

LISTS_FEATURES = 7

# What Delta Spark says of them on a protocol without lists of features (measured on Delta 4.4.0).
_CHECKED_BY_ITSELF = {
    "rowTracking": "IllegalStateException",
    "typeWidening": "IllegalStateException",
    "timestampNtz": "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT",
}


@rule(
    "PF010",
    on=LiveTable,
    severity=Severity.ERROR,
    delta_errors=(
        "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH",
        "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT",
        "IllegalStateException",
    ),
)
def feature_active_not_in_protocol(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The table uses a feature that its protocol does not tell of.

    ## What it does

    Compares the features that properties, columns and constraints of the live table switch on, and those
    that other features require, with those that its protocol supports.

    ## Why is this bad?

    Clients decide by the protocol whether they can read or write a table. Those that do not know the
    feature go on, and read or write it wrongly. On a protocol with lists of features Delta Spark refuses
    every read and write (`DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH`). On an older one it mostly goes on,
    and this is a warning; for type widening and row tracking it fails with an `IllegalStateException`, and
    for `timestamp_ntz` it alters nothing any more (`DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT`; all measured
    on Delta 4.4.0).

    ## What to do

    Where Spark still opens the table, set `delta.feature.<name> = supported`, or take away what uses the
    feature. Where it does not, `RESTORE` is refused too: the protocol has to be repaired with the tool that
    wrote it.

    ## Example

    The log, with the schema written out:

    ```yaml title="log"
    - protocol: {minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [], writerFeatures: []}
      metaData:
        fields: [{name: order_id, type: long}]
        configuration: {delta.enableDeletionVectors: "true"}
    ```

    ## Use instead

    ```yaml title="instead"
    - protocol:
        minReaderVersion: 3
        minWriterVersion: 7
        readerFeatures: [deletionVectors]
        writerFeatures: [deletionVectors]
      metaData:
        fields: [{name: order_id, type: long}]
        configuration: {delta.enableDeletionVectors: "true"}
    ```
    """
    protocol = table.protocol
    # Where the lists are not what the versions ask for, PF013 speaks, and nobody knows what is supported.
    if not protocol.has_fitting_lists:
        return
    active = table.state.active_features
    is_listed = protocol.min_writer >= LISTS_FEATURES
    missing = needed_features(protocol.features, active) - protocol.features
    # Not what only a missing one requires: who adds that one adds both.
    for name in sorted(missing & (active | needed_features(protocol.features, frozenset()))):
        by_itself = _CHECKED_BY_ITSELF.get(name)
        error = "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH" if is_listed else by_itself
        yield Problem(
            f"the table needs {name} because of {_cause(name, active)}, and its protocol does not support it",
            help="repair the protocol with the tool that wrote it: Spark does not open the table"
            if is_listed
            else f"set delta.feature.{name} to supported",
            severity=None if error else Severity.WARNING,
            object=ObjectRef("feature", name),
            delta_error=error,
        )


def _cause(name: str, active: frozenset[str]) -> str:
    row = FEATURES[name]
    if name not in active:
        return "another feature that requires it"
    if row.enabled_by_schema:
        return row.enabled_by_schema.value
    return row.enabled_by_property[0] if row.enabled_by_property else "its metadata"
