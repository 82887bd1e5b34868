"""The locations of a contract's parts in its text."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from schemalint.base.document import Span, read_documents
from schemalint.base.errors import Location
from schemalint.contract import read
from schemalint.contract.anchors import normal
from schemalint.contract.dialects.native.spans import spans_in_level, written_columns
from schemalint.delta.path import Part
from schemalint.model.contract import Anchor, Contract
from schemalint.model.effective import Environment, effective

EXAMPLE = Path(__file__).with_name("example.yaml").read_text(encoding="utf-8")
(CONTRACT,) = read("f.yml", EXAMPLE).contracts
LINES = EXAMPLE.splitlines()


def text_at(location: Location) -> str:
    assert location.line == location.end_line
    return LINES[location.line - 1][location.column - 1 : location.end_column - 1]


@pytest.mark.parametrize(
    ("anchor", "text"),
    [
        (("table",), "sales.orders"),
        (("columns",), "columns"),
        (("location",), "sales/orders"),
        (("column", ("order_id",)), "order_id"),
        (("column", ("ORDER_ID",)), "order_id"),
        (("nullable", ("order_id",)), "false"),
        (("comment", ("order_id",)), "Assigned by the shop."),
        (("type", ("amount",)), "decimal(12,2)"),
        (("type_changes", ("amount",)), "type_changes"),
        (("type", ("qty_by_sku", Part.VALUE)), "bigint"),
        (("type", ("lines",)), '"array<struct<sku: string, qty: int>>"'),
        (("type", ("lines", Part.ELEMENT)), "struct<sku: string, qty: int>"),
        (("type", ("lines", Part.ELEMENT, "qty")), "int"),
        (("column", ("lines", Part.ELEMENT, "qty")), "int"),
        (("column", ("shipping", "city")), "city"),
        (("comment", ("shipping", "city")), "Free text."),
        (("column", ("events", Part.ELEMENT, "at")), "at"),
        (("generated", ("total",)), "amount * 2"),
        (("default", ("created_at",)), "current_timestamp()"),
        (("renamed_from", ("customer_ref",)), "cust"),
        (("deprecated", ("legacy_code",)), "{since: 2026-01-01, remove_after: 2026-12-31, reason: unused}"),
        (("dropped", 2), "status"),
        (("dropped", ("shipping", "zip")), "shipping.zip"),
        (("partitioned_by",), "[order_date]"),
        (("clustered_by",), "[]"),
        (("constraint", "AMOUNT_NOT_NEGATIVE"), "amount_not_negative: amount >= 0"),
        (("property", "delta.enabletypewidening"), "delta.enableTypeWidening: true"),
        (("property", "old_flag"), "old_flag: null"),
        (("feature", "timestampNtz"), "timestampNtz"),
        (("protocol",), "{max_reader: 3, max_writer: 7, allow_upgrade: true}"),
        (("target", "staging"), "staging"),
        (("consumer", "orders_to_silver"), "orders_to_silver"),
        (("exception", 0), "deprecated-dropped-early"),
    ],
)
def test_every_part_of_a_contract_has_a_location(anchor: Anchor, text: str) -> None:
    assert anchor in CONTRACT.anchors
    assert text_at(CONTRACT.anchors[anchor]).split("  #")[0] == text


def test_anchors_can_be_listed_before_any_location_is_computed() -> None:
    anchors = read("another.yml", EXAMPLE).contracts[0].anchors
    listed = set(anchors)
    assert {("table",), ("column", ("amount",))} <= listed
    assert len(anchors) == len(listed)
    assert all(anchor in anchors for anchor in listed)


@pytest.mark.parametrize(
    ("anchors", "text"),
    [
        ([("comment", ("amount",))], "amount"),
        ([("type", ("lines", Part.ELEMENT, "gone", "further"))], "lines"),
        ([("column", ("gone",))], "columns"),
        (
            [("property", "gone"), ("properties",)],
            "{delta.enableTypeWidening: true, team: sales, old_flag: null}",
        ),
        ([("owner_of", "gone")], "columns"),
    ],
)
def test_a_missing_part_is_located_at_the_first_fallback_or_the_nearest_parent(
    anchors: list[Anchor], text: str
) -> None:
    assert text_at(CONTRACT.locate(*anchors)) == text


def test_a_contract_without_a_text_is_located_at_its_file() -> None:
    contract = Contract("t", CONTRACT.state, file="f.yml")

    assert contract.locate(("table",)) == Location("f.yml")


def test_settings_of_a_target_are_located_in_its_overlay() -> None:
    staging = effective(CONTRACT, Environment("staging"))

    assert text_at(staging.anchors["location",]) == '"s3://lake-staging/orders"'
    assert text_at(staging.anchors["property", "delta.logRetentionDuration"]).startswith("delta.logRetention")
    assert text_at(staging.anchors["property", "team"]) == "team: sales"
    assert text_at(staging.anchors["column", ("seq",)]) == "seq"


def test_a_dropped_entry_is_found_by_a_path_with_collection_parts() -> None:
    text = "schemalint: 1\ntable: t\ncolumns: [{name: x, type: array<int>}]\ndropped: [x.element.y]\n"
    (contract,) = read("f.yml", text).contracts

    assert contract.anchors["dropped", ("X", Part.ELEMENT, "y")] == contract.anchors["dropped", 0]


def test_parts_of_a_type_with_escapes_have_the_location_of_the_whole_text() -> None:
    text = 'schemalint: 1\ntable: t\ncolumns: [{name: x, type: "array<\\x69nt>"}]\n'
    (contract,) = read("f.yml", text).contracts

    assert contract.anchors["type", ("x", Part.ELEMENT)] == contract.anchors["type", ("x",)]


HEAD = "schemalint: 1\ntable: t\n"
LAYOUTS = {
    "blocks": (
        HEAD + "columns:\n- {name: a, type: int} # c\n-\n    name: b\n    type: |\n     int\n\n"
        "- name: A\n  type: int"
    ),
    "indented blocks": (
        HEAD + 'columns:\n   # c\n   - ? name\n     : a\n     type: "struct<x: int>"\n   - name: s\n'
        "     type: struct\n     columns:\n     -  name: x\n        type: int\n"
        "        comment: >+\n          long\n\n\nowner: me\n"
    ),
    "brackets": (
        "\ufeff" + HEAD + 'columns: [{name: a,\n type: int}, {"name": b, type: "array<int>", '
        "comment: 'x\n y'} # c\n,\n{name: c,\ntype: int}]\n"
    ),
    "JSON, second document": (
        'other: 1\n---\n{"schemalint": 1, "table": "t", "columns": [\n{"name": "a", "type": "int"},'
        '{"name": "B", "type": "array<struct<x:int>>"}\n]}\n'
    ),
}


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_column_that_is_read_alone_has_its_locations_in_the_whole_text(
    layout: str, line_break: str
) -> None:
    text = LAYOUTS[layout].replace("\n", line_break)
    (contract,) = read("f.yml", text).contracts
    document = read_documents(text, "f.yml")[contract.document_index]
    spans: dict[Anchor, Span] = {}
    for level in written_columns(document):
        for anchor, span in spans_in_level(document, level):
            spans.setdefault(normal(anchor), span)
    assert len(spans) >= 4
    assert {anchor: contract.anchors[anchor] for anchor in spans} == {
        anchor: document.location(span) for anchor, span in spans.items()
    }


def test_locations_survive_pickling() -> None:
    stored = pickle.loads(pickle.dumps(CONTRACT))  # noqa: S301 - the test pickled it itself

    assert stored == CONTRACT
    assert dict(stored.anchors) == dict(CONTRACT.anchors)
