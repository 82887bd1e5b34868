"""A repository's own configuration, and repositories inside of it, make git run and fetch nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from schemalint.base.errors import GitError
from schemalint.model.contract import NATIVE_FORMAT
from schemalint.project.git import (
    EmptyTree,
    Revision,
    Worktree,
    changes,
    dirty,
    file_at,
    find_base,
    open_repository,
)
from support.repo import Repo


@pytest.fixture
def sprung(tmp_path: Path) -> Path:
    """The file that the trap makes."""
    return tmp_path / "sprung"


@pytest.fixture
def repo(tmp_path: Path, sprung: Path) -> Repo:
    """A repository with a program in its folder."""
    repo = Repo(tmp_path / "shop")
    repo.write("orders.yml", "schemalint: 1\n")
    repo.write(".gitattributes", "*.yml filter=a=b.c diff=trap\n")
    repo.write("trap", f"#!/bin/sh\ntouch '{sprung}'\nexec cat\n").chmod(0o755)
    repo.commit()
    return repo


def test_its_filters_do_not_run(repo: Repo, sprung: Path) -> None:
    repo.git("config", "filter.a=b.c.clean", str(repo.path / "trap"))
    repo.git("config", "filter.a=b.c.process", str(repo.path / "trap"))
    repo.git("config", "filter.a=b.c.required", "true")
    repo.write("orders.yml", "schemalint: 2\n")
    opened = open_repository(repo.path, repo.env | {"GIT_CONFIG_COUNT": "0"})
    assert (
        changes(opened, EmptyTree(""), Worktree(), lambda _path, _data: NATIVE_FORMAT).head["orders.yml"].data
        == b"schemalint: 2\n"
    )
    assert dirty(opened, ["orders.yml"]) == {"orders.yml"}
    assert not sprung.exists()
    repo.git("config", "--unset", "filter.a=b.c.process")
    repo.git("diff")
    assert sprung.exists()  # the trap works


def test_its_conversions_do_not_run_in_a_search(repo: Repo, sprung: Path) -> None:
    for key in ("diff.trap.textconv", "diff.trap.command", "pager.grep", "core.pager"):
        repo.git("config", key, str(repo.path / "trap"))
    base = Revision("HEAD", repo.git("rev-parse", "HEAD"), "test")
    for head in (Worktree(), base):
        opened = open_repository(repo.path, repo.env)
        contents = changes(opened, base, head, lambda _path, _data: NATIVE_FORMAT, reads_unchanged=False)
        assert contents.with_unchanged({"SCHEMALINT"}).head.keys() == {"orders.yml"}
    assert not sprung.exists()
    repo.git("grep", "--textconv", "-e", "schemalint", "-e", "trap")
    assert sprung.exists()  # the trap works


def test_the_user_s_filters_run(repo: Repo, sprung: Path) -> None:
    settings = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "filter.a=b.c.clean",
        "GIT_CONFIG_VALUE_0": str(repo.path / "trap"),
    }
    repo.git("config", "filter.other.clean", "false")
    repo.write("orders.yml", "schemalint: 2\n")
    file_at(open_repository(repo.path, repo.env | settings), Worktree(), "orders.yml")
    assert sprung.exists()


PROGRAMS = {
    "core.sshCommand": "ssh://example.invalid/shop",
    "core.gitProxy": "git://example.invalid/shop",
    "core.askPass": "https://user@example.invalid/shop",
    "credential.helper": "https://example.invalid/shop",
    "credential.https://example.invalid.helper": "https://example.invalid/shop",
    "remote.origin.uploadpack": "../origin",
    "remote.origin.vcs": "shop",
    "http.proxy": "https://example.invalid/shop",
    "http.https://example.invalid/.sslVerify": "https://example.invalid/shop",
    "core.alternateRefsCommand": "../origin",
    "protocol.ext.allow": "ext::trap",
}


@pytest.mark.parametrize("key", PROGRAMS)
def test_a_fetch_is_refused_where_it_would_obey_them(repo: Repo, sprung: Path, key: str) -> None:
    repo.git("config", key, "always" if "ext" in key else str(repo.path / "trap"))
    repo.git("config", "remote.origin.url", PROGRAMS[key].replace("trap", f"sh -c {repo.path}/trap"))
    opened = open_repository(repo.path, repo.env | {"GIT_ALLOW_PROTOCOL": "file:ext:ssh:git:https"})
    with pytest.raises(GitError, match=r"own configuration sets") as caught:
        find_base(opened, Worktree(), "f" * 40, repo.env, fetch=True)
    assert key.lower() in caught.value.message.lower()
    assert not sprung.exists()


def test_a_fetch_with_the_token_of_the_checkout_runs(repo: Repo, tmp_path: Path) -> None:
    clone = repo.clone(tmp_path / "clone")
    clone.git("config", "http.https://github.com/.extraheader", "AUTHORIZATION: basic x")
    commit = repo.commit()
    clone.git("fetch", "--quiet", "--depth=1")
    opened = open_repository(clone.path, clone.env)
    assert find_base(opened, Worktree(), commit, clone.env, fetch=True).commit == commit


def test_hooks_do_not_run_in_a_fetch(repo: Repo, tmp_path: Path, sprung: Path) -> None:
    clone = repo.clone(tmp_path / "clone")
    commit = repo.commit()
    clone.hook("reference-transaction", f"touch '{sprung}'")
    opened = open_repository(clone.path, clone.env)
    assert find_base(opened, Worktree(), "origin/main", clone.env, fetch=True).commit != commit
    repo.git("branch", "release")
    assert find_base(opened, Worktree(), "origin/release", clone.env, fetch=True).commit == commit
    assert not sprung.exists()
    clone.git("update-ref", "refs/heads/x", "HEAD")
    assert sprung.exists()  # the trap works


def test_a_fetch_leaves_submodules_alone(repo: Repo, tmp_path: Path) -> None:
    inner = Repo(tmp_path / "inner")
    inner.commit()
    repo.git("submodule", "--quiet", "add", inner.path.as_uri(), "inner")
    repo.git("config", "--file", ".gitmodules", "submodule.inner.fetchRecurseSubmodules", "true")
    repo.commit()
    clone = repo.clone(tmp_path / "clone", "--recurse-submodules")
    clone.git("config", "submodule.recurse", "true")
    old = Repo(clone.path / "inner").git("rev-parse", "origin/main")
    new = inner.commit()
    repo.git("-C", "inner", "pull", "--quiet", "origin", "main")
    repo.commit()
    repo.git("branch", "release")
    opened = open_repository(clone.path, clone.env)
    assert find_base(opened, Worktree(), "origin/release", clone.env, fetch=True).commit == repo.head()
    assert Repo(clone.path / "inner").git("rev-parse", "origin/main") == old != new


def partial_clone(repo: Repo, path: Path) -> Repo:
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    clone = repo.clone(path, "--filter=blob:none", "--no-checkout")
    clone.git("reset", "--quiet")
    return clone


def test_a_partial_clone_fetches_nothing_unasked(repo: Repo, tmp_path: Path, sprung: Path) -> None:
    clone = partial_clone(repo, tmp_path / "clone")
    clone.git("config", "remote.origin.uploadpack", f"touch '{sprung}'; git-upload-pack")
    opened = open_repository(clone.path, clone.env)
    base = find_base(opened, Worktree(), "HEAD", clone.env)
    with pytest.raises(GitError, match="is missing") as caught:
        file_at(opened, base, "orders.yml")
    assert "--fetch" in caught.value.help
    assert not sprung.exists()
    with pytest.raises(GitError, match=r"own configuration sets remote\.origin\.uploadpack"):
        opened.fetching_objects()


def test_a_git_that_cannot_forbid_it_finds_no_transport(repo: Repo, tmp_path: Path, sprung: Path) -> None:
    clone = partial_clone(repo, tmp_path / "clone")
    clone.git("config", "remote.origin.uploadpack", f"touch '{sprung}'; git-upload-pack")
    older = tmp_path / "bin" / "git"
    older.parent.mkdir()
    older.write_text(f'#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec {shutil.which("git")} "$@"\n')
    older.chmod(0o755)
    opened = open_repository(clone.path, clone.env | {"PATH": f"{older.parent}:{os.environ['PATH']}"})
    base = find_base(opened, Worktree(), "HEAD", clone.env)
    with pytest.raises(GitError):
        file_at(opened, base, "orders.yml")
    assert not sprung.exists()


def test_a_partial_clone_fetches_when_asked(repo: Repo, tmp_path: Path) -> None:
    clone = partial_clone(repo, tmp_path / "clone")
    opened = open_repository(clone.path, clone.env).fetching_objects()
    base = find_base(opened, Worktree(), "HEAD", clone.env)
    assert file_at(opened, base, "orders.yml") is not None


def test_a_full_clone_with_an_own_command_needs_no_fetch(repo: Repo) -> None:
    repo.git("config", "core.sshCommand", "ssh -i key")  # actions/checkout with the input ssh-key
    open_repository(repo.path, repo.env).fetching_objects()


def embedded(repo: Repo, *settings: str) -> Path:
    """Add the files of a bare repository, as a pull request can."""
    inner = repo.path / "contracts"
    Repo(inner, bare=True).git("config", "core.fsmonitor", str(repo.path / "trap"))
    for setting in settings:
        Repo(inner).git("config", *setting.split("="))
    (inner / "refs/keep").touch()
    repo.commit()
    return inner


@pytest.mark.parametrize(
    "settings", [[], ["core.bare=false", "core.worktree=.."]], ids=["bare", "with a working tree"]
)
@pytest.mark.parametrize("version", ["this git", "git before 2.38"])
def test_a_bare_repository_in_a_commit_is_refused(
    repo: Repo, tmp_path: Path, sprung: Path, settings: list[str], version: str
) -> None:
    inner = embedded(repo, *settings)
    env = dict(repo.env)
    if version != "this git":
        older = tmp_path / "bin" / "git"
        older.parent.mkdir()
        git = shutil.which("git")
        older.write_text(
            f'#!/bin/bash\nexec {git} "${{@/safe.bareRepository=explicit/safe.bareRepository=all}}"\n'
        )
        older.chmod(0o755)
        env["PATH"] = f"{older.parent}:{env['PATH']}"
    with pytest.raises(GitError, match=r"bare repository|inside of the git directory"):
        open_repository(inner, env)
    assert not sprung.exists()


def test_a_submodule_of_the_workspace_is_refused(repo: Repo) -> None:
    inner = Repo(repo.path / "contracts")
    inner.commit()
    open_repository(inner.path, inner.env)
    with pytest.raises(GitError, match="lies in another one of the workspace"):
        open_repository(inner.path, inner.env | {"GITHUB_WORKSPACE": str(repo.path)})


def test_repositories_side_by_side_in_the_workspace_are_opened(repo: Repo) -> None:
    env = repo.env | {"GITHUB_WORKSPACE": str(repo.path.parent)}
    assert open_repository(repo.path, env).root == repo.path


def test_a_branch_without_a_commit_is_refused_in_ci(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "new")
    with pytest.raises(GitError, match="no commit yet"):
        find_base(open_repository(repo.path, repo.env), Worktree(), None, repo.env | {"CI": "true"})


@pytest.mark.parametrize("folder", ["", ".", "bin"])
def test_no_program_of_the_working_directory_is_git(
    repo: Repo, sprung: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = repo.path / folder / "git"
    program.parent.mkdir(exist_ok=True)
    shutil.copy(repo.path / "trap", program)
    monkeypatch.chdir(repo.path)
    env = repo.env | {"PATH": f"{folder}{os.pathsep}{repo.env['PATH']}"}
    opened = open_repository(repo.path, env)
    opened.run("ls-files")
    assert not sprung.exists()
    assert all(Path(entry).is_absolute() for entry in opened.env["PATH"].split(os.pathsep))
