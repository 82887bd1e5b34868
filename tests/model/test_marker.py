"""The hash of a declaration, and the marker, a transaction identifier of the table."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings

from schemalint.base.values import replace
from schemalint.delta.datatype import (
    INTEGER,
    LONG,
    UNMANAGED,
    Array,
    Field,
    Identity,
    Map,
    RecordedChange,
    String,
    Struct,
)
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import Deletion, LiveTable, Metadata, TableState
from schemalint.model.consumer import Consumer
from schemalint.model.contract import (
    Contract,
    Deprecation,
    ProtocolLimits,
    WriterPermissions,
)
from schemalint.model.exception import RuleException
from schemalint.model.marker import Marker, declaration_hash, next_version, read_marker
from schemalint.tables.delta_log.log_limits import KEPT_APP_IDS
from support.strategies import table_states

COLUMN = Field("a", INTEGER, comment=UNMANAGED, default=UNMANAGED, generated=UNMANAGED, identity=UNMANAGED)
PLAIN = Contract("sales.orders", TableState(Struct((COLUMN,))))

OUTSIDE_THE_HASH = [
    replace(PLAIN, table="other.name"),
    replace(PLAIN, file="elsewhere.yaml", document_index=3),
    replace(PLAIN, owner="somebody"),
    replace(PLAIN, consumers=(Consumer("dashboards", "trino"),)),
    replace(PLAIN, exceptions=(RuleException("TW001", "because"),)),
    replace(PLAIN, deprecated={("a",): Deprecation("2026-01-01")}),
    replace(PLAIN, protocol=ProtocolLimits(3, 7, allow_upgrade=True)),
    replace(PLAIN, open=WriterPermissions(columns=True)),
    replace(
        PLAIN,
        state=TableState(Struct((replace(COLUMN, type_changes=(RecordedChange(INTEGER, LONG),)),))),
    ),
]


def _with_column(column: Field) -> Contract:
    return replace(PLAIN, state=TableState(Struct((column,))))


INSIDE_THE_HASH = [
    _with_column(replace(COLUMN, name="A")),
    _with_column(replace(COLUMN, type=LONG)),
    _with_column(replace(COLUMN, type=String())),
    _with_column(replace(COLUMN, type=String("UNICODE"))),
    _with_column(replace(COLUMN, nullable=False)),
    _with_column(replace(COLUMN, comment=None)),
    _with_column(replace(COLUMN, comment="x")),
    _with_column(replace(COLUMN, default=None)),
    _with_column(replace(COLUMN, default="1")),
    _with_column(replace(COLUMN, generated=None)),
    _with_column(replace(COLUMN, generated="1")),
    _with_column(replace(COLUMN, identity=None)),
    _with_column(replace(COLUMN, identity=Identity())),
    _with_column(replace(COLUMN, identity=Identity(step=2))),
    _with_column(replace(COLUMN, renamed_from="b")),
    _with_column(replace(COLUMN, type=Array(INTEGER, UNMANAGED))),
    _with_column(replace(COLUMN, type=Array(INTEGER, contains_null=True))),
    _with_column(replace(COLUMN, type=Array(INTEGER, contains_null=False))),
    _with_column(replace(COLUMN, type=Map(INTEGER, INTEGER, UNMANAGED))),
    _with_column(replace(COLUMN, type=Map(INTEGER, INTEGER, value_contains_null=False))),
    _with_column(replace(COLUMN, type=Struct((COLUMN,)))),
    _with_column(replace(COLUMN, type=Struct((replace(COLUMN, default="1"),)))),
    replace(PLAIN, state=TableState(Struct((COLUMN, replace(COLUMN, name="b"))))),
    replace(PLAIN, state=TableState(Struct((replace(COLUMN, name="b"), COLUMN)))),
    replace(PLAIN, state=replace(PLAIN.state, description=None)),
    replace(PLAIN, state=replace(PLAIN.state, description="")),
    replace(PLAIN, state=replace(PLAIN.state, partitioned_by=())),
    replace(PLAIN, state=replace(PLAIN.state, partitioned_by=("a",))),
    replace(PLAIN, state=replace(PLAIN.state, clustered_by=())),
    replace(PLAIN, state=replace(PLAIN.state, clustered_by=(("a",),))),
    replace(PLAIN, state=replace(PLAIN.state, properties={"team": "sales"})),
    replace(PLAIN, state=replace(PLAIN.state, properties={"team": None})),
    replace(PLAIN, state=replace(PLAIN.state, constraints={"team": None})),
    replace(PLAIN, state=replace(PLAIN.state, constraints={"positive": "a > 0"})),
    replace(PLAIN, state=replace(PLAIN.state, features=frozenset({"timestampNtz"}))),
    replace(PLAIN, state=replace(PLAIN.state, dropped=(Deletion(("b",)),))),
    replace(PLAIN, state=replace(PLAIN.state, dropped=(Deletion(("b",), INTEGER),))),
    replace(PLAIN, drop_features=frozenset({"timestampNtz"})),
    replace(
        PLAIN,
        drop_features=frozenset({"timestampNtz"}),
        truncated_features=frozenset({"timestampNtz"}),
    ),
]


@pytest.mark.parametrize("contract", OUTSIDE_THE_HASH)
def test_details_outside_the_managed_state_do_not_change_the_hash(contract: Contract) -> None:
    assert contract != PLAIN
    assert declaration_hash(contract) == declaration_hash(PLAIN)


def test_every_managed_detail_changes_the_hash() -> None:
    hashes = [declaration_hash(contract) for contract in (PLAIN, *INSIDE_THE_HASH)]
    assert len(set(hashes)) == len(hashes)


def test_hash_has_its_recorded_value() -> None:
    """Tables store the hash: another computation needs another number before the colon."""
    digest = "7cc4c98bd5c29bc21c23e9bfe172c149e4445c4d90b650bb0ba7fcfd52001bd7"
    assert declaration_hash(PLAIN) == f"1:{digest}"


def test_order_of_properties_and_constraints_does_not_change_the_hash() -> None:
    state = TableState(properties={"a": "1", "b": "2"}, constraints={"x": "a > 0", "y": None})
    reordered = TableState(properties={"b": "2", "a": "1"}, constraints={"y": None, "x": "a > 0"})
    assert declaration_hash(replace(PLAIN, state=state)) == declaration_hash(replace(PLAIN, state=reordered))


@given(table_states(declared=True))
@settings(max_examples=50, deadline=None)
def test_every_declaration_has_a_hash(state: TableState) -> None:
    assert declaration_hash(replace(PLAIN, state=state)).startswith("1:")


REVISION = "c0ffee" * 6 + "abcd"


@pytest.mark.parametrize("marker", [Marker("1:ab", REVISION), Marker("1:ab", "ab" * 32), Marker("1:ab")])
def test_written_marker_is_read_back(marker: Marker) -> None:
    assert read_marker(_live({marker.app_id: 1})) == marker
    assert marker.app_id.startswith(KEPT_APP_IDS), "readers of logs keep it"


def test_marker_is_a_readable_application_id() -> None:
    assert Marker("1:ab", REVISION).app_id == f"schemalint:1:ab:{REVISION}"
    assert Marker("1:ab").app_id == "schemalint:1:ab:-"


@given(table_states(declared=True))
@settings(max_examples=20, deadline=None)
def test_every_declaration_has_a_marker(state: TableState) -> None:
    marker = Marker(declaration_hash(replace(PLAIN, state=state)))
    assert read_marker(_live({marker.app_id: 1})) == marker


def test_the_highest_version_counts() -> None:
    """Delta compares the versions of one application id alone, and lists them in any order."""
    markers = {Marker("1:ab").app_id: 3, Marker("1:cd").app_id: 5, Marker("1:ef", REVISION).app_id: 4}
    live = _live({**markers, "schemalint:1:xyz:-": 9, "stream": 9})
    assert (read_marker(live), next_version(live)) == (Marker("1:cd"), 6)
    assert next_version(_live({})) == 1


@pytest.mark.parametrize(
    "app_id",
    [
        "",
        "schemalint:",
        "schemalint:1:ab",
        "schemalint:1:ab:",
        "schemalint:1:ab:HEAD",
        "schemalint:1:ab:--help",
        f"schemalint:1:ab:{REVISION}0",
        f"schemalint:1:ab:{REVISION}\n",
        f"schemalint:1:ab:{REVISION.upper()}",
        "schemalint:1:xy:-",
        "schemalint:ab:-",
        "schemalint:1:ab:-:-",
        "other:1:ab:-",
    ],
)
def test_malformed_marker_is_none(app_id: str) -> None:
    assert read_marker(_live({app_id: 1})) is None


def _live(transactions: Mapping[str, int]) -> LiveTable:
    return LiveTable("file:/t", 0, Protocol(), Metadata("id", TableState()), transactions=transactions)
