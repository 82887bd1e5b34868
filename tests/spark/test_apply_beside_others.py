"""Writers and other runs at the same time: nothing of theirs is lost, and it is clear what became of ours."""

from __future__ import annotations

import json
from threading import Barrier, Thread
from typing import TYPE_CHECKING

import pytest

from schemalint import deploy
from schemalint.delta.datatype import LONG
from schemalint.deploy.outcome import Outcome
from schemalint.spark.runner import apply
from schemalint.storage import read_table
from support.faulty_sessions import Interrupted

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemalint.deploy.outcome import Applied
    from schemalint.spark.session import SqlSession
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
def begun(lakehouse: Lakehouse) -> Lakehouse:
    lakehouse.declare(BASE)
    lakehouse.apply()
    lakehouse.insert("(1, 2, 'three')")
    return lakehouse


def test_appends_between_all_statements_do_not_matter(begun: Lakehouse) -> None:
    begun.declare(SWAP)

    # By position, as a writer does that knows nothing of names.
    applied = begun.apply(_with(begun, before=lambda at: begun.insert(f"({at}, 0, 'appended')")))

    assert applied.outcome is Outcome.APPLIED
    rows = begun.rows()
    assert {"b": 1, "a": 2, "c": "three"} in rows
    assert len(rows) == 1 + 6


def test_neighbours_column_may_change_meanwhile(begun: Lakehouse) -> None:
    begun.declare(WIDER)

    applied = begun.apply(_with(begun, before=lambda at: begun.sql(f"ALTER COLUMN b COMMENT 'theirs {at}'")))

    assert applied.outcome is Outcome.APPLIED
    b = begun.table().state.columns.get("b")
    assert b is not None
    assert str(b.comment).startswith("theirs")


def test_same_column_altered_before_the_step_stops_the_table(begun: Lakehouse) -> None:
    begun.declare(WIDER)

    def alter(at: int) -> None:
        if at == 1:
            begun.sql("ALTER COLUMN a COMMENT 'theirs'")

    stopped = begun.apply(_with(begun, after=alter))

    assert _why(stopped).startswith("sales.orders moved since it was planned: comment changed: a")
    assert begun.table().state.columns.fields[0].comment == "theirs"


def test_same_column_altered_while_the_statement_runs_is_told(begun: Lakehouse) -> None:
    """Delta has no conditional statement: the log shows afterwards that something was written over."""
    begun.declare(WIDER)

    def alter(at: int) -> None:
        if at == 3:  # its type is the second one
            begun.sql("ALTER COLUMN a COMMENT 'theirs'")

    stopped = begun.apply(_with(begun, before=alter))

    assert "was altered by somebody else during a step: comment changed: a" in _why(stopped)


def test_column_that_was_dropped_and_made_anew_is_another_one(begun: Lakehouse) -> None:
    begun.declare(BASE.replace("name: a, type: int", "name: z, type: int, renamed_from: a"))
    deployed = Interrupted(begun.session)

    def remake() -> None:
        begun.sql("DROP COLUMN a")
        begun.sql("ADD COLUMNS (a int FIRST)")

    stopped = _applied_after_plan(begun, deployed, remake)

    assert "moved since it was planned" in _why(stopped)
    assert deployed.statements == []


def test_table_that_was_made_anew_is_left_alone(begun: Lakehouse) -> None:
    begun.declare(WIDER)

    def replace() -> None:
        begun.session.sql(f"REPLACE TABLE delta.`{begun.uri}` (a int, b int, c string) USING delta")

    deployed = Interrupted(begun.session)
    stopped = _applied_after_plan(begun, deployed, replace)

    assert deployed.statements == []
    assert stopped.outcome is Outcome.FAILED


@pytest.mark.parametrize("times", [1, 99], ids=["once", "for-ever"])
def test_conflict_with_a_writer_is_tried_again_and_not_for_ever(
    times: int, begun: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun.declare(WIDER)
    pauses: list[int] = []
    monkeypatch.setattr("schemalint.spark.table._pause", pauses.append)

    class MetadataChangedError(Exception):
        """As Delta's, over Py4J."""

    tries: list[int] = []

    def conflict(at: int) -> None:
        tries.append(at)
        if len(tries) <= times:
            raise MetadataChangedError("[DELTA_METADATA_CHANGED] The metadata was changed by another writer")

    applied = begun.apply(_with(begun, before=conflict))

    if times == 1:
        assert (applied.outcome, pauses) == (Outcome.APPLIED, [1])
    else:
        assert "DELTA_METADATA_CHANGED" in _why(applied)
        assert len(pauses) < 10


@pytest.mark.parametrize("declared", [WIDER, SWAP], ids=["widening", "swap"])
@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_another_run_that_overtakes_between_two_statements(declared: str, at: int, begun: Lakehouse) -> None:
    begun.declare(declared)

    def overtake(number: int) -> None:
        if number == at:
            assert begun.apply(begun.another_session()).error is None

    applied = begun.apply(_with(begun, after=overtake))

    assert applied.error is None
    _require_done(begun, declared)


@pytest.mark.parametrize("declared", [WIDER, SWAP], ids=["widening", "swap"])
def test_two_runs_at_once_end_with_one_result(declared: str, begun: Lakehouse) -> None:
    begun.declare(declared)
    together = Barrier(2)
    results: list[Applied] = []

    def one_of_two(session: SqlSession) -> None:
        waiting = [together]

        def begin(_at: int) -> None:
            if waiting:  # not before the second try of the first statement
                waiting.pop().wait(timeout=120)

        deployed = Interrupted(session, before=begin)
        results.append(begun.apply(deployed))

    threads = [Thread(target=one_of_two, args=(begun.another_session(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(results) == 2
    assert any(one.error is None for one in results)
    assert all(one.error is None or "plan again" in one.error.help for one in results)
    assert begun.apply().error is None
    _require_done(begun, declared)


def test_several_tables_at_the_same_time_each_apart_from_the_others(lakehouse: Lakehouse) -> None:
    for name in ("one", "two", "three"):
        text = BASE.replace("sales.orders", f"sales.{name}")
        lakehouse.declare(
            text if name != "two" else text + "constraints: {broken: no_such_column > 0}\n", name
        )

    results = {
        one.table.removeprefix("sales."): one for one in apply(lakehouse.session, lakehouse.repo.path, jobs=3)
    }

    assert results["one"].outcome is results["three"].outcome is Outcome.APPLIED
    assert results["two"].outcome in (Outcome.FAILED, Outcome.REFUSED)
    contracts = {one: _contracts(lakehouse, one) for one in ("one", "three")}
    assert contracts == {"one": {"contracts/one.yml"}, "three": {"contracts/three.yml"}}


def _contracts(lakehouse: Lakehouse, name: str) -> set[object]:
    """What the commits of a table say of where they come from."""
    entries = read_table(str(lakehouse.root / "sales" / name)).history.entries
    return {json.loads(entry.user_metadata or "{}").get("contract") for entry in entries}


def _applied_after_plan(lakehouse: Lakehouse, session: Interrupted, interfere: Callable[[], None]) -> Applied:
    plan = deploy.prepare
    with pytest.MonkeyPatch.context() as patch:

        def plan_then_interfere(request: deploy.DeployInput) -> deploy.Deployment:
            deployment = plan(request)
            interfere()
            return deployment

        patch.setattr("schemalint.deploy.prepare", plan_then_interfere)
        return lakehouse.apply(session)


def _with(lakehouse: Lakehouse, **moments: Callable[[int], None]) -> Interrupted:
    return Interrupted(lakehouse.session, moments.get("before", _nothing), moments.get("after", _nothing))


def _nothing(_number: int) -> None:
    pass


def _why(applied: Applied) -> str:
    assert applied.outcome is Outcome.FAILED
    assert applied.error is not None
    return applied.error.message


def _require_done(lakehouse: Lakehouse, declared: str) -> None:
    version = lakehouse.table().version
    assert lakehouse.apply().outcome is Outcome.NOTHING
    assert lakehouse.table().version == version
    if declared == SWAP:
        assert lakehouse.rows() == [{"b": 1, "a": 2, "c": "three"}]
    else:
        assert lakehouse.table().state.columns.fields[0].type == LONG
        assert lakehouse.rows() == [{"a": 1, "b": 2, "new": None, "c": "three"}]
