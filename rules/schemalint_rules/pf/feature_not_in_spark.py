from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.feature import FEATURES, find_feature
from schemalint.delta.table import LiveTable
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule


@rule(
    "PF016",
    on=LiveTable,
    severity=Severity.ERROR,
    delta_errors=("DELTA_UNSUPPORTED_FEATURES_FOR_READ", "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"),
    verdict="impossible",
)
def feature_not_in_spark(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The protocol of the table requires a feature that Delta Spark does not have.

    ## What it does

    Looks up each feature of the live table's protocol in Delta Spark 4.4.0. The names are case-sensitive
    there: `typewidening` is not one of its features.

    ## Why is this bad?

    Delta Spark refuses to read the table, or only to write it if the feature is a writer feature
    (`DELTA_UNSUPPORTED_FEATURES_FOR_READ`, `DELTA_UNSUPPORTED_FEATURES_FOR_WRITE`), so `apply` cannot alter
    it. schemalint judges the rest of such a table without knowing what the feature means.

    ## What to do

    Read and alter the table with the client that added the feature, or with a newer Delta.

    ## Example

    The log, with the schema written out:

    ```yaml title="log"
    - protocol: {minReaderVersion: 1, minWriterVersion: 7, writerFeatures: [icebergWriterCompatV1]}
      metaData: {fields: [{name: order_id, type: long}]}
    ```

    ## Use instead

    ```yaml title="instead"
    - protocol: {minReaderVersion: 1, minWriterVersion: 7, writerFeatures: [appendOnly]}
      metaData: {fields: [{name: order_id, type: long}]}
    ```
    """
    for name in sorted(table.protocol.features):
        row = FEATURES.get(name)
        if row is not None and row.in_spark:
            continue
        near = find_feature(name)
        operation = "read" if name in table.protocol.reader_features else "write"
        yield Problem(
            f"Delta Spark 4.4.0 does not have the feature {name}, so it cannot {operation} the table",
            help=f"the correct case of the name is {near.name}"
            if near and row is None
            else "use a client that supports it",
            object=ObjectRef("feature", name),
            delta_error=f"DELTA_UNSUPPORTED_FEATURES_FOR_{operation.upper()}",
        )
