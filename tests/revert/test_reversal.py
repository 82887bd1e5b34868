"""For generated histories of a contract, the reverted declaration can be reached with Delta."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from schemalint.author.reversal import reverse_changes
from schemalint.base.values import replace
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
    """Generate the next revision: some columns renamed, retyped or removed, some new."""
    fields: list[Field] = []
    taken: set[str] = set()
    for field in before.fields:
        edit = draw(st.sampled_from(("keep", "keep", "retype", "rename", "remove")))
        new = field
        if edit == "retype" and not isinstance(field.type, Struct):
            new = replace(field, type=draw(st.sampled_from(TYPES)))
        elif edit == "rename":
            new = replace(field, name=draw(st.sampled_from(NAMES)), renamed_from=field.name)
        if (
            edit != "remove"
            and new.name not in taken
            and (new.name == field.name or before.get(new.name) is None)
        ):
            fields.append(new)
            taken.add(new.name)
    if draw(st.booleans()) and "e" not in taken:
        fields.append(Field("e", draw(st.sampled_from(TYPES))))
    return Struct(tuple(fields) or (Field("e", INTEGER),))


@st.composite
def revisions(draw: DrawFn) -> list[Contract]:
    state = TableState(draw(structs()), properties=PROPERTIES)
    states = [state]
    for _ in range(draw(st.integers(1, 3))):
        before = states[-1]
        columns = draw(next_structs(before.columns))
        removed = [
            difference.path
            for difference in diff(before, replace(before, columns=columns))
            if isinstance(difference, change.FieldRemoved)
        ]
        listed = (*before.dropped, *(Deletion(path) for path in removed))
        properties = {
            **PROPERTIES,
            **draw(st.dictionaries(st.sampled_from(("team", "other")), st.sampled_from("xy"))),
        }
        states.append(replace(before, columns=columns, dropped=listed, properties=properties))
    return [Contract("t", state) for state in states]


@given(revisions())
@settings(max_examples=60, deadline=None)
def test_revert_makes_only_changes_that_delta_supports(contracts: list[Contract]) -> None:
    back = reverse_changes(contracts)
    listed = {entry.path for entry in back.wanted.dropped} - {entry.path for entry in back.now.dropped}
    for difference in diff(back.now, back.wanted):
        match difference:
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
def test_revert_of_unchanged_revisions_changes_nothing(contracts: list[Contract]) -> None:
    same = [contracts[0], *(replace(contract, state=contracts[0].state) for contract in contracts[1:])]
    back = reverse_changes(same)
    assert diff(back.now, back.wanted) == ()
    assert back.notes == ()


@given(revisions())
@settings(max_examples=60, deadline=None)
def test_revert_restores_all_column_names(contracts: list[Contract]) -> None:
    back = reverse_changes(contracts)
    names = [field.name for field in back.wanted.columns.fields]
    assert len(set(names)) == len(names)
    assert {field.name for field in contracts[0].state.columns.fields} <= set(names)
