"""Properties of all output formats that the golden files do not show."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import click
import pytest

from schemalint.base.errors import UsageError
from schemalint.base.values import replace
from schemalint.model.finding import CheckResult, Severity
from schemalint.report import findings as report
from schemalint.report.findings import concise, full, github, gitlab, html, json, junit, markdown, sarif
from schemalint.report.findings._summary import summary, verdict
from support.report_cases import all_cases, result_of

FORMATS: tuple[report.Format, ...] = (
    *(concise, full, github, gitlab, html, json, junit, markdown, sarif),
)  # mypy compares them with the Protocol


@pytest.fixture
def mixed() -> CheckResult:
    return result_of("several_severities")


@pytest.mark.parametrize("name", [name for name in report.names() if name != "gitlab"])
def test_each_report_names_the_base_and_why_it_is_the_base(name: str, mixed: CheckResult) -> None:
    """GitLab's format has no place for it."""
    text = re.sub("&#4[47];", ",", str(report.get(name).render(mixed)))
    assert "abc1234" in text
    assert "merge base with origin" in text


@pytest.mark.parametrize("name", report.names())
def test_each_format_has_the_render_parameters_of_the_protocol(name: str) -> None:
    parameters = dict(inspect.signature(report.Format.render).parameters)
    del parameters["self"]
    assert inspect.signature(report.get(name).render).parameters == parameters


def test_every_module_of_the_package_is_listed_as_a_format() -> None:
    assert set(report.names()) >= {"concise", "full", "github", "json"}
    assert not [name for name in report.names() if name.startswith(("-", "_"))]


@pytest.mark.parametrize("name", ["", "nonsense", "_text", "-text", "json.schema"])
def test_an_unknown_format_is_refused_with_the_list_of_formats(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        report.get(name)
    assert ", ".join(report.names()) in caught.value.help


def test_only_the_chosen_format_is_imported() -> None:
    script = (
        "import sys; from schemalint.report import findings as report; report.names(); report.get('concise');"
        "print(*sorted(name for name in sys.modules if name.startswith('schemalint.report.')))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {name.rpartition(".")[2] for name in run.stdout.split()}
    assert "concise" in loaded
    assert not loaded & {"full", "github", "json", "_excerpt"}


@pytest.mark.parametrize("name", report.names())
@pytest.mark.parametrize("case", all_cases())
def test_colour_changes_the_style_and_not_the_text(case: str, name: str) -> None:
    result, output = result_of(case), report.get(name)
    plain, colored = output.render(result), output.render(result, color=True)
    assert "\x1b" not in plain
    assert ("\x1b[" in colored) == (name in ("concise", "full"))
    assert "\n".join(line.rstrip() for line in click.unstyle(colored).split("\n")) == plain


@pytest.mark.parametrize("name", ["concise", "full", "github"])
def test_existing_findings_are_counted_and_shown_with_all(name: str, mixed: CheckResult) -> None:
    output = report.get(name)
    hidden, everything = output.render(mixed), output.render(mixed, show_existing=True)
    assert "delta.colour is" not in hidden
    assert "2 findings that the base has too; --all shows them" in hidden
    assert "delta.colour is" in everything
    assert "--all" not in everything
    for text in (hidden, everything):
        assert "2 errors, 1 warning, 1 info in 3 tables" in text


@pytest.mark.parametrize("name", ["concise", "full", "markdown", "html", "sarif"])
def test_a_finding_of_the_baseline_is_not_said_to_be_one_of_the_base(name: str, mixed: CheckResult) -> None:
    known = tuple(replace(finding, existing=True, in_baseline=True) for finding in mixed.findings)
    text = report.get(name).render(replace(mixed, findings=known), show_existing=True)
    assert "the baseline has it" in text
    assert "the base has it too" not in text


def test_existing_findings_alone_leave_the_run_green(mixed: CheckResult) -> None:
    old = replace(mixed, findings=tuple(replace(finding, existing=True) for finding in mixed.findings))
    assert verdict(old) is Severity.INFO
    assert summary(old).startswith("no new findings in 3 tables (base abc1234,")


def test_existing_findings_count_in_a_strict_run(mixed: CheckResult) -> None:
    old = tuple(replace(finding, existing=True) for finding in mixed.findings)
    strict = replace(mixed, findings=old, counts_existing=True)
    assert verdict(strict) is Severity.ERROR
    assert summary(strict).startswith("3 errors, 2 warnings, 1 info in 3 tables (base abc1234,")


def test_annotations_are_ordered_by_severity_with_existing_findings_last(mixed: CheckResult) -> None:
    lines = github.render(mixed, show_existing=True).splitlines()
    kinds = [line.partition(" ")[0].strip(":") for line in lines]
    assert kinds == ["notice", "error", "error", "warning", "notice", "error", "warning"]


def test_a_run_that_compared_nothing_is_not_green() -> None:
    nothing = result_of("nothing_compared")
    bare = replace(nothing, run=replace(nothing.run, skipped=()))
    assert verdict(bare) is Severity.WARNING
    assert summary(bare).startswith(
        "no table was compared: no declaration differs from the base; --all checks each ("
    )
    for name in ("concise", "full"):
        last = report.get(name).render(bare, color=True).splitlines()[-1]
        assert last == click.style(summary(bare), fg="yellow", bold=True)
    assert github.render(bare).startswith("::warning title=schemalint::no table was compared")


def test_a_run_that_skipped_a_table_is_not_green() -> None:
    nothing = result_of("nothing_compared")
    partly = replace(nothing, run=replace(nothing.run, compared=("sales.customers",)))
    assert verdict(partly) is Severity.WARNING
    assert summary(partly).startswith("no findings in 1 table (")


def test_a_run_with_errors_has_the_verdict_error() -> None:
    assert verdict(result_of("errors_only")) is Severity.ERROR
