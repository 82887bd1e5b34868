"""Columns that are filled from others: what reaches a statement, and where the statement stands in a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from schemalint import contract as contracts
from schemalint.delta.change import ConstraintChanged
from schemalint.delta.datatype import UNMANAGED
from schemalint.delta.fill_expressions import FILL_FUNCTIONS
from schemalint.delta.functions import FunctionKind, kind_of_function
from schemalint.model.table_plan import RefusalKind
from schemalint.planner.remaining_steps import Remaining, completed_steps, remaining_steps
from schemalint.planner.simulate import simulate
from support.rule_cases import load_cases
from support.seam import created_table, planned

if TYPE_CHECKING:
    from schemalint.model.contract import Contract
    from support.rule_cases import Case

HOSTILE: Final = [
    case for case in load_cases() if case.rule == "fill-expression-not-allowed" and case.expected
]
OF_TIME: Final = {"now", "curdate", "current_date", "current_time", "current_timestamp", "localtimestamp"}
LARGE: Final = {"repeat", "space", "lpad", "rpad", "sequence", "array_repeat", "format_string", "printf"}
FAILING: Final = {"raise_error", "assert_true"}

MAPPED: Final = "properties: {delta.columnMapping.mode: name}"
OLD: Final = "{name: id, type: int}, {name: code, type: string}"
NEW: Final = '{name: number, type: int, backfill: {from: code, with: "cast(code as int)"}}'


def declared(columns: str, more: str = MAPPED) -> Contract:
    text = f"schemalint: 1\ntable: sales.orders\ncolumns: [{columns}]\n{more}\n"
    (contract,) = contracts.read("orders.yaml", text).contracts
    return contract


def kinds(base: Contract, head: Contract, live: Contract | None = None) -> list[str]:
    plan = planned(base, head, created_table(live or base))
    assert plan.refusals == ()
    return [step.kind.name for step in plan.steps]


@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: case.name)
def test_no_expression_that_must_not_run_reaches_a_statement(case: Case) -> None:
    """No rule judges here: neither an ignored rule nor an exception lets it pass."""
    (before,) = contracts.read("before.yaml", case.texts["before"]).contracts
    (after,) = contracts.read("after.yaml", case.texts["after"]).contracts
    plan = planned(before, after, created_table(before), with_rules=False)
    errors = (case.expected or "").count(" BF001 error ")
    assert [refusal.kind for refusal in plan.refusals] == [RefusalKind.DECLARATION] * errors
    assert plan.steps == ()


def test_functions_that_fill_are_recorded_as_deterministic_and_read_their_arguments_alone() -> None:
    assert {kind_of_function(name) for name in FILL_FUNCTIONS} == {FunctionKind.ROW}
    assert set() == FILL_FUNCTIONS & (OF_TIME | LARGE | FAILING)


def test_the_column_is_added_and_filled_last() -> None:
    checked = f"{MAPPED}\nconstraints: {{c: id > 0}}\nprotocol: {{allow_upgrade: true}}"
    head = declared(f"{OLD}, {NEW}", checked)
    assert kinds(declared(OLD), head) == ["ADD_COLUMNS", "ADD_CONSTRAINT", "FILL"]


CHECKED: Final = f"{MAPPED}\nprotocol: {{allow_upgrade: true}}\nconstraints: "


def test_a_new_constraint_on_the_filled_column_is_added_after_its_values() -> None:
    base = declared(OLD, f"{CHECKED}{{c: id > 0}}")
    head = declared(f"{OLD}, {NEW}", f"{CHECKED}{{c: id > 0, low: id > 1, has: number IS NOT NULL}}")
    assert kinds(base, head) == ["ADD_COLUMNS", "ADD_CONSTRAINT", "FILL", "ADD_CONSTRAINT"]
    first, last = (
        step for step in planned(base, head, created_table(base)).steps if step.kind.name == "ADD_CONSTRAINT"
    )
    assert ([first.changes[0], first.fills], len(last.fills)) == (
        [ConstraintChanged("low", UNMANAGED, "id > 1"), ()],
        1,
    )
    assert "no row whose value converts has code without number" in last.requires


def test_a_constraint_that_changes_is_never_gone_until_an_approval_comes() -> None:
    base = declared(f"{OLD}, {NEW}", f"{CHECKED}{{has: number > 0}}")
    head = declared(f"{OLD}, {NEW}", f"{CHECKED}{{has: number > 1}}")
    changed = [kind for kind in kinds(base, head) if kind != "NOTE_PENDING"]
    assert changed == ["DROP_CONSTRAINT", "ADD_CONSTRAINT", "FILL"]


def test_a_killed_run_fills_before_it_adds_the_constraint() -> None:
    head = declared(f"{OLD}, {NEW}", f"{CHECKED}{{has: number IS NOT NULL}}")
    plan = planned(declared(OLD), head, created_table(declared(OLD)))
    assert plan.live is not None
    left = []
    for done in range(len(plan.steps) + 1):
        rest = remaining_steps(plan.live, simulate(plan.live, plan.steps[:done]), plan.steps)
        assert isinstance(rest, Remaining)
        left.append([step.kind.name for step in rest.steps])
    both = ["FILL", "ADD_CONSTRAINT"]
    assert left == [["ADD_COLUMNS", *both], both, both, ["FILL"]]


def test_as_long_as_both_columns_are_there_the_table_has_a_fill_to_run() -> None:
    head = declared(f"{OLD}, {NEW}")
    assert kinds(head, head) == ["FILL"]


def test_the_column_is_filled_before_its_source_goes() -> None:
    """A release may bring several merges at once."""
    head = declared(f"{{name: id, type: int}}, {NEW}", f"{MAPPED}\ndropped: [code]")
    assert kinds(declared(OLD), head) == ["ADD_COLUMNS", "FILL", "DROP_COLUMNS"]
    assert kinds(declared(f"{OLD}, {NEW}"), head) == ["FILL", "DROP_COLUMNS"]


@pytest.mark.parametrize(
    "dependent",
    ["{name: size, type: int, generated: length(code)}", "constraints: {known: code <> ''}"],
)
def test_nothing_is_filled_if_something_keeps_the_source_from_its_drop(dependent: str) -> None:
    """Delta refuses the drop (NC005, NC006): nobody should pay for the fill before."""
    column, more = (f", {dependent}", MAPPED) if "name: size" in dependent else ("", f"{MAPPED}\n{dependent}")
    base = declared(f"{OLD}, {NEW}{column}", more)
    head = declared(f"{{name: id, type: int}}, {NEW}{column}", f"{more}\ndropped: [code]")
    plan = planned(base, head, created_table(base))
    assert plan.steps == ()
    assert plan.refusals[0].reason.startswith("code ")


def test_without_the_source_there_is_nothing_to_fill() -> None:
    head = declared(f"{{name: id, type: int}}, {NEW}", f"{MAPPED}\ndropped: [code]")
    assert kinds(head, head) == []


def test_the_new_column_takes_the_name_of_the_old_one_after_the_drop() -> None:
    fill = 'backfill: {from: text, with: "cast(text as int)"}'
    base = declared(f"{{name: id, type: int}}, {{name: text, type: string}}, {{name: n, type: int, {fill}}}")
    head = declared(
        f"{{name: id, type: int}}, {{name: code, renamed_from: n, type: int, {fill}}}",
        f"{MAPPED}\ndropped: [text]",
    )
    assert kinds(base, head) == ["FILL", "DROP_COLUMNS", "RENAME_COLUMN"]


def test_a_rename_waits_for_the_fill_that_uses_the_column() -> None:
    base = declared("{name: id, type: int}, {name: rate, type: int}, {name: code, type: string}")
    fill = '{name: number, type: int, backfill: {from: code, with: "cast(code as int) * factor"}}'
    head = declared(
        f"{{name: id, type: int}}, {{name: factor, type: int, renamed_from: rate}}, {fill}",
        f"{MAPPED}\ndropped: [code]",
    )
    (refusal,) = planned(base, head, created_table(base)).refusals
    assert refusal.kind is RefusalKind.OPERATION


def test_the_hash_of_a_plan_covers_the_expression_and_what_becomes_of_the_rest() -> None:
    def hash_of(fill: str) -> str:
        head = declared(f"{{name: id, type: int}}, {fill}", f"{MAPPED}\ndropped: [code]")
        return planned(declared(OLD), head, created_table(declared(OLD))).hash

    hashes = {
        hash_of(NEW),
        hash_of(NEW.replace("cast(code as int)", "cast(code as int) + 1")),
        hash_of(NEW.replace('"}', '", unfilled: keep_null}')),
    }
    assert len(hashes) == 3


def test_backfill_is_no_part_of_the_declaration_that_a_marker_names() -> None:
    with_fill, without = declared(f"{OLD}, {NEW}"), declared(f"{OLD}, {{name: number, type: int}}")
    hashes = {
        planned(declared(OLD), head, created_table(declared(OLD))).declaration_hash
        for head in (with_fill, without)
    }
    assert len(hashes) == 1


def test_what_is_left_of_a_plan_has_its_fill_until_the_source_is_gone() -> None:
    head = declared(f"{{name: id, type: int}}, {NEW}", f"{MAPPED}\ndropped: [code]")
    plan = planned(declared(OLD), head, created_table(declared(OLD)))
    assert plan.live is not None
    left = []
    for done in range(len(plan.steps) + 1):
        rest = remaining_steps(plan.live, simulate(plan.live, plan.steps[:done]), plan.steps)
        assert isinstance(rest, Remaining)
        left.append([step.kind.name for step in rest.steps])
    both = ["FILL", "DROP_COLUMNS"]
    assert left == [["ADD_COLUMNS", *both], both, both, []]


def test_a_run_notices_that_another_one_has_dropped_the_source() -> None:
    head = declared(f"{{name: id, type: int}}, {NEW}", f"{MAPPED}\ndropped: [code]")
    plan = planned(declared(OLD), head, created_table(declared(OLD)))
    assert plan.live is not None
    after_add, end = simulate(plan.live, plan.steps[:1]), simulate(plan.live, plan.steps)
    assert completed_steps(after_add, end, plan.steps[1:]) == 2
    assert completed_steps(after_add, after_add, plan.steps[1:]) == 0
