"""The results of `apply`, once it has ended: text, or JSON as in ``deploy/results.schema.json``.

`schemalint.deploy.results` writes the same while it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schemalint import __version__
from schemalint.base.phrases import affixed, counted
from schemalint.base.printable import SafeText, json_text, terminal_text
from schemalint.deploy.deploy_input import Deployment
from schemalint.deploy.results import AppliedTable, Outcome, table_json
from schemalint.model.stream_report import stream_json
from schemalint.model.table_plan import Step, TablePlan
from schemalint.report.stream_texts import place_lines, settings_lines, stream_title, verdict_text
from schemalint.report.text_helpers import first_few

VERSION: Final = 1
"""The version of the format; it changes with the meaning of a key."""

_WITH_VERSION: Final = frozenset(
    {
        *(Outcome.APPLIED, Outcome.RECORDED, Outcome.WAITING),
        *(Outcome.FILLING, Outcome.REWRITING, Outcome.FAILED),
    }
)
"""The outcomes of tables that were opened, and so have a version to tell."""


def as_json(deployment: Deployment, results: Sequence[AppliedTable], exit_status: int) -> SafeText:
    """Render the results as one JSON object in ASCII."""
    plans = {plan.table: plan for plan in deployment.plan.tables}
    document = {
        "version": VERSION,
        "tool": {"name": "schemalint", "version": __version__},
        "target": deployment.plan.target,
        "revision": deployment.revision,
        "plan": deployment.plan_hash,
        "exit_status": exit_status,
        "tables": [table_json(result, plans.get(result.table)) for result in results],
        "streams": [stream_json(report) for result in results for report in result.streams],
        "skipped": [{"table": skipped.table, "reason": skipped.reason} for skipped in deployment.skipped],
    }
    return json_text(document, indent=2)


def text(result: AppliedTable) -> SafeText:
    """Render the result of a table, with what its declared streams meet."""
    facts = []
    if result.done:
        facts.append(counted(len(result.done), "statement"))
    if result.outcome in _WITH_VERSION and result.version is not None:
        facts.append(f"now at version {result.version}")
    tail = affixed(" (", ", ".join(facts), ")") + affixed(": ", result.reason)
    lines = [f"{result.table}: {result.outcome.value}{tail}"]
    lines += [f"  {done.note}" for done in result.done if done.note]
    for report in result.streams:
        lines.append(f"  {stream_title(report)}: {verdict_text(report)}")
        lines += [f"      {line}" for line in (*place_lines(report), *settings_lines(report, applied=True))]
    return terminal_text(lines)


def step_line(plan: TablePlan, step: Step) -> str:
    """Render a step that begins as one line."""
    return f"{plan.table}: {step.kind.value}: {'; '.join(first_few(step.reasons))}"
