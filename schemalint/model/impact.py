"""The impact of a plan on readers and writers of a table.

Streams: DeltaSourceMetadataEvolutionSupport.scala, and PROTOCOL.md for features; measured on Delta 4.4.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from schemalint.delta import change, properties
from schemalint.delta.change import Change, subject_name
from schemalint.delta.feature import FEATURES
from schemalint.delta.streams import Blocking, blocking_of, stops_tracked_streams
from schemalint.model.consumer import Consumer
from schemalint.model.plan import Cost, Step, StepKind, TablePlan
from schemalint.values import frozen


@frozen
class Impact:
    """The impact of one step on readers and writers.

    Attributes:
        stops_streams: Whether streams that track the schema stop once.
        blocks: The kinds of changes that streams pass only with a reader option.
        risks: All effects, one sentence each.
    """

    stops_streams: bool = False
    blocks: tuple[Blocking, ...] = ()
    risks: tuple[str, ...] = ()


@frozen
class StreamImpact:
    """The impact of a plan on one declared stream.

    Attributes:
        outcome: A sentence without a subject.
        steps: The numbers of the steps that cause it, from 1.
        options: The source options that the stream needs to resume.
    """

    consumer: str
    outcome: str
    steps: tuple[int, ...]
    options: tuple[str, ...] = ()


def impact(step: Step, *, creates: bool = False) -> Impact:
    """Return the impact of a step on readers and writers.

    Args:
        step: The step.
        creates: Whether this plan creates the table: it has no readers or writers yet.
    """
    stops = not creates and _stops(step)
    blocks = () if creates else tuple(dict.fromkeys(filter(None, map(blocking_of, step.changes))))
    return Impact(stops, blocks, tuple(_risks(step, stops=stops, blocks=blocks, creates=creates)))


def stream_impacts(plan: TablePlan, consumers: Iterable[Consumer]) -> tuple[StreamImpact, ...]:
    """Return the impact on each declared stream that a plan stops or breaks."""
    if plan.live is None:
        return ()
    impacts = [impact(step) for step in plan.steps]
    found = (_stream_impact(consumer, impacts) for consumer in consumers if consumer.stream is not None)
    return tuple(stream_impact for stream_impact in found if stream_impact is not None)


def _stops(step: Step) -> bool:
    """Return whether a step changes protocol, schema or ``delta.*`` properties (constraints are such)."""
    return bool(step.adds_features) or any(map(stops_tracked_streams, step.changes))


def _risks(step: Step, *, stops: bool, blocks: Sequence[Blocking], creates: bool) -> Iterator[str]:
    yield from _protocol_risks(step.adds_features)
    if step.cost is Cost.SCAN and not creates:
        yield "reads all data; fails if a row violates it"
    if step.cost is Cost.REWRITE:
        yield "rewrites data files; may conflict with concurrent writes"
    if step.kind is StepKind.ADD_CONSTRAINT and not creates:
        yield "later writes of violating rows fail"
    if not creates:
        yield from filter(None, map(_risk_of, step.changes))
    if stops:
        yield f"tracked streams stop{f', and resume only with {_options(blocks)}' if blocks else ' once'}"


def _risk_of(changed: Change) -> str | None:
    """Return the effect of a change on readers and writers; None if there is none."""
    name = subject_name(changed)
    match changed:
        case change.FieldRemoved():
            return f"queries that use {name} fail; its data stays in the files, unreadable"
        case change.FieldRenamed():
            return f"queries that use the old name of {name} fail"
        case change.TypeChanged():
            return f"readers get {name} in its new type"
        case change.FieldMoved():
            return "SELECT * and INSERT INTO … VALUES depend on the column order"
        case change.PropertyChanged(key=properties.CHANGE_DATA_FEED, old=str(old), new=new) if (
            properties.is_true(old) and not properties.is_true(new if isinstance(new, str) else None)
        ):
            return "changes are no longer recorded; batch reads of the change data feed over this point fail"
        case change.NullabilityChanged():
            return f"readers may find nulls in {name}"
        case (
            change.FieldAdded()
            | change.TypeHistoryChanged()
            | change.CommentChanged()
            | change.DefaultChanged()
            | change.GeneratedChanged()
            | change.IdentityChanged()
            | change.TableAdded()
            | change.TableRemoved()
            | change.DescriptionChanged()
            | change.PropertyChanged()
            | change.ConstraintChanged()
            | change.FeatureChanged()
            | change.DeletionListed()
            | change.DeletionUnlisted()
            | change.PartitioningChanged()
            | change.ClusteringChanged()
        ):
            return None
        case _:
            assert_never(changed)


def _protocol_risks(features: Iterable[str]) -> Iterator[str]:
    names = sorted(features)
    readers = [name for name in names if name not in FEATURES or FEATURES[name].reader]
    writers = [name for name in names if name not in readers]
    if readers:
        yield f"clients without {', '.join(readers)} lose access"
    if writers:
        yield f"clients without {', '.join(writers)} lose write access"


def _options(blocks: Iterable[Blocking]) -> str:
    return ", ".join(blocking.option for blocking in blocks)


def _stream_impact(consumer: Consumer, impacts: Sequence[Impact]) -> StreamImpact | None:
    stream = consumer.stream
    if stream is None or stream.schema_tracking_location is None:
        return _untracked_stream_impact(consumer, impacts)
    # A number is the version of an entry in the stream's own log, which is unknown before the run.
    accepted = [kind for kind, value in stream.unblock.items() if value == "always"]
    stopping = tuple(number for number, step_impact in enumerate(impacts, 1) if step_impact.stops_streams)
    if not stopping:
        return None
    blocks = dict.fromkeys(
        blocking for step_impact in impacts for blocking in step_impact.blocks if blocking not in accepted
    )
    if not blocks:
        return StreamImpact(consumer.name, "stops; restart it after each stop", stopping)
    options = tuple(blocking.option for blocking in blocks)
    return StreamImpact(consumer.name, f"stops, and resumes only with {_options(blocks)}", stopping, options)


def _untracked_stream_impact(consumer: Consumer, impacts: Sequence[Impact]) -> StreamImpact | None:
    """Return the impact on a stream without schema tracking.

    Widening fails a running stream, but not its restart; rename and drop fail every start.
    """
    broken = {Blocking.RENAME, Blocking.DROP}
    breaking = tuple(
        number for number, step_impact in enumerate(impacts, 1) if broken & set(step_impact.blocks)
    )
    if breaking:
        outcome = "fails at every start: it needs a schemaTrackingLocation and the options for this change"
        return StreamImpact(consumer.name, outcome, breaking)
    widening = tuple(number for number, step_impact in enumerate(impacts, 1) if step_impact.blocks)
    if widening:
        return StreamImpact(consumer.name, "stops if it is running; restart it", widening)
    return None
