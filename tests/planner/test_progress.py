"""Finding out from states alone which steps of a plan a table has completed."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from planner.test_planner_cases import CASES, _live, _plan
from schemalint.base.values import replace
from schemalint.delta import change
from schemalint.delta.datatype import INTEGER, Field, Struct, map_fields, walk_fields
from schemalint.delta.table import TableState
from schemalint.model.marker import PENDING, Pending
from schemalint.model.table_plan import Step, StepKind
from schemalint.planner import (
    Remaining,
    columns_missing_noted_names,
    completed_steps,
    concurrent_changes,
    deviations,
    remaining_steps,
    simulate,
)
from schemalint.planner.requirements import with_requirements

if TYPE_CHECKING:
    from pathlib import Path

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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_rest_of_a_plan_is_found_in_each_state_that_it_leads_through(case: Path) -> None:
    live = _live(case / "live.yaml") if (case / "live.yaml").exists() else None
    start = _with_ids(live.state) if live is not None else TableState()
    plan = _plan(case, replace(live, metadata=replace(live.metadata, state=start)) if live else None, "/lake")

    found = start
    for done in range(len(plan.steps) + 1):
        rest = remaining_steps(start, found, plan.steps)
        assert isinstance(rest, Remaining), (done, rest)
        assert rest.steps == plan.steps[done:]
        found = _with_ids(simulate(found, plan.steps[done : done + 1]))


def test_others_changes_elsewhere_leave_the_rest_of_a_plan_as_it_is() -> None:
    theirs = Field("theirs", INTEGER, column_id=9)
    found = simulate(BEFORE, SWAP[:2])
    found = replace(
        found,
        columns=Struct((*found.columns.fields, theirs)),
        properties={**found.properties, "their": "property"},
        features=frozenset({"appendOnly"}),
    )

    rest = remaining_steps(BEFORE, found, SWAP)

    assert isinstance(rest, Remaining)
    assert rest.steps == SWAP[2:]


def test_table_in_no_state_of_a_plan_has_the_differences_from_the_nearest_one() -> None:
    found = simulate(BEFORE, (*SWAP[:2], _rename("b", "theirs")))

    assert remaining_steps(BEFORE, found, SWAP) == ("field renamed: theirs",)


def test_table_in_two_states_of_a_plan_has_no_rest() -> None:
    """Without ids of columns, a finished swap looks like one that has not begun."""
    plain = replace(
        BEFORE, columns=Struct(tuple(replace(field, column_id=None) for field in BEFORE.columns.fields))
    )

    assert remaining_steps(plain, plain, SWAP[1:]) == ()


def test_feature_that_the_table_supports_already_needs_no_step() -> None:
    features = Step(
        StepKind.SET_PROPERTIES, "feature", (change.FeatureChanged("deletionVectors", new=True),), ()
    )
    comment = Step(StepKind.ALTER_COLUMNS, "comment", (change.CommentChanged(("a",), None, "x"),), ())

    rest = remaining_steps(
        BEFORE, replace(BEFORE, features=frozenset({"deletionVectors"})), [features, comment]
    )

    assert isinstance(rest, Remaining)
    assert rest.steps == (comment,)


def test_feature_whose_drop_waits_is_left_while_the_next_ones_are_dropped() -> None:
    def dropped(name: str) -> Step:
        return Step(StepKind.DROP_FEATURE, name, (change.FeatureChanged(name, new=False),), ())

    first, second = dropped("deletionVectors"), dropped("rowTracking")
    before = replace(BEFORE, features=frozenset({"deletionVectors", "rowTracking"}))

    rest = remaining_steps(before, replace(before, features=frozenset({"deletionVectors"})), [first, second])

    assert isinstance(rest, Remaining)
    assert rest.steps == (first,)
    assert rest.expected.features == {"deletionVectors"}


def test_table_left_between_the_commits_of_a_drop_has_taken_the_steps_before_it() -> None:
    tracking, tracked = "delta.enableRowTracking", frozenset({"rowTracking"})
    unset = Step(StepKind.UNSET_PROPERTIES, "unset", (change.PropertyChanged(tracking, "true", None),), ())
    comment = Step(StepKind.ALTER_COLUMNS, "comment", (change.CommentChanged(("a",), None, "x"),), ())
    drop = Step(StepKind.DROP_FEATURE, "drop", (change.FeatureChanged("rowTracking", new=False),), ())
    before = replace(BEFORE, properties={tracking: "true"}, features=tracked)
    within = {tracking: "false", "delta.rowTrackingSuspended": "true"}

    steps = [unset, comment, drop]

    rest = remaining_steps(before, replace(simulate(before, steps[:2]), properties=within), steps)
    by_others = [
        replace(before, properties=within),
        replace(simulate(before, steps[:2]), properties={tracking: "false"}),
    ]

    assert isinstance(rest, Remaining)
    assert rest.steps == (drop,)
    for found in by_others:
        assert remaining_steps(before, found, steps) == (f"property changed: {tracking}",)


def _with_ids(state: TableState) -> TableState:
    """Give the columns of a table with column mapping ids, where they have none."""
    if state.column_mapping == "none":
        return state
    known = [field.column_id or 0 for _path, field in walk_fields(state.columns)]
    numbers = count(max(known, default=0) + 1)
    return replace(
        state,
        columns=map_fields(
            state.columns,
            lambda _path, field: replace(field, column_id=field.column_id or next(numbers)),
        ),
    )


def test_others_comment_under_the_old_name_of_a_column_is_a_difference() -> None:
    comment = Step(StepKind.ALTER_COLUMNS, "comment", (change.CommentChanged(("t",), None, "ours"),), ())
    theirs = replace(comment, changes=(change.CommentChanged(("a",), None, "theirs"),))

    rest = remaining_steps(BEFORE, simulate(BEFORE, [theirs]), [_rename("a", "t"), comment])

    assert rest == ("comment changed: a",)
