"""The declared streams of tables, before and after a plan runs."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.stream_history import commits_since
from schemalint.delta.table import LiveTable
from schemalint.model.consumer import Consumer
from schemalint.model.contract import Contract
from schemalint.model.stream_report import StreamReport, stream_reports, waiting_streams
from schemalint.model.table_plan import Refusal, RefusalKind, TablePlan
from schemalint.planner import planned_commits


def planned_streams(plan: TablePlan, contract: Contract) -> Iterator[StreamReport]:
    """Yield the effect of a plan on each declared stream of its table; without steps, what waits already."""
    if plan.live is None or not _streams(contract):
        return
    if plan.steps:
        yield from stream_reports(plan.table, contract.consumers, planned_commits(plan), contract.engine)
    else:
        yield from waiting_streams(plan.table, contract.consumers, contract.engine)


def applied_streams(plan: TablePlan, contract: Contract, table: LiveTable) -> Iterator[StreamReport]:
    """Yield what each declared stream meets in a table to which a plan was applied, with exact versions.

    Args:
        plan: The plan.
        contract: The contract, whose streams have the progress of now.
        table: The table after the plan.
    """
    since = commits_since(table, plan.version) if plan.version is not None else None
    by_files = stream_reports(plan.table, contract.consumers, (), contract.engine)
    by_run = stream_reports(plan.table, contract.consumers, since or (), contract.engine)
    for report, expected in zip(by_files, by_run, strict=True):
        if report.unknown is None:
            yield report
        else:  # the stream's files say nothing, so that the commits of this run count
            yield expected if since is not None else expected.with_unknown_effect()


def without_unread_streams(plan: TablePlan, contract: Contract) -> TablePlan:
    """Refuse a plan with steps while a declared stream has not read the table's version."""
    if not plan.steps or plan.version is None:
        return plan
    refusals = tuple(
        refusal for consumer in _streams(contract) if (refusal := _of_unread(consumer, plan.version))
    )
    if refusals:
        return plan.refused(*refusals)
    return plan


def _of_unread(consumer: Consumer, version: int) -> Refusal | None:
    progress = consumer.progress
    if progress is None or progress.unknown is not None:
        why, help_ = "its files were not read", ""
        if progress is not None:
            why, help_ = progress.unknown or why, progress.help
        return Refusal(
            RefusalKind.STREAMS, f"it is unknown what stream {consumer.name} has read: {why}", help_
        )
    read = progress.last_version
    if read is not None and read >= version:
        return None
    state = "nothing yet" if read is None else f"version {read}, and lags {version - read} behind"
    return Refusal(
        RefusalKind.STREAMS,
        f"stream {consumer.name} must read version {version} first; it has read {state}",
        "run the stream, and apply again",
    )


def _streams(contract: Contract) -> list[Consumer]:
    return [consumer for consumer in contract.consumers if consumer.stream is not None]
