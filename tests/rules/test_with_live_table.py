"""Rules about a declared state that judge differently when the live table is known."""

from __future__ import annotations

import pytest

from schemalint import contract
from schemalint.base.values import replace
from schemalint.delta.datatype import DOUBLE, INTEGER, LONG, Field, Map, RecordedChange, Struct, Varchar
from schemalint.delta.path import Part
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable, Metadata, TableState
from schemalint.model.finding import Finding, Severity
from support.judging import judge_live, judge_table, live_case
from support.rule_judging import built_in

COLUMNS = Struct((Field("order_id", INTEGER),))
HEAD = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: order_id, type: int}\n"


def _live(
    properties: dict[str, str] | None = None,
    features: frozenset[str] = frozenset(),
    columns: Struct = COLUMNS,
) -> LiveTable:
    state = TableState(columns=columns, properties=dict(properties or {}))
    return LiveTable("file:/lake/orders", 0, Protocol(3, 7, frozenset(), features), Metadata("id", state))


def findings_of(rule: str, text: str, live: LiveTable) -> list[Finding]:
    read = contract.read("orders.yaml", text)
    assert not read.errors
    return list(judge_live(live_case(read.contracts[0], live), [built_in()[rule]]))


def table_findings_of(rule: str, text: str, live: LiveTable) -> list[Finding]:
    (declared,) = contract.read("orders.yaml", text).contracts
    return list(judge_table(live, [built_in()[rule]], contract=declared))


@pytest.mark.parametrize(
    ("rule", "key"),
    [
        ("property-unknown", "delta.parquet.compression.level"),
        ("internal-property-in-contract", "delta.columnMapping.maxColumnId"),
    ],
)
def test_an_invalid_property_that_the_table_has_is_a_warning(rule: str, key: str) -> None:
    """Another engine or Delta wrote the property: no statement has to set it, so Delta refuses nothing."""
    text = f"{HEAD}properties: {{{key}: 7}}\n"
    (same_value,) = findings_of(rule, text, _live({key: "7"}))
    (other_value,) = findings_of(rule, text, _live({key: "8"}))
    assert (same_value.severity, same_value.delta_error) == (Severity.WARNING, None)
    assert other_value.severity == Severity.ERROR
    assert other_value.delta_error


@pytest.mark.parametrize("feature", ["clustering", "catalogManaged"])
def test_a_feature_that_the_table_supports_need_not_be_set(feature: str) -> None:
    text = f"{HEAD}features: [{feature}]\n"
    assert findings_of("feature-not-property-settable", text, _live())
    assert not findings_of("feature-not-property-settable", text, _live(features=frozenset({feature})))


def test_a_supported_preview_feature_is_reported_unless_it_is_dropped() -> None:
    live = _live(features=frozenset({"typeWidening-preview"}))
    (finding,) = table_findings_of("preview-feature", HEAD, live)
    assert finding.object.name == "typeWidening-preview"
    assert not table_findings_of("preview-feature", f"{HEAD}drop_features: [typeWidening-preview]\n", live)


def test_a_preview_feature_both_declared_and_supported_is_reported_once() -> None:
    live = _live(features=frozenset({"typeWidening-preview"}))
    text = f"{HEAD}features: [typeWidening-preview]\n"
    assert len(findings_of("preview-feature", text, live)) == 1


def test_type_changes_in_the_log_are_incompatible_with_iceberg() -> None:
    """The contract does not record them."""
    widened = Struct((Field("order_id", DOUBLE, type_changes=(RecordedChange(INTEGER, DOUBLE),)),))
    text = (
        f"{HEAD.replace('int}', 'double}')}"
        "properties: {delta.enableIcebergCompatV2: true, delta.columnMapping.mode: name}\n"
    )
    (finding,) = findings_of("iceberg-incompatible-widening", text, _live(columns=widened))
    assert finding.delta_error == "DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_TYPE_WIDENING"
    assert not findings_of(
        "iceberg-incompatible-widening", text, _live(columns=Struct((Field("order_id", DOUBLE),)))
    )


def test_reader_version_3_counts_the_live_writer_version() -> None:
    text = f"{HEAD}properties: {{delta.minReaderVersion: 3}}\n"
    assert findings_of(
        "protocol-version-invalid", text, _live(features=frozenset({"appendOnly", "invariants"}))
    )
    assert not findings_of("protocol-version-invalid", text, _live(features=frozenset({"deletionVectors"})))


def test_widened_map_keys_next_to_a_varchar_are_an_error() -> None:
    """The map has no nested ids to lose, but the type text that Delta uses still has the old type."""
    text = """\
schemalint: 1
table: sales.orders
columns:
  - {name: notes, type: "map<bigint, varchar(3)>", comment: said}
"""
    history = (RecordedChange(INTEGER, LONG, (Part.KEY,)),)
    column = Field("notes", Map(LONG, Varchar(3)), type_changes=history)
    (finding,) = findings_of("lengths-inside", text, _live(columns=Struct((column,))))
    assert finding.severity == Severity.ERROR
    assert (
        findings_of("lengths-inside", text, _live(columns=Struct((replace(column, type_changes=()),)))) == []
    )
