"""The source of an audit: tables from their logs, and their data files on request.

Spark executors read with the same code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from schemalint.base.errors import LiveError
from schemalint.base.values import frozen, replace
from schemalint.delta.engine import NO_ENGINES, Engines
from schemalint.delta.footer_summary import FooterSummary, physical_types
from schemalint.delta.table import LiveTable
from schemalint.judge.case import Case, Purpose
from schemalint.judge.drift_origin import Origins
from schemalint.review.rule_sets import RuleSets
from schemalint.tables import catalog
from schemalint.tables.catalog.contract_progress import with_progress
from schemalint.tables.catalog.table_requests import TableRequest, TargetContracts, read_tables
from schemalint.tables.storage import is_remote
from schemalint.tables.storage.data_files import summarize_files, summarize_store
from schemalint.tables.storage.table_workers import TableWorkers
from schemalint.tables.table_json import TableDocument, TableFailure


@frozen
class TableReading:
    """What was read of a requested table, and of the footers of its data files if that was requested."""

    request: TableRequest
    found: TableDocument | TableFailure | LiveError
    footers: FooterSummary | LiveError | None = None


def read_for_audit(
    requests: Sequence[TableRequest], workers: TableWorkers, *, files: bool
) -> Iterator[TableReading]:
    """Read the tables and, with ``files``, the footers of their data files."""
    for request, document in zip(requests, read_tables(requests, workers=workers), strict=True):
        footers = _footers(request, document.live) if files and isinstance(document, TableDocument) else None
        yield TableReading(request, document, footers)


def audit_cases(
    tables: Iterable[TableReading],
    rules: RuleSets,
    where: TargetContracts | None,
    engines: Engines = NO_ENGINES,
) -> Iterator[Case | LiveError]:
    """Yield the cases of tables; contracts have the configuration's consumers, and streams their progress.

    Args:
        tables: What was read.
        rules: The rules.
        where: The target of the tables, if there is one.
        engines: The engines to judge by, in place of those of the target.
    """
    for each in tables:
        request, found, contract = each.request, each.found, each.request.contract
        name = request.table or request.uri
        if isinstance(found, LiveError):
            yield found
            continue
        if not isinstance(found, TableDocument):
            message = found.message if name in found.message else f"{name}: {found.message}"
            yield LiveError(message, help=found.help)
            continue
        live = replace(found.live, uri=str(Path(request.uri))) if is_relative(request) else found.live
        if where is not None and contract is not None:
            contract = with_progress(contract, live, where.target, where.folder)
        footers = each.footers
        if isinstance(footers, LiveError):
            yield footers
            footers = None
        yield Case(
            rules.of(contract.file if contract else None),
            declared=contract,
            live=live,
            target=where.target.name if where else None,
            purpose=Purpose.AUDIT,
            files=None if footers is None else physical_types(live, footers),
            name=name,
            engines=engines,
            origin_of=Origins(live).of,
        )


def _footers(request: TableRequest, table: LiveTable) -> FooterSummary | LiveError:
    try:
        if request.catalog is None or table.catalog is None:
            return summarize_files(request.uri, table.version, request.storage)
        opened = catalog.open_table(table.catalog, request.catalog)
        return summarize_store(opened.store, table.version, opened.storage)
    except LiveError as error:
        return error


def is_relative(request: TableRequest) -> bool:
    """Return whether the location is a path relative to the working directory."""
    is_path = (
        request.catalog is None and not is_remote(request.uri) and not request.uri.lower().startswith("file:")
    )
    return is_path and not Path(request.uri).is_absolute()
