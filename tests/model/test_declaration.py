from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from schemalint.values import replace
from support.strategies import names, table_states

A, B, C = (Field(name, INTEGER) for name in "abc")


def _silent(name: str, renamed_from: str | None = None) -> Field:
    """A declared column that says its name, its type and that it is nullable, and no more."""
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


declarations = st.builds(
    lambda state, gone: replace(state, dropped=tuple(Deletion((name,)) for name in gone)),
    table_states(declared=True),
    st.lists(names(), max_size=3),
)


@given(declarations, table_states())
@settings(max_examples=40, deadline=None)
def test_nothing_changes_that_is_not_managed(declared: TableState, live: TableState) -> None:
    changes = diff(live, apply_declaration(declared, live))
    assert [one for one in changes if not _is_declared(one, declared)] == []


@given(declarations, table_states())
@settings(max_examples=40, deadline=None)
def test_everything_that_is_declared_holds_afterwards(declared: TableState, live: TableState) -> None:
    result = apply_declaration(declared, live)
    for path, wanted in walk_fields(declared.columns):
        found = field_at(result.columns, path)
        assert found is not None
        assert found.nullable == wanted.nullable
        for name in ("comment", "default", "generated", "identity"):
            value = getattr(wanted, name)
            assert value is UNMANAGED or getattr(found, name) == value
    for key, value in declared.properties.items():
        assert result.properties.get(key) == value
    for name, value in declared.constraints.items():
        assert result.constraints.get(name) == value
    assert result.features >= declared.features


@given(declarations, table_states())
@settings(max_examples=40, deadline=None)
def test_to_declare_twice_is_to_declare_once(declared: TableState, live: TableState) -> None:
    once = apply_declaration(declared, live)
    assert diff(once, apply_declaration(declared, once)) == ()


@given(declarations)
@settings(max_examples=40, deadline=None)
def test_a_created_table_is_as_declared(declared: TableState) -> None:
    table = created_state(declared)
    assert diff(table, apply_declaration(declared, table)) == ()
    assert all(not field.type_changes and not field.renamed_from for field in table.columns.fields)


def test_a_live_table_knows_more_than_its_declaration() -> None:
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
    assert apply_declaration(_columns(_silent("a")), live) == live


def test_what_is_declared_as_none_is_taken_away() -> None:
    live = replace(
        _columns(replace(A, comment="c", default="1")),
        description="d",
        constraints={"p": "a > 0", "q": "a > 1"},
        properties={"team": "sales", "x": "1"},
        partitioned_by=("a",),
    )
    declared = replace(
        _columns(replace(_silent("a"), comment=None, default=None)),
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


def test_new_columns_come_behind_the_column_that_they_are_declared_behind() -> None:
    declared = _columns(*(_silent(name) for name in ("x", "b", "y", "z", "a", "w")))
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
    declared = _columns(_silent("b"), _silent("c"), _silent("a"))
    assert _names(apply_declaration(declared, _columns(A, B, C))) == ["a", "b", "c"]


def test_a_live_column_keeps_its_spelling() -> None:
    assert _names(apply_declaration(_columns(_silent("A")), _columns(A))) == ["a"]


def test_columns_that_may_go_go_unless_they_are_declared() -> None:
    declared = replace(
        _columns(_silent("a"), Field("s", Struct((A,)))),
        dropped=(Deletion(("a",)), Deletion(("b",)), Deletion(("S", "B")), Deletion(("gone",))),
    )
    live = _columns(A, B, Field("s", Struct((A, B, C))))
    result = apply_declaration(declared, live)
    assert result == _columns(A, Field("s", Struct((A, C))))


def test_a_declared_rename_stands_where_the_old_name_is_live() -> None:
    live = _columns(A, replace(B, column_id=2, comment="c"))
    result = apply_declaration(_columns(_silent("z", "b")), live)
    renamed = replace(live.columns.fields[1], name="z", renamed_from="b")
    assert result == _columns(A, renamed)


@pytest.mark.parametrize(
    ("declared", "live", "result"),
    [
        ([_silent("z", "gone")], "ab", ["z", "a", "b"]),
        ([_silent("z", "a"), _silent("a")], "ab", ["z", "a", "b"]),
        ([_silent("z", "a")], "az", ["a", "z"]),
        ([_silent("y", "a"), _silent("z", "a")], "a", ["y", "z"]),
        ([_silent("a", "b"), _silent("b", "a")], "ab", ["a", "b"]),
    ],
    ids=["no old name", "old name declared", "new name live", "one old name twice", "swap"],
)
def test_a_declared_rename_does_not_stand(declared: list[Field], live: str, result: list[str]) -> None:
    assert (
        _names(apply_declaration(_columns(*declared), _columns(*(Field(name, INTEGER) for name in live))))
        == result
    )


def test_nullability_inside_collections_is_managed_where_it_is_said() -> None:
    declared = Map(INTEGER, Array(LONG, contains_null=False), UNMANAGED)
    live = Map(INTEGER, Array(INTEGER, contains_null=True), value_contains_null=False)
    result = apply_declaration(_columns(Field("m", declared)), _columns(Field("m", live)))
    merged = Map(INTEGER, Array(LONG, contains_null=False), value_contains_null=False)
    assert type_at(result.columns, ("m",)) == merged


def test_what_a_new_type_does_not_say_is_what_delta_gives() -> None:
    declared = _columns(replace(_silent("a"), type=Array(Struct((_silent("x", "y"),)), UNMANAGED)))
    expected = replace(declared.columns.fields[0], type=Array(Struct((Field("x", INTEGER),))))
    result = apply_declaration(declared, TableState())
    assert result.columns.fields[0].type == expected.type
    assert created_state(declared).columns == result.columns


def test_what_speaks_of_the_protocol_is_a_feature_and_no_property() -> None:
    declared = TableState(
        properties={"delta.feature.TYPEWIDENING": "supported", "delta.minReaderVersion": "3", "x": "1"},
        features=frozenset({"timestampntz"}),
    )
    features = frozenset({"typeWidening", "timestampNtz"})
    assert apply_declaration(declared, TableState()) == TableState(properties={"x": "1"}, features=features)
    table = created_state(declared)
    assert (table.properties, table.features) == ({"x": "1"}, features)


# What a declaration has to say for a change to be its options: of a field, of the whole table, of an entry.
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


def _is_declared(one: Change, declared: TableState) -> bool:
    if name := OF_A_FIELD.get(type(one)):
        return getattr(field_at(declared.columns, getattr(one, "path", ())), name) is not UNMANAGED
    if name := OF_THE_TABLE.get(type(one)):
        return getattr(declared, name) is not UNMANAGED
    match one:
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
    return False  # moves and records of types, and what is no difference of states
