"""A repository with a dbt project in it, and the manifests that dbt made of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.project import Project
from support.repo import Repo
from support.shop import Shop

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
CONFIGURATION = 'contracts = [{path = "target/manifest.json", format = "dbt"}]\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    """An empty repository as the working directory."""
    repo = Repo(tmp_path / "repository")
    for name, value in repo.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repo.path)
    return Project(repo, capsys)


@pytest.fixture
def shop(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """The dbt project with the manifest of its base beside the repository."""
    # A commit is as old as the project, and the manifest was made after it.
    for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
        monkeypatch.setitem(project.repo.env, name, "2026-11-01T00:00:00+00:00")
    shutil.copytree(HERE / "shop", project.repo.path, dirs_exist_ok=True)
    project.repo.write("schemalint.toml", CONFIGURATION)
    project.repo.write(".gitignore", "target/\n")
    project.repo.commit()
    shop = Shop(project.repo, project.capsys)
    shop.manifest = json.loads((HERE / "manifests/v12.json").read_text("utf-8"))
    shop.parse()
    (tmp_path / "state").mkdir()
    shutil.copy(project.repo.path / "target/manifest.json", tmp_path / "state")
    return shop


@pytest.fixture
def manifest() -> Callable[[str], dict[str, Any]]:
    """Return a manifest by its version: ``v11``."""
    return lambda version: json.loads((HERE / f"manifests/{version}.json").read_text("utf-8"))
