"""Statements that create a table: CREATE TABLE, the defaults that it cannot set, and one per constraint."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.base.values import replace
from schemalint.delta import protocol
from schemalint.delta.change import ConstraintChanged, DefaultChanged, TableAdded
from schemalint.delta.datatype import UNMANAGED, Char, Struct, Varchar, map_fields, walk_fields
from schemalint.delta.engine import Engine
from schemalint.delta.engine_answers import (
    activated_by,
    alters_many_columns,
    creates_defaults_of_lengths,
)
from schemalint.delta.path import Path, lowercased, path_key
from schemalint.delta.properties import FEATURE_PREFIX, IGNORE_DEFAULTS, VERSION_KEYS
from schemalint.delta.table import TableState
from schemalint.model.declaration import created_state
from schemalint.model.effective import Effective
from schemalint.model.table_plan import Step, StepKind
from schemalint.planner import statements
from schemalint.planner.columns_in_place import alter_columns, defaults_of, fewest_statements
from schemalint.planner.property_steps import other_engine_note

CONSTRAINT_FEATURE = frozenset({"checkConstraints"})


def create_steps(contract: Effective, table: str) -> Iterator[Step]:
    """Yield the steps that create the declared table."""
    complete = created_state(contract.settable_state)
    later_defaults = _later_defaults(complete.columns, contract.engine)
    paths = {lowercased(default.path) for default in later_defaults}
    columns = map_fields(
        complete.columns,
        lambda path, field: replace(field, default=None) if lowercased(path) in paths else field,
    )
    created = _create_step(contract, table, replace(complete, constraints={}, columns=columns))
    yield created
    lists = alters_many_columns(contract.engine)
    for statement in fewest_statements(later_defaults, complete.columns, lists=lists):
        yield alter_columns(table, statement, columns=complete.columns)
    for name, expression in complete.constraints.items():
        yield Step(
            StepKind.ADD_CONSTRAINT,
            statements.add_constraint(table, name, str(expression)),
            (ConstraintChanged(name, UNMANAGED, expression),),
            (f"the constraint {name} is declared",),
            CONSTRAINT_FEATURE - created.adds_features,
            undo=statements.drop_constraint(table, name),
        )


def _later_defaults(columns: Struct, engine: Engine | None) -> list[DefaultChanged]:
    """Return the defaults that CREATE TABLE refuses, and ALTER COLUMN sets: of fields, of generated columns.

    Measured on Delta 4.4.0; on 3.3.2 also those of columns with a length.
    """
    of_lengths = () if creates_defaults_of_lengths(engine) else (Char, Varchar)
    later = {
        (field.name,)
        for field in columns.fields
        if isinstance(field.generated, str) or isinstance(field.type, of_lengths)
    }
    return [default for default in defaults_of(columns) if len(default.path) > 1 or default.path in later]


def _create_step(contract: Effective, table: str, state: TableState) -> Step:
    """Return the step that creates a table in a state without constraints."""
    declared = contract.state.set_properties
    active = activated_by(contract.engine, state.active_features)
    features = protocol.features_of_new_table(active, state.requested_features, declared)
    keys = (*VERSION_KEYS, IGNORE_DEFAULTS)
    for_protocol = {key: declared[key] for key in keys if key in declared}
    requested = {f"{FEATURE_PREFIX}{name}": "supported" for name in sorted(state.features)}
    return Step(
        StepKind.CREATE,
        statements.create_table(
            table,
            state.columns.fields,
            description=state.description if isinstance(state.description, str) else None,
            properties={**state.set_properties, **for_protocol, **requested},
            partitioned_by=state.partition_columns,
            clustered_by=_as_spelled(state.clustering_columns, state.columns),
        ),
        (TableAdded(replace(state, features=features)),),
        (
            "the table is declared and does not exist",
            *_left_to_catalog(contract),
            *(note for key in state.set_properties if (note := other_engine_note(key))),
        ),
        features - protocol.DEFAULT_FEATURES,
        undo_note="schemalint never drops a table",
    )


def _left_to_catalog(contract: Effective) -> Iterator[str]:
    if contract.in_catalog:
        yield f"not in this statement, as only the catalog stores it: {', '.join(contract.in_catalog)}"


def _as_spelled(paths: tuple[Path, ...], columns: Struct) -> tuple[Path, ...]:
    """Return clustering columns in the case in which the columns are declared.

    CREATE TABLE does not find them in another one, as ALTER TABLE does (measured on Delta 4.4.0).
    """
    spelled = {path_key(path): path for path, _field in walk_fields(columns)}
    return tuple(spelled.get(path_key(path), path) for path in paths)
