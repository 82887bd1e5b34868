"""What commits do to the declared streams of a table, and what their operators have to set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from schemalint.base.values import frozen, replace
from schemalint.delta.engine import DELTA_SPARK, Engine, Release
from schemalint.delta.stream_progress import effect_from
from schemalint.delta.stream_settings import StreamSettings, settings
from schemalint.delta.streams import (
    Blocking,
    StreamBlock,
    StreamCommit,
    StreamEffect,
    StreamVerdict,
    effect_on_stream,
)
from schemalint.model.client import parse_versions
from schemalint.model.consumer import Consumer, Stream


@frozen
class StreamReport:
    """What commits do to one declared stream.

    Attributes:
        table: The name of the table.
        consumer: The consumer that reads it as a stream.
        effect: The effect on the stream, without the changes that its declaration allows; if the stream's
            position is unknown, the effect on one that has read everything before these commits.
        is_earlier: Whether earlier commits do the same, which the stream has still to meet by its own files,
            and these commits alone would not.
    """

    table: str
    consumer: Consumer
    effect: StreamEffect
    is_earlier: bool = False

    @property
    def is_tracked(self) -> bool:
        """Whether the stream has a schema tracking location."""
        return is_tracked(self.consumer)

    @property
    def unknown(self) -> str | None:
        """Why it is not known what the stream meets before these commits; None if it is, or offline."""
        progress = self.consumer.progress
        if progress is None or progress.to_meet is not None:
            return None
        faults = [defect.message for defect in progress.defects if defect.stops]
        return progress.unknown or next(iter(faults), "the table's log does not reach back to it")

    @property
    def verdict(self) -> StreamVerdict:
        """What happens to the stream: unknown if its position is, whatever these commits do to others."""
        if self.unknown is None:
            return self.effect.verdict
        return StreamVerdict.UNKNOWN

    @property
    def if_up_to_date(self) -> StreamVerdict | None:
        """What these commits do to a stream that has read everything before them, if the verdict is unknown.

        None also if there are no commits, so that nothing can be said.
        """
        is_certain = self.effect.verdict in (self.verdict, StreamVerdict.UNKNOWN)
        if is_certain:
            return None
        return self.effect.verdict

    def with_unknown_effect(self) -> StreamReport:
        """Return the report of a stream of which nothing is known."""
        return replace(self, effect=StreamEffect(StreamVerdict.UNKNOWN, None))

    @property
    def harm(self) -> tuple[int, bool]:
        """What sorts reports by harm: a known position is better than an unknown one with the same effect."""
        return list(StreamVerdict).index(self.effect.verdict), self.unknown is not None

    @property
    def version(self) -> int | None:
        """The version whose changes block the stream last; None if it is unknown, or nothing blocks it."""
        if self.effect.blocks:
            return self.effect.blocks[-1].version
        return None

    @property
    def has_passed(self) -> bool:
        """Whether the stream has read beyond all that blocks it.

        Each start needs the settings all the same: it compares the two newest entries of the schema log,
        wherever the stream is (measured on Delta 4.4.0).
        """
        progress = self.consumer.progress
        if progress is None or progress.last_version is None or self.version is None:
            return False
        return self.effect.verdict is StreamVerdict.BLOCKED and progress.last_version >= self.version

    @property
    def settings(self) -> tuple[StreamSettings, ...]:
        """The Spark settings that unblock this stream alone, for each way to spell its checkpoint."""
        stream = self.consumer.stream
        if stream is None:
            return ()
        checkpoint, scheme = stream.checkpoint, stream.checkpoint_scheme
        if stream.progress is not None and stream.progress.current is not None:
            checkpoint = stream.progress.current.metadata_path.rpartition("/sources/")[0]
            scheme = checkpoint.partition(":")[0]
        by_path: dict[str, StreamSettings] = {}
        for version, kinds in _kinds_by_version(self.effect.blocks).items():
            for spelled in settings(checkpoint, kinds, version, source=stream.source, scheme=scheme):
                conf = by_path[spelled.path].conf if spelled.path in by_path else {}
                by_path[spelled.path] = replace(spelled, conf={**conf, **spelled.conf})
        return tuple(by_path.values())


def stream_json(report: StreamReport) -> dict[str, object]:
    """Return what every JSON output says of a stream."""
    return {
        "table": report.table,
        "consumer": report.consumer.name,
        "tracked": report.is_tracked,
        "verdict": report.verdict.value,
        "if_up_to_date": report.if_up_to_date.value if report.if_up_to_date else None,
        "stops": report.effect.stops,
        "error": report.effect.error,
        "since": report.effect.since,
        "unblock": [kind.key for kind in report.effect.unblock],
        "unknown": report.unknown,
        "settings": {key: value for spelled in report.settings for key, value in spelled.conf.items()},
    }


def is_tracked(consumer: Consumer) -> bool:
    """Return whether a consumer reads the table as a stream with a schema tracking location."""
    return consumer.stream is not None and consumer.stream.schema_tracking_location is not None


def stream_reports(
    table: str, consumers: Iterable[Consumer], commits: Sequence[StreamCommit], engine: Engine | None = None
) -> Iterator[StreamReport]:
    """Yield what commits do to each consumer that is a stream, after those that it has still to meet.

    Args:
        table: The name of the table.
        consumers: The declared consumers.
        commits: The commits.
        engine: The engine of the target, which runs the streams that name no client; None if nobody names it.
    """

    @cache
    def effect_of_all(*, tracked: bool, delta: Release | None) -> StreamEffect:
        """Return the effect on a stream that has met everything before."""
        return effect_on_stream(commits, tracked=tracked, running=True, delta=delta)

    for consumer in consumers:
        if consumer.stream is None:
            continue
        progress, tracked = consumer.stream.progress, is_tracked(consumer)
        delta = _delta_of(consumer, engine)
        alone = effect = effect_of_all(tracked=tracked, delta=delta)
        is_earlier = False
        if progress is not None and progress.to_meet is not None:
            effect = effect_from(progress, commits, tracked=tracked, delta=delta)
            before = effect_from(progress, tracked=tracked, delta=delta)
            is_earlier = before.verdict is effect.verdict and alone.verdict is not effect.verdict
        blocks = tuple(_not_allowed(effect.blocks, consumer.stream))
        if effect.verdict is StreamVerdict.BLOCKED and not blocks:  # one that has stopped already goes on
            goes_on = StreamVerdict.RESTARTS if effect.stops else StreamVerdict.CONTINUES
            effect = replace(effect, verdict=goes_on)
        yield StreamReport(table, consumer, replace(effect, blocks=blocks), is_earlier)


def _delta_of(consumer: Consumer, engine: Engine | None) -> Release | None:
    """Return the release of Delta Spark that runs a stream, of a range the oldest; None if it is unknown."""
    if consumer.client is None:
        return engine.delta if engine is not None else None
    if consumer.client != DELTA_SPARK or consumer.version is None:
        return None
    try:
        return parse_versions(consumer.version).low
    except ValueError:  # CT010 reports it
        return None


def _not_allowed(blocks: Iterable[StreamBlock], stream: Stream) -> Iterable[StreamBlock]:
    for block in blocks:
        allowed = {kind for kind, value in stream.unblock.items() if value in ("always", block.version)}
        if kinds := tuple(kind for kind in block.kinds if kind not in allowed):
            yield replace(block, kinds=kinds)


def _kinds_by_version(blocks: Iterable[StreamBlock]) -> Mapping[int | None, list[Blocking]]:
    """Group the kinds by the version that allows them; a kind that waits at several is always allowed."""
    versions: dict[Blocking, set[int | None]] = {}
    for block in blocks:
        for kind in block.kinds:
            versions.setdefault(kind, set()).add(block.version)
    by_version: dict[int | None, list[Blocking]] = {}
    for kind, of_kind in versions.items():
        by_version.setdefault(of_kind.pop() if len(of_kind) == 1 else None, []).append(kind)
    return by_version


def waiting_streams(
    table: str, consumers: Iterable[Consumer], engine: Engine | None = None
) -> tuple[StreamReport, ...]:
    """Return the streams that do not simply go on in the commits that they have still to meet, or may not."""
    reports = stream_reports(table, consumers, (), engine)
    return tuple(report for report in reports if report.verdict is not StreamVerdict.CONTINUES)
