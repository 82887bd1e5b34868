"""What a table's log knows of columns that have another name now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TypeAlias

from schemalint.delta.datatype import DataType, Field, Struct, map_fields, parts, walk_fields
from schemalint.delta.path import Path, path_key
from schemalint.delta.table import History, LiveTable, TableState
from schemalint.values import replace

Names: TypeAlias = Mapping[tuple[str, ...], str]
"""The live name of columns by the paths that they are declared at, in lower case."""

_Stored: TypeAlias = tuple[int | None, str | None]


class ColumnLog:
    """The names that columns had in a table's history, in lower case.

    By column-mapping id and physical name: a table that was made anew gives its ids again, but never its
    physical names.
    """

    def __init__(self, history: History) -> None:
        self._history = history

    def names(self, field: Field) -> frozenset[str]:
        """All names of a live column."""
        return frozenset(self._names.get(_stored(field), ()))

    @cached_property
    def _names(self) -> Mapping[_Stored, set[str]]:
        found: defaultdict[_Stored, set[str]] = defaultdict(set)
        for entry in self._history.entries:
            if entry.metadata is not None:
                for _path, field in walk_fields(entry.metadata.state.columns):
                    found[_stored(field)].add(field.name.lower())
        return found


def renamed_fields(declared: Struct, live: Struct, log: ColumnLog) -> dict[str, Field]:
    """The live field that each declared one has become, by the declared name."""
    names, there = fields_by_name(declared), fields_by_name(live)
    fresh = {
        _stored(one): one for name, one in there.items() if name not in names and one.column_id is not None
    }
    became: defaultdict[str, set[_Stored]] = defaultdict(set)
    for stored, one in fresh.items():
        for name in log.names(one):
            became[name].add(stored)
    found: dict[_Stored, str] = {}
    for field in declared.fields:
        candidates = became[field.name.lower()] if field.name.lower() not in there else set()
        if len(candidates) == 1:
            (stored,) = candidates
            found.setdefault(stored, field.name)
    return {name: fresh[stored] for stored, name in found.items()}


def names_in_log(declared: TableState, live: LiveTable) -> Names:
    """The declared columns that the table has under a name of which the declaration says nothing.

    It says something of the names in ``renamed_from``, and of those that are to be dropped.
    """
    listed = {path_key(entry.path) for entry in declared.dropped}
    found = _names(declared.columns, live.state.columns, ColumnLog(live.history), ())
    return {path_key(path): name for path, name in found if path_key((*path[:-1], name)) not in listed}


def with_names(declared: Struct, names: Names) -> Struct:
    """The declaration of columns as if it said where the renamed ones come from."""
    if not names:
        return declared

    def renamed(path: Path, field: Field) -> Field:
        return replace(field, renamed_from=names.get(path_key(path), field.renamed_from))

    return map_fields(declared, renamed)


def fields_by_name(struct: Struct) -> dict[str, Field]:
    """The fields by their names in lower case, in order; the first one where a damaged table has two."""
    found: dict[str, Field] = {}
    for field in struct.fields:
        found.setdefault(field.name.lower(), field)
    return found


def _names(declared: DataType, live: DataType, log: ColumnLog, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(declared, Struct) and isinstance(live, Struct):
        there, became = fields_by_name(live), renamed_fields(declared, live, log)
        given_up = {field.renamed_from.lower() for field in declared.fields if field.renamed_from}
        for field in declared.fields:
            below = (*path, field.name)
            now = there.get(field.name.lower()) or became.get(field.name)
            if now is None or now.name.lower() in given_up:
                continue
            if field.name in became:
                yield below, now.name
            yield from _names(field.type, now.type, log, below)
        return
    others = dict(parts(live))
    for part, inner in parts(declared):
        if part in others:
            yield from _names(inner, others[part], log, (*path, part))


def _stored(field: Field) -> _Stored:
    return field.column_id, field.physical_name
