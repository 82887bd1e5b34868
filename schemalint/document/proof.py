"""The content of a file as a flat table, before and after an edit: what an edit is proven against."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from schemalint.document.layout import ends_line, line_break
from schemalint.document.nodes import Path, Scalar, children
from schemalint.document.reader import read_documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.document.nodes import Document, Node

Leaves: TypeAlias = dict[Path, tuple[str, str]]


def leaves(text: str, file: str) -> Leaves:
    """Every scalar and empty collection of a file by its path, the document's index first.

    A last line without a break is read as if it had one: lines after it give it one.
    """
    whole = text if ends_line(text, len(text)) else text + line_break(text)
    return {
        (document.index, *path): leaf
        for document in read_documents(whole, file)
        for path, leaf in _leaves_below(document.root, ())
    }


def leaves_with(document: Document, path: Path, value: str) -> Leaves:
    """The leaves of the file with ``value`` at ``path``, in place of what is there or of a null above."""
    path = (document.index, *path)
    old = {
        place: leaf
        for place, leaf in leaves(document.text, document.file).items()
        if not _below(place, path) and place != path[:-1]
    }
    return old | {(*path, *place[1:]): leaf for place, leaf in leaves(value, document.file).items()}


def leaves_with_item(document: Document, path: Path, index: int, value: str) -> Leaves:
    """The leaves of the file with one more item in the sequence at ``path``."""
    item = (document.index, *path, index)
    old = {
        _shifted(place, item, 1): leaf
        for place, leaf in leaves(document.text, document.file).items()
        if place != item[:-1]
    }
    return old | {(*item, *place[1:]): leaf for place, leaf in leaves(value, document.file).items()}


def leaves_without(document: Document, path: Path) -> Leaves:
    """The leaves of the file without the entry or item at ``path``; an empty collection is a leaf."""
    path = (document.index, *path)
    left = {
        _shifted(place, path, -1): leaf
        for place, leaf in leaves(document.text, document.file).items()
        if not _below(place, path)
    }
    if not any(_below(place, path[:-1]) for place in left):
        left[path[:-1]] = ("Sequence" if isinstance(path[-1], int) else "Mapping", "")
    return left


def _leaves_below(node: Node, path: Path) -> Iterator[tuple[Path, tuple[str, str]]]:
    if isinstance(node, Scalar):
        yield path, (type(node.value).__name__, node.text)
    elif not any(children(node)):
        yield path, (type(node).__name__, "")
    for step, child in children(node):
        yield from _leaves_below(child, (*path, step))


def _shifted(place: Path, item: Path, by: int) -> Path:
    """The path of a leaf after an item before it has come or gone."""
    last, step = len(item) - 1, item[-1]
    here = place[last] if _below(place, item[:-1]) and len(place) > last else None
    if isinstance(step, int) and isinstance(here, int) and here >= step:
        return (*place[:last], here + by, *place[last + 1 :])
    return place


def _below(place: Path, path: Path) -> bool:
    return place[: len(path)] == path
