"""Changes applied to a table state lead to the other state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemalint.base.values import replace
from schemalint.delta import change
from schemalint.delta.change import Change
from schemalint.delta.datatype import INTEGER, LONG, Array, DataType, Field, Map, Struct, walk
from schemalint.delta.diff import diff
from schemalint.delta.patch import apply_changes, update_field, update_type
from schemalint.delta.path import Part
from schemalint.delta.table import Deletion, TableState
from support.strategies import leaf_types, names, table_states

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

PLAIN = st.builds(lambda state: replace(state, columns=_without_history(state.columns)), table_states())


@given(PLAIN, PLAIN)
@settings(max_examples=40, deadline=None)
def test_applying_the_diff_gives_the_other_state(before: TableState, after: TableState) -> None:
    _assert_diff_leads_to(before, after)


@given(PLAIN, table_states(declared=True))
@settings(max_examples=40, deadline=None)
def test_applying_the_diff_to_a_declaration_gives_the_declaration(
    before: TableState, after: TableState
) -> None:
    _assert_diff_leads_to(before, replace(after, columns=_without_history(after.columns)))


SIMPLE = st.builds(Field, names(), st.sampled_from((INTEGER, LONG, Array(INTEGER))), nullable=st.booleans())


@st.composite
def renamings(draw: DrawFn) -> tuple[Struct, Struct]:
    """Columns that swap names in rings and also change, appear, disappear and move."""
    before = draw(st.lists(SIMPLE, min_size=2, max_size=5, unique_by=_lower_name))
    kept = draw(st.permutations(before))[: draw(st.integers(1, len(before)))]
    new_names = draw(st.permutations([field.name for field in kept]))
    renamed = [
        replace(draw(SIMPLE), name=name, renamed_from=field.name if field.name != name else None)
        for field, name in zip(kept, new_names, strict=True)
    ]
    known = {_lower_name(field) for field in before}
    new = draw(st.lists(SIMPLE, max_size=2, unique_by=_lower_name))
    added = [field for field in new if _lower_name(field) not in known]
    return Struct(tuple(before)), Struct(tuple(draw(st.permutations([*renamed, *added]))))


@given(renamings())
@settings(max_examples=80, deadline=None)
def test_applying_the_diff_of_swapped_names_gives_the_other_state(pair: tuple[Struct, Struct]) -> None:
    before, after = (TableState(columns) for columns in pair)
    result = _assert_diff_leads_to(before, after)
    renames = [each for each in diff(before, after) if isinstance(each, change.FieldRenamed)]
    declared = [(field.name, field.renamed_from) for field in after.columns.fields if field.renamed_from]
    assert [(rename.path[0], rename.old_name) for rename in renames] == declared
    assert [field.name for field in result.columns.fields] == [field.name for field in after.columns.fields]


@given(PLAIN, st.data())
@settings(max_examples=30, deadline=None)
def test_names_that_differ_only_in_case_change_only_with_renamed_from(
    before: TableState, data: st.DataObject
) -> None:
    respelled = [
        replace(field, name=name, renamed_from=field.name if data.draw(st.booleans()) else None)
        for field in before.columns.fields
        if (name := field.name.swapcase()).lower() == field.name.lower()
    ]
    after = replace(before, columns=Struct(tuple(respelled)))
    result = _assert_diff_leads_to(before, after)
    for declared in respelled:
        patched = result.columns.get(declared.name)
        assert patched is not None
        if declared.renamed_from:
            assert patched.name == declared.name


@given(PLAIN.filter(lambda state: bool(state.columns.fields)), leaf_types())
@settings(max_examples=30, deadline=None)
def test_applying_the_diff_of_a_recreated_column_gives_the_other_state(
    before: TableState, type_: DataType
) -> None:
    first, *rest = before.columns.fields
    recreated = Struct((*rest, replace(first, type=type_, column_id=None)))
    after = replace(before, columns=recreated, dropped=(Deletion((first.name,), first.type),))
    changes = diff(before, after)
    assert any(isinstance(each, change.FieldRemoved) and each.path == (first.name,) for each in changes)
    _assert_diff_leads_to(before, after)


def test_a_table_is_added_and_removed() -> None:
    state = TableState(Struct((Field("a", INTEGER),)))
    assert apply_changes(TableState(), [change.TableAdded(state)]) == state
    assert apply_changes(state, [change.TableRemoved(state)]) == TableState()


def test_names_are_swapped_inside_an_array_of_structs() -> None:
    before = TableState(Struct((Field("s", Array(Struct((Field("a", INTEGER), Field("b", LONG))))),)))
    at = ("s", Part.ELEMENT)
    changes: list[Change] = [
        change.FieldRenamed((*at, "b"), "a"),
        change.FieldRenamed((*at, "a"), "b"),
        change.TypeChanged((*at, "b"), INTEGER, LONG),
    ]
    inner = Struct((Field("b", LONG, renamed_from="a"), Field("a", LONG, renamed_from="b")))
    assert apply_changes(before, changes) == TableState(Struct((Field("s", Array(inner)),)))


def test_paths_are_resolved_ignoring_case() -> None:
    columns = Struct((Field("S", Map(INTEGER, Struct((Field("X", INTEGER),)))),))
    path = ("s", Part.VALUE, "x")
    assert dict(walk(update_type(columns, path, lambda _old: LONG)))["S", Part.VALUE, "X"] == LONG
    changed = update_field(columns, path, lambda field: replace(field, comment="c"))
    assert changed != columns


@pytest.mark.parametrize(
    "invalid",
    [
        change.TypeChanged(("x",), INTEGER, LONG),
        change.TypeChanged(("a", "x"), INTEGER, LONG),
        change.TypeChanged(("a", Part.ELEMENT), INTEGER, LONG),
        change.TypeChanged(("l", Part.KEY), INTEGER, LONG),
        change.CommentChanged(("x",), None, "c"),
        change.CommentChanged(("l", Part.ELEMENT), None, "c"),
        change.NullabilityChanged(("a", Part.ELEMENT), old=True, new=False),
        change.NullabilityChanged(("x",), old=True, new=False),
        change.FieldRemoved(("x",), Field("x", INTEGER)),
        change.FieldRemoved(("l", Part.ELEMENT), Field("x", INTEGER)),
        change.FieldRemoved(("a", "x"), Field("x", INTEGER)),
        change.FieldMoved(("x",), None),
        change.FieldMoved(("a",), "x"),
        change.FieldAdded(("y",), Field("y", INTEGER), "x"),
        change.FieldAdded(("a", "y"), Field("y", INTEGER), None),
        change.FieldRenamed(("y",), "x"),
    ],
)
def test_a_change_of_a_missing_object_is_an_error(invalid: Change) -> None:
    state = TableState(Struct((Field("a", INTEGER), Field("l", Array(INTEGER)))))
    with pytest.raises(LookupError):
        apply_changes(state, [invalid])


def _assert_diff_leads_to(before: TableState, after: TableState) -> TableState:
    result = apply_changes(before, diff(before, after))
    assert diff(result, after) == ()
    return result


def _lower_name(field: Field) -> str:
    return field.name.lower()


def _without_history(struct: Struct) -> Struct:
    """Return the struct without ids and former names; other tests cover these."""
    return Struct(
        tuple(
            replace(field, type=_inner(field.type), column_id=None, renamed_from=None)
            for field in struct.fields
        )
    )


def _inner(type_: DataType) -> DataType:
    match type_:
        case Struct():
            return _without_history(type_)
        case Array(element=element):
            return replace(type_, element=_inner(element))
        case Map(key=key, value=value):
            return replace(type_, key=_inner(key), value=_inner(value))
        case _:
            return type_
