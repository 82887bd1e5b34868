"""Commands on tables whose keys look like queries, versions and escapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import LONG, Field
from support.logs import commit_info, metadata, protocol, write_log
from support.project import Project
from support.repo import Repo

if TYPE_CHECKING:
    from pathlib import Path

    from support.servers import Bucket

KEYS = ("q?mark", "a?b=c&d%3Fe #f@v1")
FILE = "contracts/orders.yml"
CONTRACT = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: id, type: bigint}\n"


@pytest.fixture
def project(
    bucket: Bucket,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Project:
    """A repository as the working directory, with the settings of the bucket in the environment."""
    repo = Repo(tmp_path / "repository")
    names = {"endpoint": "AWS_ENDPOINT_URL"}
    of_bucket = {names.get(key, f"AWS_{key.upper()}"): value for key, value in bucket.storage.items()}
    for name, value in {**repo.env, **of_bucket}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repo.path)
    return Project(repo, capsys)


@pytest.mark.wide
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("place", ["root", "location", "absolute"])
def test_check_plan_pull_and_show_find_the_table(
    project: Project, bucket: Bucket, tmp_path: Path, key: str, place: str
) -> None:
    table = [[commit_info("CREATE TABLE"), protocol(), metadata(Field("id", LONG), Field("more", LONG))]]
    folder = {"root": f"{key}/sales/orders", "location": f"lake/{key}", "absolute": f"lake/{key}"}[place]
    uri = bucket.upload(write_log(tmp_path / "table", table), folder)
    root = f"s3://{bucket.name}/{key if place == 'root' else 'lake'}"
    location = {"root": "", "location": f"location: '{key}'\n", "absolute": f"location: '{uri}'\n"}[place]
    project.repo.write("schemalint.toml", f"[targets.prod]\nroot = '{root}'\n")
    project.declare(CONTRACT + location)
    project.repo.commit()

    live = ("--live", "--target", "prod", "--all")
    drifted = project.check(*live)
    assert drifted.status == 0, drifted.out
    assert "DR001 warning column more" in drifted.out, drifted.out
    shown = project.run("show", "sales.orders", "--target", "prod")
    assert shown.status == 0, shown.out
    assert uri in shown.out, shown.out
    pulled = project.run("pull", "sales.orders", "--target", "prod")
    assert pulled.status == 0
    assert "name: more" in (project.repo.path / FILE).read_text("utf-8")
    checked = project.check(*live)
    assert checked.status == 0, checked.out
    assert "(already applied)" in checked.out, checked.out
    project.repo.commit()
    plan = project.run("plan", "--target", "prod", "sales.orders")
    assert plan.status == 0, plan.out
    assert "1 table up to date" in plan.out, plan.out
