"""Comparisons inside git hooks, where git sets another index and another environment than a shell."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TypedDict

import pytest

from support.repo import Repo

ROOT = Path(__file__).parents[2]

# The hook runs this program in the environment that git exports.
PROBE = """
import json, os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from schemalint.project.git import changes, find_base, find_head, open_repository

repo = open_repository(Path.cwd(), os.environ)
head = find_head(repo, sys.argv[3], os.environ)
base = find_base(repo, head, None, os.environ)
contents = changes(repo, base, head, lambda _path, data: "" if data.startswith(b"schemalint:") else None)
seen = {
    "root": str(repo.root),
    "base": base.commit,
    "head": head.commit,
    "before": {path: file.data.decode() for path, file in contents.base.items()},
    "after": {path: file.data.decode() for path, file in contents.head.items()},
}
Path(sys.argv[2]).write_text(json.dumps(seen))
"""


class Recorded(TypedDict):
    root: str
    base: str | None
    head: str | None
    before: dict[str, str]
    after: dict[str, str]


class Probe:
    """A hook that records the API's results inside the hook."""

    def __init__(self, folder: Path) -> None:
        self.script = folder / "probe.py"
        self.script.write_text(PROBE)
        self.output = folder / "seen.json"

    def install(self, repo: Repo, hook: str = "pre-commit", before: str = "") -> None:
        repo.hook(hook, f"{before}\nexec {self.command('index')}")

    def command(self, head: str) -> str:
        return f"'{sys.executable}' '{self.script}' '{ROOT}' '{self.output}' {head}"

    def seen(self) -> Recorded:
        seen: Recorded = json.loads(self.output.read_text())
        self.output.unlink()
        return seen


@pytest.fixture
def probe(tmp_path: Path) -> Probe:
    return Probe(tmp_path)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    created = Repo(tmp_path / "shop")
    created.write("a.yml", "schemalint: 1\n")
    created.write("b.yml", "schemalint: 1\n")
    created.write("folder/keep", "")
    created.commit()
    return created


def edit_both(repo: Repo) -> None:
    repo.write("a.yml", "schemalint: 2\n")
    repo.write("b.yml", "schemalint: 2\n")


BEFORE = {"a.yml": "schemalint: 1\n", "b.yml": "schemalint: 1\n"}
A_EDITED = {**BEFORE, "a.yml": "schemalint: 2\n"}
BOTH_EDITED = {"a.yml": "schemalint: 2\n", "b.yml": "schemalint: 2\n"}


def test_a_commit_of_staged_files_sees_only_these(repo: Repo, probe: Probe) -> None:
    probe.install(repo)
    head = repo.head()
    edit_both(repo)
    repo.git("add", "a.yml")
    repo.git("commit", "--quiet", "--message=a")
    assert probe.seen() == {
        "root": str(repo.path),
        "base": head,
        "head": None,
        "before": BEFORE,
        "after": A_EDITED,
    }


@pytest.mark.parametrize("folder", [".", "folder"])
def test_commit_all_sees_all_changes(repo: Repo, probe: Probe, folder: str) -> None:
    probe.install(repo)
    edit_both(repo)
    repo.git("-C", folder, "commit", "--quiet", "--all", "--message=both")
    assert probe.seen()["after"] == BOTH_EDITED


def test_a_commit_of_one_path_ignores_other_staged_files(repo: Repo, probe: Probe) -> None:
    probe.install(repo)
    edit_both(repo)
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--message=a", "a.yml")
    assert probe.seen()["after"] == A_EDITED


def test_a_hook_that_changes_its_directory_sees_the_same_repository(repo: Repo, probe: Probe) -> None:
    probe.install(repo, before="cd folder")
    edit_both(repo)
    repo.git("commit", "--quiet", "--all", "--message=both")
    assert probe.seen()["after"] == BOTH_EDITED


def test_a_commit_with_its_own_index_file_uses_that_index(repo: Repo, probe: Probe, tmp_path: Path) -> None:
    probe.install(repo)
    edit_both(repo)
    env = {"GIT_INDEX_FILE": str(tmp_path / "my index")}
    repo.git("read-tree", "HEAD", env=env)
    repo.git("add", "a.yml", env=env)
    repo.git("commit", "--quiet", "--message=a", env=env)
    assert probe.seen()["after"] == A_EDITED


def test_a_commit_in_a_linked_worktree_sees_that_worktree(repo: Repo, probe: Probe, tmp_path: Path) -> None:
    probe.install(repo)
    repo.git("worktree", "add", "--quiet", tmp_path / "linked")
    linked = Repo(tmp_path / "linked")
    edit_both(linked)
    linked.git("commit", "--quiet", "--all", "--message=both")
    seen = probe.seen()
    assert (seen["root"], seen["after"]) == (str(linked.path), BOTH_EDITED)


def test_a_commit_in_a_submodule_sees_the_submodule(repo: Repo, probe: Probe, tmp_path: Path) -> None:
    outer = Repo(tmp_path / "outer")
    outer.git("submodule", "--quiet", "add", repo.path, "shop")
    inner = Repo(outer.path / "shop")
    probe.install(inner)
    edit_both(inner)
    inner.git("commit", "--quiet", "--all", "--message=both")
    seen = probe.seen()
    assert (seen["root"], seen["before"], seen["after"]) == (str(inner.path), BEFORE, BOTH_EDITED)


def test_a_hook_in_another_repository_sees_that_repository(repo: Repo, probe: Probe, tmp_path: Path) -> None:
    other = Repo(tmp_path / "other")
    other.write("other.yml", "schemalint: 7\n")
    other.commit()
    repo.git("worktree", "add", "--quiet", tmp_path / "linked")
    probe.install(repo, before=f"cd '{other.path}'")
    for hooked in (repo, Repo(tmp_path / "linked")):
        edit_both(hooked)
        hooked.git("-C", "folder", "commit", "--quiet", "--all", "--message=both")
        seen = probe.seen()
        assert (seen["root"], seen["after"]) == (str(other.path), {"other.yml": "schemalint: 7\n"})


def test_the_first_commit_has_no_base(tmp_path: Path, probe: Probe) -> None:
    repo = Repo(tmp_path / "new")
    probe.install(repo)
    repo.write("a.yml", "schemalint: 1\n")
    repo.commit()
    seen = probe.seen()
    assert (seen["base"], seen["before"], seen["after"]) == (None, {}, {"a.yml": "schemalint: 1\n"})


@pytest.mark.parametrize("known", [True, False], ids=["branch on the remote", "new branch"])
def test_a_push_of_a_branch_that_is_not_checked_out_sees_that_branch(
    repo: Repo, probe: Probe, tmp_path: Path, *, known: bool
) -> None:
    clone = repo.clone(tmp_path / "clone")
    fork = clone.head()
    clone.git("switch", "--quiet", "--create", "feature")
    clone.write("a.yml", "schemalint: 2\n")
    pushed = clone.commit()
    clone.git("switch", "--quiet", "main")
    clone.write("b.yml", "schemalint: not of this branch\n")
    # pre-commit sets these variables; git passes "<local ref> <local id> <remote ref> <remote id>" on stdin.
    before = fork if known else "0" * 40
    variables = f"read _ local _ _; export PRE_COMMIT_FROM_REF={before} PRE_COMMIT_TO_REF=$local"
    probe.install(clone, "pre-push", before=variables)
    clone.git("push", "--quiet", "origin", "feature")
    assert probe.seen() == {
        "root": str(clone.path),
        "base": fork,
        "head": pushed,
        "before": BEFORE,
        "after": A_EDITED,
    }


def test_the_first_push_to_a_remote_is_compared_with_nothing(
    repo: Repo, probe: Probe, tmp_path: Path
) -> None:
    """pre-commit gives the branch then, and no commits; another branch is checked out."""
    server = Repo(tmp_path / "server.git", bare=True)
    repo.git("switch", "--quiet", "--create", "feature")
    edit_both(repo)
    pushed = repo.commit()
    repo.git("switch", "--quiet", "main")
    probe.install(repo, "pre-push", before="read branch _; export PRE_COMMIT_LOCAL_BRANCH=$branch")
    repo.git("push", "--quiet", server.path, "feature")
    seen = probe.seen()
    assert (seen["base"], seen["head"]) == (None, pushed)
    assert (seen["before"], seen["after"]) == ({}, BOTH_EDITED)


def test_a_push_that_takes_commits_back_has_nothing_new(repo: Repo, probe: Probe, tmp_path: Path) -> None:
    clone = repo.clone(tmp_path / "clone")
    fork = clone.head()
    clone.git("switch", "--quiet", "--create", "feature")
    clone.write("a.yml", "schemalint: 2\n")
    clone.commit()
    clone.git("push", "--quiet", "origin", "feature")
    variables = "read _ local _ remote; export PRE_COMMIT_FROM_REF=$remote PRE_COMMIT_TO_REF=$local"
    probe.install(clone, "pre-push", before=variables)
    clone.git("push", "--quiet", "--force", "origin", "HEAD~1:refs/heads/feature")
    seen = probe.seen()
    assert (seen["base"], seen["head"]) == (fork, fork)


def test_pre_receive_sees_the_quarantined_objects(repo: Repo, probe: Probe, tmp_path: Path) -> None:
    server = Repo(tmp_path / "server.git", bare=True)
    repo.git("push", "--quiet", server.path, "main")
    script = "read before after _; export SCHEMALINT_AGAINST=$before"
    server.hook("pre-receive", f"{script}\n{probe.command('$after')}")
    before = repo.head()
    repo.write("a.yml", "schemalint: 2\n")
    after = repo.commit()
    repo.git("push", "--quiet", server.path, "main")
    seen = probe.seen()
    assert (seen["base"], seen["head"]) == (before, after)
    assert (seen["before"], seen["after"]) == (BEFORE, A_EDITED)
