"""Find the spans of a native contract's anchors in its YAML."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from collections.abc import Mapping as MappingType
from typing import Final

from schemalint.contract.anchors import normal
from schemalint.contract.dialects.native.column_path import inside
from schemalint.delta import properties
from schemalint.delta.path import Part, Path, split_path
from schemalint.delta.protocol import canonical
from schemalint.delta.type_text import TypeTextError, parse_type_with_spans
from schemalint.document import Document, Entry, Mapping, Node, Scalar, Sequence, Span, node_at
from schemalint.document import Path as YamlPath
from schemalint.model.contract import Anchor
from schemalint.values import frozen


@frozen
class Written:
    """A level: a column, or a part of a type, that has a YAML mapping of its own.

    Attributes:
        path: The path in the schema.
        yaml_path: The path in the document.
        node: The mapping.
    """

    path: Path
    yaml_path: YamlPath
    node: Mapping


class Spans(MappingType[Anchor, Span]):
    """The spans of a valid contract, by normalized anchor.

    A finding is about one column of many, so the spans of a column are computed on first lookup.
    """

    def __init__(self, document: Document, target: str | None = None) -> None:
        """Find the spans of the settings.

        Args:
            document: The document of the contract.
            target: The target whose overlay is included; None for the shared settings only.
        """
        self._document = document
        overlay = None if target is None else node_at(document, ("targets", target))
        settings = (*_in_settings(document.root), *_in_settings(overlay))
        self._spans = {normal(anchor): span for anchor, span in settings}
        self._pending: defaultdict[str, list[Written]] = defaultdict(list)
        for column in _columns(document.root, (), ()):
            self._pending[_top_levels(column.path)].append(column)

    def __getitem__(self, anchor: Anchor) -> Span:
        path = anchor[1] if len(anchor) > 1 else None
        if isinstance(path, tuple) and path:
            self._compute(_top_levels(path))
        return self._spans[anchor]

    def __iter__(self) -> Iterator[Anchor]:
        for column in tuple(self._pending):
            self._compute(column)
        return iter(self._spans)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _compute(self, column: str) -> None:
        for top in self._pending.pop(column, ()):
            for written in _levels(top):
                for anchor, span in _in_column(self._document, written):
                    key = normal(anchor)
                    if self._spans.setdefault(key, span) != span and key[0] == "column":
                        self._spans.setdefault(("repeated", *key[1:]), span)


def written_columns(document: Document) -> Iterator[Written]:
    """Yield every column, field and part that has a YAML mapping of its own, parents first."""
    for column in _columns(document.root, (), ()):
        yield from _levels(column)


def _top_levels(path: Path) -> str:
    return str(path[0]).lower()


def _columns(parent: Node, path: Path, yaml_path: YamlPath) -> Iterator[Written]:
    for index, node in enumerate(_items(_value(parent, "columns"))):
        name = _value(node, "name")
        if isinstance(node, Mapping) and isinstance(name, Scalar):
            yield Written((*path, name.text), (*yaml_path, "columns", index), node)


def _levels(written: Written) -> Iterator[Written]:
    yield written
    for column in _columns(written.node, written.path, written.yaml_path):
        yield from _levels(column)
    for part in Part:
        node = _value(written.node, part.value)
        if isinstance(node, Mapping):
            yield from _levels(Written((*written.path, part), (*written.yaml_path, part.value), node))


def _in_column(document: Document, written: Written) -> Iterator[tuple[Anchor, Span]]:
    path = written.path
    for entry in written.node.entries:
        key = entry.key.text
        if key == "type" and isinstance(entry.value, Scalar):
            yield from _in_type(document, path, entry.value)
        elif key == "name":
            yield ("column", path), entry.value.span
        else:
            yield (key, path), _value_span(entry)


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
    for entry in _entries(node):
        yield (entry.key.text,), _value_span(entry)
        members = _MEMBERS.get(entry.key.text)
        if members is not None:
            yield from members(entry.value)


def _in_properties(value: Node) -> Iterator[tuple[Anchor, Span]]:
    for entry in _entries(value):
        yield ("property", properties.canonical(entry.key.text)), _entry_span(entry)


def _in_constraints(value: Node) -> Iterator[tuple[Anchor, Span]]:
    for entry in _entries(value):
        yield ("constraint", entry.key.text), _entry_span(entry)


def _in_targets(value: Node) -> Iterator[tuple[Anchor, Span]]:
    for entry in _entries(value):
        yield ("target", entry.key.text), entry.key.span


def _in_features(value: Node) -> Iterator[tuple[Anchor, Span]]:
    for item in _items(value):
        name = _value(item, "feature") or item
        if isinstance(name, Scalar):
            yield ("feature", canonical(name.text)), name.span


def _in_consumers(value: Node) -> Iterator[tuple[Anchor, Span]]:
    for item in _items(value):
        name = _value(item, "name") or item
        if isinstance(name, Scalar):
            yield ("consumer", name.text), name.span
            for entry in _entries(item):
                yield ("consumer", name.text, entry.key.text), _value_span(entry)


def _in_waivers(value: Node) -> Iterator[tuple[Anchor, Span]]:
    for index, item in enumerate(_items(value)):
        yield ("waiver", index), (_value(item, "rule") or item).span


def _in_dropped(value: Node) -> Iterator[tuple[Anchor, Span]]:
    for index, item in enumerate(_items(value)):
        column = _value(item, "column") or item
        yield ("dropped", index), column.span
        if isinstance(column, Scalar):
            yield ("dropped", split_path(column.text)), column.span


_MEMBERS: Final[dict[str, Callable[[Node], Iterator[tuple[Anchor, Span]]]]] = {
    "properties": _in_properties,
    "constraints": _in_constraints,
    "targets": _in_targets,
    "features": _in_features,
    "drop_features": _in_features,
    "consumers": _in_consumers,
    "allow": _in_waivers,
    "dropped": _in_dropped,
}


def _value_span(entry: Entry) -> Span:
    """Return the span of the value, or of the key if the value is a block collection or empty."""
    value = entry.value
    block = isinstance(value, Mapping | Sequence) and not value.flow
    return entry.key.span if block or value.start == value.end else value.span


def _entry_span(entry: Entry) -> Span:
    return Span(entry.key.start, max(entry.key.end, entry.value.end))


def _value(node: Node | None, key: str) -> Node | None:
    entry = node.entry(key) if isinstance(node, Mapping) else None
    return entry.value if entry else None


def _entries(node: Node | None) -> tuple[Entry, ...]:
    return node.entries if isinstance(node, Mapping) else ()


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.items if isinstance(node, Sequence) else ()
