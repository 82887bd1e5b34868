"""Changes applied to a state: the inverse of `schemalint.delta.diff`, and what a plan is simulated with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import cast

from schemalint.delta import change
from schemalint.delta.change import Change
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
    """The state after all changes, one after the other.

    Raises:
        LookupError: A change is of something that is not there.
    """
    for _parent, run in groupby(changes, key=_renames_within):
        run_of_changes = list(run)
        if isinstance(run_of_changes[0], change.FieldRenamed):
            # All at once: in a swap each name is taken before it is given up.
            keyed = with_renamed_keys(state, renames_of(run_of_changes))
            state = replace(keyed, columns=_renamed(state.columns, run_of_changes))
            continue
        for one in run_of_changes:
            state = _apply(state, one)
    return state


def update_type(columns: Struct, path: Path, update: Callable[[DataType], DataType]) -> Struct:
    """The columns with the type at a path (a struct's, for the empty path) replaced.

    Raises:
        LookupError: There is nothing at the path.
    """
    return cast("Struct", _at_type(columns, path, update))


def update_field(columns: Struct, path: Path, update: Callable[[Field], Field]) -> Struct:
    """The columns with the field at a path replaced.

    Raises:
        LookupError: There is no field at the path.
    """
    name = path[-1]

    def in_struct(parent: DataType) -> DataType:
        if not isinstance(parent, Struct) or isinstance(name, Part) or parent.get(name) is None:
            raise LookupError(path)
        return Struct(
            tuple(update(one) if one.name.lower() == name.lower() else one for one in parent.fields)
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
    wanted = step.lower()
    return Struct(
        tuple(
            replace(one, type=_at_type(one.type, rest, update)) if one.name.lower() == wanted else one
            for one in type_.fields
        )
    )


def _apply(state: TableState, one: Change) -> TableState:
    match one:
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
        case change.FeatureChanged(name=name, new=wanted):
            return replace(state, features=state.features | {name} if wanted else state.features - {name})
        case change.PartitioningChanged(new=partitioning):
            return replace(state, partitioned_by=partitioning)
        case change.ClusteringChanged(new=clustering):
            return replace(state, clustered_by=clustering)
        case change.DeletionListed(path=path, type=type_):
            return replace(state, dropped=(*state.dropped, Deletion(path, type_)))
        case change.DeletionUnlisted(path=path):
            return replace(state, dropped=tuple(entry for entry in state.dropped if entry.path != path))
        case _:
            return replace(state, columns=_apply_to_columns(state.columns, one))


def _renames_within(one: Change) -> Path | None:
    return one.path[:-1] if isinstance(one, change.FieldRenamed) else None


def _renamed(columns: Struct, renames: list[Change]) -> Struct:
    names = {one.old_name: _name(one.path) for one in renames if isinstance(one, change.FieldRenamed)}
    paths = [one.path for one in renames if isinstance(one, change.FieldRenamed)]
    known = {field.name for field in _siblings(columns, paths[0])}
    if missing := names.keys() - known:
        raise LookupError(missing)

    def renamed(field: Field) -> Field:
        if field.name not in names:
            return field
        # It remembers: in a swap the declared renames would else be found undone.
        return replace(field, name=names[field.name], renamed_from=field.name)

    return _among_siblings(columns, paths[0], lambda fields: tuple(renamed(field) for field in fields))


def _apply_to_columns(columns: Struct, one: Change) -> Struct:
    match one:
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
    raise LookupError(one)


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
    place = 0 if after is None else _index(fields, after) + 1
    return (*fields[:place], field, *fields[place:])


def _without(fields: tuple[Field, ...], name: str) -> tuple[Field, ...]:
    place = _index(fields, name)
    return (*fields[:place], *fields[place + 1 :])


def _moved(fields: tuple[Field, ...], name: str, after: str | None) -> tuple[Field, ...]:
    return _inserted(_without(fields, name), fields[_index(fields, name)], after)


def _index(fields: tuple[Field, ...], name: str) -> int:
    wanted = name.lower()
    for place, field in enumerate(fields):
        if field.name.lower() == wanted:
            return place
    raise LookupError(name)
