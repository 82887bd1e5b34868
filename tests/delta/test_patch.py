from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemalint.delta import change
from schemalint.delta.change import Change
from schemalint.delta.datatype import INTEGER, LONG, Array, DataType, Field, Map, Struct, walk
from schemalint.delta.diff import diff
from schemalint.delta.patch import apply_changes, update_field, update_type
from schemalint.delta.path import Part
from schemalint.delta.table import Deletion, TableState
from schemalint.values import replace
from support.strategies import leaf_types, names, table_states

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

PLAIN = st.builds(lambda state: replace(state, columns=_without_history(state.columns)), table_states())


@given(PLAIN, PLAIN)
@settings(max_examples=40, deadline=None)
def test_the_changes_from_one_state_to_another_lead_there(before: TableState, after: TableState) -> None:
    _assert_leads_there(before, after)


@given(PLAIN, table_states(declared=True))
@settings(max_examples=40, deadline=None)
def test_unmanaged_values_are_changes_too(before: TableState, after: TableState) -> None:
    _assert_leads_there(before, replace(after, columns=_without_history(after.columns)))


SIMPLE = st.builds(Field, names(), st.sampled_from((INTEGER, LONG, Array(INTEGER))), nullable=st.booleans())


@st.composite
def renamings(draw: DrawFn) -> tuple[Struct, Struct]:
    """Columns that take each other's names in rings, change otherwise too, come, go and change places."""
    before = draw(st.lists(SIMPLE, min_size=2, max_size=5, unique_by=_folded))
    kept = draw(st.permutations(before))[: draw(st.integers(1, len(before)))]
    new_names = draw(st.permutations([field.name for field in kept]))
    renamed = [
        replace(draw(SIMPLE), name=name, renamed_from=field.name if field.name != name else None)
        for field, name in zip(kept, new_names, strict=True)
    ]
    known = {_folded(field) for field in before}
    new = draw(st.lists(SIMPLE, max_size=2, unique_by=_folded))
    added = [field for field in new if _folded(field) not in known]
    return Struct(tuple(before)), Struct(tuple(draw(st.permutations([*renamed, *added]))))


@given(renamings())
@settings(max_examples=80, deadline=None)
def test_swaps_and_rings_of_names_lead_there(pair: tuple[Struct, Struct]) -> None:
    before, after = (TableState(columns) for columns in pair)
    result = _assert_leads_there(before, after)
    renames = [one for one in diff(before, after) if isinstance(one, change.FieldRenamed)]
    declared = [(field.name, field.renamed_from) for field in after.columns.fields if field.renamed_from]
    assert [(one.path[0], one.old_name) for one in renames] == declared
    assert [one.name for one in result.columns.fields] == [one.name for one in after.columns.fields]


@given(PLAIN, st.data())
@settings(max_examples=30, deadline=None)
def test_other_spellings_alone_are_kept_or_declared(before: TableState, data: st.DataObject) -> None:
    respelled = [
        replace(field, name=name, renamed_from=field.name if data.draw(st.booleans()) else None)
        for field in before.columns.fields
        if (name := field.name.swapcase()).lower() == field.name.lower()
    ]
    after = replace(before, columns=Struct(tuple(respelled)))
    result = _assert_leads_there(before, after)
    for wanted in respelled:
        found = result.columns.get(wanted.name)
        assert found is not None
        if wanted.renamed_from:
            assert found.name == wanted.name


@given(PLAIN.filter(lambda state: bool(state.columns.fields)), leaf_types())
@settings(max_examples=30, deadline=None)
def test_a_name_that_is_made_anew_leads_there(before: TableState, type_: DataType) -> None:
    first, *others = before.columns.fields
    anew = Struct((*others, replace(first, type=type_, column_id=None)))
    after = replace(before, columns=anew, dropped=(Deletion((first.name,), first.type),))
    changes = diff(before, after)
    assert any(isinstance(one, change.FieldRemoved) and one.path == (first.name,) for one in changes)
    _assert_leads_there(before, after)


def test_a_table_comes_and_goes() -> None:
    state = TableState(Struct((Field("a", INTEGER),)))
    assert apply_changes(TableState(), [change.TableAdded(state)]) == state
    assert apply_changes(state, [change.TableRemoved(state)]) == TableState()


def test_a_swap_inside_an_array_of_structs() -> None:
    before = TableState(Struct((Field("s", Array(Struct((Field("a", INTEGER), Field("b", LONG))))),)))
    at = ("s", Part.ELEMENT)
    changes: list[Change] = [
        change.FieldRenamed((*at, "b"), "a"),
        change.FieldRenamed((*at, "a"), "b"),
        change.TypeChanged((*at, "b"), INTEGER, LONG),
    ]
    inner = Struct((Field("b", LONG, renamed_from="a"), Field("a", LONG, renamed_from="b")))
    assert apply_changes(before, changes) == TableState(Struct((Field("s", Array(inner)),)))


def test_paths_are_followed_ignoring_case() -> None:
    columns = Struct((Field("S", Map(INTEGER, Struct((Field("X", INTEGER),)))),))
    path = ("s", Part.VALUE, "x")
    assert dict(walk(update_type(columns, path, lambda _old: LONG)))["S", Part.VALUE, "X"] == LONG
    changed = update_field(columns, path, lambda field: replace(field, comment="c"))
    assert changed != columns


@pytest.mark.parametrize(
    "one",
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
def test_a_change_of_what_is_not_there_is_an_error(one: Change) -> None:
    state = TableState(Struct((Field("a", INTEGER), Field("l", Array(INTEGER)))))
    with pytest.raises(LookupError):
        apply_changes(state, [one])


def _assert_leads_there(before: TableState, after: TableState) -> TableState:
    result = apply_changes(before, diff(before, after))
    assert diff(result, after) == ()
    return result


def _folded(field: Field) -> str:
    return field.name.lower()


def _without_history(struct: Struct) -> Struct:
    """Without ids and former names: these are the business of tests of their own."""
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
