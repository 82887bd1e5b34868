"""Turn edits of a contract into changes of its text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from schemalint.base.document import Document, read_documents
from schemalint.base.errors import ContractError, Location
from schemalint.contract.anchors import Anchors, text_of
from schemalint.contract.dialects import native
from schemalint.contract.dialects.native.operations import NativeEditor
from schemalint.contract.edit import TextEditor, edited_text
from schemalint.model.contract import Contract
from schemalint.model.finding import Edit, TextChange


class Editor:
    """Turns edits of one contract into changes of its text."""

    def __init__(self, contract: Contract, text: str) -> None:
        """Take the contract as read from the text, or effective for a target."""
        self._contract = contract
        self._text = text
        self._made: dict[tuple[Edit, ...], tuple[TextChange, ...]] = {}

    def text_changes(self, edits: Sequence[Edit]) -> tuple[TextChange, ...]:
        """Return the text changes that make the edits, in order and without overlaps; `fixes` proves them.

        Raises:
            ContractError: The text cannot be edited in place.
        """
        key = tuple(edits)
        if key not in self._made:
            self._made[key] = self._text_editor.changes(self._contract_editor.operations(key))
        return self._made[key]

    def edited(self, edits: Sequence[Edit]) -> str:
        """Return the text of the file after edits, proven.

        Raises:
            ContractError: The text cannot be edited in place.
            InternalError: ruamel.yaml reads the edited text differently.
        """
        return edited_text(self._contract.file, self._text, self.text_changes(edits))

    @cached_property
    def _document(self) -> Document:
        return read_documents(self._text, self._contract.file)[self._contract.document]

    @cached_property
    def _text_editor(self) -> TextEditor:
        return TextEditor(self._document)

    @cached_property
    def _contract_editor(self) -> NativeEditor:
        anchors, contract = self._contract.anchors, self._contract
        if not native.handles(self._document):
            raise ContractError(
                "the contract is no longer in this file",
                help="run the check again",
                location=Location(contract.file),
            )
        if text_of(contract) != self._text:
            current = native.read(self._document)
            if not isinstance(current, Contract):
                raise current[0]
            contract = current
        target = anchors.target if isinstance(anchors, Anchors) else None
        return NativeEditor(self._document, contract.state, target)
