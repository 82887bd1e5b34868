"""Reads a file of contracts."""

from __future__ import annotations

from functools import lru_cache

from schemalint.contract.dialects import dialect_of
from schemalint.document import decode, read_documents
from schemalint.errors import ContractError, Location
from schemalint.model.contract import Contract
from schemalint.values import frozen


@frozen
class ReadResult:
    """What a file declares, in order, and what is wrong in it."""

    contracts: tuple[Contract, ...] = ()
    errors: tuple[ContractError, ...] = ()


@lru_cache(maxsize=256)
def read(file: str, data: bytes | str) -> ReadResult:
    """All contracts of a file; those read last are kept, for a file is compared and looked for twins.

    A document that no format handles is not looked into, unless there is no other in the file.

    Args:
        file: Its path, relative to the repository's root with ``/``, for locations.
        data: Its content.
    """
    try:
        text = data if isinstance(data, str) else decode(data, file)
        documents = read_documents(text, file)
    except ContractError as error:
        return ReadResult(errors=(error,))
    contracts: list[Contract] = []
    errors: list[ContractError] = []
    for document in documents:
        dialect = dialect_of(document)
        found = dialect.read(document) if dialect else ()
        if isinstance(found, Contract):
            contracts.append(found)
        else:
            errors.extend(found)
    if not contracts and not errors:
        errors.append(_no_contract(file))
    return ReadResult(tuple(contracts), tuple(errors))


def _no_contract(file: str) -> ContractError:
    return ContractError(
        "there is no contract in this file",
        help="a contract begins with the line schemalint: 1",
        location=Location(file),
    )
