"""Find the state of a table at a version from as few files as possible, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.base.errors import LiveError
from schemalint.delta.datatype import Struct
from schemalint.delta.properties import CONSTRAINT_PREFIX
from schemalint.delta.table import Metadata, TableState
from schemalint.tables.delta_log.actions import NOTHING, TableActions

if TYPE_CHECKING:
    from schemalint.delta.datatype import DataType
    from schemalint.delta.path import Path
    from schemalint.tables.delta_log.actions import MetadataAction, PhysicalPath
    from schemalint.tables.delta_log.files import LogFiles


class MissingCommit(LiveError):  # noqa: N818 - the commit is what is missing
    """A version cannot be read because a commit is missing.

    Attributes:
        version: The version of the missing commit.
    """

    def __init__(self, files: LogFiles, version: int, requested: int) -> None:
        listing = files.listing
        first = next(iter(listing.commits), requested)
        lost = f", and {files.lost_checkpoint} (DELTA_MISSING_PART_FILES)" if files.lost_checkpoint else ""
        if version < first and listing.checkpoint_before(requested) < 0:
            super().__init__(
                f"{listing.uri}: version {requested} can no longer be read: the log's first commit is "
                f"{first}, and no checkpoint covers the versions before it{lost}",
                help="The log is damaged: restore the missing files." if lost else "Give a newer version.",
            )
        else:
            super().__init__(
                f"{listing.uri}: the commit of version {version} is missing in _delta_log{lost}",
                help="The log is damaged: restore the file, or repair the table with Delta's own tools.",
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
        if actions := files.commit(at):
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
    properties = dict[str, str | None](action.configuration)
    constraints = {
        key[len(CONSTRAINT_PREFIX) :].lower(): properties.pop(key)
        for key in action.configuration
        if key.lower().startswith(CONSTRAINT_PREFIX)
    }
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
        field = next((field for field in fields if (field.physical_name or field.name) == name), None)
        path.append(field.name if field else name)
        struct = field.type if field else Struct()
    return tuple(path)
