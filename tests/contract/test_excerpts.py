"""An edit in an excerpt of a contract changes the text exactly as the same edit in the whole document."""

from __future__ import annotations

import pytest

from schemalint import contract as contracts
from schemalint.contract.edits import Editor
from schemalint.delta.datatype import INTEGER, LONG, SHORT, RecordedChange
from schemalint.delta.path import Part, Path
from schemalint.model.finding import RecordTypeChanges

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
