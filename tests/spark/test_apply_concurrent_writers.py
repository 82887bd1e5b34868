"""`apply` during concurrent writes and runs: it loses none of their changes, and reports its outcome."""

from __future__ import annotations

import json
from threading import Barrier, Thread
from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import LONG
from schemalint.deploy import prepare as deployments
from schemalint.deploy.deploy_input import DeployInput, Deployment
from schemalint.deploy.results import Outcome
from schemalint.spark.apply_options import ApplyOptions
from schemalint.spark.runner import apply
from schemalint.tables.storage import read_table
from support.faulty_sessions import Interrupted
from support.sampling import left_to

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemalint.deploy.results import AppliedTable
    from schemalint.spark.statements import SqlSession
    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

BASE = """\
schemalint: 1
table: sales.orders
columns:
  - {name: a, type: int}
  - {name: b, type: int}
  - {name: c, type: string}
properties: {delta.enableTypeWidening: true, delta.columnMapping.mode: name}
"""
WIDER = BASE.replace("{name: a, type: int}", "{name: a, type: bigint, comment: wide}").replace(
    "  - {name: c", "  - {name: new, type: date}\n  - {name: c"
)
SWAP = BASE.replace("name: a, type: int", "name: b, type: int, renamed_from: a").replace(
    "{name: b, type: int}", "{name: a, type: int, renamed_from: b}"
)


@pytest.fixture
def deployed(lakehouse: Lakehouse) -> Lakehouse:
    """Return a lakehouse with the table of `BASE` and a row."""
    lakehouse.declare(BASE)
    lakehouse.apply()
    lakehouse.insert("(1, 2, 'three')")
    return lakehouse


def test_rows_appended_between_statements_keep_their_columns(deployed: Lakehouse) -> None:
    deployed.declare(SWAP)

    # The writer inserts by position, without column names.
    inserted: list[int] = []

    def insert(number: int) -> None:
        inserted.append(number)
        deployed.insert(f"({number}, 0, 'appended')")

    applied = deployed.apply(_session_with(deployed, before=insert))

    assert applied.outcome is Outcome.APPLIED
    rows = deployed.rows()
    assert {"b": 1, "a": 2, "c": "three"} in rows
    # The marker is true of the version before an append, so a second attempt follows.
    assert inserted == [1, 2, 3, 4, 5, 5, 6]
    assert len(rows) == 1 + len(inserted)


def test_concurrent_change_of_another_column_does_not_stop_the_run(deployed: Lakehouse) -> None:
    deployed.declare(WIDER)

    def alter(number: int) -> None:
        deployed.sql(f"ALTER COLUMN b COMMENT 'theirs {number}'")

    applied = deployed.apply(_session_with(deployed, before=alter))

    assert applied.outcome is Outcome.APPLIED
    b = deployed.table().state.columns.get("b")
    assert b is not None
    assert str(b.comment).startswith("theirs")


@pytest.mark.each_time
def test_concurrent_change_of_the_same_column_before_a_step_stops_the_run(deployed: Lakehouse) -> None:
    deployed.declare(WIDER)

    def alter(number: int) -> None:
        if number == 1:
            deployed.sql("ALTER COLUMN a COMMENT 'theirs'")

    stopped = deployed.apply(_session_with(deployed, after=alter))

    assert _failure_message(stopped).startswith(
        "sales.orders changed since it was planned: comment changed: a"
    )
    assert deployed.table().state.columns.fields[0].comment == "theirs"


@pytest.mark.each_time
def test_concurrent_change_of_the_same_column_during_a_step_is_reported(deployed: Lakehouse) -> None:
    """Delta has no conditional ALTER, so only the log shows afterwards that a change was overwritten."""
    deployed.declare(WIDER)

    def alter(number: int) -> None:
        if number == 2:  # it changes the type and the comment
            deployed.sql("ALTER COLUMN a COMMENT 'theirs'")

    stopped = deployed.apply(_session_with(deployed, before=alter))

    assert "was changed by another writer during a step: comment changed: a" in _failure_message(stopped)


def test_column_dropped_and_recreated_since_the_plan_stops_the_run(deployed: Lakehouse) -> None:
    deployed.declare(BASE.replace("name: a, type: int", "name: z, type: int, renamed_from: a"))
    session = Interrupted(deployed.session)

    def recreate() -> None:
        deployed.sql("DROP COLUMN a")
        deployed.sql("ADD COLUMNS (a int FIRST)")

    stopped = _apply_after_plan(deployed, session, recreate)

    assert "changed since it was planned" in _failure_message(stopped)
    assert session.statements == []


@pytest.mark.each_time
def test_table_recreated_since_the_plan_is_not_altered(deployed: Lakehouse) -> None:
    deployed.declare(WIDER)

    def replace() -> None:
        deployed.session.sql(f"REPLACE TABLE delta.`{deployed.uri}` (a int, b int, c string) USING delta")

    session = Interrupted(deployed.session)
    stopped = _apply_after_plan(deployed, session, replace)

    assert session.statements == []
    assert stopped.outcome is Outcome.FAILED


def test_a_table_that_is_recreated_after_the_last_statement_is_told(deployed: Lakehouse) -> None:
    deployed.declare(BASE.replace("{name: a, type: int}", "{name: a, type: int, comment: new}"))

    def replace(number: int) -> None:
        if number == 1:
            deployed.session.sql(
                f"REPLACE TABLE delta.`{deployed.uri}` (a int COMMENT 'new', b int, c string) USING delta "
                "TBLPROPERTIES ('delta.enableTypeWidening' = 'true', 'delta.columnMapping.mode' = 'name')"
            )

    session = Interrupted(deployed.session, after=replace)
    stopped = deployed.apply(session)

    assert "was recreated since it was planned" in _failure_message(stopped)
    assert len(session.statements) == 1


@pytest.mark.each_time("once")
@pytest.mark.parametrize("times", [1, 99], ids=["once", "for-ever"])
def test_conflict_with_a_writer_is_retried_a_limited_number_of_times(
    times: int, deployed: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed.declare(WIDER)
    pauses: list[int] = []
    monkeypatch.setattr("schemalint.spark.table_run.pause", pauses.append)

    class MetadataChangedError(Exception):
        """Stands in for Delta's exception as Py4J passes it on."""

    attempts: list[int] = []

    def conflict(number: int) -> None:
        attempts.append(number)
        if len(attempts) <= times:
            raise MetadataChangedError("[DELTA_METADATA_CHANGED] The metadata was changed by another writer")

    applied = deployed.apply(_session_with(deployed, before=conflict))

    if times == 1:
        assert (applied.outcome, pauses) == (Outcome.APPLIED, [1])
    else:
        assert "DELTA_METADATA_CHANGED" in _failure_message(applied)
        assert len(pauses) < 10


DECLARED = {"widening": WIDER, "swap": SWAP}
MOMENTS = {f"{at}-{name}": (text, at) for at in range(1, 5) for name, text in DECLARED.items()}


@pytest.mark.each_time("2-swap")
@pytest.mark.parametrize(
    ("declared", "at"), left_to(pytest.mark.kill, MOMENTS, except_for=("1-widening", "2-swap"))
)
def test_run_overtaken_by_another_run_between_two_statements_succeeds(
    declared: str, at: int, deployed: Lakehouse
) -> None:
    deployed.declare(declared)

    def overtake(number: int) -> None:
        if number == at:
            assert deployed.apply(deployed.another_session()).error is None

    applied = deployed.apply(_session_with(deployed, after=overtake))

    assert applied.error is None
    _assert_done(deployed, declared)


@pytest.mark.parametrize("declared", left_to(pytest.mark.kill, DECLARED, except_for=("swap",)))
def test_two_concurrent_runs_end_with_the_declared_table(declared: str, deployed: Lakehouse) -> None:
    deployed.declare(declared)
    barrier = Barrier(2)
    results: list[AppliedTable] = []

    def run(session: SqlSession) -> None:
        barriers = [barrier]

        def wait_once(_number: int) -> None:
            if barriers:  # wait before the first statement only
                barriers.pop().wait(timeout=600)

        results.append(deployed.apply(Interrupted(session, before=wait_once)))

    threads = [Thread(target=run, args=(deployed.another_session(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(results) == 2
    assert any(result.error is None for result in results)
    assert all(result.error is None or "plan again" in result.error.help for result in results)
    assert deployed.apply().error is None
    _assert_done(deployed, declared)


@pytest.mark.each_time
def test_failing_table_does_not_stop_tables_applied_in_parallel(lakehouse: Lakehouse) -> None:
    for name in ("one", "two", "three"):
        text = BASE.replace("sales.orders", f"sales.{name}")
        lakehouse.declare(
            text if name != "two" else text + "constraints: {broken: no_such_column > 0}\n", name
        )

    results = {
        result.table.removeprefix("sales."): result
        for result in apply(lakehouse.session, lakehouse.repo.path, ApplyOptions(jobs=3))
    }

    assert results["one"].outcome is results["three"].outcome is Outcome.APPLIED
    assert results["two"].outcome in (Outcome.FAILED, Outcome.REFUSED)
    contracts = {name: _contracts(lakehouse, name) for name in ("one", "three")}
    assert contracts == {"one": {"contracts/one.yml"}, "three": {"contracts/three.yml"}}


def _contracts(lakehouse: Lakehouse, name: str) -> set[object]:
    """Return the contract files that the commits of a table name."""
    entries = read_table(str(lakehouse.root / "sales" / name)).history.entries
    return {json.loads(entry.user_metadata or "{}").get("contract") for entry in entries}


def _apply_after_plan(
    lakehouse: Lakehouse, session: Interrupted, interfere: Callable[[], None]
) -> AppliedTable:
    """Apply, and call `interfere` between the plan and the first statement."""
    prepare = deployments.prepare
    with pytest.MonkeyPatch.context() as patch:

        def plan_then_interfere(request: DeployInput) -> Deployment:
            deployment = prepare(request)
            interfere()
            return deployment

        patch.setattr("schemalint.deploy.prepare.prepare", plan_then_interfere)
        return lakehouse.apply(session)


def _session_with(lakehouse: Lakehouse, **moments: Callable[[int], None]) -> Interrupted:
    return Interrupted(lakehouse.session, moments.get("before", _nothing), moments.get("after", _nothing))


def _nothing(_number: int) -> None:
    pass


def _failure_message(applied: AppliedTable) -> str:
    assert applied.outcome is Outcome.FAILED
    assert applied.error is not None
    return applied.error.message


def _assert_done(lakehouse: Lakehouse, declared: str) -> None:
    version = lakehouse.table().version
    assert lakehouse.apply().outcome is Outcome.NOTHING
    assert lakehouse.table().version == version
    if declared == SWAP:
        assert lakehouse.rows() == [{"b": 1, "a": 2, "c": "three"}]
    else:
        assert lakehouse.table().state.columns.fields[0].type == LONG
        assert lakehouse.rows() == [{"a": 1, "b": 2, "new": None, "c": "three"}]
