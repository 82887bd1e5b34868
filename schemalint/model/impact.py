"""What those who read and write a table notice of a plan.

Streams: DeltaSourceMetadataEvolutionSupport.scala, and PROTOCOL.md for features; measured on Delta 4.4.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Final

from schemalint.delta import change, properties
from schemalint.delta.change import Change
from schemalint.delta.feature import FEATURES
from schemalint.delta.path import format_path
from schemalint.delta.widening import TypeStep, step
from schemalint.model.contract import Consumer
from schemalint.model.plan import Cost, Step, StepKind, TablePlan
from schemalint.values import frozen


class Blocking(Enum):
    """A change that a stream does not pass by itself: the key of ``unblock``, and the reader's option."""

    RENAME = ("rename", "allowSourceColumnRename")
    DROP = ("drop", "allowSourceColumnDrop")
    TYPE_CHANGE = ("type_change", "allowSourceColumnTypeChange")

    @property
    def key(self) -> str:
        """As contracts name it."""
        return self.value[0]

    @property
    def option(self) -> str:
        """Of Delta's streaming source."""
        return self.value[1]


@frozen
class Impact:
    """What one step does to others.

    Attributes:
        stops_streams: Whether streams that track the schema stop once.
        blocks: What they do not go on after, before they are told to.
        risks: All that is noticed, a sentence each.
    """

    stops_streams: bool = False
    blocks: tuple[Blocking, ...] = ()
    risks: tuple[str, ...] = ()


@frozen
class StreamImpact:
    """What a plan does to one declared stream.

    Attributes:
        outcome: A sentence without a subject.
        steps: The numbers of the steps that do it, from 1.
        options: To be set on the stream's source before it goes on.
    """

    consumer: str
    outcome: str
    steps: tuple[int, ...]
    options: tuple[str, ...] = ()


_NOTICED: Final[dict[type, str]] = {
    change.FieldRemoved: "whoever uses {name} fails; its data stays in the files, out of reach",
    change.FieldRenamed: "whoever uses the old name of {name} fails",
    change.TypeChanged: "readers get {name} in its new type",
    change.FieldMoved: "SELECT * and INSERT INTO … VALUES go by position",
    change.NullabilityChanged: "readers may meet nulls in {name}",
}


def impact(one: Step, *, creates: bool = False) -> Impact:
    """What a step does to others.

    Args:
        one: The step.
        creates: Whether the table is only made by this plan: nobody uses it yet.
    """
    stops = not creates and _stops(one)
    blocks = () if creates else tuple(dict.fromkeys(_blocking(one.changes)))
    return Impact(stops, blocks, tuple(_risks(one, stops=stops, blocks=blocks, creates=creates)))


def stream_impacts(plan: TablePlan, consumers: Iterable[Consumer]) -> tuple[StreamImpact, ...]:
    """The declared streams that a plan stops or breaks."""
    if plan.live is None:
        return ()
    impacts = [impact(one) for one in plan.steps]
    found = (_disturbed(one, impacts) for one in consumers if one.stream is not None)
    return tuple(one for one in found if one is not None)


def _stops(one: Step) -> bool:
    """Another protocol, schema or ``delta.*`` property does; constraints are such properties."""
    return bool(one.adds_features) or any(_is_tracked(each) for each in one.changes)


def _is_tracked(one: Change) -> bool:
    match one:
        case change.PropertyChanged(key=key):
            return key.startswith(properties.PREFIX)
        case change.DescriptionChanged() | change.ClusteringChanged() | change.TableAdded():
            return False
        case _:
            return True


def _blocking(changes: Iterable[Change]) -> Iterator[Blocking]:
    for one in changes:
        match one:
            case change.FieldRenamed():
                yield Blocking.RENAME
            case change.FieldRemoved():
                yield Blocking.DROP
            case change.TypeChanged(old=old, new=new) if step(old, new) is TypeStep.WIDENING:
                yield Blocking.TYPE_CHANGE


def _risks(one: Step, *, stops: bool, blocks: Sequence[Blocking], creates: bool) -> Iterator[str]:
    yield from _protocol(one.adds_features)
    if one.cost is Cost.SCAN and not creates:
        yield "reads all data, and fails if a row is against it"
    if one.cost is Cost.REWRITE:
        yield "rewrites data files, and may conflict with writers"
    if one.kind is StepKind.ADD_CONSTRAINT and not creates:
        yield "later writes of such rows fail"
    for each in one.changes:
        if not creates and type(each) in _NOTICED:
            yield _NOTICED[type(each)].format(name=format_path(getattr(each, "path", ())))
    if stops:
        yield f"tracked streams stop{f', and go on with {_options(blocks)} only' if blocks else ' once'}"


def _protocol(features: Iterable[str]) -> Iterator[str]:
    names = sorted(features)
    readers = [name for name in names if name not in FEATURES or FEATURES[name].reader]
    writers = [name for name in names if name not in readers]
    if readers:
        yield f"a client that does not know {', '.join(readers)} cannot read or write the table"
    if writers:
        yield f"a client that does not know {', '.join(writers)} cannot write to the table"


def _options(blocks: Iterable[Blocking]) -> str:
    return ", ".join(one.option for one in blocks)


def _disturbed(consumer: Consumer, impacts: Sequence[Impact]) -> StreamImpact | None:
    stream = consumer.stream or {}
    unblock = stream.get("unblock")
    # A number there is the version of an entry in the stream's own log, which is not known before.
    accepted = (
        [key for key, value in unblock.items() if value == "always"] if isinstance(unblock, dict) else []
    )
    if "schema_tracking_location" not in stream:
        return _untracked(consumer, impacts)
    stopping = tuple(number for number, one in enumerate(impacts, 1) if one.stops_streams)
    if not stopping:
        return None
    blocks = dict.fromkeys(each for one in impacts for each in one.blocks if each.key not in accepted)
    if not blocks:
        return StreamImpact(consumer.name, "stops; start it again, once for each stop", stopping)
    options = tuple(each.option for each in blocks)
    return StreamImpact(consumer.name, f"stops, and goes on with {_options(blocks)} only", stopping, options)


def _untracked(consumer: Consumer, impacts: Sequence[Impact]) -> StreamImpact | None:
    """Widening fails a stream that runs, and none that starts anew; rename and drop fail every start."""
    broken = {Blocking.RENAME, Blocking.DROP}
    breaking = tuple(number for number, one in enumerate(impacts, 1) if broken & set(one.blocks))
    if breaking:
        outcome = "fails at every start: it needs a schemaTrackingLocation, and to be told to go on"
        return StreamImpact(consumer.name, outcome, breaking)
    widening = tuple(number for number, one in enumerate(impacts, 1) if one.blocks)
    if widening:
        return StreamImpact(consumer.name, "stops if it runs; start it again", widening)
    return None
