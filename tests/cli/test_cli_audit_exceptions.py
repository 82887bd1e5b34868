"""`audit` obeys the exceptions of the contracts of its tables, and those outside of contracts."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

import pytest

from schemalint.delta.datatype import LONG, Decimal, Field
from support.logs import add, commit_info, metadata, protocol, write_log

if TYPE_CHECKING:
    from collections.abc import Mapping

    from support.project import Project, Run

CONTRACT: Final = """\
schemalint: 1
table: sales.orders
columns:
  - {name: id, type: bigint}
  - {name: amount, type: "decimal(12,2)"}
"""
FILE: Final = "contracts/orders.yml"
ENTRY: Final = 'rule: TH001, column: amount, from: "decimal(10,2)", to: "decimal(12,2)", reason: old'
IN_FILE: Final = f"schemalint_exceptions: 1\nexceptions:\n  - {{table: sales.orders, {ENTRY}}}\n"
SETTINGS: Final = '[targets.dev]\nroot = "lake"\n'
# By source: the file with the exception, and what it exempts.
WRITTEN: Final = {
    "contract": {FILE: f"{CONTRACT}allow:\n  - {{{ENTRY}}}\n"},
    "file": {"exceptions.yaml": IN_FILE},
}


@pytest.fixture
def lake(project: Project) -> Project:
    """A target with two declared tables, each with a commit that changed a type without recording it."""
    before, after = Field("amount", Decimal(10, 2)), Field("amount", Decimal(12, 2))
    for name in ("orders", "items"):
        write_log(
            project.repo.path / "lake" / "sales" / name,
            [
                [commit_info("CREATE TABLE"), protocol(), metadata(Field("id", LONG), before), add()],
                [commit_info("CHANGE COLUMN"), metadata(Field("id", LONG), after)],
            ],
        )
    project.repo.write("schemalint.toml", SETTINGS)
    project.declare(CONTRACT)
    project.declare(CONTRACT.replace("sales.orders", "sales.items"), "contracts/items.yml")
    return project


def audit(project: Project, *options: str) -> Run:
    return project.run("audit", "--target", "dev", "--output-format", "concise", "sales.orders", *options)


def write(project: Project, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        project.repo.write(name, text)


@pytest.mark.parametrize("source", WRITTEN)
def test_an_exception_approves_a_finding_of_its_table_alone(lake: Project, source: str) -> None:
    assert (audit(lake).status, audit(lake).codes) == (1, ["TH001"])
    write(lake, WRITTEN[source])
    run = audit(lake, "--output-format", "json:report.json")
    assert (run.status, run.codes) == (0, []), run.out
    assert "1 finding approved\n" in run.out
    (approved,) = json.loads((lake.repo.path / "report.json").read_text("utf-8"))["approved"]
    assert (approved["by"]["source"], approved["finding"]["table"]) == (source, "sales.orders")
    everything = audit(lake, "--all")
    assert (everything.status, everything.out.count(" TH001 ")) == (1, 1)
    assert "items.yml:5:12: TH001" in everything.out


@pytest.mark.parametrize(
    ("entry", "about"),
    [
        (f'{ENTRY}, expires: "2020-01-01"', ["CT004"]),
        (ENTRY.replace("column: amount, ", ""), ["CT012"]),
        (ENTRY.replace("12,2", "14,2"), ["CT005"]),
        (ENTRY.replace("amount", "id"), ["CT005"]),
        (ENTRY.replace("TH001", "TH011"), []),
        (ENTRY.replace("TH001", "TW001"), []),
    ],
    ids=["expired", "no-object", "another-change", "another-column", "no-files-read", "of-check"],
)
def test_an_exception_that_does_not_approve_the_finding_leaves_it(
    lake: Project, entry: str, about: list[str]
) -> None:
    """`check` says which of the others are unused."""
    lake.declare(f"{CONTRACT}allow:\n  - {{{entry}}}\n")
    run = audit(lake)
    assert (run.status, sorted(run.codes)) == (1, sorted(["TH001", *about]))


def test_check_does_not_call_an_exception_unused_that_is_for_audits(lake: Project) -> None:
    lake.declare(CONTRACT)
    lake.repo.commit()
    write(lake, WRITTEN["contract"])
    run = lake.check("--live", "--target", "dev", "--all")
    assert "CT005" not in run.codes, run.out


def test_the_printed_entry_with_a_reason_approves_the_finding(lake: Project) -> None:
    out = lake.run("audit", "--target", "dev", "sales.orders", "--output-format", "full").out
    ((file, entry),) = re.findall(r"= or approve: in (\S+), with a reason:\n((?: .*\n)+?)(?= *=|\n)", out)
    allow = re.sub("^      ", "", entry, flags=re.MULTILINE).replace('reason: ""', "reason: agreed")
    lake.declare(CONTRACT + allow, file)
    run = audit(lake)
    assert (run.status, run.codes) == (0, []), run.out


@pytest.mark.parametrize("source", WRITTEN)
@pytest.mark.parametrize("is_merged", [True, False])
def test_what_a_change_of_unknown_origin_adds_does_not_count(
    lake: Project,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    is_merged: bool,  # noqa: FBT001
) -> None:
    if is_merged:
        write(lake, WRITTEN[source])
    lake.repo.commit()
    lake.repo.git("update-ref", "refs/remotes/origin/main", "HEAD")
    lake.repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    lake.repo.git("checkout", "--quiet", "-b", "feature")
    write(lake, WRITTEN[source])
    lake.declare("description: no contract\n", "other.yml")
    lake.repo.commit()
    monkeypatch.setenv("CI", "true")
    run = audit(lake)
    assert (run.status, sorted(run.codes)) == ((0, []) if is_merged else (1, ["CT012", "TH001"])), run.out


def test_a_file_of_exceptions_that_cannot_be_read_is_an_error_and_findings_remain(lake: Project) -> None:
    write(lake, {"exceptions.yaml": "schemalint_exceptions: 2\nexceptions: []\n"})
    run = audit(lake)
    assert run.status == 2, run.out
    assert '"schemalint_exceptions" must be' in run.out, run.out
    assert " TH001 " in run.out


def test_approved_findings_are_not_written_to_a_baseline(lake: Project) -> None:
    write(lake, WRITTEN["file"])
    run = audit(lake, "--write-baseline", "baseline.json")
    assert (run.status, json.loads((lake.repo.path / "baseline.json").read_text("utf-8"))["findings"]) == (
        0,
        [],
    )
