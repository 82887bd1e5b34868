"""Kill plans at every point, and apply the same file again: it ends in the declared state, with every row.

``kills.yaml`` holds the plans. Each is applied by runs that all die after one statement, the marker's
included, until none is left. A commit is one file that appears as a whole, so a process that dies within a
statement leaves a log that ends after one of its commits: the statements of several commits leave such logs
in a copy of the table, to which the plan is applied again. ``PYTHONPATH=tests python -m engine.record_kills``
does so for all plans, kills processes within their statements too (``kill -9``), and records the counts in
``kills.csv``; with names of plans it does so for these, and keeps the other counts.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from schemalint.base.values import replace
from schemalint.delta.datatype import map_fields
from schemalint.delta.diff import diff
from schemalint.deploy.results import Outcome
from schemalint.tables.delta_log.store import NoTable
from schemalint.tables.storage import read_table
from support.faulty_sessions import Interrupted, Killed, counting_commits
from support.lakehouse import Lakehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from schemalint.delta.table import TableState

PLANS = Path(__file__).with_name("kills.yaml")
RECORD = Path(__file__).with_name("kills.csv")
SCHEMA = "killed"
"""The schema of the session's catalog for tables by name."""

_APPROVED = ("upgrade", "destructive")
_GENERATED = ("delta.rowTracking.materialized", "delta.requireCheckpointProtectionBeforeVersion")
"""Properties with a random name, or with the version in which a feature was dropped."""

_KILLED_PROCESSES = (
    ("swap", 4, 0.1),
    ("swap", 4, 0.4),
    ("create", 1, 0.4),
    ("deletion-vectors-dropped", 3, 1.0),
)
"""Processes that are killed: the plan, the number of the statement, and the seconds since its start."""


@dataclass(frozen=True)
class KilledPlan:
    """A change of a table with rows.

    Attributes:
        declared: The contract after the change.
        base: The contract before it; None for a new table.
        values: The rows before the change, as SQL.
        then: Statements that follow the rows, for a table that uses its features.
        rows: What the changed table holds, selected from the table before the change.
        by_name: Whether the table is a managed one of the session's catalog.
    """

    name: str
    declared: str
    base: str | None = None
    values: str = ""
    then: tuple[str, ...] = ()
    rows: str = ""
    by_name: bool = False


@dataclass(frozen=True)
class Kills:
    """What was killed.

    Attributes:
        statements: The runs that died after a statement.
        ends: The ends of the log within statements of several commits.
        processes: The processes that were killed within a statement.
    """

    statements: int
    ends: int
    processes: int = 0


def killed_plans() -> dict[str, KilledPlan]:
    """Return the plans by name."""
    found = {}
    for name, keys in yaml.safe_load(PLANS.read_text("utf-8")).items():
        table = f"{SCHEMA}.{name.replace('-', '_')}" if keys.get("by_name") else "sales.orders"
        texts = {
            key: f"schemalint: 1\ntable: {table}\n{keys[key]}" for key in ("base", "declared") if key in keys
        }
        found[name] = KilledPlan(name, **{**keys, **texts})
    return found


class KilledTable:
    """The table of a plan, as it was before and after an undisturbed run, and the file of the plan."""

    def __init__(self, plan: KilledPlan, folder: Path, session: SparkSession) -> None:
        """Make the table with its rows, plan the change, and apply it once."""
        self.plan, self.session = plan, session
        self.lakehouse = Lakehouse.make(folder, session)
        if plan.by_name:
            self.lakehouse.repo.write("schemalint.toml", '[targets.dev]\ncatalog = "spark_catalog"\n')
            session.sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        self.expected: list[dict[str, Any]] = []
        if plan.base is not None:
            self.lakehouse.declare(plan.base)
            assert self.lakehouse.apply(allow=_APPROVED).error is None
            session.sql(f"INSERT INTO {self.sql_name} VALUES {plan.values}")
            for statement in plan.then:
                session.sql(statement.format(table=self.sql_name))
            self.expected = self._rows(plan.rows)
        self.lakehouse.declare(plan.declared)
        self.file = self.lakehouse.plan(*_APPROVED)
        (table,) = json.loads(self.file.read_text("utf-8"))["tables"]
        self.location = Path(table["uri"].removeprefix("file:"))
        self.first = -1 if table["version"] is None else int(table["version"])
        self.before = folder.with_name(f"{folder.name}.before")
        if self.first >= 0:
            shutil.copytree(self.location, self.before)
        (applied,) = self.lakehouse.go_on(self.file)
        assert (applied.outcome, applied.error) == (Outcome.APPLIED, None)
        self.goal, self.last, self.markers = self._state(), self._version(), self._markers()
        self.done = [done.version for done in applied.done]
        assert self._rows("*") == self.expected
        self.after = folder.with_name(f"{folder.name}.after")
        shutil.copytree(self.location, self.after)

    @property
    def sql_name(self) -> str:
        """The table as SQL names it."""
        if self.plan.by_name:
            return f"{SCHEMA}.{self.plan.name.replace('-', '_')}"
        return f"delta.`{self.lakehouse.uri}`"

    def ends_within_statements(self) -> list[int]:
        """Return the versions between the commits of one statement."""
        return [version for version in range(self.first + 1, self.done[-1]) if version not in self.done]

    def end_log(self, version: int) -> None:
        """Let the table's log end with a version, as a killed run leaves it."""
        self._restore(self.after)
        log = self.location / "_delta_log"
        for file in [*log.glob("[0-9]*"), *log.glob(".[0-9]*")]:  # Hadoop's checksums are hidden files
            if int(file.name.removeprefix(".").partition(".")[0]) > version:
                file.unlink()
        last_checkpoint = log / "_last_checkpoint"
        if last_checkpoint.exists() and json.loads(last_checkpoint.read_text("utf-8"))["version"] > version:
            last_checkpoint.unlink()
        assert self._version() == version

    def begin(self) -> None:
        """Bring the table back to where it was before the plan."""
        shutil.rmtree(self.location, ignore_errors=True)
        if self.first >= 0:
            self._restore(self.before)
        self._forget()

    def die_after_each_statement(self) -> int:
        """Apply the plan file by runs that die after one statement; return their number."""
        self.begin()
        written: list[str] = []
        for died in range(self.last - self.first + 1):
            version = self._version()
            session = Interrupted(self.session, after=_die)
            with contextlib.suppress(Killed), counting_commits():
                (applied,) = self.lakehouse.go_on(self.file, session)
                assert (applied.outcome, applied.error) == (Outcome.NOTHING, None)
                assert ("COMMIT" in written) != self.plan.by_name, "the marker of a name is appended"
                return died
            written += session.statements
            assert self._version() > version
        raise AssertionError("the plan never ends")

    def remove_empty_log(self) -> None:
        """Remove the folder that a CREATE leaves which is killed before its commit, as the error asks for."""
        if self._version() >= 0 or not (self.location / "_delta_log").exists():
            return
        (refused,) = self.lakehouse.go_on(self.file)
        assert refused.error is not None
        assert "remove the folder" in refused.error.help
        self.begin()

    def complete(self) -> None:
        """Apply the plan file again, and once more: it reaches the declared state, and then does nothing."""
        (applied,) = self.lakehouse.go_on(self.file)
        assert applied.error is None, applied.error
        differences = diff(self.goal, self._state())
        assert differences == (), (differences, applied)
        assert self._markers() == self.markers
        assert self._rows("*") == self.expected
        version = self._version()
        (again,) = self.lakehouse.go_on(self.file)
        assert (again.outcome, again.error) == (Outcome.NOTHING, None)
        assert self._version() == version

    def _restore(self, saved: Path) -> None:
        shutil.rmtree(self.location, ignore_errors=True)
        shutil.copytree(saved, self.location)
        self._forget()

    def _forget(self) -> None:
        """Let the session forget the log, whose files no other writer takes away."""
        self.session._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # noqa: SLF001 (no other way)

    def _rows(self, selected: str) -> list[dict[str, Any]]:
        rows = self.session.sql(f"SELECT {selected} FROM {self.sql_name}").collect()
        return sorted((row.asDict(recursive=True) for row in rows), key=repr)

    def _markers(self) -> int:
        """Return the number of commits with a transaction identifier."""
        commits = (self.location / "_delta_log").glob("*.json")
        return sum('"txn":' in commit.read_text("utf-8") for commit in commits)

    def _version(self) -> int:
        try:
            return read_table(str(self.location)).version
        except NoTable:
            return -1

    def _state(self) -> TableState:
        """Return the state without what Delta generates: physical names, and properties of `_GENERATED`."""
        state = read_table(str(self.location)).state
        columns = map_fields(state.columns, lambda _path, field: replace(field, physical_name=None))
        known = {key: text for key, text in state.properties.items() if not key.startswith(_GENERATED)}
        return replace(state, columns=columns, properties=known)


def _die(_number: int) -> None:
    raise Killed


def kill(plan: KilledPlan, folder: Path, session: SparkSession) -> Kills:
    """Kill the runs of a plan after each statement, and within those of several commits."""
    table = KilledTable(plan, folder, session)
    died = table.die_after_each_statement()
    table.complete()
    ends = table.ends_within_statements()
    for version in ends:
        table.end_log(version)
        table.complete()
    return Kills(died, len(ends))


_PROCESS = """
import os, signal, sys, threading
from pathlib import Path
from conftest import start_session
from support.faulty_sessions import Interrupted, counting_commits
from support.lakehouse import Lakehouse
from support.repo import Repo

folder, file, number, seconds = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])

def kill_at(current):
    if current == number:
        kill = lambda: os.killpg(0, signal.SIGKILL)
        threading.Timer(seconds, kill).start() if seconds else kill()

session = start_session(folder / "warehouse")
moment = {"before": kill_at} if seconds else {"after": kill_at}
with counting_commits():
    Lakehouse(Repo(folder), session).go_on(file, Interrupted(session, **moment))
os.killpg(0, signal.SIGKILL)  # the last statement was shorter
"""


def kill_process(plan: KilledPlan, folder: Path, session: SparkSession, number: int, seconds: float) -> None:
    """Kill a process within a statement of a plan, and apply the plan again."""
    table = KilledTable(plan, folder, session)
    table.begin()
    ended = subprocess.run(
        [*(sys.executable, "-c", _PROCESS), *(str(folder), str(table.file), str(number), str(seconds))],
        env={**os.environ, "PYTHONPATH": str(PLANS.parents[1])},
        start_new_session=True,
        capture_output=True,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    table.remove_empty_log()
    table.complete()


def recorded() -> dict[str, Kills]:
    """Return the counts of the record."""
    with RECORD.open(encoding="utf-8", newline="") as file:
        _head, *rows = csv.reader(file)
    return {name: Kills(*map(int, counts)) for name, *counts in rows}


def record(found: dict[str, Kills]) -> None:
    """Write the counts, in the order of the plans."""
    with RECORD.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("plan", "killed after a statement", "killed within a statement", "killed processes"))
        for name in killed_plans():
            if kills := found.get(name):
                writer.writerow((name, kills.statements, kills.ends, kills.processes))


def main(*names: str) -> None:
    """Kill all plans, or those with these names, and processes; record each plan at its end."""
    from conftest import start_session  # noqa: PLC0415 (starts Spark)

    plans = killed_plans()
    found = recorded() if names else {}
    failed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="schemalint-kills-") as temporary:
        folder = Path(temporary)
        session = start_session(folder / "warehouse")
        for name in names or plans:
            moments = [(number, after) for plan, number, after in _KILLED_PROCESSES if plan == name]
            found.pop(name, None)
            try:
                kills = kill(plans[name], folder / name, session)
                for index, (number, seconds) in enumerate(moments):
                    kill_process(plans[name], folder / f"{name}-{index}", session, number, seconds)
            except Exception:  # noqa: BLE001 (the other plans are killed all the same)
                traceback.print_exc()
                failed.append(name)
                continue
            found[name] = replace(kills, processes=len(moments))
            print(name, found[name], flush=True)  # noqa: T201 (a command)
            record(found)
        session.sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
        session.stop()
    if failed:
        sys.exit(f"not in the declared state again: {', '.join(failed)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
