"""What fills make of values, written by hand.

Each case is the type of the column ``a``, an expression, the type of the column that is filled, and rows: a
value of ``a`` in SQL, and what becomes of it. That is a text of the value, as Spark casts it to string, after
a mark: ``=`` for the same value, ``~`` for another one, ``?`` where that is not known; `FAILS` for a row
that does not convert.
"""

from __future__ import annotations

from typing import Final

FAILS: Final = "fails"

CASES: Final[dict[str, tuple[str, str, str, dict[str, str]]]] = {
    "decimal of text": (
        "string",
        "cast(a as decimal(12,2))",
        "decimal(12,2)",
        {
            "'5'": "= 5.00",
            "'005.0'": "= 5.00",
            "' 5.10 '": "= 5.10",
            "'19.999'": "~ 20.00",
            "'1e3'": "= 1000.00",
            "'1e-3'": "~ 0.00",
            "'-0'": "= 0.00",
            "'.5'": "= 0.50",
            "'5.'": "= 5.00",
            "'0.000000000000000000000000000000000000000000001'": "~ 0.00",
            "'12345678901.5'": FAILS,
            "'free'": FAILS,
            "''": FAILS,
            "'1,5'": FAILS,
            "'NaN'": FAILS,
        },
    ),
    "integer of text": (
        "string",
        "cast(a as int)",
        "int",
        {"'007'": "= 7", "' 7'": "= 7", "'7.0'": FAILS, "'2147483648'": FAILS, "'x'": FAILS},
    ),
    "integer of text by a decimal": (
        "string",
        "cast(cast(a as decimal(20,2)) as int)",
        "int",
        {"'7.00'": "= 7", "'7.01'": "~ 7", "'7.001'": "~ 7", "'99999999999'": FAILS},
    ),
    "double of text": (
        "string",
        "cast(a as double)",
        "double",
        {
            "'0.1'": "= 0.1",
            "'9007199254740993'": "~ 9.007199254740992E15",
            "'1e400'": "~ Infinity",
            "'inf'": "= Infinity",
            "'nan'": "= NaN",
            "'1d'": "~ 1.0",
            "'x'": FAILS,
        },
    ),
    "date of text": (
        "string",
        "cast(a as date)",
        "date",
        {
            "'2026-01-31'": "= 2026-01-31",
            "'2026-1-1'": "= 2026-01-01",
            "'2026-01-31 00:00:00'": "= 2026-01-31",
            "'2026-01-31T10:00:00'": "~ 2026-01-31",
            "'2026-01-31 soon'": "~ 2026-01-31",
            "'2026-02-30'": FAILS,
            "'today'": FAILS,
        },
    ),
    "timestamp of text": (
        "string",
        "cast(a as timestamp)",
        "timestamp",
        {
            "'2026-01-31 10:00:00.123456'": "= 2026-01-31 10:00:00.123456",
            "'2026-01-31 10:00:00.1234567'": "~ 2026-01-31 10:00:00.123456",
            "'2026'": "= 2026-01-01 00:00:00",
            "'10:30'": FAILS,
            "'now'": FAILS,
        },
    ),
    "timestamp without a zone of text": (
        "string",
        "cast(a as timestamp_ntz)",
        "timestamp_ntz",
        {
            "'2026-01-31 10:00:00'": "= 2026-01-31 10:00:00",
            "'2026-01-31'": "= 2026-01-31 00:00:00",
            "'2026-01-31T10:00:00Z'": "~ 2026-01-31 10:00:00",
            "'2026-01-31 10:00:00-1:0'": "~ 2026-01-31 10:00:00",
            "'2026-01-31 10:00:00 Europe/Berlin'": "~ 2026-01-31 10:00:00",
            "'2026-01-31 10:00:00.1234567'": "~ 2026-01-31 10:00:00.123456",
            "'10:30'": FAILS,
        },
    ),
    "timestamp of a text that is made": (
        "string",
        "cast(trim(concat(a, '')) as timestamp)",
        "timestamp",
        {"'10:30'": FAILS, "' 2026-01-31'": "? 2026-01-31 00:00:00"},
    ),
    "trimmed text": ("string", "cast(trim(a) as int)", "int", {"' 7 '": "= 7", "'x'": FAILS}),
    "smaller integer": ("bigint", "a", "int", {"5L": "= 5", "4294967296L": FAILS}),
    "double of an integer": (
        "bigint",
        "cast(a as double)",
        "double",
        {
            "5L": "= 5.0",
            "9007199254740993L": "~ 9.007199254740992E15",
            "9223372036854775807L": "~ 9.223372036854776E18",
        },
    ),
    "decimal of a double": (
        "double",
        "cast(a as decimal(12,2))",
        "decimal(12,2)",
        {"0.1D": "= 0.10", "1.005D": "~ 1.01", "double('NaN')": FAILS, "1e20D": FAILS},
    ),
    "integer of a decimal": (
        "decimal(12,3)",
        "cast(a as int)",
        "int",
        {"5.000BD": "= 5", "5.001BD": "~ 5", "-5.999BD": "~ -5"},
    ),
    "date of a timestamp": (
        "timestamp",
        "a",
        "date",
        {
            "timestamp'2026-01-31 00:00:00'": "= 2026-01-31",
            "timestamp'2026-01-31 00:00:00.000001'": "~ 2026-01-31",
        },
    ),
    "text of a number": ("int", "cast(a as string)", "string", {"7": "= 7"}),
    "varchar": (
        "string",
        "a",
        "varchar(3)",
        {"'abc'": "= abc", "'äöü'": "= äöü", "'abcd'": FAILS, "'abc '": FAILS},
    ),
    "char": ("string", "a", "char(3)", {"'ab'": "= ab", "'abcd'": FAILS}),
    "varchar by a cast": ("string", "cast(a as varchar(2))", "string", {"'ab'": "= ab", "'abc'": FAILS}),
    "a default for what does not convert": (
        "string",
        "coalesce(cast(a as int), -1)",
        "int",
        {"'7'": "? 7", "'x'": "? -1"},
    ),
    "a choice": (
        "string",
        "case when cast(a as int) is null then 0 else cast(a as int) end",
        "int",
        {"'7'": "? 7", "'x'": "? 0"},
    ),
    "a choice that is evaluated": (
        "string",
        "case when a like 'n%' then cast('x' as int) when a = 'y' then 1 else cast(a as int) end",
        "int",
        {"'7'": "? 7", "'x'": FAILS, "'n1'": FAILS, "'y'": "? 1"},
    ),
    "a choice inside a text": (
        "string",
        "concat_ws('-', 'z', if(a rlike '^[0-9]', cast(cast(a as int) as string), a))",
        "string",
        {"'7'": "? z-7", "'x'": "? z-x", "'7x'": FAILS},
    ),
    "an if": (
        "string",
        "if(a rlike '^[0-9]+$', cast(a as int), 0)",
        "int",
        {"'7'": "? 7", "'x'": "? 0", "'99999999999'": FAILS},
    ),
    "two forms of dates": (
        "string",
        "coalesce(cast(a as date), try_to_date(a, 'dd.MM.yyyy'))",
        "date",
        {"'2026-01-31'": "? 2026-01-31", "'31.01.2026'": "? 2026-01-31", "'x'": FAILS},
    ),
    "a part that fails beside another": (
        "string",
        "concat_ws('-', a, cast(cast(a as int) as string))",
        "string",
        {"'7'": "? 7-7", "'x'": FAILS},
    ),
    "an element that fails": (
        "array<string>",
        "try_cast(a as array<int>)",
        "array<int>",
        {
            "array('1', NULL)": "= [1, null]",
            "array('1', 'x')": FAILS,
            "array()": "= []",
        },
    ),
    "an array without a cast": (
        "array<string>",
        "a",
        "array<decimal(5,1)>",
        {"array('1.0')": "= [1.0]", "array('1.05')": "~ [1.1]", "array('x')": FAILS},
    ),
    "a field that fails": (
        "struct<x: string, y: string>",
        "try_cast(a as struct<u:int,v:int>)",
        "struct<u:int,v:int>",
        {
            "named_struct('x', '1', 'y', NULL)": "= {1, null}",
            "named_struct('x', '1', 'y', 'b')": FAILS,
        },
    ),
    "a struct that is made": (
        "string",
        "named_struct('u', cast(a as int), 'v', a)",
        "struct<u:int,v:varchar(2)>",
        {"'1'": "? {1, 1}", "'x'": FAILS, "'123'": FAILS},
    ),
    "keys that become one": (
        "map<string,string>",
        "cast(a as map<int,int>)",
        "map<int,int>",
        {
            "map('1', '1', '2', NULL)": "= {1 -> 1, 2 -> null}",
            "map('1', '1', '01', '2')": FAILS,
            "map('x', '1')": FAILS,
            "map('1', 'x')": FAILS,
        },
    ),
    "a field of a struct": (
        "struct<x: string>",
        "cast(a.x as int)",
        "int",
        {"named_struct('x', '7')": "= 7"},
    ),
    "an element": ("array<string>", "cast(a[0] as decimal(3,1))", "decimal(3,1)", {"array('7.01')": "~ 7.0"}),
    "a number without a cast": ("string", "decimal(a) * 1", "decimal(21,0)", {"'7.4'": "? 7", "'x'": FAILS}),
    "comments": ("string", "cast /* c */ (a as int) -- d\n", "int", {"'7'": "= 7", "'x'": FAILS}),
    "truth": ("string", "cast(a as boolean)", "boolean", {"'yes'": "= true", "'maybe'": FAILS}),
}
