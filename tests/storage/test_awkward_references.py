"""Paths and URIs that look like something else: a version at the end, a question mark, a percent sign."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemalint.base.errors import LiveError
from schemalint.tables.catalog.table_requests import read_tables, table_requests
from schemalint.tables.table_json import TableDocument
from support.logs import add, metadata, protocol, write_log
from support.servers import Bucket

VERSIONS = [[protocol(), metadata()], [add("a")], [add("b")]]


def _shown(reference: str) -> tuple[str, int]:
    """Return the URI and the version that ``show`` reads for a reference."""
    (document,) = read_tables(table_requests([reference], None))
    assert isinstance(document, TableDocument), document
    return document.live.uri, document.live.version


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_folder_that_ends_like_a_version_is_taken_literally(tmp_path: Path, scheme: str) -> None:
    write_log(tmp_path / "at", VERSIONS)
    assert _shown(f"{scheme}{tmp_path}/at@v1") == (f"{tmp_path}/at", 1)
    write_log(tmp_path / "at@v1", VERSIONS[:1])
    assert _shown(f"{scheme}{tmp_path}/at@v1") == (f"{tmp_path}/at@v1", 0)
    assert _shown(f"{scheme}{tmp_path}/at@v2") == (f"{tmp_path}/at", 2)


@pytest.fixture
def lake(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    """A bucket that the environment has the settings of."""
    names = {"endpoint": "AWS_ENDPOINT_URL"}
    for key, value in bucket.storage.items():
        monkeypatch.setenv(names.get(key, f"AWS_{key.upper()}"), value)
    return bucket


def test_a_key_that_ends_like_a_version_is_taken_literally(lake: Bucket, tmp_path: Path) -> None:
    table = lake.upload(write_log(tmp_path / "t", VERSIONS), "at")
    assert _shown(f"{table}@v1") == (table, 1)
    literal = lake.upload(write_log(tmp_path / "u", VERSIONS[:1]), "at@v1")
    assert _shown(literal) == (literal, 0)
    assert _shown(f"{literal}@v0") == (literal, 0)


def test_a_key_with_a_question_mark_is_read(lake: Bucket, tmp_path: Path) -> None:
    table = lake.upload(write_log(tmp_path / "t", VERSIONS), "q?mark/day=1?a=b#c")
    assert _shown(table) == (table, 2)
    assert _shown(f"{table}@v1") == (table, 1)


def test_an_invalid_date_is_the_error_of_its_table(tmp_path: Path) -> None:
    table = write_log(tmp_path / "t", VERSIONS)
    wrong, right = table_requests([f"{table}@2026-13-01", str(table)], None)
    assert isinstance(wrong.error, LiveError)
    assert "is not a valid date" in wrong.error.message
    assert right.error is None
