"""Read contracts from text and write them back, in every supported format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from schemalint.contract.anchors import text_of
from schemalint.contract.dialects import Reading
from schemalint.contract.dialects.native import why_not_a_contract
from schemalint.contract.read_contracts import read, read_file, table_keys, unread_files
from schemalint.model.contract import Contract
from schemalint.model.contract_edit import Edit
from schemalint.model.exception import WrittenException

if TYPE_CHECKING:
    from schemalint.contract.contract_editor import Editor

__all__ = [
    "Reading",
    "edited_text",
    "editor",
    "print_contract",
    "read",
    "read_exceptions",
    "read_file",
    "table_keys",
    "text_of",
    "unread_files",
    "why_not_a_contract",
]

# These functions import on call, because `check` does not need them and must start fast.


def editor(contract: Contract, text: str) -> Editor:
    """Return what turns edits of a contract into text changes.

    Args:
        contract: The contract as read from the text, or effective for a target.
        text: The file's text.
    """
    from schemalint.contract import contract_editor as implementation  # noqa: PLC0415

    return implementation.Editor(contract, text)


def edited_text(contract: Contract, text: str, edits: Sequence[Edit]) -> str:
    """Return the file's text after edits, which schemalint and ruamel.yaml read alike.

    Arguments as for `editor`.

    Raises:
        ContractError: The text cannot be edited in place.
        InternalError: ruamel.yaml reads the edited text differently.
    """
    return editor(contract, text).edited(edits)


def print_contract(contract: Contract) -> str:
    """Print a contract as a new document of the native format; `read` returns the same contract.

    Raises:
        ContractError: A text has a lone surrogate, which YAML cannot represent.
    """
    from schemalint.contract.dialects.native import printing  # noqa: PLC0415

    return printing.print_contract(contract)


def read_exceptions(file: str, data: bytes) -> tuple[WrittenException, ...]:
    """Return the exceptions in an ``exceptions.yaml``.

    Raises:
        ContractError: The file is invalid.
    """
    from schemalint.contract.dialects.native import exception_reader as implementation  # noqa: PLC0415

    return implementation.read_exceptions(file, data)
