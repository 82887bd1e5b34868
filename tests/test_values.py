"""Values behave as frozen dataclasses with slots do, and never equal a value of another kind."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import pytest

from schemalint.base.values import Itself, as_dict, changed_fields, field, frozen, replace


@frozen
class Point:
    dimensions: ClassVar[int] = 2

    x: int
    y: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    note: str = field(default="", compare=False, repr=False)

    @property
    def is_origin(self) -> bool:
        return self.x == self.y == 0


@frozen
class Other:
    x: int
    y: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    note: str = ""


@frozen
class Empty:
    pass


def test_fields_are_parameters_in_their_order_with_their_defaults() -> None:
    point = Point(1, note="here")
    assert (point.x, point.y, point.labels, point.note) == (1, 0, {}, "here")
    assert Point(1).labels is not Point(1).labels
    assert Point.dimensions == 2
    assert Point(0).is_origin


def test_the_first_instances_are_as_the_later_ones() -> None:
    @frozen
    class Pair:
        first: int
        second: list[int] = field(default_factory=list)

    pairs = [Pair(number, second=[number]) if number % 2 else Pair(number) for number in range(40)]
    assert [(each.first, each.second) for each in pairs] == [
        (number, [number] if number % 2 else []) for number in range(40)
    ]
    assert pairs[0].second is not pairs[2].second
    with pytest.raises(AttributeError, match="frozen"):
        pairs[0].first = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("arguments", "options"),
    [((), {}), ((1,), {"z": 2}), ((1,), {"x": 2}), ((1, 0, {}, "", 5), {})],
    ids=["missing", "unknown", "twice", "too many"],
)
@pytest.mark.parametrize("made", [0, 30], ids=["first instance", "later instance"])
def test_arguments_that_do_not_fit_are_an_error(
    arguments: tuple[object, ...], options: dict[str, int], made: int
) -> None:
    @frozen
    class Place:
        x: int
        y: int = 0
        labels: Mapping[str, str] = field(default_factory=dict)
        note: str = ""

    for number in range(made):
        Place(number)
    with pytest.raises(TypeError, match=r"missing|unexpected|multiple|positional"):
        Place(*arguments, **options)  # type: ignore[arg-type]


def test_equality_is_of_one_kind_and_of_the_compared_fields() -> None:
    assert Point(1, note="a") == Point(1, note="b")
    assert Point(1) != Point(2)
    other: object = Other(1)
    assert Point(1) != other
    assert Empty() == Empty()


def test_hash_is_that_of_the_fields() -> None:
    assert len({Empty(), Empty()}) == 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(Point(1))


def test_values_cannot_be_changed() -> None:
    point = Point(1)
    for name in ("x", "z"):
        with pytest.raises(AttributeError, match="frozen"):
            setattr(point, name, 2)
    with pytest.raises(AttributeError, match="frozen"):
        del point.x
    assert not hasattr(point, "__dict__")


def test_replace_makes_another_value() -> None:
    assert replace(Point(1, 2), y=3) == Point(1, 3)


def test_values_match_by_position_and_print_their_fields() -> None:
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)
    assert repr(Point(1, note="not shown")) == "Point(x=1, y=0, labels={})"


def test_values_are_copied_and_pickled() -> None:
    point = Point(1, labels={"a": "b"}, note="kept")
    for other in (copy.deepcopy(point), pickle.loads(pickle.dumps(point))):  # noqa: S301 (our own)
        assert other == point
        assert other.note == "kept"


def test_fields_as_a_dictionary() -> None:
    assert as_dict(Point(1)) == {"x": 1, "y": 0, "labels": {}, "note": ""}
    assert changed_fields(Other(1, note="n")) == {"x": 1, "labels": {}, "note": "n"}


@frozen
class Labelled(Point):
    label: str = "none"


def test_the_fields_of_the_class_that_a_value_class_extends_come_first() -> None:
    labelled = Labelled(1, 2, label="a")
    assert as_dict(labelled) == {"x": 1, "y": 2, "labels": {}, "note": "", "label": "a"}
    assert labelled == replace(Labelled(1, label="a"), y=2)
    assert labelled != replace(labelled, label="b")
    assert Labelled(0).is_origin
    assert not hasattr(labelled, "__dict__")
    assert pickle.loads(pickle.dumps(labelled)) == labelled  # noqa: S301 (our own)


@frozen
class Counted:
    numbers: tuple[int, ...]
    calls: list[int] = field(default_factory=list, compare=False)

    @cached_property
    def total(self) -> int:
        self.calls.append(1)
        return sum(self.numbers)


def test_a_cached_property_is_computed_once_and_not_copied() -> None:
    counted = Counted((1, 2))
    assert (counted.total, counted.total, len(counted.calls)) == (3, 3, 1)
    assert replace(counted, numbers=(4,)).total == 4
    assert copy.deepcopy(counted) == counted == Counted((1, 2))
    with pytest.raises(AttributeError, match="frozen"):
        counted.numbers = ()  # type: ignore[misc]


def test_a_value_as_a_key_equals_only_itself() -> None:
    point, equal = Point(1), Point(1)
    assert {Itself(point), Itself(point)} == {Itself(point)}
    assert Itself(point) != Itself(equal)
    assert Itself(point) != point
