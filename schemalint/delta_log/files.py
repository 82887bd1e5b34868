"""The files of one log, each read at most once; what cannot be understood is kept as a defect."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Final

from schemalint.delta.table import LogDefect, LogDefectKind
from schemalint.delta_log import limits
from schemalint.delta_log.actions import ActionError, TableActions
from schemalint.delta_log.checkpoint import NoPyarrow, read_checkpoint
from schemalint.delta_log.checksum import read_checksum
from schemalint.delta_log.commit import read_lines
from schemalint.delta_log.store import DamagedFile
from schemalint.values import replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemalint.delta_log.names import LogFile
    from schemalint.delta_log.segment import Listing
    from schemalint.delta_log.store import LogStore
    from schemalint.errors import LiveError

# Measured on Delta 4.4.0: Spark reads commits in FAILFAST mode, and goes around a damaged checkpoint.
_UNREADABLE_COMMIT: Final = "FAILED_READ_FILE.NO_HINT"


class LogFiles:
    """What the files of a log say, and what was found to be wrong with them on the way.

    Attributes:
        defects: In the order in which they were met.
        warnings: About files that no reader needs.
        forgotten: The newest version of which the metadata is not kept, to bound the memory; -1 if all is.
    """

    def __init__(self, store: LogStore, listing: Listing) -> None:
        self.store = store
        self.listing = listing
        self.defects: list[LogDefect] = []
        self.warnings: list[str] = []
        self.forgotten = -1
        self._read: dict[str, TableActions | None] = {}
        self._failed: list[tuple[int, LiveError]] = []
        self._kept: deque[tuple[int, str, TableActions]] = deque()
        self._held = 0

    def commit(self, version: int) -> TableActions | None:
        """A commit; None if it is missing or damaged.

        Raises:
            LiveError: A file cannot be fetched; so for all of these.
        """
        file = self.listing.commits.get(version)
        return self._once(file, version, partial(self._lines, file)) if file else None

    def checkpoint(self, version: int) -> TableActions | None:
        """The state that the checkpoints of a version hold; None if there is none that can be read."""
        for checkpoint in self.listing.checkpoints.get(version, ()):
            read = partial(read_checkpoint, self.store, checkpoint)
            if found := self._once(checkpoint.files[0], version, read):
                return found
        return None

    def compaction(self, file: LogFile) -> TableActions | None:
        """The actions of several commits; None if the file is damaged."""
        return self._once(file, file.version, partial(self._lines, file))

    def checksum(self, version: int) -> TableActions | None:
        """The state that the checksum of a version holds; None if it is missing or damaged."""
        file = self.listing.checksums.get(version)
        if file is None:
            return None
        if file.name not in self._read:
            try:
                self._read[file.name] = read_checksum(self.store, file)
            except DamagedFile as error:
                self._read[file.name] = None
                self.warnings.append(f"{file.name}: the version checksum cannot be read: {error.reason}")
        return self._read[file.name]

    def failure(self, first: int, last: int) -> LiveError | None:
        """Why the oldest of the files from a version to another could not be read, if it could not."""
        index = bisect_left(self._failed, first, key=_version)
        failed = self._failed[index : index + 1]
        return next((error for version, error in failed if version <= last), None)

    def name_of(self, actions: TableActions) -> str:
        """The file that holds the metadata of these actions."""
        names = (name for name, found in self._read.items() if found and found.metadata is actions.metadata)
        return next(names, "")

    def _once(self, file: LogFile, version: int, read: Callable[[], TableActions]) -> TableActions | None:
        if file.name not in self._read:
            try:
                self._read[file.name] = found = read()
                self._note_repeated(file, found)
                if found.metadata is not None:
                    self._make_room(file.name, version, found)
            except (DamagedFile, NoPyarrow) as error:
                self._read[file.name] = None
                insort(self._failed, (version, error), key=_version)
                if isinstance(error, DamagedFile):
                    self._note_damaged(error, version)
        return self._read[file.name]

    def _make_room(self, name: str, version: int, found: TableActions) -> None:
        """Let go of the metadata that was read first, if all together is too large."""
        self._kept.append((version, name, found))
        self._held += found.size
        while self._held > limits.MAX_HISTORY and len(self._kept) > 1:
            self.forgotten, oldest, known = self._kept.popleft()
            self._held -= known.size
            self._read[oldest] = replace(known, metadata=None)

    def _lines(self, file: LogFile) -> TableActions:
        try:
            return read_lines(self.store, file)
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

    def _note_repeated(self, file: LogFile, found: TableActions) -> None:
        for name, line in found.repeated:
            self.defects.append(
                LogDefect(
                    LogDefectKind.REPEATED_ACTION,
                    f"there is more than one {name} action, and the last one counts",
                    file.name,
                    line,
                )
            )

    def _note_damaged(self, error: DamagedFile, version: int) -> None:
        # What lies before a checkpoint is read for the history only.
        read_by_delta = version >= self.listing.newest_checkpoint
        self.defects.append(
            LogDefect(
                LogDefectKind.FILE_UNREADABLE,
                error.reason,
                error.file,
                error.line,
                error.delta_error if read_by_delta else None,
            )
        )


def _version(failed: tuple[int, LiveError]) -> int:
    return failed[0]
