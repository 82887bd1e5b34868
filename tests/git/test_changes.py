"""The files of both sides of a comparison, with everything that a working tree can contain."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from schemalint.base.errors import GitError
from schemalint.base.printable import visible
from schemalint.contract.contract_files import ContractFiles
from schemalint.project.git import (
    MAX_SIZE,
    Contents,
    EmptyTree,
    Index,
    Revision,
    Side,
    Worktree,
    changes,
    dirty,
    file_at,
    large_file_at,
    open_repository,
)
from schemalint.project.git.listing import list_files, list_sides
from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

from schemalint.project.git import File

CONTRACT = "schemalint: 1\ntable: {}\n"


def at(repo: Repo, revision: str = "HEAD") -> Revision:
    return Revision(revision, repo.git("rev-parse", revision), "test")


def compare(repo: Repo, head: Side, base: Side | None = None, globs: Sequence[str] = ()) -> Contents:
    opened, base = open_repository(repo.path, repo.env), base or at(repo)
    format_of = ContractFiles(tuple(globs)).format_of
    contents = changes(opened, base, head, format_of, globs)
    without_unchanged = changes(opened, base, head, format_of, globs, reads_unchanged=False)
    read_later = without_unchanged.with_unchanged(None)
    assert (read_later.base, read_later.head) == (contents.base, contents.head)
    assert list_sides(opened, base, head, globs)[0] == list_files(opened, base, globs)
    return contents


def changed(contents: Contents) -> set[str]:
    paths = contents.base.keys() | contents.head.keys()
    return {path for path in paths if _content(contents.base, path) != _content(contents.head, path)}


def _content(files: Mapping[str, File], path: str) -> bytes | None:
    return files[path].data if path in files else None


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    created = Repo(tmp_path / "shop")
    for name in ("orders", "customers", "items"):
        created.write(f"contracts/{name}.yml", CONTRACT.format(name))
    created.write("values.yaml", "replicas: 1\n")
    created.write("README.md", "schemalint: 1\n")
    created.commit()
    return created


@pytest.fixture(params=["worktree", "index", "commit"])
def head(request: pytest.FixtureRequest, repo: Repo) -> Side:
    """The new side; the edits of `_edit` are on disk, staged or committed."""
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


def test_changed_deleted_moved_and_new_files_are_found_on_their_sides(repo: Repo, head: Side) -> None:
    contents = compare(repo, head, at(repo, "before"))
    assert {path: file.data for path, file in contents.base.items()} == {
        f"contracts/{name}.yml": CONTRACT.format(name).encode() for name in ("orders", "customers", "items")
    }
    assert {path: file.data for path, file in contents.head.items()} == {
        "contracts/orders.yml": CONTRACT.format("orders").encode() + b"owner: a\n",
        "moved.YAML": CONTRACT.format("items").encode(),
        "new/prices.yaml": CONTRACT.format("prices").encode(),
    }


@pytest.mark.parametrize("head", [Worktree(), Index()], ids=["worktree", "index"])
def test_an_unchanged_file_has_its_blob_id_on_both_sides(repo: Repo, head: Side) -> None:
    # A newer modification time alone is no change.
    os.utime(repo.path / "contracts/orders.yml", (2_000_000_000, 2_000_000_000))
    contents = compare(repo, head)
    assert contents.base == contents.head
    assert {file.blob for file in contents.head.values()} == {
        repo.git("rev-parse", f"HEAD:{path}") for path in contents.head
    }


def test_a_file_changed_only_on_disk_has_no_blob_id(repo: Repo) -> None:
    repo.write("contracts/orders.yml", "schemalint: 2\n")
    assert compare(repo, Worktree()).head["contracts/orders.yml"].blob is None


def test_the_index_and_the_working_tree_can_hold_different_versions(repo: Repo) -> None:
    repo.write("contracts/orders.yml", "schemalint: 2\n")
    repo.git("add", "--all")
    repo.write("contracts/orders.yml", "schemalint: 3\n")
    repo.write("contracts/untracked.yml", "schemalint: 4\n")
    path = "contracts/orders.yml"
    assert compare(repo, Index()).head[path].data == b"schemalint: 2\n"
    assert compare(repo, Worktree()).head[path].data == b"schemalint: 3\n"
    assert changed(compare(repo, Index())) == {path}
    assert changed(compare(repo, Worktree())) == {path, "contracts/untracked.yml"}


def test_ignored_files_are_skipped(repo: Repo) -> None:
    repo.write(".gitignore", "build/\n")
    repo.write("build/orders.yml", CONTRACT.format("orders"))
    assert changed(compare(repo, Worktree())) == set()


def test_a_file_added_with_intent_to_add_counts_only_on_disk(repo: Repo) -> None:
    repo.write("planned.yml", CONTRACT.format("planned"))
    repo.git("add", "--intent-to-add", "planned.yml")
    assert changed(compare(repo, Index())) == set()
    assert changed(compare(repo, Worktree())) == {"planned.yml"}


def test_skip_worktree_and_assume_unchanged_files_are_read_from_the_index(repo: Repo) -> None:
    repo.git("update-index", "--skip-worktree", "contracts/orders.yml")
    repo.git("update-index", "--assume-unchanged", "contracts/items.yml")
    (repo.path / "contracts/orders.yml").unlink()
    repo.write("contracts/items.yml", "schemalint: 9\n")
    assert changed(compare(repo, Worktree())) == set()


def test_a_file_that_stops_being_a_contract_is_missing_on_the_new_side(repo: Repo) -> None:
    path = "contracts/orders.yml"
    repo.write(path, "moved: elsewhere\n")
    on_disk = compare(repo, Worktree())
    repo.git("add", "--all")
    for contents in (on_disk, compare(repo, Index())):
        assert path in contents.base
        assert path not in contents.head


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
        contents = compare(repo, head)
        assert not any(b"stolen" in file.data for file in contents.head.values())
        assert not contents.head.keys() & {"untracked.yml", "tracked.yml", "inside.yml"}
    assert "contracts/items.yml" not in compare(repo, Worktree()).head


def test_a_folder_replaced_by_a_link_out_of_the_repository_is_not_followed(
    repo: Repo, tmp_path: Path
) -> None:
    (repo.path / "contracts").rename(tmp_path / "outside")
    (tmp_path / "outside/orders.yml").write_text("schemalint: 1\nstolen: true\n")
    (repo.path / "contracts").symlink_to(tmp_path / "outside")
    assert not any(b"stolen" in file.data for file in compare(repo, Worktree()).head.values())


def test_folders_and_submodules_named_like_contracts_are_skipped(repo: Repo, tmp_path: Path) -> None:
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
def test_files_with_odd_names_are_found(repo: Repo, staged: bool) -> None:  # noqa: FBT001
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
    visible_names = [visible(name) for name in ODD_NAMES]
    assert visible_names[2:4] == ["new\\nline.yml", "tab\\t.yml"]
    assert visible_names[6:] == ["späť.yml", "latin-\\xe9.yml"]
    assert visible("\u202eright-to-left.yml") == "\\u202eright-to-left.yml"


def restore_contracts(repo: Repo) -> None:
    for path in (repo.path / "contracts").iterdir():
        path.unlink()
    repo.git("checkout", "--quiet", "--", "contracts")


def test_line_ends_converted_by_git_are_no_change(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    restore_contracts(repo)
    assert b"\r\n" in (repo.path / "contracts/orders.yml").read_bytes()
    os.utime(repo.path / "contracts/orders.yml", (2_000_000_000, 2_000_000_000))
    repo.write("contracts/items.yml", "schemalint: 2\r\n")
    contents = compare(repo, Worktree())
    assert changed(contents) == {"contracts/items.yml"}
    assert contents.head["contracts/orders.yml"].blob == contents.base["contracts/orders.yml"].blob


def test_line_ends_changed_after_the_checkout_are_read_from_disk(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    repo.write("contracts/orders.yml", CONTRACT.format("orders").replace("\n", "\r\n"))
    file = compare(repo, Worktree()).head["contracts/orders.yml"]
    assert (file.blob, file.data) == (None, b"schemalint: 1\r\ntable: orders\r\n")


def test_content_converted_by_a_gitattributes_filter_is_no_change(repo: Repo) -> None:
    repo.env["GIT_CONFIG_GLOBAL"] = str(
        repo.path.parent / "gitconfig"
    )  # the repository's own filters do not run
    repo.git("config", "--global", "filter.local.smudge", "sed '$a local: only on disk'")
    repo.git("config", "--global", "filter.local.clean", "grep -v '^local:'")
    repo.write(".gitattributes", "*.yml filter=local\n")
    restore_contracts(repo)
    assert b"local:" in (repo.path / "contracts/orders.yml").read_bytes()
    os.utime(repo.path / "contracts/orders.yml", (2_000_000_000, 2_000_000_000))
    assert changed(compare(repo, Worktree())) == set()


def test_a_huge_file_is_reported_and_not_read(repo: Repo) -> None:
    huge = "schemalint: 1\n" + "#" * MAX_SIZE
    repo.write("huge.yml", huge)
    assert list(compare(repo, Worktree()).unread) == ["huge.yml"]
    repo.git("add", "--all")
    repo.write("copy.yml", huge)
    for head, paths in ((Index(), ("huge.yml",)), (Worktree(), ("copy.yml", "huge.yml"))):
        contents = compare(repo, head)
        assert tuple(contents.unread) == paths
        assert contents.head.keys() == contents.base.keys()


def test_reading_more_data_than_a_pipe_buffers_does_not_block(repo: Repo) -> None:
    for number in range(3000):
        repo.write(f"many/{number}.yml", CONTRACT.format(number) + "#" * 200)
    repo.commit()
    contents = compare(repo, at(repo), at(repo, "HEAD~1"))
    assert len(contents.head) == 3003
    assert contents.head["many/7.yml"].data == (CONTRACT.format(7) + "#" * 200).encode()


def test_files_that_the_globs_name_are_candidates_whatever_they_contain(repo: Repo) -> None:
    for path in ("t/a.yml", "t/b.YAML", "t/README.md", "t/.gitkeep", "t/c.delta", "u/d.yml"):
        repo.write(path, "")
    committed = repo.commit()
    for head in (Worktree(), Index(), Revision("head", committed, "test")):
        assert set(compare(repo, head, globs=["t/**"]).head) == {"t/a.yml", "t/b.YAML"}
        assert set(compare(repo, head, globs=["t/*", "**/*.delta"]).head) == {
            "t/a.yml",
            "t/b.YAML",
            "t/c.delta",
        }
        assert set(compare(repo, head, globs=["!u/**"]).head).isdisjoint({"t/a.yml", "u/d.yml"})
    repo.write("t/b.YAML", "changed")
    assert set(compare(repo, Worktree(), globs=["t/**"]).head) == {"t/a.yml", "t/b.YAML"}


def test_globs_include_and_exclude_files(repo: Repo) -> None:
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


def test_every_contract_is_new_compared_with_the_empty_tree(repo: Repo) -> None:
    contents = compare(repo, Index(), EmptyTree("test"))
    assert (len(contents.base), len(contents.head)) == (0, 3)


def test_a_repository_with_sha256_ids_is_read(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "old")
    repo.git("init", "--quiet", "--object-format=sha256", tmp_path / "sha256")
    repo = Repo(tmp_path / "sha256")
    repo.write("a.yml", CONTRACT.format("a"))
    repo.commit()
    contents = compare(repo, Worktree())
    assert contents.base == contents.head
    assert contents.head["a.yml"].data == CONTRACT.format("a").encode()


def test_a_missing_blob_is_an_error(repo: Repo) -> None:
    blob = repo.git("rev-parse", "HEAD:contracts/orders.yml")
    (repo.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitError, match=f"object {blob} is missing"):
        compare(repo, Index())


def test_files_at_a_revision_are_read(repo: Repo) -> None:
    opened = open_repository(repo.path, repo.env)
    assert file_at(opened, at(repo), "contracts/orders.yml") == CONTRACT.format("orders").encode()
    assert file_at(opened, at(repo), "README.md") == b"schemalint: 1\n"


@pytest.mark.parametrize("side", [Worktree(), Index(), None])
@pytest.mark.parametrize("path", ["a\0b", "\ud800", "a\nb", "none.json"])
def test_a_large_file_that_no_side_can_have_is_missing(repo: Repo, side: Side | None, path: str) -> None:
    assert large_file_at(open_repository(repo.path, repo.env), side or at(repo), path, 100) is None


@pytest.mark.parametrize("side", [Worktree(), Index(), None])
@pytest.mark.parametrize("path", ["../secret.yml", "contracts/../../secret.yml", "{outside}/secret.yml"])
def test_a_large_file_outside_of_the_repository_is_not_read(
    repo: Repo, side: Side | None, path: str, capfd: pytest.CaptureFixture[str]
) -> None:
    outside = repo.path.parent
    (outside / "secret.yml").write_text("token: x\n")
    opened = open_repository(repo.path, repo.env)
    with pytest.raises(GitError, match="outside of the repository"):
        large_file_at(opened, side or at(repo), path.format(outside=outside), 100)
    assert capfd.readouterr().err == ""


def test_paths_that_differ_from_the_last_commit_are_dirty(repo: Repo) -> None:
    repo.write("contracts/orders.yml", "schemalint: 2\n")
    repo.write("contracts/items.yml", "schemalint: 3\n")
    repo.git("add", "--all")
    (repo.path / "values.yaml").unlink()
    repo.write("contracts/new one.yml", "")
    opened = open_repository(repo.path, repo.env)
    paths = {"contracts/orders.yml", "contracts/customers.yml", "values.yaml", "contracts/new one.yml"}
    assert dirty(opened, paths) == paths - {"contracts/customers.yml"}


def unchanged_with(repo: Repo, head: Side, *texts: str) -> list[str]:
    """Return the unchanged candidates that have one of the texts."""
    opened = open_repository(repo.path, repo.env)
    contents = changes(opened, at(repo), head, ContractFiles().format_of, reads_unchanged=False)
    assert contents.unchanged is not None
    return [file.path for file in contents.unchanged.read(texts)]


@pytest.mark.parametrize("head", [Worktree(), Index(), None], ids=["worktree", "index", "commit"])
def test_unchanged_files_are_searched_as_they_are_stored(repo: Repo, head: Side | None) -> None:
    repo.write(".gitattributes", "*.yml binary\n")
    for key, value in (("color.ui", "always"), ("submodule.recurse", "true"), ("grep.patternType", "perl")):
        repo.git("config", key, value)
    repo.write("contracts/orders.yml", CONTRACT.format("orders") + "# Größe -x %\n")
    repo.commit()
    head = head or at(repo)
    assert unchanged_with(repo, head, "table: ORDERS") == ["contracts/orders.yml"]
    assert unchanged_with(repo, head, "größe", "-x") == ["contracts/orders.yml"]
    assert unchanged_with(repo, head, "GRÖSSE", "[a-z]", "table:$") == []
    assert (
        len(unchanged_with(repo, head, "none", "table")) == 3
    )  # README.md and values.yaml are no candidates


def test_changed_files_are_not_unchanged(repo: Repo, head: Side) -> None:
    opened = open_repository(repo.path, repo.env)
    contents = changes(opened, at(repo, "before"), head, ContractFiles().format_of, reads_unchanged=False)
    assert contents.unchanged is not None
    assert contents.unchanged.blobs == {}
    assert contents.paths() == {*contents.base, *contents.head}


def test_a_missing_blob_of_an_unchanged_file_is_an_error(repo: Repo) -> None:
    blob = repo.git("rev-parse", "HEAD:contracts/orders.yml")
    (repo.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitError, match=f"object {blob} is missing"):
        unchanged_with(repo, Index(), "customers")


def test_an_unchanged_file_that_is_too_large_is_left_out(repo: Repo) -> None:
    repo.write("contracts/huge.yml", "schemalint: 1\n" + "#" * MAX_SIZE)
    repo.commit()
    assert unchanged_with(repo, Worktree(), "schemalint") == sorted(
        (f"contracts/{name}.yml" for name in ("orders", "customers", "items")),
        key=lambda path: repo.git("rev-parse", f"HEAD:{path}"),
    )
