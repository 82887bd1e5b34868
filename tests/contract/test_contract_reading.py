"""Reading contracts: every key of the format and its value in `Contract`."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemalint.contract import read
from schemalint.delta.datatype import (
    BOOLEAN,
    INTEGER,
    LONG,
    SHORT,
    STRING,
    TIMESTAMP,
    UNMANAGED,
    Array,
    DataType,
    Decimal,
    Field,
    Identity,
    Map,
    RecordedChange,
    Struct,
    field_at,
)
from schemalint.delta.path import Part
from schemalint.delta.streams import Blocking
from schemalint.delta.table import Deletion
from schemalint.model.consumer import Consumer, Stream
from schemalint.model.contract import (
    Contract,
    Deprecation,
    ProtocolLimits,
    TargetOverlay,
    WriterPermissions,
)
from schemalint.model.exception import RuleException

EXAMPLE = Path(__file__).with_name("example.yaml").read_text(encoding="utf-8")


def contract_of(text: str) -> Contract:
    result = read("f.yml", text)
    assert result.errors == ()
    (contract,) = result.contracts
    return contract


def with_columns(columns: str) -> Contract:
    return contract_of(f"schemalint: 1\ntable: t\ncolumns:\n{columns}\n")


def column(yaml: str) -> Field:
    (field,) = with_columns(f"  - {{name: x, {yaml}}}").state.columns.fields
    return field


def declared(name: str, type_: DataType) -> Field:
    """Return a field that declares only its type."""
    return Field(
        name,
        type_,
        comment=UNMANAGED,
        default=UNMANAGED,
        generated=UNMANAGED,
        identity=UNMANAGED,
        type_changes=UNMANAGED,
    )


def test_the_settings_of_the_example() -> None:
    contract = contract_of(EXAMPLE)

    assert (contract.table, contract.key) == ("sales.orders", "sales.orders")
    assert contract.location == "sales/orders"
    assert contract.owner == "sales-platform"
    assert contract.managed_by == "schemalint"
    assert contract.drop_features == frozenset()
    assert contract.protocol == ProtocolLimits(3, 7, allow_upgrade=True)
    assert contract.open == WriterPermissions()
    assert (contract.file, contract.document_index) == ("f.yml", 0)


def test_the_state_of_the_example() -> None:
    state = contract_of(EXAMPLE).state

    assert state.description == "One row per order."
    assert state.partitioned_by == ("order_date",)
    assert state.clustered_by == ()
    assert state.constraints == {"amount_not_negative": "amount >= 0"}
    assert state.properties == {"delta.enableTypeWidening": "true", "team": "sales", "old_flag": None}
    assert state.features == {"timestampNtz"}
    assert state.dropped == (
        Deletion(("old_code",)),
        Deletion(("shipping", "zip")),
        Deletion(("status",), INTEGER),
    )


def test_the_columns_of_the_example() -> None:
    columns = contract_of(EXAMPLE).state.columns
    decimals = RecordedChange(Decimal(10, 2), Decimal(12, 2))
    fields = {field.name: field for field in columns.fields}

    assert fields["order_id"].nullable is False
    assert fields["order_id"].comment == "Assigned by the shop."
    assert (fields["amount"].type, fields["amount"].type_changes) == (Decimal(12, 2), (decimals,))
    assert fields["qty_by_sku"].type == Map(STRING, LONG, UNMANAGED)
    assert fields["qty_by_sku"].type_changes == (RecordedChange(INTEGER, LONG, (Part.VALUE,)),)
    line = Struct((declared("sku", STRING), declared("qty", INTEGER)))
    assert fields["lines"] == declared("lines", Array(line, UNMANAGED))
    city = field_at(columns, ("shipping", "city"))
    assert city is not None
    assert city.comment == "Free text."
    event = Struct((declared("at", TIMESTAMP),))
    assert fields["events"] == declared("events", Array(event, UNMANAGED))
    assert fields["total"].generated == "amount * 2"
    assert fields["created_at"].default == "current_timestamp()"
    assert fields["customer_ref"].renamed_from == "cust"
    assert fields["seq"].identity == Identity(1, 1)


def test_targets_consumers_exceptions_and_deprecations_of_the_example() -> None:
    contract = contract_of(EXAMPLE)

    assert contract.targets == {
        "staging": TargetOverlay("s3://lake-staging/orders", properties=INTERVAL),
        "sandbox": TargetOverlay(absent=True),
    }
    stream = Stream("s3://chk/orders", "s3://chk/orders/schema", unblock=dict.fromkeys(Blocking, "always"))
    assert contract.consumers == (
        Consumer("dashboards", "trino", "476", columns=(("order_id",), ("amount",))),
        Consumer("ml", "deltalake", ">=1.6,<2", "pyarrow"),
        Consumer("orders_to_silver", stream=stream),
    )
    code = ("legacy_code",)
    exception = RuleException(
        "deprecated-dropped-early",
        "nobody reads it",
        column=code,
        old="string",
        approved_by="@data-platform",
        expires="2026-12-31",
    )
    assert contract.exceptions == (exception,)
    assert contract.deprecated == {code: Deprecation("2026-01-01", "2026-12-31", "unused")}


INTERVAL = {"delta.logRetentionDuration": "interval 7 days"}


def test_omitted_keys_are_unmanaged() -> None:
    contract = contract_of("schemalint: 1\ntable: t\ncolumns: [{name: x, type: int}]\n")

    assert contract.state.columns == Struct((declared("x", INTEGER),))
    assert contract.state.description is UNMANAGED
    assert contract.state.partitioned_by is UNMANAGED
    assert contract.state.clustered_by is UNMANAGED


def test_null_declares_that_a_value_is_absent() -> None:
    field = column("type: int, comment: null, default: null, generated: null, identity: null")

    assert field == Field("x", INTEGER, type_changes=UNMANAGED)
    text = "schemalint: 1\ntable: t\ndescription: null\nconstraints: {a: null}\ncolumns: []\n"
    assert contract_of(text).state.description is None
    assert contract_of(text).state.constraints == {"a": None}


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("true", "true"),
        ("TRUE", "true"),
        ("False", "false"),
        ("32", "32"),
        ("007", "007"),
        ("1.10", "1.10"),
        ("0x10", "0x10"),
        ('"TRUE"', "TRUE"),
        ("yes", "yes"),
        ("null", None),
        ("", None),
    ],
)
def test_a_property_value_becomes_the_text_that_delta_stores(written: str, stored: str | None) -> None:
    contract = contract_of(f"schemalint: 1\ntable: t\ncolumns: []\nproperties:\n  some: {written}\n")

    assert contract.state.properties == {"some": stored}


def test_names_become_the_spelling_that_delta_stores() -> None:
    contract = contract_of(
        "schemalint: 1\ntable: t\ncolumns: []\nconstraints: {Positive: a > 0}\nfeatures: [TYPEWIDENING]\n"
        "properties: {DELTA.appendonly: true, Team: x}\ndrop_features: [deletionvectors]\n"
        "allow: [{rule: X, reason: y, property: delta.APPENDONLY}]\n"
        "targets: {dev: {features: [ROWTRACKING], properties: {Delta.AppendOnly: false}}}\n"
    )

    assert contract.state.constraints == {"positive": "a > 0"}
    assert contract.state.properties == {"delta.appendOnly": "true", "Team": "x"}
    assert contract.state.features == {"typeWidening"}
    assert contract.drop_features == {"deletionVectors"}
    assert contract.exceptions[0].property == "delta.appendOnly"
    assert contract.targets["dev"].properties == {"delta.appendOnly": "false"}
    assert contract.targets["dev"].features == frozenset({"rowTracking"})


def test_a_feature_is_dropped_with_or_without_its_history() -> None:
    contract = contract_of(
        "schemalint: 1\ntable: t\ncolumns: []\n"
        "drop_features:\n  - v2Checkpoint\n  - {feature: TYPEWIDENING, truncate_history: true}\n"
        "  - {feature: columnMapping}\n"
    )

    assert contract.drop_features == {"v2Checkpoint", "typeWidening", "columnMapping"}
    assert contract.truncated_features == {"typeWidening"}
    assert contract.anchors["feature", "typeWidening"].line == 6


def test_type_text_declares_not_null_and_comments_and_leaves_elements_unmanaged() -> None:
    field = column("type: \"struct<a: int not null comment 'A', b: map<string, array<int>>>\"")
    a = declared("a", INTEGER)

    assert field.type == Struct(
        (
            Field(a.name, a.type, False, "A", UNMANAGED, UNMANAGED, UNMANAGED, UNMANAGED),  # noqa: FBT003
            declared("b", Map(STRING, Array(INTEGER, UNMANAGED), UNMANAGED)),
        )
    )


def test_types_written_level_by_level_declare_element_nullability() -> None:
    assert column("type: array, element: {type: int, nullable: false}").type == Array(INTEGER, False)  # noqa: FBT003
    assert column("type: ARRAY, element: {type: int}").type == Array(INTEGER, UNMANAGED)
    field = column("type: map, key: {type: int, nullable: false}, value: {type: boolean, nullable: true}")
    assert field.type == Map(INTEGER, BOOLEAN, True)  # noqa: FBT003


def test_a_field_of_a_type_written_level_by_level_accepts_all_keys_of_a_column() -> None:
    contract = with_columns(
        "  - name: x\n    type: map\n    key: {type: int}\n    value:\n      type: struct\n      columns:\n"
        "        - {name: y, type: int, nullable: false, deprecated: {reason: old}}\n"
    )
    path = ("x", Part.VALUE, "y")
    field = field_at(contract.state.columns, path)

    assert field is not None
    assert field.nullable is False
    assert contract.deprecated == {path: Deprecation(reason="old")}


def history(contract: Contract, *path: str | Part) -> object:
    field = field_at(contract.state.columns, path)
    assert field is not None
    return field.type_changes


def test_type_changes_belong_to_the_nearest_struct_field() -> None:
    contract = with_columns(
        "  - name: x\n    type: array<struct<a:bigint,b:map<string,bigint>,c:int>>\n    type_changes:\n"
        "      - {at: element.a, from: smallint, to: int}\n"
        "      - {at: ELEMENT.b.value, from: int, to: bigint}\n"
        "      - {at: element.A, from: int, to: bigint}\n"
    )
    inside = ("x", Part.ELEMENT)

    assert history(contract, "x") == ()
    assert history(contract, *inside, "a") == (RecordedChange(SHORT, INTEGER), RecordedChange(INTEGER, LONG))
    assert history(contract, *inside, "b") == (RecordedChange(INTEGER, LONG, (Part.VALUE,)),)
    assert history(contract, *inside, "c") is UNMANAGED


def test_type_changes_can_be_declared_at_the_key_value_or_element() -> None:
    contract = with_columns(
        "  - name: x\n    type: map\n    key: {type: bigint, type_changes: [{from: int, to: bigint}]}\n"
        "    value:\n      type: array<bigint>\n"
        "      type_changes: [{at: element, from: int, to: bigint}]\n"
    )

    assert history(contract, "x") == (
        RecordedChange(INTEGER, LONG, (Part.KEY,)),
        RecordedChange(INTEGER, LONG, (Part.VALUE, Part.ELEMENT)),
    )


def test_type_changes_of_a_column_come_before_those_of_its_parts() -> None:
    contract = with_columns(
        "  - name: x\n    type: array\n"
        "    element: {type: bigint, type_changes: [{from: int, to: bigint}]}\n"
        "    type_changes: [{at: element, from: smallint, to: int}]\n"
    )

    assert history(contract, "x") == (
        RecordedChange(SHORT, INTEGER, (Part.ELEMENT,)),
        RecordedChange(INTEGER, LONG, (Part.ELEMENT,)),
    )


def test_a_field_named_element_is_not_an_array_element() -> None:
    contract = with_columns(
        "  - name: x\n    type: struct<element:bigint>\n"
        "    type_changes: [{at: element, from: int, to: bigint}]\n"
    )

    assert history(contract, "x", "element") == (RecordedChange(INTEGER, LONG),)


def test_path_steps_are_collection_parts_where_the_declared_types_say_so() -> None:
    contract = contract_of(
        "schemalint: 1\ntable: t\ncolumns: [{name: x, type: 'array<struct<element:int>>'}]\n"
        "dropped: [x.element.element, x.element.gone.element, '`a.b`.element']\n"
    )

    assert [entry.path for entry in contract.state.dropped] == [
        ("x", Part.ELEMENT, "element"),
        ("x", Part.ELEMENT, "gone", "element"),
        ("a.b", "element"),
    ]


def test_duplicate_columns_are_no_read_error_because_a_rule_reports_them() -> None:
    contract = with_columns("  - {name: a, type: int}\n  - {name: A, type: int}\n  - {name: a, type: int}")

    assert [field.name for field in contract.state.columns.fields] == ["a", "A", "a"]


@pytest.mark.parametrize("name", ["orders", "sales.orders", "`my.cat`.sales.`a``b`", "prod.sales.orders"])
def test_a_table_name_has_one_to_three_parts(name: str) -> None:
    assert contract_of(f'schemalint: 1\ntable: "{name}"\ncolumns: []\n').table == name


def test_documents_without_a_contract_are_ignored() -> None:
    result = read("f.yml", "kind: Service\n---\nschemalint: 1\ntable: a\ncolumns: []\n---\n- schemalint\n")

    assert [(contract.table, contract.document_index) for contract in result.contracts] == [("a", 1)]
    assert result.errors == ()


def test_bytes_with_a_byte_order_mark_and_windows_line_ends_are_read() -> None:
    data = b"\xef\xbb\xbfschemalint: 1\r\ntable: a\r\ncolumns: []\r\nowner: 1\r\n"
    (error,) = read("f.yml", data).errors

    assert str(error).startswith('f.yml:4:8: "owner" must be text')
