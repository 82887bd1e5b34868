"""What nobody knows is unknown, and never stops a job: contracts, tables, stores, engines and bugs."""

from __future__ import annotations

import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from engine.write_questions import WIDENING, Table, state_of, struct_of
from schemalint.delta.writes import Method, Write
from schemalint.guard import WriteRefused, act, check_arrow, check_sql, check_write, guard, table
from schemalint.guard.action import SWITCH
from schemalint.guard.check import effect_on_release
from schemalint.guard.session import NotSeen, SeenTable
from schemalint.model.marker import Marker
from schemalint.tables.storage import read_table
from schemalint.tables.storage.kinds import local
from support.guard_tables import packed, table_at
from support.logs import metadata, transaction, write_commit

if TYPE_CHECKING:
    from pathlib import Path

SAME = pa.schema([("id", pa.int64()), ("c", pa.int32()), ("s", pa.string())])
WIDER = SAME.append(pa.field("x", pa.int32()))


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    return table_at(tmp_path / "orders")


def _write(orders: Path, schema: pa.Schema = SAME, **arguments: Any) -> Any:  # noqa: ANN401 (a result)
    return check_arrow(schema, "sales.orders", **{"contracts": packed(orders)} | arguments)


@pytest.mark.parametrize(
    "contracts",
    [
        "/nowhere/contracts.json",
        b"",
        b"[]",
        b"{}",
        b'{"format": "schemalint guard", "version": 99, "target": "prod", "tables": []}',
        b'{"format": "schemalint guard", "version": 1, "target": "prod", "tables": [{}]}',
        b'{"format": "schemalint guard", "version": 1, "target": "prod", "tables": []}',
        b"[" * 100_000,
        7,
        None,
    ],
)
def test_without_a_contract_nothing_is_known(orders: Path, contracts: Any) -> None:  # noqa: ANN401 (wrong ones)
    result = _write(orders, contracts=contracts)
    assert result.outcome == "unknown"
    assert result.findings[0].message


def test_what_is_no_data_is_unknown(orders: Path) -> None:
    assert check_write(None, "sales.orders", contracts=packed(orders)).outcome == "unknown"
    assert _write(orders, "no schema").outcome == "unknown"
    assert _write(orders, SAME.append(pa.field("x", pa.uint64()))).outcome == "unknown"
    assert check_sql(None, "DROP TABLE sales.orders", contracts=packed(orders)).outcome == "unknown"
    assert _write(orders, save_mode="ignore").outcome == "unknown"


def test_a_bug_of_schemalint_is_unknown(orders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr("schemalint.guard.check.arrow_effect", broken)
    result = _write(orders)
    assert result.outcome == "unknown"
    assert "a bug in schemalint: ZeroDivisionError" in str(result)


def test_a_table_of_another_declaration_makes_the_contracts_stale(orders: Path) -> None:
    assert _write(orders).outcome == "allowed"
    write_commit(orders, 1, json.dumps(_marker("1:" + "0" * 64)))
    result = _write(orders)
    assert (result.outcome, "stale" in str(result)) == ("unknown", True)


def test_the_marker_of_the_same_declaration_is_no_news(orders: Path) -> None:
    contracts: Any = packed(orders)
    write_commit(orders, 1, json.dumps(_marker(contracts["tables"][0]["hash"])))
    result = _write(orders, contracts=contracts)
    assert (result.outcome, result.version) == ("allowed", 1)


def test_a_table_that_is_not_there_is_not_created_without_its_contract(tmp_path: Path) -> None:
    result = _write(tmp_path / "nowhere")
    assert (result.outcome, result.findings[0].code) == ("refused", "WR007")


def test_a_damaged_log_is_unknown(orders: Path) -> None:
    write_commit(orders, 1, "no JSON\n")
    assert _write(orders).outcome == "unknown"


def test_a_store_that_hangs_costs_its_time_limit(orders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    monkeypatch.setattr(table, "read_table", lambda *_arguments, **_options: released.wait())
    result = _write(orders, seconds=0.05)
    released.set()
    assert (result.outcome, "not read within" in str(result)) == ("unknown", True)


def test_a_store_that_refuses_is_unknown(orders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_arguments: object, **_options: object) -> None:
        raise PermissionError("no access")

    monkeypatch.setattr(table, "read_table", refused)
    assert _write(orders).outcome == "unknown"


def test_an_unchanged_table_costs_one_request(orders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    find = local.PathStore.find

    def counting(self: Any, name: str) -> bytes | None:  # noqa: ANN401 (a store)
        asked.append(name)
        return find(self, name)

    _write(orders)
    monkeypatch.setattr(local.PathStore, "find", counting)
    assert _write(orders).version == 0
    assert asked == [f"{1:020}.json"]


def test_a_commit_between_two_writes_is_seen(orders: Path) -> None:
    assert _write(orders, WIDER, schema_mode="merge").outcome == "refused"
    contracts = packed(orders, columns=True)
    assert _write(orders, WIDER, schema_mode="merge", contracts=contracts).version == 0
    renamed = metadata(*_fields("id: bigint, c: int, s: string, x: int"))
    write_commit(orders, 1, json.dumps(renamed))
    result = _write(orders, WIDER, schema_mode="merge", contracts=contracts)
    assert (result.outcome, result.version) == ("allowed", 1)
    assert [finding.code for finding in result.findings] == []


def test_fifty_threads_get_the_same_answer(orders: Path) -> None:
    contracts = packed(orders)
    with ThreadPoolExecutor(50) as pool:
        results = list(
            pool.map(lambda _: _write(orders, WIDER, schema_mode="merge", contracts=contracts), range(200))
        )
    assert {(result.outcome, result.version) for result in results} == {("refused", 0)}


def test_the_environment_switches_the_guard(orders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "off")
    assert guard(None, "sales.orders", contracts=packed(orders), unknown="refuse").outcome == "unknown"
    monkeypatch.setenv(SWITCH, "warn")
    guard(None, "sales.orders", contracts=packed(orders), unknown="refuse")
    monkeypatch.setenv(SWITCH, "nonsense")
    with pytest.raises(WriteRefused, match="no DataFrame"):
        guard(None, "sales.orders", contracts=packed(orders), unknown="refuse")


def test_each_switch_is_logged_once(
    orders: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("schemalint.guard.action._logged", set())
    monkeypatch.setenv(SWITCH, "off")
    for _ in range(3):
        guard(None, "sales.orders", contracts=packed(orders))
    assert [record.getMessage() for record in caplog.records] == [
        "schemalint: SCHEMALINT_GUARD switches the guard: off in place of refuse"
    ]


def test_a_refusal_carries_its_result_and_names_itself(orders: Path) -> None:
    result = _write(orders, WIDER, schema_mode="merge")
    with pytest.raises(WriteRefused, match="adds column x") as refused:
        act(result)
    assert refused.value.result == result
    act(result, "warn")


def _marker(declared: str) -> Any:  # noqa: ANN401 (an action)
    return transaction(Marker(declared).app_id, 1)


def _fields(columns: str) -> Any:  # noqa: ANN401 (fields)
    return state_of(Table(columns)).columns.fields


@pytest.mark.parametrize(
    ("release", "data", "unknown"),
    [
        ((4, 0, 1), "id: bigint, c: bigint, s: string", None),
        ((4, 2), "id: bigint, c: int, s: string", None),
        ((4, 2), "id: bigint, c: bigint, s: string", "the releases around it differ"),
        ((4, 4, 1), "id: bigint, c: bigint, s: string", None),
    ],
)
def test_between_two_releases_only_what_both_do_is_known(
    orders: Path, release: tuple[int, ...], data: str, unknown: str | None
) -> None:
    seen = SeenTable(read_table(str(orders)))
    effect = effect_on_release(seen, struct_of(data), Write(Method.SAVE_AS_TABLE, release))
    assert (effect.unknown or "").endswith(unknown or ""), effect
    assert (effect.unknown is None) == (unknown is None)


def test_a_release_that_nobody_asked_is_unknown(orders: Path) -> None:
    seen = SeenTable(read_table(str(orders)))
    with pytest.raises(NotSeen, match=r"nobody has asked Delta 4\.5"):
        effect_on_release(seen, struct_of("id: bigint"), Write(Method.SAVE, (4, 5)))


def test_a_table_that_is_read_as_iceberg_widens_what_nobody_has_asked(tmp_path: Path) -> None:
    uniform = {**WIDENING, "delta.universalFormat.enabledFormats": "iceberg"}
    path = table_at(tmp_path / "uniform", Table("id: bigint, c: int", uniform))
    write = Write(Method.SAVE, (4, 4), options={"mergeschema": "true"})
    effect = effect_on_release(SeenTable(read_table(str(path))), struct_of("id: bigint, c: bigint"), write)
    assert "Iceberg" in str(effect.unknown)


def test_calls_that_come_while_a_store_hangs_start_no_more_threads(
    orders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = threading.Event()
    monkeypatch.setattr(table, "read_table", lambda *_arguments, **_options: released.wait())
    before = threading.active_count()
    outcomes = {_write(orders, seconds=0.01).outcome for _ in range(20)}
    waiting = threading.active_count() - before
    released.set()
    assert (outcomes, waiting) == ({"unknown"}, 1)


def test_a_table_that_was_made_anew_is_seen_after_some_minutes(
    orders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _write(orders, WIDER, schema_mode="merge").outcome == "refused"
    shutil.rmtree(orders)
    table_at(orders, Table("id: bigint, c: int, s: string, x: int"))
    monkeypatch.setattr(table, "_FRESH", -1.0)
    result = _write(orders, WIDER, schema_mode="merge", contracts=packed(orders, columns=True))
    assert [finding.code for finding in result.findings] == []


def test_a_table_in_the_middle_of_an_apply_is_unknown(orders: Path) -> None:
    fields = read_table(str(orders)).state.columns.fields
    write_commit(orders, 1, json.dumps(metadata(*fields, properties={"schemalint.pending": "{}"})))
    assert "has not ended" in str(_write(orders))
