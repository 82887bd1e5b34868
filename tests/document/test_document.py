"""YAML text to nodes with positions, errors, and edits of the text."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, TypeAlias

import pytest
import yaml
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
    append_item,
    append_items,
    apply_edits,
    candidate,
    decode,
    entry_at,
    insert_item,
    insert_items,
    node_at,
    print_scalar,
    read_documents,
    remove_entries,
    remove_entry,
    set_key,
    set_keys,
    splice,
)
from schemalint.base.errors import ContractError, Location

if TYPE_CHECKING:
    from collections.abc import Callable

without_deadline = settings(deadline=None)

Data: TypeAlias = "dict[object, Data] | list[Data] | str | int | float | bool | None"

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


def error_of(text: str) -> ContractError:
    with pytest.raises(ContractError) as caught:
        read_documents(text, "a.yml")
    return caught.value


def data_of(node: Node) -> Data:
    if isinstance(node, Mapping):
        return {entry.key.value: data_of(entry.value) for entry in node.entries}
    if isinstance(node, Sequence):
        return [data_of(item) for item in node.items]
    return node.value


def ruamel_data(text: str) -> Data:
    loaded: Data = YAML(typ="safe", pure=True).load(io.StringIO(text))
    return loaded


def edited(text: str, edit: Callable[..., TextEdit], *arguments: Path | str) -> str:
    return apply_edits(text, [edit(document_of(text), *arguments)], "a.yml")


# Reading


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *((word, None) for word in ("null", "Null", "NULL", "~", "")),
        *((word, True) for word in ("true", "True", "TRUE")),
        *((word, False) for word in ("false", "False", "FALSE")),
        *((word, word) for word in ("yes", "No", "on", "off", "y", "nULL", "tRUE", "2026-01-01", "12:30:45")),
        *((word, word) for word in ("1_000", "0b11", "0o8", "0xg", "1e", ".", "+", "-.", "1.2.3", "._1")),
        ("0", 0),
        ("-12", -12),
        ("+7", 7),
        ("010", 10),
        ("0o17", 15),
        ("0xFf", 255),
        ("1.", 1.0),
        (".5", 0.5),
        ("-1.5e-3", -0.0015),
        ("1e3", 1000.0),
        (".inf", float("inf")),
        ("-.INF", float("-inf")),
    ],
)
def test_a_plain_scalar_follows_the_core_schema_of_yaml_1_2(text: str, value: Data) -> None:
    node = node_at(document_of(f"key: {text}\n"), ("key",))
    assert isinstance(node, Scalar)
    assert (node.value, type(node.value)) == (value, type(value))
    assert node.text == text


def test_dot_nan_is_a_float() -> None:
    node = node_at(document_of("[.nan]"), (0,))
    assert isinstance(node, Scalar)
    assert isinstance(node.value, float)
    assert node.value != node.value


@pytest.mark.parametrize(
    ("text", "style"),
    [("'1'", "single"), ('"null"', "double"), ("|-\n 1", "literal"), (">-\n 1", "folded")],
)
def test_quoted_and_block_scalars_are_strings(text: str, style: str) -> None:
    node = node_at(document_of(f"key: {text}\n"), ("key",))
    assert isinstance(node, Scalar)
    assert isinstance(node.value, str)
    assert node.style == style


@pytest.mark.parametrize("digits", ["9" * 5000, "0x" + "f" * 4998, "0o" + "7" * 4998])
def test_a_number_with_more_digits_than_python_converts_is_refused(digits: str) -> None:
    error = error_of(f"a: {digits}")
    assert error.message == "the number has 5,000 digits"
    assert error.location == Location("a.yml", 1, 4, 1, 5004)


@pytest.mark.parametrize(
    "text",
    [
        CONTRACT,
        "a:\n- b: c\n  d:\n-\n  - x\n  - - y\n    - z\n",
        "- {a: [b, {c: d}], 'e': \"f\\u00e9\\n\"}\n- []\n- {}\n",
        'a: >\n  folded\n  text\n\n  more\nb: |2+\n    kept\n\nc: "x\n  y"\n',
        "? a\n: b\n? c\n",
        "a: b#c\nd: 'it''s'\ne: http://x/y\nf: -1 - 2\n",
        "a: 😀 # 😀\r\nb:\r\n  - |\r\n    x\r\n\r\n  - y\r\n",
        "--- # start\na: 1\n...\n",
        "plain\n  over lines\n",
        "a: [\n  b, # c\n  d,\n]\n",
    ],
)
def test_the_reader_and_ruamel_read_the_same_data(text: str) -> None:
    assert data_of(document_of(text).root) == ruamel_data(text)


def test_several_documents_are_numbered_and_keep_the_text_of_the_file() -> None:
    text = "a: 1\n---\nb: 2\n...\n# c\n---\n"
    documents = read_documents(text, "a.yml")
    assert [(document.index, data_of(document.root)) for document in documents] == [
        (0, {"a": 1}),
        (1, {"b": 2}),
        (2, None),
    ]
    assert {document.text for document in documents} == {text}
    assert text[documents[1].span.start : documents[1].span.end] == "---\nb: 2\n..."


@pytest.mark.parametrize("text", ["", "# only a comment\n", "\ufeff"])
def test_text_without_a_document_has_ndocument_of(text: str) -> None:
    assert read_documents(text, "a.yml") == ()


def test_nodes_are_found_by_the_text_of_their_keys() -> None:
    document = document_of("1: a\ntrue: b\n'x y': c\n")
    found = [node_at(document, (key,)) for key in ("1", "true", "x y")]
    assert [node.value for node in found if isinstance(node, Scalar)] == ["a", "b", "c"]


def test_an_unknown_path_has_no_node() -> None:
    document = document_of(CONTRACT)
    paths: list[Path] = [
        ("nothing",),
        ("columns", 9),
        ("columns", -1),
        ("columns", "0"),
        (0,),
        ("table", "x"),
    ]
    assert [node_at(document, path) for path in paths] == [None] * len(paths)


# Positions


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_spans_and_locations_count_code_points_whatever_the_line_break(mark: str, line_break: str) -> None:
    lines = ["é: 😀😀 # 😀", "", "list:\t[😀, 'x', \"y\"]", "block:", "  - |", "    😀", "  - last"]
    document = document_of(mark + line_break.join(lines))
    found = {
        document.text[node.start : node.end]: str(document.location(node.span))
        for path in [("é",), ("list", 0), ("list", 1), ("list", 2), ("block", 1)]
        if (node := node_at(document, path))
    }
    assert found == {
        "😀😀": "a.yml:1:4",
        "😀": "a.yml:3:8",
        "'x'": "a.yml:3:11",
        '"y"': "a.yml:3:16",
        "last": "a.yml:7:5",
    }


def test_a_location_spans_lines_and_its_end_is_exclusive() -> None:
    document = document_of("a:\n  - b\n  - c   # d\n\n# e\nf: g\n")
    node = node_at(document, ("a",))
    assert node
    assert document.location(node.span) == Location("a.yml", 2, 3, 3, 6)


def test_an_entry_locates_its_key() -> None:
    document = document_of(CONTRACT)
    entry = entry_at(document, ("columns", 1, "type"))
    assert entry
    assert str(document.location(entry.key.span)) == "a.yml:11:19"
    assert entry_at(document, ()) is entry_at(document, ("columns", 1)) is entry_at(document, ("no",)) is None


def test_unicode_line_separators_do_not_count_as_line_breaks() -> None:
    document = document_of('a: "x\u2028\u0085y"\nb: c\n')
    entry = entry_at(document, ("b",))
    assert entry
    assert str(document.location(entry.key.span)) == "a.yml:2:1"


printable = st.text(
    st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff\u2028\u2029\ufffe\uffff")
)


@without_deadline
@given(st.lists(st.tuples(printable, printable), max_size=4), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_the_span_of_every_scalar_covers_its_text(
    pairs: list[tuple[str, str]],
    line_break: str,
    mark: bool,  # noqa: FBT001 - drawn
) -> None:
    lines = [f"- {print_scalar(value)} # {comment}" for value, comment in pairs]
    text = ("\ufeff" if mark else "") + line_break.join([*lines, "- end"])
    items = document_of(text).root
    assert isinstance(items, Sequence)
    assert [text[item.start : item.end] for item in items.items] == [
        *(print_scalar(value) for value, _ in pairs),
        "end",
    ]


# Refusals


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("a: 1\nb: 2\n'a': 3\n", "3:1", 'the key "a" is repeated'),
        ('x: {a: 1, "a": 2}\n', "1:11", 'the key "a" is repeated'),
        ("a: 1\n? [b]\n: c\n", "2:3", "a key must be a plain or quoted word"),
        ("{a: b}: c\n", "1:1", "a key must be a plain or quoted word"),
        ("a: &x 1\n", "1:4", "the anchor &x is not supported"),
        ("a: [1, &x {b: c}]\n", "1:8", "the anchor &x is not supported"),
        ("a: b\nc: *x\n", "2:4", "the alias *x is not supported"),
        ("base: {a: b}\n<<: {c: d}\n", "2:1", "merge keys (<<) are not supported"),
        ("a: !!str 1\n", "1:4", "the tag tag:yaml.org,2002:str is not supported"),
        ("a: ! 1\n", "1:4", "the tag ! is not supported"),
        ("- !set {a: b}\n", "1:3", "the tag !set is not supported"),
        ("!k a: b\n", "1:1", "the tag !k is not supported"),
        ("a: b\x00\n", "1:5", "YAML does not allow the character U+0000"),
        ("é: \x07\n", "1:4", "YAML does not allow the character U+0007"),
        ("a: \ud800\n", "1:4", "YAML does not allow the character U+D800"),
        ("[" * 100_000, "1:65", "more than 64 levels of nesting"),
        ("- " * 100_000, "1:129", "more than 64 levels of nesting"),
        ("? " * 100_000, "1:3", "a key must be a plain or quoted word"),
        ("{a: " * 100_000, "1:257", "more than 64 levels of nesting"),
        ("[" + "a," * 100_001 + "]", "1:200000", "the file has more than 100,000 nodes"),
        ("a" * (1024 * 1024 + 1), "1:1", "the file has 1,048,577 characters; the limit is 1,048,576"),
    ],
    ids=lambda value: value[:20],
)
def test_unsupported_yaml_is_refused_at_its_location(text: str, position: str, message: str) -> None:
    error = error_of(text)
    assert str(error.location) == f"a.yml:{position}"
    assert error.message == message
    assert error.help


def test_64_levels_and_a_quoted_merge_key_are_allowed() -> None:
    assert data_of(document_of('"<<": ' + "[" * 63 + "]" * 63).root)


@pytest.mark.parametrize(
    ("text", "position", "help_text"),
    [
        ("a:\n\tb: c\n", "2:1", "indent with spaces"),
        ("a:\n  b: 1\n\tc: 2\n", "3:1", "indent with spaces"),
        ("a: @daily\n", "1:4", "quote a value that begins with this character"),
        ("a: `b`\n", "1:4", "quote a value that begins with this character"),
        ("a: *\n", "1:5", "quote a value that begins with an asterisk"),
        ("a: & b\n", "1:5", "quote a value that begins with an ampersand"),
        ("a: 'b\nc: d\n", "1:4", "close the quote; inside double quotes, write a backslash twice"),
        ('a: "\\d+"\n', "1:5", "close the quote; inside double quotes, write a backslash twice"),
        ("a: [b, c\n", "1:4", "add ], or the comma"),
        (
            "a: b\n c: d\n",
            "2:2",
            "indent it like the lines around it, or restore the key that it belongs to",
        ),
        (
            "a: 1\n---\nb: 'x' y\n",
            "3:8",
            "write a quote within single quotes twice, within double quotes after a backslash",
        ),
    ],
)
def test_invalid_yaml_is_refused_at_its_location_with_a_hint(
    text: str, position: str, help_text: str
) -> None:
    error = error_of(text)
    assert str(error.location) == f"a.yml:{position}"
    assert error.help == help_text


@pytest.mark.parametrize(
    ("text", "position", "help_text"),
    [
        ("type: struct<a: int>\n", "1:7", 'quote it: type: "struct<a: int>"'),
        (
            "- name: x\n  type: Array<struct<a: int, b: int>>  # c\n",
            "2:9",
            'quote it: type: "Array<struct<a: int, b: int>>"',
        ),
        ("{name: x, type: decimal(12,2)}", "1:17", 'quote it: type: "decimal(12,2)"'),
        ("- {from: decimal(10,2), to: decimal(12,2)}", "1:10", 'quote it: from: "decimal(10,2)"'),
        ("- {type: map<string,int>, nullable: true}", "1:10", 'quote it: type: "map<string,int>"'),
        ("- {type: map<string,struct<a: int>>}", "1:10", 'quote it: type: "map<string,struct<a: int>>"'),
        ("- {type: struct<a: int>, name: b}", "1:10", 'quote it: type: "struct<a: int>"'),
        ("- {type: array<decimal(1,0)>}", "1:10", 'quote it: type: "array<decimal(1,0)>"'),
        ("{generated: a + coalesce(b, 0), name: x}", "1:13", 'quote it: generated: "a + coalesce(b, 0)"'),
        ("{generated: f(a) + g(b, c), name: x}", "1:13", 'quote it: generated: "f(a) + g(b, c)"'),
        ("partitioned_by: [years(a, b)]", "1:18", 'quote it: "years(a, b)"'),
        ('"type": struct<a: int>\n', "1:9", 'quote it: "struct<a: int>"'),
        ("comment: Note: see below\n", "1:10", 'quote it: comment: "Note: see below"'),
        ('- comment: say "x": y # z\n', "1:12", 'quote it: comment: "say \\"x\\": y"'),
    ],
)
def test_the_error_for_a_value_that_yaml_splits_suggests_quotes(
    text: str, position: str, help_text: str
) -> None:
    error = error_of(text)
    assert str(error.location) == f"a.yml:{position}"
    assert error.help == help_text
    for _ in range(text.count("decimal") or 1):
        text = with_quotes(text, error_of(text))
    read_documents(text, "a.yml")


def with_quotes(text: str, error: ContractError) -> str:
    where = error.location
    assert where
    value = text.split("\n")[where.line - 1][where.column - 1 : where.end_column - 1]
    return text.replace(value, error.help[error.help.index('"') :])


@pytest.mark.parametrize(
    "text",
    [
        "{a: amount < 5, b: x > 3}",
        "[x < y, z > 1]",
        "{type: decimal(12}",
        "type: decimal(12,2)",
        "a: map<int,int>",
    ],
)
def test_a_comparison_or_a_block_value_is_not_mistaken_for_a_split_type(text: str) -> None:
    assert data_of(document_of(text).root) == ruamel_data(text)


def test_the_pure_python_parser_gives_the_same_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\ufeff" + CONTRACT.replace(", sandbox: ", "")  # the position of a null in flow style differs
    with_libyaml = document_of(text)
    monkeypatch.setattr("schemalint.base.document.reader._Parser", yaml.SafeLoader)
    assert document_of(text) == with_libyaml
    assert error_of('a: "\\U00110000"').help
    assert error_of('a: "\\Uffffffff"').help


@without_deadline
@given(
    st.binary(max_size=200)
    | st.text("[]{}:,-?!&*#|>'\"%@` \t\r\n\ufeffabc1.<()\\x", max_size=60).map(str.encode)
)
def test_any_bytes_are_read_or_refused_with_a_contract_error(content: bytes) -> None:
    try:
        documents = read_documents(decode(content, "a.yml"), "a.yml")
    except ContractError as error:
        assert error.location  # noqa: PT017 - most bytes are refused, and some are read
        assert error.help  # noqa: PT017 - as above
    else:
        assert all(document.location(document.root.span) for document in documents)


# Bytes


@pytest.mark.parametrize(
    "content",
    [
        b"schemalint: 1\n",
        b"# c\n\nschemalint: 1\n",
        b"\xef\xbb\xbfschemalint: 1",
        b"--- schemalint: 1\n",
        b"a: 1\n---\n\"schemalint\" : '1'\n",
        b"# c\r\nschemalint:   1\r\n",
    ],
)
def test_a_file_with_the_key_schemalint_and_a_number_is_a_candidate(content: bytes) -> None:
    assert candidate(content)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"  schemalint: 1\n",
        b"# schemalint: 1\n",
        b"schemalint: {{ x }}\n",
        b"schemalints: 1\n",
        b"schemalint 1\n",
    ],
)
def test_a_file_without_the_key_or_a_number_is_no_candidate(content: bytes) -> None:
    assert not candidate(content)


def test_decode_keeps_the_byte_order_mark() -> None:
    assert decode(b"\xef\xbb\xbfa: b\r\n", "a.yml") == "\ufeffa: b\r\n"


@pytest.mark.parametrize(
    ("content", "position", "message"),
    [
        ("a: é\n".encode("utf-16"), "1:1", "the file is UTF-16"),
        ("a: b\n".encode("utf-16-be"), "1:1", "YAML does not allow the character U+0000"),
        ("a: b\né: ".encode() + b"\xe9\n", "2:4", "the file is not UTF-8: byte 0xe9 at offset 9"),
        (b"a\xed\xa0\x80", "1:2", "the file is not UTF-8: byte 0xed at offset 1"),
    ],
)
def test_other_encodings_are_refused_at_the_first_wrong_byte(
    content: bytes, position: str, message: str
) -> None:
    with pytest.raises(ContractError) as caught:
        read_documents(decode(content, "a.yml"), "a.yml")
    assert str(caught.value.location) == f"a.yml:{position}"
    assert caught.value.message == message


# Printing


@pytest.mark.parametrize(
    "text", ["bigint", "a b", "sales.orders", "delta.enableTypeWidening", "amount >= 0", "Größe"]
)
def test_unambiguous_text_is_printed_without_quotes(text: str) -> None:
    assert print_scalar(text) == text


AWKWARD = {
    "other types": [
        "",
        "~",
        "yes",
        "No",
        "y",
        "null",
        "1",
        "0x1",
        "1e3",
        ".inf",
        "1:30",
        "2026-01-01",
        "<<",
        "=",
    ],
    "indicators": [
        "-",
        "- a",
        "? a",
        "*",
        "&a",
        "!t",
        "%a",
        "@a",
        "`a`",
        '"',
        "'",
        "[a]",
        "{a}",
        "---",
        "...",
    ],
    "inside": ["decimal(12,2)", "a?", "a?b", "a: b", "a:", "a #b", "a\\", " ", " a", "a ", "a\nb"],
    "characters": ["\x07", "\ufeff", "a\xa0b", "\u2028", "_1\x85", "😀"],
}


@pytest.mark.parametrize("text", [text for texts in AWKWARD.values() for text in texts])
def test_awkward_text_reads_back_in_every_yaml_parser(text: str) -> None:
    assert_reads_back(text)


@without_deadline
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_printed_text_reads_back_in_every_yaml_parser(text: str) -> None:
    assert_reads_back(text)


def assert_reads_back(text: str) -> None:
    printed = print_scalar(text)
    in_flow, in_block = f"{{key: {printed}, a: [{printed}]}}", f"key: {printed}\na:\n  - {printed} # c\n"
    for yaml_text in (in_flow, in_block):
        assert data_of(document_of(yaml_text).root) == {"key": text, "a": [text]}
        assert yaml.safe_load(yaml_text) == {"key": text, "a": [text]}
        assert ruamel_data(yaml_text) == {"key": text, "a": [text]}


def test_printing_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(ContractError, match=r"U\+D83D"):
        print_scalar("a\ud83d")


# Edits


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
    assert apply_edits(text, [set_key(document, path, "k", "v")], "a.yml") == result


def test_set_key_edits_the_given_document_of_several() -> None:
    text = "a: 1\n---\na: 2\n---\na: 3\n"
    edit = set_key(read_documents(text, "a.yml")[1], (), "k", "v")
    assert splice(text, [edit]) == "a: 1\n---\na: 2\nk: v\n---\na: 3\n"


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
    assert apply_edits(text, append_items(document, {("a",): ("x", "{y: z}")}), "a.yml") == result


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
    assert apply_edits(text, set_keys(document, values), "a.yml") == result


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
    assert apply_edits(text, remove_entries(document, paths), "a.yml") == result


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
    edit: Callable[..., TextEdit], text: str, arguments: tuple[Path | str, ...]
) -> None:
    with pytest.raises(ContractError, match="cannot be edited in place") as caught:
        edit(document_of(text), *arguments)
    assert caught.value.help == "make the change by hand"
    assert caught.value.location


def test_several_edits_are_applied_together_and_insertions_keep_their_order() -> None:
    document = document_of(CONTRACT)
    edits = [
        set_key(document, (), "owner", "x"),
        remove_entry(document, ("table",)),
        set_key(document, (), "managed_by", "dbt"),
    ]
    result = apply_edits(CONTRACT, edits, "a.yml")
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
    with pytest.raises(ContractError, match="is repeated"):
        apply_edits("a: 1\n", [TextEdit(5, 5, "a: 2\n")], "a.yml")


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
    assert splice(text, [insert_item(document, path, index, value)]) == expected


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
        insert_item(document, path, 0, "x")
