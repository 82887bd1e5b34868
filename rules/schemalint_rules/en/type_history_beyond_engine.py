from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from schemalint.delta.change import ConstraintChanged
from schemalint.delta.datatype import walk_fields
from schemalint.delta.engine_answers import knows_feature, reads_type_change
from schemalint.delta.feature import find_feature
from schemalint.delta.path import format_path
from schemalint.delta.table import LiveTable
from schemalint.delta.type_history import TYPE_WIDENING_FEATURES, record_of
from schemalint.delta.type_text import print_type
from schemalint.plugin import Problem, RuleContext, Severity, rule

_ERROR = "DELTA_UNSUPPORTED_TYPE_CHANGE_IN_PREVIEW"


@rule(
    "EN007",
    on=LiveTable,
    severity=Severity.ERROR,
    delta_errors=(_ERROR,),
    verdict="impossible",
    engine=True,
)
def type_history_beyond_engine(table: LiveTable, ctx: RuleContext) -> Iterator[Problem]:
    """The log of the table records a type change that an engine of the target does not read.

    ## What it does

    Looks up the recorded type changes of the live table (`delta.typeChanges`) in the target's engines, and
    in that of `audit --engine`. Delta 3.3 has the feature `typeWidening`, but reads only changes among
    `byte`, `short` and `int`; Delta 4.0 reads all. An engine without the feature is the subject of PF016.
    That another than the engine of the statements does not read the table is a warning.

    ## Why is this bad?

    Delta refuses to read the table, and to append to it, with `DELTA_UNSUPPORTED_TYPE_CHANGE_IN_PREVIEW`,
    whichever columns a query names. Statements that change only metadata go on; those that read the rows, to
    add a constraint or to drop the feature, are refused, and the plan with them (measured on Delta 3.3.2 with
    tables that 4.4.0 wrote).

    ## What to do

    Read and write the table with the newer version that the message names. Dropping the feature with it
    rewrites the old files, and then the older engine reads the table: `drop_features: [typeWidening]`.

    ## Example

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint, type_changes: [{from: int, to: bigint}]}
    ```

    ```yaml title="log"
    - protocol: {minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [typeWidening],
        writerFeatures: [typeWidening]}
      metaData:
        fields:
          - name: order_id
            type: long
            metadata: {delta.typeChanges: [{fromType: integer, toType: long}]}
    ```

    ```toml title="engine"
    delta-spark 3.3.2
    ```

    ## Use instead

    ```yaml title="instead"
    - protocol: {minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [typeWidening],
        writerFeatures: [typeWidening]}
      metaData: {fields: [{name: order_id, type: long}]}
    ```
    """
    engines = [
        engine
        for engine in ctx.contract.engines.all
        if any(
            knows_feature(engine, name).does is not False
            for name in TYPE_WIDENING_FEATURES & table.protocol.features
        )
    ]
    for path, field in walk_fields(table.state.columns):
        for recorded in record_of(field):
            reads = partial(reads_type_change, old=recorded.from_type, new=recorded.to_type)
            lacking = [engine for engine in engines if reads(engine).does is False]
            if not lacking:
                continue
            first, answer = lacking[0], reads(lacking[0])
            old, new = print_type(recorded.from_type), print_type(recorded.to_type)
            where = format_path((*path, *recorded.at))
            since = f"; {answer.since}" if answer.since else ""
            yield Problem(
                f"{' and '.join(map(str, lacking))} cannot read the table{answer.note(ctx.today)}: "
                f"{where} was changed from {old} to {new}{since}",
                help="use a newer version, or drop typeWidening with it: that rewrites the old files",
                severity=Severity.WARNING if first.is_hosted or first != ctx.engine else None,
                path=(path[0],),
                # The error class refuses a plan: Delta carries out what changes only metadata.
                delta_error=_ERROR if first == ctx.engine and _reads_rows(ctx) else None,
            )
            break


def _reads_rows(ctx: RuleContext) -> bool:
    """Whether a statement that the contract needs reads the rows."""
    if any(isinstance(change, ConstraintChanged) and isinstance(change.new, str) for change in ctx.changes):
        return True
    dropped = {row.name for entry in ctx.drop_requests.names if (row := find_feature(entry)) is not None}
    return not TYPE_WIDENING_FEATURES.isdisjoint(dropped)
