"""YAML text to nodes with positions, errors, and edits of the text."""

from __future__ import annotations

import io
from typing import TypeAlias

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from schemalint.base.document import (
    Document,
    Mapping,
    Node,
    Path,
    Scalar,
    Sequence,
    candidate,
    decode,
    entry_at,
    node_at,
    print_scalar,
    read_documents,
)
from schemalint.base.errors import ContractError, Location

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
    monkeypatch.setattr("schemalint.base.document.yaml_reader._Parser", yaml.SafeLoader)
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
        "# c\nschemalint: 1\n".encode("utf-16"),
        "schemalint: 1\n".encode("utf-16-le"),
        "# c\nschemalint: 1\n".encode("utf-16-be"),
        "schemalint: 1\n".encode("utf-32"),
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
        "of schemalint\n".encode("utf-16"),
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
        ("schemalint: 1\n".encode("utf-16-be"), "1:1", "the file is UTF-16"),
        ("schemalint: 1\n".encode("utf-32"), "1:1", "the file is UTF-32"),
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
