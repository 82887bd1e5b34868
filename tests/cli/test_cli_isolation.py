"""One bad table, file or location never hides the findings of the other tables."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from schemalint.base.errors import ContractError
from schemalint.base.untrusted_files import read_plain
from schemalint.delta.datatype import LONG, Field
from schemalint.judge.case import Case
from schemalint.judge.verdict import Verdict, judge
from schemalint.project.git.listing import list_sides
from support.logs import commit_info, metadata, protocol, write_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemalint.project.git import Listing
    from support.project import Project

GOOD = "schemalint: 1\ntable: s.good\ncolumns: [{name: id, type: bigint}]\n"
BAD = "schemalint: 1\ntable: s.bad\ncolumns: [{name: id, type: bigint}]\n"
TARGET = '[targets.dev]\nroot = "lake"\n'
LOCATIONS = {
    "elsewhere": ("location: /elsewhere\n", "location '/elsewhere' is not allowed in target dev"),
    "bucket": ("location: s3://\n", "location 's3://' is not allowed"),
    "parent": ("location: ../up\n", "leaves the target's root"),
    "NUL": ('location: "a\\0b"\n', "is not a valid table path"),
    "long name": (f"location: {'a' * 300}\n", "File name too long"),
}


@pytest.fixture
def two_tables(project: Project) -> Project:
    """A project with a target and two tables; the contract of ``s.good`` narrows a column."""
    project.repo.write("schemalint.toml", TARGET)
    project.repo.write(".gitignore", "lake\n")
    project.declare(BAD, "contracts/bad.yml")
    project.declare(GOOD, "contracts/good.yml")
    project.repo.commit()
    (project.repo.path / "lake").mkdir()
    project.declare(GOOD.replace("bigint", "int"), "contracts/good.yml")
    return project


@pytest.mark.parametrize(("line", "message"), LOCATIONS.values(), ids=LOCATIONS)
def test_bad_location_leaves_the_other_tables_in_check_and_plan(
    two_tables: Project, line: str, message: str
) -> None:
    two_tables.declare(BAD + line, "contracts/bad.yml")
    checked = two_tables.check("--live")
    assert checked.status == 2
    assert message in checked.out
    assert "TW001" in checked.out
    planned = two_tables.run("plan")
    assert planned.status == 2
    assert message in planned.err
    assert "s.good" in planned.out


FILES = {
    "syntax": ("schemalint: 1\ncolumns: [", "not valid YAML"),
    "key": (f"{BAD}x: 1\n", 'unknown key "x"'),
    "size": (f"{BAD}{'#' * (1 << 20)}", "more than 1 MiB"),
    "type": (f"{BAD}location: 5\n", "location"),
    "digits": (f"{BAD}description: 0x{'f' * 5_000}\n", "digits"),
}


@pytest.mark.parametrize(("text", "message"), FILES.values(), ids=FILES)
def test_bad_file_leaves_the_other_tables_in_every_command(
    two_tables: Project, text: str, message: str
) -> None:
    two_tables.declare(text, "contracts/bad.yml")
    assert_others_are_seen(two_tables, message)


def test_file_without_permission_leaves_the_other_tables_in_every_command(
    two_tables: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(file: Path, most: int) -> bytes:
        if file.name == "bad.yml":
            raise PermissionError(errno.EACCES, "Permission denied")
        return read_plain(file, most)

    two_tables.declare(BAD + "owner: x\n", "contracts/bad.yml")
    monkeypatch.setattr("schemalint.project.git.contents.read_plain", denied)  # root may read every file
    assert_others_are_seen(two_tables, "Permission denied")


def test_file_that_vanishes_after_it_was_listed_counts_as_deleted(
    two_tables: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deleted(*arguments: Any) -> tuple[Listing, Listing]:  # noqa: ANN401
        listings = list_sides(*arguments)
        (two_tables.repo.path / "contracts/bad.yml").unlink(missing_ok=True)
        return listings

    two_tables.declare(BAD + "owner: x\n", "contracts/bad.yml")
    monkeypatch.setattr("schemalint.project.git.contents.list_sides", deleted)
    run = two_tables.check()
    assert (run.status, run.codes) == (1, ["CT001", "TW001"])


def assert_others_are_seen(project: Project, message: str) -> None:
    checked = project.check("--live")
    assert checked.status == 2
    assert message in checked.out
    assert "TW001" in checked.out
    planned = project.run("plan")
    assert planned.status == 2
    assert message in planned.err
    assert "s.good" in planned.out
    shown = project.run("show", "--target", "dev", "s.good", "s.bad")
    assert shown.status == 2
    assert message in shown.err
    assert "lake/s/good" in shown.err
    audited = project.run("audit", "--target", "dev", "--all")
    assert audited.status == 2
    assert message in audited.out
    assert "lake/s/good" in audited.out
    pulled = project.run("pull", "--target", "dev", "s.good", "s.bad", "--diff")
    assert pulled.status == 2
    assert message in pulled.err
    assert "lake/s/good" in pulled.err
    reverted = project.run("revert", "s.good", "--diff")
    assert reverted.status == 4
    assert "+columns: [{name: id, type: bigint}]" in reverted.out
    assert message in project.run("apply", "--head", "worktree").err


def _loop(table: Path) -> None:
    table.symlink_to(table.name)


def _file(table: Path) -> None:
    table.write_text("no folder")


def _pipe_for_a_log(table: Path) -> None:
    table.mkdir()
    os.mkfifo(table / "_delta_log")


def _commit(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def written(table: Path) -> None:
        (table / "_delta_log").mkdir(parents=True)
        make(table / "_delta_log" / f"{0:020}.json")

    return written


LONG_NUMBER = f'{{"protocol":{{"minReaderVersion":{"9" * 5_000},"minWriterVersion":2}}}}\n'
SURROGATE = '{"metaData":{"id":"\\ud800","schemaString":"\\ud800","partitionColumns":["\\u0000"]}}\n'
TABLES = {
    "link to itself": _loop,
    "file": _file,
    "pipe": _pipe_for_a_log,
    "commit is a pipe": _commit(os.mkfifo),
    "commit is a folder": _commit(Path.mkdir),
    "commit is a device": _commit(lambda file: file.symlink_to("/dev/zero")),
    "long number": _commit(lambda file: file.write_text(LONG_NUMBER)),
    "lone surrogate": _commit(lambda file: file.write_text(SURROGATE)),
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_bad_live_table_leaves_the_others_in_every_command(
    two_tables: Project, make: Callable[[Path], None]
) -> None:
    lake = two_tables.repo.path / "lake/s"
    write_log(lake / "good", [[commit_info("CREATE TABLE"), protocol(), metadata(Field("id", LONG))]])
    make(lake / "bad")
    commands = {
        ("check", "--live"): "TW001",
        ("plan",): "s.good",
        ("show", "--target", "dev", "s.bad", "s.good"): "lake/s/good",
        ("audit", "--root", "lake"): "1 table",
        ("audit", "--target", "dev", "--all"): "1 table",
        ("pull", "--target", "dev", "s.bad", "s.good", "--output", "-", "--diff"): "bigint",
    }
    for command, seen in commands.items():
        run = two_tables.run(*command)
        assert run.status in {0, 1, 2, 4}, (command, run.out, run.err)
        assert seen in run.out, (command, run.out, run.err)


@pytest.mark.parametrize("format_", ["full", "concise"])
def test_a_fix_that_the_layout_refuses_is_none_and_the_finding_stays(
    two_tables: Project, monkeypatch: pytest.MonkeyPatch, format_: str
) -> None:
    def refuses(*_arguments: object) -> NoReturn:
        raise ContractError("the text cannot be edited in place")

    monkeypatch.setattr("schemalint.contract.editor", refuses)
    two_tables.declare(BAD.replace("bigint", '"decimal(20,0)"'), "contracts/bad.yml")
    run = two_tables.run("check", "--output-format", format_)
    assert run.status == 1
    assert "fixable" not in run.out
    assert "= fix:" not in run.out
    assert [code for code in ("TW001", "TW006") if code in run.out] == ["TW001", "TW006"], run.out


def test_bug_of_one_table_leaves_the_findings_of_the_others(
    two_tables: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    two_tables.declare(BAD.replace("bigint", "string"), "contracts/bad.yml")

    def fails_for_one(case: Case) -> Verdict:
        if case.contract.table == "s.bad":
            raise KeyError("planted")
        return judge(case)

    monkeypatch.setattr("schemalint.review.run_check.judge", fails_for_one)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run = two_tables.check()
    assert run.status == 3
    assert run.codes[:1] == ["TW001"]
    assert "a bug in schemalint: s.bad fails with KeyError" in run.out
    (report,) = tmp_path.glob("schemalint-bug-*.txt")
    assert "KeyError: 'planted'" in report.read_text()
