"""Finding and opening a repository, and the errors."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from schemalint.base.errors import GitError
from schemalint.project.git import open_repository
from support.repo import Repo, isolated_env

if TYPE_CHECKING:
    from pathlib import Path


def test_the_root_is_found_from_a_folder_below(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "shop")
    repo.write("contracts/deep/orders.yml", "")
    opened = open_repository(repo.path / "contracts/deep", repo.env)
    assert (opened.root, opened.git_dir, opened.bare) == (repo.path, repo.path / ".git", False)


def test_a_path_that_is_not_utf8_is_opened(tmp_path: Path) -> None:
    repo = Repo(tmp_path / os.fsdecode(b"caf\xe9 au 'lait'"))
    assert open_repository(repo.path, repo.env).root == repo.path


def test_a_folder_outside_every_repository_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="not a git repository") as caught:
        open_repository(tmp_path, isolated_env(tmp_path))
    assert "git init" in caught.value.help


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="no such directory"):
        open_repository(tmp_path / "gone", isolated_env(tmp_path))


def test_a_missing_git_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="git is not installed"):
        open_repository(tmp_path, {"PATH": str(tmp_path)})


def test_the_error_for_a_repository_of_another_user_names_the_command_that_trusts_it(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "theirs")
    # git can pretend that another user owns the repository; a wrapper sets it, because GIT_* is removed.
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {shutil.which("git")} "$@"\n')
    wrapper.chmod(0o755)
    env = repo.env | {"PATH": f"{wrapper.parent}:{os.environ['PATH']}"}
    with pytest.raises(GitError, match="another user") as caught:
        open_repository(repo.path, env)
    assert f"git config --global --add safe.directory {repo.path}" in caught.value.help


def test_a_git_dir_variable_of_another_repository_is_ignored(tmp_path: Path) -> None:
    mine, other = Repo(tmp_path / "mine"), Repo(tmp_path / "other")
    other.write("a.yml", "")
    other.commit()
    env = mine.env | {"GIT_DIR": str(other.path / ".git"), "GIT_INDEX_FILE": str(other.path / ".git/index")}
    opened = open_repository(mine.path, env)
    assert (opened.root, opened.index_file) == (mine.path, None)
    assert opened.run("rev-parse", "--absolute-git-dir").stdout.decode().strip() == str(mine.path / ".git")


def test_a_git_dir_variable_is_used_outside_of_repositories(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "dotfiles")
    home = tmp_path / "home"
    home.mkdir()
    env = repo.env | {"GIT_DIR": str(repo.path / ".git"), "GIT_WORK_TREE": str(home)}
    opened = open_repository(home, env)
    assert (opened.root, opened.git_dir) == (home, repo.path / ".git")
    assert opened.run("rev-parse", "--show-toplevel").stdout.decode().strip() == str(home)


def test_a_bare_repository_is_its_own_root(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "server.git", bare=True)
    opened = open_repository(repo.path, repo.env | {"GIT_DIR": "."})  # as git runs a server's hooks
    assert (opened.root, opened.bare) == (repo.path, True)


def test_only_required_git_variables_are_passed_on(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "shop")
    dropped = {"GIT_PREFIX": "a/", "GIT_LITERAL_PATHSPECS": "1", "GIT_EXTERNAL_DIFF": "x", "GIT_TRACE": "1"}
    kept = {
        "GIT_SSH_COMMAND": "ssh -v",
        "GIT_CONFIG_COUNT": "0",
        "GIT_QUARANTINE_PATH": "/q",
        "LANG": "de_DE",
    }
    env = open_repository(repo.path, repo.env | dropped | kept).env
    assert not dropped.keys() & env.keys()
    assert kept.items() <= env.items()
    assert (env["GIT_OPTIONAL_LOCKS"], env["GIT_TERMINAL_PROMPT"], env["LC_ALL"]) == ("0", "0", "C")


def test_programs_in_the_repository_configuration_are_not_run(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "shop")
    trap = repo.write("trap.sh", f"#!/bin/sh\ntouch '{tmp_path}/sprung'\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "core.pager"):
        repo.git("config", key, str(trap))
    open_repository(repo.path, repo.env).run("ls-files", "--modified", "--others")
    assert not (tmp_path / "sprung").exists()
