"""Run the GitHub Action's steps as GitHub's runner runs a composite action."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import yaml

from support.foreign import without_foreign_variables
from support.github_server import GitHubServer

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT: Final = Path(__file__).parents[2]
ACTION: Final[dict[str, Any]] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
INSTALL, CHECK, COMMENT = ACTION["runs"]["steps"]
_EXPRESSION: Final = re.compile(r"\$\{\{ *([\w.-]+) *\}\}")
_WITHOUT_CHECK: Final = "${{ !cancelled() && steps.check.outputs.folder != '' }}"


@dataclass(frozen=True)
class Outcome:
    """The result of a step, or of the Action."""

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

    def use(
        self,
        workspace: Path,
        event: Mapping[str, Any],
        env: Mapping[str, str] | None = None,
        seconds: float | None = None,
        inputs: Mapping[str, str] = MappingProxyType({}),
    ) -> Outcome:
        """Run the Action, which is installed already: its steps as `run` does."""
        self.inputs(**inputs)
        check = self.run(CHECK, workspace, event, env, seconds)
        parts = [check]
        assert COMMENT["if"] == _WITHOUT_CHECK
        if check.outputs.get("folder"):
            parts.append(self.run(COMMENT, workspace, event, env, seconds))
        outputs = {name: self.evaluated(output["value"]) for name, output in ACTION["outputs"].items()}
        log, summary = ("".join(getattr(part, name) for part in parts) for name in ("log", "summary"))
        return Outcome(max(part.status for part in parts), log, outputs, summary)

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
                **without_foreign_variables(os.environ),
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_CONFIG_NOSYSTEM": "1",
                "CI": "true",
                "GITHUB_ACTIONS": "true",
                "GITHUB_ACTION_PATH": str(ROOT),
                "GITHUB_EVENT_NAME": "pull_request",
                "GITHUB_EVENT_PATH": str(event_file),
                "GITHUB_WORKSPACE": str(workspace),
                "RUNNER_TEMP": str(self.temp),
                **GitHubServer(address="https://api.github.invalid").env,
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
        prefix = f"steps.{step['id']}.outputs."
        kept = {name: value for name, value in self.contexts.items() if not name.startswith(prefix)}
        self.contexts = kept | {f"{prefix}{name}": text for name, text in outputs.items()}
        return Outcome(process.returncode, process.stdout, outputs, files["GITHUB_STEP_SUMMARY"].read_text())

    def evaluated(self, text: str) -> str:
        """Return a text with the values of its expressions; an output that no step has set is empty."""
        return _EXPRESSION.sub(lambda match: self._value(match[1]), text)

    def _value(self, name: str) -> str:
        return self.contexts.get(name, "") if name.startswith("steps.") else self.contexts[name]

    def inputs(self, **given: str) -> None:
        """Set the inputs of the workflow's `with`; the others get their defaults."""
        token = given.pop("github_token", "")
        self.contexts["github.token"] = token
        for name, declared in ACTION["inputs"].items():
            value = given.pop(name.replace("-", "_"), declared["default"])
            self.contexts[f"inputs.{name}"] = self.evaluated(value)
        assert not given, f"no such inputs: {given}"
