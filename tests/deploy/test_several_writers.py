"""`plan` tells which tables in S3 `apply` will refuse, as far as the configuration can know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.delta.log_store import DYNAMODB
from support.project import ORDERS, Project
from support.repo import Repo
from support.servers import CREDENTIALS, Bucket, s3_server, send_put

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SPARK = "[spark]\n"


@pytest.fixture(scope="module")
def bucket() -> Iterator[Bucket]:
    with s3_server() as address:
        bucket = Bucket(address)
        send_put(f"{address}/{bucket.name}")
        yield bucket


@pytest.fixture
def project(
    tmp_path: Path, bucket: Bucket, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Project:
    for name, value in {**CREDENTIALS, "endpoint_url": bucket.endpoint, "allow_http": "true"}.items():
        monkeypatch.setenv(f"AWS_{name.upper()}", value)
    repo = Repo(tmp_path / "repository")
    repo.write("contracts/orders.yml", ORDERS)
    repo.commit()
    monkeypatch.chdir(repo.path)
    return Project(repo, capsys)


@pytest.mark.parametrize(
    ("scheme", "settings", "warning"),
    [
        ("s3", "", "S3SingleDriverLogStore, Delta's default, locks within one JVM only"),
        ("s3a", "", "has another log store for s3a"),
        ("s3", f"{SPARK}conf = {{'spark.delta.logStore.s3a.impl' = '{DYNAMODB}'}}", "for s3:"),
        ("s3", f"{SPARK}conf = {{'spark.delta.logStore.class' = 'acme.Store'}}", "share acme.Store"),
        ("s3", f"{SPARK}conf = {{'spark.delta.logStore.s3.impl' = '{DYNAMODB}'}}", None),
        ("s3", f"{SPARK}remote = 'sc://spark:15002'", None),
        ("s3", "engine = 'databricks 17.3'", None),
        ("s3", "single_writer = true", None),
    ],
)
def test_plan_tells_what_apply_will_refuse(
    project: Project, bucket: Bucket, scheme: str, settings: str, warning: str | None
) -> None:
    target = f"[targets.prod]\nroot = '{scheme}://{bucket.name}/lake'\n"
    project.repo.write("schemalint.toml", f"{target}{settings}\n")

    run = project.run("plan", "--output-format", "markdown")

    expected = f"apply refuses sales.orders unless its session has another log store for {scheme}: "
    assert run.status == 0
    assert (expected in run.err) == (warning is not None)
    assert ("single_writer = true under [targets.prod]" in run.err) == (warning is not None)
    assert ("if nothing else writes to the tables" in run.out) == (warning is not None)
    if warning is not None:
        assert warning in run.err
