"""``apply --plan FILE``: apply only the reviewed plan, and only if it is still the current one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from schemalint import limits
from schemalint.deploy import Deployment
from schemalint.errors import UsageError
from schemalint.model.contract import table_key
from schemalint.model.plan import PLAN_FORMAT, Plan, Refusal, RefusalKind, TablePlan
from schemalint.reading import read_given
from schemalint.redaction import without_secrets
from schemalint.values import frozen, replace


@frozen
class PlannedTable:
    """A table in a plan file: what is compared with its current plan."""

    uri: str
    table_id: str | None
    statements: tuple[str, ...]
    requires: tuple[str, ...]


def restrict_to_file(deployment: Deployment, path: str) -> Deployment:
    """Return the deployment with only the tables of a plan file; refuse those that changed since.

    If the user requests tables by name, only these tables of the file remain.

    Raises:
        UsageError: The file is not a plan, is for another target, or lacks a requested table.
    """
    tables = _requested(deployment, _read(path, deployment.plan.target), path)
    known = {plan.table for plan in deployment.plan.tables} | {table.table for table in deployment.unplanned}
    if missing := sorted(tables.keys() - known):
        skipped = {table.table: f"which is {table.reason}" for table in deployment.skipped}
        reason = skipped.get(missing[0], "and no contract declares it")
        raise UsageError(f"{path} has {missing[0]}, {reason}", help="plan again")
    plans = (_compared(plan, tables[plan.table]) for plan in deployment.plan.tables if plan.table in tables)
    return replace(
        deployment,
        plan=Plan(deployment.plan.target, tuple(plans)),
        unplanned=tuple(table for table in deployment.unplanned if table.table in tables),
    )


def _requested(deployment: Deployment, tables: dict[str, PlannedTable], path: str) -> dict[str, PlannedTable]:
    """Return the tables of the file that the user requests by name; all if there are no names."""
    names = deployment.request.tables if deployment.request is not None else ()
    names_by_key = {table_key(table): table for table in tables}
    for name in names:
        if table_key(name) not in names_by_key:
            content = ", ".join(tables) or "no table"
            raise UsageError(f"{path} does not contain {name}", help=f"it contains {content}")
    if not names:
        return tables
    return {table: tables[table] for table in (names_by_key[table_key(name)] for name in names)}


def _read(path: str, target: str | None) -> dict[str, PlannedTable]:
    try:
        content: Any = json.loads(read_given(path, limits.MAX_PLAN_FILE))
        if content["version"] != PLAN_FORMAT:
            raise UsageError(f"{path} has another plan format: {content['version']!r}", help="plan again")
        if content["target"] != target:
            raise UsageError(f"{path} is a plan for target {content['target']}, not {target}")
        return {str(entry["table"]): _table(entry) for entry in content["tables"]}
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise UsageError(f"{path} is not a plan", help="schemalint plan --out plan.json") from None


def _table(entry: Any) -> PlannedTable:  # noqa: ANN401 (JSON; `_read` catches the errors of wrong content)
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
        return plan  # a first run of the same file has executed the statements
    differences = list(_differences(plan, approved))
    if not differences:
        return plan
    reason = f"the table differs from the plan file: {'; '.join(differences)}"
    refusal = Refusal(RefusalKind.OPERATION, reason, "plan again")
    return replace(plan, steps=(), writes_marker=False, refusals=(refusal,))


def _differences(plan: TablePlan, approved: PlannedTable) -> Iterator[str]:
    """Compare a plan with the file, which contains no credentials: two that differ only there are equal."""
    uri = without_secrets(plan.uri)
    if uri != approved.uri:
        yield f"it is at {uri}, and was at {approved.uri}"
    if plan.table_id != approved.table_id:
        yield "another table is at this location now" if plan.table_id else "the table is gone"
    requires = [without_secrets(sentence) for step in plan.steps for sentence in step.requires]
    statements = tuple(without_secrets(step.sql) for step in plan.steps)
    yield from (f"now {sentence}" for sentence in requires if sentence not in approved.requires)
    yield from (f"no longer {sentence}" for sentence in approved.requires if sentence not in requires)
    if requires == list(approved.requires) and statements != approved.statements:
        yield "the statements differ"
