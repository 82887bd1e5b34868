"""Finding out from states alone which steps of a plan a table has completed."""

from __future__ import annotations

import pytest

from schemalint.delta import change
from schemalint.delta.datatype import INTEGER, Field, Struct
from schemalint.delta.table import TableState
from schemalint.model.marker import PENDING, Pending
from schemalint.model.plan import Step, StepKind
from schemalint.planner import (
    columns_missing_noted_names,
    completed_steps,
    concurrent_changes,
    deviations,
    simulate,
)
from schemalint.planner.require import with_requirements
from schemalint.values import replace

BEFORE = TableState(
    Struct(
        (Field("a", INTEGER, column_id=1), Field("b", INTEGER, column_id=2), Field("c", INTEGER, column_id=3))
    )
)
NOTED = Pending("1:x", {1: ("b",), 2: ("a",), 3: ("c",)})


def _rename(old: str, new: str) -> Step:
    return Step(StepKind.RENAME_COLUMN, f"{old} -> {new}", (change.FieldRenamed((new,), old),), ())


NOTE = Step(StepKind.NOTE_PENDING, "note", (change.PropertyChanged(PENDING, None, NOTED.to_text()),), ())
SWAP = (NOTE, _rename("a", "t"), _rename("b", "a"), _rename("t", "b"))


@pytest.mark.parametrize("done", range(len(SWAP) + 1))
def test_completed_steps_of_a_swap_are_counted_from_every_earlier_state(done: int) -> None:
    live = simulate(BEFORE, SWAP[:done])
    for start in range(done + 1):
        assert completed_steps(simulate(BEFORE, SWAP[:start]), live, SWAP[start:]) == done - start


def test_swap_finished_and_recorded_by_another_run_counts_as_completed() -> None:
    finished = replace(simulate(BEFORE, SWAP), properties={})
    assert completed_steps(simulate(BEFORE, SWAP[:1]), finished, SWAP[1:]) == 3
    renoted = replace(BEFORE, properties={PENDING: "of an older declaration"})
    assert completed_steps(renoted, finished, SWAP) == 4


def test_recreated_column_with_another_id_matches_no_step() -> None:
    recreated = replace(
        BEFORE, columns=Struct((*BEFORE.columns.fields[1:], Field("a", INTEGER, column_id=9)))
    )
    assert completed_steps(BEFORE, recreated, SWAP[1:]) is None
    assert "field removed: a" in deviations(BEFORE, recreated, SWAP[1])


def test_foreign_column_with_the_new_name_is_a_deviation() -> None:
    taken = replace(BEFORE, columns=Struct((*BEFORE.columns.fields, Field("T", INTEGER, column_id=9))))
    assert deviations(BEFORE, taken, SWAP[1]) == ("field added: T",)


def test_concurrent_comment_on_another_column_is_ignored() -> None:
    commented = replace(BEFORE.columns.fields[2], comment="theirs")
    other = replace(BEFORE, columns=Struct((*BEFORE.columns.fields[:2], commented)))
    assert completed_steps(BEFORE, other, SWAP) == 0
    assert concurrent_changes(BEFORE, BEFORE, [other, simulate(other, SWAP[:1])], SWAP) == []


def test_concurrent_commit_on_the_same_column_is_found_before_the_own_commit() -> None:
    step = Step(StepKind.ALTER_COLUMNS, "comment", (change.CommentChanged(("a",), None, "ours"),), ())

    def commented(text: str) -> TableState:
        return simulate(BEFORE, [replace(step, changes=(change.CommentChanged(("a",), None, text),))])

    assert concurrent_changes(BEFORE, BEFORE, [commented("ours")], [step]) == []
    assert concurrent_changes(BEFORE, BEFORE, [commented("theirs"), commented("ours")], [step]) == [
        "comment changed: a"
    ]


def test_concurrent_run_of_the_same_plan_is_no_concurrent_change() -> None:
    states = [simulate(BEFORE, SWAP[:done]) for done in range(1, 5)]
    assert concurrent_changes(BEFORE, BEFORE, [*states, replace(states[-1], properties={})], SWAP) == []


def test_wrongly_predicted_column_ids_are_found_before_they_are_noted() -> None:
    shifted = replace(
        BEFORE,
        columns=Struct(
            tuple(replace(field, column_id=(field.column_id or 0) + 1) for field in BEFORE.columns.fields)
        ),
    )
    assert columns_missing_noted_names(NOTED, BEFORE, SWAP) == ()
    assert columns_missing_noted_names(NOTED, shifted, SWAP) != ()


def test_requirements_name_columns_with_id_and_type_and_free_names() -> None:
    steps = with_requirements(replace(BEFORE, features=frozenset({"columnMapping"})), SWAP)
    assert steps[0].requires == ("the table supports columnMapping", "property schemalint.pending is not set")
    assert steps[1].requires == ("column a (id 1) is int, and there is no t",)
    assert steps[3].requires == ("column t (id 1) is int, and there is no b",)
