"""Each folder ``<rule>/<case>`` holds two contracts, and what that rule alone has to say of the change.

``SCHEMALINT_WRITE_EXPECTED=1`` writes ``expected.txt`` and ``fixed.yaml`` anew, to be read as a diff.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rules.judging import Texts, built_in, findings, fixed, told

HERE = Path(__file__).parent
CASES = sorted(path.parent for path in HERE.glob("*/*/expected.txt"))
if os.environ.get("SCHEMALINT_WRITE_EXPECTED") == "1":
    CASES = sorted({path.parent for path in HERE.glob("*/*/*.yaml")})


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_case(case: Path) -> None:
    """The rule says what is expected, at the expected place; its safe fixes give the expected text."""
    texts = _texts(case)
    found = findings(built_in()[case.parent.name], texts)
    said = told(found)
    has_fix = any(one.fix and one.fix.safe for one in found)
    mended = fixed(found, texts["after"]) if has_fix else None
    if os.environ.get("SCHEMALINT_WRITE_EXPECTED") == "1":
        _write(case, said, mended)
    assert said == (case / "expected.txt").read_text()
    assert (case / "fixed.yaml").exists() == has_fix
    if mended is not None:
        assert mended == (case / "fixed.yaml").read_text()
        assert not findings(built_in()[case.parent.name], {**texts, "after": mended})


@pytest.mark.parametrize("rule", sorted({case.parent.name for case in CASES}))
def test_rule_has_a_case_that_it_objects_to_and_one_that_it_does_not(rule: str) -> None:
    """Neither a rule that is always silent nor one that always speaks passes."""
    expected = [(case / "expected.txt").read_text() for case in CASES if case.parent.name == rule]
    assert any(expected)
    assert not all(expected)


def _texts(case: Path) -> Texts:
    return {
        name: (case / f"{name}.yaml").read_text()
        for name in ("before", "after", "live", "applied", "log", "catalog", "files")
        if (case / f"{name}.yaml").exists()
    }


def _write(case: Path, said: str, mended: str | None) -> None:
    (case / "expected.txt").write_text(said)
    (case / "fixed.yaml").unlink(missing_ok=True)
    if mended is not None:
        (case / "fixed.yaml").write_text(mended)
