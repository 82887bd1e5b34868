"""Fixes edit the text of a contract as a person would."""

from __future__ import annotations

import pytest

from schemalint.base.document import TextEdit, splice
from schemalint.base.errors import ContractError
from schemalint.base.values import replace
from schemalint.contract import editor, read
from schemalint.delta.change import (
    CommentChanged,
    ConstraintChanged,
    DeletionUnlisted,
    FieldRemoved,
    PropertyChanged,
    TypeChanged,
)
from schemalint.delta.datatype import (
    BYTE,
    INTEGER,
    LONG,
    SHORT,
    UNMANAGED,
    Decimal,
    Field,
    RecordedChange,
    field_at,
)
from schemalint.delta.path import Part, Path
from schemalint.model.contract_edit import DeclareChange, Edit, RecordTypeChanges, SetProperty
from schemalint.model.effective import Environment, effective

HEAD = "schemalint: 1\ntable: t\n"
COLUMN = HEAD + "columns: [{name: a, type: int}]\n"
WIDENED = (RecordedChange(INTEGER, LONG),)
TWICE = (RecordedChange(SHORT, INTEGER), RecordedChange(INTEGER, LONG))


def edited(text: str, *edits: Edit, target: str | None = None) -> str:
    (contract,) = read("f.yml", text).contracts
    changes = editor(effective(contract, Environment(target)), text).text_changes(edits)
    return splice(text, [TextEdit(change.start, change.end, change.text) for change in changes])


def test_a_type_history_is_added_on_its_own_lines() -> None:
    text = HEAD + "columns:\n  - name: a  # the first\n    type: bigint\n  - name: b\n    type: int\n"

    assert edited(text, RecordTypeChanges(("A",), TWICE)) == HEAD + (
        "columns:\n  - name: a  # the first\n    type: bigint\n    type_changes:\n"
        "      - {from: smallint, to: int}\n      - {from: int, to: bigint}\n"
        "  - name: b\n    type: int\n"
    )


def test_a_type_history_is_added_inside_braces() -> None:
    text = HEAD + "columns:\n  - {name: a, type: 'decimal(12,2)'}\n"
    changes = (RecordedChange(Decimal(10, 2), Decimal(12, 2)),)

    assert edited(text, RecordTypeChanges(("a",), changes)) == HEAD + (
        "columns:\n  - {name: a, type: 'decimal(12,2)', "
        'type_changes: [{from: "decimal(10,2)", to: "decimal(12,2)"}]}\n'
    )


def test_new_type_changes_are_appended_and_comments_are_kept() -> None:
    text = HEAD + (
        "columns:\n  - name: a\n    type: map<bigint,bigint>\n    type_changes:\n"
        "      # in spring\n      - {at: key, from: smallint, to: int}   # by hand\n"
        "    comment: x\n"
    )
    key = tuple(RecordedChange(change.from_type, change.to_type, (Part.KEY,)) for change in TWICE)
    value = RecordedChange(INTEGER, LONG, (Part.VALUE,))

    assert edited(text, RecordTypeChanges(("a",), (*key, value))) == HEAD + (
        "columns:\n  - name: a\n    type: map<bigint,bigint>\n    type_changes:\n"
        "      # in spring\n      - {at: key, from: smallint, to: int}   # by hand\n"
        "      - {at: key, from: int, to: bigint}\n      - {at: value, from: int, to: bigint}\n"
        "    comment: x\n"
    )


def test_replacing_a_type_history_keeps_the_entries_of_other_fields() -> None:
    text = HEAD + (
        "columns:\n  - name: a\n    type: struct<x:bigint,y:bigint>\n    type_changes:\n"
        "      - {at: x, from: tinyint, to: bigint}\n      - {at: y, from: int, to: bigint}  # keep\n"
    )

    assert edited(text, RecordTypeChanges(("a", "x"), WIDENED)) == HEAD + (
        "columns:\n  - name: a\n    type: struct<x:bigint,y:bigint>\n    type_changes:\n"
        "      - {at: y, from: int, to: bigint}  # keep\n      - {at: x, from: int, to: bigint}\n"
    )


def test_a_type_change_in_type_text_is_recorded_on_the_column() -> None:
    text = HEAD + 'columns:\n  - name: a\n    type: "array<struct<`b.c`: bigint>>"\n'

    assert edited(text, RecordTypeChanges(("a", Part.ELEMENT, "b.c"), WIDENED)).endswith(
        '>>"\n    type_changes:\n      - {at: element.`b.c`, from: int, to: bigint}\n'
    )


def test_a_type_change_of_a_field_with_its_own_lines_is_recorded_on_the_field() -> None:
    text = HEAD + (
        "columns:\n  - name: a\n    type: array\n    element:\n      type: struct\n      columns:\n"
        "        - name: b\n          type: bigint\n"
    )

    assert edited(text, RecordTypeChanges(("a", Part.ELEMENT, "b"), WIDENED)) == (
        text + "          type_changes:\n            - {from: int, to: bigint}\n"
    )


def test_properties_are_set_and_removed_together_wherever_they_are() -> None:
    text = COLUMN + (
        "properties:\n  a: 1\n  # about b\n  b: 2\n  c: 3\ntargets:\n  dev:\n    properties: {b: 4, c: 5}\n"
    )
    changes = (("a", "9"), ("b", UNMANAGED), ("c", "8"), ("d", None), ("e", "true"))
    edits = [DeclareChange(PropertyChanged(key, UNMANAGED, value)) for key, value in changes]
    assert edited(text, *edits, target="dev") == COLUMN + (
        "properties:\n  a: 9\n  # about b\n  b: 2\n  c: 3\n  d: null\n  e: true\ntargets:\n  dev:\n"
        "    properties: {c: 8}\n"
    )


def test_constraints_are_set_together_under_the_names_that_are_written() -> None:
    text = COLUMN + "constraints:\n  Low: 'a > 0'\n  high: a < 9\n"
    changes = (("low", "a > 1"), ("high", None), ("new", "a <> 5"))
    edits = [DeclareChange(ConstraintChanged(name, "old", value)) for name, value in changes]
    assert edited(text, *edits) == COLUMN + "constraints:\n  Low: 'a > 1'\n  high: null\n  new: a <> 5\n"


def test_deletions_are_unlisted_together() -> None:
    text = COLUMN + "dropped: [a, {column: b.c}, D]\n"
    edits = [DeclareChange(DeletionUnlisted(path)) for path in (("b", "c"), ("d",), ("gone",))]
    assert edited(text, *edits) == COLUMN + "dropped: [a]\n"


def test_fields_that_are_removed_together_take_their_recorded_types_with_them() -> None:
    text = HEAD + (
        "columns:\n  - name: a\n    type: struct<x:bigint,y:bigint,z:bigint>\n    type_changes:\n"
        "      - {at: x, from: int, to: bigint}\n      - {at: y, from: int, to: bigint}  # keep\n"
        "      - {at: z, from: int, to: bigint}\n"
    )
    edits = [DeclareChange(FieldRemoved(("a", name), Field(name, LONG))) for name in ("x", "z")]
    assert edited(text, *edits) == HEAD + (
        'columns:\n  - name: a\n    type: "struct<y: bigint>"\n    type_changes:\n'
        "      - {at: y, from: int, to: bigint}  # keep\n"
    )


def test_parts_of_a_type_change_together_in_text_and_level_by_level() -> None:
    text = HEAD + (
        "columns:\n  - name: a\n    type: struct\n    columns:\n      - {name: x, type: int}\n"
        "      - {name: y, type: 'array<int>'}\n      - name: z  # the last\n        type: int\n"
    )
    edits = [DeclareChange(TypeChanged(("a", name), INTEGER, LONG)) for name in ("x", "z")]
    edits.append(DeclareChange(CommentChanged(("a", "y"), UNMANAGED, "new")))
    assert edited(text, *edits) == text.replace("type: int}", "type: bigint}").replace(
        "'array<int>'}", "'array<int>', comment: new}"
    ).replace("type: int\n", "type: bigint\n")


FLOW = """
columns:
  - {name: a, type: bigint, type_changes: [{from: tinyint, to: int}, {from: int, to: bigint}]}
"""
EMPTY = """
columns: [{name: a, type: array<bigint>, type_changes: []}]
"""
AT_THE_ELEMENT = """
columns:
  - name: a
    type: array
    element:
      type: bigint
      type_changes:
        - {from: int, to: bigint}
"""
ON_TWO_LEVELS = """
columns:
  - name: a
    type: struct
    columns:
      - name: b
        type: bigint
        type_changes: [{from: tinyint, to: int}]
    type_changes:
      - {at: b, from: int, to: bigint}
"""


@pytest.mark.parametrize(
    ("columns", "path"),
    [(FLOW, ("a",)), (EMPTY, ("a",)), (AT_THE_ELEMENT, ("a",)), (ON_TWO_LEVELS, ("a", "b"))],
)
@pytest.mark.parametrize("changes", [(), WIDENED, TWICE])
def test_the_edited_contract_has_the_new_type_history(
    columns: str, path: Path, changes: tuple[RecordedChange, ...]
) -> None:
    text = edited(HEAD.rstrip() + columns, RecordTypeChanges(path, changes))
    (contract,) = read("f.yml", text).contracts
    field = field_at(contract.state.columns, path)

    assert field is not None
    assert field.type_changes == changes


def test_a_correct_type_history_is_not_edited() -> None:
    text = HEAD + "columns: [{name: a, type: bigint, type_changes: [{from: int, to: bigint}]}]\n"

    assert edited(text, RecordTypeChanges(("a",), WIDENED)) == text


def test_a_correct_type_history_on_two_levels_is_not_edited() -> None:
    text = HEAD.rstrip() + ON_TWO_LEVELS
    changes = (RecordedChange(BYTE, INTEGER), RecordedChange(INTEGER, LONG))

    assert edited(text, RecordTypeChanges(("a", "b"), changes)) == text


def test_a_type_change_of_an_element_is_appended_where_the_history_is() -> None:
    further = RecordedChange(LONG, Decimal(20, 0))
    changes = tuple(replace(change, at=(Part.ELEMENT,)) for change in (*WIDENED, further))
    text = edited(HEAD.rstrip() + AT_THE_ELEMENT, RecordTypeChanges(("a",), changes))
    (contract,) = read("f.yml", text).contracts

    assert contract.state.columns.fields[0].type_changes == changes


def test_a_property_is_set_in_place_whatever_the_case_of_its_key() -> None:
    text = HEAD + "columns: []\nproperties: {Delta.AppendOnly: false, x: y}  # why\n"

    assert edited(text, SetProperty("delta.appendOnly", "true")) == (
        HEAD + "columns: []\nproperties: {Delta.AppendOnly: true, x: y}  # why\n"
    )


def test_properties_are_added_to_a_contract_without_properties() -> None:
    text = HEAD + "columns: []\n"
    edits = SetProperty("delta.enableTypeWidening", "true"), SetProperty("x", "a: b")

    assert edited(text, *edits) == text + 'properties:\n  delta.enableTypeWidening: true\n  x: "a: b"\n'


def test_a_property_of_a_target_is_set_in_its_overlay() -> None:
    text = HEAD + "columns: []\nproperties: {a: 1}\ntargets:\n  dev:\n    properties: {a: 2}\n  prod: {}\n"

    assert edited(text, SetProperty("a", "3"), target="dev") == text.replace("a: 2", "a: 3")
    assert edited(text, SetProperty("a", "3"), target="prod") == text.replace("a: 1", "a: 3")


def test_the_second_document_of_a_file_is_edited() -> None:
    first = HEAD + "columns: []\nproperties: {a: 1}\n---\n"
    second = first.replace("---\n", "")
    _, contract = read("f.yml", first + second).contracts
    (change,) = editor(contract, first + second).text_changes([SetProperty("a", "2")])

    assert (change.location.line, change.location.column, change.text) == (9, 17, "2")


def test_editing_a_text_that_lost_the_contract_is_refused() -> None:
    (contract,) = read("f.yml", HEAD + "columns: []\n").contracts

    with pytest.raises(ContractError, match="the contract is no longer in this file"):
        editor(contract, "a: 1\n").text_changes([SetProperty("a", "2")])
    with pytest.raises(ContractError, match='"columns" is missing'):
        editor(contract, HEAD).text_changes([SetProperty("a", "2")])
    with pytest.raises(ContractError, match="column a is no longer in the contract"):
        editor(contract, HEAD + "columns: []\n").text_changes([RecordTypeChanges(("a",), WIDENED)])
