from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.engine_answers import knows_feature
from schemalint.delta.feature import FEATURES, OTHER_NAMES, find_feature
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
    4.4.0 if the configuration names none. That another of the `writers` lacks it is a warning: the
    statements are legal all the same. A feature of which no page says what Databricks does with it is no
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
        answers = [(who, knows_feature(ctx.engine, name))]
        answers += [(str(engine), knows_feature(engine, name)) for engine in ctx.contract.engines.others]
        lacking = [(engine, answer) for engine, answer in answers if answer.does is False]
        if not lacking:
            continue
        row, near = FEATURES.get(name), find_feature(name)
        operation = "read" if name in table.protocol.reader_features else "write"
        _, answer = lacking[0]
        names = " and ".join(engine for engine, _ in lacking)
        verb, it = ("does", "it") if len(lacking) == 1 else ("do", "they")
        is_of_others = answers[0] not in lacking
        help_text = "use a client that supports it"
        if name in OTHER_NAMES:
            help_text = f"it is another name of {OTHER_NAMES[name]}, which clients on delta-kernel-rs read"
        elif row is None and near is None:
            help_text = f"it is of a newer Delta, and not known here: {help_text}"
        elif near and row is None:
            help_text = f"the correct case of the name is {near.name}"
        elif answer.since:
            help_text = f"{help_text}; {answer.since}"
        yield Problem(
            f"{names} {verb} not have the feature {name}{answer.note(ctx.today)}, "
            f"so {it} cannot {operation} the table",
            help=help_text,
            severity=Severity.WARNING if is_of_others or (ctx.engine and ctx.engine.is_hosted) else None,
            object=ObjectRef("feature", name),
            delta_error=f"DELTA_UNSUPPORTED_FEATURES_FOR_{operation.upper()}",
            unreadable=operation == "read" and not is_of_others,
        )
