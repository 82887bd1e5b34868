"""A history commit by commit: what changed, which types came from where, and what stopped streams."""

from __future__ import annotations

import pytest

from schemalint.delta.change import FeatureChanged, PropertyChanged, TypeChanged
from schemalint.delta.datatype import DATE, INTEGER, LONG, SHORT, STRING, Array, Field, Identity, Struct
from schemalint.delta.history import changes, steps, stops_tracked_streams, type_history
from schemalint.delta.path import Part, Path
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import History, HistoryEntry, Metadata, TableState

ID = Field("id", LONG)


def state(*fields: Field, **others: object) -> TableState:
    return TableState(Struct(fields), None, (), (), **others)  # type: ignore[arg-type]


def history(*states: TableState | Protocol) -> History:
    """A table that is created with the first state; each of the others is a commit."""
    entries = [HistoryEntry(0, metadata=Metadata("t", _state(states[0])), protocol=Protocol())]
    for version, one in enumerate(states[1:], 1):
        if isinstance(one, Protocol):
            entries.append(HistoryEntry(version, protocol=one))
        else:
            entries.append(HistoryEntry(version, metadata=Metadata("t", one)))
    return History(tuple(entries))


def _state(one: TableState | Protocol) -> TableState:
    assert isinstance(one, TableState)
    return one


def stops(before: TableState, after: TableState | Protocol) -> bool:
    *_, last = steps(history(before, after))
    return stops_tracked_streams(last)


def origins(found: History, path: Path) -> list[tuple[object, object, int]]:
    return [(one.old, one.new, one.entry.version) for one in type_history(found).get(path, ())]


def test_the_first_commit_changes_nothing_that_is_known() -> None:
    (first,) = steps(history(state(ID)))
    assert changes(first) == ()
    assert not stops_tracked_streams(first)


def test_a_commit_of_metadata_and_one_of_the_protocol() -> None:
    newer = Protocol(3, 7, frozenset({"typeWidening"}), frozenset({"typeWidening", "appendOnly"}))
    found = history(state(ID), state(ID, properties={"team": "sales"}), newer)
    _first, second, third = steps(found)
    assert [type(one) for one in changes(second)] == [PropertyChanged]
    assert changes(third) == (
        FeatureChanged("typeWidening", new=True),
        FeatureChanged("invariants", new=False),
    )


def test_features_of_the_protocol_are_no_change_of_metadata() -> None:
    newer = Protocol(1, 3)
    after = TableState(Struct((ID,)), None, (), (), features=newer.features)
    entry = HistoryEntry(1, metadata=Metadata("t", after), protocol=newer)
    *_, step = steps(History((*history(state(ID)).entries, entry)))
    assert changes(step) == (FeatureChanged("checkConstraints", new=True),)


def test_the_history_of_a_type_follows_renames() -> None:
    def column(name: str, type_: object) -> TableState:
        return state(Field(name, type_, column_id=1), Field("other", STRING, column_id=2))  # type: ignore[arg-type]

    found = history(
        column("qty", SHORT), column("qty", INTEGER), column("amount", INTEGER), column("Amount", LONG)
    )
    assert origins(found, ("amount",)) == [(SHORT, INTEGER, 1), (INTEGER, LONG, 3)]
    assert origins(found, ("qty",)) == []


def test_a_column_made_anew_has_no_history() -> None:
    found = history(
        state(Field("a", INTEGER)), state(Field("a", LONG)), state(ID), state(ID, Field("a", DATE))
    )
    assert origins(found, ("a",)) == []


def test_the_history_of_a_part_of_a_collection_follows_its_column() -> None:
    def column(name: str, type_: object) -> TableState:
        return state(Field(name, Array(type_), column_id=1))  # type: ignore[arg-type]

    found = history(column("a", INTEGER), column("a", LONG), column("b", LONG))
    assert origins(found, ("b", Part.ELEMENT)) == [(INTEGER, LONG, 1)]
    assert isinstance(changes(list(steps(found))[1])[0], TypeChanged)


STOPS: dict[str, TableState | Protocol] = {
    "another type": state(Field("id", STRING)),
    "a comment": state(Field("id", LONG, comment="the key")),
    "a default": state(Field("id", LONG, default="0")),
    "a property of Delta": state(ID, properties={"delta.appendOnly": "false"}),
    "a constraint": state(ID, constraints={"positive": "id > 0"}),
    "another protocol": Protocol(1, 3),
    "a column inside": state(Field("id", Struct((ID,)))),
}
GOES_ON: dict[str, TableState | Protocol] = {
    "another property": state(ID, properties={"team": "sales"}),
    "the table's comment": TableState(Struct((ID,)), "orders", (), ()),
    "clustering": TableState(Struct((ID,)), None, (), (("id",),)),
    "a generation expression": state(Field("id", LONG, generated="a + 1")),
    "identity": state(Field("id", LONG, identity=Identity())),
    "the high water mark": state(Field("id", LONG, extra=(("delta.identity.highWaterMark", "7"),))),
    "the same protocol": Protocol(),
}


@pytest.mark.parametrize("case", STOPS)
def test_a_tracked_stream_is_stopped_by(case: str) -> None:
    assert stops(state(ID), STOPS[case])


@pytest.mark.parametrize("case", GOES_ON)
def test_a_tracked_stream_goes_on_after(case: str) -> None:
    assert not stops(state(ID), GOES_ON[case])


def test_another_partitioning_stops_a_tracked_stream() -> None:
    assert stops(state(ID), TableState(Struct((ID,)), None, ("id",), ()))
