"""Applying a declaration to the state of a live or a new table."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemalint.base.values import replace
from schemalint.delta import change
from schemalint.delta.change import Change
from schemalint.delta.datatype import (
    INTEGER,
    LONG,
    STRING,
    UNMANAGED,
    Array,
    Field,
    Identity,
    Map,
    RecordedChange,
    Struct,
    field_at,
    type_at,
    walk_fields,
)
from schemalint.delta.diff import diff
from schemalint.delta.path import Part, path_key
from schemalint.delta.table import Deletion, TableState
from schemalint.model.declaration import apply_declaration, created_state
from support.strategies import names, table_states

A, B, C = (Field(name, INTEGER) for name in "abc")


def _minimal(name: str, renamed_from: str | None = None) -> Field:
    """Return a declared column whose other details are unmanaged."""
    return Field(
        name,
        INTEGER,
        comment=UNMANAGED,
        default=UNMANAGED,
        generated=UNMANAGED,
        identity=UNMANAGED,
        type_changes=UNMANAGED,
        renamed_from=renamed_from,
    )


def _columns(*fields: Field) -> TableState:
    return TableState(Struct(fields))


def _names(state: TableState) -> list[str]:
    return [field.name for field in state.columns.fields]


DETAILS: dict[str, tuple[Any, Any]] = {
    "type": (INTEGER, LONG),
    "nullable": (True, False),
    "comment": ("old", "new"),
    "default": ("1", None),
    "generated": (None, "a + 1"),
    "identity": (Identity(), None),
}


@pytest.mark.parametrize("detail", DETAILS)
def test_a_detail_that_alone_is_declared_otherwise_replaces_the_live_one(detail: str) -> None:
    live = Field("a", INTEGER, comment="old", default="1", identity=Identity(), column_id=1)
    before, after = DETAILS[detail]
    assert getattr(live, detail) == before
    merged = apply_declaration(_columns(replace(_minimal("a"), **{detail: after})), _columns(live))
    assert merged.columns.fields == (replace(live, **{detail: after}),)


declarations = st.builds(
    lambda state, dropped: replace(state, dropped=tuple(Deletion((name,)) for name in dropped)),
    table_states(declared=True),
    st.lists(names(), max_size=3),
)


@given(declarations, table_states())
@settings(max_examples=40, deadline=None)
def test_unmanaged_state_does_not_change(declared: TableState, live: TableState) -> None:
    changes = diff(live, apply_declaration(declared, live))
    assert [difference for difference in changes if not _is_declared(difference, declared)] == []


@given(declarations, table_states())
@settings(max_examples=40, deadline=None)
def test_every_declared_detail_holds_afterwards(declared: TableState, live: TableState) -> None:
    result = apply_declaration(declared, live)
    for path, declared_field in walk_fields(declared.columns):
        field = field_at(result.columns, path)
        assert field is not None
        assert field.nullable == declared_field.nullable
        for name in ("comment", "default", "generated", "identity"):
            value = getattr(declared_field, name)
            assert value is UNMANAGED or getattr(field, name) == value
    for key, value in declared.properties.items():
        assert result.properties.get(key) == value
    for name, value in declared.constraints.items():
        assert result.constraints.get(name) == value
    assert result.features >= declared.features


@given(declarations, table_states())
@settings(max_examples=40, deadline=None)
def test_applying_a_declaration_twice_changes_nothing(declared: TableState, live: TableState) -> None:
    once = apply_declaration(declared, live)
    assert diff(once, apply_declaration(declared, once)) == ()


@given(declarations)
@settings(max_examples=40, deadline=None)
def test_created_table_is_as_declared(declared: TableState) -> None:
    table = created_state(declared)
    assert diff(table, apply_declaration(declared, table)) == ()
    assert all(not field.type_changes and not field.renamed_from for field in table.columns.fields)


def test_live_details_that_are_not_declared_stay() -> None:
    live_column = Field(
        "A",
        INTEGER,
        comment="c",
        default="1",
        generated="b",
        identity=Identity(),
        type_changes=(RecordedChange(INTEGER, LONG),),
        column_id=7,
        physical_name="col-7",
        extra=(("x", "1"),),
    )
    live = TableState(
        Struct((live_column, B)),
        description="d",
        partitioned_by=("b",),
        clustered_by=(("b",),),
        constraints={"p": "b > 0"},
        properties={"team": "sales"},
        features=frozenset({"appendOnly"}),
    )
    assert apply_declaration(_columns(_minimal("a")), live) == live


def test_details_declared_as_none_are_removed() -> None:
    live = replace(
        _columns(replace(A, comment="c", default="1")),
        description="d",
        constraints={"p": "a > 0", "q": "a > 1"},
        properties={"team": "sales", "x": "1"},
        partitioned_by=("a",),
    )
    declared = replace(
        _columns(replace(_minimal("a"), comment=None, default=None)),
        description=None,
        constraints={"p": None},
        properties={"team": None},
        partitioned_by=(),
    )
    assert apply_declaration(declared, live) == TableState(
        Struct((A,)),
        description=None,
        constraints={"q": "a > 1"},
        properties={"x": "1"},
        partitioned_by=(),
    )


def test_new_columns_follow_the_column_that_they_follow_in_the_declaration() -> None:
    declared = _columns(*(_minimal(name) for name in ("x", "b", "y", "z", "a", "w")))
    assert _names(apply_declaration(declared, _columns(A, Field("u", STRING), B))) == [
        "x",
        "a",
        "w",
        "u",
        "b",
        "y",
        "z",
    ]


def test_live_columns_keep_their_order() -> None:
    declared = _columns(_minimal("b"), _minimal("c"), _minimal("a"))
    assert _names(apply_declaration(declared, _columns(A, B, C))) == ["a", "b", "c"]


def test_live_column_keeps_its_spelling() -> None:
    assert _names(apply_declaration(_columns(_minimal("A")), _columns(A))) == ["a"]


def test_dropped_columns_are_removed_unless_they_are_declared() -> None:
    declared = replace(
        _columns(_minimal("a"), Field("s", Struct((A,)))),
        dropped=(Deletion(("a",)), Deletion(("b",)), Deletion(("S", "B")), Deletion(("gone",))),
    )
    live = _columns(A, B, Field("s", Struct((A, B, C))))
    result = apply_declaration(declared, live)
    assert result == _columns(A, Field("s", Struct((A, C))))


def test_declared_rename_applies_if_the_old_column_is_live() -> None:
    live = _columns(A, replace(B, column_id=2, comment="c"))
    result = apply_declaration(_columns(_minimal("z", "b")), live)
    renamed = replace(live.columns.fields[1], name="z", renamed_from="b")
    assert result == _columns(A, renamed)


@pytest.mark.parametrize(
    ("declared", "live", "result"),
    [
        ([_minimal("z", "gone")], "ab", ["z", "a", "b"]),
        ([_minimal("z", "a"), _minimal("a")], "ab", ["z", "a", "b"]),
        ([_minimal("z", "a")], "az", ["a", "z"]),
        ([_minimal("y", "a"), _minimal("z", "a")], "a", ["y", "z"]),
        ([_minimal("a", "b"), _minimal("b", "a")], "ab", ["a", "b"]),
    ],
    ids=["no old name", "old name declared", "new name live", "one old name twice", "swap"],
)
def test_declared_rename_is_ignored_if_it_is_not_possible(
    declared: list[Field], live: str, result: list[str]
) -> None:
    assert (
        _names(apply_declaration(_columns(*declared), _columns(*(Field(name, INTEGER) for name in live))))
        == result
    )


def test_nullability_inside_collections_changes_only_where_it_is_declared() -> None:
    declared = Map(INTEGER, Array(LONG, contains_null=False), UNMANAGED)
    live = Map(INTEGER, Array(INTEGER, contains_null=True), value_contains_null=False)
    result = apply_declaration(_columns(Field("m", declared)), _columns(Field("m", live)))
    merged = Map(INTEGER, Array(LONG, contains_null=False), value_contains_null=False)
    assert type_at(result.columns, ("m",)) == merged


def test_unmanaged_details_of_a_new_type_are_deltas_defaults() -> None:
    declared = _columns(replace(_minimal("a"), type=Array(Struct((_minimal("x", "y"),)), UNMANAGED)))
    expected = replace(declared.columns.fields[0], type=Array(Struct((Field("x", INTEGER),))))
    result = apply_declaration(declared, TableState())
    assert result.columns.fields[0].type == expected.type
    assert created_state(declared).columns == result.columns


def test_protocol_properties_become_features() -> None:
    declared = TableState(
        properties={"delta.feature.TYPEWIDENING": "supported", "delta.minReaderVersion": "3", "x": "1"},
        features=frozenset({"timestampntz"}),
    )
    features = frozenset({"typeWidening", "timestampNtz"})
    assert apply_declaration(declared, TableState()) == TableState(properties={"x": "1"}, features=features)
    table = created_state(declared)
    assert (table.properties, table.features) == ({"x": "1"}, features)


# By kind of change: the detail of the field or the table that a declaration must manage to make it.
OF_A_FIELD = {
    change.CommentChanged: "comment",
    change.DefaultChanged: "default",
    change.GeneratedChanged: "generated",
    change.IdentityChanged: "identity",
}
OF_THE_TABLE = {
    change.DescriptionChanged: "description",
    change.PartitioningChanged: "partitioned_by",
    change.ClusteringChanged: "clustered_by",
}


def _is_declared(difference: Change, declared: TableState) -> bool:
    if name := OF_A_FIELD.get(type(difference)):
        return getattr(field_at(declared.columns, getattr(difference, "path", ())), name) is not UNMANAGED
    if name := OF_THE_TABLE.get(type(difference)):
        return getattr(declared, name) is not UNMANAGED
    match difference:
        case change.PropertyChanged(key=key):
            return key in declared.properties
        case change.ConstraintChanged(name=name):
            return name in declared.constraints
        case change.FeatureChanged(name=name, new=new):
            return new and name in declared.features
        case change.FieldRemoved(path=path):
            return path_key(path) in {path_key(entry.path) for entry in declared.dropped}
        case change.FieldRenamed(path=path, old_name=old):
            field = field_at(declared.columns, path)
            return field is not None and (field.renamed_from or "").lower() == old.lower()
        case change.NullabilityChanged(path=(*parent, Part() as part)):
            key = "contains_null" if part == Part.ELEMENT else "value_contains_null"
            return getattr(type_at(declared.columns, tuple(parent)), key) is not UNMANAGED
        case (
            change.FieldAdded(path=path)
            | change.TypeChanged(path=path)
            | change.NullabilityChanged(path=path)
        ):
            return type_at(declared.columns, path) is not None
    return False  # moves, type histories, and changes that are no difference of states
