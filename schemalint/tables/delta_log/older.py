"""Read older commits of a log, after its newest state was read, as far back as something asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.base.errors import LiveError
from schemalint.tables.delta_log import limits
from schemalint.tables.delta_log.history import history_since, read_history

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from schemalint.delta.table import History
    from schemalint.tables.delta_log.actions import TableActions
    from schemalint.tables.delta_log.files import LogFiles
    from schemalint.tables.delta_log.store import LogStore


class OlderCommits:
    """The commits of a log up to a version, whose files are read when they are asked for."""

    def __init__(
        self,
        files: LogFiles,
        version: int,
        state: TableActions,
        reopen: Callable[[], LogStore] | None,
    ) -> None:
        """Give up the log until something is asked for: many tables would keep what was read ahead.

        Args:
            files: The files that were read.
            version: The newest version.
            state: The state at that version.
            reopen: Opens the log again; None keeps it open.
        """
        self._files, self._version, self._state, self._reopen = files, version, state, reopen
        self._found: dict[int, History] = {}
        files.release(reopen)

    def history_since(self, version: int) -> History:
        """Return the history since a version, or from the oldest version on that all later commits follow.

        Raises:
            LiveError: The log cannot be fetched.
        """
        if version not in self._found:
            try:
                self._found[version] = self._read(version)
            finally:
                self._files.release(self._reopen)
        return self._found[version]

    def writers_since(self, at: int) -> Mapping[str, int]:
        """Return who wrote since a time (milliseconds), by ``engineInfo``, and when last.

        Beside the commits that were read, so many of the older ones are as `limits.MAX_OLDER_COMMITS` allows,
        the newest first. A file that was stored before the time is none of them.
        """
        try:
            checkpoint = self._files.listing.checkpoint_before(self._version)
            self._files.widen(max(0, checkpoint - limits.MAX_OLDER_COMMITS))
            newest_first = sorted(self._files.listing.commits.items(), reverse=True)
            older = [
                (version, file)
                for version, file in newest_first
                if version <= checkpoint and (file.modified_ms is None or file.modified_ms >= at)
            ][: limits.MAX_OLDER_COMMITS]
            self._files.expect(file for _, file in older)
            for version, _ in older:
                self._files.commit(version)
        except LiveError:
            pass  # others write meanwhile, and the log is cleaned up: what is known stays
        finally:
            self._files.release(self._reopen)
        return self._files.writers()

    def _read(self, version: int) -> History:
        # The files at hand may suffice, then those since the version; only the whole log has every state.
        if not version:
            self._files.widen(0)
            return read_history(self._files, self._version, self._state)
        for first in (self._files.listing.first, version, 0):
            if first <= version:
                self._files.widen(first)
                history = history_since(self._files, version, self._version, self._state)
                if history is not None:
                    return history
        return read_history(self._files, self._version, self._state, version)
