"""`apply` on a session that stands, against the same statements issued by hand.

    python -m benchmarks.apply [--runs 5] [--tables 10] [--jobs 1 4]

Each run makes new tables, ours and then those by hand: first created, then altered by a typical plan (columns
added, types widened, comments). The statements by hand are those that `apply` issued, for tables in another
folder, one after the other in one session with the settings that schemalint gives its own. Prints wall time,
as medians of the ratios run by run. Four jobs are the command's default.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.repository import commit_all
from schemalint.deploy.results import Outcome
from schemalint.project.config import SparkSettings
from schemalint.project.config.trust import TrustedSpark
from schemalint.spark.apply_options import ApplyOptions
from schemalint.spark.runner import apply
from schemalint.spark.session import SNAPSHOT_PARTITIONS, start
from schemalint.spark.snapshot_partitions import partitions_for
from schemalint.spark.statements import SqlSession

CREATED = """\
schemalint: 1
table: sales.table_{number}
description: One row per order.
columns:
  - {{name: id, type: bigint, nullable: false, comment: Assigned by the shop.}}
  - {{name: amount, type: "decimal(10,2)"}}
  - {{name: quantity, type: int}}
  - {{name: lines, type: "array<struct<sku: string, qty: int>>"}}
properties: {{delta.enableTypeWidening: true}}
"""
ADDED = """\
  - {{name: customer, type: string, comment: Who ordered.}}
  - {{name: ordered_at, type: timestamp}}
properties:"""
ALTERED = (
    CREATED.replace("decimal(10,2)", "decimal(12,4)")
    .replace("quantity, type: int", "quantity, type: bigint, comment: How many.")
    .replace("qty: int", "qty: bigint")
    .replace("properties:", ADDED)
)


@dataclass
class Recorded:
    """A session that notes which statements it is given."""

    session: SqlSession
    statements: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (pyspark's)
        return getattr(self.session, name)

    def newSession(self) -> Recorded:  # noqa: N802 (pyspark's)
        """Return another session whose statements are noted too."""
        return Recorded(self.session.newSession(), self.statements)  # type: ignore[attr-defined]

    def sql(self, sqlQuery: str) -> Any:  # noqa: ANN401, N803 (pyspark's)
        """Run a statement."""
        self.statements.append(sqlQuery)
        return self.session.sql(sqlQuery)


@dataclass(frozen=True, slots=True)
class Round:
    """Seconds of one plan for all tables.

    Attributes:
        ours: Of `apply`.
        by_hand: Of its statements that alter tables; the marker is none.
        statements: How many `apply` issued.
    """

    ours: float
    by_hand: float
    statements: int


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 4])
    options = parser.parse_args()
    started = time.monotonic()
    session = start(TrustedSpark(SparkSettings()))
    print(f"the session started in {time.monotonic() - started:.1f} s")
    plans = {"create": CREATED, "alter": ALTERED}
    found: dict[tuple[str, int], list[Round]] = {(name, jobs): [] for jobs in options.jobs for name in plans}
    for number, jobs in itertools.product(range(options.runs + 1), options.jobs):
        with tempfile.TemporaryDirectory() as folder:
            for name, contract in plans.items():
                round_ = measured(session, Path(folder), contract, options.tables, jobs)
                if number:  # the first one warms the engine up
                    found[name, jobs].append(round_)
    for (name, jobs), rounds in found.items():
        print(f"--jobs {jobs}, {describe(name, rounds, options.tables)}")


def measured(session: SqlSession, folder: Path, contract: str, tables: int, jobs: int) -> Round:
    """One plan, by `apply` and by hand."""
    repository = folder / "repository"
    declare(repository, contract, tables)
    recorded = Recorded(session)
    started = time.monotonic()
    applied = apply(recorded, repository, ApplyOptions(jobs=jobs))
    ours = time.monotonic() - started
    if any(result.outcome is not Outcome.APPLIED for result in applied):
        raise RuntimeError(f"not applied: {applied}")
    altering = [sql for sql in recorded.statements if sql.startswith(("CREATE", "ALTER", "COMMENT"))]
    lake, other = str(repository.resolve() / "lake"), str(folder.resolve() / "by-hand")
    session.conf.set(SNAPSHOT_PARTITIONS, str(partitions_for(0)))  # as in `apply`
    started = time.monotonic()
    for statement in altering:
        session.sql(statement.replace(lake, other)).collect()
    return Round(ours, time.monotonic() - started, len(recorded.statements))


def describe(name: str, rounds: list[Round], tables: int) -> str:
    """One line."""
    ratio = statistics.median(each.ours / each.by_hand for each in rounds)
    ours = statistics.median(each.ours for each in rounds)
    by_hand = statistics.median(each.by_hand for each in rounds)
    return (
        f"{name} {tables} tables: {ratio:.2f} x by hand ({ours:.2f} of {by_hand:.2f} s); "
        f"{rounds[0].statements} statements, {len(rounds)} runs"
    )


def declare(repository: Path, contract: str, tables: int) -> None:
    """A repository with so many contracts, committed."""
    (repository / "contracts").mkdir(parents=True, exist_ok=True)
    (repository / "lake").mkdir(exist_ok=True)
    (repository / "schemalint.toml").write_text('[targets.dev]\nroot = "lake"\n')
    (repository / ".gitignore").write_text("lake/\n")
    for number in range(tables):
        (repository / f"contracts/table_{number}.yml").write_text(contract.format(number=number))
    commit_all(repository)


if __name__ == "__main__":
    main()
