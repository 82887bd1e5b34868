"""Forty fills of thirty-five values, for `test_every_value_is_accounted_for`.

Each text is one that Spark's own tests cast (CastSuiteBase.scala), or one that stands in a column of public
tables of dirty numbers and dates (beers, hospital, rayyan of BigDaMa/raha; flights as benchmarks of data
cleaning have it): seventeen columns, one text of each.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Final

from schemalint.base.values import frozen

OF_SPARK: Final = (
    *("12345", "12345-12-18", "2015", "2015-03", "2015-03-18", "2015-03-18 ", "2015-03-18 123142"),
    *("2015-03-18T123123", "2015-03-18T", "2015-03-18 12:03:17", "2015-03-18T12:03:17Z", "abdef", "12.65"),
    *("2015-03-18T12:03:17-1:0", "2015-03-18 12:03:17.123", "2015-03-18T12:03:17.456Z", "23", "5"),
)
OF_PUBLIC_TABLES: Final = {
    "beers.ounces": "12.0 oz. Alumi-Tek",
    "beers.abv": "0.059000000000000004%",
    "beers.ibu": "N/A",
    "hospital.provider_number": "1xx19",
    "hospital.zip": "x5957",
    "hospital.phone": "2053258100",
    "hospital.score": "97%",
    "hospital.sample": "0 patients",
    "rayyan.journal_issn": "Jan-68",
    "rayyan.article_jvolumn": "0",
    "rayyan.article_jissue": "",
    "rayyan.article_jcreated_at": "5/20/09",
    "rayyan.article_pagination": "1187-9",
    "flights.sched_dep_time": "7:10 a.m.",
    "flights.act_dep_time": "12:41 p.m.",
    "flights.sched_arr_time": "12/02/2011 6:55 a.m.",
    "flights.act_arr_time": "11:56 a.m.",
}
TEXTS: Final = (*OF_SPARK, *OF_PUBLIC_TABLES.values())

_INTEGERS: Final = (0, 1, -1, 127, 128, -129, 32768, 2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63) + 1)
_FRACTIONS: Final = ("0", "0.1", "-5.0", "1.5", "0.004", "19.999", "1e20", "9007199254740993", "-0.5")


def _cycle(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(values[number % len(values)] for number in range(len(TEXTS)))


SOURCES: Final[dict[str, tuple[str, ...]]] = {
    "string": tuple(f"'{text}'" for text in TEXTS),
    "bigint": _cycle(tuple(f"CAST('{number}' AS bigint)" for number in _INTEGERS)),
    "double": _cycle((*(f"CAST('{number}' AS double)" for number in _FRACTIONS), "double('NaN')")),
    "decimal(30,6)": _cycle(tuple(f"CAST('{number}' AS decimal(30,6))" for number in _FRACTIONS)),
    "timestamp": _cycle(
        tuple(f"timestamp'2015-03-{day:02} {time}'" for day in (1, 18) for time in ("00:00:00", "12:03:17.5"))
    ),
    "date": _cycle(("date'2015-03-18'", "date'0001-01-01'", "date'9999-12-31'")),
    "boolean": _cycle(("true", "false", "CAST(NULL AS boolean)")),
    "array<string>": tuple(f"array('{text}', '5')" for text in TEXTS),
    "map<string,string>": tuple(f"map('k', '{text}')" for text in TEXTS),
    "struct<x: string, y: string>": tuple(f"named_struct('x', '{text}', 'y', '7')" for text in TEXTS),
}
"""Thirty-five values of each type, in SQL."""

OTHER_VALUES: Final = {
    "int": "7777",
    "bigint": "7777",
    "smallint": "777",
    "double": "7.5D",
    "float": "7.5F",
    "decimal(12,2)": "77.77",
    "decimal(5,1)": "7.7",
    "date": "date'1999-09-09'",
    "timestamp": "timestamp'1999-09-09 09:09:09'",
    "timestamp_ntz": "timestamp_ntz'1999-09-09 09:09:09'",
    "boolean": "true",
    "string": "'other'",
    "varchar(5)": "'other'",
    "char(8)": "'other'",
    "binary": "X'6F74686572'",
    "array<int>": "array(7777)",
    "map<string,int>": "map('k', 7777)",
    "struct<u: int, v: int>": "named_struct('u', 7777, 'v', 7)",
}
"""What a writer puts into a new column of each type."""


@frozen
class FillCase:
    """A fill.

    Attributes:
        old: The type of the column ``a``.
        new: The type of the column that is filled.
        expression: The value, of ``a``.
        meaning: The same in SQL that fails where the fill does; empty if the expression itself does.
    """

    old: str
    new: str
    expression: str
    meaning: str = ""

    @property
    def told(self) -> str:
        """The expression that the test evaluates itself."""
        return self.meaning or self.expression

    @property
    def is_chain(self) -> bool:
        """Whether the expression is the column under casts, maybe trimmed."""
        return not re.search("coalesce|case|try_to_|replace|upper", self.expression)


def _of_texts() -> list[FillCase]:
    plain = ("int", "bigint", "smallint", "double", "float", "decimal(12,2)", "decimal(5,1)")
    times = ("date", "timestamp", "timestamp_ntz")
    cases = [FillCase("string", new, f"cast(a as {new})") for new in (*plain, *times, "boolean", "binary")]
    cases += [
        FillCase("string", new, "a") for new in ("int", "varchar(5)", "char(8)", "date", "decimal(12,2)")
    ]
    return [
        *cases,
        FillCase("string", "int", "cast(trim(a) as int)"),
        FillCase("string", "int", "cast(cast(a as decimal(12,2)) as int)"),
        FillCase("string", "int", "coalesce(cast(a as int), -1)", "coalesce(try_cast(a as int), -1)"),
        FillCase("string", "date", "try_to_date(a, 'M/d/yy')"),
        FillCase(
            "string",
            "date",
            "coalesce(cast(a as date), try_to_date(a, 'M/d/yy'))",
            "coalesce(try_cast(a as date), try_to_date(a, 'M/d/yy'))",
        ),
        FillCase("string", "decimal(12,2)", "cast(replace(a, '%', '') as decimal(12,2))"),
        FillCase("string", "string", "upper(a)"),
        FillCase(
            "string",
            "int",
            "case when cast(a as int) is null then 0 else cast(a as int) end",
            "coalesce(try_cast(a as int), 0)",
        ),
    ]


CASES: Final = (
    *_of_texts(),
    FillCase("bigint", "int", "a"),
    FillCase("bigint", "smallint", "cast(a as smallint)"),
    FillCase("bigint", "double", "cast(a as double)"),
    FillCase("bigint", "string", "cast(a as string)"),
    FillCase("double", "decimal(12,2)", "cast(a as decimal(12,2))"),
    FillCase("double", "int", "cast(a as int)"),
    FillCase("decimal(30,6)", "decimal(12,2)", "a"),
    FillCase("decimal(30,6)", "double", "cast(a as double)"),
    FillCase("timestamp", "date", "a"),
    FillCase("timestamp", "string", "cast(a as string)"),
    FillCase("date", "timestamp", "a"),
    FillCase("boolean", "int", "cast(a as int)"),
    FillCase("array<string>", "array<int>", "a"),
    FillCase("map<string,string>", "map<string,int>", "a"),
    FillCase(
        "struct<x: string, y: string>",
        "struct<u: int, v: int>",
        "try_cast(a as struct<u:int,v:int>)",
        "cast(a as struct<u:int,v:int>)",  # a struct with a field that fails is null as a whole
    ),
)


def is_changed(text: str, value: str, type_: str) -> bool:
    """Whether a text and what became of it are two numbers, days or times of a clock; types count by name."""
    if type_ == "date":
        day, _separator, time = text.strip().replace("T", " ").partition(" ")
        parts = [*map(int, day.split("-")), 1, 1]  # the month and the day may be left out
        return parts[:3] != [*map(int, value.split("-"))] or time not in ("", "00:00:00")
    if type_ == "timestamp_ntz":
        return re.search(r":.*[A-Z+-]", text) is not None  # the zone is gone
    try:
        return Decimal(text.strip()) != Decimal(value)
    except InvalidOperation:
        return False
