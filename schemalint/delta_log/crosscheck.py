"""What a log says twice, compared: where it contradicts itself, and what is missing in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from schemalint.delta.table import LogDefect, LogDefectKind
from schemalint.delta_log.checksum import read_object
from schemalint.delta_log.store import DamagedFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.delta_log.actions import TableActions
    from schemalint.delta_log.files import LogFiles
    from schemalint.delta_log.segment import Gap, Listing

# Measured on Delta 4.4.0, as all that Spark says here; it looks at no commit before the newest checkpoint.
_TRUNCATED: Final = "DELTA_TRUNCATED_TRANSACTION_LOG"
_NOT_CONTIGUOUS: Final = "DELTA_VERSIONS_NOT_CONTIGUOUS"
_NO_COMMIT: Final = "IllegalStateException: Could not find any delta files"


def checksum_defects(files: LogFiles, version: int, state: TableActions) -> Iterator[LogDefect]:
    """Where the checksum of a version contradicts its state; Delta's Spark and Rust readers believe it."""
    held = files.checksum(version)
    if held is None:
        return
    known = held.over(state)  # what the checksum does not tell is not compared
    if parts := state.differences(known):
        yield LogDefect(
            LogDefectKind.CHECKSUM_DIFFERS,
            f"the version checksum says something else than the log: {', '.join(parts)}",
            files.listing.checksums[version].name,
        )


def gap_defects(listing: Listing, asked: int, version: int) -> Iterator[LogDefect]:
    """The commits that are missing on the way to the version that was asked for.

    Args:
        listing: The log.
        asked: The version that should have been read.
        version: The version that could be read.
    """
    start = listing.checkpoint_before(asked)
    for gap in listing.gaps(asked):
        at_start = gap.first == start + 1
        yield LogDefect(
            LogDefectKind.COMMIT_MISSING,
            _missing(gap)
            + (f", so version {version} is the newest that is known" if version < gap.first else ""),
            f"{gap.first:020}.json",
            delta_error=_TRUNCATED if at_start else _NOT_CONTIGUOUS,
        )
    if listing.latest not in listing.commits and asked == listing.latest:
        yield LogDefect(
            LogDefectKind.COMMIT_MISSING,
            f"version {asked}, the newest one, has a checkpoint and no commit",
            f"{asked:020}.json",
            delta_error=_NO_COMMIT,
        )


def schema_defects(files: LogFiles, state: TableActions) -> Iterator[LogDefect]:
    """That the table has no schema: Spark reads it as a table without columns."""
    if state.metadata and state.metadata.schema is None:
        yield LogDefect(
            LogDefectKind.NO_SCHEMA,
            "the metaData action has no schemaString, so the table has no columns",
            files.name_of(state),
        )


def pointer_warnings(files: LogFiles) -> Iterator[str]:
    """What is odd about ``_last_checkpoint``: it only saves listing, and every reader gets on without it."""
    file = files.listing.last_checkpoint
    if file is None:
        return
    try:
        version = read_object(files.store, file).get("version")
    except DamagedFile as error:
        yield f"{file.name}: the pointer to the last checkpoint cannot be read: {error.reason}"
        return
    if type(version) is not int:
        yield f"{file.name}: the pointer to the last checkpoint names no version"
    elif version not in files.listing.checkpoints:
        yield f"{file.name}: the last checkpoint is said to be that of version {version}, which is not there"


def _missing(gap: Gap) -> str:
    if gap.first == gap.last:
        return f"the commit of version {gap.first} is missing"
    return f"the commits of the versions {gap.first} to {gap.last} are missing"
