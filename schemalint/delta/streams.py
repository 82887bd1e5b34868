"""The effect of commits on the streams that read a table.

A stream with a ``schemaTrackingLocation`` is *tracked*: it keeps the table's schema, protocol and properties
in a log of its own, and compares every commit with that log's newest entry. Sources:
DeltaSourceMetadataEvolutionSupport.scala, DeltaSource.scala and DeltaStreamUtils.scala of Delta Spark;
measured on Delta 4.4.0 (``tests/engine/streams.csv``), and on 3.3.2 and 4.0.1, which differ at a widening.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import pairwise
from typing import Final

from schemalint.base.values import frozen, replace
from schemalint.delta import properties
from schemalint.delta.datatype import (
    VOID,
    Array,
    DataType,
    Field,
    Managed,
    Map,
    Struct,
    map_fields,
    parts,
    physical_paths,
    stored,
    with_parts,
)
from schemalint.delta.engine import Release
from schemalint.delta.engine_answers import (
    PASS_WIDENING_SINCE,
    streams_block_widening,
    streams_pass_widening,
)
from schemalint.delta.path import Path
from schemalint.delta.table import TableState
from schemalint.delta.type_history import TYPE_WIDENING_FEATURES
from schemalint.delta.widening import TypeStep, step

# The keys of identity columns change with the data (IdentityColumn.scala, highWaterMark).
_IGNORED_KEYS: Final = "delta.identity."

OTHER_TABLE: Final = "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE"
CHANGED_FILES: Final = "DELTA_SOURCE_TABLE_IGNORE_CHANGES"
OTHER_TYPE: Final = "DELTA_SCHEMA_CHANGED_WITH_VERSION"
WITHOUT_LOG: Final = "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG"


class Blocking(Enum):
    """A kind of change that a tracked stream passes only when its reader allows it.

    The value holds the key of ``unblock`` in a contract, and the reader's option.
    """

    RENAME = ("rename", "allowSourceColumnRename")
    DROP = ("drop", "allowSourceColumnDrop")
    TYPE_CHANGE = ("type_change", "allowSourceColumnTypeChange")

    @property
    def key(self) -> str:
        """The key in a contract."""
        return self.value[0]

    @property
    def option(self) -> str:
        """The option of Delta's streaming source."""
        return self.value[1]


class StreamVerdict(Enum):
    """What commits do to a stream."""

    CONTINUES = "continues"
    """Nothing: a running query runs on."""
    RESTARTS = "restarts"
    """The query stops, and goes on each time it is started again."""
    BLOCKED = "blocked"
    """The query stops, and starts again only with the options or settings that allow what changed."""
    NEW_CHECKPOINT = "new-checkpoint"
    """No start from this checkpoint succeeds any more."""
    UNKNOWN = "unknown"
    """The stream's own files cannot be read, and the declaration does not say enough."""


@frozen
class StreamCommit:
    """One commit of a table, as far as streams look at it.

    Attributes:
        before: The state before the commit, with the features that the table supports. If column mapping is
            enabled, the fields have their physical names.
        after: The state after the commit.
        metadata_only: Whether the commit has metadata or a protocol, and adds or removes no data file. Only
            such commits, one directly after the other, does a tracked stream take as one.
        version: The version that the commit makes, if it is known.
        new_id: Whether the table has another id after the commit, as after REPLACE TABLE: a stream refuses
            to read it (``DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE``).
        replaces_rows: Whether it changes metadata, and removes all rows and adds them again, as a rewrite: a
            stream ends there. Only a tracked one with ``skipChangeCommits`` or ``ignoreChanges``, which no
            declaration tells, goes on after one stop, and only if no type changed (measured on Delta 4.0.1
            and 4.4.0; on 3.3.2 one with ``skipChangeCommits`` goes on in both cases).
    """

    before: TableState
    after: TableState
    metadata_only: bool = True
    version: int | None = None
    new_id: bool = False
    replaces_rows: bool = False


@frozen
class StreamBlock:
    """A point at which a tracked stream waits until its reader allows what changed.

    Attributes:
        kinds: The kinds of changes.
        version: The value of options and settings that allow these changes alone; None if it is not known.
    """

    kinds: tuple[Blocking, ...]
    version: int | None = None


@frozen
class StreamEffect:
    """What commits do to a stream.

    Attributes:
        stops: How often the query stops before it goes on; for a blocked stream, if its reader allows what
            changed from the start. None if it cannot go on.
        blocks: Where a blocked stream waits, in order.
        error: The class with which each start fails of a stream that cannot go on; None if it is unknown.
        since: The first release of Delta Spark with which the stream goes on, if it is unknown which one runs
            it, and older ones end it (``WITHOUT_LOG``).
    """

    verdict: StreamVerdict
    stops: int | None = 0
    blocks: tuple[StreamBlock, ...] = ()
    error: str | None = None
    since: str | None = None

    @property
    def unblock(self) -> tuple[Blocking, ...]:
        """All kinds of changes that the reader must allow."""
        kinds = {kind for block in self.blocks for kind in block.kinds}
        return tuple(kind for kind in Blocking if kind in kinds)


def effect_on_stream(
    commits: Sequence[StreamCommit], *, tracked: bool, running: bool, delta: Release | None = None
) -> StreamEffect:
    """Return what commits do to a stream that has read everything before them.

    Args:
        commits: The commits in order, without gaps.
        tracked: Whether the stream has a ``schemaTrackingLocation``, and had it before the commits.
        running: Whether the query runs during the commits; otherwise it starts after the last one. A query
            that stops starts again after the last one too.
        delta: The release of Delta Spark that runs the stream; None if it is unknown: that is the newest one.
    """
    if not commits:
        return StreamEffect(StreamVerdict.CONTINUES)
    if any(commit.new_id for commit in commits):
        return _ends(OTHER_TABLE)
    if any(commit.replaces_rows for commit in commits):
        return _ends(CHANGED_FILES if tracked else OTHER_TYPE)
    if tracked:
        return _on_tracked(commits, delta)
    effect = _on_untracked(commits, delta, running=running)
    if delta is None and _on_untracked(commits, _STRICT_AT_WIDENING, running=running) != effect:
        return replace(effect, since=PASS_WIDENING_SINCE)
    return effect


_STRICT_AT_WIDENING: Final[Release] = (4,)
"""A release of Delta Spark that ends streams without a ``schemaTrackingLocation`` at a widening."""


def _ends(error: str | None) -> StreamEffect:
    return StreamEffect(StreamVerdict.NEW_CHECKPOINT, None, error=error)


def _on_tracked(commits: Sequence[StreamCommit], delta: Release | None) -> StreamEffect:
    """Follow the entries of the stream's log: one for each commit that differs, after the merge.

    At the start after a stop, the commits directly after the entry join it, up to the first one that is not
    metadata alone.
    """
    entry, stops = commits[0].before, 0
    blocks: list[StreamBlock] = []
    for run in runs(commits):
        if all(compared(commit.after) == compared(entry) for commit in run):
            continue
        stops += 1
        old, entry = entry, run[-1].after
        if not _reads(_physical(old.columns), _physical(entry.columns), widening=True, missing=True):
            return _ends(None if run[-1].metadata_only else CHANGED_FILES)
        kinds = tuple(
            kind
            for kind in _blocking(old.columns, entry.columns)
            if kind is not Blocking.TYPE_CHANGE or streams_block_widening(delta)
        )
        if kinds:
            blocks.append(StreamBlock(kinds, run[-1].version))
    if blocks:
        return StreamEffect(StreamVerdict.BLOCKED, stops, tuple(blocks))
    return StreamEffect(StreamVerdict.RESTARTS if stops else StreamVerdict.CONTINUES, stops)


def runs(commits: Sequence[StreamCommit]) -> Iterator[Sequence[StreamCommit]]:
    """Yield the commits, those together that a start takes as one."""
    start = 0
    for end, (last, commit) in enumerate(pairwise(commits), 1):
        follows = last.version is None or commit.version is None or commit.version == last.version + 1
        if not (last.metadata_only and commit.metadata_only and follows):
            yield commits[start:end]
            start = end
    yield commits[start:]


def _blocking(old: Struct, new: Struct) -> Iterator[Blocking]:
    """Yield the kinds of changes that a tracked stream waits for, by the names in the data files."""
    before, after = _names_by_physical_path(old), _names_by_physical_path(new)
    if any(after.get(path, name) != name for path, name in before.items()):
        yield Blocking.RENAME
    if not before.keys() <= after.keys():
        yield Blocking.DROP
    if not _reads(_physical(old), _physical(new), widening=False, missing=True):
        yield Blocking.TYPE_CHANGE


def _on_untracked(commits: Sequence[StreamCommit], delta: Release | None, *, running: bool) -> StreamEffect:
    """Compare each state with the newest one, as every start does; a running query with the oldest one."""
    first, *others = (commits[0].before, *(commit.after for commit in commits))
    faults = (_fault_of_start(state, others[-1], delta) for state in (first, *others))
    if (error := next(filter(None, faults), None)) is not None:
        return _ends(error)
    if running and not all(_runs_on(first, state) for state in others):
        return StreamEffect(StreamVerdict.RESTARTS, 1)
    return StreamEffect(StreamVerdict.CONTINUES)


def _fault_of_start(old: TableState, latest: TableState, delta: Release | None) -> str | None:
    """Return the class with which an untracked stream fails that has to read across an old state, or None."""
    if not _keeps_names(old, latest):
        return WITHOUT_LOG
    if old.partitioned_by != latest.partitioned_by:
        return OTHER_TYPE
    widening = not TYPE_WIDENING_FEATURES.isdisjoint(latest.features)
    if not _reads(old.columns, latest.columns, widening=widening):
        return OTHER_TYPE
    if not streams_pass_widening(delta) and not _reads(old.columns, latest.columns, widening=False):
        return WITHOUT_LOG if streams_block_widening(delta) else OTHER_TYPE
    return None


def _runs_on(first: TableState, later: TableState) -> bool:
    """Return whether an untracked query that started with a state meets a later one without a stop."""
    return _keeps_names(first, later) and _reads(later.columns, first.columns, widening=False)


def _keeps_names(old: TableState, new: TableState) -> bool:
    """Return whether a stream without a schema of its own finds the columns by the names in data files."""
    if new.column_mapping == "none":
        return old.column_mapping == "none"
    return all(kind is Blocking.TYPE_CHANGE for kind in _blocking(old.columns, new.columns))


def _reads(existing: DataType, read: DataType, *, widening: bool, missing: bool = False) -> bool:
    """Return whether data of a type can be read as another type (``SchemaUtils.isReadCompatible``)."""
    match existing, read:
        case Struct(), Struct():
            if not missing and any(read.get(field.name) is None for field in existing.fields):
                return False
            pairs = ((old, new) for new in read.fields if (old := existing.get(new.name)))
            return all(
                old.name == new.name
                and _keeps_nulls(old.nullable, new.nullable)
                and _reads(old.type, new.type, widening=widening, missing=missing)
                for old, new in pairs
            )
        case Array(), Array():
            nulls = _keeps_nulls(existing.contains_null, read.contains_null)
        case Map(), Map():
            nulls = _keeps_nulls(existing.value_contains_null, read.value_contains_null)
        case _:
            written, needed = stored(existing), stored(read)
            return written in (VOID, needed) or (widening and step(written, needed) is TypeStep.WIDENING)
    inner = zip(parts(existing), parts(read), strict=True)
    return nulls and all(_reads(old, new, widening=widening, missing=missing) for (_, old), (_, new) in inner)


def _keeps_nulls(existing: Managed[bool], read: Managed[bool]) -> bool:
    return bool(read) or not existing


def _physical(columns: Struct) -> Struct:
    """Return the columns under the names that data files have."""

    def in_files(_path: Path, field: Field) -> Field:
        return field if field.stored_name == field.name else replace(field, name=field.stored_name)

    return map_fields(columns, in_files)


def _names_by_physical_path(columns: Struct) -> dict[Path, object]:
    return {physical: path[-1] for path, physical in physical_paths(columns)}


def compared(state: TableState) -> object:
    """Return the values that a stream compares; constraints are ``delta.*`` properties too."""
    configuration = {
        key: value for key, value in state.properties.items() if key.startswith(properties.PREFIX)
    }
    columns = _without_ignored(state.columns)
    return columns, state.partitioned_by, dict(state.constraints), configuration, state.features


def _without_ignored(type_: DataType) -> DataType:
    if isinstance(type_, Struct):
        return Struct(tuple(_field_without_ignored(field) for field in type_.fields))
    if isinstance(type_, Array | Map):
        return with_parts(type_, {part: _without_ignored(inner) for part, inner in parts(type_)})
    return type_


def _field_without_ignored(field: Field) -> Field:
    kept = tuple(pair for pair in field.extra if not pair[0].startswith(_IGNORED_KEYS))
    type_ = _without_ignored(field.type)
    if (type_, kept) == (field.type, field.extra) and field.generated is None and field.identity is None:
        return field
    return replace(field, type=type_, generated=None, identity=None, extra=kept)
