"""Rows and expressions that would make a statement fail are found before the first statement runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from schemalint.deploy.results import Outcome
from schemalint.report import deploy_log
from schemalint.spark.apply_options import ApplyOptions
from schemalint.spark.runner import apply
from support.faulty_sessions import AnswerLostError, Interrupted

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
def deployed(lakehouse: Lakehouse) -> Lakehouse:
    """Return a lakehouse with the table of `BASE` and three rows."""
    lakehouse.declare(BASE)
    lakehouse.apply()
    lakehouse.insert("(1, 10, 'one'), (NULL, 20, 'two'), (-3, 30, repeat('x', 100))")
    return lakehouse


@pytest.mark.each_time
def test_violating_rows_are_counted_and_shown_and_nothing_is_run(deployed: Lakehouse) -> None:
    version = deployed.table().version
    deployed.declare(
        BASE.replace("name: b,", "name: b, comment: first,") + "constraints: {positive: a > 0}\n"
    )

    refused = deployed.apply()

    assert refused.outcome is Outcome.REFUSED
    assert refused.error is not None
    assert "2 rows against positive" in refused.error.message
    assert "a = NULL" in refused.error.message
    assert "a = -3" in refused.error.message
    assert "data of the table" in refused.error.help
    assert deployed.table().version == version


def test_at_most_five_violating_rows_are_shown_with_shortened_values(deployed: Lakehouse) -> None:
    deployed.insert("(9, 9, repeat('y', 100)), (9, 9, 'z'), (9, 9, 'z'), (9, 9, 'z')")
    deployed.declare(BASE + "constraints: {short: c = 'nothing'}\n")

    refused = deployed.apply()

    assert refused.error is not None
    assert "7 rows against short" in refused.error.message
    assert refused.error.message.count("c = ") == 5
    assert "x" * 41 not in refused.error.message


def test_constraints_are_checked_on_rows_with_the_planned_columns(deployed: Lakehouse) -> None:
    """The constraints use columns that the plan swaps, widens or adds."""
    changed = (
        BASE.replace("name: a, type: int", "name: b, type: int, renamed_from: a")
        .replace("{name: b, type: int}", "{name: a, type: bigint, renamed_from: b}")
        .replace("  - {name: c", "  - {name: d, type: date}\n  - {name: c")
    )
    version = deployed.table().version
    deployed.declare(changed + "constraints: {old: b > 0, there: d IS NOT NULL}\n")
    refused = deployed.apply()
    version_after = deployed.table().version
    deployed.declare(changed + "constraints: {large: a >= 10, absent: d IS NULL}\n")

    assert refused.error is not None
    assert "2 rows against old" in refused.error.message
    assert "3 rows against there" in refused.error.message
    assert version_after == version
    assert deployed.apply().outcome is Outcome.APPLIED


def test_old_constraint_stays_if_rows_violate_the_new_one(deployed: Lakehouse) -> None:
    deployed.declare(BASE + "constraints: {range: b < 100}\n")
    assert deployed.apply().outcome is Outcome.APPLIED
    deployed.declare(BASE + "constraints: {range: b < 25}\n")

    assert deployed.apply().outcome is Outcome.REFUSED
    assert deployed.table().state.constraints == {"range": "b < 100"}


def test_constraint_that_no_query_can_check_is_left_to_delta(deployed: Lakehouse) -> None:
    """The query cannot use the column `_metadata`; Delta accepts it in a constraint."""
    deployed.declare(BASE + "constraints: {odd: _metadata.file_size > 0}\n")

    assert deployed.apply().outcome is Outcome.APPLIED


@pytest.mark.each_time
def test_all_or_nothing_leaves_all_tables_unchanged_if_one_is_refused(deployed: Lakehouse) -> None:
    deployed.declare(BASE + "constraints: {positive: a > 0}\n")
    deployed.declare(BASE.replace("sales.orders", "sales.other"), "other")

    together = apply(deployed.session, deployed.repo.path, ApplyOptions(all_or_nothing=True))
    separately = apply(deployed.session, deployed.repo.path)

    assert {result.table: result.outcome for result in together} == {
        "sales.orders": Outcome.REFUSED,
        "sales.other": Outcome.LEFT_ALONE,
    }
    assert [result.reason for result in together] == ["", "sales.orders is refused (--all-or-nothing)"]
    assert {result.table: result.outcome for result in separately} == {
        "sales.orders": Outcome.REFUSED,
        "sales.other": Outcome.APPLIED,
    }


def test_failed_table_stops_the_others_if_it_shall(lakehouse: Lakehouse) -> None:
    """The first statement fails: of the table that comes first, in one session."""
    for table in ("first", "second"):
        lakehouse.declare(f"schemalint: 1\ntable: sales.{table}\ncolumns: [{{name: a, type: int}}]\n", table)

    def session() -> Interrupted:
        failures = iter([AnswerLostError()])

        def fail_once(_number: int) -> None:
            if (error := next(failures, None)) is not None:
                raise error

        return Interrupted(lakehouse.session, before=fail_once)

    stopped, left = apply(session(), lakehouse.repo.path, ApplyOptions(fail_fast=True))
    failed, applied = apply(session(), lakehouse.repo.path)

    assert (stopped.outcome, left.outcome) == (Outcome.FAILED, Outcome.LEFT_ALONE)
    assert deploy_log.text(left) == "sales.second: left alone: sales.first failed (--fail-fast)\n"
    assert (failed.outcome, applied.outcome) == (Outcome.FAILED, Outcome.APPLIED)


WITH_DEFAULTS = BASE + "features: [allowColumnDefaults]\n"


# With functions, whose arguments and results the rules do not know.
REFUSED_CONSTRAINTS = {
    "no_such_function(a) > 0": "UNRESOLVED_ROUTINE",
    "abs() > 0": "WRONG_NUM_ARGS",
    "floor(a)": "FILTER_NOT_BOOLEAN",
    "floor(a) + 1": "FILTER_NOT_BOOLEAN",
    "c > 0 AND floor(a) > date'2026-01-01'": "BINARY_OP_DIFF_TYPES",
}


def test_invalid_constraint_is_refused_and_nothing_is_run(deployed: Lakehouse) -> None:
    version = deployed.table().version
    constraints = "".join(
        f'  odd{number}: "{expression}"\n' for number, expression in enumerate(REFUSED_CONSTRAINTS)
    )
    deployed.declare(BASE.replace("name: b,", "name: b, comment: first,") + f"constraints:\n{constraints}")

    refused = deployed.apply()

    assert refused.outcome is Outcome.REFUSED
    assert refused.error is not None
    for number, error_class in enumerate(REFUSED_CONSTRAINTS.values()):
        assert re.search(rf"the constraint odd{number}: \[[A-Z_.]*{error_class}", refused.error.message)
    assert deployed.table().version == version
    for expression in REFUSED_CONSTRAINTS:
        with pytest.raises(Exception, match=r"\[[A-Z_.]+\]"):
            deployed.sql(f"ADD CONSTRAINT odd CHECK ({expression})")


def test_constraint_uses_the_columns_as_planned(deployed: Lakehouse) -> None:
    changed = BASE.replace("name: a, type: int", "name: z, type: bigint, renamed_from: a")
    deployed.declare(changed + "constraints: {new: z IS NULL OR z > -10, odd: current_date() IS NOT NULL}\n")

    assert deployed.apply().outcome is Outcome.APPLIED


REFUSED_DEFAULTS = {
    ("int", "'a' || 'b'"): "INVALID_DEFAULT_VALUE.DATA_TYPE",
    ("tinyint", "200 + 100"): "INVALID_DEFAULT_VALUE.DATA_TYPE",
    ("string", "no_such_function()"): "UNRESOLVED_ROUTINE",
}


def test_invalid_default_is_refused_and_its_column_is_not_added(deployed: Lakehouse) -> None:
    version = deployed.table().version
    columns = "".join(
        f'  - {{name: d{number}, type: {type_}, default: "{default}"}}\n'
        for number, (type_, default) in enumerate(REFUSED_DEFAULTS)
    )
    deployed.declare(WITH_DEFAULTS.replace("properties", f"{columns}properties"))

    refused = deployed.apply()

    assert refused.outcome is Outcome.REFUSED
    assert refused.error is not None
    for number, error_class in enumerate(REFUSED_DEFAULTS.values()):
        assert f"the default of d{number}: [{error_class}]" in refused.error.message
    assert deployed.table().version == version
    deployed.sql("SET TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')")
    for number, (type_, default) in enumerate(REFUSED_DEFAULTS):
        deployed.sql(f"ADD COLUMNS (d{number} {type_})")
        with pytest.raises(Exception, match=r"\[[A-Z_.]+\]"):
            deployed.sql(f"ALTER COLUMN d{number} SET DEFAULT {default}")


@pytest.mark.each_time
def test_new_table_with_an_invalid_expression_is_not_created(lakehouse: Lakehouse) -> None:
    """Expressions of the statements after CREATE TABLE are checked before it, too."""
    new = """\
  - {name: s, type: struct, columns: [{name: x, type: "varchar(3)", default: "array(1)"}]}
  - {name: g, type: int, generated: no_such_function(a)}
properties"""
    lakehouse.declare(WITH_DEFAULTS.replace("properties", new) + "constraints: {odd: floor(a)}\n")

    refused = lakehouse.apply()

    assert refused.outcome is Outcome.REFUSED
    assert refused.error is not None
    assert "the constraint odd: " in refused.error.message
    assert "the default of s.x: " in refused.error.message
    assert "the generation expression of g: " in refused.error.message
    assert not (lakehouse.root / "sales").exists()


def test_unusual_but_valid_expressions_are_applied(lakehouse: Lakehouse) -> None:
    """They include a default longer than its column, if the table already exists."""
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
  nothing: w IS NULL
  flag: "true"
  inside: element_at(n, 1).x = 1 OR m['k'] > 0 OR s.y > 0
"""
    declared = WITH_DEFAULTS.replace("properties", new) + "constraints:" + odd
    lakehouse.declare(declared)
    made = lakehouse.apply()
    lakehouse.declare(declared.replace('"varchar(3)"}', '"varchar(3)", default: "\'abcd\'"}'))

    assert made.outcome is Outcome.APPLIED, made.error
    assert lakehouse.apply().outcome is Outcome.APPLIED
