from __future__ import annotations

from collections.abc import Iterator, Sequence

from schemalint.delta.stream_settings import folder_below, location_key
from schemalint.plugin import Consumer, Contract, ObjectRef, Problem, RuleContext, Severity, Stream, rule

_OUTSIDE = "DELTA_STREAMING_SCHEMA_LOCATION_NOT_UNDER_CHECKPOINT"
_CONFLICT = "DELTA_STREAMING_SCHEMA_LOCATION_CONFLICT"


@rule(
    "RD012",
    on=Contract,
    severity=Severity.ERROR,
    scope="contract",
    live=True,
    delta_errors=(
        _OUTSIDE,
        _CONFLICT,
        "DELTA_STREAMING_SCHEMA_LOG_DESERIALIZE_FAILED",
        "DELTA_STREAMING_SCHEMA_LOG_INCOMPATIBLE_DELTA_TABLE_ID",
        "DELTA_STREAMING_SCHEMA_LOG_PARSE_SCHEMA_FAILED",
        "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE",
    ),
)
def stream_declaration_faulty(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """A stream cannot work as it is declared.

    ## What it does

    Checks the `stream` of each consumer:

    - its schema tracking location is not at or below its checkpoint (an error);
    - another stream has the same schema tracking location: an error if it is another query, a warning if it
      is another source of the same query;
    - `unblock` covers nothing: the stream is not tracked, or its schema log is past the version.

    With `--live`, and in `plan` and `audit`, it reads the stream's own files, and warns:

    - the checkpoint, or an entry of the schema log, is about a table with another id;
    - an entry of the schema log cannot be read, or belongs to another checkpoint;
    - there is no schema log of the table yet, although the stream is declared as tracked.

    ## Why is this bad?

    Delta refuses to start a query whose tracking location is elsewhere, with
    `DELTA_STREAMING_SCHEMA_LOCATION_NOT_UNDER_CHECKPOINT`, and one that reads the table twice with the same
    location, with `DELTA_STREAMING_SCHEMA_LOCATION_CONFLICT`, unless each source has a
    `streamingSourceTrackingId` of its own. The query of a checkpoint of another table fails with
    `DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE`; a schema log fails it with
    `DELTA_STREAMING_SCHEMA_LOG_INCOMPATIBLE_DELTA_TABLE_ID`, `DELTA_STREAMING_SCHEMA_LOG_PARSE_SCHEMA_FAILED`
    or `DELTA_STREAMING_SCHEMA_LOG_DESERIALIZE_FAILED`. And what schemalint says of a stream is wrong if the
    declaration is.

    A stream that was not started with its tracking location yet goes past a rename only after it was: its
    next start makes the log, from where the stream is, and stops once more.

    ## What to do

    Declare the checkpoint, the source and the tracking location that the query has. Delta compares paths as
    they are written, and follows no links. Remove an `unblock` that has done its work.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers:
      - name: billing
        stream: {checkpoint: "s3://chk/orders", schema_tracking_location: "s3://chk/orders-schema"}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers:
      - name: billing
        stream: {checkpoint: "s3://chk/orders", schema_tracking_location: "s3://chk/orders/schema"}
    ```
    """
    streams = [(consumer, consumer.stream) for consumer in contract.consumers if consumer.stream]
    for consumer, stream in streams:
        for problem in (*_of_place(stream), *_of_unblock(stream, ctx), *_of_files(stream)):
            yield _problem(consumer, problem)
    for consumer, problem in _shared(streams):
        yield _problem(consumer, problem)


def _problem(consumer: Consumer, problem: Problem) -> Problem:
    return Problem(
        f"the stream of {consumer.name}: {problem.message}",
        help=problem.help,
        severity=problem.severity,
        object=ObjectRef("consumer", consumer.name),
        part="stream",
        delta_error=problem.delta_error,
    )


def _of_place(stream: Stream) -> Iterator[Problem]:
    location = stream.schema_tracking_location
    if location is not None and folder_below(stream.checkpoint, location) is None:
        yield Problem(
            "its schema_tracking_location is not at or below its checkpoint",
            help="declare both as the query has them; Delta refuses such a query",
            delta_error=_OUTSIDE,
        )


def _of_unblock(stream: Stream, ctx: RuleContext) -> Iterator[Problem]:
    if stream.unblock and stream.schema_tracking_location is None:
        yield Problem(
            "its unblock covers nothing: Delta lets a stream without a schema_tracking_location pass no such "
            "change",
            help="declare the schema_tracking_location that the query has, or remove unblock",
            severity=Severity.WARNING,
        )
        return
    current = stream.progress.current if stream.progress else None
    for kind, version in stream.unblock.items():
        if current is None or version == "always":
            continue
        if version < current.version:
            past = f"its schema log is past that, at version {current.version}"
        elif ctx.live and current.version < version <= ctx.live.version and not _changed_at(ctx, version):
            past = "the table's metadata did not change in that version"
        else:
            continue
        yield Problem(
            f"its unblock of {kind.key} at version {version} covers nothing: {past}",
            help="remove it, or name the version of the change",
            severity=Severity.WARNING,
        )


def _changed_at(ctx: RuleContext, version: int) -> bool:
    if ctx.live is None:
        return True
    history = ctx.live.history_since(version - 1)
    return history.known_from >= version or any(entry.version == version for entry in history.entries)


def _of_files(stream: Stream) -> Iterator[Problem]:
    for defect in stream.progress.defects if stream.progress else ():
        yield Problem(
            defect.message, help=defect.help, severity=Severity.WARNING, delta_error=defect.delta_error
        )


def _shared(streams: Sequence[tuple[Consumer, Stream]]) -> Iterator[tuple[Consumer, Problem]]:
    """Yield each stream that has the tracking location of one before it."""
    first_of: dict[object, tuple[Consumer, Stream]] = {}
    for consumer, stream in streams:
        if stream.schema_tracking_location is None:
            continue
        key = location_key(stream.schema_tracking_location)
        first, other = first_of.setdefault(key, (consumer, stream))
        if location_key(stream.checkpoint) != location_key(other.checkpoint):
            yield (
                consumer,
                Problem(
                    f"it has the schema_tracking_location of {first.name}, which is another query",
                    help="a schema log belongs to one query: give each a location below its own checkpoint",
                ),
            )
        elif stream.source != other.source and not (_has_log(stream) and _has_log(other)):
            yield (
                consumer,
                Problem(
                    f"it has the schema_tracking_location of {first.name}, another source of the same query",
                    help="Delta refuses that unless each has a streamingSourceTrackingId of its own: give "
                    "each a location of its own",
                    severity=Severity.WARNING,
                    delta_error=_CONFLICT,
                ),
            )


def _has_log(stream: Stream) -> bool:
    return stream.progress is not None and stream.progress.current is not None
