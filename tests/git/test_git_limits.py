"""git commands that never end, or print without end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from schemalint.base import limits
from schemalint.base.errors import GitError
from schemalint.model.contract import NATIVE_FORMAT
from schemalint.project.git import MAX_SIZE, EmptyTree, Index, Worktree, changes, open_repository
from schemalint.project.git.process import run_git, talk_to_git
from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def env_with_git(folder: Path, script: str) -> Mapping[str, str]:
    """Return an environment whose git is a shell script."""
    file = folder / "git"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.parametrize("limit", ["GIT_SECONDS", "FETCH_SECONDS"])
def test_command_that_hangs_is_ended_at_its_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(limits, limit, 0.1)
    env = env_with_git(tmp_path, "exec sleep 60")
    command = "fetch" if limit == "FETCH_SECONDS" else "ls-files"
    with pytest.raises(GitError, match=f"git {command} did not end within 0 seconds"):
        run_git(command, cwd=tmp_path, env=env)


def test_conversation_that_hangs_is_ended_at_its_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "GIT_SECONDS", 0.1)
    env = env_with_git(tmp_path, "exec sleep 60")

    def converse() -> None:
        with talk_to_git("cat-file", lines=[b"x"], cwd=tmp_path, env=env) as out:
            raise AssertionError(out.read())

    with pytest.raises(GitError, match="git cat-file did not end within 0 seconds"):
        converse()


def test_output_without_end_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_GIT_OUTPUT", 1 << 20)
    env = env_with_git(tmp_path, "exec yes")
    with pytest.raises(GitError, match="git ls-files prints more than 1 MiB"):
        run_git("ls-files", cwd=tmp_path, env=env)


def test_only_the_end_of_a_long_error_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_GIT_ERRORS", 100)
    env = env_with_git(tmp_path, "yes | head -c 1000000 >&2; echo fatal: broken >&2; exit 128")
    kept = run_git("status", cwd=tmp_path, env=env, statuses=(128,)).stderr
    assert (len(kept), kept.endswith(b"\nfatal: broken\n")) == (100, True)
    with pytest.raises(GitError, match=r"^git status failed: broken$"):
        run_git("status", cwd=tmp_path, env=env)


def test_argument_with_a_nul_character_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="NUL"):
        run_git("ls-files", "a\0b", cwd=tmp_path, env=env_with_git(tmp_path, "exit 0"))


def test_huge_file_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_SKIPPED", MAX_SIZE)
    repo = Repo(tmp_path / "repo")
    for number in range(8):
        repo.write(f"{number}.yml", f"schemalint: {number}\n" * (100_000 if number % 2 else 1))
    repo.git("add", "--all")
    contents = changes(
        open_repository(repo.path, repo.env), EmptyTree("none"), Index(), lambda _path, _data: NATIVE_FORMAT
    )
    assert list(contents.head) == ["0.yml", "2.yml", "4.yml", "6.yml"]
    assert list(contents.unread) == ["1.yml", "3.yml", "5.yml", "7.yml"]


@pytest.mark.parametrize("side", [Index(), Worktree()], ids=lambda side: side.spec)
def test_contracts_that_are_too_large_together_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, side: Index | Worktree
) -> None:
    monkeypatch.setattr(limits, "MAX_CONTENTS", 1_000)
    repo = Repo(tmp_path / "repo")
    for number in range(3):
        repo.write(f"{number}.yml", str(number) * 400)
    if side == Index():
        repo.git("add", "--all")
    with pytest.raises(GitError, match="the contract files have more than 0 MiB"):
        changes(
            open_repository(repo.path, repo.env), EmptyTree("none"), side, lambda _path, _data: NATIVE_FORMAT
        )
