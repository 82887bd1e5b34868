"""`explain` finds a rule by its code or name, and errors in a message or a stack trace."""

from __future__ import annotations

import io

import pytest

from schemalint.plugin import Rule
from schemalint.review.rulebook import load_rules
from support.project import Project


@pytest.mark.parametrize(
    ("search_text", "code"),
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
def test_explain_finds_the_rule(project: Project, search_text: str, code: str) -> None:
    run = project.run("explain", search_text)
    assert run.status == 0
    assert f"({code})" in run.out


@pytest.mark.parametrize("rule", load_rules(), ids=lambda rule: rule.code)
def test_every_rule_is_found_by_its_code_its_name_and_its_delta_errors(project: Project, rule: Rule) -> None:
    for search_text in (rule.code, rule.name, *rule.delta_errors):
        run = project.run("explain", search_text)
        assert run.status == 0, search_text
        assert f"({rule.code})" in run.out, search_text


def test_unknown_rule_is_an_error_that_suggests_the_nearest_name(project: Project) -> None:
    run = project.run("explain", "ilegal-narowing")
    assert run.status == 2
    assert "illegal-narrowing" in run.err


@pytest.mark.parametrize("arguments", [["-"], []])
def test_stack_trace_on_standard_input_is_explained(
    project: Project, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    trace = b"\xff Traceback\n: [DELTA_UNSUPPORTED_DROP_COLUMN] DROP COLUMN is not\n\tat org.apache\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(trace)))
    run = project.run("explain", *arguments)
    assert run.status == 0
    assert "# DELTA_UNSUPPORTED_DROP_COLUMN\n" in run.out
    assert "(CM002)" in run.out


def test_error_without_a_rule_is_explained(project: Project) -> None:
    run = project.run("explain", "DELTA_STREAMING_METADATA_EVOLUTION")
    assert run.status == 0
    assert "What to do: Restart the stream" in run.out


def test_empty_standard_input_is_an_error(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\n")))
    assert project.run("explain").status == 2
