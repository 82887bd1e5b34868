"""The contents of both sides, with everything that can stand in a working tree."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from schemalint.errors import GitError
from schemalint.git import (
    MAX_SIZE,
    Contents,
    EmptyTree,
    Index,
    Revision,
    Side,
    Worktree,
    changes,
    dirty,
    files_at,
    open_repository,
)
from schemalint.printable import visible
from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from schemalint.git import File

CONTRACT = "schemalint: 1\ntable: {}\n"


def is_candidate(data: bytes) -> bool:
    return data.startswith(b"schemalint:")


def at(repo: Repo, revision: str = "HEAD") -> Revision:
    return Revision(revision, repo.git("rev-parse", revision), "test")


def compare(repo: Repo, head: Side, base: Side | None = None, globs: Sequence[str] = ()) -> Contents:
    opened = open_repository(repo.path, repo.env)
    return changes(opened, base or at(repo), head, is_candidate, globs)


def changed(contents: Contents) -> set[str]:
    paths = contents.base.keys() | contents.head.keys()
    return {path for path in paths if _content(contents.base, path) != _content(contents.head, path)}


def _content(files: Mapping[str, File], path: str) -> bytes | None:
    return files[path].data if path in files else None


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "shop")
    for name in ("orders", "customers", "items"):
        made.write(f"contracts/{name}.yml", CONTRACT.format(name))
    made.write("values.yaml", "replicas: 1\n")
    made.write("README.md", "schemalint: 1\n")
    made.commit()
    return made


@pytest.fixture(params=["worktree", "index", "commit"])
def head(request: pytest.FixtureRequest, repo: Repo) -> Side:
    """The new side, which holds what `edit` did in each case."""
    _edit(repo)
    if request.param == "worktree":
        return Worktree()
    repo.git("add", "--all")
    if request.param == "index":
        return Index()
    return Revision("head", repo.commit(), "test")


def _edit(repo: Repo) -> None:
    repo.git("tag", "before")
    repo.write("contracts/orders.yml", CONTRACT.format("orders") + "owner: a\n")
    (repo.path / "contracts/customers.yml").unlink()
    (repo.path / "contracts/items.yml").rename(repo.path / "moved.YAML")
    repo.write("new/prices.yaml", CONTRACT.format("prices"))
    repo.write("values.yaml", "replicas: 2\n")


def test_changed_deleted_moved_and_new_files(repo: Repo, head: Side) -> None:
    found = compare(repo, head, at(repo, "before"))
    assert {path: file.data for path, file in found.base.items()} == {
        f"contracts/{name}.yml": CONTRACT.format(name).encode() for name in ("orders", "customers", "items")
    }
    assert {path: file.data for path, file in found.head.items()} == {
        "contracts/orders.yml": CONTRACT.format("orders").encode() + b"owner: a\n",
        "moved.YAML": CONTRACT.format("items").encode(),
        "new/prices.yaml": CONTRACT.format("prices").encode(),
    }


@pytest.mark.parametrize("head", [Worktree(), Index()], ids=["worktree", "index"])
def test_an_unchanged_file_has_its_blob_id_on_both_sides(repo: Repo, head: Side) -> None:
    # Newer dates alone are no change.
    os.utime(repo.path / "contracts/orders.yml", (2_000_000_000, 2_000_000_000))
    found = compare(repo, head)
    assert found.base == found.head
    assert {file.blob for file in found.head.values()} == {
        repo.git("rev-parse", f"HEAD:{path}") for path in found.head
    }


def test_a_file_changed_on_disk_alone_has_no_blob_id(repo: Repo) -> None:
    repo.write("contracts/orders.yml", "schemalint: 2\n")
    assert compare(repo, Worktree()).head["contracts/orders.yml"].blob is None


def test_index_and_working_tree_are_two_things(repo: Repo) -> None:
    repo.write("contracts/orders.yml", "schemalint: 2\n")
    repo.git("add", "--all")
    repo.write("contracts/orders.yml", "schemalint: 3\n")
    repo.write("contracts/untracked.yml", "schemalint: 4\n")
    path = "contracts/orders.yml"
    assert compare(repo, Index()).head[path].data == b"schemalint: 2\n"
    assert compare(repo, Worktree()).head[path].data == b"schemalint: 3\n"
    assert changed(compare(repo, Index())) == {path}
    assert changed(compare(repo, Worktree())) == {path, "contracts/untracked.yml"}


def test_ignored_files_are_no_part_of_the_working_tree(repo: Repo) -> None:
    repo.write(".gitignore", "build/\n")
    repo.write("build/orders.yml", CONTRACT.format("orders"))
    assert changed(compare(repo, Worktree())) == set()


def test_intent_to_add_counts_on_disk_and_not_in_the_index(repo: Repo) -> None:
    repo.write("planned.yml", CONTRACT.format("planned"))
    repo.git("add", "--intent-to-add", "planned.yml")
    assert changed(compare(repo, Index())) == set()
    assert changed(compare(repo, Worktree())) == {"planned.yml"}


def test_files_that_git_was_told_not_to_look_at_are_as_in_the_index(repo: Repo) -> None:
    repo.git("update-index", "--skip-worktree", "contracts/orders.yml")
    repo.git("update-index", "--assume-unchanged", "contracts/items.yml")
    (repo.path / "contracts/orders.yml").unlink()
    repo.write("contracts/items.yml", "schemalint: 9\n")
    assert changed(compare(repo, Worktree())) == set()


def test_a_file_that_stops_being_a_contract_is_gone(repo: Repo) -> None:
    path = "contracts/orders.yml"
    repo.write(path, "moved: elsewhere\n")
    on_disk = compare(repo, Worktree())
    repo.git("add", "--all")
    for found in (on_disk, compare(repo, Index())):
        assert (path in found.base, path in found.head) == (True, False)


def test_an_unmerged_file_is_read_from_disk_and_refused_in_the_index(repo: Repo) -> None:
    repo.git("switch", "--quiet", "--create", "other")
    repo.write("contracts/orders.yml", "schemalint: 2\n")
    repo.commit()
    repo.git("switch", "--quiet", "main")
    repo.write("contracts/orders.yml", "schemalint: 3\n")
    repo.commit()
    with pytest.raises(AssertionError):
        repo.git("merge", "--quiet", "other")
    repo.write("contracts/orders.yml", "schemalint: 23\n")
    assert compare(repo, Worktree()).head["contracts/orders.yml"].data == b"schemalint: 23\n"
    with pytest.raises(GitError, match=r"contracts/orders\.yml is unmerged"):
        compare(repo, Index())


def test_symbolic_links_are_not_followed(repo: Repo, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "orders.yml").write_text("schemalint: 1\nstolen: true\n")
    (repo.path / "untracked.yml").symlink_to(secret / "orders.yml")
    (repo.path / "tracked.yml").symlink_to(secret / "orders.yml")
    (repo.path / "inside.yml").symlink_to("contracts/orders.yml")
    repo.git("add", "tracked.yml", "inside.yml")
    (repo.path / "contracts/items.yml").unlink()
    (repo.path / "contracts/items.yml").symlink_to(secret / "orders.yml")
    for head in (Worktree(), Index()):
        found = compare(repo, head)
        assert not any(b"stolen" in file.data for file in found.head.values())
        assert not found.head.keys() & {"untracked.yml", "tracked.yml", "inside.yml"}
    assert "contracts/items.yml" not in compare(repo, Worktree()).head


def test_a_folder_replaced_by_a_link_out_of_the_repository(repo: Repo, tmp_path: Path) -> None:
    (repo.path / "contracts").rename(tmp_path / "outside")
    (tmp_path / "outside/orders.yml").write_text("schemalint: 1\nstolen: true\n")
    (repo.path / "contracts").symlink_to(tmp_path / "outside")
    assert not any(b"stolen" in file.data for file in compare(repo, Worktree()).head.values())


def test_a_folder_or_a_submodule_with_a_contracts_name(repo: Repo, tmp_path: Path) -> None:
    other = Repo(tmp_path / "other")
    other.write("inner.yml", CONTRACT.format("inner"))
    other.commit()
    repo.git("submodule", "--quiet", "add", other.path, "sub.yml")
    (repo.path / "untracked.yml").mkdir()
    Repo(repo.path / "nested.yml").commit()
    for head in (Worktree(), Index()):
        assert changed(compare(repo, head)) == set()
    repo.commit()
    assert changed(compare(repo, at(repo), at(repo, "HEAD~1"))) == set()


ODD_NAMES = (
    "with space.yml",
    'quo"te.yml',
    "new\nline.yml",
    "tab\t.yml",
    "-dash.yml",
    ":colon.yml",
    "späť.yml",
    os.fsdecode(b"latin-\xe9.yml"),
)


@pytest.mark.parametrize("staged", [True, False], ids=["tracked", "untracked"])
def test_odd_file_names(repo: Repo, staged: bool) -> None:  # noqa: FBT001
    for name in ODD_NAMES:
        repo.write(name, CONTRACT.format("odd"))
    if staged:
        repo.git("add", "--all")
        assert changed(compare(repo, Index())) == set(ODD_NAMES)
    assert changed(compare(repo, Worktree())) == set(ODD_NAMES)
    if staged:
        repo.commit()
        assert changed(compare(repo, at(repo), at(repo, "HEAD~1"))) == set(ODD_NAMES)


def test_odd_file_names_can_be_printed() -> None:
    shown = [visible(name) for name in ODD_NAMES]
    assert shown[2:4] == ["new\\nline.yml", "tab\\t.yml"]
    assert shown[6:] == ["späť.yml", "latin-\\xe9.yml"]
    assert visible("\u202eright-to-left.yml") == "\\u202eright-to-left.yml"


def check_out_again(repo: Repo) -> None:
    for path in (repo.path / "contracts").iterdir():
        path.unlink()
    repo.git("checkout", "--quiet", "--", "contracts")


def test_line_ends_that_git_converts_are_no_change(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    check_out_again(repo)
    assert b"\r\n" in (repo.path / "contracts/orders.yml").read_bytes()
    os.utime(repo.path / "contracts/orders.yml", (2_000_000_000, 2_000_000_000))
    repo.write("contracts/items.yml", "schemalint: 2\r\n")
    found = compare(repo, Worktree())
    assert changed(found) == {"contracts/items.yml"}
    assert found.head["contracts/orders.yml"].blob == found.base["contracts/orders.yml"].blob


def test_line_ends_changed_since_the_checkout_are_read_as_they_are(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    repo.write("contracts/orders.yml", CONTRACT.format("orders").replace("\n", "\r\n"))
    file = compare(repo, Worktree()).head["contracts/orders.yml"]
    assert (file.blob, file.data) == (None, b"schemalint: 1\r\ntable: orders\r\n")


def test_a_filter_of_gitattributes_is_no_change(repo: Repo) -> None:
    repo.git("config", "filter.local.smudge", "sed '$a local: only on disk'")
    repo.git("config", "filter.local.clean", "grep -v '^local:'")
    repo.write(".gitattributes", "*.yml filter=local\n")
    check_out_again(repo)
    assert b"local:" in (repo.path / "contracts/orders.yml").read_bytes()
    os.utime(repo.path / "contracts/orders.yml", (2_000_000_000, 2_000_000_000))
    assert changed(compare(repo, Worktree())) == set()


def test_a_huge_file_is_named_and_not_read(repo: Repo) -> None:
    huge = "schemalint: 1\n" + "#" * MAX_SIZE
    repo.write("huge.yml", huge)
    assert compare(repo, Worktree()).too_large == ("huge.yml",)
    repo.git("add", "--all")
    repo.write("copy.yml", huge)
    for head, paths in ((Index(), ("huge.yml",)), (Worktree(), ("copy.yml", "huge.yml"))):
        found = compare(repo, head)
        assert found.too_large == paths
        assert found.head.keys() == found.base.keys()


def test_more_than_a_pipe_holds_in_both_directions(repo: Repo) -> None:
    for number in range(3000):
        repo.write(f"many/{number}.yml", CONTRACT.format(number) + "#" * 200)
    repo.commit()
    found = compare(repo, at(repo), at(repo, "HEAD~1"))
    assert len(found.head) == 3003
    assert found.head["many/7.yml"].data == (CONTRACT.format(7) + "#" * 200).encode()


def test_globs_include_and_exclude(repo: Repo) -> None:
    repo.write("Contracts2/a.yml", CONTRACT.format("a"))
    repo.write("notes.txt", CONTRACT.format("notes"))
    repo.git("add", "--all")
    for head in (Index(), Worktree()):
        assert set(compare(repo, head, globs=["contracts2/**", "*.txt"]).head) == {
            "Contracts2/a.yml",
            "notes.txt",
        }
        assert set(compare(repo, head, globs=["!contracts/**"]).head) == {"Contracts2/a.yml"}
    repo.commit()
    kept = compare(repo, at(repo), globs=["contracts/*.yml", "!**/items.yml"]).head
    assert set(kept) == {"contracts/orders.yml", "contracts/customers.yml"}


def test_everything_is_new_against_the_empty_tree(repo: Repo) -> None:
    found = compare(repo, Index(), EmptyTree("test"))
    assert (len(found.base), len(found.head)) == (0, 3)


def test_a_repository_with_sha256_ids(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "old")
    repo.git("init", "--quiet", "--object-format=sha256", tmp_path / "sha256")
    repo = Repo(tmp_path / "sha256")
    repo.write("a.yml", CONTRACT.format("a"))
    repo.commit()
    found = compare(repo, Worktree())
    assert found.base == found.head
    assert found.head["a.yml"].data == CONTRACT.format("a").encode()


def test_a_blob_that_is_missing_is_an_error(repo: Repo) -> None:
    blob = repo.git("rev-parse", "HEAD:contracts/orders.yml")
    (repo.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitError, match=f"object {blob} is missing"):
        compare(repo, Index())


def test_the_files_of_one_side(repo: Repo) -> None:
    opened = open_repository(repo.path, repo.env)
    files = files_at(opened, at(repo), ["contracts/orders.yml", "README.md"])
    assert {path: file.data for path, file in files.items()} == {
        "contracts/orders.yml": CONTRACT.format("orders").encode(),
        "README.md": b"schemalint: 1\n",
    }


def test_what_differs_from_the_last_commit_is_dirty(repo: Repo) -> None:
    repo.write("contracts/orders.yml", "schemalint: 2\n")
    repo.write("contracts/items.yml", "schemalint: 3\n")
    repo.git("add", "--all")
    (repo.path / "values.yaml").unlink()
    repo.write("contracts/new one.yml", "")
    opened = open_repository(repo.path, repo.env)
    asked = {"contracts/orders.yml", "contracts/customers.yml", "values.yaml", "contracts/new one.yml"}
    assert dirty(opened, asked) == asked - {"contracts/customers.yml"}
