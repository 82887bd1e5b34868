"""Give the streams of a contract their progress; a contract without streams loads nothing for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.base.values import replace

if TYPE_CHECKING:
    from pathlib import Path

    from schemalint.delta.table import LiveTable
    from schemalint.model.consumer import Consumer
    from schemalint.model.contract import Contract
    from schemalint.project.config.trust import TrustedTarget


def with_progress(contract: Contract, table: LiveTable, target: TrustedTarget, repository: Path) -> Contract:
    """Return a contract whose streams have the progress that their own files say.

    Args:
        contract: An effective contract.
        table: Its table.
        target: The target that the table is in.
        repository: The folder that relative roots start from.
    """
    if not any(consumer.stream for consumer in contract.consumers):
        return contract
    from schemalint.delta.stream_progress import commits_to_meet  # noqa: PLC0415
    from schemalint.tables.catalog.stream_files import stream_progress  # noqa: PLC0415 (only for streams)

    def read(consumer: Consumer) -> Consumer:
        if consumer.stream is None:
            return consumer
        progress = stream_progress(consumer.stream, table.metadata.table_id, target, repository)
        progress = replace(progress, to_meet=commits_to_meet(progress, table))
        return replace(consumer, stream=replace(consumer.stream, progress=progress))

    return replace(contract, consumers=tuple(read(consumer) for consumer in contract.consumers))
