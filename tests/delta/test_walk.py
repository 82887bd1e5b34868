"""Walks over the types and fields of a struct."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.delta import datatype
from schemalint.delta.datatype import LONG, STRING, Array, Field, Map, Struct, walk, walk_fields
from schemalint.delta.path import Part, Path

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEM = Struct((Field("sku", STRING),))
COLUMNS = Struct((Field("items", Array(ITEM)), Field("id", LONG), Field("counts", Map(STRING, LONG))))


def test_parents_come_first() -> None:
    assert list(walk(COLUMNS)) == [
        ((), COLUMNS),
        (("items",), Array(ITEM)),
        (("items", Part.ELEMENT), ITEM),
        (("items", Part.ELEMENT, "sku"), STRING),
        (("id",), LONG),
        (("counts",), Map(STRING, LONG)),
        (("counts", Part.KEY), STRING),
        (("counts", Part.VALUE), LONG),
    ]
    fields = [(path, field.name) for path, field in walk_fields(COLUMNS)]
    assert fields == [
        (("items",), "items"),
        (("id",), "id"),
        (("counts",), "counts"),
        (("items", Part.ELEMENT, "sku"), "sku"),
    ]


def test_a_walk_within_a_path_has_longer_paths() -> None:
    assert next(walk(ITEM, ("a",))) == (("a",), ITEM)
    assert [path for path, _field in walk_fields(ITEM, ("a",))] == [("a", "sku")]


def test_a_struct_is_walked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    walked: list[Struct] = []

    def counted(struct: Struct, _path: Path) -> Iterator[tuple[Path, Field]]:
        walked.append(struct)
        return iter(())

    monkeypatch.setattr(datatype, "_walk_fields", counted)
    one, equal = Struct((Field("id", LONG),)), Struct((Field("id", LONG),))
    for struct in (one, equal, one, equal):
        assert list(walk_fields(struct)) == []
    assert [id(struct) for struct in walked] == [id(one), id(equal)]
