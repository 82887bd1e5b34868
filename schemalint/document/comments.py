"""Find comments in a YAML text: a ``#`` in a quoted or block scalar begins none."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from schemalint.document.nodes import Mapping, Scalar, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schemalint.document.nodes import Document, Node


def comments(documents: Iterable[Document], text: str, beginning: str) -> Iterator[Span]:
    """Yield the comments that begin with a pattern, from the ``#`` to the end of the line.

    Args:
        documents: All documents of the text.
        text: The text of the file.
        beginning: A regular expression for what follows the ``#`` and its blanks.
    """
    pattern = re.compile(rf"(?:^|(?<=\s))(#[ \t]*{beginning}[^\r\n]*)", re.MULTILINE)
    found = [Span(*match.span(1)) for match in pattern.finditer(text)]
    if not found:
        return
    contents = sorted(span for document in documents for span in _contents(document.root, text))
    for span in found:
        number = bisect_right(contents, span.start, key=lambda content: content.start)
        if number == 0 or contents[number - 1].end <= span.start:
            yield span


def _contents(node: Node, text: str) -> Iterator[Span]:
    """Yield the positions of all text in quotes and blocks; a block's first line can end with a comment."""
    if isinstance(node, Scalar):
        if node.style in ("literal", "folded"):
            first, *_ = text[node.start : node.end].splitlines(keepends=True) or [""]
            yield Span(node.start + len(first), node.end)
        elif node.style != "plain":
            yield node.span
    elif isinstance(node, Mapping):
        for entry in node.entries:
            yield from _contents(entry.key, text)
            yield from _contents(entry.value, text)
    else:
        for item in node.items:
            yield from _contents(item, text)
