"""Statements that alter columns in place: types, comments, defaults, NOT NULL, positions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, assert_never

from schemalint.delta.change import (
    CommentChanged,
    DefaultChanged,
    FieldAdded,
    FieldMoved,
    NullabilityChanged,
    TypeChanged,
)
from schemalint.delta.datatype import UNMANAGED, Struct, type_at, walk_fields
from schemalint.delta.engine_answers import alters_many_columns
from schemalint.delta.path import Path, format_path, lowercased
from schemalint.delta.sql_text import quote_literal
from schemalint.delta.type_text import print_type
from schemalint.model.plan import Step, StepKind
from schemalint.planner import sql
from schemalint.planner.alter_context import IRREVERSIBLE, AlterContext
from schemalint.planner.simulate import simulate
from schemalint.planner.statements import COLUMN_CHANGES, ColumnChange, Statement, fewest_statements

_SEVERAL_MOVES: Final = "no single statement moves the columns back: reorder them in the contract"


def columns_altered(context: AlterContext) -> Iterator[Step]:
    """Alter and move columns in the fewest statements."""
    changes: list[ColumnChange] = [change for change in context.changes if isinstance(change, COLUMN_CHANGES)]
    changes += [
        default
        for added in context.of(FieldAdded)
        for default in defaults_of(Struct((added.field,)), added.path[:-1])
    ]
    state = context.moved or context.live
    lists = alters_many_columns(context.engine)
    for statement in fewest_statements(changes, state.columns, lists=lists):
        features = context.added_features(statement.changes)
        step = alter_columns(context.table, statement, features, columns=state.columns)
        yield step
        if any(isinstance(change, FieldMoved) for change in statement.changes):
            state = simulate(state, [step])


def defaults_of(columns: Struct, parent: Path = ()) -> list[DefaultChanged]:
    """Return the changes that set the defaults of new fields, at any depth."""
    return [
        DefaultChanged(path, None, field.default)
        for path, field in walk_fields(columns, parent)
        if isinstance(field.default, str)
    ]


def alter_columns(
    table: str, statement: Statement, features: frozenset[str] = frozenset(), *, columns: Struct
) -> Step:
    """Return the step of one statement.

    Args:
        table: The table's name in SQL.
        statement: The changes that the statement makes.
        features: The features that Delta adds.
        columns: The columns in their order before the statement.
    """
    reverse = _reversed(statement, columns)
    return Step(
        StepKind.ALTER_COLUMNS,
        _text(table, statement),
        tuple(statement.changes),
        tuple(_reason(change) for change in statement.changes),
        features,
        undo=_text(table, reverse) if reverse else None,
        undo_note="" if reverse else _note(statement),
    )


def _text(table: str, statement: Statement) -> str:
    if statement.repeated_type is None:
        return sql.alter_columns(table, [(change.path, _action(change)) for change in statement.changes])
    actions = [_action(change) for change in statement.changes if not isinstance(change, TypeChanged)]
    return sql.change_column(table, statement.changes[0].path, statement.repeated_type, actions)


def _action(change: ColumnChange) -> str:
    match change:
        case TypeChanged(new=new):
            return f"TYPE {print_type(new)}"
        case CommentChanged(new=comment):
            return f"COMMENT {quote_literal(comment if isinstance(comment, str) else '')}"
        case DefaultChanged(new=str(expression)):
            return f"SET DEFAULT {expression}"
        case DefaultChanged():
            return "DROP DEFAULT"
        case NullabilityChanged():
            return "DROP NOT NULL"
        case FieldMoved(after=after):
            return sql.position_text(after)
        case _:
            assert_never(change)


def _reversed(statement: Statement, columns: Struct) -> Statement | None:
    """Return the statement that reverts another one; None if one statement cannot."""
    changes = [_reverse(change, columns) for change in statement.changes]
    inverse = [change for change in changes if change is not None]
    moved = {lowercased(change.path) for change in inverse if isinstance(change, FieldMoved)}
    anchors = {
        lowercased((*change.path[:-1], change.after))
        for change in inverse
        if isinstance(change, FieldMoved) and change.after is not None
    }
    if len(inverse) < len(changes) or moved & anchors:
        return None
    return Statement(inverse, repeated_type=statement.repeated_type)


def _reverse(change: ColumnChange, columns: Struct) -> ColumnChange | None:
    """Return the change that reverts another one; None for what Delta cannot revert: types and NOT NULL."""
    match change:
        case CommentChanged(old=old, path=path) | DefaultChanged(old=old, path=path):
            return type(change)(path, UNMANAGED, old)
        case FieldMoved(path=path):
            siblings = type_at(columns, path[:-1])
            names = [field.name for field in siblings.fields] if isinstance(siblings, Struct) else []
            position = [name.lower() for name in names].index(str(path[-1]).lower())
            return FieldMoved(path, names[position - 1] if position else None)
        case TypeChanged() | NullabilityChanged():
            return None
        case _:
            assert_never(change)


def _note(statement: Statement) -> str:
    """Return why no statement reverts this one."""
    is_final = any(isinstance(change, TypeChanged | NullabilityChanged) for change in statement.changes)
    return IRREVERSIBLE if is_final else _SEVERAL_MOVES


def _reason(change: ColumnChange) -> str:
    match change:
        case TypeChanged(path=path, old=old, new=new):
            return f"{format_path(path)} is {print_type(old)} and declared as {print_type(new)}"
        case CommentChanged(path=path):
            return f"the comment of {format_path(path)} is declared"
        case DefaultChanged(path=path, new=str()):
            return f"the default of {format_path(path)} is declared"
        case DefaultChanged(path=path):
            return f"{format_path(path)} is declared without a default"
        case NullabilityChanged(path=path):
            return f"{format_path(path)} is declared nullable"
        case FieldMoved(path=path):
            return f"{format_path(path)} is declared in another position"
        case _:
            assert_never(change)
