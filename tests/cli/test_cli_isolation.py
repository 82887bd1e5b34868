"""One bad table, file or location never hides the findings of the other tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.lint.judge import judge_pair

if TYPE_CHECKING:
    from pathlib import Path

    from support.project import Project

GOOD = "schemalint: 1\ntable: s.good\ncolumns: [{name: id, type: bigint}]\n"
BAD = "schemalint: 1\ntable: s.bad\ncolumns: [{name: id, type: bigint}]\n"
TARGET = '[targets.dev]\nroot = "lake"\n'
WIDER = [
    ("location: /elsewhere\n", "location '/elsewhere' is not allowed in target dev"),
    ("location: s3://\n", "location 's3://' is not allowed"),
    ("location: ../up\n", "leaves the target's root"),
    ('location: "a\\0b"\n', "is not a valid table path"),
    (f"location: {'a' * 300}\n", "File name too long"),
]


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


@pytest.mark.parametrize(("line", "message"), WIDER)
def test_bad_location_leaves_the_other_tables_in_check_and_plan(
    two_tables: Project, line: str, message: str
) -> None:
    two_tables.declare(BAD + line, "contracts/bad.yml")
    checked = two_tables.check("--live")
    assert (checked.status, message in checked.out, "TW001" in checked.out) == (2, True, True)
    planned = two_tables.run("plan")
    assert (planned.status, message in planned.err, "s.good" in planned.out) == (2, True, True)


def test_bug_of_one_table_leaves_the_findings_of_the_others(
    two_tables: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    two_tables.declare(BAD.replace("bigint", "string"), "contracts/bad.yml")

    def fails_for_one(before: object, after: object, *rest: object) -> object:
        if getattr(after, "table", "") == "s.bad":
            raise KeyError("planted")
        return judge_pair(before, after, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("schemalint.lint.check.judge_pair", fails_for_one)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run = two_tables.check()
    assert run.status == 3
    assert run.codes[:1] == ["TW001"]
    assert "a bug in schemalint: s.bad fails with KeyError" in run.out
    (report,) = tmp_path.glob("schemalint-bug-*.txt")
    assert "KeyError: 'planted'" in report.read_text()
