"""The columns of a live table as a tree, each with the history of its type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.delta.datatype import Array, Identity, Map, Struct, parts
from schemalint.delta.history import type_history
from schemalint.delta.path import format_path, lowercased
from schemalint.delta.type_text import print_type
from schemalint.printable import printable
from schemalint.report.table._cells import short, table_rows, when

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from schemalint.delta.datatype import DataType, Field
    from schemalint.delta.history import TypeStep
    from schemalint.delta.path import Path
    from schemalint.delta.table import LiveTable


def column_lines(live: LiveTable) -> Iterator[str]:
    """A row for each column and field; below it the changes of its type, oldest first."""
    fields = list(_fields(live.state.columns, ()))
    rows = table_rows([[_label(path), _type_text(field.type), _notes(field)] for path, field in fields])
    history = type_history(live.history)
    for (path, field), row in zip(fields, rows, strict=True):
        yield f"  {row}".rstrip()
        indent = "  " * (len(_steps(path)) + 2)
        told = _type_lines(path, field, history, live.history.known_from)
        yield from (f"{indent}{printable(line)}" for line in told)


def _fields(type_: DataType, path: Path) -> Iterator[tuple[Path, Field]]:
    """Every field, parents first; the parts of collections are steps of the way to it."""
    if isinstance(type_, Struct):
        for field in type_.fields:
            yield (*path, field.name), field
            yield from _fields(field.type, (*path, field.name))
    for part, inner in parts(type_):
        yield from _fields(inner, (*path, part))


def _steps(path: Path) -> list[Path]:
    """The path cut behind each field's name: ``lines``, ``element.sku``."""
    found: list[Path] = []
    start = 0
    for index, step in enumerate(path):
        if isinstance(step, str):
            found.append(path[start : index + 1])
            start = index + 1
    return found


def _label(path: Path) -> str:
    own = _steps(path)
    return "  " * (len(own) - 1) + format_path(own[-1])


def _type_text(type_: DataType) -> str:
    """Without the fields of structs, which have rows of their own."""
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
    notes += [f"{where} not null" for where in _full(field.type)]
    if isinstance(field.default, str):
        notes.append(f"default {field.default}")
    if isinstance(field.generated, str):
        notes.append(f"generated as {field.generated}")
    if isinstance(field.identity, Identity):
        kind = "by default" if field.identity.allow_explicit_insert else "always"
        notes.append(f"identity {kind} ({field.identity.start}, {field.identity.step})")
    if isinstance(field.comment, str) and field.comment:
        notes.append(f'"{short(field.comment)}"')
    return ", ".join(notes)


def _full(type_: DataType) -> Iterator[str]:
    match type_:
        case Array(contains_null=False):
            yield "elements"
        case Map(value_contains_null=False):
            yield "values"
        case _:
            pass


def _type_lines(
    path: Path, field: Field, history: Mapping[Path, tuple[TypeStep, ...]], known_from: int
) -> Iterator[str]:
    """Recorded changes, with the commits that made them; then commits whose change is not recorded."""
    made = {at: list(history.get(lowercased((*path, *at)), ())) for at in _places(field.type)}
    for one in field.type_changes if isinstance(field.type_changes, tuple) else ():
        steps = made.get(one.at, [])
        step = next((step for step in steps if (step.old, step.new) == (one.from_type, one.to_type)), None)
        if step is not None:
            steps.remove(step)
        before = f"version {known_from} or before" if known_from else "by no commit of the log"
        source = _commit(step) if step else before
        yield f"{_where(one.at)}{print_type(one.from_type)} -> {print_type(one.to_type)}  {source}"
    for at, steps in made.items():
        for step in steps:
            change = f"{_where(at)}{_type_text(step.old)} -> {_type_text(step.new)}"
            yield f"{change}  {_commit(step)}, not recorded"


def _places(type_: DataType, at: Path = ()) -> Iterator[Path]:
    """The type itself and the parts of collections in it, without those inside of a struct's fields."""
    yield at
    for part, inner in parts(type_):
        yield from _places(inner, (*at, part))


def _where(at: Path) -> str:
    return f"{format_path(at)}: " if at else ""


def _commit(step: TypeStep) -> str:
    by = f"by {step.entry.user}" if step.entry.user else ""
    known = (when(step.entry.timestamp), by)
    return ", ".join([f"version {step.entry.version}", *(text for text in known if text)])
