"""The base outside of CI services: options, the remote, merges, missing history."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.base.errors import GitError, SchemalintError, UsageError
from schemalint.project.git import (
    EmptyTree,
    Index,
    MissingHistoryError,
    Revision,
    Side,
    Worktree,
    find_base,
    find_head,
    is_ancestor,
    open_repository,
    resolve,
)
from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def base(
    repo: Repo,
    against: str | None = None,
    *,
    head: str = "worktree",
    env: Mapping[str, str] | None = None,
    fetch: bool = False,
) -> Side:
    environment = repo.env | dict(env or {})
    opened = open_repository(repo.path, environment)
    side = find_head(opened, head, environment)
    return find_base(opened, side, against, environment, fetch=fetch)


@pytest.fixture
def origin(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "origin")
    for number in (1, 2, 3):
        repo.write("orders.yml", f"schemalint: {number}\n")
        repo.commit(f"change {number}")
    return repo


@pytest.fixture
def clone(origin: Repo, tmp_path: Path) -> Repo:
    return origin.clone(tmp_path / "clone")


def test_without_a_commit_the_base_is_the_empty_tree(tmp_path: Path) -> None:
    assert base(Repo(tmp_path / "new"), head="index") == EmptyTree("there is no commit yet")


@pytest.mark.parametrize("head", ["worktree", "index"])
@pytest.mark.parametrize("damage", ["no commit", "no id", "no commit, detached"])
def test_a_damaged_head_is_no_branch_without_a_commit(origin: Repo, head: str, damage: str) -> None:
    if damage == "no commit, detached":
        origin.git("switch", "--quiet", "--detach")
    if damage == "no id":  # as a machine that loses power leaves it
        (origin.path / ".git" / origin.git("symbolic-ref", "HEAD")).write_text("")
    else:
        commit = origin.head()
        (origin.path / ".git/objects" / commit[:2] / commit[2:]).unlink()
    with pytest.raises(GitError, match="git cannot read the commit of HEAD"):
        base(origin, head=head)


def test_without_a_remote_the_base_is_the_last_commit(origin: Repo) -> None:
    for head in ("worktree", "index"):
        side = base(origin, head=head)
        assert side == Revision("HEAD", origin.head(), "the last commit (origin/HEAD is not set)")


def test_on_a_stale_branch_the_base_is_the_merge_base_with_main(origin: Repo, clone: Repo) -> None:
    fork = clone.head()
    clone.git("switch", "--quiet", "--create", "feature")
    clone.commit("mine")
    origin.commit("theirs")
    clone.git("fetch", "--quiet")
    for head in ("worktree", "index", "feature"):
        side = base(clone, head=head)
        assert side == Revision("merge-base:origin/main", fork, "merge base with origin/main")


def test_on_main_the_base_is_the_last_commit(clone: Repo) -> None:
    assert base(clone) == Revision("HEAD", clone.head(), "the last commit, as merge base with origin/main")


def test_a_commit_of_main_is_not_compared_with_itself(clone: Repo) -> None:
    with pytest.raises(GitError, match="nothing to compare: the base is the head commit itself"):
        base(clone, head="HEAD")


def test_a_revision_without_a_known_base_is_an_error(origin: Repo) -> None:
    with pytest.raises(GitError, match="nothing to compare with") as caught:
        base(origin, head="HEAD")
    assert "git remote set-head origin --auto" in caught.value.help


def test_in_ci_the_last_commit_is_not_used_as_the_base(origin: Repo) -> None:
    for variable in ("CI", "TF_BUILD", "JENKINS_URL"):
        with pytest.raises(GitError, match="nothing to compare with"):
            base(origin, env={variable: "true"})
    assert base(origin, env={"CI": "false"}).commit == origin.head()


def test_in_ci_without_an_event_the_base_is_the_merge_base_with_the_remote(origin: Repo, clone: Repo) -> None:
    clone.git("switch", "--quiet", "--create", "feature")
    clone.commit()
    assert base(clone, env={"CI": "1"}).commit == origin.head()


def test_in_ci_the_head_can_be_named_as_the_base(clone: Repo) -> None:
    assert base(clone, "HEAD", env={"CI": "true"}).commit == clone.head()


def test_the_option_overrides_the_variable_and_the_variable_overrides_hooks(clone: Repo) -> None:
    first, second = clone.git("rev-parse", "HEAD~2", "HEAD~1").split()
    env = {"SCHEMALINT_AGAINST": "HEAD~1", "PRE_COMMIT_FROM_REF": "HEAD~2"}
    assert base(clone, "HEAD~2", env=env) == Revision("HEAD~2", first, "--against")
    assert base(clone, env=env) == Revision("HEAD~1", second, "SCHEMALINT_AGAINST")
    assert base(clone, env=env | {"SCHEMALINT_AGAINST": ""}).why == "merge base with PRE_COMMIT_FROM_REF"


def test_against_none_is_the_empty_tree(clone: Repo) -> None:
    assert base(clone, "none") == EmptyTree("--against none")


def test_a_directory_as_the_base_is_refused(clone: Repo) -> None:
    with pytest.raises(UsageError, match="cannot be the base yet"):
        base(clone, "dir:/tmp")


def test_against_merge_base_uses_the_merge_base_with_the_named_revision(clone: Repo) -> None:
    fork = clone.git("rev-parse", "HEAD~1")
    clone.git("switch", "--quiet", "--create", "release", fork)
    clone.commit("released")
    clone.git("switch", "--quiet", "main")
    side = base(clone, "merge-base:release")
    assert side == Revision("merge-base:release", fork, "merge base with release")


def tag(repo: Repo, name: str, revision: str, day: int) -> None:
    date = {"GIT_COMMITTER_DATE": f"2026-01-{day:02}T00:00:00Z"}
    repo.git("tag", "--annotate", "--message", name, name, revision, env=date)


def test_against_tag_uses_the_newest_matching_tag(clone: Repo) -> None:
    tag(clone, "v1", "HEAD~2", day=1)
    tag(clone, "v2", "HEAD~1", day=2)
    tag(clone, "other", "HEAD~1", day=3)
    assert base(clone, "tag:v*") == Revision("v2", clone.git("rev-parse", "HEAD~1"), "newest tag v*")


def test_a_release_job_is_compared_with_the_previous_tag(clone: Repo) -> None:
    tag(clone, "v1", "HEAD~1", day=1)
    tag(clone, "v2", "HEAD", day=2)
    assert base(clone, "tag:v*", env={"CI": "true"}).spec == "v1"
    assert base(clone, "tag:v*", head="HEAD").spec == "v1"
    assert base(clone, "tag:v*").spec == "v2"


def test_the_error_for_a_missing_tag_names_the_command_that_fetches_tags(clone: Repo) -> None:
    with pytest.raises(MissingHistoryError, match="no tag v") as caught:
        base(clone, "tag:v*")
    assert caught.value.help == "git fetch --tags origin"


@pytest.mark.parametrize(
    "text",
    [
        "--output=x",
        "-x",
        "^HEAD",
        "HEAD~1..HEAD",
        "HEAD:orders.yml",
        ":/change",
        "a\nb",
        "main*",
        "merge-base:-x",
    ],
)
def test_text_that_is_no_revision_never_reaches_git(clone: Repo, text: str) -> None:
    for options in ({"against": text}, {"head": text}):
        with pytest.raises(UsageError, match="not a revision"):
            base(clone, **options)  # type: ignore[arg-type]
    assert not (clone.path / "x").exists()


def test_while_main_is_being_merged_the_base_is_main(origin: Repo, clone: Repo) -> None:
    clone.git("switch", "--quiet", "--create", "feature")
    clone.commit("mine")
    origin.write("customers.yml", "schemalint: 1\n")
    theirs = origin.commit("theirs")
    clone.git("fetch", "--quiet")
    clone.git("merge", "--quiet", "--no-ff", "--no-commit", "origin/main")
    assert base(clone, head="index") == Revision(
        "merge-base:origin/main", theirs, "merge base with origin/main"
    )


def test_while_several_branches_are_being_merged_each_can_give_the_base(origin: Repo, clone: Repo) -> None:
    for name in ("one", "two"):
        clone.git("switch", "--quiet", "--create", name, "main")
        clone.write(f"{name}.yml", "")
        clone.commit(name)
    clone.git("switch", "--quiet", "--detach", "main~1")
    clone.git("update-ref", "refs/remotes/origin/main", "two")
    clone.git("merge", "--quiet", "--no-ff", "--no-commit", "one", "two")
    assert base(clone).commit == clone.git("rev-parse", "two")
    assert origin.head() != clone.git("rev-parse", "two")


def test_a_merge_without_a_remote_is_compared_with_the_last_commit(origin: Repo) -> None:
    origin.git("switch", "--quiet", "--create", "feature", "HEAD~1")
    origin.commit("mine")
    origin.git("merge", "--quiet", "--no-commit", "main")
    assert base(origin).commit == origin.head()


def test_histories_without_a_common_commit_are_an_error_in_ci(clone: Repo) -> None:
    """A commit of `gh-pages` is compared with nothing: the hook must not stop it."""
    clone.git("switch", "--quiet", "--orphan", "pages")
    clone.commit("another root")
    assert base(clone) == EmptyTree("no history in common with origin/main")
    with pytest.raises(MissingHistoryError, match="have no common ancestor") as caught:
        base(clone, env={"CI": "true"})
    assert caught.value.help == "name the base: --against REV"


def test_a_shallow_clone_does_not_tell_that_there_is_no_common_history(origin: Repo, tmp_path: Path) -> None:
    shallow = origin.clone(tmp_path / "shallow", "--depth=1")
    shallow.git("switch", "--quiet", "--orphan", "pages")
    shallow.commit("another root")
    with pytest.raises(MissingHistoryError, match="have no common ancestor") as caught:
        base(shallow)
    assert "--unshallow" in str(caught.value.help)


def test_the_error_for_an_unknown_remote_branch_names_the_command_that_fetches_it(clone: Repo) -> None:
    with pytest.raises(MissingHistoryError, match="unknown revision: origin/release") as caught:
        base(clone, "origin/release")
    assert caught.value.help == ("git fetch --no-tags origin +refs/heads/release:refs/remotes/origin/release")


def test_the_suggested_command_is_quoted_for_a_shell(clone: Repo) -> None:
    with pytest.raises(MissingHistoryError) as caught:
        base(clone, "origin/$(reboot)")
    assert caught.value.help.endswith("origin '+refs/heads/$(reboot):refs/remotes/origin/$(reboot)'")


def test_an_unknown_name_or_id_is_an_error_with_a_hint(clone: Repo) -> None:
    with pytest.raises(MissingHistoryError) as caught:
        base(clone, "relaese")
    assert "origin/relaese" in caught.value.help
    with pytest.raises(MissingHistoryError) as caught:
        base(clone, "1" * 40)
    assert caught.value.help == f"git fetch --no-tags origin {'1' * 40}"


def test_fetch_retrieves_a_missing_branch(origin: Repo, clone: Repo) -> None:
    origin.git("switch", "--quiet", "--create", "release")
    released = origin.commit("released")
    assert base(clone, "origin/release", fetch=True).commit == released
    assert clone.git("rev-parse", "--is-shallow-repository").strip() == "false"


def test_an_unsuccessful_fetch_is_an_error(clone: Repo) -> None:
    with pytest.raises(MissingHistoryError, match="no tag"):
        base(clone, "tag:v*", fetch=True)
    with pytest.raises(SchemalintError, match="git fetch failed"):
        base(clone, "origin/nowhere", fetch=True)


def test_the_error_in_a_shallow_clone_names_the_command_that_completes_it(
    origin: Repo, tmp_path: Path
) -> None:
    shallow = origin.clone(tmp_path / "shallow", "--depth=1")
    with pytest.raises(MissingHistoryError, match="unknown revision: HEAD~1") as caught:
        base(shallow, "HEAD~1")
    assert caught.value.help == "git fetch --no-tags --unshallow origin"
    assert base(shallow, "HEAD~1", fetch=True).commit == origin.git("rev-parse", "HEAD~1")
    assert not (shallow.path / ".git/shallow").exists()


def test_a_merge_base_outside_a_shallow_clone_needs_a_fetch(origin: Repo, tmp_path: Path) -> None:
    fork = origin.head()
    origin.git("switch", "--quiet", "--create", "feature")
    origin.commit("mine")
    origin.git("switch", "--quiet", "main")
    origin.commit("theirs")
    shallow = origin.clone(tmp_path / "shallow", "--depth=1", "--no-single-branch", "--branch=feature")
    with pytest.raises(MissingHistoryError, match="have no common ancestor") as caught:
        base(shallow)
    assert caught.value.help == "git fetch --no-tags --unshallow origin"
    assert base(shallow, fetch=True).commit == fork


def test_ancestry_is_unknown_in_a_shallow_clone(origin: Repo, tmp_path: Path) -> None:
    shallow = origin.clone(tmp_path / "shallow", "--depth=2")
    opened = open_repository(shallow.path, shallow.env)
    head, parent = (resolve(opened, name) for name in ("HEAD", "HEAD~1"))
    assert is_ancestor(opened, parent, head)
    with pytest.raises(MissingHistoryError, match="a shallow clone cannot show"):
        is_ancestor(opened, head, parent)
    full = open_repository(origin.path, origin.env)
    assert not is_ancestor(full, head, parent)


def test_the_working_tree_of_a_bare_repository_is_refused(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "server.git", bare=True)
    for head in ("worktree", "index"):
        with pytest.raises(UsageError, match=f"no {head} in a bare repository"):
            base(repo, head=head, env={"GIT_DIR": "."})


def test_the_head_option_selects_the_head(clone: Repo) -> None:
    opened = open_repository(clone.path, clone.env)
    assert find_head(opened, "worktree", {}) == Worktree()
    assert find_head(opened, "index", {}) == Index()
    assert find_head(opened, "HEAD", {}) == Revision("HEAD", clone.head(), "--head")
