"""A plan as SQL, for other tools that run the statements."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.deploy import Deployment
from schemalint.model.impact import impact
from schemalint.model.plan import Step, TablePlan
from schemalint.printable import printable
from schemalint.report.plan._words import locations_text, refusal_text, table_title, undo_text


def render(deployment: Deployment, *, color: bool = False) -> str:  # noqa: ARG001 (see Format)
    """Render the statements, each with a semicolon at the end, and all other text as comments."""
    lines = [line for plan in deployment.plan.tables for line in _table(plan)]
    lines += [_comment(f"{table.table}: skipped, {table.reason}") for table in deployment.skipped]
    lines += [
        _comment(f"{table.table}: not planned, {table.error.message}") for table in deployment.unplanned
    ]
    return "\n".join(lines) + "\n"


def _table(plan: TablePlan) -> Iterator[str]:
    yield _comment(table_title(plan))
    yield from (_comment(f"refused: {refusal_text(refusal)}") for refusal in plan.refusals)
    for step in plan.steps:
        yield ""
        yield from (_comment(text) for text in _remarks(step, creates=plan.live is None))
        yield f"{step.sql};"
    if plan.steps:
        yield ""
        yield _comment(
            "afterwards, verify: schemalint check --live --all --strict && schemalint plan --exit-code"
        )


def _remarks(step: Step, *, creates: bool) -> Iterator[str]:
    yield from step.reasons
    if step.sources:
        yield f"from {locations_text(step.sources)}"
    yield from (f"risk: {risk}" for risk in impact(step, creates=creates).risks)
    if step.needs is not None:
        yield f"needs approval: {step.needs.value}"
    yield undo_text(step)


def _comment(text: str) -> str:
    r"""Turn any text into a one-line comment.

    A backslash at the end would continue the comment on the next line (Spark's SqlBaseLexer.g4,
    SIMPLE_COMMENT), some clients split at every semicolon, and Spark substitutes ``${…}`` in comments too.
    """
    safe = printable(text).replace(";", r"\x3b").replace("${", r"\x24{")
    return f"-- {safe} ." if safe.endswith("\\") else f"-- {safe}"
