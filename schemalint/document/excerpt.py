"""Excerpts: a document without parts of its text, for edits that do not read these parts."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from schemalint.document import layout
from schemalint.document.edits import TextEdit, splice
from schemalint.document.nodes import Sequence, Span
from schemalint.document.reader import read_documents

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from schemalint.document.nodes import Document


class Excerpt:
    """A document after cuts, whose edits can be made in the whole text.

    Attributes:
        document: What is left.
    """

    def __init__(self, whole: Document, cuts: Iterable[TextEdit]) -> None:
        """Make the cuts; each replaces a part of the text by a shorter one, or by none."""
        self._cuts = sorted(cuts, key=lambda cut: cut.start)
        (self.document,) = read_documents(splice(whole.text, self._cuts), whole.file)

    def span_in_whole(self, span: Span) -> Span | None:
        """Return a span of the excerpt in the whole text; None if a cut is inside it.

        What is inserted where something was cut comes before it.
        """
        shift = 0
        for cut in self._cuts:
            start = cut.start - shift
            if span.end <= start:
                break
            if span.start < start + len(cut.text):
                return None
            shift += cut.end - cut.start - len(cut.text)
        return Span(span.start + shift, span.end + shift)


def other_items(text: str, sequence: Sequence, kept: Collection[int]) -> Iterator[TextEdit]:
    """Yield the cuts that leave only some items of a sequence, with their comments: at least one.

    Args:
        text: The text of the document.
        sequence: The sequence.
        kept: The indexes of the items to keep.
    """
    for before, after in pairwise((-1, *sorted(kept), len(sequence.items))):
        if after - before > 1:
            start, end = _gap(text, sequence, before, after)
            yield TextEdit(start, end, "")


def _gap(text: str, sequence: Sequence, before: int, after: int) -> Span:
    """Return the span between two items, which may be one before the first and one after the last."""
    items = sequence.items
    if not sequence.flow:
        return Span(_line_of(text, sequence, before + 1), _line_of(text, sequence, after))
    if after < len(items):
        return Span(items[before + 1].start, items[after].start)
    return Span(items[before].end, items[-1].end)


def _line_of(text: str, sequence: Sequence, index: int) -> int:
    """Return the start of the first line of an item in a block, or of the line after the last one."""
    if index == 0:
        return layout.line_start(text, sequence.start)
    end = sequence.items[index - 1].end
    return end if layout.ends_line(text, end) else layout.next_line(text, end)
