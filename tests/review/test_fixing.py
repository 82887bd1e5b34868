"""Fixes resolve their findings, and leave the rest of a file as it is, byte for byte."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemalint.model.finding import Severity
from schemalint.project.git import Contents, File, Worktree
from schemalint.review.check_input import CheckInput
from schemalint.review.exceptions import Exceptions
from schemalint.review.run_check import check, check_and_fix, with_texts
from support.judging import rule_sets
from support.rule_cases import Case, load_cases
from support.rule_judging import TODAY, built_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hypothesis.strategies import DrawFn, SearchStrategy

    from schemalint.model.finding import CheckResult, Finding

FILE = "a.yml"
BY_RULE = {rule: list(cases) for rule, cases in groupby(load_cases(), lambda case: case.rule)}


def _request(before: bytes | None, after: bytes) -> CheckInput:
    base, head = ({} if data is None else {FILE: File(FILE, data, None)} for data in (before, after))
    return CheckInput(
        Worktree(),
        Worktree(),
        Contents(base, head),
        rule_sets(tuple(built_in().values())),
        everything=True,
        exceptions=Exceptions(today=TODAY),
    )


def _fixable(result: CheckResult) -> list[Finding]:
    return [finding for finding in result.findings if finding.text_changes]


def _kinds(findings: list[Finding]) -> set[object]:
    return {(finding.code, finding.table, finding.path, finding.object) for finding in findings}


@pytest.mark.parametrize("rule", BY_RULE)
def test_after_the_fixes_of_a_case_no_finding_of_their_kind_is_left(rule: str) -> None:
    """Safe and unsafe ones, of all rules: a fix may not lead to another rule's fixable finding either."""
    for case in BY_RULE[rule]:
        _require_fixed(case)


def _require_fixed(case: Case) -> None:
    if "after" not in case.texts:
        return
    before = case.texts.get("before")
    request = _request(None if before is None else before.encode(), case.texts["after"].encode())
    first = check(request)
    found = _fixable(first)
    result, files = check_and_fix(request, unsafe=True)
    assert bool(files) == bool(found), case.name
    assert _fixable(result) == [], case.name
    left = [finding for finding in result.findings if finding.code in {fixed.code for fixed in found}]
    assert not _kinds(left) & _kinds(found), case.name
    assert not _said(result.findings) - _said(first.findings) - _told(first.findings), case.name
    assert (
        check_and_fix(
            with_texts(request, {path: file.after.encode() for path, file in files.items()}), unsafe=True
        )[1]
        == {}
    ), case.name


def _said(findings: Iterable[Finding]) -> set[tuple[str, str]]:
    """Return what the change causes, apart from remarks."""
    return {
        (finding.code, finding.message)
        for finding in findings
        if finding.severity > Severity.INFO and not finding.existing
    }


def _told(findings: Iterable[Finding]) -> set[tuple[str, str]]:
    """Return what the findings say of what comes after their fixes."""
    return {(each.code, each.message) for finding in findings for each in finding.then}


# What the fixes of a widening write, in the layouts of `_contract`: without it a fixed text is as it was.
WRITTEN = (
    r"(?:\r?\n) *type_changes:\r?\n *- \{from: int, to: bigint\}",
    r", type_changes: \[\{from: int, to: bigint\}\]",
    r"\r?\nproperties:\r?\n *delta\.enableTypeWidening: true",
    r"\r?\n *delta\.enableTypeWidening: true",
    r"(?:, )?delta\.enableTypeWidening: true",
)
COMMENT: SearchStrategy[str] = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\ufeff\ufffe\uffff"),
    max_size=8,
).map(lambda text: f"# {text}".rstrip())
NO_COMMENT = st.just("")
TYPE = "TYPE"


@st.composite
def _contract(draw: DrawFn, number: int) -> list[str]:
    """The lines of a contract; some have a column whose type is `TYPE`."""
    quote = draw(st.sampled_from(["", '"', "'"]))
    indent = " " * draw(st.sampled_from([0, 2, 5]))
    is_widened = draw(st.booleans())
    type_ = f"{quote}{TYPE}{quote}" if is_widened else "string"
    end = draw(st.sampled_from(["", "   ", "  # end of line", "  # ü 列"]))
    columns = draw(
        st.sampled_from(
            [
                [
                    "columns:",
                    f"{indent}- {{name: id, type: {type_}}}{end}",
                    f"{indent}- {{name: b, type: date}}",
                ],
                [f"columns: [{{name: id, type: {type_}}}, {{name: b, type: date}}]{end}"],
                ["columns:", f"{indent}- name: 'ü'", "", f"{indent}  type: {type_}{end}"],
                ["columns:", f"{indent}- type:   {type_}{end}", f"{indent}  name: {quote}id{quote}"],
                ["columns: [", f"    {{name: id, type: {type_}}},{end or ' '}", "  ]"],
            ]
        )
    )
    properties = draw(
        st.sampled_from(
            [
                [],
                ["properties: {}"],
                ["properties: {delta.appendOnly: true}  # one"],
                ["properties:", "  delta.appendOnly: true  # one"],
                [f"{quote}properties{quote}:", "    # why", "    'delta.appendOnly': \"true\""],
            ]
        )
    )
    description = draw(
        st.sampled_from([[], ["description: |", "  one", "", "   # no comment"], ["owner: 'it''s me'"]])
    )
    parts = draw(st.permutations([columns, properties, description]))
    comments = [draw(st.lists(NO_COMMENT | COMMENT, max_size=2)) for _ in parts]
    body = [line for part, above in zip(parts, comments, strict=True) for line in (*above, *part)]
    return ["schemalint: 1", f"table: sales.t{number}", *body]


@st.composite
def texts(draw: DrawFn) -> str:
    """Files of contracts in many layouts, with line ends as on Windows or not, and a byte order mark."""
    contracts = [draw(_contract(number)) for number in range(draw(st.integers(1, 3)))]
    lines = [line for contract in contracts for line in ("---", *contract)]
    lines = lines[draw(st.sampled_from([0, 1])) :]
    line_break = draw(st.sampled_from(["\n", "\r\n"]))
    end = draw(st.sampled_from(["", line_break, f"{line_break}# end", f"{line_break}...{line_break}"]))
    return draw(st.sampled_from(["", "\ufeff"])) + line_break.join(lines) + end


@pytest.mark.wide
@given(texts())
def test_a_fixed_file_differs_by_what_the_fixes_write_alone(text: str) -> None:
    before, after = (text.replace(TYPE, type_).encode() for type_ in ("int", "bigint"))
    request = _request(before, after)
    assert check(request).errors == ()
    result, files = check_and_fix(request, unsafe=False)
    assert _fixable(result) == []
    assert bool(files) == (TYPE in text)
    for file in files.values():
        assert file.before.encode() == after
        assert ("\r\n" in after.decode()) == ("\r\n" in file.after)
        assert file.after.count("\n") == file.after.count("\r\n") or "\r\n" not in file.after
        rest = file.after
        for pattern in WRITTEN:
            rest = re.sub(pattern, "", rest)
        assert rest.encode() == after
