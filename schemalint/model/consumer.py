"""The readers and writers of a table, as configuration and contracts declare them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from schemalint.base.values import field, frozen, replace
from schemalint.delta.path import Path

if TYPE_CHECKING:
    from schemalint.delta.stream_progress import StreamProgress
    from schemalint.delta.streams import Blocking


@frozen
class Stream:
    """A Structured Streaming query that reads a table.

    Attributes:
        checkpoint: The query's ``checkpointLocation``.
        schema_tracking_location: The query's ``schemaTrackingLocation``; None for a stream without one.
        source: The index of the table among the query's sources, from 0.
        checkpoint_scheme: The scheme by which the query's Spark names the checkpoint, such as ``s3a``; None
            for the scheme of `checkpoint`.
        unblock: The kinds of changes that the query may pass: always, or up to a version of the table.
        progress: What the stream's own files say; None if they were not looked at.
    """

    checkpoint: str
    schema_tracking_location: str | None = None
    source: int = 0
    checkpoint_scheme: str | None = None
    unblock: Mapping[Blocking, Literal["always"] | int] = field(default_factory=dict)
    progress: StreamProgress | None = field(default=None, compare=False)


@frozen
class Consumer:
    """A reader or writer that must still work after the change.

    Attributes:
        name: The name for messages.
        client: The client program, such as ``trino``; None if it is not declared.
        version: A version of the client, or a range such as ``>=1.6,<2``.
        read_path: The way in which the client reads, if it has several.
        access: ``read`` or ``write``.
        columns: The paths of the columns that it uses; empty for all.
        owner: The person or team responsible for the consumer.
        cdf: Whether it reads the change data feed.
        stream: The settings of a consumer that reads the table as a stream.
        removed: Whether the change under review takes this declaration away; it counts all the same.
    """

    name: str
    client: str | None = None
    version: str | None = None
    read_path: str | None = None
    access: str = "read"
    columns: tuple[Path, ...] = ()
    owner: str | None = None
    cdf: bool = False
    stream: Stream | None = None
    removed: bool = False

    @property
    def progress(self) -> StreamProgress | None:
        """How far the stream has come, if the consumer is one and that is known."""
        return self.stream.progress if self.stream else None

    @property
    def described(self) -> str:
        """The name with client and owner: ``dashboards (trino 476, @bi)``."""
        parts = (
            " ".join(filter(None, (self.client, self.version))),
            self.read_path,
            self.owner,
            "removed in this change" if self.removed else None,
        )
        text = ", ".join(filter(None, parts))
        if text:
            return f"{self.name} ({text})"
        return self.name


FaultKind = Literal["undeclared", "declared twice", "client", "version", "read_path"]


@frozen
class ConsumerFault:
    """A fault in the declaration of a consumer, so that nothing is known of it.

    Attributes:
        kind: What is wrong: the contract names a consumer that the configuration does not declare, or
            declares one that the configuration declares too; or the key whose value is unknown.
        consumer: The name of the consumer.
        value: The value of the key; the client and the read path for a read path.
        nearest: The known value that was probably meant.
    """

    kind: FaultKind
    consumer: str
    value: str = ""
    nearest: str | None = None


def declared_stream(keys: Mapping[str, Any]) -> Stream:
    """Return a stream from its keys in a contract or in the configuration."""
    from schemalint.delta.streams import Blocking  # noqa: PLC0415 (only where a stream is declared)

    unblock = keys.get("unblock", {})
    return Stream(
        checkpoint=keys["checkpoint"],
        schema_tracking_location=keys.get("schema_tracking_location"),
        source=keys.get("source", 0),
        checkpoint_scheme=keys.get("checkpoint_scheme"),
        unblock={kind: unblock[kind.key] for kind in Blocking if kind.key in unblock},
    )


def stream_faults(stream: Stream | None) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the keys of a stream whose number is negative, with what is wrong."""
    if stream is None:
        return
    numbers: dict[tuple[str, ...], object] = {("source",): stream.source}
    numbers |= {("unblock", kind.key): version for kind, version in stream.unblock.items()}
    for path, number in numbers.items():
        if isinstance(number, int) and number < 0:
            yield path, "must be 0 or more"


def united(base: Iterable[Consumer], head: Iterable[Consumer]) -> tuple[Consumer, ...]:
    """Return the consumers of both sides of a change: those of the head, and what the change takes away.

    A consumer that the change alters counts as the base declares it too. Only its owner is not compared, and
    what its stream may pass: that is the approval of the change.
    """
    declared = tuple(head)
    names = {_compared(consumer) for consumer in declared}
    lost = (replace(consumer, removed=True) for consumer in base if _compared(consumer) not in names)
    return (*declared, *lost)


def _compared(consumer: Consumer) -> tuple[object, ...]:
    stream = consumer.stream
    of_stream = stream and (
        stream.checkpoint,
        stream.schema_tracking_location,
        stream.source,
        stream.checkpoint_scheme,
    )
    return (
        consumer.name,
        consumer.client,
        consumer.version,
        consumer.read_path,
        consumer.access,
        consumer.columns,
        consumer.cdf,
        of_stream,
    )
