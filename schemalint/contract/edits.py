"""Turn edits of a contract into changes of its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from schemalint.contract.anchors import Anchors
from schemalint.contract.dialects import dialect_of
from schemalint.document import Span, common_length, location, read_documents
from schemalint.errors import ContractError, Location
from schemalint.model.contract import Contract
from schemalint.model.finding import Edit, TextChange


def text_changes(contract: Contract, text: str, edits: Sequence[Edit]) -> tuple[TextChange, ...]:
    """Return the text changes that make the edits, in order and without overlaps.

    Args:
        contract: The contract as read from the text, or effective for a target.
        text: The file's text.
        edits: The edits to make.

    Raises:
        ContractError: The text cannot be edited in place.
    """
    target = contract.anchors.target if isinstance(contract.anchors, Anchors) else None
    edited = text
    for edit in edits:
        document = read_documents(edited, contract.file)[contract.document]
        dialect = dialect_of(document)
        if dialect is None:
            raise ContractError(
                "the contract is no longer in this file",
                help="run the check again",
                location=Location(contract.file),
            )
        edited = dialect.edited(document, edit, target)
    return tuple(_changes(contract.file, text, edited))


def _changes(file: str, old: str, new: str) -> Iterator[TextChange]:
    """Yield the changed lines, without the common start and end of each change."""
    old_lines, new_lines = (text.splitlines(keepends=True) for text in (old, new))
    start = 0
    matcher = SequenceMatcher(None, old_lines, new_lines, autojunk=False)
    for _tag, first, last, new_first, new_last in matcher.get_opcodes():
        before, after = "".join(old_lines[first:last]), "".join(new_lines[new_first:new_last])
        if before != after:
            head = common_length(before, after)
            tail = common_length(before[head:][::-1], after[head:][::-1])
            span = Span(start + head, start + len(before) - tail)
            replacement = after[head : len(after) - tail]
            yield TextChange(location(file, old, span), span.start, span.end, replacement)
        start += len(before)
