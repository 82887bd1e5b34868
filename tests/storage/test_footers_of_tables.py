"""Footers of a table's data files, local and in object stores."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyarrow import parquet

from schemalint.base.errors import LiveError
from schemalint.delta.datatype import INTEGER, LONG, Field
from schemalint.delta.footer_summary import Files, merge_summaries
from schemalint.tables.storage.data_files import ALL, Share, count_files, summarize_files
from support.logs import add, metadata, protocol, write_log

if TYPE_CHECKING:
    from pathlib import Path

    from support.servers import Bucket


TABLE = [protocol(), metadata(Field("id", LONG))]


def parquet_content(type_: pa.DataType) -> bytes:
    """Return a Parquet file with a column ``id`` of a type."""
    content = io.BytesIO()
    parquet.write_table(pa.table({"id": pa.array([1], type_)}), content)
    return content.getvalue()


def files_by_type(table: str, **options: object) -> dict[object, Files]:
    """Return the files of version 1, grouped by the type of their column."""
    summary = summarize_files(table, 1, **options)  # type: ignore[arg-type]
    return {leaf.type: files for leaf, files in summary.leaves.items()}


def test_files_are_counted_by_their_types(tmp_path: Path) -> None:
    table, elsewhere = tmp_path / "t ü", tmp_path / "else where"
    elsewhere.mkdir()
    names = [*(f"p=a b/{number}.parquet" for number in range(4)), "new.parquet"]
    (table / "p=a b").mkdir(parents=True)
    for name in names[:4]:
        (table / name).write_bytes(parquet_content(pa.int32()))
    (table / names[4]).write_bytes(parquet_content(pa.int64()))
    (elsewhere / "x%.parquet").write_bytes(parquet_content(pa.int64()))
    outside = f"file:{tmp_path}/else%20where/x%25.parquet"
    write_log(table, [TABLE, [add(name.replace(" ", "%20")) for name in (*names, outside)]])
    assert count_files(str(table), 1) == 6
    assert files_by_type(str(table)) == {
        INTEGER: Files(4, tuple(names[:3])),
        LONG: Files(2, (f"file:{tmp_path}/else where/x%.parquet", "new.parquet")),
    }


def test_all_shares_together_cover_all_files(tmp_path: Path) -> None:
    names = [f"{number}.parquet" for number in range(9)]
    for name in names:
        (tmp_path / name).write_bytes(parquet_content(pa.int32()))
    write_log(tmp_path, [TABLE, [add(name) for name in names]])
    shares = [summarize_files(str(tmp_path), 1, share=Share(number, 3)) for number in range(3)]
    assert all(0 < share.count < 9 for share in shares)
    assert merge_summaries(shares) == summarize_files(str(tmp_path), 1, share=ALL)


def test_damaged_files_are_counted_by_their_defect(tmp_path: Path) -> None:
    (tmp_path / "b.parquet").write_bytes(b"no")
    write_log(tmp_path, [TABLE, [add("a.parquet"), add("b.parquet"), add("c.parquet")]])
    summary = summarize_files(str(tmp_path), 1)
    assert summary.count == 0
    assert sorted(files.examples for files in summary.damaged.values()) == [
        ("a.parquet", "c.parquet"),
        ("b.parquet",),
    ]


@pytest.mark.parametrize("start", ["", "/", "file:/", "file:///"])
def test_a_name_that_no_file_can_have_counts_as_damaged(tmp_path: Path, start: str) -> None:
    write_log(tmp_path, [TABLE, [add(f"{start}a%00.parquet")]])
    damaged = summarize_files(str(tmp_path), 1).damaged
    assert damaged == {"its name has a NUL character": Files(1, (f"{start}a\0.parquet",))}


def test_a_folder_in_place_of_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").mkdir()
    write_log(tmp_path, [TABLE, [add("a.parquet")]])
    with pytest.raises(LiveError, match=r"a\.parquet"):
        summarize_files(str(tmp_path), 1)


def test_files_with_relative_and_absolute_paths_in_a_store_are_read(tmp_path: Path, bucket: Bucket) -> None:
    for name, type_ in (("p=a b/x.parquet", pa.int32()), ("clone source/y.parquet", pa.int64())):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(parquet_content(type_))
    outside = f"s3://{bucket.name}/t/clone%20source/y.parquet"
    write_log(tmp_path, [TABLE, [add("p=a%20b/x.parquet"), add(outside), add("gone.parquet")]])
    summary = summarize_files(bucket.upload(tmp_path, "t"), 1, bucket.storage)
    assert {leaf.type: files.count for leaf, files in summary.leaves.items()} == {INTEGER: 1, LONG: 1}
    assert summary.damaged == {"it is gone": Files(1, ("gone.parquet",))}
