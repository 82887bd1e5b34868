"""The one place that decides whether the steps of a plan are approved: by kind, by hash, or in a prompt.

A hash approves the steps that it was made of and no other: `TablePlan.hash` those of a table, in whatever
run it is planned, and `Plan.hash` those of a run over exactly its tables.

An upgrade that the contract does not allow (PF004) is planned as if it did, and its steps then need the
approval. No approval touches another rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from schemalint.base.errors import UsageError
from schemalint.base.values import replace
from schemalint.delta.change import change_path
from schemalint.delta.path import Path, lowercased
from schemalint.deploy.deploy_input import Deployment
from schemalint.model.effective import Effective
from schemalint.model.table_plan import (
    PLAN_FORMAT,
    Approval,
    Plan,
    Refusal,
    RefusalKind,
    Step,
    StepKind,
    TablePlan,
)


def require_hashes(texts: Iterable[str]) -> frozenset[str]:
    """Return the hashes that the user approves.

    Raises:
        UsageError: A text is no hash, or one of another version of schemalint.
    """
    hashes = frozenset(texts)
    for text in sorted(hashes):
        if not re.fullmatch(r"\d+:[0-9a-f]{64}", text):
            raise UsageError(
                f"{text} is not the hash of a plan or of a table", help="copy it whole from `schemalint plan`"
            )
        if not text.startswith(f"{PLAN_FORMAT}:"):
            raise UsageError(f"{text[:14]} is the hash of another format of plans", help="plan again")
    return hashes


def require_at_most(plan: Plan, most: int | None) -> None:
    """Refuse a plan that changes more tables than the user expects; a marker changes no table.

    Raises:
        UsageError: It does.
    """
    changed = [table.table for table in plan.tables if table.steps and not table.refusals]
    if most is not None and len(changed) > most:
        raise UsageError(
            f"the plan changes {len(changed):,} tables, more than --max-tables {most}: nothing was changed",
            help="read the plan: if it is right, name fewer tables, or raise --max-tables",
        )


def missing_approvals(deployment: Deployment, table: TablePlan) -> frozenset[Approval]:
    """Return the approvals that the steps of a table still need."""
    if _is_approved(deployment, table):
        return frozenset()
    allowed = deployment.request.options.allow if deployment.request is not None else ()
    return frozenset(approval for approval in table.needs if approval.value not in allowed)


def allowing(approvals: Iterable[Approval]) -> str:
    """Return the options that give approvals, ready to be pasted."""
    return " ".join(f"--allow {approval.value}" for approval in Approval if approval in set(approvals))


def is_approved_by_hash(deployment: Deployment) -> bool:
    """Whether hashes approve all steps of a run: nobody is asked about them again."""
    tables = [table for table in deployment.plan.tables if table.steps]
    return bool(tables) and all(_is_approved(deployment, table) for table in tables)


def unused_hashes(deployment: Deployment) -> list[str]:
    """Return the hashes that the user gave for this run, and that approve nothing in it."""
    used = {deployment.plan_hash, *(table.hash for table in deployment.plan.tables)}
    if deployment.request is None:
        return []
    return sorted({*deployment.request.options.approved} - used)


def without_unapproved(deployment: Deployment) -> Deployment:
    """Return the deployment that refuses each table whose steps lack an approval.

    A plan file runs only approved, whatever its steps need.
    """
    tables = tuple(_checked(deployment, table) for table in deployment.plan.tables)
    full_hash = deployment.plan_hash
    return replace(deployment, plan=replace(deployment.plan, tables=tables), full_hash=full_hash)


def with_upgrade_allowed(contract: Effective) -> Effective:
    """Return the contract as if it allowed protocol upgrades itself."""
    return replace(contract, protocol=replace(contract.protocol, allow_upgrade=True))


def with_upgrade_gated(plan: TablePlan) -> TablePlan:
    """Return the plan whose steps need an approval where they upgrade the protocol."""
    steps = tuple(
        replace(step, needs=step.needs | {Approval.UPGRADE}) if step.adds_features else step
        for step in plan.steps
    )
    return replace(plan, steps=steps)


def _approved_hashes(deployment: Deployment) -> frozenset[str]:
    """Return the approved hashes, of plans and of tables (``--approved``, ``approved-plans``)."""
    request = deployment.request
    if request is None:
        return deployment.approved or frozenset()
    return request.settings.config.approved_plans.union(request.options.approved)


def _is_approved(deployment: Deployment, table: TablePlan) -> bool:
    return not _approved_hashes(deployment).isdisjoint({table.hash, deployment.plan_hash})


def _checked(deployment: Deployment, table: TablePlan) -> TablePlan:
    if deployment.approved is not None and table.has_work and not _is_approved(deployment, table):
        return _refused_in_file(table)
    missing = every = missing_approvals(deployment, table)
    rewrites = [step for step in table.steps if step.rewrite is not None]
    if any(step.needs & missing for step in rewrites):
        table = _without_rewrite(table)
        missing &= table.needs
    if Approval.DATA in missing:
        table, missing = _without_fills(table), missing - {Approval.DATA}
    return _refused(table, missing, every) if missing else table


def _without_fills(plan: TablePlan) -> TablePlan:
    """Leave out the fills: what needs them, a drop or a constraint, counts the rows that are left first."""
    fills = tuple(step for step in plan.steps if step.kind is StepKind.FILL)
    steps = tuple(step for step in plan.steps if step.kind is not StepKind.FILL)
    return replace(plan, steps=steps, unfilled=(*plan.unfilled, *fills), filed_hash=plan.hash)


def _without_rewrite(plan: TablePlan) -> TablePlan:
    """Leave out the rewrite, and what is planned for the table as it leaves it.

    That is what sets its clustering again, or touches or reads a column that it makes anew. The marker would
    say that the table is as declared.
    """
    made = {
        lowercased(value.column[:1])
        for step in plan.steps
        if step.rewrite is not None
        for value in step.rewrite.values
    }
    left = tuple(step for step in plan.steps if _needs_rewrite(step, made))
    steps = tuple(step for step in plan.steps if step not in left)
    unfilled = (*plan.unfilled, *left)
    return replace(plan, steps=steps, unfilled=unfilled, writes_marker=False, filed_hash=plan.hash)


def _needs_rewrite(step: Step, made: set[Path]) -> bool:
    if step.rewrite is not None or step.kind in {StepKind.CLUSTER, StepKind.ADD_CONSTRAINT, StepKind.FILL}:
        return True
    paths = (change_path(change) for change in step.changes)
    return any(path is not None and lowercased(path[:1]) in made for path in paths)


def _refused_in_file(plan: TablePlan) -> TablePlan:
    refusal = Refusal(
        RefusalKind.APPROVAL,
        "the plan file needs an approval",
        f"review the plan, then --approved {plan.hash}",
    )
    return plan.refused(refusal)


def _refused(plan: TablePlan, missing: frozenset[Approval], every: frozenset[Approval]) -> TablePlan:
    """Refuse a table for the approvals that it lacks; the help names those of steps left out before, too."""
    kinds = ", ".join(sorted({step.kind.value for step in plan.steps if step.needs & missing}))
    refusal = Refusal(
        RefusalKind.APPROVAL,
        f"{kinds}: approval required",
        f"review the plan, then --approved {plan.hash}, or {allowing(every)}",
        awaits=missing,
    )
    return plan.refused(refusal)
