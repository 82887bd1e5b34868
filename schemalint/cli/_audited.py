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
from schemalint.model.storedtypes import physical_types
from schemalint.shown import Shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schemalint.cli._tables import Asked
    from schemalint.config import Target
    from schemalint.model.physical import FileTally
    from schemalint.model.table import LiveTable
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
    """The same on the executors of a cluster.

    What a catalog has is read here: the credentials that it hands out stay in this process.
    """
    from schemalint import remote  # noqa: PLC0415 (only with Spark)
    from schemalint.spark.audit import Wanted, read_tables  # noqa: PLC0415

    storage = remote.storage_text(target)
    wanted = [Wanted(_reference(one), one.version, one.at, storage) for one in asked if one.catalog is None]
    by_place = read_tables(session, wanted, files=files)
    by_name = audited([one for one in asked if one.catalog is not None], files=files)
    for one in asked:
        if one.catalog is not None:
            yield next(by_name)
        else:
            read = next(by_place)
            yield _audited(one, read.found, read.files)


def _audited(one: Asked, found: Shown | Failure, tally: FileTally | LiveError | None) -> Audited:
    name = one.table or one.uri
    if not isinstance(found, Shown):
        return Audited(name, LiveError(found.message, help=found.help), one.contract)
    table = replace(found.live, uri=str(Path(one.uri))) if _is_relative(one) else found.live
    types = tally if tally is None or isinstance(tally, LiveError) else physical_types(table, tally)
    return Audited(name, table, one.contract, types)


def _tally(one: Asked, table: LiveTable) -> FileTally | LiveError:
    from schemalint.live._datafiles import tally_files  # noqa: PLC0415 (for those who ask for files)

    uri, storage = one.uri, one.storage
    try:
        if one.catalog is not None:
            from schemalint import catalog  # noqa: PLC0415 (only where there is one)

            if table.catalog is not None and table.catalog.managed_commits:
                return LiveError(
                    f"{one.uri}: its data files are not known: the catalog decides which commits count",
                    help="audit it without --files",
                )
            place = catalog.resolve(one.uri, one.catalog)
            uri, storage = place.uri, place.storage
        return tally_files(uri, table.version, storage)
    except LiveError as error:
        return error


def _reference(one: Asked) -> str:
    """As the executors see it, whatever folder they work in."""
    return absolute_location(one.uri, Path.cwd()) if _is_relative(one) else one.uri


def _is_relative(one: Asked) -> bool:
    is_path = one.catalog is None and local.handles(one.uri) and not one.uri.lower().startswith("file:")
    return is_path and not Path(one.uri).is_absolute()
