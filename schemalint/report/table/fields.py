"""The fields of a schema, as texts and pages show them: each with its place, its type and its notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.delta.datatype import Array, Identity, Map, Struct, parts
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.report.text import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.delta.datatype import DataType, Field
    from schemalint.delta.path import Path


def fields_of(type_: DataType, path: Path) -> Iterator[tuple[Path, Field]]:
    """Yield every field with its path, parents first; paths contain the parts of arrays and maps."""
    if isinstance(type_, Struct):
        for field in type_.fields:
            yield (*path, field.name), field
            yield from fields_of(field.type, (*path, field.name))
    for part, inner in parts(type_):
        yield from fields_of(inner, (*path, part))


def field_label(path: Path) -> str:
    """Return the name of a field, indented by its depth."""
    pieces = split_by_field(path)
    return "  " * (len(pieces) - 1) + format_path(pieces[-1])


def split_by_field(path: Path) -> list[Path]:
    """Split a path after each field name: ``lines``, ``element.sku``."""
    pieces: list[Path] = []
    start = 0
    for index, step in enumerate(path):
        if isinstance(step, str):
            pieces.append(path[start : index + 1])
            start = index + 1
    return pieces


def type_text(type_: DataType) -> str:
    """Print a type without the fields of structs, which have their own rows."""
    match type_:
        case Struct():
            return "struct"
        case Array(element=element):
            return f"array<{type_text(element)}>"
        case Map(key=key, value=value):
            return f"map<{type_text(key)}, {type_text(value)}>"
        case _:
            return print_type(type_)


def field_notes(field: Field) -> str:
    """Return what a contract says of a field besides its type."""
    notes = [] if field.nullable else ["not null"]
    notes += [f"{part} not null" for part in _not_null_parts(field.type)]
    if isinstance(field.default, str):
        notes.append(f"default {field.default}")
    if isinstance(field.generated, str):
        notes.append(f"generated as {field.generated}")
    if isinstance(field.identity, Identity):
        kind = "by default" if field.identity.allow_explicit_insert else "always"
        notes.append(f"identity {kind} ({field.identity.start}, {field.identity.step})")
    if isinstance(field.comment, str) and field.comment:
        notes.append(f'"{shortened(field.comment)}"')
    return ", ".join(notes)


def _not_null_parts(type_: DataType) -> Iterator[str]:
    match type_:
        case Array(contains_null=False):
            yield "elements"
        case Map(value_contains_null=False):
            yield "values"
        case _:
            pass
