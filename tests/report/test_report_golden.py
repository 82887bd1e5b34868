"""Every format of every case, compared with the ``expected.*`` files in the case's folder.

``SCHEMALINT_UPDATE_GOLDEN=1`` rewrites these files; review the diff before you commit it.
"""

from __future__ import annotations

import pytest

from schemalint.report import findings as report
from support.golden import assert_golden
from support.report_cases import CASES, all_cases, result_of


@pytest.mark.parametrize("name", report.names())
@pytest.mark.parametrize("case", all_cases())
def test_the_report_is_the_expected_one(case: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schemalint.report.findings.json.__version__", "0.0.0")
    monkeypatch.setattr("schemalint.report.findings.sarif.__version__", "0.0.0")
    monkeypatch.setattr("schemalint.report.findings.html.__version__", "0.0.0")
    monkeypatch.setattr("schemalint.report.findings.html.style", str)
    # The pages of the rules are no part of these texts.
    monkeypatch.setattr("schemalint.report.findings.sarif._installed_rules", dict)
    assert_golden(report.get(name).render(result_of(case)), CASES / case / f"expected.{name}")


def test_no_case_is_missing() -> None:
    assert len(all_cases()) >= 11
