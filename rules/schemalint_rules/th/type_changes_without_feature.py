from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import walk_fields
from schemalint.delta.path import format_path
from schemalint.delta.table import LiveTable
from schemalint.delta.type_history import TYPE_WIDENING_FEATURES, record_of
from schemalint.plugin import ObjectRef, Problem, RuleContext, Severity, rule


@rule("TH006", on=LiveTable, severity=Severity.ERROR)
def type_changes_without_feature(table: LiveTable, _ctx: RuleContext) -> Iterator[Problem]:
    """The log records type changes, but the protocol does not list the feature typeWidening.

    ## What it does

    Looks for `delta.typeChanges` in the schema of a table whose protocol lists neither `typeWidening` nor
    `typeWidening-preview`.

    ## Why is this bad?

    Every client may read the table, including clients that do not know type widening: they read the files
    with the old types as they are, and fail or return wrong values. Clients that know type widening need not
    check the record either; Delta Spark does not (measured on Delta 4.4.0).

    ## What to do

    Add the feature: `delta.feature.typeWidening = supported`. If the files have been rewritten since, the
    record is left over from an unfinished removal of the feature: add the feature, and drop it again.

    ## Example

    The log, with the schema written out:

    ```yaml title="log"
    - protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData:
        fields: [{name: qty, type: long, metadata: {delta.typeChanges: [{fromType: integer, toType: long}]}}]
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
    recorded = [format_path(path) for path, field in walk_fields(table.state.columns) if record_of(field)]
    if recorded and TYPE_WIDENING_FEATURES.isdisjoint(table.protocol.features):
        yield Problem(
            f"the log records type changes of {', '.join(recorded)}, but the table does not support "
            "typeWidening",
            help="set delta.feature.typeWidening to supported: readers must know of the type changes",
            object=ObjectRef("feature", "typeWidening"),
        )
