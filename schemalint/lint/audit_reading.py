"""Read the tables of an audit, and their data files on request; Spark executors use the same values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from schemalint.base.errors import LiveError
from schemalint.base.values import replace
from schemalint.delta.stored_types import physical_types
from schemalint.lint.audit import AuditedTable
from schemalint.lint.consumers import with_consumers
from schemalint.tables.catalog.stream_progress import with_progress
from schemalint.tables.catalog.table_requests import read_tables
from schemalint.tables.storage import is_remote
from schemalint.tables.table_json import TableDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from schemalint.delta.footer_summary import FooterSummary
    from schemalint.delta.table import LiveTable
    from schemalint.tables.catalog.table_requests import Environment, TableRequest
    from schemalint.tables.storage.table_workers import TableWorkers
    from schemalint.tables.table_json import TableFailure


def read_for_audit(
    requests: Sequence[TableRequest], workers: TableWorkers, *, files: bool
) -> Iterator[AuditedTable]:
    """Read the tables and, with ``files``, the footers of their data files."""
    for request, found in zip(requests, read_tables(requests, workers=workers), strict=True):
        footers = _footers(request, found.live) if files and isinstance(found, TableDocument) else None
        yield audited_table(request, found, footers)


def with_readers(tables: Iterable[AuditedTable], where: Environment | None) -> Iterator[AuditedTable]:
    """Yield the tables; contracts have the consumers of the configuration, and streams their progress."""
    for audited in tables:
        contract, table = audited.contract, audited.table
        if where is None or contract is None:
            yield audited
            continue
        contract = with_consumers(contract, where.settings.config).for_engines(
            where.target.engines, where.target.name
        )
        if not isinstance(table, LiveError):
            contract = with_progress(contract, table, where.target, where.folder)
        yield replace(audited, contract=contract)


def audited_table(
    request: TableRequest, found: TableDocument | TableFailure, footers: FooterSummary | LiveError | None
) -> AuditedTable:
    """Convert a table, or the failure to read it, to the value that `audit` judges."""
    name = request.table or request.uri
    if not isinstance(found, TableDocument):
        message = found.message if name in found.message else f"{name}: {found.message}"
        return AuditedTable(name, LiveError(message, help=found.help), request.contract)
    table = replace(found.live, uri=str(Path(request.uri))) if is_relative(request) else found.live
    types = footers if footers is None or isinstance(footers, LiveError) else physical_types(table, footers)
    return AuditedTable(name, table, request.contract, types)


def _footers(request: TableRequest, table: LiveTable) -> FooterSummary | LiveError:
    from schemalint.tables.storage.data_files import summarize_files, summarize_store  # noqa: PLC0415 (only with --files)

    try:
        if request.catalog is None or table.catalog is None:
            return summarize_files(request.uri, table.version, request.storage)
        from schemalint.tables import catalog  # noqa: PLC0415 (only with a catalog)

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
