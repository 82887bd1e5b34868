"""What jobs of GitHub Actions and of GitLab CI have in common: machines, processes and artifacts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from support.foreign import without_foreign_variables

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# The release is not installed for each job: the jobs use what is under test.
_PIP = """\
#!/bin/sh
case "$*" in
  "install schemalint==0.1.0" | "install schemalint[live]==0.1.0" | "install schemalint[spark]==0.1.0") ;;
  *) echo "unexpected: pip $*" >&2; exit 1 ;;
esac
"""


@dataclass
class JobRun:
    """A job that ran: its exit status, everything that it printed, and what it left for others."""

    status: int = 0
    log: str = ""
    summary: str = ""
    outputs: dict[str, str] = field(default_factory=dict)


class Machines:
    """New machines for jobs.

    Args:
        folder: The folder of all their files.
        settings: The variables that each machine has, such as the address of the object store.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self.folder = folder
        self.settings = settings
        self.artifacts: dict[str, bytes] = {}
        self._made = 0
        self.programs = folder / "programs"
        self.programs.mkdir(parents=True)
        pip = self.programs / "pip"
        pip.write_text(_PIP)
        pip.chmod(0o755)

    def new(self) -> Path:
        """Return the folder of a new machine."""
        self._made += 1
        machine = self.folder / f"machine-{self._made}"
        machine.mkdir()
        return machine

    def run(
        self,
        text: str,
        workspace: Path,
        env: Mapping[str, str],
        lost_at: str | None = None,
    ) -> tuple[int, str]:
        """Run a bash script; return its status, and what it printed. A killed one has a negative status.

        Args:
            text: The script.
            workspace: The working folder.
            env: The variables, beside those of all machines.
            lost_at: The text with whose first line the machine is lost: all processes are killed.
        """
        path = os.pathsep.join([str(self.programs), os.path.dirname(sys.executable), os.environ["PATH"]])  # noqa: PTH120
        script = workspace.parent / "script.sh"
        script.write_text(text)
        with subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
            cwd=workspace,
            env={
                **without_foreign_variables(os.environ),
                "PATH": path,
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_CONFIG_NOSYSTEM": "1",
                **self.settings,
                **env,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            assert process.stdout is not None
            lines = []
            for line in process.stdout:
                lines.append(line)
                if lost_at is not None and lost_at in line:
                    os.killpg(process.pid, signal.SIGKILL)
        return process.returncode, "".join(lines)
