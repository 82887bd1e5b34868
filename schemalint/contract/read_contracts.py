"""Read the contracts of a file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from schemalint.base.document import decode, read_documents
from schemalint.base.errors import ContractError, Location
from schemalint.base.printable import visible
from schemalint.base.values import Aside, frozen
from schemalint.contract.dialects import native
from schemalint.model.contract import Contract, table_key

if TYPE_CHECKING:
    from schemalint.project.git import Contents


@frozen
class ReadResult:
    """The contracts of a file, in order, and its errors."""

    contracts: tuple[Contract, ...] = ()
    errors: tuple[ContractError, ...] = ()


def read(file: str, data: bytes | str, older: ReadResult | None = None) -> ReadResult:
    """Read all contracts of a file; results are cached, because comparison and duplicate search both read it.

    Documents that are not contracts are skipped; a file without any contract is an error.

    Args:
        file: The file's path for locations, relative to the repository's root and with ``/``.
        data: The file's content.
        older: What was read from the file of an older revision: columns that it has too are not read again.
            The result is the same.
    """
    return _read(file, data, Aside(older))


@lru_cache(maxsize=10_000)  # as many contracts as the largest repository that `limits` thinks of
def _read(file: str, data: bytes | str, older: Aside[ReadResult | None]) -> ReadResult:
    try:
        text = data if isinstance(data, str) else decode(data, file)
        contract = _read_beside(file, text, older.value)
        if contract is not None:
            return ReadResult((contract,))
        documents = read_documents(text, file)
    except ContractError as error:
        return ReadResult(errors=(error,))
    contracts: list[Contract] = []
    errors: list[ContractError] = []
    for document in documents:
        result = native.read(document) if native.handles(document) else ()
        if isinstance(result, Contract):
            contracts.append(result)
        else:
            errors.extend(result)
    if not contracts and not errors:
        errors.append(_no_contract(file, text))
    return ReadResult(tuple(contracts), tuple(errors))


def _read_beside(file: str, text: str, older: ReadResult | None) -> Contract | None:
    contract = older.contracts[0] if older and len(older.contracts) == 1 else None
    if contract is None or contract.file != file:
        return None
    return native.read_beside(text, contract)


def table_keys(data: bytes) -> Iterator[str]:
    """Yield the keys of the tables that a file declares, without reading its contracts.

    A document that `read` refuses, or that is no contract, may add a key too.
    """
    try:
        text = decode(data, "")
    except ContractError:
        return
    yield from map(table_key, native.table_names(text))


def unread_files(contents: Contents) -> Iterator[ContractError]:
    """Yield an error for each file that was not read."""
    for path, reason in contents.unread.items():
        yield ContractError(
            f"the file was not read: {reason}",
            help="repair it, or exclude it with the `contracts` globs of the configuration",
            location=Location(visible(path)),
        )


def why_not_a_contract(text: str) -> str:
    """Say why a text is no contract, as the end of a sentence about its file."""
    lines = [
        line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", "---"))
    ]
    if not lines:
        return "is empty"
    if any(line.startswith(("table:", "columns:")) for line in lines):
        return 'has no line "schemalint: 1"'
    return "contains no contract"


def _no_contract(file: str, text: str) -> ContractError:
    return ContractError(
        f"this file {why_not_a_contract(text)}",
        help="a contract begins with the line schemalint: 1",
        location=Location(file),
    )
