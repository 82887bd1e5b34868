"""What statistics in the log say of columns: only what is exact of all rows."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from schemalint.delta.datatype import INTEGER, STRING, Field
from schemalint.tables.delta_log.told_values import ToldColumn, ToldRows, told_rows
from schemalint.tables.storage import open_store
from support.logs import commit_info, metadata, protocol, write_log

if TYPE_CHECKING:
    from pathlib import Path


def added(name: str, stats: dict[str, Any], **more: object) -> dict[str, Any]:
    file = {"path": name, "partitionValues": {}, "size": 1, "modificationTime": 1, "dataChange": True}
    return {"add": file | {"stats": json.dumps(stats)} | more}


def told(folder: Path, *files: dict[str, Any]) -> ToldRows | None:
    created = [commit_info("CREATE TABLE"), protocol(), metadata(Field("a", STRING), Field("n", INTEGER))]
    write_log(folder, [[*created, *files]])
    return told_rows(open_store(str(folder)), 0)


ONE = {
    "numRecords": 3,
    "minValues": {"a": "b", "n": 1},
    "maxValues": {"a": "c", "n": 5},
    "nullCount": {"a": 1, "n": 0},
}
NULLS = {"numRecords": 2, "minValues": {"n": 0.5}, "maxValues": {"n": 2}, "nullCount": {"a": 2, "n": 0}}


def test_files_are_added_up(tmp_path: Path) -> None:
    assert told(tmp_path, added("1", ONE), added("2", NULLS)) == ToldRows(
        5, {"a": ToldColumn(3, "b", "c"), "n": ToldColumn(0, Decimal("0.5"), 5)}
    )


def test_what_is_not_exact_is_left_out(tmp_path: Path) -> None:
    vector = {"storageType": "u", "pathOrInlineDv": "x", "sizeInBytes": 1, "cardinality": 1}
    for number, file in enumerate(
        (
            added("2", NULLS, deletionVector=vector),
            added("2", NULLS | {"tightBounds": False}),
            added("2", {"numRecords": 2}),
        )
    ):
        answer = told(tmp_path / str(number), added("1", ONE), file)
        assert answer is not None
        assert answer.columns == {}


def test_a_column_without_bounds_has_its_nulls(tmp_path: Path) -> None:
    other = {"numRecords": 1, "nullCount": {"a": 0}}
    assert told(tmp_path, added("1", ONE), added("2", other)) == ToldRows(4, {"a": ToldColumn(1)})


def test_a_file_without_statistics_tells_nothing(tmp_path: Path) -> None:
    assert told(tmp_path, added("1", ONE), added("2", {})) is None
