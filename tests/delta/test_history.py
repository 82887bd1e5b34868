"""A table's history by commit: changes, origins of type changes, and commits that stop streams."""

from __future__ import annotations

import pytest

from schemalint.base.values import replace
from schemalint.delta.change import FeatureChanged, PropertyChanged, TypeChanged
from schemalint.delta.datatype import DATE, INTEGER, LONG, SHORT, STRING, Array, Field, Identity, Struct
from schemalint.delta.history import changes, steps, type_history
from schemalint.delta.path import Part, Path
from schemalint.delta.protocol import Protocol
from schemalint.delta.stream_history import stops_of_tracked_streams, stops_tracked_streams
from schemalint.delta.table import History, HistoryEntry, Metadata, TableState

ID = Field("id", LONG)


def state(*fields: Field, **others: object) -> TableState:
    return TableState(Struct(fields), None, (), (), **others)  # type: ignore[arg-type]


def history(*states: TableState | Protocol) -> History:
    """Return a history: the first state is created, each further one is a commit."""
    entries = [HistoryEntry(0, metadata=Metadata("t", _state(states[0])), protocol=Protocol())]
    for version, new in enumerate(states[1:], 1):
        if isinstance(new, Protocol):
            entries.append(HistoryEntry(version, protocol=new))
        else:
            entries.append(HistoryEntry(version, metadata=Metadata("t", new)))
    return History(tuple(entries))


def _state(first: TableState | Protocol) -> TableState:
    assert isinstance(first, TableState)
    return first


def stops(before: TableState, after: TableState | Protocol) -> bool:
    *_, last = steps(history(before, after))
    return stops_tracked_streams(last)


def origins(commits: History, path: Path) -> list[tuple[object, object, int]]:
    return [(step.old, step.new, step.entry.version) for step in type_history(commits).get(path, ())]


def test_the_first_known_commit_has_no_changes() -> None:
    (first,) = steps(history(state(ID)))
    assert changes(first) == ()
    assert not stops_tracked_streams(first)


def test_a_tracked_stream_stops_once_for_commits_of_metadata_that_follow_one_another() -> None:
    named = [state(ID, properties={"delta.appendOnly": text}) for text in ("true", "false", "true")]
    commits = history(state(ID), *named)
    assert [stops_tracked_streams(step) for step in steps(commits)] == [False, True, True, True]
    assert list(stops_of_tracked_streams(commits)) == [1]
    first, second, third, fourth = commits.entries
    with_data_between = replace(commits, entries=(first, second, third, replace(fourth, version=9)))
    assert list(stops_of_tracked_streams(with_data_between)) == [1, 9]


def test_changes_of_metadata_and_of_the_protocol_are_found() -> None:
    newer = Protocol(3, 7, frozenset({"typeWidening"}), frozenset({"typeWidening", "appendOnly"}))
    commits = history(state(ID), state(ID, properties={"team": "sales"}), newer)
    _first, second, third = steps(commits)
    assert [type(change) for change in changes(second)] == [PropertyChanged]
    assert changes(third) == (
        FeatureChanged("typeWidening", new=True),
        FeatureChanged("invariants", new=False),
    )


def test_features_of_a_new_protocol_are_listed_once() -> None:
    newer = Protocol(1, 3)
    after = TableState(Struct((ID,)), None, (), (), features=newer.features)
    entry = HistoryEntry(1, metadata=Metadata("t", after), protocol=newer)
    *_, step = steps(History((*history(state(ID)).entries, entry)))
    assert changes(step) == (FeatureChanged("checkConstraints", new=True),)


def test_a_type_history_follows_renames() -> None:
    def column(name: str, type_: object) -> TableState:
        return state(Field(name, type_, column_id=1), Field("other", STRING, column_id=2))  # type: ignore[arg-type]

    commits = history(
        column("qty", SHORT), column("qty", INTEGER), column("amount", INTEGER), column("Amount", LONG)
    )
    assert origins(commits, ("amount",)) == [(SHORT, INTEGER, 1), (INTEGER, LONG, 3)]
    assert origins(commits, ("qty",)) == []


def test_a_recreated_column_has_no_type_history() -> None:
    commits = history(
        state(Field("a", INTEGER)), state(Field("a", LONG)), state(ID), state(ID, Field("a", DATE))
    )
    assert origins(commits, ("a",)) == []


def test_the_type_history_of_an_element_follows_its_column() -> None:
    def column(name: str, type_: object) -> TableState:
        return state(Field(name, Array(type_), column_id=1))  # type: ignore[arg-type]

    commits = history(column("a", INTEGER), column("a", LONG), column("b", LONG))
    assert origins(commits, ("b", Part.ELEMENT)) == [(INTEGER, LONG, 1)]
    assert isinstance(changes(list(steps(commits))[1])[0], TypeChanged)


STOPS: dict[str, TableState | Protocol] = {
    "another type": state(Field("id", STRING)),
    "a comment": state(Field("id", LONG, comment="the key")),
    "a default": state(Field("id", LONG, default="0")),
    "a property of Delta": state(ID, properties={"delta.appendOnly": "false"}),
    "a constraint": state(ID, constraints={"positive": "id > 0"}),
    "another protocol": Protocol(1, 3),
    "a column inside": state(Field("id", Struct((ID,)))),
}
CONTINUES: dict[str, TableState | Protocol] = {
    "another property": state(ID, properties={"team": "sales"}),
    "the table's comment": TableState(Struct((ID,)), "orders", (), ()),
    "clustering": TableState(Struct((ID,)), None, (), (("id",),)),
    "a generation expression": state(Field("id", LONG, generated="a + 1")),
    "identity": state(Field("id", LONG, identity=Identity())),
    "the high water mark": state(Field("id", LONG, extra=(("delta.identity.highWaterMark", "7"),))),
    "the same protocol": Protocol(),
}


@pytest.mark.parametrize("case", STOPS)
def test_a_tracked_stream_stops_after(case: str) -> None:
    assert stops(state(ID), STOPS[case])


@pytest.mark.parametrize("case", CONTINUES)
def test_a_tracked_stream_continues_after(case: str) -> None:
    assert not stops(state(ID), CONTINUES[case])


def test_another_partitioning_stops_a_tracked_stream() -> None:
    assert stops(state(ID), TableState(Struct((ID,)), None, ("id",), ()))
