"""The tables of an audit, with their data files if these are asked for: read here, or on a Spark cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from schemalint.catalog.table_requests import read_tables
from schemalint.delta.stored_types import physical_types
from schemalint.errors import LiveError
from schemalint.lint.audit import AuditedTable
from schemalint.storage import is_remote
from schemalint.table_json import TableDocument
from schemalint.values import replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schemalint.catalog.table_requests import TableRequest
    from schemalint.delta.footer_summary import FooterSummary
    from schemalint.delta.table import LiveTable
    from schemalint.table_json import TableFailure


def read_for_audit(asked: Sequence[TableRequest], *, files: bool) -> Iterator[AuditedTable]:
    """Read the tables, and the footers of their data files."""
    for one, found in zip(asked, read_tables(asked), strict=True):
        tally = _tally(one, found.live) if files and isinstance(found, TableDocument) else None
        yield audited_table(one, found, tally)


def audited_table(
    one: TableRequest, found: TableDocument | TableFailure, tally: FooterSummary | LiveError | None
) -> AuditedTable:
    """A table that was read, or why it was not, as the rules judge it."""
    name = one.table or one.uri
    if not isinstance(found, TableDocument):
        message = found.message if name in found.message else f"{name}: {found.message}"
        return AuditedTable(name, LiveError(message, help=found.help), one.contract)
    table = replace(found.live, uri=str(Path(one.uri))) if is_relative(one) else found.live
    types = tally if tally is None or isinstance(tally, LiveError) else physical_types(table, tally)
    return AuditedTable(name, table, one.contract, types)


def _tally(one: TableRequest, table: LiveTable) -> FooterSummary | LiveError:
    from schemalint.storage.data_files import summarize_files, summarize_store  # noqa: PLC0415 (for who asks for files)

    try:
        if one.catalog is None or table.catalog is None:
            return summarize_files(one.uri, table.version, one.storage)
        from schemalint import catalog  # noqa: PLC0415 (only where there is one)

        opened = catalog.open_table(table.catalog, one.catalog)
        return summarize_store(opened.store, table.version, opened.storage)
    except LiveError as error:
        return error


def is_relative(one: TableRequest) -> bool:
    """Whether it is a path that depends on the working directory."""
    is_path = one.catalog is None and not is_remote(one.uri) and not one.uri.lower().startswith("file:")
    return is_path and not Path(one.uri).is_absolute()
