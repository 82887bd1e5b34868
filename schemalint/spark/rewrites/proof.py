"""What a rewrite would meet (``plan --prove``): rows that constraints refuse, and commits of other writers.

Nothing of it decides: the statement meets the table as it is then.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from schemalint.base.errors import SchemalintError
from schemalint.base.values import frozen, replace
from schemalint.delta.fill_expressions import fill_fault
from schemalint.deploy.deploy_input import RewriteProof
from schemalint.model.table_plan import TablePlan, TableRewrite
from schemalint.planner.rewrites.statements import digest_with_refused, row_conditions
from schemalint.spark.fills.fill import TableFills
from schemalint.spark.statements import StatementError, ask

PERIOD: Final = 14 * 24 * 3600
"""The seconds in which the commits of other writers are looked at."""

_MOST_COMMITS: Final = 20_000
_WITHOUT_CONFLICT: Final = "VACUUM"
"""What the operations begin with whose commits change neither files nor metadata."""


def proof_of(
    fills: TableFills, plan: TablePlan, rewrite: TableRewrite, declared: Mapping[str, str | None], now: float
) -> RewriteProof:
    """Return what a rewrite of a planned table would meet.

    Args:
        fills: The table, in a session.
        plan: The plan of the table.
        rewrite: What it writes anew.
        declared: The constraints of the contract.
        now: The time, in seconds since the epoch.
    """
    proof = RewriteProof()
    try:
        proof = of_commits(proof, _commits(fills), now)
        return _of_rows(proof, fills, plan, rewrite, declared)
    except SchemalintError as error:
        return replace(proof, problem=error.message)


def _of_rows(
    proof: RewriteProof,
    fills: TableFills,
    plan: TablePlan,
    rewrite: TableRewrite,
    declared: Mapping[str, str | None],
) -> RewriteProof:
    """Read all rows once, as the proof after the write does, and count those that Delta would refuse.

    No text of the log is evaluated, and of the contract none that must not run over the data (BF001).
    """
    known = {name: text for name, text in declared.items() if text is not None}
    constraints = {name: text for name, text in known.items() if fill_fault(text) is None}
    live = dict(plan.live.constraints) if plan.live is not None else {}
    left = sorted(known.keys() - constraints.keys() | {name for name in live if name not in declared})
    conditions = row_conditions(rewrite, constraints)
    digest = digest_with_refused(fills.table, rewrite, plan.version or 0, conditions.values())
    started = time.monotonic()
    with fills.in_zone(rewrite.time_zone):
        (row,) = ask(fills.session, digest.query)
    counts = list(row)[len(row) - len(conditions) :]
    return replace(
        proof,
        refused=dict(zip(conditions, counts, strict=True)),
        reads_in=time.monotonic() - started,
        problem=f"no row is counted for {', '.join(left)}" if left else None,
    )


@frozen
class Commit:
    """A commit: its time in seconds since the epoch, and its operation."""

    at: float
    operation: str


def _commits(fills: TableFills) -> list[Commit]:
    """Return the newest commits that a rewrite would meet, newest first."""
    session: Any = fills.session  # classic and Connect have the same methods, under several types
    statement = f"DESCRIBE HISTORY {fills.table} LIMIT {_MOST_COMMITS}"
    try:
        rows = session.sql(statement).select("timestamp", "operation").collect()
    except Exception as error:  # noqa: BLE001 (pyspark's errors share no class)
        raise StatementError(error, statement) from None
    commits = [Commit(row["timestamp"].timestamp(), str(row["operation"])) for row in rows]
    return [commit for commit in commits if not commit.operation.startswith(_WITHOUT_CONFLICT)]


def of_commits(proof: RewriteProof, commits: Sequence[Commit], now: float) -> RewriteProof:
    """Return a proof with what the newest commits, newest first, tell at a time in seconds."""
    recent = [commit for commit in commits if commit.at >= now - PERIOD]
    times = [now, *(commit.at for commit in recent)]
    if len(recent) < len(commits):
        times.append(now - PERIOD)
    pauses = [later - earlier for later, earlier in pairwise(times)]
    writers = Counter(commit.operation for commit in recent)
    return replace(proof, longest_pause=max(pauses, default=None), writers=dict(writers.most_common()))
