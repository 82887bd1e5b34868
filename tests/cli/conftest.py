"""Projects for the tests of the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.project import ORDERS, Project
from support.repo import Repo
from support.review import Review

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    """An empty repository as the working directory."""
    repo = Repo(tmp_path / "repository")
    for name, value in repo.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repo.path)
    return Project(repo, capsys)


@pytest.fixture
def review(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Review:
    """A pull request."""
    return Review(project, monkeypatch, tmp_path)


@pytest.fixture
def committed(project: Project) -> Project:
    """A repository with the committed contract of ``sales.orders``."""
    project.declare(ORDERS)
    project.repo.commit()
    return project
