"""Read the contracts of a file, in the format that it is of."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from schemalint.base.errors import ContractError, Location
from schemalint.base.printable import visible
from schemalint.base.values import Aside, replace
from schemalint.contract.dialects import Reading, dialect, said
from schemalint.model.contract import NATIVE, NATIVE_FORMAT, FileFormat, table_key
from schemalint.project.git import Contents, File


def read_file(file: File, older: Reading | None = None) -> Reading:
    """Read all contracts of a file of a repository; cached, because comparison and duplicate search read it.

    Args:
        file: The file, with its format.
        older: What was read from the file of an older revision: what it has too is not read again. The
            result is the same.
    """
    return _read(file.format, visible(file.path), file.data, Aside(older))


def read(file: str, data: bytes | str, older: Reading | None = None) -> Reading:
    """Read all contracts of a file of schemalint's own format, as `read_file` does.

    Args:
        file: The file's path for locations, relative to the repository's root and with ``/``.
        data: The file's content.
        older: See `read_file`.
    """
    return _read(NATIVE_FORMAT, file, data, Aside(older))


@lru_cache(maxsize=10_000)  # as many contracts as the largest repository that `limits` thinks of
def _read(settings: FileFormat, file: str, data: bytes | str, older: Aside[Reading | None]) -> Reading:
    format_ = dialect(settings.name)
    reading = format_.read(file, data, older.value, settings)
    if settings.name == NATIVE:
        return reading
    contracts = (
        replace(
            said(contract, format_.EXPRESSES),
            dialect=settings.name,
            is_edited=format_.IS_EDITED,
            wording=format_.WORDING,
        )
        for contract in reading.contracts
    )
    return replace(reading, contracts=tuple(contracts))


def table_keys(file: File) -> Iterator[str]:
    """Yield the keys of the tables that a file may declare, and perhaps others, without reading it."""
    yield from map(table_key, dialect(file.format.name).table_names(file.data, file.format))


def unread_files(contents: Contents) -> Iterator[ContractError]:
    """Yield an error for each file that was not read."""
    for path, reason in contents.unread.items():
        yield ContractError(
            f"the file was not read: {reason}",
            help="repair it, or exclude it with the `contracts` globs of the configuration",
            location=Location(visible(path)),
        )
