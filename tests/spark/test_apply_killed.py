"""A run killed at any point and repeated has the same result, with every value in its own column."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemalint.base.values import replace
from schemalint.delta.datatype import map_fields
from schemalint.deploy.results import Outcome
from schemalint.model.marker import PENDING
from schemalint.spark import statements
from support.faulty_sessions import AnswerLostError, Interrupted, Killed, killed_after
from support.lakehouse import Lakehouse
from support.sampling import left_to

if TYPE_CHECKING:
    from schemalint.delta.table import TableState

pytestmark = pytest.mark.spark

CASES = Path(__file__).parents[1] / "planner/cases"
APPROVED = {"allow": ["upgrade", "destructive"]}


@dataclass(frozen=True)
class Case:
    """A change of a table with rows.

    Attributes:
        base: The contract before the change.
        declared: The contract after the change.
        values: The rows to insert before the change, as SQL.
        rows: The rows after the change.
    """

    base: str
    declared: str
    values: str
    rows: list[dict[str, object]]

    def begin(self, lakehouse: Lakehouse) -> None:
        """Apply the base, insert the rows, and commit the changed contract."""
        lakehouse.declare(self.base)
        lakehouse.apply(**APPROVED)
        lakehouse.insert(self.values)
        lakehouse.declare(self.declared)


def _case(name: str, values: str, rows: list[dict[str, object]]) -> Case:
    base, declared = ((CASES / name / file).read_text() for file in ("base1.yaml", "declared.yaml"))
    return Case(base, declared.replace("d IS NOT NULL", "d IS NULL"), values, rows)


PLAIN = "(1, 2, 'three')"
RING = """\
schemalint: 1
table: sales.orders
columns:
  - {name: b, type: bigint, renamed_from: a}
  - {name: c, type: int, renamed_from: b}
  - {name: d, type: string, default: "'x'"}
dropped: [{column: c, type: string}]
features: [allowColumnDefaults]
properties: {delta.columnMapping.mode: name, delta.enableTypeWidening: true}
"""
MAPPED = {
    "swap": _case("swap", PLAIN, [{"b": 1, "a": 2, "c": "three"}]),
    "ring-with-drop-and-widening": replace(
        _case("ring-with-drop-and-widening", PLAIN, [{"b": 1, "c": 2, "d": None}]), declared=RING
    ),
    "recreated": _case("recreated", PLAIN, [{"a": None, "b": 2, "c": "three"}]),
    "mapping-switched-on-first": _case(
        "mapping-switched-on-first",
        "(1, named_struct('x', 2, 'y', 3), array(named_struct('qty', 4, 'sku', 'five')))",
        [{"id": 1, "t": {"y": 2, "x": 3}, "lines": [{"qty": 4}]}],
    ),
    "guards-and-clustering": _case("guards-and-clustering", PLAIN, [{"a2": 1, "c": "three", "d": None}]),
}


def cases(*each_time: str) -> pytest.MarkDecorator:
    """Kill the runs of these cases in `make test`, and those of the others in `make kill`."""
    return pytest.mark.parametrize("case", left_to(pytest.mark.kill, MAPPED, except_for=each_time))


@cases()
def test_runs_killed_after_each_statement_complete_the_plan(
    case: Case, lakehouse: Lakehouse, tmp_path: Path
) -> None:
    """Each run completes one more statement than the previous run, until nothing is left to do."""
    case.begin(lakehouse)
    undisturbed = lakehouse.copy(tmp_path / "undisturbed")
    goal = _state_after_run(undisturbed)

    killed, before = 0, lakehouse.table().version
    with contextlib.suppress(StopIteration):
        while True:
            killed += _is_killed(lakehouse)

    assert before + killed == lakehouse.table().version == undisturbed.table().version
    _assert_result(lakehouse, goal, case)


def _is_killed(lakehouse: Lakehouse) -> bool:
    """Run at most one statement.

    Raises:
        StopIteration: The run had nothing left to do.
    """
    with contextlib.suppress(Killed):
        assert lakehouse.apply(killed_after(lakehouse.session, 1), **APPROVED).outcome is Outcome.NOTHING
        raise StopIteration
    return True


POINTS = {
    f"{name}-{killed_at}": (name, killed_at)
    for name, steps in (("swap", 6), ("recreated", 5))
    for killed_at in range(steps)
}


@pytest.mark.each_time("recreated-2")
@pytest.mark.parametrize(
    ("name", "killed_at"),
    left_to(pytest.mark.kill, POINTS, except_for=("recreated-0", "recreated-2", "recreated-4")),
)
def test_run_killed_once_is_completed_by_the_next(
    name: str,
    killed_at: int,
    lakehouse: Lakehouse,
    prepared: dict[str, tuple[Lakehouse, TableState]],
    tmp_path: Path,
) -> None:
    case = MAPPED[name]
    if name not in prepared:
        case.begin(lakehouse)
        prepared[name] = (lakehouse, _state_after_run(lakehouse.copy(tmp_path / "undisturbed")))
    start, goal = prepared[name]
    lakehouse = start.copy(tmp_path / "killed")

    with pytest.raises(Killed):
        lakehouse.apply(killed_after(lakehouse.session, killed_at), **APPROVED)
    assert lakehouse.apply(**APPROVED).error is None

    _assert_result(lakehouse, goal, case)


@pytest.fixture(scope="module")
def prepared() -> dict[str, tuple[Lakehouse, TableState]]:
    """The lakehouse before the change and the table's state after it by case, made once and then copied."""
    return {}


@pytest.mark.each_time("swap")
@cases("swap")
def test_lost_answers_of_completed_statements_do_not_stop_a_run(
    case: Case, lakehouse: Lakehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "_FIRST_PAUSE_SECONDS", 0)
    case.begin(lakehouse)
    goal = _state_after_run(lakehouse.copy(tmp_path / "undisturbed"))

    def lose(number: int) -> None:
        raise AnswerLostError(number)

    applied = lakehouse.apply(Interrupted(lakehouse.session, after=lose), **APPROVED)

    assert applied.error is None
    _assert_result(lakehouse, goal, case)


@pytest.mark.each_time("2")
@pytest.mark.parametrize(
    "killed_at",
    [
        pytest.param(1, marks=pytest.mark.kill),
        2,
        *(pytest.param(at, marks=pytest.mark.kill) for at in (3, 4)),
    ],
)
def test_run_of_a_newer_contract_first_finishes_an_interrupted_swap(
    killed_at: int, lakehouse: Lakehouse
) -> None:
    case = MAPPED["swap"]
    case.begin(lakehouse)
    with pytest.raises(Killed):
        lakehouse.apply(killed_after(lakehouse.session, killed_at), **APPROVED)
    lakehouse.declare(
        "schemalint: 1\ntable: sales.orders\ncolumns:\n"
        "  - {name: total, type: int, renamed_from: b}\n"
        "  - {name: a, type: int, comment: was b}\n"
        "  - {name: c, type: string}\n"
        "properties: {delta.columnMapping.mode: name}\n"
    )

    applied = lakehouse.apply(**APPROVED)

    assert applied.error is None
    assert lakehouse.rows() == [{"total": 1, "a": 2, "c": "three"}]
    assert PENDING not in lakehouse.table().state.properties
    assert lakehouse.apply(**APPROVED).outcome is Outcome.NOTHING


KILLED_PROCESS = """
import os, signal, sys, threading
from pathlib import Path
from conftest import start_session
from support.faulty_sessions import Interrupted, counting_commits
from schemalint.spark import ApplyOptions, apply

folder, number, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])

def kill_at(current):
    if current == number:
        kill = lambda: os.killpg(0, signal.SIGKILL)
        threading.Timer(seconds, kill).start() if seconds else kill()

session = start_session(Path(folder) / "warehouse")
moment = {"before": kill_at} if seconds else {"after": kill_at}
with counting_commits():
    options = ApplyOptions(allow=["upgrade", "destructive"], log=sys.argv[4])
    apply(Interrupted(session, **moment), folder, options)
"""


@pytest.mark.each_time("between-two-renames")
@pytest.mark.parametrize(
    ("name", "statement", "seconds"),
    [
        pytest.param("swap", 3, 0.0, id="between-two-renames"),
        pytest.param("mapping-switched-on-first", 4, 0.15, id="within-a-statement", marks=pytest.mark.kill),
    ],
)
def test_run_of_a_killed_process_is_completed_by_the_next(
    name: str, statement: int, seconds: float, lakehouse: Lakehouse, tmp_path: Path
) -> None:
    case = MAPPED[name]
    case.begin(lakehouse)
    goal = _state_after_run(lakehouse.copy(tmp_path / "undisturbed"))

    log = tmp_path / "deploy.jsonl"
    place = (str(lakehouse.repo.path), str(statement), str(seconds), str(log))
    process = subprocess.run(
        [sys.executable, "-c", KILLED_PROCESS, *place],
        env={**os.environ, "PYTHONPATH": str(CASES.parents[1])},
        start_new_session=True,
        capture_output=True,
        check=False,
    )
    assert process.returncode == -signal.SIGKILL, process.stderr.decode()
    assert PENDING in lakehouse.table().state.properties
    lines = log.read_text().splitlines(keepends=True)
    logged = [(json.loads(line)["type"], line[-1]) for line in lines]
    # A timer that a busy machine delays kills a later statement.
    assert len(logged) == statement or (seconds and len(logged) > statement)
    assert logged == [("started", "\n"), *[("step", "\n")] * (len(logged) - 1)]
    assert lakehouse.apply(**APPROVED).error is None

    _assert_result(lakehouse, goal, case)


def _state_after_run(lakehouse: Lakehouse) -> TableState:
    """Apply without interruption, and return the table's state."""
    assert lakehouse.apply(**APPROVED).outcome is Outcome.APPLIED
    return _state(lakehouse)


def _state(lakehouse: Lakehouse) -> TableState:
    """Return the table's state without the physical names, which Delta generates for new columns."""
    state = lakehouse.table().state
    columns = map_fields(state.columns, lambda _path, field: replace(field, physical_name=None))
    return replace(state, columns=columns)


def _assert_result(lakehouse: Lakehouse, goal: TableState, case: Case) -> None:
    assert _state(lakehouse) == goal
    assert lakehouse.rows() == case.rows
    version = lakehouse.table().version
    assert lakehouse.apply(**APPROVED).outcome is Outcome.NOTHING
    assert lakehouse.table().version == version
