"""Rules about a declared state that say something else once the live table is known."""

from __future__ import annotations

import pytest

from schemalint import contract
from schemalint.delta.datatype import DOUBLE, INTEGER, LONG, Field, Map, RecordedChange, Struct, Varchar
from schemalint.delta.path import Part
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable, Metadata, TableState
from schemalint.lint.live import LiveComparison, judge_live
from schemalint.lint.table import judge_table
from schemalint.model.finding import Finding, Severity
from schemalint.values import replace
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


def _found(rule: str, text: str, live: LiveTable) -> list[Finding]:
    read = contract.read("orders.yaml", text)
    assert not read.errors
    found = judge_live(LiveComparison(read.contracts[0], live), [built_in()[rule]])
    return list(found)


def _of_table(rule: str, text: str, live: LiveTable) -> list[Finding]:
    (declared,) = contract.read("orders.yaml", text).contracts
    return list(judge_table(live, [built_in()[rule]], contract=declared))


@pytest.mark.parametrize(
    ("rule", "key"),
    [
        ("property-unknown", "delta.parquet.compression.codec"),
        ("internal-property-in-contract", "delta.columnMapping.maxColumnId"),
    ],
)
def test_an_entry_that_the_table_has_is_a_warning(rule: str, key: str) -> None:
    """Another engine wrote it, or Delta itself: nothing has to be set, so nothing is refused."""
    text = f"{HEAD}properties: {{{key}: 7}}\n"
    (there,) = _found(rule, text, _live({key: "7"}))
    (differs,) = _found(rule, text, _live({key: "8"}))
    assert (there.severity, there.delta_error) == (Severity.WARNING, None)
    assert differs.severity == Severity.ERROR
    assert differs.delta_error


@pytest.mark.parametrize("feature", ["clustering", "catalogManaged"])
def test_a_feature_that_the_table_supports_need_not_be_set(feature: str) -> None:
    text = f"{HEAD}features: [{feature}]\n"
    assert _found("feature-not-property-settable", text, _live())
    assert not _found("feature-not-property-settable", text, _live(features=frozenset({feature})))


def test_a_preview_that_the_table_supports_is_named() -> None:
    live = _live(features=frozenset({"typeWidening-preview"}))
    (found,) = _of_table("preview-feature", HEAD, live)
    assert found.object.name == "typeWidening-preview"
    assert not _of_table("preview-feature", f"{HEAD}drop_features: [typeWidening-preview]\n", live)


def test_a_preview_that_is_asked_for_and_supported_is_told_once() -> None:
    live = _live(features=frozenset({"typeWidening-preview"}))
    text = f"{HEAD}features: [typeWidening-preview]\n"
    assert len([*_found("preview-feature", text, live), *_of_table("preview-feature", text, live)]) == 1


def test_type_changes_of_the_log_bar_iceberg() -> None:
    """The contract need not record them."""
    widened = Struct((Field("order_id", DOUBLE, type_changes=(RecordedChange(INTEGER, DOUBLE),)),))
    text = (
        f"{HEAD.replace('int}', 'double}')}"
        "properties: {delta.enableIcebergCompatV2: true, delta.columnMapping.mode: name}\n"
    )
    (found,) = _found("iceberg-incompatible-widening", text, _live(columns=widened))
    assert found.delta_error == "DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_TYPE_WIDENING"
    assert not _found(
        "iceberg-incompatible-widening", text, _live(columns=Struct((Field("order_id", DOUBLE),)))
    )


def test_reader_version_3_counts_the_live_writer_version() -> None:
    text = f"{HEAD}properties: {{delta.minReaderVersion: 3}}\n"
    assert _found("protocol-version-invalid", text, _live(features=frozenset({"appendOnly", "invariants"})))
    assert not _found("protocol-version-invalid", text, _live(features=frozenset({"deletionVectors"})))


def test_widened_values_beside_a_length_would_be_narrow_again() -> None:
    """A map of plain values has no ids to lose, but the text that Delta goes by has the old type."""
    text = """\
schemalint: 1
table: sales.orders
columns:
  - {name: notes, type: "map<bigint, varchar(3)>", comment: said}
"""
    history = (RecordedChange(INTEGER, LONG, (Part.KEY,)),)
    column = Field("notes", Map(LONG, Varchar(3)), type_changes=history)
    (finding,) = _found("lengths-inside", text, _live(columns=Struct((column,))))
    assert finding.severity == Severity.ERROR
    assert _found("lengths-inside", text, _live(columns=Struct((replace(column, type_changes=()),)))) == []
