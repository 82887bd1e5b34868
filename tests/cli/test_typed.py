"""Every command takes one value with all its options, and refuses contradictions before it reads anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.base.values import as_dict
from schemalint.cli import main
from schemalint.cli._typed import Connection
from schemalint.cli.apply import command
from schemalint.spark import ApplyOptions

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("check --live --live-from f", "--live and --live-from do not go together"),
        ("check --via spark", "--via needs --live"),
        ("check --target x", "--target needs --live or --live-from"),
        ("check --unsafe-fixes", "--unsafe-fixes needs --fix or --diff"),
        ("check --fix --head HEAD", "--fix and --head HEAD do not go together"),
        ("check --grow", "--grow needs --write-baseline"),
        ("audit", "no tables given"),
        ("audit t --run-id 1", "--run-id has no effect without --into"),
        ("audit t --into x --conf a", "--conf a: a value is missing"),
        ("clients --plan", "--plan needs --table"),
        ("plan --master x", "--master has no effect without Spark"),
        ("apply --revision x", "--revision has no effect without --plan"),
        ("apply --plan f --reorder", "--reorder has no effect with --plan"),
        ("apply --with-packages --remote sc://h", "--with-packages has no effect with Spark Connect"),
        ("pull --all", "--all needs --into"),
        ("init --catalog x", "--catalog needs --via spark"),
    ],
)
def test_contradictions_are_found_before_anything_is_read(
    line: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)  # there is no repository, no configuration and no table
    assert main(line.split()) == 2
    assert message in capsys.readouterr().err


def test_python_has_the_options_of_the_command_line() -> None:
    of_click = {parameter.name for parameter in command.params}
    of_python = set(as_dict(ApplyOptions()))
    of_the_command_alone = {"yes", "plan_file", "revision", "output_format"}
    assert of_click - of_python - set(as_dict(Connection())) == of_the_command_alone
    assert of_python - of_click == {"trusted_refs"}
