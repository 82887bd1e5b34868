"""Read the short texts of a contract: table names, dates, column paths, and names of properties."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Final, TypeVar

from schemalint.base.document import Path as YamlPath
from schemalint.contract.dialects.native.faults import Report
from schemalint.delta.datatype import DataType, path_of_names
from schemalint.delta.path import Path, split_path

T = TypeVar("T")

_ISO_DATE: Final = r"(?a)\d{4}-\d{2}-\d{2}"
_TIME_ZONE: Final = r"[A-Za-z]+(?:[/_+-][A-Za-z0-9]+){0,5}|[+-]\d{2}:\d{2}"
_MAX_TABLE_PARTS: Final = 3


def read_table_name(text: str, yaml_path: YamlPath, report: Report) -> str:
    """Return a table name as written; report an error unless it has one to three parts."""
    try:
        parts_of_name = split_path(text)
    except ValueError as error:
        report.at_value(yaml_path, f'"{text}" is not a table name: {error}', "write catalog.schema.table")
        return text
    if len(parts_of_name) > _MAX_TABLE_PARTS:
        report.at_value(
            yaml_path,
            f'"{text}" is not a table name: it has {len(parts_of_name)} parts, the maximum is three',
            "back-quote a name that contains a dot",
        )
    return text


def read_date(text: str | None, yaml_path: YamlPath, report: Report) -> str | None:
    """Return a date as written; report an error unless it is a full ISO 8601 date, e.g. ``2026-12-31``."""
    if text is not None and not _is_date(text):
        report.at_value(yaml_path, f'"{text}" is not a date', "write it as 2026-12-31")
    return text


def read_time_zone(text: str | None, yaml_path: YamlPath, report: Report) -> str | None:
    """Return a time zone as written; report an error unless it looks like a region or an offset.

    Only the engine knows the regions, and refuses a wrong one before it evaluates anything.
    """
    if text is not None and not re.fullmatch(_TIME_ZONE, text):
        report.at_value(yaml_path, f'"{text}" is not a time zone', "write it as Europe/Berlin or +01:00")
    return text


def read_path(text: str, yaml_path: YamlPath, report: Report, columns: DataType) -> Path:
    """Return a column path; the column need not exist, and unresolved steps count as names of fields."""
    try:
        return path_of_names(columns, split_path(text))[0]
    except ValueError as error:
        report.at_value(
            yaml_path, f'"{text}" is not a column path: {error}', "back-quote a name that contains a dot"
        )
        return (text,)


def path_in(type_: DataType, text: str) -> Path | None:
    """Resolve a path such as ``element.qty`` within a type; return None if the type has no such path."""
    try:
        path, is_complete = path_of_names(type_, split_path(text))
    except ValueError:
        return None
    return path if is_complete else None


def read_names(
    values: Mapping[str, T], yaml_path: YamlPath, report: Report, stored: Callable[[str], str]
) -> dict[str, T]:
    """Return the values by their names as Delta stores them; report an error if two names are the same."""
    first_names: dict[str, str] = {}
    for name in values:
        first = first_names.setdefault(stored(name), name)
        if first != name:
            report.at_key(
                (*yaml_path, name),
                f'"{name}" is the same name as "{first}" in Delta',
                "remove one of the two",
            )
    return {stored(name): value for name, value in values.items()}


def _is_date(text: str) -> bool:
    if not re.fullmatch(_ISO_DATE, text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
