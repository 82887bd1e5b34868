"""What `apply` did, for the log of a deployment: text, or JSON as ``deploy_log.schema.json`` describes it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from schemalint import __version__
from schemalint.printable import json_text, printable

if TYPE_CHECKING:
    from schemalint.deploy import Deployment
    from schemalint.deploy.outcome import Applied
    from schemalint.model.plan import TablePlan

VERSION: Final = 1
"""The version of the format: another meaning of a key is another version."""


def as_json(deployment: Deployment, results: Iterable[Applied], exit_status: int) -> str:
    """One JSON object in ASCII."""
    plans = {plan.table: plan for plan in deployment.plan.tables}
    document = {
        "version": VERSION,
        "tool": {"name": "schemalint", "version": __version__},
        "target": deployment.plan.target,
        "revision": deployment.revision,
        "plan": deployment.plan.hash,
        "exit_status": exit_status,
        "tables": [_table(one, plans.get(one.table)) for one in results],
        "skipped": [{"table": one.table, "reason": one.reason} for one in deployment.skipped],
    }
    return json_text(document, indent=2) + "\n"


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what `as_json` returns."""
    loaded: dict[str, Any] = json.loads(Path(__file__).with_name("deploy_log.schema.json").read_text("utf-8"))
    return loaded


def line(one: Applied) -> str:
    """A table on one line."""
    facts = []
    if one.done:
        facts.append(f"{len(one.done)} statement{'s' if len(one.done) != 1 else ''}")
    if one.outcome.name in ("APPLIED", "RECORDED", "FAILED") and one.version is not None:
        facts.append(f"now at version {one.version}")
    return printable(f"{one.table}: {one.outcome.value}" + (f" ({', '.join(facts)})" if facts else ""))


def _table(one: Applied, plan: TablePlan | None) -> dict[str, object]:
    return {
        "table": one.table,
        "uri": one.uri,
        "outcome": one.outcome.name.lower(),
        "version_before": one.before,
        "version_after": one.version,
        "steps": [
            {
                "kind": done.step.kind.name.lower(),
                "sql": done.step.sql,
                "version": done.version,
                "seconds": round(done.seconds, 3),
            }
            for done in one.done
        ],
        "refusals": [
            {"code": refusal.code, "reason": refusal.reason, "help": refusal.help}
            for refusal in (plan.refusals if plan is not None else ())
        ],
        "error": {"message": one.error.message, "help": one.error.help} if one.error is not None else None,
    }
