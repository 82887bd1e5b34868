"""The tables of an audit, with their data files if these are asked for: read here, or on a Spark cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from schemalint.catalog.table_requests import read_tables
from schemalint.delta.stored_types import physical_types
from schemalint.errors import LiveError
from schemalint.lint.audit import Audited
from schemalint.storage import is_remote
from schemalint.table_json import Shown
from schemalint.values import replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schemalint.catalog.table_requests import Asked
    from schemalint.delta.footer_summary import FileTally
    from schemalint.delta.table import LiveTable
    from schemalint.table_json import Failure


def read_audited(asked: Sequence[Asked], *, files: bool) -> Iterator[Audited]:
    """Read the tables, and the footers of their data files."""
    for one, found in zip(asked, read_tables(asked), strict=True):
        tally = _tally(one, found.live) if files and isinstance(found, Shown) else None
        yield result_of(one, found, tally)


def result_of(one: Asked, found: Shown | Failure, tally: FileTally | LiveError | None) -> Audited:
    """A table that was read, or why it was not, as the rules judge it."""
    name = one.table or one.uri
    if not isinstance(found, Shown):
        message = found.message if name in found.message else f"{name}: {found.message}"
        return Audited(name, LiveError(message, help=found.help), one.contract)
    table = replace(found.live, uri=str(Path(one.uri))) if is_relative(one) else found.live
    types = tally if tally is None or isinstance(tally, LiveError) else physical_types(table, tally)
    return Audited(name, table, one.contract, types)


def _tally(one: Asked, table: LiveTable) -> FileTally | LiveError:
    from schemalint.storage.data_files import tally_files, tally_store  # noqa: PLC0415 (for who asks for files)

    try:
        if one.catalog is None or table.catalog is None:
            return tally_files(one.uri, table.version, one.storage)
        from schemalint import catalog  # noqa: PLC0415 (only where there is one)

        opened = catalog.open_table(table.catalog, one.catalog)
        return tally_store(opened.store, table.version, opened.storage)
    except LiveError as error:
        return error


def is_relative(one: Asked) -> bool:
    """Whether it is a path that depends on the working directory."""
    is_path = one.catalog is None and not is_remote(one.uri) and not one.uri.lower().startswith("file:")
    return is_path and not Path(one.uri).is_absolute()
