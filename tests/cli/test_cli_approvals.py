"""What `apply` asks for before a statement runs, and what it says where an approval is missing."""

from __future__ import annotations

import json
import re

import pytest

from schemalint.cli import apply as apply_command
from schemalint.delta.datatype import LONG, Decimal, Field
from support.logs import commit_info, metadata, protocol, write_log
from support.project import ORDERS, Project

NOTHING = f"2:{'0' * 64}"


@pytest.fixture
def gated(project: Project) -> Project:
    """A project whose only table waits for a protocol upgrade, which needs an approval."""
    lake = project.repo.path.parent / "lake"
    project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{lake}"\n')
    columns = Field("id", LONG), Field("amount", Decimal(10, 2))
    write_log(lake / "sales/orders", [[commit_info("CREATE TABLE"), protocol(), metadata(*columns)]])
    project.declare(ORDERS + "properties: {delta.enableTypeWidening: true}\n")
    project.repo.commit()
    return project


def test_yes_approves_no_gated_step_and_the_refusal_names_the_hash_that_does(gated: Project) -> None:
    (table,) = json.loads(gated.run("plan", "--output-format", "json").out)["tables"]
    run = gated.run("apply", "--yes")
    assert (run.status, table["needs"], table["approved"]) == (4, ["upgrade"], False)
    assert run.err.splitlines() == [
        "sales.orders: set properties: approval required",
        f"  help: review the plan, then --approved {table['hash']}, or --allow upgrade",
    ]
    assert f'\n  "{table["hash"]}",  # sales.orders in dev: upgrade\n' in run.out


def test_all_missing_approvals_are_named_at_once_ready_to_be_pasted(gated: Project) -> None:
    """Also that of the fill, which is left out of the plan that is refused."""
    cents = "  - {name: cents, type: bigint, backfill: {from: amount, with: cast(amount * 100 as bigint)}}\n"
    gated.declare(f"{ORDERS}{cents}properties: {{delta.enableTypeWidening: true}}\n")
    gated.repo.commit()
    run = gated.run("apply", "--yes")
    assert (run.status, run.err.rstrip().endswith("or --allow upgrade --allow data")) == (4, True)


def test_no_session_starts_for_steps_that_nobody_approved(
    gated: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(*_settings: object) -> None:
        raise AssertionError

    monkeypatch.setattr("schemalint.spark.session.start", start)
    assert gated.run("apply", "--yes").status == 4


def test_run_without_a_terminal_says_what_it_waits_for(gated: Project) -> None:
    run = gated.run("apply")
    assert (run.status, run.err) == (
        4,
        "nothing was changed: 1 table needs an approval; confirm the rest with --yes\n",
    )
    gated.declare(ORDERS + "description: Orders.\n")
    gated.repo.commit()
    run = gated.run("apply")
    assert (run.status, run.err) == (4, "nothing was changed: confirm the plan with --yes\n")


def test_prompt_asks_for_the_approval_together_with_the_confirmation(
    gated: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def declined(question: str) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr(apply_command, "can_ask", lambda: True)
    monkeypatch.setattr(apply_command, "confirmed", declined)
    run = gated.run("apply")
    assert (run.status, run.err) == (4, "nothing was changed\n")
    assert asked == ["Approve the steps of 1 table, and apply this?"]


def test_approval_that_fits_nothing_is_said(gated: Project) -> None:
    run = gated.run("apply", "--yes", "--approved", NOTHING)
    assert run.status == 4
    assert run.err.startswith(f"warning: {NOTHING} matches no pending step: ")
    short = gated.run("apply", "--yes", "--approved", "2:0f3a")
    assert short.status == 2
    assert "2:0f3a is not the hash of a plan or of a table" in short.err


def test_steps_approved_in_the_configuration_are_shown_as_approved(gated: Project) -> None:
    plan = json.loads(gated.run("plan", "--output-format", "json").out)
    settings = (gated.repo.path / "schemalint.toml").read_text()
    for approved in (plan["hash"], plan["tables"][0]["hash"]):
        gated.repo.write("schemalint.toml", f'approved-plans = ["{approved}"]\n{settings}')
        gated.repo.commit()
        run = gated.run("plan")
        assert run.status == 0
        assert "metadata only, approved: upgrade)" in run.out
        assert re.search(r"^approved-plans", run.out, re.MULTILINE) is None
