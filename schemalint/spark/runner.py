"""The plan, carried out: step by step, each checked before and after, the whole proved by the log."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

import schemalint
from schemalint import config, deploy, git
from schemalint.deploy import DeployInput, Deployment
from schemalint.engine.place import choose_target
from schemalint.engine.rulebook import rules_for_apply, selection_of
from schemalint.engine.tables import read_live
from schemalint.errors import ApplyError, InternalError, SchemalintError
from schemalint.model.marker import Marker
from schemalint.model.plan import Step, TablePlan
from schemalint.model.table import MARKER, PENDING, Contract, LiveTable, TableState
from schemalint.planner import moved, pending, simulate
from schemalint.planner.sql import path_table, set_properties, unset_properties
from schemalint.spark.session import SqlSession, prepared, run


class Outcome(Enum):
    """What became of a table."""

    NOTHING = "nothing to do"
    APPLIED = "applied"
    RECORDED = "recorded"
    REFUSED = "refused"
    UNPLANNED = "could not be planned"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Applied:
    """A table after `apply`.

    Attributes:
        version: Of the table in the end, None if there is none.
        done: The steps that were carried out.
    """

    table: str
    uri: str
    outcome: Outcome
    version: int | None = None
    done: tuple[Step, ...] = ()
    error: SchemalintError | None = None


Told = Callable[[TablePlan, Step], None]


def apply(  # noqa: PLR0913 (each is a flag of the command line)
    session: SqlSession,
    repository: str | Path = ".",
    *,
    target: str | None = None,
    tables: Iterable[str] = (),
    head: str = "HEAD",
    allow: Iterable[str] = (),
    allow_older: bool = False,
    repair_drift: bool = False,
    base: str | None = None,
    reorder: bool = False,
    allow_local_plugins: bool = False,
) -> tuple[Applied, ...]:
    """Bring the live tables of a target to the state that a repository declares, by a given session.

    Args:
        session: Spark's, classic or Connect, with Delta.
        repository: A path in the git repository of the contracts.
        target: The environment; the only one configured if None.
        tables: Names; all contracts if empty.
        head: The revision of the contracts, or ``worktree``.
        allow: ``upgrade`` approves what adds table features, ``destructive`` what cannot be taken back.
        allow_older: Apply although the table was brought further already.
        repair_drift: Overwrite what somebody altered.
        base: The commit that was applied last, where the tables do not tell.
        reorder: Move columns to the declared order.
        allow_local_plugins: Run the files of rules that the configuration names.

    Raises:
        SchemalintError: The contracts or the configuration cannot be read.
    """
    repo = git.open_repository(Path(repository), os.environ)
    settings = config.load(lambda name: config.read_file(repo.root / name))
    request = DeployInput(
        repo,
        settings,
        choose_target(settings, target),
        git.find_head(repo, head, {}),
        rules_for_apply(selection_of(settings, repo.root if allow_local_plugins else None)),
        tuple(tables),
        frozenset(allow),
        allow_older=allow_older,
        repair_drift=repair_drift,
        base=base,
        reorder=reorder,
        applies=True,
    )
    deployment = deploy.prepare(request)
    return apply_plan(session, deployment)


def apply_plan(session: SqlSession, deployment: Deployment, tell: Told | None = None) -> tuple[Applied, ...]:
    """Carry a plan out, table by table: one that fails does not stop the others."""
    applied = _apply_tables(session, deployment, tell or (lambda _plan, _step: None))
    unplanned = (Applied(one.table, "", Outcome.UNPLANNED, error=one.error) for one in deployment.unplanned)
    return (*applied, *unplanned)


def _apply_tables(session: SqlSession, deployment: Deployment, tell: Told) -> Iterator[Applied]:
    for plan in deployment.plan.tables:
        if plan.refusals:
            yield Applied(plan.table, plan.uri, Outcome.REFUSED, plan.version)
            continue
        if not plan.steps and not plan.record:
            yield Applied(plan.table, plan.uri, Outcome.NOTHING, plan.version)
            continue
        contract = deployment.contracts[plan.table]
        done: list[Step] = []
        try:
            with prepared(session, _user_metadata(contract, deployment)):
                version = _apply_table(session, plan, deployment, done, tell)
        except SchemalintError as error:
            yield Applied(plan.table, plan.uri, Outcome.FAILED, plan.version, tuple(done), error)
        else:
            outcome = Outcome.APPLIED if plan.steps else Outcome.RECORDED
            yield Applied(plan.table, plan.uri, outcome, version, tuple(done))


def _apply_table(
    session: SqlSession,
    plan: TablePlan,
    deployment: Deployment,
    done: list[Step],
    tell: Told,
) -> int:
    _carry_out(session, plan, deployment, done, tell)
    if plan.again:
        anew = deploy.prepare(replace(_request_of(deployment), tables=(plan.table,)))
        (again,) = anew.plan.tables
        if again.refusals:
            raise ApplyError(f"{plan.table}: {again.refusals[0].reason}", help=again.refusals[0].help)
        return _apply_table(session, again, anew, done, tell)
    return _record(session, plan, deployment)


def _carry_out(
    session: SqlSession, plan: TablePlan, deployment: Deployment, done: list[Step], tell: Told
) -> None:
    storage = deployment.storage
    expected = plan.live if plan.live is not None else TableState()
    for step in plan.steps:
        found = read_live(plan.uri, storage)
        _require_unmoved(plan, found, step, expected, exists=plan.live is not None or bool(done))
        tell(plan, step)
        run(session, step.sql)
        done.append(step)
        before, expected = expected, simulate(expected, [step])
        _require_effect(plan, _existing(plan, storage), step, before, expected)


def _record(session: SqlSession, plan: TablePlan, deployment: Deployment) -> int:
    """The marker, once the table is as declared; only then what was noted on the way goes."""
    contract, storage = deployment.contracts[plan.table], deployment.storage
    table = _verified(plan, contract, storage)
    marker = Marker(plan.hash, deployment.revision, table.metadata.table_id).to_text()
    if table.state.properties.get(MARKER) != marker:
        run(session, set_properties(path_table(plan.uri), {MARKER: marker}))
    if PENDING in table.state.properties:
        run(session, unset_properties(path_table(plan.uri), [PENDING]))
    return _verified(plan, contract, storage).version


def _require_unmoved(
    plan: TablePlan, found: LiveTable | None, step: Step, expected: TableState, *, exists: bool
) -> None:
    if found is None and not exists:
        return
    if found is None or not exists:
        what = "appeared" if found is not None else "is gone"
        raise ApplyError(f"{plan.table} {what} since it was planned", help="plan again")
    if plan.table_id not in (None, found.metadata.table_id):
        raise ApplyError(f"{plan.table} was made anew since it was planned", help="plan again")
    different = moved(expected, _known(expected, found), step)
    if different:
        raise ApplyError(
            f"{plan.table} moved since it was planned: {'; '.join(different)}", help="plan again"
        )


def _require_effect(
    plan: TablePlan, table: LiveTable, step: Step, before: TableState, expected: TableState
) -> None:
    """Some statements report success and change nothing: the log has to show the change."""
    missing = moved(expected, _known(expected, table), step)
    if missing and before != expected:
        raise ApplyError(
            f"{plan.table} is not as it should be after a step: {'; '.join(missing)}",
            help=f"the statement was: {step.sql}",
        )


def _known(expected: TableState, found: LiveTable) -> TableState:
    """The found state without features that came along unasked: more than was planned does no harm."""
    state = found.state
    return replace(state, features=state.features & expected.features) if expected.features else state


def _verified(plan: TablePlan, contract: Contract, storage: Mapping[str, str]) -> LiveTable:
    """The table, read back; it must be as declared."""
    table = _existing(plan, storage)
    left = pending(contract, table.state)
    if left:
        names = ", ".join(sorted({type(one).__name__ for one in left}))
        raise ApplyError(f"{plan.table} differs from its declaration after all steps: {names}")
    return table


def _existing(plan: TablePlan, storage: Mapping[str, str]) -> LiveTable:
    table = read_live(plan.uri, storage)
    if table is None:
        raise ApplyError(f"there is no table at {plan.uri}")
    return table


def _request_of(deployment: Deployment) -> DeployInput:
    if deployment.request is None:
        raise InternalError("a plan that is to be made anew does not know what was asked for")
    return deployment.request


def _user_metadata(contract: Contract, deployment: Deployment) -> str:
    """Provenance for people; nothing is ever decided by it."""
    return json.dumps(
        {
            "schemalint": schemalint.__version__,
            "contract": contract.file,
            "revision": deployment.revision,
            "plan": deployment.plan.hash,
        }
    )
