"""What a check does to the world around it, as Python's audit events tell (PEP 578)."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from support.project import ORDERS

if TYPE_CHECKING:
    from support.project import Project

SCRIPT = """\
import json, sys
events = []
NAMES = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "pty.spawn"}

def hook(name, arguments):
    if name in NAMES or name.startswith(("socket.", "http.", "urllib.", "ftplib.", "smtplib.")):
        events.append([name, str(arguments[0]) if arguments else ""])

sys.addaudithook(hook)
from schemalint.cli import main
status = main(["check", "--output-format=concise"])
print(json.dumps([status, events]))
"""


def test_check_opens_no_connection_and_starts_only_git(committed: Project) -> None:
    committed.declare(ORDERS.replace("bigint", "date"))
    committed.repo.write(
        "schemalint.toml", '[targets.prod]\ncatalog = "main"\ncatalog_uri = "http://localhost:9"\n'
    )
    answer = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=committed.repo.env
    )
    status, events = json.loads(answer.stdout.splitlines()[-1])
    assert status == 1
    assert events
    programs = {program.rpartition("/")[2] for name, program in events if name == "subprocess.Popen"}
    assert programs == {"git"}
    assert {name for name, _ in events} == {"subprocess.Popen"}
