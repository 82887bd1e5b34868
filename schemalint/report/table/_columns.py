"""The columns of a live table as a tree, each with the history of its type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.delta.datatype import Array, Identity, Map, Struct, parts
from schemalint.delta.history import type_history, utc_text
from schemalint.delta.path import format_path, lowercased
from schemalint.delta.type_text import print_type
from schemalint.report.table._cells import shortened, table_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from schemalint.delta.datatype import DataType, Field
    from schemalint.delta.history import CommittedTypeChange
    from schemalint.delta.path import Path
    from schemalint.delta.table import LiveTable


def column_lines(live: LiveTable) -> Iterator[str]:
    """Render a row for each column and field, with its type changes below it, oldest first."""
    fields = list(_fields(live.state.columns, ()))
    rows = table_rows([[_label(path), _type_text(field.type), _notes(field)] for path, field in fields])
    history = type_history(live.history)
    for (path, field), row in zip(fields, rows, strict=True):
        yield f"  {row}".rstrip()
        indent = "  " * (len(_split_by_field(path)) + 2)
        changes = _type_lines(path, field, history, live.history.known_from)
        yield from (f"{indent}{line}" for line in changes)


def _fields(type_: DataType, path: Path) -> Iterator[tuple[Path, Field]]:
    """Yield every field with its path, parents first; paths contain the parts of arrays and maps."""
    if isinstance(type_, Struct):
        for field in type_.fields:
            yield (*path, field.name), field
            yield from _fields(field.type, (*path, field.name))
    for part, inner in parts(type_):
        yield from _fields(inner, (*path, part))


def _split_by_field(path: Path) -> list[Path]:
    """Split a path after each field name: ``lines``, ``element.sku``."""
    pieces: list[Path] = []
    start = 0
    for index, step in enumerate(path):
        if isinstance(step, str):
            pieces.append(path[start : index + 1])
            start = index + 1
    return pieces


def _label(path: Path) -> str:
    pieces = _split_by_field(path)
    return "  " * (len(pieces) - 1) + format_path(pieces[-1])


def _type_text(type_: DataType) -> str:
    """Print a type without the fields of structs, which have their own rows."""
    match type_:
        case Struct():
            return "struct"
        case Array(element=element):
            return f"array<{_type_text(element)}>"
        case Map(key=key, value=value):
            return f"map<{_type_text(key)}, {_type_text(value)}>"
        case _:
            return print_type(type_)


def _notes(field: Field) -> str:
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


def _type_lines(
    path: Path, field: Field, history: Mapping[Path, tuple[CommittedTypeChange, ...]], known_from: int
) -> Iterator[str]:
    """Render the recorded type changes with their commits, then the commits with unrecorded changes."""
    commits = {part: list(history.get(lowercased((*path, *part)), ())) for part in _part_paths(field.type)}
    for change in field.type_changes if isinstance(field.type_changes, tuple) else ():
        steps = commits.get(change.at, [])
        types = (change.from_type, change.to_type)
        step = next((step for step in steps if (step.old, step.new) == types), None)
        if step is not None:
            steps.remove(step)
        unknown = f"version {known_from} or before" if known_from else "by no commit of the log"
        source = _commit(step) if step else unknown
        yield f"{_prefix(change.at)}{print_type(change.from_type)} -> {print_type(change.to_type)}  {source}"
    for part, steps in commits.items():
        for step in steps:
            types_text = f"{_prefix(part)}{_type_text(step.old)} -> {_type_text(step.new)}"
            yield f"{types_text}  {_commit(step)}, not recorded"


def _part_paths(type_: DataType, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of a type and of the parts of arrays and maps in it, but not of struct fields."""
    yield path
    for part, inner in parts(type_):
        yield from _part_paths(inner, (*path, part))


def _prefix(part: Path) -> str:
    return f"{format_path(part)}: " if part else ""


def _commit(step: CommittedTypeChange) -> str:
    by = f"by {step.entry.user}" if step.entry.user else ""
    known = (utc_text(step.entry.timestamp), by)
    return ", ".join([f"version {step.entry.version}", *(text for text in known if text)])
