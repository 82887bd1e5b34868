"""The structure of expressions that fill columns: casts and choices are found, the rest stays as it is."""

from __future__ import annotations

from typing import Final

import pytest

from schemalint.delta.fill_expressions import fill_fault, reads_source
from schemalint.delta.fill_tree import (
    Case,
    Cast,
    NullTest,
    UnreadableExpression,
    fill_tree,
    walk_nodes,
    written,
)
from schemalint.delta.type_text import print_type

WRITTEN: Final = {
    "cast(a as int)": "cast(a as int)",
    "CAST /* c */ (a -- d\n AS decimal(12,2))": "cast(a as decimal(12,2))",
    "try_cast(a as struct<u:int,v:string>)": "cast(a as struct<u: int, v: string>)",
    "decimal(a) * 1.5e3": "cast(a as decimal(10,0)) * 1.5e3",
    "a = b IS NULL and not cast(c as int) is not null": "a = b IS NULL and not cast(c as int) is not null",
    "s.case.`as` + m['k'] - arr[0]": "s.case.`as` + m['k'] - arr[0]",
    "trim(both 'x' from a)": "trim(both 'x' from a)",
    "case a when 'as' then 1 else cast(b as int) end": "CASE a WHEN 'as' THEN 1 ELSE cast(b as int) END",
    "CASE WHEN a is null THEN 'cast(x as int)' END": "CASE WHEN a is null THEN 'cast(x as int)' END",
    "a in ('x', cast(b as string))": "a in ('x',cast(b as string))",
}


@pytest.mark.parametrize("text", WRITTEN)
def test_an_expression_keeps_its_text_but_for_casts(text: str) -> None:
    assert written(fill_tree(text)) == WRITTEN[text]


def test_casts_choices_and_null_tests_are_found_at_any_depth() -> None:
    text = "coalesce(case when f(cast(a as int)) is null then 1 end, [cast(b as array<int>)][0])"
    nodes = list(walk_nodes(fill_tree(text)))
    assert [print_type(node.type) for node in nodes if isinstance(node, Cast)] == ["int", "array<int>"]
    assert len([node for node in nodes if isinstance(node, Case | NullTest)]) == 2


def test_what_a_null_test_is_about_ends_at_an_operator_of_truth() -> None:
    (_not, test) = fill_tree("not a + cast(b as int) = 1 is not null")
    assert isinstance(test, NullTest)
    assert written(test.operand).strip() == "a + cast(b as int) = 1"


@pytest.mark.parametrize(
    "text",
    [
        "cast(a as",
        "cast(a)",
        "cast(a as no_type)",
        "case a end",
        "a)",
        "(",
        "",
        "a, b",
        "(" * 200 + ")" * 200,
    ],
)
def test_what_has_no_structure_is_refused(text: str) -> None:
    with pytest.raises(UnreadableExpression):
        fill_tree(text)


@pytest.mark.parametrize(
    "text",
    [
        "cast(a as int)",
        "coalesce(cast(a as date), date '2020-01-01', cast('2020-01-01' as date), date_add(a, -1))",
        "regexp_replace(replace(a, ',', '.'), '([0-9]+)', '$1')",
        "cast(a as char(5))",
        "a || 'n' || 'ow'",
        "timestamp_seconds(cast(a as bigint))",
        "try_cast((s.a) as map<string, array<int>>)",
        "case when a in ('x', 'y') then trunc(a, 'MM') end",
        "concat_ws(' ', a, 'x')",
    ],
)
def test_ordinary_expressions_are_allowed(text: str) -> None:
    assert fill_fault(text) is None


def test_an_expression_reads_its_source_in_whole_or_in_part() -> None:
    assert all(reads_source(text, ("s", "a")) for text in ("s.a", "S.A.x + 1", "struct(s)"))
    assert not any(reads_source(text, ("s", "a")) for text in ("0", "s.b", "a", "concat('s.a', id)"))
