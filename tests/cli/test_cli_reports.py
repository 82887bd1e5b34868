"""Several reports of one run, their destinations and colours."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from support.project import ORDERS

if TYPE_CHECKING:
    from support.project import Project

NARROWED = ORDERS.replace("bigint", "int")


@pytest.fixture
def narrowed(project: Project) -> Project:
    project.declare(ORDERS)
    project.repo.commit()
    project.declare(NARROWED)
    return project


def test_one_run_prints_a_report_and_writes_others(narrowed: Project) -> None:
    run = narrowed.run("check", *formats("concise", "json:out.json", "full:out.txt"))
    assert run.status == 1
    assert run.codes == ["TW001"]
    assert [each["code"] for each in json.loads(read(narrowed, "out.json"))["findings"]] == ["TW001"]
    assert read(narrowed, "out.txt").startswith("error[TW001 ")


def test_the_environment_names_several_formats(narrowed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCHEMALINT_OUTPUT_FORMAT", "concise json:out.json")
    assert narrowed.run("check").codes == ["TW001"]
    assert json.loads(read(narrowed, "out.json"))["findings"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("full", "json"), "2 reports are printed"),
        (("full:a", "json:./a"), "2 reports are written to "),
        (("full:",), "--output-format full: names no file"),
        (("nonsense:a",), "there is no output format 'nonsense'"),
    ],
)
def test_reports_without_a_destination_of_their_own_are_refused(
    narrowed: Project, arguments: tuple[str, ...], message: str
) -> None:
    run = narrowed.run("check", *formats(*arguments))
    assert (run.status, run.out) == (2, "")
    assert message in run.err
    assert not (narrowed.repo.path / "a").exists()


def test_a_file_that_cannot_be_written_keeps_no_other_report_from_being_made(narrowed: Project) -> None:
    run = narrowed.run("check", *formats("full:no/folder.txt", "json:out.json", "concise"))
    assert run.status == 2
    assert "folder.txt cannot be written" in run.err
    assert run.codes == ["TW001"]
    assert json.loads(read(narrowed, "out.json"))["findings"]


def test_statistics_count_the_findings_by_rule_and_leave_the_report_alone(narrowed: Project) -> None:
    plain = narrowed.run("check", *formats("json"))
    run = narrowed.run("check", *formats("json"), "--statistics")
    assert run.out == plain.out
    assert run.err == "1  TW001  error    illegal-narrowing\n"
    narrowed.repo.commit()
    assert narrowed.run("check", "--against", "HEAD", "--statistics").err == "no findings to count\n"


@pytest.mark.parametrize(
    ("variables", "arguments", "in_terminal", "colored"),
    [
        ({}, (), True, True),
        ({}, (), False, False),
        ({"NO_COLOR": "1"}, (), True, False),
        ({"NO_COLOR": ""}, (), True, True),
        ({"TERM": "dumb"}, (), True, False),
        ({"FORCE_COLOR": "1"}, (), False, True),
        ({"FORCE_COLOR": ""}, (), False, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, (), False, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, (), True, False),
        ({"NO_COLOR": "1"}, ("--color", "always"), False, True),
        ({"FORCE_COLOR": "1"}, ("--color", "never"), True, False),
    ],
)
def test_the_option_decides_about_colors_then_the_environment_then_the_terminal(
    narrowed: Project,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    arguments: tuple[str, ...],
    in_terminal: bool,  # noqa: FBT001
    colored: bool,  # noqa: FBT001
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: in_terminal)
    run = narrowed.run("check", *arguments)
    assert ("\x1b[" in run.out) == colored


def test_forced_colors_do_not_reach_files(narrowed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    run = narrowed.run("check", *formats("full", "concise:out.txt"))
    assert "\x1b[" in run.out
    assert "\x1b[" not in read(narrowed, "out.txt")


def formats(*values: str) -> list[str]:
    """Return the options for these reports."""
    return [f"--output-format={value}" for value in values]


def read(project: Project, file: str) -> str:
    """Return the text of a report in the repository."""
    return (project.repo.path / file).read_text(encoding="utf-8")
