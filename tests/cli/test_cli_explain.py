"""`explain` finds a rule by whatever a user would search for."""

from __future__ import annotations

import pytest

from project import Project


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("TW001", "TW001"),
        ("tw001", "TW001"),
        ("illegal-narrowing", "TW001"),
        ("DELTA_UNSUPPORTED_DROP_COLUMN", "CM002"),
        (
            "[DELTA_UNSUPPORTED_RENAME_COLUMN] Column rename is not supported.\nat org.apache",
            "CM001",
        ),
        ("AnalysisException: Cannot change nullable column to non-nullable: a.", "NC001"),
    ],
)
def test_finds_the_rule(project: Project, what: str, code: str) -> None:
    run = project.run("explain", what)
    assert run.status == 0
    assert f"({code})" in run.out


def test_unknown_names_the_nearest(project: Project) -> None:
    run = project.run("explain", "ilegal-narowing")
    assert run.status == 2
    assert "illegal-narrowing" in run.err
