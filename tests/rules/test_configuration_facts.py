"""Facts of the configuration, which no contract can express: the tests build them."""

from __future__ import annotations

import pytest

from schemalint.base.errors import Location
from schemalint.delta.table import TableState
from schemalint.judge.case import git_context
from schemalint.judge.rule_judge import AskedRules
from schemalint.model.contract import Contract
from schemalint.model.fact import ConfigurationChanged
from schemalint.model.finding import Finding, ObjectRef, Severity
from support.effective import counting
from support.rule_judging import built_in

LINE = Location("schemalint.toml", 3, 1, 3, 7)


def _judged(key: str | None, old: str | None, new: str | None, *, now: bool) -> Finding:
    rules = (built_in()["setting-loosened"], built_in()["first-configuration"])
    fact = ConfigurationChanged(LINE, now, key, old, new)
    (finding,) = AskedRules(rules)(fact, git_context(None, counting(Contract("", TableState()))), ("git",))
    return finding


@pytest.mark.parametrize(
    ("key", "old", "new", "expected"),
    [
        ("ignore", None, "TW001", "CF001 warning ignore gets TW001, effective after the merge"),
        ("plugins", "a.py", None, "CF001 warning plugins loses a.py, effective after the merge"),
        (
            "fail-on",
            "info",
            "error",
            "CF001 warning fail-on changes from info to error, effective after the merge",
        ),
        (
            "targets.prod.root",
            None,
            None,
            "CF001 warning targets.prod.root changes, effective after the merge",
        ),
        (
            None,
            None,
            None,
            (
                "CF002 info the base has no valid configuration: that of the change decides with the default "
                "settings, and its targets count after the merge"
            ),
        ),
    ],
)
def test_a_finding_about_the_configuration_has_its_line_and_no_table(
    key: str | None, old: str | None, new: str | None, expected: str
) -> None:
    finding = _judged(key, old, new, now=False)
    assert f"{finding.code} {finding.severity.label} {finding.message}" == expected
    assert (finding.location, finding.table, finding.object) == (LINE, "", ObjectRef("setting", key or ""))
    assert (finding.old, finding.new) == (old, new)


def test_a_setting_that_takes_effect_now_is_an_information() -> None:
    finding = _judged("ignore", None, "TW001", now=True)
    assert finding.severity is Severity.INFO
    assert "CI obeys it after the merge only" in finding.message
    assert "that of the change decides this check" in _judged(None, None, None, now=True).message
