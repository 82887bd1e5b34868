"""Apply changes to a state: the inverse of `schemalint.delta.diff`. Plans are simulated with it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Final, TypeAlias, assert_never, cast

from schemalint.base.values import grouped, replace
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
    with_inserted,
    with_parts,
)
from schemalint.delta.diff import with_keys_followed
from schemalint.delta.path import Part, Path, lowercased
from schemalint.delta.table import Deletion, TableState


def apply_changes(state: TableState, changes: Iterable[Change]) -> TableState:
    """Return the state after all changes, applied one after the other.

    Raises:
        LookupError: A change refers to an object that the state does not have.
    """
    for _kind, run in groupby(changes, key=_together):
        run_of_changes = tuple(run)
        if isinstance(run_of_changes[0], ColumnChange):
            keyed = with_keys_followed(state, run_of_changes)
            state = replace(keyed, columns=_with_run(state.columns, run_of_changes))
            continue
        for changed in run_of_changes:
            state = _apply(state, changed)
    return state


def _with_run(columns: Struct, run: tuple[Change, ...]) -> Struct:
    """Apply the changes of columns that `_together` puts together."""
    match run[0]:
        case change.FieldRenamed():
            # Apply renames at once: a swap takes each name before the other column frees it.
            return _renamed(columns, run)
        case change.FieldAdded(path=path):
            new = [(added.field, added.after) for added in run if isinstance(added, change.FieldAdded)]
            return _among_siblings(columns, path, partial(with_inserted, new=new))
        case change.FieldRemoved(path=path):
            names = [_name(removed.path) for removed in run if isinstance(removed, change.FieldRemoved)]
            return _among_siblings(columns, path, partial(_without, names=names))
        case change.FieldMoved():
            for moved in run:
                if isinstance(moved, change.FieldMoved):
                    move = partial(_moved, name=_name(moved.path), after=moved.after)
                    columns = _among_siblings(columns, moved.path, move)
            return columns
        case _:
            in_place = [(lowercased(item.path), item) for item in run if isinstance(item, _InPlace)]
            return cast("Struct", _updated(columns, in_place))


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
        return _with_field(parent, name, update)

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
    return _with_field(type_, step, lambda field: replace(field, type=_at_type(field.type, rest, update)))


def _with_field(struct: Struct, name: str, update: Callable[[Field], Field]) -> Struct:
    lowered = name.lower()
    return Struct(tuple(update(field) if field.name.lower() == lowered else field for field in struct.fields))


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
            raise AssertionError(changed)  # `_with_run` applies it
        case _:
            assert_never(changed)


_NAME: Final = attrgetter("name")

_InPlace: TypeAlias = (
    change.TypeChanged
    | change.NullabilityChanged
    | change.TypeHistoryChanged
    | change.CommentChanged
    | change.DefaultChanged
    | change.GeneratedChanged
    | change.IdentityChanged
)
"""A change that leaves the fields of every struct in their places."""


def _together(changed: Change) -> object:
    """Return the same key for changes that are applied in one pass over their struct, or over all columns."""
    if isinstance(changed, change.FieldRenamed | change.FieldAdded | change.FieldRemoved):
        return type(changed), changed.path[:-1]
    if isinstance(changed, _InPlace):
        return _InPlace
    return None


def _updated(type_: DataType, changes: Sequence[tuple[Path, _InPlace]]) -> DataType:
    """Apply changes inside a type, or of the type itself; the paths start from it, in lower case."""
    for index, (path, changed) in enumerate(changes):
        if not path and isinstance(changed, change.TypeChanged):
            return _updated(changed.new, changes[index + 1 :])
    inner = grouped((path[0], (path[1:], changed)) for path, changed in changes if path)
    if not inner:
        return type_
    if isinstance(type_, Struct):
        _require(inner, {field.name.lower() for field in type_.fields})
        return Struct(
            tuple(
                _updated_field(field, inner[name]) if (name := field.name.lower()) in inner else field
                for field in type_.fields
            )
        )
    if not isinstance(type_, Array | Map):
        raise LookupError(*inner)
    by_name = dict(parts(type_))
    _require(inner, by_name)
    updated = with_parts(
        type_, {part: _updated(by_name[part], inner[part]) for part in by_name if part in inner}
    )
    for part_changes in inner.values():
        for path, changed in part_changes:
            if not path and isinstance(changed, change.NullabilityChanged):
                updated = _holding_nulls(updated, changed.new)
            elif not path and not isinstance(changed, change.TypeChanged):
                raise LookupError(changed.path)
    return updated


def _require(needed: Iterable[object], existing: Container[object]) -> None:
    if missing := [step for step in needed if step not in existing]:
        raise LookupError(*missing)


def _updated_field(field: Field, changes: Sequence[tuple[Path, _InPlace]]) -> Field:
    for path, changed in changes:
        match changed:
            case _ if path:
                pass
            case change.TypeChanged():
                pass
            case change.NullabilityChanged(new=nullable):
                field = replace(field, nullable=nullable is UNMANAGED or bool(nullable))
            case change.TypeHistoryChanged(new=history):
                field = replace(field, type_changes=history)
            case change.CommentChanged(new=comment):
                field = replace(field, comment=comment)
            case change.DefaultChanged(new=default):
                field = replace(field, default=default)
            case change.GeneratedChanged(new=generated):
                field = replace(field, generated=generated)
            case change.IdentityChanged(new=identity):
                field = replace(field, identity=identity)
            case _:
                assert_never(changed)
    return replace(field, type=_updated(field.type, changes))


def _renamed(columns: Struct, renames: Sequence[Change]) -> Struct:
    pairs = [(item.path, item.old_name) for item in renames if isinstance(item, change.FieldRenamed)]

    def renamed(fields: tuple[Field, ...]) -> tuple[Field, ...]:
        # A plan has one step per rename: few of the fields are looked at in Python.
        positions = dict(zip(map(_NAME, fields), range(len(fields)), strict=True))
        _require((old for _path, old in pairs), positions)
        result = list(fields)
        for path, old in pairs:
            # Keep renamed_from: without it, the declared renames of a swap would look like undone ones.
            result[positions[old]] = replace(fields[positions[old]], name=_name(path), renamed_from=old)
        return tuple(result)

    return _among_siblings(columns, pairs[0][0], renamed)


def _with_entry(
    entries: Mapping[str, str | None], key: str, new: Managed[str | None]
) -> dict[str, str | None]:
    kept = dict(entries)
    kept.pop(key, None)
    if isinstance(new, Unmanaged):
        return kept
    return {**kept, key: new}


def _holding_nulls(type_: Array | Map, nullable: Managed[bool]) -> Array | Map:
    if isinstance(type_, Array):
        return replace(type_, contains_null=nullable)
    return replace(type_, value_contains_null=nullable)


def _among_siblings(
    columns: Struct, path: Path, update: Callable[[tuple[Field, ...]], tuple[Field, ...]]
) -> Struct:
    parent = type_at(columns, path[:-1])
    if not isinstance(parent, Struct):
        raise LookupError(path)
    fields = update(parent.fields)
    return update_type(columns, path[:-1], lambda _parent: Struct(fields))


def _name(path: Path) -> str:
    name = path[-1]
    if isinstance(name, Part):
        raise LookupError(path)
    return name


def _without(fields: tuple[Field, ...], names: Iterable[str]) -> tuple[Field, ...]:
    positions = _positions(fields)
    lowered = [name.lower() for name in names]
    _require(lowered, positions)
    removed = {positions[name] for name in lowered}
    return tuple(field for position, field in enumerate(fields) if position not in removed)


def _moved(fields: tuple[Field, ...], name: str, after: str | None) -> tuple[Field, ...]:
    # A plan has one step per move: as for renames.
    positions = _positions(fields)
    position, previous = positions[name.lower()], -1 if after is None else positions[after.lower()]
    rest = (*fields[:position], *fields[position + 1 :])
    target = previous + 1 if previous < position else previous
    return (*rest[:target], fields[position], *rest[target:])


def _positions(fields: tuple[Field, ...]) -> dict[str, int]:
    """Return the positions by name in lower case; the first of two equal names counts."""
    names = map(str.lower, map(_NAME, reversed(fields)))
    return dict(zip(names, range(len(fields) - 1, -1, -1), strict=True))
