"""Turn edits of a contract into changes of its text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from functools import cached_property
from operator import attrgetter
from typing import Final

from schemalint.base.document import Document, Span, TextEdit, common_length, location, read_documents, splice
from schemalint.base.document.excerpt import Excerpt, with_items
from schemalint.base.errors import ContractError, Location
from schemalint.contract.anchors import Anchors
from schemalint.contract.dialects import native
from schemalint.contract.dialects.native.excerpt import Excerpts
from schemalint.contract.dialects.native.parts import Part
from schemalint.model.contract import Contract
from schemalint.model.finding import Edit, SetProperty, TextChange

_BLOCK: Final = r":[ \t]*(?:#[^\r\n\x85\u2028\u2029]*)?[\r\n\x85\u2028\u2029]"
"""The end of a key whose value is below it."""


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
            self._made[key] = self._in_excerpt(key) or self._in_parts(key) or tuple(self._in_whole(key))
        return self._made[key]

    def _in_excerpt(self, edits: Sequence[Edit]) -> tuple[TextChange, ...]:
        """Make the edits in the part of the contract that they read; return nothing if that is impossible."""
        with suppress(ContractError):
            excerpt = self._of_settings(edits) or self._excerpts.of(edits)
            if excerpt is not None:
                return tuple(self._in_whole_text(excerpt, self._edited(excerpt.document, edits)))
        return ()

    def _of_settings(self, edits: Sequence[Edit]) -> Excerpt | None:
        """Return the contract almost without columns, if the edits are about properties only.

        It is found without reading the text. Columns with blocks stay, because new blocks are indented like
        the first one, and so does the last one, because a setting may follow it.
        """
        anchors = self._contract.anchors
        outline = anchors.outline(self._text) if isinstance(anchors, Anchors) else None
        if outline is None or not all(isinstance(edit, SetProperty) for edit in edits):
            return None
        text = self._text[outline.start : outline.end]
        blocks = (
            bisect_right(outline.items, outline.start + match.start(), key=attrgetter("start")) - 1
            for match in re.finditer(_BLOCK, text)
        )
        kept = {len(outline.items) - 1, *(index for index in blocks if index >= 0)}
        return with_items(self._contract.file, self._text, outline, kept)

    def _in_parts(self, edits: Sequence[Edit]) -> tuple[TextChange, ...]:
        """Make the edits in several excerpts, and prove the result; return nothing if that is impossible."""
        division = self._excerpts.division()
        made: list[tuple[Part, str]] = []
        found: list[TextChange] = []
        with suppress(ContractError, LookupError, ValueError):
            for part in division.parts(edits):
                edited = self._edited(part.excerpt.document, part.edits)
                found += self._in_whole_text(part.excerpt, edited)
                made.append((part, edited))
            found.sort(key=lambda change: (change.start, change.end))
            text = splice(self._text, [TextEdit(change.start, change.end, change.text) for change in found])
            if division.proves(text, made):
                return tuple(found)
        return ()

    def _in_whole(self, edits: Sequence[Edit]) -> Iterator[TextChange]:
        document = self._document
        for span, text in _changed_lines(document.text, self._edited(document, edits)):
            yield self._change(span, text)

    def _in_whole_text(self, excerpt: Excerpt, edited: str) -> Iterator[TextChange]:
        """Yield the changes of an excerpt as changes of the whole text.

        Raises:
            ContractError: A change is where the excerpt was cut.
        """
        for span, text in _changed_lines(excerpt.document.text, edited):
            whole = excerpt.span_in_whole(span)
            if whole is None:
                raise ContractError("the change is where the excerpt was cut", help="edit the whole text")
            yield self._change(whole, text)

    def _change(self, span: Span, text: str) -> TextChange:
        return TextChange(location(self._contract.file, self._text, span), span.start, span.end, text)

    def _edited(self, document: Document, edits: Sequence[Edit]) -> str:
        target = self._contract.anchors.target if isinstance(self._contract.anchors, Anchors) else None
        if not native.handles(document):
            raise ContractError(
                "the contract is no longer in this file",
                help="run the check again",
                location=Location(self._contract.file),
            )
        return native.edited(document, edits, target)

    @cached_property
    def _document(self) -> Document:
        return read_documents(self._text, self._contract.file)[self._contract.document]

    @cached_property
    def _excerpts(self) -> Excerpts:
        return native.excerpts(self._document, self._contract.state)


def _changed_lines(old: str, new: str) -> Iterator[tuple[Span, str]]:
    """Yield the changed lines, without the common start and end of each change."""
    old_lines, new_lines = (text.splitlines(keepends=True) for text in (old, new))
    same = common_length(old_lines, new_lines)
    start = sum(map(len, old_lines[:same]))
    # What is the same at the start is not compared again: a new item follows it, whatever its lines are.
    old_lines, new_lines = old_lines[same:], new_lines[same:]
    matcher = SequenceMatcher(None, old_lines, new_lines, autojunk=False)
    for _tag, first, last, new_first, new_last in matcher.get_opcodes():
        before, after = "".join(old_lines[first:last]), "".join(new_lines[new_first:new_last])
        if before != after:
            head = common_length(before, after)
            tail = common_length(before[head:][::-1], after[head:][::-1])
            span = Span(start + head, start + len(before) - tail)
            yield span, after[head : len(after) - tail]
        start += len(before)
