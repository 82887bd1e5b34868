"""Outlines: where the items of a list are, to read only some of them."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import abc
from collections.abc import Iterable
from operator import attrgetter
from typing import overload

from schemalint.base.document import layout
from schemalint.base.document.layout import TextEdit, common_length, splice
from schemalint.base.document.nodes import Document, Node, Path, Sequence, Span, children, node_at
from schemalint.base.document.yaml_reader import MAX_NODES, read_blanked, read_documents
from schemalint.base.errors import ContractError
from schemalint.base.values import frozen


class _Spans(abc.Sequence[Span]):
    """Spans, as numbers: a hundredth of the memory of nodes."""

    __slots__ = ("_offsets",)

    def __init__(self, offsets: Iterable[int]) -> None:
        self._offsets = array("L", offsets)

    @classmethod
    def of(cls, nodes: Iterable[Node]) -> _Spans:
        """Return the spans of nodes."""
        return cls([offset for node in nodes for offset in (node.start, node.end)])

    def __len__(self) -> int:
        return len(self._offsets) // 2

    @overload
    def __getitem__(self, index: int) -> Span: ...
    @overload
    def __getitem__(self, index: slice) -> list[Span]: ...
    def __getitem__(self, index: int | slice) -> Span | list[Span]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        number = range(len(self))[index]  # from the end, too
        return Span(*self._offsets[2 * number : 2 * number + 2])

    @property
    def starts(self) -> abc.Sequence[int]:
        """Where each begins."""
        return self._offsets[::2]

    def replaced(self, first: int, last: int, new: _Spans, shift: int) -> _Spans:
        """Return the spans with others in place of some; those that follow lie further on by a shift."""
        following = [offset + shift for offset in self._offsets[2 * (last + 1) :]]
        return _Spans([*self._offsets[: 2 * first], *new._offsets, *following])


@frozen
class Outline:
    """What is kept of a sequence, to read single items of it again.

    Attributes:
        document: The position of the document in the text.
        items: The positions of the items.
        flow: Whether the sequence is in brackets.
        start: Where it starts.
        end: Where it ends.
        nodes: How many nodes the text has at most.
    """

    document: Span
    items: _Spans
    flow: bool
    start: int
    end: int
    nodes: int

    @classmethod
    def of(cls, document: Document, sequence: Sequence) -> Outline:
        """Return the outline of a sequence in a document."""
        items = _Spans.of(sequence.items)
        return cls(document.span, items, sequence.flow, sequence.start, sequence.end, document.nodes)

    def replaced(self, first: int, last: int, new: Outline, shift: int) -> Outline:
        """Return the outline with other items in place of some.

        Args:
            first: The index of the first item to replace.
            last: The index of the last one.
            new: The outline of the same document after the change, with only the new items.
            shift: By how much what follows them lies further on.
        """
        return Outline(
            new.document,
            self.items.replaced(first, last, new.items, shift),
            self.flow,
            self.start if first else new.start,
            new.end if last == len(self.items) - 1 else self.end + shift,
            self.nodes + new.nodes,
        )

    def read_item(self, index: int, text: str, file: str) -> tuple[Document, Node, int]:
        """Read an item alone: in a document of its own, whose offsets are smaller by the number returned."""
        start, end = self.items[index]
        # An item in brackets may be a pair without braces; one in a block keeps its indentation.
        before, after = ("[", "]") if self.flow else (" " * layout.column(text, start), "")
        (document,) = read_documents(before + text[start:end] + after, file)
        root = document.root
        return document, next(node for _, node in children(root)) if self.flow else root, start - len(before)


def read_ends(text: str, file: str, outline: Outline) -> tuple[Document, ...]:
    """Read a text with blanks in place of the items of a list, but for its first and its last one.

    Around the items, and of these two, the nodes are those of the whole text. Only items in braces are left
    out: items in blocks show how the text is indented.

    Args:
        text: The text of a file, which is valid.
        file: The file name, for locations.
        outline: The outline of the list in the text.
    """
    last = len(outline.items) - 1
    if last < _SOME_ITEMS or any(text[start] != "{" for start in outline.items.starts):
        return read_documents(text, file)
    return read_blanked(text, file, splice(text, [_blank(text, _gap(text, outline, 0, last), 0)]))


_SOME_ITEMS = 2  # fewer have none between the ends


@frozen
class Beside:
    """A text that was read without the items that an older one has too.

    Attributes:
        document: The document without these items.
        first: How many of the older items precede those that were read.
        last: The index of the older item that those precede which follow them.
        outline: Where all items are.
    """

    document: Document
    first: int
    last: int
    outline: Outline


def read_beside(text: str, file: str, older_text: str, older: Outline, path: Path) -> Beside | None:
    """Read a text with blanks in place of the items of a list before and after all that changed.

    Whatever begins between the two is read, from the last item that begins before the change to the first one
    that ends after it. Where both do so in the new text too, the parser is there as it was in the older text,
    and so gives the same items after it.

    Args:
        text: The text of a file with one document.
        file: The file name, for locations.
        older_text: The older text, which has one valid document.
        older: The outline of the list in it.
        path: The path of the list.

    Returns:
        None if no item is the same, or if the whole text must be read.
    """
    start = common_length(older_text, text)
    end = len(older_text) - common_length(older_text[start:][::-1], text[start:][::-1])
    first = max(0, bisect_left(older.items, start, key=attrgetter("start")) - 1)
    last = min(len(older.items) - 1, bisect_right(older.items, end, key=attrgetter("end")))
    shift = len(text) - len(older_text)
    blanks: list[TextEdit] = []
    if first > 0:
        blanks.append(_blank(older_text, _gap(older_text, older, -1, first), 0))
    if last + 1 < len(older.items):
        blanks.append(_blank(older_text, _gap(older_text, older, last, len(older.items)), shift))
    if not blanks or (first and _shares_line(older_text, older, first)):
        return None
    try:
        (document,) = read_blanked(text, file, splice(text, blanks))
    except (ContractError, ValueError):  # a ValueError for several documents
        return None
    read = node_at(document, path)
    if not (isinstance(read, Sequence) and read.items) or document.nodes + older.nodes > MAX_NODES:
        return None
    # A block scalar at the end takes the blanks, and so ends elsewhere.
    ends = last == len(older.items) - 1 or read.items[-1].end == older.items[last].end + shift
    if not (ends and _indent(text, read) == _indent(older_text, older)):
        return None
    return Beside(document, first, last, older.replaced(first, last, Outline.of(document, read), shift))


def _gap(text: str, outline: Outline, before: int, after: int) -> Span:
    """Return the span between two items, which may be one before the first and one after the last."""
    items = outline.items
    if not outline.flow:
        return Span(_line_of(text, outline, before + 1), _line_of(text, outline, after))
    if after < len(items):
        return Span(items[before + 1].start, items[after].start)
    return Span(items[before].end, items[-1].end)


def _line_of(text: str, outline: Outline, index: int) -> int:
    """Return the start of the first line of an item in a block, or of the line after the last one."""
    if index == 0:
        return layout.line_start(text, outline.start)
    end = outline.items[index - 1].end
    if layout.ends_line(text, end):
        return end
    return layout.next_line(text, end)


def _blank(text: str, gap: Span, shift: int) -> TextEdit:
    """Return blanks for a part of a text; what follows it stays in its line, and keeps its column."""
    last = text[gap.end - 1] if layout.ends_line(text, gap.end) else " "
    return TextEdit(gap.start + shift, gap.end + shift, " " * (gap.end - gap.start - 1) + last)


def _shares_line(text: str, outline: Outline, index: int) -> bool:
    """Whether an item begins in a line of the one before: the reader looks for brackets in the whole line."""
    between = text[outline.items[index - 1].end : outline.items[index].start]
    return "\n" not in between and "\r" not in between


def _indent(text: str, sequence: Sequence | Outline) -> int:
    """Return the column of the dashes; -1 in brackets."""
    if sequence.flow:
        return -1
    return layout.column(text, sequence.start)
