"""Edit a YAML text in place: operations on its tree become changes of the text.

The text is parsed once, and all changes are made by its spans: comments, quotes, order and line ends of the
rest stay. `edited_text` makes the changes of a file, and proves all of them together.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as MappingType
from functools import cached_property
from itertools import groupby, pairwise
from typing import Final, TypeAlias

from schemalint.base.document import (
    Document,
    Entry,
    Mapping,
    Node,
    Path,
    Scalar,
    Sequence,
    Span,
    children,
    entry_at,
    layout,
    location,
    node_at,
    print_scalar,
    splice,
)
from schemalint.base.errors import ContractError
from schemalint.base.phrases import affixed
from schemalint.base.values import frozen, grouped, replace
from schemalint.contract.proof import refusal, require_proof
from schemalint.model.contract_edit import Assign, Insert, Operation, Remove, TextChange

_Container: TypeAlias = Mapping | Sequence
_Numbered: TypeAlias = Iterable[tuple[int, Operation]]
_Removals: TypeAlias = MappingType[int, Operation]
"""What removes members of a container, by their indexes."""

_BRACKETS: Final[dict[type[Node], tuple[str, str]]] = {Mapping: ("{", "}"), Sequence: ("[", "]")}


def edited_text(file: str, text: str, changes: Iterable[TextChange]) -> str:
    """Return the text of a file after changes; schemalint and ruamel.yaml read in it what was asked for.

    Raises:
        ContractError: The changes overlap, or their layout cannot be edited in place.
        InternalError: Only schemalint reads the edited text as intended.
    """
    all_changes = tuple(changes)
    try:
        after = splice(text, all_changes)
    except ValueError as error:
        raise ContractError(f"{file}: changes overlap", help="make them one by one") from error
    if all_changes:
        require_proof(file, text, after, all_changes)
    return after


@frozen
class _Addition:
    """A new entry or item.

    Attributes:
        index: The index of the member that it precedes; the number of members at the end.
        order: Where its first operation stands among all.
        lines: Its lines in a block.
        flow: Its text in brackets.
        operations: The operations that ask for it.
    """

    index: int
    order: int
    lines: tuple[str, ...]
    flow: str
    operations: tuple[Operation, ...]


class TextEditor:
    """Turns operations on the tree of one document into changes of its text."""

    def __init__(self, document: Document) -> None:
        """Take the document; its text is not read again."""
        self.document = document
        self._text = document.text

    def changes(self, operations: Iterable[Operation]) -> tuple[TextChange, ...]:
        """Return the changes that make all operations, in the order of the text and without overlaps.

        Args:
            operations: The operations; all paths are those of the document as it is.

        Raises:
            ContractError: An operation does not fit the document, or its layout cannot be edited in place.
        """
        groups = grouped((_container_of(each), (number, each)) for number, each in enumerate(operations))
        additions: defaultdict[Path, list[_Addition]] = defaultdict(list)
        for path, group in groups.items():
            members = [*self._additions(path, group)]
            if node_at(self.document, path) is None:
                additions[path[:-1]].append(self._entry_with(path, members))
            else:
                additions[path] += members
        changes: list[TextChange] = []
        # The innermost come first: what is inserted at one offset stands in this order.
        for path in sorted(additions, key=len, reverse=True):
            members = sorted(additions[path], key=lambda addition: addition.order)
            changes += self._in_container(path, groups.get(path, ()), members)
        changes.sort(key=lambda change: (change.start, change.end))
        for change, following in pairwise(changes):
            if following.start < change.end:
                raise refusal(self.document, _container_of(following.operations[0]))
        return tuple(self._without_blank_line(changes))

    def _additions(self, path: Path, group: _Numbered) -> Iterator[_Addition]:
        """Yield the new members of a container, which may be missing or null."""
        node = node_at(self.document, path)
        keys = {entry.key.text for entry in node.entries} if isinstance(node, Mapping) else set()
        count = len(node.items) if isinstance(node, Sequence) else 0
        for number, operation in group:
            match operation:
                case Insert(index=index, value=value) if not isinstance(node, Mapping):
                    if index is not None and not (isinstance(node, Sequence) and index <= count):
                        raise refusal(self.document, path)
                    at, lines = count if index is None else index, tuple(_item_lines(value))
                    yield _Addition(at, number, lines, value, (operation,))
                case Assign(path=(*_, str() as key), value=value) if not isinstance(node, Sequence):
                    if key not in keys:
                        line = f"{print_scalar(key)}: {value}"
                        yield _Addition(len(keys), number, (line,), line, (operation,))
                case Remove() if isinstance(node, _Container):
                    pass
                case _:
                    raise refusal(self.document, operation.path)

    def _entry_with(self, path: Path, members: list[_Addition]) -> _Addition:
        """Return a new entry whose value is a new container."""
        parent = node_at(self.document, path[:-1])
        if not isinstance(parent, Mapping) or not isinstance(path[-1], str):
            raise refusal(self.document, path)
        key, indent = print_scalar(path[-1]), " " * self._indents[_kind_of(members)]
        lines = (f"{key}:", *(_indented(line, indent) for member in members for line in member.lines))
        flow, operations = f"{key}: {_in_brackets(members)}", _operations(members)
        return _Addition(len(parent.entries), members[0].order, lines, flow, operations)

    def _in_container(self, path: Path, group: _Numbered, additions: list[_Addition]) -> Iterator[TextChange]:
        node = node_at(self.document, path)
        if isinstance(node, Scalar) and node.value is None:
            yield self._filled(path, node, additions)
            return
        if not isinstance(node, Mapping | Sequence):
            raise refusal(self.document, path)
        indexes = {step: index for index, (step, _child) in enumerate(children(node))}
        removals: dict[int, Operation] = {}
        for _number, operation in group:
            step = operation.path[-1] if operation.path else ""
            match operation:
                case Remove() if step in indexes:
                    removals[indexes[step]] = operation
                case Remove():
                    raise refusal(self.document, operation.path)
                case Assign(value=value) if isinstance(node, Mapping) and step in indexes:
                    yield self._entry_change(node.entries[indexes[step]], value, operation)
        if removals or additions:
            if node.flow and self._text[node.start] != _BRACKETS[type(node)][0]:  # a pair, as in [a: b]
                raise refusal(self.document, path)
            members = layout.members(self._text, node)
            if len(removals) == len(members) and (node.flow or not additions):
                yield self._refilled(path, node, removals, additions)
            elif node.flow:
                yield from self._in_flow(members, removals, additions)
            else:
                yield from self._in_block(path, node, members, removals, additions)

    def _refilled(
        self, path: Path, node: _Container, removals: _Removals, additions: list[_Addition]
    ) -> TextChange:
        """Replace all members of a container, or fill an empty one."""
        inside = "" if removals else self._text[node.start + 1 : node.end - 1]
        comment = inside if inside.strip() else ""
        start, end = _BRACKETS[type(node)]
        value = start + ", ".join(addition.flow for addition in additions) + comment + end
        return self._value_change(path, node, value, *removals.values(), *_operations(additions))

    def _in_flow(
        self, members: list[Span], removals: _Removals, additions: list[_Addition]
    ) -> Iterator[TextChange]:
        rest = [index for index in range(len(members)) if index not in removals]
        for first, last in _runs(sorted(removals)):
            if last + 1 < len(members):
                span = Span(members[first].start, members[last + 1].start)
            else:
                span = Span(members[first - 1].end, members[last].end)
            yield self._change(span, "", *(removals[index] for index in range(first, last + 1)))
        for addition in additions:
            following = bisect_left(rest, addition.index)
            if following < len(rest):
                offset, text = members[rest[following]].start, f"{addition.flow}, "
            else:
                offset, text = members[-1].end, f", {addition.flow}"
            yield self._change(Span(offset, offset), text, *addition.operations)

    def _in_block(
        self,
        path: Path,
        node: _Container,
        members: list[Span],
        removals: _Removals,
        additions: list[_Addition],
    ) -> Iterator[TextChange]:
        spans = {index: self._lines_of(path, members, index, removals) for index in removals}
        for index, operation in removals.items():
            yield self._change(spans[index], "", operation)
        column = layout.column(self._text, node.start)
        for addition in additions:
            lines = [_indented(line, " " * column) for line in addition.lines]
            if addition.index == 0 and 0 not in removals:
                # Another dash may precede the first item on its line, as in `- - a`.
                offset = members[0].start
                text = layout.line_break(self._text).join([*lines, ""])[column:] + " " * column
            else:
                end = self._end_before(node, members, spans, addition.index, column)
                offset, text = self._lines_at(end, lines)
            yield self._change(Span(offset, offset), text, *addition.operations)

    def _end_before(
        self, node: _Container, members: list[Span], removed: MappingType[int, Span], index: int, column: int
    ) -> int:
        """Return the end of what precedes a new member; comments that are indented deeper belong to it."""
        if index == 0:
            return removed[0].start
        end = removed[index - 1].end if index - 1 in removed else members[index - 1].end
        if isinstance(node, Sequence):
            return layout.end_with_comments(self._text, end, column)
        return end

    def _lines_at(self, end: int, lines: list[str]) -> tuple[int, str]:
        """Return lines for the end of a line, or for its start, and the offset where they begin."""
        text, line_break = self._text, layout.line_break(self._text)
        offset = end if layout.line_start(text, end) == end else layout.next_line(text, end)
        if layout.line_start(text, offset) == offset:
            return offset, "".join(line + line_break for line in lines)
        return offset, "".join(line_break + line for line in lines)

    def _lines_of(self, path: Path, members: list[Span], index: int, removals: _Removals) -> Span:
        """Return the lines of a member to remove."""
        text, (start, end) = self._text, members[index]
        line_start = layout.line_start(text, start)
        before = text[line_start:start]
        if not before.strip():
            return Span(line_start, end if layout.ends_line(text, end) else layout.next_line(text, end))
        # A dash precedes this member on its line: the next one moves up, unless a comment separates them.
        if before.strip(" \t-") or index + 1 == len(members) or index + 1 in removals:
            raise refusal(self.document, path)
        end, following = layout.line_end(text, end), members[index + 1].start
        return Span(start, end if text[end:following].strip() else following)

    def _without_blank_line(self, changes: list[TextChange]) -> Iterator[TextChange]:
        """Yield changes; new lines at the end of a text begin with no break if the lines before them go."""
        text, end = self._text, len(self._text)
        is_free = any(change.start < change.end == end and not change.text for change in changes)
        for change in changes:
            if is_free and change.start == end:
                is_free = False
                yield replace(change, text=change.text.removeprefix(layout.line_break(text)))
            else:
                yield change

    def _filled(self, path: Path, null: Scalar, additions: list[_Addition]) -> TextChange:
        """Fill a null: with a block if its key is in a block mapping, else with brackets."""
        text, entry, parent = self._text, entry_at(self.document, path), node_at(self.document, path[:-1])
        operations = _operations(additions)
        if entry is None or not isinstance(parent, Mapping) or parent.flow:
            return self._value_change(path, null, _in_brackets(additions), *operations)
        start, end = layout.after_colon(text, entry), layout.line_end(text, null.end)
        comment = text[start : null.start].rstrip() + text[null.end : end].rstrip()
        indent = " " * (layout.column(text, entry.key.start) + self._indents[_kind_of(additions)])
        lines = (_indented(line, indent) for addition in additions for line in addition.lines)
        block = "".join(layout.line_break(text) + line for line in lines)
        return self._change(Span(start, end), comment + block, *operations)

    def _value_change(self, path: Path, node: Node, value: str, *operations: Operation) -> TextChange:
        """Replace the value at a path."""
        entry = entry_at(self.document, path)
        if entry is not None:
            return self._entry_change(entry, value, *operations)
        return self._change(*self._replacement(node.span, value), *operations)

    def _entry_change(self, entry: Entry, value: str, *operations: Operation) -> TextChange:
        """Replace the value of an entry."""
        text, key, old = self._text, entry.key.span, entry.value.span
        if not re.match(r"\s*:", text[key.end : old.start]):  # a key without colon, as in {key}
            return self._change(Span(key.end, key.end), f": {value}", *operations)
        start = layout.after_colon(text, entry)
        first_line_end = layout.line_end(text, start)
        if first_line_end >= old.start:
            return self._change(*self._replacement(old, value), *operations)
        comment = text[start:first_line_end].strip()
        span = Span(start, layout.content_end(text, old))
        return self._change(span, f" {value}{affixed('  ', comment)}", *operations)

    def _replacement(self, span: Span, value: str) -> tuple[Span, str]:
        """An empty null directly after a colon or dash needs a space before the new value."""
        needs_space = span.start == span.end and self._text[span.start - 1 : span.start] in {":", "-"}
        end = layout.content_end(self._text, span)
        return Span(span.start, end), f" {value}" if needs_space else value

    @cached_property
    def _indents(self) -> dict[type[_Container], int]:
        """The indentation of blocks below their keys."""
        return {kind: layout.block_indent(self.document, kind) for kind in (Mapping, Sequence)}

    def _change(self, span: Span, text: str, *operations: Operation) -> TextChange:
        position = location(self.document.file, self._text, span)
        return TextChange(position, *span, text, self.document.index, operations)


def _container_of(operation: Operation) -> Path:
    if isinstance(operation, Insert):
        return operation.path
    return operation.path[:-1]


def _kind_of(members: Iterable[_Addition]) -> type[_Container]:
    is_list = all(isinstance(operation, Insert) for operation in _operations(members))
    return Sequence if is_list else Mapping


def _in_brackets(members: list[_Addition]) -> str:
    start, end = _BRACKETS[_kind_of(members)]
    return start + ", ".join(member.flow for member in members) + end


def _operations(additions: Iterable[_Addition]) -> tuple[Operation, ...]:
    return tuple(operation for addition in additions for operation in addition.operations)


def _item_lines(value: str) -> Iterator[str]:
    first, *rest = value.split("\n")
    yield f"- {first}"
    yield from (_indented(line, "  ") for line in rest)


def _indented(line: str, indent: str) -> str:
    return affixed(indent, line)


def _runs(indexes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of indexes that follow each other."""
    for _offset, run in groupby(enumerate(indexes), key=lambda pair: pair[1] - pair[0]):
        first, *rest = (index for _position, index in run)
        yield first, rest[-1] if rest else first
