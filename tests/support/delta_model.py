"""Delta as far as a plan meets it: each column is somebody, and what Delta would refuse is an error.

Measured on Delta 4.4.0; the error classes stand beside the refusals.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Final

from schemalint.delta import change
from schemalint.delta.datatype import Field, Struct, field_at, map_fields, type_at, walk_fields
from schemalint.delta.patch import update_field, update_type
from schemalint.delta.path import Path, lowercased
from schemalint.delta.widening import TypeStep
from schemalint.delta.widening import step as type_step
from schemalint.model.plan import Step, StepKind
from schemalint.values import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from schemalint.delta.change import Change
    from schemalint.delta.datatype import DataType
    from schemalint.delta.table import TableState

_MODE: Final = "delta.columnMapping.mode"
_WIDENING: Final = "delta.enableTypeWidening"


class RefusedError(AssertionError):
    """What the engine would say."""


@dataclass
class Delta:
    """A table that statements are carried out on, one by one, as Delta does.

    Attributes:
        state: As the log has it.
        new: Names those who were not there before.
        newest: The highest id that a column had.
    """

    state: TableState
    new: Iterator[int] = field(default_factory=count)
    newest: int = 0

    def run(self, step: Step) -> None:
        """Carry out one statement.

        Raises:
            RefusedError: Delta would not.
        """
        _require(_KINDS[step.kind] >= {type(one) for one in step.changes}, f"{step.kind}: {step.changes}")
        ids = [each.column_id or 0 for _path, each in walk_fields(self.state.columns)]
        self.newest = max((self.newest, *ids))
        _require(step.kind not in _SINGLE or len(step.changes) == 1, "one object in a statement")
        for one in step.changes:
            self._carry_out(one)
        self.state = replace(self.state, features=self.state.features | step.adds_features)

    def _carry_out(self, one: Change) -> None:
        match one:
            case change.PropertyChanged():
                self._property(one)
            case change.FeatureChanged(name=name, new=new):
                features = self.state.features
                self.state = replace(self.state, features=features | {name} if new else features - {name})
            case change.DescriptionChanged(new=new):
                self.state = replace(self.state, description=new)
            case change.ConstraintChanged():
                self._constraint(one)
            case change.ClusteringChanged(new=tuple() as paths):
                for path in paths:
                    _require(field_at(self.state.columns, path), f"DELTA_COLUMN_NOT_FOUND: {path}")
                self.state = replace(self.state, clustered_by=paths)
            case change.FieldAdded():
                self._add(one)
            case change.FieldRemoved(path=path):
                self._drop(path)
            case change.FieldRenamed(path=path, old_name=old):
                self._rename(path, old)
            case change.FieldMoved(path=path, after=after):
                self._siblings(path, lambda fields: _placed(fields, _taken_out(fields, path), after))
            case _:
                self._alter(one)

    def _property(self, one: change.PropertyChanged) -> None:
        there = self.state.properties.get(one.key)
        _require(there == (one.old if isinstance(one.old, str) else None), f"{one.key} is {there}")
        kept = {key: value for key, value in self.state.properties.items() if key != one.key}
        new = {one.key: one.new} if isinstance(one.new, str) else {}
        if one.key == _MODE and one.new == "name" and there in (None, "none"):
            ids = count(1)
            columns = map_fields(self.state.columns, lambda _path, each: replace(each, column_id=next(ids)))
            self.state = replace(self.state, columns=columns)
        self.state = replace(self.state, properties=kept | new)

    def _constraint(self, one: change.ConstraintChanged) -> None:
        constraints = dict(self.state.constraints)
        if isinstance(one.new, str):
            _require(one.name not in constraints, f"DELTA_CONSTRAINT_ALREADY_EXISTS: {one.name}")
            _require(field_at(self.state.columns, _guarded(one.new)), f"UNRESOLVED_COLUMN: {one.new}")
            constraints[one.name] = one.new
        else:
            _require(one.name in constraints, f"DELTA_CONSTRAINT_DOES_NOT_EXIST: {one.name}")
            del constraints[one.name]
        self.state = replace(self.state, constraints=constraints)

    def _add(self, one: change.FieldAdded) -> None:
        _require(one.field.nullable and not isinstance(one.field.default, str), f"NOT NULL, DEFAULT: {one}")
        mapped = self.state.properties.get(_MODE) == "name"
        ids = self._ids()

        def born(_path: object, each: Field) -> Field:
            who = f"n{next(self.new)}"
            return replace(each, physical_name=who, column_id=next(ids) if mapped else None)

        (fresh,) = map_fields(Struct((one.field,)), born).fields
        self._require_free(one.path)
        self._siblings(one.path, lambda fields: _placed(fields, fresh, one.after))

    def _ids(self) -> Iterator[int]:
        """None is given twice (`delta.columnMapping.maxColumnId`)."""
        while True:
            self.newest += 1
            yield self.newest

    def _drop(self, path: Path) -> None:
        self._require_mapping()
        self._require_unguarded(path)
        state = self.state
        clustered = state.clustered_by if isinstance(state.clustered_by, tuple) else ()
        inside = [one for one in clustered if lowercased(one)[: len(path)] == lowercased(path)]
        _require(not inside, f"DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN: {path}")
        parent = type_at(state.columns, path[:-1])
        _require(
            isinstance(parent, Struct) and len(parent.fields) > 1,
            f"DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA: {path}",
        )
        self._siblings(path, lambda fields: [one for one in fields if one is not _taken_out(fields, path)])

    def _rename(self, path: Path, old: str) -> None:
        before = (*path[:-1], old)
        self._require_mapping()
        self._require_unguarded(before)
        self._require_free(path)
        name = str(path[-1])
        self.state = replace(
            self.state, columns=update_field(self.state.columns, before, lambda one: replace(one, name=name))
        )
        if isinstance(self.state.clustered_by, tuple):
            moved = (
                (*path, *one[len(path) :]) if lowercased(one)[: len(path)] == lowercased(before) else one
                for one in self.state.clustered_by
            )
            self.state = replace(self.state, clustered_by=tuple(moved))

    def _alter(self, one: Change) -> None:
        match one:
            case change.TypeChanged(path=path, old=old, new=new):
                _require(type_at(self.state.columns, path) == old, f"{path} is no {old}")
                _require(type_step(old, new) is TypeStep.WIDENING, f"no widening: {old} to {new}")
                _require(self.state.properties.get(_WIDENING) == "true", "type widening is off")
                self._require_unguarded(path)
                self.state = replace(self.state, columns=update_type(self.state.columns, path, lambda _: new))
            case change.CommentChanged(path=path, new=comment):
                self._field(path, lambda found: replace(found, comment=comment))
            case change.NullabilityChanged(path=path, new=True):
                self._field(path, lambda found: replace(found, nullable=True))
            case change.DefaultChanged(path=path, new=default):
                _require("allowColumnDefaults" in self.state.features, "WRONG_COLUMN_DEFAULTS_FOR_DELTA")
                self._field(path, lambda found: replace(found, default=default))
            case _:
                raise RefusedError(one)

    def _field(self, path: Path, update: Callable[[Field], Field]) -> None:
        _require(field_at(self.state.columns, path), f"DELTA_COLUMN_NOT_FOUND: {path}")
        self.state = replace(self.state, columns=update_field(self.state.columns, path, update))

    def _siblings(self, path: Path, update: Callable[[tuple[Field, ...]], list[Field]]) -> None:
        def updated(parent: DataType) -> Struct:
            assert isinstance(parent, Struct)
            return Struct(tuple(update(parent.fields)))

        self.state = replace(self.state, columns=update_type(self.state.columns, path[:-1], updated))

    def _require_mapping(self) -> None:
        _require(self.state.properties.get(_MODE) == "name", "DELTA_UNSUPPORTED_RENAME_COLUMN")

    def _require_free(self, path: Path) -> None:
        _require(type_at(self.state.columns, path) is None, f"FIELD_ALREADY_EXISTS: {path}")

    def _require_unguarded(self, path: Path) -> None:
        for name, expression in self.state.constraints.items():
            used = lowercased(_guarded(str(expression)))
            shorter = min(len(used), len(path))
            _require(
                used[:shorter] != lowercased(path)[:shorter],
                f"DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE: {name} uses {path}",
            )


_KINDS: Final[Mapping[StepKind, set[type]]] = {
    StepKind.SET_PROPERTIES: {change.PropertyChanged, change.FeatureChanged, change.DescriptionChanged},
    StepKind.UNSET_PROPERTIES: {change.PropertyChanged},
    StepKind.NOTE_PENDING: {change.PropertyChanged},
    StepKind.DROP_CONSTRAINT: {change.ConstraintChanged},
    StepKind.ADD_CONSTRAINT: {change.ConstraintChanged},
    StepKind.DROP_COLUMNS: {change.FieldRemoved},
    StepKind.RENAME_COLUMN: {change.FieldRenamed},
    StepKind.ADD_COLUMNS: {change.FieldAdded},
    StepKind.ALTER_COLUMNS: {
        change.TypeChanged,
        change.CommentChanged,
        change.NullabilityChanged,
        change.DefaultChanged,
    },
    StepKind.MOVE_COLUMN: {change.FieldMoved},
    StepKind.CLUSTER: {change.ClusteringChanged},
}
_SINGLE: Final = {
    StepKind.DROP_CONSTRAINT,
    StepKind.ADD_CONSTRAINT,
    StepKind.RENAME_COLUMN,
    StepKind.MOVE_COLUMN,
    StepKind.CLUSTER,
}


def _require(condition: object, said: str) -> None:
    if not condition:
        raise RefusedError(said)


def _placed(fields: tuple[Field, ...], one: Field, after: str | None) -> list[Field]:
    others = [other for other in fields if other is not one]
    if after is None:
        return [one, *others]
    names = [other.name.lower() for other in others]
    _require(after.lower() in names, f"FIELD_NOT_FOUND: {after}")
    place = names.index(after.lower()) + 1
    return [*others[:place], one, *others[place:]]


def _taken_out(fields: tuple[Field, ...], path: Path) -> Field:
    found = Struct(fields).get(str(path[-1]))
    _require(found, f"DELTA_COLUMN_NOT_FOUND: {path}")
    assert found is not None
    return found


def _guarded(expression: str) -> Path:
    """The column of a constraint: all of them are ```a`.`b` IS NOT NULL``."""
    return tuple(name.replace("``", "`") for name in re.findall(r"`((?:[^`]|``)*)`", expression))
