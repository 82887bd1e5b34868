"""Read the files of one log, each at most once; what is damaged, missing or contradictory is a defect."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from operator import itemgetter
from typing import Final

from schemalint.base.errors import LiveError
from schemalint.base.phrases import affixed
from schemalint.base.values import replace
from schemalint.delta.commit_engines import is_of_writer
from schemalint.delta.table import LogDefect, LogDefectKind
from schemalint.tables.delta_log import log_limits
from schemalint.tables.delta_log.actions import ActionError, TableActions
from schemalint.tables.delta_log.checkpoint import NoPyarrow, read_checkpoint
from schemalint.tables.delta_log.checksum import read_checksum, read_object
from schemalint.tables.delta_log.datafiles import SIDECARS, sidecars
from schemalint.tables.delta_log.file_names import LogFile, commit_name
from schemalint.tables.delta_log.json_lines import read_lines
from schemalint.tables.delta_log.log_listing import Checkpoint, Gap, Listing, list_log
from schemalint.tables.delta_log.store import DamagedFile, LogStore

# The errors of Spark, as measured on Delta 4.4.0. It reads commits in FAILFAST mode, skips a damaged
# checkpoint, and does not check the commits before the newest checkpoint.
_UNREADABLE_COMMIT: Final = "FAILED_READ_FILE.NO_HINT"
_MISSING_PARTS: Final = "DELTA_MISSING_PART_FILES"
_TRUNCATED: Final = "DELTA_TRUNCATED_TRANSACTION_LOG"
_NOT_CONTIGUOUS: Final = "DELTA_VERSIONS_NOT_CONTIGUOUS"
_NO_SIDECAR: Final = "FAILED_READ_FILE.FILE_NOT_EXIST"
_NO_COLUMNS: Final = "DELTA_READ_TABLE_WITHOUT_COLUMNS"
_NO_COMMIT: Final = "IllegalStateException: Could not find any delta files"

_V2: Final = "v2Checkpoint"


class LogFiles:
    """The contents of a log's files, and the defects found while reading them.

    Attributes:
        defects: In reading order.
        warnings: Problems of files that no reader needs.
        newest_dropped: The newest version whose metadata was dropped to bound memory, -1 if none was.
    """

    def __init__(self, store: LogStore, listing: Listing) -> None:
        self.listing = listing
        self._open: Callable[[], LogStore] = lambda: store
        self._store: LogStore | None = store
        self.defects: list[LogDefect] = []
        self.warnings: list[str] = []
        self.newest_dropped = -1
        self._actions: dict[str, TableActions | None] = {}
        self._without_metadata: dict[str, TableActions | None] = {}
        self._noted: set[LogDefect] = set()
        self._failed: list[tuple[int, LiveError]] = []
        self._with_metadata: list[tuple[int, str, TableActions]] = []
        self._metadata_size = 0

    @property
    def store(self) -> LogStore:
        """The log."""
        if self._store is None:
            self._store = self._open()
        return self._store

    def release(self, reopen: Callable[[], LogStore] | None) -> None:
        """Give up the log and its connections; the next reading opens it again.

        Args:
            reopen: Opens the log; None keeps it.
        """
        if reopen is not None:
            self._open, self._store = reopen, None

    def widen(self, first: int) -> None:
        """List the log from an older version on."""
        if first < self.listing.first:
            self.listing = list_log(self.store, first)

    @property
    def has_failed(self) -> bool:
        """Whether a commit or a checkpoint could not be read."""
        return bool(self._failed)

    def expect(self, files: Iterable[LogFile | None]) -> None:
        """Tell the store which files are read next, so that their requests need not wait for each other."""
        if names := [file.name for file in files if file and file.name not in self._actions]:
            self.store.expect(names)

    def commit(self, version: int, *, metadata: bool = True) -> TableActions | None:
        """Read a commit; None if it is missing or damaged.

        Args:
            version: The version.
            metadata: Whether its ``metaData`` action is asked for. Older than what was dropped, it is not
                returned.

        Raises:
            LiveError: A file cannot be fetched; this applies to all methods.
        """
        file = self.listing.commits.get(version)
        if file is None:
            return None
        if metadata and version > self.newest_dropped:
            return self._read_once(file, version, partial(self._lines, file))
        if (known := self._actions.get(file.name)) is not None:
            return known
        read = partial(self._lines, file, metadata=False)
        actions = self._read_once(file, version, read, self._without_metadata)
        if actions is not None and not actions.size and file.name not in self._actions:
            self._actions[file.name] = actions  # it has no metadata
        return actions

    def checkpoint(self, version: int) -> TableActions | None:
        """Read the state in the checkpoints of a version; None if no checkpoint is readable."""
        for checkpoint in self.listing.checkpoints.get(version, ()):
            read = partial(self._checkpoint, checkpoint)
            if state := self._read_once(checkpoint.files[0], version, read):
                return state
        return None

    def known(self, file: LogFile) -> TableActions | None:
        """Return what was read of a file; None if it was not read, or is damaged."""
        return self._actions.get(file.name) or self._without_metadata.get(file.name)

    def compaction(self, file: LogFile) -> TableActions | None:
        """Read the actions of several commits; None if the file is damaged."""
        return self._read_once(file, file.version, partial(self._lines, file))

    def checksum(self, version: int) -> TableActions | None:
        """Read the state in the checksum of a version; None if it is missing or damaged."""
        file = self.listing.checksums.get(version)
        if file is None:
            return None
        if file.name not in self._actions:
            try:
                self._actions[file.name] = read_checksum(self.store, file)
            except DamagedFile as error:
                self._actions[file.name] = None
                self.warnings.append(f"{file.name}: the version checksum cannot be read: {error.reason}")
        return self._actions[file.name]

    @cached_property
    def lost_checkpoint(self) -> str | None:
        """What is wrong with the checkpoint that ``_last_checkpoint`` names, if it is not complete.

        Spark then starts from an older one; if commits are missing after that, it names this checkpoint
        (``SnapshotManagement.getLogSegmentForVersion``; measured on Delta 4.4.0).
        """
        file, listing = self.listing.last_checkpoint, self.listing
        if file is None:
            return None
        try:
            version = read_object(self.store, file).get("version")
        except DamagedFile:
            return None
        if type(version) is not int or not listing.newest_checkpoint < version <= listing.latest:
            return None
        missing = listing.missing_parts.get(version)
        fault = f"lacks {missing}" if missing else "does not exist"
        return f"the checkpoint of version {version}, which _last_checkpoint names, {fault}"

    def failure(self, first: int, last: int) -> LiveError | None:
        """Return the error of the oldest unreadable file in a range of versions, if there is one."""
        index = bisect_left(self._failed, first, key=itemgetter(0))
        failed = self._failed[index : index + 1]
        return next((error for version, error in failed if version <= last), None)

    def writers(self) -> Mapping[str, int]:
        """Return who wrote the commits that were read, by ``engineInfo``, and when last (milliseconds)."""
        newest: dict[str, int] = {}
        for file in self.listing.commits.values():
            actions = self.known(file)
            info = actions.info if actions else None
            if info and info.engine and info.timestamp and is_of_writer(info.operation):
                newest[info.engine] = max(info.timestamp, newest.get(info.engine, 0))
        return dict(sorted(newest.items(), key=itemgetter(1))[-log_limits.MAX_WRITERS :])

    def name_of(self, actions: TableActions) -> str:
        """Return the name of the file that holds the metadata of these actions."""
        for name, others in self._actions.items():
            if others and others.metadata is actions.metadata:
                return name
        return ""

    def _read_once(
        self,
        file: LogFile,
        version: int,
        read: Callable[[], TableActions],
        known: dict[str, TableActions | None] | None = None,
    ) -> TableActions | None:
        known = self._actions if known is None else known
        if file.name not in known:
            try:
                known[file.name] = actions = read()
                self._note_repeated(file, actions)
                if actions.metadata is not None:
                    self._bound_metadata(file.name, version, actions)
            except (DamagedFile, NoPyarrow) as error:
                known[file.name] = None
                insort(self._failed, (version, error), key=itemgetter(0))
                if isinstance(error, DamagedFile):
                    self._note_damaged(error, version)
        return known[file.name]

    def _note(self, defect: LogDefect) -> None:
        """Note a defect once: a commit may be read without its metadata, and then with it."""
        if defect not in self._noted:
            self._noted.add(defect)
            self.defects.append(defect)

    def _bound_metadata(self, name: str, version: int, actions: TableActions) -> None:
        """Drop the oldest metadata while the total is too large."""
        insort(self._with_metadata, (version, name, actions), key=itemgetter(0))
        self._metadata_size += actions.size
        while self._metadata_size > log_limits.MAX_HISTORY and len(self._with_metadata) > 1:
            dropped, oldest_file, oldest = self._with_metadata.pop(0)
            self.newest_dropped = max(self.newest_dropped, dropped)
            self._metadata_size -= oldest.size
            self._actions[oldest_file] = replace(oldest, metadata=None)

    def _checkpoint(self, checkpoint: Checkpoint) -> TableActions:
        return read_checkpoint(self.store, checkpoint)

    def _lines(self, file: LogFile, *, metadata: bool = True) -> TableActions:
        try:
            return read_lines(self.store, file, metadata=metadata)
        except ActionError as error:
            delta_error = _UNREADABLE_COMMIT if error.is_text else None
            raise DamagedFile(
                self.store.uri,
                file.name,
                str(error),
                error.line,
                delta_error=delta_error,
                is_limit=error.is_limit,
            ) from None

    def _note_repeated(self, file: LogFile, actions: TableActions) -> None:
        for name, line in actions.repeated:
            message = f"there is more than one {name} action; the last one counts"
            self._note(LogDefect(LogDefectKind.REPEATED_ACTION, message, file.name, line))

    def _note_damaged(self, error: DamagedFile, version: int) -> None:
        # Spark does not read files before the newest checkpoint; only our history needs them.
        delta_error = error.delta_error if version >= self.listing.newest_checkpoint else None
        kind = LogDefectKind.FILE_UNREADABLE
        self._note(LogDefect(kind, error.reason, error.file, error.line, delta_error))


def checksum_defects(files: LogFiles, version: int, state: TableActions) -> Iterator[LogDefect]:
    """Report a checksum that contradicts its version's state; Delta's Spark and Rust readers trust it."""
    checksum = files.checksum(version)
    if checksum is None:
        return
    completed = checksum.completed_by(state)  # parts that the checksum lacks do not count as differences
    if parts := state.differences(completed):
        yield LogDefect(
            LogDefectKind.CHECKSUM_DIFFERS,
            f"the version checksum contradicts the log: {', '.join(parts)}",
            files.listing.checksums[version].name,
        )


def gap_defects(files: LogFiles, requested: int, version: int) -> Iterator[LogDefect]:
    """Report the commits that are missing between the newest checkpoint and the requested version."""
    listing = files.listing
    start = listing.checkpoint_before(requested)
    for gap in listing.gaps(requested):
        by_position = _TRUNCATED if gap.first == start + 1 else _NOT_CONTIGUOUS
        lost = files.lost_checkpoint
        yield LogDefect(
            LogDefectKind.COMMIT_MISSING,
            _missing(gap)
            + affixed(", and ", lost)
            + (f", so version {version} is the newest known version" if version < gap.first else ""),
            commit_name(gap.first),
            delta_error=_MISSING_PARTS if lost else by_position,
        )
    if listing.latest not in listing.commits and requested == listing.latest:
        yield LogDefect(
            LogDefectKind.COMMIT_MISSING,
            f"version {requested}, the newest version, has a checkpoint but no commit",
            commit_name(requested),
            delta_error=_NO_COMMIT,
        )


def sidecar_defects(files: LogFiles, requested: int, state: TableActions) -> Iterator[LogDefect]:
    """Report missing sidecars of the newest checkpoint: Spark uses no other one, even if it could.

    Spark still describes the table, and appends if there is a checksum; it neither reads nor alters it.
    """
    checkpoints = files.listing.checkpoints.get(files.listing.checkpoint_before(requested), ())
    checkpoint = next(iter(checkpoints), None)
    if checkpoint is None or state.protocol is None or _V2 not in state.protocol.features:
        return
    try:
        names = set(sidecars(files.store, checkpoint))
    except DamagedFile:
        return  # Spark skips the checkpoint
    except NoPyarrow as error:
        files.warnings.append(f"{checkpoint.files[0].name}: its sidecars were not looked for: {error.help}")
        return
    present = {file.name for file in files.store.list(SIDECARS)} if names else set()
    for name in sorted(names - present):
        yield LogDefect(
            LogDefectKind.SIDECAR_MISSING,
            f"the checkpoint {checkpoint.files[0].name} names this file, which does not exist: "
            "Spark neither reads nor alters the table",
            name,
            delta_error=_NO_SIDECAR,
        )


def metadata_defects(files: LogFiles, state: TableActions) -> Iterator[LogDefect]:
    """Report what Delta Spark cannot read of the metadata, or not write with.

    Without columns, Spark alters the table, and neither reads nor writes it.
    """
    if state.metadata is None:
        return
    file = files.name_of(state)
    for fault in state.metadata.faults:
        kind, effect = LogDefectKind.METADATA_INCOMPLETE, "Spark does not open the table"
        if fault.is_readable:
            kind, effect = LogDefectKind.LENGTH_AS_TYPE, "every write fails"
        yield LogDefect(kind, f"{fault.what}: {effect}", file, delta_error=fault.error)
    if state.metadata.schema and state.metadata.schema.fields:
        return
    message = "the table has no columns"
    if state.metadata.schema is None:
        message = "the metaData action has no schemaString, so the table has no columns"
    yield LogDefect(LogDefectKind.NO_SCHEMA, message, file, delta_error=_NO_COLUMNS)


def pointer_warnings(files: LogFiles) -> Iterator[str]:
    """Warn about a wrong ``_last_checkpoint``; it only saves listing, and readers manage without it."""
    file = files.listing.last_checkpoint
    if file is None:
        return
    try:
        version = read_object(files.store, file).get("version")
    except DamagedFile as error:
        yield f"{file.name}: the pointer to the last checkpoint cannot be read: {error.reason}"
        return
    if type(version) is not int:
        yield f"{file.name}: the pointer to the last checkpoint has no version"
    elif version not in files.listing.checkpoints:
        yield f"{file.name}: it points to a checkpoint of version {version}, which does not exist"


def _missing(gap: Gap) -> str:
    if gap.first == gap.last:
        return f"the commit of version {gap.first} is missing"
    return f"the commits of versions {gap.first} to {gap.last} are missing"
