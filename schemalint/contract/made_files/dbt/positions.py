"""Where a model and its columns stand in the ``schema.yml`` that the manifest names.

The file may have what `schemalint.base.document` refuses, such as anchors, and Jinja: then only the position
is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache

from schemalint.base.document import Document, Node, Scalar, items_of, read_documents, text_of, value_of
from schemalint.base.errors import ContractError, Location
from schemalint.base.phrases import affixed
from schemalint.base.printable import visible
from schemalint.base.values import frozen
from schemalint.contract.anchors import normal
from schemalint.model.contract import Anchor


@frozen
class ModelDescription:
    """Where the YAML of a project describes a model.

    Attributes:
        patch_path: The file, as the manifest has it: ``shop://models/schema.yml``; empty for none.
        section: The list of the file that the model is in: ``models`` or ``snapshots``.
        name: Its name.
        version: Its version as text; empty if it has none.
    """

    patch_path: str
    section: str
    name: str
    version: str


class SchemaFiles:
    """The YAML files that describe models."""

    def __init__(self, folder: str, read: Callable[[str], bytes | None]) -> None:
        """Take the folder of the project, and what reads a file from the repository's top."""
        self.below = affixed("", folder, "/")
        self.read = lru_cache(maxsize=16)(read)

    def path_of(self, described: ModelDescription) -> str:
        """Return the path of a file from the repository's top; empty if no file describes the model."""
        path = described.patch_path.partition("://")[2]
        return visible(self.below + path) if path else ""

    def text(self, path: str) -> str | None:
        """Return the text of a file; None if it cannot be read."""
        data = self.read(path)
        try:
            return None if data is None else data.decode()
        except UnicodeDecodeError:
            return None


class Anchors(Mapping[Anchor, Location]):
    """The locations of what a model declares; its file is read when the first one is asked for."""

    def __init__(self, files: SchemaFiles, described: ModelDescription) -> None:
        """Take what reads the file, and what to look for in it."""
        self._files, self._described = files, described

    def __getitem__(self, anchor: Anchor) -> Location:
        return self._lines[normal(anchor)]

    def __iter__(self) -> Iterator[Anchor]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    @cached_property
    def _lines(self) -> dict[Anchor, Location]:
        described, path = self._described, self._files.path_of(self._described)
        text = self._files.text(path) if path else None
        try:
            documents = () if text is None else read_documents(text, path)
        except ContractError:
            return {}
        return {
            anchor: place
            for document in documents
            for node in items_of(value_of(document.root, described.section))
            if text_of(node, "name") == described.name
            for anchor, place in _in_model(document, node, described.version)
        }


def _in_model(document: Document, node: Node, version: str) -> Iterator[tuple[Anchor, Location]]:
    name = value_of(node, "name")
    if isinstance(name, Scalar):
        yield ("table",), document.location(name.span)
    yield from _in_columns(document, value_of(node, "columns"))
    for entry in items_of(value_of(node, "versions")):
        if version and text_of(entry, "v") == version:
            own = value_of(entry, "v")
            if isinstance(own, Scalar):
                yield ("table",), document.location(own.span)
            yield from _in_columns(document, value_of(entry, "columns"))


def _in_columns(document: Document, columns: Node | None) -> Iterator[tuple[Anchor, Location]]:
    for column in items_of(columns):
        name = value_of(column, "name")
        if not isinstance(name, Scalar):
            continue
        path = (name.text.lower(),)
        yield ("column", path), document.location(name.span)
        for key, part in (("data_type", "type"), ("constraints", "nullable"), ("description", "comment")):
            value = value_of(column, key)
            if value is not None:
                yield (part, path), document.location(value.span)
