"""Read contracts from text and write them back, in every supported format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from schemalint.base.values import replace
from schemalint.contract.anchors import Anchors, locate, text_of
from schemalint.contract.read_contracts import ReadResult, read, table_keys, unread_files, why_not_a_contract
from schemalint.model.consumer import Consumer
from schemalint.model.contract import Contract

if TYPE_CHECKING:
    from schemalint.contract.contract_editor import Editor
    from schemalint.model.exception import WrittenException
    from schemalint.model.finding import Edit

__all__ = [
    "ReadResult",
    "edited_text",
    "editor",
    "effective",
    "locate",
    "print_contract",
    "read",
    "read_exceptions",
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


def effective(contract: Contract, target: str | None) -> Contract:
    """Return the contract with the target's overlay merged in.

    Properties are merged entry by entry, and features are added. Consumers are added too; one of the overlay
    replaces that of the same name. Location and protocol are replaced. For None, or a target without an
    overlay, the contract stays unchanged.
    """
    overlay = None if target is None else contract.targets.get(target)
    if target is None or overlay is None:
        return contract
    anchors = contract.anchors
    state = replace(
        contract.state,
        properties={**contract.state.properties, **overlay.properties},
        features=contract.state.features | (overlay.features or frozenset()),
    )
    return replace(
        contract,
        state=state,
        location=contract.location if overlay.location is None else overlay.location,
        absent=overlay.absent,
        protocol=contract.protocol if overlay.protocol is None else overlay.protocol,
        consumers=_united(contract.consumers, overlay.consumers),
        named_consumers=tuple(dict.fromkeys((*contract.named_consumers, *overlay.named_consumers))),
        consumer_faults=(*contract.consumer_faults, *overlay.consumer_faults),
        anchors=anchors.of_target(target) if isinstance(anchors, Anchors) else anchors,
    )


def _united(shared: tuple[Consumer, ...], own: tuple[Consumer, ...]) -> tuple[Consumer, ...]:
    names = {consumer.name for consumer in own}
    return (*(consumer for consumer in shared if consumer.name not in names), *own)
