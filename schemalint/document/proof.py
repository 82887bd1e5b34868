"""Flatten the content of a file into leaves, to prove that an edit changes only what it should."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from schemalint.document.layout import ends_line, line_break
from schemalint.document.nodes import Path, Scalar, children
from schemalint.document.reader import read_documents

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schemalint.document.nodes import Document, Node

Leaves: TypeAlias = dict[Path, tuple[str, str]]
Content: TypeAlias = tuple[tuple[Path, tuple[str, str]], ...]


def leaves(text: str, file: str) -> Leaves:
    """Return every scalar and empty collection of a file by path; a path begins with the document's index.

    A missing line break at the end of the text is added, because inserted lines add it too.
    """
    whole = text if ends_line(text, len(text)) else text + line_break(text)
    return {
        (document.index, *path): leaf
        for document in read_documents(whole, file)
        for path, leaf in _leaves_below(document.root, ())
    }


def content(node: Node) -> Content:
    """Return every scalar and empty collection of a node by path, in the order of the text."""
    return tuple(_leaves_below(node, ()))


def leaves_with(document: Document, path: Path, value: str) -> Leaves:
    """Return the file's leaves with ``value`` at ``path``, replacing the old value or a null parent."""
    path = (document.index, *path)
    old = {
        leaf_path: leaf
        for leaf_path, leaf in leaves(document.text, document.file).items()
        if not _below(leaf_path, path) and leaf_path != path[:-1]
    }
    new = leaves(value, document.file)
    return old | {(*path, *leaf_path[1:]): leaf for leaf_path, leaf in new.items()}


def leaves_with_items(document: Document, path: Path, count: int, values: Sequence[str]) -> Leaves:
    """Return the file's leaves with items appended to the sequence at ``path``, which has so many."""
    found = leaves_with(document, (*path, count), values[0])
    for index, value in enumerate(values[1:], start=count + 1):
        new = leaves(value, document.file).items()
        found |= {(document.index, *path, index, *leaf_path[1:]): leaf for leaf_path, leaf in new}
    return found


def leaves_with_item(document: Document, path: Path, index: int, value: str) -> Leaves:
    """Return the file's leaves with an item inserted at ``index`` into the sequence at ``path``."""
    item = (document.index, *path, index)
    old = {
        _shifted(leaf_path, item, 1): leaf
        for leaf_path, leaf in leaves(document.text, document.file).items()
        if leaf_path != item[:-1]
    }
    new = leaves(value, document.file)
    return old | {(*item, *leaf_path[1:]): leaf for leaf_path, leaf in new.items()}


def leaves_without(document: Document, path: Path) -> Leaves:
    """Return the file's leaves without the entry or item at ``path``; an empty collection becomes a leaf."""
    path = (document.index, *path)
    remaining = {
        _shifted(leaf_path, path, -1): leaf
        for leaf_path, leaf in leaves(document.text, document.file).items()
        if not _below(leaf_path, path)
    }
    if not any(_below(leaf_path, path[:-1]) for leaf_path in remaining):
        remaining[path[:-1]] = ("Sequence" if isinstance(path[-1], int) else "Mapping", "")
    return remaining


def _leaves_below(node: Node, path: Path) -> Iterator[tuple[Path, tuple[str, str]]]:
    if isinstance(node, Scalar):
        yield path, (type(node.value).__name__, node.text)
    elif not any(children(node)):
        yield path, (type(node).__name__, "")
    for step, child in children(node):
        yield from _leaves_below(child, (*path, step))


def _shifted(path: Path, item: Path, by: int) -> Path:
    """Shift a leaf's path by the number of items inserted or removed at ``item``."""
    last, item_index = len(item) - 1, item[-1]
    index = path[last] if _below(path, item[:-1]) and len(path) > last else None
    if isinstance(item_index, int) and isinstance(index, int) and index >= item_index:
        return (*path[:last], index + by, *path[last + 1 :])
    return path


def _below(path: Path, parent: Path) -> bool:
    return path[: len(parent)] == parent
