from __future__ import annotations

import pytest
from hypothesis import given

from schemalint.delta.datatype import UNMANAGED, Managed
from schemalint.delta.equivalence import managed, same_comment, same_expression, same_property
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


@pytest.mark.parametrize(("one", "other"), SAME_EXPRESSIONS)
def test_an_expression_is_its_tokens(one: str, other: str) -> None:
    assert same_expression(one, other)


@pytest.mark.parametrize(("one", "other"), OTHER_EXPRESSIONS)
def test_expressions_that_differ(one: str, other: str) -> None:
    assert not same_expression(one, other)


@given(texts())
def test_no_text_is_too_odd_to_be_compared(text: str) -> None:
    assert same_expression(text, text)
    assert same_property("delta.logRetentionDuration", text, text)


@pytest.mark.parametrize(("key", "one", "other"), SAME_VALUES)
def test_values_that_mean_the_same(key: str, one: str, other: str) -> None:
    assert same_property(key, one, other)


@pytest.mark.parametrize(("key", "one", "other"), OTHER_VALUES)
def test_values_that_differ(key: str, one: str, other: str) -> None:
    assert not same_property(key, one, other)


@pytest.mark.parametrize(
    ("one", "other", "same"),
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
def test_no_comment_is_an_empty_one_and_neither_is_unmanaged(one: Text, other: Text, *, same: bool) -> None:
    assert same_comment(one, other) == same
    assert same_comment(other, one) == same


@pytest.mark.parametrize("value", [None, UNMANAGED])
def test_absent_is_no_value_and_not_unmanaged(value: Text) -> None:
    for compare in (same_expression, lambda old, new: same_property("delta.appendOnly", old, new)):
        assert compare(value, value)
        assert not compare(value, "")
        assert not compare(None, UNMANAGED)


def test_managed_is_the_value_or_none() -> None:
    value: Managed[str] = "x"
    assert managed(value) == "x"
    assert managed(UNMANAGED) is None
