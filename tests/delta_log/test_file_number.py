"""The number of data files that a log tells by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.tables.delta_log.told_values import told_bytes, told_files
from schemalint.tables.storage import open_store
from support.logs import write_checksum, write_file

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("checksum", "pointer", "files"),
    [
        (None, None, None),
        (b'{"numFiles": 3}', b'{"version": 0, "size": 9}', 3),
        (None, b'{"version": 0, "size": 9, "numOfAddFiles": 5}', 5),
        (None, b'{"version": 0, "size": 9}', 9),
        (b"not JSON", b'{"version": 0, "size": 9}', 9),
        (b'{"numFiles": true}', b'["size"]', None),
        (b'{"numFiles": -1}', b'{"size": "9"}', None),
    ],
)
def test_number_is_that_of_the_checksum_or_else_of_the_last_checkpoint(
    checksum: bytes | None, pointer: bytes | None, files: int | None, tmp_path: Path
) -> None:
    write_checksum(tmp_path, 6, numFiles=1_000)
    for name, content in ((f"{7:020}.crc", checksum), ("_last_checkpoint", pointer)):
        if content is not None:
            write_file(tmp_path, name, content)
    assert told_files(open_store(str(tmp_path)), 7) == files


@pytest.mark.parametrize(
    ("names", "files"),
    [
        ((f"{0:020}.json", f"{1:020}.json"), 20),
        ((f"{1:020}.json",), None),
        ((f"{0:020}.json", f"{0:020}.checkpoint.parquet"), None),
        ((), None),
    ],
)
def test_all_commits_of_a_log_without_both_tell_how_many_files_there_are_at_most(
    names: tuple[str, ...], files: int | None, tmp_path: Path
) -> None:
    for name in names:
        write_file(tmp_path, name, b" " * 800)
    assert told_files(open_store(str(tmp_path)), 1) == files


@pytest.mark.parametrize(
    ("checksum", "size"),
    [
        ('{"tableSizeBytes": 12}', 12),
        ('{"tableSizeBytes": -1}', None),
        ("[]", None),
        ("{", None),
        (None, None),
    ],
)
def test_the_bytes_are_those_of_the_checksum(tmp_path: Path, checksum: str | None, size: int | None) -> None:
    log = tmp_path / "_delta_log"
    log.mkdir()
    if checksum is not None:
        (log / f"{7:020}.crc").write_text(checksum, "utf-8")
    assert told_bytes(open_store(str(tmp_path)), 7) == size
