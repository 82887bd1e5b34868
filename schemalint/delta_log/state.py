"""The state of a table at a version, by the shortest way: newest file first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.delta_log.actions import NOTHING, TableActions
from schemalint.errors import LiveError

if TYPE_CHECKING:
    from schemalint.delta_log.files import LogFiles
    from schemalint.delta_log.segment import Listing


class MissingCommit(LiveError):  # noqa: N818 - the commit is what is missing
    """A version cannot be read, because of a commit that is not there.

    Attributes:
        version: Of the commit.
    """

    def __init__(self, listing: Listing, version: int, asked: int) -> None:
        first = next(iter(listing.commits), asked)
        if version < first and listing.checkpoint_before(asked) < 0:
            super().__init__(
                f"{listing.uri}: version {asked} cannot be read any more: the log's first commit is {first}, "
                "and there is no checkpoint that leads there",
                help="Ask for a newer version.",
            )
        else:
            super().__init__(
                f"{listing.uri}: the commit of version {version} is missing in _delta_log",
                help="The log is damaged: restore the file, or repair the table with Delta's own tools.",
            )
        self.version = version


def newest_state(files: LogFiles, version: int) -> tuple[int, TableActions]:
    """The newest state up to a version that can be known, and its version.

    Behind a commit that is missing a table is known again as soon as its protocol and its metadata are
    written anew; as long as they are not, what was before the gap is the newest that is known.

    Raises:
        MissingCommit: There is none.
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
    """The state at a version.

    A checkpoint that is damaged is gone around over the commits before it, as Spark does. A commit that is
    missing or damaged is made up for by a log compaction, or by the checksum of a later version.

    Raises:
        MissingCommit: A commit is not there, and nothing makes up for it.
        DamagedFile: A file that is needed cannot be understood.
        LiveError: A file cannot be fetched.
    """
    newer, at = NOTHING, version
    while at >= 0 and not newer.is_complete:
        if state := files.checkpoint(at):
            return newer.over(state)
        if found := files.commit(at):
            newer, at = newer.over(found), at - 1
        elif (file := files.listing.compaction(at, version)) and (found := files.compaction(file)):
            newer, at = newer.over(found), file.version - 1
        elif state := _by_checksum(files, at, version):
            return newer.over(state)
        else:
            raise files.failure(at, version) or MissingCommit(files.listing, at, version)
    return newer


def _by_checksum(files: LogFiles, first: int, last: int) -> TableActions | None:
    """The state by the oldest checksum from a version to another, if it says all that is needed."""
    for version in files.listing.checksums_of(first, last):
        if (state := files.checksum(version)) and state.is_complete:
            return state
    return None
