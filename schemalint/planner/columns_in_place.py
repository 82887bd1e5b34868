"""Statements that alter columns in place: types, comments, defaults, NOT NULL, positions.

Each statement makes one commit. An ``ALTER COLUMN`` list makes one change each of many columns; it cannot
name a column twice, or together with a field inside it (NOT_SUPPORTED_CHANGE_SAME_COLUMN). ``CHANGE COLUMN``
makes all changes of one column's type, comment and position. Delta does not keep the order of the moves in
a list, so no statement moves a column and another one after it (all measured on Delta 4.4.0).

Spark 3.5 parses no list (measured on Delta 3.3.2): there each change of a column has its own statement, apart
from those that ``CHANGE COLUMN`` makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias, assert_never

from schemalint.base.values import grouped
from schemalint.delta.change import (
    CommentChanged,
    DefaultChanged,
    FieldAdded,
    FieldMoved,
    NullabilityChanged,
    TypeChanged,
)
from schemalint.delta.datatype import (
    UNMANAGED,
    Array,
    Char,
    DataType,
    Map,
    Struct,
    Varchar,
    type_at,
    walk_fields,
)
from schemalint.delta.engine_answers import alters_many_columns
from schemalint.delta.path import Path, PathIndex, format_path, lowercased
from schemalint.delta.sql_text import quote_literal
from schemalint.delta.type_text import print_type
from schemalint.model.table_plan import Step, StepKind
from schemalint.planner import statements
from schemalint.planner.alter_context import IRREVERSIBLE, AlterContext
from schemalint.planner.simulate import simulate

_SEVERAL_MOVES: Final = "no single statement moves the columns back: reorder them in the contract"
ColumnChange: TypeAlias = TypeChanged | CommentChanged | NullabilityChanged | DefaultChanged | FieldMoved
_COLUMN_CHANGES: Final = (TypeChanged, CommentChanged, NullabilityChanged, DefaultChanged, FieldMoved)

_TOGETHER: Final = (TypeChanged, CommentChanged, FieldMoved)
_MOST: Final = 2  # three columns have at most three such changes each, and as many lists take those of all


def columns_altered(context: AlterContext) -> Iterator[Step]:
    """Alter and move columns in the fewest statements."""
    changes: list[ColumnChange] = [
        change for change in context.changes if isinstance(change, _COLUMN_CHANGES)
    ]
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
    table: str, statement: _Statement, features: frozenset[str] = frozenset(), *, columns: Struct
) -> Step:
    """Return the step of one statement."""
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


def _text(table: str, statement: _Statement) -> str:
    if statement.repeated_type is None:
        return statements.alter_columns(
            table, [(change.path, _action(change)) for change in statement.changes]
        )
    actions = [_action(change) for change in statement.changes if not isinstance(change, TypeChanged)]
    return statements.change_column(table, statement.changes[0].path, statement.repeated_type, actions)


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
            return statements.position_text(after)
        case _:
            assert_never(change)


def _reversed(statement: _Statement, columns: Struct) -> _Statement | None:
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
    return _Statement(inverse, repeated_type=statement.repeated_type)


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


def _note(statement: _Statement) -> str:
    """Return why no statement reverts this one."""
    is_final = any(isinstance(change, TypeChanged | NullabilityChanged) for change in statement.changes)
    if is_final:
        return IRREVERSIBLE
    return _SEVERAL_MOVES


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


class _Statement:
    """The changes that one statement makes.

    Attributes:
        changes: The changes.
        repeated_type: The column's type afterwards, if it is ``CHANGE COLUMN`` with all these changes of one
            column; None if it is a list.
    """

    def __init__(
        self, changes: Sequence[ColumnChange] = (), *, repeated_type: DataType | None = None
    ) -> None:
        self.changes = list(changes)
        self.repeated_type = repeated_type
        self._paths: PathIndex[None] = PathIndex()

    def takes(self, path: Path) -> bool:
        """Whether the statement can change one more column."""
        return self.repeated_type is None and not self._paths.overlapping(path)

    def add(self, change: ColumnChange) -> None:
        """Add the change of one more column."""
        self.changes.append(change)
        self._paths.add(lowercased(change.path), None)


def fewest_statements(
    changes: Sequence[ColumnChange], columns: Struct, *, lists: bool = True
) -> list[_Statement]:
    """Return the statements, with as many lists as possible among equally few.

    Args:
        changes: The changes; moves come in the order of the columns, each after its predecessor.
        columns: The columns before the statements; the types of those that move.
        lists: Whether a statement can change several columns.
    """
    combined = grouped(
        (lowercased(change.path), change) for change in changes if isinstance(change, _TOGETHER)
    )
    types = {
        path: _repeatable_type(types_of_path, columns)
        for path, types_of_path in combined.items()
        if len(types_of_path) > 1
    }
    together = [(path, type_) for path, type_ in types.items() if type_ is not None]
    together.sort(key=lambda column: -len(combined[column[0]]))
    if not lists:
        return _one_by_one(changes, dict(together))
    attempts = [_divided(changes, dict(together[:number])) for number in range(min(_MOST, len(together)) + 1)]
    return min(attempts, key=len)


def _repeatable_type(changes: Sequence[ColumnChange], columns: Struct) -> DataType | None:
    """Return the type of a column for ``CHANGE COLUMN``; None for a type that the statement cannot repeat.

    Delta refuses it for a nested char or varchar; the text of a struct would hide the change.
    """
    path = changes[0].path
    new = [change.new for change in changes if isinstance(change, TypeChanged)]
    type_ = new[0] if new else type_at(columns, path)
    has_nested_length = isinstance(type_, Char | Varchar) and len(path) > 1
    if has_nested_length or isinstance(type_, Struct | Array | Map):
        return None
    return type_


def _divided(changes: Sequence[ColumnChange], together: Mapping[Path, DataType]) -> list[_Statement]:
    """Put each change into the first statement that takes it; these columns get a statement of their own."""
    statements: list[_Statement] = []
    moved_by: dict[Path, _Statement] = {}
    typed_by: dict[Path, _Statement] = {}
    for unit in _units(changes, together):
        path = lowercased(unit[0].path)
        # A default may need the new type.
        before = [typed_by.get(path) for change in unit if isinstance(change, DefaultChanged)]
        before += [
            moved_by.get(lowercased((*path[:-1], change.after)))
            for change in unit
            if isinstance(change, FieldMoved) and change.after is not None
        ]
        earliest = max(
            (statements.index(earlier) + 1 for earlier in before if earlier is not None), default=0
        )
        statement = _place(statements, unit, earliest, together.get(path))
        if any(isinstance(change, FieldMoved) for change in unit):
            moved_by[path] = statement
        if any(isinstance(change, TypeChanged) for change in unit):
            typed_by[path] = statement
    return statements


def _one_by_one(changes: Sequence[ColumnChange], together: Mapping[Path, DataType]) -> list[_Statement]:
    """Give each change a statement, and those of one of these columns a common one."""
    return [
        _Statement(
            _in_order(unit), repeated_type=together.get(lowercased(unit[0].path)) if len(unit) > 1 else None
        )
        for unit in _units(changes, together)
    ]


def _place(
    statements: list[_Statement], unit: Sequence[ColumnChange], earliest: int, type_: DataType | None
) -> _Statement:
    """Put changes of one column into a statement, and return it."""
    if len(unit) > 1:
        statements.insert(earliest, _Statement(_in_order(unit), repeated_type=type_))
        return statements[earliest]
    path = lowercased(unit[0].path)
    rest = statements[earliest:]
    statement = next((statement for statement in rest if statement.takes(path)), None)
    if statement is None:
        statement = _Statement()
        statements.append(statement)
    statement.add(unit[0])
    return statement


def _in_order(unit: Sequence[ColumnChange]) -> list[ColumnChange]:
    """Order the changes of one column as ``CHANGE COLUMN`` names them."""
    return sorted(unit, key=lambda change: _COLUMN_CHANGES.index(type(change)))


def _units(
    changes: Iterable[ColumnChange], together: Mapping[Path, DataType]
) -> Iterator[list[ColumnChange]]:
    """Yield the changes one by one, apart from these columns; first moves, whose order counts."""
    all_changes = list(changes)
    whole: dict[Path, list[ColumnChange]] = {}
    for change in all_changes:
        path = lowercased(change.path)
        if path in together and isinstance(change, _TOGETHER):
            whole.setdefault(path, []).append(change)
    for change in all_changes:
        if isinstance(change, FieldMoved):
            yield whole.pop(lowercased(change.path), [change])
    yield from whole.values()
    for change in all_changes:
        is_left = lowercased(change.path) not in together or not isinstance(change, _TOGETHER)
        if is_left and not isinstance(change, FieldMoved):
            yield [change]
