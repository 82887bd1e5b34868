"""The statements that make a table: one, one for nested defaults, and one for each constraint."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta import change, protocol
from schemalint.delta.datatype import UNMANAGED, map_fields
from schemalint.delta.path import lowercased
from schemalint.delta.properties import FEATURE_PREFIX
from schemalint.model.contract import Contract
from schemalint.model.declaration import created_state
from schemalint.model.plan import Step, StepKind
from schemalint.planner import sql
from schemalint.planner.altering import alter_columns, defaults_of
from schemalint.values import replace

CONSTRAINT_FEATURE = frozenset({"checkConstraints"})


def create_steps(contract: Contract, table: str) -> Iterator[Step]:
    """From nothing to the declaration.

    Args:
        contract: Effective for the target.
        table: As SQL names it.
    """
    whole = created_state(contract.state)
    nested = [one for one in defaults_of(whole.columns) if len(one.path) > 1]
    paths = {lowercased(one.path) for one in nested}
    columns = map_fields(
        whole.columns,
        lambda path, field: replace(field, default=None) if lowercased(path) in paths else field,
    )
    state = replace(whole, constraints={}, columns=columns)
    features = protocol.of_new_table(state.active_features, state.asked_features)
    asked = {f"{FEATURE_PREFIX}{name}": "supported" for name in sorted(state.features)}
    yield Step(
        StepKind.CREATE,
        sql.create_table(
            table,
            state.columns.fields,
            description=state.description if isinstance(state.description, str) else None,
            properties={**state.set_properties, **asked},
            partitioned_by=state.partitioned_by if isinstance(state.partitioned_by, tuple) else (),
            clustered_by=state.clustered_by if isinstance(state.clustered_by, tuple) else (),
        ),
        (change.TableAdded(replace(state, features=features)),),
        ("the table is declared and does not exist",),
        features - protocol.DEFAULT_FEATURES,
        undo_note="a table that was made is never dropped",
    )
    if nested:
        yield alter_columns(table, nested)
    for name, expression in whole.constraints.items():
        yield Step(
            StepKind.ADD_CONSTRAINT,
            sql.add_constraint(table, name, str(expression)),
            (change.ConstraintChanged(name, UNMANAGED, expression),),
            (f"the constraint {name} is declared",),
            CONSTRAINT_FEATURE - features,
            undo=sql.drop_constraint(table, name),
        )
