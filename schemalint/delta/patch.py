"""Apply changes to a state: the inverse of `schemalint.delta.diff`. Plans are simulated with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import assert_never, cast

from schemalint.delta import change
from schemalint.delta.change import Change, ColumnChange
from schemalint.delta.datatype import (
    UNMANAGED,
    Array,
    DataType,
    Field,
    Managed,
    Map,
    Struct,
    Unmanaged,
    parts,
    type_at,
    with_parts,
)
from schemalint.delta.diff import with_renamed_keys
from schemalint.delta.path import Part, Path
from schemalint.delta.renames import renames_of
from schemalint.delta.table import Deletion, TableState
from schemalint.values import replace


def apply_changes(state: TableState, changes: Iterable[Change]) -> TableState:
    """Return the state after all changes, applied one after the other.

    Raises:
        LookupError: A change refers to an object that the state does not have.
    """
    for _parent, run in groupby(changes, key=_renames_within):
        run_of_changes = list(run)
        if isinstance(run_of_changes[0], change.FieldRenamed):
            # Apply renames at once: a swap takes each name before the other column frees it.
            keyed = with_renamed_keys(state, renames_of(run_of_changes))
            state = replace(keyed, columns=_renamed(state.columns, run_of_changes))
            continue
        for changed in run_of_changes:
            state = _apply(state, changed)
    return state


def update_type(columns: Struct, path: Path, update: Callable[[DataType], DataType]) -> Struct:
    """Return the columns with the type at a path replaced; the empty path is the struct of all columns.

    Raises:
        LookupError: The path does not exist.
    """
    return cast("Struct", _at_type(columns, path, update))


def update_field(columns: Struct, path: Path, update: Callable[[Field], Field]) -> Struct:
    """Return the columns with the field at a path replaced.

    Raises:
        LookupError: The path does not lead to a field.
    """
    name = path[-1]

    def in_struct(parent: DataType) -> DataType:
        if not isinstance(parent, Struct) or isinstance(name, Part) or parent.get(name) is None:
            raise LookupError(path)
        return Struct(
            tuple(update(field) if field.name.lower() == name.lower() else field for field in parent.fields)
        )

    return update_type(columns, path[:-1], in_struct)


def _at_type(type_: DataType, path: Path, update: Callable[[DataType], DataType]) -> DataType:
    if not path:
        return update(type_)
    step, rest = path[0], path[1:]
    if isinstance(step, Part):
        inner = dict(parts(type_)).get(step)
        if inner is None or not isinstance(type_, Array | Map):
            raise LookupError(path)
        return with_parts(type_, {step: _at_type(inner, rest, update)})
    if not isinstance(type_, Struct) or type_.get(step) is None:
        raise LookupError(path)
    lowered = step.lower()
    return Struct(
        tuple(
            replace(field, type=_at_type(field.type, rest, update))
            if field.name.lower() == lowered
            else field
            for field in type_.fields
        )
    )


def _apply(state: TableState, changed: Change) -> TableState:
    match changed:
        case change.TableAdded(state=added):
            return added
        case change.TableRemoved():
            return TableState()
        case change.DescriptionChanged(new=new):
            return replace(state, description=new)
        case change.PropertyChanged(key=key, new=new):
            return replace(state, properties=_with_entry(state.properties, key, new))
        case change.ConstraintChanged(name=name, new=new):
            return replace(state, constraints=_with_entry(state.constraints, name, new))
        case change.FeatureChanged(name=name, new=present):
            return replace(state, features=state.features | {name} if present else state.features - {name})
        case change.PartitioningChanged(new=partitioning):
            return replace(state, partitioned_by=partitioning)
        case change.ClusteringChanged(new=clustering):
            return replace(state, clustered_by=clustering)
        case change.DeletionListed(path=path, type=type_):
            return replace(state, dropped=(*state.dropped, Deletion(path, type_)))
        case change.DeletionUnlisted(path=path):
            return replace(state, dropped=tuple(entry for entry in state.dropped if entry.path != path))
        case _ if isinstance(changed, ColumnChange):
            return replace(state, columns=_apply_to_columns(state.columns, changed))
        case _:
            assert_never(changed)


def _renames_within(changed: Change) -> Path | None:
    return changed.path[:-1] if isinstance(changed, change.FieldRenamed) else None


def _renamed(columns: Struct, renames: Sequence[Change]) -> Struct:
    names = {item.old_name: _name(item.path) for item in renames if isinstance(item, change.FieldRenamed)}
    paths = [item.path for item in renames if isinstance(item, change.FieldRenamed)]
    known = {field.name for field in _siblings(columns, paths[0])}
    if missing := names.keys() - known:
        raise LookupError(missing)

    def renamed(field: Field) -> Field:
        if field.name not in names:
            return field
        # Keep renamed_from: without it, the declared renames of a swap would look like undone ones.
        return replace(field, name=names[field.name], renamed_from=field.name)

    return _among_siblings(columns, paths[0], lambda fields: tuple(renamed(field) for field in fields))


def _apply_to_columns(columns: Struct, changed: ColumnChange) -> Struct:
    match changed:
        case change.FieldAdded(path=path, field=field, after=after):
            return _among_siblings(columns, path, lambda fields: _inserted(fields, field, after))
        case change.FieldRemoved(path=path):
            return _among_siblings(columns, path, lambda fields: _without(fields, _name(path)))
        case change.FieldMoved(path=path, after=after):
            return _among_siblings(columns, path, lambda fields: _moved(fields, _name(path), after))
        case change.TypeChanged(path=path, new=new):
            return update_type(columns, path, lambda _old: new)
        case change.NullabilityChanged(path=path, new=nullable):
            return _with_nullability(columns, path, nullable)
        case change.TypeHistoryChanged(path=path, new=history):
            return update_field(columns, path, lambda field: replace(field, type_changes=history))
        case change.CommentChanged(path=path, new=comment):
            return update_field(columns, path, lambda field: replace(field, comment=comment))
        case change.DefaultChanged(path=path, new=default):
            return update_field(columns, path, lambda field: replace(field, default=default))
        case change.GeneratedChanged(path=path, new=generated):
            return update_field(columns, path, lambda field: replace(field, generated=generated))
        case change.IdentityChanged(path=path, new=identity):
            return update_field(columns, path, lambda field: replace(field, identity=identity))
        case change.FieldRenamed():
            return _renamed(columns, [changed])
        case _:
            assert_never(changed)


def _with_entry(
    entries: Mapping[str, str | None], key: str, new: Managed[str | None]
) -> dict[str, str | None]:
    kept = {name: value for name, value in entries.items() if name != key}
    return kept if isinstance(new, Unmanaged) else {**kept, key: new}


def _with_nullability(columns: Struct, path: Path, nullable: Managed[bool]) -> Struct:
    match path[-1]:
        case Part():
            return update_type(columns, path[:-1], lambda type_: _holding_nulls(type_, nullable))
        case _:
            known = nullable is UNMANAGED or bool(nullable)
            return update_field(columns, path, lambda field: replace(field, nullable=known))


def _holding_nulls(type_: DataType, nullable: Managed[bool]) -> DataType:
    match type_:
        case Array():
            return replace(type_, contains_null=nullable)
        case Map():
            return replace(type_, value_contains_null=nullable)
        case _:
            raise LookupError(type_)


def _among_siblings(
    columns: Struct, path: Path, update: Callable[[tuple[Field, ...]], tuple[Field, ...]]
) -> Struct:
    fields = update(_siblings(columns, path))
    return update_type(columns, path[:-1], lambda _parent: Struct(fields))


def _siblings(columns: Struct, path: Path) -> tuple[Field, ...]:
    parent = type_at(columns, path[:-1])
    if not isinstance(parent, Struct):
        raise LookupError(path)
    return parent.fields


def _name(path: Path) -> str:
    name = path[-1]
    if isinstance(name, Part):
        raise LookupError(path)
    return name


def _inserted(fields: tuple[Field, ...], field: Field, after: str | None) -> tuple[Field, ...]:
    position = 0 if after is None else _index(fields, after) + 1
    return (*fields[:position], field, *fields[position:])


def _without(fields: tuple[Field, ...], name: str) -> tuple[Field, ...]:
    position = _index(fields, name)
    return (*fields[:position], *fields[position + 1 :])


def _moved(fields: tuple[Field, ...], name: str, after: str | None) -> tuple[Field, ...]:
    return _inserted(_without(fields, name), fields[_index(fields, name)], after)


def _index(fields: tuple[Field, ...], name: str) -> int:
    lowered = name.lower()
    for position, field in enumerate(fields):
        if field.name.lower() == lowered:
            return position
    raise LookupError(name)
