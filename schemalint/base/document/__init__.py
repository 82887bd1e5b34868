"""Read YAML text into frozen nodes with positions."""

from schemalint.base.document.layout import TextEdit, common_length, splice
from schemalint.base.document.nodes import (
    Document,
    Entry,
    Mapping,
    Node,
    Path,
    Scalar,
    Sequence,
    Span,
    children,
    data_of,
    entries_of,
    entry_at,
    items_of,
    location,
    node_at,
    text_of,
    value_of,
)
from schemalint.base.document.scalars import print_scalar
from schemalint.base.document.yaml_reader import candidate, decode, read_documents, root_values

__all__ = [
    "Document",
    "Entry",
    "Mapping",
    "Node",
    "Path",
    "Scalar",
    "Sequence",
    "Span",
    "TextEdit",
    "candidate",
    "children",
    "common_length",
    "data_of",
    "decode",
    "entries_of",
    "entry_at",
    "items_of",
    "location",
    "node_at",
    "print_scalar",
    "read_documents",
    "root_values",
    "splice",
    "text_of",
    "value_of",
]
