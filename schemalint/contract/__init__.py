"""Read contracts from text and write them back, in every supported format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from schemalint.contract.anchors import locate, text_of
from schemalint.contract.reading import ReadResult, read, table_keys, unread_files, why_not_a_contract
from schemalint.contract.targets import effective, targets_of

if TYPE_CHECKING:
    from schemalint.contract.edits import Editor
    from schemalint.model.contract import Contract
    from schemalint.model.exception import WrittenException
    from schemalint.model.finding import Edit, TextChange

__all__ = [
    "ReadResult",
    "edited_text",
    "editor",
    "effective",
    "exceptions_schema",
    "json_schema",
    "locate",
    "print_contract",
    "read",
    "read_exceptions",
    "table_keys",
    "targets_of",
    "text_changes",
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
    from schemalint.contract import edits as implementation  # noqa: PLC0415

    return implementation.Editor(contract, text)


def edited_text(contract: Contract, text: str, edits: Sequence[Edit]) -> str:
    """Return the file's text after edits, which schemalint and ruamel.yaml read alike.

    Arguments as for `editor`.

    Raises:
        ContractError: The text cannot be edited in place.
        InternalError: ruamel.yaml reads the edited text differently.
    """
    return editor(contract, text).edited(edits)


def text_changes(contract: Contract, text: str, edits: Sequence[Edit]) -> tuple[TextChange, ...]:
    """Return the text changes that make the edits, in order and without overlaps.

    Arguments as for `editor`.

    Raises:
        ContractError: The text cannot be edited in place.
    """
    return editor(contract, text).text_changes(edits)


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
    from schemalint.contract.dialects.native import exceptions_file as implementation  # noqa: PLC0415

    return implementation.read_exceptions(file, data)


def exceptions_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``exceptions.yaml``, for editors."""
    from schemalint.contract.dialects.native import json_schema as implementation  # noqa: PLC0415

    return implementation.exceptions_schema()


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the native format, for editors."""
    from schemalint.contract.dialects.native import json_schema as implementation  # noqa: PLC0415

    return implementation.json_schema()
