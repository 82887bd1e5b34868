"""schemalint's own format: one YAML document per table, with the key ``schemalint``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from schemalint.base import document
from schemalint.base.document import decode, read_documents, root_values
from schemalint.base.errors import ContractError, Location
from schemalint.base.wording import Wording
from schemalint.contract.dialects import OF_CONTRACTS, OF_FIELDS, OF_TABLES, Reading
from schemalint.contract.dialects.native.document_reader import handles, read_beside, read_document
from schemalint.model.contract import NATIVE_FORMAT, Contract, FileFormat

EXPRESSES: Final = frozenset((*OF_CONTRACTS, *OF_TABLES, *OF_FIELDS))
IS_EDITED: Final = True
WORDING: Final = Wording()


def candidate(_path: str, data: bytes) -> bool:
    """Return whether a file looks like a contract: a line has the key ``schemalint`` and a number."""
    return document.candidate(data)


def table_names(data: bytes, _settings: FileFormat = NATIVE_FORMAT) -> Iterable[str]:
    """Return the tables that a file declares; a document that `read` refuses may add a name too."""
    try:
        return root_values(decode(data, ""), "table")
    except ContractError:
        return ()


def read(
    path: str, data: bytes | str, older: Reading | None = None, _settings: FileFormat = NATIVE_FORMAT
) -> Reading:
    """Read all contracts of a file.

    Documents that are not contracts are skipped; a file without any contract is an error. Columns that the
    file of the older revision has too are not read again.
    """
    try:
        text = data if isinstance(data, str) else decode(data, path)
        contract = _read_beside(path, text, older)
        if contract is not None:
            return Reading((contract,))
        documents = read_documents(text, path)
    except ContractError as error:
        return Reading(errors=(error,))
    contracts: list[Contract] = []
    errors: list[ContractError] = []
    for each in documents:
        result = read_document(each) if handles(each) else ()
        if isinstance(result, Contract):
            contracts.append(result)
        else:
            errors.extend(result)
    if not contracts and not errors:
        errors.append(_no_contract(path, text))
    return Reading(tuple(contracts), tuple(errors))


def _read_beside(path: str, text: str, older: Reading | None) -> Contract | None:
    contract = older.contracts[0] if older and len(older.contracts) == 1 else None
    if contract is None or contract.file != path:
        return None
    return read_beside(text, contract)


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
