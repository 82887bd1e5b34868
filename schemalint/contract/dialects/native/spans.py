"""Find the spans of a native contract's anchors in its YAML."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Mapping as MappingType
from functools import lru_cache
from typing import Final

from schemalint.base.document import (
    Document,
    Entry,
    Mapping,
    Node,
    Scalar,
    Sequence,
    Span,
    entries_of,
    items_of,
    node_at,
    value_of,
)
from schemalint.base.document import Path as YamlPath
from schemalint.base.document.outline import Outline
from schemalint.base.values import frozen, grouped
from schemalint.contract.anchors import normal
from schemalint.contract.dialects.native.faults import inside
from schemalint.delta import properties
from schemalint.delta.datatype import Struct
from schemalint.delta.path import Part, Path, split_path
from schemalint.delta.protocol import canonical
from schemalint.delta.type_text import TypeTextError, parse_type_with_spans
from schemalint.model.contract import Anchor


@frozen
class Level:
    """A level: a column, or a part of a type, that has a YAML mapping of its own.

    Attributes:
        path: The path in the schema.
        yaml_path: The path in the document.
        node: The mapping.
    """

    path: Path
    yaml_path: YamlPath
    node: Mapping


class ColumnSpans:
    """The spans in the columns of a valid contract, computed on lookup: most contracts have no findings."""

    __slots__ = ("_columns", "_file", "_spans", "_text", "outline")

    def __init__(self, document: Document, outline: Outline, columns: Struct) -> None:
        """Take the document of the contract, where its columns are, and the columns that it declares."""
        self.outline = outline
        self._file = document.file
        self._text = document.text
        self._columns = columns
        self._spans: dict[str, dict[Anchor, Span]] = {}

    def of(self, name: str) -> dict[Anchor, Span]:
        """Return the spans in the columns with a name; it is in lower case."""
        if name not in self._spans:
            spans: dict[Anchor, Span] = {}
            for index in _indexes(self).get(name, ()):
                for anchor, span in self._in_column(index):
                    if spans.setdefault(anchor, span) != span and anchor[0] == "column":
                        spans.setdefault(("repeated", *anchor[1:]), span)
            self._spans[name] = spans
        return self._spans[name]

    def names(self) -> Iterable[str]:
        """Return the names of the columns in lower case, each once."""
        return _indexes(self)

    def indexes(self) -> MappingType[str, tuple[int, ...]]:
        """Return the indexes of the columns with each name."""
        return grouped((column.name.lower(), index) for index, column in enumerate(self._columns.fields))

    def _in_column(self, index: int) -> Iterator[tuple[Anchor, Span]]:
        document, node, shift = self.outline.read_item(index, self._text, self._file)
        for column in _columns_of([node], (), ()):
            for level in _levels(column):
                for anchor, (start, end) in spans_in_level(document, level):
                    yield normal(anchor), Span(start + shift, end + shift)


@lru_cache(maxsize=8)
def _indexes(columns: ColumnSpans) -> MappingType[str, tuple[int, ...]]:
    return columns.indexes()


def setting_spans(document: Document, targets: Iterable[str]) -> dict[str | None, MappingType[Anchor, Span]]:
    """Return the spans of the settings by normalized anchor: those for all targets, and for each of some."""
    shared = {normal(anchor): span for anchor, span in _in_settings(document.root)}
    spans: dict[str | None, MappingType[Anchor, Span]] = {None: shared}
    for target in targets:
        overlay = _in_settings(node_at(document, ("targets", target)))
        spans[target] = ChainMap({normal(anchor): span for anchor, span in overlay}, shared)
    return spans


def written_columns(document: Document) -> Iterator[Level]:
    """Yield every column, field and part that has a YAML mapping of its own, parents first."""
    for column in _columns(document.root, (), ()):
        yield from _levels(column)


def _columns(parent: Node, path: Path, yaml_path: YamlPath) -> Iterator[Level]:
    yield from _columns_of(items_of(value_of(parent, "columns")), path, yaml_path)


def _columns_of(nodes: Iterable[Node], path: Path, yaml_path: YamlPath) -> Iterator[Level]:
    for index, node in enumerate(nodes):
        name = value_of(node, "name")
        if isinstance(node, Mapping) and isinstance(name, Scalar):
            yield Level((*path, name.text), (*yaml_path, "columns", index), node)


def _levels(level: Level) -> Iterator[Level]:
    yield level
    for column in _columns(level.node, level.path, level.yaml_path):
        yield from _levels(column)
    for part in Part:
        node = value_of(level.node, part.value)
        if isinstance(node, Mapping):
            yield from _levels(Level((*level.path, part), (*level.yaml_path, part.value), node))


def spans_in_level(document: Document, level: Level) -> Iterator[tuple[Anchor, Span]]:
    """Yield the spans of a column or part, without those of the levels inside it."""
    path = level.path
    for entry in level.node.entries:
        key = entry.key.text
        if key == "type" and isinstance(entry.value, Scalar):
            yield from _in_type(document, path, entry.value)
        elif key == "name":
            yield ("column", path), entry.value.span
        else:
            yield (key, path), _value_span(entry)
            for inner in entries_of(entry.value) if key in {"backfill", "rewrite"} else ():
                yield (f"{key}.{inner.key.text}", path), _value_span(inner)


def _in_type(document: Document, path: Path, text: Scalar) -> Iterator[tuple[Anchor, Span]]:
    yield ("type", path), text.span
    try:
        parts = parse_type_with_spans(text.text).spans
    except TypeTextError:  # struct, array or map, written out level by level
        return
    for inner_path, (start, end) in parts.items():
        span = inside(document, text, start, end)
        if inner_path:
            yield ("type", (*path, *inner_path)), span
        if inner_path and not isinstance(inner_path[-1], Part):
            yield ("column", (*path, *inner_path)), span


def _in_settings(node: Node | None) -> Iterator[tuple[Anchor, Span]]:
    """Yield the spans of top-level settings, or of a target's settings."""
    for entry in entries_of(node):
        yield (entry.key.text,), _value_span(entry)
        members = _MEMBERS.get(entry.key.text)
        if members is not None:
            yield from members(entry.value)


def _in_properties(value: Node) -> Iterator[tuple[Anchor, Span]]:
    for entry in entries_of(value):
        yield ("property", properties.canonical(entry.key.text)), _entry_span(entry)


def _in_constraints(value: Node) -> Iterator[tuple[Anchor, Span]]:
    for entry in entries_of(value):
        yield ("constraint", entry.key.text), _entry_span(entry)


def _in_targets(value: Node) -> Iterator[tuple[Anchor, Span]]:
    for entry in entries_of(value):
        yield ("target", entry.key.text), entry.key.span


def _in_features(value: Node) -> Iterator[tuple[Anchor, Span]]:
    for item in items_of(value):
        name = value_of(item, "feature") or item
        if isinstance(name, Scalar):
            yield ("feature", canonical(name.text)), name.span


def _in_consumers(value: Node) -> Iterator[tuple[Anchor, Span]]:
    for item in items_of(value):
        name = value_of(item, "name") or item
        if isinstance(name, Scalar):
            yield ("consumer", name.text), name.span
            for entry in entries_of(item):
                yield ("consumer", name.text, entry.key.text), _value_span(entry)


def _in_exceptions(value: Node) -> Iterator[tuple[Anchor, Span]]:
    for index, item in enumerate(items_of(value)):
        yield ("exception", index), (value_of(item, "rule") or item).span


def _in_dropped(value: Node) -> Iterator[tuple[Anchor, Span]]:
    for index, item in enumerate(items_of(value)):
        column = value_of(item, "column") or item
        yield ("dropped", index), column.span
        if isinstance(column, Scalar):
            yield ("dropped", split_path(column.text)), column.span


def _in_paths(kind: str) -> Callable[[Node], Iterator[tuple[Anchor, Span]]]:
    """Return the spans of what a contract that extends another one says of columns, by their paths."""

    def spans(value: Node) -> Iterator[tuple[Anchor, Span]]:
        for entry in entries_of(value):
            path = split_path(entry.key.text)
            yield (kind, path), _entry_span(entry) if isinstance(entry.value, Scalar) else entry.key.span
            for inner in entries_of(entry.value):
                yield (f"{kind}.{inner.key.text}", path), _value_span(inner)

    return spans


_MEMBERS: Final[dict[str, Callable[[Node], Iterator[tuple[Anchor, Span]]]]] = {
    "properties": _in_properties,
    "constraints": _in_constraints,
    "targets": _in_targets,
    "features": _in_features,
    "drop_features": _in_features,
    "consumers": _in_consumers,
    "allow": _in_exceptions,
    "dropped": _in_dropped,
    **{kind: _in_paths(kind) for kind in ("backfill", "deprecated", "renamed_from", "type_changes")},
}


def _value_span(entry: Entry) -> Span:
    """Return the span of the value, or of the key if the value is a block collection or empty."""
    value = entry.value
    block = isinstance(value, Mapping | Sequence) and not value.flow
    if block or value.start == value.end:
        return entry.key.span
    return value.span


def _entry_span(entry: Entry) -> Span:
    return Span(entry.key.start, max(entry.key.end, entry.value.end))
