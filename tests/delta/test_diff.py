"""The difference between two table states, as a list of changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings

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
)
from schemalint.delta.diff import diff
from schemalint.delta.path import Part, Path
from schemalint.delta.table import Deletion, TableState
from support.operations import calls
from support.strategies import table_states

WIDTH = 1_000

A, B, C, D = (Field(name, INTEGER) for name in "abcd")
AT: Path = ("s", Part.ELEMENT, "x")
RECORD = (RecordedChange(INTEGER, LONG),)


def _columns(*fields: Field) -> TableState:
    return TableState(Struct(fields))


def _nested(field: Field) -> TableState:
    return _columns(Field("s", Array(Struct((field,)))))


ONE_FIELD = Field("x", INTEGER)
EDITS: list[tuple[Field, Change]] = [
    (replace(ONE_FIELD, type=LONG), change.TypeChanged(AT, INTEGER, LONG)),
    (replace(ONE_FIELD, type=Array(INTEGER)), change.TypeChanged(AT, INTEGER, Array(INTEGER))),
    (replace(ONE_FIELD, nullable=False), change.NullabilityChanged(AT, old=True, new=False)),
    (replace(ONE_FIELD, comment="c"), change.CommentChanged(AT, None, "c")),
    (replace(ONE_FIELD, comment=UNMANAGED), change.CommentChanged(AT, None, UNMANAGED)),
    (replace(ONE_FIELD, default="1"), change.DefaultChanged(AT, None, "1")),
    (replace(ONE_FIELD, generated="a"), change.GeneratedChanged(AT, None, "a")),
    (replace(ONE_FIELD, identity=Identity()), change.IdentityChanged(AT, None, Identity())),
    (replace(ONE_FIELD, type_changes=RECORD), change.TypeHistoryChanged(AT, (), RECORD)),
]

TABLE_EDITS: list[tuple[TableState, TableState, list[Change]]] = [
    (
        TableState(description="x"),
        TableState(description=UNMANAGED),
        [change.DescriptionChanged("x", UNMANAGED)],
    ),
    (TableState(description=None), TableState(description=""), []),
    (
        TableState(properties={"a": "1", "b": "2", "c": None}),
        TableState(properties={"b": "3", "c": None, "d": None}),
        [
            change.PropertyChanged("a", "1", UNMANAGED),
            change.PropertyChanged("b", "2", "3"),
            change.PropertyChanged("d", UNMANAGED, None),
        ],
    ),
    (
        TableState(properties={"delta.appendOnly": "TRUE"}),
        TableState(properties={"delta.appendOnly": "true"}),
        [],
    ),
    (
        TableState(constraints={"p": "a>0", "q": "b > 0"}),
        TableState(constraints={"p": "A > 0", "q": None}),
        [change.ConstraintChanged("q", "b > 0", None)],
    ),
    (
        TableState(features=frozenset({"a", "b"})),
        TableState(features=frozenset({"b", "c"})),
        [change.FeatureChanged("a", new=False), change.FeatureChanged("c", new=True)],
    ),
    (
        TableState(partitioned_by=("a",)),
        TableState(partitioned_by=("a", "b")),
        [change.PartitioningChanged(("a",), ("a", "b"))],
    ),
    (
        TableState(clustered_by=UNMANAGED),
        TableState(clustered_by=(("a",),)),
        [change.ClusteringChanged(UNMANAGED, (("a",),))],
    ),
    (
        TableState(dropped=(Deletion(("a",)), Deletion(("b",)))),
        TableState(dropped=(Deletion(("b",)), Deletion(("c",), INTEGER))),
        [change.DeletionUnlisted(("a",)), change.DeletionListed(("c",), INTEGER)],
    ),
]


@given(table_states(declared=True))
@settings(max_examples=40, deadline=None)
def test_a_declaration_does_not_differ_from_itself(state: TableState) -> None:
    assert diff(state, state) == ()


def test_an_unchanged_column_costs_less_than_five_calls() -> None:
    before, after = (
        TableState(Struct((*(Field(f"a{index}", LONG) for index in range(WIDTH)), Field("id", type_))))
        for type_ in (INTEGER, LONG)
    )
    assert diff(before, after) == (change.TypeChanged(("id",), INTEGER, LONG),)
    for table in (after, TableState(Struct((*before.columns.fields[:-1], Field("id", LONG))))):
        assert calls(lambda table=table: diff(before, table)) < 5 * WIDTH  # type: ignore[misc]


@given(table_states())
@settings(max_examples=40, deadline=None)
def test_a_live_table_does_not_differ_from_itself(state: TableState) -> None:
    assert diff(state, state) == ()


@pytest.mark.parametrize(("field", "expected"), EDITS)
def test_an_edit_of_a_nested_field_is_one_change(field: Field, expected: Change) -> None:
    assert diff(_nested(ONE_FIELD), _nested(field)) == (expected,)


@pytest.mark.parametrize(("before", "after", "expected"), TABLE_EDITS)
def test_edits_of_table_settings_give_the_expected_changes(
    before: TableState, after: TableState, expected: list[Change]
) -> None:
    assert list(diff(before, after)) == expected


def test_keys_values_and_elements_have_their_own_type_and_nullability_changes() -> None:
    before = _columns(Field("m", Map(INTEGER, Array(INTEGER))))
    after = _columns(Field("m", Map(LONG, Array(LONG, contains_null=False), value_contains_null=UNMANAGED)))
    value = ("m", Part.VALUE)
    assert diff(before, after) == (
        change.TypeChanged(("m", Part.KEY), INTEGER, LONG),
        change.TypeChanged((*value, Part.ELEMENT), INTEGER, LONG),
        change.NullabilityChanged((*value, Part.ELEMENT), old=True, new=False),
        change.NullabilityChanged(value, old=True, new=UNMANAGED),
    )


def test_a_different_container_kind_is_one_type_change() -> None:
    before, after = Array(Struct((A,))), Map(INTEGER, Struct((B,)))
    changes = diff(_columns(Field("c", before)), _columns(Field("c", after)))
    assert changes == (change.TypeChanged(("c",), before, after),)


def test_added_and_removed_fields_are_found() -> None:
    changes = diff(_columns(A, B), _columns(C, B, D))
    assert changes == (
        change.FieldRemoved(("a",), A),
        change.FieldAdded(("c",), C, None),
        change.FieldAdded(("d",), D, "b"),
    )


@pytest.mark.parametrize(
    ("order", "moves"),
    [
        ("abcd", []),
        ("dabc", [(("d",), None)]),
        ("bcda", [(("a",), "d")]),
        ("acbd", [(("c",), "a")]),
        ("badc", [(("b",), None), (("d",), "a")]),
    ],
)
def test_as_few_fields_as_possible_are_moved(order: str, moves: list[tuple[Path, str | None]]) -> None:
    after = _columns(*(Field(name, INTEGER) for name in order))
    assert diff(_columns(A, B, C, D), after) == tuple(change.FieldMoved(*move) for move in moves)


def test_columns_are_matched_ignoring_case_and_a_new_case_is_no_change() -> None:
    assert diff(_columns(A), _columns(Field("A", LONG))) == (change.TypeChanged(("A",), INTEGER, LONG),)


def test_names_that_are_equal_only_by_unicode_case_folding_are_two_columns() -> None:
    """Delta does the same (measured on Delta 4.4.0)."""
    both = _columns(Field("straße", INTEGER), Field("strasse", LONG))
    assert diff(both, both) == ()
    assert diff(_columns(both.columns.fields[0]), both) == (
        change.FieldAdded(("strasse",), both.columns.fields[1], "straße"),
    )


def test_a_new_case_with_renamed_from_is_a_rename() -> None:
    after = _columns(Field("A", INTEGER, renamed_from="a"))
    assert diff(_columns(A), after) == (change.FieldRenamed(("A",), "a"),)


def test_renamed_from_makes_a_rename() -> None:
    after = _columns(Field("z", LONG, renamed_from="a"), B)
    assert diff(_columns(A, B), after) == (
        change.FieldRenamed(("z",), "a"),
        change.TypeChanged(("z",), INTEGER, LONG),
    )


def test_a_renamed_from_that_both_states_have_is_no_rename() -> None:
    state = _columns(Field("z", INTEGER, renamed_from="a"))
    assert diff(state, state) == ()


def test_an_older_renamed_from_does_not_match_a_new_column_of_the_old_name() -> None:
    renamed = Field("z", INTEGER, renamed_from="a")
    assert diff(_columns(renamed), _columns(renamed, A)) == (change.FieldAdded(("a",), A, "z"),)


def test_renamed_from_a_missing_column_is_no_rename() -> None:
    after = _columns(Field("z", INTEGER, renamed_from="gone"))
    assert diff(_columns(A), after) == (
        change.FieldRemoved(("a",), A),
        change.FieldAdded(("z",), after.columns.fields[0], None),
    )


def test_of_two_columns_with_the_same_renamed_from_only_the_first_is_a_rename() -> None:
    twice = (Field("y", INTEGER, renamed_from="a"), Field("z", INTEGER, renamed_from="a"))
    assert diff(_columns(A), _columns(*twice)) == (
        change.FieldRenamed(("y",), "a"),
        change.FieldAdded(("z",), twice[1], "y"),
    )


def test_a_rename_to_the_name_of_an_undeclared_column_removes_that_column() -> None:
    after = _columns(Field("b", INTEGER, renamed_from="a"))
    assert diff(_columns(A, B), after) == (
        change.FieldRemoved(("b",), B),
        change.FieldRenamed(("b",), "a"),
    )


def test_a_swap_is_two_renames() -> None:
    after = _columns(Field("a", INTEGER, renamed_from="b"), Field("b", INTEGER, renamed_from="a"))
    assert diff(_columns(A, B), after) == (
        change.FieldRenamed(("a",), "b"),
        change.FieldRenamed(("b",), "a"),
        change.FieldMoved(("a",), None),
    )


def test_changes_below_a_renamed_struct_use_its_new_name() -> None:
    before = _columns(Field("s", Struct((A,))))
    after = _columns(Field("t", Struct((replace(A, type=LONG), B)), renamed_from="s"))
    assert diff(before, after) == (
        change.FieldRenamed(("t",), "s"),
        change.FieldAdded(("t", "b"), B, "a"),
        change.TypeChanged(("t", "a"), INTEGER, LONG),
    )


def test_a_dropped_column_whose_name_is_reused_is_removed_and_added() -> None:
    new = Field("a", STRING)
    after = replace(_columns(new), dropped=(Deletion(("a",), INTEGER),))
    assert diff(_columns(A), after) == (
        change.FieldRemoved(("a",), A),
        change.FieldAdded(("a",), new, None),
        change.DeletionListed(("a",), INTEGER),
    )


def test_an_older_dropped_entry_of_a_reused_name_changes_nothing() -> None:
    state = replace(_columns(Field("a", STRING)), dropped=(Deletion(("a",), INTEGER),))
    assert diff(state, replace(state, columns=Struct((Field("a", LONG),)))) == (
        change.TypeChanged(("a",), STRING, LONG),
    )


def test_a_reused_name_that_is_listed_with_its_new_type_is_removed_and_added_again() -> None:
    first, old, new = Deletion(("a",), INTEGER), Field("a", STRING), Field("a", LONG)
    before = replace(_columns(old), dropped=(first,))
    after = replace(_columns(new), dropped=(first, Deletion(("a",), STRING)))
    assert diff(before, after)[:2] == (
        change.FieldRemoved(("a",), old),
        change.FieldAdded(("a",), new, None),
    )


def test_an_older_dropped_entry_with_a_corrected_type_removes_nothing() -> None:
    before = replace(_columns(Field("a", STRING)), dropped=(Deletion(("a",), INTEGER),))
    changes = diff(before, replace(before, dropped=(Deletion(("a",), LONG),)))
    assert not any(isinstance(each, change.FieldRemoved | change.FieldAdded) for each in changes)


def _ids(*pairs: tuple[str, int | None]) -> TableState:
    return _columns(*(Field(name, INTEGER, column_id=number) for name, number in pairs))


def _names_and_ids(changes: tuple[Change, ...]) -> list[tuple[object, ...]]:
    return [(type(each), getattr(each, "path", None), getattr(each, "old_name", None)) for each in changes]


def test_two_live_states_are_matched_by_column_mapping_id() -> None:
    changes = diff(_ids(("a", 1), ("b", 2)), _ids(("b", 1), ("a", 2)))
    assert _names_and_ids(changes) == [
        (change.FieldRenamed, ("b",), "a"),
        (change.FieldRenamed, ("a",), "b"),
    ]


def test_a_column_with_a_new_id_is_removed_and_added() -> None:
    changes = diff(_ids(("a", 1), ("b", 2)), _ids(("a", 3), ("b", 2)))
    assert _names_and_ids(changes) == [
        (change.FieldRemoved, ("a",), None),
        (change.FieldAdded, ("a",), None),
    ]


def test_ids_added_or_removed_by_column_mapping_are_no_change() -> None:
    assert diff(_ids(("a", None), ("b", None)), _ids(("a", 1), ("b", 2))) == ()
    assert diff(_ids(("a", 1), ("b", 2)), _ids(("a", None), ("b", None))) == ()


def test_duplicate_ids_of_a_broken_writer_are_ignored() -> None:
    assert diff(_ids(("a", 1), ("b", 2)), _ids(("a", 2), ("b", 2))) == ()


@pytest.mark.parametrize("name", [lambda: "x" * 10_000, lambda: "`${x}`\n--"])
def test_columns_with_very_long_or_strange_names_are_compared(name: Callable[[], str]) -> None:
    odd = Field(name(), INTEGER)
    assert diff(_columns(A), _columns(A, odd)) == (change.FieldAdded((odd.name,), odd, "a"),)
