"""A text in a statement is exactly one expression, or it is refused."""

from __future__ import annotations

import pytest

from schemalint.delta.expression_faults import COLUMN_WORDS, alias_fault, expression_fault


@pytest.mark.parametrize(
    "text",
    [
        "a > 0",
        "a > 0 /* ** / ' ( */ AND b < 0",
        "a > 0 -- it's ( \n AND b < 0",
        r"""s <> 'it\'s (' AND "x\" (" = 'a' 'b'""",
        r"""s <> r'\' AND s <> R"'\" AND s <> r'\\'""",
        "`odd ``(` > 0 AND m['k)'] < 1e+5 AND date '2020-01-01' < d",
        "a\u00a0>\u30000",
        "coalesce(a, 1.5, .5, 1.) > l[0].x AND v:x.y IS NOT NULL",
        "d > date 'today' AND t > timestamp '12:30' AND d < DATE '2024-02-29' AND a > -128Y AND s = X'1F'",
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
        ("f(1,,2)", "has no value before a comma"),
        (".NaN", "has no name before a point"),
        ("a.", "has no name after a point"),
        ("a..b", "has no name after a point"),
        ("1.5.5", "has two points in a number"),
        ("12:30", "has no name between : and 30"),
        ("t AT TIME ZONE 'UTC' > t", "contains AT TIME ZONE, which Spark does not have"),
    ],
)
def test_anything_else_is_refused_with_its_fault(text: str, fault: str) -> None:
    found = expression_fault(text)
    assert found is not None
    assert (found.what, found.error) == (fault, "PARSE_SYNTAX_ERROR")


@pytest.mark.parametrize(
    ("text", "what", "error"),
    [
        (
            "s <> '${env:HOME}'",
            "contains ${, which Spark replaces with values of each session that parses it",
            None,
        ),
        ("a > :p", "contains the parameter :p, which no statement binds", "UNBOUND_SQL_PARAMETER"),
        ("a > ?", "contains the parameter ?, which no statement binds", "UNBOUND_SQL_PARAMETER"),
        ("N'x'", "contains N'x', a literal that Spark does not have", "UNSUPPORTED_TYPED_LITERAL"),
        ("s = int '5'", "contains int'5', a literal that Spark does not have", "UNSUPPORTED_TYPED_LITERAL"),
        (
            "d > date '2023-02-29'",
            "contains date '2023-02-29', which Spark cannot read",
            "INVALID_TYPED_LITERAL",
        ),
        (
            "timestamp '2020-13-01'",
            "contains timestamp '2020-13-01', which Spark cannot read",
            "INVALID_TYPED_LITERAL",
        ),
        (
            r"s = 1r'\', extra int COMMENT '",
            r"contains 1r'\', extra int COMMENT ', a literal that Spark does not have",
            "UNSUPPORTED_TYPED_LITERAL",
        ),
        ("X'zz'", "contains X 'zz', which Spark cannot read", "INVALID_TYPED_LITERAL"),
        ("300Y", "contains 300Y, which is out of range", "INVALID_NUMERIC_LITERAL_RANGE"),
        ("1e400", "contains 1e400, which is out of range", "INVALID_NUMERIC_LITERAL_RANGE"),
        ("s LIKE 'a' ESCAPE '!!'", "has ESCAPE '!!', which is not one character", "INVALID_ESC"),
    ],
)
def test_what_spark_parses_otherwise_has_the_error_class_of_its_own(
    text: str, what: str, error: str | None
) -> None:
    found = expression_fault(text)
    assert found is not None
    assert (found.what, found.error) == (what, error)


@pytest.mark.parametrize("text", ["New York", "1 day", "a AS b", "'x' 'y' z", "1 isnull", "f(a) `b`"])
def test_only_a_constraint_can_have_a_name_behind_it(text: str) -> None:
    assert expression_fault(text) is None
    assert alias_fault(text) is not None


@pytest.mark.parametrize(
    "text", ["d + INTERVAL 1 DAY", "CASE WHEN a THEN 1 END", "a IS TRUE", "s COLLATE x", "a", "'a' 'b'"]
)
def test_a_word_at_the_end_may_be_part_of_the_expression(text: str) -> None:
    assert alias_fault(text) is None


def test_default_ends_at_the_next_clause_of_its_column() -> None:
    """Spark reads `DEFAULT 1 CHECK (…)` as a default and a constraint of the column."""
    for word in COLUMN_WORDS:
        assert expression_fault(f"1 + {word} + x") is None
        assert expression_fault(f"1 + {word} + x", without=COLUMN_WORDS)
        assert expression_fault(f"(1 + {word} + x)", without=COLUMN_WORDS) is None
