"""A text in a statement is exactly one expression, or it is refused."""

from __future__ import annotations

import pytest

from schemalint.delta.expressions import COLUMN_WORDS, expression_fault


@pytest.mark.parametrize(
    "text",
    [
        "a > 0",
        "a > 0 /* ** / ' ( */ AND b < 0",
        "a > 0 -- it's ( \n AND b < 0",
        r"""s <> 'it\'s (' AND "x\" (" = 'a' 'b'""",
        r"""s <> r'\' AND s <> R"'\" AND s <> r'\\'""",
        r"s = 1r'\', extra int COMMENT '",
        "`odd ``(` > 0 AND m['k)'] < 1e+5 AND date '2020-01-01' < d",
        "a\u00a0>\u30000",
        "coalesce(a, b) > :limit",
        "a > 0 and_so",
        "end > 0 AND `high price` BETWEEN -1 AND + + 1",
        "CASE WHEN a IS NOT NULL THEN NOT b ELSE !b END AND s NOT LIKE 'x%'",
        "CAST(l AS array<array<int>>) IS NOT NULL AND t > now() - INTERVAL 1 DAY",
    ],
)
def test_one_expression(text: str) -> None:
    assert expression_fault(text) is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "is empty"),
        (" -- a\n", "is empty"),
        ("a > 0)", "has a ) without its opening bracket"),
        ("f(a]", "has a ] without its opening bracket"),
        ("f(a", "has a ( that is not closed"),
        ("1, extra int", "has a comma outside brackets"),
        ("1; DROP TABLE t", "contains a semicolon"),
        ("a > 'x", "has a ' that is not closed"),
        ('a > "x', 'has a " that is not closed'),
        ("`a > 0", "has a ` that is not closed"),
        (r"s = r'\', extra int COMMENT '\'", "has a comma outside brackets"),
        (r"s = 1e+5r'\', extra int COMMENT '\'", "has a comma outside brackets"),
        ("a > 0 -- b", "ends in a comment"),
        ("a > 0 -- b\\\n", "ends in a comment"),
        ("a > 0 /* b", "contains // or a comment that is not closed or contains another one"),
        ("a > 0 /* b /* c */ */", "contains // or a comment that is not closed or contains another one"),
        ("a > 0 /*+ b */", "contains // or a comment that is not closed or contains another one"),
        ("größe > 0", "contains ö, which is not part of any expression"),
        ("high price > 0", "has no operator between high and price"),
        ("s matches 'x'", "has no operator between s and matches"),
        ("a > 0 1", "has no operator between 0 and 1"),
        ("length(s s) > 0", "has no operator between s and s"),
        ("a >", "has no value after >"),
        ("(a >) 0", "has no value after >"),
        ("= a", "begins with ="),
        ("a > > 0", "has no value between > and >"),
        ("a === 1", "has no value between == and ="),
        ("a && b", "has no value between & and &"),
        ("f(, a)", "has no value before a comma"),
        ("a IN (1,)", "has no value after a comma"),
        ("a =! 1", "has ! after ="),
        ("s ~ 'x'", "has ~ after a value"),
        ("[high price] > 0", "has square brackets around a value"),
        ("a > [b]", "has square brackets around a value"),
        ("a > {1}", "contains {, which is not part of any expression"),
        (
            "s <> '${env:HOME}'",
            "contains ${, which Spark replaces with values of each session that parses it",
        ),
    ],
)
def test_anything_else_is_refused_with_its_fault(text: str, fault: str) -> None:
    assert expression_fault(text) == fault
    assert expression_fault(text)


def test_default_ends_at_the_next_clause_of_its_column() -> None:
    """Spark reads `DEFAULT 1 CHECK (…)` as a default and a constraint of the column."""
    for word in COLUMN_WORDS:
        assert expression_fault(f"1 + {word} + x") is None
        assert expression_fault(f"1 + {word} + x", without=COLUMN_WORDS)
        assert expression_fault(f"(1 + {word} + x)", without=COLUMN_WORDS) is None
