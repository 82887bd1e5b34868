"""The ways out at the end of a finding hold: the entry that it prints approves this very finding."""

from __future__ import annotations

import json
import re
import textwrap
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.project import Project

CONTRACT = """\
schemalint: 1
table: sales.orders
owner: "@sales"
columns:
  - {name: id, type: bigint, nullable: false}
  - {name: amount, type: "decimal(10,2)"}
  - {name: "odd, {name}: #x", type: bigint}
  - {name: lines, type: "array<struct<sku: string, qty: bigint>>"}
  - {name: day, type: date}
partitioned_by: [day]
constraints: {positive: amount > 0}
consumers:
  - {name: dashboards, client: trino, version: "476", owner: "@bi", columns: [amount]}
  - {name: nobody, client: deltalake, version: "1.4.0", read_path: pyarrow}
"""

EDITS = {
    "column": ("name: id, type: bigint", "name: id, type: int"),
    "decimal": ("decimal(10,2)", "decimal(10,1)"),
    "odd name": ('#x", type: bigint', '#x", type: int'),
    "nested": ("qty: bigint", "qty: int"),
    "partitioning": ("[day]", "[id]"),
    "one consumer": (
        "consumers:\n",
        'consumers:\n  - {name: "odd: #1", stream: {checkpoint: /chk/a, schema_tracking_location: /chk/b}}\n',
    ),
    "a column that locks consumers out": (
        "partitioned_by:",
        '  - {name: "odd.doc", type: variant}\nprotocol: {allow_upgrade: true}\npartitioned_by:',
    ),
    "removed column": ('  - {name: "odd, {name}: #x", type: bigint}\n', ""),
}
ENTRY = re.compile(r"= or approve: in (?:a new file )?(\S+), .*with a reason:\n((?: .*\n)+?)(?= *=|\n)")


@pytest.fixture
def declared(project: Project) -> Project:
    project.declare(CONTRACT)
    project.repo.commit()
    return project


@pytest.mark.parametrize("edit", EDITS)
def test_the_printed_entry_with_a_reason_approves_the_finding(declared: Project, edit: str) -> None:
    edited = CONTRACT.replace(*EDITS[edit])
    assert edited != CONTRACT
    declared.declare(edited)
    report = declared.run("check")
    assert report.status == 1, report.out
    entries = [(file, text) for file, text in ENTRY.findall(report.out)]
    assert len(entries) == report.out.count("\nerror[") + report.out.startswith("error[")
    assert {file for file, _ in entries} == {"contracts/orders.yml"}
    items = "".join(text.replace("      allow:\n", "", 1) for _, text in entries)
    without_reason = declared.declare(f"{edited}allow:\n{items}")
    assert declared.run("check").status == 1
    without_reason.write_text(
        without_reason.read_text("utf-8").replace('reason: ""', "reason: agreed"), "utf-8"
    )
    approved = declared.check()
    assert (approved.status, approved.err) == (0, ""), approved.out


def test_owners_are_named_and_lines_fit_a_terminal(declared: Project) -> None:
    declared.declare(CONTRACT.replace(*EDITS["odd name"]))
    out = declared.run("check").out
    assert "= or ask: @sales (owner of the table), @bi (dashboards)\n" in out
    entry = out[out.index("= or approve") :]
    assert max(map(len, entry[: entry.index("= or ask")].splitlines())) <= 80


def test_a_finding_that_no_exception_approves_and_a_remark_offer_none(declared: Project) -> None:
    declared.declare(CONTRACT + "properties: {delta.enableTypeWidening: true}\n")
    out = declared.run("check", "--select", "PF004").out
    assert "PF004" in out
    assert "or approve" not in out
    assert "or ask: @sales" in out


@pytest.mark.parametrize("style", ["full", "concise", "github", "sarif"])
def test_what_the_change_approves_is_named_with_its_claim(declared: Project, style: str) -> None:
    edited = CONTRACT.replace(*EDITS["decimal"])
    change = 'from: "decimal(10,2)", to: "decimal(10,1)", via: rewrite'
    entry = f"{{rule: TW003, column: amount, {change}, reason: agreed"
    declared.declare(f'{edited}allow:\n  - {entry}, approved_by: "@ada"}}\n')
    run = declared.run("check", "--output-format", style)
    assert run.status == 0, run.out
    claim = "agreed; approval claimed for @ada by this change; contracts/orders.yml:"
    assert claim in run.out.replace("%3A", ":")
    if style == "sarif":
        results = json.loads(run.out)["runs"][0]["results"]
        status = {each["ruleId"]: [why["status"] for why in each["suppressions"]] for each in results}
        assert status["TW003"] == ["underReview"]
    elif style != "github":
        assert run.out.startswith("approved in this change: TW003 sales.orders: ")
    declared.repo.commit()
    declared.declare(f'{edited}allow:\n  - {entry}, approved_by: "@ada"}}\ndescription: x\n')
    assert "approved in this change" not in declared.run("check", "--output-format", style).out


@pytest.mark.parametrize("style", ["full", "concise", "markdown", "html"])
def test_the_ways_of_a_rewrite_that_the_change_approves_are_shown(declared: Project, style: str) -> None:
    change = 'from: "decimal(10,2)", to: "decimal(10,1)", via: rewrite'
    entry = f"{{rule: TW003, column: amount, {change}, reason: agreed}}"
    declared.declare(CONTRACT.replace(*EDITS["decimal"]) + f"allow:\n  - {entry}\n")
    run = declared.run("check", "--output-format", style)
    assert run.status == 0, run.out
    assert "way out: overwrite the table with overwriteSchema and without replaceWhere" in run.out.replace(
        "`", ""
    )
    assert "bytes and last day of RESTORE unknown" in run.out


def test_the_entry_for_a_removed_table_approves_it_in_the_file_of_exceptions(declared: Project) -> None:
    (declared.repo.path / "contracts/orders.yml").unlink()
    report = declared.run("check")
    assert report.status == 1
    assert "error[CT001 " in report.out
    ((file, entry),) = ENTRY.findall(report.out)
    assert file == "exceptions.yaml"
    declared.declare(entry.replace('""', "sold"), file)
    approved = declared.check()
    assert approved.status == 0, approved.out
    assert "approved in this change: CT001" in approved.out, approved.out


@pytest.mark.parametrize("existing", [None, "schemalint_exceptions: 1\nexceptions: []\n"])
def test_each_printed_entry_is_pasted_as_it_is(declared: Project, existing: str | None) -> None:
    """Into a new file, into one without entries, and into one that has some."""
    declared.declare('[exceptions]\naccept = ["file"]\n', "schemalint.toml")
    if existing:
        declared.declare(existing, "exceptions.yaml")
    declared.repo.commit()
    edited = CONTRACT.replace(*EDITS["column"]).replace(*EDITS["decimal"])
    declared.declare(edited)
    first = ENTRY.findall(declared.run("check").out)[0][1].replace('""', "agreed")
    place = "in a new file exceptions.yaml" if existing is None else "in place of `exceptions: []`"
    assert place in declared.run("check").out
    declared.declare((existing or "").replace("exceptions: []\n", "") + dedent(first), "exceptions.yaml")
    (second,) = ENTRY.findall(declared.run("check").out)
    with (declared.repo.path / "exceptions.yaml").open("a") as file:
        file.write(textwrap.indent(dedent(second[1]), "  ").replace('""', "agreed"))
    approved = declared.check()
    assert (approved.status, approved.err) == (0, ""), approved.out


def test_beside_the_entries_of_a_contract_only_the_next_one_is_printed(declared: Project) -> None:
    edited = CONTRACT.replace(*EDITS["column"]).replace(*EDITS["decimal"])
    declared.declare(edited)
    entry = ENTRY.findall(declared.run("check").out)[0][1].replace('""', "agreed")
    declared.declare(edited + dedent(entry))
    assert "contracts/orders.yml, below `allow:`, with a reason:" in declared.run("check").out
    ((_file, second),) = ENTRY.findall(declared.run("check").out)
    declared.declare(edited + dedent(entry) + textwrap.indent(dedent(second), "  ").replace('""', "agreed"))
    assert declared.check().status == 0


@pytest.mark.parametrize(
    ("accept", "file"),
    [('["file"]', "exceptions.yaml"), ('["contract"]', "contracts/orders.yml"), ("[]", None)],
)
def test_the_entry_is_for_where_the_configuration_accepts_it(
    declared: Project, accept: str, file: str | None
) -> None:
    declared.declare(f"[exceptions]\naccept = {accept}\n", "schemalint.toml")
    declared.repo.commit()
    declared.declare(CONTRACT.replace(*EDITS["column"]))
    found = ENTRY.findall(declared.run("check").out)
    assert [name for name, _ in found] == ([file] if file else [])
    assert all(("table: sales.orders" in text) == (name == "exceptions.yaml") for name, text in found)
