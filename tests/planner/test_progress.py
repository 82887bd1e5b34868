"""How far a table is on its way, told from states alone."""

from __future__ import annotations

import pytest

from schemalint.delta import change
from schemalint.delta.datatype import INTEGER, Field, Struct
from schemalint.delta.table import TableState
from schemalint.model.marker import PENDING, Pending
from schemalint.model.plan import Step, StepKind
from schemalint.planner import concurrent_changes, deviations, simulate, steps_behind, wrongly_noted
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
def test_every_point_of_a_swap_is_told_from_every_one_before(done: int) -> None:
    found = simulate(BEFORE, SWAP[:done])
    for start in range(done + 1):
        assert steps_behind(simulate(BEFORE, SWAP[:start]), found, SWAP[start:]) == done - start


def test_swap_that_another_run_has_finished_and_recorded_is_behind() -> None:
    finished = replace(simulate(BEFORE, SWAP), properties={})
    assert steps_behind(simulate(BEFORE, SWAP[:1]), finished, SWAP[1:]) == 3
    renoted = replace(BEFORE, properties={PENDING: "of an older declaration"})
    assert steps_behind(renoted, finished, SWAP) == 4


def test_column_with_another_id_under_the_same_name_is_nowhere_on_the_way() -> None:
    remade = replace(BEFORE, columns=Struct((*BEFORE.columns.fields[1:], Field("a", INTEGER, column_id=9))))
    assert steps_behind(BEFORE, remade, SWAP[1:]) is None
    assert "field removed: a" in deviations(BEFORE, remade, SWAP[1])


def test_column_that_somebody_gave_the_wanted_name_is_noticed() -> None:
    taken = replace(BEFORE, columns=Struct((*BEFORE.columns.fields, Field("T", INTEGER, column_id=9))))
    assert deviations(BEFORE, taken, SWAP[1]) == ("field added: T",)


def test_neighbours_column_does_not_matter() -> None:
    commented = replace(BEFORE.columns.fields[2], comment="theirs")
    other = replace(BEFORE, columns=Struct((*BEFORE.columns.fields[:2], commented)))
    assert steps_behind(BEFORE, other, SWAP) == 0
    assert concurrent_changes(BEFORE, BEFORE, [other, simulate(other, SWAP[:1])], SWAP) == []


def test_commit_of_somebody_else_on_the_same_column_is_found_between_ones_own() -> None:
    step = Step(StepKind.ALTER_COLUMNS, "comment", (change.CommentChanged(("a",), None, "ours"),), ())

    def commented(text: str) -> TableState:
        return simulate(BEFORE, [replace(step, changes=(change.CommentChanged(("a",), None, text),))])

    assert concurrent_changes(BEFORE, BEFORE, [commented("ours")], [step]) == []
    assert concurrent_changes(BEFORE, BEFORE, [commented("theirs"), commented("ours")], [step]) == [
        "comment changed: a"
    ]


def test_another_run_on_the_same_way_is_nobody_else() -> None:
    states = [simulate(BEFORE, SWAP[:done]) for done in range(1, 5)]
    assert concurrent_changes(BEFORE, BEFORE, [*states, replace(states[-1], properties={})], SWAP) == []


def test_ids_that_were_foreseen_wrongly_are_found_before_they_are_noted() -> None:
    shifted = replace(
        BEFORE,
        columns=Struct(
            tuple(replace(one, column_id=(one.column_id or 0) + 1) for one in BEFORE.columns.fields)
        ),
    )
    assert wrongly_noted(NOTED, BEFORE, SWAP) == ()
    assert wrongly_noted(NOTED, shifted, SWAP) != ()


def test_requirements_name_columns_by_id_and_what_stands_there() -> None:
    steps = with_requirements(replace(BEFORE, features=frozenset({"columnMapping"})), SWAP)
    assert steps[0].requires == ("the table supports columnMapping", "property schemalint.pending is not set")
    assert steps[1].requires == ("column a (id 1) is int, and there is no t",)
    assert steps[3].requires == ("column t (id 1) is int, and there is no b",)
