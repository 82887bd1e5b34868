"""What `tests/README.md` promises, where no other test shows it as a user sees it."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from schemalint import contract as contracts
from schemalint.project.git import File
from support.project import ORDERS

if TYPE_CHECKING:
    from support.project import Project

FILE = "contracts/orders.yml"
CONTRACT = f"""{ORDERS}\
  - {{name: address, type: "struct<city: string, zip: string>"}}
  - {{name: code, type: string}}
properties: {{delta.columnMapping.mode: name}}
consumers:
  - {{name: bi, client: trino, version: "476", columns: [code]}}
"""
# By what is deleted: its text, and the line of what is left of its parent.
DELETED = {
    "column": ("  - {name: code, type: string}\n", 3),
    "field": (", zip: string", 7),
}


def report(project: Project) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(project.run("check", "--output-format", "json").out)
    return document


@pytest.mark.parametrize("deleted", DELETED)
def test_a_deletion_is_located_at_what_is_left_and_where_it_was(project: Project, deleted: str) -> None:
    text, line = DELETED[deleted]
    project.declare(CONTRACT)
    project.repo.commit()
    project.declare(CONTRACT.replace(text, ""))
    found = report(project)["findings"]
    old = CONTRACT[: CONTRACT.index(text) + len(text) // 2].count("\n") + 1
    assert found
    assert {(each["location"]["file"], each["location"]["line"]) for each in found} == {(FILE, line)}
    assert {each["previous_location"]["line"] for each in found} == {old}


def test_a_deleted_contract_is_located_where_it_was(project: Project) -> None:
    project.declare(f"# Orders\n\n{CONTRACT}")
    project.repo.commit()
    (project.repo.path / FILE).unlink()
    (finding,) = report(project)["findings"]
    assert (finding["code"], finding["location"]["file"], finding["location"]["line"]) == ("CT001", FILE, 4)


def test_violations_input_that_cannot_be_read_and_a_clean_run_have_a_status_each(
    project: Project,
) -> None:
    project.declare(CONTRACT)
    project.repo.commit()
    statuses = [project.check().status]
    project.declare(CONTRACT.replace("bigint", "int"))
    statuses.append(project.check().status)
    project.repo.write("broken.json", "{")
    statuses += [project.check("--baseline", "broken.json").status, project.check("--against", "v9").status]
    project.declare("schemalint: 1\n", "broken.yml")
    statuses.append(project.check().status)
    assert statuses == [0, 1, 2, 2, 2]


def test_more_contracts_start_no_more_processes_and_unchanged_ones_are_not_read(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    read: list[str] = []
    original = subprocess.Popen.__init__

    def start(self: subprocess.Popen[bytes], *arguments: Any, **options: Any) -> None:  # noqa: ANN401
        started.append(arguments)
        original(self, *arguments, **options)

    reader = contracts.read_file

    def reading(file: File, *arguments: Any) -> object:  # noqa: ANN401
        read.append(file.path)
        return reader(file, *arguments)

    monkeypatch.setattr(subprocess.Popen, "__init__", start)
    monkeypatch.setattr(contracts, "read_file", reading)
    counts = []
    for number in (2, 40):
        for index in range(number):
            project.declare(ORDERS.replace("orders", f"t{index}"), f"contracts/{index}.yml")
        project.repo.commit()
        for index in range(number // 2):
            project.declare(ORDERS.replace("orders", f"t{index}") + f"# {number}\n", f"contracts/{index}.yml")
        started.clear()
        read.clear()
        assert project.check().status == 0
        counts.append(len(started))
        assert {int(file.partition("/")[2].partition(".")[0]) for file in read} == {*range(number // 2)}
    assert counts[0] == counts[1] > 0
