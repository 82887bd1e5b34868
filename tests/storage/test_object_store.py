"""Tables in object stores: S3 and Google's XML API, both served by moto."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from obstore import put

from schemalint.base.errors import LiveError
from schemalint.base.values import replace
from schemalint.tables.catalog.table_requests import TableRequest, read_tables
from schemalint.tables.delta_log.store import NoTable
from schemalint.tables.storage import (
    MOST_SEARCHED,
    find_tables,
    holds_files,
    holds_tables,
    open_store,
    read_table,
)
from schemalint.tables.storage.kinds import object_store
from schemalint.tables.table_json import TableFailure
from support.logs import add, commit_info, metadata, protocol, write_log

if TYPE_CHECKING:
    from support.servers import Bucket

WRITTEN = Path(__file__).parents[1] / "delta_log/logs"
AWKWARD = (
    "plain",
    "two words",
    "100%25",
    "day=2024%2F01",
    "größe/ü",
    "a#b",
    "x:y",
    "a+b",
    "[a]",
    "q?mark",
    "q?a=b&c",
    "at@v1",
    "100%",
)


@pytest.mark.parametrize("name", sorted(folder.name for folder in WRITTEN.iterdir() if folder.is_dir()))
def test_a_table_written_by_spark_equals_its_local_copy(bucket: Bucket, name: str) -> None:
    uri = bucket.upload(WRITTEN / name, f"tables/{name}")
    local = read_table(str(WRITTEN / name))
    assert replace(read_table(uri, storage=bucket.storage), uri=local.uri) == local


@pytest.mark.parametrize("name", AWKWARD)
def test_a_key_is_not_decoded(bucket: Bucket, tmp_path: Path, name: str) -> None:
    uri = bucket.upload(write_log(tmp_path / "t", [[protocol(), metadata()]]), name)
    found = read_table(uri.replace("s3://", "s3a://"), storage=bucket.storage)
    assert found.uri == f"s3a://{bucket.name}/{name}"
    assert list(find_tables(f"s3://{bucket.name}", bucket.storage)) == [uri]


def test_empty_and_dot_segments_are_removed_as_hadoop_does(bucket: Bucket, tmp_path: Path) -> None:
    uri = bucket.upload(write_log(tmp_path / "t", [[protocol(), metadata()]]), "a/b")
    assert read_table(f"s3://{bucket.name}//a/./b/", storage=bucket.storage).uri == uri


def test_a_table_at_the_root_of_a_bucket_is_read(bucket: Bucket, tmp_path: Path) -> None:
    uri = bucket.upload(write_log(tmp_path / "t", [[protocol(), metadata()]]))
    assert uri == f"s3://{bucket.name}"
    assert read_table(f"{uri}/", storage=bucket.storage).version == 0
    assert list(find_tables(uri, bucket.storage)) == [uri]


def test_a_log_with_more_files_than_one_listing_page_is_read(bucket: Bucket, tmp_path: Path) -> None:
    table = write_log(tmp_path / "t", [[protocol(), metadata()], [commit_info("WRITE"), add()]])
    uri = bucket.upload(table, "t")
    for number in range(1_000):  # these names sort between the two commits
        bucket.put(f"t/_delta_log/{0:020}.{number:04}.crc", b"{}")
    assert len(list(open_store(uri, bucket.storage).list())) == 1_002
    assert read_table(uri, storage=bucket.storage).version == 1


def test_a_long_history_is_read_in_order(bucket: Bucket, tmp_path: Path) -> None:
    commits = [[commit_info(f"STEP {number}"), add()] for number in range(60)]
    table = write_log(tmp_path / "t", [[commit_info("CREATE TABLE"), protocol(), metadata()], *commits])
    uri = bucket.upload(table, "t")
    local = read_table(str(table))
    assert replace(read_table(uri, storage=bucket.storage), uri=local.uri) == local
    old = read_table(uri, version=7, storage=bucket.storage)
    assert replace(old, uri=local.uri) == read_table(str(table), version=7)


def test_every_commit_is_fetched_once(
    bucket: Bucket, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    commits = [[commit_info("WRITE"), add(str(number))] for number in range(40)]
    uri = bucket.upload(write_log(tmp_path / "t", [[protocol(), metadata()], *commits]), "t")
    caplog.clear()
    caplog.set_level(logging.INFO, "werkzeug")  # moto's requests
    assert read_table(uri, storage=bucket.storage).version == 40
    fetched = re.findall(r"GET /\w+/t/_delta_log/(\d+)\.json", caplog.text)
    assert sorted(map(int, fetched)) == list(range(41))


@pytest.mark.parametrize("descending", [False, True])
def test_commits_read_ahead_have_the_content_of_their_files(
    bucket: Bucket, tmp_path: Path, *, descending: bool
) -> None:
    table = write_log(tmp_path / "t", [[protocol(), metadata()], *([[add(str(n))] for n in range(40)])])
    store = open_store(bucket.upload(table, "t"), bucket.storage)
    names = sorted((file.name for file in store.list()), reverse=descending)
    for name in [*names, names[3], names[3]]:
        assert store.read(name) == (table / "_delta_log" / name).read_bytes()


def test_an_opened_file_supports_seek(bucket: Bucket) -> None:
    content = bytes(range(256)) * 8_192
    put(bucket.client, "t/_delta_log/x", content)
    with open_store(f"s3://{bucket.name}/t", bucket.storage).open("x") as file:
        assert file.seek(-300, 2) == len(content) - 300
        assert file.read() == content[-300:]
        assert file.read(1) == b""
        assert file.seek(1_000) == 1_000
        assert file.read(1_500_000) == content[1_000:1_501_000]
        assert file.seek(-7, 1) == 1_500_993
        assert file.read(7) == content[1_500_993:1_501_000]


def test_a_prefix_without_a_log_is_a_missing_table(bucket: Bucket) -> None:
    put(bucket.client, "orders_old/_delta_log/x.json", b"{}")
    put(bucket.client, "folder/_delta_log/", b"")
    put(bucket.client, "below/_delta_log/_commits/x.json", b"{}")
    for name in ("orders", "folder", "below", ""):
        with pytest.raises(NoTable):
            read_table(f"s3://{bucket.name}/{name}", storage=bucket.storage)


def test_a_missing_bucket_is_an_error_and_no_missing_table(bucket: Bucket) -> None:
    with pytest.raises(LiveError, match="there is no bucket nowhere") as caught:
        read_table("s3://nowhere/t", storage=bucket.storage)
    assert not isinstance(caught.value, NoTable)


def test_a_vanished_file_is_an_error_and_no_missing_table(bucket: Bucket, tmp_path: Path) -> None:
    uri = bucket.upload(write_log(tmp_path / "t", [[protocol(), metadata()]]), "t")
    store = open_store(uri, bucket.storage)
    for access in (store.read, store.open):
        with pytest.raises(LiveError, match=rf"{uri}/_delta_log/7\.json: .*no longer exists") as caught:
            access("7.json")
        assert not isinstance(caught.value, NoTable)


def test_settings_come_from_the_environment(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = bucket.upload(write_log(tmp_path / "t", [[protocol(), metadata()]]), "t")
    monkeypatch.setenv("AWS_ENDPOINT_URL", bucket.endpoint)
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAFORTESTS")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret-for-tests")
    assert read_table(uri).version == 0
    with pytest.raises(LiveError, match="cannot be reached"):
        read_table(uri, storage={"endpoint": "http://127.0.0.1:1"})


def test_anonymous_access_needs_a_public_bucket(bucket: Bucket, tmp_path: Path) -> None:
    uri = bucket.upload(write_log(tmp_path / "t", [[protocol(), metadata()]]), "t")
    storage = {"endpoint": bucket.endpoint, "allow_http": "true", "anonymous": "true"}
    with pytest.raises(LiveError, match=r"access to bucket \w+ is denied") as caught:
        read_table(uri, storage=storage)
    assert not isinstance(caught.value, NoTable)
    bucket.make_public()
    assert read_table(uri, storage=storage).version == 0


def test_tables_are_read_through_google_s_xml_api(bucket: Bucket, tmp_path: Path) -> None:
    bucket.upload(write_log(tmp_path / "t", [[protocol(), metadata()], [add()]]), "a b/t")
    bucket.make_public()
    storage = {"endpoint": bucket.endpoint, "allow_http": "true", "anonymous": "true"}
    for scheme in ("gs", "gcs"):
        assert read_table(f"{scheme}://{bucket.name}/a b/t", storage=storage).version == 1
        assert [*find_tables(f"{scheme}://{bucket.name}", storage)] == [f"{scheme}://{bucket.name}/a b/t"]
        with pytest.raises(NoTable):
            read_table(f"{scheme}://{bucket.name}/b/t", storage=storage)
        with pytest.raises(LiveError, match="there is no bucket nowhere") as caught:
            read_table(f"{scheme}://nowhere/t", storage=storage)
        assert not isinstance(caught.value, NoTable)


@pytest.mark.wide
def test_a_root_holds_tables_if_one_is_found_at_any_depth(bucket: Bucket, tmp_path: Path) -> None:
    bucket.upload(write_log(tmp_path / "t", [[protocol(), metadata()]]), "lake/bronze/sales/orders")
    for number in range(MOST_SEARCHED):
        put(bucket.client, f"raw/{number}/file.parquet", b"x")
    root = f"s3://{bucket.name}"
    assert holds_tables(f"{root}/lake", bucket.storage)
    assert holds_tables(root, bucket.storage)
    assert not holds_tables(f"{root}/lakes", bucket.storage)
    assert not holds_tables(f"{root}/raw", bucket.storage), "the search ends after many folders"


def test_tables_below_a_root_are_found(bucket: Bucket, tmp_path: Path) -> None:
    table = write_log(tmp_path / "t", [[protocol(), metadata()]])
    names = ("a/orders", "a/orders/inside", "b/c/returns", "z", ".hidden/t")
    uris = [bucket.upload(table, name) for name in names]
    assert [*find_tables(f"s3://{bucket.name}", bucket.storage)] == [uris[0], uris[2], uris[3]]
    assert [*find_tables(f"s3://{bucket.name}/b", bucket.storage)] == [uris[2]]
    with pytest.raises(LiveError, match="there are no files"):
        list(find_tables(f"s3://{bucket.name}/none", bucket.storage))


def test_many_tables_are_read_in_order_and_failures_stay_separate(bucket: Bucket, tmp_path: Path) -> None:
    tables = [
        write_log(tmp_path / f"t{number}", [[protocol(), metadata(table_id=f"id-{number}")]])
        for number in range(40)
    ]
    uris = [bucket.upload(table, table.name) for table in tables]
    requested = [uris[3], f"s3://{bucket.name}/none", str(tables[5]), "s3://nowhere/t", uris[3], *uris]
    found = read_tables([TableRequest(uri, storage=bucket.storage) for uri in requested])
    ids = [
        table.missing if isinstance(table, TableFailure) else table.live.metadata.table_id for table in found
    ]
    assert ids == ["id-3", True, "id-5", False, "id-3", *(f"id-{number}" for number in range(40))]


@pytest.mark.parametrize(
    "reference", ["s3:/b/t", "hdfs://n/t", "dbfs:/t", "https://b.s3.amazonaws.com/t", "s3", "/s3://b"]
)
def test_other_addresses_are_not_handled(reference: str) -> None:
    assert not object_store.handles(reference)


@pytest.mark.parametrize(
    "reference",
    [
        "s3://",
        "s3:///t",
        "s3://AKIA:hunter2@b/t",
        "gs://user@b/t",
        "s3://b:80/t",
        "s3://b/a/../t",
        "s3://b/t?X-Amz-Signature=hunter2",
        "abfss://c@a.dfs.core.windows.net/t?sig=hunter2",
        "abfss://c@evil.example.com/t",
        "abfss://c@evil.example.com.core.windows.net/t",
        "abfss://c:hunter2@a.dfs.core.windows.net/t",
        "s3://b/a\nb",
    ],
)
def test_invalid_addresses_and_addresses_with_secrets_are_refused(reference: str) -> None:
    assert object_store.handles(reference)
    with pytest.raises(LiveError) as caught:
        open_store(reference, {"account_key": "eHg="})
    assert not isinstance(caught.value, NoTable)
    assert "hunter2" not in str(caught.value)


def test_holds_files_ignores_folder_markers(bucket: Bucket) -> None:
    uri = f"s3://{bucket.name}"
    assert not holds_files(uri, bucket.storage)
    put(bucket.client, "sales/pq2/a.parquet", b"PAR1")
    bucket.client.put("sales/pq/", b"")  # web consoles store an empty folder like this
    assert not holds_files(f"{uri}/sales/pq", bucket.storage)
    put(bucket.client, "sales/pq/day=1/a.parquet", b"PAR1")
    for prefix in (uri, f"{uri}/sales", f"{uri}/sales/pq", f"{uri}/sales/pq/day=1"):
        assert holds_files(prefix, bucket.storage)
    assert not holds_files(f"{uri}/sales/p", bucket.storage)
