"""Read the file of a client."""

from __future__ import annotations

from importlib.resources.abc import Traversable
from typing import Any

from schemalint.base.document import read_documents
from schemalint.base.document.nodes import Mapping, Node, Scalar


def plain_data(file: Traversable) -> Any:  # noqa: ANN401 (YAML; the tests check it)
    """Return the content of a file with one YAML document as plain data."""
    (document,) = read_documents(file.read_text(encoding="utf-8"), file.name)
    return _plain(document.root)


def _plain(node: Node) -> Any:  # noqa: ANN401 (as above)
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Mapping):
        return {entry.key.text: _plain(entry.value) for entry in node.entries}
    return [_plain(item) for item in node.items]
