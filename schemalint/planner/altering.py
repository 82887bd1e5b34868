"""Statements that alter columns in place: types, comments, defaults, NOT NULL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias, assert_never

from schemalint.delta.change import (
    CommentChanged,
    DefaultChanged,
    FieldAdded,
    NullabilityChanged,
    TypeChanged,
)
from schemalint.delta.datatype import UNMANAGED, Struct, walk_fields
from schemalint.delta.path import Path, PathIndex, format_path
from schemalint.delta.sql_text import quote_literal
from schemalint.delta.type_text import print_type
from schemalint.model.plan import Step, StepKind
from schemalint.planner import sql
from schemalint.planner.alteration import IRREVERSIBLE, AlterContext

_ColumnChange: TypeAlias = TypeChanged | CommentChanged | NullabilityChanged | DefaultChanged
_COLUMN_CHANGES: Final = (TypeChanged, CommentChanged, NullabilityChanged, DefaultChanged)


def columns_altered(context: AlterContext) -> Iterator[Step]:
    """Alter as many columns per statement as Delta accepts; see `alter_columns`."""
    rest: list[_ColumnChange] = [change for change in context.changes if isinstance(change, _COLUMN_CHANGES)]
    rest += [
        default
        for added in context.of(FieldAdded)
        for default in defaults_of(Struct((added.field,)), added.path[:-1])
    ]
    while rest:
        batch: list[_ColumnChange] = []
        later: list[_ColumnChange] = []
        paths: PathIndex[None] = PathIndex()
        for change in rest:
            if paths.overlapping(change.path):
                later.append(change)
            else:
                batch.append(change)
                paths.add(change.path, None)
        rest = later
        yield alter_columns(context.table, batch, context.added_features(batch))


def defaults_of(columns: Struct, parent: Path = ()) -> list[DefaultChanged]:
    """Return the changes that set the defaults of new fields, at any depth."""
    return [
        DefaultChanged(path, None, field.default)
        for path, field in walk_fields(columns, parent)
        if isinstance(field.default, str)
    ]


def alter_columns(
    table: str, changes: Sequence[_ColumnChange], features: frozenset[str] = frozenset()
) -> Step:
    """Alter many columns in one statement.

    One statement can name each column only once, and not both a column and a field inside it.
    """
    reverse_actions = [_reverse_action(change) for change in changes]
    undo = [(change.path, str(action)) for change, action in zip(changes, reverse_actions, strict=True)]
    return Step(
        StepKind.ALTER_COLUMNS,
        sql.alter_columns(table, [(change.path, _action(change)) for change in changes]),
        tuple(changes),
        tuple(_reason(change) for change in changes),
        features,
        undo=None if None in reverse_actions else sql.alter_columns(table, undo),
        undo_note=IRREVERSIBLE if None in reverse_actions else "",
    )


def _action(change: _ColumnChange) -> str:
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
        case _:
            assert_never(change)


def _reverse_action(change: _ColumnChange) -> str | None:
    """Return the action that reverts a change; None for what Delta cannot revert: types and NOT NULL."""
    match change:
        case CommentChanged(old=old, path=path) | DefaultChanged(old=old, path=path):
            return _action(type(change)(path, UNMANAGED, old))
        case TypeChanged() | NullabilityChanged():
            return None
        case _:
            assert_never(change)


def _reason(change: _ColumnChange) -> str:
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
        case _:
            assert_never(change)
