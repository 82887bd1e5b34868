"""Edits of a contract that are made together give what they ask for, in any layout, and nothing else."""

from __future__ import annotations

import pytest

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.delta.change import (
    Change,
    CommentChanged,
    DescriptionChanged,
    FieldAdded,
    FieldRemoved,
    FieldRenamed,
    NullabilityChanged,
    PropertyChanged,
    TypeChanged,
    TypeHistoryChanged,
)
from schemalint.delta.datatype import (
    DATE,
    INTEGER,
    LONG,
    SHORT,
    UNMANAGED,
    Array,
    Field,
    RecordedChange,
    Struct,
    field_at,
    map_fields,
)
from schemalint.delta.patch import apply_changes
from schemalint.delta.path import Part, Path
from schemalint.model.contract import Contract
from schemalint.model.contract_edit import DeclareChange, DeclareRenames, Edit, RecordTypeChanges, SetProperty
from schemalint.model.effective import Environment, effective

HEAD = "schemalint: 1\ntable: t\n"
RECORD = """\
    type_changes:
    - {at: p, from: smallint, to: int}
    - {at: q, from: smallint, to: int}
    - {at: r.element, from: smallint, to: int}
"""
LAYOUTS: dict[str, tuple[str, Path]] = {
    "flow items": ("columns:\n  - {name: x, type: int}\n  - {name: a, type: bigint} # c\n  # b\n", ("a",)),
    "blocks without indentation": (
        (
            "columns:\n- name: x\n  type: int\n-\n  name: a\n  type: bigint\n  type_changes:\n"
            "  - {from: tinyint, to: int}\n- name: b\n  type: int"
        ),
        ("a",),
    ),
    "flow sequence": (
        (
            "columns: [{name: x, type: int}, # c\n  {name: a, type: bigint, "
            "type_changes: [{from: smallint, to: int}]}, # c\n"
            "  {name: b, type: int}] # end\nproperties: {a: b}\n"
        ),
        ("a",),
    ),
    "ends with a block scalar": (
        "columns:\n  - name: a\n    type: bigint\n    comment: |\n      long\n\n  - name: b\n    type: int\n",
        ("a",),
    ),
    "another document follows": (
        "columns:\n  - name: b\n    type: int\n  - name: a\n    type: bigint\n---\nother: 1\n",
        ("a",),
    ),
    "in a type text": (
        (
            "columns:\n  - {name: z, type: int}\n  - name: s\n"
            "    type: struct<p:int,q:bigint,r:array<bigint>>\n"
            f"{RECORD}  - {{name: y, type: int}}\n"
        ),
        ("s", "q"),
    ),
    "in a type text without a record": (
        "columns:\n  - name: s\n    type: \"struct<p:int,q:bigint comment 'it''s',r:array<bigint>>\"\n",
        ("s", "q"),
    ),
    "level by level": (
        (
            "columns:\n  - {name: z, type: int}\n  - name: s\n    type: struct\n    columns:\n"
            "      - {name: p, type: int}\n      - {name: q, type: bigint}\n"
            f"      - {{name: r, type: array<bigint>}}\n{RECORD}  - {{name: y, type: int}}\n"
        ),
        ("s", "q"),
    ),
    "element of an array": (
        (
            "columns:\n  - {name: z, type: int}\n  - name: a\n"
            "    type: array\n    element:\n      type: struct\n"
            "      columns: [{name: p, type: int}, {name: q, type: bigint}]\n"
        ),
        ("a", Part.ELEMENT, "q"),
    ),
}
SETTINGS: dict[str, str] = {
    "below": "properties:\n    # first\n    a: b\n",
    "in braces": "properties: {a: b} # c\n",
    "none": "",
    "others": "description: d # e\ntargets:\n   t: {properties: {a: b}}\n",
    "of the target": "targets:\n   t:\n      properties: {delta.enabletypewidening: false}\n",
}


def edited(text: str, *edits: Edit, target: str | None = None) -> Contract:
    """Return the contract of the edited text; all else in the text stays, line by line."""
    contract = effective(contracts.read("orders.yml", text).contracts[0], Environment(target))
    after = contracts.edited_text(contract, text, edits)
    assert ("\r\n" in after) == ("\r\n" in text)
    assert after.endswith("other: 1\n") == text.endswith("other: 1\n")
    return effective(contracts.read("orders.yml", after).contracts[0], Environment(target))


def plain(columns: Struct) -> Struct:
    """Return columns without what text cannot express: null or nothing, no record or one without entries."""
    return map_fields(columns, _plain)


def _plain(path: Path, field: Field) -> Field:
    return replace(
        field,
        comment=UNMANAGED if field.comment is None else field.comment,
        default=UNMANAGED if field.default is None else field.default,
        generated=UNMANAGED if field.generated is None else field.generated,
        identity=UNMANAGED if field.identity is None else field.identity,
        type_changes=field.type_changes or UNMANAGED,
        renamed_from=field.renamed_from if len(path) == 1 else None,
    )


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("value", ["true", None])
def test_properties_are_set_wherever_they_are(
    layout: str, settings: str, line_break: str, value: str | None
) -> None:
    columns = LAYOUTS[layout][0].replace("properties: {a: b}\n", "")
    before = HEAD + SETTINGS[settings] + columns
    after = HEAD + columns + ("" if columns.endswith("\n") else "\n") + SETTINGS[settings]
    for text in (before.replace("\n", line_break), after.replace("\n", line_break)):
        edits = [SetProperty("delta.enableTypeWidening", value), SetProperty("a", "c")]
        contract = edited(text, *edits, target="t")
        assert contract.state.properties == {"delta.enableTypeWidening": value, "a": "c"}


RECORDS = [
    (RecordedChange(INTEGER, LONG),),
    (RecordedChange(SHORT, INTEGER), RecordedChange(INTEGER, LONG)),
    (),
]


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("changes", RECORDS, ids=len)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_record_of_a_field_is_edited_wherever_it_is(
    layout: str, changes: tuple[RecordedChange, ...], line_break: str
) -> None:
    text, path = LAYOUTS[layout]
    text = (HEAD + text).replace("\n", line_break)
    (before,) = contracts.read("orders.yml", text).contracts
    contract = edited(text, RecordTypeChanges(path, changes))
    field = field_at(contract.state.columns, path)
    assert field is not None
    assert changes == (field.type_changes if isinstance(field.type_changes, tuple) else ())
    wanted = map_fields(
        before.state.columns,
        lambda at, field: replace(field, type_changes=changes) if at == path else field,
    )
    assert plain(contract.state.columns) == plain(wanted)


COLUMNS: dict[str, str] = {
    "flow items": (
        "properties: {a: b}\ncolumns:\n  # before a\n  - {name: a, type: int} # at a\n    # in a\n\n"
        "  # before b\n  - {name: b, type: int, comment: old}\n  - {name: c, type: int}\n"
        "owner: me\n"
    ),
    "blocks": (
        "columns:\n- name: a\n  type: int\n  # in a\n# before b\n- name: b\n  type: int\n  comment: old\n"
        "- name: c\n  type: int\n  deprecated: {since: 2026-01-01}"
    ),
    "ends with a block scalar": (
        "columns:\n  - name: a\n    type: int\n  - name: b\n    comment: |\n      old\n    type: int\n"
        "  - name: c\n    type: int\n    generated: |\n      a + 1\n"
    ),
    "flow sequence": (
        "columns: [{name: a, type: int}, # at a\n  {name: b, type: int, comment: old},\n"
        "  {name: c, type: int} # at c\n  ]\nowner: me\n"
    ),
    "another document follows": (
        "columns:\n  - name: a\n    type: int\n  - {name: b, comment: old, type: int}\n"
        "  - {name: c, type: int}\n---\nother: 1\n"
    ),
}
HISTORY = (RecordedChange(SHORT, INTEGER), RecordedChange(INTEGER, LONG))
DECLARED: dict[str, list[Change]] = {
    "comments": [CommentChanged((name,), UNMANAGED, f"new {name}") for name in "abc"],
    "several of one column": [
        TypeChanged(("b",), INTEGER, LONG),
        TypeHistoryChanged(("b",), UNMANAGED, HISTORY),
        NullabilityChanged(("b",), True, False),  # noqa: FBT003 (the old and the new value)
        CommentChanged(("b",), "old", None),
    ],
    "types": [TypeChanged((name,), INTEGER, Struct((Field("x", Array(DATE)),))) for name in "abc"],
    "added": [
        FieldAdded(("x",), Field("x", INTEGER), None),
        FieldAdded(("y",), Field("y", LONG), "x"),
        FieldAdded(("z",), Field("z", INTEGER), "a"),
        FieldAdded(("b2",), Field("b2", INTEGER), "z"),
        FieldAdded(("c2",), Field("c2", LONG), "c"),
        FieldAdded(("c3",), Field("c3", INTEGER), "c2"),
    ],
    "first dropped": [FieldRemoved((name,), Field(name, INTEGER)) for name in "ab"],
    "last dropped": [FieldRemoved((name,), Field(name, INTEGER)) for name in "bc"],
    "dropped, renamed to its name, and added": [
        FieldRemoved(("a",), Field("a", INTEGER)),
        FieldRenamed(("a",), "b"),
        FieldRenamed(("d",), "c"),
        FieldAdded(("b",), Field("b", LONG), "a"),
        FieldAdded(("e",), Field("e", INTEGER), "b"),
        CommentChanged(("a",), "old", "it was b"),
        CommentChanged(("d",), UNMANAGED, "it was c"),
    ],
    "columns and settings": [
        CommentChanged(("a",), UNMANAGED, "new"),
        DescriptionChanged(UNMANAGED, "new"),
        PropertyChanged("p", UNMANAGED, "1"),
    ],
}


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("changes", DECLARED)
@pytest.mark.parametrize("layout", COLUMNS)
def test_changes_that_are_declared_together(layout: str, changes: str, line_break: str) -> None:
    text = (HEAD + COLUMNS[layout]).replace("\n", line_break)
    _require_declared(text, *DECLARED[changes])


def test_a_new_column_takes_the_name_and_the_lines_of_a_renamed_one() -> None:
    columns = "- name: a\n  type: int\n- name: b\n  type: int\n  deprecated: {since: 2026-01-01}\n"
    renamed, new = FieldRenamed(("c",), "b"), FieldAdded(("b",), Field("b", INTEGER), "a")
    _require_declared(f"{HEAD}columns:\n{columns}", renamed, new)


def test_renamed_columns_can_swap_their_names() -> None:
    renames = (FieldRenamed(("b",), "a"), FieldRenamed(("a",), "b"))
    comment = CommentChanged(("a",), "old", "it was b")
    text = HEAD + COLUMNS["blocks"]
    contract = edited(text, DeclareRenames(renames), DeclareChange(comment))
    (before,) = contracts.read("orders.yml", text).contracts
    assert contract.state == apply_changes(before.state, [*renames, comment])


def _require_declared(text: str, *changes: Change) -> None:
    before = contracts.read("orders.yml", text).contracts[0]
    contract = edited(text, *map(DeclareChange, changes))
    wanted = apply_changes(before.state, changes)
    assert plain(contract.state.columns) == plain(wanted.columns)
    assert replace(contract.state, columns=wanted.columns) == wanted
    names = {field.name for field in contract.state.columns.fields}
    assert ("c" in names) == any(path == ("c",) for path in contract.deprecated) or not before.deprecated


NESTED = (
    HEAD
    + """\
columns:
  - name: s  # of s
    type: struct
    columns:
      - name: x
        type: bigint
        type_changes: [{from: int, to: bigint}]
      - {name: y, type: bigint}  # of y
      - name: m
        type: "map<string, struct<u: bigint, v: int>>"
    type_changes:
      - {at: y, from: int, to: bigint}
      - {at: m.value.u, from: int, to: bigint}
  - name: last
    type: int
"""
)
WIDER = RecordedChange(INTEGER, LONG)
IN_NESTED: dict[str, list[Change]] = {
    "a field goes": [FieldRemoved(("s", "y"), Field("y", LONG))],
    "a field with its own record goes": [FieldRemoved(("s", "x"), Field("x", LONG))],
    "a field in text goes": [FieldRemoved(("s", "m", Part.VALUE, "u"), Field("u", LONG))],
    "a parent and a field are renamed": [
        FieldRenamed(("r",), "s"),
        FieldRenamed(("r", "z"), "y"),
        FieldRenamed(("r", "m", Part.VALUE, "w"), "u"),
    ],
    "renamed, widened and recorded": [
        FieldRenamed(("s", "m2"), "m"),
        TypeChanged(("s", "m2", Part.VALUE, "v"), INTEGER, LONG),
        TypeHistoryChanged(("s", "m2", Part.VALUE, "v"), UNMANAGED, (WIDER,)),
        TypeHistoryChanged(("s", "m2", Part.VALUE, "u"), (WIDER,), (RecordedChange(SHORT, LONG),)),
    ],
    "a text gets a field with a record": [
        FieldAdded(("s", "m", Part.VALUE, "w"), Field("w", LONG, type_changes=(WIDER,)), "u")
    ],
    "a type with records becomes another one": [TypeChanged(("s", "m"), Struct(), DATE)],
    "the last column goes, and a setting follows": [
        FieldRemoved(("last",), Field("last", INTEGER)),
        PropertyChanged("p", UNMANAGED, "1"),
    ],
    "all go but a new one": [
        FieldRemoved(("s",), Field("s", INTEGER)),
        FieldRemoved(("last",), Field("last", INTEGER)),
        FieldAdded(("new",), Field("new", INTEGER), None),
    ],
}


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("end", ["\n", ""])
@pytest.mark.parametrize("changes", IN_NESTED)
def test_changes_inside_types_keep_the_records_of_what_stays(changes: str, end: str, line_break: str) -> None:
    text = (NESTED.removesuffix("\n") + end).replace("\n", line_break)
    before = contracts.read("orders.yml", text).contracts[0]
    after = contracts.edited_text(before, text, [DeclareChange(change) for change in IN_NESTED[changes]])
    (contract,) = contracts.read("orders.yml", after).contracts
    wanted = apply_changes(before.state, IN_NESTED[changes])
    assert plain(contract.state.columns) == plain(wanted.columns)
    assert contract.state.properties == wanted.properties
