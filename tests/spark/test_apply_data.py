"""Rows that a new constraint forbids are found before a table's first statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.spark import Outcome, apply

if TYPE_CHECKING:
    from lakehouse import Lakehouse

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
    begun.declare(BASE + "constraints: {odd: no_such_function(a) > 0}\n")

    failed = begun.apply()

    assert failed.outcome is Outcome.FAILED
    assert failed.error is not None
    assert "the engine refused" in failed.error.message


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
