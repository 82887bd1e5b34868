"""Find contradictions and gaps in a log by comparing its files with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from schemalint.delta.table import LogDefect, LogDefectKind
from schemalint.tables.delta_log.checkpoint import NoPyarrow
from schemalint.tables.delta_log.checksum import read_object
from schemalint.tables.delta_log.datafiles import SIDECARS, sidecars
from schemalint.tables.delta_log.store import DamagedFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.tables.delta_log.actions import TableActions
    from schemalint.tables.delta_log.files import LogFiles
    from schemalint.tables.delta_log.segment import Gap

# Measured on Delta 4.4.0. Spark does not check commits before the newest checkpoint.
_MISSING_PARTS: Final = "DELTA_MISSING_PART_FILES"
_TRUNCATED: Final = "DELTA_TRUNCATED_TRANSACTION_LOG"
_NOT_CONTIGUOUS: Final = "DELTA_VERSIONS_NOT_CONTIGUOUS"
_NO_SIDECAR: Final = "FAILED_READ_FILE.FILE_NOT_EXIST"
_V2: Final = "v2Checkpoint"
_NO_COMMIT: Final = "IllegalStateException: Could not find any delta files"


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
    """Report the commits that are missing between the newest checkpoint and the requested version.

    Args:
        files: The log.
        requested: The requested version.
        version: The version that could be read.
    """
    listing = files.listing
    start = listing.checkpoint_before(requested)
    for gap in listing.gaps(requested):
        by_position = _TRUNCATED if gap.first == start + 1 else _NOT_CONTIGUOUS
        lost = files.lost_checkpoint
        yield LogDefect(
            LogDefectKind.COMMIT_MISSING,
            _missing(gap)
            + (f", and {lost}" if lost else "")
            + (f", so version {version} is the newest known version" if version < gap.first else ""),
            f"{gap.first:020}.json",
            delta_error=_MISSING_PARTS if lost else by_position,
        )
    if listing.latest not in listing.commits and requested == listing.latest:
        yield LogDefect(
            LogDefectKind.COMMIT_MISSING,
            f"version {requested}, the newest version, has a checkpoint but no commit",
            f"{requested:020}.json",
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


def schema_defects(files: LogFiles, state: TableActions) -> Iterator[LogDefect]:
    """Report a missing schema: Spark reads the table as one without columns."""
    if state.metadata and state.metadata.schema is None:
        yield LogDefect(
            LogDefectKind.NO_SCHEMA,
            "the metaData action has no schemaString, so the table has no columns",
            files.name_of(state),
        )


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
