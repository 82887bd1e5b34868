"""A model of Delta that runs plans: columns have identities, and refused statements raise errors.

Measured on Delta 4.4.0; messages name Delta's error classes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Final

from schemalint.base.values import replace
from schemalint.delta import change
from schemalint.delta.datatype import Field, Struct, field_at, map_fields, type_at, walk_fields
from schemalint.delta.patch import update_field, update_type
from schemalint.delta.path import Path, lowercased
from schemalint.delta.widening import TypeStep
from schemalint.delta.widening import step as type_step
from schemalint.model.table_plan import Step, StepKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from schemalint.delta.change import Change
    from schemalint.delta.datatype import DataType
    from schemalint.delta.table import TableState

_MODE: Final = "delta.columnMapping.mode"
_WIDENING: Final = "delta.enableTypeWidening"


class RefusedError(AssertionError):
    """A statement that Delta refuses."""


@dataclass
class Delta:
    """A table that executes statements one by one, as Delta does.

    Attributes:
        state: The table state that the log would hold.
        new: Numbers the columns that statements add.
        max_column_id: The highest column id ever assigned.
    """

    state: TableState
    new: Iterator[int] = field(default_factory=count)
    max_column_id: int = 0

    def run(self, step: Step) -> None:
        """Execute one statement.

        Raises:
            RefusedError: Delta refuses the statement.
        """
        kinds = {type(part) for part in step.changes}
        _require(CHANGES_OF_STEPS[step.kind] >= kinds, f"{step.kind}: {step.changes}")
        ids = [existing.column_id or 0 for _path, existing in walk_fields(self.state.columns)]
        self.max_column_id = max((self.max_column_id, *ids))
        _require(step.kind not in _SINGLE or len(step.changes) == 1, "more than one object in a statement")
        moves = [part for part in step.changes if isinstance(part, change.FieldMoved)]
        moved = {lowercased(part.path) for part in moves}
        anchors = {lowercased((*part.path[:-1], part.after)) for part in moves if part.after is not None}
        _require(moved.isdisjoint(anchors), f"Delta does not keep the order of moves: {moves}")
        for part in step.changes:
            self._execute(part)
        self.state = replace(self.state, features=self.state.features | step.adds_features)

    def _execute(self, part: Change) -> None:
        match part:
            case change.PropertyChanged():
                self._property(part)
            case change.FeatureChanged(name=name, new=new):
                features = self.state.features
                self.state = replace(self.state, features=features | {name} if new else features - {name})
            case change.DescriptionChanged(new=new):
                self.state = replace(self.state, description=new)
            case change.ConstraintChanged():
                self._constraint(part)
            case change.ClusteringChanged(new=tuple() as paths):
                for path in paths:
                    _require(field_at(self.state.columns, path), f"DELTA_COLUMN_NOT_FOUND: {path}")
                self.state = replace(self.state, clustered_by=paths)
            case change.FieldAdded():
                self._add(part)
            case change.FieldRemoved(path=path):
                self._drop(path)
            case change.FieldRenamed(path=path, old_name=old):
                self._rename(path, old)
            case change.FieldMoved(path=path, after=after):
                self._siblings(path, lambda fields: _inserted(fields, _named(fields, path), after))
            case _:
                self._alter(part)

    def _property(self, update: change.PropertyChanged) -> None:
        key, new = update.key, update.new
        current = self.state.properties.get(key)
        _require(current == (update.old if isinstance(update.old, str) else None), f"{key} is {current}")
        kept = {name: value for name, value in self.state.properties.items() if name != key}
        added = {key: new} if isinstance(new, str) else {}
        if key == _MODE and new == "name" and current in (None, "none"):
            ids = count(1)
            columns = map_fields(self.state.columns, lambda _path, old: replace(old, column_id=next(ids)))
            self.state = replace(self.state, columns=columns)
        self.state = replace(self.state, properties=kept | added)

    def _constraint(self, update: change.ConstraintChanged) -> None:
        name, new = update.name, update.new
        constraints = dict(self.state.constraints)
        if isinstance(new, str):
            _require(name not in constraints, f"DELTA_CONSTRAINT_ALREADY_EXISTS: {name}")
            _require(field_at(self.state.columns, _constrained(new)), f"UNRESOLVED_COLUMN: {new}")
            constraints[name] = new
        else:
            _require(name in constraints, f"DELTA_CONSTRAINT_DOES_NOT_EXIST: {name}")
            del constraints[name]
        self.state = replace(self.state, constraints=constraints)

    def _add(self, addition: change.FieldAdded) -> None:
        is_plain = addition.field.nullable and not isinstance(addition.field.default, str)
        _require(is_plain, f"NOT NULL, DEFAULT: {addition}")
        mapped = self.state.properties.get(_MODE) == "name"
        ids = self._ids()

        def identified(_path: object, field_: Field) -> Field:
            identity = f"n{next(self.new)}"
            return replace(field_, physical_name=identity, column_id=next(ids) if mapped else None)

        (fresh,) = map_fields(Struct((addition.field,)), identified).fields
        self._require_free(addition.path)
        self._siblings(addition.path, lambda fields: _inserted(fields, fresh, addition.after))

    def _ids(self) -> Iterator[int]:
        """Yield new column ids; Delta never reuses one (`delta.columnMapping.maxColumnId`)."""
        while True:
            self.max_column_id += 1
            yield self.max_column_id

    def _drop(self, path: Path) -> None:
        self._require_mapping()
        self._require_unconstrained(path)
        state = self.state
        clustered = state.clustered_by if isinstance(state.clustered_by, tuple) else ()
        inside = [key for key in clustered if lowercased(key)[: len(path)] == lowercased(path)]
        _require(not inside, f"DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN: {path}")
        parent = type_at(state.columns, path[:-1])
        _require(
            isinstance(parent, Struct) and len(parent.fields) > 1,
            f"DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA: {path}",
        )
        self._siblings(path, lambda fields: [old for old in fields if old is not _named(fields, path)])

    def _rename(self, path: Path, old: str) -> None:
        before = (*path[:-1], old)
        self._require_mapping()
        self._require_unconstrained(before)
        self._require_free(path)
        name = str(path[-1])
        self.state = replace(
            self.state, columns=update_field(self.state.columns, before, lambda old: replace(old, name=name))
        )
        if isinstance(self.state.clustered_by, tuple):
            moved = (
                (*path, *key[len(path) :]) if lowercased(key)[: len(path)] == lowercased(before) else key
                for key in self.state.clustered_by
            )
            self.state = replace(self.state, clustered_by=tuple(moved))

    def _alter(self, part: Change) -> None:
        match part:
            case change.TypeChanged(path=path, old=old, new=new):
                _require(type_at(self.state.columns, path) == old, f"{path} is no {old}")
                _require(type_step(old, new) is TypeStep.WIDENING, f"no widening: {old} to {new}")
                _require(self.state.properties.get(_WIDENING) == "true", "type widening is off")
                self._require_unconstrained(path)
                self.state = replace(self.state, columns=update_type(self.state.columns, path, lambda _: new))
            case change.CommentChanged(path=path, new=comment):
                self._field(path, lambda old: replace(old, comment=comment))
            case change.NullabilityChanged(path=path, new=True):
                self._field(path, lambda old: replace(old, nullable=True))
            case change.DefaultChanged(path=path, new=default):
                _require("allowColumnDefaults" in self.state.features, "WRONG_COLUMN_DEFAULTS_FOR_DELTA")
                self._field(path, lambda old: replace(old, default=default))
            case _:
                raise RefusedError(part)

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

    def _require_unconstrained(self, path: Path) -> None:
        for name, expression in self.state.constraints.items():
            used = lowercased(_constrained(str(expression)))
            shorter = min(len(used), len(path))
            _require(
                used[:shorter] != lowercased(path)[:shorter],
                f"DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE: {name} uses {path}",
            )


CHANGES_OF_STEPS: Final[Mapping[StepKind, set[type]]] = {
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
        change.FieldMoved,
    },
    StepKind.CLUSTER: {change.ClusteringChanged},
}
_SINGLE: Final = {
    StepKind.ADD_CONSTRAINT,
    StepKind.RENAME_COLUMN,
    StepKind.CLUSTER,
}


def _require(condition: object, message: str) -> None:
    if not condition:
        raise RefusedError(message)


def _inserted(fields: tuple[Field, ...], inserted: Field, after: str | None) -> list[Field]:
    rest = [sibling for sibling in fields if sibling is not inserted]
    if after is None:
        return [inserted, *rest]
    names = [sibling.name.lower() for sibling in rest]
    _require(after.lower() in names, f"FIELD_NOT_FOUND: {after}")
    position = names.index(after.lower()) + 1
    return [*rest[:position], inserted, *rest[position:]]


def _named(fields: tuple[Field, ...], path: Path) -> Field:
    field_ = Struct(fields).get(str(path[-1]))
    _require(field_, f"DELTA_COLUMN_NOT_FOUND: {path}")
    assert field_ is not None
    return field_


def _constrained(expression: str) -> Path:
    """Return the column that a constraint uses; generated constraints are all ```a`.`b` IS NOT NULL``."""
    return tuple(name.replace("``", "`") for name in re.findall(r"`((?:[^`]|``)*)`", expression))
