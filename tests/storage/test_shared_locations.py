"""Two spellings of one table in a bucket: `check`, `check --live` and `plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.cli import main
from schemalint.delta.datatype import LONG, Field
from schemalint.tables.storage import location_key
from support.logs import commit_info, metadata, protocol, write_log
from support.repo import Repo

if TYPE_CHECKING:
    from pathlib import Path

    from support.servers import Bucket

CONTRACT = "schemalint: 1\ntable: {table}\nlocation: {location}\ncolumns:\n  - {{name: id, type: bigint}}\n"


@pytest.fixture
def repo(tmp_path: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository with a contract of the table in the bucket."""
    bucket.upload(write_log(tmp_path / "t", [[commit_info(), protocol(), metadata(Field("id", LONG))]]), "t")
    new = Repo(tmp_path / "repository")
    for name, value in {
        **new.env,
        "KEY": bucket.storage["access_key_id"],
        "SECRET": bucket.storage["secret_access_key"],
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(new.path)
    new.write(
        "schemalint.toml",
        f'[targets.dev]\nroot = "s3://{bucket.name}"\n'
        f'storage = {{endpoint = "{bucket.endpoint}", allow_http = "true", region = "us-east-1", '
        'access_key_id = "${KEY}", secret_access_key = "${SECRET}"}\n',
    )
    new.write("orders.yml", CONTRACT.format(table="sales.orders", location=f"s3://{bucket.name}/t"))
    new.commit()
    return new


def test_table_below_an_s3_root_may_be_written_as_s3a(
    repo: Repo, bucket: Bucket, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.write("orders.yml", CONTRACT.format(table="sales.orders", location=f"s3a://{bucket.name}/t"))
    assert main(["check", "--live", "--all", "--against", "none"]) == 0, capsys.readouterr().out
    assert main(["plan", "--head", "worktree"]) == 0, capsys.readouterr().out
    repo.write("orders.yml", CONTRACT.format(table="sales.orders", location=f"s3a://{bucket.name}x/t"))
    assert main(["plan", "--head", "worktree"]) == 2


def test_second_contract_for_a_table_in_a_bucket_is_refused(
    repo: Repo, bucket: Bucket, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.write("a.yml", CONTRACT.format(table="a.a", location=f"s3a://{bucket.name}//t/."))
    assert main(["check", "--output-format", "concise"]) == 1
    assert capsys.readouterr().out.startswith("a.yml:3:11: CT002 error")
    assert main(["plan", "sales.orders", "--head", "worktree"]) == 0, capsys.readouterr().out
    assert main(["plan", "a.a", "--head", "worktree"]) != 0
    assert "the table at this location belongs to sales.orders" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("reference", "key"),
    [
        ("file:///lake/t/", "/lake/t"),
        ("FILE:/lake//x/../t/.", "/lake/t"),
        ("file://localhost/lake/a%20b", "/lake/a b"),
        ("file://elsewhere/lake/t/", "file://elsewhere/lake/t"),
        ("S3A://bucket/t", "s3://bucket/t"),
        ("s3a://bucket", "s3://bucket/"),
        ("s3://key:secret@bucket/t/", "s3://key:secret@bucket/t"),
        ("gcs://bucket/a%20b", "gcs://bucket/a%20b"),
        ("abfs://C@acc.blob.core.windows.net/t", "azure://c@acc/t"),
        ("az://c/t", "azure://c@acc/t"),
        ("hdfs://node/t/", "hdfs://node/t"),
    ],
)
def test_key_of_a_location(reference: str, key: str) -> None:
    assert location_key(reference, {"azure_storage_account_name": "acc"}) == key


def test_table_is_pulled_into_its_contract_by_another_spelling(
    repo: Repo, bucket: Bucket, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (repo.path / "orders.yml").read_text()
    repo.write("orders.yml", text.replace("bigint", "int"))
    assert main(["pull", f"s3a://{bucket.name}/t/"]) == 0
    assert "updated orders.yml" in capsys.readouterr().err
    assert (repo.path / "orders.yml").read_text() == text
