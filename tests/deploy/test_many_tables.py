"""The cost of a table does not grow with the number of tables: neither git's processes nor the work."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import pytest

from schemalint.cli import main
from schemalint.contract import read_contracts
from support.many_tables import TableState, write_tables
from support.operations import assert_linear
from support.repo import Repo

if TYPE_CHECKING:
    from pathlib import Path

PLAN = "plan --head HEAD"
CHECK = "check --live --all --against none"

# A command starts git for the repository and its settings, for files and their contents, and for what
# the history changed (in two steps if nobody knows how far back to look): 17 times at most today.
MOST_PROCESSES: Final = 20
STATES: Final[tuple[tuple[str, TableState], ...]] = (
    (PLAN, "new"),
    (PLAN, "unmarked"),
    (PLAN, "behind"),
    (PLAN, "declared"),
    (CHECK, "unmarked"),
    (CHECK, "behind"),
)


class Repositories:
    """Repositories by the number of their tables; a command runs in one of them."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder, self._monkeypatch = folder, monkeypatch

    def make(self, number: int, state: TableState) -> None:
        """Make a repository with so many tables."""
        repo = Repo(self._folder / str(number))
        (repo.path / "lake").mkdir()
        write_tables(repo, number, state)

    def run(self, number: int, command: str) -> None:
        """Run a command, as in a process of its own."""
        repo = Repo(self._folder / str(number))
        for name, value in repo.env.items():
            self._monkeypatch.setenv(name, value)
        self._monkeypatch.chdir(repo.path)
        read_contracts._read.cache_clear()  # noqa: SLF001 (as in a process of its own)
        assert main(command.split()) == 0


@pytest.fixture
def repositories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repositories:
    return Repositories(tmp_path, monkeypatch)


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count git's processes by command."""
    counted = Counter[str]()

    class Counting(subprocess.Popen[bytes]):
        def __init__(self, arguments: list[bytes], **options: Any) -> None:  # noqa: ANN401 (as subprocess)
            words = (os.fsdecode(argument) for argument in arguments[1:])
            counted[next(word for word in words if not word.startswith("-") and "=" not in word)] += 1
            super().__init__(arguments, **options)

    monkeypatch.setattr("schemalint.project.git.process.subprocess.Popen", Counting)
    return counted


@pytest.mark.wide
@pytest.mark.parametrize(("command", "state"), STATES)
def test_many_tables_take_as_many_git_processes_as_one(
    repositories: Repositories, processes: Counter[str], command: str, state: TableState
) -> None:
    started = []
    for number in (1, 10, 100) if (command, state) == (PLAN, "behind") else (1, 20):
        repositories.make(number, state)
        processes.clear()
        repositories.run(number, command)
        started.append(processes.copy())
    assert all(each == started[0] for each in started), started
    assert 0 < started[0].total() <= MOST_PROCESSES, started[0]


@pytest.mark.wide
@pytest.mark.parametrize(("command", "state"), [*STATES, (CHECK, "new")])
def test_twice_the_tables_take_about_twice_the_calls(
    repositories: Repositories, command: str, state: TableState
) -> None:
    for number in (2, 30, 60):
        repositories.make(number, state)
    assert_linear(lambda number: repositories.run(number, command), 30)
