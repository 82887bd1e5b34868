"""Whatever a contract was and is, taking it back leads somewhere that Delta can go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from schemalint.delta import change
from schemalint.delta.datatype import (
    DATE,
    INTEGER,
    LONG,
    STRING,
    TIMESTAMP_NTZ,
    DataType,
    Decimal,
    Field,
    Struct,
)
from schemalint.delta.diff import diff
from schemalint.delta.table import Deletion, TableState
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.model.contract import Contract
from schemalint.revert.declaration import reverse_changes
from schemalint.values import replace

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

NAMES = ("a", "b", "c", "d")
TYPES: tuple[DataType, ...] = (INTEGER, LONG, DATE, TIMESTAMP_NTZ, STRING, Decimal(10, 2), Decimal(12, 2))
PROPERTIES = {"delta.columnMapping.mode": "name", "delta.enableTypeWidening": "true"}


@st.composite
def structs(draw: DrawFn, *, depth: int = 1) -> Struct:
    fields = []
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True)):
        nested = depth and draw(st.integers(0, 3)) == 0
        type_ = draw(structs(depth=depth - 1)) if nested else draw(st.sampled_from(TYPES))
        fields.append(
            Field(name, type_, nullable=draw(st.booleans()), comment=draw(st.sampled_from((None, "x"))))
        )
    return Struct(tuple(fields))


@st.composite
def next_structs(draw: DrawFn, before: Struct) -> Struct:
    """Some columns renamed, some widened or retyped, some gone, some new."""
    fields: list[Field] = []
    taken: set[str] = set()
    for one in before.fields:
        fate = draw(st.sampled_from(("stay", "stay", "retype", "rename", "go")))
        new = one
        if fate == "retype" and not isinstance(one.type, Struct):
            new = replace(one, type=draw(st.sampled_from(TYPES)))
        elif fate == "rename":
            new = replace(one, name=draw(st.sampled_from(NAMES)), renamed_from=one.name)
        if fate != "go" and new.name not in taken and (new.name == one.name or before.get(new.name) is None):
            fields.append(new)
            taken.add(new.name)
    if draw(st.booleans()) and "e" not in taken:
        fields.append(Field("e", draw(st.sampled_from(TYPES))))
    return Struct(tuple(fields) or (Field("e", INTEGER),))


@st.composite
def revisions(draw: DrawFn) -> list[Contract]:
    state = TableState(draw(structs()), properties=PROPERTIES)
    found = [state]
    for _ in range(draw(st.integers(1, 3))):
        before = found[-1]
        columns = draw(next_structs(before.columns))
        gone = [
            one.path
            for one in diff(before, replace(before, columns=columns))
            if isinstance(one, change.FieldRemoved)
        ]
        listed = (*before.dropped, *(Deletion(path) for path in gone))
        properties = {
            **PROPERTIES,
            **draw(st.dictionaries(st.sampled_from(("team", "other")), st.sampled_from("xy"))),
        }
        found.append(replace(before, columns=columns, dropped=listed, properties=properties))
    return [Contract("t", one) for one in found]


@given(revisions())
@settings(max_examples=60, deadline=None)
def test_every_step_of_the_way_back_is_one_that_delta_takes(found: list[Contract]) -> None:
    back = reverse_changes(found)
    listed = {entry.path for entry in back.wanted.dropped} - {entry.path for entry in back.now.dropped}
    for one in diff(back.now, back.wanted):
        match one:
            case change.TypeChanged(old=old, new=new):
                assert classify(old, new) in (TypeVerdict.FREE, TypeVerdict.WIDENING)
            case change.NullabilityChanged(new=nullable):
                assert nullable
            case change.FieldRemoved(path=path):
                assert path in listed
            case change.FieldAdded(field=field):
                assert field.nullable
                assert field.renamed_from is None


@given(revisions())
@settings(max_examples=40, deadline=None)
def test_what_was_not_changed_needs_no_way_back(found: list[Contract]) -> None:
    same = [found[0], *(replace(one, state=found[0].state) for one in found[1:])]
    back = reverse_changes(same)
    assert diff(back.now, back.wanted) == ()
    assert back.notes == ()


@given(revisions())
@settings(max_examples=60, deadline=None)
def test_names_of_before_are_there_again(found: list[Contract]) -> None:
    back = reverse_changes(found)
    names = [one.name for one in back.wanted.columns.fields]
    assert len(set(names)) == len(names)
    assert {one.name for one in found[0].state.columns.fields} <= set(names)
