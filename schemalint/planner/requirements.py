"""Describe what a step requires of the table, and what its undo leaves; plans show the sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from schemalint.base.errors import InternalError
from schemalint.base.values import replace
from schemalint.delta.change import (
    Change,
    ClusteringChanged,
    CommentChanged,
    ConstraintChanged,
    DefaultChanged,
    DeletionListed,
    DeletionUnlisted,
    DescriptionChanged,
    FeatureChanged,
    FieldAdded,
    FieldMoved,
    FieldRemoved,
    FieldRenamed,
    GeneratedChanged,
    IdentityChanged,
    NullabilityChanged,
    PartitioningChanged,
    PropertyChanged,
    TableAdded,
    TableRemoved,
    TypeChanged,
    TypeHistoryChanged,
)
from schemalint.delta.datatype import VOID, Field, Managed, field_at, type_at
from schemalint.delta.path import Path, format_path
from schemalint.delta.table import TableState
from schemalint.delta.type_text import print_type
from schemalint.model.change_kind import kind_of
from schemalint.model.table_plan import Fill, Step, StepKind
from schemalint.planner.simulate import simulate


def with_requirements(live: TableState, steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return the steps with their requirements; the first step also requires the supported features.

    The hash of a plan covers the requirements.
    """
    result: list[Step] = []
    state = live
    for step in steps:
        sentences = (
            *(_required(change, state) for change in step.changes),
            *(sentence for fill in step.fills for sentence in _of_fill(step, fill, state)),
        )
        result.append(
            replace(
                step,
                requires=sentences if result else (*_supported(live), *sentences),
                undo_note=_undo_note(step),
            )
        )
        state = simulate(state, [step])
    return tuple(result)


def _of_fill(step: Step, fill: Fill, state: TableState) -> Iterator[str]:
    column, source = format_path(fill.column), format_path(fill.source)
    if step.kind is StepKind.FILL:
        yield _column(fill.column, state)
        yield _column(fill.source, state)
    elif step.kind is not StepKind.ADD_CONSTRAINT or type_at(state.columns, fill.source) is not None:
        yield from _judged(fill) if step.kind is StepKind.DROP_COLUMNS else ()
        judged = fill.ways_out.keeps_null or step.kind is StepKind.ADD_CONSTRAINT
        which = "row whose value converts" if judged else "row"
        yield f"no {which} has {source} without {column}"


def _judged(fill: Fill) -> Iterator[str]:
    """Yield what the proof of a drop requires of the rows that have both columns."""
    column, value = format_path(fill.column), f"the value of {fill.expression}"
    if fill.ways_out.differing != "keep_new":
        yield f"{column} has {value} in each row that has it"
    if not fill.ways_out.keeps_converted:
        yield f"{value} is the number, day or instant of {format_path(fill.source)}, as far as that is known"


def _undo_note(step: Step) -> str:
    """Return the step's note about its undo, with the features that an undo leaves behind."""
    if not step.adds_features or step.kind in (StepKind.CREATE, StepKind.DROP_FEATURE):
        return step.undo_note
    features = f"the features stay in the protocol: {', '.join(sorted(step.adds_features))}"
    return "; ".join(filter(None, (step.undo_note, features)))


def _supported(live: TableState) -> Iterator[str]:
    if live.features:
        yield f"the table supports {', '.join(sorted(live.features))}"


def _required(change: Change, state: TableState) -> str:  # noqa: C901, PLR0912 (a sentence per kind)
    match change:
        case TableAdded():
            return "there is no table"
        case FieldAdded(path=path):
            return f"there is no column {format_path(path)}"
        case FieldRemoved(path=path):
            return _column(path, state)
        case FieldRenamed(path=path, old_name=old):
            return f"{_column((*path[:-1], old), state)}, and there is no {path[-1]}"
        case PropertyChanged(key=key):
            return f"property {key} is {_text(state.properties.get(key))}"
        case ConstraintChanged(name=name):
            return f"constraint {name} is {_text(state.constraints.get(name))}"
        case DescriptionChanged():
            return f"the description is {_text(state.description)}"
        case FeatureChanged(name=name):
            return f"feature {name} is {'supported' if name in state.features else 'not supported'}"
        case ClusteringChanged():
            names = ", ".join(map(format_path, state.clustering_columns))
            return f"the table is clustered by {names or 'nothing'}"
        case CommentChanged(path=path):
            comment = _column_at(path, state).comment
            return f"the comment of {format_path(path)} is {_text(comment)}"
        case DefaultChanged(path=path):
            default = _column_at(path, state).default
            return f"the default of {format_path(path)} is {_text(default)}"
        case (
            FieldMoved(path=path)
            | TypeChanged(path=path)
            | TypeHistoryChanged(path=path)
            | NullabilityChanged(path=path)
            | GeneratedChanged(path=path)
            | IdentityChanged(path=path)
        ):
            return _column(path, state)
        case PartitioningChanged():
            return f"the table is partitioned by {', '.join(state.partition_columns) or 'nothing'}"
        case TableRemoved() | DeletionListed() | DeletionUnlisted():
            raise InternalError(f"no step makes this change: {kind_of(change).label}")
        case _:
            assert_never(change)


def _column_at(path: Path, state: TableState) -> Field:
    return field_at(state.columns, path) or Field("", VOID)


def _column(path: Path, state: TableState) -> str:
    field, type_ = field_at(state.columns, path), type_at(state.columns, path)
    column_id = f" (id {field.column_id})" if field is not None and field.column_id is not None else ""
    type_text = "missing" if type_ is None else print_type(type_)
    not_null = "" if field is None or field.nullable else " not null"
    return f"column {format_path(path)}{column_id} is {type_text}{not_null}"


def _text(value: Managed[str | None]) -> str:
    return repr(value) if isinstance(value, str) else "not set"
