"""``plan --changed``: the tables that a change touches; all others are only counted."""

from __future__ import annotations

from collections.abc import Iterable

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.contract.revisions import contracts_at
from schemalint.deploy.request import DeployInput, Deployment, OtherTables
from schemalint.model.contract import Contract
from schemalint.model.marker import declaration_hash
from schemalint.model.plan import Plan
from schemalint.project.git import Side


def only_changed(deployment: Deployment, since: Side) -> Deployment:
    """Return the deployment of the tables whose effective declaration is another one than on the base side.

    The other tables do not fail it. A contract that cannot be read at the base counts as changed.
    """
    others = _unchanged(deployment.request, since) if deployment.request is not None else frozenset[str]()
    kept = tuple(plan for plan in deployment.plan.tables if plan.table not in others)
    plan = Plan(deployment.plan.target, kept)
    tables = [table for table in deployment.plan.tables if table.table in others]
    return replace(
        deployment,
        plan=plan,
        full_hash=plan.hash,
        unplanned=tuple(table for table in deployment.unplanned if table.table not in others),
        skipped=tuple(table for table in deployment.skipped if table.table not in others),
        streams=tuple(report for report in deployment.streams if report.table not in others),
        others=OtherTables(
            len(others),
            pending=_names(table.table for table in tables if table.steps),
            refused=_names(table.table for table in tables if table.refusals),
            unplanned=_names(table.table for table in deployment.unplanned if table.table in others),
        ),
    )


def _unchanged(request: DeployInput, since: Side) -> frozenset[str]:
    globs, target = request.settings.config.globs, request.target.name
    before = contracts_at(request.repository, since, globs).contracts
    declared = contracts_at(request.repository, request.head, globs).contracts
    return frozenset(
        contract.table
        for key, contract in declared.items()
        if key in before
        and _planned_from(contracts.effective(before[key], target))
        == _planned_from(contracts.effective(contract, target))
    )


def _names(tables: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(tables))


def _planned_from(contract: Contract) -> object:
    """Return what of an effective contract a plan depends on."""
    return (
        declaration_hash(contract),
        contract.location,
        contract.absent,
        (contract.managed_by, contract.managed_how),
        contract.protocol,
        contract.open,
    )
