"""Read YAML text into frozen nodes with positions, and edit the text without touching the rest."""

from schemalint.document.edits import (
    TextEdit,
    append_item,
    append_items,
    apply_edits,
    common_length,
    insert_item,
    insert_items,
    remove_entries,
    remove_entry,
    set_key,
    set_keys,
    splice,
)
from schemalint.document.nodes import (
    Document,
    Entry,
    Mapping,
    Node,
    Path,
    Scalar,
    Sequence,
    Span,
    entry_at,
    location,
    node_at,
)
from schemalint.document.reader import candidate, decode, read_documents
from schemalint.document.scalars import print_scalar
from schemalint.document.scan import root_values

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
    "append_item",
    "append_items",
    "apply_edits",
    "candidate",
    "common_length",
    "decode",
    "entry_at",
    "insert_item",
    "insert_items",
    "location",
    "node_at",
    "print_scalar",
    "read_documents",
    "remove_entries",
    "remove_entry",
    "root_values",
    "set_key",
    "set_keys",
    "splice",
]
