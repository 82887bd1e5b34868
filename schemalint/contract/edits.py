"""Turn edits of a contract into changes of its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from functools import cached_property

from schemalint.contract.anchors import Anchors
from schemalint.contract.dialects import Dialect, Excerpts, dialect_of
from schemalint.document import Document, Span, common_length, location, read_documents
from schemalint.errors import ContractError, Location
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
        """Return the text changes that make the edits, in order and without overlaps.

        Raises:
            ContractError: The text cannot be edited in place.
        """
        key = tuple(edits)
        if key not in self._made:
            self._made[key] = self._in_excerpt(key) or tuple(self._in_whole(key))
        return self._made[key]

    def _in_excerpt(self, edits: Sequence[Edit]) -> tuple[TextChange, ...]:
        """Make the edits in the part of the contract that they read; return nothing if that is impossible."""
        found: list[TextChange] = []
        with suppress(ContractError):
            excerpt = self._excerpts.of(edits)
            for span, text in self._changes(excerpt.document, edits) if excerpt else ():
                whole = excerpt.span_in_whole(span) if excerpt else None
                if whole is None:
                    return ()
                found.append(self._change(whole, text))
        return tuple(found)

    def _in_whole(self, edits: Sequence[Edit]) -> Iterator[TextChange]:
        for span, text in self._changes(self._document, edits):
            yield self._change(span, text)

    def _change(self, span: Span, text: str) -> TextChange:
        return TextChange(location(self._contract.file, self._text, span), span.start, span.end, text)

    def _changes(self, document: Document, edits: Sequence[Edit]) -> Iterator[tuple[Span, str]]:
        target = self._contract.anchors.target if isinstance(self._contract.anchors, Anchors) else None
        edited = document.text
        for edit in edits:
            current = read_documents(edited, document.file)[document.index]
            edited = self._dialect.edited(current, edit, target)
        yield from _changed_lines(document.text, edited)

    @cached_property
    def _document(self) -> Document:
        return read_documents(self._text, self._contract.file)[self._contract.document]

    @cached_property
    def _dialect(self) -> Dialect:
        dialect = dialect_of(self._document)
        if dialect is None:
            raise ContractError(
                "the contract is no longer in this file",
                help="run the check again",
                location=Location(self._contract.file),
            )
        return dialect

    @cached_property
    def _excerpts(self) -> Excerpts:
        return self._dialect.excerpts(self._document, self._contract.state)


def _changed_lines(old: str, new: str) -> Iterator[tuple[Span, str]]:
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
            yield span, after[head : len(after) - tail]
        start += len(before)
