"""Operations on the tree of a YAML text change the text, and nothing but what they are about."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, TypeAlias

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from schemalint.base.document import (
    Document,
    Mapping,
    Node,
    Path,
    Scalar,
    Sequence,
    TextEdit,
    read_documents,
    splice,
)
from schemalint.base.errors import ContractError, Location
from schemalint.contract.text_editor import TextEditor, edited_text
from schemalint.model.contract_edit import Assign, Insert, Operation, Remove, TextChange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from collections.abc import Mapping as MappingType

without_deadline = settings(deadline=None)

Data: TypeAlias = "dict[object, Data] | list[Data] | str | int | float | bool | None"
Changes: TypeAlias = tuple[TextChange, ...]

# A contract with difficult layout: both kinds of dashes, comments everywhere, a block scalar, flow style.
CONTRACT = """\
# owned by sales
schemalint: 1   # format
table: sales.orders

columns:
  - name: order_id   # the key
    type: bigint
    # nullable is checked upstream
    nullable: false

  - {name: total, type: "decimal(14,2)"}
  -
    name: note
    comment: |
      Two
      lines

# what may go
dropped:
- old_code
- shipping.zip   # moved
properties:   # nothing yet
open: {}
targets: {staging: {absent: true}, sandbox: }
"""


def document_of(text: str) -> Document:
    (document,) = read_documents(text, "a.yml")
    return document


def data_of(node: Node) -> Data:
    if isinstance(node, Mapping):
        return {entry.key.value: data_of(entry.value) for entry in node.entries}
    if isinstance(node, Sequence):
        return [data_of(item) for item in node.items]
    return node.value


def ruamel_data(text: str) -> Data:
    loaded: Data = YAML(typ="safe", pure=True).load(io.StringIO(text))
    return loaded


def made(document: Document, operations: Iterable[Operation]) -> Changes:
    """Return the changes that make the operations, and prove them."""
    changes = TextEditor(document).changes(operations)
    edited_text(document.file, document.text, changes)
    return changes


def set_key(document: Document, path: Path, key: str, value: str) -> Changes:
    return made(document, [Assign((*path, key), value)])


def set_keys(document: Document, values: MappingType[Path, str]) -> Changes:
    return made(document, [Assign(path, value) for path, value in values.items()])


def append_item(document: Document, path: Path, value: str) -> Changes:
    return made(document, [Insert(path, value)])


def insert_items(document: Document, path: Path, items: MappingType[int, list[str]]) -> Changes:
    return made(document, [Insert(path, value, index) for index, values in items.items() for value in values])


def remove_entry(document: Document, path: Path) -> Changes:
    return made(document, [Remove(path)])


def remove_entries(document: Document, paths: Iterable[Path]) -> Changes:
    return made(document, map(Remove, paths))


def edited(text: str, edit: Callable[..., Changes], *arguments: Path | str) -> str:
    return splice(text, edit(document_of(text), *arguments))


@pytest.mark.parametrize(
    ("path", "key", "line_before", "line"),
    [
        ((), "owner", "targets: {staging: {absent: true}, sandbox: }", "owner: x"),
        (("columns", 0), "comment", "    nullable: false", "    comment: x"),
        (("columns", 2), "type", "      lines", "    type: x"),
        (("properties",), "team", "properties:   # nothing yet", "  team: x"),
    ],
)
def test_set_key_adds_a_line_right_after_the_last_entry(
    path: Path, key: str, line_before: str, line: str
) -> None:
    expected = CONTRACT.replace(line_before + "\n", f"{line_before}\n{line}\n")
    assert edited(CONTRACT, set_key, path, key, "x") == expected


@pytest.mark.parametrize(
    ("path", "key", "old", "new"),
    [
        (("columns", 1), "nullable", '"decimal(14,2)"}', '"decimal(14,2)", nullable: "x"}'),
        (("open",), "columns", "open: {}", 'open: {columns: "x"}'),
        (("targets", "sandbox"), "absent", "sandbox: }", 'sandbox: {absent: "x"}}'),
        (("targets", "new"), "absent", "sandbox: }", 'sandbox: , new: {absent: "x"}}'),
        (("columns", 0), "type", "type: bigint", 'type: "x"'),
        ((), "schemalint", "schemalint: 1   # format", 'schemalint: "x"   # format'),
        ((), "properties", "properties:   # nothing yet", 'properties: "x"   # nothing yet'),
        ((), "dropped", "dropped:\n- old_code\n- shipping.zip   # moved", 'dropped: "x"   # moved'),
        (("columns", 2), "comment", "comment: |\n      Two\n      lines\n", 'comment: "x"\n'),
        (("columns", 1), "type", '"decimal(14,2)"', '"x"'),
        (("protocol",), "max_reader", "sandbox: }\n", 'sandbox: }\nprotocol:\n  max_reader: "x"\n'),
        ((), "a: b", "sandbox: }\n", 'sandbox: }\n"a: b": "x"\n'),
    ],
)
def test_set_key_changes_only_one_position(path: Path, key: str, old: str, new: str) -> None:
    assert CONTRACT.count(old) == 1
    assert edited(CONTRACT, set_key, path, key, '"x"') == CONTRACT.replace(old, new)


@pytest.mark.parametrize(
    ("text", "path", "result"),
    [
        ("a: 1", (), "a: 1\nk: v"),
        ("a: 1\r\n\r\n# end\r\n", (), "a: 1\r\nk: v\r\n\r\n# end\r\n"),
        ("\ufeffa: 1\n", (), "\ufeffa: 1\nk: v\n"),
        ("a: |+\n  x\n\nb:\n  c: |+\n    y\n\n", ("b",), "a: |+\n  x\n\nb:\n  c: |+\n    y\n\n  k: v\n"),
        ("a: |\n  x", (), "a: |\n  x\nk: v"),
        ("a: 1\n---\nb: 2\n", (), "a: 1\nk: v\n---\nb: 2\n"),
        ("a: 1\n...\n", (), "a: 1\nk: v\n...\n"),
        ("a: null  # n\n", ("a",), "a:  # n\n  k: v\n"),
        ("a:", ("a",), "a:\n  k: v"),
        ("a:\n    b: 1\nc: ~\n", ("c",), "a:\n    b: 1\nc:\n    k: v\n"),
        ("a: { }\n", ("a",), "a: {k: v}\n"),
        ("a: {b}\n", ("a", "b"), "a: {b: {k: v}}\n"),
        ("a: {b: 1,}\n", ("a",), "a: {b: 1, k: v,}\n"),
        ("a: {\n  b: 1, # c\n  d: 2 # e\n}\n", ("a",), "a: {\n  b: 1, # c\n  d: 2, k: v # e\n}\n"),
        ("a: { # c\n}\n", ("a",), "a: {k: v # c\n}\n"),
        ("-\n- x\n", (0,), "- {k: v}\n- x\n"),
        ("- - a: 1\n    b: 2\n  - c\n", (0, 0), "- - a: 1\n    b: 2\n    k: v\n  - c\n"),
        ("a: 'x\n\n  y'   # c\nb: z\n", (), "a: 'x\n\n  y'   # c\nb: z\nk: v\n"),
        ("a: b\n  c\n\n", (), "a: b\n  c\nk: v\n\n"),
        ("? a\n: b\n", (), "? a\n: b\nk: v\n"),
    ],
)  # fmt: skip
def test_set_key_in_odd_layouts(text: str, path: Path, result: str) -> None:
    document = read_documents(text, "a.yml")[0]
    assert splice(text, set_key(document, path, "k", "v")) == result


def test_set_key_edits_the_given_document_of_several() -> None:
    text = "a: 1\n---\na: 2\n---\na: 3\n"
    edit = set_key(read_documents(text, "a.yml")[1], (), "k", "v")
    assert splice(text, edit) == "a: 1\n---\na: 2\nk: v\n---\na: 3\n"


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (("dropped",), "- shipping.zip   # moved\n", "- shipping.zip   # moved\n- x\n"),
        (("columns",), "      lines\n", "      lines\n  - x\n"),
        (
            ("columns", 0, "type_changes"),
            "nullable: false\n",
            "nullable: false\n    type_changes:\n      - x\n",
        ),
        (("columns", 1, "tags"), ', type: "decimal(14,2)"}', ', type: "decimal(14,2)", tags: [x]}'),
        (("properties",), "properties:   # nothing yet\n", "properties:   # nothing yet\n  - x\n"),
        (("features",), "sandbox: }\n", "sandbox: }\nfeatures:\n  - x\n"),
    ],
)
def test_append_item_changes_only_one_position(path: Path, old: str, new: str) -> None:
    assert CONTRACT.count(old) == 1
    assert edited(CONTRACT, append_item, path, "x") == CONTRACT.replace(old, new)


@pytest.mark.parametrize(
    ("text", "path", "result"),
    [
        ("a: []\n", ("a",), "a: [x]\n"),
        ("a: [b]  # c\n", ("a",), "a: [b, x]  # c\n"),
        ("a: [\n  b,\n]\n", ("a",), "a: [\n  b, x,\n]\n"),
        ("a:\n- b\nc:\n", ("c",), "a:\n- b\nc:\n- x\n"),
        ("a:\n    - b", ("a",), "a:\n    - b\n    - x"),
        ("- a\r\n", (), "- a\r\n- x\r\n"),
        ("a: {b: }\n", ("a", "b"), "a: {b: [x]}\n"),
        ("- - a\n- b\n", (0,), "- - a\n  - x\n- b\n"),
    ],
)
def test_append_item_keeps_the_style_of_the_sequence(text: str, path: Path, result: str) -> None:
    assert edited(text, append_item, path, "x") == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("a:\n- v\n", "a:\n- v\n- x\n- {y: z}\n"),
        ("a: [v]\n", "a: [v, x, {y: z}]\n"),
        ("a: []\n", "a: [x, {y: z}]\n"),
        ("a:\n", "a:\n  - x\n  - {y: z}\n"),
        ("b: 1\n", "b: 1\na:\n  - x\n  - {y: z}\n"),
    ],
)
def test_several_items_are_appended_at_once(text: str, result: str) -> None:
    (document,) = read_documents(text, "a.yml")
    assert splice(text, made(document, [Insert(("a",), "x"), Insert(("a",), "{y: z}")])) == result


@pytest.mark.parametrize(
    ("text", "values", "result"),
    [
        ("a: {b: 1}\nc: 2\n", {("a", "b"): "x", ("c",): "y", ("a", "d"): "z"}, "a: {b: x, d: z}\nc: y\n"),
        ("a:\n  b: 1  # of b\n", {("a", "d"): "x", ("a", "e"): "y"}, "a:\n  b: 1  # of b\n  d: x\n  e: y\n"),
        ("c: 1\n", {("a", "d"): "x", ("a", "e"): "y"}, "c: 1\na:\n  d: x\n  e: y\n"),
        ("a:\n", {("a", "d"): "x", ("a", "e"): "y"}, "a:\n  d: x\n  e: y\n"),
        ("- {a: 1}\n- a: 2\n", {(0, "a"): "x", (1, "a"): "y", (1, "b"): "z"}, "- {a: x}\n- a: y\n  b: z\n"),
    ],
)
def test_several_keys_are_set_at_once(text: str, values: dict[Path, str], result: str) -> None:
    (document,) = read_documents(text, "a.yml")
    assert splice(text, set_keys(document, values)) == result


@pytest.mark.parametrize(
    ("text", "paths", "result"),
    [
        ("a: [b, c, d, e]\n", [("a", 1), ("a", 2)], "a: [b, e]\n"),
        ("a: [b, c, d, e]\n", [("a", 0), ("a", 2), ("a", 3)], "a: [c]\n"),
        ("a: [b, c]\n", [("a", 1), ("a", 0)], "a: []\n"),
        ("a:\n- b\n# of c\n- c\n- d\n", [("a", 0), ("a", 1)], "a:\n# of c\n- d\n"),
        ("a: {b: 1, c: 2}\nd:\n  e: 1\n  f: 2\n", [("d", "f"), ("a", "b")], "a: {c: 2}\nd:\n  e: 1\n"),
        ("- [a, b]\n- [c, d]\n", [(0, 1), (1, 0), (1, 1)], "- [a]\n- []\n"),
    ],
)
def test_several_entries_are_removed_at_once(text: str, paths: list[Path], result: str) -> None:
    (document,) = read_documents(text, "a.yml")
    assert splice(text, remove_entries(document, paths)) == result


@pytest.mark.parametrize(
    ("edit", "text", "argument"),
    [
        (set_keys, "a: {b: 1}\n", {("a", "b"): "x", ("a", "b", "c"): "y"}),
        (set_keys, "a: {b: {c: 1}}\n", {("a", "b"): "x", ("a", "b", "c"): "y"}),
        (set_keys, "a: {b: 1}\n", {("a", "b"): "x", ("a", "c"): "y, d: z"}),
        (remove_entries, "a: [b, c]\n", [("a", 0), ("a", 2)]),
        (remove_entries, "a: [[b, c], d]\n", [("a", 0), ("a", 0, 1)]),
        (
            remove_entries,
            "- a: 1\n  b: 2\n  c: 3\n",
            [(0, "a"), (0, "b")],
        ),  # c cannot follow the dash in place
    ],
)
def test_edits_together_are_refused_as_one(edit: Callable[..., object], text: str, argument: object) -> None:
    with pytest.raises(ContractError, match="cannot be edited in place"):
        edit(document_of(text), argument)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (("table",), "table: sales.orders\n", ""),
        (("columns", 0, "name"), "name: order_id   # the key\n    type", "type"),
        (("columns", 0, "type"), "    type: bigint\n", ""),
        (("columns", 0, "nullable"), "    nullable: false\n", ""),
        (("columns", 2), "  -\n    name: note\n    comment: |\n      Two\n      lines\n", ""),
        (("columns", 1), '  - {name: total, type: "decimal(14,2)"}\n', ""),
        (("columns", 1, "name"), "name: total, ", ""),
        (("columns", 1, "type"), ', type: "decimal(14,2)"', ""),
        (("dropped", 0), "- old_code\n", ""),
        (("dropped", 1), "- shipping.zip   # moved\n", ""),
        (("properties",), "properties:   # nothing yet\n", ""),
        (("targets", "staging", "absent"), "{absent: true}", "{}"),
        (("targets", "sandbox"), ", sandbox: ", ""),
    ],
)
def test_remove_entry_changes_only_one_position(path: Path, old: str, new: str) -> None:
    assert CONTRACT.count(old) == 1
    assert edited(CONTRACT, remove_entry, path) == CONTRACT.replace(old, new)


@pytest.mark.parametrize(
    ("text", "path", "result"),
    [
        ("a:\n  - b  # c\n", ("a", 0), "a: []  # c\n"),
        ("a:  # c\n  b: 1\n", ("a", "b"), "a: {}  # c\n"),
        ("a: 1\n", ("a",), "{}\n"),
        ("a: [b,]\n", ("a", 0), "a: []\n"),
        ("- a: 1\n  # on b\n  b: 2\n", (0, "a"), "- \n  # on b\n  b: 2\n"),
        ("- - a\n  - b\n", (0, 0), "- - b\n"),
        ("a:\n  - b\n  # - c\n  -  # - d\n    e: f\n  - g", ("a", 1), "a:\n  - b\n  # - c\n  - g"),
        ("a: 1\nb: |+\n  x\n\nc: 2\n", ("b",), "a: 1\nc: 2\n"),
        ("a: 1\r\nb: 2\r\n", ("a",), "b: 2\r\n"),
        ("\ufeffa: 1\nb: 2\n", ("a",), "\ufeffb: 2\n"),
    ],
)
def test_remove_entry_in_odd_layouts(text: str, path: Path, result: str) -> None:
    assert edited(text, remove_entry, path) == result


@pytest.mark.parametrize(
    ("edit", "text", "arguments"),
    [
        (set_key, "a: [b: c]\n", (("a", 0), "k", "v")),  # a mapping without braces: k would be a second item
        (set_key, "a: 1\n", (("a",), "k", "v")),
        (set_key, "a: 1\n", (("b", "c"), "k", "v")),
        (set_key, "a: {b: 1}\n", (("a",), "k", "v, w")),
        (set_key, "a: 1\n", ((), "k", "")),
        (set_key, "a: 1\n", ((), "k", "'")),
        (set_key, "a: 1\n", ((), "k" * 2000, "v")),  # libyaml allows a key of 1,024 characters
        (append_item, "a: {}\n", (("a",), "v")),
        (append_item, "a: 1\n", (("a", 0), "v")),
        (remove_entry, "a: 1\n", (("b",),)),
        (remove_entry, "a: 1\n", ((),)),
        (remove_entry, "a: {? b : c, d: e}\n", (("a", "d", "e"),)),
        (remove_entry, "? a\n: b\nc: d\n", (("a",),)),
    ],
)
def test_an_edit_that_would_break_the_file_is_refused(
    edit: Callable[..., Changes], text: str, arguments: tuple[Path | str, ...]
) -> None:
    with pytest.raises(ContractError, match="cannot be edited in place") as caught:
        edit(document_of(text), *arguments)
    assert caught.value.help == "make the change by hand"
    assert caught.value.location


def test_several_edits_are_applied_together_and_insertions_keep_their_order() -> None:
    document = document_of(CONTRACT)
    operations: list[Operation] = [
        Assign(("owner",), "x"),
        Remove(("table",)),
        Assign(("managed_by",), "dbt"),
    ]
    result = splice(CONTRACT, made(document, operations))
    assert result == CONTRACT.replace("table: sales.orders\n", "") + "owner: x\nmanaged_by: dbt\n"


@pytest.mark.parametrize(
    "edits",
    [
        [TextEdit(0, 2, ""), TextEdit(1, 3, "")],
        [TextEdit(0, 99, "")],
        [TextEdit(2, 1, "")],
        [TextEdit(-1, 1, "")],
    ],
)
def test_edits_that_overlap_or_exceed_the_text_are_refused(edits: list[TextEdit]) -> None:
    with pytest.raises(ValueError, match="overlap"):
        splice("abcdef", edits)


def test_edits_whose_result_is_invalid_are_refused() -> None:
    change = TextChange(Location("a.yml"), 5, 5, "a: 2\n", 0, (Assign(("a",), "2"),))
    with pytest.raises(ContractError, match="cannot be edited in place"):
        edited_text("a.yml", "a: 1\n", [change])


# Edits of any document

words = st.sampled_from(["a", "b", "cd", "x y", "1", "'q'", '"z, w"', "true", "null", "decimal(2)"])
keys = st.lists(st.sampled_from(["k1", "k2", "'k3'", '"k4"']), min_size=1, max_size=3, unique=True)
comments = st.sampled_from(["", "", "  # c"])


@st.composite
def flows(draw: st.DrawFn, depth: int = 2) -> str:
    kind = draw(st.sampled_from(["word", "mapping", "sequence"])) if depth else "word"
    if kind == "word":
        return draw(words)
    space = draw(st.sampled_from(["", " "]))
    if kind == "mapping":
        entries = [f"{key}: {draw(flows(depth - 1))}" for key in draw(keys | st.just([]))]
        return "{" + space + ", ".join(entries) + space + "}"
    items = draw(st.lists(flows(depth - 1), max_size=3))
    return "[" + space + ", ".join(items) + space + "]"


@st.composite
def blocks(draw: st.DrawFn, depth: int = 3) -> list[str]:
    """Lines of a block collection, without indentation."""
    between = st.sampled_from([[], [], [""], ["# c"], ["", "# c", ""]])
    lines: list[str] = []
    if draw(st.booleans()):
        for key in draw(keys):
            lines += draw(between) if lines else []
            head, *rest = draw(values(depth - 1))
            lines += [f"{key}:{head}", *rest]
        return lines
    for _ in range(draw(st.integers(1, 3))):
        lines += draw(between) if lines else []
        if depth and draw(st.booleans()):
            head, *rest = draw(blocks(depth - 1))
            lines += [f"- {head}", *(f"  {line}" if line else "" for line in rest)]
        else:
            lines.append(f"- {draw(flows())}{draw(comments)}")
    return lines


@st.composite
def values(draw: st.DrawFn, depth: int) -> list[str]:
    """Lines of a mapping's value: the rest of the key's line, and the lines below."""
    kind = draw(
        st.sampled_from(["flow", "empty", "literal", "quoted", "block"] if depth else ["flow", "empty"])
    )
    comment = draw(comments)
    if kind == "flow":
        return [f" {draw(flows())}{comment}"]
    if kind == "empty":
        return [comment]
    if kind == "literal":
        return [draw(st.sampled_from([" |", " |-", " >"])) + comment, "    one", "", "     two # no comment"]
    if kind == "quoted":
        return [' "one', "", f'   two"{comment}']
    lines = draw(blocks(depth))
    indent = " " * draw(st.sampled_from([0, 2, 4] if lines[0].startswith("-") else [2, 4]))
    return [comment, *(indent + line if line else "" for line in lines)]


@st.composite
def texts(draw: st.DrawFn) -> str:
    lines = draw(blocks())
    line_break = draw(st.sampled_from(["\n", "\r\n"]))
    end = draw(st.sampled_from(["", line_break, f"{line_break}# end{line_break}"]))
    return draw(st.sampled_from(["", "\ufeff", f"# start{line_break}"])) + line_break.join(lines) + end


def nodes_with_paths(node: Node, path: Path = ()) -> list[tuple[Path, Node]]:
    below: list[tuple[Path, Node]] = [(path, node)]
    if isinstance(node, Mapping):
        for entry in node.entries:
            below += nodes_with_paths(entry.value, (*path, entry.key.text))
    elif isinstance(node, Sequence):
        for index, item in enumerate(node.items):
            below += nodes_with_paths(item, (*path, index))
    return below


def data_at(root: Data, path: Path) -> Data:
    for step in path:
        assert isinstance(root, dict | list)
        root = root[step]  # type: ignore[index] # the path comes from the same tree
    return root


def with_final_line_break(text: str) -> str:
    """Add the line break that an appended line gives to a block scalar at the end of the file."""
    return text if text.endswith("\n") else text + "\n"


def lines_changed(before: str, after: str) -> int:
    """Count the lines of ``before`` between the common first and the common last lines."""
    old, new = before.splitlines(), after.splitlines()
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    tail = 0
    while tail < min(len(old), len(new)) - same and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return len(old) - same - tail


@without_deadline
@given(texts(), st.data())
def test_set_key_adds_the_key_and_touches_one_line(text: str, draws: st.DataObject) -> None:
    document = document_of(text)
    mappings = [path for path, node in nodes_with_paths(document.root) if isinstance(node, Mapping)]
    assume(mappings)
    path = draws.draw(st.sampled_from(mappings))
    result = edited(text, set_key, path, "new", "[v, 1]")
    expected = ruamel_data(with_final_line_break(text))
    mapping = data_at(expected, path)
    assert isinstance(mapping, dict)
    mapping["new"] = ["v", 1]
    assert ruamel_data(with_final_line_break(result)) == expected
    assert list(data_at(data_of(document_of(result).root), path)) == list(mapping)  # type: ignore[arg-type] # a dict, see above
    assert lines_changed(text, result) <= 1


@without_deadline
@given(texts(), st.data())
def test_set_key_replaces_any_value(text: str, draws: st.DataObject) -> None:
    entries = [
        path for path, _ in nodes_with_paths(document_of(text).root) if path and isinstance(path[-1], str)
    ]
    assume(entries)
    *parent, key = draws.draw(st.sampled_from(entries))
    result = edited(text, set_key, tuple(parent), str(key), "[v, 1]")
    expected = ruamel_data(with_final_line_break(text))
    data_at(expected, tuple(parent))[key] = ["v", 1]  # type: ignore[index] # a dict by its path
    assert ruamel_data(with_final_line_break(result)) == expected


@without_deadline
@given(texts(), st.data())
def test_append_item_adds_one_item_and_touches_one_line(text: str, draws: st.DataObject) -> None:
    sequences = [
        path for path, node in nodes_with_paths(document_of(text).root) if isinstance(node, Sequence)
    ]
    assume(sequences)
    path = draws.draw(st.sampled_from(sequences))
    result = edited(text, append_item, path, "{v: 1}")
    expected = ruamel_data(with_final_line_break(text))
    sequence = data_at(expected, path)
    assert isinstance(sequence, list)
    sequence.append({"v": 1})
    assert ruamel_data(with_final_line_break(result)) == expected
    assert lines_changed(text, result) <= 1


@pytest.mark.wide
@without_deadline
@given(texts(), st.data())
def test_an_edit_turns_null_into_a_mapping_or_a_sequence(text: str, draws: st.DataObject) -> None:
    nulls = [
        path
        for path, node in nodes_with_paths(document_of(text).root)
        if isinstance(node, Scalar) and node.value is None
    ]
    assume(nulls)
    path = draws.draw(st.sampled_from(nulls))
    expected = ruamel_data(with_final_line_break(text))
    parent, step = data_at(expected, path[:-1]), path[-1]
    for edit, arguments, value in ((set_key, ("k", "v"), {"k": "v"}), (append_item, ("v",), ["v"])):
        result = edited(text, edit, path, *arguments)
        parent[step] = value  # type: ignore[index,assignment] # a container by its path
        assert ruamel_data(with_final_line_break(result)) == expected


@without_deadline
@given(texts(), st.data())
def test_remove_entry_removes_only_the_given_entry(text: str, draws: st.DataObject) -> None:
    path = draws.draw(st.sampled_from([path for path, _ in nodes_with_paths(document_of(text).root) if path]))
    result = edited(text, remove_entry, path)
    expected = ruamel_data(with_final_line_break(text))
    del data_at(expected, path[:-1])[path[-1]]  # type: ignore[union-attr,arg-type] # a container by its path
    assert ruamel_data(with_final_line_break(result)) == expected
    assert result.count("# end") == text.count("# end")


@pytest.mark.parametrize(
    ("text", "path", "index", "value", "expected"),
    [
        ("a:\n- x\n- y  # of y\n", ("a",), 2, "z", "a:\n- x\n- y  # of y\n- z\n"),
        (
            "a:\n  - x\n    # of x\n  # of y\n  - y",
            ("a",),
            1,
            "z",
            "a:\n  - x\n    # of x\n  - z\n  # of y\n  - y",
        ),
        ("a:\n  # of x\n  - x\n", ("a",), 0, "k: 1\nl: 2", "a:\n  # of x\n  - k: 1\n    l: 2\n  - x\n"),
        ("- - x\n  - y\n", (0,), 0, "z", "- - z\n  - x\n  - y\n"),
        ("a: [x, y]  # both\n", ("a",), 1, "{k: 1}", "a: [x, {k: 1}, y]  # both\n"),
        ("a: []\n", ("a",), 0, "x", "a: [x]\n"),
        ("a: [\n  x,  # of x\n  y,\n]\n", ("a",), 2, "z", "a: [\n  x,  # of x\n  y, z,\n]\n"),
        (
            "a:\r\n- x\r\n- y\r\n",
            ("a",),
            1,
            "k: |\n  one\n\n  two",
            "a:\r\n- x\r\n- k: |\r\n    one\r\n\r\n    two\r\n- y\r\n",
        ),
    ],
)
def test_an_item_is_inserted_at_its_index(
    text: str, path: Path, index: int, value: str, expected: str
) -> None:
    (document,) = read_documents(text, "f.yml")
    assert splice(text, insert_items(document, path, {index: [value]})) == expected


@pytest.mark.parametrize(
    ("text", "items", "expected"),
    [
        ("- x\n- y\n", {2: ["e", "f"], 0: ["a: 1\nb: 2", "c"]}, "- a: 1\n  b: 2\n- c\n- x\n- y\n- e\n- f\n"),
        (
            "- [x]\n- {y: 1}\n- z\n",
            {1: ["a", "[b, c]"], 2: ["d"]},
            "- [x]\n- a\n- [b, c]\n- {y: 1}\n- d\n- z\n",
        ),
        ("[x, y]\n", {0: ["a", "b"], 1: ["c"], 2: ["d", "e"]}, "[a, b, x, c, y, d, e]\n"),
        ("[]\n", {0: ["a", "b"]}, "[a, b]\n"),
    ],
)
def test_several_items_are_inserted_at_once(text: str, items: dict[int, list[str]], expected: str) -> None:
    (document,) = read_documents(text, "f.yml")
    assert splice(text, insert_items(document, (), items)) == expected


def test_an_item_is_inserted_where_no_item_follows_only_at_the_end() -> None:
    with pytest.raises(ContractError, match="cannot be edited in place"):
        insert_items(document_of("- x\n"), (), {0: ["a"], 2: ["b"]})


@pytest.mark.parametrize("path", [("b",), ("a",), ()])
def test_inserting_an_item_into_a_mapping_or_scalar_is_refused(path: Path) -> None:
    (document,) = read_documents("a: {k: 1}\n", "f.yml")
    with pytest.raises(ContractError, match="cannot be edited in place"):
        insert_items(document, path, {0: ["x"]})
