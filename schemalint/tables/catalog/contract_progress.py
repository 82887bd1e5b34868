"""Give the streams of a contract their progress; a contract without streams loads nothing for it.

A contract can name any checkpoint, so one is opened only below the target's root or its `allowed_locations`,
and `storage.open_folder` follows no link out of them. What is not opened, or cannot be read, is `unknown`,
with the reason.
"""

from __future__ import annotations

from pathlib import Path

from schemalint.base.errors import ConfigError, LiveError
from schemalint.base.values import replace
from schemalint.delta.stream_progress import StreamProgress, commits_to_meet
from schemalint.delta.stream_settings import is_absolute
from schemalint.delta.table import LiveTable
from schemalint.model.consumer import Consumer, Stream
from schemalint.model.effective import Effective
from schemalint.project.config.trust import TrustedTarget, resolve_storage
from schemalint.tables.catalog.table_location import allowed_roots
from schemalint.tables.storage import open_folder
from schemalint.tables.streaming.stream_checkpoint import read_stream


def with_progress(
    contract: Effective, table: LiveTable, target: TrustedTarget, repository: Path
) -> Effective:
    """Return a contract whose streams have the progress that their own files say."""
    if not any(consumer.stream for consumer in contract.consumers):
        return contract

    def read(consumer: Consumer) -> Consumer:
        if consumer.stream is None:
            return consumer
        progress = stream_progress(consumer.stream, table.metadata.table_id, target, repository)
        progress = replace(progress, to_meet=commits_to_meet(progress, table))
        return replace(consumer, stream=replace(consumer.stream, progress=progress))

    return replace(contract, consumers=tuple(read(consumer) for consumer in contract.consumers))


def stream_progress(stream: Stream, table_id: str, target: TrustedTarget, repository: Path) -> StreamProgress:
    """Return how far a stream of a contract has come.

    Returns:
        The progress; `StreamProgress.unknown` says why there is none.
    """
    checkpoint = stream.checkpoint
    if not is_absolute(checkpoint):
        return StreamProgress(
            unknown=f"the checkpoint {checkpoint!r} is relative to the folder that the query runs in",
            help="declare it as the query's Spark qualifies it: with its scheme, or an absolute path",
        )
    try:
        store = open_folder(checkpoint, allowed_roots(target, repository), resolve_storage(target))
    except (ConfigError, LiveError) as error:
        return StreamProgress(unknown=error.message, help=error.help)
    if store is None:
        return StreamProgress(
            unknown=f"the checkpoint {checkpoint} is not allowed in target {target.name}, and was not opened",
            help="add its folder to the target's allowed_locations, in the trusted configuration",
        )
    return read_stream(store, stream, table_id)
