"""`init` for tables in a bucket: their names, and no credentials in any file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemalint.cli import main
from schemalint.delta.datatype import LONG, Field
from support.logs import commit_info, metadata, protocol, write_log
from support.repo import Repo

if TYPE_CHECKING:
    from support.servers import Bucket


@pytest.fixture
def repo(tmp_path: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """An empty repository; the environment opens the bucket, which has tables."""
    for name in ("sales/orders", "sales/a b%20c", "Sales/ORDERS"):
        log = [[commit_info(), protocol(), metadata(Field("id", LONG))]]
        bucket.upload(write_log(tmp_path / name, log), f"lake/{name}")
    new = Repo(tmp_path / "repository")
    new.commit()
    settings = {f"AWS_{name.upper()}": value for name, value in bucket.storage.items()}
    for name, value in {**new.env, **settings}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(new.path)
    return new


def test_tables_in_a_bucket_are_adopted(
    repo: Repo, bucket: Bucket, capsys: pytest.CaptureFixture[str]
) -> None:
    root = f"s3://{bucket.name}/lake/"
    assert main(["init", "--root", root, "--ci", "github"]) == 0, capsys.readouterr().err
    written = repo.git("ls-files", "--others", "-z").split("\0")[:-1]
    texts = {Path(name).name: (repo.path / name).read_text() for name in written}
    secrets = [bucket.storage["access_key_id"], bucket.storage["secret_access_key"]]
    assert not [name for name, text in texts.items() if any(secret in text for secret in secrets)]
    assert f'root = "{root}"\n' in texts["schemalint.toml"]
    assert '# secret_access_key = "${LAKE_SECRET}"\n' in texts["schemalint.toml"]
    assert "table: sales.`a b%20c`\n" in texts["a b%20c.yml"]
    assert {"table: Sales.ORDERS", "table: sales.orders_2"} < {
        text.splitlines()[1] for name, text in texts.items() if name.endswith(".yml") and "table:" in text
    }
    repo.commit()
    assert main(["check", "--live", "--all", "--strict", "--against", "none"]) == 0, capsys.readouterr().out
    assert main(["plan", "--exit-code"]) == 0, capsys.readouterr().out
    assert main(["init", "--root", root]) == 0
    assert "nothing to write: 3 tables declared" in capsys.readouterr().out


def test_a_bucket_that_denies_is_said(repo: Repo, bucket: Bucket, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--root", f"s3://{bucket.name}x/lake"]) == 2
    assert f"{bucket.name}x" in capsys.readouterr().err
    assert not [path for path in repo.path.iterdir() if path.name != ".git"]
