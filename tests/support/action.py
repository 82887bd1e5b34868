"""Run the GitHub Action's steps as GitHub's runner runs a composite action."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
INSTALL, CHECK = ACTION["runs"]["steps"]
_EXPRESSION = re.compile(r"\$\{\{ *([\w.-]+) *\}\}")


@dataclass(frozen=True)
class Outcome:
    """The result of a step."""

    status: int
    log: str
    outputs: Mapping[str, str]
    summary: str


class Runner:
    """Run steps like actions/runner (ScriptHandler.cs, CompositeActionHandler.cs)."""

    def __init__(self, folder: Path) -> None:
        self.temp = folder / "temp"
        self.temp.mkdir(parents=True)
        self.contexts: dict[str, str] = {}

    def run(
        self,
        step: Mapping[str, Any],
        workspace: Path,
        event: Mapping[str, Any],
        env: Mapping[str, str] | None = None,
        seconds: float | None = None,
    ) -> Outcome:
        """Run a step.

        Args:
            step: The step of ``action.yml``.
            workspace: The folder into which the job has cloned.
            event: The content of the event file, of a pull request unless `env` says otherwise.
            env: What the workflow sets.
            seconds: The time limit.
        """
        files = {name: self.temp / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        event_file = self.temp / "event.json"
        event_file.write_text(json.dumps(event))
        script = self.temp / "script.sh"
        script.write_text(self.evaluated(step["run"]))
        process = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
            cwd=workspace / self.evaluated(step.get("working-directory", ".")),
            env={
                **{name: value for name, value in os.environ.items() if not name.startswith("SCHEMALINT_")},
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_CONFIG_NOSYSTEM": "1",
                "CI": "true",
                "GITHUB_ACTIONS": "true",
                "GITHUB_ACTION_PATH": str(ROOT),
                "GITHUB_EVENT_NAME": "pull_request",
                "GITHUB_EVENT_PATH": str(event_file),
                "GITHUB_WORKSPACE": str(workspace),
                "RUNNER_TEMP": str(self.temp),
                **{name: str(file) for name, file in files.items()},
                **(env or {}),
                **{name: self.evaluated(value) for name, value in step.get("env", {}).items()},
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=seconds,
            check=False,
        )
        outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        self.contexts.update({f"steps.{step['id']}.outputs.{name}": text for name, text in outputs.items()})
        return Outcome(process.returncode, process.stdout, outputs, files["GITHUB_STEP_SUMMARY"].read_text())

    def evaluated(self, text: str) -> str:
        """Return a text with the values of its expressions."""
        return _EXPRESSION.sub(lambda match: self.contexts[match[1]], text)

    def inputs(self, **given: str) -> None:
        """Set the inputs of the workflow's `with`; the others get their defaults."""
        for name, declared in ACTION["inputs"].items():
            self.contexts[f"inputs.{name}"] = given.pop(name.replace("-", "_"), declared["default"])
        assert not given, f"no such inputs: {given}"
