"""The lines that `init` prints for CODEOWNERS: those who own the contracts approve exceptions."""

from __future__ import annotations

import pytest

from schemalint.project.code_owners import CodeOwners


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("* @all", []),
        ("/docs/ @docs", ["/exceptions.yaml @your-team"]),
        ("* @all\n/contracts", ["/exceptions.yaml @your-team"]),
        ("* @all\n/contracts/ @data", ["/exceptions.yaml @data"]),
        ("/contracts/ @data\n* @all", []),
        ("* @all\ncontracts @data @lake # us", ["/exceptions.yaml @data @lake"]),
        ("* @all\n*.yml @data", ["/exceptions.yaml @data"]),
        ("* @all\n/contracts/* @data", []),
        ("* @all\n/contracts/** @data", ["/exceptions.yaml @data"]),
        ("* @all\nschema/ @data", ["/exceptions.yaml @data"]),
        ("* @all\n/contracts/ @data\n/exceptions.yaml @boss", []),
        ("* @all\n/exceptions.yaml\n/contracts/ @data", ["/exceptions.yaml @data"]),
        ("* @all\n[Data][2] @data\n/contracts/", ["[Data]", "/exceptions.yaml @data"]),
        ("* @all\n[Data] @data\n/contracts/ @lake", ["[Data]", "/exceptions.yaml @lake"]),
        ("* @all\n^[Data] @data\n/contracts/", []),
    ],
)
def test_lines(text: str, lines: list[str]) -> None:
    owners = CodeOwners("CODEOWNERS", text)
    assert owners.lines_for(["exceptions.yaml"], "contracts/schema/table.yml") == lines


def test_of_a_huge_file_the_last_lines_decide() -> None:
    others = "\n".join(f"/src/part{number}/*.py @dev" for number in range(50_000))
    owners = CodeOwners("CODEOWNERS", f"/exceptions.yaml @data\n{others}")
    assert owners.without_owner(["exceptions.yaml", "schemalint.toml"]) == ["schemalint.toml"]


def test_too_many_patterns_that_may_match_leave_a_file_without_owner() -> None:
    many = "\n".join("/[e]*.toml @dev" for _line in range(6_000))
    owners = CodeOwners("CODEOWNERS", f"/exceptions.yaml @data\n{many}")
    assert owners.without_owner(["exceptions.yaml"]) == ["exceptions.yaml"]
