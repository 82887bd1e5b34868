"""A plan for those who run statements by other means."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.deploy import Deployment
from schemalint.model.impact import impact
from schemalint.model.plan import Step, TablePlan
from schemalint.printable import printable
from schemalint.report.plan._words import place_of_table, places_text, refusal_text, undo_text


def render(deployment: Deployment, *, color: bool = False) -> str:  # noqa: ARG001 (see Format)
    """The statements, each closed by a semicolon; all else stands in comments."""
    lines = [line for plan in deployment.plan.tables for line in _table(plan)]
    lines += [_comment(f"{one.table}: skipped, {one.reason}") for one in deployment.skipped]
    lines += [_comment(f"{one.table}: not planned, {one.error.message}") for one in deployment.unplanned]
    return "\n".join(lines) + "\n"


def _table(plan: TablePlan) -> Iterator[str]:
    yield _comment(place_of_table(plan))
    yield from (_comment(f"refused: {refusal_text(one)}") for one in plan.refusals)
    for step in plan.steps:
        yield ""
        yield from (_comment(text) for text in _remarks(step, creates=plan.live is None))
        yield f"{step.sql};"
    if plan.steps:
        yield ""
        yield _comment("then prove it: schemalint check --live --all --strict && schemalint plan --exit-code")


def _remarks(step: Step, *, creates: bool) -> Iterator[str]:
    yield from step.reasons
    if step.places:
        yield f"from {places_text(step.places)}"
    yield from (f"risk: {risk}" for risk in impact(step, creates=creates).risks)
    if step.needs is not None:
        yield f"needs approval: {step.needs.value}"
    yield undo_text(step)


def _comment(text: str) -> str:
    r"""One line of comment, whatever the text.

    A backslash at its end would let the comment go on (Spark's SqlBaseLexer.g4, SIMPLE_COMMENT), some clients
    split at every semicolon, and Spark substitutes ``${…}`` in comments too.
    """
    safe = printable(text).replace(";", r"\x3b").replace("${", r"\x24{")
    return f"-- {safe} ." if safe.endswith("\\") else f"-- {safe}"
