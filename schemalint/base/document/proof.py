"""Flatten the content of a file into leaves, to prove that an edit changes only what it should."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias, assert_never

from schemalint.base.document.layout import ends_line, line_break
from schemalint.base.document.nodes import Entry, Mapping, Path, Scalar, Sequence, children
from schemalint.base.document.reader import read_documents

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator
    from collections.abc import Mapping as MappingType

    from schemalint.base.document.nodes import Document, Node

Leaves: TypeAlias = dict[Path, tuple[str, str]]
Content: TypeAlias = tuple[tuple[Path, tuple[str, str]], ...]


def leaves(text: str, file: str) -> Leaves:
    """Return every scalar and empty collection of a file by path; a path begins with the document's index.

    A missing line break at the end of the text is added, because inserted lines add it too.
    """
    return _leaves_of((document.index, document.root) for document in _documents(text, file))


def content(node: Node) -> Content:
    """Return every scalar and empty collection of a node by path, in the order of the text."""
    return tuple(_leaves_below(node, ()))


def leaves_with(document: Document, values: MappingType[Path, str]) -> Leaves:
    """Return the file's leaves with values at paths, each replacing the old value or a null parent."""
    paths = {(document.index, *path): value for path, value in values.items()}
    parents = {path[:-1] for path in paths}
    found = {
        leaf_path: leaf
        for leaf_path, leaf in leaves(document.text, document.file).items()
        if leaf_path not in parents and not _is_below_any(leaf_path, paths)
    }
    for path, value in paths.items():
        for leaf_path, leaf in leaves(value, document.file).items():
            found[*path, *leaf_path[1:]] = leaf
    return found


def leaves_with_inserted(document: Document, path: Path, items: MappingType[int, Collection[str]]) -> Leaves:
    """Return the file's leaves with items inserted into the sequence at ``path``, by the next index."""
    path = (document.index, *path)
    length, indexes = len(path), sorted(items)
    # The number of new items before those at each of the indexes, and before the ones that follow them.
    shifts = list(accumulate((len(items[index]) for index in indexes), initial=0))
    found: Leaves = {}
    for leaf_path, leaf in leaves(document.text, document.file).items():
        if leaf_path[:length] != path:
            found[leaf_path] = leaf
        elif len(leaf_path) > length and isinstance(step := leaf_path[length], int):
            shifted = step + shifts[bisect_right(indexes, step)]
            found[*path, shifted, *leaf_path[length + 1 :]] = leaf
    for shift, index in zip(shifts, indexes, strict=False):
        for position, value in enumerate(items[index], start=index + shift):
            for leaf_path, leaf in leaves(value, document.file).items():
                found[*path, position, *leaf_path[1:]] = leaf
    return found


def leaves_without(document: Document, removed: MappingType[int, Collection[Path]]) -> Leaves:
    """Return the file's leaves without entries or items; an empty collection becomes a leaf.

    Args:
        document: A document of the file.
        removed: The paths of what is removed, by the index of its document.
    """
    return _leaves_of(
        (each.index, _without(each.root, (), removed[each.index]) if each.index in removed else each.root)
        for each in _documents(document.text, document.file)
    )


def _documents(text: str, file: str) -> Iterable[Document]:
    return read_documents(text if ends_line(text, len(text)) else text + line_break(text), file)


def _leaves_of(roots: Iterable[tuple[int, Node]]) -> Leaves:
    return {(index, *path): leaf for index, root in roots for path, leaf in _leaves_below(root, ())}


def _without(node: Node, path: Path, removed: Collection[Path]) -> Node:
    match node:
        case Mapping(entries=entries):
            pairs = ((entry, (*path, entry.key.text)) for entry in entries)
            kept = (
                Entry(entry.key, _without(entry.value, at, removed))
                for entry, at in pairs
                if at not in removed
            )
            return node._replace(entries=tuple(kept))
        case Sequence(items=items):
            numbered = ((item, (*path, index)) for index, item in enumerate(items))
            return node._replace(
                items=tuple(_without(item, at, removed) for item, at in numbered if at not in removed)
            )
        case Scalar():
            return node
        case _:
            assert_never(node)


def _leaves_below(node: Node, path: Path) -> Iterator[tuple[Path, tuple[str, str]]]:
    if isinstance(node, Scalar):
        yield path, (type(node.value).__name__, node.text)
    elif not any(children(node)):
        yield path, (type(node).__name__, "")
    for step, child in children(node):
        yield from _leaves_below(child, (*path, step))


def _is_below_any(path: Path, parents: Container[Path]) -> bool:
    return any(path[:length] in parents for length in range(1, len(path) + 1))
