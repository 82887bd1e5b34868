"""Two states of a table side by side: a row for each column, property and constraint."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from schemalint.delta.change import FieldRenamed
from schemalint.delta.datatype import Unmanaged
from schemalint.delta.diff import diff
from schemalint.delta.path import format_path, lowercased
from schemalint.report.table.fields import field_label, field_notes, fields_of, type_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from schemalint.delta.datatype import Field
    from schemalint.delta.path import Path
    from schemalint.delta.table import TableState


class Cell(NamedTuple):
    """One side of a row."""

    name: str
    value: str
    notes: str = ""


class RowKind(Enum):
    """What happens to the object of a row."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Row(NamedTuple):
    """An object on both sides; None where the side has none."""

    before: Cell | None
    after: Cell | None

    @property
    def kind(self) -> RowKind:
        """What happens to the object."""
        if self.before is None:
            return RowKind.ADDED
        if self.after is None:
            return RowKind.REMOVED
        return RowKind.SAME if self.before == self.after else RowKind.CHANGED


def column_rows(before: TableState | None, after: TableState | None) -> list[Row]:
    """Pair the fields of both sides by name or rename, in the new order; removed ones stay in place."""
    old, new = _fields(before), _fields(after)
    renames = _renames(before, after)
    kept = {_old_key(key, renames): key for key in new}
    removed: dict[Path | None, list[Row]] = {}
    place: Path | None = None
    for key, field in old.items():
        if key in kept:
            place = kept[key]
        else:
            removed.setdefault(place, []).append(Row(_cell(field), None))
    rows = removed.get(None, [])
    for key, field in new.items():
        rows.append(Row(_cell(old.get(_old_key(key, renames))), _cell(field)))
        rows += removed.get(key, [])
    return rows


def setting_rows(before: TableState | None, after: TableState | None) -> dict[str, list[Row]]:
    """Pair layout, constraints, properties and requested features; groups without rows are left out."""
    groups = {
        "Layout": _pairs(_layout(before), _layout(after)),
        "Constraints": _pairs(_of(before, "constraints"), _of(after, "constraints")),
        "Properties": _pairs(_of(before, "properties"), _of(after, "properties")),
        "Features": _pairs(_features(before), _features(after)),
    }
    return {title: rows for title, rows in groups.items() if rows}


def _fields(state: TableState | None) -> dict[Path, tuple[Path, Field]]:
    fields = fields_of(state.columns, ()) if state else ()
    return {lowercased(path): (path, field) for path, field in fields}


def _renames(before: TableState | None, after: TableState | None) -> dict[Path, str]:
    if before is None or after is None:
        return {}
    changes = (change for change in diff(before, after) if isinstance(change, FieldRenamed))
    return {lowercased(change.path): change.old_name.lower() for change in changes}


def _old_key(key: Path, renames: Mapping[Path, str]) -> Path:
    return tuple(renames.get(key[: index + 1], step) for index, step in enumerate(key))


def _cell(entry: tuple[Path, Field] | None) -> Cell | None:
    if entry is None:
        return None
    path, field = entry
    return Cell(field_label(path), type_text(field.type), field_notes(field))


def _layout(state: TableState | None) -> dict[str, str | None]:
    if state is None:
        return {}
    texts: dict[str, str | None] = {}
    if not isinstance(state.description, Unmanaged):
        texts["comment"] = state.description
    if not isinstance(state.partitioned_by, Unmanaged):
        texts["partitioned by"] = _listed((name,) for name in state.partitioned_by)
    if not isinstance(state.clustered_by, Unmanaged):
        texts["clustered by"] = _listed(state.clustered_by)
    return texts


def _listed(paths: Iterable[Path]) -> str | None:
    return ", ".join(map(format_path, paths)) or None


def _of(state: TableState | None, name: str) -> Mapping[str, str | None]:
    entries: Mapping[str, str | None] = getattr(state, name) if state else {}
    return entries


def _features(state: TableState | None) -> dict[str, str | None]:
    return dict.fromkeys(state.features, "requested") if state else {}


def _pairs(before: Mapping[str, str | None], after: Mapping[str, str | None]) -> list[Row]:
    return [
        Row(_setting(before, key), _setting(after, key))
        for key in _in_order((*before, *after))
        if before.get(key) is not None or after.get(key) is not None
    ]


def _in_order(keys: Iterable[str]) -> Iterator[str]:
    yield from sorted(dict.fromkeys(keys))


def _setting(values: Mapping[str, str | None], key: str) -> Cell | None:
    value = values.get(key)
    return None if value is None else Cell(key, value)
