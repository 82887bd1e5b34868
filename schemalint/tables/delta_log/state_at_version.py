"""Find the state of a table at a version from as few files as possible, and the states before it.

The newest files come first. The history of metadata and protocol goes as far back as the commits reach.
"""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.base.errors import LiveError
from schemalint.base.phrases import affixed
from schemalint.delta.datatype import DataType, Struct
from schemalint.delta.path import Path
from schemalint.delta.properties import split_configuration
from schemalint.delta.table import History, HistoryEntry, LogDefect, LogDefectKind, Metadata, TableState
from schemalint.tables.delta_log.actions import NOTHING, MetadataAction, PhysicalPath, TableActions
from schemalint.tables.delta_log.file_names import LogFile
from schemalint.tables.delta_log.log_files import LogFiles
from schemalint.tables.delta_log.store import DAMAGED, DamagedFile


class MissingCommit(LiveError):  # noqa: N818 - the commit is what is missing
    """A version cannot be read because a commit is missing."""

    def __init__(self, files: LogFiles, version: int, requested: int) -> None:
        listing = files.listing
        first = next(iter(listing.commits), requested)
        lost = affixed(", and ", files.lost_checkpoint, " (DELTA_MISSING_PART_FILES)")
        if version < first and listing.checkpoint_before(requested) < 0:
            super().__init__(
                f"{listing.uri}: version {requested} can no longer be read: the log's first commit is "
                f"{first}, and no checkpoint covers the versions before it{lost}",
                help="The log is damaged: restore the missing files." if lost else "Give a newer version.",
            )
        else:
            super().__init__(
                f"{listing.uri}: the commit of version {version} is missing in _delta_log{lost}",
                help=DAMAGED,
            )
        self.version = version


def newest_state(files: LogFiles, version: int) -> tuple[int, TableActions]:
    """Return the newest known state up to a version, and its version.

    After a missing commit, the state is unknown until later files repeat both protocol and metadata; until
    then the state before the gap is the newest known one.

    Raises:
        MissingCommit: No state is known.
        LiveError: As `state_at`.
    """
    while True:
        try:
            return version, state_at(files, version)
        except MissingCommit as error:
            older = files.listing.newest_before(error.version)
            if older is None:
                raise
            version = older


def state_at(files: LogFiles, version: int) -> TableActions:
    """Return the state at a version.

    Older commits and checkpoints replace a damaged checkpoint, as in Spark. A log compaction, or the checksum
    of a later version, replaces a missing or damaged commit. Where nothing does, transaction identifiers of
    older commits are unknown.

    Raises:
        MissingCommit: A commit is missing, and no other file replaces it.
        DamagedFile: A file that the state needs cannot be parsed.
        LiveError: A file cannot be fetched.
    """
    newer, at = NOTHING, version
    while at >= 0:
        if state := files.checkpoint(at):
            return newer.completed_by(state)
        if actions := files.commit(at, metadata=newer.metadata is None):
            newer, at = newer.completed_by(actions), at - 1
        elif (file := files.listing.compaction(at, version)) and (actions := files.compaction(file)):
            newer, at = newer.completed_by(actions), file.version - 1
        elif state := _state_from_checksum(files, at, version):
            return newer.completed_by(state)
        elif newer.is_complete:
            return newer  # without the transaction identifiers of older commits
        else:
            raise files.failure(at, version) or MissingCommit(files, at, version)
    return newer


def _state_from_checksum(files: LogFiles, first: int, last: int) -> TableActions | None:
    """Return the state in the oldest complete checksum of a range of versions."""
    for version in files.listing.checksums_of(first, last):
        if (state := files.checksum(version)) and state.is_complete:
            return state
    return None


def metadata_of(actions: TableActions) -> Metadata | None:
    """Return the metadata of the model, None without a ``metaData`` action."""
    action = actions.metadata
    if action is None:
        return None
    return Metadata(action.table_id, _state(action, actions), action.name, action.created_time)


def _state(action: MetadataAction, actions: TableActions) -> TableState:
    columns = action.schema or Struct()
    properties, constraints = split_configuration(action.configuration)
    return TableState(
        columns=columns,
        description=action.description,
        partitioned_by=action.partition_columns,
        clustered_by=tuple(_logical(path, columns) for path in actions.clustering or ()),
        constraints=constraints,
        properties=properties,
        features=actions.protocol.features if actions.protocol else frozenset(),
    )


def _logical(physical: PhysicalPath, columns: Struct) -> Path:
    """Convert a physical path to logical names; names that are not in the schema stay unchanged."""
    struct: DataType = columns
    path: list[str] = []
    for name in physical:
        fields = struct.fields if isinstance(struct, Struct) else ()
        field = next((field for field in fields if field.stored_name == name), None)
        path.append(field.name if field else name)
        struct = field.type if field else Struct()
    return tuple(path)


def read_commits(files: LogFiles, first: int, version: int, *, history: bool = True) -> None:
    """Read the commits of a range of versions, all requested at once, the newest first.

    Args:
        files: The log.
        first: The oldest version.
        version: The newest version.
        history: Whether all their metadata is asked for, and not just the newest.
    """
    commits = {at: file for at, file in files.listing.commits.items() if first <= at <= version}
    files.expect(reversed(commits.values()))
    is_asked = True
    for commit in reversed(commits):
        actions = files.commit(commit, metadata=is_asked)
        if actions is not None and actions.metadata is not None and not history:
            is_asked = False


def read_history(files: LogFiles, version: int, newest: TableActions, since: int = 0) -> History:
    """Return the history up to a version, whose state is given, from contiguous readable commits.

    The history starts at `since`, or at the oldest known state that all later commits follow: a checkpoint, a
    version checksum, or the first commits that together are complete. Log compactions are not used, because
    they merge the commits of the history.
    """
    commits = files.listing.history(version)
    commits = range(max(commits.start, since + 1), version + 1) if since else commits
    read_commits(files, commits.start, version)
    readable = next(
        (commit + 1 for commit in reversed(commits) if files.commit(commit) is None), commits.start
    )
    first = max(readable, files.newest_dropped + 1)
    if first == 0:
        return History(tuple(_entries(files, range(version + 1), NOTHING)), 0)
    start, state = _oldest_state(files, readable, first, version) or (version, newest)
    return _history_from(files, start, version, state)


def history_since(files: LogFiles, since: int, version: int, newest: TableActions) -> History | None:
    """Return the history from one version to another, whose state is given.

    Returns:
        None if a commit cannot be read, or if the listed files do not tell the older state.
    """
    commits = range(since + 1, version + 1)
    if not all(commit in files.listing.commits for commit in commits):
        return None
    read_commits(files, since + 1, version)
    actions = [files.commit(commit) for commit in commits]
    if None in actions or files.newest_dropped > since:
        return None
    if all(commit is None or commit.is_empty for commit in actions):
        return _history_from(files, since, version, newest)
    try:
        state = state_at(files, since)
    except (MissingCommit, DamagedFile):
        return None
    if state.is_complete:
        return _history_from(files, since, version, state)
    return None


def _history_from(files: LogFiles, start: int, version: int, state: TableActions) -> History:
    oldest = HistoryEntry(start, metadata=metadata_of(state), protocol=state.protocol)
    return History((oldest, *_entries(files, range(start + 1, version + 1), state)), start)


def _oldest_state(
    files: LogFiles, readable: int, first: int, version: int
) -> tuple[int, TableActions] | None:
    """Return the oldest known state from which readable commits lead to a version, with its version.

    Args:
        files: The log.
        readable: The first version from which all commits are readable.
        first: The first version from which all metadata is kept in memory.
        version: The newest version of the history.
    """
    listing = files.listing
    for at in (checkpoint for checkpoint in listing.checkpoints if first - 1 <= checkpoint <= version):
        if state := files.checkpoint(at):
            return at, state
    for at in (checksum for checksum in listing.checksums if first - 1 <= checksum <= version):
        if (state := files.checksum(at)) and state.is_complete:
            return at, state
    state = NOTHING
    for at in range(readable, version + 1):
        state = (files.commit(at) or NOTHING).completed_by(state)
        if state.is_complete:
            return at, state
    return None


def _entries(files: LogFiles, versions: range, state: TableActions) -> Iterator[HistoryEntry]:
    """Yield an entry for each commit that changed the table, and compare the newest checkpoint."""
    compared = files.listing.newest_checkpoint
    for version in versions:
        actions = files.commit(version) or NOTHING
        if not actions.is_empty:
            state = actions.completed_by(state)
            yield _entry(files.listing.commits[version], actions, state)
        if version == compared:
            _compare_checkpoint(files, version, state)


def _entry(file: LogFile, actions: TableActions, after: TableActions) -> HistoryEntry:
    """Return a commit's entry; it has the table's metadata if the commit changed metadata or clustering."""
    changed = actions.metadata is not None or actions.clustering is not None
    info = actions.info
    return HistoryEntry(
        version=file.version,
        timestamp=file.modified_ms if info.timestamp is None else info.timestamp,
        operation=info.operation,
        parameters=info.parameters,
        user=info.user,
        engine=info.engine,
        user_metadata=info.user_metadata,
        metadata=metadata_of(after) if changed else None,
        protocol=actions.protocol,
        removes_files=actions.removes_files,
        adds_files=actions.adds_files,
    )


def _compare_checkpoint(files: LogFiles, version: int, state: TableActions) -> None:
    """Record a checkpoint that contradicts the commits; Delta's readers trust it and do not notice."""
    checkpoint = files.checkpoint(version)
    if checkpoint is None or not (parts := state.differences(checkpoint)):
        return
    files.defects.append(
        LogDefect(
            LogDefectKind.CHECKPOINT_DIFFERS,
            f"the checkpoint contradicts the commits up to it: {', '.join(parts)}",
            files.name_of(checkpoint),
        )
    )
