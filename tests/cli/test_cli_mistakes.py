"""Mistakes of a first day: each gives one error, at its place, that says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.project import Project

CONTRACT = """\
# Orders
schemalint: 1
table: sales.orders
columns:
  - name: id
    type: bigint
  - name: amount
    type: decimal(12,2)
  - name: note
    type: string
"""

FILES = {
    "a column named like another one": (
        CONTRACT.replace("name: note", "name: id"),
        "9:11: CM007 error id is declared twice: first in line 5",
    ),
    "a column that differs from another one in case": (
        CONTRACT + "  - {name: ID, type: int}\n",
        "11:12: CM007 error ID and id (line 5) are one name for Delta, which ignores case",
    ),
    "an empty file": ("", "1:1: CT001 error the contract was removed: the file is empty"),
    "a file of comments": ("# Orders\n", "1:1: CT001 error the contract was removed: the file is empty"),
    "another file": ("a: 1\n", "1:1: CT001 error the contract was removed: the file contains no contract"),
    "the first line is lost": (
        CONTRACT.replace("schemalint: 1\n", ""),
        '1:1: CT001 error the contract was removed: the file has no line "schemalint: 1"',
    ),
    "the name of the table is lost": (
        CONTRACT.replace("table: sales.orders\n", ""),
        '2:1: failure "table" is missing in a contract (add it)',
    ),
    "a conflict": (
        CONTRACT.replace("    type: bigint\n", "<<<<<<< a\n    type: bigint\n=======\n>>>>>>> b\n"),
        (
            "6:1: failure unresolved merge conflict (keep one of the two sides, and remove the lines with "
            "<<<<<<<, ======= and >>>>>>>)"
        ),
    ),
}


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize("mistake", FILES)
def test_a_mistake_in_a_contract_is_one_error_at_its_place(
    project: Project, mistake: str, *, committed: bool
) -> None:
    text, expected = FILES[mistake]
    project.declare(CONTRACT)
    base = project.repo.commit()
    project.declare(text)
    if committed:
        project.repo.commit()
    found = project.check("--against", base, *(("--head", "HEAD") if committed else ()))
    assert found.out.splitlines()[:-1] == [f"contracts/orders.yml:{expected}"]
    assert found.status == (2 if "failure" in expected else 1)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_contract_in_another_encoding_is_one_error_and_no_removal(project: Project, encoding: str) -> None:
    project.declare(CONTRACT)
    base = project.repo.commit()
    project.declare("").write_bytes(CONTRACT.encode(encoding))
    expected = f"contracts/orders.yml:1:1: failure the file is {encoding[:6].upper()} (save it as UTF-8)"
    for arguments in ((), ("contracts/orders.yml",), ("--all",)):
        found = project.check("--against", base, *arguments)
        assert found.out.splitlines()[:-1] == [expected]
        assert found.status == 2
    project.repo.commit()
    assert project.check("--all").status == 2
    project.declare(CONTRACT)
    project.repo.commit()
    other = project.declare("", "contracts/returns.yml")
    other.write_bytes(CONTRACT.replace("orders", "returns").encode(encoding))
    assert project.check("--all").status == 2


def test_a_removal_by_an_emptied_file_is_approved_as_any_other(project: Project) -> None:
    project.declare(CONTRACT)
    project.repo.commit()
    project.declare("")
    entry = "{table: sales.orders, rule: CT001, object: table, reason: unused}"
    project.repo.write("exceptions.yaml", f"schemalint_exceptions: 1\nexceptions:\n  - {entry}\n")
    assert project.check().status == 0


COMMANDS = {
    ("chek",): "No such command 'chek'. (Did you mean 'check' or 'schema'?)",
    ("lint",): "No such command 'lint'. (Did you mean 'check'?)",
    ("frobnicate",): "No such command 'frobnicate'.",
    ("check", "--selct", "TW"): "--select",
    ("plan",): "[targets.dev]",
    ("apply", "--target", "prod"): "[targets.prod]",
    ("check", "--live"): "[targets.dev]",
    ("check", "--select", "tw001"): "did you mean TW001?",
    ("check", "--ignore", "type-not-storeable"): "did you mean type-not-storable (TW012)?",
    ("explain", "TW1"): "did you mean TW001?",
    ("explain", "DELTA_UNSUPPORTED_DROP_COLUMNS"): "DROP_COLUMN, DELTA_UNSUPPORTED_RENAME_COLUMN,",
    ("check", "--base-from", "foo:x"): "failure: --base-from: 'foo' is no format of schemalint",
    ("check", "--output-format", "full:/missing/x"): "error: /missing/x cannot be written",
    ("show", "contracts@99"): "write a version with v: @v99",
}


@pytest.mark.parametrize("arguments", COMMANDS)
def test_a_mistake_in_a_command_line_is_answered_with_what_was_meant(
    project: Project, arguments: tuple[str, ...]
) -> None:
    project.declare(CONTRACT)
    project.repo.commit()
    run = project.run(*arguments)
    assert run.status == 2
    assert COMMANDS[arguments] in run.out + run.err


def test_a_misspelt_target_is_answered_with_the_configured_one(project: Project) -> None:
    project.declare(CONTRACT)
    project.repo.write("schemalint.toml", '[targets.prod]\nroot = "a"\n[targets.dev]\nroot = "b"\n')
    project.repo.commit()
    assert "did you mean 'prod'? configured: prod, dev" in project.run("plan", "--target", "prd").err
    assert "name one with --target; configured: prod, dev" in project.run("plan").err


def test_a_misspelt_table_or_file_is_answered_with_one_that_exists(project: Project) -> None:
    project.declare(CONTRACT)
    (project.repo.path / "lake").mkdir()
    project.repo.write("schemalint.toml", '[targets.dev]\nroot = "lake"\n')
    project.repo.commit()
    assert "did you mean sales.orders?" in project.run("plan", "sales.order").err
    assert "name the table that the file declares" in project.run("plan", "contracts/orders.yml").err
    assert "declared: sales.orders" in project.run("plan", "x").err
    assert "did you mean contracts/orders.yml?" in project.run("check", "contracts/order.yml").out
    assert "the branch has fewer commits" in project.run("check", "--against", "HEAD~9").out
    assert "--target finds declared tables by name" in project.run("show", "sales.orders").err
