"""What a table's statements would fail at, its rows or its expressions, is found before the first of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from schemalint.deploy.outcome import Outcome
from schemalint.spark.runner import apply

if TYPE_CHECKING:
    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

BASE = """\
schemalint: 1
table: sales.orders
columns:
  - {name: a, type: int}
  - {name: b, type: int}
  - {name: c, type: string}
properties: {delta.enableTypeWidening: true, delta.columnMapping.mode: name}
protocol: {allow_upgrade: true}
"""


@pytest.fixture
def begun(lakehouse: Lakehouse) -> Lakehouse:
    lakehouse.declare(BASE)
    lakehouse.apply()
    lakehouse.insert("(1, 10, 'one'), (NULL, 20, 'two'), (-3, 30, repeat('x', 100))")
    return lakehouse


def test_rows_are_counted_and_shown_and_nothing_is_run(begun: Lakehouse) -> None:
    version = begun.table().version
    begun.declare(BASE.replace("name: b,", "name: b, comment: first,") + "constraints: {positive: a > 0}\n")

    refused = begun.apply()

    assert refused.outcome is Outcome.REFUSED
    assert refused.error is not None
    assert "2 rows against positive" in refused.error.message
    assert "a = NULL" in refused.error.message
    assert "a = -3" in refused.error.message
    assert "data of the table" in refused.error.help
    assert begun.table().version == version


def test_values_of_the_sample_are_cut_and_at_most_five_rows_are_shown(begun: Lakehouse) -> None:
    begun.insert("(9, 9, repeat('y', 100)), (9, 9, 'z'), (9, 9, 'z'), (9, 9, 'z')")
    begun.declare(BASE + "constraints: {short: c = 'nothing'}\n")

    refused = begun.apply()

    assert refused.error is not None
    assert "7 rows against short" in refused.error.message
    assert refused.error.message.count("c = ") == 5
    assert "x" * 41 not in refused.error.message


def test_rows_are_looked_at_as_the_plan_makes_them(begun: Lakehouse) -> None:
    """A swap, a widening and a new column: the expression speaks of columns that are not there yet."""
    changed = (
        BASE.replace("name: a, type: int", "name: b, type: int, renamed_from: a")
        .replace("{name: b, type: int}", "{name: a, type: bigint, renamed_from: b}")
        .replace("  - {name: c", "  - {name: d, type: date}\n  - {name: c")
    )
    version = begun.table().version
    begun.declare(changed + "constraints: {old: b > 0, there: d IS NOT NULL}\n")
    refused = begun.apply()
    untouched = begun.table().version
    begun.declare(changed + "constraints: {large: a >= 10, absent: d IS NULL}\n")

    assert refused.error is not None
    assert "2 rows against old" in refused.error.message
    assert "3 rows against there" in refused.error.message
    assert untouched == version
    assert begun.apply().outcome is Outcome.APPLIED


def test_old_form_of_a_constraint_stays_when_rows_violate_the_new_one(begun: Lakehouse) -> None:
    begun.declare(BASE + "constraints: {range: b < 100}\n")
    assert begun.apply().outcome is Outcome.APPLIED
    begun.declare(BASE + "constraints: {range: b < 25}\n")

    assert begun.apply().outcome is Outcome.REFUSED
    assert begun.table().state.constraints == {"range": "b < 100"}


def test_what_cannot_be_asked_is_left_to_delta(begun: Lakehouse) -> None:
    """What the files of the rows are called stands in no query that could be asked; Delta takes it."""
    begun.declare(BASE + "constraints: {odd: _metadata.file_size > 0}\n")

    assert begun.apply().outcome is Outcome.APPLIED


def test_all_or_nothing_leaves_the_other_tables_alone(begun: Lakehouse) -> None:
    begun.declare(BASE + "constraints: {positive: a > 0}\n")
    begun.declare(BASE.replace("sales.orders", "sales.other"), "other")

    tried = apply(begun.session, begun.repo.path, all_or_nothing=True)
    apart = apply(begun.session, begun.repo.path)

    assert {one.table: one.outcome for one in tried} == {
        "sales.orders": Outcome.REFUSED,
        "sales.other": Outcome.LEFT_ALONE,
    }
    assert {one.table: one.outcome for one in apart} == {
        "sales.orders": Outcome.REFUSED,
        "sales.other": Outcome.APPLIED,
    }


WITH_DEFAULTS = BASE + "features: [allowColumnDefaults]\n"


REFUSED_CONSTRAINTS = {
    "no_such_function(a) > 0": "UNRESOLVED_ROUTINE",
    "abs() > 0": "WRONG_NUM_ARGS",
    "a": "FILTER_NOT_BOOLEAN",
    "a + 1": "FILTER_NOT_BOOLEAN",
    "max(a) > 0": "INVALID_WHERE_CONDITION",
    "c > 0 AND a > date'2026-01-01'": "BINARY_OP_DIFF_TYPES",
}


def test_constraints_that_are_refused_keep_everything_from_being_run(begun: Lakehouse) -> None:
    version = begun.table().version
    written = "".join(f'  odd{number}: "{one}"\n' for number, one in enumerate(REFUSED_CONSTRAINTS))
    begun.declare(BASE.replace("name: b,", "name: b, comment: first,") + f"constraints:\n{written}")

    refused = begun.apply()

    assert refused.outcome is Outcome.REFUSED
    assert refused.error is not None
    for number, words in enumerate(REFUSED_CONSTRAINTS.values()):
        assert re.search(rf"the constraint odd{number}: \[[A-Z_.]*{words}", refused.error.message)
    assert begun.table().version == version
    for expression in REFUSED_CONSTRAINTS:
        with pytest.raises(Exception, match=r"\[[A-Z_.]+\]"):
            begun.sql(f"ADD CONSTRAINT odd CHECK ({expression})")


def test_constraint_speaks_of_the_columns_as_they_will_be(begun: Lakehouse) -> None:
    changed = BASE.replace("name: a, type: int", "name: z, type: bigint, renamed_from: a")
    begun.declare(changed + "constraints: {new: z IS NULL OR z > -10, odd: user IS NOT NULL}\n")

    assert begun.apply().outcome is Outcome.APPLIED


REFUSED_DEFAULTS = {
    ("int", "'abc'"): "INVALID_DEFAULT_VALUE.DATA_TYPE",
    ("tinyint", "200"): "INVALID_DEFAULT_VALUE.DATA_TYPE",
    ("string", "no_such_function()"): "UNRESOLVED_ROUTINE",
    ("string", "max('a')"): "UNSUPPORTED_EXPR_FOR_OPERATOR",
}


def test_defaults_that_are_refused_keep_their_columns_from_being_added(begun: Lakehouse) -> None:
    version = begun.table().version
    columns = "".join(
        f'  - {{name: d{number}, type: {type_}, default: "{default}"}}\n'
        for number, (type_, default) in enumerate(REFUSED_DEFAULTS)
    )
    begun.declare(WITH_DEFAULTS.replace("properties", f"{columns}properties"))

    refused = begun.apply()

    assert refused.outcome is Outcome.REFUSED
    assert refused.error is not None
    for number, words in enumerate(REFUSED_DEFAULTS.values()):
        assert f"the default of d{number}: [{words}]" in refused.error.message
    assert begun.table().version == version
    begun.sql("SET TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')")
    for number, (type_, default) in enumerate(REFUSED_DEFAULTS):
        begun.sql(f"ADD COLUMNS (d{number} {type_})")
        with pytest.raises(Exception, match=r"\[[A-Z_.]+\]"):
            begun.sql(f"ALTER COLUMN d{number} SET DEFAULT {default}")


def test_new_table_is_not_left_half_made(lakehouse: Lakehouse) -> None:
    """What comes in a statement of its own after CREATE TABLE is asked for before it, too."""
    new = """\
  - {name: s, type: struct, columns: [{name: x, type: "varchar(3)", default: "array(1)"}]}
  - {name: g, type: int, generated: no_such_function(a)}
properties"""
    lakehouse.declare(WITH_DEFAULTS.replace("properties", new) + "constraints: {odd: a}\n")

    refused = lakehouse.apply()

    assert refused.outcome is Outcome.REFUSED
    assert refused.error is not None
    assert "the constraint odd: " in refused.error.message
    assert "the default of s.x: " in refused.error.message
    assert "the generation expression of g: " in refused.error.message
    assert not (lakehouse.root / "sales").exists()


def test_odd_expressions_that_delta_takes_are_applied(lakehouse: Lakehouse) -> None:
    """A default that is longer than its column is one of them, where it comes to a table that is there."""
    new = """\
  - {name: d, type: date, default: current_date()}
  - {name: e, type: double, default: "'1.5'"}
  - {name: m, type: "map<string, int>", default: map()}
  - {name: v, type: variant, default: "1"}
  - {name: s, type: struct, columns: [{name: x, type: "varchar(3)"}, {name: y, type: int, default: "1.0"}]}
  - {name: n, type: "array<struct<x: int>>", nullable: false}
  - {name: g, type: "array<int>", generated: "array(1, a)"}
  - {name: w, type: void}
properties"""
    odd = """
  sub: a IN (SELECT 1)
  random: rand() >= 0
  nothing: w IS NULL
  flag: "true"
  inside: array_contains(n.x, 1) OR m['k'] > 0 OR s.y > 0
"""
    declared = WITH_DEFAULTS.replace("properties", new) + "constraints:" + odd
    lakehouse.declare(declared)
    made = lakehouse.apply()
    lakehouse.declare(declared.replace('"varchar(3)"}', '"varchar(3)", default: "\'abcd\'"}'))

    assert made.outcome is Outcome.APPLIED, made.error
    assert lakehouse.apply().outcome is Outcome.APPLIED
