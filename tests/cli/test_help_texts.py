"""Every command and every option has a help text in one style."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click
import pytest

from schemalint.cli import cli
from schemalint.delta.datatype import Atomic, Decimal, Field
from support.logs import metadata, protocol, write_log
from support.project import ORDERS

if TYPE_CHECKING:
    from support.project import Project

CONTEXT = click.Context(cli)
COMMANDS = {name: cli.get_command(CONTEXT, name) for name in cli.list_commands(CONTEXT)}
OPTIONS = [
    pytest.param(option, id=f"{name} {option.opts[0]}")
    for name, command in COMMANDS.items()
    if command is not None
    for option in command.params
    if isinstance(option, click.Option)
]


def test_commands_are_found() -> None:
    assert {"check", "plan", "apply"} <= COMMANDS.keys()
    assert len(OPTIONS) > len(COMMANDS)


@pytest.mark.parametrize("option", OPTIONS)
def test_help_of_an_option_is_capitalized_without_a_full_stop(option: click.Option) -> None:
    assert option.help
    assert option.help[0].isupper()
    assert not option.help.endswith(".")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_is_a_sentence(name: str) -> None:
    command = COMMANDS[name]
    assert command is not None
    assert command.help
    summary = command.help.partition("\n")[0]
    assert summary[0].isupper()
    assert summary.endswith(".")


EXAMPLES = [
    line.strip()
    for command in COMMANDS.values()
    for line in (command.epilog if command and command.epilog else "").splitlines()
    if line.startswith("  schemalint ")
]
PENDING = {"apply": 4, "pull": 4, "revert": 4, "init": 4}
"""The status of commands that show what they would change."""


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_has_an_example(name: str) -> None:
    assert any(example.startswith(f"schemalint {name}") for example in EXAMPLES)


@pytest.mark.parametrize("columns", [80, 100])
def test_no_summary_of_a_command_is_cut(columns: int) -> None:
    text = cli.get_help(click.Context(cli, info_name="schemalint", terminal_width=columns))
    assert "..." not in text.partition("Commands:")[2]


@pytest.fixture
def lake(project: Project) -> Project:
    """A repository with a table, its contract, and one before it."""
    columns = (Field("id", Atomic("long")), Field("amount", Decimal(10, 1)))
    write_log(project.repo.path / "lake/sales/orders", [[protocol(), metadata(*columns)]])
    project.repo.write("schemalint.toml", '[targets.prod]\nroot = "lake"\n')
    project.declare(ORDERS.replace("decimal(10,2)", "decimal(10,1)"))
    project.repo.commit()
    project.declare(ORDERS)
    project.repo.commit()
    return project


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_of_the_help_runs(lake: Project, example: str) -> None:
    """Where Spark would apply the plan, the command asks first."""
    program, name, *arguments = shlex.split(example)
    arguments = [argument for argument in arguments if argument != "--yes"]
    run = lake.run(name, *arguments)
    assert program == "schemalint"
    assert run.status in {0, 1, PENDING.get(name, 0)}, run.out + run.err
    assert run.out or run.err or (lake.repo.path / "audit.html").exists()
