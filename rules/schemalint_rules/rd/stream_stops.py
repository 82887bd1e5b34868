from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import AffectedStreams, Problem, RuleContext, Severity, rule

_EVOLVED = "DELTA_STREAMING_METADATA_EVOLUTION"
_CHANGED = "DELTA_SCHEMA_CHANGED_WITH_VERSION"


@rule("RD011", on=AffectedStreams, severity=Severity.INFO, scope="effect", delta_errors=(_EVOLVED, _CHANGED))
def stream_stops(streams: AffectedStreams, _ctx: RuleContext) -> Iterator[Problem]:
    """A declared stream stops at the change, and goes on when it is started again.

    ## What it does

    Plans the change, counts how often it stops each declared stream, and reports the streams that need
    nothing but new starts. A stream with a `schema_tracking_location` stops for every change of the schema,
    the protocol or a `delta.*` property, comments and the order of columns included; one stop covers all
    commits that follow each other without data between them. A stream without one stops only while it runs,
    for an added column, a widened type or a dropped NOT NULL; Delta before 4.1 does not bring it past a
    widened type, which RD010 reports where the version is known. The count assumes that a stream is started
    again after the apply.

    With `cosmetic = "ride-along"` in the configuration, comments and the order of columns stop no stream: the
    finding says that they wait for the table's next change.

    ## Why is this bad?

    It is not, if somebody or something starts the stream again: the query fails with
    `DELTA_STREAMING_METADATA_EVOLUTION`, or with `DELTA_SCHEMA_CHANGED_WITH_VERSION` without a schema
    tracking location. A job without retries stays down.

    ## What to do

    Tell the owner of the stream, and start it again after the apply, as often as it stops.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers:
      - name: silver
        owner: "@orders"
        stream: {checkpoint: "s3a://lake/checkpoints/silver", schema_tracking_location: "s3a://lake/checkpoints/silver"}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint, comment: unique per shop}
      - {name: customer, type: string}
    consumers:
      - name: silver
        owner: "@orders"
        stream: {checkpoint: "s3a://lake/checkpoints/silver", schema_tracking_location: "s3a://lake/checkpoints/silver"}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers:
      - name: silver
        owner: "@orders"
        stream: {checkpoint: "s3a://lake/checkpoints/silver", schema_tracking_location: "s3a://lake/checkpoints/silver"}
    ```
    """
    spared = [stream for stream in streams.spared if stream.effect.stops]
    stopping = spared or streams.with_verdict("restarts")
    if not stopping:
        return
    listed = "; ".join(
        f"{streams.title(stream)} {_times(stream.effect.stops or 0)}"
        + ("" if stream.is_tracked else " if it runs meanwhile")
        + (f" (with Delta before {stream.effect.since} it cannot go on)" if stream.effect.since else "")
        for stream in stopping
    )
    error = _EVOLVED if any(stream.is_tracked for stream in stopping) else _CHANGED
    if spared:
        yield Problem(
            f"the change waits for the table's next one, because it would stop streams: {listed}",
            help="no action is needed; `schemalint apply --cosmetic now` applies it, and the streams stop",
            delta_error=error,
        )
    else:
        yield Problem(
            f"streams stop, and go on when they are started again: {listed}",
            help="start them again after the apply, each time they stop",
            delta_error=error,
        )


def _times(stops: int) -> str:
    return {1: "once", 2: "twice"}.get(stops, f"{stops} times")
