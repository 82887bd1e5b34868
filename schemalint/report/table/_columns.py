"""The columns of a live table as a tree, each with the history of its type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.delta.datatype import parts
from schemalint.delta.history import type_history, utc_text
from schemalint.delta.path import format_path, lowercased
from schemalint.delta.type_text import print_type
from schemalint.report.table._cells import table_rows
from schemalint.report.table.fields import field_label, field_notes, fields_of, split_by_field, type_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from schemalint.delta.datatype import DataType, Field
    from schemalint.delta.history import CommittedTypeChange
    from schemalint.delta.path import Path
    from schemalint.delta.table import LiveTable


def column_lines(live: LiveTable) -> Iterator[str]:
    """Render a row for each column and field, with its type changes below it, oldest first."""
    fields = list(fields_of(live.state.columns, ()))
    rows = table_rows(
        [[field_label(path), type_text(field.type), field_notes(field)] for path, field in fields]
    )
    history = type_history(live.history)
    for (path, field), row in zip(fields, rows, strict=True):
        yield f"  {row}".rstrip()
        indent = "  " * (len(split_by_field(path)) + 2)
        changes = _type_lines(path, field, history, live.history.known_from)
        yield from (f"{indent}{line}" for line in changes)


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
            types_text = f"{_prefix(part)}{type_text(step.old)} -> {type_text(step.new)}"
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
