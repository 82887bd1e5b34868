"""Delta's schema JSON to columns and back."""

from __future__ import annotations

import json
import operator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemalint.delta import schema_json
from schemalint.delta.datatype import (
    UNMANAGED,
    VOID,
    Array,
    Atomic,
    Char,
    DataType,
    Decimal,
    Field,
    Identity,
    Map,
    RecordedChange,
    String,
    Struct,
    Unknown,
    Varchar,
)
from schemalint.delta.path import Part
from schemalint.delta.schema_json import (
    MAX_DEPTH,
    SchemaError,
    SchemaReader,
    parse_schema,
    print_schema,
    read_schema,
)
from support.deep_schemas import compares_deep_values, nested
from support.strategies import structs

if TYPE_CHECKING:
    from collections.abc import Callable

LOGS = Path(__file__).parent.parent / "delta_log" / "logs"
Metadata = dict[str, object]


def schema_text(type_: object, metadata: Metadata | None = None, name: str = "c") -> str:
    field = {"name": name, "type": type_, "nullable": True, "metadata": metadata or {}}
    return json.dumps({"type": "struct", "fields": [field]})


def parse_field(type_: object, metadata: Metadata | None = None, name: str = "c") -> Field:
    (field,) = parse_schema(schema_text(type_, metadata, name)).fields
    return field


def array_of(type_: object) -> object:
    return {"type": "array", "elementType": type_, "containsNull": True}


def written_by_spark() -> list[str]:
    """Return every schema in the logs that Spark wrote."""
    schemas: set[str] = set()
    for commit in LOGS.glob("*/_delta_log/*.json"):
        actions = (json.loads(line) for line in commit.read_text().splitlines())
        schemas.update(action["metaData"]["schemaString"] for action in actions if "metaData" in action)
    return sorted(schemas)


@settings(deadline=None)
@given(structs())
def test_every_struct_survives_printing_and_reading(struct: Struct) -> None:
    assert parse_schema(print_schema(struct)) == struct


def test_schemas_written_by_spark_are_printed_unchanged() -> None:
    schemas = written_by_spark()
    assert len(schemas) > 20
    for schema in schemas:
        assert json.loads(print_schema(parse_schema(schema))) == json.loads(schema)


@settings(deadline=None)
@given(structs(declared=True))
def test_a_declared_struct_can_be_printed(struct: Struct) -> None:
    assert [field.name for field in parse_schema(print_schema(struct)).fields] == [
        field.name for field in struct.fields
    ]


def test_unmanaged_values_are_not_printed() -> None:
    declared = Field("c", Array(VOID, UNMANAGED), comment=UNMANAGED, type_changes=UNMANAGED)
    assert parse_schema(print_schema(Struct((declared,)))) == Struct((Field("c", Array(VOID)),))


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("long", Atomic("long")),
        ("decimal", Decimal(10, 0)),
        ("decimal(38, 18)", Decimal(38, 18)),
        ("decimal(5,-2)", Decimal(5, -2)),
        ("void", VOID),
        ("null", VOID),
        ("timestamp_ltz", Atomic("timestamp")),
        ("interval", Atomic("interval")),
        ("interval day to second", Atomic("interval day to second")),
        ("time(3)", Atomic("time(3)")),
        ("char(3)", Char(3)),
        ("string collate UTF8_LCASE", String("UTF8_LCASE")),
        ("geometry(OGC:CRS84)", Atomic("geometry(4326)")),
        ("geography(OGC:CRS84, SPHERICAL)", Atomic("geography(4326)")),
        ("geometry(OGC:CRS27)", Atomic("geometry(OGC:CRS27)")),
        ("newtype", Unknown('"newtype"')),
        ("bigint", Unknown('"bigint"')),
        ("decimal(99999999999,0)", Unknown('"decimal(99999999999,0)"')),
        ({"type": "vector", "length": 3}, Unknown('{"length": 3, "type": "vector"}')),
    ],
)
def test_type_names_are_read(name: object, type_: DataType) -> None:
    assert parse_field(name).type == type_


def test_missing_nullable_and_metadata_keys_get_defaults() -> None:
    text = '{"type":"struct","fields":[{"name":"c","type":{"type":"array","elementType":"long"}}]}'
    assert parse_schema(text) == Struct((Field("c", Array(Atomic("long"))),))


def test_known_metadata_becomes_attributes_of_the_field() -> None:
    metadata: Metadata = {
        "comment": "",
        "CURRENT_DEFAULT": "'x'",
        "EXISTS_DEFAULT": "'x'",
        "delta.generationExpression": "a + 1",
        "delta.columnMapping.id": 7,
        "delta.columnMapping.physicalName": "col-1",
        "delta.identity.start": -(2**63),
        "delta.identity.step": 2,
        "delta.identity.allowExplicitInsert": True,
        "delta.identity.highWaterMark": 2**63 - 1,
    }
    assert parse_field("long", metadata) == Field(
        "c",
        Atomic("long"),
        comment="",
        default="'x'",
        generated="a + 1",
        identity=Identity(-(2**63), 2, allow_explicit_insert=True),
        column_id=7,
        physical_name="col-1",
        extra=(("EXISTS_DEFAULT", "\"'x'\""), ("delta.identity.highWaterMark", "9223372036854775807")),
    )


@pytest.mark.parametrize(
    "metadata",
    [
        {"comment": 5},
        {"delta.columnMapping.id": "7"},
        {"delta.columnMapping.id": True},
        {"delta.identity.start": 1},
        {"delta.identity.start": 1, "delta.identity.step": 1, "delta.identity.allowExplicitInsert": "no"},
        {"__COLLATIONS": "UTF8_LCASE"},
        {"__CHAR_VARCHAR_TYPE_STRING": 5},
    ],
)
def test_metadata_of_the_wrong_type_is_kept_unchanged(metadata: Metadata) -> None:
    field = parse_field("long", metadata)
    assert field == Field("c", Atomic("long"), extra=field.extra)
    assert {key: json.loads(text) for key, text in field.extra} == metadata


def test_the_order_of_metadata_keys_does_not_matter() -> None:
    first = schema_text("long", {"x": {"a": 1, "b": 2}, "y": 1})
    second = schema_text("long", {"y": 1, "x": {"b": 2, "a": 1}})
    assert parse_schema(first) == parse_schema(second)


def test_type_changes_with_and_without_a_field_path_are_read() -> None:
    entries = [
        {"toType": "integer", "fromType": "short", "fieldPath": "value.element"},
        {"fromType": "bigint", "toType": "decimal(20,0)", "tableVersion": 3},
    ]
    assert parse_field("long", {"delta.typeChanges": entries}).type_changes == (
        RecordedChange(Atomic("short"), Atomic("integer"), (Part.VALUE, Part.ELEMENT)),
        RecordedChange(Atomic("long"), Decimal(20, 0), version=3),
    )


@pytest.mark.parametrize(
    "entries",
    [
        "[]",
        [],
        {},
        [{"fromType": "byte"}],
        [{"fromType": "byte", "toType": 5}],
        [{"fromType": "byte", "toType": "no type"}],
        [{"fromType": "byte", "toType": "long", "fieldPath": "qty"}],
        [{"fromType": "byte", "toType": "long", "fieldPath": ""}],
        [{"fromType": "byte", "toType": "long", "tableVersion": "3"}],
        [{"fromType": "byte", "toType": "short"}, None],
    ],
)
def test_malformed_type_changes_are_kept_and_not_rejected(entries: object) -> None:
    field = parse_field("long", {"delta.typeChanges": entries})
    assert field.type_changes == ()
    assert field.extra == (("delta.typeChanges", json.dumps(entries, sort_keys=True)),)


def test_char_varchar_metadata_of_a_column_gives_nested_fields_their_lengths() -> None:
    struct = {
        "type": "struct",
        "fields": [
            {"name": "code", "type": "string", "nullable": False, "metadata": {"comment": "inner"}},
            {"name": "n", "type": "short", "nullable": True, "metadata": {}},
        ],
    }
    text = "array<struct<code:varchar(5),n:smallint>>"
    field = parse_field(array_of(struct), {"__CHAR_VARCHAR_TYPE_STRING": text})
    inner = Struct((Field("code", Varchar(5), nullable=False, comment="inner"), Field("n", Atomic("short"))))
    assert field == Field("c", Array(inner))


def test_stale_char_varchar_metadata_applies_to_the_fields_at_the_same_places() -> None:
    """``RENAME COLUMN ship.city`` and ``DROP COLUMN ship.zip`` leave such a text (Delta 4.4.0)."""
    fields: list[Metadata] = [{"name": name, "type": "string", "metadata": {}} for name in ("town", "street")]
    text = "struct<city:varchar(7),zip:string,street:varchar(11)>"
    field = parse_field({"type": "struct", "fields": fields}, {"__CHAR_VARCHAR_TYPE_STRING": text})
    assert field.type == Struct((Field("town", Varchar(7)), Field("street", String())))
    assert field.extra == (("__CHAR_VARCHAR_TYPE_STRING", json.dumps(text)),)


@pytest.mark.parametrize(("name", "type_"), [("é", String()), ("`é`", Varchar(5)), ("e", Varchar(5))])
def test_char_varchar_metadata_counts_only_if_spark_can_read_its_names(name: str, type_: DataType) -> None:
    fields: list[Metadata] = [{"name": name.strip("`"), "type": "string", "metadata": {}}]
    field = parse_field(
        {"type": "struct", "fields": fields}, {"__CHAR_VARCHAR_TYPE_STRING": f"struct<{name}:varchar(5)>"}
    )
    assert field.type == Struct((Field(name.strip("`"), type_),))


def test_char_varchar_metadata_of_a_field_inside_a_column_is_kept_and_ignored() -> None:
    metadata = {"__CHAR_VARCHAR_TYPE_STRING": "char(2)"}
    fields: list[Metadata] = [{"name": "code", "type": "string", "metadata": metadata}]
    field = parse_field({"type": "struct", "fields": fields})
    extra = (("__CHAR_VARCHAR_TYPE_STRING", '"char(2)"'),)
    assert field.type == Struct((Field("code", String(), extra=extra),))


@pytest.mark.parametrize("text", ["array<varchar(5)>", "struct<a b:varchar(5)>", "varchar(5)x", "long", ""])
def test_char_varchar_metadata_that_does_not_fit_the_type_is_ignored(text: str) -> None:
    field = parse_field("string", {"__CHAR_VARCHAR_TYPE_STRING": text})
    assert field == Field("c", String(), extra=(("__CHAR_VARCHAR_TYPE_STRING", json.dumps(text)),))


def test_collations_are_found_by_path_even_if_the_field_name_contains_dots() -> None:
    type_ = {"type": "map", "keyType": "string", "valueType": array_of("string"), "valueContainsNull": True}
    collations: Metadata = {"a.b.key": "spark.UTF8_LCASE", "a.b.value.element": "icu.UNICODE_CI"}
    field = parse_field(type_, {"__COLLATIONS": collations}, name="a.b")
    assert field == Field("a.b", Map(String("UTF8_LCASE"), Array(String("UNICODE_CI"))))


def test_a_collation_of_an_unknown_provider_is_read_and_kept() -> None:
    field = parse_field("string", {"__COLLATIONS": {"c": "other.de_CI"}})
    assert field.type == String("DE_CI")
    assert parse_schema(print_schema(Struct((field,)))) == Struct((field,))
    assert json.loads(field.extra[0][1]) == {"c": "other.de_CI"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ('{"type": NaN}', "not JSON"),
        ('{"type": 1e999}', "not JSON"),
        (f'{{"type": {"9" * 5000}}}', "not JSON"),
        ("[]", "expected a type"),
        ('"long"', "the schema is not a struct"),
        ('{"type": "struct"}', "'struct' is not complete"),
        ('{"type": "struct", "fields": [5]}', "expected a field"),
        ('{"type": "struct", "fields": [{"type": "long"}]}', "expected a field"),
        ('{"type": "struct", "fields": [{"name": "c"}]}', "expected a type"),
        (schema_text({"type": "array"}), "'array' is not complete"),
        (schema_text({"type": "map", "keyType": "long"}), "'map' is not complete"),
        (schema_text({"type": ["long"]}), "expected the kind of a type"),
        (schema_text({"type": "array", "elementType": "long", "containsNull": 1}), "containsNull"),
        (schema_text("long").replace('"nullable": true', '"nullable": "yes"'), "nullable"),
        (schema_text("long").replace('"metadata": {}', '"metadata": [1]'), "metadata of the field 'c'"),
    ],
)
def test_an_invalid_schema_is_refused_with_a_reason(text: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        parse_schema(text)


@pytest.mark.parametrize("depth", [MAX_DEPTH - 2, 100_000])
def test_deeper_nesting_than_the_limit_is_refused(depth: int) -> None:
    start, end = '{"type":"array","elementType":', "}"
    field = f'{{"name":"c","type":{start * depth}"long"{end * depth}}}'
    with pytest.raises(SchemaError, match="nested"):
        parse_schema(f'{{"type":"struct","fields":[{field}]}}')


def test_nesting_that_python_cannot_compare_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_deep(*_values: object) -> NoReturn:  # as before Python 3.12.3
        raise RecursionError

    monkeypatch.setattr(operator, "eq", too_deep)
    monkeypatch.setattr(schema_json, "_COMPARES_DEEP_VALUES", False)
    assert parse_schema(nested("array", 59)), "an ordinary schema is not compared"
    with pytest.raises(SchemaError, match="more deeply than this Python can compare") as refused:
        parse_schema(nested("array", 60))
    assert refused.value.is_limit


@compares_deep_values
def test_nesting_within_the_limit_is_read_and_printed() -> None:
    type_: DataType = Atomic("long")
    for _ in range(MAX_DEPTH - 3):  # the table, its list of fields, and the field take three levels
        type_ = Array(type_)
    struct = Struct((Field("c", type_),))
    assert parse_schema(print_schema(struct)) == struct


def written(*columns: str, start: str = '{"type":"struct","fields":[', end: str = "]}") -> str:
    return start + ",".join(columns) + end


COLUMN = '{"name":"%s","type":%s,"nullable":true,"metadata":%s}'
PIECES = [
    COLUMN % ("a", '"long"', "{}"),
    COLUMN % ("a", '"long"', '{"n":1}'),
    COLUMN % ("a", '"long"', '{"n":true}'),  # Python calls true, 1 and 1.0 the same
    COLUMN % ("a", '"long"', '{"n":1.0}'),
    COLUMN % ("b", '{"type":"struct","fields":[' + COLUMN % ("a", '"long"', "{}") + "]}", "{}"),
    COLUMN % ('c\\"}]},{', '"varchar(3)"', '{"comment":"{\\"name\\":\\"a\\"}"}'),
    COLUMN % ("\\ud800", '"long"', "{}"),  # half of a character
    '{"name":"d","type":"long","kind":1}',
    '{"name":"d","type":"long","metadata":null}',
    '{ "name": "d", "type": "long" }',
    '{"name":"d"}',
    '{"name":"d","type":"long","metadata":{"n":NaN}}',
    "1",
]


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=5), max_size=5), st.sampled_from([",", " ,\n"]))
def test_a_schema_after_others_is_read_as_if_it_were_the_first(
    versions: list[list[str]], separator: str
) -> None:
    reader = SchemaReader()
    for columns in versions:
        text = '{"type":"struct","fields":[' + separator.join(columns) + "]}"
        assert outcome(reader.read, text) == outcome(read_schema, text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        written(PIECES[0], end="]"),
        written(PIECES[0], end="],}"),
        written(PIECES[0], end=']} "more"'),
        written(PIECES[0], end='],"fields":[]}'),
        written(PIECES[0], end='],"more":1}'),
        written(PIECES[0], start='{"fields":[', end='],"type":"struct"}'),
        written(PIECES[0], "", PIECES[0]),
        written("\f" + PIECES[0]),  # white space of Python, not of JSON
    ],
)
def test_an_unusual_text_after_an_ordinary_one_is_read_as_if_it_were_the_first(text: str) -> None:
    reader = SchemaReader()
    reader.read(written(PIECES[0]))
    assert outcome(reader.read, text) == outcome(read_schema, text)


def outcome(read: Callable[[str], object], text: str) -> str:
    """Return what was read, or the error; the text of values tells true from 1."""
    try:
        return repr(read(text))
    except SchemaError as error:
        return f"{error}"


def test_a_column_that_stays_in_its_place_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def noting(field: Metadata) -> tuple[()]:
        parsed.append(str(field["name"]))
        return ()

    monkeypatch.setattr(schema_json, "faults_in_field", noting)
    columns = [COLUMN % (f"c{number}", '"long"', "{}") for number in range(6)]
    added = COLUMN % ("added", '"long"', "{}")
    changed = COLUMN % ("c2", '"string"', "{}")
    moved = [*columns[3:], *columns[:3]]
    reader = SchemaReader()
    for version in (columns, [added, *columns], [*columns[:2], changed, *columns[3:]], columns[1:], moved):
        reader.read(written(*version))
    assert parsed == [*(f"c{number}" for number in range(6)), "added", "c2", "c2", "c3", "c0", "c1"]
