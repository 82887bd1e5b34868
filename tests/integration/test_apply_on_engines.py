"""Pull requests are applied on an older engine, in an environment of its own (`make apply-engines`)."""

from __future__ import annotations

import json
import os
import subprocess
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from deltalake import DeltaTable, write_deltalake

from schemalint.base.values import frozen
from schemalint.delta.engine import DELTA_SPARK, Engine
from schemalint.delta.engine_answers import has_function
from schemalint.delta.functions import kinds
from schemalint.tables.storage import read_table
from support.foreign_writer import PARTITIONS, ROWS, ForeignWriter, commits_in, rows_after
from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT: Final = Path(__file__).parents[2]
PULL_REQUESTS: Final[dict[str, dict[str, Any]]] = yaml.safe_load(
    (ROOT / "tests/engine/pull_requests.yaml").read_text("utf-8")
)
ENGINE: Final = os.environ.get("SCHEMALINT_ENGINE", "")
"""Delta's line, such as ``3.3``."""
REFUSED: Final = {
    name: row["refused"][ENGINE] for name, row in PULL_REQUESTS.items() if ENGINE in row.get("refused", {})
}
WAITING: Final = {name for name, row in PULL_REQUESTS.items() if ENGINE in row.get("waits", ())}

pytestmark = [
    pytest.mark.older,
    pytest.mark.skipif(not ENGINE, reason="make apply-engines ENGINE=3.3 names the engine"),
]


@frozen
class Run:
    """A run of the command line: its exit status and standard output."""

    status: int
    out: str
    err: str

    @property
    def outcomes(self) -> dict[str, str]:
        """What became of each table, from the deploy log on standard output."""
        return {row["table"].removeprefix("sales."): row["outcome"] for row in self._rows}

    @property
    def refusals(self) -> dict[str, list[str]]:
        """The codes of the rules that refuse a table."""
        return {
            row["table"].removeprefix("sales."): [refusal["code"] for refusal in row["refusals"]]
            for row in self._rows
            if row["outcome"] == "refused"
        }

    @property
    def _rows(self) -> list[dict[str, Any]]:
        assert self.out, self.err
        rows: list[dict[str, Any]] = json.loads(self.out)["tables"]
        return rows


class Lake:
    """A repository with a contract for each pull request, and the tables that the engine made of them."""

    def __init__(self, folder: Path) -> None:
        self.repo = Repo(folder)
        self.environment = ROOT / ".engines" / ENGINE
        self.engine = Engine(DELTA_SPARK, self._version("delta-spark"))
        self.repo.write("schemalint.toml", f'[targets.prod]\nroot = "lake"\nengine = "{self.engine}"\n')
        self.repo.write(".gitignore", "lake/\n")
        (folder / "lake").mkdir()

    def declare(self, state: str) -> None:
        """Commit the contracts ``before`` or ``after`` the pull requests."""
        for name, row in PULL_REQUESTS.items():
            if state in row:
                self.write_contract(name, row[state])
        self.repo.commit(state)

    def write_contract(self, name: str, text: str) -> None:
        """Write the contract of a table."""
        text = f"schemalint: 1\ntable: sales.{_table(name)}\n{text}"
        self.repo.write(f"contracts/{name}.yml", text)

    def run(self, *arguments: str) -> Run:
        """Run schemalint as it is installed beside the engine, with its default jobs."""
        process = subprocess.run(
            [self.environment / "bin/schemalint", *arguments],
            cwd=self.repo.path,
            env={**self.repo.env, "HOME": str(Path.home())},
            capture_output=True,
            text=True,
            check=False,
        )
        return Run(process.returncode, process.stdout, process.stderr)

    def apply(self) -> Run:
        """Apply all contracts, and approve all that they do."""
        approvals = ("--yes", "--allow", "upgrade", "--allow", "destructive", "--allow", "data")
        return self.run("apply", "--reorder", *approvals, "--output-format", "json")

    def versions(self) -> Mapping[str, int]:
        """The version of each table."""
        tables = sorted((self.repo.path / "lake/sales").iterdir())
        return {table.name: read_table(str(table)).version for table in tables}

    def _version(self, package: str) -> str:
        code = f"import importlib.metadata as found; print(found.version({package!r}))"
        python = [str(self.environment / "bin/python"), "-c", code]
        process = subprocess.run(python, capture_output=True, text=True, check=True)
        return process.stdout.strip()


def _table(name: str) -> str:
    return name.replace("-", "_")


def test_pull_requests_reach_what_they_declare_or_are_refused_by_name(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "repository")
    lake.declare("before")
    made = lake.apply()
    assert (made.status, set(made.outcomes.values())) == (0, {"applied"}), made.err
    lake.declare("after")
    before = lake.versions()

    applied = lake.apply()
    after = lake.versions()
    again = lake.apply()

    def outcomes(of_others: str) -> dict[str, str]:
        known = dict.fromkeys(REFUSED, "refused") | dict.fromkeys(WAITING, "waiting")
        return {_table(name): known.get(name, of_others) for name in PULL_REQUESTS}

    assert applied.outcomes == outcomes("applied"), applied.err
    assert applied.refusals == {_table(name): [code] for name, code in REFUSED.items()}
    assert again.outcomes == outcomes("nothing"), again.err
    refused, waiting = set(map(_table, REFUSED)), set(map(_table, WAITING))
    assert {name: version for name, version in after.items() if name in refused} == {
        name: version for name, version in before.items() if name in refused
    }
    # Delta makes an empty commit each time that it is asked to drop a feature which has to wait.
    now = lake.versions()
    assert {name for name in now if now[name] != after[name]} <= waiting


def test_an_expression_that_the_engine_refuses_stops_a_plan_before_its_start(tmp_path: Path) -> None:
    """No table of functions tells it: the session may have its own. EXPLAIN does, as each Spark words it."""
    lake = Lake(tmp_path / "repository")
    lake.write_contract("orders", COLUMNS)
    lake.repo.commit("before")
    assert lake.apply().outcomes == {"orders": "applied"}
    before = lake.versions()
    more = "  - {name: more, type: int}\nconstraints: {known: vendor_knows(id)}\n"
    lake.write_contract("orders", COLUMNS + more)
    lake.repo.commit("after")
    refused = lake.apply()
    assert refused.outcomes == {"orders": "refused"}
    assert "the constraint known: [UNRESOLVED_ROUTINE]" in refused.err
    assert lake.versions() == before


LISTED: Final = """\
import json
from pyspark.sql import SparkSession
session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print(json.dumps([row[0] for row in session.sql("SHOW SYSTEM FUNCTIONS").collect()]))
"""


def test_the_engine_lacks_the_functions_that_its_row_says(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "repository")
    python = [str(lake.environment / "bin/python"), "-c", LISTED]
    process = subprocess.run(python, cwd=tmp_path, capture_output=True, text=True, check=True)
    listed = set(json.loads(process.stdout))
    of_delta = {"table_changes", "table_changes_by_path"}
    lacking = {name for name in kinds() if has_function(lake.engine, name).does is False}
    assert lacking == kinds().keys() - listed - of_delta


TEXT: Final = "  - {name: amount_text, type: string}\n"
FILL: Final = 'from: amount_text, with: "cast(amount_text as decimal(12,2))"'
# Not true of the nulls that all rows have before the fill.
CHECKED: Final = "constraints: {known: amount > 0 OR id > 2}\nprotocol: {allow_upgrade: true}\n"
COLUMNS: Final = "columns:\n  - {name: id, type: bigint}\n"


def test_a_column_takes_the_place_of_another_one(tmp_path: Path) -> None:
    """The expression gives the same values on each engine; a value that does not convert is never lost."""
    lake = Lake(tmp_path / "repository")
    table = lake.repo.path / "lake/sales/orders"

    def deployed(columns: str, rest: str = "") -> Run:
        lake.write_contract("orders", f"{COLUMNS}{columns}{rest}")
        lake.repo.commit("orders")
        return lake.apply()

    def column(fill: str) -> str:
        return f"  - {{name: amount, type: 'decimal(12,2)', backfill: {{{fill}}}}}\n"

    assert deployed(TEXT).status == 0
    rows = pa.table({"id": [1, 2, 3, 4], "amount_text": ["19.90", " 5 ", "free", None]})
    write_deltalake(table, rows, mode="append")

    filled = deployed(TEXT + column(FILL), CHECKED)
    assert filled.outcomes == {"orders": "applied"}, filled.err
    amounts = DeltaTable(table).to_pyarrow_table().sort_by("id").column("amount").to_pylist()
    assert amounts == [Decimal("19.90"), Decimal("5.00"), None, None]

    # A loader that knows only the old column changes a row that is filled.
    DeltaTable(table).update(predicate="id = 2", updates={"amount_text": "'6'"})
    rest = f"dropped: [amount_text]\nproperties: {{delta.columnMapping.mode: name}}\n{CHECKED}"
    for ways, lost in (("", "1 not converted, 1 differing"), (", unfilled: keep_null", "1 differing")):
        kept = deployed(column(f"{FILL}{ways}"), rest)
        assert kept.outcomes == {"orders": "failed"}
        assert f"would be lost: {lost} of amount_text" in kept.out + kept.err
        assert "amount_text" in read_table(str(table)).state.columns.names
    dropped = deployed(column(f"{FILL}, unfilled: keep_null, differing: refill"), rest)
    assert dropped.outcomes == {"orders": "applied"}, dropped.err
    state = read_table(str(table)).state
    assert [field.name for field in state.columns.fields] == ["id", "amount"]
    assert amounts_in(table) == {1: Decimal("19.90"), 2: Decimal("6.00"), 3: None, 4: None}
    assert state.constraints == {"known": "amount > 0 OR id > 2"}


def amounts_in(table: Path) -> dict[int, Decimal | None]:
    """Return the amounts by id from the data files: delta-rs reads no table with column mapping.

    Columns that are older than the mapping have their own names in the files.
    """
    files: set[str] = set()
    for commit in sorted((table / "_delta_log").glob("*.json")):
        for line in commit.read_text("utf-8").splitlines():
            action = json.loads(line)
            files -= {action["remove"]["path"]} if "remove" in action else set()
            files |= {action["add"]["path"]} if "add" in action else set()
    rows = [row for file in files for row in pq.read_table(table / file).to_pylist()]
    return {row["id"]: row["amount"] for row in rows}


REPLACED: Final = """\
columns:
  - {name: id, type: int}
  - {name: part, type: int}
  - {name: old, type: int}
  - {name: new, type: string, backfill: {from: old, with: "cast(old as string)"}}
partitioned_by: [part]
"""


def test_a_fill_beside_a_process_that_writes_keeps_each_row_once(tmp_path: Path) -> None:
    """delta-rs appends and deletes all the time, before there is the new column too."""
    lake = Lake(tmp_path / "repository")
    table = lake.repo.path / "lake/sales/orders"

    numbers = pa.array(range(ROWS), pa.int32())
    parts = pa.array((number % PARTITIONS for number in range(ROWS)), pa.int32())
    rows = pa.table({"id": numbers, "part": parts, "old": numbers})
    write_deltalake(table, rows, partition_by=["part"])
    lake.write_contract("orders", REPLACED)
    lake.repo.commit("orders")
    with ForeignWriter("delta-rs", str(table)) as writer:
        writer.go()
        writer.wait_for(1)
        beside = lake.apply()
        last = DeltaTable(table).to_pyarrow_table(filters=[("part", "=", PARTITIONS - 1)])
        writer.wait_for(3)
    assert beside.outcomes["orders"] in {"applied", "has rows to fill", "failed"}, beside.err
    assert last.column("new").null_count == 0  # whatever happens in the others
    again = lake.apply()
    assert again.outcomes == {"orders": "applied"}, again.err
    commits = commits_in(str(table))
    assert {commit.knows_new for commit in commits} == {False, True}
    after = DeltaTable(table).to_pyarrow_table().to_pylist()
    assert {row["id"]: (row["old"], row["new"]) for row in after} == rows_after(commits)
    assert len(after) == len(rows_after(commits))
