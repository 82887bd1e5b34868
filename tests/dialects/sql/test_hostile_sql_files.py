"""Hostile and broken SQL files end with a verdict, or with one error at its place."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from dialects.sql.test_sql_reading import FILE, SQL, STATEMENTS, error, read, table
from schemalint.contract.dialects import sql
from schemalint.contract.dialects.sql.lexer import MAX_CHARACTERS, MAX_DEPTH, MAX_STATEMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.wide
@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE t (a " + "ARRAY<" * 10_000 + "INT" + ">" * 10_000 + ") USING delta",
        "CREATE TABLE t (a INT DEFAULT " + "(" * 10_000 + "1" + ")" * 10_000 + ") USING delta",
        "SELECT " + "(" * 100_000 + "1" + ")" * 100_000,
        "SELECT 1;" * (MAX_STATEMENTS + 1),
        "x" * (MAX_CHARACTERS + 1),
        "/*" * 100_000,
        "CREATE TABLE t (" * 50_000,
        "'" * 99_999,
        "`" * 99_999,
        "{{" * 100_000,
        "$$" * 49_999 + "$",
        "-- \\\n" * 100_000,
        "{%" * 100_000,
        "CREATE TABLE t (a INT) USING delta TBLPROPERTIES (" + "'a'" * 100_000 + ")",
        "CREATE TABLE " + "a." * 100_000 + "b (a INT) USING delta",
        "CREATE TABLE t (a INT" + ", b INT" * 20_000 + ") USING delta",
        "CREATE TABLE t (a DECIMAL(" + "9" * 10_000 + ")) USING delta",
        "CREATE TABLE t (a BIGINT GENERATED ALWAYS AS IDENTITY (START WITH "
        + "9" * 10_000
        + ")) USING delta",
        "COMMENT ON",
        "COMMENT ON --",
        "CREATE STREAMING x (a INT)",
        "CREATE TABLE",
        "ALTER TABLE",
        "\0\x1b[31m",
    ],
    ids=lambda text: text[:25],
)
def test_a_hostile_file_ends_with_a_verdict_or_few_errors(text: str) -> None:
    reading = read(text)
    assert len(reading.errors) <= 1


def test_a_file_that_is_too_long_is_an_error() -> None:
    assert "more than 1,048,576 characters" in error("-- " + "x" * MAX_CHARACTERS)
    assert f"{FILE}:{MAX_STATEMENTS + 1}:1: the file has more than 10,000 statements" in error(
        "SELECT 1;\n" * (MAX_STATEMENTS + 1)
    )


def test_deeper_brackets_than_a_rule_can_read_are_an_error() -> None:
    expression = "(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH
    found = error(f"SELECT 1;\nCREATE TABLE t (a INT DEFAULT {expression}) USING delta")
    assert found.startswith(f"{FILE}:2:{30 + MAX_DEPTH}: brackets are nested too deep")


def test_a_type_may_be_as_deep_as_in_a_contract() -> None:
    deep = "ARRAY<" * (MAX_DEPTH - 2) + "INT" + ">" * (MAX_DEPTH - 2)
    assert table(f"CREATE TABLE t (a {deep}) USING delta").table == "t"


@pytest.mark.parametrize("data", [b"\xff\xfeC\0", b"CREATE TABLE t (a INT COMMENT '\xe9') USING delta"])
def test_a_file_that_is_not_utf8_is_one_error(data: bytes) -> None:
    (found,) = sql.read(FILE, data, None, SQL).errors
    assert "UTF" in found.message


def test_mutated_files_end_with_a_verdict_or_an_error() -> None:
    """Each text is one of the cases with a few characters, words or lines changed."""
    chance = random.Random(51)  # noqa: S311 (no secret)
    for text in mutated(chance, 1_000):
        reading = read(text)
        for each in reading.errors:
            assert each.location is not None
        if text.strip(" \n;") and not (reading.contracts or reading.errors):
            assert reading.left_out or _is_only_a_comment(text)


def mutated(chance: random.Random, number: int) -> Iterator[str]:
    """Yield texts that somebody spoiled."""
    pieces = [
        *"()<>,.;:'\"`{}$-/*\\\n= ",
        "--",
        "/*",
        "*/",
        "NOT NULL",
        "COMMENT 'x'",
        "${x}",
        "{{ y }}",
        "USING",
        "\0",
    ]
    for _ in range(number):
        text = chance.choice(STATEMENTS)
        for _ in range(chance.randint(1, 4)):
            start = chance.randrange(len(text) + 1)
            end = min(len(text), start + chance.choice((0, 0, 1, 3, 12)))
            text = text[:start] + chance.choice(pieces) + text[end:]
        yield text


def _is_only_a_comment(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip(" ;")]
    return all(line.lstrip(" ;").startswith(("--", "/*")) for line in lines) or text.lstrip().startswith("/*")
