"""Pull requests that are approved at the same time: each holds until what it was given for changes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from schemalint.cli import main
from schemalint.tables.storage import read_table

if TYPE_CHECKING:
    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

COLUMNS = ("a", "b", "c", "kept")


def contract(table: str, *dropped: str) -> str:
    columns = "".join(f"  - {{name: {name}, type: int}}\n" for name in COLUMNS if name not in dropped)
    return (
        f"schemalint: 1\ntable: sales.{table}\ncolumns:\n{columns}"
        f"properties: {{delta.columnMapping.mode: name}}\ndropped: [{', '.join(dropped)}]\n"
    )


class Team:
    """A repository whose pull requests commit the hashes that their plans print."""

    def __init__(
        self, lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.lakehouse, self.repo, self.capsys = lakehouse, lakehouse.repo, capsys
        monkeypatch.chdir(self.repo.path)
        # A line of its own for each table: approvals of different tables merge without a conflict.
        tables = "".join(f"  # {table}\n" for table in ("orders", "items"))
        self.repo.write(
            "schemalint.toml", f'approved-plans = [\n{tables}  # end\n]\n[targets.dev]\nroot = "lake"\n'
        )
        for table in ("orders", "items"):
            lakehouse.declare(contract(table), table)
        assert main(["apply", "--yes"]) == 0

    def propose(self, branch: str, table: str, *dropped: str) -> None:
        """Open a pull request, whose last commit approves the gated table of its plan."""
        self.repo.git("checkout", "--quiet", "-b", branch, "main")
        self.lakehouse.declare(contract(table, *dropped), table)
        self.capsys.readouterr()
        assert main(["plan", "--changed", "--against", "main"]) == 0
        (line,) = [line for line in self.capsys.readouterr().out.splitlines() if line.startswith('  "2:')]
        assert f"# sales.{table} in dev: destructive" in line
        self.approve(table, line)
        self.repo.git("checkout", "--quiet", "main")

    def approve(self, table: str, line: str) -> None:
        configuration = (self.repo.path / "schemalint.toml").read_text()
        place = f"  # {table}\n"
        self.repo.write("schemalint.toml", configuration.replace(place, f"{place}{line}\n"))
        self.repo.commit("Approve")

    def merge_and_apply(self, branch: str) -> tuple[int, dict[str, Any]]:
        """Merge a pull request and apply main, without a confirmation; return status and deploy log."""
        self.repo.git("merge", "--quiet", "--no-ff", "--no-edit", branch)
        self.capsys.readouterr()
        status = main(["apply", "--output-format", "json"])
        out = self.capsys.readouterr().out
        return status, json.loads(out) if out else {}

    def columns(self, table: str) -> list[str]:
        return sorted(read_table(str(self.lakehouse.root / f"sales/{table}")).state.columns.names)


@pytest.mark.each_time
def test_approvals_hold_while_other_tables_change_and_end_with_a_change_of_their_own(
    lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    team = Team(lakehouse, monkeypatch, capsys)
    team.propose("of-orders", "orders", "a")
    team.propose("of-items", "items", "a")
    team.propose("of-orders-too", "orders", "b")

    merged_last, _log = team.merge_and_apply("of-items")
    merged_first, log = team.merge_and_apply("of-orders")
    columns = team.columns("orders"), team.columns("items")
    # The second of one table is merged by hand, with its approval.
    (approval,) = (
        line.removeprefix("+")
        for line in team.repo.git("diff", "main...of-orders-too", "--", "schemalint.toml").splitlines()
        if line.startswith('+  "2:')
    )
    team.approve("orders", approval)
    lakehouse.declare(contract("orders", "a", "b"), "orders")
    asked_again = main(["apply"])

    assert (merged_last, merged_first) == (0, 0)
    assert columns == (["b", "c", "kept"], ["b", "c", "kept"])
    assert (asked_again, team.columns("orders")) == (4, ["b", "c", "kept"])
    orders = read_table(str(lakehouse.root / "sales/orders"))
    provenance = [
        json.loads(entry.user_metadata)["plan"] for entry in orders.history.entries if entry.user_metadata
    ]
    assert provenance[-1] == log["plan"]
