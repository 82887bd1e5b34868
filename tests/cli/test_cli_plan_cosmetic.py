"""``cosmetic = "ride-along"``: comments and column order wait where they would stop a tracked stream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from schemalint.cli.schema import schema_of
from schemalint.delta.datatype import LONG, STRING, Field
from support.logs import commit_info, metadata, protocol, write_log

if TYPE_CHECKING:
    from support.project import Project

BEFORE = """\
schemalint: 1
table: sales.orders
columns:
  - {name: id, type: bigint}
  - {name: note, type: string}
"""
TRACKED = """\
consumers:
  - {name: silver, stream: {checkpoint: s3://chk/a, schema_tracking_location: s3://chk/a/schema}}
"""
UNTRACKED = """\
consumers:
  - {name: silver, stream: {checkpoint: s3://chk/a}}
"""
COMMENTED = BEFORE.replace("note,", "note, comment: Free text,")
ORDERED = "columns:\n  - {name: note, type: string}\n  - {name: id, type: bigint}\n"


@pytest.fixture
def orders(project: Project) -> Project:
    """Return a project with a live table, and with cosmetic steps that ride along."""
    lake = project.repo.path.parent / "lake"
    project.repo.write("schemalint.toml", f'cosmetic = "ride-along"\n[targets.dev]\nroot = "{lake}"\n')
    project.declare(BEFORE)
    project.repo.commit()
    columns = (Field("id", LONG), Field("note", STRING))
    write_log(lake / "sales/orders", [[commit_info("CREATE TABLE"), protocol(), metadata(*columns)]])
    return project


def _plan(project: Project, text: str, *arguments: str, status: int = 0) -> Any:  # noqa: ANN401
    project.declare(text)
    run = project.run("plan", "--exit-code", "--output-format", "json", *arguments)
    assert run.status == status, run.out + run.err
    content = json.loads(run.out)
    Draft202012Validator(schema_of("plan")).validate(content)
    (table,) = content["tables"]
    return table


@pytest.mark.parametrize(
    ("text", "arguments", "waits"),
    [
        (COMMENTED + TRACKED, (), True),
        (BEFORE[: BEFORE.index("columns")] + ORDERED + TRACKED, ("--reorder",), True),
        (COMMENTED + "description: Orders\n" + TRACKED, (), True),
        (BEFORE + "description: Orders\n" + TRACKED, (), False),  # a table comment stops no stream
        (COMMENTED + UNTRACKED, (), False),
        (COMMENTED, (), False),
        (COMMENTED + TRACKED, ("--cosmetic", "now"), False),
        (COMMENTED + "properties: {team: sales}\n" + TRACKED, (), False),
        (COMMENTED + "  - {name: new, type: int}\n" + TRACKED, (), False),
    ],
)
def test_only_comments_and_order_wait_and_only_for_a_tracked_stream(
    orders: Project, text: str, arguments: tuple[str, ...], *, waits: bool
) -> None:
    plan = _plan(orders, text, *arguments, status=0 if waits else 4)
    statements = plan["waiting"] if waits else plan["steps"]
    assert len(statements) >= 1
    assert (plan["record"], bool(plan["waiting"]), bool(plan["steps"])) == (not waits, waits, not waits)


def test_default_is_to_apply_comments_now(orders: Project) -> None:
    settings = orders.repo.path / "schemalint.toml"
    settings.write_text(settings.read_text().replace('cosmetic = "ride-along"\n', ""))
    assert _plan(orders, COMMENTED + TRACKED, status=4)["waiting"] == []
    assert _plan(orders, COMMENTED + TRACKED, "--cosmetic", "ride-along")["steps"] == []


@pytest.mark.parametrize(
    ("output_format", "lines"),
    [
        (
            "text",
            [
                "sales.orders (LAKE/sales/orders): waiting for the next change (or --cosmetic now)",
                "  - alter columns: the comment of note is declared",
            ],
        ),
        (
            "markdown",
            [
                (
                    "- <code>sales&#46;orders</code>: waiting for the next change (or --cosmetic now); "
                    "alter columns&#58; the comment of note is declared"
                )
            ],
        ),
        ("sql", ["-- waiting: alter columns: the comment of note is declared"]),
    ],
)
def test_waiting_table_is_listed_in_every_format(
    orders: Project, output_format: str, lines: list[str]
) -> None:
    orders.declare(COMMENTED + TRACKED)
    text = orders.run("plan", "--output-format", output_format).out
    text = text.replace(str(orders.repo.path.parent / "lake"), "LAKE")
    assert [line for line in text.splitlines() if line in lines] == lines
    assert "stops" not in text


def test_check_says_that_comments_wait_and_stop_no_stream(orders: Project) -> None:
    orders.declare(BEFORE + TRACKED)
    orders.repo.commit()
    orders.declare(COMMENTED + TRACKED)
    for arguments in ((), ("--live",)):
        run = orders.run("check", "--select", "RD", "--output-format", "json", *arguments)
        content = json.loads(run.out)
        (stream,) = content["streams"]
        assert stream["if_up_to_date" if arguments else "verdict"] == "continues"
        messages = [finding["message"] for finding in content["findings"] if finding["code"] == "RD011"]
        place = " (at an unknown position)" if arguments else ""
        expected = "the change waits for the table's next one, because it would stop streams: "
        assert messages == [f"{expected}silver{place} once"]


def test_unknown_value_is_refused(orders: Project) -> None:
    orders.repo.write("schemalint.toml", 'cosmetic = "later"\n')
    run = orders.run("check")
    assert run.status == 2
    assert "cosmetic must be 'now' or 'ride-along'" in run.err + run.out
