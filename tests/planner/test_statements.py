"""The changes of existing columns are divided into the fewest statements that Delta takes."""

from __future__ import annotations

from itertools import combinations, count, product
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemalint.base.values import replace
from schemalint.delta.change import (
    CommentChanged,
    DefaultChanged,
    FieldMoved,
    NullabilityChanged,
    TypeChanged,
)
from schemalint.delta.datatype import Atomic, Field, Struct
from schemalint.delta.diff import diff
from schemalint.planner import simulate
from schemalint.planner.columns_in_place import ColumnChange, alter_columns, fewest_statements
from schemalint.planner.statements import path_table
from support.logs import read_live

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from schemalint.delta.table import TableState

INT, LONG = Atomic("integer"), Atomic("long")
COLUMNS = Struct(
    (
        Field("a", INT),
        Field("b", INT),
        Field("s", Struct((Field("x", INT), Field("y", INT)))),
        Field("c", INT),
        Field("d", INT),
    )
)
TOGETHER = (TypeChanged, CommentChanged, FieldMoved)
A, B, S, X, C = ("a",), ("b",), ("s",), ("s", "x"), ("c",)
CHANGES: tuple[ColumnChange, ...] = (
    FieldMoved(C, None),
    FieldMoved(A, "c"),
    FieldMoved(B, "d"),
    *(TypeChanged(path, INT, LONG) for path in (A, B, X)),
    FieldMoved(X, "y"),
    *(CommentChanged(path, None, "new") for path in (A, B, S, X)),
    NullabilityChanged(A, old=False, new=True),
    DefaultChanged(A, None, "1"),
)
"""In the order of `schemalint.delta.diff.diff`; of three moves at one level, one follows another."""


@example({0, 1, 2, 3, 11})
@given(st.sets(st.sampled_from(range(len(CHANGES))), min_size=1, max_size=5))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_no_other_division_has_fewer_statements(numbers: set[int]) -> None:
    changes = [CHANGES[number] for number in sorted(numbers)]
    found = fewest_statements(changes, COLUMNS)
    assert sorted(map(repr, changes)) == sorted(
        repr(part) for statement in found for part in statement.changes
    )
    assert is_possible([statement.changes for statement in found])
    assert all(
        is_whole(one.changes) == (one.repeated_type is not None) for one in found if len(one.changes) > 1
    )
    assert len(found) == least(changes)


def least(changes: Sequence[ColumnChange]) -> int:
    """Return the smallest number of statements, by trying all divisions."""
    for number in count(1):
        for choice in product(range(number), repeat=len(changes)):
            parts = [
                [one for one, at in zip(changes, choice, strict=True) if at == index]
                for index in range(number)
            ]
            if is_possible(parts):
                return number
    raise AssertionError


def is_possible(statements: Sequence[Sequence[ColumnChange]]) -> bool:
    """Whether Delta takes these statements, one after the other."""
    position = {id(part): index for index, statement in enumerate(statements) for part in statement}
    changes = [part for statement in statements for part in statement]
    for first, second in product(changes, repeat=2):
        is_next = isinstance(first, FieldMoved) and isinstance(second, FieldMoved)
        follows = is_next and (*first.path[:-1], getattr(second, "after", None)) == first.path
        is_default = isinstance(first, TypeChanged) and isinstance(second, DefaultChanged)
        if (follows or (is_default and first.path == second.path)) and position[id(first)] >= position[
            id(second)
        ]:
            return False
    return all(is_list(statement) or is_whole(statement) for statement in statements)


def is_list(statement: Sequence[ColumnChange]) -> bool:
    return all(
        one.path[: len(other.path)] != other.path[: len(one.path)]
        for one, other in combinations(statement, 2)
    )


def is_whole(statement: Sequence[ColumnChange]) -> bool:
    same = {part.path for part in statement}
    return len(same) == 1 and same != {S} and all(isinstance(part, TOGETHER) for part in statement)


def test_a_struct_and_a_nested_length_are_never_repeated() -> None:
    changes = (CommentChanged(S, None, "new"), FieldMoved(S, None))
    assert [statement.repeated_type for statement in fewest_statements(changes, COLUMNS)] == [None, None]


@pytest.mark.spark
@pytest.mark.each_time
def test_spark_moves_the_columns_of_a_list_to_their_places(session: SparkSession, tmp_path: Path) -> None:
    """It carries a list out in an order of its own: see `schemalint.planner.columns_in_place`."""
    table = path_table(str(tmp_path))
    numbers = Random(5)  # noqa: S311 (repeatable)
    names = [f"c{number}" for number in range(12)]
    session.sql(f"CREATE TABLE {table} ({', '.join(f'{name} INT' for name in names)}) USING delta")
    for _ in range(4):
        numbers.shuffle(names)
        state = existing(tmp_path)
        fields = {field.name: field for field in state.columns.fields}
        goal = replace(state, columns=Struct(tuple(fields[name] for name in names)))
        moves = [change for change in diff(state, goal) if isinstance(change, FieldMoved)]
        statements = fewest_statements(moves, state.columns)
        assert len(statements) < len(moves)
        for statement in statements:
            step = alter_columns(table, statement, columns=state.columns)
            session.sql(step.sql)
            state = simulate(state, [step])
            assert existing(tmp_path).columns == state.columns
        assert state.columns == goal.columns


def existing(location: Path) -> TableState:
    live = read_live(str(location))
    assert live is not None
    return live.state
