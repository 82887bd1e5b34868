"""Quoted texts and tokens of SQL are read as Spark reads them."""

from __future__ import annotations

from schemalint.delta.sql_text import tokens, without_quoted


def test_tokens_are_those_of_spark() -> None:
    """A raw literal begins at a token, and a number with a signed exponent ends before a letter."""
    assert [token.text for token in tokens(r"ar'\\' r'\' 1e+5r'\'")] == [
        "ar",
        r"'\\'",
        r"r'\'",
        "1e+5",
        r"r'\'",
    ]


def test_quoted_texts_and_comments_are_left_out() -> None:
    assert without_quoted(r"a -> 'x->' || r'\' /* -> */ || `->`").split() == ["a", "->", "||", "||"]
