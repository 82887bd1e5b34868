"""Commits after which older data files no longer fit the schema, apart from their types.

`SchemaFaultKind` says what Delta Spark then does (measured on Delta 4.4.0). Delta makes such a commit only if
it replaces the files. For the types, see `schemalint.delta.type_history`.

A data file fits the schema in effect when it was written. A later commit matters to the file as long as its
change of the schema lasts: if a RESTORE, or an edit by hand, brings an earlier schema back, the commits in
between no longer matter to the files that were written under it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import Enum
from typing import Final

from schemalint.base.values import frozen, replace
from schemalint.delta.datatype import (
    VOID,
    Array,
    DataType,
    Field,
    Map,
    Struct,
    Unmanaged,
    physical_paths,
    walk_fields,
)
from schemalint.delta.diff import with_keys_followed
from schemalint.delta.history import HistoryStep, changes, steps
from schemalint.delta.path import Part, Path, format_path, lowercased
from schemalint.delta.table import History, HistoryEntry, TableState
from schemalint.delta.type_history import is_restore, lost_records, replaces_all_files, unrecorded_changes

MOST_DIGITS: Final = 19
"""Digits of the largest column id, a long of Java; Python converts no text of thousands of digits."""

MAX_COLUMN_ID: Final = "delta.columnMapping.maxColumnId"


class SchemaFaultKind(Enum):
    """What a commit changed, with its effect on older files in Delta Spark."""

    COLUMN_LOST = "a column is gone: Spark no longer reads it, and reads NULL under a new name"
    STORED_NAME = "columns have other names in data files: Spark reads NULL"
    COLUMN_ID = "a column has another id in data files: Spark reads NULL"
    NO_IDS = "readers look for ids that the files lack: Spark fails"
    MODE = "readers look for ids instead of names, or for names instead of ids: Spark finds both"
    ID_REUSED = "a column has an earlier column's id: with mode id Spark reads that column's data"
    NAME_REUSED = "a column has an earlier one's physical name: Spark reads that one's data or statistics"
    MAX_ID = "the highest column id is lower: Spark gives the next column an earlier column's id"
    PARTITIONING = "a column is a partition column: Spark reads NULL"
    UNPARTITIONED = "a column is no longer a partition column: Spark reads it from the files that hold it"
    NULLS = "a column is NOT NULL: Spark reads 0 for a null, or fails"


@frozen
class SchemaFault:
    """One misfit that a commit causes.

    Attributes:
        path: The field; empty for the table.
        old: The value before the commit, as text; None if there was none.
        new: The value after the commit, as text; None if there is none.
        columns: The columns that a change of the table's column mapping or partitioning concerns.
    """

    kind: SchemaFaultKind
    path: Path = ()
    old: str | None = None
    new: str | None = None
    columns: tuple[str, ...] = ()


_Pair = tuple[Path, Field | None, Field | None]
"""A path, and the field there before and after a commit."""


def faults(step: HistoryStep) -> Iterator[SchemaFault]:
    """Yield the misfits that a commit causes for files from before it; whether there are any is not asked."""
    if step.before is None or step.entry.metadata is None:
        return
    before, after = step.before.state, step.entry.metadata.state
    old_mode, new_mode = before.column_mapping, after.column_mapping
    pairs: tuple[_Pair, ...] = ()
    if before.columns != after.columns or old_mode != new_mode:
        by_id = "none" not in (old_mode, new_mode)
        pairs = tuple(_pairs(before.columns, after.columns, (), by_id=by_id, all_=old_mode != new_mode))
    yield from _mode_faults(step, pairs, old_mode, new_mode)
    if new_mode == "none":
        yield from _lost(pairs)
    elif old_mode != "none":
        yield from _id_faults(step, pairs, after)
    yield from _partitioning(step, before, after)
    yield from _nulls(pairs)


def _mode_faults(
    step: HistoryStep, pairs: Iterable[_Pair], old_mode: str, new_mode: str
) -> Iterator[SchemaFault]:
    if new_mode == "id":
        if old_mode == "none" or (old_mode == "name" and step.has_unmapped_files):
            yield SchemaFault(SchemaFaultKind.NO_IDS, (), old_mode, new_mode)
        elif old_mode == "name":
            yield SchemaFault(SchemaFaultKind.MODE, (), old_mode, new_mode)
        return
    renamed = [
        (path, _stored_name(old, old_mode), _stored_name(new, new_mode))
        for path, old, new in pairs
        if old and new and _stored_name(old, old_mode) != _stored_name(new, new_mode)
    ]
    if old_mode == new_mode:
        for path, old_name, new_name in renamed:
            yield SchemaFault(SchemaFaultKind.STORED_NAME, path, old_name, new_name)
    elif renamed:
        columns = tuple(format_path(path) for path, *_names in renamed)
        yield SchemaFault(SchemaFaultKind.STORED_NAME, (), old_mode, new_mode, columns)
    elif old_mode == "id":
        yield SchemaFault(SchemaFaultKind.MODE, (), old_mode, new_mode)


def _lost(pairs: Sequence[_Pair]) -> Iterator[SchemaFault]:
    for path, old, new in pairs:
        if old and new is None and old.type != VOID:
            added = (
                other.name
                for at, before, other in pairs
                if before is None and other and at[:-1] == path[:-1] and other.type == old.type
            )
            yield SchemaFault(SchemaFaultKind.COLUMN_LOST, path, old.name, next(added, None))


def _id_faults(step: HistoryStep, pairs: Sequence[_Pair], after: TableState) -> Iterator[SchemaFault]:
    """Yield the misuses of column ids between two commits with column mapping."""
    is_by_id = after.column_mapping == "id"
    removed = {(path[:-1], old.physical_name): old for path, old, new in pairs if old and new is None}
    added = [(path, new) for path, before, new in pairs if new and before is None]
    stored = {path: lowercased(stored) for path, stored in physical_paths(after.columns)} if added else {}
    uses = Counter(stored.values())
    for path, new in added:
        if new.column_id is None:
            continue
        is_id_reused = new.column_id <= step.max_column_id
        is_name_reused = stored[path] in step.stored_paths and uses[stored[path]] == 1
        old = removed.get((path[:-1], new.physical_name))
        if old and is_by_id:
            yield SchemaFault(SchemaFaultKind.COLUMN_ID, path, str(old.column_id), str(new.column_id))
        elif old and old.name.lower() == new.name.lower():
            continue  # the same column with another id, which readers by name do not see
        elif is_name_reused and not (is_by_id and is_id_reused):
            yield SchemaFault(SchemaFaultKind.NAME_REUSED, path, None, new.physical_name)
        elif is_id_reused:
            yield SchemaFault(SchemaFaultKind.ID_REUSED, path, None, str(new.column_id))
    highest = max((field.column_id or 0 for _path, field in walk_fields(after.columns)), default=0)
    # Below the ids of the columns it is a fault of the state, whatever the files hold.
    if lowers_column_id(step) and highest <= max_column_id(after):
        yield SchemaFault(SchemaFaultKind.MAX_ID, (), str(step.max_column_id), str(max_column_id(after)))


def _partitioning(step: HistoryStep, before: TableState, after: TableState) -> Iterator[SchemaFault]:
    if before.partitioned_by == after.partitioned_by:
        return
    before = with_keys_followed(before, changes(step))
    old, new = _names(before), _names(after)
    for kind, one, other in (
        (SchemaFaultKind.PARTITIONING, new, old),
        (SchemaFaultKind.UNPARTITIONED, old, new),
    ):
        names = {name.lower() for name in other}
        if columns := tuple(name for name in one if name.lower() not in names):
            yield SchemaFault(kind, (), ", ".join(old) or None, ", ".join(new) or None, columns)
            return


def _nulls(pairs: Iterable[_Pair]) -> Iterator[SchemaFault]:
    for path, old, new in pairs:
        if new and not new.nullable and (old is None or old.nullable):
            yield SchemaFault(SchemaFaultKind.NULLS, path, "NULL" if old else None, "NOT NULL")


def max_column_id(state: TableState) -> int:
    """Return ``delta.columnMapping.maxColumnId``; 0 if it is absent or not a number."""
    text = state.properties.get(MAX_COLUMN_ID) or ""
    if text.isdecimal() and len(text) <= MOST_DIGITS:
        return int(text)
    return 0


def stored_paths(columns: Struct) -> frozenset[Path]:
    """Return the physical paths that data files of a schema hold, in lower case; void columns are not stored.

    Spark ignores the case of names in data files, with column mapping too (measured on Delta 4.4.0).
    """
    paths = zip(physical_paths(columns), walk_fields(columns), strict=True)
    return frozenset(lowercased(stored) for (_path, stored), (_same, field) in paths if field.type != VOID)


def lowers_column_id(step: HistoryStep) -> bool:
    """Whether a commit lowers ``delta.columnMapping.maxColumnId``; the key it removes is not a lower one."""
    if step.before is None or step.entry.metadata is None or not step.max_column_id:
        return False
    return 0 < max_column_id(step.entry.metadata.state) < max_column_id(step.before.state)


def _names(state: TableState) -> tuple[str, ...]:
    if isinstance(state.partitioned_by, Unmanaged):
        return ()
    return state.partitioned_by


def _stored_name(field: Field, mode: str) -> str:
    """Return the name of a field in data files; readers ignore its case without column mapping."""
    if mode == "none":
        return field.name.lower()
    return field.stored_name


def _pairs(old: DataType, new: DataType, path: Path, *, by_id: bool, all_: bool) -> Iterator[_Pair]:
    """Yield the fields at any depth, paired by id or by name; not those inside a field without a pair."""
    match old, new:
        case Struct(), Struct():
            # Most fields are the same objects, which the parser of schemas keeps.
            same = set[int]() if all_ else set(map(id, old.fields)) & set(map(id, new.fields))
            before = {_key(field, by_id=by_id): field for field in old.fields if id(field) not in same}
            for field in new.fields:
                if id(field) in same:
                    continue
                namesake = before.pop(_key(field, by_id=by_id), None)
                if not all_ and namesake == field:
                    continue
                inner = (*path, field.name)
                yield inner, namesake, field
                if namesake:
                    yield from _pairs(namesake.type, field.type, inner, by_id=by_id, all_=all_)
            for field in before.values():
                yield (*path, field.name), field, None
        case Array(), Array():
            inner = (*path, Part.ELEMENT)
            yield from _pairs(old.element, new.element, inner, by_id=by_id, all_=all_)
        case Map(), Map():
            yield from _pairs(old.key, new.key, (*path, Part.KEY), by_id=by_id, all_=all_)
            yield from _pairs(old.value, new.value, (*path, Part.VALUE), by_id=by_id, all_=all_)
        case _:
            pass


def _key(field: Field, *, by_id: bool) -> int | str:
    if by_id and field.column_id is not None:
        return field.column_id
    return field.name.lower()


def may_misfit_files(history: History) -> bool:
    """Whether a commit changes the schema so that data files from before it may no longer fit."""
    all_steps = tuple(steps(history))
    return any(
        next(iter(faults_of_step), None) is not None
        for step in _with_earlier_columns(all_steps, _states(all_steps), range(len(all_steps)))
        if _changes_schema(step)
        for faults_of_step in (faults(step), unrecorded_changes(step), lost_records(step))
    )


def live_steps(history: History) -> tuple[HistoryStep, ...]:
    """Return every commit that changed metadata or protocol, oldest first; see `HistoryStep.superseded`."""
    all_steps = tuple(steps(history))
    states = _states(all_steps)
    of_files = tuple(_written(history, all_steps))
    oldest = of_files[0] if of_files else len(all_steps)
    mattering = _mattering(states, of_files)
    unmapped = next((index for index in of_files if _mapping(states[index]) == "none"), len(all_steps))
    return tuple(
        replace(
            step,
            superseded=is_restore(step.entry) or not (index in mattering or lowers_column_id(step)),
            has_unmapped_files=unmapped < index,
        )
        for index, step in enumerate(
            (*all_steps[:oldest], *_with_earlier_columns(all_steps, states, set(of_files)))
        )
    )


def _changes_schema(step: HistoryStep) -> bool:
    """Whether a commit changes what files must fit; most commits change only properties or comments."""
    if step.before is None or step.entry.metadata is None:
        return False
    before, after = _schema_keys((step.before.state, step.entry.metadata.state))
    return before != after or lowers_column_id(step)


def _states(all_steps: Iterable[HistoryStep]) -> tuple[TableState | None, ...]:
    """Return the state after each step."""
    return tuple(
        metadata.state if (metadata := step.entry.metadata or step.before) else None for step in all_steps
    )


def _with_earlier_columns(
    all_steps: Sequence[HistoryStep], states: Sequence[TableState | None], of_files: Collection[int]
) -> Iterator[HistoryStep]:
    """Yield the steps since the oldest one in `of_files` with what is known of the columns before.

    Args:
        all_steps: The steps.
        states: The state after each step.
        of_files: The indexes of the steps under whose schema the live data files were written.
    """
    is_mapped = any(_mapping(state) != "none" for state in states)
    highest, stored = 0, frozenset[Path]()
    columns: Struct | None = None
    for index in range(min(of_files, default=len(all_steps)), len(all_steps)):
        step, state = all_steps[index], states[index]
        yield replace(step, max_column_id=highest, stored_paths=stored) if highest else step
        if step.entry.metadata is not None:
            highest = max(highest, max_column_id(step.entry.metadata.state))
        if is_mapped and index in of_files and state and state.columns is not columns:
            columns = state.columns
            stored |= stored_paths(columns)


def _written(history: History, all_steps: Sequence[HistoryStep]) -> Iterator[int]:
    """Yield the indexes of the commits under whose schema the live data files were written.

    If that is unknown, yield every commit since the last one that replaced all files, by its operation.
    """
    versions = history.file_versions
    first = 0
    if versions is None and not any(is_restore(step.entry) for step in all_steps):
        replaced = (index for index, step in enumerate(all_steps) if _may_replace_all_files(step.entry))
        first = max(replaced, default=0)
    for index in range(first, len(all_steps)):
        if versions is None or all_steps[index].entry.version in versions:
            yield index


def _may_replace_all_files(entry: HistoryEntry) -> bool:
    return replaces_all_files(entry) or (entry.operation is None and entry.removes_files)


def _mattering(states: Sequence[TableState | None], of_files: Iterable[int]) -> set[int]:
    """Return the indexes of the commits that matter to files with the schemas of `of_files`."""
    keys = tuple(_schema_keys(states))
    newest = {key: index for index, key in enumerate(keys)}
    versions: set[int] = set()
    for start in of_files:
        index = newest[keys[start]] + 1
        while index < len(keys) and index not in versions:
            versions.add(index)
            index = newest[keys[index]] + 1
    return versions


def _schema_keys(states: Iterable[TableState | None]) -> Iterator[tuple[object, ...]]:
    """Yield a key for each state, equal for states under which the same files can be read."""
    numbers: dict[Struct, int] = {}
    columns: Struct | None = None
    number = -1
    for state in states:
        if state is None:
            yield ()
            continue
        if state.columns is not columns:  # commits share an unchanged schema, and hashing it takes long
            columns, number = state.columns, numbers.setdefault(state.columns, len(numbers))
        yield number, state.partitioned_by, state.column_mapping


def _mapping(state: TableState | None) -> str:
    return state.column_mapping if state else "none"
