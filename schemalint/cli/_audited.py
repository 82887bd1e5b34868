"""The tables of an audit, with their data files if these are asked for: read here, or on a Spark cluster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from schemalint.cli._tables import read_tables
from schemalint.engine.audit import Audited
from schemalint.engine.place import absolute_location
from schemalint.errors import LiveError
from schemalint.live import path as local
from schemalint.live._requests import concurrently
from schemalint.model.storedtypes import physical_types
from schemalint.shown import Shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schemalint.cli._tables import Asked
    from schemalint.config import Target
    from schemalint.model.physical import FileTally
    from schemalint.model.table import CatalogTable, LiveTable
    from schemalint.shown import Failure
    from schemalint.spark.audit import Session


def audited(asked: Sequence[Asked], *, files: bool) -> Iterator[Audited]:
    """Read the tables, and the footers of their data files."""
    for one, found in zip(asked, read_tables(asked), strict=True):
        tally = _tally(one, found.live) if files and isinstance(found, Shown) else None
        yield _audited(one, found, tally)


def audited_by_spark(
    session: Session, asked: Sequence[Asked], target: Target | None, *, files: bool
) -> Iterator[Audited]:
    """The same on the executors of a cluster; of a name the session says here where its table lies."""
    from schemalint import remote  # noqa: PLC0415 (only with Spark)
    from schemalint.spark.audit import Wanted, read_tables  # noqa: PLC0415

    storage = remote.storage_text(target)
    known = concurrently(_known, asked)
    wanted = [
        Wanted(table.location if table else _reference(one), one.version, one.at, storage)
        for one, table in zip(asked, known, strict=True)
        if not isinstance(table, LiveError)
    ]
    tables = read_tables(session, wanted, files=files)
    for one, table in zip(asked, known, strict=True):
        if isinstance(table, LiveError):
            yield Audited(one.table or one.uri, table, one.contract)
            continue
        read = next(tables)
        found = read.found
        if isinstance(found, Shown):
            found = replace(found, live=replace(found.live, catalog=table))
        yield _audited(one, found, read.files)


def _known(one: Asked) -> CatalogTable | LiveError | None:
    """What the session says of a table that is asked for by name; why it is not known."""
    if one.error is not None:
        return one.error
    if one.catalog is None:
        return None
    from schemalint import catalog  # noqa: PLC0415 (only where there is one)

    try:
        return catalog.find(one.uri, one.catalog, one.via)
    except LiveError as error:
        return error


def _audited(one: Asked, found: Shown | Failure, tally: FileTally | LiveError | None) -> Audited:
    name = one.table or one.uri
    if not isinstance(found, Shown):
        message = found.message if name in found.message else f"{name}: {found.message}"
        return Audited(name, LiveError(message, help=found.help), one.contract)
    table = replace(found.live, uri=str(Path(one.uri))) if _is_relative(one) else found.live
    types = tally if tally is None or isinstance(tally, LiveError) else physical_types(table, tally)
    return Audited(name, table, one.contract, types)


def _tally(one: Asked, table: LiveTable) -> FileTally | LiveError:
    from schemalint.live._datafiles import tally_files, tally_store  # noqa: PLC0415 (for who asks for files)

    try:
        if one.catalog is None or table.catalog is None:
            return tally_files(one.uri, table.version, one.storage)
        from schemalint import catalog  # noqa: PLC0415 (only where there is one)

        opened = catalog.open_table(table.catalog, one.catalog)
        return tally_store(opened.store, table.version, opened.storage)
    except LiveError as error:
        return error


def _reference(one: Asked) -> str:
    """As the executors see it, whatever folder they work in."""
    return absolute_location(one.uri, Path.cwd()) if _is_relative(one) else one.uri


def _is_relative(one: Asked) -> bool:
    is_path = one.catalog is None and local.handles(one.uri) and not one.uri.lower().startswith("file:")
    return is_path and not Path(one.uri).is_absolute()
