"""Contracts: text to values and back, in every format that there is a module for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from schemalint.contract.anchors import locate
from schemalint.contract.reading import ReadResult, read
from schemalint.contract.targets import effective, targets_of

if TYPE_CHECKING:
    from schemalint.model.contract import Contract
    from schemalint.model.finding import Edit, TextChange

__all__ = [
    "ReadResult",
    "effective",
    "json_schema",
    "locate",
    "print_contract",
    "read",
    "targets_of",
    "text_changes",
]

# The imports in here are for commands other than a check, which has to start fast.


def text_changes(contract: Contract, text: str, edits: Sequence[Edit]) -> tuple[TextChange, ...]:
    """The changes of a file's text that make the edits, in order and apart from each other.

    Args:
        contract: As read from the text, or effective for a target.
        text: The file's text.
        edits: What is to be changed.

    Raises:
        ContractError: The text cannot be edited in place.
    """
    from schemalint.contract import edits as implementation  # noqa: PLC0415

    return implementation.text_changes(contract, text, edits)


def print_contract(contract: Contract) -> str:
    """A new document of the native format, which `read` reads back as the same contract.

    Raises:
        ContractError: A text holds half a character (a lone surrogate), which YAML cannot.
    """
    from schemalint.contract.dialects.native import printing  # noqa: PLC0415

    return printing.print_contract(contract)


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the native format, for editors."""
    from schemalint.contract.dialects.native import json_schema as implementation  # noqa: PLC0415

    return implementation.json_schema()
