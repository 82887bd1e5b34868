"""Statements that alter columns where they are: types, comments, defaults, NOT NULL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from schemalint.delta import change
from schemalint.delta.datatype import UNMANAGED, Struct, walk_fields
from schemalint.delta.path import Path, format_path
from schemalint.delta.sql_text import quote_literal
from schemalint.delta.type_text import print_type
from schemalint.model.plan import Step, StepKind
from schemalint.planner import sql
from schemalint.planner.alteration import NO_WAY_BACK, AlterContext

_ColumnChange: TypeAlias = (
    change.TypeChanged | change.CommentChanged | change.NullabilityChanged | change.DefaultChanged
)
_COLUMN_CHANGES: Final = (
    change.TypeChanged,
    change.CommentChanged,
    change.NullabilityChanged,
    change.DefaultChanged,
)


def columns_altered(context: AlterContext) -> Iterator[Step]:
    """One statement takes many columns, but each only once and no parent with its own nested field."""
    rest: list[_ColumnChange] = [one for one in context.changes if isinstance(one, _COLUMN_CHANGES)]
    rest += [
        default
        for one in context.of(change.FieldAdded)
        for default in defaults_of(Struct((one.field,)), one.path[:-1])
    ]
    while rest:
        taken: list[_ColumnChange] = []
        for one in rest:
            if not any(_related(one.path, other.path) for other in taken):
                taken.append(one)
        rest = [one for one in rest if one not in taken]
        yield alter_columns(context.table, taken, context.added_features(taken))


def defaults_of(columns: Struct, parent: Path = ()) -> list[change.DefaultChanged]:
    """The defaults that new fields, at any depth, are to get."""
    return [
        change.DefaultChanged(path, None, field.default)
        for path, field in walk_fields(columns, parent)
        if isinstance(field.default, str)
    ]


def alter_columns(
    table: str, changes: Sequence[_ColumnChange], features: frozenset[str] = frozenset()
) -> Step:
    """One statement for many columns: each only once, and no parent together with what is inside of it."""
    undone = [_undone(one) for one in changes]
    actions = [(one.path, str(text)) for one, text in zip(changes, undone, strict=True)]
    return Step(
        StepKind.ALTER_COLUMNS,
        sql.alter_columns(table, [(one.path, _action(one)) for one in changes]),
        tuple(changes),
        tuple(_reason(one) for one in changes),
        features,
        undo=None if None in undone else sql.alter_columns(table, actions),
        undo_note=NO_WAY_BACK if None in undone else "",
    )


def _action(one: _ColumnChange) -> str:
    match one:
        case change.TypeChanged(new=new):
            return f"TYPE {print_type(new)}"
        case change.CommentChanged(new=comment):
            return f"COMMENT {quote_literal(comment if isinstance(comment, str) else '')}"
        case change.DefaultChanged(new=str(expression)):
            return f"SET DEFAULT {expression}"
        case change.DefaultChanged():
            return "DROP DEFAULT"
        case _:
            return "DROP NOT NULL"


def _undone(one: _ColumnChange) -> str | None:
    """The action that takes it back; None for what Delta never takes back: NOT NULL, a narrower type."""
    match one:
        case change.CommentChanged(old=old, path=path) | change.DefaultChanged(old=old, path=path):
            return _action(type(one)(path, UNMANAGED, old))
        case _:
            return None


def _reason(one: _ColumnChange) -> str:
    match one:
        case change.TypeChanged(path=path, old=old, new=new):
            return f"{format_path(path)} is {print_type(old)} and declared as {print_type(new)}"
        case change.CommentChanged(path=path):
            return f"the comment of {format_path(path)} is declared"
        case change.DefaultChanged(path=path, new=str()):
            return f"the default of {format_path(path)} is declared"
        case change.DefaultChanged(path=path):
            return f"{format_path(path)} is declared without a default"
        case _:
            return f"{format_path(one.path)} is declared nullable"


def _related(one: Path, other: Path) -> bool:
    """Whether two paths are the same, or one lies within the other."""
    shorter, longer = sorted((one, other), key=len)
    return longer[: len(shorter)] == shorter
