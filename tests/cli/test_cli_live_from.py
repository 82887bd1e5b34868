"""`check --live-from FILE`: the JSON of `show` replaces the live tables."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from schemalint.delta.datatype import LONG, Decimal, Field
from support.logs import commit_info, metadata, protocol, write_commit, write_log
from support.project import ORDERS, Project

if TYPE_CHECKING:
    from pathlib import Path

    from support.project import Run

DRIFTED = (Field("id", LONG), Field("amount", Decimal(12, 2)))
FILE = "live.jsonl"


class ShownProject:
    """A project with a drifted table, which `show` can print to a file."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.lake = project.repo.path.parent / "lake"
        write_log(self.lake / "sales/orders", [[commit_info("CREATE"), protocol(), metadata(*DRIFTED)]])
        project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{self.lake}"\n')
        project.declare(ORDERS)
        project.repo.commit()

    def show(self, *arguments: str) -> None:
        run = self.project.run("show", "--output-format", "json", *arguments)
        self.project.repo.write(FILE, run.out)

    def remove_lake(self) -> None:
        shutil.rmtree(self.lake)

    def check(self, *arguments: str) -> Run:
        return self.project.check("--all", "--live-from", FILE, *arguments)

    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(
            self.project.run("check", "--all", "--live-from", FILE, "--output-format", "json").out
        )
        return document


@pytest.fixture
def shown(project: Project) -> ShownProject:
    return ShownProject(project)


def test_the_file_gives_the_same_report_as_the_log(shown: ShownProject) -> None:
    live = shown.project.check("--all", "--live")
    shown.show(str(shown.lake / "sales/orders"))
    shown.remove_lake()
    run = shown.check()
    assert "DR001" in run.codes
    assert (run.status, run.out) == (live.status, live.out)


def test_the_age_of_the_file_is_printed(shown: ShownProject) -> None:
    shown.show(str(shown.lake / "sales/orders"))
    line = json.loads((shown.project.repo.path / FILE).read_text())
    shown.project.repo.write(FILE, json.dumps({**line, "read_at": "2020-01-02T03:04:05+00:00"}))
    assert re.search(r"live tables as of 2020-01-02 03:04:05 UTC, \d{4} days ago", shown.check().err)


def test_tables_are_found_by_name_if_their_location_differs(shown: ShownProject) -> None:
    shown.show("--target", "dev", "sales.orders")
    shown.remove_lake()
    shown.project.repo.write("schemalint.toml", '[targets.dev]\nroot = "/mounted/elsewhere"\n')
    assert "DR001" in shown.check().codes
    shown.project.repo.write("schemalint.toml", "")
    assert "DR001" in shown.check().codes


def test_a_table_of_another_target_is_skipped(shown: ShownProject) -> None:
    shown.show("--target", "dev", "sales.orders")
    shown.project.repo.write("schemalint.toml", '[targets.prod]\nroot = "/mounted/elsewhere"\n')
    assert "skipped sales.orders" in shown.check().out


def test_a_table_missing_from_the_file_is_skipped_and_compared_with_git_only(shown: ShownProject) -> None:
    shown.project.declare(ORDERS.replace("sales.orders", "sales.items"), "contracts/items.yml")
    shown.project.repo.commit()
    shown.show(str(shown.lake / "sales/orders"))
    shown.project.declare(
        ORDERS.replace("sales.orders", "sales.items").replace("bigint", "int"), "contracts/items.yml"
    )
    document = shown.document()
    assert document["run"]["skipped"] == [{"table": "sales.items", "reason": f"{FILE} has no entry for it"}]
    assert [
        (finding["code"], finding["against"])
        for finding in document["findings"]
        if finding["table"] == "sales.items"
    ] == [("TW001", ["git"])]


def test_a_file_without_any_of_the_tables_is_an_error(shown: ShownProject) -> None:
    write_log(shown.lake / "other", [[protocol(), metadata(*DRIFTED)]])
    shown.show(str(shown.lake / "other"))
    run = shown.check()
    assert run.status == 2
    assert f"no table was compared with its live state: {FILE} has no entry for it" in run.out
    shown.project.declare(ORDERS + "  - {name: note, type: string}\n")
    changed = shown.project.check("--live-from", FILE)
    assert changed.status == 0, "the comparison with git took place"
    assert "skipped sales.orders" in changed.out, "the comparison with git took place"


@pytest.mark.parametrize(
    "arguments", [("--live", "--live-from", FILE), ("--target", "dev"), ("--target", "nope")]
)
def test_flags_that_would_be_ignored_are_refused(shown: ShownProject, arguments: tuple[str, ...]) -> None:
    shown.show(str(shown.lake / "sales/orders"))
    run = shown.project.check("--all", *arguments)
    assert run.status == 2
    assert arguments[0] in run.err


def test_a_table_that_show_could_not_read_is_skipped(shown: ShownProject) -> None:
    table = shown.lake / "sales/orders"
    write_commit(table, 0, "{")
    shown.show(str(table))
    (skipped,) = shown.document()["run"]["skipped"]
    assert skipped["reason"].startswith(f"it was unreadable when {FILE} was written: ")


def test_a_table_that_show_found_missing_is_not_skipped(shown: ShownProject) -> None:
    shown.remove_lake()
    shown.show(str(shown.lake / "sales/orders"))
    run = shown.check()
    assert "skipped" not in run.out
    assert "DR001" not in run.codes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}\n", f"{FILE}:1:1: format must be 1, not null"),
        ("\nnonsense\n", f"{FILE}:2:1: this is not JSON"),
        ("", f"{FILE}:1:1: the file holds no table"),
    ],
)
def test_a_bad_file_is_one_error(shown: ShownProject, text: str, message: str) -> None:
    shown.project.repo.write(FILE, text)
    document = shown.document()
    (error,) = document["errors"]
    assert document["run"]["exit_status"] == 2
    location = error["location"]
    assert f"{location['file']}:{location['line']}:{location['column']}: {error['message']}" == message


def test_an_older_version_does_not_replace_the_live_table(shown: ShownProject) -> None:
    table = shown.lake / "sales/orders"
    write_commit(table, 1, json.dumps(metadata(Field("other", LONG))) + "\n")
    for reference in (f"{table}@v0", f"{table}@2100-01-01"):
        shown.show(reference)
        assert json.loads((shown.project.repo.path / FILE).read_text())["latest"] is False
        run = shown.check()
        assert run.status == 2
    shown.show("--target", "dev", "sales.orders@v0")
    run = shown.check()
    assert run.status == 2
    assert f"{FILE} has version 0 of sales.orders, which was not the latest one" in run.out
    shown.show(str(table))
    assert "DR001" in shown.check().codes


def test_only_compared_tables_are_counted(shown: ShownProject) -> None:
    for name in ("items", "parts"):
        shown.project.declare(ORDERS.replace("orders", name), f"contracts/{name}.yml")
    shown.project.repo.commit()
    shown.show(str(shown.lake / "sales/orders"))
    assert "findings in 1 table (" in shown.check().out
    assert shown.document()["run"]["compared"] == ["sales.orders"]


def test_a_missing_file_is_an_error(shown: ShownProject, tmp_path: Path) -> None:
    run = shown.project.check("--live-from", str(tmp_path / "nothing"))
    assert run.status == 2
    assert "cannot be read: No such file or directory" in run.out


def test_a_table_is_found_by_a_path_with_dot_dot(shown: ShownProject) -> None:
    shown.show("../lake/sales/orders")
    shown.remove_lake()
    assert "DR001" in shown.check().codes
