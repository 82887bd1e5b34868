"""The columns that an expression uses; Delta checks them before it alters a column."""

from __future__ import annotations

import subprocess
import sys

import pytest

from schemalint.delta.column_users import ColumnUsers, columns_used
from schemalint.delta.path import Part, Path

ELEMENT, VALUE, KEY = Part.ELEMENT, Part.VALUE, Part.KEY


@pytest.mark.parametrize(
    ("expression", "columns"),
    [
        ("amount >= 0", {"amount"}),
        ("Amount >= 0 AND `odd name` <> 'amount'", {"Amount", "odd name"}),
        ("s . q > 0", {"s.q"}),
        ("a.b.c.d.e.f > 0", {"a.b.c.d.e.f"}),
        ("l[0].x > n", {"l.x", "n"}),
        ("m['k'].v[i].w = 1", {"m.v.w", "i"}),
        ("l.x[0] > 0", {"l.x"}),
        ("element_at(l, 1).x > 0", {"l"}),
        ("exists(l, x -> x.y > z)", {"l", "z"}),
        ("cast(ts as date) > date'2020-01-01'", {"ts"}),
        ("year(ts) = 2020 or current_date() > d", {"ts", "d"}),
        ("1 = 1", set()),
    ],
)
def test_columns_of_an_expression_are_found(expression: str, columns: set[str]) -> None:
    """Functions, literals, keywords and a lambda's parameters do not count."""
    assert {".".join(names) for names in columns_used(expression) or ()} == columns


@pytest.mark.parametrize(
    "expression",
    ["", "a >=", "a > 0)", "a > 0; b", "struct(*) is not null", "(select max(a) from t) > 0", "(" * 9_000],
    ids=lambda text: text[:20],
)
def test_for_an_unreadable_expression_the_answer_is_unknown(expression: str) -> None:
    """The answer is None: neither an error nor "no columns"."""
    assert columns_used(expression) is None
    users = ColumnUsers([("unreadable", expression)])
    assert (users.of(("a",)), users.unparsed) == ((), ("unreadable",))


@pytest.mark.parametrize(
    ("expression", "path", "expected"),
    [
        ("s.x > 0", ("S", "X"), True),
        ("s.x > 0", ("s",), True),
        ("s is null", ("s", "x"), True),
        ("s.x > 0", ("s", "y"), False),
        ("s.x > 0", ("x",), False),
        ("size(l) > 0", ("l", ELEMENT), True),
        ("l[0].x > 0", ("l", ELEMENT, "x"), True),
        ("l[0].x > 0", ("l", ELEMENT, "y"), False),
        ("element_at(l, 1).x > 0", ("l", ELEMENT, "y"), True),
        ("m['k'] > 0", ("m", VALUE), True),
        ("m['k'] > 0", ("m", KEY), True),
    ],
)
def test_using_a_column_uses_its_parents_and_its_children(
    *, expression: str, path: Path, expected: bool
) -> None:
    """Measured on Delta 4.4.0; ``engine/alters.csv`` has the answers."""
    users = ColumnUsers([("key", expression)])
    assert users.of(path) == (("key",) if expected else ())


def test_sqlglot_is_loaded_only_for_expressions() -> None:
    """Importing it takes time, and tables without constraints do not need it."""
    code = "import sys, schemalint.plugin; print('sqlglot' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("expression", ["size(map(a)) > 0", "map(", "x -> 1bd . cast(array(a) as int"])
def test_what_the_parser_stumbles_over_cannot_be_parsed(expression: str) -> None:
    assert columns_used(expression) is None


def test_the_parser_prints_no_text_of_a_contract(caplog: pytest.LogCaptureFixture) -> None:
    assert columns_used("get_json_object(a, '$[\n::error::of the contract') = 'b'") is not None
    assert caplog.records == []
