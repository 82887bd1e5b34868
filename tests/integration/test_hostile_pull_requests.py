"""Pull requests of strangers: none runs code, reads a secret, turns itself green or commands the log."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest

from schemalint.cli import main
from support.hostile import INSTALLATION, SECRET, Attack, Case, Listener, canary_of_installation, cases

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.action import Runner

# One worker of pytest-xdist, because the Action is installed once for all tests.
pytestmark = pytest.mark.xdist_group("action")

CASES = cases()
ON_THE_RUNNER = [case for case in CASES if not case.run]
IN_THIS_PROCESS = [case for case in CASES if case.run]
# What the Action itself prints for GitHub's runner; a finding's text is escaped inside of it.
_OWN_COMMAND = re.compile(r"::(?:error|warning|notice) (?:file=[^:]*,title|title)=[^:]*::[^:]*")


@pytest.fixture
def server() -> Iterator[Listener]:
    """A server that counts."""
    with Listener().listening() as listener:
        yield listener


@pytest.mark.wide
@pytest.mark.parametrize("case", INSTALLATION, ids=lambda case: case.name)
def test_the_installation_withstands(case: Case, runner: Runner) -> None:
    assert not canary_of_installation(runner.temp.parent / "workspace", case).exists()


@pytest.mark.wide
@pytest.mark.parametrize("case", ON_THE_RUNNER, ids=lambda case: case.name)
def test_the_action_withstands(case: Case, runner: Runner, server: Listener, tmp_path: Path) -> None:
    attack = Attack(case, tmp_path, server.address)
    inputs = attack.filled(case.inputs)
    outcome = runner.use(attack.workspace, attack.event, attack.workflow, 600, inputs)
    _assert_withstood(attack, server, outcome.log, outcome.log + outcome.summary)
    assert (outcome.status, outcome.outputs["exit-status"]) == (case.status, str(case.status)), outcome.log
    assert _has_only_own_markup(outcome.summary), outcome.summary


@pytest.mark.parametrize("case", IN_THIS_PROCESS, ids=lambda case: case.name)
def test_a_command_withstands(
    case: Case,
    server: Listener,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    attack = Attack(case, tmp_path, server.address)
    event = tmp_path / "event.json"
    event.write_text(attack.event_text, encoding="utf-8")
    for name, value in (attack.repo.env | attack.variables(event)).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(attack.workspace)
    for command, expected in attack.filled(case.run).items():
        start = time.process_time()
        status = main(command.split())
        captured = capsys.readouterr()
        text = captured.out + captured.err
        _assert_withstood(attack, server, text, text)
        assert status == expected, f"{command}: {text}"
        assert time.process_time() - start < case.seconds


def _assert_withstood(attack: Attack, server: Listener, log: str, seen: str) -> None:
    """Assert what holds for every case; `log` is what GitHub's runner interprets."""
    case = attack.case
    assert not attack.canary.exists(), f"code ran: {log}"
    assert not server.requests
    assert SECRET not in seen
    assert "Traceback" not in seen
    assert "bug in schemalint" not in seen
    commands = [line for line in log.splitlines() if line.lstrip().startswith("::")]
    assert not [line for line in commands if not _OWN_COMMAND.match(line)], log
    assert not re.search(r"##\w*\[", log)
    assert log.replace("\n", "").isprintable()
    assert not [text for text in case.says if attack.filled(text) not in log], log


def _has_only_own_markup(summary: str) -> bool:
    """Whether Markdown outside of code blocks has no element, image or link but those of schemalint."""
    outside = re.sub(r"^ *(`{3,})[a-z]*\n(?:.*\n)*? *\1$", "", summary, flags=re.MULTILINE)
    outside = re.sub(r"^    .*$|</?(?:code|details|summary)>|<br>", "", outside, flags=re.MULTILINE)
    return not re.search(r"[<\[`]|://", outside)


def test_case_names_are_unique() -> None:
    names = [case.name for case in (*CASES, *INSTALLATION)]
    assert sorted(set(names)) == sorted(names)


def test_an_honest_pull_request_passes(runner: Runner, server: Listener, tmp_path: Path) -> None:
    """No case passes because nothing passes."""
    attack = Attack(
        Case({"name": "", "head": {"contracts/orders.yml": None, "contracts/o.yml": "<orders>"}}),
        tmp_path,
        server.address,
    )
    outcome = runner.use(attack.workspace, attack.event, attack.workflow)
    assert outcome.status == 0, outcome.log
