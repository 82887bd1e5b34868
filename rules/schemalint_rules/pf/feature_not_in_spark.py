from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.engine_answers import knows_feature
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
def feature_not_in_spark(table: LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    """The protocol of the table requires a feature that the engine of the target does not have.

    ## What it does

    Looks up each feature of the live table's protocol in the `engine` of the target, and in Delta Spark
    4.4.0 if the configuration names none. A feature of which no page says what Databricks does with it is no
    finding there. The names are case-sensitive: `typewidening` is not one of Delta's features.

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
    who = ctx.writer if ctx.engine else "Delta Spark 4.4.0"
    for name in sorted(table.protocol.features):
        row = FEATURES.get(name)
        answer = knows_feature(ctx.engine, name)
        if answer.does is not False:
            continue
        near = find_feature(name)
        operation = "read" if name in table.protocol.reader_features else "write"
        yield Problem(
            f"{who} does not have the feature {name}{answer.note}, so it cannot {operation} the table",
            help=f"the correct case of the name is {near.name}"
            if near and row is None
            else f"use a client that supports it{f'; {answer.since}' if answer.since else ''}",
            severity=Severity.WARNING if ctx.engine and ctx.engine.is_hosted else None,
            object=ObjectRef("feature", name),
            delta_error=f"DELTA_UNSUPPORTED_FEATURES_FOR_{operation.upper()}",
        )
