"""JUnit reports are valid by the schema that Jenkins publishes, and a reader of such reports counts alike."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from io import BytesIO
from pathlib import Path

import junitparser
import pytest
import xmlschema

from schemalint.base.values import replace
from schemalint.model.finding import CheckResult, Severity
from schemalint.report.findings import junit
from support.installing import CACHE, install_once
from support.report_cases import all_cases, result_of


@pytest.fixture(scope="module")
def schema() -> xmlschema.XMLSchema:
    """Return Jenkins' schema ``junit-10.xsd``, which the source archive of pytest has for its own tests."""
    file = CACHE / f"pytest-{version('pytest')}-junit-10.xsd"
    if not file.exists():
        install_once(file, lambda: _fetch(file))
    return xmlschema.XMLSchema(str(file))


def _fetch(file: Path) -> str:
    """Get the schema; return why that is not possible."""
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "pytest"]
        command += ["--retries", "1"]
        package = f"pytest=={version('pytest')}"
        process = subprocess.run(
            [*command, "--dest", folder, package], capture_output=True, text=True, check=False
        )
        if process.returncode:
            return f"pip could not download the source of {package}: {process.stderr[-500:]}"
        (archive,) = Path(folder).iterdir()
        with tarfile.open(archive) as opened:
            name = next(name for name in opened.getnames() if name.endswith("/junit-10.xsd"))
            member = opened.extractfile(name)
            assert member is not None
            part = Path(folder, "part")
            part.write_bytes(member.read())
        shutil.move(part, file)
    return ""


def read(result: CheckResult) -> junitparser.JUnitXml:
    """Read the report of a result."""
    return junitparser.JUnitXml.fromstring(junit.render(result).encode())


@pytest.mark.parametrize("case", all_cases())
def test_every_case_is_valid_by_the_schema(case: str, schema: xmlschema.XMLSchema) -> None:
    text = junit.render(result_of(case))
    schema.validate(BytesIO(text.encode()))
    assert not schema.is_valid(BytesIO(text.replace("<testsuite name=", "<testsuite nome=").encode()))


@pytest.mark.parametrize("case", all_cases())
def test_a_reader_counts_what_the_report_counts(case: str) -> None:
    report = read(result_of(case))
    written = (report.tests, report.failures, report.errors)
    report.update_statistics()  # type: ignore[no-untyped-call]
    assert (report.tests, report.failures, report.errors) == written


def test_only_findings_that_fail_the_run_are_failures() -> None:
    result = result_of("several_severities")
    for fail_on, failures in ((Severity.ERROR, 2), (Severity.WARNING, 3), (Severity.INFO, 4), (None, 0)):
        report = read(replace(result, fail_on=fail_on))
        assert (report.failures, report.tests) == (failures, 7)
    assert read(replace(result, counts_existing=True)).failures == 2  # hidden without --strict
    strict = junit.render(replace(result, counts_existing=True), show_existing=True)
    assert junitparser.JUnitXml.fromstring(strict.encode()).failures == 3


def test_a_table_without_findings_passes_and_a_run_without_tables_is_skipped() -> None:
    clean = {suite.name: [case.name for case in suite] for suite in read(result_of("clean"))}
    assert clean["schemalint"] == ["completed"]
    assert len(clean) > 1
    assert all(names == ["no findings"] for name, names in clean.items() if name != "schemalint")
    nothing = result_of("nothing_compared")
    for result in (nothing, replace(nothing, run=replace(nothing.run, skipped=()))):
        (run, *_) = read(result)
        assert [case.is_skipped for case in run]
        assert all(case.is_skipped for case in run)


def test_an_error_of_the_run_is_an_error() -> None:
    result = result_of("errors_only")
    assert read(result).errors == len(result.errors)


def test_an_approved_finding_is_a_skipped_test_that_says_who_approved_it_and_why() -> None:
    result = result_of("pull_request")
    skipped = [
        case for suite in read(result) if suite.name != "schemalint" for case in suite if case.is_skipped
    ]
    assert len(skipped) == len(result.approved) > 0
    for case, approval in zip(skipped, result.approved, strict=True):
        (reason,) = [each.message for each in case.result]
        assert case.name.startswith(approval.finding.code)
        assert approval.by.exception.reason in reason
        assert approval.by.claim in reason
