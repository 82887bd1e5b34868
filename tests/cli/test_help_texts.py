"""Every command and every option has a help text in one style."""

from __future__ import annotations

import click
import pytest

from schemalint.cli import cli

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
