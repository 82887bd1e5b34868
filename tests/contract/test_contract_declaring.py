"""Pulled table changes are written into contracts of any layout; all other text stays unchanged."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from schemalint.author.pull.difference import declared_changes
from schemalint.author.pull.live_declaration import Scope, declaration
from schemalint.base.document import TextEdit, splice
from schemalint.base.values import replace
from schemalint.contract import editor, print_contract, read
from schemalint.delta.change import FieldMoved, FieldRenamed
from schemalint.delta.datatype import (
    DATE,
    INTEGER,
    LONG,
    STRING,
    Array,
    Decimal,
    Field,
    Identity,
    Map,
    RecordedChange,
    Struct,
)
from schemalint.delta.diff import diff
from schemalint.delta.path import Part
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import History, HistoryEntry, LiveTable, Metadata, TableState
from schemalint.model.contract import Contract
from schemalint.model.contract_edit import DeclareChange
from schemalint.model.declaration import apply_declaration
from schemalint.model.effective import Environment, effective
from support.contract_strategies import writable
from support.strategies import table_states


class Counted(str):
    """A name that counts calls of `lower`, that is, comparisons of names."""

    __slots__ = ()
    comparisons = 0

    def lower(self) -> str:
        Counted.comparisons += 1
        return super().lower()


HEAD = "schemalint: 1\ntable: t\n"


def table(state: TableState, history: History | None = None) -> LiveTable:
    features = Protocol(3, 7, writer_features=state.features)
    live = LiveTable("/lake/t", 3, features, Metadata("id", state))
    return live if history is None else replace(live, history=history)


def columns(*fields: Field, **settings_: object) -> LiveTable:
    state = TableState(Struct(fields), description=None, partitioned_by=(), clustered_by=())
    return table(replace(state, **settings_))  # type: ignore[arg-type]


def pulled(text: str, live: LiveTable, scope: Scope = Scope.MANAGED, target: str | None = None) -> str:
    """Return the text with its first contract updated; check that a second pull changes nothing."""
    contract = effective(read("f.yml", text).contracts[0], Environment(target))
    edits = [DeclareChange(change) for change in declared_changes(contract, live, scope)]
    text_edits = editor(contract, text).text_changes(edits)
    after = splice(text, [TextEdit(edit.start, edit.end, edit.text) for edit in text_edits])
    updated = effective(read("f.yml", after).contracts[0], Environment(target))
    assert declared_changes(updated, live, scope) == ()
    if scope in {Scope.MANAGED, Scope.ALL}:
        assert pending_changes(updated, live) == []
    return after


def pending_changes(contract: Contract, live: LiveTable) -> list[object]:
    changes = diff(live.state, apply_declaration(contract.state, live.state))
    return [change for change in changes if not isinstance(change, FieldMoved)]


BLOCKS = (
    HEAD
    + """\
# the columns
columns:
  - name: a   # first
    type: BIGINT
    # deeper: of a

  # of b
  - name: b
    type: "decimal(10, 2)"
    comment: 'old'
"""
)


def test_a_table_that_matches_its_contract_changes_nothing() -> None:
    live = columns(Field("a", LONG), Field("B", Decimal(10, 2), comment="old"))
    assert pulled(BLOCKS, live) == BLOCKS


def test_a_new_column_is_inserted_in_table_order_and_comments_stay_with_their_columns() -> None:
    live = columns(
        Field("a", LONG), Field("m", Decimal(5, 2), nullable=False), Field("b", Decimal(10, 2), comment="old")
    )
    assert pulled(BLOCKS, live) == BLOCKS.replace(
        "    # deeper: of a\n",
        "    # deeper: of a\n  - name: m\n    type: decimal(5,2)\n    nullable: false\n",
    )


def test_a_new_first_column_is_inserted_first() -> None:
    live = columns(Field("m", DATE), Field("a", LONG), Field("b", Decimal(10, 2), comment="old"))
    assert pulled(BLOCKS, live) == BLOCKS.replace("  - name: a ", "  - name: m\n    type: date\n  - name: a ")


def test_changed_types_and_comments_keep_their_quotes() -> None:
    live = columns(Field("a", LONG), Field("b", Decimal(12, 2), comment="it's new"))
    assert pulled(BLOCKS, live) == BLOCKS.replace('"decimal(10, 2)"', '"decimal(12,2)"').replace(
        "'old'", "'it''s new'"
    )


def test_a_column_missing_in_the_table_is_removed_with_only_its_own_lines() -> None:
    live = columns(Field("b", Decimal(10, 2), comment="old"))
    after = pulled(BLOCKS, live)
    assert "name: a" not in after
    assert after.startswith(HEAD + "# the columns\ncolumns:\n")
    assert after.endswith("  # of b\n" + BLOCKS.partition("  # of b\n")[2])


def test_a_comment_missing_in_the_table_becomes_null() -> None:
    live = columns(Field("a", LONG), Field("b", Decimal(10, 2)))
    assert pulled(BLOCKS, live) == BLOCKS.replace("'old'", "null")


def test_windows_line_ends_are_kept() -> None:
    live = columns(Field("a", LONG), Field("m", DATE), Field("b", Decimal(12, 2), comment="old"))
    after = pulled(BLOCKS.replace("\n", "\r\n"), live)
    assert after.count("\n") == after.count("\r\n")
    assert after.replace("\r\n", "\n") == pulled(BLOCKS, live)


def test_flow_style_is_kept() -> None:
    text = HEAD + "columns: [{name: a, type: int}, {name: b, type: 'date'}]  # all\n"
    live = columns(Field("a", LONG), Field("m", Decimal(5, 2)), Field("b", DATE, nullable=False))
    assert pulled(text, live) == HEAD + (
        'columns: [{name: a, type: bigint}, {name: m, type: "decimal(5,2)"}, '
        "{name: b, type: 'date', nullable: false}]  # all\n"
    )


def test_a_column_added_next_to_columns_in_braces_is_in_braces() -> None:
    text = HEAD + "columns:\n- {name: a, type: int}\n"
    live = columns(Field("a", INTEGER), Field("m", DATE))
    assert pulled(text, live) == text + "- {name: m, type: date}\n"


def test_only_the_changed_part_of_a_type_text_is_rewritten() -> None:
    text = HEAD + 'columns:\n  - name: a\n    type: "MAP<String, STRUCT<X:Int, y: Array<INT>>>"\n'
    inner = Struct((Field("x", INTEGER), Field("y", Array(LONG))))
    assert pulled(text, columns(Field("a", Map(STRING, inner)))) == text.replace(
        "Array<INT>", "Array<bigint>"
    )


def test_fields_in_type_text_are_added_removed_and_changed() -> None:
    text = HEAD + "columns:\n  - name: a\n    type: \"array<struct<x: int, y: int comment 'old'>>\"\n"
    inner = Struct((Field("y", INTEGER, nullable=False, comment="new"), Field("z", DATE)))
    assert pulled(text, columns(Field("a", Array(inner)))) == text.replace(
        "x: int, y: int comment 'old'", "y: int not null comment 'new', z: date"
    )


def test_types_in_one_text_change_together_and_leave_the_rest_as_it_is_spelled() -> None:
    text = HEAD + 'columns:\n  - name: a\n    type: "STRUCT<x:  int,y :int, z: String>"\n'
    inner = Struct((Field("x", LONG), Field("y", LONG), Field("z", STRING)))
    assert pulled(text, columns(Field("a", inner))) == text.replace("x:  int,y :int", "x:  bigint,y :bigint")


LEVEL_BY_LEVEL = (
    HEAD
    + """\
columns:
  - name: a
    type: array
    element:   # of a
      type: struct
      columns:
        - {name: x, type: int}
"""
)


def test_a_new_field_of_a_type_written_level_by_level_gets_its_own_line() -> None:
    inner = Struct((Field("x", LONG), Field("z", STRING)))
    assert pulled(LEVEL_BY_LEVEL, columns(Field("a", Array(inner)))) == LEVEL_BY_LEVEL.replace(
        "type: int}\n", "type: bigint}\n        - {name: z, type: string}\n"
    )


def test_a_type_written_level_by_level_becomes_text_if_its_shape_changes() -> None:
    assert pulled(LEVEL_BY_LEVEL, columns(Field("a", Map(STRING, LONG)))) == HEAD + (
        "columns:\n  - name: a\n    type: map<string, bigint>\n"
    )


def test_type_change_records_of_a_removed_field_are_removed() -> None:
    text = HEAD + (
        "columns:\n  - name: a\n    type: struct<x:bigint,y:bigint>\n    type_changes:\n"
        "      - {at: x, from: int, to: bigint}\n      - {at: y, from: int, to: bigint}  # keep\n"
    )
    change = RecordedChange(INTEGER, LONG)
    live = columns(Field("a", Struct((Field("y", LONG, type_changes=(change,)),))))
    assert pulled(text, live) == HEAD + (
        'columns:\n  - name: a\n    type: "struct<y: bigint>"\n'
        "    type_changes:\n"
        "      - {at: y, from: int, to: bigint}  # keep\n"
    )


def test_a_widened_type_is_written_with_its_type_change_record() -> None:
    text = HEAD + "columns:\n  - name: a\n    type: int\n"
    live = columns(Field("a", LONG, type_changes=(RecordedChange(INTEGER, LONG),)))
    assert pulled(text, live) == HEAD + (
        "columns:\n  - name: a\n    type: bigint\n    type_changes:\n      - {from: int, to: bigint}\n"
    )


def test_type_change_records_older_than_the_log_are_kept() -> None:
    text = HEAD + (
        "columns:\n  - name: a\n    type: bigint\n"
        "    type_changes: [{from: tinyint, to: int}, {from: int, to: bigint}]\n"
    )
    live = columns(Field("a", LONG, type_changes=(RecordedChange(INTEGER, LONG),)))
    assert pulled(text, live) == text
    assert pulled(text, columns(Field("a", LONG))) == text


def test_managed_settings_are_updated() -> None:
    text = HEAD + (
        "description: old\ncolumns: [{name: a, type: int}]\npartitioned_by: []   # none\n"
        "constraints: {Positive: a > 0, gone: a < 9}\nproperties:\n  team: sales  # who\n  off: x\n"
        "features: [timestampNtz, appendOnly]\n"
    )
    live = columns(
        Field("a", INTEGER),
        description="new",
        partitioned_by=("a",),
        constraints={"positive": "a > 1", "other": "a > 2"},
        properties={"team": "shop", "more": "x"},
        features=frozenset({"appendOnly"}),
    )
    assert pulled(text, live) == HEAD + (
        "description: new\ncolumns: [{name: a, type: int}]\npartitioned_by: [a]   # none\n"
        "constraints: {Positive: a > 1, gone: null}\nproperties:\n  team: shop  # who\n  off: null\n"
        "features: [appendOnly]\n"
    )


def test_unmanaged_settings_are_added_only_with_scope_all() -> None:
    text = HEAD + "columns:\n  - name: a\n    type: int\n"
    live = columns(
        Field("a", INTEGER, comment="c", default="1"),
        description="new",
        clustered_by=(("a",),),
        constraints={"positive": "a > 1"},
        properties={"more": "x", "delta.columnMapping.maxColumnId": "3"},
        features=frozenset({"clustering", "timestampNtz"}),
    )
    assert pulled(text, live) == text
    after = pulled(text, live, Scope.ALL)
    assert after == HEAD + (
        'columns:\n  - name: a\n    type: int\n    comment: c\n    default: "1"\n'
        "description: new\nproperties:\n  more: x\nfeatures:\n  - timestampNtz\n"
        "constraints:\n  positive: a > 1\nclustered_by: [a]\n"
    )


@pytest.mark.parametrize(
    ("scope", "expected"), [(Scope.COLUMNS, "team: sales"), (Scope.PROPERTIES, "team: shop")]
)
def test_a_narrower_scope_leaves_other_settings_unchanged(scope: Scope, expected: str) -> None:
    text = HEAD + "columns: [{name: a, type: int}]\ndescription: old\nproperties: {team: sales}\n"
    live = columns(Field("a", LONG), description="new", properties={"team": "shop"})
    after = pulled(text, live, scope)
    assert "type: bigint" in after
    assert "description: old" in after
    assert expected in after


def test_a_property_of_a_target_is_updated_in_its_overlay() -> None:
    text = HEAD + (
        "columns: [{name: a, type: int}]\nproperties: {team: sales}\n"
        "targets:\n  dev: {properties: {team: dev}}\n"
    )
    live = columns(Field("a", INTEGER), properties={"team": "lab"})
    assert pulled(text, live, target="dev") == text.replace("team: dev", "team: lab")


def test_a_dropped_entry_of_a_column_that_still_exists_is_removed() -> None:
    text = HEAD + "columns: [{name: a, type: int}]\ndropped: [gone, b]\n"
    live = columns(Field("a", INTEGER), Field("b", DATE))
    assert pulled(text, live) == HEAD + (
        "columns: [{name: a, type: int}, {name: b, type: date}]\ndropped: [gone]\n"
    )


def test_an_identity_and_a_generation_expression_are_updated() -> None:
    text = HEAD + (
        "columns:\n  - {name: a, type: bigint, identity: null}\n  - {name: b, type: bigint, generated: a+1}\n"
    )
    live = columns(Field("a", LONG, identity=Identity(5, 2)), Field("b", LONG, generated="a + 2"))
    assert pulled(text, live) == text.replace(
        "identity: null", "identity: {start: 5, step: 2, allow_explicit_insert: false}"
    ).replace("a+1", "a + 2")


def test_element_nullability_is_updated_where_it_is_declared() -> None:
    text = HEAD + "columns:\n  - name: a\n    type: array\n    element: {type: int, nullable: false}\n"
    assert pulled(text, columns(Field("a", Array(INTEGER)))) == text.replace("false", "true")


def test_only_the_document_of_the_pulled_table_is_edited() -> None:
    other = "---\nkind: other\na:   [1,  2]\n---\n"
    text = other + BLOCKS + "---\n" + BLOCKS.replace("table: t", "table: u")
    live = columns(Field("a", LONG), Field("m", DATE), Field("b", Decimal(10, 2), comment="old"))
    assert pulled(text, live) == other + pulled(BLOCKS, live) + text.partition(BLOCKS)[2]


@pytest.mark.wide
@settings(max_examples=30, deadline=None)
@given(table_states(declared=True), table_states())
def test_a_pull_updates_any_contract_to_any_table(declared: TableState, state: TableState) -> None:
    text = print_contract(Contract("t", writable(declared), file="f.yml"))
    live = table(writable(state))
    pulled(text, live)
    pulled(text, live, Scope.ALL)


@pytest.mark.wide
@settings(max_examples=30, deadline=None)
@given(table_states())
def test_a_new_contract_declares_everything_of_any_table(state: TableState) -> None:
    live = table(writable(state))
    contract = Contract("t", declaration(live), file="f.yml")
    text = print_contract(contract)
    assert read("f.yml", text).contracts == (contract,)
    assert pulled(text, live, Scope.ALL) == text


def test_the_path_of_a_type_change_record_follows_a_field_rename() -> None:
    text = HEAD + (
        "columns:\n  - name: a\n    type: array\n"
        "    element: {type: struct, columns: [{name: x, type: bigint}]}\n"
        "    type_changes: [{at: element.x, from: int, to: bigint}]\n"
    )
    (contract,) = read("f.yml", text).contracts
    edits = [DeclareChange(FieldRenamed(("a", Part.ELEMENT, "new"), "x"))]
    changes = editor(contract, text).text_changes(edits)
    after = splice(text, [TextEdit(change.start, change.end, change.text) for change in changes])
    assert after == text.replace("name: x, type: bigint", "name: new, type: bigint, renamed_from: x").replace(
        "element.x", "element.new"
    )


@pytest.mark.parametrize("case", ["declared", "declared in part", "renamed"])
def test_name_comparisons_grow_linearly_with_the_number_of_columns(case: str) -> None:
    few, many = (_count_name_comparisons(case, count) for count in (100, 1_000))
    assert few < many <= 10 * few


def _count_name_comparisons(case: str, count: int) -> int:
    before = [Field(Counted(f"c{n}"), LONG, column_id=n, physical_name=f"col-{n}") for n in range(count)]
    now = (
        [replace(field, name=Counted(f"r{field.name}")) for field in before] if case == "renamed" else before
    )
    declared = before[::2] if case == "declared in part" else before
    entry = HistoryEntry(0, metadata=Metadata("id", TableState(Struct(tuple(before)))))
    live = table(TableState(Struct(tuple(now))), History((entry,)))
    Counted.comparisons = 0
    changes = declared_changes(Contract("t", TableState(Struct(tuple(declared)))), live)
    assert len(changes) == {"declared": 0, "declared in part": count // 2, "renamed": count}[case]
    return Counted.comparisons
