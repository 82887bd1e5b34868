"""Collect the errors of a document, each with its exact location."""

from __future__ import annotations

from schemalint.base.document import Document, Mapping, Scalar, Span, entry_at, node_at
from schemalint.base.document import Path as YamlPath
from schemalint.base.errors import ContractError


class Report:
    """Collects the errors of a document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.errors: list[ContractError] = []

    def at_key(self, path: YamlPath, message: str, help: str) -> None:  # noqa: A002 - as in errors
        """Add an error at the key of the entry at the path."""
        entry = entry_at(self.document, path)
        self._add(entry.key.span if entry else self._value(path), message, help)

    def at_value(self, path: YamlPath, message: str, help: str = "") -> None:  # noqa: A002 - as in errors
        """Add an error at the value at the path."""
        self._add(self._value(path), message, help)

    def in_text(self, path: YamlPath, offset: int, message: str, help: str) -> None:  # noqa: A002 - as in errors
        """Add an error at one character of the scalar at the path."""
        node, span = node_at(self.document, path), self._value(path)
        if isinstance(node, Scalar):
            span = inside(self.document, node, offset, min(offset + 1, len(node.text)))
        self._add(span, message, help)

    def in_mapping(self, path: YamlPath, message: str) -> None:
        """Add an error about a missing key, at the mapping's key; for an item of a list, at its first key."""
        node = node_at(self.document, path)
        if entry_at(self.document, path) is None and isinstance(node, Mapping) and node.entries:
            self._add(node.entries[0].key.span, message, "add it")
        else:
            self.at_key(path, message, "add it")

    def _value(self, path: YamlPath) -> Span:
        node = node_at(self.document, path)
        return node.span if node else self.document.span

    def _add(self, span: Span, message: str, help: str) -> None:  # noqa: A002 - as in errors
        self.errors.append(ContractError(message, help=help, location=self.document.location(span)))


def inside(document: Document, scalar: Scalar, start: int, end: int) -> Span:
    """Return the span of a part of a scalar; the whole scalar if it has escapes or line breaks."""
    quote = 0 if scalar.style == "plain" else 1
    first, last = scalar.start + quote, scalar.end - quote
    if document.text[first:last] == scalar.text:
        return Span(first + start, first + end)
    return scalar.span
