"""Every format of every case, compared with the files beside it.

``SCHEMALINT_UPDATE_GOLDEN=1`` writes the files anew: read them as a diff before you keep them.
"""

from __future__ import annotations

import pytest

from schemalint.report import findings as report
from support.golden import assert_golden
from support.report_cases import CASES, all_cases, result_of

DATA_FORMATS = ("json",)


@pytest.mark.parametrize("name", report.names())
@pytest.mark.parametrize("case", all_cases())
def test_the_report_is_the_expected_one(case: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schemalint.report.findings.json.__version__", "0.0.0")
    expected = CASES / case / (f"expected.{name}" if name in DATA_FORMATS else f"expected.{name}.txt")
    assert_golden(report.get(name).render(result_of(case)), expected)


def test_there_are_cases() -> None:
    assert len(all_cases()) >= 11
