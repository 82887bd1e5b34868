"""What a step requires of the table, in sentences: shown, kept in plan files, and part of the hash."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from schemalint.delta import change
from schemalint.delta.change import Change
from schemalint.delta.datatype import Managed, Unmanaged, field_at, type_at
from schemalint.delta.path import Path, format_path
from schemalint.delta.table import TableState
from schemalint.delta.type_text import print_type
from schemalint.model.plan import Step
from schemalint.planner.simulate import simulate
from schemalint.values import replace


def with_requirements(live: TableState, steps: Iterable[Step]) -> tuple[Step, ...]:
    """The steps, each with what it requires; the first one with the features that the table supports."""
    found: list[Step] = []
    state = live
    for step in steps:
        sentences = tuple(_required(one, state) for one in step.changes)
        found.append(replace(step, requires=sentences if found else (*_supported(live), *sentences)))
        state = simulate(state, [step])
    return tuple(found)


def _supported(live: TableState) -> Iterator[str]:
    if live.features:
        yield f"the table supports {', '.join(sorted(live.features))}"


def _required(one: Change, state: TableState) -> str:
    match one:
        case change.TableAdded():
            return "there is no table"
        case change.FieldAdded(path=path):
            return f"there is no column {format_path(path)}"
        case change.FieldRemoved(path=path):
            return _column(path, state)
        case change.FieldRenamed(path=path, old_name=old):
            return f"{_column((*path[:-1], old), state)}, and there is no {path[-1]}"
        case change.PropertyChanged(key=key):
            return f"property {key} is {_entry(state.properties, key)}"
        case change.ConstraintChanged(name=name):
            return f"constraint {name} is {_entry(state.constraints, name)}"
        case change.DescriptionChanged():
            return f"the description is {_text(state.description)}"
        case change.FeatureChanged(name=name):
            return f"feature {name} is {'supported' if name in state.features else 'not supported'}"
        case change.ClusteringChanged():
            keys = state.clustered_by
            names = "" if isinstance(keys, Unmanaged) else ", ".join(map(format_path, keys))
            return f"the table is clustered by {names or 'nothing'}"
        case change.CommentChanged(path=path):
            field = field_at(state.columns, path)
            return f"the comment of {format_path(path)} is {_text(field.comment if field else None)}"
        case change.DefaultChanged(path=path):
            field = field_at(state.columns, path)
            return f"the default of {format_path(path)} is {_text(field.default if field else None)}"
        case _:
            return _column(getattr(one, "path", ()), state)


def _column(path: Path, state: TableState) -> str:
    field, type_ = field_at(state.columns, path), type_at(state.columns, path)
    number = f" (id {field.column_id})" if field is not None and field.column_id is not None else ""
    kind = "missing" if type_ is None else print_type(type_)
    not_null = "" if field is None or field.nullable else " not null"
    return f"column {format_path(path)}{number} is {kind}{not_null}"


def _entry(entries: Mapping[str, str | None], key: str) -> str:
    return _text(entries.get(key))


def _text(value: Managed[str | None]) -> str:
    return repr(value) if isinstance(value, str) else "not set"
