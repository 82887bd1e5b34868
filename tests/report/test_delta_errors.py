"""Errors that Spark does not name are shown in words."""

from __future__ import annotations

import pytest

from schemalint.report.rule_pages import page
from schemalint.report.text_helpers import error_name
from schemalint.review.rulebook import load_rules

UNNAMED = "_LEGACY_ERROR_TEMP_"


@pytest.mark.parametrize("rule", load_rules(), ids=lambda rule: rule.code)
def test_no_page_shows_an_error_that_spark_does_not_name(rule: object) -> None:
    assert UNNAMED not in page(rule)  # type: ignore[arg-type]


def test_an_error_with_a_name_keeps_it() -> None:
    assert error_name("DELTA_METADATA_CHANGED") == "DELTA_METADATA_CHANGED"
    assert error_name("_LEGACY_ERROR_TEMP_2330").startswith("“Cannot change nullable column")
