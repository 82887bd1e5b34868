"""Edit values in a YAML text; comments, quotes, order and line ends of the rest stay unchanged.

Every edit is proven before it is returned: the edited text is read again, and its content must differ from
the old content in that one change only. A layout that an edit cannot handle is refused. What is set or
removed together is proven together: each proof reads the whole text.
"""

from __future__ import annotations

import re
from collections import abc
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from schemalint.base.document import layout
from schemalint.base.document.nodes import Mapping, Scalar, Sequence, Span, children, entry_at, node_at
from schemalint.base.document.proof import leaves, leaves_with, leaves_with_inserted, leaves_without
from schemalint.base.document.reader import read_documents
from schemalint.base.document.scalars import print_scalar
from schemalint.base.errors import ContractError
from schemalint.base.values import frozen, grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from schemalint.base.document.nodes import Document, Entry, Path
    from schemalint.base.document.proof import Leaves


# Slices of two kinds, of a list and of a tuple, would never be equal.
Sliced = TypeVar("Sliced", str, list[Any], tuple[Any, ...])


@frozen
class TextEdit:
    """Replace the text between two offsets (code points of the file's text, the end exclusive)."""

    start: int
    end: int
    text: str


def splice(text: str, edits: Iterable[TextEdit]) -> str:
    """Apply edits to a text; insertions at the same offset keep their order.

    Raises:
        ValueError: Two edits overlap, or an edit is outside the text.
    """
    pieces, position = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if not position <= edit.start <= edit.end <= len(text):
            raise ValueError(f"edits overlap or are outside the text at offset {edit.start}")
        pieces += [text[position : edit.start], edit.text]
        position = edit.end
    return "".join([*pieces, text[position:]])


def apply_edits(text: str, edits: Iterable[TextEdit], file: str) -> str:
    """Apply edits to a text, and read the result to prove that it is still YAML.

    Each edit is proven alone. If an edit depends on another (both fill the same empty mapping), apply the
    first and read the document again before making the second.

    Raises:
        ContractError: The result cannot be read.
        ValueError: Two edits overlap, or an edit is outside the text.
    """
    edited = splice(text, edits)
    read_documents(edited, file)
    return edited


def set_key(document: Document, path: Path, key: str, value: str) -> TextEdit:
    """Return the edit that sets a key of the mapping at ``path``: in place, or as its last entry.

    A missing or null mapping is created if its parent exists.

    Args:
        document: The document to edit.
        path: The path of the mapping.
        key: The key.
        value: YAML on one line: a scalar from ``print_scalar``, or a flow collection.

    Raises:
        ContractError: There is no mapping at the path, or its layout cannot be edited in place.
    """
    (edit,) = set_keys(document, {(*path, key): value})
    return edit


def set_keys(document: Document, values: abc.Mapping[Path, str]) -> tuple[TextEdit, ...]:
    """Return the edits that set keys of mappings, as `set_key` does.

    Args:
        document: The document to edit.
        values: YAML on one line each, as in `set_key`, by path; the paths end with the keys.

    Raises:
        ContractError: There is no mapping around a path, or its layout cannot be edited in place.
    """
    edits: list[TextEdit] = []
    by_mapping = grouped((path[:-1], (str(path[-1]), value)) for path, value in values.items())
    for path, keys in by_mapping.items():
        node = node_at(document, path)
        entries = {entry.key.text: entry for entry in (node.entries if isinstance(node, Mapping) else ())}
        known = [(entries[key], value) for key, value in keys if key in entries]
        edits += [_replace_value(document.text, entry, value) for entry, value in known]
        lines = tuple(f"{print_scalar(key)}: {value}" for key, value in keys if key not in entries)
        if lines:
            edits.append(_add(document, path, _Child(Mapping, lines, ", ".join(lines), "{}")))
    return _proven(document, next(iter(values))[:-1], edits, lambda: leaves_with(document, values))


def append_item(document: Document, path: Path, value: str) -> TextEdit:
    """Return the edit that appends an item to the sequence at ``path``, as `append_items` does."""
    (edit,) = append_items(document, {path: [value]})
    return edit


def append_items(document: Document, items: abc.Mapping[Path, abc.Sequence[str]]) -> tuple[TextEdit, ...]:
    """Return the edits that append items to sequences; a missing or null sequence is created.

    Args:
        document: The document to edit.
        items: YAML on one line each, as in ``set_key``, by the path of the sequence; at least one for each.

    Raises:
        ContractError: There is no sequence at a path, or its layout cannot be edited in place.
    """
    edits: list[TextEdit] = []
    expected: dict[Path, str] = {}
    for path, values in items.items():
        node = node_at(document, path)
        count = len(node.items) if isinstance(node, Sequence) else 0
        lines = tuple(f"- {value}" for value in values)
        edits.append(_add(document, path, _Child(Sequence, lines, ", ".join(values), "[]")))
        expected |= {(*path, index): value for index, value in enumerate(values, start=count)}
    return _proven(document, next(iter(items)), edits, lambda: leaves_with(document, expected))


def insert_item(document: Document, path: Path, index: int, value: str) -> TextEdit:
    """Return the edit that inserts an item into the sequence at ``path``, as `insert_items` does."""
    (edit,) = insert_items(document, path, {index: [value]})
    return edit


def insert_items(
    document: Document, path: Path, items: abc.Mapping[int, abc.Sequence[str]]
) -> tuple[TextEdit, ...]:
    """Return the edits that insert items into the sequence at ``path``.

    A comment stays with the item below it, or with the item above it if it is indented deeper than the dash.

    Args:
        document: The document to edit.
        path: The path of the sequence.
        items: The new items, by the index of the item that they precede; those of the highest index may be at
            the end. YAML on one line each; block sequences accept several lines too.

    Raises:
        ContractError: There is no sequence at the path, or its layout cannot be edited in place.
    """
    node = node_at(document, path)
    if not isinstance(node, Sequence) or max(items) > len(node.items):
        raise _refusal(document, path)
    members = layout.members(document.text, node)
    edits: list[TextEdit] = []
    for index, values in items.items():
        lines = tuple(line for value in values for line in _item_lines(value))
        flow = ", ".join(values)
        if index >= len(members) and node.flow:
            edits.append(_insert(document.text, node, _Child(Sequence, lines, flow, "[]")))
        elif node.flow:
            start = members[index].start
            edits.append(TextEdit(start, start, f"{flow}, "))
        else:
            edits.append(_insert_block_item(document.text, members, index, lines))
    return _proven(document, path, edits, lambda: leaves_with_inserted(document, path, items))


def _item_lines(value: str) -> Iterator[str]:
    first, *rest = value.split("\n")
    yield f"- {first}"
    yield from (f"  {line}" if line else "" for line in rest)


def remove_entry(document: Document, path: Path) -> TextEdit:
    """Return the edit that removes the entry or item at ``path``; the last one leaves ``{}`` or ``[]``.

    Raises:
        ContractError: There is no entry or item at the path, or its layout cannot be edited in place.
    """
    (edit,) = remove_entries(document, [path])
    return edit


def remove_entries(document: Document, paths: abc.Collection[Path]) -> tuple[TextEdit, ...]:
    """Return the edits that remove entries or items, as `remove_entry` does.

    Raises:
        ContractError: There is no entry or item at a path, or its layout cannot be edited in place.
    """
    (edits,) = remove_from_documents([(document, paths)])
    return tuple(dict.fromkeys(edits.values()))


def remove_from_documents(
    removed: abc.Sequence[tuple[Document, abc.Collection[Path]]],
) -> tuple[dict[Path, TextEdit], ...]:
    """Return for each document of one text the edits that remove entries or items, by their paths.

    Neighbours in brackets, and all members of a collection, are removed by one edit.

    Raises:
        ContractError: See `remove_entries`.
    """
    found = tuple(_removals(document, paths) for document, paths in removed)
    edits = [edit for of_document in found for edit in dict.fromkeys(of_document.values())]
    document, paths = removed[0]
    removed_paths = {each.index: frozenset(paths) for each, paths in removed}
    _proven(document, next(iter(paths)), edits, lambda: leaves_without(document, removed_paths))
    return found


def _removals(document: Document, paths: abc.Collection[Path]) -> dict[Path, TextEdit]:
    edits: dict[Path, TextEdit] = {}
    for path, steps in grouped((path[:-1], path[-1:]) for path in paths).items():
        container = node_at(document, path)
        if not isinstance(container, Mapping | Sequence):
            raise _refusal(document, path)
        indexes: dict[Path, int] = {(step,): index for index, (step, _) in enumerate(children(container))}
        if any(step not in indexes for step in steps):
            raise _refusal(document, path)
        members = layout.members(document.text, container)
        removed = {indexes[step]: (*path, *step) for step in steps}
        if len(removed) == len(members):
            edit = _replace(document, path, "{}" if isinstance(container, Mapping) else "[]")
            edits |= dict.fromkeys(removed.values(), edit)
        elif container.flow:
            for first, last in _runs(sorted(removed)):
                edit = _remove_from_flow(members, first, last)
                edits |= {removed[index]: edit for index in range(first, last + 1)}
        else:
            for index in sorted(removed):
                edits[removed[index]] = _remove_lines(document, removed[index], members, index)
    return edits


class _Child(NamedTuple):
    """A new entry or item, printed both as block lines and for a flow collection."""

    container: type[Mapping | Sequence]
    lines: tuple[str, ...]
    flow: str
    brackets: str

    def in_brackets(self) -> str:
        return self.brackets[0] + self.flow + self.brackets[1]


def _add(document: Document, path: Path, child: _Child) -> TextEdit:
    node = node_at(document, path)
    if isinstance(node, Mapping | Sequence) and isinstance(node, child.container):
        return _insert(document.text, node, child)
    if isinstance(node, Scalar) and node.value is None:
        return _fill_null(document, path, node, child)
    parent = node_at(document, path[:-1])
    if node is None and isinstance(parent, Mapping) and isinstance(path[-1], str):
        return _insert(document.text, parent, _with_key(document, path[-1], child))
    raise _refusal(document, path)


def _with_key(document: Document, key: str, child: _Child) -> _Child:
    name = print_scalar(key)
    indent = " " * layout.block_indent(document, child.container)
    lines = (f"{name}:", *(indent + line for line in child.lines))
    return _Child(Mapping, lines, f"{name}: {child.in_brackets()}", "{}")


def _insert(text: str, container: Mapping | Sequence, child: _Child) -> TextEdit:
    start, end = container.start, container.end
    if not container.flow:
        indent = " " * layout.column(text, start)
        return _insert_lines(text, end, [indent + line for line in child.lines])
    members = layout.members(text, container)
    if members:
        last = members[-1].end
        return TextEdit(last, last, ", " + child.flow)
    inside = text[start + 1 : end - 1]
    comment = inside if inside.strip() else ""
    return TextEdit(start, end, child.brackets[0] + child.flow + comment + child.brackets[1])


def _insert_block_item(text: str, members: list[Span], index: int, lines: tuple[str, ...]) -> TextEdit:
    indent = layout.column(text, members[0].start)
    first, *rest = lines
    if index == 0:
        # Insert after the indentation: another dash may precede the first item on its line (`- - a`).
        following = [*(" " * indent + line if line else "" for line in rest), " " * indent]
        start = members[0].start
        return TextEdit(start, start, layout.line_break(text).join([first, *following]))
    end = layout.end_with_comments(text, members[index - 1].end, indent)
    return _insert_lines(text, end, [" " * indent + line if line else "" for line in lines])


def _insert_lines(text: str, end: int, lines: list[str]) -> TextEdit:
    """Insert lines after the line in which the last value ends, before blank lines and comments."""
    line_break = layout.line_break(text)
    if layout.ends_line(text, end):
        return TextEdit(end, end, "".join(line + line_break for line in lines))
    offset = layout.line_end(text, end)
    return TextEdit(offset, offset, "".join(line_break + line for line in lines))


def _fill_null(document: Document, path: Path, null: Scalar, child: _Child) -> TextEdit:
    """Fill a null: with a block if its key is in a block mapping, else with a flow collection."""
    text, entry, parent = document.text, entry_at(document, path), node_at(document, path[:-1])
    if entry is None or not isinstance(parent, Mapping) or parent.flow:
        return _replace(document, path, child.in_brackets())
    start, end = layout.after_colon(text, entry), layout.line_end(text, null.end)
    comment = text[start : null.start].rstrip() + text[null.end : end].rstrip()
    column = layout.column(text, entry.key.start) + layout.block_indent(document, child.container)
    lines = (layout.line_break(text) + " " * column + line for line in child.lines)
    return TextEdit(start, end, comment + "".join(lines))


def _replace(document: Document, path: Path, value: str) -> TextEdit:
    entry, node = entry_at(document, path), node_at(document, path)
    if entry:
        return _replace_value(document.text, entry, value)
    if node is None:
        raise _refusal(document, path)
    return _replace_span(document.text, node.span, value)


def _replace_value(text: str, entry: Entry, value: str) -> TextEdit:
    key, old = entry.key.span, entry.value.span
    if not re.match(r"\s*:", text[key.end : old.start]):
        return TextEdit(key.end, key.end, f": {value}")  # a key without colon, as in {key}
    start = layout.after_colon(text, entry)
    first_line_end = layout.line_end(text, start)
    if first_line_end >= old.start:
        return _replace_span(text, old, value)
    comment = text[start:first_line_end].strip()
    return TextEdit(start, layout.content_end(text, old), f" {value}" + (f"  {comment}" if comment else ""))


def _replace_span(text: str, span: Span, value: str) -> TextEdit:
    """Replace a span; an empty null directly after a colon or dash needs a space before the new value."""
    needs_space = span.start == span.end and text[span.start - 1 : span.start] in {":", "-"}
    return TextEdit(span.start, layout.content_end(text, span), f" {value}" if needs_space else value)


def _runs(indexes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of indexes that follow each other."""
    for _offset, run in groupby(enumerate(indexes), key=lambda pair: pair[1] - pair[0]):
        first, *rest = (index for _position, index in run)
        yield first, rest[-1] if rest else first


def _remove_from_flow(members: list[Span], first: int, last: int) -> TextEdit:
    if last + 1 < len(members):
        return TextEdit(members[first].start, members[last + 1].start, "")
    return TextEdit(members[first - 1].end, members[last].end, "")


def _remove_lines(document: Document, path: Path, members: list[Span], index: int) -> TextEdit:
    text = document.text
    start, end = members[index]
    line_start = layout.line_start(text, start)
    if not text[line_start:start].strip():
        return TextEdit(line_start, end if layout.ends_line(text, end) else layout.next_line(text, end), "")
    # A dash precedes this member on its line: the next member moves up, unless a comment separates them.
    if index + 1 == len(members):  # a question mark does
        raise _refusal(document, path)
    end, following = layout.line_end(text, end), members[index + 1].start
    return TextEdit(start, end if text[end:following].strip() else following, "")


def _proven(
    document: Document, path: Path, edits: abc.Sequence[TextEdit], expected: Callable[[], Leaves]
) -> tuple[TextEdit, ...]:
    try:
        if leaves(splice(document.text, edits), document.file) == expected():
            return tuple(edits)
    except (ContractError, ValueError) as error:  # unreadable, or edits that overlap
        raise _refusal(document, path) from error
    raise _refusal(document, path)


def _refusal(document: Document, path: Path) -> ContractError:
    nodes = (node_at(document, path[:length]) for length in range(len(path), -1, -1))
    nearest = next(node for node in nodes if node)
    message = f"the text at {'.'.join(map(str, path)) or 'the root'} cannot be edited in place"
    return ContractError(message, help="make the change by hand", location=document.location(nearest.span))


def common_length(first: Sliced, second: Sliced) -> int:
    """Return the length of the common prefix of two sequences; slices are compared without a loop here."""
    same, most = 0, min(len(first), len(second))
    while same < most:
        middle = (same + most + 1) // 2
        if first[same:middle] == second[same:middle]:
            same = middle
        else:
            most = middle - 1
    return same
