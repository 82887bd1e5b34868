"""The history of contracts, read from what each commit changed, and the contracts of each whole commit."""

from __future__ import annotations

import random
from itertools import groupby
from typing import TYPE_CHECKING

import pytest

from schemalint.contract.contract_files import ContractFiles
from schemalint.contract.contract_history import ContractHistory, tables_at
from schemalint.contract.renamed_tables import renamed_tables
from schemalint.project.git import Revision, Worktree, open_repository
from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from schemalint.model.contract import Contract

FILES = ("a.yml", "b.yml", "contracts/c.yaml", "contracts/Ü d.YML", "other.txt")
GLOBS = {"all": (), "folder": ("contracts/**",), "suffix": ("**/*.txt", "*.yml", "!b.yml")}


def text(generator: random.Random) -> str:
    """Return one or two contracts, or no contract at all."""
    tables = generator.choices(("s.a", "s.b", "s.c"), k=generator.randint(0, 2))
    return "---\n".join(contract(table, generator.randint(1, 3)) for table in tables) or "kind: other\n"


def contract(table: str, revision: int) -> str:
    return f"schemalint: 1\ntable: {table}\ncolumns: [{{name: c, type: int, comment: v{revision}}}]\n"


def grow(repo: Repo, generator: random.Random) -> None:
    """Commit a change to some files; some commits are merges, and some change no contract."""
    if generator.random() < 0.2:
        repo.git("checkout", "--quiet", "-b", "side")
        edit(repo, generator)
        repo.commit()
        repo.git("checkout", "--quiet", "main")
        repo.git("merge", "--quiet", "--no-ff", "--no-edit", "side")
        repo.git("branch", "--quiet", "-D", "side")
        return
    edit(repo, generator)
    repo.commit()


def edit(repo: Repo, generator: random.Random) -> None:
    """Write, delete, move or link one file."""
    file = repo.path / generator.choice(FILES)
    file.unlink(missing_ok=True)
    kind = generator.random()
    if kind < 0.1:
        file.parent.mkdir(exist_ok=True)
        file.symlink_to("a.yml")
    elif kind < 0.8:
        repo.write(file.relative_to(repo.path).as_posix(), text(generator))


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    generator, repo = random.Random(7), Repo(tmp_path_factory.mktemp("grown") / "repo")  # noqa: S311 (no secret)
    repo.commit()
    for _ in range(45):
        grow(repo, generator)
    return repo


@pytest.mark.parametrize("globs", GLOBS.values(), ids=GLOBS)
def test_history_has_the_contracts_that_a_reading_of_each_commit_finds(
    grown: Repo, globs: tuple[str, ...]
) -> None:
    repository = open_repository(grown.path, grown.env)
    files = ContractFiles(globs)
    read, history = tables_at(repository, files), ContractHistory(repository, files, Worktree())
    chain = grown.git("rev-list", "--first-parent", "HEAD").split()
    commits = grown.git("rev-list", "HEAD").split()
    assert len(commits) > len(chain)
    for commit in sorted(commits):
        assert told(history.all_at(commit)) == told(read(commit))
    keys = sorted({key for commit in commits for key in read(commit)})
    assert keys
    for key in keys:
        revisions = [found for found in followed(read, chain, key) if found is not None]
        newest_first = ContractHistory(repository, files, Worktree()).newest_first(key)
        assert distinct(found for _commit, found in newest_first) == distinct(revisions)
        for commit, found in history.newest_first(key):
            assert found.state in [contract.state for contract in read(commit).values()]
    for commit in sorted(commits)[::6]:
        later = grown.git("rev-list", "--first-parent", "HEAD", f"^{commit}").split()
        for key in keys:
            *newer, oldest = followed(read, [*later, commit], key)
            expected = [found for found in (oldest, *reversed(newer)) if found is not None] if oldest else []
            assert distinct(history.since(commit, key)) == distinct(expected)


def followed(
    read: Callable[[str], Mapping[str, Contract]], commits: Iterable[str], key: str
) -> Iterator[Contract | None]:
    """Yield a table's contract at each commit, newest first, under the name that it has there."""
    newer: Mapping[str, Contract] = {}
    for commit in commits:
        older = read(commit)
        if key in newer and key not in older and (old := renamed_tables(older, newer, location).get(key)):
            key = old.key
        yield older.get(key)
        newer = older


def location(contract: Contract) -> tuple[str, ...]:
    return (contract.location or contract.default_location,)


def told(contracts: Mapping[str, Contract]) -> dict[str, tuple[str, object]]:
    return {key: (contract.file, contract.state) for key, contract in contracts.items()}


def distinct(revisions: Iterable[Contract]) -> list[object]:
    """Return the states of revisions, without equal neighbours."""
    return [state for state, _repeats in groupby(contract.state for contract in revisions)]


def test_revision_is_named_by_the_newest_commit_that_changed_a_contract(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    commits = []
    for content in ("v1", "v2"):
        repo.write(
            "a.yml", f"schemalint: 1\ntable: s.a\ncolumns: [{{name: c, type: int, comment: {content}}}]\n"
        )
        commits.append(repo.commit())
        repo.write("README.md", content)
        repo.commit()
    history = ContractHistory(open_repository(repo.path, repo.env), ContractFiles(), Worktree())
    assert [commit for commit, _found in history.newest_first("s.a")] == commits[::-1]
    assert list(history.commits()) == commits[::-1]


def test_history_of_a_branch_without_a_commit_is_empty(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    history = ContractHistory(open_repository(repo.path, repo.env), ContractFiles(), Worktree())
    assert (history.tip, list(history.commits()), list(history.newest_first("s.a"))) == (None, [], [])


def test_commit_that_this_clone_lacks_has_no_contract(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    head = repo.commit()
    history = ContractHistory(
        open_repository(repo.path, repo.env), ContractFiles(), Revision(head, head, "test")
    )
    assert history.all_at("1" * 40) == {}
    assert history.at("1" * 40, "s.a") is None
