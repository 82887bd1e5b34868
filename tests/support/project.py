"""A repository of contracts; commands run in this process, as users run them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from support.repo import Repo

ORDERS = """\
schemalint: 1
table: sales.orders
columns:
  - {name: id, type: bigint}   # the key
  - name: amount
    type: decimal(10,2)
"""


class Run:
    """The result of a command."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status = status
        self.out = out
        self.err = err

    @property
    def codes(self) -> list[str]:
        """The rule codes of the findings, in the order of the concise report."""
        return [line.split()[1] for line in self.out.splitlines() if line.count(":") > 2]


class Project:
    """A repository in which commands run."""

    def __init__(self, repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
        self.repo = repo
        self.capsys = capsys

    def run(self, *arguments: str) -> Run:
        """Run a command."""
        self.capsys.readouterr()
        status = main(list(arguments))
        captured = self.capsys.readouterr()
        return Run(status, captured.out, captured.err)

    def check(self, *arguments: str) -> Run:
        """Run ``check`` with the concise report."""
        return self.run("check", "--output-format", "concise", *arguments)

    def declare(self, text: str, file: str = "contracts/orders.yml") -> Path:
        """Write a contract file, and return it."""
        return self.repo.write(file, text)
