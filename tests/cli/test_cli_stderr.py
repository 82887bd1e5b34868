"""Standard error holds strangers' text too: it is as safe to print as a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.project import ORDERS

if TYPE_CHECKING:
    from support.project import Project

COMMANDS = ["##[error]x", "::add-mask::x", "##vso[task.setvariable variable=a]b", "\x1b[2Jx", "\u202ex"]


@pytest.mark.parametrize("text", COMMANDS)
def test_an_error_message_gives_neither_terminal_nor_ci_service_a_command(
    project: Project, text: str
) -> None:
    run = project.run("plan", "--config", text)
    assert run.status == 2
    assert "there is no file" in run.err
    lines = run.err.splitlines()
    assert not [line for line in lines if "##[" in line or "##vso[" in line or line.lstrip().startswith("::")]
    assert run.err.replace("\n", "").isprintable()


def test_a_value_that_only_looks_like_a_date_is_fixed_around(project: Project) -> None:
    """ruamel.yaml, the second reader of the fixed text, does not construct values."""
    contract = ORDERS.replace("{name: id, type: bigint}", "{name: id, type: int, comment: 2026-02-30}")
    project.declare(contract)
    project.repo.commit()
    project.declare(contract.replace("type: int", "type: bigint"))
    run = project.check("--fix")
    assert "fixed contracts/orders.yml" in run.err
    assert run.codes == ["PF004"]
