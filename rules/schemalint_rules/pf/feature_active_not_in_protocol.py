from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.feature import FEATURES
from schemalint.delta.protocol import needed_features
from schemalint.delta.table import LiveTable
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule

_WRITER_WITH_LISTS = 7

# Delta Spark's errors for features on a protocol without feature lists (measured on Delta 4.4.0).
_ERRORS_WITHOUT_LISTS = {
    "rowTracking": "IllegalStateException",
    "typeWidening": "IllegalStateException",
    "timestampNtz": "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT",
}
_UNREADABLE_WITHOUT_LISTS = frozenset({"rowTracking"})


@rule(
    "PF010",
    on=LiveTable,
    severity=Severity.ERROR,
    delta_errors=(
        "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH",
        "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT",
        "IllegalStateException",
    ),
    verdict="impossible",
)
def feature_active_not_in_protocol(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The table uses a feature that its protocol does not support.

    ## What it does

    Compares the features that properties, columns and constraints of the live table enable, and the features
    that other features require, with the features that its protocol supports.

    ## Why is this bad?

    Clients decide by the protocol whether they can read or write a table. Clients that do not know the
    feature continue, and read or write the table incorrectly. On a protocol with feature lists Delta Spark
    refuses every read and write (`DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH`). On an older protocol it mostly
    continues, and the finding is a warning; for type widening and row tracking it fails with an
    `IllegalStateException`, and for `timestamp_ntz` it no longer alters the table
    (`DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT`; all measured on Delta 4.4.0).

    ## What to do

    If Spark still opens the table, set `delta.feature.<name> = supported`, or remove what uses the feature.
    If it does not, Spark refuses `RESTORE` too: repair the protocol with the tool that wrote it.

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
    # If the lists do not fit the versions, the supported features are unknown: PF013 reports that.
    if not protocol.has_fitting_lists:
        return
    active = table.state.active_features
    has_lists = protocol.min_writer >= _WRITER_WITH_LISTS
    missing = needed_features(protocol.features, active) - protocol.features
    # Skip what only a missing feature requires: adding that feature adds both.
    for name in sorted(missing & (active | needed_features(protocol.features, frozenset()))):
        error, help_ = _ERRORS_WITHOUT_LISTS.get(name), f"set delta.feature.{name} to supported"
        if has_lists:
            error = "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH"
            help_ = "repair the protocol with the tool that wrote it: Spark does not open the table"
        yield Problem(
            f"the table needs {name} because of {_cause(name, active)}, but its protocol does not support it",
            help=help_,
            severity=None if error else Severity.WARNING,
            object=ObjectRef("feature", name),
            delta_error=error,
            unreadable=has_lists or name in _UNREADABLE_WITHOUT_LISTS,
        )


def _cause(name: str, active: frozenset[str]) -> str:
    row = FEATURES[name]
    if name not in active:
        return "another feature that requires it"
    if row.enabled_by_schema:
        return row.enabled_by_schema.value
    if row.enabled_by_property:
        return row.enabled_by_property[0]
    return "its metadata"
