"""`apply` to tables without a marker, and to tables whose marker belongs to another state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.deploy.results import Outcome
from schemalint.model.marker import read_marker
from support.faulty_sessions import Killed, killed_after

if TYPE_CHECKING:
    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

MAPPED = "properties: {delta.columnMapping.mode: name}"
ID, OLD = "{name: id, type: int}", "{name: old, type: int}"


def contract(columns: str, more: str = MAPPED) -> str:
    return f"schemalint: 1\ntable: sales.orders\ncolumns: [{columns}]\n{more}\n"


def make(lakehouse: Lakehouse, columns: str) -> None:
    """Create the table by hand, with column mapping and one row."""
    lakehouse.session.sql(
        f"CREATE TABLE delta.`{lakehouse.uri}` ({columns}) USING delta "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )


def columns(lakehouse: Lakehouse) -> list[str]:
    return [field.name for field in lakehouse.table().state.columns.fields]


def test_first_drop_acts_and_a_column_that_is_back_stops_even_a_repair(lakehouse: Lakehouse) -> None:
    make(lakehouse, "id INT, old INT")
    lakehouse.declare(contract(f"{ID}, {OLD}"))
    lakehouse.declare(contract(ID, f"dropped: [old]\n{MAPPED}"))

    assert lakehouse.apply(allow=["destructive"]).outcome is Outcome.APPLIED
    assert columns(lakehouse) == ["id"]

    lakehouse.sql("ADD COLUMNS (old INT)")
    version = lakehouse.table().version
    assert lakehouse.apply(repair_drift=True, allow=["destructive"]).outcome is Outcome.REFUSED
    assert (columns(lakehouse), lakehouse.table().version) == (["id", "old"], version)


@pytest.mark.each_time("first contact")
@pytest.mark.parametrize("earlier", [True, False], ids=["known revision", "first contact"])
def test_column_renamed_by_hand_gets_no_empty_one_beside_it(lakehouse: Lakehouse, *, earlier: bool) -> None:
    make(lakehouse, "id INT, old INT")
    lakehouse.sql("RENAME COLUMN old TO by_hand")
    if earlier:
        lakehouse.declare(contract(ID))
    lakehouse.declare(contract(f"{ID}, {OLD}"))

    assert lakehouse.apply().outcome is Outcome.REFUSED
    assert lakehouse.apply(repair_drift=True).outcome is Outcome.REFUSED
    assert columns(lakehouse) == ["id", "by_hand"]

    assert lakehouse.apply(base="none").outcome is Outcome.APPLIED
    assert columns(lakehouse) == ["id", "old", "by_hand"]


def test_create_killed_before_its_constraints_is_completed(lakehouse: Lakehouse) -> None:
    lakehouse.declare(contract(ID, ""))
    lakehouse.declare(contract(ID, "constraints: {positive: id > 0}\nprotocol: {allow_upgrade: true}"))
    with pytest.raises(Killed):
        lakehouse.apply(killed_after(lakehouse.session, 1))
    assert lakehouse.table().state.constraints == {}

    assert lakehouse.apply().outcome is Outcome.APPLIED
    assert lakehouse.table().state.constraints == {"positive": "id > 0"}


def test_repair_drops_no_column_that_was_made_anew_with_another_type(lakehouse: Lakehouse) -> None:
    lakehouse.declare(contract(f"{ID}, {OLD}"))
    lakehouse.apply()
    lakehouse.sql("DROP COLUMN old")
    lakehouse.sql("ADD COLUMNS (old STRING)")
    lakehouse.insert("(1, 'theirs')")
    lakehouse.declare(contract(ID, f"dropped: [{{column: old, type: int}}]\n{MAPPED}"))

    assert lakehouse.apply(repair_drift=True, allow=["destructive"]).outcome is Outcome.REFUSED
    assert lakehouse.rows() == [{"id": 1, "old": "theirs"}]


def test_swap_that_the_table_may_have_waits_for_the_base(lakehouse: Lakehouse) -> None:
    make(lakehouse, "a INT, b INT")
    lakehouse.insert("(1, 2)")
    first = lakehouse.declare(contract("{name: a, type: int}, {name: b, type: int}"))
    lakehouse.declare(
        contract("{name: b, type: int, renamed_from: a}, {name: a, type: int, renamed_from: b}")
    )
    assert lakehouse.apply().outcome is Outcome.REFUSED
    assert lakehouse.rows() == [{"a": 1, "b": 2}]

    assert lakehouse.apply(base=first).outcome is Outcome.APPLIED
    assert lakehouse.rows() == [{"a": 2, "b": 1}]
    assert lakehouse.apply(base=first).outcome is Outcome.NOTHING, "the marker counts, whatever is named"


def test_restored_or_replaced_table_has_drifted(lakehouse: Lakehouse) -> None:
    """The marker of the declaration outlives both."""
    lakehouse.declare(contract(ID))
    lakehouse.apply()
    version = lakehouse.table().version
    lakehouse.declare(contract(f"{ID}, {OLD}"))
    lakehouse.apply()
    marker = read_marker(lakehouse.table())
    replaced = f"REPLACE TABLE delta.`{lakehouse.uri}` (id INT) USING delta"
    for statement in (
        f"RESTORE TABLE delta.`{lakehouse.uri}` TO VERSION AS OF {version}",
        f"{replaced} TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
    ):
        lakehouse.session.sql(statement)
        assert read_marker(lakehouse.table()) == marker
        assert columns(lakehouse) == ["id"]
        assert lakehouse.apply().outcome is Outcome.REFUSED
        assert lakehouse.apply(repair_drift=True).outcome is Outcome.APPLIED
        assert columns(lakehouse) == ["id", "old"]
