"""``apply --plan FILE``: only what was looked at is done, and only if the plan is still that one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schemalint.deploy import Deployment
from schemalint.errors import UsageError
from schemalint.model.contract import table_key
from schemalint.model.plan import PLAN_FORMAT, Plan, Refusal, TablePlan
from schemalint.values import frozen, replace


@frozen
class PlannedTable:
    """A table in a plan file: what is compared with the plan as it would be made now."""

    uri: str
    table_id: str | None
    statements: tuple[str, ...]
    requires: tuple[str, ...]


def restrict_to_file(deployment: Deployment, path: str) -> Deployment:
    """The deployment with the tables of a plan file only; those that moved since are refused.

    Where tables are asked for by name, only these of the file.

    Raises:
        UsageError: The file is no plan, one for another target, or one without a table that is asked for.
    """
    tables = _asked(deployment, _read(path, deployment.plan.target), path)
    known = {plan.table for plan in deployment.plan.tables} | {one.table for one in deployment.unplanned}
    if missing := sorted(tables.keys() - known):
        skipped = {one.table: f"which is {one.reason}" for one in deployment.skipped}
        reason = skipped.get(missing[0], "and no contract declares it")
        raise UsageError(f"{path} has {missing[0]}, {reason}", help="plan again")
    plans = (_compared(plan, tables[plan.table]) for plan in deployment.plan.tables if plan.table in tables)
    return replace(
        deployment,
        plan=Plan(deployment.plan.target, tuple(plans)),
        unplanned=tuple(one for one in deployment.unplanned if one.table in tables),
    )


def _asked(deployment: Deployment, tables: dict[str, PlannedTable], path: str) -> dict[str, PlannedTable]:
    """Those tables of the file that are asked for by name; all if none is."""
    names = deployment.request.tables if deployment.request is not None else ()
    found = {table_key(table): table for table in tables}
    for name in names:
        if table_key(name) not in found:
            raise UsageError(f"{path} does not have {name}", help=f"it has {', '.join(tables) or 'no table'}")
    return {table: tables[table] for table in (found[table_key(name)] for name in names)} if names else tables


def _read(path: str, target: str | None) -> dict[str, PlannedTable]:
    try:
        content: Any = json.loads(Path(path).read_bytes())
        if content["version"] != PLAN_FORMAT:
            raise UsageError(f"{path} is a plan of another format: {content['version']!r}", help="plan again")
        if content["target"] != target:
            raise UsageError(f"{path} is a plan for target {content['target']}, not {target}")
        return {str(one["table"]): _table(one) for one in content["tables"]}
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise UsageError(f"{path} is no plan", help="schemalint plan --out plan.json") from None


def _table(entry: Any) -> PlannedTable:  # noqa: ANN401 (JSON; what does not fit raises in `_read`)
    steps = entry["steps"]
    return PlannedTable(
        str(entry["uri"]),
        entry["table_id"],
        tuple(str(step["sql"]) for step in steps),
        tuple(str(sentence) for step in steps for sentence in step["requires"]),
    )


def _compared(plan: TablePlan, approved: PlannedTable) -> TablePlan:
    if plan.refusals or not (plan.steps or approved.statements):
        return plan
    if not plan.steps and plan.table_id == approved.table_id:
        return plan  # the statements are made already, as by a first run of the same file
    moved = list(_moved(plan, approved))
    if not moved:
        return plan
    refusal = Refusal(f"it is not as in the plan any more: {'; '.join(moved)}", "plan again")
    return replace(plan, steps=(), record=False, refusals=(refusal,))


def _moved(plan: TablePlan, approved: PlannedTable) -> Iterator[str]:
    if plan.uri != approved.uri:
        yield f"it lies at {plan.uri}, and was at {approved.uri}"
    if plan.table_id != approved.table_id:
        yield "another table is there now" if plan.table_id else "the table is gone"
    requires = [sentence for step in plan.steps for sentence in step.requires]
    yield from (f"now {one}" for one in requires if one not in approved.requires)
    yield from (f"no longer {one}" for one in approved.requires if one not in requires)
    if requires == list(approved.requires) and tuple(step.sql for step in plan.steps) != approved.statements:
        yield "the statements are others"
