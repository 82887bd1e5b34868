"""Whether two expressions, property values or comments mean the same."""

from __future__ import annotations

import pytest
from hypothesis import given

from schemalint.delta.datatype import UNMANAGED, Managed
from schemalint.delta.equivalence import same_comment, same_expression, same_property
from support.strategies import texts

Text = Managed[str | None]

SAME_EXPRESSIONS = [
    ("amount>=0", "amount >= 0"),
    ("s.q", "s . q"),
    ("AMOUNT IS not NULL", "amount is NOT null"),
    ("`amount` > 1.50", "amount>1.50"),
    ("a<=>b", "a <=> b"),
    ("a||b", "a || b"),
    ("upper( x )", "upper(x)"),
    ("x = 'A  b'", "x='A  b'"),
    ("a\n\t+ b", "a+b"),
    ("a /* it's */ > 0 -- b\n", "a > 0"),
]
OTHER_EXPRESSIONS = [
    ("x = 'a'", "x = 'A'"),
    ('x = "a"', 'x = "A"'),
    ("x = 'a b'", "x = 'ab'"),
    (r"x = 'a\'b'", r"x = 'a' b"),
    ("a > 1", "a >= 1"),
    ("a > 1.5", "a > 15"),
    ("`a b`", "a b"),
    ("ab", "a b"),
    ("a - b", "a + b"),
    ("a = '/* b */'", "a = '/* c */'"),
    ("`straße` > 0", "`strasse` > 0"),  # two columns in Delta: see `column_names`
    ("```a``` > 0", "a > 0"),
]
SAME_VALUES = [
    ("delta.enableTypeWidening", "TRUE", "true"),
    ("delta.logRetentionDuration", "interval 7 days", "INTERVAL 1 WEEK"),
    ("delta.checkpointInterval", "010", "10"),
    ("delta.columnMapping.mode", "NAME", "name"),
    ("team", "sales", "sales"),
]
OTHER_VALUES = [
    ("delta.enableTypeWidening", "true", "false"),
    ("delta.logRetentionDuration", "interval 7 days", "interval 8 days"),
    ("delta.enableTypeWidening", "yes", "on"),  # Delta refuses both
    ("team", "Sales", "sales"),
]


@pytest.mark.parametrize(("first", "second"), SAME_EXPRESSIONS)
def test_expressions_with_the_same_tokens_are_equal(first: str, second: str) -> None:
    assert same_expression(first, second)


@pytest.mark.parametrize(("first", "second"), OTHER_EXPRESSIONS)
def test_expressions_with_other_tokens_differ(first: str, second: str) -> None:
    assert not same_expression(first, second)


@given(texts())
def test_any_text_equals_itself(text: str) -> None:
    assert same_expression(text, text)
    assert same_property("delta.logRetentionDuration", text, text)


@pytest.mark.parametrize(("key", "first", "second"), SAME_VALUES)
def test_equivalent_property_values_are_equal(key: str, first: str, second: str) -> None:
    assert same_property(key, first, second)


@pytest.mark.parametrize(("key", "first", "second"), OTHER_VALUES)
def test_other_property_values_differ(key: str, first: str, second: str) -> None:
    assert not same_property(key, first, second)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (None, "", True),
        ("", "", True),
        ("x", "x", True),
        ("x", "X", False),
        (None, UNMANAGED, False),
        ("", UNMANAGED, False),
        (UNMANAGED, UNMANAGED, True),
    ],
)
def test_no_comment_equals_an_empty_comment_but_not_an_unmanaged_one(
    first: Text, second: Text, *, same: bool
) -> None:
    assert same_comment(first, second) == same
    assert same_comment(second, first) == same


@pytest.mark.parametrize("value", [None, UNMANAGED])
def test_an_absent_value_differs_from_an_empty_and_an_unmanaged_one(value: Text) -> None:
    for compare in (same_expression, lambda old, new: same_property("delta.appendOnly", old, new)):
        assert compare(value, value)
        assert not compare(value, "")
        assert not compare(None, UNMANAGED)
