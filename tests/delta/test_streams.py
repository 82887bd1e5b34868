"""What commits do to the streams that read a table."""

from __future__ import annotations

from itertools import pairwise

import pytest

from schemalint.base.values import replace
from schemalint.delta.datatype import INTEGER, LONG, Field, Struct
from schemalint.delta.engine import Release
from schemalint.delta.streams import (
    CHANGED_FILES,
    OTHER_TYPE,
    WITHOUT_LOG,
    Blocking,
    StreamBlock,
    StreamCommit,
    StreamEffect,
    StreamVerdict,
    effect_on_stream,
)
from schemalint.delta.table import TableState

CONTINUES = StreamEffect(StreamVerdict.CONTINUES)
ONCE = StreamEffect(StreamVerdict.RESTARTS, 1)

ID, A = Field("id", INTEGER, physical_name="p1"), Field("a", INTEGER, physical_name="p2")
MAPPED = TableState(
    Struct((ID, A)),
    properties={"delta.columnMapping.mode": "name"},
    features=frozenset({"columnMapping", "typeWidening"}),
)
PLAIN = TableState(Struct((Field("id", INTEGER), Field("a", INTEGER))))


def lost(error: str | None) -> StreamEffect:
    return StreamEffect(StreamVerdict.NEW_CHECKPOINT, None, error=error)


def effect(
    *states: TableState, tracked: bool = True, running: bool = False, delta: Release | None = None
) -> StreamEffect:
    """Return the effect of commits of metadata alone, from version 6, that make these states."""
    commits = [
        StreamCommit(before, after, version=number)
        for number, (before, after) in enumerate(pairwise(states), 6)
    ]
    return effect_on_stream(commits, tracked=tracked, running=running, delta=delta)


def with_columns(state: TableState, *fields: Field) -> TableState:
    return replace(state, columns=Struct(fields))


WIDER = with_columns(MAPPED, ID, replace(A, type=LONG))
RENAMED = with_columns(MAPPED, ID, replace(A, name="b"))
MADE_ANEW = with_columns(MAPPED, ID, replace(A, physical_name="p3"))
SWAPPED = with_columns(MAPPED, replace(ID, name="a"), replace(A, name="id"))
UNMAPPED = with_columns(replace(MAPPED, properties={}), Field("id", INTEGER), Field("a", INTEGER))
COMMENTED = with_columns(MAPPED, ID, replace(A, comment="text"))
ADDED = with_columns(MAPPED, ID, A, Field("c", INTEGER, physical_name="p4"))
OF_OTHERS = MAPPED.with_property("team", "sales")


@pytest.mark.parametrize(
    ("after", "kinds"),
    [
        (WIDER, (Blocking.TYPE_CHANGE,)),
        (RENAMED, (Blocking.RENAME,)),
        (MADE_ANEW, (Blocking.DROP,)),
        (SWAPPED, (Blocking.RENAME,)),
        (UNMAPPED, (Blocking.DROP,)),
        (
            with_columns(MAPPED, replace(ID, type=LONG), replace(A, name="b")),
            (Blocking.RENAME, Blocking.TYPE_CHANGE),
        ),
    ],
    ids=["widened", "renamed", "made anew", "swapped", "unmapped", "renamed and widened"],
)
def test_a_tracked_stream_waits_for_the_kinds_of_changes(
    after: TableState, kinds: tuple[Blocking, ...]
) -> None:
    blocked = StreamEffect(StreamVerdict.BLOCKED, 1, (StreamBlock(kinds, 6),))
    assert effect(MAPPED, after) == effect(MAPPED, after, running=True) == blocked
    assert blocked.unblock == kinds


def test_a_tracked_stream_stops_once_for_consecutive_commits_of_metadata() -> None:
    assert effect(MAPPED, COMMENTED, ADDED, OF_OTHERS) == ONCE


def test_a_tracked_stream_stops_twice_if_data_is_between() -> None:
    commits = (
        StreamCommit(MAPPED, COMMENTED),
        StreamCommit(COMMENTED, COMMENTED, metadata_only=False),
        StreamCommit(COMMENTED, ADDED),
    )
    assert effect_on_stream(commits, tracked=True, running=False).stops == 2


@pytest.mark.parametrize("tracked", [True, False])
def test_no_stream_goes_on_where_all_rows_are_replaced(tracked: bool) -> None:  # noqa: FBT001
    commit = StreamCommit(PLAIN, replace(PLAIN, partitioned_by=("id",)), replaces_rows=True)
    error = CHANGED_FILES if tracked else OTHER_TYPE
    assert effect_on_stream((commit,), tracked=tracked, running=False) == lost(error)


def test_a_gap_in_the_versions_is_a_commit_of_data() -> None:
    commits = (StreamCommit(MAPPED, COMMENTED, version=6), StreamCommit(COMMENTED, ADDED, version=8))
    assert effect_on_stream(commits, tracked=True, running=False).stops == 2


def test_properties_of_others_stop_no_stream() -> None:
    assert effect(MAPPED, OF_OTHERS) == effect(MAPPED, OF_OTHERS, tracked=False, running=True) == CONTINUES


@pytest.mark.parametrize(("after", "since"), [(WIDER, "4.1"), (ADDED, None)], ids=["widened", "added"])
def test_an_untracked_stream_stops_only_while_it_runs(after: TableState, since: str | None) -> None:
    assert effect(MAPPED, after, tracked=False) == replace(CONTINUES, since=since)
    assert effect(MAPPED, after, tracked=False, running=True) == replace(ONCE, since=since)


@pytest.mark.parametrize("delta", [(4, 1), (4, 4)])
def test_an_untracked_stream_of_a_newer_delta_passes_a_widening(delta: Release) -> None:
    assert effect(MAPPED, WIDER, tracked=False, running=True, delta=delta) == ONCE


@pytest.mark.parametrize(
    ("delta", "error"), [((3, 3, 2), OTHER_TYPE), ((4, 0, 1), WITHOUT_LOG), ((), OTHER_TYPE)]
)
@pytest.mark.parametrize("running", [True, False])
def test_an_untracked_stream_of_an_older_delta_ends_at_a_widening(
    delta: Release,
    error: str,
    running: bool,  # noqa: FBT001
) -> None:
    assert effect(MAPPED, WIDER, tracked=False, running=running, delta=delta) == lost(error)


def test_a_tracked_stream_of_delta_3_does_not_wait_at_a_widening() -> None:
    assert effect(MAPPED, WIDER, delta=(3, 3, 2)) == ONCE
    assert effect(MAPPED, WIDER, delta=(4, 0, 1)).verdict is StreamVerdict.BLOCKED


@pytest.mark.parametrize(
    ("states", "error"),
    [
        ((RENAMED,), WITHOUT_LOG),
        ((MADE_ANEW,), WITHOUT_LOG),
        ((UNMAPPED,), WITHOUT_LOG),
        ((RENAMED, MAPPED), WITHOUT_LOG),
        ((WIDER, replace(WIDER, features=frozenset({"columnMapping"}))), OTHER_TYPE),
        ((with_columns(MAPPED, ID),), WITHOUT_LOG),
    ],
    ids=["renamed", "made anew", "unmapped", "renamed and back", "widened without the feature", "dropped"],
)
def test_an_untracked_stream_needs_a_new_checkpoint(states: tuple[TableState, ...], error: str) -> None:
    for running in (True, False):
        assert effect(MAPPED, *states, tracked=False, running=running) == lost(error)


def test_switching_column_mapping_on_stops_no_untracked_stream() -> None:
    mapped = with_columns(
        MAPPED, Field("id", INTEGER, physical_name="id"), Field("a", INTEGER, physical_name="a")
    )
    assert effect(PLAIN, mapped, tracked=False, running=True) == CONTINUES
    assert effect(PLAIN, mapped) == ONCE


def test_a_type_that_cannot_be_widened_needs_a_new_checkpoint() -> None:
    narrower = with_columns(WIDER, ID, A)
    assert effect(WIDER, narrower) == lost(None)
    assert effect(WIDER, narrower, tracked=False) == lost(OTHER_TYPE)
