"""Read the files of declared streams, within what the trusted configuration allows.

A contract can name any checkpoint, so one is opened only below the target's root or its `allowed_locations`,
and `storage.open_folder` follows no link out of them. What is not opened, or cannot be read, is `unknown`,
with the reason.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from schemalint.base.errors import ConfigError, LiveError
from schemalint.delta.stream_progress import StreamProgress
from schemalint.delta.stream_settings import is_absolute
from schemalint.project.config.trust import TrustedTarget, resolve_storage
from schemalint.tables.catalog.table_location import absolute_location
from schemalint.tables.storage import open_folder
from schemalint.tables.streaming.reader import read_stream

if TYPE_CHECKING:
    from schemalint.model.consumer import Stream


def stream_progress(stream: Stream, table_id: str, target: TrustedTarget, repository: Path) -> StreamProgress:
    """Return how far a stream of a contract has come.

    A contract can name any checkpoint, so it is opened only at or below the target's root or one of its
    `allowed_locations`.

    Args:
        stream: The declaration.
        table_id: The id of the table in the log.
        target: The target that the table is in.
        repository: The folder that relative roots start from.

    Returns:
        The progress; `StreamProgress.unknown` says why there is none.
    """
    checkpoint = stream.checkpoint
    if not is_absolute(checkpoint):
        return StreamProgress(
            unknown=f"the checkpoint {checkpoint!r} is relative to the folder that the query runs in",
            help="declare it as the query's Spark qualifies it: with its scheme, or an absolute path",
        )
    allowed = [root for root in (target.root, *target.allowed_locations) if root is not None]
    roots = [absolute_location(root, repository) for root in allowed]
    try:
        store = open_folder(checkpoint, roots, resolve_storage(target))
    except (ConfigError, LiveError) as error:
        return StreamProgress(unknown=error.message, help=error.help)
    if store is None:
        return StreamProgress(
            unknown=f"the checkpoint {checkpoint} is not allowed in target {target.name}, and was not opened",
            help="add its folder to the target's allowed_locations, in the trusted configuration",
        )
    return read_stream(store, stream, table_id)
