"""What `plan --prove` says of a rewrite: rows that constraints refuse, and pauses between commits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import pytest

from schemalint.deploy.deploy_input import RewriteProof
from schemalint.deploy.prepare import prepare_requested
from schemalint.deploy.results import Outcome
from schemalint.project import git
from schemalint.project.config.trust import find_trusted
from schemalint.report.proof_texts import rewrite_lines
from schemalint.spark.apply_options import ApplyOptions
from schemalint.spark.rewrites.proof import PERIOD, Commit, of_commits
from schemalint.spark.session_catalog import SessionCatalog
from schemalint.spark.session_questions import with_proofs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from support.lakehouse import Lakehouse

ALLOW: Final = ("rewrite", "destructive", "upgrade", "data")
OLD: Final = """\
schemalint: 1
table: sales.orders
columns: [{name: id, type: int}, {name: amount, type: string}]
constraints: {broken: "amount NOT LIKE '%.00'"}
protocol: {allow_upgrade: true}
"""
NEW: Final = OLD.replace(
    "type: string}", 'type: "decimal(12,2)", rewrite: {from: string, with: "-cast(amount as decimal(12,2))"}}'
)


def made(lakehouse: Lakehouse, text: str) -> None:
    """Create a table with three rows."""
    lakehouse.declare(text)
    assert lakehouse.apply(allow=ALLOW).outcome is Outcome.APPLIED
    lakehouse.insert("(1, '1.50'), (2, '2.5'), (3, '3')")


class Listening:
    """A session that notes its statements."""

    def __init__(self, session: SparkSession, ran: list[str]) -> None:
        self._session, self._ran = session, ran

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (all else is the session's)
        return getattr(self._session, name)

    def sql(self, statement: str) -> Any:  # noqa: ANN401 (a DataFrame)
        self._ran.append(statement)
        return self._session.sql(statement)


def proof_of(lakehouse: Lakehouse, ran: list[str] | None = None) -> RewriteProof:
    repository = git.open_repository(lakehouse.repo.path, os.environ)
    via = SessionCatalog(lambda: lakehouse.session)
    settings = find_trusted(repository, os.environ)
    deployment = prepare_requested(repository, settings, ApplyOptions(), via=via)
    session: Any = Listening(lakehouse.session, [] if ran is None else ran)
    return with_proofs(session, deployment).rewrite_proofs["sales.orders"]


@pytest.mark.spark
def test_rows_that_a_constraint_refuses_are_counted_before_the_engine_refuses_them(
    lakehouse: Lakehouse,
) -> None:
    made(lakehouse, OLD)
    lakehouse.declare(NEW)
    proof = proof_of(lakehouse)
    assert proof.problem is None
    assert proof.refused == {"broken": 1}
    assert {"WRITE", "CREATE TABLE"} <= proof.writers.keys()
    version = lakehouse.table().version
    failed = lakehouse.apply(allow=ALLOW)
    assert failed.outcome is Outcome.FAILED
    assert "CONSTRAINT" in str(failed.error)
    assert lakehouse.table().version == version


@pytest.mark.spark
@pytest.mark.each_time
def test_a_constraint_of_the_log_alone_is_named_and_never_evaluated(lakehouse: Lakehouse) -> None:
    made(lakehouse, OLD)
    lakehouse.sql("ADD CONSTRAINT theirs CHECK (reflect('java.lang.Math', 'abs', id) > '0')")
    lakehouse.declare(NEW)
    ran: list[str] = []
    proof = proof_of(lakehouse, ran)
    assert proof.problem == "no row is counted for theirs"
    assert proof.refused == {"broken": 1}
    assert not [text for text in ran if "reflect" in text]


@pytest.mark.spark
def test_a_constraint_that_comes_with_a_rewrite_is_checked_over_the_new_values(lakehouse: Lakehouse) -> None:
    made(lakehouse, OLD.replace("constraints: {broken: \"amount NOT LIKE '%.00'\"}\n", ""))
    lakehouse.declare(NEW.replace("broken: \"amount NOT LIKE '%.00'\"", 'negative: "amount < 0"'))
    assert proof_of(lakehouse).refused == {"negative": 0}
    applied = lakehouse.apply(allow=ALLOW)
    assert applied.outcome is Outcome.APPLIED, applied.error
    assert [str(row["amount"]) for row in lakehouse.rows()] == ["-1.50", "-2.50", "-3.00"]


NOW: Final = 100 * 24 * 3600.0
HOUR: Final = 3600.0


@pytest.mark.parametrize(
    ("hours_ago", "longest"),
    [
        ([1, 3, 4], 2),  # the table is as young as its first commit
        ([5, 6], 5),
        ([1, 15 * 24], 14 * 24 - 1),  # an older commit: the pause began before the period
        ([20 * 24], 14 * 24),
    ],
)
def test_the_longest_pause_ends_with_a_commit_or_now(hours_ago: list[int], longest: int) -> None:
    commits = [Commit(NOW - hours * HOUR, "WRITE") for hours in hours_ago]
    proof = of_commits(RewriteProof(), commits, NOW)
    assert proof.longest_pause == longest * HOUR
    recent = [hours for hours in hours_ago if hours * HOUR <= PERIOD]
    assert proof.writers == ({"WRITE": len(recent)} if recent else {})


def test_who_is_to_pause_is_said_where_no_pause_was_long_enough() -> None:
    proof = RewriteProof({"small": 2}, 900.0, 1800.0, {"STREAMING UPDATE": 700, "OPTIMIZE": 1})
    assert list(rewrite_lines(proof)) == [
        "the rewrite would be refused: 2 rows by small",
        (
            "the rewrite may take 1 hour, 4 times what a read of its rows took, and the longest pause "
            "between commits of the last 14 days was "
            "30 minutes: pause STREAMING UPDATE (700 commits), OPTIMIZE (1 commit)"
        ),
    ]
    quiet = RewriteProof({"small": 0}, 1.0, 1800.0, {"WRITE": 1})
    assert list(rewrite_lines(quiet)) == [
        "no row is refused by small",
        (
            "the rewrite may take 4 seconds, 4 times what a read of its rows took; the longest pause "
            "between commits of the last 14 days was "
            "30 minutes"
        ),
    ]
