"""Local tables: paths, file URIs and errors of the file system."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from schemalint.base.errors import LiveError
from schemalint.tables.delta_log.store import NoTable
from schemalint.tables.storage import holds_files, open_store, read_table
from schemalint.tables.storage.kinds import local
from support.logs import metadata, protocol, write_log

if TYPE_CHECKING:
    from pathlib import Path

AWKWARD = ("plain", "two words", "100%25", "day=2024%2F01", "größe", "a#b?c", "x:y")


@pytest.mark.parametrize("name", AWKWARD)
def test_a_path_is_not_decoded(tmp_path: Path, name: str) -> None:
    table = write_log(tmp_path / name, [[protocol(), metadata()]])
    assert read_table(str(table)).uri == str(table)
    assert read_table(f"{table}/").version == 0


def test_a_relative_path_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_log(tmp_path / "orders", [[protocol(), metadata()]])
    monkeypatch.chdir(tmp_path)
    assert read_table("orders").version == 0


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("scheme", ["file:", "file://", "FILE://localhost"])
def test_a_uri_is_decoded_once(tmp_path: Path, name: str, scheme: str) -> None:
    table = write_log(tmp_path / name, [[protocol(), metadata()]])
    encoded = table.as_uri().removeprefix("file://")
    assert read_table(scheme + encoded).uri == str(table)


def test_percent_signs_are_decoded_in_uris_only(tmp_path: Path) -> None:
    write_log(tmp_path / "a b", [[protocol(), metadata()]])
    with pytest.raises(NoTable):
        read_table(f"{tmp_path}/a%20b")
    assert read_table(f"file://{tmp_path}/a%20b").version == 0


@pytest.mark.parametrize("reference", ["file://server/share/t", "file://server/", "", "a\0b"])
def test_uris_of_other_hosts_and_invalid_paths_are_refused(reference: str) -> None:
    with pytest.raises(LiveError) as caught:
        open_store(reference)
    assert not isinstance(caught.value, NoTable)


@pytest.mark.parametrize("reference", ["dbfs:/t", "hdfs:///t", "ftp://x/t"])
def test_unsupported_uri_schemes_are_refused_with_their_uri(reference: str) -> None:
    assert not local.handles(reference)
    with pytest.raises(LiveError, match="cannot read tables from such a URI") as caught:
        open_store(reference)
    assert reference in caught.value.message


@pytest.mark.parametrize("reference", ["C:\\lake\\t", "a:b", "data:2024/t", "file", "/x"])
def test_paths_that_look_like_uris_are_paths(reference: str) -> None:
    assert local.handles(reference)
    assert local.open_store(reference).uri == reference


def test_missing_table_and_denied_access_are_different_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = write_log(tmp_path / "t", [[protocol(), metadata()]])
    with pytest.raises(NoTable, match="no folder _delta_log"):
        read_table(str(tmp_path))

    def denied(folder: object) -> object:
        raise PermissionError(13, "Permission denied", str(folder))

    # The tests may run as root, for whom no access is denied.
    monkeypatch.setattr(os, "scandir", denied)
    with pytest.raises(LiveError, match="access is denied") as caught:
        read_table(str(table))
    assert not isinstance(caught.value, NoTable)
    assert caught.value.help


def test_a_log_that_is_a_file_is_no_table(tmp_path: Path) -> None:
    tmp_path.joinpath("_delta_log").touch()
    with pytest.raises(NoTable):
        read_table(str(tmp_path))


def test_an_unreadable_file_is_an_error_with_its_name(tmp_path: Path) -> None:
    store = local.open_store(str(write_log(tmp_path, [[protocol(), metadata()]])))
    with store.open(f"{0:020}.json") as file:
        assert file.read() == store.read(f"{0:020}.json")
    for access in (store.read, store.open):
        with pytest.raises(LiveError, match=r"7\.json: No such file"):
            access("7.json")


def test_links_are_read_and_broken_links_are_ignored(tmp_path: Path) -> None:
    table = write_log(tmp_path / "t", [[protocol(), metadata()]])
    commit = table / "_delta_log" / f"{0:020}.json"
    commit.rename(tmp_path / "elsewhere")
    commit.symlink_to(tmp_path / "elsewhere")
    commit.with_name(f"{1:020}.json").symlink_to(tmp_path / "nowhere")
    assert read_table(str(table)).version == 0


@pytest.mark.parametrize(
    ("entry", "counts"),
    [
        ("a.txt", True),
        ("_SUCCESS", True),
        (".hidden", True),
        ("a.crc", True),
        ("folder/", True),
        (".folder/", True),
        ("_delta_log/", True),
        (".part-0.parquet.crc", False),
    ],
)
def test_folder_entries_that_prevent_create_table_are_detected(
    tmp_path: Path, entry: str, *, counts: bool
) -> None:
    """CREATE TABLE fails with TABLE_OR_VIEW_ALREADY_EXISTS if the entry counts (measured on Delta 4.4.0)."""
    assert not holds_files(str(tmp_path))
    if entry.endswith("/"):
        (tmp_path / entry).mkdir()
    else:
        (tmp_path / entry).write_bytes(b"")
    assert holds_files(str(tmp_path)) == counts
    assert holds_files(tmp_path.as_uri()) == counts


def test_a_file_occupies_its_path_and_a_missing_path_is_free(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert holds_files(str(tmp_path / "file"))
    assert not holds_files(str(tmp_path / "nothing/here"))
