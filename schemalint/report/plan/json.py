"""A plan for programs, as ``plan.schema.json`` describes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemalint.model.impact import impact, stream_impacts
from schemalint.model.plan import PLAN_FORMAT
from schemalint.printable import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemalint.deploy import Deployment
    from schemalint.errors import Location
    from schemalint.model.contract import Consumer
    from schemalint.model.plan import Refusal, Step, TablePlan


def render(deployment: Deployment, *, color: bool = False) -> str:  # noqa: ARG001 (see Format)
    """One JSON object in ASCII; the same input gives the same bytes."""
    content = {
        "version": PLAN_FORMAT,
        "target": deployment.plan.target,
        "revision": deployment.revision,
        "hash": deployment.plan.hash,
        "tables": [_table(plan, _consumers(deployment, plan)) for plan in deployment.plan.tables],
        "skipped": [{"table": one.table, "reason": one.reason} for one in deployment.skipped],
        "errors": [
            {"table": one.table, "message": one.error.message, "help": one.error.help}
            for one in deployment.unplanned
        ],
    }
    return json_text(content, indent=2) + "\n"


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what `plan_as_json` returns."""
    loaded: dict[str, Any] = json.loads(Path(__file__).with_name("plan.schema.json").read_text("utf-8"))
    return loaded


def _consumers(deployment: Deployment, plan: TablePlan) -> Iterable[Consumer]:
    contract = deployment.contracts.get(plan.table)
    return contract.consumers if contract else ()


def _table(plan: TablePlan, consumers: Iterable[Consumer]) -> dict[str, object]:
    return {
        "table": plan.table,
        "name": plan.name,
        "uri": plan.uri,
        "table_id": plan.table_id,
        "version": plan.version,
        "declaration": plan.hash,
        "record": plan.record,
        "again": plan.again,
        "needs": sorted(one.value for one in plan.needs),
        "adds_features": sorted(plan.adds_features),
        "steps": [_step(step, creates=plan.live is None) for step in plan.steps],
        "streams": [
            {
                "consumer": one.consumer,
                "outcome": one.outcome,
                "steps": list(one.steps),
                "options": list(one.options),
            }
            for one in stream_impacts(plan, consumers)
        ],
        "refusals": [_refusal(one) for one in plan.refusals],
    }


def _step(step: Step, *, creates: bool) -> dict[str, object]:
    found = impact(step, creates=creates)
    return {
        "kind": step.kind.name.lower(),
        "sql": step.sql,
        "reasons": list(step.reasons),
        "places": [_place(place) for place in step.places],
        "requires": list(step.requires),
        "adds_features": sorted(step.adds_features),
        "cost": step.cost.name.lower(),
        "commits": step.commits,
        "risks": list(found.risks),
        "stops_tracked_streams": found.stops_streams,
        "undo": step.undo,
        "undo_note": step.undo_note,
        "needs": step.needs.value if step.needs is not None else None,
    }


def _refusal(refusal: Refusal) -> dict[str, object]:
    return {
        "code": refusal.code,
        "reason": refusal.reason,
        "help": refusal.help,
        "place": _place(refusal.finding.location) if refusal.finding else None,
        "awaits": refusal.awaits.value if refusal.awaits is not None else None,
    }


def _place(location: Location) -> dict[str, object]:
    return {"file": location.file, "line": location.line, "column": location.column}
