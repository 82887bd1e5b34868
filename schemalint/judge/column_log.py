"""Find renamed columns in a table's log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TypeAlias

from schemalint.base.values import replace
from schemalint.delta.datatype import DataType, Field, Struct, map_fields, parts, walk_fields
from schemalint.delta.path import Path, path_key
from schemalint.delta.table import LiveTable, TableState

Names: TypeAlias = Mapping[tuple[str, ...], str]
"""The live names of columns, by declared lower-case path."""

_Stored: TypeAlias = tuple[int | None, str | None]


class ColumnLog:
    """The names that columns had in a table's recent history, in lower case.

    The history is read only if a name is asked for.
    Columns are identified by column mapping id and physical name: a recreated table reuses ids, but never
    physical names.
    """

    def __init__(self, table: LiveTable) -> None:
        self._table = table

    def names(self, field: Field) -> frozenset[str]:
        """Return all names of a live column."""
        return frozenset(self._names.get(_stored(field), ()))

    @cached_property
    def _names(self) -> Mapping[_Stored, set[str]]:
        names: defaultdict[_Stored, set[str]] = defaultdict(set)
        for entry in self._table.recent_history.entries:
            if entry.metadata is not None:
                for _path, field in walk_fields(entry.metadata.state.columns):
                    names[_stored(field)].add(field.name.lower())
        return names


def renamed_fields(declared: Struct, live: Struct, log: ColumnLog) -> dict[str, Field]:
    """Return the live fields that are renamed declared fields, by declared name."""
    declared_by_name, live_by_name = fields_by_name(declared), fields_by_name(live)
    undeclared = {
        _stored(field): field
        for name, field in live_by_name.items()
        if name not in declared_by_name and field.column_id is not None
    }
    if not undeclared or live_by_name.keys() >= declared_by_name.keys():
        return {}
    by_old_name: defaultdict[str, set[_Stored]] = defaultdict(set)
    for stored, field in undeclared.items():
        for name in log.names(field):
            by_old_name[name].add(stored)
    names: dict[_Stored, str] = {}
    for field in declared.fields:
        candidates = by_old_name[field.name.lower()] if field.name.lower() not in live_by_name else set()
        if len(candidates) == 1:
            (stored,) = candidates
            names.setdefault(stored, field.name)
    return {name: undeclared[stored] for stored, name in names.items()}


def names_in_log(declared: TableState, live: LiveTable) -> Names:
    """Return the declared columns that the table has under a name unknown to the declaration.

    The declaration knows its columns, the names in ``renamed_from``, and the columns listed as dropped.
    """
    listed = {path_key(entry.path) for entry in declared.dropped}
    names = _names(declared.columns, live.state.columns, ColumnLog(live), ())
    return {path_key(path): name for path, name in names if path_key((*path[:-1], name)) not in listed}


def with_names(declared: Struct, names: Names) -> Struct:
    """Return the declared columns with ``renamed_from`` set for the renamed ones."""
    if not names:
        return declared

    def renamed(path: Path, field: Field) -> Field:
        return replace(field, renamed_from=names.get(path_key(path), field.renamed_from))

    return map_fields(declared, renamed)


def fields_by_name(struct: Struct) -> dict[str, Field]:
    """Return the fields by lower-case name, in order; the first one if a damaged table has two."""
    fields: dict[str, Field] = {}
    for field in struct.fields:
        fields.setdefault(field.name.lower(), field)
    return fields


def _names(declared: DataType, live: DataType, log: ColumnLog, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(declared, Struct) and isinstance(live, Struct):
        live_by_name, renamed = fields_by_name(live), renamed_fields(declared, live, log)
        old_names = {field.renamed_from.lower() for field in declared.fields if field.renamed_from}
        for field in declared.fields:
            field_path = (*path, field.name)
            live_field = live_by_name.get(field.name.lower()) or renamed.get(field.name)
            if live_field is None or live_field.name.lower() in old_names:
                continue
            if field.name in renamed:
                yield field_path, live_field.name
            yield from _names(field.type, live_field.type, log, field_path)
        return
    live_parts = dict(parts(live))
    for part, inner in parts(declared):
        if part in live_parts:
            yield from _names(inner, live_parts[part], log, (*path, part))


def _stored(field: Field) -> _Stored:
    return field.column_id, field.physical_name
