"""Small texts within a contract: dates, names, and paths into a type."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Final, TypeVar

from schemalint.contract.dialects.native.column_path import Report
from schemalint.delta.datatype import DataType, Struct, parts
from schemalint.delta.path import Path, Step, split_path
from schemalint.document import Path as YamlPath

T = TypeVar("T")

_ISO_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


_MAX_TABLE_PARTS: Final = 3


def read_table_name(text: str, place: YamlPath, report: Report) -> str:
    """The name of a table as written, once it has one to three parts."""
    try:
        parts_of_name = split_path(text)
    except ValueError as error:
        report.at_value(place, f'"{text}" is no name of a table: {error}', "write catalog.schema.table")
        return text
    if len(parts_of_name) > _MAX_TABLE_PARTS:
        report.at_value(
            place,
            f'"{text}" is no name of a table: it has {len(parts_of_name)} parts, and three at most',
            "back-quote a name that holds a dot",
        )
    return text


def read_date(text: str | None, place: YamlPath, report: Report) -> str | None:
    """A day as written, once it is one: ISO 8601 in full, ``2026-12-31``."""
    if text is not None and not _is_date(text):
        report.at_value(place, f'"{text}" is no date', "write it as 2026-12-31")
    return text


def read_path(text: str, place: YamlPath, report: Report, columns: DataType) -> Path:
    """The path of a column that need not be there: behind the last name found all are names of fields."""
    try:
        return _resolved(columns, split_path(text))[0]
    except ValueError as error:
        report.at_value(place, f'"{text}" is no column: {error}', "back-quote a name that holds a dot")
        return (text,)


def path_in(type_: DataType, text: str) -> Path | None:
    """The path that a text such as ``element.qty`` stands for within a type; None if it leads nowhere."""
    try:
        path, found = _resolved(type_, split_path(text))
    except ValueError:
        return None
    return path if found else None


def read_names(
    values: Mapping[str, T], place: YamlPath, report: Report, stored: Callable[[str], str]
) -> dict[str, T]:
    """The values by their names as Delta stores them, which must differ."""
    written: dict[str, str] = {}
    for name in values:
        first = written.setdefault(stored(name), name)
        if first != name:
            report.at_key(
                (*place, name), f'"{name}" is the same as "{first}" for Delta', "remove one of the two"
            )
    return {stored(name): value for name, value in values.items()}


def _is_date(text: str) -> bool:
    if not _ISO_DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _resolved(type_: DataType, names: tuple[str, ...]) -> tuple[Path, bool]:
    path: list[Step] = []
    for index, name in enumerate(names):
        found = _step(type_, name)
        if found is None:
            return (*path, *names[index:]), False
        step, type_ = found
        path.append(step)
    return tuple(path), True


def _step(type_: DataType, name: str) -> tuple[Step, DataType] | None:
    if isinstance(type_, Struct):
        field = type_.get(name)
        return (name, field.type) if field else None
    inside = ((part, inner) for part, inner in parts(type_) if part.value == name.lower())
    return next(inside, None)
