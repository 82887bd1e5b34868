from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import AffectedStreams, Problem, RuleContext, Severity, rule

_WITHOUT_LOG = "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG"
_CHANGED = "DELTA_SCHEMA_CHANGED_WITH_VERSION"
_FILES = "DELTA_SOURCE_TABLE_IGNORE_CHANGES"


@rule(
    "RD010",
    on=AffectedStreams,
    severity=Severity.ERROR,
    scope="effect",
    delta_errors=(_WITHOUT_LOG, _CHANGED, _FILES),
)
def stream_needs_new_checkpoint(streams: AffectedStreams, _ctx: RuleContext) -> Iterator[Problem]:
    """A declared stream cannot go on from its checkpoint after the change.

    ## What it does

    Plans the change, and finds the declared streams that no start from their checkpoint brings past it:
    streams without a `schema_tracking_location`, when a column is renamed, dropped, or dropped and declared
    again, when column mapping is removed from a table that was created with it (a warning without `--live`,
    because that is unknown), when the feature `typeWidening` is dropped after a type was widened, or when a
    type is widened and the stream runs on Delta before 4.1. That is the `version` of a consumer with the
    `client` delta-spark, or the engine of the target for one without a client. RD009 reports streams that
    only wait until their reader allows the change.

    With `--live`, it is a warning if this change is not the cause: all these streams have to meet earlier
    commits that do the same, by their own files.

    ## Why is this bad?

    A stream without a schema of its own reads old files with the newest schema of the table. Where that is
    impossible, every start fails with `DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG`, or with
    `DELTA_SCHEMA_CHANGED_WITH_VERSION` for a type. A commit that writes the files anew fails it with
    `DELTA_SOURCE_TABLE_IGNORE_CHANGES`. A new checkpoint reads the whole table again, or loses the rows that
    the stream has not read yet.

    ## What to do

    Give the stream a `schemaTrackingLocation` below its checkpoint, start it once so that it writes its
    schema there, and declare it, all before the change. Then the change blocks the stream only until its
    reader allows it (RD009). A location that comes after the change helps too: the stream stops twice, then
    waits. Otherwise keep the column: add a new one beside it, and drop the old one when no stream needs it.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: cust, type: string}
    properties: {delta.columnMapping.mode: name}
    consumers:
      - {name: silver, owner: "@orders", stream: {checkpoint: "s3a://lake/checkpoints/silver"}}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: customer, type: string, renamed_from: cust}
    properties: {delta.columnMapping.mode: name}
    consumers:
      - {name: silver, owner: "@orders", stream: {checkpoint: "s3a://lake/checkpoints/silver"}}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: cust, type: string}
      - {name: customer, type: string}
    properties: {delta.columnMapping.mode: name}
    consumers:
      - {name: silver, owner: "@orders", stream: {checkpoint: "s3a://lake/checkpoints/silver"}}
    ```
    """
    lost = streams.with_verdict("new-checkpoint")
    if not lost:
        return
    path, object_ = streams.cause("new-checkpoint")
    is_unsure = streams.depends_on_creation("new-checkpoint")
    yield Problem(
        ("if the table was created with column mapping, " if is_unsure else "")
        + "streams cannot go on from their checkpoints: "
        + "; ".join(streams.title(stream) for stream in lost),
        help="before the apply, give each a schemaTrackingLocation below its checkpoint, start it once, and "
        "declare it; or start it from a new checkpoint after the apply",
        severity=Severity.WARNING if is_unsure or all(stream.is_earlier for stream in lost) else None,
        path=path,
        object=object_,
        part="dropped" if path else None,
        delta_error=next((stream.effect.error for stream in lost if stream.effect.error), None),
    )
