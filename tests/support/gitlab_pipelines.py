"""Run pipelines of GitLab CI: the scripts of the jobs as they are."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any, Final

import yaml

from support.ci_jobs import JobRun, Machines
from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_NO_JOBS: Final = {"image", "stages"}
_STAGE: Final = "test"  # of a job that names none
_NO_COMMIT: Final = "0" * 40


class GitLab:
    """A repository on GitLab, and the runners of its pipelines.

    Args:
        remote: The bare repository.
        machines: The runners.
        variables: The CI/CD variables by their scope, an environment or ``*``.
    """

    def __init__(self, remote: Repo, machines: Machines, variables: Mapping[str, Mapping[str, str]]) -> None:
        self._remote, self._machines, self._variables = remote, machines, variables
        self._pipelines = 0

    def merge_request(self, number: int, branch: str) -> dict[str, str]:
        """Return the variables of a merge request's pipeline."""
        base = self._remote.git("merge-base", "main", branch)
        return {
            "CI_PIPELINE_SOURCE": "merge_request_event",
            "CI_MERGE_REQUEST_IID": str(number),
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": base,
            "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
            "CI_COMMIT_BEFORE_SHA": _NO_COMMIT,
            "CI_COMMIT_SHA": self._remote.git("rev-parse", f"refs/heads/{branch}"),
        }

    def push(self, before: str) -> dict[str, str]:
        """Return the variables of the pipeline of a push to the branch ``main``."""
        return {
            "CI_PIPELINE_SOURCE": "push",
            "CI_COMMIT_BRANCH": "main",
            "CI_COMMIT_BEFORE_SHA": before,
            "CI_COMMIT_SHA": self._remote.git("rev-parse", "refs/heads/main"),
        }

    def schedule(self) -> dict[str, str]:
        """Return the variables of a schedule's pipeline."""
        return {**self.push(_NO_COMMIT), "CI_PIPELINE_SOURCE": "schedule"}

    def run(self, file: Path, event: Mapping[str, str]) -> dict[str, JobRun]:
        """Run the jobs of a pipeline in order, those that a person starts too, up to one that fails."""
        content: dict[str, Any] = yaml.safe_load(file.read_text())
        variables = {"CI_DEFAULT_BRANCH": "main", **event}
        self._pipelines += 1
        self._remote.git("update-ref", f"refs/pipelines/{self._pipelines}", event["CI_COMMIT_SHA"])
        runs: dict[str, JobRun] = {}
        for stage in content.get("stages", [_STAGE]):
            if any(run.status for run in runs.values()):
                break
            for name, job in content.items():
                if name in _NO_JOBS or job.get("stage", _STAGE) != stage:
                    continue
                if any(_holds(rule["if"], variables) for rule in job["rules"]):
                    for label, matrix in _matrix(name, job):
                        runs[label] = self._run(job, variables | matrix)
        return runs

    def _run(self, job: Mapping[str, Any], variables: Mapping[str, str]) -> JobRun:
        machine = self._machines.new()
        workspace = machine / "workspace"
        self._clone(workspace, variables)
        artifacts = self._machines.artifacts
        for need in job.get("needs", []):
            for file in yaml.safe_load(artifacts[need]):
                (workspace / file).write_bytes(artifacts[file])
        env = {
            "CI": "true",
            "GITLAB_CI": "true",
            "CI_PROJECT_DIR": str(workspace),
            **variables,
            **self._variables["*"],
            **self._variables.get(job.get("environment", ""), {}),
        }
        status, log = self._machines.run("\n".join(job["script"]), workspace, env)
        declared = job.get("artifacts", {})
        named = [*declared.get("paths", []), *declared.get("reports", {}).values()]
        paths = [path for path in named if (workspace / path).exists()]
        artifacts |= {path: (workspace / path).read_bytes() for path in paths}
        artifacts[job.get("stage", _STAGE)] = yaml.safe_dump(paths).encode()
        return JobRun(status, log)

    def _clone(self, workspace: Path, variables: Mapping[str, str]) -> None:
        """Fetch as a runner does: with GitLab's default depth, and for a merge request no branch."""
        clone = Repo(workspace)
        clone.git("remote", "add", "origin", self._remote.path.as_uri())
        refs = [f"+refs/pipelines/{self._pipelines}:refs/pipelines/{self._pipelines}"]
        if branch := variables.get("CI_COMMIT_BRANCH"):
            refs.append(f"+refs/heads/{branch}:refs/remotes/origin/{branch}")
        clone.git("fetch", "--quiet", "--depth=20", "--no-tags", "origin", *refs)
        clone.git("checkout", "--quiet", "--detach", variables["CI_COMMIT_SHA"])


def _holds(rule: str, variables: Mapping[str, str]) -> bool:
    """Whether all comparisons of a rule hold."""
    compared = (re.fullmatch(r"\$(\w+) == (.+)", part) for part in rule.split(" && "))
    return all(
        found is not None and variables.get(found[1]) == _value(found[2], variables) for found in compared
    )


def _value(text: str, variables: Mapping[str, str]) -> str | None:
    return text.strip('"') if text.startswith('"') else variables.get(text.removeprefix("$"))


def _matrix(name: str, job: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    for values in job.get("parallel", {}).get("matrix", [{}]):
        for chosen in itertools.product(*values.values()):
            label = f"{name}: [{', '.join(chosen)}]" if chosen else name
            yield label, dict(zip(values, chosen, strict=True))
