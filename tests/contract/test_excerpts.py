"""An edit in an excerpt of a contract changes the text exactly as the same edit in the whole document."""

from __future__ import annotations

import pytest

from schemalint import contract as contracts
from schemalint.base.document import TextEdit, splice
from schemalint.contract.edits import Editor
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
)
from schemalint.delta.path import Part, Path
from schemalint.model.finding import DeclareChange, DeclareRenames, Edit, RecordTypeChanges, SetProperty

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


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_property_is_set_in_an_excerpt_as_in_the_whole(layout: str, settings: str, line_break: str) -> None:
    columns = LAYOUTS[layout][0].replace("properties: {a: b}\n", "")
    before = HEAD + SETTINGS[settings] + columns
    after = HEAD + columns + ("" if columns.endswith("\n") else "\n") + SETTINGS[settings]
    for text in (before.replace("\n", line_break), after.replace("\n", line_break)):
        contract = contracts.effective(contracts.read("orders.yml", text).contracts[0], "t")
        editor = Editor(contract, text)
        for value in ("true", None):
            edits = [SetProperty("delta.enableTypeWidening", value), SetProperty("a", "c")]
            in_excerpt = editor._in_excerpt(edits)  # noqa: SLF001 (both ways must agree)
            assert in_excerpt
            assert in_excerpt == tuple(editor._in_whole(edits))  # noqa: SLF001 (as above)


RECORDS = [
    (RecordedChange(INTEGER, LONG),),
    (RecordedChange(SHORT, INTEGER), RecordedChange(INTEGER, LONG)),
    (),
]


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("changes", RECORDS, ids=len)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_record_is_edited_in_an_excerpt_as_in_the_whole(
    layout: str, changes: tuple[RecordedChange, ...], line_break: str
) -> None:
    text, path = LAYOUTS[layout]
    text = (HEAD + text).replace("\n", line_break)
    (contract,) = contracts.read("orders.yml", text).contracts
    editor, edits = Editor(contract, text), [RecordTypeChanges(path, changes)]
    in_excerpt = editor._in_excerpt(edits)  # noqa: SLF001 (both ways must agree)
    assert in_excerpt
    assert in_excerpt == tuple(editor._in_whole(edits))  # noqa: SLF001
    assert editor.text_changes(edits) == in_excerpt


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
def test_changes_of_columns_are_made_in_excerpts_as_in_the_whole(
    layout: str, changes: str, line_break: str
) -> None:
    text = (HEAD + COLUMNS[layout]).replace("\n", line_break)
    in_excerpts = _both_ways(text, [DeclareChange(changed) for changed in DECLARED[changes]])
    # In a flow sequence, the commas around a removed column belong to its neighbours too.
    assert in_excerpts or (layout == "flow sequence" and "dropped" in changes)


def test_changes_that_excerpts_mix_up_are_made_in_the_whole() -> None:
    """The new column has the lines that the next one had: its excerpt cannot tell which is new."""
    columns = "- name: a\n  type: int\n- name: b\n  type: int\n  deprecated: {since: 2026-01-01}\n"
    renamed, new = FieldRenamed(("c",), "b"), FieldAdded(("b",), Field("b", INTEGER), "a")
    assert not _both_ways(f"{HEAD}columns:\n{columns}", [DeclareChange(renamed), DeclareChange(new)])


def test_renamed_columns_can_swap_their_names() -> None:
    renames = (FieldRenamed(("b",), "a"), FieldRenamed(("a",), "b"))
    comment = DeclareChange(CommentChanged(("a",), "old", "it was b"))
    assert _both_ways(HEAD + COLUMNS["blocks"], [DeclareRenames(renames), comment])


def _both_ways(text: str, edits: list[Edit]) -> bool:
    """Return whether the edits are made in excerpts; assert that the text is the one of the whole then."""
    contract = contracts.read("orders.yml", text).contracts[0]
    editor = Editor(contract, text)
    in_parts, in_whole = editor._in_parts(edits), editor._in_whole(edits)  # noqa: SLF001 (both ways must agree)
    made, expected = (
        splice(text, [TextEdit(change.start, change.end, change.text) for change in changes])
        for changes in (in_parts, in_whole)
    )
    assert not in_parts or made == expected
    assert editor.text_changes(edits) == (in_parts or tuple(editor._in_whole(edits)))  # noqa: SLF001 (as above)
    return bool(in_parts)
