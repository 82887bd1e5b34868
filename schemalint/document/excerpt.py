"""Excerpts: a document without parts of its text, for edits that do not read these parts."""

from __future__ import annotations

from array import array
from collections import abc
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, overload

from schemalint.document import layout
from schemalint.document.edits import TextEdit, splice
from schemalint.document.nodes import Span, children
from schemalint.document.reader import read_documents
from schemalint.values import frozen

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from schemalint.document.nodes import Document, Node, Sequence


class _Positioned(Protocol):
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class Listed(_Positioned, Protocol):
    """The positions of a sequence and of its items: a node, or an `Outline`."""

    @property
    def items(self) -> abc.Sequence[_Positioned]:
        """The items."""

    @property
    def flow(self) -> bool:
        """Whether the sequence is in brackets."""


class _Spans(abc.Sequence[Span]):
    """Spans, as numbers: a hundredth of the memory of nodes."""

    __slots__ = ("_offsets",)

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._offsets = array("L", [offset for node in nodes for offset in (node.start, node.end)])

    def __len__(self) -> int:
        return len(self._offsets) // 2

    @overload
    def __getitem__(self, index: int) -> Span: ...
    @overload
    def __getitem__(self, index: slice) -> list[Span]: ...
    def __getitem__(self, index: int | slice) -> Span | list[Span]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        return Span(*self._offsets[2 * index : 2 * index + 2])


@frozen
class Outline:
    """What is kept of a sequence, to read single items of it again.

    Attributes:
        document: The position of the document in the text.
        items: The positions of the items.
        flow: Whether the sequence is in brackets.
        start: Where it starts.
        end: Where it ends.
    """

    document: Span
    items: abc.Sequence[Span]
    flow: bool
    start: int
    end: int

    @classmethod
    def of(cls, document: Document, sequence: Sequence) -> Outline:
        """Return the outline of a sequence in a document."""
        return cls(document.span, _Spans(sequence.items), sequence.flow, sequence.start, sequence.end)

    def read_item(self, index: int, text: str, file: str) -> tuple[Document, Node, int]:
        """Read an item alone: in a document of its own, whose offsets are smaller by the number returned."""
        start, end = self.items[index]
        # An item in brackets may be a pair without braces; one in a block keeps its indentation.
        before, after = ("[", "]") if self.flow else (" " * layout.column(text, start), "")
        (document,) = read_documents(before + text[start:end] + after, file)
        root = document.root
        return document, next(node for _, node in children(root)) if self.flow else root, start - len(before)


class Excerpt:
    """A document after cuts, whose edits can be made in the whole text.

    Attributes:
        document: What is left.
    """

    def __init__(self, file: str, text: str, cuts: Iterable[TextEdit]) -> None:
        """Make the cuts; each replaces a part of the text by a shorter one, or by none."""
        self._cuts = sorted(cuts, key=lambda cut: cut.start)
        (self.document,) = read_documents(splice(text, self._cuts), file)

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


def with_items(file: str, text: str, outline: Outline, kept: Collection[int]) -> Excerpt:
    """Return the document of an outline with only some items of the sequence, as `other_items` does."""
    start, end = outline.document
    other_documents = (TextEdit(0, start, ""), TextEdit(end, len(text), ""))
    return Excerpt(file, text, [*other_documents, *other_items(text, outline, kept)])


def other_items(text: str, sequence: Listed, kept: Collection[int]) -> Iterator[TextEdit]:
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


def _gap(text: str, sequence: Listed, before: int, after: int) -> Span:
    """Return the span between two items, which may be one before the first and one after the last."""
    items = sequence.items
    if not sequence.flow:
        return Span(_line_of(text, sequence, before + 1), _line_of(text, sequence, after))
    if after < len(items):
        return Span(items[before + 1].start, items[after].start)
    return Span(items[before].end, items[-1].end)


def _line_of(text: str, sequence: Listed, index: int) -> int:
    """Return the start of the first line of an item in a block, or of the line after the last one."""
    if index == 0:
        return layout.line_start(text, sequence.start)
    end = sequence.items[index - 1].end
    return end if layout.ends_line(text, end) else layout.next_line(text, end)
