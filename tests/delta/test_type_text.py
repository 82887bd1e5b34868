"""Type text to types and back, compared with Spark's parser."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings

from schemalint.delta.datatype import (
    Array,
    Atomic,
    Char,
    DataType,
    Decimal,
    Field,
    Map,
    String,
    Struct,
    Unknown,
    Varchar,
    walk,
)
from schemalint.delta.path import Part, Path
from schemalint.delta.schema_json import parse_schema
from schemalint.delta.sql_text import quote_identifier, quote_literal, unquote_literal
from schemalint.delta.type_text import (
    MAX_DEPTH,
    TypeTextError,
    parse_type,
    parse_type_with_spans,
    print_field,
    print_type,
)
from support.strategies import datatypes, names, texts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INT, STRING = Atomic("integer"), String()

ALIASES = {
    "boolean": Atomic("boolean"),
    "tinyint": Atomic("byte"),
    "byte": Atomic("byte"),
    "smallint": Atomic("short"),
    "short": Atomic("short"),
    "int": INT,
    "integer": INT,
    "bigint": Atomic("long"),
    "long": Atomic("long"),
    "float": Atomic("float"),
    "real": Atomic("float"),
    "double": Atomic("double"),
    "binary": Atomic("binary"),
    "date": Atomic("date"),
    "timestamp": Atomic("timestamp"),
    "timestamp_ltz": Atomic("timestamp"),
    "timestamp with local time zone": Atomic("timestamp"),
    "timestamp_ntz": Atomic("timestamp_ntz"),
    "timestamp without time zone": Atomic("timestamp_ntz"),
    "time": Atomic("time(6)"),
    "time without time zone": Atomic("time(6)"),
    "time(3)": Atomic("time(3)"),
    "variant": Atomic("variant"),
    "void": Atomic("void"),
    "string": STRING,
    "string collate utf8_binary": STRING,
    "string collate unicode_ci": String("UNICODE_CI"),
    "string collate `UNICODE`": String("UNICODE"),
    "char(5)": Char(5),
    "character(5)": Char(5),
    "varchar( 05 )": Varchar(5),
    "decimal": Decimal(10, 0),
    "dec(5)": Decimal(5, 0),
    "numeric(10 , 2)": Decimal(10, 2),
    "decimal(38,38)": Decimal(38, 38),
    "interval": Atomic("interval"),
    "interval year": Atomic("interval year"),
    "interval year to month": Atomic("interval year to month"),
    "interval day to second": Atomic("interval day to second"),
    "interval hour to minute": Atomic("interval hour to minute"),
    "geometry(4326)": Atomic("geometry(4326)"),
    "geography(any)": Atomic("geography(any)"),
    "array<int>": Array(INT),
    "array < array<int> >": Array(Array(INT)),
    "map<string,int>": Map(STRING, INT),
    "struct<>": Struct(),
    "struct<a:int>": Struct((Field("a", INT),)),
    "struct<a int>": Struct((Field("a", INT),)),
    "struct<a :int , b string>": Struct((Field("a", INT), Field("b", STRING))),
    "struct<a:int not null>": Struct((Field("a", INT, nullable=False),)),
}

NAMES = {
    "struct<`a b`: int>": "a b",
    "struct<`a``b`: int>": "a`b",
    "struct<`>`: int>": ">",
    "struct<`a\nb`: int>": "a\nb",
    "struct<not: int>": "not",
    "struct<comment int>": "comment",
    "struct<struct: int>": "struct",
    "struct<1a: int>": "1a",
    "struct<_: int>": "_",
}

COMMENTS = {
    "'x'": "x",
    "''": "",
    '"x"': "x",
    r"'it\'s'": "it's",
    "'it''s'": "it's",
    '"say ""x"""': 'say "x"',
    r"'a\nb\tc\\d'": "a\nb\tc\\d",
    r"'\u0041\U0001F600\101\0'": "A\U0001f600A\0",
    r"'\ud83d\ude00'": "\U0001f600",
    r"'50\% \_ \Z \x'": "50\\% \\_ \x1a x",
    r"'$\{x}'": "${x}",
    "'a -- b\n>'": "a -- b\n>",
    "'a' 'b'": "ab",
    r"r'a\n'": r"a\n",
}

ERRORS = {
    "": ("expected a type, the text ends", 0),
    "  ": ("expected a type, the text ends", 2),
    "text": ("unknown type, found 'text'", 0),
    "`int`": ("expected a type, found '`int`'", 0),
    "'int'": ("expected a type, found \"'int'\"", 0),
    "int)": ("expected the end of the type, found ')'", 3),
    "int int": ("expected the end of the type, found 'int'", 4),
    "int;": ("unexpected character ';'", 3),
    "int(5)": ("expected the end of the type, found '('", 3),
    "int -- x": ("unexpected character '-'", 4),
    "decimal()": ("expected a precision, found ')'", 8),
    "decimal(5": ("expected ')', the text ends", 9),
    "decimal(5,)": ("expected a scale, found ')'", 10),
    "decimal(5,-2)": ("unexpected character '-'", 10),
    "decimal(1.5)": ("unexpected character '.'", 9),
    "decimal(\u0661\u0660,2)": ("unexpected character '\u0661'", 8),
    "decimal(1234567890)": ("the number is too large, found '1234567890'", 8),
    "char": ("expected '(' and a length, the text ends", 4),
    "char(x)": ("expected a length, found 'x'", 5),
    "varchar(0)": ("the length must be at least 1, found '0'", 8),
    "varchar(5": ("expected ')', the text ends", 9),
    "time(7)": ("the precision must be at most 6, found '7'", 5),
    "time without zone": ("expected TIME, found 'zone'", 13),
    "timestamp with time zone": ("expected LOCAL, found 'time'", 15),
    "timestamp(3)": ("expected the end of the type, found '('", 9),
    "interval month to year": ("expected a unit smaller than month, found 'year'", 18),
    "interval day to day": ("expected a unit smaller than day, found 'day'", 16),
    "interval second to second": ("expected a unit smaller than second, found 'second'", 19),
    "interval week": ("expected the end of the type, found 'week'", 9),
    "geometry": ("expected '(' and a reference system, the text ends", 8),
    "geometry(x)": ("expected the number of a reference system, or ANY, found 'x'", 9),
    "string collate": ("expected a collation, the text ends", 14),
    "array": ("expected '<', the text ends", 5),
    "array<>": ("expected a type, found '>'", 6),
    "array<int": ("expected '>', the text ends", 9),
    "array<int,int>": ("expected '>', found ','", 9),
    "array<int not null>": ("expected '>', found 'not'", 10),
    "map<int>": ("expected ',' and the type of the values, found '>'", 7),
    "map<int,>": ("expected a type, found '>'", 8),
    "struct": ("expected '<', the text ends", 6),
    "struct<a>": ("expected a type, found '>'", 8),
    "struct<a:>": ("expected a type, found '>'", 9),
    "struct<a::int>": ("expected a type, found ':'", 9),
    "struct<a:int,>": ("expected a field's name, found '>'", 13),
    "struct<a:int b:int>": ("expected ',' or '>', found 'b'", 13),
    "struct<1:int>": ("expected a field's name, found '1'", 7),
    "struct<'a':int>": ("expected a field's name, found \"'a'\"", 7),
    "struct<a.b:int>": ("unexpected character '.'", 8),
    "struct<``:int>": ("the name is empty", 7),
    "struct<`a:int>": ("unexpected character '`'", 7),
    "struct<a:int not>": ("expected NULL after NOT, found '>'", 16),
    "struct<a:int comment>": ("expected a quoted comment, found '>'", 20),
    "struct<a:int comment x>": ("expected a quoted comment, found 'x'", 21),
    "struct<a:int comment 'x>": ('unexpected character "\'"', 21),
    "struct<a:int comment 'x' not null>": ("expected ',' or '>', found 'not'", 25),
    "struct<größe:text>": ("unknown type, found 'text'", 13),
}


@pytest.mark.parametrize("text", ALIASES)
def test_every_spelling_of_a_type_is_read_in_any_case(text: str) -> None:
    assert parse_type(text) == ALIASES[text]
    if "struct" not in text:
        assert parse_type(f"\n {text.upper()}\t") == ALIASES[text]


@pytest.mark.parametrize("text", NAMES)
def test_quoted_and_bare_field_names_are_read(text: str) -> None:
    assert parse_type(text) == Struct((Field(NAMES[text], INT),))


@pytest.mark.parametrize("literal", COMMENTS)
def test_comments_with_escapes_are_read(literal: str) -> None:
    text = f"struct<a: int not null comment {literal}, b: int>"
    commented = Field("a", INT, nullable=False, comment=COMMENTS[literal])
    assert parse_type(text) == Struct((commented, Field("b", INT)))


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert unquote_literal(r"'\ud83d'") == "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("text", ERRORS)
def test_an_error_has_its_offset(text: str) -> None:
    with pytest.raises(TypeTextError) as caught:
        parse_type(text)
    assert (caught.value.message, caught.value.offset) == ERRORS[text]


def test_nesting_is_limited_before_python_recursion_fails() -> None:
    deep = "array<" * MAX_DEPTH + "int" + ">" * MAX_DEPTH
    assert print_type(parse_type(deep)) == deep
    too_deep = "array<" * 100_000
    with pytest.raises(TypeTextError, match="nested more than 100 levels") as caught:
        parse_type(too_deep)
    assert caught.value.offset == len("array<") * (MAX_DEPTH + 1)


def test_spans_cover_the_text_of_each_part() -> None:
    text = " struct<`a b` : Decimal( 5,2 ) not null, m map<string , array<BIGINT>>>"
    spans = {path: text[start:end] for path, (start, end) in parse_type_with_spans(text).spans.items()}
    value: Path = ("m", Part.VALUE)
    assert spans == {
        (): text.strip(),
        ("a b",): "Decimal( 5,2 )",
        ("m",): "map<string , array<BIGINT>>",
        ("m", Part.KEY): "string",
        value: "array<BIGINT>",
        (*value, Part.ELEMENT): "BIGINT",
    }


@given(datatypes(declared=True).filter(lambda type_: not _has_unknown(type_)))
@settings(max_examples=150, deadline=None)
def test_a_printed_type_reads_back(type_: DataType) -> None:
    printed = print_type(type_)
    assert parse_type(printed) == _as_printed(type_)
    assert print_type(parse_type(printed)) == printed


@given(datatypes(declared=True).filter(lambda type_: not _has_unknown(type_)))
@settings(max_examples=50, deadline=None)
def test_the_span_of_every_part_reads_as_that_part(type_: DataType) -> None:
    text = print_type(type_)
    parsed = parse_type_with_spans(text)
    inner = dict(walk(parsed.type))
    assert parsed.spans.keys() == inner.keys()
    for path, (start, end) in parsed.spans.items():
        assert parse_type(text[start:end]) == inner[path]


@given(names())
def test_a_quoted_name_reads_back(name: str) -> None:
    assert parse_type(f"struct<{quote_identifier(name)} int>") == Struct((Field(name, INT),))


@given(texts())
@example("${HOME} $${x}$ \\${y}")
def test_a_quoted_literal_reads_back_and_contains_no_spark_variable(text: str) -> None:
    literal = quote_literal(text)
    assert unquote_literal(literal) == text
    assert "${" not in literal


def test_an_unknown_type_is_printed_as_its_json() -> None:
    assert print_type(Unknown('{"type":"vector"}')) == '{"type":"vector"}'


def test_a_field_is_printed_for_a_list_of_columns() -> None:
    field = Field("größe", Decimal(5, 2), nullable=False, comment="it's")
    assert print_field(field) == "`größe` decimal(5,2) not null comment 'it\\'s'"


# Texts that only one of the two parsers accepts; they agree on all others.
ONLY_SPARK = {
    "char(0)",
    "varchar(0)",
    "char(5) collate unicode",
    "int -- x",
    "int /* x */",
    "struct<``:int>",
}
ONLY_HERE = {
    "struct<größe: int>",  # Spark requires quotes, and `print_type` writes them
    "struct<1e5: int>",
    "string collate nonsense",  # the grammar does not list collations
    "decimal(39,2)",  # rules report these types
    "decimal(5,7)",
}


@pytest.mark.spark
@pytest.mark.each_time
def test_spark_reads_the_same_types_and_refuses_the_same_texts(spark: SparkSession) -> None:
    comments = [f"struct<a: int comment {literal}>" for literal in COMMENTS]
    questions = {*ALIASES, *NAMES, *comments, *ERRORS, *ONLY_SPARK, *ONLY_HERE}
    answers = {text: (_type_by_spark(spark, text), _type_or_none(text)) for text in questions}
    assert {text for text, (spark_, here) in answers.items() if spark_ and not here} == ONLY_SPARK
    assert {text for text, (spark_, here) in answers.items() if here and not spark_} == ONLY_HERE
    accepted = [answer for answer in answers.values() if all(answer)]
    assert [answer for answer in accepted if answer[0] != answer[1]] == []
    assert len(accepted) > 60


def _type_by_spark(spark: SparkSession, text: str) -> DataType | None:
    """Return the type that Spark's parser with Delta's extension reads; None if it refuses the text."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # noqa: PLC0415 (only with Spark)
    from pyspark.errors import PySparkException  # noqa: PLC0415

    parser = spark._jsparkSession.sessionState().sqlParser()  # noqa: SLF001 (PySpark has no public access)
    try:
        type_ = json.loads(parser.parseDataType(text).json())
    except (PySparkException, Py4JJavaError):
        return None
    column = {"name": "c", "type": type_, "nullable": True, "metadata": {}}
    return parse_schema(json.dumps({"type": "struct", "fields": [column]})).fields[0].type


def _type_or_none(text: str) -> DataType | None:
    try:
        return parse_type(text)
    except TypeTextError:
        return None


def _has_unknown(type_: DataType) -> bool:
    return any(isinstance(inner, Unknown) for _path, inner in walk(type_))


def _as_printed(type_: DataType) -> DataType:
    """Return the type without what type text cannot express."""
    match type_:
        case Array(element=element):
            return Array(_as_printed(element))
        case Map(key=key, value=value):
            return Map(_as_printed(key), _as_printed(value))
        case Struct(fields=fields):
            return Struct(tuple(_field_as_printed(field) for field in fields))
        case _:
            return type_


def _field_as_printed(field: Field) -> Field:
    comment = field.comment if isinstance(field.comment, str) else None
    return Field(field.name, _as_printed(field.type), field.nullable, comment)
