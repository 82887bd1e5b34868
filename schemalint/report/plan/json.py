"""A plan as JSON, which ``plan.schema.json`` describes."""

from __future__ import annotations

import json

from schemalint.base.errors import Location
from schemalint.base.printable import SafeText, json_text
from schemalint.deploy.approvals import missing_approvals
from schemalint.deploy.deploy_input import Deployment, OtherTables
from schemalint.deploy.plan_file import origin_to_json
from schemalint.model.contract import Contract
from schemalint.model.impact import passes, risks, table_risks
from schemalint.model.stream_report import stream_json
from schemalint.model.table_plan import PLAN_FORMAT, Refusal, Step, TablePlan
from schemalint.report.words import client_json, consequence_json, way_json


def render(deployment: Deployment, *, color: bool = False) -> SafeText:  # noqa: ARG001 (see Format)
    """Render one JSON object in ASCII; the same input gives the same bytes."""
    content = {
        "version": PLAN_FORMAT,
        "target": deployment.plan.target,
        "engine": None if deployment.engine is None else str(deployment.engine),
        "revision": deployment.revision,
        "hash": deployment.plan_hash,
        "tables": [_table(deployment, plan) for plan in deployment.plan.tables],
        "streams": [stream_json(report) for report in deployment.streams],
        "clients": [client_json(client) for plan in deployment.plan.tables for client in plan.clients],
        "skipped": [{"table": table.table, "reason": table.reason} for table in deployment.skipped],
        "others": _others(deployment.others),
        "errors": [
            {"table": table.table, "message": table.error.message, "help": table.error.help}
            for table in deployment.unplanned
        ],
    }
    return json_text(content, indent=2)


def _table(deployment: Deployment, plan: TablePlan) -> dict[str, object]:
    return {
        "table": plan.table,
        "name": plan.name,
        "uri": plan.uri,
        "table_id": plan.table_id,
        "version": plan.version,
        "declaration": plan.declaration_hash,
        "hash": plan.hash,
        "record": plan.writes_marker,
        "needs": sorted(approval.value for approval in plan.needs),
        "approved": not missing_approvals(deployment, plan),
        "adds_features": sorted(plan.adds_features),
        "bytes": plan.size,
        "steps": [_step(step, plan) for step in plan.steps],
        "risks": list(table_risks(plan)),
        "waiting": [step.sql for step in plan.waiting],
        "refusals": [_refusal(refusal) for refusal in plan.refusals],
        **({"script": list(plan.script.statements)} if plan.script is not None else {}),
        "origin": _origin(plan, deployment.contracts.get(plan.table)),
        **_proofs(deployment, plan),
        **_rewrite_proof(deployment, plan),
    }


def _proofs(deployment: Deployment, plan: TablePlan) -> dict[str, object]:
    """Return what the fills would find, if the rows were counted."""
    proofs = deployment.proofs.get(plan.table)
    if proofs is None:
        return {}
    counts = [
        {
            "column": proof.column,
            "from": proof.source,
            "to_fill": proof.to_fill,
            "equal": proof.equal,
            "not_converted": proof.not_converted,
            "inexact": proof.inexact,
            "differing": proof.differing,
            "problem": proof.problem,
        }
        for proof in proofs
    ]
    return {"proofs": counts}


def _rewrite_proof(deployment: Deployment, plan: TablePlan) -> dict[str, object]:
    """Return what a rewrite would meet, if somebody asked."""
    proof = deployment.rewrite_proofs.get(plan.table)
    if proof is None:
        return {}
    found = {
        "refused": dict(proof.refused),
        "reads_in": None if proof.reads_in is None else round(proof.reads_in, 1),
        "longest_pause": None if proof.longest_pause is None else round(proof.longest_pause),
        "writers": dict(proof.writers),
        "problem": proof.problem,
    }
    return {"rewrite_proof": found}


def _others(others: OtherTables | None) -> dict[str, object] | None:
    if others is None:
        return None
    return {
        "number": others.number,
        "pending": list(others.pending),
        "refused": list(others.refused),
        "unplanned": list(others.unplanned),
    }


def _origin(plan: TablePlan, contract: Contract | None) -> dict[str, object] | None:
    """Return what the steps are planned from; null if a credential is part of it, which no file holds."""
    origin = origin_to_json(plan, contract) if contract is not None else None
    if origin is None or json.loads(json_text(origin)) != origin:
        return None
    return origin


def _step(step: Step, plan: TablePlan) -> dict[str, object]:
    return {
        "kind": step.kind.name.lower(),
        "sql": step.sql,
        "reasons": list(step.reasons),
        "places": [_location(location) for location in step.sources],
        "requires": list(step.requires),
        "adds_features": sorted(step.adds_features),
        "cost": step.cost.name.lower(),
        "commits": step.commits,
        "passes": passes(step, plan),
        "risks": list(risks(step, plan)),
        "undo": step.undo,
        "undo_note": step.undo_note,
        "needs": sorted(approval.value for approval in step.needs),
    }


def _refusal(refusal: Refusal) -> dict[str, object]:
    return {
        "kind": refusal.kind.name.lower(),
        "code": refusal.code,
        "reason": refusal.reason,
        "help": refusal.help,
        "place": _location(refusal.location) if refusal.location else None,
        "awaits": sorted(approval.value for approval in refusal.awaits),
        "then": [consequence_json(each) for each in refusal.then],
        "ways": [way_json(way) for way in refusal.ways],
    }


def _location(location: Location) -> dict[str, object]:
    return {"file": location.file, "line": location.line, "column": location.column}
